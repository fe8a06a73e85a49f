/* SPDX-License-Identifier: BSD-3-Clause */
/* order-file.h: the order file of one rank: the recorded calls in the form that the replayer reads.
 *
 * `wend replay` makes it from the archive (order-write.h). The replayer maps it into the process of
 * the application and reads it with nothing but libc (order-read.h). So grammar and signatures are
 * pages of a file, and outcomes are read as the calls come.
 *
 * The file is a head and then, each from a multiple of 8 bytes on, the arrays that the head counts,
 * in the order of its fields. Numbers are those of the machine: the file never leaves the host.
 * Function indices are those of this build (functions.h).
 *
 * The calls of a sequence are a grammar, as in a recording: a rule is a row of symbols, a symbol a
 * terminal or a rule and how often it comes. A rule uses only rules before it. A terminal is a
 * shape and its slots, as words of this rank. Unsuccessful polls have a grammar of their own, and
 * the first word of an outcome says how many of them came before its call. */
#ifndef WEND_ORDER_FILE_H
#define WEND_ORDER_FILE_H

#include <stdint.h>

#define WEND_ORDER_MAGIC "WENDORDR"
enum { WEND_ORDER_VERSION = 5 };

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t digest;     /* of the table of functions: function_digest_add over all */
    uint32_t rank, size; /* in MPI_COMM_WORLD */
    /* 1: a rank of the job did not come to MPI_Finalize, or is not recorded up to there */
    uint32_t ended_early;
    uint32_t open_mpi;         /* 1: recorded with Open MPI; 0: with another library */
    uint32_t nowhere;          /* 1: some answers are ORDER_ANSWER_NONE */
    uint32_t values;           /* 1: recorded with --values, though maybe none of this rank */
    uint32_t threads_by_count; /* 1: numbers of threads do not depend on their creators */
    uint32_t unused;
    /* MPI_ERR_TRUNCATE and MPI_ERR_PENDING, as the recorded library numbers error classes. 0: no
     * call of the run gave this error. */
    int64_t truncate, pending;
    uint64_t n_words;
    uint64_t n_shapes;
    uint64_t n_terminals;
    uint64_t n_rules;
    uint64_t n_symbols;
    uint64_t n_sequences;
    uint64_t n_streams;
    uint64_t n_sides;
    uint64_t n_modules;
    uint64_t n_sites;
    uint64_t n_site_elements;
    uint64_t n_bytes;
    uint64_t n_channels; /* on which several threads take turns */
} OrderHead;

/* int64_t words[n_words]: of shapes and slots */

typedef struct {
    uint64_t first; /* of its words */
    uint64_t n;     /* at least 1 */
} OrderShape;

typedef struct {
    uint64_t first; /* of its slots, among the words */
    uint32_t n;
    uint32_t shape;
} OrderTerminal;

typedef struct {
    uint64_t first; /* of its symbols */
    uint64_t n;
    uint64_t depth; /* of nesting: 1, or one more than the deepest rule that it uses */
} OrderRule;

typedef struct {
    uint32_t id;
    uint32_t is_rule; /* 0 or 1 */
    uint64_t repeats; /* at least 1 */
} OrderSymbol;

enum { WEND_ORDER_NO_RULE = UINT32_MAX };

/* What is posted with a request. */
typedef enum { ORDER_RECEIVES, ORDER_SENDS, ORDER_POSTED_KINDS } OrderPosted;

typedef struct {
    uint32_t kind;  /* enum sequence_kind */
    uint32_t rule;  /* of the calls */
    int64_t id;     /* thread number, or the callback's function word */
    uint32_t polls; /* rule of the unsuccessful polls; WEND_ORDER_NO_RULE: there are none */
    uint32_t n_streams;
    uint64_t first_stream; /* outcomes by shape, ascending */
    uint64_t polls_after;  /* unsuccessful polls after the last call */
    uint64_t calls;
    /* What becomes of the receives and of the sends that the sequence posts: streams (below) of
     * entries of ORDER_ANSWER_WORDS words, in the order of posting. No bytes: nothing is to be
     * enforced. */
    uint64_t answers[ORDER_POSTED_KINDS], answers_bytes[ORDER_POSTED_KINDS];
    /* The turns that the sequence takes (src/tracer/objects/turns.h): a stream of entries of
     * ORDER_TURN_WORDS words, in the order of turns. No bytes: nothing is to be enforced. */
    uint64_t turns, turns_bytes;
    /* From where the calls come: its elements. */
    uint64_t first_site_element, n_site_elements;
    uint64_t sites_cut; /* 1: the recorder had no memory for more */
} OrderSequence;

/* The outcomes of one shape: a stream of part.h, in which each entry is that of a call. */
typedef struct {
    uint64_t first, n; /* bytes */
    uint32_t shape;
    uint32_t unused;
} OrderStream;

/* A side stream (lib/record/side-stream.h), as the archive has it. */
typedef struct {
    uint64_t first, n; /* bytes of its rows */
    uint64_t kind;     /* WendSideKindNumber */
    uint64_t of;       /* enum sequence_kind */
    int64_t id;
    uint64_t birth;
} OrderSide;

/* A file of code that sites are in. The numbers are places among the bytes. */
typedef struct {
    uint64_t file, n_file; /* its path at the run; no bytes: the program itself */
    uint64_t id, n_id;     /* the linker's identifier of the file (build-id) */
} OrderModule;

/* A call site. */
typedef struct {
    uint64_t text, n_text; /* its name, which can be printed; no bytes: it has none */
    uint64_t offset;       /* of the return address, in the module */
    uint64_t module;       /* WEND_ORDER_NO_MODULE: not known */
} OrderSite;

#define WEND_ORDER_NO_MODULE UINT64_MAX

/* An element of the stream of sites of a sequence (lib/record/site-guesses.h). */
typedef struct {
    uint64_t step;
    uint32_t site, code;
} OrderSiteElement;

/* uint8_t bytes[n_bytes] */

/* An answer: what a posted receive gets, or whether a send is made. */
enum {
    ORDER_ANSWER_AS_POSTED, /* source and tag are as posted */
    ORDER_ANSWER_MATCHED,   /* the message from this source with this tag */
    ORDER_ANSWER_NONE       /* no message: cancelled in time, or a receive that never completed */
};
enum { ORDER_ANSWER_KIND, ORDER_ANSWER_SOURCE, ORDER_ANSWER_TAG, ORDER_ANSWER_WORDS };

/* A turn: its channel, -1 if it is held up by no other thread, and its number on this channel. */
enum { ORDER_TURN_CHANNEL, ORDER_TURN_NUMBER, ORDER_TURN_WORDS };

#endif
