/* SPDX-License-Identifier: BSD-3-Clause */
/* meta-write.c: writes the member "meta", which describes the run. */
#include <string.h>

#include "record/checkpoint-file.h"
#include "record/codec.h"
#include "record/part.h"
#include "write-private.h"

const char *writer_fact(const WendMerge *m, const char *key)
{
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        if (strcmp(f->key, key) == 0)
            return f->value;
    }
    return NULL;
}

/* N ascending ranks as text: "3;5-7". Newly allocated. */
static char *rank_text(const guint32 *ranks, guint32 n)
{
    GString *text = g_string_new(NULL);
    for (guint32 i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ranks[end] == ranks[end - 1] + 1; end++)
            ;
        g_string_append_printf(text, i ? ";%u" : "%u", ranks[i]);
        if (end - i > 1)
            g_string_append_printf(text, "-%u", ranks[end - 1]);
    }
    return g_string_free(text, FALSE);
}

/* Whether a key file admits NAME as the name of a group or, if KEY, of a key. */
static gboolean is_name(const char *name, gboolean key)
{
    gsize n = strlen(name);
    if (n == 0 || (key && (name[0] == ' ' || name[n - 1] == ' ')))
        return FALSE;
    for (const char *p = name; *p; p++)
        if (strchr("[]=", *p) || g_ascii_iscntrl(*p))
            return FALSE;
    return TRUE;
}

/* Facts that ranks have for themselves: for each value the ranks that have it, as text. */
static const char *const own_groups[] = {WEND_ENDED_GROUP, WEND_CUT_GROUP, WEND_OFF_GROUP};

static gboolean is_of(const Fact *f, const char *group)
{
    gsize n = strlen(group);
    return strncmp(f->key, group, n) == 0 && f->key[n] == '.';
}

static gboolean is_own(const Fact *f)
{
    for (guint i = 0; i < G_N_ELEMENTS(own_groups); i++)
        if (is_of(f, own_groups[i]))
            return TRUE;
    return FALSE;
}

static void write_own(GKeyFile *meta, const WendMerge *m, const char *group)
{
    g_autoptr(GHashTable) by_value =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        if (!is_of(f, group))
            continue;
        GArray *ranks = g_hash_table_lookup(by_value, f->value);
        if (!ranks)
            g_hash_table_insert(by_value, f->value,
                                ranks = g_array_new(FALSE, FALSE, sizeof(guint32)));
        g_array_append_val(ranks, f->rank);
    }
    g_autoptr(GList) values = g_list_sort(g_hash_table_get_keys(by_value), (GCompareFunc)strcmp);
    for (GList *value = values; value; value = value->next) {
        const GArray *ranks = g_hash_table_lookup(by_value, value->data);
        g_autofree char *text = rank_text((const guint32 *)(gconstpointer)ranks->data, ranks->len);
        g_autofree char *key = g_strdelimit(g_strdup(value->data), "[]=\n\r", ' ');
        if (is_name(g_strstrip(key), TRUE))
            g_key_file_set_value(meta, group, key, text);
    }
}

static char *missing_ranks(const WendMerge *m)
{
    g_autofree guint32 *have = rankset_expand(&m->ranks);
    g_autoptr(GArray) missing = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 rank = 0, i = 0; rank < m->world; rank++) {
        if (i < m->ranks.n && have[i] == rank)
            i++;
        else
            g_array_append_val(missing, rank);
    }
    return rank_text((const guint32 *)(gconstpointer)missing->data, missing->len);
}

/* The first ranks of the shards, as text. Newly allocated. */
static char *shard_ranks(const WendMerge *m)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < m->shards->len; i++)
        g_string_append_printf(text, i ? ";%u" : "%u", g_array_index(m->shards, Shard, i).first);
    return g_string_free(text, FALSE);
}

void write_meta(Writer *w)
{
    const WendMerge *m = w->r->merge;
    g_autoptr(GKeyFile) meta = g_key_file_new();
    g_key_file_set_integer(meta, "recording", "format", ARCHIVE_FORMAT);
    g_key_file_set_integer(meta, "recording", "ranks", m->world);
    if (m->ranks.n < m->world) {
        g_key_file_set_boolean(meta, "recording", "complete", FALSE);
        g_autofree char *missing = missing_ranks(m);
        g_key_file_set_value(meta, "recording", "missing", missing);
    }
    if (m->shards->len > 0) {
        g_autofree char *shards = shard_ranks(m);
        g_key_file_set_value(meta, "recording", SHARDS_KEY, shards);
    }
    g_key_file_set_uint64(meta, "recording", "calls", w->totals.mpi_calls);
    if (w->totals.polls)
        g_key_file_set_uint64(meta, "recording", "polls", w->totals.polls);
    if (w->totals.frees)
        g_key_file_set_uint64(meta, "recording", "frees", w->totals.frees);
    for (guint i = 0; i < m->facts->len; i++) {
        const Fact *f = g_ptr_array_index(m->facts, i);
        const char *dot = strchr(f->key, '.');
        if (!dot || g_str_has_prefix(f->key, "datatype.") || is_own(f))
            continue;
        g_autofree char *group = g_strndup(f->key, dot - f->key);
        if (is_name(group, FALSE) && is_name(dot + 1, TRUE))
            g_key_file_set_string(meta, group, dot + 1, f->value);
    }
    for (guint i = 0; i < G_N_ELEMENTS(own_groups); i++)
        write_own(meta, m, own_groups[i]);
    g_autofree char *hosts = hosts_text(m->hosts);
    if (hosts)
        g_key_file_set_string(meta, "run", "hosts", hosts);
    gsize n;
    g_autofree char *text = g_key_file_to_data(meta, &n, NULL);
    wend_buf_bytes(&w->out, text, n);
    writer_member(w, "meta");
}
