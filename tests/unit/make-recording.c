/* SPDX-License-Identifier: BSD-3-Clause */
/* make-recording.c: a small recording without MPI: make-recording DIR [WIDTH HEIGHT [ITERATIONS]],
 * a 2D stencil. DIR is made. */
#include "recorded.h"

#include <glib/gstdio.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        g_printerr("usage: make-recording DIR [WIDTH HEIGHT [ITERATIONS]]\n");
        return 2;
    }
    guint width = argc > 3 ? atoi(argv[2]) : 3, height = argc > 3 ? atoi(argv[3]) : 3,
          iterations = argc > 4 ? atoi(argv[4]) : 100;
    AUTO(Error) error = NULL;
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < width * height; rank++)
        g_ptr_array_add(ranks, simulated_stencil(rank, width, height, iterations, FALSE));
    WendMerge *merge = merged(ranks, NULL);
    WendArchiveResult result;
    if (g_mkdir_with_parents(argv[1], 0777) != 0
        || !write_archive(merge, argv[1], NULL, &result, &error)) {
        g_printerr("%s\n", error ? error->message : "cannot make the directory");
        return 1;
    }
    g_print("%s: %" G_GUINT64_FORMAT " MPI calls, %u classes, %" G_GUINT64_FORMAT " bytes\n",
            argv[1], result.totals.mpi_calls, result.classes, result.bytes);
    merge_free(merge);
    return 0;
}
