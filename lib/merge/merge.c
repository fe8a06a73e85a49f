/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c: parts of ranks -> classes of ranks. See merge.h; write.c writes the archive. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/lower-bound.h"
#include "base/strings.h"
#include "record/codec.h"
#include "record/record.h"
#include "class-alignment.h"
#include "class.h"
#include "shard.h"
#include "shared-sides.h"
#include "side-members.h"

#define MAGIC "WENDMRGE"

static void fact_free(void *p)
{
    Fact *f = p;
    memory_free(f->key);
    memory_free(f->value);
    memory_free(f);
}

static WendMerge *merge_new(void)
{
    WendMerge *m = NEW0(WendMerge, 1);
    m->classes = vector_of_pointers((Release)class_free);
    m->by_key = map_new(bytes_hash, bytes_equal, NULL, NULL);
    m->by_shapes = map_new(bytes_hash, bytes_equal, NULL, NULL);
    m->facts = vector_of_pointers(fact_free);
    m->hosts = hosts_new();
    m->shards = shards_new();
    m->sides = side_members_new();
    m->shared = shared_sides_new();
    m->rank_times = rank_times_new(0);
    return m;
}

void merge_free(WendMerge *m)
{
    if (!m)
        return;
    map_unref(m->by_key);
    map_unref(m->by_shapes);
    vector_unref(m->classes);
    vector_unref(m->facts);
    vector_unref(m->shards);
    vector_unref(m->sides);
    vector_unref(m->shared);
    hosts_free(m->hosts);
    rank_times_free(m->rank_times);
    rankset_clear(&m->ranks);
    memory_free(m);
}

uint64_t merge_memory(const WendMerge *m)
{
    uint64_t all = sizeof *m + side_members_memory(m->sides) + shared_sides_memory(m->shared)
                   + rank_times_memory(m->rank_times);
    for (uint32_t i = 0; i < m->classes->len; i++)
        all += class_memory(VECTOR_POINTER(m->classes, i));
    return all;
}

/* -- facts -- */

/* Facts are sorted by key. */
static Fact *fact_at(const WendMerge *m, uint32_t i)
{
    return VECTOR_POINTER(m->facts, i);
}

static bool wins(const Fact *old, const char *key, const char *value, uint32_t rank)
{
    double a = string_number(old->value), b = string_number(value);
    if ((strcmp(key, "run.start") == 0 || strcmp(key, WEND_STOPPED_AFTER) == 0) && a != b)
        return b < a;
    if ((strcmp(key, "run.elapsed") == 0 || strcmp(key, "clock.error") == 0) && a != b)
        return b > a;
    return rank < old->rank;
}

static void add_fact(WendMerge *m, const char *key, const char *value, uint32_t rank)
{
    uint32_t n = m->facts->len, at = LOWER_BOUND(i, n, strcmp(fact_at(m, i)->key, key) < 0);
    bool found = at < n && strcmp(fact_at(m, at)->key, key) == 0;
    if (found && strcmp(key, WEND_LEFT_OUT) == 0) {
        Fact *sum = VECTOR_POINTER(m->facts, at);
        uint64_t all = strtoull(sum->value, NULL, 10) + strtoull(value, NULL, 10);
        memory_free(sum->value);
        sum->value = string_print("%" PRIu64, all);
        return;
    }
    if (found) {
        Fact *old = VECTOR_POINTER(m->facts, at);
        if (!wins(old, key, value, rank))
            return;
        memory_free(old->value);
        old->value = string_copy(value);
        old->rank = rank;
        return;
    }
    Fact *f = NEW(Fact, 1);
    *f = (Fact){string_copy(key), string_copy(value), rank};
    VECTOR_INSERT(m->facts, at, f);
}

/* Adds a fact of GROUP that RANK has for itself. The keys sort in the order of ranks. The archive
 * groups them by VALUE (meta-write.c). */
static void add_own(WendMerge *m, const char *group, const char *value, uint32_t rank)
{
    AUTOFREE char *key = string_print("%s.%08u", group, rank);
    add_fact(m, key, value, rank);
}

/* -- reading -- */

static WendMerge *damaged(WendMerge *m, const char *what, Error **error)
{
    merge_free(m);
    error_set(error, WEND_ERROR_INPUT, "%s is damaged or of another version of Wend", what);
    return NULL;
}

static bool magic(WendCursor *c, const char *text)
{
    const uint8_t *p = cursor_bytes(c, strlen(text));
    return p && memcmp(p, text, strlen(text)) == 0;
}

static void add_class(WendMerge *m, Class *k)
{
    vector_add(m->classes, k);
    map_put(m->by_key, k->key, k);
    if (!map_has(m->by_shapes, k->shapes_key))
        map_put(m->by_shapes, k->shapes_key, k);
}

WendMerge *merge_from_part(const uint8_t *part, size_t n, uint64_t room, Error **error)
{
    WendCursor c = cursor_of(part, n);
    WendMerge *m = merge_new();
    if (!magic(&c, WEND_PART_MAGIC) || cursor_unsigned(&c) != WEND_PART_VERSION)
        return damaged(m, "a rank's part", error);
    size_t n_facts = cursor_count(&c, 2);
    AUTO(Vector) facts = vector_of_pointers(memory_free);
    for (size_t i = 0; i < 2 * n_facts; i++)
        vector_add(facts, codec_string(&c));
    uint64_t rank = cursor_unsigned(&c), world = cursor_unsigned(&c);
    if (c.failed || world > RANKSET_MAX || rank >= world)
        return damaged(m, "a rank's part", error);
    m->world = world;
    m->ranks = rankset_single(rank);
    for (uint32_t i = 0; i < facts->len; i += 2) {
        const char *key = VECTOR_POINTER(facts, i), *value = VECTOR_POINTER(facts, i + 1);
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
    Error *why = NULL;
    AUTOFREE double *seconds = NEW(double, mpi_n_functions + 1);
    for (size_t i = 0; i < mpi_n_functions; i++)
        seconds[i] = -1;
    Class *k = class_from_part(&c, rank, room, seconds, &why);
    if (why) {
        merge_free(m);
        error_give(error, why);
        return NULL;
    }
    if (!k)
        return damaged(m, "a rank's part", error);
    add_class(m, k);
    m->rank_times->world = world;
    for (size_t i = 0; i < mpi_n_functions; i++)
        if (seconds[i] >= 0)
            rank_times_add(m->rank_times, i, rank, seconds[i]);
    return side_members_read(m->sides, m->shared, &c, (uint32_t)rank)
               ? m
               : damaged(m, "a rank's part", error);
}

Vector *merge_encode(WendMerge *m)
{
    WendBuf b = WEND_BUF_INIT;
    buf_bytes(&b, MAGIC, strlen(MAGIC));
    buf_unsigned(&b, WEND_PART_VERSION);
    buf_unsigned(&b, m->world);
    rankset_encode(&m->ranks, &b);
    buf_unsigned(&b, m->facts->len);
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        buf_string(&b, f->key);
        buf_string(&b, f->value);
        buf_unsigned(&b, f->rank);
    }
    hosts_encode(m->hosts, &b);
    shards_encode(m->shards, &b);
    side_members_encode(m->sides, &b);
    shared_sides_encode(m->shared, &b);
    rank_times_encode(m->rank_times, &b);
    buf_unsigned(&b, m->classes->len);
    for (uint32_t i = 0; i < m->classes->len; i++)
        class_encode(VECTOR_POINTER(m->classes, i), &b);
    Vector *out = vector_with_room(1, b.len);
    vector_append_all(out, b.data, b.len);
    buf_clear(&b);
    return out;
}

static WendMerge *decode(const uint8_t *encoded, size_t n, Error **error)
{
    WendCursor c = cursor_of(encoded, n);
    WendMerge *m = merge_new();
    if (!magic(&c, MAGIC) || cursor_unsigned(&c) != WEND_PART_VERSION)
        return damaged(m, "what another rank merged", error);
    uint64_t world = cursor_unsigned(&c);
    if (c.failed || world > RANKSET_MAX || !rankset_decode(&m->ranks, &c, world))
        return damaged(m, "what another rank merged", error);
    m->world = world;
    size_t n_facts = cursor_count(&c, 3);
    for (size_t i = 0; i < n_facts; i++) {
        AUTOFREE char *key = codec_string(&c), *value = codec_string(&c);
        add_fact(m, key, value, cursor_unsigned(&c));
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
    size_t n_classes = cursor_count(&c, 2);
    for (size_t i = 0; i < n_classes; i++) {
        Class *k = class_decode(&c, m->world);
        if (!k)
            return damaged(m, "what another rank merged", error);
        add_class(m, k);
    }
    return c.failed ? damaged(m, "what another rank merged", error) : m;
}

/* -- two into one -- */

/* Merges THEIRS into an equal class of M, or into one with equal shapes. There is only one class
 * with a key of shapes, unless all with the key stay apart. false: it was not merged. */
static bool absorbed(WendMerge *m, Class *theirs)
{
    Class *ours = map_get(m->by_key, theirs->key), *kin = map_get(m->by_shapes, theirs->shapes_key);
    if (ours) {
        ours->apart |= theirs->apart;
        return class_merge(ours, theirs);
    }
    if (!kin)
        return false;
    if (!kin->apart && !theirs->apart) {
        map_remove(m->by_key, kin->key);
        bool one = class_merge(kin, theirs);
        map_put(m->by_key, kin->key, kin);
        if (one)
            return true;
    }
    kin->apart = theirs->apart = true;
    return false;
}

bool merge_unite(WendMerge *m, WendMerge *other, Error **error)
{
    bool united = false;
    if (other->world != m->world)
        error_set(error, WEND_ERROR_INPUT,
                  "the parts are of runs with different numbers of ranks: %u and %u", m->world,
                  other->world);
    else if (!rankset_unite(&m->ranks, &other->ranks))
        error_set(error, WEND_ERROR_INPUT, "the parts hold a rank twice");
    else
        united = true;
    if (!united) {
        merge_free(other);
        return false;
    }
    for (uint32_t i = 0; i < other->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(other->facts, i);
        add_fact(m, f->key, f->value, f->rank);
    }
    hosts_include(m->hosts, other->hosts);
    shards_include(m->shards, other->shards);
    side_members_include(m->sides, other->sides);
    shared_sides_include(m->shared, other->shared);
    rank_times_include(m->rank_times, other->rank_times);
    for (uint32_t i = 0; i < other->classes->len; i++) {
        Class *theirs = VECTOR_POINTER(other->classes, i);
        if (absorbed(m, theirs))
            continue;
        VECTOR_POINTER(other->classes, i) = NULL; /* moved; class_free takes NULL */
        add_class(m, theirs);
    }
    merge_free(other);
    return true;
}

bool merge_absorb(WendMerge *m, const uint8_t *encoded, size_t n, Error **error)
{
    WendMerge *other = decode(encoded, n, error);
    return other && merge_unite(m, other, error);
}

uint32_t merge_stopped(const WendMerge *m, uint64_t *calls)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        n +=
            string_begins(f->key, WEND_ENDED_GROUP ".") && strcmp(f->value, WEND_ENDED_MEMORY) == 0;
        if (strcmp(f->key, WEND_STOPPED_AFTER) == 0)
            *calls = strtoull(f->value, NULL, 10);
    }
    return n;
}

uint32_t merge_cut(const WendMerge *m, const char **kinds)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        if (string_begins(f->key, WEND_CUT_GROUP ".") && n++ == 0)
            *kinds = f->value;
    }
    return n;
}

uint64_t merge_left_out(const WendMerge *m)
{
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        if (strcmp(f->key, WEND_LEFT_OUT) == 0)
            return strtoull(f->value, NULL, 10);
    }
    return 0;
}

char *merge_unrecorded(const WendMerge *m)
{
    static const char prefix[] = WEND_UNRECORDED_GROUP ".";
    const char *names[2];
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        if (!string_begins(f->key, prefix))
            continue;
        if (n < COUNT_OF(names))
            names[n] = f->key + strlen(prefix);
        n++;
    }
    if (n == 0)
        return NULL;
    if (n == 1)
        return string_copy(names[0]);
    if (n == 2)
        return string_print("%s and %s", names[0], names[1]);
    return string_print("%s, %s and %u other%s", names[0], names[1], n - 2, n == 3 ? "" : "s");
}
