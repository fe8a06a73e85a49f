/* bundle-write.c: members -> tar -> frames -> file. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "buf.h"
#include "bundle-index.h"
#include "file-write.h"

/* The application waits for it: the first level takes about half a second for each MB; the other a twentieth of that, and gives a tenth more. */
enum { FRAME_BYTES = 1 << 20, LEVEL = 19, LARGE_LEVEL = 9, LARGE_BYTES = 4 << 20 };

struct BundleWriter {
    struct archive *tar;
    GByteArray *pending;      /* tar bytes of the frame being filled */
    GByteArray *file;
    WendBuf members;          /* of the frame being filled */
    guint n_members;
    WendBuf index;            /* of the frames done */
    guint n_frames;
    guint64 total;
    gint64 mtime;
    char *problem;            /* the first one; reported at the end */
};

static la_ssize_t take(struct archive *a, void *data, const void *bytes, size_t n)
{
    BundleWriter *w = data;
    if (n > G_MAXINT32 - w->pending->len) {
        archive_set_error(a, ENOMEM, "a member is larger than 2 GB");
        return -1;
    }
    g_byte_array_append(w->pending, bytes, n);
    return n;
}

static void problem(BundleWriter *w, const char *what)
{
    if (!w->problem) w->problem = g_strdup(what ? what : "unknown error");
}

BundleWriter *bundle_writer_new(gint64 mtime)
{
    BundleWriter *w = g_new0(BundleWriter, 1);
    w->pending = g_byte_array_new();
    w->file = g_byte_array_new();
    w->mtime = mtime;
    w->tar = archive_write_new();
    if (!w->tar || archive_write_set_format_pax_restricted(w->tar) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(w->tar, 0) != ARCHIVE_OK || /* no blocking: frames are cut between entries */
        archive_write_open(w->tar, w, NULL, take, NULL) != ARCHIVE_OK)
        problem(w, w->tar ? archive_error_string(w->tar) : "out of memory");
    return w;
}

static void end_frame(BundleWriter *w)
{
    if (w->pending->len == 0) return;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    gsize bound = ZSTD_compressBound(w->pending->len);
    w->total += w->pending->len;
    guint at = w->file->len;
    if (!z || at + bound > G_MAXUINT32) {
        problem(w, z ? "the archive would be larger than 4 GB" : "out of memory");
        ZSTD_freeCCtx(z);
        return;
    }
    g_byte_array_set_size(w->file, at + bound);
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, w->total > LARGE_BYTES ? LARGE_LEVEL : LEVEL);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(z, w->file->data + at, bound, w->pending->data, w->pending->len);
    ZSTD_freeCCtx(z);
    if (ZSTD_isError(n)) {
        problem(w, ZSTD_getErrorName(n));
        return;
    }
    g_byte_array_set_size(w->file, at + n);
    wend_buf_unsigned(&w->index, n);
    wend_buf_unsigned(&w->index, w->pending->len);
    wend_buf_unsigned(&w->index, w->n_members);
    wend_buf_bytes(&w->index, w->members.data, w->members.len);
    wend_buf_clear(&w->members);
    w->n_members = 0;
    w->n_frames++;
    g_byte_array_set_size(w->pending, 0);
}

void bundle_add(BundleWriter *w, const char *name, const void *data, gsize n)
{
    if (w->problem) return;
    /* a large member gets frames of its own, so that the small ones can be read without it */
    if (w->pending->len + n > FRAME_BYTES) end_frame(w);
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_size(e, n);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_mtime(e, w->mtime, 0);
    if (archive_write_header(w->tar, e) != ARCHIVE_OK || (n && archive_write_data(w->tar, data, n) != (la_ssize_t)n) ||
        archive_write_finish_entry(w->tar) != ARCHIVE_OK)
        problem(w, archive_error_string(w->tar));
    archive_entry_free(e);
    wend_buf_string(&w->members, name);
    wend_buf_unsigned(&w->members, n);
    w->n_members++;
    if (w->pending->len >= FRAME_BYTES) end_frame(w);
}

static void end_index(BundleWriter *w)
{
    WendBuf frame = WEND_BUF_INIT;
    wend_buf_unsigned(&frame, w->n_frames);
    wend_buf_bytes(&frame, w->index.data, w->index.len);
    if (frame.failed || w->index.failed || w->members.failed) problem(w, "out of memory");
    guint32 head[2] = {GUINT32_TO_LE(BUNDLE_SKIPPABLE), GUINT32_TO_LE((guint32)frame.len + BUNDLE_TRAILER)};
    guint64 hash = GUINT64_TO_LE(XXH64(frame.data, frame.len, 0));
    guint32 length = GUINT32_TO_LE((guint32)frame.len);
    g_byte_array_append(w->file, (const guint8 *)head, sizeof head);
    g_byte_array_append(w->file, frame.data, frame.len);
    g_byte_array_append(w->file, (const guint8 *)&hash, sizeof hash);
    g_byte_array_append(w->file, (const guint8 *)&length, sizeof length);
    g_byte_array_append(w->file, (const guint8 *)BUNDLE_MAGIC, 4);
    wend_buf_clear(&frame);
}

gboolean bundle_finish(BundleWriter *w, const char *dir, const char *file, guint64 *bytes, GError **error)
{
    if (!w->problem && archive_write_close(w->tar) != ARCHIVE_OK) problem(w, archive_error_string(w->tar));
    if (!w->problem) end_frame(w);
    if (!w->problem && w->n_frames > 1) end_index(w); /* of one frame a reader needs no index, and it would be an eighth of a small archive */
    gboolean good = !w->problem;
    if (!good) g_set_error(error, WEND_ERROR, WEND_ERROR_SYSTEM, "%s/%s: cannot write: %s", dir, file, w->problem);
    g_autofree char *path = g_build_filename(dir, file, NULL);
    good = good
           && wend_file_write(path, w->file->data, w->file->len,
                              WEND_FILE_REPLACE | WEND_FILE_DURABLE | WEND_FILE_REGULAR, error);
    if (bytes) *bytes = w->file->len;
    bundle_writer_free(w);
    return good;
}

void bundle_writer_free(BundleWriter *w)
{
    if (!w) return;
    archive_write_free(w->tar);
    g_byte_array_unref(w->pending);
    g_byte_array_unref(w->file);
    wend_buf_clear(&w->members);
    wend_buf_clear(&w->index);
    g_free(w->problem);
    g_free(w);
}
