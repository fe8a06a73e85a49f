/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-times.c: see sequence-times.h. Rows are read and decoded one at a time: first the places
 * of their calls are taken from a walk, then the times are. */
#include "sequence-times.h"

#include <string.h>

#include "archive/container.h"
#include "sides.h"

/* -- rows -- */

/* The rows of a side stream (docs/format.md, "Side streams"), read as they are needed. In memory
 * there is one row, and of a large member less than 1 MB beside it.
 *
 * A member is gone through when it is opened, to check its frame and the lengths
 * in it, and then once more. */

typedef struct WendSideRows WendSideRows;

enum {
    STREAM_LEAST = 256 << 10, /* a smaller stream is kept in memory: that takes no more */
    PIECE = 4096,             /* is read at least */
    HEAD = 40,                /* bytes of four numbers at most */
};

struct WendSideRows {
    ContainerStream *stream;
    Allowance *allowance;
    guint8 *bytes; /* what was read; from AT to END it was not used yet */
    gsize room, at, end;
    guint64 left; /* bytes of the rows */
    gboolean damaged;
};

/* Makes the next N bytes ready, or as many as there are. FALSE: memory is short. */
static gboolean fill(WendSideRows *r, gsize n)
{
    if (r->end - r->at >= n)
        return TRUE;
    if (r->at > 0)
        memmove(r->bytes, r->bytes + r->at, r->end - r->at);
    r->end -= r->at;
    r->at = 0;
    gsize room = MAX(n, PIECE);
    if (room > r->room) {
        if (!allowance_grow(r->allowance, &r->bytes, r->room, room))
            return FALSE;
        r->room = room;
    }
    r->end += container_stream_read(r->stream, r->bytes + r->end, r->room - r->end);
    return TRUE;
}

/* The next bytes, N at most: what is read of them is to be used up. */
static WendCursor look(WendSideRows *r, guint64 n)
{
    gboolean good = fill(r, (gsize)MIN(n, HEAD));
    WendCursor c = cursor_of(r->bytes + r->at, (gsize)MIN(n, r->end - r->at));
    c.failed = !good;
    return c;
}

static void use_up(WendSideRows *r, const WendCursor *c)
{
    r->at = (gsize)(c->p - r->bytes);
}

/* Goes N bytes on. FALSE: there are not so many. */
static gboolean skip(WendSideRows *r, guint64 n)
{
    while (n > 0) {
        if (!fill(r, 1) || r->at == r->end)
            return FALSE;
        gsize some = (gsize)MIN(n, r->end - r->at);
        r->at += some;
        n -= some;
    }
    return TRUE;
}

/* Reads how many streams the member has. */
static gboolean read_count(WendSideRows *r, guint64 *n)
{
    WendCursor c = look(r, HEAD);
    *n = cursor_unsigned(&c);
    use_up(r, &c);
    return !c.failed;
}

/* Reads whose the next stream is, and how many bytes its rows are. */
static gboolean read_member_head(WendSideRows *r, WendSideHead *head, guint64 *bytes)
{
    WendCursor c = look(r, HEAD);
    head->kind = cursor_unsigned(&c);
    head->id = cursor_signed(&c);
    head->birth = cursor_unsigned(&c);
    *bytes = cursor_unsigned(&c);
    use_up(r, &c);
    return !c.failed;
}

static WendSideRows *rows_open(Container *container, const char *name, guint64 least, Error **error)
{
    ContainerStream *stream = container_stream_new(container, name, least, error);
    if (!stream)
        return NULL;
    WendSideRows *r = g_new0(WendSideRows, 1);
    r->stream = stream;
    r->allowance = container_allowance(container);
    return r;
}

/* Whether the member is whole, and how many streams it has. */
static gboolean check(WendSideRows *r, guint64 *n)
{
    WendSideHead head;
    guint64 bytes;
    gboolean good = read_count(r, n);
    for (guint64 i = 0; good && i < *n; i++)
        good = read_member_head(r, &head, &bytes) && skip(r, bytes);
    return good && fill(r, 1) && r->at == r->end && container_stream_is_whole(r->stream);
}

/* FALSE: SEQUENCE has no stream. */
static gboolean find(WendSideRows *r, const WendSequence *sequence)
{
    WendSideHead head;
    guint64 n;
    for (gboolean good = read_count(r, &n); good && n > 0; n--) {
        good = read_member_head(r, &head, &r->left);
        if (good && head.kind == sequence->kind && head.id == sequence->id)
            return TRUE;
        good = good && skip(r, r->left);
    }
    return FALSE;
}

static void say_damaged(Container *container, const char *name, Error **error)
{
    /* which may say more */
    AUTO(Bytes) whole = container_member(container, name, error);
    if (whole)
        error_set(error, WEND_ERROR_INPUT, "%s: member %s: truncated or damaged",
                  container_name(container), name);
}

/* R may be NULL */
static void side_rows_free(WendSideRows *r)
{
    if (!r)
        return;
    container_stream_free(r->stream);
    allowance_give(r->allowance, r->room);
    g_free(r->bytes);
    g_free(r);
}

/* The rows of KIND of SEQUENCE of RANK. Returns NULL if there are none; then the error is set if
 * the member is damaged or takes too much memory. P must outlive the result, which the caller
 * frees. */
static WendSideRows *side_rows_new(const WendProgram *p, guint rank, WendSideKindNumber kind,
                                   const WendSequence *sequence, Error **error)
{
    Container *container = program_container(p, &rank);
    g_autofree char *name = g_strdup_printf("%s.%u", side_stream_kind(kind)->name, rank);
    guint64 n;
    if (!container || !container_has(container, name))
        return NULL;
    WendSideRows *r = rows_open(container, name, STREAM_LEAST, error);
    if (!r)
        return NULL;
    gboolean good = check(r, &n);
    side_rows_free(r);
    if (!good) {
        say_damaged(container, name, error);
        return NULL;
    }
    /* walks of all sequences share a member in memory */
    r = rows_open(container, name, MAX(n, 1) * STREAM_LEAST, error);
    if (!r || find(r, sequence))
        return r;
    side_rows_free(r);
    return NULL;
}

/* The next row: how many elements it claims to have, and its bytes, which are valid until the next
 * use of R. FALSE: there are no more, or the rows are damaged from here on. */
static gboolean side_rows_next(WendSideRows *r, guint64 *n, WendCursor *row)
{
    if (r->damaged || r->left == 0)
        return FALSE;
    WendCursor c = look(r, r->left);
    const guint8 *begin = c.p;
    *n = cursor_unsigned(&c);
    guint64 bytes = cursor_unsigned(&c);
    r->left -= (guint64)(c.p - begin);
    use_up(r, &c);
    r->damaged = c.failed || bytes > r->left || !fill(r, (gsize)bytes) || r->end - r->at < bytes;
    if (r->damaged)
        return FALSE;
    *row = cursor_of(r->bytes + r->at, (gsize)bytes);
    r->at += (gsize)bytes;
    r->left -= bytes;
    return TRUE;
}

/* Whether the row that was given last is the last one. */
static gboolean side_rows_ended(const WendSideRows *r)
{
    return r->left == 0;
}

/* The numbers of shapes by first occurrence, as the recorder has them. A program may have one shape
 * twice, so shapes are compared by their words. */
typedef struct {
    GHashTable *by_index; /* shape of the program -> number + 1 */
    Map *by_words;        /* -> number */
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
    s->by_words = map_of_bytes(NULL);
}

static void numbers_clear(ShapeNumbers *s)
{
    g_hash_table_unref(s->by_index);
    map_unref(s->by_words);
}

static guint32 number_of(ShapeNumbers *s, const WendProgram *p, guint32 index)
{
    gpointer known = g_hash_table_lookup(s->by_index, GUINT_TO_POINTER(index));
    if (known)
        return GPOINTER_TO_UINT(known) - 1;
    const WendShape *shape = program_shape(p, index);
    bool is_new;
    guint number =
        map_number(s->by_words, shape->words, shape->n_words * sizeof *shape->words, &is_new);
    g_hash_table_insert(s->by_index, GUINT_TO_POINTER(index), GUINT_TO_POINTER(number + 1));
    return number;
}

/* Sets the places of the next N calls. FALSE: there are not so many. */
static gboolean take_places(WendSequenceTimes *t, guint n)
{
    g_array_set_size(t->calls, 0);
    for (guint i = 0; i < n; i++) {
        const WendCall *call = walk_next(t->walk);
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
    if (!side_rows_next(t->rows, &none, &head) || none != 0
        || !durations_read_head(&head, &t->head))
        return FALSE;
    durations_correct(&t->head);
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
    if (t->damaged || side_rows_ended(t->rows))
        return FALSE;
    if (!side_rows_next(t->rows, &n, &row))
        return damage(t);
    if (n == 0 && row.p == row.end && side_rows_ended(t->rows)) {
        g_array_set_size(t->calls, 0);
        return FALSE; /* the recorder had no memory for more */
    }
    gboolean good =
        n > 0 && n <= WEND_DURATION_ROW && take_places(t, (guint)n)
        && durations_read_row(t->coding, t->learned, (gpointer)t->calls->data, (gsize)n, &row)
        && row.p == row.end;
    return good || damage(t);
}

/* -- interface -- */

WendSequenceTimes *sequence_times_new(const WendProgram *p, guint rank, guint sequence,
                                      Error **error)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    WendSideRows *rows =
        side_rows_new(p, rank, WEND_SIDE_TIMES, &class->sequences[sequence], error);
    if (!rows)
        return NULL;
    WendSequenceTimes *t = g_new0(WendSequenceTimes, 1);
    t->p = p;
    t->rows = rows;
    t->walk = walk_new(p, rank, sequence, WEND_WALK_POLLS);
    t->calls = g_array_new(FALSE, FALSE, sizeof(WendTimedCall));
    numbers_init(&t->numbers[0]);
    numbers_init(&t->numbers[1]);
    if (read_head(t)) {
        t->coding = durations_coding(t->head.form.coding);
        t->learned = g_malloc0(t->coding->memory);
        t->coding->init(t->learned, t->head.form.percent);
    } else {
        damage(t);
    }
    return t;
}

const WendDurationsHead *sequence_times_head(const WendSequenceTimes *t)
{
    return &t->head;
}

/* Hostile times may go beyond 64 bits: they wrap. */
static gint64 later(gint64 time, gint64 ticks)
{
    return (gint64)((guint64)time + (guint64)ticks);
}

gboolean sequence_times_next(WendSequenceTimes *t, WendCallTime *time)
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

gboolean sequence_times_damaged(const WendSequenceTimes *t)
{
    return t->damaged;
}

void sequence_times_free(WendSequenceTimes *t)
{
    if (!t)
        return;
    side_rows_free(t->rows);
    walk_free(t->walk);
    g_array_unref(t->calls);
    numbers_clear(&t->numbers[0]);
    numbers_clear(&t->numbers[1]);
    g_free(t->learned);
    g_free(t);
}
