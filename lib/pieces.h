/* pieces.h: a stream of outcomes as bytes, in a part (part.h) or in an archive (docs/format.md): going through it. */
#ifndef WEND_PIECES_H
#define WEND_PIECES_H

#include "rules.h"

typedef struct {
    WendCursor c;             /* has failed: the stream is damaged */
    const gint64 *constants;  /* NULL: words are as in a part */
    guint n_constants;
    /* The piece at hand. */
    guint64 repeats;          /* of its entry; 0: rules say the order of its entries */
    guint64 length;           /* entries that it stands for */
    GArray *words, *first;    /* gint64; gsize: by entry where its words begin, and where the last ends */
    RuleRow rules;
    Expansion expansion;
} Pieces;

void pieces_init(Pieces *p, const void *bytes, gsize n, const gint64 *constants, guint n_constants); /* BYTES stay the caller's */
void pieces_clear(Pieces *p);

/* The next piece, or run of equal entries; FALSE: the end, or it is damaged. Runs that follow each other may be equal. A stream is gone through in one of both ways. */
gboolean pieces_next(Pieces *p);
gboolean pieces_next_run(Pieces *p, guint64 *repeats, const gint64 **words, guint *n); /* words until the next call */
/* The entries of the piece. */
guint pieces_entries(const Pieces *p);
const gint64 *pieces_entry(const Pieces *p, guint entry, guint *n);

#endif
