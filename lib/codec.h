/* codec.h: words as the archive has them (docs/format.md, "Words"). */
#ifndef WEND_CODEC_H
#define WEND_CODEC_H

#include <glib.h>

#include "buf.h"
#include "words.h"

/* What is written; and the oldest that is read (docs/format.md, "Versions"). */
#define ARCHIVE_FORMAT 7
#define ARCHIVE_OLDEST_FORMAT 4
#define ARCHIVE_SHARED_TIMES 6    /* since when rows of times are those of all sequences, */
#define ARCHIVE_TABLES_TOGETHER 7 /* and tables of values may be told together */

/* Tables of values that are told together: of no more ranks than this (more do not mind what a table takes besides), and no more words for each byte. */
enum { TABLES_TOGETHER = 256, TABLES_WORDS_PER_BYTE = 64 };

/* CONSTANT: the archive's number for a word that is a constant. */
void codec_put_word(WendBuf *b, gint64 word, const guint32 *constants);
/* CONSTANTS: the words of the archive's constants here. An unknown constant fails the cursor. */
gint64 codec_word(WendCursor *c, const gint64 *constants, guint n_constants);

/* A string that wend_buf_string wrote, made valid UTF-8: hosts, paths and arguments may be anything. g_free; "" where the cursor fails. */
char *codec_string(WendCursor *c);

#endif
