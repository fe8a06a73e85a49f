/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h: parsing of options beyond GLib's parser, for all commands. */
#ifndef WEND_OPTIONS_H
#define WEND_OPTIONS_H

#include <glib.h>

/* Splits "-oDIR" and "-foDIR" into "-o DIR" and "-f -o DIR", by the options in ENTRIES. Returns a
 * new vector, which the caller frees with g_free. Its words belong to ARGV or live as long as the
 * process. With BEFORE, options end at the first word that is no option. "--" ends them in any
 * case. */
char **options_part(const GOptionEntry *entries, gboolean before, int *argc, char **argv);

/* Removes the "--" that GLib leaves before an operand that begins with "-". Call it after
 * parsing. */
void options_end(int *argc, char **argv);

#endif
