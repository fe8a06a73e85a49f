/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h: a stream of outcomes as bytes, in a part (part.h) or in an archive (docs/format.md): going through it. */
#ifndef WEND_PIECES_H
#define WEND_PIECES_H

#include "rules.h"

typedef struct {
    WendCursor c;             /* has failed: the stream is damaged */
    gboolean in_part;         /* entries may be rises */
    const gint64 *constants;  /* NULL: words are as in a part */
    guint n_constants;
    /* The piece at hand. */
    guint64 repeats;          /* of its entry; 0: rules say the order of its entries */
    guint64 length;           /* entries that it stands for, where none is a rise */
    GArray *words, *first;    /* gint64, those of a rise with its steps behind them; gsize: by entry where its words begin, and where the last ends */
    GArray *counts;           /* guint64, by entry: how many a rise has; 0: it is none */
    RuleRow rules;
    Expansion expansion;
    guint64 again;            /* how often the rise at hand comes, this one included */
    GArray *risen;            /* gint64: its last entry, and */
    guint64 left;             /* how many are still to come, where each is a run by itself */
} Pieces;

void pieces_init(Pieces *p, const void *bytes, gsize n, const gint64 *constants, guint n_constants); /* of an archive; BYTES stay the caller's */
void pieces_init_part(Pieces *p, const void *bytes, gsize n);
void pieces_clear(Pieces *p);

/* The next piece, or run of equal entries; FALSE: the end, or it is damaged. Runs that follow each other may be equal. A stream is gone through in one of both ways. */
gboolean pieces_next(Pieces *p);
gboolean pieces_next_run(Pieces *p, guint64 *repeats, const gint64 **words, guint *n); /* words until the next call */
/* Likewise, and a rise is a run of REPEATS entries of which each is the one before and STEPS; NULL: they are equal. Words that have a step are ordinary from the first to the last. */
gboolean pieces_next_rise(Pieces *p, guint64 *repeats, const gint64 **words, guint *n, const gint64 **steps);
/* The entries of the piece. */
guint pieces_entries(const Pieces *p);
const gint64 *pieces_entry(const Pieces *p, guint entry, guint *n);
guint64 pieces_count(const Pieces *p, guint entry);   /* how many a rise has, whose steps are behind its words; 0: it is none */

#endif
