/* bundle-read.c: file -> frames -> tar -> members. Everything in the file may be a lie. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "buf.h"
#include "bundle-index.h"
#include "file-write.h"
#include "saved.h"

typedef struct { gsize offset, bytes; gboolean loaded; } Frame;

struct Bundle {
    char *name;
    GBytes *file;
    GArray *frames;
    GHashTable *members;       /* name -> GBytes; of the frames loaded */
    GHashTable *frame_of;      /* name -> frame + 1, by the index */
    guint64 member_bytes;      /* by the index */
};

static gboolean fail(const Bundle *b, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean fail(const Bundle *b, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: %s", b->name, text);
    return FALSE;
}

/* -- frames -- */

/* No frame expands more than 128 KB for each block of four bytes. */
static gboolean plausible(unsigned long long content, gsize frame)
{
    return content <= (unsigned long long)frame * 33000 + (128 << 10);
}

static GBytes *expand(const Bundle *b, const guint8 *p, gsize n, GError **error)
{
    unsigned long long content = ZSTD_getFrameContentSize(p, n);
    if (content == ZSTD_CONTENTSIZE_ERROR || (content != ZSTD_CONTENTSIZE_UNKNOWN && !plausible(content, n))) {
        fail(b, error, "damaged: a frame's header makes no sense");
        return NULL;
    }
    ZSTD_DCtx *z = ZSTD_createDCtx();
    ZSTD_inBuffer in = {p, n, 0};
    GByteArray *out = g_byte_array_new(); /* grows with what is really there */
    const guint step = ZSTD_DStreamOutSize();
    const char *problem = z ? NULL : "out of memory";
    size_t left = 1;
    while (!problem && left != 0) {
        guint at = out->len;
        if (at > G_MAXUINT32 - 2 * step) {
            problem = "a frame is larger than 4 GB";
            break;
        }
        g_byte_array_set_size(out, at + step);
        ZSTD_outBuffer chunk = {out->data + at, step, 0};
        left = ZSTD_decompressStream(z, &chunk, &in);
        g_byte_array_set_size(out, at + chunk.pos);
        if (ZSTD_isError(left)) problem = ZSTD_getErrorName(left);
        else if (left != 0 && in.pos == in.size && chunk.pos < step) problem = "a frame ends too early";
    }
    ZSTD_freeDCtx(z);
    if (!problem) return g_byte_array_free_to_bytes(out);
    g_byte_array_unref(out);
    fail(b, error, "damaged: %s", problem);
    return NULL;
}

/* Adds the members in a row of tar entries. */
static gboolean load_tar(Bundle *b, GBytes *tar, GError **error)
{
    gsize n;
    const void *data = g_bytes_get_data(tar, &n);
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    gboolean good = a && archive_read_support_format_tar(a) == ARCHIVE_OK && archive_read_open_memory(a, data, n) == ARCHIVE_OK;
    if (!good) fail(b, error, "damaged: no tar entries in a frame");
    int status = ARCHIVE_EOF;
    while (good && (status = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
        gint64 size = archive_entry_size(e);
        const char *name = archive_entry_pathname(e);
        if (!name || size < 0 || (guint64)size > n) {
            good = fail(b, error, "damaged: a member's size makes no sense");
            break;
        }
        guint8 *bytes = g_malloc(size + 1);
        gsize at = 0;
        la_ssize_t got = 1;
        while (at < (gsize)size && (got = archive_read_data(a, bytes + at, size - at)) > 0) at += got;
        if (at < (gsize)size) {
            good = fail(b, error, "member %s is truncated", name);
            g_free(bytes);
            break;
        }
        g_hash_table_replace(b->members, g_strdup(name), g_bytes_new_take(bytes, size));
    }
    if (good && status != ARCHIVE_EOF) good = fail(b, error, "damaged: %s", archive_error_string(a) ? archive_error_string(a) : "no tar");
    if (a) archive_read_free(a);
    return good;
}

static gboolean load_frame(Bundle *b, Frame *f, GError **error)
{
    if (f->loaded) return TRUE;
    GBytes *tar = expand(b, (const guint8 *)g_bytes_get_data(b->file, NULL) + f->offset, f->bytes, error);
    if (!tar) return FALSE;
    f->loaded = TRUE;
    gboolean good = load_tar(b, tar, error);
    g_bytes_unref(tar);
    return good;
}

/* -- the index, or a file without one (packed again with other tools) -- */

static gboolean read_index(Bundle *b, const guint8 *p, gsize n, gsize end_of_frames, GError **error)
{
    WendCursor c = wend_cursor(p, n);
    gsize n_frames = wend_read_count(&c, 3), offset = 0;
    for (gsize i = 0; i < n_frames && !c.failed; i++) {
        guint64 bytes = wend_read_unsigned(&c);
        wend_read_unsigned(&c); /* expanded; the frame says so too */
        if (bytes > end_of_frames - offset) c.failed = true;
        Frame f = {offset, bytes, FALSE};
        offset += bytes;
        if (!c.failed) g_array_append_val(b->frames, f);
        gsize n_members = wend_read_count(&c, 2);
        for (gsize k = 0; k < n_members && !c.failed; k++) {
            WendCursor name = wend_read_block(&c);
            guint64 size = wend_read_unsigned(&c);
            if (c.failed) break;
            b->member_bytes += size;
            g_hash_table_replace(b->frame_of, g_strndup((const char *)name.p, name.end - name.p), GUINT_TO_POINTER((guint)i + 1));
        }
    }
    return c.failed || offset != end_of_frames ? fail(b, error, "damaged: its index makes no sense") : TRUE;
}

static gboolean scan(Bundle *b, const guint8 *p, gsize n, GError **error)
{
    for (gsize at = 0; at < n;) {
        size_t bytes = ZSTD_findFrameCompressedSize(p + at, n - at);
        if (ZSTD_isError(bytes)) return fail(b, error, "truncated or damaged at byte %" G_GSIZE_FORMAT, at);
        guint32 magic;
        memcpy(&magic, p + at, sizeof magic);
        Frame f = {at, bytes, FALSE};
        if (GUINT32_FROM_LE(magic) == BUNDLE_SKIPPABLE) return fail(b, error, "damaged: the end of its index is wrong");
        if ((GUINT32_FROM_LE(magic) & ZSTD_MAGIC_SKIPPABLE_MASK) != ZSTD_MAGIC_SKIPPABLE_START) {
            g_array_append_val(b->frames, f);
            if (!load_frame(b, &g_array_index(b->frames, Frame, b->frames->len - 1), error)) return FALSE;
        }
        at += bytes;
    }
    GHashTableIter iter;
    gpointer bytes;
    g_hash_table_iter_init(&iter, b->members);
    while (g_hash_table_iter_next(&iter, NULL, &bytes)) b->member_bytes += g_bytes_get_size(bytes);
    return TRUE;
}

static Bundle *bundle_new(GBytes *file, const char *name)
{
    Bundle *b = g_new0(Bundle, 1);
    b->name = g_strdup(name);
    b->file = g_bytes_ref(file);
    b->frames = g_array_new(FALSE, FALSE, sizeof(Frame));
    b->members = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    b->frame_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return b;
}

static Bundle *opened(Bundle *b, gboolean good)
{
    if (good) return b;
    bundle_free(b);
    return NULL;
}

Bundle *bundle_from_bytes(GBytes *file, const char *name, GError **error)
{
    Bundle *b = bundle_new(file, name);
    gsize n;
    const guint8 *p = g_bytes_get_data(file, &n);
    guint32 magic = 0;
    if (n == 0) return opened(b, fail(b, error, "is empty"));
    if (n >= sizeof magic) memcpy(&magic, p, sizeof magic);
    if (GUINT32_FROM_LE(magic) != ZSTD_MAGICNUMBER) return opened(b, fail(b, error, "is not a Wend archive"));
    if (n < 8 + BUNDLE_TRAILER || memcmp(p + n - 4, BUNDLE_MAGIC, 4) != 0) return opened(b, scan(b, p, n, error));
    guint64 hash;
    guint32 length;
    memcpy(&length, p + n - 8, sizeof length);
    memcpy(&hash, p + n - BUNDLE_TRAILER, sizeof hash);
    length = GUINT32_FROM_LE(length);
    if (length > n - 8 - BUNDLE_TRAILER) return opened(b, fail(b, error, "damaged: its index is longer than the file"));
    const guint8 *index = p + n - BUNDLE_TRAILER - length;
    guint32 head[2];
    memcpy(head, index - 8, sizeof head);
    if (GUINT32_FROM_LE(head[0]) != BUNDLE_SKIPPABLE || GUINT32_FROM_LE(head[1]) != length + BUNDLE_TRAILER)
        return opened(b, fail(b, error, "damaged: its index has no frame"));
    if (XXH64(index, length, 0) != GUINT64_FROM_LE(hash)) return opened(b, fail(b, error, "damaged: the checksum of its index is wrong"));
    return opened(b, read_index(b, index, length, n - BUNDLE_TRAILER - length - 8, error));
}

Bundle *bundle_from_members(GHashTable *members, const char *name)
{
    g_autoptr(GBytes) none = g_bytes_new(NULL, 0);
    Bundle *b = bundle_new(none, name);
    g_hash_table_unref(b->members);
    b->members = members;
    return b;
}

Bundle *bundle_open(const char *path, GError **error)
{
    g_autofree char *file = g_file_test(path, G_FILE_TEST_IS_DIR) ? g_build_filename(path, BUNDLE_FILE, NULL) : g_strdup(path);
    char *data;
    gsize n;
    GStatBuf info;
    g_autoptr(GError) problem = NULL;
    int number = g_stat(file, &info) == 0 ? 0 : errno;
    if (number != 0 || !g_file_get_contents(file, &data, &n, &problem)) {
        gboolean missing = number == ENOENT;
        g_autofree char *parts = g_build_filename(path, WEND_SAVED_FOLDER, NULL);
        if (missing && g_file_test(parts, G_FILE_TEST_IS_DIR))
            g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: the run did not come to its end: wend merge makes a recording of what it left", path);
        else if (missing && strcmp(file, path) != 0)
            g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: no %s in this directory: not a recording, or one that never ended", path, BUNDLE_FILE);
        else
            g_set_error(error, WEND_ERROR, wend_error_of_input(number), "%s: %s", file,
                        missing   ? "no such file or directory"
                        : problem ? problem->message
                                  : g_strerror(number));
        return NULL;
    }
    g_autoptr(GBytes) bytes = g_bytes_new_take(data, n);
    return bundle_from_bytes(bytes, file, error);
}

void bundle_free(Bundle *b)
{
    if (!b) return;
    g_hash_table_unref(b->members);
    g_hash_table_unref(b->frame_of);
    g_array_unref(b->frames);
    g_bytes_unref(b->file);
    g_free(b->name);
    g_free(b);
}

const char *bundle_name(const Bundle *b)
{
    return b->name;
}

guint64 bundle_file_bytes(const Bundle *b)
{
    return g_bytes_get_size(b->file);
}

guint64 bundle_member_bytes(const Bundle *b)
{
    return b->member_bytes;
}

GBytes *bundle_member(Bundle *b, const char *name, GError **error)
{
    guint frame = GPOINTER_TO_UINT(g_hash_table_lookup(b->frame_of, name));
    if (frame && !load_frame(b, &g_array_index(b->frames, Frame, frame - 1), error)) {
        g_prefix_error(error, "member %s: ", name);
        return NULL;
    }
    GBytes *bytes = g_hash_table_lookup(b->members, name);
    if (bytes) return g_bytes_ref(bytes);
    fail(b, error, "has no member %s: not a Wend archive, or damaged", name);
    return NULL;
}
