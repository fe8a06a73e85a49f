/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.c: see findings.h. */
#include "config.h"

#include "findings.h"

#include "call-text.h"
#include "src/command/text.h"

typedef struct {
    GArray *ranks;
    char *what, *lines;
} Finding;

struct Findings {
    const WendProgram *program;
    guint64 most;
    GPtrArray *all;    /* Finding */
    GHashTable *index; /* what and kind -> Finding */
};

static void finding_free(gpointer data)
{
    Finding *one = data;
    g_array_unref(one->ranks);
    g_free(one->what);
    g_free(one->lines);
    g_free(one);
}

Findings *findings_new(const WendProgram *p, guint64 most)
{
    Findings *f = g_new(Findings, 1);
    *f = (Findings){p, most, g_ptr_array_new_with_free_func(finding_free),
                    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    return f;
}

void findings_free(Findings *f)
{
    if (!f)
        return;
    g_hash_table_unref(f->index);
    g_ptr_array_unref(f->all);
    g_free(f);
}

gboolean findings_add(Findings *f, const guint *ranks, guint n, const char *what, const char *kind)
{
    char *key = g_strconcat(what, "\n", kind, NULL);
    Finding *known = g_hash_table_lookup(f->index, key);
    if (known != NULL) {
        g_array_append_vals(known->ranks, ranks, n);
        g_free(key);
        return FALSE;
    }
    if (findings_full(f)) {
        g_free(key);
        return FALSE;
    }
    known = g_new(Finding, 1);
    *known = (Finding){g_array_new(FALSE, FALSE, sizeof(guint)), g_strdup(what), NULL};
    g_array_append_vals(known->ranks, ranks, n);
    g_ptr_array_add(f->all, known);
    g_hash_table_insert(f->index, key, known);
    return TRUE;
}

void findings_show(Findings *f, const char *lines)
{
    Finding *last = f->all->pdata[f->all->len - 1];
    last->lines = g_strdup(lines);
}

guint64 findings_count(const Findings *f)
{
    return f->all->len;
}

gboolean findings_full(const Findings *f)
{
    return f->all->len >= f->most;
}

static gint compare_ranks(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

/* Appends "(ranks 0-2 of world 1)" in a job with several worlds, if all ranks are in one. */
static void put_world(const Findings *f, GString *out, const GArray *ranks)
{
    guint n = ranks->len, world = program_world_of(f->program, g_array_index(ranks, guint, 0));
    if (program_n_worlds(f->program) == 1
        || program_world_of(f->program, g_array_index(ranks, guint, n - 1)) != world)
        return;
    g_autofree guint *own = g_new(guint, n);
    for (guint i = 0; i < n; i++)
        own[i] = g_array_index(ranks, guint, i) - program_world(f->program, world)->first;
    g_string_append(out, " (ranks ");
    text_ranks(out, own, n);
    g_string_append_printf(out, " of world %u)", world);
}

void findings_print(const Findings *f, GString *out)
{
    for (guint i = 0; i < f->all->len; i++) {
        const Finding *one = f->all->pdata[i];
        g_array_sort(one->ranks, compare_ranks);
        if (one->ranks->len == 1) {
            call_text_rank(out, f->program, g_array_index(one->ranks, guint, 0));
        } else {
            g_string_append(out, "ranks ");
            text_ranks(out, (const guint *)(const void *)one->ranks->data, one->ranks->len);
            put_world(f, out, one->ranks);
        }
        g_string_append_printf(out, ", %s\n%s", one->what, one->lines != NULL ? one->lines : "");
    }
}
