/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c: see turns.h. */
#include "turns.h"

#include <limits.h>
#include <sched.h>
#include <string.h>

#include "lib/base/budget.h"
#include "lib/record/functions.h"
#include "process/futex.h"
#include "recorder/sequence.h"

#define SECOND INT64_C(1000000000)
/* A turn takes microseconds. A thread that holds one for this long will hold it for ever: an error
 * handler of the application left MPI by longjmp, for example. */
#define TURN_LIMIT (10 * SECOND)

enum { FIRST_PAIRS = 16, MOST_PAIRS = 128 };

/* What a thread has used. */
typedef struct {
    int peer, tag;
    uint32_t thread;
    bool used;
} PeerTag;

/* What a thread has done before the order was recorded. */
typedef struct {
    uint64_t
        calls; /* those of the thread when it took its first turn here, and 1; 0: none so far */
    uint64_t turns;
} Share;

typedef struct ThreadTurns {
    _Atomic uint32_t lock; /* 0: free, 1: held, 2: held and waited for */
    const Thread *_Atomic owner;
    enum sequence_kind kind;
    CallSequence *log; /* the recorded order; NULL: no threads have overlapped so far */
    int64_t word;
    Share *shares; /* by thread number */
    uint32_t n_shares;
    PeerTag *pairs; /* open addressing; freed when the order is recorded */
    size_t n_pairs, in_pairs;
    PeerTag last;
} ThreadTurns;

struct CommOrder {
    int64_t word;
    ThreadTurns of[TURN_DIRECTIONS];
    CommOrder *next;
};

enum { CHAINS = 64 };
static CommOrder *chains[CHAINS];
static pthread_mutex_t chains_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */

/* -- the orders of a communicator -- */

static CommOrder *order_of_word(int64_t word)
{
    pthread_mutex_lock(&chains_lock);
    CommOrder **at = &chains[((uint64_t)word ^ (uint64_t)word >> 32) % CHAINS], *o = *at;
    while (o && o->word != word)
        o = o->next;
    if (!o && (o = budget_zeroed(sizeof *o))) {
        o->word = o->of[TURN_RECEIVE].word = o->of[TURN_SEND].word = word;
        o->of[TURN_RECEIVE].kind = WEND_SEQUENCE_RECEIVES;
        o->of[TURN_SEND].kind = WEND_SEQUENCE_SENDS;
        o->next = *at;
        *at = o;
    }
    pthread_mutex_unlock(&chains_lock);
    return o;
}

CommOrder *comm_order(const CommMetadata *facts, MPI_Comm comm)
{
    if (!facts)
        return NULL;
    CommOrder *o = atomic_load_explicit(&facts->order, memory_order_acquire);
    if (__builtin_expect(o != NULL, 1))
        return o;
    o = order_of_word(handle_word(HANDLE_COMM, (uintptr_t)comm));
    if (!o)
        state_break("out of memory");
    atomic_store_explicit(&((CommMetadata *)(uintptr_t)facts)->order, o, memory_order_release);
    return o;
}

CommOrder *comm_order_of_persistent(const CommMetadata *facts, MPI_Comm comm)
{
    bool some = atomic_load_explicit(&state()->multiple, memory_order_relaxed) || turns_on();
    return some ? comm_order(facts, comm) : NULL;
}

/* -- the lock -- */

/* From here on threads take no turns. */
static void give_up(void)
{
    if (atomic_exchange(&state()->ordered, false))
        state_say("a thread has not come back from MPI for %d s: the order of threads is not "
                  "recorded from here on",
                  (int)(TURN_LIMIT / SECOND));
}

/* False: its owner does not give it back. */
static bool lock_slowly(ThreadTurns *o, const Thread *self)
{
    if (atomic_load_explicit(&o->owner, memory_order_relaxed) == self)
        return true; /* this thread left a turn by longjmp */
    int64_t end = (int64_t)clock_nanoseconds() + TURN_LIMIT;
    while (atomic_exchange_explicit(&o->lock, 2, memory_order_acquire) != 0) {
        if ((int64_t)clock_nanoseconds() > end || !turns_on()) {
            give_up();
            return false;
        }
        futex_wait(&o->lock, 2, SECOND);
    }
    return true;
}

static bool lock(ThreadTurns *o, const Thread *self)
{
    uint32_t unheld = 0;
    if (!atomic_compare_exchange_strong_explicit(&o->lock, &unheld, 1, memory_order_acquire,
                                                 memory_order_relaxed)
        && !lock_slowly(o, self))
        return false;
    atomic_store_explicit(&o->owner, self, memory_order_relaxed);
    return true;
}

static void unlock(ThreadTurns *o)
{
    atomic_store_explicit(&o->owner, NULL, memory_order_relaxed);
    if (atomic_exchange_explicit(&o->lock, 0, memory_order_release) == 2)
        futex_wake_one(&o->lock);
}

/* -- overlapping -- */

static bool overlap(const PeerTag *a, const PeerTag *b)
{
    return a->thread != b->thread
           && (a->peer == b->peer || a->peer == MPI_ANY_SOURCE || b->peer == MPI_ANY_SOURCE)
           && (a->tag == b->tag || a->tag == MPI_ANY_TAG || b->tag == MPI_ANY_TAG);
}

static PeerTag *pair_place(PeerTag *pairs, size_t n, const PeerTag *p)
{
    uint64_t both = (uint64_t)(uint32_t)p->peer << 32 | (uint32_t)p->tag;
    size_t i = (size_t)((both * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (n - 1);
    while (pairs[i].used
           && (pairs[i].peer != p->peer || pairs[i].tag != p->tag || pairs[i].thread != p->thread))
        i = (i + 1) & (n - 1);
    return &pairs[i];
}

static bool pairs_grow(ThreadTurns *o)
{
    size_t n = o->n_pairs ? 2 * o->n_pairs : FIRST_PAIRS;
    PeerTag *grown = n <= 2 * MOST_PAIRS ? budget_zeroed(n * sizeof *grown) : NULL;
    if (!grown)
        return false;
    for (size_t i = 0; i < o->n_pairs; i++)
        if (o->pairs[i].used)
            *pair_place(grown, n, &o->pairs[i]) = o->pairs[i];
    budget_free(o->pairs, o->n_pairs * sizeof *o->pairs);
    o->pairs = grown;
    o->n_pairs = n;
    return true;
}

/* Whether a thread other than P's has used something that overlaps with P. There is room for some
 * pairs; after that everything counts as overlapping. */
static bool overlaps(ThreadTurns *o, const PeerTag *p)
{
    const PeerTag *l = &o->last;
    if (l->used && l->peer == p->peer && l->tag == p->tag && l->thread == p->thread)
        return false;
    if (o->in_pairs >= o->n_pairs / 2 && !pairs_grow(o))
        return true;
    PeerTag *at = pair_place(o->pairs, o->n_pairs, p);
    if (!at->used) {
        for (size_t i = 0; i < o->n_pairs; i++)
            if (o->pairs[i].used && overlap(&o->pairs[i], p))
                return true;
        *at = *p;
        o->in_pairs++;
    }
    o->last = *p;
    return false;
}

/* -- recording -- */

static Share *share_of(ThreadTurns *o, uint32_t thread)
{
    if (thread >= o->n_shares) {
        uint32_t n = o->n_shares ? o->n_shares : 8;
        while (n <= thread)
            n *= 2;
        Share *grown = budget_resize(o->shares, o->n_shares * sizeof *grown, n * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + o->n_shares, 0, (n - o->n_shares) * sizeof *grown);
        o->shares = grown;
        o->n_shares = n;
    }
    return &o->shares[thread];
}

/* Appends that THREAD took TURNS turns. CALLS: see Share; 0: it is in the order already. */
static bool append(ThreadTurns *o, Thread *self, uint32_t thread, uint64_t calls, uint64_t turns)
{
    int64_t shape = WEND_SHAPE_HEAD(WEND_FN_wend_turn, false);
    int64_t outcome[] = {0, 0, thread, (int64_t)calls, (int64_t)turns};
    ActiveCall entry = {.thread = self,
                        .sequence = o->log,
                        .function = WEND_FN_wend_turn,
                        .shape = {&shape, 1, 1},
                        .outcome = {outcome, 5, 5}};
    recorder_enter(self);
    bool ok = sequence_append(&entry, false);
    recorder_leave(self);
    return ok;
}

/* Records the order from here on. What was before is in no order, because nothing overlapped. An
 * entry without turns stands between the two. */
static bool begin_log(ThreadTurns *o, Thread *self)
{
    budget_free(o->pairs, o->n_pairs * sizeof *o->pairs);
    o->pairs = NULL;
    o->log = sequence_of_order(o->kind, o->word);
    bool ok = o->log != NULL;
    for (uint32_t i = 0; ok && i < o->n_shares; i++)
        ok = o->shares[i].turns == 0 || append(o, self, i, o->shares[i].calls, o->shares[i].turns);
    return ok && append(o, self, self->number, 0, 0);
}

static bool count(const Turn *t)
{
    ThreadTurns *o = t->order;
    Thread *self = t->call->thread;
    Share *s = share_of(o, self->number);
    if (!s)
        return false;
    uint64_t first = s->calls ? 0 : t->call->sequence->calls + 1;
    if (first)
        s->calls = first;
    if (o->log)
        return append(o, self, self->number, first, 1);
    PeerTag p = {t->peer, t->tag, self->number, true};
    if (!overlaps(o, &p)) {
        s->turns++;
        return true;
    }
    /* A thread that overlaps with its first turn has a share without turns. */
    return begin_log(o, self) && append(o, self, self->number, s->turns ? 0 : s->calls, 1);
}

static void count_turn(const Turn *t)
{
    const State *s = state();
    if (!atomic_load_explicit(&s->multiple, memory_order_relaxed)
        || !atomic_load_explicit(&s->threaded, memory_order_relaxed)
        || !atomic_load_explicit(&s->recording, memory_order_relaxed))
        return;
    int saved = errno;
    if (!count(t))
        state_break("out of memory");
    errno = saved;
}

/* -- turns -- */

Turn turn_take(ActiveCall *c, CommOrder *order, TurnDirection direction, int peer, int tag)
{
    Turn t = {.call = c, .peer = peer, .tag = tag};
    const ReplayHooks *replay = state()->replay;
    if (!order || peer == MPI_PROC_NULL || c->sequence->callback
        || (c->recorded && c->recorded->found_nothing))
        return t;
    if (c->recorded)
        t.replayed = replay->turn_take && replay->turn_take(c, &t.place);
    else
        t.locked = lock(&order->of[direction], c->thread);
    if (t.replayed || t.locked)
        t.order = &order->of[direction];
    return t;
}

void turn_give(Turn *t)
{
    if (!t->order)
        return;
    if (t->locked || (t->locked = lock(t->order, t->call->thread))) {
        count_turn(t);
        unlock(t->order);
    }
    if (t->replayed)
        state()->replay->turn_give(&t->place);
    t->order = NULL;
}

void turn_drop(Turn *t)
{
    if (!t->order)
        return;
    if (t->locked)
        unlock(t->order);
    if (t->replayed)
        state()->replay->turn_give(&t->place);
    t->order = NULL;
}

/* -- functions of MPI that wait or make several messages, in turns -- */

int turn_wait(int rc, MPI_Request *request, MPI_Status *status)
{
    return rc == MPI_SUCCESS ? PMPI_Wait(request, status) : rc;
}

static void take_back(MPI_Request *request)
{
    PMPI_Cancel(request);
    PMPI_Request_free(request);
}

int turn_wait_both(int received, int sent, MPI_Request requests[2], MPI_Status *status)
{
    if (received != MPI_SUCCESS || sent != MPI_SUCCESS) {
        if (received == MPI_SUCCESS)
            take_back(&requests[0]);
        if (sent == MPI_SUCCESS)
            PMPI_Request_free(&requests[1]);
        return received != MPI_SUCCESS ? received : sent;
    }
    sent = PMPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    received = PMPI_Wait(&requests[0], status);
    return sent != MPI_SUCCESS ? sent : received;
}

/* -- probes -- */

/* A probe counts when it finds its message. Until then others take their turns. In a replay its
 * turn has come, and it may wait in MPI. */

int turn_probe(ActiveCall *c, CommOrder *order, int source, int tag, MPI_Comm comm,
               MPI_Status *status)
{
    for (;;) {
        int found = 0;
        TURN turn = turn_take(c, order, TURN_RECEIVE, source, tag);
        int rc = turn.replayed || !turn.order ? PMPI_Probe(source, tag, comm, status)
                                              : PMPI_Iprobe(source, tag, comm, &found, status);
        if (turn.replayed || !turn.order || found || rc != MPI_SUCCESS) {
            turn_give(&turn);
            return rc;
        }
        turn_drop(&turn);
        sched_yield();
    }
}

int turn_mprobe(ActiveCall *c, CommOrder *order, int source, int tag, MPI_Comm comm,
                MPI_Message *message, MPI_Status *status)
{
    for (;;) {
        int found = 0;
        TURN turn = turn_take(c, order, TURN_RECEIVE, source, tag);
        int rc = turn.replayed || !turn.order
                     ? PMPI_Mprobe(source, tag, comm, message, status)
                     : PMPI_Improbe(source, tag, comm, &found, message, status);
        if (turn.replayed || !turn.order || found || rc != MPI_SUCCESS) {
            turn_give(&turn);
            return rc;
        }
        turn_drop(&turn);
        sched_yield();
    }
}

/* -- persistent requests -- */

Turn turn_take_start(ActiveCall *c, size_t i)
{
    const struct RequestMetadata *m = i < c->n_requests ? request_metadata(c->requests[i]) : NULL;
    if (!m || !m->order || (m->type != REQUEST_RECV && m->type != REQUEST_SEND))
        return (Turn){.order = NULL};
    return turn_take(c, m->order, m->type == REQUEST_RECV ? TURN_RECEIVE : TURN_SEND, m->source,
                     m->tag);
}

int turn_start(ActiveCall *c, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;
    if (count <= 0 || !requests || (size_t)count != c->n_requests)
        return PMPI_Startall(count, requests);
    for (int i = 0; i < count; i++) {
        TURN turn = turn_take_start(c, (size_t)i);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Start(&requests[i]);
        turn_give(&turn);
    }
    return rc;
}

/* -- MPI_Sendrecv_replace -- */

/* A copy of the message as bytes. NULL: there is no memory, or it is too long for them. */
static void *packed(const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                    int *size, int *position)
{
    if (count < 0 || count > INT_MAX
        || PMPI_Pack_size((int)count, datatype, comm, size) != MPI_SUCCESS)
        return NULL;
    void *copy = budget_resize(NULL, 0, (size_t)*size + 1);
    *position = 0;
    if (copy && PMPI_Pack(buf, (int)count, datatype, copy, *size, position, comm) == MPI_SUCCESS)
        return copy;
    budget_free(copy, copy ? (size_t)*size + 1 : 0);
    return NULL;
}

bool turn_sendrecv_replace(ActiveCall *c, CommOrder *order, void *buf, MPI_Count count,
                           MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                           int post_source, int post_tag, MPI_Comm comm, MPI_Status *status,
                           int *rc)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int size = 0, position = 0;
    void *copy = packed(buf, count, datatype, comm, &size, &position);
    int received = MPI_ERR_OTHER, sent = MPI_ERR_OTHER;
    {
        TURN turn = turn_take(c, order, TURN_RECEIVE, source, recvtag);
        if (copy)
            received =
                PMPI_Irecv(buf, (int)count, datatype, post_source, post_tag, comm, &requests[0]);
        turn_give(&turn);
    }
    {
        TURN turn = turn_take(c, order, TURN_SEND, dest, sendtag);
        if (copy && received == MPI_SUCCESS)
            sent = PMPI_Isend(copy, position, MPI_PACKED, dest, sendtag, comm, &requests[1]);
        turn_give(&turn);
    }
    if (!copy)
        return false;
    *rc = turn_wait_both(received, sent, requests, status);
    budget_free(copy, (size_t)size + 1);
    return true;
}
