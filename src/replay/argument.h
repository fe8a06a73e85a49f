/* SPDX-License-Identifier: BSD-3-Clause */
/* argument.h: the argument in which two calls of one function differ. */
#ifndef WEND_ARGUMENT_H
#define WEND_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
} DifferentArgument;

/* The first difference of two calls of one function, if it is in an argument that the caller
 * passes. Without MEMORY, buffers and addresses are not compared. */
DifferentArgument argument_difference(const CallWords *recorded, const CallWords *made,
                                      bool memory);

/* The call as text, with its partner and tag if it has them: "MPI_Recv(source=2, tag=5)". */
typedef struct {
    char text[160];
} CallText;
const char *call_text(CallText *text, const CallWords *call);

/* A word of a number. */
typedef struct {
    char text[48];
} WordText;
const char *word_text(WordText *text, int64_t word);

#endif
