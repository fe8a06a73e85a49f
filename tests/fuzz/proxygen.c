/* SPDX-License-Identifier: BSD-3-Clause */
/* proxygen.c: fuzzes what proxygen makes of a program: an archive as members.h has it; all passes,
 * up to the C. It may not stand for more calls than a moment is enough for.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include <glib/gstdio.h>

#include "exercise.h"
#include "lib/analysis/summary.h"
#include "src/proxygen/compile.h"

enum { CALLS = 20000, RANKS = 16 };

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    static char *directory, *output;
    AUTO(Error) error = NULL;
    WendProgram *p = exercise_open(data, size, &error);
    if (!p || program_ranks(p) > RANKS) {
        program_free(p);
        return 0;
    }
    if (!directory) {
        directory = g_dir_make_tmp("wend-fuzz-XXXXXX", NULL);
        output = g_build_filename(directory, "proxy.c", NULL);
    }
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Summary *s = summary_new(p);
    Options options = {.recording = "fuzz",
                       .output = output,
                       .force = TRUE,
                       .pin = s->entries % 3 == 0,
                       .cuda = s->entries % 2 == 0};
    g_autoptr(GPtrArray) changes = NULL;
    if (s->entries < CALLS
        && compile_program(p, &options, names, &changes, &error) == (error != NULL))
        g_error("a result and an error, or neither");
    summary_free(s);
    program_free(p);
    return 0;
}
