/* make-recording.c: a small recording without MPI: make-recording DIR [WIDTH HEIGHT [ITERATIONS]], a 2D stencil. DIR is made. */
#include "simulated.h"

#include "../../lib/merge.h"

#include <glib/gstdio.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        g_printerr("usage: make-recording DIR [WIDTH HEIGHT [ITERATIONS]]\n");
        return 2;
    }
    guint width = argc > 3 ? atoi(argv[2]) : 3, height = argc > 3 ? atoi(argv[3]) : 3, iterations = argc > 4 ? atoi(argv[4]) : 100;
    g_autoptr(GError) error = NULL;
    WendMerge *merge = NULL;
    for (guint rank = 0; rank < width * height; rank++) {
        SimulatedRank *r = simulated_stencil(rank, width, height, iterations, FALSE);
        g_autoptr(GByteArray) part = simulated_part(r);
        simulated_free(r);
        WendMerge *one = wend_merge_from_part(part->data, part->len, &error);
        if (!one) g_error("%s", error->message);
        if (!merge) {
            merge = one;
            continue;
        }
        g_autoptr(GByteArray) bytes = wend_merge_encode(one);
        wend_merge_free(one);
        if (!wend_merge_absorb(merge, bytes->data, bytes->len, &error)) g_error("%s", error->message);
    }
    WendMergeResult result;
    if (g_mkdir_with_parents(argv[1], 0777) != 0 || !wend_merge_write(merge, argv[1], NULL, &result, &error)) {
        g_printerr("%s\n", error ? error->message : "cannot make the directory");
        return 1;
    }
    g_print("%s: %" G_GUINT64_FORMAT " calls, %u classes, %" G_GUINT64_FORMAT " bytes\n", argv[1], result.calls, result.classes, result.bytes);
    wend_merge_free(merge);
    return 0;
}
