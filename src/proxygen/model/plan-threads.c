/* SPDX-License-Identifier: BSD-3-Clause */
/* plan-threads.c: the threads of a class, and their shared objects.
 *
 * The recording has the start and join of threads (wend_start, wend_join). Threads whose start it
 * does not have existed before MPI_Init. Otherwise the calls of two threads are ordered only by
 * objects: an object is made before another thread uses it, its uses come before the call that
 * frees it, and that call comes before its number is used again. helpers-threads.c has the code
 * that waits for shared objects. Memory is freed after other threads have completed the requests
 * that use it. */
#include "src/proxygen/model/model.h"

#include <string.h>

/* -- numbers of calls of each thread -- */

/* Adds the calls in the expansions of rules up to LAST to CALLS, by terminal. TIMES has the number
 * of expansions of each rule, and is changed. Rules use only rules before them. */
static void expand(const Plan *plan, guint last, guint64 *times, guint64 *calls)
{
    for (guint i = last + 1; i-- > 0;)
        for (guint k = 0; times[i] > 0 && k < plan->rules[i].n; k++) {
            const WendSymbol *s = &plan->rules[i].symbols[k];
            *(s->is_rule ? &times[s->id] : &calls[s->id]) += times[i] * s->repeats;
        }
}

/* The number of calls of each terminal in the expansion of RULE. */
static guint64 *count_calls(const Plan *plan, guint rule)
{
    guint64 *times = g_new0(guint64, rule + 1),
            *calls = g_new0(guint64, program_n_terminals(plan->program) + 1);
    times[rule] = 1;
    expand(plan, rule, times, calls);
    g_free(times);
    return calls;
}

/* The calls of a sequence, with their numbers. */
typedef struct {
    guint terminal;
    guint64 times;
} CountedUse;
static GArray *counted_calls(const Plan *plan, guint rule)
{
    g_autofree guint64 *calls = count_calls(plan, rule);
    GArray *counted = g_array_new(FALSE, FALSE, sizeof(CountedUse));
    for (guint terminal = 0; terminal < program_n_terminals(plan->program); terminal++)
        if (calls[terminal] > 0) {
            CountedUse c = {terminal, calls[terminal]};
            g_array_append_val(counted, c);
        }
    return counted;
}

/* The number of calls of each terminal that come before the first call of TERMINAL. RULE has such a
 * call. */
static guint64 *count_calls_before(const Plan *plan, guint rule, guint terminal)
{
    guint64 *times = g_new0(guint64, rule + 1),
            *calls = g_new0(guint64, program_n_terminals(plan->program) + 1);
    g_autofree gboolean *has = g_new0(gboolean, rule + 1);
    for (guint i = 0; i <= rule; i++)
        for (guint k = 0; !has[i] && k < plan->rules[i].n; k++) {
            const WendSymbol *s = &plan->rules[i].symbols[k];
            has[i] = s->is_rule ? has[s->id] : s->id == terminal;
        }
    for (guint at = rule, k = 0; k < plan->rules[at].n;) {
        const WendSymbol *s = &plan->rules[at].symbols[k];
        if (s->is_rule ? has[s->id] : s->id == terminal) {
            if (!s->is_rule)
                break;
            at = s->id;
            k = 0;
            continue;
        }
        *(s->is_rule ? &times[s->id] : &calls[s->id]) += s->repeats;
        k++;
    }
    expand(plan, rule, times, calls);
    g_free(times);
    return calls;
}

/* -- uses of objects by a call -- */

static gboolean frees(const CallPattern *c, const Arg *arg)
{
    return arg->param->frees && arg->param->dir == WEND_DIR_INOUT && !c->failed;
}

static SharedRole role_of(const CallPattern *c, const Arg *arg)
{
    if (c->function->id == WEND_FN_MPI_Type_commit)
        return SHARED_COMMIT;
    return frees(c, arg) && arg->param->kind != WEND_KIND_REQUEST ? SHARED_END : SHARED_USE;
}

static void add_role(GArray *roles, WendKind kind, gint64 word, SharedRole role)
{
    if (!word_is_handle(word) || (kind != WEND_KIND_SEGMENT && word_handle_tid(word) >= 1u << 24))
        return; /* objects of callbacks are not shared */
    for (guint i = 0; i < roles->len; i++) {
        SharedUse *known = &g_array_index(roles, SharedUse, i);
        if (known->kind == kind && known->word == word) {
            known->role = MAX(known->role, role);
            return;
        }
    }
    SharedUse use = {.kind = kind, .word = word, .role = role};
    g_array_append_val(roles, use);
}

static gboolean is_named_by_thread(gint64 word)
{
    return word_is_segment(word)
           && (segment_kind(word) == WEND_SEGMENT_HEAP || segment_kind(word) == WEND_SEGMENT_MAP);
}

static GArray *roles_of(const CallPattern *c)
{
    GArray *roles = g_array_new(FALSE, FALSE, sizeof(SharedUse));
    for (guint a = 0; a < c->n_args; a++) {
        const Arg *arg = &c->args[a];
        WendKind kind = arg->param->kind;
        if (kind == WEND_KIND_SEGMENT && arg->has_in && is_named_by_thread(arg->in[0].value))
            add_role(roles, WEND_KIND_SEGMENT, arg->in[0].value,
                     call_pattern_is_place(c->function) ? SHARED_USE : SHARED_END);
        for (guint w = 0; kind == WEND_KIND_BUF && arg->has_in && w < arg->n_in_words; w += 2)
            if (is_named_by_thread(arg->in[w].value))
                add_role(roles, WEND_KIND_SEGMENT, arg->in[w].value, SHARED_USE);
        if (!kind_is_handle(kind) && kind != WEND_KIND_REQUEST)
            continue;
        for (guint w = 0; arg->has_in && w < arg->n_in_words; w++)
            add_role(roles, kind, arg->in[w].value, role_of(c, arg));
        if (arg->has_out && arg->n_out > 0 && !c->failed)
            add_role(roles, kind, arg->out[0].value, SHARED_MAKE);
    }
    return roles;
}

/* -- objects -- */

static guint use_hash(gconstpointer p)
{
    const SharedUse *u = p;
    return (guint)((guint64)u->word * 0x9E3779B97F4A7C15u >> 32) ^ u->kind;
}

static gboolean use_equal(gconstpointer a, gconstpointer b)
{
    const SharedUse *x = a, *y = b;
    return x->kind == y->kind && x->word == y->word;
}

/* The uses of an object by a thread, and the uses by the thread that started or joined it up to
 * that time. */
typedef struct {
    gboolean named;
    guint64 uses, ends_before_start, makes_before_join, ends_before_join;
} Part;

/* The uses of an object by the threads of one class. ALONE is the index of the only thread that
 * makes and frees it; -1: there are several. */
typedef struct {
    SharedUse key;
    guint n;
    gint alone;
    guint64 makes, commits, ends;
    Part parts[];
} Tally;

/* The start or join of a thread by another one. BY is -1 if there is none. CALLS are the calls of
 * that thread before it. */
typedef struct {
    gint by;
    guint64 *calls;
} Before;

static void find_befores(Plan *plan, const PlanThread *threads, guint n, Before *starts,
                         Before *joins)
{
    for (guint t = 0; t < n; t++)
        starts[t].by = joins[t].by = -1;
    for (guint t = 0; t < n; t++) {
        g_autoptr(GArray) calls = counted_calls(plan, threads[t].rule);
        for (guint k = 0; k < calls->len; k++) {
            const CountedUse *call = &g_array_index(calls, CountedUse, k);
            call_pattern_decode(plan->call, call->terminal);
            gboolean start = plan->call->function->id == WEND_FN_wend_start;
            if (!start && plan->call->function->id != WEND_FN_wend_join)
                continue;
            for (guint u = 0; u < n; u++) {
                Before *before = start ? &starts[u] : &joins[u];
                if (u != t && before->by < 0
                    && threads[u].thread == (guint)plan->call->args[0].in[0].value)
                    *before = (Before){(gint)t,
                                       count_calls_before(plan, threads[t].rule, call->terminal)};
            }
        }
    }
}

static void note_role(Tally *tally, guint t, const SharedUse *use, guint64 calls, guint own_number)
{
    if (use->role == SHARED_MAKE)
        tally->makes += calls;
    else if (use->role == SHARED_COMMIT && word_handle_tid(use->word) == own_number)
        tally->commits += calls;
    else if (use->role == SHARED_END)
        tally->ends += calls;
    else
        tally->parts[t].uses += calls;
    if (use->role == SHARED_MAKE || use->role == SHARED_END)
        tally->alone = tally->alone == -2 || tally->alone == (gint)t ? (gint)t : -1;
}

/* A thread cannot use objects that its starter had freed before, nor objects that the thread that
 * joins it makes afterwards. This holds if no other thread makes and frees the object. */
static void tally_befores(GHashTable *tallies, guint u, gint starter, gint joiner)
{
    GHashTableIter i;
    Tally *tally;
    g_hash_table_iter_init(&i, tallies);
    while (g_hash_table_iter_next(&i, NULL, (gpointer *)&tally)) {
        if (starter < 0 || tally->alone != starter)
            tally->parts[u].ends_before_start = 0;
        if (joiner < 0 || tally->alone != joiner)
            tally->parts[u].makes_before_join = tally->parts[u].ends_before_join = G_MAXUINT64 - 1;
    }
}

static void tally_class(Plan *plan, guint first, guint n, GHashTable *tallies)
{
    const PlanThread *threads = &g_array_index(plan->threads, PlanThread, first);
    g_autofree Before *starts = g_new0(Before, n), *joins = g_new0(Before, n);
    find_befores(plan, threads, n, starts, joins);
    for (guint t = 0; t < n; t++) {
        g_autoptr(GArray) calls = counted_calls(plan, threads[t].rule);
        for (guint k = 0; k < calls->len; k++) {
            const CountedUse *call = &g_array_index(calls, CountedUse, k);
            call_pattern_decode(plan->call, call->terminal);
            g_autoptr(GArray) roles = roles_of(plan->call);
            for (guint i = 0; i < roles->len; i++) {
                const SharedUse *use = &g_array_index(roles, SharedUse, i);
                Tally *tally = g_hash_table_lookup(tallies, use);
                if (!tally) {
                    tally = g_malloc0(sizeof *tally + n * sizeof *tally->parts);
                    tally->key = *use;
                    tally->n = n;
                    tally->alone = -2; /* no thread so far */
                    g_hash_table_insert(tallies, &tally->key, tally);
                }
                tally->parts[t].named = TRUE;
                note_role(tally, t, use, call->times, threads[t].thread);
                for (guint u = 0; u < n; u++) {
                    Part *part = &tally->parts[u];
                    if (starts[u].by == (gint)t && use->role == SHARED_END)
                        part->ends_before_start += starts[u].calls[call->terminal];
                    if (joins[u].by == (gint)t && use->role == SHARED_END)
                        part->ends_before_join += joins[u].calls[call->terminal];
                    if (joins[u].by == (gint)t && use->role == SHARED_MAKE)
                        part->makes_before_join += joins[u].calls[call->terminal];
                }
            }
        }
    }
    for (guint u = 0; u < n; u++) {
        tally_befores(tallies, u, starts[u].by, joins[u].by);
        g_free(starts[u].calls);
        g_free(joins[u].calls);
    }
}

/* Divides the uses of an object over its LIVES lifetimes, for each thread that exists then. Returns
 * FALSE if a lifetime has other numbers of uses than another. Uses by a thread that alone makes and
 * frees the object are in order already, and do not count. */
static gboolean divide(const Tally *tally, guint64 lives, SharedShare *shares)
{
    gboolean memory = tally->key.kind == WEND_KIND_SEGMENT;
    for (guint t = 0; t < tally->n; t++) {
        const Part *part = &tally->parts[t];
        guint64 last = memory ? part->ends_before_join + 1 : part->makes_before_join;
        guint64 from = MIN(part->ends_before_start, lives), until = CLAMP(last, from, lives);
        gboolean counts = part->uses > 0 && tally->alone != (gint)t;
        if (counts && (until == from || part->uses % (until - from)))
            return FALSE;
        shares[t] = (SharedShare){counts ? part->uses / (until - from) : 0, from, until};
    }
    return TRUE;
}

static void share_out(const Tally *tally, SharedShare *shares)
{
    if (tally->key.kind == WEND_KIND_REQUEST) /* the run decides its completion */
        return;
    guint64 lives = tally->key.kind == WEND_KIND_SEGMENT ? tally->ends : tally->makes;
    if (!divide(tally, lives, shares)
        && !(tally->key.kind == WEND_KIND_SEGMENT && divide(tally, lives + 1, shares)))
        memset(shares, 0, tally->n * sizeof *shares);
}

static int compare_uses(gconstpointer a, gconstpointer b)
{
    const SharedUse *x = *(const SharedUse *const *)a, *y = *(const SharedUse *const *)b;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
                              : (x->word > y->word) - (x->word < y->word);
}

/* Finds objects that at least two threads of a class name. Gives each a number, and each class its
 * shares. */
static void find_shared(Plan *plan)
{
    g_autoptr(GPtrArray) classes =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref),
                         found = g_ptr_array_new();
    plan->shared = g_hash_table_new_full(use_hash, use_equal, g_free, NULL);
    for (guint i = 0; i < plan->threads->len;
         i += 1 + g_array_index(plan->threads, PlanThread, i).n_others) {
        guint n = 1 + g_array_index(plan->threads, PlanThread, i).n_others;
        GHashTable *tallies = g_hash_table_new_full(use_hash, use_equal, NULL, g_free);
        g_ptr_array_add(classes, tallies);
        if (n == 1)
            continue;
        tally_class(plan, i, n, tallies);
        GHashTableIter iter;
        Tally *tally;
        g_hash_table_iter_init(&iter, tallies);
        while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&tally)) {
            guint threads = 0;
            for (guint t = 0; t < n; t++)
                threads += tally->parts[t].named;
            if (threads < 2)
                continue;
            SharedUse *known = g_hash_table_lookup(plan->shared, &tally->key);
            if (!known) {
                known = g_memdup2(&tally->key, sizeof *known);
                known->late = TRUE;
                g_hash_table_add(plan->shared, known);
                g_ptr_array_add(found, known);
            }
            known->late &= tally->commits > 0 && tally->commits == tally->makes;
        }
    }
    g_ptr_array_sort(found, compare_uses);
    for (guint i = 0; i < found->len; i++)
        ((SharedUse *)found->pdata[i])->number = i;
    for (guint i = 0, k = 0; i < plan->threads->len; k++) {
        PlanThread *main_thread = &g_array_index(plan->threads, PlanThread, i);
        guint columns = main_thread->n_others + 1;
        main_thread->shares = g_new0(SharedShare, found->len * columns + 1);
        g_ptr_array_add(plan->owned, main_thread->shares);
        for (guint f = 0; f < found->len; f++) {
            const Tally *tally = g_hash_table_lookup(classes->pdata[k], found->pdata[f]);
            if (tally)
                share_out(tally, main_thread->shares + f * columns);
        }
        i += 1 + main_thread->n_others;
    }
}

static void note_borrowed(Plan *plan, gint64 segment, guint request)
{
    GArray *requests = g_hash_table_lookup(plan->borrowed, &segment);
    if (!requests)
        g_hash_table_insert(plan->borrowed, g_memdup2(&segment, sizeof segment),
                            requests = g_array_new(FALSE, FALSE, sizeof(guint)));
    for (guint i = 0; i < requests->len; i++)
        if (g_array_index(requests, guint, i) == request)
            return;
    g_array_append_val(requests, request);
}

static int compare_numbers(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

/* Whether the buffer has elements. Without elements, freed memory does no harm. */
static gboolean has_elements(const Plan *plan, const CallPattern *c, const Arg *buf)
{
    const RankList ranks = plan->terminal_ranks[c->terminal];
    gboolean any = buf->param->count < 0;
    for (guint r = 0; r < ranks.n && !any; r++)
        any = call_pattern_number(c, &c->args[buf->param->count], ranks.ranks[r], 0) != 0;
    return any;
}

/* Finds memory that a request uses until another thread completes it. A persistent request uses it
 * only from start to completion. */
void plan_threads_borrowed(Plan *plan)
{
    plan->borrowed =
        g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
    for (guint t = 0; g_hash_table_size(plan->shared) && t < program_n_terminals(plan->program);
         t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_pattern_decode(plan->call, t);
        const CallPattern *c = plan->call;
        const Arg *request = call_pattern_arg_of_kind(c, WEND_KIND_REQUEST);
        if (c->failed || (c->function->flags & WEND_F_PERSISTENT) || !request || !request->has_out
            || request->n_out_words == 0)
            continue;
        const SharedUse made = {.kind = WEND_KIND_REQUEST, .word = request->out[0].value};
        const SharedUse *shared = g_hash_table_lookup(plan->shared, &made);
        for (guint a = 0; shared && a < c->n_args; a++)
            for (guint w = 0; c->args[a].param->kind == WEND_KIND_BUF && c->args[a].has_in
                              && w < c->args[a].n_in_words;
                 w += 2)
                if (word_is_segment(c->args[a].in[w].value) && has_elements(plan, c, &c->args[a]))
                    note_borrowed(plan, c->args[a].in[w].value, shared->number);
    }
    GHashTableIter i;
    GArray *requests;
    g_hash_table_iter_init(&i, plan->borrowed);
    while (g_hash_table_iter_next(&i, NULL, (gpointer *)&requests))
        g_array_sort(requests, compare_numbers);
}

GArray *plan_threads_shared(Plan *plan, guint terminal)
{
    CallPattern *c = call_pattern_new(plan->program);
    call_pattern_decode(c, terminal);
    GArray *roles = roles_of(c);
    guint n = 0;
    for (guint i = 0; i < roles->len; i++) {
        SharedUse use = g_array_index(roles, SharedUse, i);
        const SharedUse *shared = g_hash_table_lookup(plan->shared, &use);
        if (!shared)
            continue;
        use.number = shared->number;
        use.late = shared->late;
        if (use.role == SHARED_COMMIT && !use.late)
            use.role = SHARED_USE;
        g_array_index(roles, SharedUse, n++) = use;
    }
    g_array_set_size(roles, n);
    call_pattern_free(c);
    return roles;
}

/* -- the start of threads -- */

/* Threads by number. */
typedef struct {
    GArray *list;      /* of StartedThread */
    GHashTable *known; /* number -> its place + 1 */
} List;

static StartedThread *add_thread(List *threads, guint number)
{
    gpointer key = GUINT_TO_POINTER(number);
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(threads->known, key));
    if (place == 0) {
        const StartedThread thread = {.number = number};
        g_array_append_val(threads->list, thread);
        place = threads->list->len;
        g_hash_table_insert(threads->known, key, GUINT_TO_POINTER(place));
    }
    return &g_array_index(threads->list, StartedThread, place - 1);
}

static int compare_threads(gconstpointer a, gconstpointer b)
{
    const StartedThread *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The terminal of the first call that begins RULE, plus 1; 0 if there is none. */
static guint first_terminal(const Plan *plan, guint rule)
{
    while (plan->rules[rule].n > 0) {
        const WendSymbol *s = &plan->rules[rule].symbols[0];
        if (!s->is_rule)
            return s->id + 1;
        rule = s->id;
    }
    return 0;
}

/* A main thread of which another thread calls MPI_Init has called MPI before that: it would not be
 * thread 0 otherwise. */
static void note_asking(Plan *plan, const PlanThread *main_thread)
{
    guint asks = first_terminal(plan, main_thread->rule);
    for (guint i = 0; asks > 0 && i < main_thread->n_started; i++)
        if (main_thread->started[i].inits)
            g_hash_table_add(plan->asks, GUINT_TO_POINTER(asks));
}

/* Lists the threads that the threads of a class start, and those that no thread starts: they
 * existed before MPI_Init. */
static void list_threads(Plan *plan, guint first)
{
    PlanThread *main_thread = &g_array_index(plan->threads, PlanThread, first);
    List threads = {g_array_new(FALSE, FALSE, sizeof(StartedThread)), g_hash_table_new(NULL, NULL)};
    for (guint t = 0; t <= main_thread->n_others; t++) {
        guint number = main_thread[t].thread;
        if (t > 0)
            add_thread(&threads, number)->of = t;
        g_autoptr(GArray) calls = counted_calls(plan, main_thread[t].rule);
        for (guint k = 0; k < calls->len; k++) {
            guint terminal = g_array_index(calls, CountedUse, k).terminal;
            if (t > 0 && plan_is_init(plan, terminal))
                add_thread(&threads, number)->inits = TRUE;
            call_pattern_decode(plan->call, terminal);
            gboolean start = plan->call->function->id == WEND_FN_wend_start;
            if (!start && plan->call->function->id != WEND_FN_wend_join)
                continue;
            guint other = (guint)plan->call->args[0].in[0].value;
            if (other != main_thread->thread)
                add_thread(&threads, other)->started |= start;
        }
    }
    g_hash_table_unref(threads.known);
    g_array_sort(threads.list, compare_threads);
    main_thread->n_started = threads.list->len;
    main_thread->started = (StartedThread *)(void *)g_array_free(threads.list, FALSE);
    g_ptr_array_add(plan->owned, main_thread->started);
    note_asking(plan, main_thread);
}

void plan_threads(Plan *plan)
{
    plan->asks = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < plan->threads->len;) {
        PlanThread *all = &g_array_index(plan->threads, PlanThread, 0);
        guint n = 1;
        while (i + n < plan->threads->len && all[i + n].class_index == all[i].class_index)
            n++;
        all[i].n_others = n - 1;
        list_threads(plan, i);
        i += n;
    }
    find_shared(plan);
}
