/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-arrays.c: writes arrays that calls read or fill: in the call if they are short, else as
 * tables or variables. Long arrays with a pattern become loops: a datatype of a million blocks
 * would otherwise be megabytes of constants. */
#include <string.h>

#include "src/proxygen/emit/emit.h"
#include "lib/record/progressions.h"

/* -- patterns -- */

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
        i = progressions_at(&integers, i, level, stretch);
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
        g_autofree char *text = emit_literal(plan, v[i]);
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

/* An array of N elements that a call reads. VALUES has N elements for each of RANKS, in their
 * order. Returns the call of a function that fills the array with loops at its first use
 * ("array_of_displacements_3()"). Returns NULL if that takes more text than the elements. CONSTANT:
 * the function returns a pointer to const. */
static char *filled_by_loops(Emitter *e, const char *ctype, const char *name, gboolean constant,
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

/* The same for handles: loops before the call fill the array. */
static char *filled_handles(Emitter *e, const CallPattern *c, const Arg *arg)
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

/* -- arrays of numbers and handles -- */

/* Longer arrays become tables or variables. */
enum { INLINE_ELEMENTS = 12 };

/* Whether the arrays of a call need names. The library may read them after the call (requests keep
 * their arrays). Or the call failed, perhaps because one array was passed twice
 * (call_expression). */
static gboolean names_arrays(const CallPattern *c)
{
    for (guint i = 0; i < c->n_args; i++)
        if (c->args[i].param->kind == WEND_KIND_REQUEST && c->args[i].param->dir == WEND_DIR_OUT)
            return TRUE;
    return c->failed;
}

static char *filled_array(Emitter *e, const char *ctype, const char *param, gint64 n,
                          const char *elements)
{
    const char *name = locals_static_array(e, ctype, param, n, elements);
    statements_add(e->code->before, "memcpy(%s, (%s[]){%s}, sizeof %s);", name, ctype, elements,
                   name);
    return g_strdup(name);
}

/* Functions that MPI 3.0 removed have no const parameters. */
static gboolean is_without_const(const CallPattern *c)
{
    return c->function->id == WEND_FN_MPI_Type_struct
           || c->function->id == WEND_FN_MPI_Type_hindexed;
}

/* The array as loops. NULL if a table is shorter. */
static char *number_loops(Emitter *e, const CallPattern *c, const Arg *arg, gboolean constant)
{
    static const guint any = 0;
    const WendParam *param = arg->param;
    guint width = param->kind == WEND_KIND_ADDRESS ? 4 : 1;
    gint64 n = arg->n_in;
    RankList ranks = constant ? (RankList){1, &any} : e->plan->terminal_ranks[c->terminal];
    g_autofree gint64 *values = g_new(gint64, (gsize)n * ranks.n);
    for (guint r = 0; r < ranks.n; r++)
        for (gint64 i = 0; i < n; i++) {
            Word w = arg->in[width * i + (width > 1)];
            if (!constant || !call_pattern_word_is_constant(c, w, &values[i]))
                values[r * n + i] = call_pattern_value(c, w, ranks.ranks[r]);
        }
    return filled_by_loops(e, param->ctype, param->name, !is_without_const(c), ranks, values, n);
}

/* An array that the library reads: inline if it is short, else a constant table, by rank if
 * elements vary by rank. */
char *emit_number_array(Emitter *e, const CallPattern *c, const Arg *arg)
{
    const WendParam *param = arg->param;
    gint64 n = arg->n_in, value;
    gboolean constant = TRUE, addresses = param->kind == WEND_KIND_ADDRESS;
    guint width = addresses ? 4 : 1;
    if (n < 0)
        return n == WEND_ABSENT || n == -1 ? g_strdup("NULL") : emit_literal(e->plan, n);
    if (n == 0)
        return g_strdup_printf("(%s[]){0}", param->ctype); /* empty, but not NULL */
    gboolean numbers = TRUE;                               /* no addresses */
    for (gint64 i = 0; i < n; i++) {
        constant &= call_pattern_word_is_constant(c, arg->in[width * i + addresses], &value);
        numbers &= !addresses || arg->in[width * i].value == WEND_PLAIN;
    }
    constant &= numbers;

    gboolean named = names_arrays(c), written = param->dir == WEND_DIR_INOUT;
    char *loops = numbers && !written && param->kind != WEND_KIND_BITS && n > INLINE_ELEMENTS
                      ? number_loops(e, c, arg, constant)
                      : NULL;
    if (loops)
        return loops;
    written |= is_without_const(c);

    g_autoptr(GString) elements = g_string_new("");
    if (!constant && numbers && !written && (n > INLINE_ELEMENTS || named)) {
        RankList ranks = e->plan->terminal_ranks[c->terminal];
        for (guint r = 0; r <= ranks.ranks[ranks.n - 1] - ranks.ranks[0]; r++) {
            guint rank = ranks.ranks[0] + r;
            g_string_append(elements, r ? ", {" : "{");
            for (gint64 i = 0; i < n; i++) {
                g_autofree char *text =
                    rank_list_has(ranks, rank) ? emit_literal(
                        e->plan, call_pattern_value(c, arg->in[width * i + addresses], rank))
                                               : g_strdup("0");
                g_string_append_printf(elements, "%s%s", i ? ", " : "", text);
            }
            g_string_append_c(elements, '}');
        }
        g_autofree char *dimensions = g_strdup_printf(
            "[%u][%" G_GINT64_FORMAT "]", ranks.ranks[ranks.n - 1] - ranks.ranks[0] + 1, n);
        g_autofree char *table =
            emit_literal_table(e, param->ctype, param->name, dimensions, elements->str);
        return ranks.ranks[0] ? g_strdup_printf("%s[rank - %u]", table, ranks.ranks[0])
                              : g_strdup_printf("%s[rank]", table);
    }
    gboolean table = constant && !written && (n > INLINE_ELEMENTS || named);
    ColumnWriter *columns = e->columns;
    if (table || named)
        e->columns = NULL;
    for (gint64 i = 0; i < n; i++) {
        g_autofree char *text = addresses
                                    ? expression_address(e, c, &arg->in[width * i], param->ctype)
                                    : expression_number(e, c, arg->in[i]);
        if (param->kind == WEND_KIND_BITS && !arg->in[i].by_slot) {
            g_free(text);
            text = expression_bits(e, param->group, arg->in[i].value);
        }
        g_string_append_printf(elements, "%s%s", i ? ", " : "", text);
    }
    e->columns = columns;
    g_autofree char *dimensions = g_strdup_printf("[%" G_GINT64_FORMAT "]", n);
    if (table)
        return emit_literal_table(e, param->ctype, param->name, dimensions, elements->str);
    if (named)
        return filled_array(e, param->ctype, param->name, n, elements->str);
    return g_strdup_printf("(%s[]){%s}", param->ctype, elements->str);
}

char *emit_handle_array(Emitter *e, const CallPattern *c, const Arg *arg)
{
    const char *ctype = variable_name_handle_ctype(arg->param->kind);
    if (arg->n_in < 0)
        return g_strdup("NULL");
    if (arg->n_in == 0)
        return g_strdup_printf("(%s[]){%s}", ctype, variable_name_handle_null(arg->param->kind));
    g_autoptr(GString) elements = g_string_new("");
    gboolean named = names_arrays(c);
    ColumnWriter *columns = e->columns;
    char *loops = NULL;
    if (arg->n_in > INLINE_ELEMENTS) {
        e->columns = NULL;
        loops = filled_handles(e, c, arg);
        e->columns = columns;
    }
    if (loops)
        return loops;
    if (named)
        e->columns = NULL;
    for (gint64 i = 0; i < arg->n_in; i++) {
        g_autofree char *text = expression_handle_of(e, c, arg->param->kind, arg->in[i].value);
        g_string_append_printf(elements, "%s%s", i ? ", " : "", text);
    }
    e->columns = columns;
    if (named)
        return filled_array(e, ctype, arg->param->name, arg->n_in, elements->str);
    return g_strdup_printf("(%s[]){%s}", ctype, elements->str);
}

/* Copies requests that are not consecutive in the proxy's array to ARRAY before the call, and back
 * after it. */
static void gather(Emitter *e, gint64 n, const char *members, const char *array)
{
    const char *name = locals_variable(e, "MPI_Request *const *", "members", 0);
    e->needs[HELPER_gather_requests] = e->needs[HELPER_scatter_requests] = TRUE;
    statements_add(e->code->before, "%s = (MPI_Request *const[]){%s};", name, members);
    statements_add(e->code->before, "gather_requests(%" G_GINT64_FORMAT ", %s, %s);", n, name,
                   array);
    statements_add(e->code->after, "scatter_requests(%" G_GINT64_FORMAT ", %s, %s);", n, array,
                   name);
}

/* Pointers to the requests. Elements that are no requests point to INVALID. */
static char *request_members(Emitter *e, const Word *words, gint64 n, RankList ranks,
                             const char *invalid)
{
    GString *members = g_string_new("");
    for (gint64 i = 0; i < n; i++) {
        gint64 word = words[i].value;
        g_autofree char *one =
            word_is_handle(word) ? variable_name_of_request(e, word, ranks) : NULL;
        const char *text = one ? one : word == WEND_UNKNOWN ? invalid : NULL;
        g_string_append_printf(members, "%s%s%s", i ? ", " : "", text ? "&" : "",
                               text ? text : "NULL");
    }
    return g_string_free(members, FALSE);
}

/* An array for a failed call in which some elements were no requests. */
static char *invalid_requests(Emitter *e, const CallPattern *c, const Arg *arg)
{
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    const char *invalid = locals_variable(e, "MPI_Request", "no_request", 0);
    g_autofree char *value = expression_invalid(e, WEND_KIND_REQUEST);
    g_autofree char *members = request_members(e, arg->in, arg->n_in, ranks, invalid);
    const char *array = locals_static_array(e, "MPI_Request", "requests", arg->n_in, members);
    statements_add(e->code->before, "%s = %s;", invalid, value);
    gather(e, arg->n_in, members, array);
    return g_strdup(array);
}

char *emit_request_array(Emitter *e, const CallPattern *c, const Arg *arg)
{
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    if (arg->n_in < 0)
        return g_strdup("NULL");
    if (arg->n_in == 0)
        return g_strdup("(MPI_Request[]){MPI_REQUEST_NULL}");
    if (call_pattern_failed_on(c, arg))
        return invalid_requests(e, c, arg);
    RequestList *list = variables_request_list(e->plan, arg->in, arg->n_in);
    if (!list) {
        e->needs[HELPER_null_requests] = TRUE;
        return g_strdup_printf("null_requests(%" G_GINT64_FORMAT ")", arg->n_in);
    }
    if (list->direct)
        return variable_name_of_list(e, list, ranks);
    g_autofree char *array = g_strdup_printf("gathered_%u", list->number);
    g_autofree char *key = g_strdup_printf("gathered %u", list->number);
    if (!g_hash_table_contains(e->tables, key)) {
        c_text_line(e->definitions, 0, "static MPI_Request %s[%" G_GINT64_FORMAT "];", array,
                    list->n);
        g_hash_table_insert(e->tables, g_steal_pointer(&key), g_strdup(""));
    }
    g_autofree char *members = request_members(e, arg->in, list->n, ranks, NULL);
    gather(e, list->n, members, array);
    return g_steal_pointer(&array);
}

/* The number of elements of an output array whose recorded length is an outcome: the bound that the
 * caller passed, or else the recorded length. */
static gint64 out_length(Emitter *e, const CallPattern *c, guint index)
{
    const Arg *arg = &c->args[index];
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    gint64 length = MAX(1, arg->n_out);
    const Arg *promised = arg->param->length ? call_pattern_arg_named(c, arg->param->length) : NULL;
    if (promised && !promised->has_in)
        /* an output, too: MPI_Waitsome returns as many indices as requests completed */
        promised = NULL;
    for (guint r = 0; r < ranks.n; r++)
        length = MAX(length, call_pattern_number(c, promised, ranks.ranks[r], 0));
    if (arg->has_out && arg->n_out_words)
        return length;
    /* otherwise each count that the call passes is a possible bound */
    for (guint i = 0; !promised && i < c->n_args; i++)
        if (c->args[i].param->kind == WEND_KIND_INT || c->args[i].param->kind == WEND_KIND_COUNT)
            for (guint r = 0; r < ranks.n; r++) {
                length = MAX(length, call_pattern_number(c, &c->args[i], ranks.ranks[r], 0));
                for (gint64 k = 0;
                     c->args[i].has_in && c->args[i].param->array && k < c->args[i].n_in; k++)
                    length = MAX(length, call_pattern_value(c, c->args[i].in[k], ranks.ranks[r]));
            }
    return length;
}

char *emit_out_array(Emitter *e, const CallPattern *c, guint index)
{
    const Arg *arg = &c->args[index];
    WendKind kind = arg->param->kind;
    if (arg->has_out && arg->n_out < 0)
        return arg->n_out == -1 || arg->n_out == WEND_ABSENT ? g_strdup("NULL")
                                                             : emit_literal(e->plan, arg->n_out);
    const char *ctype = kind_is_handle(kind) ? variable_name_handle_ctype(kind) : arg->param->ctype;
    const char *name = locals_variable(e, ctype, arg->param->name, out_length(e, c, index));
    /* Handles are copied to their own variables. */
    guint width = kind == WEND_KIND_COMM || kind == WEND_KIND_DATATYPE ? 6 : 1;
    for (gint64 i = 0; kind_is_handle(kind) && i < arg->n_out; i++)
        if (word_is_handle(arg->out[width * i].value)) {
            g_autofree char *variable = variable_name_of_handle(e, kind, arg->out[width * i].value);
            statements_add(e->code->after, "%s = %s[%" G_GINT64_FORMAT "];", variable, name, i);
        }
    return g_strdup(name);
}
