/* SPDX-License-Identifier: BSD-3-Clause */
/* call_pattern.h: a terminal of the grammar as a call with arguments, for the compiler: every word
 * is known, or is a slot that varies by rank.
 *
 * program.h decodes a call as one rank makes it. A compiler needs it as all ranks make it: "rank +
 * 1" and not 4. The words are split as docs/recording.md ("Calls as words") says. */
#ifndef PROXYGEN_CALL_PATTERN_H
#define PROXYGEN_CALL_PATTERN_H

#include <glib.h>

#include "lib/read/program.h"
#include "lib/record/layout.h"

typedef struct {
    /* !by_slot: the word. by_slot: so many steps of the progression that begins there (0: the
     * slot's word itself); step and bend are the next two slots */
    gint64 value;
    guint slot; /* by_slot: the terminal's slot */
    gboolean by_slot;
} Word;

typedef struct {
    const WendParam *param;
    /* words are in shape or slots. Outcomes are not: see call_outcome_decode */
    gboolean has_in, has_out;
    /* arrays: length word, negative when there are no elements; scalars 1 (0 when absent from the
     * record) */
    gint64 n_in, n_out;
    /* segments: those of CUDA as if they were the heap's. Elements: words as layout_element_words
     * says (address 4, buf, attr and target 2, comm and datatype out 6; 0 where the record has
     * none), string: its words; strings: all words that follow the length, to read with a
     * StringCursor; others 1 */
    const Word *in, *out;
    guint n_in_words, n_out_words;
    gboolean null; /* a result for which the caller gave NULL */
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
    const Layout *layout; /* the decoder's */
} CallPattern;

/* A scratch that is decoded into again and again; call_decode never fails (the program has been
 * validated). */
CallPattern *call_new(const WendProgram *p);
void call_free(CallPattern *c);
void call_decode(CallPattern *c, guint terminal);

/* The value of a word as RANK has it. */
gint64 call_value(const CallPattern *c, Word w, guint rank);
/* TRUE if the word has the same value on all ranks, and then *value is it. */
gboolean call_word_is_constant(const CallPattern *c, Word w, gint64 *value);
/* The first argument of that kind, or NULL. */
const Arg *call_arg_of_kind(const CallPattern *c, WendKind kind);
const Arg *call_arg_named(const CallPattern *c, const char *name);
/* The argument whose input is in a slot, or NULL. */
const Arg *call_arg_of_slot(const CallPattern *c, guint slot);
/* Whether the call failed, and a handle of ARG was none that Wend knew. */
gboolean call_failed_on(const CallPattern *c, const Arg *arg);
/* wend_device and its like: a block of memory is CUDA's, and where. */
gboolean call_is_place(const WendFunction *function);
/* A number that the call passes: of a scalar argument, as RANK has it; FALLBACK when it is absent
 * or a constant. */
gint64 call_number(const CallPattern *c, const Arg *arg, guint rank, gint64 fallback);

/* Text out of words. */
char *call_words_to_string(const Word *words, gsize bytes); /* newly allocated */
typedef struct {
    const Word *next;
    guint left;
} StringCursor;
/* Reads one length-led string, or one length; FALSE at the end of the words. A NULL string gives
 * *text = NULL. */
gboolean string_cursor_string(StringCursor *s, char **text);
gboolean string_cursor_length(StringCursor *s, gint64 *length);

/* Is the C argument a pointer to the value, as outputs are? */
gboolean call_param_by_pointer(const CallPattern *c, const WendParam *param);

/* -- outcomes -- */
/* Where the outputs of one parameter are in an outcome entry: [first, first + n) of the words,
 * LENGTH elements (scalars 1). */
typedef struct {
    guint first, n;
    gint64 length;
} OutcomePart;
/* Parts of all parameters, in order (n_args of them; n = 0 when the parameter has none there).
 * FALSE when the entry is too short. */
gboolean call_outcome_decode(const CallPattern *c, const gint64 *words, guint n,
                             OutcomePart *parts);

#endif
