/* SPDX-License-Identifier: BSD-3-Clause */
/* read-times.c: the time of every call, and percentiles of their durations. */
#include "config.h"

#include <math.h>

#include "lib/read/sequence-times.h"
#include "duration-sketch.h"
#include "read-private.h"

struct ReadTimes {
    WendSequenceTimes *times; /* NULL: there are none, or no more */
    gboolean polls;           /* the walk gives unsuccessful polls */
    gboolean damaged;
    gboolean known; /* TIME is that of the last call */
    WendCallTime time;
    gdouble tick, origin; /* the origin in seconds from the start of the run */
};

/* The start of the run, in nanoseconds since the epoch, as all worlds count it. */
static gint64 run_start(const WendProgram *p)
{
    g_autofree char *text = g_key_file_get_string(program_world_meta(p, 0), "run", "start", NULL);
    gdouble seconds = text ? g_ascii_strtod(text, NULL) : 0;
    return seconds > 0 && seconds < 9e9 ? (gint64)(seconds * 1e9) : 0;
}

int read_times_new(WendRead *r, guint32 rank, guint32 sequence, gboolean polls, ReadTimes **times)
{
    Error *error = NULL;
    WendSequenceTimes *t = sequence_times_new(r->program, rank, sequence, &error);
    if (error != NULL)
        return read_fail_error(r, error);
    *times = g_new0(ReadTimes, 1);
    (*times)->times = t;
    (*times)->polls = polls;
    if (t != NULL) {
        const WendDurationsHead *head = sequence_times_head(t);
        gint64 origin;
        if (__builtin_sub_overflow(head->origin, run_start(r->program), &origin))
            origin = 0;
        (*times)->tick = head->tick;
        (*times)->origin = (gdouble)origin * 1e-9;
        (*times)->damaged = sequence_times_damaged(t);
    }
    return WEND_READ_OK;
}

gboolean read_times_any(const ReadTimes *t)
{
    return t->times != NULL;
}

gdouble read_times_error(const ReadTimes *t)
{
    return t->times != NULL ? sequence_times_head(t->times)->form.percent / 100.0 : 0;
}

void read_times_next(ReadTimes *t, const WendCall *call)
{
    t->known = FALSE;
    guint64 before = t->polls ? 0 : call->polls_before;
    for (guint64 i = 0; t->times != NULL && i <= before; i++) {
        t->known = sequence_times_next(t->times, &t->time);
        if (!t->known) {
            t->damaged = sequence_times_damaged(t->times);
            g_clear_pointer(&t->times, sequence_times_free);
        }
    }
}

void read_times_free(ReadTimes *t)
{
    if (!t)
        return;
    sequence_times_free(t->times);
    g_free(t);
}

int read_times_get(WendRead *r, const ReadTimes *t, WendReadTime *time)
{
    if (!t)
        return read_fail(r, WEND_READ_ERROR_USAGE, "the calls are read without their times");
    if (t->damaged)
        return read_fail(r, WEND_READ_ERROR_INPUT, "the times of a sequence are damaged");
    if (!t->known)
        return read_fail(r, WEND_READ_ERROR_NONE, "the recording has no time of the call");
    time->start = t->origin + (gdouble)t->time.start * t->tick;
    time->duration =
        t->time.duration == WEND_DURATION_UNKNOWN ? NAN : (gdouble)t->time.duration * t->tick;
    return WEND_READ_OK;
}

/* -- percentiles of durations, from the times of all calls -- */

struct ReadPercentiles {
    GHashTable *sketches;      /* const WendReadFunction * -> DurationSketch */
    DurationSketch **by_shape; /* the same, of shapes that were met; while calls are counted */
    gdouble error;             /* relative, of the recorded times */
};

/* -- is there any time? -- */

static int sequence_has_times(WendRead *r, guint rank, guint sequence, bool *has)
{
    ReadTimes *times;
    int status = read_times_new(r, rank, sequence, FALSE, &times);
    if (status < 0)
        return status;
    *has = read_times_any(times);
    read_times_free(times);
    return WEND_READ_OK;
}

int wend_read_has_times(WendRead *r, bool *has)
{
    int status = read_check(r, has);
    bool found = false;
    for (guint rank = 0; status == WEND_READ_OK && !found && rank < program_ranks(r->program);
         rank++) {
        guint class_index = program_class_of(r->program, rank);
        guint n = program_class(r->program, class_index)->n_sequences;
        for (guint q = 0; status == WEND_READ_OK && !found && q < n; q++)
            status = sequence_has_times(r, rank, q, &found);
    }
    if (status == WEND_READ_OK)
        *has = found;
    return status;
}

/* -- percentiles -- */

static DurationSketch *sketch_of(ReadPercentiles *p, const WendCall *call)
{
    DurationSketch **of_shape = &p->by_shape[call->shape];
    if (*of_shape != NULL)
        return *of_shape;
    const WendReadFunction *f = read_function_of(call->function);
    *of_shape = g_hash_table_lookup(p->sketches, f);
    if (!*of_shape) {
        *of_shape = duration_sketch_new();
        g_hash_table_insert(p->sketches, (gpointer)f, *of_shape);
    }
    return *of_shape;
}

static int add_sequence(WendRead *r, ReadPercentiles *p, guint rank, guint sequence)
{
    ReadTimes *times;
    WendReadTime time;
    const WendCall *call;
    int status = read_times_new(r, rank, sequence, FALSE, &times);
    if (status < 0 || !read_times_any(times)) {
        if (status == WEND_READ_OK)
            read_times_free(times);
        return status;
    }
    p->error = MAX(p->error, read_times_error(times));
    WendWalk *walk = walk_new(r->program, rank, sequence, WEND_WALK_MAIN);
    while (status == WEND_READ_OK && (call = walk_next(walk)) != NULL) {
        read_times_next(times, call);
        status = read_times_get(r, times, &time);
        if (status == WEND_READ_OK && !isnan(time.duration)
            && (call->function->flags & WEND_F_PSEUDO) == 0)
            duration_sketch_add(sketch_of(p, call), time.duration);
    }
    walk_free(walk);
    read_times_free(times);
    return status == WEND_READ_ERROR_NONE ? WEND_READ_OK : status; /* the times may end before */
}

static void percentiles_free(ReadPercentiles *p)
{
    g_hash_table_destroy(p->sketches);
    g_free(p);
}

static int count_all(WendRead *r)
{
    ReadPercentiles *p = g_new0(ReadPercentiles, 1);
    int status = WEND_READ_OK;
    p->by_shape = g_new0(DurationSketch *, program_n_shapes(r->program) + 1);
    p->sketches = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)duration_sketch_free);
    for (guint rank = 0; status == WEND_READ_OK && rank < program_ranks(r->program); rank++) {
        guint class_index = program_class_of(r->program, rank);
        guint n = program_class(r->program, class_index)->n_sequences;
        for (guint q = 0; status == WEND_READ_OK && q < n; q++)
            status = add_sequence(r, p, rank, q);
    }
    g_clear_pointer(&p->by_shape, g_free);
    if (status == WEND_READ_OK)
        r->percentiles = p;
    else
        percentiles_free(p);
    return status;
}

int wend_read_percentile(WendRead *r, const WendReadFunction *f, double percent,
                         WendReadPercentile *percentile)
{
    int status = read_check(r, percentile);
    if (status == WEND_READ_OK && (!f || !(percent > 0 && percent <= 100)))
        status = read_fail(r, WEND_READ_ERROR_USAGE,
                           "a percentile needs a function, and a number above 0 and up to 100");
    if (status == WEND_READ_OK && !r->percentiles)
        status = count_all(r);
    if (status < 0)
        return status;
    const DurationSketch *sketch = g_hash_table_lookup(r->percentiles->sketches, f);
    if (!sketch)
        return read_fail(r, WEND_READ_ERROR_NONE, "the recording has no times of calls of %s",
                         f->name);
    *percentile =
        (WendReadPercentile){duration_sketch_n(sketch), duration_sketch_percentile(sketch, percent),
                             r->percentiles->error + DURATION_SKETCH_ERROR};
    return WEND_READ_OK;
}

void read_percentiles_clear(WendRead *r)
{
    g_clear_pointer(&r->percentiles, percentiles_free);
}
