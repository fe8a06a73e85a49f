/* SPDX-License-Identifier: BSD-3-Clause */
/* divergence.h: the first call of a rank that is not the recorded one. */
#ifndef WEND_DIVERGENCE_H
#define WEND_DIVERGENCE_H

#include "argument.h"
#include "outcome-difference.h"
#include "recorded-sites.h"

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
