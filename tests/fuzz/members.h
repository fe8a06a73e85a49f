/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h: an archive as the fuzzers take it uncompressed, so that mutations reach what is behind
 * the checksums: a row of members, (number of the name, length in two bytes, bytes)*. */
#ifndef WEND_FUZZ_MEMBERS_H
#define WEND_FUZZ_MEMBERS_H

#include "../../lib/archive/container.h"

#include <glib.h>

/* The shards are those of 6 ranks, two in each member. */
static const char *const member_names[] = {"meta",     "program", "program.2", "program.4",
                                           "values.0", "sites",   "sites.0",   "stacks",
                                           "stacks.0", "names",   "times.0",   "times.1"};

static inline Container *members_unpack(const guint8 *p, gsize n)
{
    Map *members = map_new(map_text_hash, map_text_equal, memory_free, (Release)bytes_unref);
    while (n >= 3) {
        gsize length = MIN((gsize)(p[1] | p[2] << 8), n - 3);
        map_replace(members, g_strdup(member_names[p[0] % G_N_ELEMENTS(member_names)]),
                    bytes_new(p + 3, length));
        p += 3 + length;
        n -= 3 + length;
    }
    return container_from_members(members, "fuzz");
}

#endif
