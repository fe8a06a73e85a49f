/* SPDX-License-Identifier: BSD-3-Clause */
/* meta-write.c: writes the member "meta", which describes the run. */
#include <inttypes.h>
#include <string.h>

#include "base/strings.h"
#include "record/checkpoint-file.h"
#include "record/codec.h"
#include "record/part.h"
#include "write-private.h"

const char *writer_fact(const WendMerge *m, const char *key)
{
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        if (strcmp(f->key, key) == 0)
            return f->value;
    }
    return NULL;
}

/* -- groups of lines "key=value", as GLib's GKeyFile reads them -- */

typedef struct {
    char *name;
    WendBuf lines;
} MetaGroup;
typedef struct {
    Vector *groups; /* MetaGroup, in the order of their first lines */
} Meta;

static void meta_group_clear(void *group)
{
    MetaGroup *g = group;
    memory_free(g->name);
    buf_clear(&g->lines);
}

static WendBuf *lines_of(Meta *meta, const char *group)
{
    for (uint32_t i = 0; i < meta->groups->len; i++)
        if (strcmp(VECTOR_AT(meta->groups, MetaGroup, i).name, group) == 0)
            return &VECTOR_AT(meta->groups, MetaGroup, i).lines;
    MetaGroup g = {string_copy(group), WEND_BUF_INIT};
    vector_set_clear(meta->groups, meta_group_clear);
    VECTOR_APPEND(meta->groups, g);
    return &VECTOR_AT(meta->groups, MetaGroup, meta->groups->len - 1).lines;
}

static void set(Meta *meta, const char *group, const char *key, const char *value)
{
    string_add(lines_of(meta, group), "%s=%s\n", key, value);
}

static void set_number(Meta *meta, const char *group, const char *key, uint64_t value)
{
    string_add(lines_of(meta, group), "%s=%" PRIu64 "\n", key, value);
}

/* The escape for a character of a value, or NULL if it is written unchanged. */
static const char *escaped(char c, bool leading)
{
    switch (c) {
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\\':
        return "\\\\";
    case ' ':
        return leading ? "\\s" : NULL;
    case '\t':
        return leading ? "\\t" : NULL;
    default:
        return NULL;
    }
}

/* VALUE may be any text. */
static void set_string(Meta *meta, const char *group, const char *key, const char *value)
{
    WendBuf text = WEND_BUF_INIT;
    bool leading = true;
    for (const char *p = value; *p; p++) {
        const char *other = escaped(*p, leading);
        leading = leading && (*p == ' ' || *p == '\t');
        buf_bytes(&text, other ? other : p, other ? strlen(other) : 1);
    }
    AUTOFREE char *whole = string_take(&text);
    set(meta, group, key, whole);
}

/* -- what ranks have for themselves -- */

/* N ascending ranks as text: "3;5-7". Newly allocated. */
static char *rank_text(const uint32_t *ranks, uint32_t n)
{
    WendBuf text = WEND_BUF_INIT;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ranks[end] == ranks[end - 1] + 1; end++)
            ;
        string_add(&text, i ? ";%u" : "%u", ranks[i]);
        if (end - i > 1)
            string_add(&text, "-%u", ranks[end - 1]);
    }
    return string_take(&text);
}

/* Whether a key file admits NAME as the name of a group or, if KEY, of a key. */
static bool is_name(const char *name, bool key)
{
    size_t n = strlen(name);
    if (n == 0 || (key && (name[0] == ' ' || name[n - 1] == ' ')))
        return false;
    for (const char *p = name; *p; p++)
        if (strchr("[]=", *p) || (*p >= 0 && *p < ' ') || *p == 127)
            return false;
    return true;
}

/* Facts that ranks have for themselves: for each value the ranks that have it, as text. */
static const char *const own_groups[] = {WEND_ENDED_GROUP, WEND_CUT_GROUP, WEND_OFF_GROUP};

static bool is_of(const Fact *f, const char *group)
{
    size_t n = strlen(group);
    return strncmp(f->key, group, n) == 0 && f->key[n] == '.';
}

static bool is_own(const Fact *f)
{
    for (uint32_t i = 0; i < COUNT_OF(own_groups); i++)
        if (is_of(f, own_groups[i]))
            return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void write_own(Meta *meta, const WendMerge *m, const char *group)
{
    AUTO(Map) by_value = map_of_texts((Release)vector_unref);
    AUTO(Vector) values = vector_of_pointers(NULL);
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        if (!is_of(f, group))
            continue;
        Vector *ranks = map_get(by_value, f->value);
        if (!ranks) {
            map_put(by_value, f->value, ranks = vector_new(sizeof(uint32_t)));
            vector_add(values, f->value);
        }
        VECTOR_APPEND(ranks, f->rank);
    }
    vector_sort(values, by_text);
    for (uint32_t i = 0; i < values->len; i++) {
        const char *value = VECTOR_POINTER(values, i);
        const Vector *ranks = map_get(by_value, value);
        AUTOFREE char *text = rank_text(ranks->data, ranks->len);
        AUTOFREE char *key = string_replace(string_copy(value), "[]=\n\r", ' ');
        if (is_name(string_strip(key), true))
            set(meta, group, key, text);
    }
}

static char *missing_ranks(const WendMerge *m)
{
    AUTOFREE uint32_t *have = rankset_expand(&m->ranks);
    AUTO(Vector) missing = vector_new(sizeof(uint32_t));
    for (uint32_t rank = 0, i = 0; rank < m->world; rank++) {
        if (i < m->ranks.n && have[i] == rank)
            i++;
        else
            VECTOR_APPEND(missing, rank);
    }
    return rank_text(missing->data, missing->len);
}

/* The first ranks of the shards, as text. Newly allocated. */
static char *shard_ranks(const WendMerge *m)
{
    WendBuf text = WEND_BUF_INIT;
    for (uint32_t i = 0; i < m->shards->len; i++)
        string_add(&text, i ? ";%u" : "%u", VECTOR_AT(m->shards, Shard, i).first);
    return string_take(&text);
}

void write_meta(Writer *w)
{
    const WendMerge *m = w->r->merge;
    Meta meta = {vector_new(sizeof(MetaGroup))};
    set_number(&meta, "recording", "format", ARCHIVE_FORMAT);
    set_number(&meta, "recording", "ranks", m->world);
    if (m->ranks.n < m->world) {
        set(&meta, "recording", "complete", "false");
        AUTOFREE char *missing = missing_ranks(m);
        set(&meta, "recording", "missing", missing);
    }
    if (m->shards->len > 0) {
        AUTOFREE char *shards = shard_ranks(m);
        set(&meta, "recording", SHARDS_KEY, shards);
    }
    set_number(&meta, "recording", "calls", w->totals.mpi_calls);
    if (w->totals.polls)
        set_number(&meta, "recording", "polls", w->totals.polls);
    if (w->totals.frees)
        set_number(&meta, "recording", "frees", w->totals.frees);
    for (uint32_t i = 0; i < m->facts->len; i++) {
        const Fact *f = VECTOR_POINTER(m->facts, i);
        const char *dot = strchr(f->key, '.');
        if (!dot || string_begins(f->key, "datatype.") || is_own(f))
            continue;
        AUTOFREE char *group = string_part(f->key, dot - f->key);
        if (is_name(group, false) && is_name(dot + 1, true))
            set_string(&meta, group, dot + 1, f->value);
    }
    for (uint32_t i = 0; i < COUNT_OF(own_groups); i++)
        write_own(&meta, m, own_groups[i]);
    AUTOFREE char *hosts = hosts_text(m->hosts);
    if (hosts)
        set_string(&meta, "run", "hosts", hosts);
    for (uint32_t i = 0; i < meta.groups->len; i++) {
        const MetaGroup *g = &VECTOR_AT(meta.groups, MetaGroup, i);
        string_add(&w->out, i ? "\n[%s]\n" : "[%s]\n", g->name);
        buf_bytes(&w->out, g->lines.data, g->lines.len);
    }
    vector_unref(meta.groups);
    writer_member(w, "meta");
}
