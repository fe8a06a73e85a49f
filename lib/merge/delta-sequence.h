/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence.h: a row of words that belong to an ascending row of ranks, or are such a row,
 * kept as the differences from one to the next.
 *
 * What is regular over ranks is a loop of few differences: a constant and self + k are one
 * difference all along; a row, a column or the transpose of a process grid, neighbours in a torus,
 * self ^ k, the parent and the children in a tree are nested loops of two to four. So the
 * differences go through the grammar that also has the calls (grammar.h), and what is kept grows
 * with the number of distinct pieces and not with that of ranks. A row without such structure is
 * kept as it is. What a delta sequence becomes depends on the words alone, not on how it was put
 * together.
 *
 * Special words (words.h: constants, WEND_ABSENT, …) have no difference: they stand for themselves,
 * and the next difference counts from the last ordinary word. A delta sequence never changes and is
 * shared by reference. */
#ifndef WEND_DELTA_SEQUENCE_H
#define WEND_DELTA_SEQUENCE_H

#include <glib.h>

#include "base/buf.h"

typedef struct DeltaSequence DeltaSequence;

/* value, value + step, … COUNT words; a special word has step 0. */
typedef struct {
    gint64 value, step;
    guint64 count;
} DeltaSequenceRun;

/* -- making one -- */
typedef struct DeltaSequenceBuilder DeltaSequenceBuilder;
DeltaSequenceBuilder *deltas_builder_new(void);
/* at the end; count 0: nothing */
void deltas_builder_add(DeltaSequenceBuilder *b, DeltaSequenceRun run);
/* frees b; NULL: nothing was added */
DeltaSequence *deltas_builder_end(DeltaSequenceBuilder *b);
/* likewise, and appends the delta sequence, if there is one: deltas_encode_shortest */
void deltas_builder_encode(DeltaSequenceBuilder *b, WendBuf *out, const guint32 *constants);
/* Likewise, for one of several rows that may be alike: rather a grammar, which may come again, than
 * words that are coded. */
void deltas_builder_encode_alike(DeltaSequenceBuilder *b, WendBuf *out, const guint32 *constants);
void deltas_builder_free(DeltaSequenceBuilder *b);   /* NULL: nothing */
DeltaSequence *deltas_new_run(DeltaSequenceRun run); /* count > 0 */
DeltaSequence *deltas_ref(DeltaSequence *s);         /* NULL gives NULL */
void deltas_unref(DeltaSequence *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DeltaSequence, deltas_unref)

/* The neighbours of all N ranks of a torus, from WORDS, those of some of them. NUMBERS are these
 * ranks + 1, ascending and up to N. DISTANCES: WORDS are what is added to the rank. SLOPE: the
 * result is the neighbours, else what is added to the rank. NULL: there are not two distances, as
 * of ranks that wrap and that do not. The result is for an archive alone. */
DeltaSequence *deltas_complete_torus(const DeltaSequence *words, const DeltaSequence *numbers,
                                     gboolean distances, gboolean slope, guint64 n);

/* -- reading -- */
guint64 deltas_length(const DeltaSequence *s);
/* what it takes: 1 for one run, else symbols or words */
gsize deltas_size(const DeltaSequence *s);
gsize deltas_memory(const DeltaSequence *s); /* bytes, more or less */
/* what goes on from INDEX without another look; index < length */
DeltaSequenceRun deltas_run(const DeltaSequence *s, guint64 index);
gint64 deltas_at(const DeltaSequence *s, guint64 index);
/* N > 0 words of it, as a delta sequence */
DeltaSequence *deltas_part(const DeltaSequence *s, guint64 first, guint64 n);
gboolean deltas_equal(const DeltaSequence *a, const DeltaSequence *b);
/* Calls F on each special word that occurs, once or more; FALSE as soon as F says so. */
typedef gboolean (*DeltaSequenceWord)(gpointer data, gint64 word);
gboolean deltas_specials(const DeltaSequence *s, DeltaSequenceWord f, gpointer data);
/* All words are positive, each is above the one before, none above MOST. */
gboolean deltas_ascends(const DeltaSequence *s, gint64 most);
/* Where VALUE is in such a delta sequence. FALSE: nowhere. */
gboolean deltas_find(const DeltaSequence *s, gint64 value, guint64 *index);

/* -- as bytes (docs/format.md) -- */
/* CONSTANTS: the archive's number of each constant (codec.h); NULL: words as they are, between
 * merging processes. */
void deltas_encode(const DeltaSequence *s, WendBuf *out, const guint32 *constants);
/* Likewise, in the shortest form that there is: as words if these take less than a grammar, as
 * small ones by chance do that have something in common here and there; as a geometric stretch and
 * the few words before and behind it. (Between merging processes a delta sequence stays what it is,
 * so that the order in which they merge says nothing.) */
void deltas_encode_shortest(const DeltaSequence *s, WendBuf *out, const guint32 *constants);
/* A delta sequence of N > 0 words. NULL: damaged; the cursor has failed. CONSTANTS NULL: as
 * above. */
DeltaSequence *deltas_decode(WendCursor *c, guint64 n, const gint64 *constants, guint n_constants);

#endif
