/* SPDX-License-Identifier: BSD-3-Clause */
/* divergence.h: the first call of a rank that is not the recorded one. */
#ifndef WEND_DIVERGENCE_H
#define WEND_DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/site-guesses.h"
#include "order-read.h"
#include "recorder/recorder.h"

/* -- argument.c: the argument in which two calls of one function differ -- */

/* The words of a call, as far as they are known. */
typedef struct {
    int function;
    const int64_t *shape, *slots;
    size_t n_shape, n_slots;
} CallWords;

typedef struct {
    const char *name; /* of the parameter; NULL: the results differ, or it is not known */
    bool numbers;     /* it is a number, and these are its words: */
    int64_t recorded, made;
    bool window; /* it is memory, that of a window in one of the calls: recorded and made */
    int64_t recorded_offset, made_offset;
} DifferentArgument;

/* How buffers and addresses are compared. What lies where in a mapping, an allocator decides that
 * Wend does not know: Python's objects are elsewhere in each run. */
typedef enum {
    MEMORY_NOT_COMPARED,
    MEMORY_BUT_LAYOUT, /* all but offsets in mappings, and alignment */
    MEMORY_WHOLE
} MemoryComparison;

/* The first difference of two calls of one function, if it is in an argument that the caller
 * passes. */
DifferentArgument argument_difference(const CallWords *recorded, const CallWords *made,
                                      MemoryComparison memory);
/* Whether two calls of one function are the same but for the layout of memory: offsets in
 * mappings, and alignment in blocks and on the stack. WHOLE: their results,
 * too; else MADE has no results yet. */
bool argument_same_but_layout(const CallWords *recorded, const CallWords *made, bool whole);
/* The same for N words of the outcomes of two calls. */
bool argument_same_outcome(int function, const int64_t *recorded, const int64_t *made, size_t n);

/* The call as text, with its partner and tag if it has them: "MPI_Recv(source=2, tag=5)". */
typedef struct {
    char text[160];
} CallText;
const char *call_text(CallText *text, const CallWords *call);

/* The place of memory with that word, as wend dump prints it: "memory of win#0+8". */
typedef struct {
    char text[64];
} MemoryText;
const char *memory_text(MemoryText *text, int64_t word, int64_t offset);

/* A word of a number. */
typedef struct {
    char text[48];
} WordText;
const char *word_text(WordText *text, int64_t word);

/* -- outcome-difference.c: the result in which two calls with the same arguments differ -- */

/* What came out of a call. */
typedef struct {
    bool failed;
    int64_t error;        /* class of the return code */
    const int64_t *words; /* of the parameters, in their order; failed: there are none */
    size_t n;
} CallOutcome;

typedef struct {
    const char *name;  /* of the parameter; NULL: the words do not say which it is */
    const char *field; /* of a status: "source"; NULL: it is no status, or an array of them */
    bool file;         /* it is what was under a file's name before: bytes, or -1: nothing */
    bool numbers;      /* it is a number, and these are its words: */
    int64_t recorded, made;
} DifferentResult;

/* The first difference of what came out of two calls of FUNCTION that succeeded. */
DifferentResult outcome_difference(int function, const CallOutcome *recorded,
                                   const CallOutcome *made);

/* -- recorded-sites.c -- */

/* From where a recorded call came, and one that is made, for the line about a divergence. Names
 * come from the order file: in the application none can be looked up. */

/* The elements of a sequence, for a follower of its calls (site-guesses.h). */
typedef struct {
    const Order *order;
    const OrderSequence *sequence;
    uint64_t at;
} RecordedSites;

/* S must live as long as F. The caller closes F. */
void recorded_sites_open(WendSiteFollower *f, RecordedSites *s, const Order *order,
                         const OrderSequence *sequence);
/* The site of the next call of the sequence, or of an unsuccessful poll. WEND_SITE_NONE: it is not
 * known. */
uint32_t recorded_sites_next(WendSiteFollower *f, const Order *order, const OrderTerminal *t,
                             bool poll);

/* A site as text: "exchange (halo.c:42)", "halo + 0x12ab"; "": it is not known. */
typedef struct {
    char text[256];
} SiteText;
void recorded_site_text(SiteText *text, const Order *order, uint32_t site);
/* The site of C, with its name if the recording has that site. */
void recorded_sites_made_text(SiteText *text, const Order *order, const ActiveCall *c);
/* Whether C comes from another version of the file that SITE is in, a site without a name. */
bool recorded_sites_is_of_other_version(const Order *order, uint32_t site, const ActiveCall *c);

/* -- divergence.c -- */

typedef struct {
    uint32_t rank; /* in the recorded world */
    bool callback;
    uint32_t thread;
    uint64_t call;   /* number of the call in its sequence, from 0, polls included */
    bool ends;       /* the recording has no more calls */
    bool is_poll[2]; /* recorded, made: a call that found nothing */
    bool outcome;    /* the calls are the same, and what came out of them is not */
    CallWords recorded, made;
    CallOutcome out[2]; /* recorded, made; only if OUTCOME */
    SiteText from[2];   /* recorded, made; "": not known */
    bool other_version; /* the program has changed, so that sites of the recording have no names */
} Divergence;

/* Prints it in one line, and in another one why sites have no names. */
void divergence_say(const Divergence *d);

#endif
