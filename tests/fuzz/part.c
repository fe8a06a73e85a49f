/* SPDX-License-Identifier: BSD-3-Clause */
/* part.c: fuzzes what wend merge reads. The input is one rank's part; the file around it is checked
 * for what it is too, and must be refused unless its hash is right. What can be read goes through
 * the rest of a merge, into an archive, which is opened.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include "../../lib/archive/write.h"
#include "../../lib/merge/merge.h"
#include "../../lib/record/elastic.h"

#include <glib/gstdio.h>

#include "../../lib/record/checkpoint-file.h"
#include "exercise.h"

static void write_and_open(WendMerge *m)
{
    AUTO(Error) error = NULL;
    g_autofree char *directory = g_dir_make_tmp("wend-fuzz-XXXXXX", NULL);
    if (!directory)
        g_error("no directory for archives");
    g_autofree char *archive = g_build_filename(directory, "trace.tar.zst", NULL);
    WendArchiveResult result;
    g_free(merge_unrecorded(m));
    gboolean written = write_archive(m, directory, NULL, &result, &error);
    if (written == (error != NULL))
        g_error("a result and an error, or neither");
    /* words that no tracer writes are found here */
    WendProgram *p = written ? program_open(directory, &error) : NULL;
    if (written && (p != NULL) == (error != NULL))
        g_error("a program and an error, or neither");
    if (p)
        exercise(p);
    program_free(p);
    g_unlink(archive);
    g_rmdir(directory);
}

/* A run of values may stand for any number of calls. */
enum { ROOM = 1 << 26, CALLS = 1 << 20 };

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    AUTO(Error) error = NULL;
    WendCheckpointHeader h;
    elastic_calls_most = CALLS;
    gboolean whole = checkpoint_file_is_whole(data, size, &h);
    const guint8 *part = whole ? data + sizeof h : data;
    WendMerge *m = merge_from_part(part, whole ? h.bytes : size, ROOM, &error);
    if ((m != NULL) == (error != NULL))
        g_error("a result and an error, or neither");
    if (!m)
        return 0;
    Vector *encoded = merge_encode(m);
    WendMerge *again = merge_from_part(part, whole ? h.bytes : size, ROOM, NULL);
    if (merge_absorb(again, encoded->data, encoded->len, NULL))
        g_error("one rank twice");
    merge_free(again);
    vector_unref(encoded);
    write_and_open(m);
    merge_free(m);
    return 0;
}
