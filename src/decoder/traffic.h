/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.h: how many bytes a recording's calls hand to MPI, from counts and datatypes, without expanding the calls. */
#ifndef WEND_DECODER_TRAFFIC_H
#define WEND_DECODER_TRAFFIC_H

#include <glib.h>

#include "count.h"
#include "program.h"

/* What is counted, with sizes as datatypes give them (no padding):
 * point to point: what each send hands over, also sends to the caller itself; MPI_PROC_NULL takes nothing. Persistent and partitioned sends
 *   count at each start.
 * collective: the send buffer of each rank (Bcast and Scatter: of the root), once, whatever the library's algorithm sends.
 * one-sided: the origin buffer of each put, get and accumulate.  Files: what is written and read. */
typedef enum { TRAFFIC_POINT, TRAFFIC_COLLECTIVE, TRAFFIC_ONE_SIDED, TRAFFIC_FILE_WRITE, TRAFFIC_FILE_READ, TRAFFIC_KINDS } TrafficKind;

typedef struct {
    guint64 operations; /* calls or starts; of the collectives those that have data */
    guint64 bytes;      /* sticks at the largest number */
    guint64 unsized;    /* operations whose size the recording does not tell */
} Traffic;

/* Adds what the ranks of a class do: by kind, and to BY_FUNCTION, whose keys are the names of
 * functions and whose values are Traffic, g_free. */
void traffic_add_class(const WendProgram *p, Counts *counts, guint class_index,
                       Traffic traffic[TRAFFIC_KINDS], GHashTable *by_function);

#endif
