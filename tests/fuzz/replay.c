/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c: runs a fuzzer's function on the files that it is given. */
#include <glib.h>
#include <stdio.h>
#include <sys/resource.h>

#include "exercise.h"

/* KB: inputs are a few KB; AddressSanitizer's own memory has room too */
enum { MEMORY_LIMIT = 512 << 10 };

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        g_autofree char *data = NULL;
        gsize n;
        if (!g_file_get_contents(argv[i], &data, &n, NULL))
            return 1;
        LLVMFuzzerTestOneInput((const guint8 *)data, n);
        struct rusage used;
        if (getrusage(RUSAGE_SELF, &used) == 0 && used.ru_maxrss > MEMORY_LIMIT) {
            fprintf(stderr, "%s: took %ld KB of memory\n", argv[i], used.ru_maxrss);
            return 1;
        }
    }
    return 0;
}
