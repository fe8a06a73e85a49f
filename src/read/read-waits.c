/* SPDX-License-Identifier: BSD-3-Clause */
/* read-waits.c: how long calls waited for others that began later, summed up by call sites.
 *
 * The wait states are those of EXPERT and Scalasca: F. Wolf and B. Mohr, "Automatic performance
 * analysis of hybrid MPI/OpenMP applications", J. Systems Architecture 49 (2003), section 4; in
 * the names of Scalasca's documentation, "Late Sender", "Wait at Barrier", "Wait at N x N", "Late
 * Broadcast" and "Early Reduce". A call waits from its start until the start of the call that it
 * needs, and not beyond its own end. */
#include "config.h"

#include "read-private.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "lib/analysis/matching.h"
#include "lib/base/containers.h"
#include "wend/read.h"
#include "wrap.h"

enum { ROW_MEMORY = 1024, ENTRY_MEMORY = 128 }; /* of a row, and of a rank or pair in it */

typedef struct {
    WendReadWait public;
    Map *rank_numbers, *pair_numbers;
    GArray *ranks; /* WendReadWaitRank */
    GArray *pairs; /* WendReadWaitPair */
} Row;

/* A call, and what it waited for as far as that is known. */
typedef struct {
    WendReadWaitKind kind;
    MessagePlace place, late;
} Waiting;

struct WaitRows {
    const WendRead *reader;
    const WendProgram *program;
    Allowance *allowance;
    gboolean full; /* memory is used up */
    Map *numbers;
    GPtrArray *rows; /* Row */
    Waiting waiting; /* its place is MESSAGE_NO_PLACE: none */
};

/* -- one event -- */

static const WendFunction *function_at(const WendProgram *p, const MessagePlace *place)
{
    return program_shape(p, program_terminal(p, place->terminal)->shape)->function;
}

const MessagePlace *wait_row_call(const WendProgram *p, const MessageEvent *e)
{
    /* MPI_Mrecv does not wait any more. */
    gboolean probed = e->kind == MESSAGE_MATCHED && e->posted.call != MESSAGE_NO_CALL
                      && function_at(p, &e->posted)->id == WEND_FN_MPI_Mprobe;
    return probed ? &e->posted : &e->completed;
}

gdouble wait_row_seconds(const MessagePlace *place, const MessagePlace *late)
{
    if (isnan(place->start) || isnan(place->end) || isnan(late->start))
        return NAN;
    return late->start > place->start ? MIN(late->start, place->end) - place->start : 0;
}

static WendReadWaitKind kind_of(const WendProgram *p, const MessageEvent *e)
{
    if (e->kind == MESSAGE_MATCHED || e->waits == WEND_SYNC_NONE)
        return WEND_READ_LATE_SENDER;
    if (e->waits == WEND_SYNC_FROM_ROOT)
        return WEND_READ_LATE_BROADCAST;
    if (e->waits == WEND_SYNC_TO_ROOT)
        return WEND_READ_EARLY_REDUCE;
    return function_at(p, &e->sent)->operation == WEND_FN_MPI_Barrier ? WEND_READ_WAIT_AT_BARRIER
                                                                      : WEND_READ_WAIT_AT_NXN;
}

/* -- rows -- */

static void row_free(gpointer row)
{
    Row *w = row;
    map_unref(w->rank_numbers);
    map_unref(w->pair_numbers);
    g_array_unref(w->ranks);
    g_array_unref(w->pairs);
    g_free(w);
}

static Row *row_new(const WaitRows *w, const Waiting *x)
{
    Row *row = g_new0(Row, 1);
    row->public = (WendReadWait){
        .kind = x->kind,
        .function = read_function_of(function_at(w->program, &x->place)),
        .site = read_site_group(w->reader, x->place.site),
        .late_function = read_function_of(function_at(w->program, &x->late)),
        .late_site = read_site_group(w->reader, x->late.site),
    };
    row->rank_numbers = map_of_bytes(NULL);
    row->pair_numbers = map_of_bytes(NULL);
    row->ranks = g_array_new(FALSE, TRUE, sizeof(WendReadWaitRank));
    row->pairs = g_array_new(FALSE, TRUE, sizeof(WendReadWaitPair));
    return row;
}

static Row *row_of(WaitRows *w, const Waiting *x)
{
    const struct {
        guint64 kind;
        const WendReadFunction *function, *late_function;
        guint64 site, late_site;
    } key = {x->kind, read_function_of(function_at(w->program, &x->place)),
             read_function_of(function_at(w->program, &x->late)),
             read_site_group(w->reader, x->place.site), read_site_group(w->reader, x->late.site)};
    bool new;
    guint number = map_number(w->numbers, &key, sizeof key, &new);
    if (new) {
        w->full = w->full || !allowance_take(w->allowance, 1, ROW_MEMORY);
        g_ptr_array_add(w->rows, row_new(w, x));
    }
    return w->rows->pdata[number];
}

/* The entry of KEY in ENTRIES, with NUMBERS from KEY to place. A new one is zero. */
static gpointer entry_of(WaitRows *w, Map *numbers, GArray *entries, const void *key, gsize bytes)
{
    bool new;
    guint number = map_number(numbers, key, bytes, &new);
    if (new) {
        w->full = w->full || !allowance_take(w->allowance, 1, ENTRY_MEMORY);
        g_array_set_size(entries, number + 1);
    }
    return entries->data + number * g_array_get_element_size(entries);
}

static WendReadWaitRank *rank_of(WaitRows *w, Row *row, guint32 rank)
{
    WendReadWaitRank *of = entry_of(w, row->rank_numbers, row->ranks, &rank, sizeof rank);
    of->rank = rank;
    return of;
}

static void add(WaitRows *w, const Waiting *x, gdouble seconds)
{
    Row *row = row_of(w, x);
    const guint32 ranks[] = {x->place.rank, x->late.rank};
    row->public.waits++;
    row->public.seconds += seconds;
    if (seconds > row->public.longest) {
        row->public.longest = seconds;
        row->public.longest_rank = ranks[0];
        row->public.longest_late_rank = ranks[1];
    }
    WendReadWaitRank *of = rank_of(w, row, ranks[0]);
    of->waits++;
    of->seconds += seconds;
    of = rank_of(w, row, ranks[1]);
    of->caused++;
    of->seconds_caused += seconds;
    if (x->kind != WEND_READ_LATE_SENDER)
        return;
    WendReadWaitPair *pair = entry_of(w, row->pair_numbers, row->pairs, ranks, sizeof ranks);
    *pair = (WendReadWaitPair){ranks[0], ranks[1], pair->waits + 1, pair->seconds + seconds};
}

/* -- all calls -- */

static void end_waiting(WaitRows *w)
{
    gdouble seconds = w->waiting.place.call != MESSAGE_NO_CALL
                          ? wait_row_seconds(&w->waiting.place, &w->waiting.late)
                          : 0;
    if (seconds > 0) /* and known */
        add(w, &w->waiting, seconds);
    w->waiting.place = MESSAGE_NO_PLACE;
}

/* A call that completes several requests waits for the last of what they need; one that completes
 * any of them, for the first. */
static void wait(WaitRows *w, const MessageEvent *e)
{
    const MessagePlace *place = wait_row_call(w->program, e), *before = &w->waiting.place;
    if (place->call == MESSAGE_NO_CALL || isnan(e->sent.start) || isnan(place->start))
        return;
    gboolean same = before->call == place->call && before->rank == place->rank
                    && before->sequence == place->sequence;
    if (!same)
        end_waiting(w);
    gboolean any = (function_at(w->program, place)->flags & WEND_F_ANY) != 0;
    if (!same
        || (any ? e->sent.start < w->waiting.late.start : e->sent.start > w->waiting.late.start))
        w->waiting = (Waiting){kind_of(w->program, e), *place, e->sent};
}

static gint by_seconds(gconstpointer a, gconstpointer b)
{
    const Row *x = *(Row *const *)a, *y = *(Row *const *)b;
    return x->public.seconds != y->public.seconds ? (x->public.seconds < y->public.seconds ? 1 : -1)
                                                  : 0;
}

static gint by_rank(gconstpointer a, gconstpointer b)
{
    const WendReadWaitRank *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static gint pairs_by_seconds(gconstpointer a, gconstpointer b)
{
    const WendReadWaitPair *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : (x->late_rank > y->late_rank);
}

static void finish(WaitRows *w)
{
    end_waiting(w);
    g_ptr_array_sort(w->rows, by_seconds);
    for (guint i = 0; i < w->rows->len; i++) {
        Row *row = w->rows->pdata[i];
        g_array_sort(row->ranks, by_rank);
        g_array_sort(row->pairs, pairs_by_seconds);
        row->public.n_ranks = row->ranks->len;
        row->public.ranks = (gpointer)row->ranks->data;
        row->public.n_pairs = row->pairs->len;
        row->public.pairs = (gpointer)row->pairs->data;
    }
}

/* Returns WEND_READ_OK or an error. */
static int go_through(WaitRows *w, WendRead *r, CallStamps *stamps)
{
    const char *name = r->path != NULL ? r->path : "the recording";
    Error *error = NULL;
    MessageEvent e;
    Matching *m = read_wrap_matching(r, MATCHING_WITH_WAITS);
    matching_stamp(m, call_stamps_set, stamps);
    while (!w->full && call_stamps_status(stamps) == WEND_READ_OK && matching_next(m, &e))
        if (e.kind == MESSAGE_MATCHED || e.kind == MESSAGE_WAIT)
            wait(w, &e);
    int status = call_stamps_status(stamps);
    if (status == WEND_READ_OK
        && (matching_error(m, name, &error)
            || (w->full && allowance_error(w->allowance, name, &error))))
        status = read_fail_error(r, error);
    matching_free(m);
    return status;
}

/* W may be NULL. */
static void wait_rows_free(WaitRows *w)
{
    if (!w)
        return;
    map_unref(w->numbers);
    g_ptr_array_unref(w->rows);
    allowance_unref(w->allowance);
    g_free(w);
}

/* Goes through all calls. Returns NULL and sets *STATUS to the error of R if times or sites are
 * damaged, or memory is used up. The caller frees the result. */
static WaitRows *wait_rows_new(WendRead *r, int *status)
{
    CallStamps *stamps = call_stamps_new(r, WEND_READ_WITH_TIMES | WEND_READ_WITH_SITES, status);
    if (!stamps)
        return NULL;
    WaitRows *w = g_new0(WaitRows, 1);
    w->reader = r;
    w->program = r->program;
    w->allowance = allowance_new(r->memory);
    allowance_add_archive(w->allowance, program_archive_size(r->program));
    w->numbers = map_of_bytes(NULL);
    w->rows = g_ptr_array_new_with_free_func(row_free);
    w->waiting.place = MESSAGE_NO_PLACE;
    *status = go_through(w, r, stamps);
    call_stamps_free(stamps);
    if (*status < 0) {
        wait_rows_free(w);
        return NULL;
    }
    finish(w);
    return w;
}

/* Row number INDEX, the longest time first. NULL: there are not so many. */
static const WendReadWait *wait_rows_at(const WaitRows *w, guint index)
{
    return index < w->rows->len ? &((const Row *)w->rows->pdata[index])->public : NULL;
}

int wend_read_wait(WendRead *r, uint32_t index, const WendReadWait **wait)
{
    bool has = false;
    int status = read_check(r, wait);
    if (status == WEND_READ_OK && !r->waits)
        status = wend_read_has_times(r, &has);
    if (status < 0)
        return status;
    if (!r->waits && !has)
        return read_fail(r, WEND_READ_ERROR_NONE, "%s", WITHOUT_TIMES);
    if (!r->waits)
        r->waits = wait_rows_new(r, &status);
    if (!r->waits)
        return status;
    const WendReadWait *row = wait_rows_at(r->waits, index);
    if (!row)
        return read_fail(r, WEND_READ_ERROR_NONE, "no other calls waited");
    *wait = row;
    return WEND_READ_OK;
}

void read_waits_clear(WendRead *r)
{
    g_clear_pointer(&r->waits, wait_rows_free);
}
