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

#endif
