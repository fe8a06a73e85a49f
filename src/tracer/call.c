/* call.c: threads, sequences, and what happens at the end of a call: signature -> terminal -> grammar, outcome, timing. */
#include "call.h"


#include "../../lib/budget.h"
#include "control.h"
#include "ending.h"
#include "functions.gen.h"
#include "handles.h"
#include "late.h"
#include "own.gen.h"
#include "requests.h"
#include "threads.h"

__thread Thread *wend_thread;

enum { FIRST_CALLBACK_TID = 1 << 24 }; /* callbacks' sequences number their handles apart from threads' */

/* -- sequences and threads -- */

static void sequence_free(Sequence *q)
{
    if (!q)
        return;
    if (q->main)
        wend_cst_free(q->main);
    if (q->main_grammar)
        wend_grammar_free(q->main_grammar);
    wend_budget_free(q, sizeof *q);
}

/* Registered with threads_lock held by the caller. */
static Sequence *sequence_new(State *s, bool callback, int64_t function, uint32_t tid)
{
    Sequence *q = wend_budget_zeroed(sizeof *q);
    if (!q)
        return NULL;
    q->main = wend_cst_new();
    q->main_grammar = wend_grammar_new();
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

static void call_free(Call *c)
{
    if (!c)
        return;
    const Words *all[] = {&c->shape, &c->slots, &c->outcome};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wend_budget_free(all[i]->w, all[i]->cap * sizeof *all[i]->w);
    wend_budget_free(c, sizeof *c);
}

static Call *call_new(Thread *t)
{
    Call *c = wend_budget_zeroed(sizeof *c);
    if (!c)
        return NULL;
    c->thread = t;
    if (!words_grow(&c->shape) || !words_grow(&c->slots) || !words_grow(&c->outcome)) {
        call_free(c);
        return NULL;
    }
    return c;
}

Thread *thread_new(void)
{
    State *s = state();
    late_open();
    if (s->other_family)
        return NULL;
    Thread *t = wend_budget_zeroed(sizeof *t);
    Call *c = t ? call_new(t) : NULL;
    if (!c) {
        wend_budget_free(t, t ? sizeof *t : 0);
        state_break("out of memory");
        return NULL;
    }
    t->call = c;
    pthread_mutex_lock(&s->threads_lock);
    if (s->n_threads == 0) {
        clock_calibrate();
        handles_open();
    }
    t->number = thread_number_new(s->n_threads == 0);
    t->sequence = sequence_new(s, false, 0, t->number);
    if (t->sequence) {
        __atomic_store_n(&t->sequence->owner, t, __ATOMIC_RELEASE);
        s->n_threads++;
    }
    pthread_mutex_unlock(&s->threads_lock);
    if (!t->sequence) {
        call_free(c);
        wend_budget_free(t, sizeof *t);
        state_break("out of memory");
        return NULL;
    }
    wend_thread = t;
    ending_prepare_thread();
    return t;
}

bool words_grow(Words *w)
{
    size_t cap = w->cap ? 2 * w->cap : 64;
    int64_t *grown = wend_budget_resize(w->w, w->cap * sizeof *grown, cap * sizeof *grown);
    if (!grown) {
        state_break("out of memory");
        return false;
    }
    w->w = grown;
    w->cap = cap;
    return true;
}

MPI_Status *scratch_statuses(Call *c, size_t n)
{
    Thread *t = c->thread;
    if (n > t->n_statuses) {
        MPI_Status *grown = wend_budget_resize(t->statuses, t->n_statuses * sizeof *grown, n * sizeof *grown);
        if (!grown) {
            state_break("out of memory");
            return NULL;
        }
        t->statuses = grown;
        t->n_statuses = n;
    }
    return t->statuses;
}

/* -- callbacks -- */

static Sequence *callback_sequence(State *s, int64_t function)
{
    Sequence *q;
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
        q = sequence_new(s, true, function, tid);
    pthread_mutex_unlock(&s->threads_lock);
    return q;
}

bool callback_enter(int64_t function)
{
    State *s = state();
    if (!atomic_load_explicit(&s->active, memory_order_relaxed))
        return false;
    Thread *t = thread_self();
    if (!t)
        return false;
    Sequence *q = callback_sequence(s, function);
    Call *c = t->call->inner;
    if (q && !c)
        t->call->inner = c = call_new(t);
    if (!q || !c) {
        state_break("out of memory");
        return false;
    }
    c->outer = t->call;
    c->ended = 0;
    c->outer_sequence = t->sequence;
    c->outer_inside = t->inside;
    __atomic_store_n(&t->call, c, __ATOMIC_RELEASE); /* the watcher goes through the calls */
    t->sequence = q;
    t->inside = false;
    return true;
}

uint64_t callback_calls(void)
{
    return wend_thread->call->ended;
}

void callback_passed(void)
{
    __atomic_fetch_add(&wend_thread->sequence->passed, 1, __ATOMIC_RELAXED);
}

uint64_t callback_passes(void)
{
    return __atomic_exchange_n(&wend_thread->sequence->passed, 0, __ATOMIC_RELAXED);
}

void callback_forgives(int code)
{
    Call *interrupted = wend_thread->call->outer;
    switch (interrupted->function) { /* the application's own question to a handler fails in nothing */
    case WEND_FN_MPI_Comm_call_errhandler:
    case WEND_FN_MPI_File_call_errhandler:
    case WEND_FN_MPI_Win_call_errhandler:
    case WEND_FN_MPI_Session_call_errhandler:
        return;
    }
    /* The statuses say what failed; the rest is as always. */
    interrupted->forgiven = error_code_note(code) != MPI_ERR_IN_STATUS;
}

void callback_leave(void)
{
    Thread *t = wend_thread;
    Call *c = t->call;
    t->sequence = c->outer_sequence;
    t->inside = c->outer_inside;
    __atomic_store_n(&t->call, c->outer, __ATOMIC_RELEASE);
}

/* -- the end of a call -- */

static bool append_poll(Call *c, Sequence *q)
{
    if (!q->polls)
        q->polls = wend_cst_new();
    if (!q->polls_grammar)
        q->polls_grammar = wend_grammar_new();
    if (!q->polls || !q->polls_grammar)
        return false;
    WendTerminalEntry *e = wend_cst_terminal(q->polls, c->shape.w, c->shape.n, c->slots.w, c->slots.n);
    if (!e || !wend_grammar_append(q->polls_grammar, e->number, 1))
        return false;
    q->polls_since++;
    return true;
}

static bool append_main(Call *c, Sequence *q, bool timed)
{
    WendTerminalEntry *e = wend_cst_call(q->main, c->shape.w, c->shape.n, c->slots.w, c->slots.n);
    if (!e)
        return false;
    c->outcome.w[0] = (int64_t)q->polls_since;
    c->outcome.w[1] = c->rc;
    bool told = wend_cst_outcome(q->main, e->shape, c->outcome.w, c->outcome.n);
    if (!told || !wend_grammar_append(q->main_grammar, e->number, 1)) {
        if (told)
            wend_cst_outcome_undo(q->main, e->shape);
        wend_cst_call_undo(q->main, e);
        return false;
    }
    q->polls_since = 0;
    if (timed) {
        /* Counters of two sockets may differ by a little: time never runs backwards. */
        double tick = state()->seconds_per_tick;
        if (__builtin_expect(c->stop != 0, 1)) /* see call_stop_untimed */
            wend_stat_add(&e->times->duration,
                          c->stop > c->start ? (double)(c->stop - c->start) * tick : 0.0);
        if (q->last_stop)
            wend_stat_add(&e->times->interval, c->start > q->last_stop ? (double)(c->start - q->last_stop) * tick : 0.0);
    }
    return true;
}

static inline void sequence_lock(Sequence *q)
{
    if (__builtin_expect(q->callback, 0))
        pthread_mutex_lock(&q->lock);
}

static inline void sequence_unlock(Sequence *q)
{
    if (__builtin_expect(q->callback, 0))
        pthread_mutex_unlock(&q->lock);
}

bool call_append(Call *c)
{
    bool ok = append_main(c, c->sequence, false);
    c->sequence->calls += ok;
    return ok;
}

/* While recording is off, what makes, ends or changes an object goes on being recorded, so that readers know it when recording is on again
 * and a proxy has it. handles.c and requests.c mark their calls; these they do not see. */
static bool is_kept(const Call *c)
{
    switch (c->function) {
    case WEND_FN_MPI_Init: case WEND_FN_MPI_Init_thread: case WEND_FN_MPI_Finalize:
    case WEND_FN_MPI_T_init_thread: case WEND_FN_MPI_T_finalize:
    case WEND_FN_MPI_Type_commit:
    case WEND_FN_MPI_Info_set: case WEND_FN_MPI_Info_delete:
    case WEND_FN_MPI_Comm_set_attr: case WEND_FN_MPI_Comm_delete_attr: case WEND_FN_MPI_Attr_put: case WEND_FN_MPI_Attr_delete:
    case WEND_FN_MPI_Type_set_attr: case WEND_FN_MPI_Type_delete_attr:
    case WEND_FN_MPI_Win_set_attr: case WEND_FN_MPI_Win_delete_attr:
    case WEND_FN_MPI_Comm_set_errhandler: case WEND_FN_MPI_Errhandler_set: case WEND_FN_MPI_Win_set_errhandler:
    case WEND_FN_MPI_File_set_errhandler: case WEND_FN_MPI_Session_set_errhandler:
    case WEND_FN_MPI_Add_error_class: case WEND_FN_MPI_Add_error_code: case WEND_FN_MPI_Add_error_string:
    case WEND_FN_MPI_Alloc_mem: case WEND_FN_MPI_Free_mem:
    case WEND_FN_MPI_Win_attach: case WEND_FN_MPI_Win_detach:
    case WEND_FN_MPI_Buffer_attach: case WEND_FN_MPI_Buffer_attach_c: case WEND_FN_MPI_Buffer_detach: case WEND_FN_MPI_Buffer_detach_c:
    case WEND_FN_MPI_File_set_view:
    case WEND_FN_wend_start: case WEND_FN_wend_join:
    case WEND_FN_wend_device: case WEND_FN_wend_managed: case WEND_FN_wend_pinned:
        return true;
    default:
        return c->kept;
    }
}

/* With the sequence locked. TIMED: no pseudo-call. */
static void append(Call *c, bool timed)
{
    State *s = state();
    Sequence *q = c->sequence;
    c->shape.w[0] |= c->failed;
    if (__builtin_expect(c->nulls != 0, 0))
        put_shape(c, c->nulls);
    if (atomic_load_explicit(&s->active, memory_order_relaxed)) {
        bool poll = c->found_nothing && !c->failed, ok = true;
        if (atomic_load_explicit(&s->recording, memory_order_relaxed)) {
            if (__builtin_expect(q->stashed != NULL, 0))
                ok = requests_unstash(q);
            ok = ok && (poll ? append_poll(c, q) : append_main(c, q, timed));
            q->calls += ok && timed && !poll;
        } else if (!poll && is_kept(c)) {
            ok = append_main(c, q, timed);
            q->calls += ok && timed;
        } else if (c->made) {
            request_stash(c);
        }
        if (!ok)
            state_break("out of memory");
    }
    if (timed)
        q->last_stop = c->stop;
}

static void append_pending_frees(Thread *t);

static inline void leave(Call *c)
{
    Thread *t = c->thread;
    c->ended++;
    t->inside = false;
    if (__builtin_expect(t->frees.n > 0, 0))
        append_pending_frees(t);
    errno = c->saved_errno;
}

void call_end(Call *c)
{
    sequence_lock(c->sequence);
    recorder_enter(c->thread);
    append(c, true);
    recorder_leave(c->thread);
    sequence_unlock(c->sequence);
    leave(c);
}

void call_end_new_request(Call *c, MPI_Request *variable, const struct RequestFacts *facts)
{
    sequence_lock(c->sequence);
    recorder_enter(c->thread);
    if (call_ok(c))
        put_shape(c, request_made(c, variable, facts));
    append(c, true);
    recorder_leave(c->thread);
    sequence_unlock(c->sequence);
    leave(c);
}

void call_forget(Call *c)
{
    leave(c);
}

static void append_pseudo(int function, const int64_t *shape, size_t n_shape, const int64_t *slots, size_t n_slots, const int64_t *outcome, size_t n_outcome)
{
    State *s = state();
    if (!atomic_load_explicit(&s->active, memory_order_relaxed))
        return;
    int saved = errno;
    Thread *t = thread_self();
    if (!t)
        return;
    /* A pseudo-call may come while a call is being put together: it uses none of that call's words. */
    int64_t shape_words[8] = {WEND_SHAPE_HEAD(function, false)}, outcome_words[8];
    Call c = {
        .thread = t,
        .sequence = t->sequence,
        .function = function,
        .shape = {shape_words, 1, 8},
        .slots = {(int64_t *)slots, n_slots, n_slots},
        .outcome = {outcome_words, 2, 8},
    };
    for (size_t i = 0; i < n_shape && c.shape.n < c.shape.cap; i++)
        shape_words[c.shape.n++] = shape[i];
    for (size_t i = 0; i < n_outcome && c.outcome.n < c.outcome.cap; i++)
        outcome_words[c.outcome.n++] = outcome[i];
    sequence_lock(c.sequence);
    recorder_enter(t);
    append(&c, false);
    recorder_leave(t);
    sequence_unlock(c.sequence);
    errno = saved;
}

void call_pseudo(int function, const int64_t *shape, size_t n_shape, const int64_t *outcome, size_t n_outcome)
{
    append_pseudo(function, shape, n_shape, NULL, 0, outcome, n_outcome);
}

/* -- memory that MPI used -- */

int64_t thread_number(void)
{
    return wend_thread ? (int64_t)wend_thread->number : -1;
}

static void append_free(int64_t segment)
{
    call_pseudo(WEND_FN_wend_free, &segment, 1, NULL, 0);
}

static void append_pending_frees(Thread *t)
{
    size_t n = t->frees.n;
    t->frees.n = 0;
    for (size_t i = 0; i < n; i++)
        append_free(t->frees.w[i]);
}

/* A free from inside MPI comes after the call that it happened in: that call's words are complete, and its place in the sequence too. */
void memory_freed_used_segment(int64_t segment)
{
    int saved = errno;
    if (atomic_load_explicit(&state()->active, memory_order_relaxed)) {
        Thread *t = thread_self();
        if (t && t->inside)
            words_put(&t->frees, segment);
        else if (t)
            append_free(segment);
    }
    errno = saved;
}

void memory_named_cuda_segment(int64_t segment, enum memory_place place, int device)
{
    static const int functions[] = {WEND_FN_wend_device, WEND_FN_wend_managed, WEND_FN_wend_pinned};
    append_pseudo(functions[place], &segment, 1, (int64_t[]){device}, 1, NULL, 0);
}
