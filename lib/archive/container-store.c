/* SPDX-License-Identifier: BSD-3-Clause */
/* container-store.c: adds a member to an archive, for commands. An archive of one frame is made
 * again, so that the member shares what the others have. In another one the member gets a frame of
 * its own, before the others: the last frame has the end of the tar. */
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/base.h"
#include "base/file-write.h"
#include "base/regular.h"
#include "container-index.h"

/* -- archives of one frame -- */

/* The writer of B's members, without NAME. NULL: one of them is damaged. */
static ContainerWriter *writer_of_members(Container *b, const char *name, int64_t mtime,
                                          Error **error)
{
    static const char *const first[] = {"program", "meta"}; /* as they are written */
    AUTO(Vector) names = container_names(b);
    ContainerWriter *w = container_writer_new(mtime);
    for (uint32_t i = 0; i < COUNT_OF(first) + names->len; i++) {
        bool is_first = i < COUNT_OF(first);
        const char *member = is_first ? first[i] : VECTOR_POINTER(names, i - COUNT_OF(first));
        if (strcmp(member, name) == 0
            || (!is_first && (strcmp(member, first[0]) == 0 || strcmp(member, first[1]) == 0)))
            continue;
        AUTO(Bytes) bytes = container_member(b, member, error);
        if (!bytes) {
            container_writer_free(w);
            return NULL;
        }
        container_add(w, member, bytes->data, bytes->n);
    }
    return w;
}

static Vector *made_again(Container *b, const char *name, const void *data, size_t n, int64_t mtime,
                          Error **error)
{
    ContainerWriter *w = writer_of_members(b, name, mtime, error);
    if (!w)
        return NULL;
    container_add(w, name, data, n);
    return container_take_file(w, error);
}

/* -- archives with an index -- */

typedef struct {
    WendCursor index; /* what is left of the old one */
    WendBuf entries;  /* of the new one */
    uint32_t n;
    Vector *file;
} Indexed;

/* Takes the next frame of the old file, at *OFFSET, unless it has NAME. */
static bool take_frame(Indexed *x, const uint8_t *old, size_t n_old, size_t *offset,
                       const char *name)
{
    const uint8_t *from = x->index.p;
    uint64_t bytes = cursor_unsigned(&x->index);
    cursor_unsigned(&x->index);
    bool has_name = false;
    for (size_t k = cursor_count(&x->index, 2); k > 0 && !x->index.failed; k--) {
        WendCursor member = cursor_block(&x->index);
        cursor_unsigned(&x->index);
        has_name |= (size_t)(member.end - member.p) == strlen(name)
                    && memcmp(member.p, name, strlen(name)) == 0;
    }
    if (x->index.failed || bytes > n_old - *offset)
        return false;
    if (!has_name) {
        vector_append_all(x->file, old + *offset, (uint32_t)bytes);
        buf_bytes(&x->entries, from, (size_t)(x->index.p - from));
        x->n++;
    }
    *offset += bytes;
    return true;
}

/* The file with FRAME before the frames of OLD, whose index was checked when it was opened. */
static Vector *with_frame(const uint8_t *old, size_t n_old, const Vector *frame, const char *name,
                          size_t n)
{
    uint32_t length;
    size_t offset = 0;
    memcpy(&length, old + n_old - 8, sizeof length);
    length = le32toh(length);
    const uint8_t *start = old + n_old - CONTAINER_TRAILER - length;
    Indexed x = {.index = cursor_of(start, length), .file = vector_new(1)};
    buf_unsigned(&x.entries, frame->len);
    buf_unsigned(&x.entries, container_tar_bytes(n));
    buf_unsigned(&x.entries, 1);
    buf_string(&x.entries, name);
    buf_unsigned(&x.entries, n);
    x.n = 1;
    vector_append_all(x.file, frame->data, frame->len);
    bool good = true;
    for (size_t left = cursor_count(&x.index, 3); good && left > 0; left--)
        good = take_frame(&x, old, n_old, &offset, name);
    if (good)
        container_put_index(x.file, x.n, &x.entries);
    else
        CLEAR(x.file, vector_unref);
    buf_clear(&x.entries);
    return x.file;
}

static Bytes *whole_file(const char *path, Error **error)
{
    uint64_t n;
    int fd = regular_open(path, &n, NULL, error);
    if (fd < 0)
        return NULL;
    uint8_t *data = memory_new_or_null(n);
    bool good = data && regular_read(fd, 0, data, n);
    close(fd);
    if (good)
        return bytes_take(data, n);
    memory_free(data);
    error_set(error, WEND_ERROR_SYSTEM, "%s: cannot read it", path);
    return NULL;
}

static Vector *with_member(const char *path, const char *name, const void *data, size_t n,
                           int64_t mtime, Error **error)
{
    AUTO(Bytes) old = whole_file(path, error);
    if (!old)
        return NULL;
    ContainerWriter *w = container_writer_new(mtime);
    container_add(w, name, data, n);
    Vector *frame = container_take_frame(w, error);
    if (!frame)
        return NULL;
    Vector *file = with_frame(old->data, old->n, frame, name, n);
    vector_unref(frame);
    if (!file)
        error_set(error, WEND_ERROR_INPUT, "%s: damaged: its index makes no sense", path);
    return file;
}

/* -- all -- */

bool container_store(const char *path, const char *name, const void *data, size_t n, uint64_t most,
                     bool *stored, Error **error)
{
    Container *b = container_open(path, error);
    *stored = false;
    if (!b)
        return false;
    uint64_t before = container_file_bytes(b);
    int64_t mtime = container_mtime(b);
    Vector *file = container_has_index(b) ? with_member(path, name, data, n, mtime, error)
                                          : made_again(b, name, data, n, mtime, error);
    container_free(b);
    if (!file)
        return false;
    bool good = true;
    if (file->len <= before || file->len - before <= most)
        *stored = good =
            file_write(path, file->data, file->len,
                       WEND_FILE_REPLACE | WEND_FILE_DURABLE | WEND_FILE_REGULAR, error);
    vector_unref(file);
    return good;
}
