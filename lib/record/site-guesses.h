/* SPDX-License-Identifier: BSD-3-Clause */
/* site-guesses.h: predicts the call site of a sequence's next call (docs/side-streams.md, "Call
 * sites").
 *
 * Recorder and reader make the same guesses, so only sites that were not guessed are recorded. A
 * guess is what came the last time: the site of a call of the same shape after a call from the same
 * site. So a loop is guessed from its second turn on. Where that was wrong, the signature of the
 * call has a guess of its own from then on: so the end of a loop is guessed, too, if the call after
 * it has another partner. Signatures have none before, because which calls have equal slots may
 * differ from rank to rank.
 *
 * All of them are limited: where they are used up, calls of one function after one site share a
 * guess. So a program whose shapes never repeat takes no more memory. No GLib. */
#ifndef WEND_SITE_GUESSES_H
#define WEND_SITE_GUESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The elements of a side stream of sites, by code. Each has the number of a site.
 *
 * - FOUND: a call that there was no guess for. It needs no step, since the reader has none either.
 * - CHANGED: STEP calls since the last element were as guessed, and this one was not.
 * - LONG: STEP calls were as guessed, and the next element counts from here. Its site means
 *   nothing. */
typedef enum { WEND_SITE_FOUND, WEND_SITE_CHANGED, WEND_SITE_LONG, WEND_SITE_CODES } WendSiteCode;

enum {
    WEND_SITE_GUESSES = 4096,       /* guesses by shape and by signature */
    WEND_SITE_MOST_CALLS = 1 << 30, /* the longest step */
    WEND_SITES_MOST = (1 << 30) - 1 /* numbers of sites are below it */
};
#define WEND_SITE_NONE UINT32_MAX

/* A number for the words of a call, which other words do not have, but for a chance of 2^-64: of
 * its function, of its shape, and of that and its slots. Recorder and reader number functions and
 * sites differently. So nothing may rest on the numbers but whether two of them are equal. */
static inline uint64_t site_guess_mix(uint64_t mark, uint64_t word)
{
    mark = (mark ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return mark ^ mark >> 32;
}
uint64_t site_guess_mark(uint64_t seed, const int64_t *words, size_t n);

/* The marks of a call. Unsuccessful polls have another shape and signature than other calls. */
typedef struct {
    uint64_t shape, signature, function;
} WendSiteCall;
/* Those of the call with these words. The first one of the shape has the function. */
WendSiteCall site_call(const int64_t *shape, size_t n_shape, const int64_t *slots, size_t n_slots,
                       bool poll);

typedef struct {
    uint64_t key;      /* 0: the place is free */
    uintptr_t address; /* for the recorder: the return address of SITE */
    uint32_t site;     /* WEND_SITE_NONE: there is no guess yet */
    bool has_others;   /* a guess by shape: some signatures have guesses of their own */
} WendSiteGuess;

typedef struct {
    WendSiteGuess *at; /* by key, N of MASK + 1 places */
    size_t mask, n, limited;
    uint32_t last;    /* the site of the call before; WEND_SITE_NONE at first */
    uint64_t guessed; /* calls since the last element, all of which were as guessed */
} WendSiteGuesses;

/* An element that a call needs. */
typedef struct {
    WendSiteCode code;
    uint64_t step;
} WendSiteElement;

/* The key of a guess: by the mark of a signature, a shape or a function. It is not 0. */
static inline uint64_t site_guess_key(const WendSiteGuesses *g, uint64_t mark)
{
    return site_guess_mix(mark, g->last + UINT64_C(1)) | 1;
}

static inline size_t site_guess_place(const WendSiteGuesses *g, uint64_t key)
{
    return (size_t)(key >> 16) & g->mask;
}

/* Empty guesses. Returns false if there is no memory. */
bool site_guesses_init(WendSiteGuesses *g);
void site_guesses_clear(WendSiteGuesses *g);
/* The guess for a call. Valid until the next use. NULL: no memory. */
WendSiteGuess *site_guess(WendSiteGuesses *g, const WendSiteCall *call);
/* Notes that CALL, whose guess is GUESS, comes from SITE, at ADDRESS. Returns false if there is no
 * memory. Sets *WRONG if the site was not guessed: then *E is the element that is needed. While the
 * step of a CHANGED is above WEND_SITE_MOST_CALLS, a LONG of so many calls comes before it, and the
 * step is less by these. */
bool site_guess_note(WendSiteGuesses *g, const WendSiteCall *call, WendSiteGuess *guess,
                     uint32_t site, uintptr_t address, bool *wrong, WendSiteElement *e);

/* An element as it was recorded. */
typedef struct {
    WendSiteCode code;
    uint64_t step;
    uint32_t site;
} WendRecordedSite;

/* Gives the next element of a stream. CUT: the recorder had no memory for more. */
typedef enum { WEND_SITE_TAKEN, WEND_SITE_END, WEND_SITE_CUT } WendSiteTaken;
typedef WendSiteTaken WendSiteTake(void *source, WendRecordedSite *next);

/* Follows the calls of a sequence, to find the site of each. */
typedef struct {
    WendSiteGuesses guesses;
    WendSiteTake *take;
    void *source;
    WendRecordedSite next; /* if TAKEN is WEND_SITE_TAKEN */
    WendSiteTaken taken;
    bool lost; /* the sites of calls from here on are not known */
} WendSiteFollower;

/* SOURCE belongs to the caller. If there is no memory, no site is known. */
void site_follower_open(WendSiteFollower *f, WendSiteTake *take, void *source);
/* The site of the next call or unsuccessful poll. WEND_SITE_NONE: it is not known. */
uint32_t site_follower_next(WendSiteFollower *f, const WendSiteCall *call);
/* The site of a call that had not returned at the end. There is no guess for it. */
uint32_t site_follower_unfinished(WendSiteFollower *f);
void site_follower_close(WendSiteFollower *f);

#endif
