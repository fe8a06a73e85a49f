/* SPDX-License-Identifier: BSD-3-Clause */
/* series.h: a row of words that belong to an ascending row of ranks, or are such a row, kept as the differences from one to the next.
 *
 * What is regular over ranks is a loop of few differences: a constant and self + k are one difference all along; a row, a column or the transpose
 * of a process grid, neighbours in a torus, self ^ k, the parent and the children in a tree are nested loops of two to four. So the differences go through
 * the grammar that also has the calls (grammar.h), and what is kept grows with the number of distinct pieces and not with that of ranks. A row without such structure is kept
 * as it is. What a series becomes depends on the words alone, not on how it was put together.
 *
 * Special words (words.h: constants, WEND_ABSENT, …) have no difference: they stand for themselves, and the next difference counts from the last ordinary word.
 * A series never changes and is shared by reference. */
#ifndef WEND_SERIES_H
#define WEND_SERIES_H

#include <glib.h>

#include "base/buf.h"

typedef struct Series Series;

/* value, value + step, … COUNT words; a special word has step 0. */
typedef struct { gint64 value, step; guint64 count; } SeriesRun;

/* -- making one -- */
typedef struct SeriesBuilder SeriesBuilder;
SeriesBuilder *series_builder_new(void);
void series_builder_add(SeriesBuilder *b, SeriesRun run);     /* at the end; count 0: nothing */
Series *series_builder_end(SeriesBuilder *b);                 /* frees b; NULL: nothing was added */
void series_builder_encode(SeriesBuilder *b, WendBuf *out, const guint32 *constants); /* likewise, and appends the series, if there is one: series_encode_shortest */
void series_builder_free(SeriesBuilder *b);                   /* NULL: nothing */
Series *series_new_run(SeriesRun run);                        /* count > 0 */
Series *series_ref(Series *s);                                /* NULL gives NULL */
void series_unref(Series *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Series, series_unref)

/* -- reading -- */
guint64 series_length(const Series *s);
gsize series_size(const Series *s);                           /* what it takes: 1 for one run, else symbols or words */
gsize series_memory(const Series *s);                         /* bytes, more or less */
SeriesRun series_run(const Series *s, guint64 index);         /* what goes on from INDEX without another look; index < length */
gint64 series_at(const Series *s, guint64 index);
Series *series_part(const Series *s, guint64 first, guint64 n); /* N > 0 words of it, as a series */
gboolean series_equal(const Series *a, const Series *b);
/* Calls F on each special word that occurs, once or more; FALSE as soon as F says so. */
typedef gboolean (*SeriesWord)(gpointer data, gint64 word);
gboolean series_specials(const Series *s, SeriesWord f, gpointer data);
/* All words are positive, each is above the one before, none above MOST. */
gboolean series_ascends(const Series *s, gint64 most);
/* Where VALUE is in such a series. FALSE: nowhere. */
gboolean series_find(const Series *s, gint64 value, guint64 *index);

/* -- as bytes (docs/format.md) -- */
/* CONSTANTS: the archive's number of each constant (codec.h); NULL: words as they are, between merging processes. */
void series_encode(const Series *s, WendBuf *out, const guint32 *constants);
/* Likewise, in the shortest form that there is: as words if these take less than a grammar, as small ones by chance do that have something in common here and there; as a geometric stretch
 * and the few words before and behind it. (Between merging processes a series stays what it is, so that the order in which they merge says nothing.) */
void series_encode_shortest(const Series *s, WendBuf *out, const guint32 *constants);
/* A series of N > 0 words. NULL: damaged; the cursor has failed. CONSTANTS NULL: as above. */
Series *series_decode(WendCursor *c, guint64 n, const gint64 *constants, guint n_constants);

#endif
