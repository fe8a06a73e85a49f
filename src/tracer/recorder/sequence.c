/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence.c: appends the calls of a thread or callback: signature -> terminal -> grammar, outcome,
 * timing. */
#include "sequence.h"

#include "lib/base/budget.h"
#include "lib/record/functions.h"

/* sequences of callbacks number their handles separately from threads */
enum { FIRST_CALLBACK_TID = 1 << 24 };

static void sequence_free(CallSequence *q)
{
    if (!q)
        return;
    if (q->main)
        cst_free(q->main);
    if (q->main_grammar)
        grammar_free(q->main_grammar);
    budget_free(q, sizeof *q);
}

CallSequence *sequence_new(bool callback, int64_t function, uint32_t tid)
{
    State *s = state();
    CallSequence *q = budget_zeroed(sizeof *q);
    if (!q)
        return NULL;
    q->main = cst_new();
    q->main_grammar = grammar_new_deferring();
    if (!q->main || !q->main_grammar) {
        sequence_free(q);
        return NULL;
    }
    q->callback = callback;
    q->function = function;
    q->tid = tid;
    pthread_mutex_init(&q->lock, NULL);
    if (!s->sequences_end)
        s->sequences_end = &s->sequences;
    __atomic_store_n(s->sequences_end, q, __ATOMIC_RELEASE); /* the watcher reads the list */
    s->sequences_end = &q->next;
    return q;
}

CallSequence *sequence_of_order(enum sequence_kind kind, int64_t word)
{
    pthread_mutex_lock(&state()->threads_lock);
    CallSequence *q = sequence_new(false, word, 0);
    if (q)
        q->order = kind;
    pthread_mutex_unlock(&state()->threads_lock);
    return q;
}

CallSequence *sequence_of_callback(int64_t function)
{
    State *s = state();
    CallSequence *q;
    pthread_mutex_lock(&s->threads_lock);
    uint32_t tid = FIRST_CALLBACK_TID;
    for (q = s->sequences; q; q = q->next) {
        if (!q->callback)
            continue;
        if (q->function == function)
            break;
        tid++;
    }
    if (!q)
        q = sequence_new(true, function, tid);
    pthread_mutex_unlock(&s->threads_lock);
    return q;
}

static inline void note_times(const ActiveCall *c, uint32_t place, bool timed)
{
    const TimeHook *hook = state()->time_hook;
    if (__builtin_expect(hook != NULL, 0))
        hook->append(c->sequence, place, timed ? c->start : 0, timed ? c->stop : 0);
}

/* The guess of that mark. NULL: there is none. */
static inline const WendSiteGuess *guess_at(const WendSiteGuesses *g, uint64_t mark)
{
    uint64_t key = site_guess_key(g, mark);
    size_t at = site_guess_place(g, key);
    while (__builtin_expect(g->at[at].key != key, 0)) {
        if (g->at[at].key == 0)
            return NULL;
        at = (at + 1) & g->mask;
    }
    return &g->at[at];
}

static inline void note_site(ActiveCall *c, WendTerminalEntry *e, bool poll)
{
    WendSiteGuesses *g = &c->sequence->sites;
    if (__builtin_expect(!state()->site_of, 0))
        return;
    uintptr_t address = c->return_address;
    if (__builtin_expect(state()->stack_of != NULL, 0))
        address = state()->stack_of(c);
    bool same_code = c->sequence->unloaded == state_unloaded();
    if (__builtin_expect(e->marks[0] != 0 && same_code, 1)) {
        const WendSiteGuess *guess = guess_at(g, e->marks[0]);
        if (guess && __builtin_expect(guess->has_others, 0))
            guess = e->elastic ? NULL : guess_at(g, e->marks[1]);
        if (guess && __builtin_expect(guess->address == address, 1)) {
            g->last = guess->site;
            g->guessed++;
            return;
        }
    }
    state()->site_of(c, poll, e->marks);
}

bool sequence_append_poll(ActiveCall *c)
{
    CallSequence *q = c->sequence;
    if (!q->polls)
        q->polls = cst_new();
    if (!q->polls_grammar)
        q->polls_grammar = grammar_new_deferring();
    if (!q->polls || !q->polls_grammar)
        return false;
    WendTerminalEntry *e = cst_terminal(q->polls, c->shape.w, c->shape.n, c->slots.w, c->slots.n);
    if (!e || !grammar_append(q->polls_grammar, e->number, 1))
        return false;
    q->polls_since++;
    q->steps++;
    note_times(c, 2 * e->shape + 1, true);
    note_site(c, e, true);
    return true;
}

bool sequence_append(ActiveCall *c, bool timed)
{
    CallSequence *q = c->sequence;
    WendTerminalEntry *e = cst_call(q->main, c->shape.w, c->shape.n, c->slots.w, c->slots.n);
    if (!e)
        return false;
    c->outcome.w[0] = (int64_t)q->polls_since;
    c->outcome.w[1] = c->rc;
    bool told = cst_outcome(q->main, e->shape, c->outcome.w, c->outcome.n);
    if (!told || !grammar_append(q->main_grammar, e->number, 1)) {
        if (told)
            cst_outcome_undo(q->main, e->shape);
        cst_call_undo(q->main, e);
        return false;
    }
    q->polls_since = 0;
    q->steps++;
    note_times(c, 2 * e->shape, timed);
    if (timed || !(mpi_functions[c->function].flags & WEND_F_PSEUDO))
        note_site(c, e, false);
    if (timed) {
        /* Counters of two processors may differ a little: intervals are never negative. */
        double tick = state()->seconds_per_tick;
        if (__builtin_expect(c->stop != 0, 1)) /* see call_stop_untimed */
            stat_add(&e->times->duration,
                     c->stop > c->start ? (double)(c->stop - c->start) * tick : 0.0);
        if (q->last_stop)
            stat_add(&e->times->interval,
                     c->start > q->last_stop ? (double)(c->start - q->last_stop) * tick : 0.0);
    }
    return true;
}
