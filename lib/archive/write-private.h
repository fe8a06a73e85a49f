/* SPDX-License-Identifier: BSD-3-Clause */
/* write-private.h: what those share who write a part of the archive (writer.c), and these parts. */
#ifndef WEND_WRITE_PRIVATE_H
#define WEND_WRITE_PRIVATE_H

#include "container.h"
#include "merge/recording.h"
#include "merge/totals.h"
#include "record/codec.h"

typedef struct {
    const Recording *r;
    guint8 *function_used, *constant_used;
    guint32 *function_number, *constant_number; /* this build's -> the archive's */
    guint n_functions, n_constants;
    /* scratch: by terminal, how often in the sequence at hand, over all ranks */
    guint64 *calls;
    GArray *called;       /* scratch: guint32, those terminals, ascending */
    guint64 *shape_calls; /* scratch: by shape */
    guint64 *rule_times;  /* scratch: by rule; zero between sequences */
    GArray *rules;        /* scratch: guint32, what a sequence uses, each rule after its users */
    guint32 *local;       /* scratch: by terminal, its number in a sequence's table */
    WendTotals totals;
    struct TimingTable *times;   /* scratch: durations, intervals */
    DeltaSequenceBuilder *timed; /* scratch: how each sequence is */
    gboolean encoded;            /* scratch: whether the part at hand says anything */
    WendBuf out;                 /* the member at hand */
    guint64 member_bytes;        /* of the last one that writer_member has added */
    ContainerWriter *container;
    gboolean failed;
} Writer;

/* what is in w->out, which is empty then */
void writer_member(Writer *w, const char *name);
/* PLAIN, or what OTHER says in its place if that is less; NULL: nothing does. Clears both. */
void writer_shorter(Writer *w, WendBuf *plain, WendBuf *other);
static inline void writer_word(Writer *w, gint64 word)
{
    codec_put_word(&w->out, word, w->constant_number);
}

/* Calls FUNCTION on each sequence of each class, in the archive's order; FALSE: it said so, and the
 * walk ended there. */
typedef gboolean (*SequenceFunction)(Writer *w, const RecordedClass *k, const RecordedSequence *s);
gboolean writer_each_sequence(Writer *w, SequenceFunction function);

/* How often each terminal and shape occurs in a sequence, over all ranks, or all of one variant
 * (NULL: all): what follows is in the order of those that occur. FALSE: more often than can be
 * counted. */
gboolean writer_count_calls(Writer *w, const RecordedClass *k, const RecordedSequence *s,
                            const Variant *variant, guint64 *total);
/* 1 and a part, or 0 where no sequence had something to tell (w->encoded). END, if not NULL, adds
 * what comes behind all sequences. */
gboolean writer_if_encoded(Writer *w, SequenceFunction function, void (*end)(Writer *w));

/* What the ranks say of KEY; NULL: nothing. */
const char *writer_fact(const WendMerge *m, const char *key);

/* The member "meta", with the totals. */
void write_meta(Writer *w);
void write_rules(Writer *w);
/* The parts that go with the sequences. FALSE: a rank's streams or grammars are damaged. */
gboolean write_outcomes(Writer *w);
gboolean write_polls(Writer *w);
gboolean write_timing(Writer *w);

#endif
