/* SPDX-License-Identifier: BSD-3-Clause */
/* epochs.c: windows, the order of their epochs, and the turns of accumulating operations. */
#include <string.h>

#include "lib/base/budget.h"
#include "objects/objects.h"
#include "onesided-private.h"
#include "own.gen.h"
#include "process/settings.h"
#include "replay/replay.h"

_Atomic bool onesided_active;
bool onesided_recording, onesided_replaying;

/* More results of a thread than this do not wait for the program's synchronization. */
enum { MOST_PENDING = 4096 };

/* -- life -- */

void onesided_open(void)
{
    onesided_recording = settings()->values && !state()->unwritten;
    /* Others wait for the epochs of a rank of which nothing was saved. */
    onesided_replaying = replay_has_values();
    atomic_store(&onesided_active, onesided_recording || onesided_replaying);
}

void onesided_start(void)
{
    if (onesided_on() && onesided_recording)
        side_stream_open();
}

void onesided_stop(void)
{
    atomic_store(&onesided_active, false);
}

SideStream *onesided_stream(WendSideKindNumber kind)
{
    SideStream *s = side_stream(kind);
    return s && side_stream_enter(s) ? s : NULL;
}

/* -- windows -- */

enum { CHAINS = 64 };
static OneSidedWindow *chains[CHAINS];
static pthread_mutex_t chains_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */

static OneSidedWindow **chain_of(uintptr_t value)
{
    return &chains[(value ^ value >> 6 ^ value >> 12) % CHAINS];
}

static OneSidedWindow *window_of(MPI_Win win)
{
    uintptr_t value = (uintptr_t)win;
    bool locked = state_lock(&chains_lock);
    OneSidedWindow *w = *chain_of(value);
    while (w && w->value != value)
        w = w->next;
    state_unlock(&chains_lock, locked);
    return w;
}

struct WindowFile *onesided_announce(MPI_Comm comm)
{
    return onesided_on() ? window_file_new(comm) : NULL;
}

void onesided_window_made(struct WindowFile *file, MPI_Comm comm, int rc, const MPI_Win *win)
{
    if (!onesided_on())
        return;
    OneSidedWindow *w = rc == MPI_SUCCESS && win ? budget_zeroed(sizeof *w) : NULL;
    const CommMetadata *facts = w ? comm_metadata(comm) : NULL;
    if (!facts) {
        window_file_free(file);
        budget_free(w, w ? sizeof *w : 0);
        return;
    }
    *w = (OneSidedWindow){.value = (uintptr_t)*win,
                          .win = *win,
                          .size = facts->size,
                          .file = file,
                          .order = window_file_join(file)};
    pthread_mutex_init(&w->lock, NULL);
    bool locked = state_lock(&chains_lock);
    OneSidedWindow **chain = chain_of(w->value);
    w->next = *chain;
    *chain = w;
    state_unlock(&chains_lock, locked);
}

struct WindowFile *onesided_window_ends(const MPI_Win *win)
{
    OneSidedWindow *w = onesided_on() && win ? window_of(*win) : NULL;
    if (!w)
        return NULL;
    bool locked = state_lock(&chains_lock);
    OneSidedWindow **at = chain_of(w->value);
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    state_unlock(&chains_lock, locked);
    onesided_results_drop(w);
    for (HeldLock *h = w->held, *next; h; h = next) {
        next = h->next;
        budget_free(h, sizeof *h);
    }
    struct WindowFile *file = w->file;
    pthread_mutex_destroy(&w->lock);
    budget_free(w, sizeof *w);
    return file;
}

void onesided_window_ended(struct WindowFile *file)
{
    window_file_free(file);
}

/* The order of W, if it is to be followed. */
static WindowOrder *order_of(OneSidedWindow *w)
{
    if (w->order && onesided_replaying && !replay_enforces(this_thread->sequence))
        window_order_give_up(w->order); /* what others wait for may never come */
    return w->order;
}

/* -- the order of locks: where each is, by its number among the locks of its thread -- */

typedef struct {
    uint64_t ordinal, exclusive, shared;
    unsigned type;
} LockPlace;

/* A lock is recorded when it ends. So those that end earlier and began later are read before it. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
    uint64_t begun; /* locks of this thread */
    LockPlace *ahead;
    size_t n, cap;
} locks;

enum { MOST_AHEAD = 1 << 16 };

static bool keep_ahead(const LockPlace *place)
{
    if (locks.n == locks.cap) {
        size_t cap = locks.cap ? 2 * locks.cap : 16;
        LockPlace *grown =
            locks.cap < MOST_AHEAD
                ? budget_resize(locks.ahead, locks.cap * sizeof *grown, cap * sizeof *grown)
                : NULL;
        if (!grown)
            return false;
        locks.ahead = grown;
        locks.cap = cap;
    }
    locks.ahead[locks.n++] = *place;
    return true;
}

static bool take_ahead(uint64_t ordinal, LockPlace *place)
{
    for (size_t i = 0; i < locks.n; i++) {
        if (locks.ahead[i].ordinal != ordinal)
            continue;
        *place = locks.ahead[i];
        locks.ahead[i] = locks.ahead[--locks.n];
        return true;
    }
    return false;
}

/* The recorded place of the thread's lock ORDINAL. False: there is none. */
static bool recorded_place(SideStream *s, uint64_t ordinal, LockPlace *place)
{
    const WendSideElement *e;
    bool found = take_ahead(ordinal, place);
    while (!found && (e = side_stream_next(s))) {
        *place = (LockPlace){(uint64_t)e->numbers[WEND_LOCK_ORDINAL],
                             (uint64_t)e->numbers[WEND_LOCK_AFTER_EXCLUSIVE],
                             (uint64_t)e->numbers[WEND_LOCK_AFTER_SHARED], e->sub};
        s->due = NULL;
        found = place->ordinal == ordinal;
        if (!found && !keep_ahead(place))
            return false;
    }
    return found;
}

typedef struct {
    LockPlace place;
    int target;
} LockWait;

static bool lock_has_come(const WindowOrder *o, const void *wait)
{
    const LockWait *w = wait;
    if (w->place.type == WEND_LOCK_ALL)
        return atomic_load(&o->exclusive) >= w->place.exclusive;
    const TargetOrder *t = &o->targets[w->target];
    return atomic_load(&t->exclusive) >= w->place.exclusive
           && (w->place.type == WEND_LOCK_SHARED
               || atomic_load(&t->shared) + atomic_load(&o->all) >= w->place.shared);
}

static bool is_target(const OneSidedWindow *w, int target)
{
    return target == ONESIDED_ALL || (target >= 0 && target < w->size);
}

static unsigned type_of(int target, bool exclusive)
{
    return target == ONESIDED_ALL ? WEND_LOCK_ALL
           : exclusive            ? WEND_LOCK_EXCLUSIVE
                                  : WEND_LOCK_SHARED;
}

void onesided_lock(ActiveCall *c, MPI_Win win, int target, bool exclusive)
{
    OneSidedWindow *w = onesided_on() ? window_of(win) : NULL;
    if (!w || !onesided_replaying || !is_target(w, target) || c->sequence->callback)
        return;
    LockWait wait = {.target = target};
    SideStream *s = onesided_stream(WEND_SIDE_LOCKS);
    bool found = s && recorded_place(s, locks.begun, &wait.place)
                 && wait.place.type == type_of(target, exclusive);
    if (s)
        side_stream_leave(s);
    WindowOrder *o = order_of(w);
    if (o && found)
        window_order_wait(o, lock_has_come, &wait);
    else if (o)
        window_order_give_up(o); /* a lock out of its place may keep others from theirs */
}

void onesided_locked(MPI_Win win, int target, bool exclusive, int rc)
{
    OneSidedWindow *w = onesided_on() ? window_of(win) : NULL;
    if (!w || !is_target(w, target))
        return;
    bool nested = this_thread->sequence->callback;
    uint64_t ordinal = nested ? 0 : locks.begun++;
    HeldLock *h = rc == MPI_SUCCESS ? budget_zeroed(sizeof *h) : NULL;
    if (!h)
        return;
    *h = (HeldLock){.target = target,
                    .exclusive = exclusive,
                    .nested = nested,
                    .thread = this_thread->number,
                    .ordinal = ordinal};
    pthread_mutex_lock(&w->lock);
    h->next = w->held;
    w->held = h;
    pthread_mutex_unlock(&w->lock);
}

/* Takes the lock out of those that are held. The caller frees it. NULL: it is not held. */
static HeldLock *release(OneSidedWindow *w, int target)
{
    pthread_mutex_lock(&w->lock);
    HeldLock **at = &w->held, *h;
    while ((h = *at) && h->target != target)
        at = &h->next;
    if (h)
        *at = h->next;
    pthread_mutex_unlock(&w->lock);
    return h;
}

/* Counts the epoch, which is still held. What is read here was before it. */
static void count_epoch(WindowOrder *o, const HeldLock *h, int64_t *numbers)
{
    TargetOrder *t = h->target == ONESIDED_ALL ? NULL : &o->targets[h->target];
    numbers[WEND_LOCK_ORDINAL] = (int64_t)h->ordinal;
    numbers[WEND_LOCK_AFTER_SHARED] = 0;
    if (!t) {
        numbers[WEND_LOCK_AFTER_EXCLUSIVE] = (int64_t)atomic_load(&o->exclusive);
        atomic_fetch_add(&o->all, 1);
    } else if (h->exclusive) {
        numbers[WEND_LOCK_AFTER_SHARED] = (int64_t)(atomic_load(&t->shared) + atomic_load(&o->all));
        numbers[WEND_LOCK_AFTER_EXCLUSIVE] = (int64_t)atomic_fetch_add(&t->exclusive, 1);
        atomic_fetch_add(&o->exclusive, 1);
    } else {
        numbers[WEND_LOCK_AFTER_EXCLUSIVE] = (int64_t)atomic_load(&t->exclusive);
        atomic_fetch_add(&t->shared, 1);
    }
    window_order_wake(o);
}

void onesided_unlock(MPI_Win win, int target)
{
    OneSidedWindow *w = onesided_on() ? window_of(win) : NULL;
    HeldLock *h = w ? release(w, target) : NULL;
    if (!h)
        return;
    WindowOrder *o = order_of(w);
    if (o
        && (target == ONESIDED_ALL ? PMPI_Win_flush_all(win) : PMPI_Win_flush(target, win))
               == MPI_SUCCESS) {
        int64_t numbers[WEND_LOCK_NUMBERS];
        count_epoch(o, h, numbers);
        bool own = !h->nested && h->thread == this_thread->number && onesided_recording
                   && !this_thread->sequence->callback && !atomic_load(&o->given_up);
        SideStream *s = own ? onesided_stream(WEND_SIDE_LOCKS) : NULL;
        if (s) {
            side_stream_append(s, 0, type_of(target, h->exclusive), numbers, sizeof numbers);
            side_stream_leave(s);
        }
    }
    budget_free(h, sizeof *h);
}

void onesided_synchronized(MPI_Win win, int target, int rc)
{
    OneSidedWindow *w = onesided_on() && rc == MPI_SUCCESS ? window_of(win) : NULL;
    if (w)
        onesided_results_take(w, target, false);
}

/* -- operations -- */

typedef enum { NO_LOCK, LOCK_SHARED, LOCK_EXCLUSIVE } Access;

static Access access_to(OneSidedWindow *w, int target)
{
    Access access = NO_LOCK;
    pthread_mutex_lock(&w->lock);
    for (const HeldLock *h = w->held; h && access == NO_LOCK; h = h->next)
        if (h->target == target || h->target == ONESIDED_ALL)
            access = h->exclusive ? LOCK_EXCLUSIVE : LOCK_SHARED;
    pthread_mutex_unlock(&w->lock);
    return access;
}

typedef struct {
    int target;
    uint64_t number;
} TurnWait;

static bool turn_has_come(const WindowOrder *o, const void *wait)
{
    const TurnWait *w = wait;
    return atomic_load(&o->targets[w->target].turns) >= w->number;
}

/* Takes the recorded turn, and waits for it if there is an order. False: there is none. */
static bool take_recorded_turn(WindowOrder *o, int target)
{
    SideStream *s = onesided_stream(WEND_SIDE_RESULTS);
    const WendSideElement *e = s ? side_stream_next(s) : NULL;
    bool found = e && e->code == WEND_RESULT_TURN;
    TurnWait wait = {target, found ? (uint64_t)e->numbers[0] : 0};
    if (found)
        s->due = NULL;
    if (s)
        side_stream_leave(s);
    return found && o && window_order_wait(o, turn_has_come, &wait);
}

OneSided onesided_enter(ActiveCall *c, MPI_Win win, int target, bool accumulates)
{
    OneSided a = {.window = window_of(win), .win = win, .target = target};
    if (!a.window || target < 0 || target >= a.window->size) {
        a.window = NULL;
        return a;
    }
    a.at_once = accumulates && !c->sequence->callback && access_to(a.window, target) == LOCK_SHARED;
    if (!a.at_once)
        return a;
    WindowOrder *o = order_of(a.window);
    bool waited = onesided_replaying && take_recorded_turn(o, target);
    a.locked = o && !waited && window_order_lock(o, &o->targets[target]);
    a.turn = waited || a.locked;
    return a;
}

static void give_turn(OneSided *a)
{
    WindowOrder *o = a->window->order;
    int64_t number = (int64_t)atomic_fetch_add(&o->targets[a->target].turns, 1);
    if (a->locked)
        window_order_unlock(&o->targets[a->target]);
    a->turn = a->locked = false;
    window_order_wake(o);
    SideStream *s = onesided_recording ? onesided_stream(WEND_SIDE_RESULTS) : NULL;
    if (s) {
        side_stream_append(s, WEND_RESULT_TURN, 0, &number, sizeof number);
        side_stream_leave(s);
    }
}

/* Completes what the thread has put aside, if it is much. */
static void limit_pending(OneSidedWindow *w)
{
    if (onesided_results_pending(w) < MOST_PENDING)
        return;
    while (onesided_results_pending(w) > 0) {
        int target = onesided_results_oldest(w);
        if (PMPI_Win_flush_local(target, w->win) != MPI_SUCCESS)
            return;
        onesided_results_take(w, target, true);
    }
}

/* A flush of another thread would complete what this one has put aside, and nobody knows which of
 * two flushes comes first. */
static bool others_may_flush(void)
{
    const State *s = state();
    return atomic_load(&s->multiple) && atomic_load(&s->threaded);
}

void onesided_leave(OneSided *a, int rc, void *at, MPI_Count count, MPI_Datatype type,
                    bool has_request)
{
    OneSidedWindow *w = a->window;
    if (rc != MPI_SUCCESS)
        return; /* onesided_release ends the turn, which does not count */
    bool passive = access_to(w, a->target) != NO_LOCK;
    bool now = a->at_once || (passive && (has_request || others_may_flush())), complete = false;
    PendingResult *result = onesided_result_new(a->target, at, count, type);
    if (a->at_once)
        complete = PMPI_Win_flush(a->target, a->win) == MPI_SUCCESS;
    else if (result && now)
        complete = PMPI_Win_flush_local(a->target, a->win) == MPI_SUCCESS;
    if (a->turn)
        give_turn(a);
    if (result && complete) {
        onesided_results_note(result);
    } else if (result && now) {
        onesided_result_free(result);
    } else if (result) {
        onesided_result_put_aside(w, result);
        if (passive)
            limit_pending(w);
    }
    a->window = NULL;
}

void onesided_release(OneSided *a)
{
    if (a->locked)
        window_order_unlock(&a->window->order->targets[a->target]);
    a->window = NULL;
}
