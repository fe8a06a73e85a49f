/* SPDX-License-Identifier: BSD-3-Clause */
/* source_lines.h: from where in the application the calls of the proxy came: comments at calls, and
 * names of functions. All names may be those of a hostile recording. */
#ifndef PROXYGEN_SOURCE_LINES_H
#define PROXYGEN_SOURCE_LINES_H

#include "emitter.h"

typedef struct SourceLines SourceLines;

/* Finds the sites of the plan's calls, before anything is written. Returns NULL if there are none.
 * The caller frees it before the plan. */
SourceLines *source_lines_new(const Plan *plan);
void source_lines_free(SourceLines *s); /* S may be NULL */

/* The lines that the calls of TERMINAL come from, as a comment behind its statement: a blank, and
 * "[halo.c:42, halo.c:57]" without the brackets. NULL: none is known, or they are many. The caller
 * frees it. */
char *source_lines_comment(const SourceLines *s, guint terminal);

/* The identifiers in TEXTS (GString), which are all of a program, without those in strings and
 * comments. The caller frees the set. */
GHashTable *source_lines_words(const GPtrArray *texts);

/* Renames the functions in TEXTS that are called "rule_4": each gets the name of the innermost
 * function of the application that all calls of the rule are in, as an identifier
 * (c_token_function_name) that nothing else in the program (WORDS, to which it is added), the C
 * library or the language has. Called once, when all rules have their numbers. Strings and comments
 * stay what they are. S may be NULL. */
void source_lines_name(SourceLines *s, GPtrArray *texts, GHashTable *words);

#endif
