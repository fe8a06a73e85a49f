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
    GByteArray *pending; /* tar bytes of the frame being filled */
    GByteArray *file;
    WendBuf members; /* index entries of that frame's members */
    guint n_members;
    WendBuf index; /* index entries of the frames that are finished */
    guint n_frames;
    guint64 total;
    gboolean is_coded; /* the frame being filled hardly compresses */
    GArray *rooms;     /* guint64: offsets of the frames of other processes */
    guint64 front;     /* bytes of these frames, which come before FILE */
    gint64 mtime;
    char *problem; /* the first problem, reported at the end; NULL: none */
};

static void problem(ContainerWriter *w, const char *what)
{
    if (!w->problem)
        w->problem = g_strdup(what ? what : "unknown error");
}

ContainerWriter *container_writer_new(gint64 mtime)
{
    ContainerWriter *w = g_new0(ContainerWriter, 1);
    w->pending = g_byte_array_new();
    w->file = g_byte_array_new();
    w->rooms = g_array_new(FALSE, FALSE, sizeof(guint64));
    w->mtime = mtime;
    return w;
}

/* A bound of the memory that compressing BYTES takes. Measured with Zstandard 1.5.4: 200 KB and 18
 * to 30 times the bytes at LEVEL, 13 MB at LARGE_LEVEL. */
static guint64 compressor_memory(gsize bytes, gboolean large)
{
    enum { LEAST = 256 << 10, TIMES = 32, LARGE_MOST = 16 << 20 };
    return large ? LARGE_MOST : LEAST + TIMES * (guint64)bytes;
}

/* Adds to the index a frame with w->members, of BYTES bytes in the file and EXPANDED bytes of
 * tar. */
static void index_frame(ContainerWriter *w, guint64 bytes, guint64 expanded)
{
    wend_buf_unsigned(&w->index, bytes);
    wend_buf_unsigned(&w->index, expanded);
    wend_buf_unsigned(&w->index, w->n_members);
    wend_buf_bytes(&w->index, w->members.data, w->members.len);
    wend_buf_clear(&w->members);
    w->n_members = 0;
    w->n_frames++;
}

static void end_frame(ContainerWriter *w)
{
    if (w->pending->len == 0)
        return;
    gsize bound = ZSTD_compressBound(w->pending->len);
    w->total += w->pending->len;
    gboolean large = w->total > LARGE_BYTES || w->is_coded;
    guint at = w->file->len;
    if (at + bound > G_MAXUINT32) {
        problem(w, "the archive would be larger than 4 GB");
        return;
    }
    g_byte_array_set_size(w->file, at + bound);
    if (wend_shortage_ahead(compressor_memory(w->pending->len, large)))
        wend_shortage();
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
    g_byte_array_set_size(w->file, at + n);
    index_frame(w, n, w->pending->len);
    g_byte_array_set_size(w->pending, 0);
    w->is_coded = FALSE;
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
G_STATIC_ASSERT(sizeof(TarHeader) == TAR_BLOCK);

static void tar_checksum(TarHeader *h)
{
    guint sum = 0;
    memset(h->checksum, ' ', sizeof h->checksum);
    for (gsize i = 0; i < sizeof *h; i++)
        sum += ((const guint8 *)h)[i];
    snprintf(h->checksum, sizeof h->checksum, "%06o", sum);
}

static void tar_add(GByteArray *out, const char *name, const void *data, guint n, gint64 mtime)
{
    static const guint8 zeros[TAR_BLOCK];
    TarHeader h = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
    memcpy(h.name, name, MIN(strlen(name), sizeof h.name));
    snprintf(h.mode, sizeof h.mode, "%07o", (guint)TAR_MODE);
    snprintf(h.uid, sizeof h.uid, "%07o", 0u);
    snprintf(h.gid, sizeof h.gid, "%07o", 0u);
    snprintf(h.size, sizeof h.size, "%011o", n);
    snprintf(h.mtime, sizeof h.mtime, "%011llo",
             (unsigned long long)CLAMP(mtime, 0, (1LL << 33) - 1));
    tar_checksum(&h);
    g_byte_array_append(out, (const guint8 *)&h, sizeof h);
    g_byte_array_append(out, data, n);
    g_byte_array_append(out, zeros, -n % TAR_BLOCK);
}

guint64 container_tar_bytes(guint64 n)
{
    return TAR_BLOCK + n + -n % TAR_BLOCK;
}

static void tar_end(GByteArray *out)
{
    static const guint8 zeros[2 * TAR_BLOCK];
    g_byte_array_append(out, zeros, sizeof zeros);
}

void container_add(ContainerWriter *w, const char *name, const void *data, gsize n)
{
    if (w->problem)
        return;
    if (n > G_MAXINT32) {
        problem(w, "a member is larger than 2 GB");
        return;
    }
    /* A large member gets a frame of its own, so that small members can be read without it. */
    if (w->pending->len + n > FRAME_BYTES)
        end_frame(w);
    tar_add(w->pending, name, data, (guint)n, w->mtime);
    wend_buf_string(&w->members, name);
    wend_buf_unsigned(&w->members, n);
    w->n_members++;
    if (w->pending->len >= FRAME_BYTES)
        end_frame(w);
}

void container_add_coded(ContainerWriter *w, const char *name, const void *data, gsize n)
{
    end_frame(w);
    w->is_coded = TRUE;
    container_add(w, name, data, n);
}

static void put_index(GByteArray *file, WendBuf frame)
{
    guint32 head[2] = {GUINT32_TO_LE(CONTAINER_SKIPPABLE),
                       GUINT32_TO_LE((guint32)frame.len + CONTAINER_TRAILER)};
    guint64 hash = GUINT64_TO_LE(XXH64(frame.data, frame.len, 0));
    guint32 length = GUINT32_TO_LE((guint32)frame.len);
    g_byte_array_append(file, (const guint8 *)head, sizeof head);
    g_byte_array_append(file, frame.data, frame.len);
    g_byte_array_append(file, (const guint8 *)&hash, sizeof hash);
    g_byte_array_append(file, (const guint8 *)&length, sizeof length);
    g_byte_array_append(file, (const guint8 *)CONTAINER_MAGIC, 4);
}

gboolean container_put_index(GByteArray *file, guint n, const WendBuf *entries)
{
    WendBuf frame = WEND_BUF_INIT;
    wend_buf_unsigned(&frame, n);
    wend_buf_bytes(&frame, entries->data, entries->len);
    gboolean good = !frame.failed && !entries->failed;
    if (good)
        put_index(file, frame);
    wend_buf_clear(&frame);
    return good;
}

static void end_index(ContainerWriter *w)
{
    if (w->members.failed || !container_put_index(w->file, w->n_frames, &w->index))
        problem(w, "out of memory");
}

/* The memory that writing a file takes: PATHS copies of its path, and FILE_BYTES for messages. */
enum { PATHS = 8, FILE_BYTES = 16 << 10 };

/* Ends the tar and the index. Returns the path of the file (g_free), or NULL and the error. */
static char *end_container(ContainerWriter *w, const char *dir, const char *file, GError **error)
{
    tar_end(w->pending);
    if (!w->problem)
        end_frame(w);
    /* An archive of one frame needs no index, which would be an eighth of a small archive. */
    if (!w->problem && w->n_frames > 1)
        end_index(w);
    if (w->problem) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_SYSTEM, "%s/%s: cannot write: %s", dir, file,
                    w->problem);
        return NULL;
    }
    char *path = g_build_filename(dir, file, NULL);
    wend_shortage_reserve(PATHS * (strlen(path) + 1) + FILE_BYTES);
    return path;
}

gboolean container_finish(ContainerWriter *w, const char *dir, const char *file, guint64 *bytes,
                          GError **error)
{
    g_autofree char *path = end_container(w, dir, file, error);
    gboolean good =
        path
        && wend_file_write(path, w->file->data, w->file->len,
                           WEND_FILE_REPLACE | WEND_FILE_DURABLE | WEND_FILE_REGULAR, error);
    if (bytes)
        *bytes = w->file->len;
    container_writer_free(w);
    return good;
}

/* -- frames of other processes -- */

GByteArray *container_take_frame(ContainerWriter *w, GError **error)
{
    if (!w->problem)
        end_frame(w);
    GByteArray *frame = NULL;
    if (w->problem) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_SYSTEM, "cannot make a shard: %s", w->problem);
    } else {
        frame = w->file;
        w->file = g_byte_array_new();
    }
    container_writer_free(w);
    return frame;
}

GByteArray *container_take_file(ContainerWriter *w, GError **error)
{
    g_autofree char *path = end_container(w, ".", CONTAINER_FILE, error);
    GByteArray *file = path ? w->file : NULL;
    if (path)
        w->file = g_byte_array_new();
    container_writer_free(w);
    return file;
}

guint64 container_add_room(ContainerWriter *w, const char *name, guint64 n, guint64 bytes)
{
    guint64 offset = w->front;
    g_array_append_val(w->rooms, offset);
    wend_buf_string(&w->members, name);
    wend_buf_unsigned(&w->members, n);
    w->n_members = 1;
    index_frame(w, bytes, container_tar_bytes(n));
    w->front += bytes;
    return offset;
}

gboolean container_begin(ContainerWriter *w, const char *dir, const char *file, SharedFile *out,
                         guint64 *bytes, GError **error)
{
    g_autofree char *path = end_container(w, dir, file, error);
    *out = (SharedFile){.is_open = FALSE};
    gboolean good = path && shared_file_begin(out, path, error)
                    && shared_file_write(out, w->front, w->file->data, w->file->len, error);
    for (guint i = 0; good && i < w->rooms->len; i++)
        good = shared_file_mark(out, g_array_index(w->rooms, guint64, i), error);
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
    g_byte_array_unref(w->pending);
    g_byte_array_unref(w->file);
    g_array_unref(w->rooms);
    wend_buf_clear(&w->members);
    wend_buf_clear(&w->index);
    g_free(w->problem);
    g_free(w);
}
