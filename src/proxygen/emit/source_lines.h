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

/* Changes TEXTS (GString) of a whole program, in which functions are named "rule_4". Replaces the
 * name of each rule by that of the innermost function of the application that all calls of the rule
 * are in, and that is none of WORDS (rule_names.h). Called once, when all rules have their
 * numbers. S may be NULL. */
void source_lines_name(SourceLines *s, GPtrArray *texts, GHashTable *words);

#endif
