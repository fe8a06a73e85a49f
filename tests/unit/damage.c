/* SPDX-License-Identifier: BSD-3-Clause */
/* damage.c: archives that are missing, empty, cut, flipped, of another version, and disks that are
 * full: one error that names the file, nothing left behind, and never a crash. Run under the
 * address sanitizer for the full worth of it. */
#include "recorded.h"

#include "../../lib/archive/container.h"
#include "../../lib/ranks/rank-vector.h"
#include "../../lib/read/program-private.h"
#include "../fuzz/exercise.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

static char *directory, *archive;

static WendMerge *stencil(void)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 4; rank++)
        g_ptr_array_add(ranks, simulated_stencil(rank, 2, 2, 12, FALSE));
    return merged(ranks, NULL);
}

static void put(const void *bytes, gsize n)
{
    /* g_file_set_contents would flush it to the disk, thousands of times */
    FILE *f = g_fopen(archive, "wb");
    g_assert_nonnull(f);
    g_assert_cmpuint(fwrite(bytes, 1, n, f), ==, n);
    fclose(f);
}

static Map *right; /* member -> its bytes */

static void check_members(gboolean first)
{
    Container *b = container_open(directory, NULL);
    AUTO(Vector) names = container_names(b);
    for (guint i = 0; i < names->len; i++) {
        Bytes *bytes = container_member(b, VECTOR_POINTER(names, i), NULL);
        g_assert_nonnull(bytes);
        if (first)
            map_put(right, g_strdup(VECTOR_POINTER(names, i)), bytes_ref(bytes));
        g_assert_true(bytes_equal(bytes, map_get(right, VECTOR_POINTER(names, i))));
        bytes_unref(bytes);
    }
    g_assert_cmpuint(names->len, ==, map_size(right));
    container_free(b);
}

/* TRUE: it opened, and says the same as the whole one does. */
static gboolean opens(void)
{
    Error *error = NULL;
    WendProgram *p = program_open(directory, &error);
    g_assert_true((!p) == (error != NULL));
    if (!p) {
        g_assert_cmpint(error->code, ==, WEND_ERROR_INPUT);
        g_assert_nonnull(strstr(error->message, "trace.tar.zst"));
        g_assert_null(strchr(error->message, '\n'));
        error_free(error);
        return FALSE;
    }
    exercise(p);
    g_assert_cmpuint(program_ranks(p), ==, 4);
    g_assert_cmpuint(program_n_classes(p), ==, 1);
    g_assert_cmpuint(program_rule(p, program_class(p, 0)->sequences[0].rule)->length, ==,
                     4 + 12 * 9 + 1);
    program_free(p);
    check_members(FALSE);
    return TRUE;
}

static void test_cut(gconstpointer whole)
{
    const GByteArray *w = whole;
    guint opened = 0;
    for (guint n = 0; n < w->len; n++) {
        put(w->data, n);
        opened += opens();
    }
    g_assert_cmpuint(opened, ==, 0);
}

/* The part that comes last may be missing. */
static void test_cut_program(gconstpointer unused)
{
    (void)unused;
    guint opened = 0;
    Bytes *program = map_get(right, "program");
    for (gsize n = 0; n < program->n; n++) {
        Map *cut = map_new(map_text_hash, map_text_equal, memory_free, (Release)bytes_unref);
        for (MapPlace p = {.map = right}; map_next(&p);)
            map_put(cut, g_strdup(p.key), bytes_ref(p.value));
        map_put(cut, g_strdup("program"), bytes_part(program, 0, n));
        AUTO(Error) error = NULL;
        WendProgram *p = program_from_container(container_from_members(cut, "cut"), &error);
        g_assert_true((!p) == (error != NULL));
        opened += p != NULL;
        program_free(p);
    }
    g_assert_cmpuint(opened, <=, 1);
}

static void test_flip(gconstpointer whole)
{
    const GByteArray *w = whole;
    guint8 *copy = g_memdup2(w->data, w->len);
    guint opened = 0;
    for (guint i = 0; i < w->len; i++)
        for (guint bit = 0; bit < 8; bit += 3) {
            copy[i] ^= 1 << bit;
            put(copy, w->len);
            opened += opens();
            copy[i] ^= 1 << bit;
        }
    /* there are bits that do not count: a match that moves to a place with the same bytes */
    g_assert_cmpuint(opened * 50, <, w->len);
    g_free(copy);
}

static gboolean has_all(const char *const *names, guint n, gsize each)
{
    Container *b = container_open(directory, NULL);
    gboolean all = b != NULL;
    for (guint i = 0; all && i < n; i++) {
        AUTO(Bytes) bytes = container_member(b, names[i], NULL);
        all = bytes && bytes->n == each && *(const char *)bytes->data == *names[i];
    }
    container_free(b);
    return all;
}

/* Several frames have an index; where it is damaged that is told. */
static void test_index(gconstpointer whole)
{
    static const char *const names[] = {"a", "b", "c"};
    const gsize each = 900000;
    gsize n;
    g_autofree char *bytes = g_malloc(each), *file = NULL;
    ContainerWriter *w = container_writer_new(0);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        memset(bytes, *names[i], each);
        container_add(w, names[i], bytes, each);
    }
    g_assert_true(container_finish(w, directory, "trace.tar.zst", NULL, NULL));
    g_assert_true(g_file_get_contents(archive, &file, &n, NULL));
    g_assert_cmpint(memcmp(file + n - 4, "WNDX", 4), ==, 0);
    g_assert_true(has_all(names, G_N_ELEMENTS(names), each));
    guint32 length; /* of the index, without its frame */
    memcpy(&length, file + n - 8, sizeof length);
    gsize frames = n - 16 - GUINT32_FROM_LE(length) - 8;
    for (gsize at = frames; at < n; at++) {
        file[at] ^= 0x10;
        put(file, n);
        g_assert_null(container_open(directory, NULL));
        file[at] ^= 0x10;
        put(file, at);
        /* without it they are read from the front */
        g_assert_true(at == frames ? has_all(names, G_N_ELEMENTS(names), each)
                                   : !container_open(directory, NULL));
    }
    put(((const GByteArray *)whole)->data, ((const GByteArray *)whole)->len);
}

static void expect(const char *path, WendErrorCode code, const char *text)
{
    Error *error = NULL;
    WendProgram *p = program_open(path, &error);
    g_assert_null(p);
    g_assert_true(error && error->code == code);
    if (!strstr(error->message, text) || !strstr(error->message, directory))
        g_error("\"%s\" says nothing of \"%s\"", error->message, text);
    error_free(error);
}

static void test_files(gconstpointer whole)
{
    const GByteArray *w = whole;
    put("", 0);
    expect(directory, WEND_ERROR_INPUT, "empty");
    put("no archive, but a text", 22);
    expect(directory, WEND_ERROR_INPUT, "not a Wend archive");
    g_unlink(archive);
    expect(directory, WEND_ERROR_INPUT, "no trace.tar.zst");
    expect(archive, WEND_ERROR_INPUT, "no such file");
    g_autofree char *tar = g_strdup_printf(
        "cd %s && echo 5 > other && tar -cf - other | zstd -q > trace.tar.zst && rm other",
        directory);
    g_assert_cmpint(system(tar), ==, 0);
    expect(directory, WEND_ERROR_INPUT, "no member meta");
    put(w->data, w->len);
}

/* Packed again by hand it is still read, and refused if it is of another format. */
static void test_repacked(gconstpointer whole)
{
    const GByteArray *w = whole;
    put(w->data, w->len);
    g_autofree char *same = g_strdup_printf("cd %s && mkdir x && tar --zstd -xf trace.tar.zst -C x "
                                            "&& tar --zstd -cf trace.tar.zst -C x "
                                            "meta program",
                                            directory);
    g_assert_cmpint(system(same), ==, 0);
    g_assert_true(opens());
    g_autofree char *other =
        g_strdup_printf("cd %s/x && sed -i s/^format=.*/format=99/ meta && tar --zstd -cf "
                        "../trace.tar.zst * && cd .. && rm -r x",
                        directory);
    g_assert_cmpint(system(other), ==, 0);
    expect(directory, WEND_ERROR_INPUT, "meta: is in format 99");
}

static void test_full_disk(gconstpointer whole)
{
    const GByteArray *w = whole;
    Error *error = NULL;
    put(w->data, w->len);
    WendMerge *m = stencil();
    struct rlimit old, little = {500, 500};
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    little.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &little);
    g_assert_false(write_archive(m, directory, NULL, NULL, &error));
    setrlimit(RLIMIT_FSIZE, &old);
    g_assert_true(error && error->code == WEND_ERROR_SYSTEM);
    g_assert_nonnull(strstr(error->message, archive));
    error_clear(&error);
    g_assert_true(opens()); /* the old one is untouched */
    g_unlink(archive);
    g_assert_cmpint(g_rmdir(directory), ==, 0); /* and nothing else is there */
    g_assert_false(write_archive(m, directory, NULL, NULL, &error));
    g_assert_true(error && error->code == WEND_ERROR_SYSTEM);
    error_clear(&error);
    g_assert_cmpint(g_mkdir(directory, 0777), ==, 0);
    merge_free(m);
}

/* Parts are made by the same build, but a process may die while it writes one. */
static void test_parts(gconstpointer whole)
{
    (void)whole;
    SimulatedRank *r = simulated_stencil(1, 2, 1, 3, FALSE);
    GByteArray *part = simulated_part(r);
    simulated_free(r);
    for (guint n = 0; n < part->len; n++) {
        Error *error = NULL;
        guint8 *copy = g_memdup2(part->data, n); /* of its own, so that a sanitizer sees its end */
        g_assert_null(merge_from_part(copy, n, G_MAXUINT64, &error));
        g_assert_true(error && error->code == WEND_ERROR_INPUT);
        error_free(error);
        g_free(copy);
    }
    WendMerge *m = merge_from_part(part->data, part->len, G_MAXUINT64, NULL);
    Vector *encoded = merge_encode(m);
    for (guint n = 0; n < encoded->len; n++) {
        guint8 *copy = g_memdup2(encoded->data, n);
        g_assert_false(merge_absorb(m, copy, n, NULL));
        g_free(copy);
    }
    Error *error = NULL;
    /* the same rank again */
    g_assert_false(merge_absorb(m, encoded->data, encoded->len, &error));
    g_assert_nonnull(strstr(error->message, "twice"));
    error_free(error);
    vector_unref(encoded);
    merge_free(m);
    g_byte_array_unref(part);
}

/* Words that the merge has for itself (rank-vector.h) are no calls' words: taken for such they
 * would be addresses. */
static void test_marks(gconstpointer whole)
{
    (void)whole;
    for (int i = -1; i <= RANK_VECTOR_MARKS; i++) {
        gboolean mark = i >= 0 && i < RANK_VECTOR_MARKS;
        Error *error = NULL;
        SimulatedRank *r = simulated_new(0, 1, FALSE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, RANK_VECTOR_MARK(i), 0, 1);
        GByteArray *part = simulated_part(r);
        simulated_free(r);
        WendMerge *m = merge_from_part(part->data, part->len, G_MAXUINT64, &error);
        g_assert_true((!m) == mark);
        if (mark)
            g_assert_true(error && error->code == WEND_ERROR_INPUT);
        error_clear(&error);
        if (m)
            merge_free(m);
        g_byte_array_unref(part);
    }
}

int main(int argc, char **argv)
{
    GByteArray whole;
    gsize n;
    char *bytes;
    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("wend-damage-XXXXXX", NULL);
    archive = g_build_filename(directory, "trace.tar.zst", NULL);
    WendMerge *m = stencil();
    g_assert_true(write_archive(m, directory, NULL, NULL, NULL));
    merge_free(m);
    g_assert_true(g_file_get_contents(archive, &bytes, &n, NULL));
    whole = (GByteArray){(guint8 *)bytes, n};
    right = map_new(map_text_hash, map_text_equal, memory_free, (Release)bytes_unref);
    check_members(TRUE);
    g_test_add_data_func("/damage/cut", &whole, test_cut);
    g_test_add_data_func("/damage/cut-program", NULL, test_cut_program);
    g_test_add_data_func("/damage/flip", &whole, test_flip);
    g_test_add_data_func("/damage/index", &whole, test_index);
    g_test_add_data_func("/damage/files", &whole, test_files);
    g_test_add_data_func("/damage/repacked", &whole, test_repacked);
    g_test_add_data_func("/damage/full-disk", &whole, test_full_disk);
    g_test_add_data_func("/damage/parts", &whole, test_parts);
    g_test_add_data_func("/damage/marks", &whole, test_marks);
    int result = g_test_run();
    g_unlink(archive);
    g_rmdir(directory);
    map_unref(right);
    g_free(bytes);
    g_free(archive);
    g_free(directory);
    return result;
}
