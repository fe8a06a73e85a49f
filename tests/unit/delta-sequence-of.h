/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence-of.h: a delta sequence of words that a test has in a row. */
#ifndef WEND_TESTS_DELTA_SEQUENCE_OF_H
#define WEND_TESTS_DELTA_SEQUENCE_OF_H

#include "../../lib/ranks/delta-sequence.h"

#include <glib.h>

/* WORDS[N], n > 0; the caller's reference. */
static inline DeltaSequence *deltas_of(const gint64 *words, guint64 n)
{
    DeltaSequenceBuilder *b = delta_sequence_builder_new();
    for (guint64 i = 0; i < n; i++)
        delta_sequence_builder_add(b, (DeltaSequenceRun){words[i], 0, 1});
    return delta_sequence_builder_end(b);
}

#endif
