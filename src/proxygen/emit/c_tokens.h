/* SPDX-License-Identifier: BSD-3-Clause */
/* c_tokens.h: how text of a recording gets into the generated program: as an identifier, a number,
 * a string or part of a comment. There is no other way, so that nothing of a recording is code.
 *
 * A recording may be hostile. What these functions give is one token, or text that does not end a
 * comment, in every phase of translation: it has no trigraph, spliced line or character outside of
 * ASCII. All give new strings; the caller frees them. */
#ifndef PROXYGEN_C_TOKENS_H
#define PROXYGEN_C_TOKENS_H

#include <glib.h>

/* What names that MPI defines begin with: MPI_, MPIX_, MPIR_, … */
#define C_NAME_PREFIX "MPI"

/* A name of MPI's. The reader refuses what is no identifier, and compile.c what is not MPI's; what
 * gets here all the same becomes a name that no program has. */
char *c_identifier(const char *name);
gboolean c_is_identifier(const char *name);

/* A number, with a sign if it is negative. */
char *c_number(gint64 number);

/* What initializes an array of characters: N bytes (-1: up to the NUL) and a NUL. A literal in
 * quotes if there are no more than C_LITERAL_MOST bytes, else a list of character constants. */
char *c_string(const char *text, gssize n);
/* Compilers need not take longer ones (C11, 5.2.4.1), and say so (-pedantic). */
enum { C_LITERAL_MOST = 4095 };

/* Text for a comment: what could end it is percent-encoded, as in a URL: "%2F" is a slash. */
char *c_comment(const char *text);

#endif
