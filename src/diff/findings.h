/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h: the differences that wend diff has found. Each is kept once, with the ranks that have
 * it. */
#ifndef WEND_DIFF_FINDINGS_H
#define WEND_DIFF_FINDINGS_H

#include <glib.h>

#include "lib/read/program.h"

typedef struct Findings Findings;

/* Keeps at most MOST findings. P has the names of ranks, and must outlive the findings. */
Findings *findings_new(const WendProgram *p, guint64 most);
void findings_free(Findings *f);
/* Adds N ascending RANKS to the finding with the text WHAT and the kind KIND (may be NULL). KIND
 * distinguishes findings with the same text. Returns TRUE if the finding is new and there is room
 * for it. The caller then adds its lines with findings_show. */
gboolean findings_add(Findings *f, const guint *ranks, guint n, const char *what, const char *kind);
/* Sets the lines that are printed below the finding that was added last. Each line ends in a
 * newline. */
void findings_show(Findings *f, const char *lines);
guint64 findings_count(const Findings *f);
gboolean findings_full(const Findings *f); /* whether MOST findings are kept */
/* Appends all findings: "ranks 0-3, WHAT", then the lines of each. */
void findings_print(const Findings *f, GString *out);

#endif
