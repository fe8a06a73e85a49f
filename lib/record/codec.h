/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.h: words as the archive has them (docs/format.md, "Words"). */
#ifndef WEND_CODEC_H
#define WEND_CODEC_H

#include <glib.h>

#include "base/buf.h"
#include "words.h"

/* What is written, and read (docs/format.md, "Versions"). */
#define ARCHIVE_FORMAT 1
/* In the group "recording" of meta: the first ranks of the shards, as "64;128". The name of a
 * shard's member is followed by its first rank. */
#define SHARDS_KEY "shards"
#define SHARD_MEMBER "program."

/* What is said of a constant. */
enum { CONSTANT_ALONE, CONSTANT_MEASURED, CONSTANT_DENSE };

/* How a slot is told; TABLE + i: by table i. */
typedef enum {
    ENCODED_AS_CONSTANT,
    ENCODED_AS_SELF,
    ENCODED_AS_SUM,
    ENCODED_AS_ACROSS,
    ENCODED_AS_TABLE
} SlotEncoding;
/* How a table of values is told: beside the lowest bit and below its set's number. */
enum { TABLE_TOGETHER = 1 << 1, TABLE_SET_BITS = 2 };
/* Tables of values that are told together: of no more ranks than this (more do not mind what a
 * table takes besides), and no more words for each byte. The latter holds for slots that are told
 * by others of their terminal, too. */
enum { TABLES_TOGETHER = 256, TABLES_WORDS_PER_BYTE = 64 };

/* CONSTANT: the archive's number for a word that is a constant. */
void codec_put_word(WendBuf *b, gint64 word, const guint32 *constants);
/* CONSTANTS: the words of the archive's constants here. An unknown constant fails the cursor. */
gint64 codec_word(WendCursor *c, const gint64 *constants, guint n_constants);

/* The name of a function or constant: most begin with MPI_, which is left out, and a point says
 * that one does not. */
#define CODEC_NAME_PREFIX "MPI_"
void codec_put_name(WendBuf *b, const char *name);

/* Things that are told together: of shapes with one first word (function, failed), with N words or
 * slots each. Batches are in the order of their first things. */
typedef struct {
    guint n;
    GPtrArray *things;
} Batch;
typedef struct {
    GHashTable *by_key;
    GArray *all; /* Batch */
} Batches;
void batches_init(Batches *b);
void batches_clear(Batches *b);
void batches_add(Batches *b, gint64 head, guint n, gpointer thing);
/* Whether what follows tells a batch column by column, all things at once; one thing alone is told
 * by itself, and nothing says so. */
gboolean batch_by_column(const Batch *b, WendCursor *c);

/* A string that wend_buf_string wrote, made valid UTF-8: hosts, paths and arguments may be
 * anything. g_free; "" where the cursor fails. */
char *codec_string(WendCursor *c);

#endif
