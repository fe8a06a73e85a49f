/* SPDX-License-Identifier: BSD-3-Clause */
/* make-seed.c: make-seed ARCHIVE > seed: the archive's members in the form that the fuzzer takes
 * uncompressed (members.h). */
#include <glib.h>
#include <stdio.h>

#include "members.h"

int main(int argc, char **argv)
{
    AUTO(Error) error = NULL;
    Container *b = argc == 2 ? container_open(argv[1], &error) : NULL;
    if (!b) {
        g_printerr("%s\n", error ? error->message : "usage: make-seed ARCHIVE > seed");
        return 2;
    }
    for (guint i = 0; i < G_N_ELEMENTS(member_names); i++) {
        if (!container_has(b, member_names[i]))
            continue;
        Bytes *bytes = container_member(b, member_names[i], &error);
        if (!bytes || bytes->n > 0xffff)
            return 1;
        const guint8 head[] = {i, bytes->n & 0xff, bytes->n >> 8};
        fwrite(head, 1, sizeof head, stdout);
        fwrite(bytes->data, 1, bytes->n, stdout);
        bytes_unref(bytes);
    }
    container_free(b);
    return 0;
}
