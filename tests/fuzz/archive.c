/* archive.c: fuzzes the reader. An input that begins as Zstandard does is a whole archive; any other is a row of members, uncompressed, so that
 * mutations reach what is behind the checksums: (number of the name, length in two bytes, bytes)*.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with -DREPLAY (exercise.c) a program that runs the files it is given. See tests/fuzz/local.mk. */
#include "../../lib/program-private.h"

#include <string.h>

#include "exercise.h"

static const char *const names[] = {"meta", "functions", "constants", "shapes", "terminals", "rules", "classes", "outcomes", "polls", "timing"};

static Bundle *unpack(const guint8 *p, gsize n)
{
    GHashTable *members = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    while (n >= 3) {
        gsize length = MIN((gsize)(p[1] | p[2] << 8), n - 3);
        g_hash_table_replace(members, g_strdup(names[p[0] % G_N_ELEMENTS(names)]), g_bytes_new(p + 3, length));
        p += 3 + length;
        n -= 3 + length;
    }
    return bundle_from_members(members, "fuzz");
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    static const guint8 zstandard[] = {0x28, 0xb5, 0x2f, 0xfd};
    g_autoptr(GError) error = NULL;
    Bundle *b;
    if (size >= 4 && memcmp(data, zstandard, 4) == 0) {
        g_autoptr(GBytes) bytes = g_bytes_new(data, size);
        b = bundle_from_bytes(bytes, "fuzz", &error);
    } else {
        b = unpack(data, size);
    }
    WendProgram *p = b ? program_from_bundle(b, &error) : NULL;
    if ((p != NULL) == (error != NULL)) g_error("a result and an error, or neither");
    if (p) exercise(p);
    wend_program_free(p);
    return 0;
}
