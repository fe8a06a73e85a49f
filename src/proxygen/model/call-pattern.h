/* SPDX-License-Identifier: BSD-3-Clause */
/* call-pattern.h: a terminal of the grammar as a call with arguments, for the compiler. Each word
 * is known, or is a slot that varies by rank.
 *
 * program.h decodes a call as one rank makes it. A compiler needs the call of all ranks: "rank + 1"
 * and not 4. docs/recording.md ("Calls as words") says how the words are split. */
#ifndef PROXYGEN_CALL_PATTERN_H
#define PROXYGEN_CALL_PATTERN_H

#include <glib.h>

#include "lib/read/program.h"
#include "lib/record/layout.h"

typedef struct {
    /* !by_slot: the word. by_slot: the number of steps of the progression that begins at the slot
     * (0: the slot's own value); step and bend are the next two slots */
    gint64 value;
    guint slot; /* by_slot: the terminal's slot */
    gboolean by_slot;
} Word;

typedef struct {
    const WendParam *param;
    /* whether there are words in shape or slots. Outcomes are not words here: see
     * call_pattern_outcome_decode */
    gboolean has_in, has_out;
    /* arrays: the length word, which is negative if there are no elements; scalars: 1, or 0 if the
     * record does not have them */
    gint64 n_in, n_out;
    /* The words. Segments of CUDA count as segments of the heap. An element has as many words as
     * layout_element_words says: address 4; buf, attr and target 2; comm and datatype out 6; string
     * its words; others 1. Words that the record lacks are 0. strings has all words that follow the
     * length, for a StringCursor */
    const Word *in, *out;
    guint n_in_words, n_out_words;
    gboolean null; /* an output for which the caller passed NULL */
} Arg;

typedef struct {
    const WendProgram *program;
    guint32 terminal;
    const WendTerminal *slots;
    const WendShape *shape;
    const WendFunction *function;
    gboolean failed;
    guint n_args;
    Arg *args;
    GArray *words; /* of Word; args point into it */
    WendDecoder *decoder;
    const Layout *layout; /* belongs to the decoder */
} CallPattern;

/* A pattern that is decoded into repeatedly. call_pattern_decode never fails, because the program
 * has been checked. The caller frees it with call_pattern_free. */
CallPattern *call_pattern_new(const WendProgram *p);
void call_pattern_free(CallPattern *c);
void call_pattern_decode(CallPattern *c, guint terminal);

/* The value of a word on RANK. */
gint64 call_pattern_value(const CallPattern *c, Word w, guint rank);
/* Whether the word has the same value on all ranks. *value is that value. */
gboolean call_pattern_word_is_constant(const CallPattern *c, Word w, gint64 *value);
/* The first argument of that kind, or NULL. */
const Arg *call_pattern_arg_of_kind(const CallPattern *c, WendKind kind);
const Arg *call_pattern_arg_named(const CallPattern *c, const char *name);
/* The argument whose input is in that slot, or NULL. */
const Arg *call_pattern_arg_of_slot(const CallPattern *c, guint slot);
/* Whether the call failed, and ARG was a handle that Wend did not know. */
gboolean call_pattern_failed_on(const CallPattern *c, const Arg *arg);
/* Whether the function is a note about the place of a block of CUDA's memory, such as
 * wend_device. */
gboolean call_pattern_is_place(const WendFunction *function);
/* The value of a scalar argument on RANK. FALLBACK if it is absent or a constant. */
gint64 call_pattern_number(const CallPattern *c, const Arg *arg, guint rank, gint64 fallback);

/* Text from words. */
char *call_pattern_words_to_string(const Word *words, gsize bytes); /* newly allocated */
typedef struct {
    const Word *next;
    guint left;
} StringCursor;
/* Read one string with its length word, or one length. Return FALSE at the end of the words. A NULL
 * string gives *text = NULL. */
gboolean string_cursor_string(StringCursor *s, char **text);
gboolean string_cursor_length(StringCursor *s, gint64 *length);

/* Whether the C argument is a pointer to the value, as outputs are. */
gboolean call_pattern_param_by_pointer(const CallPattern *c, const WendParam *param);

/* -- outcomes -- */
/* The outputs of one parameter in an outcome entry: words [first, first + n), with LENGTH elements
 * (scalars: 1). */
typedef struct {
    guint first, n;
    gint64 length;
} OutcomePart;
/* Finds the parts of all n_args parameters, in order. A part has n = 0 if the parameter has none.
 * Returns FALSE if the entry is too short. */
gboolean call_pattern_outcome_decode(const CallPattern *c, const gint64 *words, guint n,
                                     OutcomePart *parts);

#endif
