/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h: the transfer of one call: its kind, its bytes, its partner.
 *
 * Sizes of derived datatypes and of communicators come from the calls that made them. Functions in
 * TransferSizes provide them: those of traffic.h without expanding calls, those of follower.h on a
 * walk. */
#ifndef WEND_TRANSFER_H
#define WEND_TRANSFER_H

#include <glib.h>

#include "read/program.h"

/* The data that counts, with the sizes of datatypes (without padding):
 *
 *   - point to point: the data of each send, also of sends to the caller itself, but not to
 *     MPI_PROC_NULL. Persistent and partitioned sends count at each start.
 *   - collective: the send buffer of each rank (Bcast and Scatter: of the root), once, whatever the
 *     library's algorithm sends.
 *   - one-sided: the origin buffer of each put, get and accumulate.
 *   - files: the data that is written and read. */
typedef enum {
    TRAFFIC_POINT,
    TRAFFIC_COLLECTIVE,
    TRAFFIC_ONE_SIDED,
    TRAFFIC_FILE_WRITE,
    TRAFFIC_FILE_READ,
    TRAFFIC_KINDS
} TrafficKind;

#define TRANSFER_UNSIZED G_MAXUINT64 /* a number of bytes that is not in the recording */

/* Both saturate at the largest number, and return TRANSFER_UNSIZED if one of the numbers is. */
guint64 transfer_times(guint64 a, guint64 b);
guint64 transfer_plus(guint64 a, guint64 b);

/* Functions that return sizes, or TRANSFER_UNSIZED for an unknown one. */
typedef struct {
    gpointer data;
    guint64 (*type_size)(gpointer data, gint64 type);       /* bytes */
    guint64 (*comm_size)(gpointer data, gint64 comm);       /* of an intercommunicator: remote */
    guint64 (*comm_neighbours)(gpointer data, gint64 comm); /* the number to which a rank sends */
} TransferSizes;

/* The sizes of datatypes that WALK knows. Those of communicators are unknown. */
TransferSizes transfer_sizes_of_walk(const WendWalk *walk);

/* Sets the kind of transfer of CALL; for a call that makes a persistent request, the kind of its
 * starts. FALSE: it is none, or this rank transfers nothing. */
gboolean transfer_kind(const WendCall *call, TrafficKind *kind);

/* The size of the buffer from which CALL sends or, if it has no other, into which it receives;
 * TRANSFER_UNSIZED if it is unknown. CALL must stay valid while functions of SIZES run. FALSE: CALL
 * has no such buffer. */
gboolean transfer_bytes(const TransferSizes *sizes, const WendCall *call, guint64 *bytes);

/* The word of CALL's destination, source, target or root: a rank in a communicator, or a constant.
 * WEND_ABSENT: it has none. */
gint64 transfer_peer(const WendCall *call);

/* Is WORD the constant of that name? */
gboolean transfer_is_constant(gint64 word, const char *name);

/* The word of CALL's communicator, window or file; WEND_ABSENT if it has none. */
gint64 transfer_object(const WendCall *call, WendKind kind);

#endif
