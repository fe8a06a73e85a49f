/* SPDX-License-Identifier: BSD-3-Clause */
/* make-seed.c: make-seed ARCHIVE > seed: the archive's members in the form that the fuzzer takes
 * uncompressed (members.h). */
#include <stdio.h>

#include "members.h"

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    Container *b = argc == 2 ? container_open(argv[1], &error) : NULL;
    if (!b) {
        g_printerr("%s\n", error ? error->message : "usage: make-seed ARCHIVE > seed");
        return 2;
    }
    for (guint i = 0; i < G_N_ELEMENTS(member_names); i++) {
        if (!container_has(b, member_names[i]))
            continue;
        GBytes *bytes = container_member(b, member_names[i], &error);
        gsize n;
        const guint8 *data = bytes ? g_bytes_get_data(bytes, &n) : NULL;
        if (!bytes || n > 0xffff)
            return 1;
        const guint8 head[] = {i, n & 0xff, n >> 8};
        fwrite(head, 1, sizeof head, stdout);
        fwrite(data, 1, n, stdout);
        g_bytes_unref(bytes);
    }
    container_free(b);
    return 0;
}
