/* SPDX-License-Identifier: BSD-3-Clause */
/* container-write.c: members -> tar -> frames -> file. Functions report failure by value. Their
 * memory comes from small/heap.h in the application, and may be refused. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/base.h"
#include "base/file-write.h"
#include "base/shared-file.h"
#include "container-index.h"

/* The application waits for the compression. LEVEL takes about a third of a second for each MB.
 * MIDDLE_LEVEL takes two fifths of that time, and its result is up to 1.3 % larger; LARGE_LEVEL
 * takes a twentieth, and its result is a tenth larger. */
enum { LEVEL = 19, MIDDLE_LEVEL = 17, LARGE_LEVEL = 9, CODED_LEVEL = 1 };
enum { FRAME_BYTES = 1 << 20, MIDDLE_BYTES = 64 << 10, LARGE_BYTES = 4 << 20 };

struct ContainerWriter {
    Vector *pending; /* tar bytes of the frame being filled */
    Vector *file;
    WendBuf members; /* index entries of that frame's members */
    uint32_t n_members;
    WendBuf index; /* index entries of the frames that are finished */
    uint32_t n_frames;
    uint64_t total;
    bool is_coded;  /* the frame being filled hardly compresses */
    Vector *rooms;  /* uint64_t: offsets of the frames of other processes */
    uint64_t front; /* bytes of these frames, which come before FILE */
    int64_t mtime;
    char *problem; /* the first problem, reported at the end; NULL: none */
};

static void problem(ContainerWriter *w, const char *what)
{
    if (!w->problem)
        w->problem = string_copy(what ? what : "unknown error");
}

ContainerWriter *container_writer_new(int64_t mtime)
{
    ContainerWriter *w = NEW0(ContainerWriter, 1);
    w->pending = vector_new(1);
    w->file = vector_new(1);
    w->rooms = vector_new(sizeof(uint64_t));
    w->mtime = mtime;
    return w;
}

/* A bound of the memory that compressing BYTES takes. Measured with Zstandard 1.5.4: 200 KB and 18
 * to 30 times the bytes at LEVEL, 13 MB at LARGE_LEVEL. */
static uint64_t compressor_memory(size_t bytes, bool large)
{
    enum { LEAST = 256 << 10, TIMES = 32, LARGE_MOST = 16 << 20 };
    return large ? LARGE_MOST : LEAST + TIMES * (uint64_t)bytes;
}

/* Adds to the index a frame with w->members, of BYTES bytes in the file and EXPANDED bytes of
 * tar. */
static void index_frame(ContainerWriter *w, uint64_t bytes, uint64_t expanded)
{
    buf_unsigned(&w->index, bytes);
    buf_unsigned(&w->index, expanded);
    buf_unsigned(&w->index, w->n_members);
    buf_bytes(&w->index, w->members.data, w->members.len);
    buf_clear(&w->members);
    w->n_members = 0;
    w->n_frames++;
}

static void end_frame(ContainerWriter *w)
{
    if (w->pending->len == 0)
        return;
    size_t bound = ZSTD_compressBound(w->pending->len);
    w->total += w->pending->len;
    bool large = w->total > LARGE_BYTES || w->is_coded;
    uint32_t at = w->file->len;
    if (at + bound > UINT32_MAX) {
        problem(w, "the archive would be larger than 4 GB");
        return;
    }
    vector_resize(w->file, at + bound);
    if (memory_is_short_of(compressor_memory(w->pending->len, large)))
        memory_short();
    ZSTD_CCtx *z = ZSTD_createCCtx();
    if (!z) {
        problem(w, "out of memory");
        return;
    }
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel,
                           w->is_coded                       ? CODED_LEVEL
                           : large                           ? LARGE_LEVEL
                           : w->pending->len >= MIDDLE_BYTES ? MIDDLE_LEVEL
                                                             : LEVEL);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(z, w->file->data + at, bound, w->pending->data, w->pending->len);
    ZSTD_freeCCtx(z);
    if (ZSTD_isError(n)) {
        problem(w, ZSTD_getErrorName(n));
        return;
    }
    vector_resize(w->file, at + n);
    index_frame(w, n, w->pending->len);
    vector_resize(w->pending, 0);
    w->is_coded = false;
}

/* -- tar -- */

enum { TAR_BLOCK = 512, TAR_NAME = 100, TAR_MODE = 0644 };

/* A ustar header (POSIX.1-2017, pax, "ustar Interchange Format"). Numbers are octal, and fields
 * that are not set are zeros. Readers use libarchive; the writer cannot, because libarchive would
 * end the application when memory is short. */
typedef struct {
    char name[TAR_NAME], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100],
        magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], padding[12];
} TarHeader;
_Static_assert(sizeof(TarHeader) == TAR_BLOCK, "the same");

static void tar_checksum(TarHeader *h)
{
    uint32_t sum = 0;
    memset(h->checksum, ' ', sizeof h->checksum);
    for (size_t i = 0; i < sizeof *h; i++)
        sum += ((const uint8_t *)h)[i];
    snprintf(h->checksum, sizeof h->checksum, "%06o", sum);
}

static void tar_add(Vector *out, const char *name, const void *data, uint32_t n, int64_t mtime)
{
    static const uint8_t zeros[TAR_BLOCK];
    TarHeader h = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    memcpy(h.name, name, MIN(strlen(name), sizeof h.name));
    snprintf(h.mode, sizeof h.mode, "%07o", (uint32_t)TAR_MODE);
    snprintf(h.uid, sizeof h.uid, "%07o", 0u);
    snprintf(h.gid, sizeof h.gid, "%07o", 0u);
    snprintf(h.size, sizeof h.size, "%011o", n);
    snprintf(h.mtime, sizeof h.mtime, "%011llo",
             (unsigned long long)CLAMP(mtime, 0, (1LL << 33) - 1));
    tar_checksum(&h);
    vector_append_all(out, (const uint8_t *)&h, sizeof h);
    vector_append_all(out, data, n);
    vector_append_all(out, zeros, -n % TAR_BLOCK);
}

uint64_t container_tar_bytes(uint64_t n)
{
    return TAR_BLOCK + n + -n % TAR_BLOCK;
}

static void tar_end(Vector *out)
{
    static const uint8_t zeros[2 * TAR_BLOCK];
    vector_append_all(out, zeros, sizeof zeros);
}

void container_add(ContainerWriter *w, const char *name, const void *data, size_t n)
{
    if (w->problem)
        return;
    if (n > INT32_MAX) {
        problem(w, "a member is larger than 2 GB");
        return;
    }
    /* A large member gets a frame of its own, so that small members can be read without it. */
    if (w->pending->len + n > FRAME_BYTES)
        end_frame(w);
    tar_add(w->pending, name, data, (uint32_t)n, w->mtime);
    buf_string(&w->members, name);
    buf_unsigned(&w->members, n);
    w->n_members++;
    if (w->pending->len >= FRAME_BYTES)
        end_frame(w);
}

void container_add_coded(ContainerWriter *w, const char *name, const void *data, size_t n)
{
    end_frame(w);
    w->is_coded = true;
    container_add(w, name, data, n);
}

static void put_index(Vector *file, WendBuf frame)
{
    uint32_t head[2] = {htole32(CONTAINER_SKIPPABLE),
                        htole32((uint32_t)frame.len + CONTAINER_TRAILER)};
    uint64_t hash = htole64(XXH64(frame.data, frame.len, 0));
    uint32_t length = htole32((uint32_t)frame.len);
    vector_append_all(file, (const uint8_t *)head, sizeof head);
    vector_append_all(file, frame.data, frame.len);
    vector_append_all(file, (const uint8_t *)&hash, sizeof hash);
    vector_append_all(file, (const uint8_t *)&length, sizeof length);
    vector_append_all(file, (const uint8_t *)CONTAINER_MAGIC, 4);
}

void container_put_index(Vector *file, uint32_t n, const WendBuf *entries)
{
    WendBuf frame = WEND_BUF_INIT;
    buf_unsigned(&frame, n);
    buf_bytes(&frame, entries->data, entries->len);
    put_index(file, frame);
    buf_clear(&frame);
}

/* The memory that writing a file takes: PATHS copies of its path, and FILE_BYTES for messages. */
enum { PATHS = 8, FILE_BYTES = 16 << 10 };

/* Ends the tar and the index. Returns the path of the file (memory_free), or NULL and the error. */
static char *end_container(ContainerWriter *w, const char *dir, const char *file, Error **error)
{
    tar_end(w->pending);
    if (!w->problem)
        end_frame(w);
    /* An archive of one frame needs no index, which would be an eighth of a small archive. */
    if (!w->problem && w->n_frames > 1)
        container_put_index(w->file, w->n_frames, &w->index);
    if (w->problem) {
        error_set(error, WEND_ERROR_SYSTEM, "%s/%s: cannot write: %s", dir, file, w->problem);
        return NULL;
    }
    char *path = string_path(dir, file);
    memory_reserve(PATHS * (strlen(path) + 1) + FILE_BYTES);
    return path;
}

bool container_finish(ContainerWriter *w, const char *dir, const char *file, uint64_t *bytes,
                      Error **error)
{
    AUTOFREE char *path = end_container(w, dir, file, error);
    bool good = path
                && file_write(path, w->file->data, w->file->len,
                              WEND_FILE_REPLACE | WEND_FILE_DURABLE | WEND_FILE_REGULAR, error);
    if (bytes)
        *bytes = w->file->len;
    container_writer_free(w);
    return good;
}

/* -- frames of other processes -- */

Vector *container_take_frame(ContainerWriter *w, Error **error)
{
    if (!w->problem)
        end_frame(w);
    Vector *frame = NULL;
    if (w->problem) {
        error_set(error, WEND_ERROR_SYSTEM, "cannot make a shard: %s", w->problem);
    } else {
        frame = w->file;
        w->file = vector_new(1);
    }
    container_writer_free(w);
    return frame;
}

Vector *container_take_file(ContainerWriter *w, Error **error)
{
    AUTOFREE char *path = end_container(w, ".", CONTAINER_FILE, error);
    Vector *file = path ? w->file : NULL;
    if (path)
        w->file = vector_new(1);
    container_writer_free(w);
    return file;
}

uint64_t container_add_room(ContainerWriter *w, const char *name, uint64_t n, uint64_t bytes)
{
    uint64_t offset = w->front;
    VECTOR_APPEND(w->rooms, offset);
    buf_string(&w->members, name);
    buf_unsigned(&w->members, n);
    w->n_members = 1;
    index_frame(w, bytes, container_tar_bytes(n));
    w->front += bytes;
    return offset;
}

bool container_begin(ContainerWriter *w, const char *dir, const char *file, SharedFile *out,
                     uint64_t *bytes, Error **error)
{
    AUTOFREE char *path = end_container(w, dir, file, error);
    *out = (SharedFile){.is_open = false};
    bool good = path && shared_file_begin(out, path, error)
                && shared_file_write(out, w->front, w->file->data, w->file->len, error);
    for (uint32_t i = 0; good && i < w->rooms->len; i++)
        good = shared_file_mark(out, VECTOR_AT(w->rooms, uint64_t, i), error);
    good = good && shared_file_share(out, error);
    if (!good)
        shared_file_abandon(out);
    *bytes = w->front + w->file->len;
    container_writer_free(w);
    return good;
}

void container_writer_free(ContainerWriter *w)
{
    if (!w)
        return;
    vector_unref(w->pending);
    vector_unref(w->file);
    vector_unref(w->rooms);
    buf_clear(&w->members);
    buf_clear(&w->index);
    memory_free(w->problem);
    memory_free(w);
}
