/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_names.h: gives functions of the generated program, which are called rule_1, rule_2, …, the
 * names of functions of the application. */
#ifndef PROXYGEN_RULE_NAMES_H
#define PROXYGEN_RULE_NAMES_H

#include <glib.h>

/* The identifiers in TEXTS (GString), which are all of the program, without those in
 * strings and comments. The caller frees the set. */
GHashTable *rule_names_words(const GPtrArray *texts);
/* Renames the functions in TEXTS. WANTED: names by number, which may be anything; NULL: the
 * function keeps its name. Each function gets a name that is an identifier (c_token_function_name),
 * and that nothing else in the program (WORDS, to which it is added), the C library or the language
 * has. Strings and comments stay what they are. */
void rule_names_give(GPtrArray *texts, GHashTable *words, const GPtrArray *wanted);

#endif
