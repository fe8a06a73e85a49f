/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.h: prints what a program got from the clock, as random numbers, process ids and host
 * names, beside its calls (wend dump --values). */
#ifndef WEND_DECODER_RECORDED_H
#define WEND_DECODER_RECORDED_H

#include <glib.h>

#include "sink.h"

typedef struct Recorded Recorded;

/* The values of the sequence of CONTEXT. NULL: there are none. The caller frees the result. */
Recorded *recorded_new(const SinkContext *context);
void recorded_free(Recorded *r); /* R may be NULL */

/* Appends the values that came before the end of call or poll number STEP of the sequence, from 0,
 * without the one that is its result (MPI_Wtime). R may be NULL. */
void recorded_before(GString *out, Recorded *r, guint64 step);
/* Appends the result of the call, if it is a value. */
void recorded_result(GString *out, Recorded *r, guint64 step);
/* Appends all that are left. Returns FALSE if the stream is damaged. */
gboolean recorded_rest(GString *out, Recorded *r);

/* Calls VISIT for each stream of values of the rank of CONTEXT whose thread has no sequence:
 * CONTEXT then says which it is. */
void recorded_others(SinkContext *context, void (*visit)(const SinkContext *context, gpointer user),
                     gpointer user);

/* The number of values of all ranks. */
guint64 recorded_count(WendRead *reader, guint n_ranks);

#endif
