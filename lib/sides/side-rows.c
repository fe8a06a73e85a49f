/* SPDX-License-Identifier: BSD-3-Clause */
/* side-rows.c: see side-rows.h. A member is gone through when it is opened, to check its frame and
 * the lengths in it, and then once more. */
#include "side-rows.h"

#include <string.h>

#include "archive/container.h"

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
    WendCursor c = wend_cursor(r->bytes + r->at, (gsize)MIN(n, r->end - r->at));
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
    *n = wend_cursor_unsigned(&c);
    use_up(r, &c);
    return !c.failed;
}

/* Reads whose the next stream is, and how many bytes its rows are. */
static gboolean read_head(WendSideRows *r, WendSideHead *head, guint64 *bytes)
{
    WendCursor c = look(r, HEAD);
    head->kind = wend_cursor_unsigned(&c);
    head->id = wend_cursor_signed(&c);
    head->birth = wend_cursor_unsigned(&c);
    *bytes = wend_cursor_unsigned(&c);
    use_up(r, &c);
    return !c.failed;
}

static WendSideRows *rows_open(Container *container, const char *name, guint64 least,
                               GError **error)
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
        good = read_head(r, &head, &bytes) && skip(r, bytes);
    return good && fill(r, 1) && r->at == r->end && container_stream_is_whole(r->stream);
}

/* FALSE: SEQUENCE has no stream. */
static gboolean find(WendSideRows *r, const WendSequence *sequence)
{
    WendSideHead head;
    guint64 n;
    for (gboolean good = read_count(r, &n); good && n > 0; n--) {
        good = read_head(r, &head, &r->left);
        if (good && head.kind == sequence->kind && head.id == sequence->id)
            return TRUE;
        good = good && skip(r, r->left);
    }
    return FALSE;
}

static void say_damaged(Container *container, const char *name, GError **error)
{
    /* which may say more */
    g_autoptr(GBytes) whole = container_member(container, name, error);
    if (whole)
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: member %s: truncated or damaged",
                    container_name(container), name);
}

WendSideRows *wend_side_rows_new(const WendProgram *p, guint rank, WendSideKindNumber kind,
                                 const WendSequence *sequence, GError **error)
{
    Container *container = wend_program_container(p, &rank);
    g_autofree char *name = g_strdup_printf("%s.%u", wend_side_stream_kind(kind)->name, rank);
    guint64 n;
    if (!container || !container_has(container, name))
        return NULL;
    WendSideRows *r = rows_open(container, name, STREAM_LEAST, error);
    if (!r)
        return NULL;
    gboolean good = check(r, &n);
    wend_side_rows_free(r);
    if (!good) {
        say_damaged(container, name, error);
        return NULL;
    }
    /* walks of all sequences share a member in memory */
    r = rows_open(container, name, MAX(n, 1) * STREAM_LEAST, error);
    if (!r || find(r, sequence))
        return r;
    wend_side_rows_free(r);
    return NULL;
}

gboolean wend_side_rows_next(WendSideRows *r, guint64 *n, WendCursor *row)
{
    if (r->damaged || r->left == 0)
        return FALSE;
    WendCursor c = look(r, r->left);
    const guint8 *begin = c.p;
    *n = wend_cursor_unsigned(&c);
    guint64 bytes = wend_cursor_unsigned(&c);
    r->left -= (guint64)(c.p - begin);
    use_up(r, &c);
    r->damaged = c.failed || bytes > r->left || !fill(r, (gsize)bytes) || r->end - r->at < bytes;
    if (r->damaged)
        return FALSE;
    *row = wend_cursor(r->bytes + r->at, (gsize)bytes);
    r->at += (gsize)bytes;
    r->left -= bytes;
    return TRUE;
}

gboolean wend_side_rows_ended(const WendSideRows *r)
{
    return r->left == 0;
}

gboolean wend_side_rows_damaged(const WendSideRows *r)
{
    return r->damaged;
}

void wend_side_rows_free(WendSideRows *r)
{
    if (!r)
        return;
    container_stream_free(r->stream);
    allowance_give(r->allowance, r->room);
    g_free(r->bytes);
    g_free(r);
}
