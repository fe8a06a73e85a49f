/* SPDX-License-Identifier: BSD-3-Clause */
/* series-of.h: a series of words that a test has in a row. */
#ifndef WEND_TESTS_SERIES_OF_H
#define WEND_TESTS_SERIES_OF_H

#include "../../lib/merge/series.h"

/* WORDS[N], n > 0; the caller's reference. */
static inline Series *series_of(const gint64 *words, guint64 n)
{
    SeriesBuilder *b = series_builder_new();
    for (guint64 i = 0; i < n; i++) series_builder_add(b, (SeriesRun){words[i], 0, 1});
    return series_builder_end(b);
}

#endif
