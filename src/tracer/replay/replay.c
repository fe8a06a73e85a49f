/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c: follows the recorded calls beside those that are made.
 *
 * Each sequence has a place in its recorded calls, and one in its unsuccessful polls. The first
 * word of an outcome says how many polls come before its call. Before a call its input words are
 * compared with the recorded ones; after it all of them are. */
#include "replay.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "replay-private.h"
#include "divergence.h"
#include "lib/base/budget.h"
#include "lib/base/lower-bound.h"
#include "lib/record/functions.h"
#include "order-read.h"
#include "own.gen.h"
#include "recorder/recorder.h"
#include "process/settings.h"
#include "process/launcher.h"

/* -- noise -- */

/* Delays sends and receives at random, so that messages come in another order. */

static uint64_t seed;

/* Whether the settings ask for noise. */
static bool noise_open(void)
{
    seed = (uint64_t)settings()->noise;
    return seed != 0;
}

/* A hash of four numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
static uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint64_t own_rank(void)
{
    const char *variable = launcher_rank_variable();
    return variable ? strtoull(getenv(variable), NULL, 10) : 0;
}

/* Waits before one in four calls that send, receive or complete: from 1 microsecond to 2
 * milliseconds, each order of magnitude as often. The delays follow from the seed, the rank, the
 * thread and the number of its calls. */
static void noise_delay(const ActiveCall *c)
{
    static uint64_t rank;
    static _Atomic bool known;
    static __thread uint64_t calls;
    if (!(mpi_functions[c->function].flags & (WEND_F_SEND | WEND_F_RECV | WEND_F_COMPLETES)))
        return;
    if (!known) {
        rank = own_rank();
        known = true;
    }
    uint64_t r = mix(mix(mix(seed ^ rank) ^ c->thread->number) ^ calls++);
    if (r % 4 != 0)
        return;
    long least = 1000L << (r >> 8) % 11; /* nanoseconds */
    struct timespec t = {0, least + (long)((r >> 16) % (uint64_t)least)};
    nanosleep(&t, NULL);
}

static Order order;
static bool mapped;
static MPI_Comm nowhere = MPI_COMM_NULL; /* nobody sends here */

typedef struct SequenceReplay {
    const OrderSequence *sequence; /* NULL: the recording has no such sequence */
    OrderCursor calls, polls;
    OrderStreamReader *streams; /* by shape, as sequence has them */
    OrderStreamReader answers[ORDER_POSTED_KINDS], turns;
    const OrderTerminal *next; /* the call that comes behind polls_due polls; NULL: not taken yet */
    const OrderTerminal *poll; /* the poll that comes next; NULL: not taken yet */
    uint64_t polls_due;
    uint64_t made;  /* calls so far */
    uint64_t steps; /* the same with polls */
    RecordedCall recorded;
    bool over; /* nothing is enforced any more */
} SequenceReplay;

static const int64_t no_outcome[2] = {0, 0};
static bool goes_on_at_end; /* --then=free */
static bool noisy;

/* -- the recorded calls -- */

static SequenceReplay *sequence_replay_new(const CallSequence *q)
{
    uint32_t kind = q->callback ? WEND_SEQUENCE_CALLBACK : WEND_SEQUENCE_THREAD;
    SequenceReplay *r = budget_zeroed(sizeof *r);
    if (!r)
        return NULL;
    const OrderSequence *s = r->sequence =
        order_sequence(&order, kind, q->callback ? q->function : (int64_t)q->tid);
    if (!s)
        return r;
    r->streams = budget_zeroed((s->n_streams + 1) * sizeof *r->streams);
    if (!r->streams || !order_cursor_open(&r->calls, &order, s->rule)
        || (s->polls != WEND_ORDER_NO_RULE && !order_cursor_open(&r->polls, &order, s->polls)))
        return NULL; /* recording stops, so what it has taken is of no importance */
    for (uint32_t i = 0; i < s->n_streams; i++) {
        const OrderStream *stream = &order.streams[s->first_stream + i];
        order_stream_open(&r->streams[i], order.bytes + stream->first, stream->n);
    }
    for (int k = 0; k < ORDER_POSTED_KINDS; k++)
        order_stream_open(&r->answers[k], order.bytes + s->answers[k], s->answers_bytes[k]);
    order_stream_open(&r->turns, order.bytes + s->turns, s->turns_bytes);
    return r;
}

static void sequence_replay_free(SequenceReplay *r)
{
    const OrderSequence *s = r->sequence;
    for (uint32_t i = 0; s && r->streams && i < s->n_streams; i++)
        order_stream_close(&r->streams[i]);
    if (r->streams)
        budget_free(r->streams, (s->n_streams + 1) * sizeof *r->streams);
    order_cursor_close(&r->calls);
    order_cursor_close(&r->polls);
    budget_free(r, sizeof *r);
}

/* Several threads may run a callback, and come here at once. */
static SequenceReplay *replay_of(CallSequence *q)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    SequenceReplay *r = __atomic_load_n(&q->replay, __ATOMIC_ACQUIRE);
    if (__builtin_expect(r != NULL, 1))
        return r;
    pthread_mutex_lock(&making);
    if (!q->replay)
        __atomic_store_n(&q->replay, sequence_replay_new(q), __ATOMIC_RELEASE);
    r = q->replay;
    pthread_mutex_unlock(&making);
    if (!r)
        state_break("out of memory");
    return r;
}

static OrderStreamReader *stream_of(SequenceReplay *r, uint32_t shape)
{
    const OrderStream *first = order.streams + r->sequence->first_stream;
    size_t low = LOWER_BOUND(i, r->sequence->n_streams, first[i].shape < shape);
    return low < r->sequence->n_streams && first[low].shape == shape ? &r->streams[low] : NULL;
}

/* Takes the next call with its outcome. False: there is none. */
static bool take_call(SequenceReplay *r)
{
    r->next = order_cursor_next(&r->calls);
    if (!r->next)
        return false;
    OrderStreamReader *stream = stream_of(r, r->next->shape);
    size_t n = 2;
    const int64_t *outcome = stream ? order_stream_next(stream, &n) : no_outcome;
    if (!outcome || n < 2) {
        outcome = no_outcome;
        n = 2;
    }
    r->polls_due = (uint64_t)outcome[0];
    r->recorded = (RecordedCall){.outcome = outcome, .n_outcome = n};
    return true;
}

/* The terminal that comes next, a poll or a call. NULL: the end. */
static const OrderTerminal *expected(SequenceReplay *r)
{
    if (!r->next && !r->poll && !take_call(r))
        r->polls_due = r->polls.depth ? UINT64_MAX : 0; /* polls behind the last call */
    if (r->polls_due == 0)
        return r->next;
    if (!r->poll)
        r->poll = order_cursor_next(&r->polls);
    return r->poll;
}

static void advance(SequenceReplay *r)
{
    r->steps++;
    if (r->polls_due > 0) {
        r->poll = NULL;
        r->polls_due--;
    } else {
        r->next = NULL;
        r->made++;
    }
}

/* -- comparing -- */

static int function_of(const OrderTerminal *t)
{
    return (int)(order.words[order.shapes[t->shape].first] >> 1);
}

static CallWords recorded_words(const OrderTerminal *t)
{
    const OrderShape *shape = &order.shapes[t->shape];
    return (CallWords){function_of(t), order.words + shape->first, order.words + t->first, shape->n,
                       t->n};
}

static CallWords words_of(const ActiveCall *c)
{
    return (CallWords){c->function, c->shape.w, c->slots.w, c->shape.n, c->slots.n};
}

/* Whether C has the words of T: all of them if WHOLE, else those that it has so far. */
static bool has_words(const ActiveCall *c, const OrderTerminal *t, bool whole)
{
    const OrderShape *shape = &order.shapes[t->shape];
    const int64_t *shape_words = order.words + shape->first, *slots = order.words + t->first;
    if (c->shape.n > shape->n || c->slots.n > t->n
        || (whole && (c->shape.n < shape->n || c->slots.n < t->n))
        || (c->shape.w[0] | !whole) != (shape_words[0] | !whole))
        return false;
    return memcmp(shape_words + 1, c->shape.w + 1, (c->shape.n - 1) * sizeof *shape_words) == 0
           && memcmp(slots, c->slots.w, c->slots.n * sizeof *slots) == 0;
}

/* The program was compiled for another MPI library: its memory is laid out in another way, and
 * facts of the library's objects differ. */
static bool is_foreign(void)
{
#ifdef OPEN_MPI
    return !order.head->open_mpi;
#else
    return order.head->open_mpi;
#endif
}

bool replay_is_truncation(int64_t code)
{
    return code != 0 && code == order.head->truncate;
}

bool replay_is_pending(int64_t code)
{
    return code != 0 && code == order.head->pending;
}

static bool is_same(const ActiveCall *c, const OrderTerminal *t, bool whole)
{
    if (has_words(c, t, whole))
        return true;
    CallWords recorded = recorded_words(t), made = words_of(c);
    if (recorded.function != made.function
        || (whole && ((recorded.shape[0] ^ made.shape[0]) & 1) != 0))
        return false;
    return is_foreign() ? !argument_difference(&recorded, &made, MEMORY_NOT_COMPARED).name
                        : argument_same_but_layout(&recorded, &made, whole);
}

/* C is recorded T in another layout of memory. If it is recorded again, it has the recorded
 * mappings and offsets, so that both recordings are equal. */
static void take_layout(ActiveCall *c, const OrderTerminal *t)
{
    const OrderShape *shape = &order.shapes[t->shape];
    if (is_foreign() || c->slots.n > t->n || c->shape.n > shape->n)
        return;
    memcpy(c->slots.w, order.words + t->first, c->slots.n * sizeof *c->slots.w);
    memcpy(c->shape.w + 1, order.words + shape->first + 1, (c->shape.n - 1) * sizeof *c->shape.w);
}

/* The call had not returned when the run ended. */
static bool is_unfinished(const OrderTerminal *t)
{
    const OrderShape *shape = &order.shapes[t->shape];
    return words_unfinished(order.words + shape->first, shape->n);
}

static bool same_outcome(const ActiveCall *c, const RecordedCall *r)
{
    if (is_foreign())
        return true;
    size_t n = c->outcome.n - 2;
    return (int64_t)c->rc == r->outcome[1] && c->outcome.n == r->n_outcome
           && (memcmp(c->outcome.w + 2, r->outcome + 2, n * sizeof *c->outcome.w) == 0
               || argument_same_outcome(c->function, r->outcome + 2, c->outcome.w + 2, n));
}

/* -- divergences -- */

static struct {
    enum { STOP, FREE, WARN } mode;
    void (*stop)(int status);
    _Atomic bool said; /* one line for a rank */
} on_divergence;

/* Ends the job, whether MPI runs already or not. */
static void stop_job(int status)
{
    if (!state()->world && !state()->started)
        supervise_end_job(status);
    on_divergence.stop(status);
}

/* The site of the recorded call that comes next in R, the sequence of Q. The calls up to there are
 * gone through again: nothing is kept of sites while the program follows the recording.
 * WEND_SITE_NONE: it is not known, or that would take long. */
static uint32_t recorded_site(const CallSequence *q, const SequenceReplay *r)
{
    enum { STEPS_MOST = 100000000 };
    bool has_sites = r->sequence && r->sequence->n_site_elements > 0;
    SequenceReplay *again = has_sites && r->steps < STEPS_MOST ? sequence_replay_new(q) : NULL;
    if (!again)
        return WEND_SITE_NONE;
    RecordedSites elements;
    WendSiteFollower follower;
    uint32_t site = WEND_SITE_NONE;
    recorded_sites_open(&follower, &elements, &order, r->sequence);
    for (uint64_t i = 0; i <= r->steps; i++) {
        const OrderTerminal *t = expected(again);
        bool poll = again->polls_due > 0;
        site = t ? recorded_sites_next(&follower, &order, t, poll) : WEND_SITE_NONE;
        advance(again);
    }
    site_follower_close(&follower);
    sequence_replay_free(again);
    return site;
}

static Divergence divergence_of(const ActiveCall *c, const SequenceReplay *r,
                                const OrderTerminal *t, bool whole)
{
    Divergence d = {.rank = order.head->rank,
                    .callback = c->sequence->callback,
                    .thread = c->sequence->tid,
                    .call = r->made,
                    .ends = !t,
                    .made = words_of(c)};
    if (t) {
        d.recorded = recorded_words(t);
        d.is_poll[0] = r->polls_due > 0;
        d.is_poll[1] = whole ? c->found_nothing : d.is_poll[0];
        d.outcome = whole && d.is_poll[0] == d.is_poll[1] && r->recorded.n_outcome >= 2
                    && (is_same(c, t, true) || c->failed != r->recorded.failed);
        if (d.outcome) {
            const int64_t *was = r->recorded.outcome, *is = c->outcome.w;
            d.out[0] =
                (CallOutcome){r->recorded.failed, was[1], was + 2, r->recorded.n_outcome - 2};
            d.out[1] = (CallOutcome){c->failed, c->rc, is + 2, c->outcome.n - 2};
        }
        uint32_t site = recorded_site(c->sequence, r);
        recorded_site_text(&d.from[0], &order, site);
        d.other_version = recorded_sites_is_of_other_version(&order, site, c);
    }
    recorded_sites_made_text(&d.from[1], &order, c);
    return d;
}

/* C is not the recorded call T. Returns whether the sequence goes on with the recording. */
static bool diverge(const ActiveCall *c, SequenceReplay *r, const OrderTerminal *t, bool whole)
{
    bool goes_on = on_divergence.mode == WARN && t && function_of(t) == c->function;
    if (!atomic_exchange(&on_divergence.said, true)) {
        Divergence d = divergence_of(c, r, t, whole);
        divergence_say(&d);
    }
    channels_give_up();
    if (!goes_on)
        r->over = true;
    if (on_divergence.mode == FREE)
        supervise_free();
    return goes_on;
}

/* The recording of a run that died has no more calls. */
static void at_end(const ActiveCall *c, SequenceReplay *r)
{
    CallWords words = words_of(c);
    r->over = true;
    if (!goes_on_at_end)
        supervise_end(&words);
}

static void begin(void);

static const RecordedCall *before(ActiveCall *c)
{
    if (noisy)
        noise_delay(c);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    SequenceReplay *r = replay_of(c->sequence);
    if (r) {
        CallWords words = words_of(c);
        supervise_call(c->sequence->callback ? -1 : (int64_t)c->sequence->tid, r->made, &words);
    }
    if (!r || r->over || supervise_is_free())
        return NULL;
    sequence_lock(c->sequence);
    const OrderTerminal *t = r->sequence ? expected(r) : NULL;
    sequence_unlock(c->sequence);
    /* Of a rank that was killed early nothing may be recorded. */
    if (!t && order.head->ended_early && (r->sequence || order.head->n_sequences == 0)) {
        at_end(c, r);
        return NULL;
    }
    if (t && is_same(c, t, false)) {
        take_layout(c, t);
    } else {
        if (on_divergence.mode == STOP) {
            diverge(c, r, t, false);
            stop_job(1);
        }
        if (!diverge(c, r, t, false))
            return NULL;
    }
    /* The outcome is that of the next call also while polls come before it. */
    r->recorded.found_nothing = r->polls_due > 0;
    r->recorded.failed = order.words[order.shapes[t->shape].first] & 1;
    if (__builtin_expect(order.head->ended_early, 0) && is_unfinished(t)) {
        CallWords words = words_of(c);
        supervise_unfinished(&words);
    }
    return &r->recorded;
}

static const int64_t *recorded_shape(ActiveCall *c, size_t *n)
{
    SequenceReplay *r = mapped && c->sequence ? replay_of(c->sequence) : NULL;
    if (!r || r->over || !r->sequence || supervise_is_free())
        return NULL;
    sequence_lock(c->sequence);
    const OrderTerminal *t = expected(r);
    sequence_unlock(c->sequence);
    CallWords recorded = t ? recorded_words(t) : (CallWords){.function = -1};
    *n = recorded.n_shape;
    return recorded.function == c->function ? recorded.shape : NULL;
}

static void after(ActiveCall *c)
{
    SequenceReplay *r = replay_of(c->sequence);
    if (!r || r->over || supervise_is_free())
        return;
    const OrderTerminal *t = r->sequence ? expected(r) : NULL;
    bool poll = r->polls_due > 0;
    if (t && is_unfinished(t)) {
        advance(r); /* it has now */
        supervise_returned();
        return;
    }
    if (t && poll == (c->found_nothing && !c->failed) && is_same(c, t, true)
        && (poll || same_outcome(c, &r->recorded)))
        take_layout(c, t);
    else if (!diverge(c, r, t, true))
        return;
    advance(r);
}

/* The recorder is left: what after() found may end the job. */
static void left(void)
{
    if (__builtin_expect(on_divergence.said, 0) && on_divergence.mode == STOP)
        stop_job(1);
}

/* -- what becomes of what is posted -- */

/* The answer for the next posting of KIND. NULL: it is as posted. */
static const int64_t *next_answer(const ActiveCall *c, OrderPosted kind)
{
    SequenceReplay *r = c->sequence->replay;
    size_t n = 0;
    if (c->recorded->failed || r->sequence->answers_bytes[kind] == 0)
        return NULL;
    const int64_t *answer = order_stream_next(&r->answers[kind], &n);
    return n == ORDER_ANSWER_WORDS ? answer : NULL;
}

static Posting posting(ActiveCall *c, Posting p)
{
    const int64_t *answer = next_answer(c, ORDER_RECEIVES);
    if (!answer)
        return p;
    switch (answer[ORDER_ANSWER_KIND]) {
    case ORDER_ANSWER_MATCHED:
        p.source = (int)answer[ORDER_ANSWER_SOURCE];
        p.tag = (int)answer[ORDER_ANSWER_TAG];
        break;
    case ORDER_ANSWER_NONE:
        /* A call that sends, too, has one communicator for both. */
        if (nowhere != MPI_COMM_NULL && p.comm != MPI_COMM_NULL
            && !(mpi_functions[c->function].flags & WEND_F_SEND))
            p = (Posting){0, 0, nowhere};
        break;
    }
    return p;
}

static bool unsent(ActiveCall *c)
{
    const int64_t *answer = next_answer(c, ORDER_SENDS);
    return answer && answer[ORDER_ANSWER_KIND] == ORDER_ANSWER_NONE && nowhere != MPI_COMM_NULL;
}

MPI_Comm replay_nowhere(void)
{
    return nowhere;
}

/* -- turns of threads -- */

static bool turn_take(ActiveCall *c, ReplayedTurn *place)
{
    SequenceReplay *r = c->sequence->replay;
    size_t n;
    if (!r || !r->sequence || r->over || supervise_is_free())
        return false;
    const int64_t *turn = r->sequence->turns_bytes ? order_stream_next(&r->turns, &n) : NULL;
    bool held_up = turn && n == ORDER_TURN_WORDS && turn[ORDER_TURN_CHANNEL] >= 0;
    place->channel = held_up ? (uint64_t)turn[ORDER_TURN_CHANNEL] : CHANNEL_NONE;
    place->number = held_up ? (uint64_t)turn[ORDER_TURN_NUMBER] : 0;
    return channel_wait(c, place);
}

bool replay_enforces(const CallSequence *q)
{
    const SequenceReplay *r = __atomic_load_n(&q->replay, __ATOMIC_ACQUIRE);
    return !supervise_is_free() && !(r && r->over);
}

/* -- side streams -- */

bool replay_has_side(WendSideKindNumber kind)
{
    for (uint64_t i = 0; mapped && i < order.head->n_sides; i++)
        if (order.sides[i].kind == (uint64_t)kind)
            return true;
    return false;
}

bool replay_has_values(void)
{
    return mapped && order.head->values;
}

bool replay_side(WendSideKindNumber kind, const WendSideHead *head, WendCursor *rows)
{
    for (uint64_t i = 0; mapped && i < order.head->n_sides; i++) {
        const OrderSide *s = &order.sides[i];
        bool callback = s->of == WEND_SEQUENCE_CALLBACK;
        if (s->kind != (uint64_t)kind || s->of != head->kind
            || (callback ? s->id != head->id : s->birth != head->birth))
            continue;
        *rows = cursor_of(order.bytes + s->first, s->n);
        return true;
    }
    return false;
}

/* The program departs from the recording by asking for a value. Returns whether to say so. */
static bool departs_by_value(void)
{
    if (supervise_is_free())
        return false;
    if (on_divergence.mode == FREE)
        supervise_free();
    return state()->world && !atomic_exchange(&on_divergence.said, true);
}

void replay_side_departs(uint32_t birth, const char *recorded, const char *made)
{
    if (!departs_by_value())
        return;
    state_say("rank %u, thread %u: the recording has a value of %s, and the program asks for one "
              "of %s",
              order.head->rank, thread_number_of(birth), recorded, made);
    if (on_divergence.mode == STOP)
        on_divergence.stop(1);
}

void replay_side_ends(uint32_t birth, bool cut, const char *made)
{
    static _Atomic bool said;
    uint32_t rank = order.head->rank, thread = thread_number_of(birth);
    if (order.head->ended_early)
        return;
    if (cut) {
        if (state()->world && !atomic_exchange(&said, true))
            state_say("rank %u, thread %u: the recorder had no memory for more values: from here "
                      "on they are the program's own",
                      rank, thread);
        return;
    }
    if (!departs_by_value())
        return;
    state_say("rank %u, thread %u: the recording has no more values, and the program asks for one "
              "of %s",
              rank, thread, made);
    if (on_divergence.mode == STOP)
        stop_job(1);
}

/* -- life -- */

/* A run with noise that is no replay. */
static const RecordedCall *only_noise(ActiveCall *c)
{
    noise_delay(c);
    return NULL;
}

static void no_noise(ActiveCall *c)
{
    (void)c;
}

static void nothing(void)
{
}

static const ReplayHooks noise_hooks = {only_noise, no_noise, nothing, NULL,
                                        NULL,       NULL,     NULL,    NULL};
static const ReplayHooks hooks = {before, after,     left,         posting,
                                  unsent, turn_take, channel_pass, recorded_shape};

/* Maps the order file that the environment names. */
static bool map(const char *name)
{
    struct stat info;
    const char *rank = strstr(name, REPLAY_ORDER_RANK), *variable = launcher_rank_variable();
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s%s%s", rank ? (int)(rank - name) : (int)strlen(name), name,
             !rank      ? ""
             : variable ? getenv(variable)
                        : "0",
             rank ? rank + strlen(REPLAY_ORDER_RANK) : "");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *data = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0
                     ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                     : MAP_FAILED;
    close(fd);
    return data != MAP_FAILED && order_read(&order, data, (size_t)info.st_size);
}

void replay_open(void (*stop)(int status))
{
    const char *path = getenv(REPLAY_ORDER), *what = settings()->on_divergence;
    noisy = noise_open();
    if (!path || !*path) {
        state()->replay = noisy ? &noise_hooks : NULL;
        return;
    }
    mapped = map(path);
    on_divergence.stop = stop;
    on_divergence.mode = strcmp(what, "free") == 0 ? FREE : strcmp(what, "warn") == 0 ? WARN : STOP;
    goes_on_at_end = strcmp(settings()->then, "free") == 0;
    state()->replay = &hooks;
    state()->threads_by_count = mapped && order.head->threads_by_count;
    state()->turns_replayed = mapped && order.head->n_channels > 0;
    state_order_threads();
    state()->unwritten = state()->refused = !settings()->output;
}

/* Before the first call. A process that makes none is no part of the replay: a shell around the
 * program, for example, or a command that the program runs. */
static void begin(void)
{
    const char *why;
    if (!mapped) {
        state_say("there is no order of this version of Wend for a replay: start the program with "
                  "wend replay");
        stop_job(3);
    }
    if (!channels_open(order.head->n_channels)) {
        state_say("there is not enough memory for the order of threads");
        stop_job(3);
    }
    if (!supervise_settings(order.head->rank, order.head->size, &why)) {
        state_say("%s", why);
        stop_job(2);
    }
    supervise_debug();
    supervise_open();
}

bool replay_runs(void)
{
    return state()->replay == &hooks;
}

void replay_world(MPI_Comm comm)
{
    const State *s = state();
    if (!replay_runs())
        return;
    if ((uint32_t)s->world_rank != order.head->rank
        || (uint32_t)s->world_size != order.head->size) {
        if (s->world_rank > 0) /* rank 0 says it for all if it can */
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        state_say("rank %d of %d has the order of rank %u of %u: start as many ranks as were "
                  "recorded",
                  s->world_rank, s->world_size, order.head->rank, order.head->size);
        stop_job(3);
    }
    if (order.head->nowhere) /* a program may count how many communicators there can be */
        PMPI_Comm_dup(MPI_COMM_SELF, &nowhere);
    other_hosts_open(order.head->rank, order.head->size, comm);
    supervise_met();
}

void replay_close(void)
{
    if (state()->replay != &hooks)
        return;
    supervise_close();
    other_hosts_close();
    persistent_close();
    if (nowhere != MPI_COMM_NULL)
        PMPI_Comm_free(&nowhere);
}
