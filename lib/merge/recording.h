/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.h: a merged recording as it goes to the archive: terminals and rules that all classes
 * share. */
#ifndef WEND_RECORDING_H
#define WEND_RECORDING_H

#include "class.h"
#include "record/rules.h"
#include "shard.h"
#include "unroll.h"
#include "variants.h"

/* A terminal. Its slots and ranks belong to the first class that has it. */
typedef struct {
    guint32 shape;
    guint n_slots;
    RankVector *slots;
    const RankSet *ranks;   /* of its delta sequences; NULL: it has none */
    const Strided *strided; /* NULL: it is not strided */
} Signature;

static inline guint32 signature_count(const Signature *s)
{
    return s->strided ? s->strided->count : 1;
}

/* By number in a table: the number in the recording. */
typedef struct {
    guint32 *shapes, *terminals;
} TableMap;

typedef struct {
    const Sequence *sequence;
    guint32 rule; /* M */
    TableMap main;
    TableMap *polls;      /* by sequence->poll_tables */
    Unrolling *unrolling; /* NULL: it has no strided terminals */
} RecordedSequence;

/* A rule that is unrolled (unroll.h). */
typedef struct {
    const RecordedSequence *sequence;
    guint32 rule; /* of its grammar */
} UnrolledRule;

typedef struct {
    const Class *class;
    const Variants *variants; /* NULL: there are none */
    RecordedSequence *sequences;
} RecordedClass;

typedef struct {
    const WendMerge *merge;
    GHashTable *variants; /* Class -> Variants */
    GArray *shapes;       /* ShapeRow */
    GArray *signatures;   /* Signature: the terminals, */
    /* and by signature its number in the archive (of a strided one, that of its first terminal);
     * behind the last, the number of all */
    guint32 *numbers;
    /* Rule over signatures; a rule uses only rules before it. An unrolled rule has its symbols in
     * no order */
    GArray *rules;
    GHashTable *unrolled; /* number -> UnrolledRule */
    GArray *classes;      /* RecordedClass, by lowest rank */
} Recording;

Recording *recording_share_terminals(WendMerge *m, GError **error);
void recording_free(Recording *r);
gboolean recording_write(const Recording *r, const char *dir, const char *file,
                         WendMergeResult *result, GError **error);
/* As wend_merge_begin. On failure *PLACES is NULL. */
gboolean recording_begin(const Recording *r, const char *dir, const char *file,
                         SharedFile *file_out, GArray **places, WendMergeResult *result,
                         GError **error);
/* The frame of SHARD, whose first rank is set, which has R; all else of SHARD is set. NULL: an
 * error. */
GByteArray *recording_shard(const Recording *r, Shard *shard, GError **error);

#endif
