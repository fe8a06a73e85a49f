/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.h: what a recording's calls hand to MPI, without expanding the calls. */
#ifndef WEND_TRAFFIC_H
#define WEND_TRAFFIC_H

#include <glib.h>

#include "count.h"
#include "read/program.h"
#include "transfer.h"

typedef struct {
    guint64 operations; /* calls or starts; of the collectives those that have data */
    guint64 bytes;      /* sticks at the largest number */
    guint64 unsized;    /* operations whose size the recording does not tell */
} Traffic;

/* N transfers of BYTES each, which may be TRANSFER_UNSIZED. */
void traffic_add(Traffic *t, guint64 bytes, guint64 n);

/* Adds what the ranks of a class do: by kind, and to BY_FUNCTION, whose keys are the names of
 * functions and whose values are Traffic, g_free. */
void traffic_add_class(const WendProgram *p, Counts *counts, guint class_index,
                       Traffic traffic[TRAFFIC_KINDS], GHashTable *by_function);

/* The same call by call, of one class. */
typedef struct TrafficScan TrafficScan;
TrafficScan *traffic_scan_new(const WendProgram *p, Counts *counts, guint class_index);
void traffic_scan_free(TrafficScan *s);

/* CALL is of the kind, and hands over BYTES or TRANSFER_UNSIZED. It is valid until VISIT
 * returns. */
typedef void (*TrafficVisit)(gpointer data, const WendCall *call, TrafficKind kind, guint64 bytes);
/* Calls VISIT for each transfer of the call of TERMINAL as RANK makes it: none, one, or as many as
 * it starts. FALSE: a handle in it stands for different objects in turn, and sizes are not told. */
gboolean traffic_scan_call(TrafficScan *s, guint32 terminal, guint rank, TrafficVisit visit,
                           gpointer data);

/* The word of the communicator of window WINDOW on the rank of the last traffic_scan_call.
 * WEND_UNKNOWN: not known; *AMBIGUOUS: as there are several. */
gint64 traffic_scan_window(TrafficScan *s, gint64 window, gboolean *ambiguous);

#endif
