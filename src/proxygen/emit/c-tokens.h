/* SPDX-License-Identifier: BSD-3-Clause */
/* c-tokens.h: turns text of a recording into C: an identifier, a number, a string or part of a
 * comment. All such text passes these functions, so that none of it becomes code.
 *
 * A recording may be hostile. Each function gives one token, or text that does not end a comment.
 * That holds in every phase of translation: the result has no trigraph, no spliced line and no
 * character outside of ASCII. All functions return new strings, which the caller frees. */
#ifndef PROXYGEN_C_TOKENS_H
#define PROXYGEN_C_TOKENS_H

#include <glib.h>

/* The prefix of all names that MPI defines: MPI_, MPIX_, MPIR_, … */
#define C_NAME_PREFIX "MPI"

/* A name of MPI. The reader refuses names that are no identifiers, and compile.c those that are not
 * MPI's. Any other name becomes one that no program has. */
char *c_token_identifier(const char *name);
gboolean c_token_is_identifier(const char *name);

/* A name of the application's as one of a function: letters, digits and "_", of which the first is
 * a letter, at most C_NAME_MOST. It may be a word that C or a header has. */
char *c_token_function_name(const char *name);
enum { C_NAME_MOST = 48 };

/* A number with its sign. */
char *c_token_number(gint64 number);

/* The initializer of an array of characters: N bytes (-1: up to the NUL) and a NUL. It is a string
 * literal up to C_LITERAL_MOST bytes, else a list of character constants. */
char *c_token_string(const char *text, gssize n);
/* Compilers need not accept longer literals (C11, 5.2.4.1), and warn about them (-pedantic). */
enum { C_LITERAL_MOST = 4095 };

/* Text for a comment. Characters that could end the comment are percent-encoded, as in a URL: "%2F"
 * is a slash. */
char *c_token_comment(const char *text);

#endif
