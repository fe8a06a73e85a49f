/* SPDX-License-Identifier: BSD-3-Clause */
/* outcomes.c: finds the requests that Waitany, Waitsome, Testany and Testsome must complete in the
 * proxy.
 *
 * Each site of such a call is examined over all its runs on all ranks. There are three cases:
 * - After the call and all its repetitions, all pending requests of its array are complete. The
 *   site completes a set of requests with no other call in between, so any order is correct.
 * - At most one request was ever pending. There is no choice; but a test may be too early in the
 *   proxy.
 * - Otherwise the entries that completed go into a table of the proxy.
 *
 * The walk skips rules without such calls. Each of these has a summary of the requests that it
 * leaves active. */
#include "src/proxygen/plan/passes.h"

#include <string.h>

#include "lib/base/error.h"

typedef struct {
    guint request;
    gboolean active;
} CompletionEvent;

typedef struct {
    WendOutcomes *entries;
    guint64 repeats; /* repetitions of the current run that are left */
    GArray *picks;   /* of the current run: gint32, the entries that completed */
} ChoiceStream;

typedef struct {
    Plan *plan;
    GHashTable *numbers;    /* request word -> index + 1, of requests in the arrays of such calls */
    GHashTable *persistent; /* persistent requests among them */
    GArray **events;        /* by terminal: of CompletionEvent; NULL: none */
    gboolean *is_choice;    /* by terminal */
    GArray **members;   /* by terminal that chooses: of guint, index + 1 of each entry; 0: none */
    guint8 *has_choice; /* by rule */
    GArray *
        *summary; /* by rule without choices: of CompletionEvent, the last one of each request */

    /* for the current rank */
    guint rank, sequence;
    guint8 *active;
    GHashTable *streams; /* shape -> ChoiceStream */
    gboolean damaged;    /* outcomes do not fit the calls */
    const Loop *loop;    /* the loop that is visited */
} Search;

static guint number_of(Search *s, gint64 word, gboolean add)
{
    gpointer found = g_hash_table_lookup(s->numbers, &word);
    if (!found && add && word_is_handle(word)) {
        found = GUINT_TO_POINTER(g_hash_table_size(s->numbers) + 1);
        g_hash_table_insert(s->numbers, g_memdup2(&word, sizeof word), found);
    }
    return GPOINTER_TO_UINT(found);
}

/* -- effects of terminals on requests -- */

static gboolean find_choices(Search *s)
{
    Plan *plan = s->plan;
    gboolean any = FALSE;
    for (guint t = 0; t < program_n_terminals(plan->program); t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_pattern_decode(plan->call, t);
        const Arg *requests = call_pattern_arg_of_kind(plan->call, WEND_KIND_REQUEST);
        if (!(plan->call->function->flags & WEND_F_ANY) || plan->call->failed || !requests
            || !requests->param->array || requests->n_in <= 0)
            continue;
        any = s->is_choice[t] = TRUE;
        s->members[t] = g_array_new(FALSE, FALSE, sizeof(guint));
        for (gint64 i = 0; i < requests->n_in; i++) {
            guint number = number_of(s, requests->in[i].value, TRUE);
            g_array_append_val(s->members[t], number);
        }
    }
    return any;
}

static void add_event(Search *s, guint terminal, gint64 word, gboolean active)
{
    CompletionEvent event = {number_of(s, word, FALSE), active};
    if (event.request == 0)
        return;
    if (!s->events[terminal])
        s->events[terminal] = g_array_new(FALSE, FALSE, sizeof(CompletionEvent));
    g_array_append_val(s->events[terminal], event);
}

static void find_events(Search *s)
{
    Plan *plan = s->plan;
    for (guint t = 0; t < program_n_terminals(plan->program); t++) {
        if (plan->terminal_ranks[t].n == 0 || s->is_choice[t])
            continue;
        call_pattern_decode(plan->call, t);
        const CallPattern *c = plan->call;
        for (guint i = 0; i < c->n_args; i++) {
            const Arg *arg = &c->args[i];
            if (arg->param->kind != WEND_KIND_REQUEST)
                continue;
            if (arg->param->dir == WEND_DIR_OUT) {
                if (arg->has_out && arg->n_out > 0)
                    add_event(s, t, arg->out[0].value, !(c->function->flags & WEND_F_PERSISTENT));
                if (arg->has_out && arg->n_out > 0 && (c->function->flags & WEND_F_PERSISTENT))
                    g_hash_table_add(s->persistent,
                                     GUINT_TO_POINTER(number_of(s, arg->out[0].value, FALSE)));
                continue;
            }
            gboolean starts = c->function->operation == WEND_FN_MPI_Start;
            gboolean ends = (c->function->flags & WEND_F_COMPLETES)
                            || c->function->id == WEND_FN_MPI_Request_free;
            for (gint64 k = 0; (starts || ends) && k < (gint64)arg->n_in_words; k++)
                add_event(s, t, arg->in[k].value, starts);
        }
    }
}

/* -- effects of rules on requests -- */

static void summarize_rules(Search *s)
{
    Plan *plan = s->plan;
    guint n = g_hash_table_size(s->numbers) + 1;
    g_autofree gint *seen = g_new(gint, n); /* index in the current summary; -1: none */
    memset(seen, 0xff, n * sizeof *seen);
    for (guint o = 0; o < plan->order->len; o++) { /* callees first */
        guint rule = g_array_index(plan->order, guint, o);
        const PlanRule *r = &plan->rules[rule];
        for (guint i = 0; i < r->n && !s->has_choice[rule]; i++)
            s->has_choice[rule] = r->symbols[i].is_rule ? s->has_choice[r->symbols[i].id]
                                                        : s->is_choice[r->symbols[i].id];
        if (s->has_choice[rule])
            continue;
        GArray *all = g_array_new(FALSE, FALSE, sizeof(CompletionEvent));
        for (guint i = 0; i < r->n; i++) {
            const GArray *part =
                r->symbols[i].is_rule ? s->summary[r->symbols[i].id] : s->events[r->symbols[i].id];
            for (guint k = 0; part && k < part->len; k++) {
                const CompletionEvent *event = &g_array_index(part, CompletionEvent, k);
                if (seen[event->request] < 0) {
                    seen[event->request] = (gint)all->len;
                    g_array_append_val(all, *event);
                } else {
                    g_array_index(all, CompletionEvent, seen[event->request]).active =
                        event->active;
                }
            }
        }
        for (guint k = 0; k < all->len; k++)
            seen[g_array_index(all, CompletionEvent, k).request] = -1;
        if (all->len == 0)
            g_clear_pointer(&all, g_array_unref);
        s->summary[rule] = all;
    }
}

/* -- the walk over one rank -- */

static void row_table_free(gpointer stream)
{
    outcomes_free(((ChoiceStream *)stream)->entries);
    g_array_unref(((ChoiceStream *)stream)->picks);
    g_free(stream);
}

/* The entries that the next call of this shape completed. NULL if the outcomes end early. */
static const GArray *next_picks(Search *s, const CallPattern *c)
{
    guint shape = c->slots->shape;
    ChoiceStream *stream = g_hash_table_lookup(s->streams, GUINT_TO_POINTER(shape));
    if (!stream) {
        stream = g_new0(ChoiceStream, 1);
        stream->entries = program_outcomes(s->plan->program, s->rank, s->sequence, shape);
        stream->picks = g_array_new(FALSE, FALSE, sizeof(gint32));
        g_hash_table_insert(s->streams, GUINT_TO_POINTER(shape), stream);
    }
    if (stream->repeats == 0) {
        const gint64 *words;
        guint n;
        g_autofree OutcomePart *parts = g_new(OutcomePart, MAX(c->n_args, 1));
        if (!stream->entries || !outcomes_next_run(stream->entries, &stream->repeats, &words, &n)
            || !call_pattern_outcome_decode(c, words, n, parts))
            return NULL;
        g_array_set_size(stream->picks, 0);
        gint64 entries = call_pattern_arg_of_kind(c, WEND_KIND_REQUEST)->n_in;
        for (guint i = 0; i < c->n_args; i++) {
            if (c->args[i].param->kind != WEND_KIND_INDEX)
                continue;
            for (guint k = 0; k < parts[i].n; k++) {
                gint64 value = words[parts[i].first + k];
                gint32 entry = (gint32)value;
                if (value >= 0 && value < entries)
                    g_array_append_val(stream->picks, entry);
            }
        }
    }
    stream->repeats--;
    return stream->picks;
}

static void visit_choice(Search *s, guint rule, guint symbol, guint terminal, guint64 repeats)
{
    Plan *plan = s->plan;
    Site site = {rule, symbol};
    Choice *choice = g_hash_table_lookup(plan->choices, &site);
    const GArray *members = s->members[terminal];
    if (!choice) {
        choice = g_new0(Choice, 1);
        choice->site = site;
        choice->kind = CHOICE_PLAIN;
        choice->drains = choice->constant = TRUE;
        choice->pending = -2;
        choice->picks = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
        g_hash_table_insert(plan->choices, &choice->site, choice);
    }
    GArray *picks = g_hash_table_lookup(choice->picks, GUINT_TO_POINTER(s->rank));
    if (!picks) {
        picks = g_array_new(FALSE, FALSE, sizeof(gint32));
        g_hash_table_insert(choice->picks, GUINT_TO_POINTER(s->rank), picks);
    }
    call_pattern_decode(plan->call, terminal);
    gint64 before = 0, after = 0, completed = 0;
    for (guint i = 0; i < members->len; i++)
        before += s->active[g_array_index(members, guint, i)];
    gint64 pending = before;
    for (guint64 k = 0; k < repeats; k++) {
        const GArray *now = next_picks(s, plan->call);
        if (!now) {
            s->damaged = TRUE;
            return;
        }
        /* in the proxy, a successful test waits */
        if (pending > 1 || ((plan->call->function->flags & WEND_F_POLL) && now->len > 0))
            choice->kind = CHOICE_FORCED;
        guint at = picks->len;
        gint32 n = (gint32)now->len;
        g_array_append_val(picks, n);
        g_array_append_vals(picks, now->data, now->len);
        if (!choice->pick) {
            choice->pick = g_array_new(FALSE, FALSE, sizeof(gint32));
            g_array_append_vals(choice->pick, &g_array_index(picks, gint32, at), picks->len - at);
        }
        choice->constant &= choice->pick->len == picks->len - at
                            && memcmp(choice->pick->data, &g_array_index(picks, gint32, at),
                                      (picks->len - at) * sizeof(gint32))
                                   == 0;
        for (guint i = 0; i < now->len; i++)
            s->active[g_array_index(members, guint, g_array_index(now, gint32, i))] = 0;
        s->active[0] = 0;
        completed += n;
        pending -= n;
    }
    for (guint i = 0; i < members->len; i++)
        after += s->active[g_array_index(members, guint, i)];
    choice->drains &= after == 0 && completed == before && completed > 0;
    choice->pending = choice->pending == -2 || choice->pending == completed ? completed : -1;
}

static void apply(Search *s, const GArray *events)
{
    for (guint i = 0; events && i < events->len; i++)
        s->active[g_array_index(events, CompletionEvent, i).request] =
            (guint8)g_array_index(events, CompletionEvent, i).active;
}

/* Applies a step once, because repetitions have the same effect. */
static void apply_step(const guint *entries, guint n, guint body, guint64 times, gpointer search)
{
    Search *s = search;
    (void)times;
    for (guint i = 0; i < n; i++)
        s->active[g_array_index(s->members[s->loop->terminal], guint, entries[i])] = 0;
    if (body != NO_BODY)
        apply(s, s->summary[body]);
}

/* Visits a loop: it completes each entry as often as its calls did, in an order of its own. */
static void visit_loop(Search *s, const Loop *loop)
{
    call_pattern_decode(s->plan->call, loop->terminal);
    for (gint64 left = loop->total; left > 0 && !s->damaged;) {
        const GArray *now = next_picks(s, s->plan->call);
        s->damaged = !now;
        left -= now ? now->len : 0;
    }
    s->loop = loop;
    loop_rules_steps(loop, apply_step, s);
    s->active[0] = 0;
}

static void walk(Search *s, guint rule)
{
    const PlanRule *r = &s->plan->rules[rule];
    if (r->loop) {
        visit_loop(s, r->loop);
        return;
    }
    for (guint i = 0; i < r->n && !s->damaged; i++) {
        const WendSymbol *symbol = &r->symbols[i];
        if (!symbol->is_rule) {
            if (s->is_choice[symbol->id])
                visit_choice(s, rule, i, symbol->id, symbol->repeats);
            else
                apply(s, s->events[symbol->id]);
        } else if (s->has_choice[symbol->id]) {
            for (guint64 k = 0; k < symbol->repeats && !s->damaged; k++)
                walk(s, symbol->id);
        } else {
            apply(s, s->summary[symbol->id]);
        }
    }
}

static void choice_free(gpointer choice)
{
    Choice *c = choice;
    g_hash_table_destroy(c->picks);
    if (c->pick)
        g_array_unref(c->pick);
    g_free(c);
}

/* Decides the kind of each choice. It is FORCED so far if more than one request was pending; a site
 * that drains needs no force. */
static void decide(Search *s)
{
    Plan *plan = s->plan;
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->choices);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Choice *choice = value;
        const WendSymbol *symbol = &plan->rules[choice->site.rule].symbols[choice->site.symbol];
        const WendShape *shape =
            program_shape(plan->program, program_terminal(plan->program, symbol->id)->shape);
        /* A proxy counts pending requests by their handles, which does not work for persistent
         * requests. */
        gboolean persistent = FALSE;
        for (guint i = 0; choice->pending == -1 && i < s->members[symbol->id]->len; i++)
            persistent |= g_hash_table_contains(
                s->persistent, GUINT_TO_POINTER(g_array_index(s->members[symbol->id], guint, i)));
        /* Each Waitany completes one request, or finds none, so its recorded repetitions are the
         * loop. */
        gboolean counted = shape->function->id == WEND_FN_MPI_Waitany;
        if (choice->kind == CHOICE_FORCED && choice->drains && (counted || !persistent))
            choice->kind = counted ? CHOICE_PLAIN : CHOICE_DRAIN;
    }
}

gboolean plan_outcomes(Plan *plan, Error **error)
{
    guint n_terminals = program_n_terminals(plan->program);
    Search s = {.plan = plan};
    if (plan->choices)
        g_hash_table_destroy(plan->choices);
    plan->choices = g_hash_table_new_full(site_hash, site_equal, NULL, choice_free);
    s.numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    s.persistent = g_hash_table_new(NULL, NULL);
    s.is_choice = g_new0(gboolean, n_terminals + 1);
    s.members = g_new0(GArray *, n_terminals + 1);
    s.events = g_new0(GArray *, n_terminals + 1);
    s.has_choice = g_new0(guint8, plan->n_rules + 1);
    s.summary = g_new0(GArray *, plan->n_rules + 1);
    if (find_choices(&s)) {
        find_events(&s);
        summarize_rules(&s);
        s.active = g_new0(guint8, g_hash_table_size(s.numbers) + 1);
        for (guint t = 0; t < plan->threads->len; t++) {
            const PlanThread *thread = &g_array_index(plan->threads, PlanThread, t);
            if (!s.has_choice[thread->rule])
                continue;
            for (guint r = 0; r < thread->ranks.n && !s.damaged; r++) {
                s.rank = thread->ranks.ranks[r];
                s.sequence = thread->sequence;
                s.streams = g_hash_table_new_full(NULL, NULL, NULL, row_table_free);
                memset(s.active, 0, g_hash_table_size(s.numbers) + 1);
                walk(&s, thread->rule);
                g_hash_table_destroy(s.streams);
            }
        }
        decide(&s);
    }
    if (s.damaged)
        error_set(error, WEND_ERROR_INPUT,
                  "%s: rank %u has fewer outcomes than calls: the recording is damaged",
                  plan->options->recording, s.rank);
    for (guint t = 0; t < n_terminals; t++) {
        if (s.members[t])
            g_array_unref(s.members[t]);
        if (s.events[t])
            g_array_unref(s.events[t]);
    }
    for (guint r = 0; r < plan->n_rules; r++)
        if (s.summary[r])
            g_array_unref(s.summary[r]);
    g_free(s.is_choice);
    g_free(s.members);
    g_free(s.events);
    g_free(s.has_choice);
    g_free(s.summary);
    g_free(s.active);
    g_hash_table_destroy(s.numbers);
    g_hash_table_destroy(s.persistent);
    return !s.damaged;
}

const Choice *plan_choice(const Plan *plan, guint rule, guint symbol)
{
    const RowSymbol *row_symbols = plan->rules[rule].row_symbols;
    const Site site = row_symbols ? row_symbols[symbol].site : (Site){rule, symbol};
    const Choice *choice = g_hash_table_lookup(plan->choices, &site);
    return choice && choice->kind != CHOICE_PLAIN ? choice : NULL;
}
