/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.c: loops with bodies that depend on the completed request: "while (…) { MPI_Waitany(…,
 * &index, …); … calls for that index … }".
 *
 * The recording has such a loop in the order in which requests completed in that run. If that order
 * is one of many possible orders, this pass restores the loop. A stretch is consecutive calls of
 * one Waitany, Waitsome, Testany or Testsome. For each entry of its array it has the calls (the
 * body of a completion handler) that followed its first completion, its second, and so on. A
 * handler may need several completions, as in a program that goes on when it has messages of two
 * neighbours (handlers.c).
 *
 * Any order is correct, and none can hang, if these conditions hold:
 * - No body waits. Its calls are local, start an operation, or send a message that is eager in any
 *   MPI library.
 * - Bodies of different entries are independent (conflicts.c). No request, handle or memory that
 *   one of them makes, ends or frees is used by another, or is memory of the request that another
 *   waits for. They post no receives for the same messages, and take part in different collective
 *   calls. Messages of two of them from one rank to another with one tag are equal.
 * - An entry completes in the stretch only as often as in the recording. Further completions are
 *   hidden.
 *
 * Then in any order the rank posts the same operations in the end, and each receive and each send
 * has its partner. Proof: consider the first event in the recorded order that a proxy could wait
 * for in vain. All events before it have happened, so the event that it depends on has, too.
 *
 * For wend diff each call belongs to the completion before it, and a completion by MPI_Test counts
 * as a completion itself. All completions of one Testsome come before the calls of the first. So in
 * a stretch of Testsome or Waitsome, either each body that is not empty begins with a test, or no
 * body has tests (docs/compiling.md has the reason).
 *
 * A stretch ends before the first call that breaks these rules. Calls without a loop keep the
 * recorded order (emit-choice.c). Unsuccessful polls are left out: each loop polls as often as it
 * needs to. Other calls that the program made while it polled are ordinary calls, and belong to the
 * completion before them. */
#include <string.h>

#include "src/proxygen/plan/passes.h"
#include "src/proxygen/analysis/handlers.h"

/* A call that completes some of several requests. */
typedef struct {
    guint terminal;
    guint n;
    gint64 *requests; /* by entry */
    gboolean several; /* it may complete several requests at once */
    Handlers *handlers;
} Chooser;

/* The completions that one call reported, and the calls up to the next such call. */
typedef struct {
    guint first_entry, n_entries, first_item, n_items;
    guint64 call;
} Group;

/* A completion of an entry, and the number of its handler, + 1; 0: no calls follow. */
typedef struct {
    guint entry, handler;
} Completion;

typedef struct {
    Plan *plan;
    LoopRules *rules;
    GPtrArray *choosers; /* by terminal; NULL: no such call */

    /* for the current rank */
    guint rank;
    /* in the first of two walks, which collects handlers of single completions */
    gboolean learning;
    RankDependence *dependence;
    Conflicts *conflicts;

    /* consecutive calls of one chooser, without a call in between that waits */
    const Chooser *chooser;
    /* of Group, Completion, LoopItem, Handler */
    GArray *groups, *completions, *items, *handlers;
    gboolean *active; /* by entry, at the current position */

    /* for the current stretch */
    gboolean share;        /* entries may post receives for the same messages */
    HandlerKind kind;      /* of its handlers */
    gboolean *idle, *near; /* by entry (handlers.h) */
    guint *latest;         /* by entry: its last completion */
} Finder;

static const Dependence *dependence_of_item(const Finder *f, guint item)
{
    return f->dependence->calls[g_array_index(f->items, LoopItem, item).terminal];
}

static const LoopItem *items_from(const Finder *f, guint item)
{
    return (const LoopItem *)(void *)f->items->data + item;
}

static Completion *completion_at(const Finder *f, guint i)
{
    return &g_array_index(f->completions, Completion, i);
}

static const Handler *handler_at(const Finder *f, guint i)
{
    return &g_array_index(f->handlers, Handler, i);
}

static guint terminal_at(const Finder *f, guint item)
{
    return g_array_index(f->items, LoopItem, item).terminal;
}

/* -- stretches -- */

static void append_items(Finder *f, guint first, guint n)
{
    for (guint i = first; i < first + n; i++)
        loop_rules_append(f->rules, (WendSymbol){FALSE, terminal_at(f, i), 1});
}

static void add_run(GArray *runs, guint body, guint joint)
{
    LoopRun *last = runs->len ? &g_array_index(runs, LoopRun, runs->len - 1) : NULL;
    LoopRun run = {body, joint, 1};
    if (last && last->body == body && last->joint == joint)
        last->times++;
    else
        g_array_append_val(runs, run);
}

/* Updates the entries after the call of an item. */
static void follow(Finder *f, guint item)
{
    const Dependence *e = dependence_of_item(f, item);
    for (guint i = 0; i < e->changes->len; i++) {
        const RequestChange *change = &g_array_index(e->changes, RequestChange, i);
        guint entry = handlers_entry(f->chooser->handlers, change->request);
        if (entry > 0)
            f->active[entry - 1] = change->active;
    }
}

static void note_stretch(Finder *f, guint64 first, guint64 last)
{
    GHashTable *stretches = f->plan->stretches;
    if (!stretches)
        stretches = f->plan->stretches =
            g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    GArray *own = g_hash_table_lookup(stretches, GUINT_TO_POINTER(f->rank));
    if (!own)
        g_hash_table_insert(stretches, GUINT_TO_POINTER(f->rank),
                            own = g_array_new(FALSE, FALSE, sizeof(CallStretch)));
    CallStretch stretch = {first, last};
    g_array_append_val(own, stretch);
}

/* The body that follows a completion in a stretch that ends before item END. *JOINT is the joint of
 * its set, which KNOWN has by set and body. */
static guint body_of(Finder *f, const Completion *completion, guint end, Loop *loop,
                     GHashTable *known, guint *joint)
{
    *joint = 0;
    if (completion->handler == 0)
        return NO_BODY;
    const Handler *handler = handler_at(f, completion->handler - 1);
    guint length = MIN(handler->n, end > handler->first ? end - handler->first : 0);
    g_autofree guint *terminals = g_new(guint, length + 1);
    for (guint i = 0; i < length; i++)
        terminals[i] = terminal_at(f, handler->first + i);
    guint body = loop_rules_body(f->rules, terminals, length);
    LoopJoint set = {0, NULL};
    const guint *entries = conflicts_entries(f->conflicts, &handler->set, &set.n);
    if (body == NO_BODY || set.n == 1)
        return body;
    gint64 key = (gint64)handler->set << 32 | body;
    *joint = GPOINTER_TO_UINT(g_hash_table_lookup(known, &key));
    if (*joint == 0) {
        set.entries = g_memdup2(entries, set.n * sizeof *entries);
        g_array_append_val(loop->joints, set);
        *joint = loop->joints->len;
        g_hash_table_insert(known, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(*joint));
    }
    return body;
}

static Loop *new_loop(const Chooser *chooser)
{
    Loop *loop = g_new0(Loop, 1);
    *loop = (Loop){.terminal = chooser->terminal, .n = chooser->n};
    loop->runs = g_new(GArray *, loop->n);
    loop->times = g_new0(guint64, loop->n);
    loop->joints = g_array_new(FALSE, FALSE, sizeof(LoopJoint));
    for (guint e = 0; e < loop->n; e++)
        loop->runs[e] = g_array_new(FALSE, FALSE, sizeof(LoopRun));
    return loop;
}

/* Ends the stretch of groups FIRST … LAST. Only the first N items of the last group belong to
 * it. */
static void close_stretch(Finder *f, guint first, guint last, guint n)
{
    const Group *groups = &g_array_index(f->groups, Group, 0);
    guint end = groups[last].first_item + n;
    Loop *loop = new_loop(f->chooser);
    g_autoptr(GHashTable) known = NULL;
    known = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    for (guint g = first; g <= last; g++) {
        guint items = g == last ? n : groups[g].n_items;
        if (first == last)
            /* a single call is no loop */
            loop_rules_append(f->rules, (WendSymbol){FALSE, f->chooser->terminal, 1});
        for (guint k = 0; k < groups[g].n_entries; k++) {
            const Completion *completion = completion_at(f, groups[g].first_entry + k);
            guint joint = 0, body = NO_BODY;
            if (first < last)
                body = body_of(f, completion, end, loop, known, &joint);
            f->active[completion->entry] = FALSE;
            loop->total++;
            loop->times[completion->entry]++;
            add_run(loop->runs[completion->entry], body, joint);
        }
        for (guint i = 0; i < items; i++)
            follow(f, groups[g].first_item + i);
        if (first == last)
            append_items(f, groups[g].first_item, items);
    }
    for (guint e = 0; e < loop->n; e++)
        loop->hides |= f->active[e];
    if (first < last) {
        loop_rules_append(f->rules, (WendSymbol){TRUE, loop_rules_loop(f->rules, loop), 1});
        /* its items follow the last call one by one */
        note_stretch(f, groups[first].call, groups[last].call + n);
    } else {
        loop_rules_free_loop(loop);
    }
    for (guint i = end; i < groups[last].first_item + groups[last].n_items; i++)
        follow(f, i);
    append_items(f, end, groups[last].n_items - n);
}

static void new_stretch(Finder *f)
{
    conflicts_begin_loop(f->conflicts, f->share);
    f->kind = HANDLER_EMPTY;
    memset(f->idle, 0, f->chooser->n * sizeof *f->idle);
    memset(f->near, 0, f->chooser->n * sizeof *f->near);
}

/* -- the handlers of a group -- */

/* Divides the calls after a group among its completions. Returns the number of its first handler.
 * LAST: no group follows. */
static guint find_handlers(Finder *f, const Group *group, gboolean last)
{
    guint first = f->handlers->len, n;
    g_autofree guint *entries = g_new(guint, group->n_entries);
    for (guint k = 0; k < group->n_entries; k++) {
        Completion *completion = completion_at(f, group->first_entry + k);
        entries[k] = completion->entry;
        completion->handler = 0;
        f->latest[completion->entry] = group->first_entry + k;
        f->idle[completion->entry] = f->near[completion->entry] = FALSE;
    }
    Completions c = {f->dependence,  f->conflicts, items_from(f, 0), group->first_item,
                     group->n_items, entries,      group->n_entries, f->chooser->n,
                     last,           f->idle,      f->near};
    handlers_distinguish(f->chooser->handlers, &c, f->handlers);
    for (guint k = 0; k < group->n_entries; k++)
        f->idle[entries[k]] = f->near[entries[k]] = TRUE;
    for (guint i = first; i < f->handlers->len; i++) {
        const guint *set = conflicts_entries(f->conflicts, &handler_at(f, i)->set, &n);
        for (guint k = 0; k < n; k++) {
            completion_at(f, f->latest[set[k]])->handler = i + 1;
            f->idle[set[k]] = FALSE;
        }
    }
    if (group->n_items > 0)
        memset(f->near, 0, f->chooser->n * sizeof *f->near);
    return first;
}

/* Whether the completions of the group conflict with the stretch. */
static gboolean completions_conflict(Finder *f, const Group *group)
{
    gboolean found = FALSE;
    for (guint k = 0; k < group->n_entries && !found; k++) {
        guint entry = completion_at(f, group->first_entry + k)->entry;
        found = conflicts_of_completion(f->conflicts, f->chooser->requests[entry], entry);
    }
    return found;
}

static void take_completions(Finder *f, const Group *group)
{
    for (guint k = 0; k < group->n_entries; k++) {
        const Completion *completion = completion_at(f, group->first_entry + k);
        guint set = completion->entry;
        if (completion->handler > 0)
            set = handler_at(f, completion->handler - 1)->set;
        conflicts_take_completion(f->conflicts, f->chooser->requests[completion->entry], set);
    }
}

/* Whether the calls of a body may begin, or go on, with the item. All bodies of a stretch are of
 * one kind. */
static gboolean is_of_kind(const Finder *f, const LoopItem *item, gboolean begins)
{
    if (!f->chooser->several || f->kind == HANDLER_EMPTY)
        return TRUE;
    return f->kind == HANDLER_PLAIN ? !item->tests : item->tests || !begins;
}

/* Takes the items of a handler into the stretch. Returns the first item that does not fit, or the
 * end. */
static guint take_handler(Finder *f, const Handler *handler)
{
    guint n, i = handler->first;
    const guint *entries = conflicts_entries(f->conflicts, &handler->set, &n);
    for (; i < handler->first + handler->n; i++) {
        const LoopItem *item = items_from(f, i);
        const Dependence *dependence = dependence_of_item(f, i);
        gboolean own = n == 1 && handlers_posts(f->chooser->handlers, dependence, entries, n) == 1;
        HandlerCall call = {dependence, own, item->fresh};
        if (!is_of_kind(f, item, i == handler->first)
            || conflicts_of_call(f->conflicts, &call, handler->set))
            break;
        conflicts_take_call(f->conflicts, &call, handler->set);
        if (f->kind == HANDLER_EMPTY)
            f->kind = item->tests ? HANDLER_TESTED : HANDLER_PLAIN;
    }
    return i;
}

/* Takes the items of the group into the stretch. Returns the first item that does not fit, or the
 * end. */
static guint take_handlers(Finder *f, const Group *group, guint first)
{
    for (guint i = first; i < f->handlers->len; i++) {
        const Handler *handler = handler_at(f, i);
        guint end = take_handler(f, handler);
        if (end < handler->first + handler->n)
            return end;
    }
    return group->first_item + group->n_items;
}

/* Whether receives that several entries have posted in the stretch, and other receives for the same
 * messages, are all complete at its end. */
static gboolean shared_are_complete(Finder *f, guint first, guint last, guint n)
{
    const Group *groups = &g_array_index(f->groups, Group, 0);
    const GArray *receives = f->dependence->receives;
    gboolean *now = f->active, complete = TRUE;
    if (!conflicts_any_shared(f->conflicts))
        return TRUE;
    f->active = g_memdup2(now, f->chooser->n * sizeof *now);
    for (guint g = first; g <= last; g++) {
        for (guint k = 0; k < groups[g].n_entries; k++)
            f->active[completion_at(f, groups[g].first_entry + k)->entry] = FALSE;
        for (guint i = 0; i < (g == last ? n : groups[g].n_items); i++)
            follow(f, groups[g].first_item + i);
    }
    WendDecoder *decoder = decoder_new(f->plan->program);
    for (guint i = 0; i < f->chooser->n && complete; i++) {
        if (!f->active[i])
            continue;
        for (guint k = 0; k < receives->len && complete; k++) {
            guint other = g_array_index(receives, guint, k);
            complete = !conflicts_is_shared(f->conflicts, other)
                       || !dependence_request_meets(
                           f->dependence, decoder, f->chooser->requests[i],
                           &g_array_index(f->dependence->resources, Resource, other));
        }
    }
    decoder_free(decoder);
    g_free(f->active);
    f->active = now;
    return complete;
}

/* The end of the last body of a stretch, which no completion follows, in items of the group. END is
 * the latest possible end, HANDLERS the first handler of the group. */
static guint last_body(const Finder *f, const Group *group, guint handlers, guint end)
{
    for (guint i = handlers; i < f->handlers->len; i++) {
        const Handler *handler = handler_at(f, i);
        if (handler->first + handler->n < end)
            continue;
        guint n;
        const guint *entries = conflicts_entries(f->conflicts, &handler->set, &n);
        const LoopItem *items = items_from(f, handler->first);
        guint length = handlers_guess(f->chooser->handlers, f->dependence, entries, n, items,
                                      end - handler->first);
        return handler->first + length - group->first_item;
    }
    return end - group->first_item;
}

static void learn_groups(Finder *f)
{
    for (guint g = 0; g + 1 < f->groups->len; g++) {
        const Group *group = &g_array_index(f->groups, Group, g);
        if (group->n_entries == 1)
            handlers_learn(f->chooser->handlers, f->dependence,
                           completion_at(f, group->first_entry)->entry,
                           items_from(f, group->first_item), group->n_items);
    }
}

static void find_stretches(Finder *f)
{
    const Group *groups = &g_array_index(f->groups, Group, 0);
    guint n = f->groups->len, first = 0;
    f->share = TRUE;
    new_stretch(f);
    for (guint g = 0; g < n; g++) {
        const Group *group = &groups[g];
        gboolean conflict = completions_conflict(f, group);
        guint end = group->first_item + group->n_items, bad = end, handlers = 0;
        if (!conflict) {
            handlers = find_handlers(f, group, g + 1 == n);
            take_completions(f, group);
            bad = take_handlers(f, group, handlers);
        }
        if (!conflict && bad == end && g + 1 < n)
            continue;
        /* The stretch ends before this group or in it. */
        guint last = conflict ? g - 1 : g;
        guint items = conflict ? groups[last].n_items : last_body(f, group, handlers, bad);
        if (shared_are_complete(f, first, last, items)) {
            close_stretch(f, first, last, items);
            first = last + 1;
        } else {
            f->share = FALSE;
        }
        new_stretch(f);
        g = first - 1; /* groups outside of the stretch are examined again */
    }
}

static void process_groups(Finder *f)
{
    if (f->learning) {
        learn_groups(f);
        return;
    }
    f->idle = g_new(gboolean, f->chooser->n);
    f->near = g_new(gboolean, f->chooser->n);
    f->latest = g_new(guint, f->chooser->n);
    conflicts_begin_array(f->conflicts, f->chooser->n);
    find_stretches(f);
    g_clear_pointer(&f->idle, g_free);
    g_clear_pointer(&f->near, g_free);
    g_clear_pointer(&f->latest, g_free);
}

/* -- the walk -- */

static void chooser_free(gpointer chooser)
{
    Chooser *c = chooser;
    if (!c)
        return;
    g_free(c->requests);
    handlers_free(c->handlers);
    g_free(c);
}

/* The chooser of the terminal, or NULL. The terminal must belong to one class, so that its requests
 * have the same numbers on all ranks. */
static const Chooser *chooser_of(Finder *f, const WendCall *call)
{
    const WendArg *requests = call_arg_of_kind(call, WEND_KIND_REQUEST);
    if (!(call->function->flags & WEND_F_ANY) || call->failed || !requests || requests->n_in < 2)
        return NULL;
    Chooser *c = f->choosers->pdata[call->terminal];
    if (c)
        return c;
    c = g_new0(Chooser, 1);
    c->terminal = call->terminal;
    c->n = (guint)requests->n_in;
    c->requests = g_memdup2(requests->in, c->n * sizeof *c->requests);
    c->several = call->function->operation == WEND_FN_MPI_Waitsome;
    c->handlers = handlers_new(c->requests, c->n);
    f->choosers->pdata[call->terminal] = c;
    return c;
}

static void end_groups(Finder *f)
{
    if (f->groups->len > 0)
        process_groups(f);
    g_array_set_size(f->groups, 0);
    g_array_set_size(f->completions, 0);
    g_array_set_size(f->items, 0);
    g_array_set_size(f->handlers, 0);
    g_clear_pointer(&f->active, g_free);
    f->chooser = NULL;
}

static void begin_groups(Finder *f, const Chooser *chooser, const WendWalk *walk,
                         const gint64 *completed, guint n)
{
    f->chooser = chooser;
    f->active = g_new0(gboolean, chooser->n);
    for (guint i = 0; i < chooser->n; i++) {
        WendRequestState state;
        f->active[i] = word_is_handle(chooser->requests[i])
                       && walk_request(walk, chooser->requests[i], &state) && state.active;
        for (guint k = 0; k < n; k++)
            f->active[i] |= completed[k] == chooser->requests[i]; /* the walk has passed the call */
    }
}

/* Adds a call that chooses. Returns FALSE if it completed requests outside of its array, or one of
 * them twice. */
static gboolean add_group(Finder *f, const WendCall *call, const WendWalk *walk)
{
    guint n;
    const gint64 *completed = walk_completed(walk, &n);
    const Chooser *chooser = n > 0 ? chooser_of(f, call) : NULL;
    if (!chooser || handlers_n_entries(chooser->handlers) < 2)
        return FALSE;
    for (guint i = 0; i < n; i++)
        if (handlers_entry(chooser->handlers, completed[i]) == 0)
            return FALSE;
    if (f->chooser != chooser) {
        end_groups(f);
        begin_groups(f, chooser, walk, completed, n);
    }
    Group group = {f->completions->len, n, f->items->len, 0, call->index};
    for (guint i = 0; i < n; i++) {
        Completion completion = {handlers_entry(chooser->handlers, completed[i]) - 1, 0};
        g_array_append_val(f->completions, completion);
    }
    g_array_append_val(f->groups, group);
    return TRUE;
}

/* Whether the call itself is a completion by choice for wend diff. */
static gboolean tests_something(const WendCall *call, const WendWalk *walk)
{
    guint n;
    walk_completed(walk, &n);
    guint32 flags = call->function->flags;
    return n > 0 && (flags & WEND_F_COMPLETES) && (flags & WEND_F_POLL);
}

static void walk_rank(Finder *f, const PlanThread *thread, guint skip)
{
    WendWalk *walk = walk_new(f->plan->program, f->rank, thread->sequence, WEND_WALK_MAIN);
    const WendCall *call;
    f->conflicts = conflicts_new(f->dependence);
    while ((call = walk_next(walk)) != NULL) {
        const Dependence *dependence = rank_dependence_of(f->dependence, call);
        LoopItem item = {call->terminal, conflicts_first_use(f->conflicts, dependence), FALSE};
        if (call->index < skip || add_group(f, call, walk))
            continue;
        if (f->groups->len > 0 && !dependence->waits) {
            item.tests = tests_something(call, walk);
            g_array_append_val(f->items, item);
            g_array_index(f->groups, Group, f->groups->len - 1).n_items++;
            continue;
        }
        end_groups(f);
        if (!f->learning)
            loop_rules_append(f->rules, (WendSymbol){FALSE, item.terminal, 1});
    }
    end_groups(f);
    conflicts_free(f->conflicts);
    walk_free(walk);
}

static void find_in_rank(Finder *f, const PlanThread *thread, guint rank)
{
    /* The calls up to MPI_Init are in main. */
    guint own =
        program_class(f->plan->program, thread->class_index)->sequences[thread->sequence].rule;
    guint skip = f->plan->prefix && thread->rule != own ? f->plan->prefix->len : 0;
    f->rank = rank;
    f->dependence = rank_dependence_new(f->plan, rank);
    for (f->learning = TRUE;; f->learning = FALSE) {
        walk_rank(f, thread, skip);
        if (!f->learning)
            break;
    }
    loop_rules_end_rank(f->rules, rank);
    for (guint i = 0; i < f->choosers->len; i++)
        if (f->choosers->pdata[i])
            g_clear_pointer(&f->choosers->pdata[i], chooser_free);
    rank_dependence_free(f->dependence);
}

/* -- threads that may have loops -- */

/* By rule: whether it, or a rule below it, has a choice that keeps the recorded order. */
static gboolean *find_forced(const Plan *plan)
{
    gboolean *forced = g_new0(gboolean, plan->n_rules + 1);
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->choices);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        forced[((const Choice *)value)->site.rule] |=
            ((const Choice *)value)->kind == CHOICE_FORCED;
    for (guint o = 0; o < plan->order->len; o++) { /* callees first */
        guint rule = g_array_index(plan->order, guint, o);
        const PlanRule *r = &plan->rules[rule];
        for (guint i = 0; i < r->n && !forced[rule]; i++)
            forced[rule] = r->symbols[i].is_rule && forced[r->symbols[i].id];
    }
    return forced;
}

gboolean plan_loops(Plan *plan, Error **error)
{
    const WendProgram *p = plan->program;
    g_autofree gboolean *forced = find_forced(plan);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(LoopRow));
    guint64 steps = 0;
    for (guint t = 0; t < plan->threads->len;
         t += 1 + g_array_index(plan->threads, PlanThread, t).n_others) {
        const PlanThread *thread = &g_array_index(plan->threads, PlanThread, t);
        if (thread->n_others > 0 || !forced[thread->rule])
            continue;
        guint64 length =
            program_rule(p, program_class(p, thread->class_index)->sequences[thread->sequence].rule)
                ->length;
        for (guint r = 0; r < thread->ranks.n && length < STEP_LIMIT - steps; r++) {
            LoopRow row = {t, thread->ranks.ranks[r]};
            if (r == 0 && length * thread->ranks.n >= STEP_LIMIT - steps)
                break; /* all ranks of a thread, or none */
            g_array_append_val(rows, row);
            steps += length;
        }
    }
    if (rows->len == 0)
        return TRUE;

    Finder f = {.plan = plan, .rules = loop_rules_new(plan)};
    f.choosers = g_ptr_array_new();
    g_ptr_array_set_size(f.choosers, (gint)program_n_terminals(p) + 1);
    f.groups = g_array_new(FALSE, FALSE, sizeof(Group));
    f.completions = g_array_new(FALSE, FALSE, sizeof(Completion));
    f.items = g_array_new(FALSE, FALSE, sizeof(LoopItem));
    f.handlers = g_array_new(FALSE, FALSE, sizeof(Handler));
    for (guint i = 0; i < rows->len; i++) {
        const LoopRow *row = &g_array_index(rows, LoopRow, i);
        find_in_rank(&f, &g_array_index(plan->threads, PlanThread, row->thread), row->rank);
    }
    gboolean good = TRUE;
    if (plan->has_loops) {
        loop_rules_replace(f.rules, rows);
        plan_mark(plan);
        good = plan_outcomes(plan, error);
    }
    loop_rules_free(f.rules);
    g_ptr_array_free(f.choosers, TRUE);
    g_array_unref(f.groups);
    g_array_unref(f.completions);
    g_array_unref(f.items);
    g_array_unref(f.handlers);
    return good;
}
