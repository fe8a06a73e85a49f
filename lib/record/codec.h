/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.h: words as the archive has them (docs/format.md, "Notation"). */
#ifndef WEND_CODEC_H
#define WEND_CODEC_H

#include "base/buf.h"
#include "base/containers.h"
#include "words.h"

/* The version that is written and read (docs/format.md, "Versions"). */
#define ARCHIVE_FORMAT 1
/* In the group "recording" of meta: the first ranks of the shards, as "64;128". The name of a
 * shard's member is followed by its first rank. */
#define SHARDS_KEY "shards"
#define SHARD_MEMBER "program."

/* How an archive describes a constant slot. */
enum { CONSTANT_ALONE, CONSTANT_MEASURED, CONSTANT_DENSE };

/* How a slot is encoded; TABLE + i: by table i. */
typedef enum {
    ENCODED_AS_CONSTANT,
    ENCODED_AS_SELF,
    ENCODED_AS_SUM,
    ENCODED_AS_ACROSS,
    ENCODED_AS_TABLE
} SlotEncoding;
/* Flags of a table of values, above the lowest bit and below its set's number. */
enum { TABLE_TOGETHER = 1 << 1, TABLE_SET_BITS = 2 };
/* Tables of values are encoded together up to this number of ranks (with more ranks the overhead of
 * a table does not matter), and up to this number of words for each byte. The second limit also
 * holds for slots that are encoded by other slots of their terminal. */
enum { TABLES_TOGETHER = 256, TABLES_WORDS_PER_BYTE = 64 };

/* Appends WORD. CONSTANTS: the archive's numbers of this build's constants. */
void codec_put_word(WendBuf *b, int64_t word, const uint32_t *constants);
/* Reads a word. CONSTANTS: the words that the archive's constants have in this build. An unknown
 * constant fails the cursor. */
int64_t codec_word(WendCursor *c, const int64_t *constants, uint32_t n_constants);

/* The name of a function or constant. The prefix MPI_, which most have, is left out; a name without
 * it is written behind a point. */
#define CODEC_NAME_PREFIX "MPI_"
void codec_put_name(WendBuf *b, const char *name);

/* A batch are things that are encoded together: their shapes have the same first word (function,
 * failed), and they have N words or slots each. Batches are in the order of their first things. */
typedef struct {
    uint32_t n;
    Vector *things;
} Batch;
typedef struct {
    Map *by_key;
    Vector *all; /* Batch */
} Batches;
void batches_init(Batches *b);
void batches_clear(Batches *b);
void batches_add(Batches *b, int64_t head, uint32_t n, void *thing);
/* Reads whether a batch follows column by column. For a batch of one thing nothing is read, and the
 * result is false. */
bool batch_by_column(const Batch *b, WendCursor *c);

/* Reads a string that buf_string wrote, and makes it valid UTF-8: hosts, paths and arguments
 * may be any bytes. Returns "" if the cursor fails. The caller frees it with memory_free. */
char *codec_string(WendCursor *c);

#endif
