/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h: the differences that wend diff has found: each once, with the ranks that have it. */
#ifndef WEND_DIFF_FINDINGS_H
#define WEND_DIFF_FINDINGS_H

#include <glib.h>

#include "lib/read/program.h"

typedef struct Findings Findings;

/* At most MOST different ones are kept. P says what ranks are called. */
Findings *findings_new(const WendProgram *p, guint64 most);
void findings_free(Findings *f);
/* Adds N ascending RANKS to the finding that WHAT says, KIND being what tells it from others that
 * read alike (NULL: nothing). TRUE: it is a new one, and there is room: say the lines that show it
 * by findings_show. */
gboolean findings_add(Findings *f, const guint *ranks, guint n, const char *what, const char *kind);
/* The lines that are printed below the finding added last, each with its end. */
void findings_show(Findings *f, const char *lines);
guint64 findings_count(const Findings *f);
gboolean findings_full(const Findings *f); /* there is room for no more */
/* As text: "ranks 0-3, WHAT", then the lines. */
void findings_print(const Findings *f, GString *out);

#endif
