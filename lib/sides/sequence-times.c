/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-times.c: see sequence-times.h. Rows are read and decoded one at a time: first the places
 * of their calls are taken from a walk, then the times are. */
#include "sequence-times.h"

#include "side-rows.h"

/* The numbers of shapes by first occurrence, as the recorder has them. A program may have one shape
 * twice, so shapes are compared by their words. */
typedef struct {
    GHashTable *by_index; /* shape of the program -> number + 1 */
    GHashTable *by_words; /* GBytes -> the same */
} ShapeNumbers;

struct WendSequenceTimes {
    const WendProgram *p;
    WendSideRows *rows;
    WendDurationsHead head;
    const WendDurationCoding *coding;
    gpointer learned;
    WendWalk *walk;
    ShapeNumbers numbers[2]; /* of calls, and of polls */
    GArray *calls;           /* WendTimedCall; the row at hand */
    guint at;
    gint64 now; /* the end of the last call */
    gboolean damaged;
};

/* -- places -- */

static void numbers_init(ShapeNumbers *s)
{
    s->by_index = g_hash_table_new(NULL, NULL);
    s->by_words =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
}

static void numbers_clear(ShapeNumbers *s)
{
    g_hash_table_unref(s->by_index);
    g_hash_table_unref(s->by_words);
}

static guint32 number_of(ShapeNumbers *s, const WendProgram *p, guint32 index)
{
    gpointer known = g_hash_table_lookup(s->by_index, GUINT_TO_POINTER(index));
    if (known)
        return GPOINTER_TO_UINT(known) - 1;
    const WendShape *shape = wend_program_shape(p, index);
    g_autoptr(GBytes) words =
        g_bytes_new_static(shape->words, shape->n_words * sizeof *shape->words);
    known = g_hash_table_lookup(s->by_words, words);
    if (!known) {
        known = GUINT_TO_POINTER(g_hash_table_size(s->by_words) + 1);
        g_hash_table_insert(s->by_words, g_bytes_ref(words), known);
    }
    g_hash_table_insert(s->by_index, GUINT_TO_POINTER(index), known);
    return GPOINTER_TO_UINT(known) - 1;
}

/* Sets the places of the next N calls. FALSE: there are not so many. */
static gboolean take_places(WendSequenceTimes *t, guint n)
{
    g_array_set_size(t->calls, 0);
    for (guint i = 0; i < n; i++) {
        const WendCall *call = wend_walk_next(t->walk);
        if (!call)
            return FALSE;
        guint32 number = number_of(&t->numbers[call->poll != 0], t->p, call->shape);
        guint32 place = 2 * number + (call->poll != 0);
        WendTimedCall timed = {.place = place & ((1u << WEND_DURATION_PLACE_BITS) - 1)};
        g_array_append_val(t->calls, timed);
    }
    return TRUE;
}

/* -- rows -- */

/* Reads what comes before the rows. From here on the clock is that of rank 0 of the world. */
static gboolean read_head(WendSequenceTimes *t)
{
    guint64 none;
    WendCursor head;
    if (!wend_side_rows_next(t->rows, &none, &head) || none != 0
        || !wend_durations_read_head(&head, &t->head))
        return FALSE;
    wend_durations_correct(&t->head);
    return TRUE;
}

static gboolean damage(WendSequenceTimes *t)
{
    t->damaged = TRUE;
    g_array_set_size(t->calls, 0);
    return FALSE;
}

/* FALSE: there are no more. */
static gboolean read_row(WendSequenceTimes *t)
{
    guint64 n;
    WendCursor row;
    t->at = 0;
    if (t->damaged || wend_side_rows_ended(t->rows))
        return FALSE;
    if (!wend_side_rows_next(t->rows, &n, &row))
        return damage(t);
    if (n == 0 && row.p == row.end && wend_side_rows_ended(t->rows)) {
        g_array_set_size(t->calls, 0);
        return FALSE; /* the recorder had no memory for more */
    }
    gboolean good =
        n > 0 && n <= WEND_DURATION_ROW && take_places(t, (guint)n)
        && wend_durations_read_row(t->coding, t->learned, (gpointer)t->calls->data, (gsize)n, &row)
        && row.p == row.end;
    return good || damage(t);
}

/* -- interface -- */

WendSequenceTimes *wend_sequence_times_new(const WendProgram *p, guint rank, guint sequence,
                                           GError **error)
{
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, rank));
    WendSideRows *rows =
        wend_side_rows_new(p, rank, WEND_SIDE_TIMES, &class->sequences[sequence], error);
    if (!rows)
        return NULL;
    WendSequenceTimes *t = g_new0(WendSequenceTimes, 1);
    t->p = p;
    t->rows = rows;
    t->walk = wend_walk_new(p, rank, sequence, WEND_WALK_POLLS);
    t->calls = g_array_new(FALSE, FALSE, sizeof(WendTimedCall));
    numbers_init(&t->numbers[0]);
    numbers_init(&t->numbers[1]);
    if (read_head(t)) {
        t->coding = wend_durations_coding(t->head.form.coding);
        t->learned = g_malloc0(t->coding->memory);
        t->coding->init(t->learned, t->head.form.percent);
    } else {
        damage(t);
    }
    return t;
}

const WendDurationsHead *wend_sequence_times_head(const WendSequenceTimes *t)
{
    return &t->head;
}

/* Hostile times may go beyond 64 bits: they wrap. */
static gint64 later(gint64 time, gint64 ticks)
{
    return (gint64)((guint64)time + (guint64)ticks);
}

gboolean wend_sequence_times_next(WendSequenceTimes *t, WendCallTime *time)
{
    if (t->at == t->calls->len && !read_row(t))
        return FALSE;
    const WendTimedCall *c = &g_array_index(t->calls, WendTimedCall, t->at++);
    time->start = t->now = later(t->now, c->interval);
    time->duration = c->duration;
    if (c->duration != WEND_DURATION_UNKNOWN)
        t->now = later(t->now, c->duration);
    return TRUE;
}

gboolean wend_sequence_times_damaged(const WendSequenceTimes *t)
{
    return t->damaged;
}

void wend_sequence_times_free(WendSequenceTimes *t)
{
    if (!t)
        return;
    wend_side_rows_free(t->rows);
    wend_walk_free(t->walk);
    g_array_unref(t->calls);
    numbers_clear(&t->numbers[0]);
    numbers_clear(&t->numbers[1]);
    g_free(t->learned);
    g_free(t);
}
