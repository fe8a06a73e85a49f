/* SPDX-License-Identifier: BSD-3-Clause */
/* sides.c: see sides.h. */
#include "sides.h"

#include "archive/container.h"
#include "program.h"

struct WendSides {
    Bytes *member; /* NULL: there is none */
    WendCursor c;
    gsize left; /* streams */
};

/* Whether the streams at C are whole. */
static gboolean check(WendCursor c)
{
    WendSideHead head;
    WendCursor rows;
    for (gsize n = cursor_count(&c, WEND_SIDE_STREAM_LEAST); n > 0 && !c.failed; n--)
        side_stream_read(&c, &head, &rows);
    return !c.failed && c.p == c.end;
}

WendSides *sides_open(const WendProgram *p, guint rank, WendSideKindNumber kind, Error **error)
{
    Container *container = program_container(p, &rank);
    WendSides *s = g_new0(WendSides, 1);
    g_autofree char *name = g_strdup_printf("%s.%u", side_stream_kind(kind)->name, rank);
    if (!container || !container_has(container, name))
        return s;
    s->member = container_member(container, name, error);
    if (s->member)
        s->c = cursor_of(s->member->data, s->member->n);
    if (s->member && check(s->c)) {
        s->left = cursor_count(&s->c, WEND_SIDE_STREAM_LEAST);
        return s;
    }
    if (s->member)
        error_set(error, WEND_ERROR_INPUT, "%s: member %s: truncated or damaged",
                  container_name(container), name);
    sides_free(s);
    return NULL;
}

gboolean sides_next(WendSides *s, WendSideHead *head, WendCursor *rows)
{
    if (s->left == 0)
        return FALSE;
    s->left--;
    return side_stream_read(&s->c, head, rows);
}

void sides_free(WendSides *s)
{
    if (!s)
        return;
    bytes_unref(s->member);
    g_free(s);
}

/* -- along with a walk -- */

struct WendSide {
    WendSides *sides; /* owns the bytes */
    WendSideReader reader;
    guint64 count;
    const WendSideElement *next; /* NULL: the end */
    guint64 at;                  /* calls and polls before it */
    gboolean given;              /* the next element was given to the caller */
};

static void advance(WendSide *s)
{
    s->next = side_reader_next(&s->reader);
    if (s->next && __builtin_add_overflow(s->at, s->next->step, &s->at))
        s->at = G_MAXUINT64;
}

static guint64 count_rows(WendCursor rows)
{
    guint64 n = 0;
    while (!rows.failed && rows.p < rows.end) {
        guint64 more = cursor_unsigned(&rows);
        cursor_block(&rows);
        if (__builtin_add_overflow(n, more, &n))
            n = G_MAXUINT64;
    }
    return n;
}

WendSide *side_new(const WendProgram *p, guint rank, WendSideKindNumber kind, guint index,
                   Error **error)
{
    WendSides *sides = sides_open(p, rank, kind, error);
    WendSideHead head;
    WendCursor rows;
    gboolean good = sides != NULL;
    for (guint i = 0; good && i <= index; i++)
        good = sides_next(sides, &head, &rows);
    if (!good) {
        sides_free(sides);
        return NULL;
    }
    WendSide *s = g_new0(WendSide, 1);
    s->sides = sides;
    s->count = count_rows(rows);
    side_reader_open(&s->reader, kind, &head, rows);
    advance(s);
    return s;
}

const WendSideHead *side_head(const WendSide *s)
{
    return &s->reader.head;
}

guint64 side_count(const WendSide *s)
{
    return s->count;
}

const WendSideElement *side_before(WendSide *s, guint64 calls, guint64 *at)
{
    if (s->given)
        advance(s);
    s->given = s->next && s->at <= calls;
    *at = s->at;
    return s->given ? s->next : NULL;
}

gboolean side_damaged(const WendSide *s)
{
    return s->reader.failed;
}

void side_free(WendSide *s)
{
    if (!s)
        return;
    sides_free(s->sides);
    g_free(s);
}
