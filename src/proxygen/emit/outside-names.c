/* SPDX-License-Identifier: BSD-3-Clause */
/* outside-names.c: names that the application used outside of MPI: files, ports, and processes that
 * it started. Files become files of the scratch directory, and names of ports are passed on through
 * it. */
#include "src/proxygen/emit/emit.h"

#include <string.h>

#include "src/proxygen/analysis/call-analysis.h"

/* The string of argument INDEX in the outcome WORDS of a call. NULL if there is none. */
static char *string_of_outcome(const CallPattern *c, const gint64 *words, guint n, guint index)
{
    g_autofree OutcomePart *parts = g_new0(OutcomePart, MAX(c->n_args, 1));
    if (!call_pattern_outcome_decode(c, words, n, parts) || parts[index].n <= 0
        || words[parts[index].first] < 0)
        return NULL;
    gint64 bytes = words[parts[index].first];
    char *text = g_malloc0((gsize)bytes + 1);
    for (gint64 i = 0; i < bytes; i++)
        text[i] = (char)((guint64)words[parts[index].first + 1 + i / 8] >> (8 * (i % 8)));
    return text;
}

/* Consecutive calls that returned the same port. */
typedef struct {
    guint64 times;
    guint port;
} PortRun;
/* The ports that calls of one terminal returned, as runs, and for each of its ranks the index of
 * its first run. */
typedef struct {
    GArray *first, *runs;
} PortsGiven;

static void port_free(gpointer port)
{
    g_free(((PortName *)port)->key);
    g_free(port);
}

static PortName *port_named(Emitter *e, const char *name)
{
    PortName *port = g_hash_table_lookup(e->ports, name);
    if (!port) {
        port = g_new(PortName, 1);
        *port = (PortName){g_hash_table_size(e->ports), FALSE, FALSE,
                           g_compute_checksum_for_string(G_CHECKSUM_SHA256, name, -1)};
        port->key[16] = '\0';
        g_hash_table_insert(e->ports, g_strdup(name), port);
        g_ptr_array_add(e->ports_in_order, port);
    }
    return port;
}

const PortName *outside_names_of_port(Emitter *e, guint number)
{
    return number < e->ports_in_order->len ? e->ports_in_order->pdata[number] : NULL;
}

/* Whether the process at the other end is known. The leader of the other side is a rank of the
 * caller's world, or unknown. */
static gboolean is_joined(const Plan *plan, const CallPattern *c, gint64 *partners)
{
    const Arg *made = &c->args[c->n_args - 1];
    RankList ranks = plan->terminal_ranks[c->terminal];
    gboolean known = !c->failed && made->has_out && made->n_out == 1 && made->n_out_words == 6;
    for (guint i = 0; i < ranks.n && known; i++) {
        gint64 leader = call_pattern_value(c, made->out[5], ranks.ranks[i]);
        known = leader >= 0 && leader < (gint64)plan_worlds_of(plan, ranks.ranks[i])->ranks;
        if (partners)
            partners[i] = leader + plan_worlds_of(plan, ranks.ranks[i])->first;
    }
    return known;
}

char *outside_names_joined(Emitter *e, const CallPattern *c)
{
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    g_autofree gint64 *partners = g_new(gint64, MAX(ranks.n, 1));
    return is_joined(e->plan, c, partners)
               ? expression_by_rank(e, ranks, partners, "int", "partner")
               : NULL;
}

static void given_free(gpointer given)
{
    g_array_unref(((PortsGiven *)given)->first);
    g_array_unref(((PortsGiven *)given)->runs);
    g_free(given);
}

/* Finds the ports that calls of one terminal returned, rank by rank, each in order. */
static void find_ports_given(Emitter *e, const CallPattern *c)
{
    const Plan *plan = e->plan;
    RankList ranks = plan->terminal_ranks[c->terminal];
    PortsGiven *given = g_new(PortsGiven, 1);
    *given = (PortsGiven){g_array_new(FALSE, FALSE, sizeof(guint)),
                          g_array_new(FALSE, FALSE, sizeof(PortRun))};
    for (guint r = 0; r < ranks.n; r++) {
        const WendClass *class =
            program_class(plan->program, program_class_of(plan->program, ranks.ranks[r]));
        guint first = given->runs->len;
        g_array_append_val(given->first, first);
        for (guint s = 0; s < class->n_sequences; s++) {
            WendOutcomes *o = program_outcomes(plan->program, ranks.ranks[r], s, c->slots->shape);
            guint64 repeats;
            const gint64 *words;
            guint n;
            while (o && outcomes_next_run(o, &repeats, &words, &n)) {
                g_autofree char *name = string_of_outcome(c, words, n, c->n_args - 1);
                PortName *port = port_named(e, name ? name : "");
                port->here = TRUE;
                port->opened |= c->function->id == WEND_FN_MPI_Open_port;
                PortRun *last = given->runs->len > first
                                    ? &g_array_index(given->runs, PortRun, given->runs->len - 1)
                                    : NULL;
                if (last && last->port == port->number) {
                    last->times += repeats;
                } else {
                    PortRun run = {repeats, port->number};
                    g_array_append_val(given->runs, run);
                }
            }
            outcomes_free(o);
        }
    }
    g_hash_table_insert(e->ports_given, GUINT_TO_POINTER(c->terminal), given);
}

static void find_in_call(Emitter *e, const CallPattern *c)
{
    const WendFunction *f = c->function;
    if (!c->failed && (f->id == WEND_FN_MPI_Open_port || f->id == WEND_FN_MPI_Lookup_name))
        find_ports_given(e, c);
    /* communicators with processes that are not in the recording, and communicators made from
     * them */
    gboolean away = f->makes == WEND_MAKES_SPAWN && !plan_worlds_several(e->plan);
    away |= f->id == WEND_FN_MPI_Comm_join && !c->failed && !is_joined(e->plan, c, NULL);
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind == WEND_KIND_COMM && arg->has_in && !arg->param->array)
            away |= g_hash_table_contains(e->away, &arg->in[0].value);
    }
    if (!away)
        return;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind == WEND_KIND_COMM && arg->has_out && arg->n_out > 0
            && word_is_handle(arg->out[0].value))
            g_hash_table_add(e->away, g_memdup2(&arg->out[0].value, sizeof(gint64)));
    }
}

void outside_names_find(Emitter *e)
{
    e->findings = g_hash_table_new(NULL, NULL);
    e->ports = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, port_free);
    e->ports_in_order = g_ptr_array_new();
    e->ports_listed = g_hash_table_new(NULL, NULL);
    e->ports_given = g_hash_table_new_full(NULL, NULL, NULL, given_free);
    e->away = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint t = 0; t < program_n_terminals(e->plan->program); t++) {
        if (e->plan->terminal_ranks[t].n == 0)
            continue;
        call_pattern_decode(e->call, t);
        find_in_call(e, e->call);
    }
}

/* -- files -- */

/* The results that the calls of a terminal found, as an expression. */
static char *next_found(Emitter *e, guint terminal, const GArray *found)
{
    gboolean same = TRUE;
    for (guint i = 1; i < found->len; i++)
        same &= g_array_index(found, gint64, i) == g_array_index(found, gint64, 0);
    if (same)
        return c_token_number(g_array_index(found, gint64, 0));
    return g_strdup_printf("next_found_%u()", emit_number_of(e->findings, terminal));
}

char *outside_names_file(Emitter *e, const CallPattern *c, const Arg *arg)
{
    g_autofree char *name = call_pattern_words_to_string(arg->in, (gsize)arg->n_in);
    guint number = found_files_by_name(e->plan, name)->number;
    const FileFinding *finding = found_files_unexpected(e->plan, c->terminal);
    e->needs[HELPER_scratch_begin] = e->needs[HELPER_scratch_file] = TRUE;
    if (finding) {
        const Arg *comm = call_pattern_arg_named(c, "comm");
        g_autofree char *who = comm ? expression_handle(e, WEND_KIND_COMM, comm->in[0].value)
                                    : g_strdup("MPI_COMM_SELF");
        g_autofree char *found = next_found(e, c->terminal, finding->found);
        e->needs[HELPER_scratch_found] = TRUE;
        statements_add(e->code->before, "scratch_found(%s, %u, %s);", who, number, found);
    }
    return g_strdup_printf("scratch_file(%u)", number);
}

/* -- ports -- */

/* The port that the next call of a terminal returns, as an expression. *CHANGES: it is another one
 * each time. */
static char *next_port(Emitter *e, const CallPattern *c, gboolean *changes)
{
    *changes = FALSE;
    const PortsGiven *given = g_hash_table_lookup(e->ports_given, GUINT_TO_POINTER(c->terminal));
    if (!given || given->runs->len == 0)
        return g_strdup_printf("%u", port_named(e, "")->number);
    const PortRun *runs = (const PortRun *)(gconstpointer)given->runs->data;
    gboolean same = TRUE;
    for (guint i = 1; i < given->runs->len; i++)
        same &= runs[i].port == runs[0].port;
    if (same)
        return g_strdup_printf("%u", runs[0].port);
    *changes = TRUE;
    g_hash_table_add(e->ports_listed, GUINT_TO_POINTER(c->terminal));
    return g_strdup_printf("next_port_%u()", c->terminal);
}

static char *port_given(Emitter *e, const CallPattern *c)
{
    gboolean changes;
    g_autofree char *number = next_port(e, c, &changes);
    gboolean opens = c->function->id == WEND_FN_MPI_Open_port;
    e->needs[HELPER_port_tell] = e->needs[HELPER_scratch_begin] = TRUE;
    if (changes) {
        const char *now = locals_variable(e, "int", "its_port", 0);
        statements_add(e->code->before, "%s = %s;", now, number);
        g_free(number);
        number = g_strdup(now);
    }
    statements_add(e->code->after, "port_tell(%s, %d);", number, opens);
    return g_strdup_printf("port[%s]", number);
}

char *outside_names_port(Emitter *e, const CallPattern *c, guint index)
{
    const Arg *arg = &c->args[index];
    if (!arg->has_in)
        return c->failed ? g_strdup("(char[MPI_MAX_PORT_NAME]){\"\"}") : port_given(e, c);
    if (arg->n_in < 0)
        return g_strdup("NULL");
    g_autofree char *name = call_pattern_words_to_string(arg->in, (gsize)arg->n_in);
    gboolean meets = !c->failed && c->function->makes == WEND_MAKES_CONNECT;
    const PortName *port = g_hash_table_lookup(e->ports, name);
    /* A name that the application made up is no port: a name server passes on any text. A name at
     * which processes met is a port, of another job if no call returned it. */
    if (!meets && !(port && port->opened))
        return expression_string(e, name, -1);
    e->needs[HELPER_port_wait] = e->needs[HELPER_scratch_begin] = TRUE;
    return g_strdup_printf("port_wait(%u)", port_named(e, name)->number);
}

static void emit_ports_given(Emitter *e, guint terminal, GString *declarations,
                             GString *definitions)
{
    const PortsGiven *given = g_hash_table_lookup(e->ports_given, GUINT_TO_POINTER(terminal));
    RankList ranks = e->plan->terminal_ranks[terminal];
    g_autoptr(GString) first = g_string_new(""), runs = g_string_new("");
    for (guint rank = 0, r = 0; rank <= ranks.ranks[ranks.n - 1]; rank++) {
        while (r < ranks.n && ranks.ranks[r] < rank)
            r++;
        g_string_append_printf(first, "%s%u", rank ? ", " : "",
                               g_array_index(given->first, guint, r));
    }
    for (guint i = 0; i < given->runs->len; i++) {
        const PortRun *run = &g_array_index(given->runs, PortRun, i);
        g_string_append_printf(runs, "%s{%" G_GUINT64_FORMAT ", %u}", i ? ", " : "", run->times,
                               run->port);
    }
    Statements *body = statements_new();
    statements_add(body, "static long passed, used;");
    statements_add(body, "static const int first[%u] = {%s};", ranks.ranks[ranks.n - 1] + 1,
                   first->str);
    statements_add(body, "static const struct { long times; int port; } given[%u] = {%s};",
                   given->runs->len, runs->str);
    statements_add(body, "long at = (first[rank] + passed) %% %u;", given->runs->len);
    Statements *next = statements_block(body, "if (++used == given[at].times)");
    statements_add(next, "passed++;");
    statements_add(next, "used = 0;");
    statements_add(body, "return given[at].port;");
    emit_next_function(e, declarations, definitions, "int next_port", terminal, body);
}

void outside_names_emit(Emitter *e, GString *declarations, GString *definitions)
{
    g_autoptr(GList) terminals = emit_literal_order(e->findings);
    if (terminals)
        c_text_comment(definitions, 0,
                       "What calls found under the name of a file, one after the other: bytes, -1 "
                       "nothing, -2 unknown.");
    for (const GList *l = terminals; l; l = l->next) {
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(e->findings, l->data));
        const GArray *found = found_files_unexpected(e->plan, GPOINTER_TO_UINT(l->data))->found;
        g_autoptr(GString) list = g_string_new("");
        for (guint k = 0; k < found->len; k++) {
            g_autofree char *bytes = c_token_number(g_array_index(found, gint64, k));
            g_string_append_printf(list, "%s%s", k ? ", " : "", bytes);
        }
        Statements *body = statements_new();
        statements_add(body, "static int next;");
        statements_add(body, "static const long long found[%u] = {%s};", found->len, list->str);
        statements_add(body, "return found[next++ %% %u];", found->len);
        emit_next_function(e, declarations, definitions, "long long next_found", number, body);
    }
    g_autoptr(GList) listed = emit_literal_order(e->ports_listed);
    if (listed)
        c_text_comment(definitions, 0,
                       "The ports that calls opened or looked up, one after the other, for each "
                       "rank from its first on.");
    for (const GList *l = listed; l; l = l->next)
        emit_ports_given(e, GPOINTER_TO_UINT(l->data), declarations, definitions);
}

const char *outside_names_left_out(Emitter *e, const CallPattern *c)
{
    if (c->function->makes == WEND_MAKES_SPAWN)
        return NULL;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind == WEND_KIND_COMM && arg->has_in && !arg->param->array
            && arg->n_in_words && g_hash_table_contains(e->away, &arg->in[0].value))
            return "it is about processes that the application started, and these have recordings "
                   "of their own";
    }
    return NULL;
}
