/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_filled.c: writes long arrays with a pattern as loops. A datatype of a million blocks would
 * otherwise be megabytes of constants. */
#include <string.h>

#include "emitter.h"
#include "lib/record/progressions.h"
#include "variable_names.h"

/* The approximate size of the text of a progression, and of the function around all progressions.
 * An array has the size of its elements. */
enum { PROGRESSION_TEXT = 70, FUNCTION_TEXT = 160 };

/* Appends the progressions. Returns FALSE if there are more than LIMIT. */
static gboolean find_progressions(const gint64 *v, gint64 n, gboolean level, gint64 limit,
                                  GArray *all)
{
    const WendIntegers integers = {v, sizeof *v, n};
    for (gint64 i = 0; i < n;) {
        WendProgression stretch[WEND_MOST_STRIDE];
        i = wend_progressions_at(&integers, i, level, stretch);
        if (all->len + stretch[0].stride > limit)
            return FALSE;
        g_array_append_vals(all, stretch, (guint)stretch[0].stride);
    }
    return TRUE;
}

static gboolean are_like(const GArray *a, const GArray *b)
{
    gboolean like = a->len == b->len;
    for (guint k = 0; like && k < a->len; k++)
        like = g_array_index(a, WendProgression, k).stride
               == g_array_index(b, WendProgression, k).stride;
    return like;
}

static gsize text_of_elements(const Plan *plan, const gint64 *v, gsize n)
{
    gsize length = 0;
    for (gsize i = 0; i < n; i++) {
        if (i > 0 && v[i] == v[i - 1]) {
            length += 3;
            continue;
        }
        g_autofree char *text = literal(plan, v[i]);
        length += strlen(text) + 2;
    }
    return length;
}

/* The number at OFFSET in progression K, by rank. */
static char *number(Emitter *e, RankList ranks, GArray *const *rows, guint k, gsize offset,
                    gboolean *zero)
{
    g_autofree gint64 *values = g_new(gint64, ranks.n);
    gboolean wide = FALSE;
    *zero = TRUE;
    for (guint r = 0; r < ranks.n; r++) {
        values[r] = G_STRUCT_MEMBER(gint64, &g_array_index(rows[r], WendProgression, k), offset);
        *zero &= values[r] == 0;
        wide |= values[r] > G_MAXINT32 || values[r] < G_MININT32;
    }
    return expression_operand_by_rank(e, ranks, values, wide ? "long long" : "int", "numbers");
}

static char *next_index(gint64 stride)
{
    return stride == 1 ? g_strdup("i++") : g_strdup_printf("i += %" G_GINT64_FORMAT, stride);
}

static void write_progression(Emitter *e, GString *body, RankList ranks, GArray *const *rows,
                              guint k, const char *index, gboolean *steps, gboolean *bends)
{
    gboolean zero, straight, level;
#define NUMBER(member, zero) \
    number(e, ranks, rows, k, G_STRUCT_OFFSET(WendProgression, member), zero)
    g_autofree char *first = NUMBER(first, &zero), *end = NUMBER(end, &zero),
                    *value = NUMBER(value, &zero), *step = NUMBER(step, &level),
                    *bend = NUMBER(bend, &straight);
#undef NUMBER
    g_autofree char *next = next_index(g_array_index(rows[0], WendProgression, k).stride);
    gboolean stepping = !(level && straight), one = TRUE;
    for (guint r = 0; r < ranks.n; r++)
        one &= g_array_index(rows[r], WendProgression, k).end
               == g_array_index(rows[r], WendProgression, k).first + 1;
    if (one) {
        g_string_append_printf(body, "        a[%s] = %s;\n", first, value);
        return;
    }
    *steps |= stepping;
    *bends |= !straight;
    if (stepping)
        g_string_append_printf(body, "        v = %s;\n", value);
    if (!straight)
        g_string_append_printf(body, "        step = %s;\n", step);
    g_string_append_printf(body, "        for (%s i = %s; i < %s; %s", index, first, end, next);
    if (!straight)
        g_string_append_printf(body, ", v += step, step += %s", bend);
    else if (stepping)
        g_string_append_printf(body, ", v += %s", step);
    g_string_append_printf(body, ")\n            a[i] = %s;\n", stepping ? "v" : value);
}

char *emit_filled_by_loops(Emitter *e, const char *ctype, const char *name, gboolean constant,
                           RankList ranks, const gint64 *values, gint64 n)
{
    gsize elements = text_of_elements(e->plan, values, (gsize)n * ranks.n);
    if (elements < FUNCTION_TEXT)
        return NULL;
    gint64 limit = (gint64)((elements - FUNCTION_TEXT) / PROGRESSION_TEXT);
    g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint r = 0; r < ranks.n; r++) {
        GArray *list = g_array_new(FALSE, FALSE, sizeof(WendProgression));
        g_ptr_array_add(lists, list);
        if (!find_progressions(values + r * n, n, FALSE, limit, list)
            || !are_like(list, lists->pdata[0]))
            return NULL;
    }
    GArray *const *rows = (GArray *const *)(gpointer)lists->pdata;
    g_autoptr(GString) body = g_string_new("");
    gboolean steps = FALSE, bends = FALSE;
    for (guint k = 0; k < rows[0]->len; k++)
        write_progression(e, body, ranks, rows, k, c_text_count_type((guint64)n), &steps, &bends);
    g_autofree char *key = g_strdup_printf("loops %s %s %d %" G_GINT64_FORMAT " %s", ctype, name,
                                           constant, n, body->str);
    const char *made = g_hash_table_lookup(e->tables, key);
    if (made)
        return g_strdup(made);
    char *call = g_strdup_printf("%s_%u()", name, ++e->n_tables);
    g_string_append_printf(e->definitions,
                           "static %s%s *%.*s(void)\n{\n    static %s a[%" G_GINT64_FORMAT
                           "];\n    static _Atomic int filled;\n%s",
                           constant ? "const " : "", ctype, (int)strlen(call) - 2, call, ctype, n,
                           bends   ? "    long long v, step;\n"
                           : steps ? "    long long v;\n"
                                   : "");
    g_string_append_printf(
        e->definitions, "\n    if (!filled) {\n%s        filled = 1;\n    }\n    return a;\n}\n\n",
        body->str);
    g_hash_table_insert(e->tables, g_steal_pointer(&key), call);
    return g_strdup(call);
}

char *emit_filled_handles(Emitter *e, const CallPattern *c, const Arg *arg)
{
    enum { ELEMENT_TEXT = 8 };
    gint64 n = arg->n_in, limit = n * ELEMENT_TEXT / PROGRESSION_TEXT;
    const char *ctype = variable_name_handle_ctype(arg->param->kind);
    g_autofree gint64 *words = g_new(gint64, n);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(WendProgression));
    for (gint64 i = 0; i < n; i++)
        words[i] = arg->in[i].value;
    if (!find_progressions(words, n, TRUE, limit, all))
        return NULL;
    g_autoptr(GString) key = g_string_new("");
    for (guint k = 0; k < all->len; k++) {
        const WendProgression *p = &g_array_index(all, WendProgression, k);
        g_string_append_printf(key,
                               "%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT
                               " %" G_GINT64_FORMAT " ",
                               p->first, p->end, p->stride, p->value);
    }
    const char *name = locals_static_array(e, ctype, arg->param->name, n, key->str);
    for (guint k = 0; k < all->len; k++) {
        const WendProgression *p = &g_array_index(all, WendProgression, k);
        g_autofree char *text = expression_handle_of(e, c, arg->param->kind, p->value),
                        *next = next_index(p->stride);
        Statements *body = statements_new();
        statements_add(body, "%s[i] = %s;", name, text);
        statements_under(e->code->before, body,
                         "for (%s i = %" G_GINT64_FORMAT "; i < %" G_GINT64_FORMAT "; %s)",
                         c_text_count_type((guint64)n), p->first, p->end, next);
    }
    return g_strdup(name);
}
