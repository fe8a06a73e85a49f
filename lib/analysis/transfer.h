/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h: what one call hands to MPI: which kind of transfer, how many bytes, with whom.
 *
 * Sizes of derived datatypes and of communicators come from the calls that made them. TransferSizes
 * asks for them: traffic.h without expanding calls, follower.h on a walk. */
#ifndef WEND_TRANSFER_H
#define WEND_TRANSFER_H

#include <glib.h>

#include "read/program.h"

/* What is counted, with sizes as datatypes give them (no padding):
 * point to point: what each send hands over, also sends to the caller itself; MPI_PROC_NULL takes
 *   nothing. Persistent and partitioned sends count at each start.
 * collective: the send buffer of each rank (Bcast and Scatter: of the root), once, whatever the
 *   library's algorithm sends.
 * one-sided: the origin buffer of each put, get and accumulate.
 * Files: what is written and read. */
typedef enum {
    TRAFFIC_POINT,
    TRAFFIC_COLLECTIVE,
    TRAFFIC_ONE_SIDED,
    TRAFFIC_FILE_WRITE,
    TRAFFIC_FILE_READ,
    TRAFFIC_KINDS
} TrafficKind;

#define TRANSFER_UNSIZED G_MAXUINT64 /* bytes that the recording does not tell */

/* Both stick at the largest number, and give TRANSFER_UNSIZED if one of the numbers is. */
guint64 transfer_times(guint64 a, guint64 b);
guint64 transfer_plus(guint64 a, guint64 b);

/* Where sizes come from, each TRANSFER_UNSIZED if it is not known. */
typedef struct {
    gpointer data;
    guint64 (*type_size)(gpointer data, gint64 type);       /* bytes */
    guint64 (*comm_size)(gpointer data, gint64 comm);       /* of an intercommunicator: remote */
    guint64 (*comm_neighbours)(gpointer data, gint64 comm); /* that a rank sends to */
} TransferSizes;

/* The kind of transfer that CALL is; FALSE: none, or not by this rank. If CALL makes a persistent
 * request: the kind of its starts. */
gboolean transfer_kind(const WendCall *call, TrafficKind *kind);

/* Size of the buffer that CALL sends from or, if it has no other, receives into. CALL must stay
 * valid while SIZES is asked. TRANSFER_UNSIZED: not known. FALSE: CALL has no such buffer. */
gboolean transfer_bytes(const TransferSizes *sizes, const WendCall *call, guint64 *bytes);

/* The word of the destination, source, target or root that CALL gives: a rank in a communicator, or
 * a constant. WEND_ABSENT: it gives none. */
gint64 transfer_peer(const WendCall *call);

/* Is WORD the constant of that name? */
gboolean transfer_is_constant(gint64 word, const char *name);

/* The word of the communicator, of the window or of the file that CALL gives; WEND_ABSENT: none. */
gint64 transfer_object(const WendCall *call, WendKind kind);

#endif
