/* SPDX-License-Identifier: BSD-3-Clause */
/* container-stream.c: the bytes of a member, in order. The side streams of a rank grow with its
 * calls, and are alone in their frame. So a walk needs not have them in memory as a whole. */
#include <string.h>
#include <zstd.h>

#include "container.h"

/* The writer's frames of side streams have a window of 2^19 bytes. One that needs more than
 * WINDOW_LOG is expanded as a whole. MEMORY: what Zstandard 1.5 takes with that, a block of input
 * included. */
enum { WINDOW_LOG = 19, MEMORY = 896 << 10, INPUT = 16 << 10 };
/* The tar header in front of the member, as container-write.c makes it. */
enum { TAR_BLOCK = 512, TAR_NAME = 100, TAR_SIZE = 124, TAR_TYPE = 156, TAR_MAGIC = 257 };

struct ContainerStream {
    Container *container;
    GBytes *whole; /* NULL: it is expanded as it is read */
    guint64 left;  /* bytes of the member that were not read */
    ZSTD_DCtx *z;
    guint8 *input;
    ZSTD_inBuffer in;
    guint64 next, end; /* of the frame, in the file: what is not in IN */
    gboolean ended, failed;
};

/* Expands N bytes or all that are left of the frame. Returns how many they were. */
static gsize expand(ContainerStream *s, void *data, gsize n)
{
    ZSTD_outBuffer out = {data, n, 0};
    while (out.pos < n && !s->ended && !s->failed) {
        if (s->in.pos == s->in.size && s->next < s->end) {
            s->in = (ZSTD_inBuffer){s->input, (gsize)MIN(s->end - s->next, INPUT), 0};
            if (!container_read_file(s->container, s->next, s->input, s->in.size)) {
                s->failed = TRUE;
                break;
            }
            s->next += s->in.size;
        }
        gsize status = ZSTD_decompressStream(s->z, &out, &s->in);
        s->ended = status == 0;
        /* a decoder that has no input left, and still room for output, has no output either */
        s->failed = ZSTD_isError(status)
                    || (!s->ended && s->in.pos == s->in.size && s->next == s->end && out.pos < n);
    }
    return out.pos;
}

/* Whether the frame begins with the tar header of member NAME, of S->LEFT bytes. */
static gboolean read_header(ContainerStream *s, const char *name)
{
    char header[TAR_BLOCK], padded[TAR_NAME] = {0};
    if (strlen(name) > sizeof padded || expand(s, header, sizeof header) < sizeof header)
        return FALSE;
    memcpy(padded, name, strlen(name));
    return memcmp(header, padded, sizeof padded) == 0 && header[TAR_TYPE] == '0'
           && memcmp(header + TAR_MAGIC, "ustar", sizeof "ustar") == 0
           && g_ascii_strtoull(header + TAR_SIZE, NULL, 8) == s->left;
}

/* FALSE: the member is to be expanded as a whole, which also says what is wrong with it. */
static gboolean begin(ContainerStream *s, const char *name, guint64 least)
{
    ContainerLone lone;
    if (!container_lone_member(s->container, name, &lone) || lone.bytes < least)
        return FALSE;
    s->left = lone.bytes;
    s->next = lone.begin;
    s->end = lone.end;
    if (!allowance_take(container_allowance(s->container), MEMORY, 1))
        return FALSE;
    s->input = g_malloc(INPUT);
    s->z = ZSTD_createDCtx();
    return s->z && !ZSTD_isError(ZSTD_DCtx_setParameter(s->z, ZSTD_d_windowLogMax, WINDOW_LOG))
           && read_header(s, name);
}

static void end(ContainerStream *s)
{
    ZSTD_freeDCtx(s->z);
    if (s->input)
        allowance_give(container_allowance(s->container), MEMORY);
    g_free(s->input);
    s->z = NULL;
    s->input = NULL;
}

ContainerStream *container_stream_new(Container *b, const char *name, guint64 least, GError **error)
{
    ContainerStream *s = g_new0(ContainerStream, 1);
    s->container = b;
    if (begin(s, name, least))
        return s;
    end(s);
    s->whole = container_member(b, name, error);
    s->left = s->whole ? g_bytes_get_size(s->whole) : 0;
    if (s->whole)
        return s;
    g_free(s);
    return NULL;
}

gsize container_stream_read(ContainerStream *s, void *data, gsize n)
{
    n = (gsize)MIN(n, s->left);
    if (s->whole && n > 0)
        memcpy(data,
               (const guint8 *)g_bytes_get_data(s->whole, NULL)
                   + (g_bytes_get_size(s->whole) - s->left),
               n);
    else
        n = expand(s, data, n);
    s->left -= n;
    return n;
}

gboolean container_stream_is_whole(ContainerStream *s)
{
    guint8 padding[TAR_BLOCK];
    if (s->left > 0 || s->whole)
        return s->left == 0;
    while (expand(s, padding, sizeof padding) == sizeof padding)
        ;
    return s->ended && !s->failed;
}

void container_stream_free(ContainerStream *s)
{
    if (!s)
        return;
    end(s);
    if (s->whole)
        g_bytes_unref(s->whole);
    g_free(s);
}
