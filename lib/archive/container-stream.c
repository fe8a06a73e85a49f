/* SPDX-License-Identifier: BSD-3-Clause */
/* container-stream.c: the bytes of a member, in order. The side streams of a rank grow with its
 * calls, and are alone in their frame. So a walk needs not have them in memory as a whole. */
#include <stdlib.h>
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
    Bytes *whole;  /* NULL: it is expanded as it is read */
    uint64_t left; /* bytes of the member that were not read */
    ZSTD_DCtx *z;
    uint8_t *input;
    ZSTD_inBuffer in;
    uint64_t next, end; /* of the frame, in the file: what is not in IN */
    bool ended, failed;
};

/* Expands N bytes or all that are left of the frame. Returns how many they were. */
static size_t expand(ContainerStream *s, void *data, size_t n)
{
    ZSTD_outBuffer out = {data, n, 0};
    while (out.pos < n && !s->ended && !s->failed) {
        if (s->in.pos == s->in.size && s->next < s->end) {
            s->in = (ZSTD_inBuffer){s->input, (size_t)MIN(s->end - s->next, INPUT), 0};
            if (!container_read_file(s->container, s->next, s->input, s->in.size)) {
                s->failed = true;
                break;
            }
            s->next += s->in.size;
        }
        size_t status = ZSTD_decompressStream(s->z, &out, &s->in);
        s->ended = status == 0;
        /* a decoder that has no input left, and still room for output, has no output either */
        s->failed = ZSTD_isError(status)
                    || (!s->ended && s->in.pos == s->in.size && s->next == s->end && out.pos < n);
    }
    return out.pos;
}

/* Whether the frame begins with the tar header of member NAME, of S->LEFT bytes. */
static bool read_header(ContainerStream *s, const char *name)
{
    char header[TAR_BLOCK], padded[TAR_NAME] = {0};
    if (strlen(name) > sizeof padded || expand(s, header, sizeof header) < sizeof header)
        return false;
    memcpy(padded, name, strlen(name));
    return memcmp(header, padded, sizeof padded) == 0 && header[TAR_TYPE] == '0'
           && memcmp(header + TAR_MAGIC, "ustar", sizeof "ustar") == 0
           && strtoull(header + TAR_SIZE, NULL, 8) == s->left;
}

/* false: the member is to be expanded as a whole, which also says what is wrong with it. */
static bool begin(ContainerStream *s, const char *name, uint64_t least)
{
    ContainerLone lone;
    if (!container_lone_member(s->container, name, &lone) || lone.bytes < least)
        return false;
    s->left = lone.bytes;
    s->next = lone.begin;
    s->end = lone.end;
    if (!allowance_take(container_allowance(s->container), MEMORY, 1))
        return false;
    s->input = memory_new(INPUT);
    s->z = ZSTD_createDCtx();
    return s->z && !ZSTD_isError(ZSTD_DCtx_setParameter(s->z, ZSTD_d_windowLogMax, WINDOW_LOG))
           && read_header(s, name);
}

static void end(ContainerStream *s)
{
    ZSTD_freeDCtx(s->z);
    if (s->input)
        allowance_give(container_allowance(s->container), MEMORY);
    memory_free(s->input);
    s->z = NULL;
    s->input = NULL;
}

ContainerStream *container_stream_new(Container *b, const char *name, uint64_t least, Error **error)
{
    ContainerStream *s = NEW0(ContainerStream, 1);
    s->container = b;
    if (begin(s, name, least))
        return s;
    end(s);
    s->whole = container_member(b, name, error);
    s->left = s->whole ? s->whole->n : 0;
    if (s->whole)
        return s;
    memory_free(s);
    return NULL;
}

size_t container_stream_read(ContainerStream *s, void *data, size_t n)
{
    n = (size_t)MIN(n, s->left);
    if (s->whole && n > 0)
        memcpy(data, (const uint8_t *)s->whole->data + (s->whole->n - s->left), n);
    else
        n = expand(s, data, n);
    s->left -= n;
    return n;
}

bool container_stream_is_whole(ContainerStream *s)
{
    uint8_t padding[TAR_BLOCK];
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
        bytes_unref(s->whole);
    memory_free(s);
}
