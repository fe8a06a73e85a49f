/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.h: the data that the calls of a recording hand to MPI. Calls are not expanded, unless a
 * handle in them stands for different objects over time. */
#ifndef WEND_TRAFFIC_H
#define WEND_TRAFFIC_H

#include <glib.h>

#include "count.h"
#include "members.h"
#include "read/program.h"
#include "transfer.h"

typedef struct {
    guint64 operations; /* calls or starts; collectives only if they have data */
    guint64 bytes;      /* saturates at the largest number */
    guint64 unsized;    /* operations whose size is not in the recording */
} Traffic;

/* Adds N transfers of BYTES each, which may be TRANSFER_UNSIZED. */
void traffic_add(Traffic *t, guint64 bytes, guint64 n);

/* Adds the traffic of all ranks of a class by kind, and to BY_FUNCTION: names of functions ->
 * Traffic, which the table frees with g_free. *MEMBERS: those of P, which are made when they are
 * needed; NULL at first. The caller frees them. */
void traffic_add_class(const WendProgram *p, Counts *counts, WendMembers **members,
                       guint class_index, Traffic traffic[TRAFFIC_KINDS], GHashTable *by_function);

/* A scan of the calls of one class, call by call. */
typedef struct TrafficScan TrafficScan;
TrafficScan *traffic_scan_new(const WendProgram *p, Counts *counts, guint class_index);
void traffic_scan_free(TrafficScan *s);

/* Called for a transfer: CALL is of the kind, and hands over BYTES or TRANSFER_UNSIZED. CALL is
 * valid until VISIT returns. */
typedef void (*TrafficVisit)(gpointer data, const WendCall *call, TrafficKind kind, guint64 bytes);
/* Calls VISIT for each transfer of the call of TERMINAL as RANK makes it: none, one, or one for
 * each operation that it starts. FALSE: a handle in it stands for different objects over time, or
 * for one that is not known. So a follower (follower.h) may find other transfers and sizes. */
gboolean traffic_scan_call(TrafficScan *s, guint32 terminal, guint rank, TrafficVisit visit,
                           gpointer data);

/* What a call transfers. */
typedef struct {
    TrafficKind kind;
    guint64 bytes;
} TrafficFound;
/* A TrafficVisit that appends to FOUND, a GArray of TrafficFound. */
void traffic_found_add(gpointer found, const WendCall *call, TrafficKind kind, guint64 bytes);

/* The word of the communicator of window WINDOW on the rank of the last traffic_scan_call, or
 * WEND_UNKNOWN. *AMBIGUOUS: the window has several. */
gint64 traffic_scan_window(TrafficScan *s, gint64 window, gboolean *ambiguous);

#endif
