/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c: parts of ranks -> classes of ranks. See merge.h; write.c writes the archive. */
#include <string.h>

#include "base/shortage.h"
#include "class.h"
#include "record/codec.h"
#include "record/record.h"
#include "class-alignment.h"
#include "shard.h"
#include "shared-sides.h"
#include "side-members.h"

#define MAGIC "WENDMRGE"

static void fact_free(gpointer p)
{
    Fact *f = p;
    g_free(f->key);
    g_free(f->value);
    g_free(f);
}

static WendMerge *merge_new(void)
{
    WendMerge *m = g_new0(WendMerge, 1);
    m->classes = g_ptr_array_new_with_free_func((GDestroyNotify)class_free);
    m->by_key = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    m->by_shapes = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    m->facts = g_ptr_array_new_with_free_func(fact_free);
    m->hosts = hosts_new();
    m->shards = shards_new();
    m->sides = side_members_new();
    m->shared = shared_sides_new();
    m->rank_times = rank_times_new(0);
    return m;
}

void wend_merge_free(WendMerge *m)
{
    if (!m)
        return;
    g_hash_table_unref(m->by_key);
    g_hash_table_unref(m->by_shapes);
    g_ptr_array_unref(m->classes);
    g_ptr_array_unref(m->facts);
    g_array_unref(m->shards);
    g_array_unref(m->sides);
    g_array_unref(m->shared);
    hosts_free(m->hosts);
    rank_times_free(m->rank_times);
    rankset_clear(&m->ranks);
    g_free(m);
}

guint64 wend_merge_memory(const WendMerge *m)
{
    guint64 all = sizeof *m + side_members_memory(m->sides) + shared_sides_memory(m->shared)
                  + rank_times_memory(m->rank_times);
    for (guint i = 0; i < m->classes->len; i++)
        all += class_memory(g_ptr_array_index(m->classes, i));
    return all;
}

/* -- facts -- */

/* The index of KEY in the facts, which are sorted by key, or the index at which to insert it. */
static guint place(const GPtrArray *facts, const char *key, gboolean *found)
{
    guint low = 0, high = facts->len;
    *found = FALSE;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        int order = strcmp(((const Fact *)g_ptr_array_index(facts, middle))->key, key);
        if (order == 0)
            *found = TRUE;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static gboolean wins(const Fact *old, const char *key, const char *value, guint32 rank)
{
    double a = g_ascii_strtod(old->value, NULL), b = g_ascii_strtod(value, NULL);
    if ((strcmp(key, "run.start") == 0 || strcmp(key, WEND_STOPPED_AFTER) == 0) && a != b)
        return b < a;
    if ((strcmp(key, "run.elapsed") == 0 || strcmp(key, "clock.error") == 0) && a != b)
        return b > a;
    return rank < old->rank;
}

static void add_fact(WendMerge *m, const char *key, const char *value, guint32 rank)
{
    gboolean found;
    guint at = place(m->facts, key, &found);
    if (found && strcmp(key, WEND_LEFT_OUT) == 0) {
        Fact *sum = g_ptr_array_index(m->facts, at);
        guint64 all = g_ascii_strtoull(sum->value, NULL, 10) + g_ascii_strtoull(value, NULL, 10);
        g_free(sum->value);
        sum->value = g_strdup_printf("%" G_GUINT64_FORMAT, all);
        return;
    }
    if (found) {
        Fact *old = g_ptr_array_index(m->facts, at);
        if (!wins(old, key, value, rank))
            return;
        g_free(old->value);
        old->value = g_strdup(value);
        old->rank = rank;
        return;
    }
    Fact *f = g_new(Fact, 1);
    *f = (Fact){g_strdup(key), g_strdup(value), rank};
    g_ptr_array_insert(m->facts, at, f);
}

/* Adds a fact of GROUP that RANK has for itself. The keys sort in the order of ranks. The archive
 * groups them by VALUE (meta-write.c). */
static void add_own(WendMerge *m, const char *group, const char *value, guint32 rank)
{
    g_autofree char *key = g_strdup_printf("%s.%08u", group, rank);
    add_fact(m, key, value, rank);
}

/* -- reading -- */

static WendMerge *damaged(WendMerge *m, const char *what, GError **error)
{
    wend_merge_free(m);
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s is damaged or of another version of Wend",
                what);
    return NULL;
}

static gboolean magic(WendCursor *c, const char *text)
{
    const uint8_t *p = wend_cursor_bytes(c, strlen(text));
    return p && memcmp(p, text, strlen(text)) == 0;
}

static void add_class(WendMerge *m, Class *k)
{
    g_ptr_array_add(m->classes, k);
    g_hash_table_insert(m->by_key, k->key, k);
    if (!g_hash_table_contains(m->by_shapes, k->shapes_key))
        g_hash_table_insert(m->by_shapes, k->shapes_key, k);
}

WendMerge *wend_merge_from_part(const guint8 *part, gsize n, guint64 room, GError **error)
{
    WendCursor c = wend_cursor(part, n);
    WendMerge *m = merge_new();
    if (!magic(&c, WEND_PART_MAGIC) || wend_cursor_unsigned(&c) != WEND_PART_VERSION)
        return damaged(m, "a rank's part", error);
    gsize n_facts = wend_cursor_count(&c, 2);
    g_autoptr(GPtrArray) facts = g_ptr_array_new_with_free_func(g_free);
    for (gsize i = 0; i < 2 * n_facts; i++)
        g_ptr_array_add(facts, codec_string(&c));
    guint64 rank = wend_cursor_unsigned(&c), world = wend_cursor_unsigned(&c);
    if (c.failed || world > RANKSET_MAX || rank >= world)
        return damaged(m, "a rank's part", error);
    m->world = world;
    m->ranks = rankset_single(rank);
    for (guint i = 0; i < facts->len; i += 2) {
        const char *key = g_ptr_array_index(facts, i), *value = g_ptr_array_index(facts, i + 1);
        if (strcmp(key, "run.host") == 0)
            hosts_add(m->hosts, value);
        else if (strcmp(key, "run.ended") == 0)
            add_own(m, WEND_ENDED_GROUP, value, rank);
        else if (strcmp(key, "run.cut") == 0)
            add_own(m, WEND_CUT_GROUP, value, rank);
        else
            add_fact(m, key, value, rank);
        if (strcmp(key, WEND_LEFT_OUT) == 0 && strcmp(value, "0") != 0)
            add_own(m, WEND_OFF_GROUP, "calls", rank);
    }
    GError *why = NULL;
    g_autofree double *seconds = g_new(double, wend_n_functions + 1);
    for (gsize i = 0; i < wend_n_functions; i++)
        seconds[i] = -1;
    Class *k = class_from_part(&c, rank, room, seconds, &why);
    if (why) {
        wend_merge_free(m);
        g_propagate_error(error, why);
        return NULL;
    }
    if (!k)
        return damaged(m, "a rank's part", error);
    add_class(m, k);
    m->rank_times->world = world;
    for (gsize i = 0; i < wend_n_functions; i++)
        if (seconds[i] >= 0)
            rank_times_add(m->rank_times, i, rank, seconds[i]);
    return side_members_read(m->sides, m->shared, &c, (guint32)rank)
               ? m
               : damaged(m, "a rank's part", error);
}

GByteArray *wend_merge_encode(WendMerge *m)
{
    WendBuf b = WEND_BUF_INIT;
    wend_buf_bytes(&b, MAGIC, strlen(MAGIC));
    wend_buf_unsigned(&b, WEND_PART_VERSION);
    wend_buf_unsigned(&b, m->world);
    rankset_encode(&m->ranks, &b);
    wend_buf_unsigned(&b, m->facts->len);
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        wend_buf_string(&b, f->key);
        wend_buf_string(&b, f->value);
        wend_buf_unsigned(&b, f->rank);
    }
    hosts_encode(m->hosts, &b);
    shards_encode(m->shards, &b);
    side_members_encode(m->sides, &b);
    shared_sides_encode(m->shared, &b);
    rank_times_encode(m->rank_times, &b);
    wend_buf_unsigned(&b, m->classes->len);
    for (guint i = 0; i < m->classes->len; i++)
        class_encode(g_ptr_array_index(m->classes, i), &b);
    if (b.failed)
        wend_shortage();
    GByteArray *out = g_byte_array_sized_new(b.len);
    g_byte_array_append(out, b.data, b.len);
    wend_buf_clear(&b);
    return out;
}

static WendMerge *decode(const guint8 *encoded, gsize n, GError **error)
{
    WendCursor c = wend_cursor(encoded, n);
    WendMerge *m = merge_new();
    if (!magic(&c, MAGIC) || wend_cursor_unsigned(&c) != WEND_PART_VERSION)
        return damaged(m, "what another rank merged", error);
    guint64 world = wend_cursor_unsigned(&c);
    if (c.failed || world > RANKSET_MAX || !rankset_decode(&m->ranks, &c, world))
        return damaged(m, "what another rank merged", error);
    m->world = world;
    gsize n_facts = wend_cursor_count(&c, 3);
    for (gsize i = 0; i < n_facts; i++) {
        g_autofree char *key = codec_string(&c), *value = codec_string(&c);
        add_fact(m, key, value, wend_cursor_unsigned(&c));
    }
    hosts_free(m->hosts);
    m->hosts = hosts_decode(&c);
    if (!m->hosts || !shards_decode(m->shards, &c, &m->ranks)
        || !side_members_decode(m->sides, &c, m->world)
        || !shared_sides_decode(m->shared, &c, m->world))
        return damaged(m, "what another rank merged", error);
    rank_times_free(m->rank_times);
    m->rank_times = rank_times_decode(&c, m->world);
    if (!m->rank_times)
        return damaged(m, "what another rank merged", error);
    gsize n_classes = wend_cursor_count(&c, 2);
    for (gsize i = 0; i < n_classes; i++) {
        Class *k = class_decode(&c, m->world);
        if (!k)
            return damaged(m, "what another rank merged", error);
        add_class(m, k);
    }
    return c.failed ? damaged(m, "what another rank merged", error) : m;
}

/* -- two into one -- */

/* Replaces strided terminals of classes that may become one. FALSE: a grammar is damaged. */
static gboolean spread_kin(WendMerge *m, Class *theirs)
{
    Class *kin = g_hash_table_lookup(m->by_shapes, theirs->shapes_key);
    if (!kin)
        return TRUE;
    gboolean good = !class_is_strided(theirs) || class_spread(theirs);
    if (!class_is_strided(kin))
        return good;
    g_hash_table_remove(m->by_key, kin->key);
    good = class_spread(kin) && good;
    g_hash_table_insert(m->by_key, kin->key, kin);
    return good;
}

/* Merges THEIRS into an equal class of M, or into one with equal shapes. There is only one class
 * with a key of shapes, unless all with the key stay apart. FALSE: it was not merged. */
static gboolean absorbed(WendMerge *m, Class *theirs)
{
    Class *ours = g_hash_table_lookup(m->by_key, theirs->key),
          *kin = g_hash_table_lookup(m->by_shapes, theirs->shapes_key);
    if (ours) {
        ours->apart |= theirs->apart;
        return class_merge(ours, theirs);
    }
    if (!kin)
        return FALSE;
    if (!kin->apart && !theirs->apart) {
        g_hash_table_remove(m->by_key, kin->key);
        gboolean one = class_merge(kin, theirs);
        g_hash_table_insert(m->by_key, kin->key, kin);
        if (one)
            return TRUE;
    }
    kin->apart = theirs->apart = TRUE;
    return FALSE;
}

gboolean wend_merge_unite(WendMerge *m, WendMerge *other, GError **error)
{
    gboolean united = FALSE;
    if (other->world != m->world)
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT,
                    "the parts are of runs with different numbers of ranks: %u and %u", m->world,
                    other->world);
    else if (!rankset_unite(&m->ranks, &other->ranks))
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "the parts hold a rank twice");
    else
        united = TRUE;
    if (!united) {
        wend_merge_free(other);
        return FALSE;
    }
    for (guint i = 0; i < other->facts->len; i++) {
        const Fact *f = g_ptr_array_index(other->facts, i);
        add_fact(m, f->key, f->value, f->rank);
    }
    hosts_include(m->hosts, other->hosts);
    shards_include(m->shards, other->shards);
    side_members_include(m->sides, other->sides);
    shared_sides_include(m->shared, other->shared);
    rank_times_include(m->rank_times, other->rank_times);
    for (guint i = 0; i < other->classes->len; i++) {
        Class *theirs = g_ptr_array_index(other->classes, i);
        if (!spread_kin(m, theirs)) {
            g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "a rank's grammar is damaged");
            wend_merge_free(other);
            return FALSE;
        }
        if (absorbed(m, theirs))
            continue;
        g_ptr_array_index(other->classes, i) = NULL; /* moved; class_free takes NULL */
        add_class(m, theirs);
    }
    wend_merge_free(other);
    return TRUE;
}

gboolean wend_merge_absorb(WendMerge *m, const guint8 *encoded, gsize n, GError **error)
{
    WendMerge *other = decode(encoded, n, error);
    return other && wend_merge_unite(m, other, error);
}

guint wend_merge_stopped(const WendMerge *m, guint64 *calls)
{
    guint n = 0;
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        n += g_str_has_prefix(f->key, WEND_ENDED_GROUP ".")
             && strcmp(f->value, WEND_ENDED_MEMORY) == 0;
        if (strcmp(f->key, WEND_STOPPED_AFTER) == 0)
            *calls = g_ascii_strtoull(f->value, NULL, 10);
    }
    return n;
}

guint wend_merge_cut(const WendMerge *m, const char **kinds)
{
    guint n = 0;
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        if (g_str_has_prefix(f->key, WEND_CUT_GROUP ".") && n++ == 0)
            *kinds = f->value;
    }
    return n;
}

guint64 wend_merge_left_out(const WendMerge *m)
{
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        if (strcmp(f->key, WEND_LEFT_OUT) == 0)
            return g_ascii_strtoull(f->value, NULL, 10);
    }
    return 0;
}

char *wend_merge_unrecorded(const WendMerge *m)
{
    static const char prefix[] = WEND_UNRECORDED_GROUP ".";
    const char *names[2];
    guint n = 0;
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        if (!g_str_has_prefix(f->key, prefix))
            continue;
        if (n < G_N_ELEMENTS(names))
            names[n] = f->key + strlen(prefix);
        n++;
    }
    if (n == 0)
        return NULL;
    if (n == 1)
        return g_strdup(names[0]);
    if (n == 2)
        return g_strdup_printf("%s and %s", names[0], names[1]);
    return g_strdup_printf("%s, %s and %u other%s", names[0], names[1], n - 2, n == 3 ? "" : "s");
}
