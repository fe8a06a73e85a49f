/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h: what GLib's parser of options lacks, for all commands. */
#ifndef WEND_OPTIONS_H
#define WEND_OPTIONS_H

#include <glib.h>

/* Parts "-oDIR" and "-foDIR" into "-o DIR" and "-f -o DIR", by the options in ENTRIES, in a new
 * vector that the caller owns (g_free; the words are ARGV's, or live as long as the process).
 * BEFORE: options end at the first word that is none. "--" ends them in any case. */
char **options_part(const GOptionEntry *entries, gboolean before, int *argc, char **argv);

/* After parsing: takes out the "--" that GLib leaves before an operand that begins with "-". */
void options_end(int *argc, char **argv);

#endif
