/* SPDX-License-Identifier: BSD-3-Clause */
/* source_lines.h: from where in the application the calls of the proxy came: comments at calls, and
 * names of functions. All names may be those of a hostile recording. */
#ifndef PROXYGEN_SOURCE_LINES_H
#define PROXYGEN_SOURCE_LINES_H

#include "emitter.h"

/* A mark for a comment at a call: SITE_MARK, the number of a terminal, SITE_MARK. */
enum { SITE_MARK = '\003' };

typedef struct SourceLines SourceLines;

/* Finds the sites of the plan's calls, before anything is written. Returns NULL if there are none.
 * The caller frees it before the plan. */
SourceLines *source_lines_new(const Plan *plan);
void source_lines_free(SourceLines *s); /* S may be NULL */

/* Puts a mark for a comment behind the last statement of OUT, which is a call of TERMINAL. Not in
 * rows of numbers, whose text is that of many calls. */
void source_lines_mark(const Emitter *e, GString *out, guint terminal);

/* Changes TEXTS (GString) of a whole program, which has marks, and functions named "rule_4".
 * Replaces the marks by comments. Replaces the name of each rule by that of the innermost function
 * of the application that all calls of the rule are in, made unique. Called once, when all rules
 * have their numbers. S may be NULL: the texts have no marks. */
void source_lines_name(SourceLines *s, GPtrArray *texts);

#endif
