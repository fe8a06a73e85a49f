/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome-difference.h: the result in which two calls with the same arguments differ. */
#ifndef WEND_OUTCOME_DIFFERENCE_H
#define WEND_OUTCOME_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
