/* SPDX-License-Identifier: BSD-3-Clause */
/* container-store.c: adds a member to an archive, for commands. An archive of one frame is made
 * again, so that the member shares what the others have. In another one the member gets a frame of
 * its own, before the others: the last frame has the end of the tar. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/base.h"
#include "base/file-write.h"
#include "container-index.h"

/* -- archives of one frame -- */

/* The writer of B's members, without NAME. NULL: one of them is damaged. */
static ContainerWriter *writer_of_members(Container *b, const char *name, gint64 mtime,
                                          GError **error)
{
    static const char *const first[] = {"program", "meta"}; /* as they are written */
    g_autoptr(GPtrArray) names = container_names(b);
    ContainerWriter *w = container_writer_new(mtime);
    for (guint i = 0; i < G_N_ELEMENTS(first) + names->len; i++) {
        gboolean is_first = i < G_N_ELEMENTS(first);
        const char *member = is_first ? first[i] : names->pdata[i - G_N_ELEMENTS(first)];
        if (strcmp(member, name) == 0
            || (!is_first && (strcmp(member, first[0]) == 0 || strcmp(member, first[1]) == 0)))
            continue;
        g_autoptr(GBytes) bytes = container_member(b, member, error);
        if (!bytes) {
            container_writer_free(w);
            return NULL;
        }
        container_add(w, member, g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    }
    return w;
}

static GByteArray *made_again(Container *b, const char *name, const void *data, gsize n,
                              gint64 mtime, GError **error)
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
    guint n;
    GByteArray *file;
} Indexed;

/* Takes the next frame of the old file, at *OFFSET, unless it has NAME. */
static gboolean take_frame(Indexed *x, const guint8 *old, gsize n_old, gsize *offset,
                           const char *name)
{
    const guint8 *from = x->index.p;
    guint64 bytes = wend_cursor_unsigned(&x->index);
    wend_cursor_unsigned(&x->index);
    gboolean has_name = FALSE;
    for (gsize k = wend_cursor_count(&x->index, 2); k > 0 && !x->index.failed; k--) {
        WendCursor member = wend_cursor_block(&x->index);
        wend_cursor_unsigned(&x->index);
        has_name |= (gsize)(member.end - member.p) == strlen(name)
                    && memcmp(member.p, name, strlen(name)) == 0;
    }
    if (x->index.failed || bytes > n_old - *offset)
        return FALSE;
    if (!has_name) {
        g_byte_array_append(x->file, old + *offset, (guint)bytes);
        wend_buf_bytes(&x->entries, from, (size_t)(x->index.p - from));
        x->n++;
    }
    *offset += bytes;
    return TRUE;
}

/* The file with FRAME before the frames of OLD, whose index was checked when it was opened. */
static GByteArray *with_frame(const guint8 *old, gsize n_old, const GByteArray *frame,
                              const char *name, gsize n)
{
    guint32 length;
    gsize offset = 0;
    memcpy(&length, old + n_old - 8, sizeof length);
    length = GUINT32_FROM_LE(length);
    const guint8 *start = old + n_old - CONTAINER_TRAILER - length;
    Indexed x = {.index = wend_cursor(start, length), .file = g_byte_array_new()};
    wend_buf_unsigned(&x.entries, frame->len);
    wend_buf_unsigned(&x.entries, container_tar_bytes(n));
    wend_buf_unsigned(&x.entries, 1);
    wend_buf_string(&x.entries, name);
    wend_buf_unsigned(&x.entries, n);
    x.n = 1;
    g_byte_array_append(x.file, frame->data, frame->len);
    gboolean good = TRUE;
    for (gsize left = wend_cursor_count(&x.index, 3); good && left > 0; left--)
        good = take_frame(&x, old, n_old, &offset, name);
    if (!good || !container_put_index(x.file, x.n, &x.entries))
        g_clear_pointer(&x.file, g_byte_array_unref);
    wend_buf_clear(&x.entries);
    return x.file;
}

static GByteArray *with_member(const char *path, const char *name, const void *data, gsize n,
                               gint64 mtime, GError **error)
{
    g_autoptr(GMappedFile) old = g_mapped_file_new(path, FALSE, error);
    if (!old)
        return NULL;
    ContainerWriter *w = container_writer_new(mtime);
    container_add(w, name, data, n);
    GByteArray *frame = container_take_frame(w, error);
    if (!frame)
        return NULL;
    GByteArray *file = with_frame((const guint8 *)g_mapped_file_get_contents(old),
                                  g_mapped_file_get_length(old), frame, name, n);
    g_byte_array_unref(frame);
    if (!file)
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: damaged: its index makes no sense",
                    path);
    return file;
}

/* -- all -- */

gboolean container_store(const char *path, const char *name, const void *data, gsize n,
                         guint64 most, gboolean *stored, GError **error)
{
    Container *b = container_open(path, error);
    *stored = FALSE;
    if (!b)
        return FALSE;
    guint64 before = container_file_bytes(b);
    gint64 mtime = container_mtime(b);
    GByteArray *file = container_has_index(b) ? with_member(path, name, data, n, mtime, error)
                                              : made_again(b, name, data, n, mtime, error);
    container_free(b);
    if (!file)
        return FALSE;
    gboolean good = TRUE;
    if (file->len <= before || file->len - before <= most)
        *stored = good =
            wend_file_write(path, file->data, file->len,
                            WEND_FILE_REPLACE | WEND_FILE_DURABLE | WEND_FILE_REGULAR, error);
    g_byte_array_unref(file);
    return good;
}
