/* SPDX-License-Identifier: BSD-3-Clause */
/* container-read.c: reads file -> frames -> tar -> members. Nothing in the file is trusted. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/allowance.h"
#include "base/buf.h"
#include "base/printable.h"
#include "base/regular.h"
#include "container-index.h"
#include "record/checkpoint-file.h"
#include "record/world-files.h"

typedef struct {
    guint64 offset, bytes;
    guint64 lone; /* bytes of its only member; 0: it has several, or an empty one */
    gboolean loaded;
} ContainerFrame;

struct Container {
    char *name;
    int fd; /* -1: the file is in memory */
    GBytes *in_memory;
    guint64 file_bytes;
    Allowance *allowance;
    GArray *frames;
    GHashTable *members;  /* name -> GBytes, of the frames that are loaded */
    GHashTable *frame_of; /* name -> frame + 1, from the index */
    guint64 member_bytes; /* from the index, or of all that is loaded */
    gint64 mtime;         /* of the entry that was loaded last */
};

/* Sets the error and returns FALSE. If the allowance was exceeded, that is the error, because a
 * file that is too large need not be damaged. */
static gboolean fail(const Container *b, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static gboolean fail(const Container *b, GError **error, const char *format, ...)
{
    if (allowance_error(b->allowance, b->name, error))
        return FALSE;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: %s", b->name, text);
    return FALSE;
}

/* -- the file -- */

gboolean container_read_file(const Container *b, guint64 offset, void *data, gsize n)
{
    if (offset > b->file_bytes || n > b->file_bytes - offset)
        return FALSE;
    if (b->fd >= 0)
        return wend_regular_read(b->fd, offset, data, n);
    if (n > 0)
        memcpy(data, (const guint8 *)g_bytes_get_data(b->in_memory, NULL) + offset, n);
    return TRUE;
}

static guint32 read_number(const Container *b, guint64 offset)
{
    guint32 number;
    return container_read_file(b, offset, &number, sizeof number) ? GUINT32_FROM_LE(number) : 0;
}

/* -- frames -- */

/* The expanded bytes of a frame. The buffer grows with the bytes that are there, and not with the
 * size that the header of the frame claims. */
typedef struct {
    guint8 *bytes;
    gsize n, room;
} MemberBytes;

static gboolean content_grow(MemberBytes *c, Allowance *allowance, gsize least)
{
    if (c->room - c->n >= least)
        return TRUE;
    gsize room = MAX(2 * c->room, c->n + least);
    if (!allowance_grow(allowance, &c->bytes, c->room, room))
        return FALSE;
    c->room = room;
    return TRUE;
}

static void content_clear(MemberBytes *c, Allowance *allowance)
{
    g_free(c->bytes);
    allowance_give(allowance, c->room);
}

/* Expands the frame at OFFSET, which ends at END or before, into OUT. Sets *BYTES to the size of
 * the frame in the file. Returns NULL, or the problem. */
static const char *expand(const Container *b, ZSTD_DCtx *z, guint64 offset, guint64 end,
                          MemberBytes *out, guint64 *bytes)
{
    const gsize in_room = ZSTD_DStreamInSize(), out_room = ZSTD_DStreamOutSize();
    g_autofree guint8 *chunk = g_malloc(in_room);
    ZSTD_inBuffer in = {chunk, 0, 0};
    guint64 next = offset;
    for (size_t left = 1; left != 0;) {
        if (in.pos == in.size && next < end) {
            in = (ZSTD_inBuffer){chunk, (gsize)MIN(end - next, in_room), 0};
            if (!container_read_file(b, next, chunk, in.size))
                return "it cannot be read";
            next += in.size;
        }
        if (!content_grow(out, b->allowance, out_room))
            return "out of memory";
        ZSTD_outBuffer piece = {out->bytes + out->n, out_room, 0};
        left = ZSTD_decompressStream(z, &piece, &in);
        out->n += piece.pos;
        if (ZSTD_isError(left))
            return ZSTD_getErrorName(left);
        if (left != 0 && in.pos == in.size && next == end && piece.pos < out_room)
            return "a frame ends too early";
    }
    *bytes = next - (in.size - in.pos) - offset;
    return NULL;
}

/* Adds the member of entry E, in a tar of N bytes. */
static gboolean load_member(Container *b, struct archive *a, struct archive_entry *e, gsize n,
                            GError **error)
{
    gint64 size = archive_entry_size(e);
    const char *name = archive_entry_pathname(e);
    if (!name || size < 0 || (guint64)size > n)
        return fail(b, error, "damaged: a member's size makes no sense");
    guint8 *bytes = allowance_block(b->allowance, (guint64)size, 1);
    if (!bytes)
        return fail(b, error, "out of memory");
    gsize at = 0;
    la_ssize_t got = 1;
    while (at < (gsize)size && (got = archive_read_data(a, bytes + at, size - at)) > 0)
        at += got;
    if (at < (gsize)size) {
        g_free(bytes);
        return fail(b, error, "member %s is truncated", name);
    }
    g_hash_table_replace(b->members, g_strdup(name), g_bytes_new_take(bytes, size));
    b->mtime = archive_entry_mtime(e);
    return TRUE;
}

/* Adds the members of all tar entries of a frame. */
static gboolean load_tar(Container *b, const MemberBytes *tar, GError **error)
{
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    gboolean good = a && archive_read_support_format_tar(a) == ARCHIVE_OK
                    && archive_read_open_memory(a, tar->bytes, tar->n) == ARCHIVE_OK;
    if (!good)
        fail(b, error, "damaged: no tar entries in a frame");
    int status = ARCHIVE_EOF;
    while (good && (status = archive_read_next_header(a, &e)) == ARCHIVE_OK)
        good = load_member(b, a, e, tar->n, error);
    if (good && status != ARCHIVE_EOF)
        good = fail(b, error, "damaged: %s",
                    archive_error_string(a) ? archive_error_string(a) : "no tar");
    if (a)
        archive_read_free(a);
    return good;
}

/* Loads the frame at OFFSET and sets *BYTES to its size in the file. END is the end of the frame
 * or, if that is unknown, of the file. */
static gboolean load_frame_at(Container *b, guint64 offset, guint64 end, guint64 *bytes,
                              GError **error)
{
    MemberBytes tar = {0};
    ZSTD_DCtx *z = ZSTD_createDCtx();
    const char *problem = z ? expand(b, z, offset, end, &tar, bytes) : "out of memory";
    ZSTD_freeDCtx(z);
    gboolean good = !problem && load_tar(b, &tar, error);
    if (problem)
        fail(b, error, "damaged: %s (in the frame at byte %" G_GUINT64_FORMAT ")", problem, offset);
    content_clear(&tar, b->allowance);
    return good;
}

static gboolean load_frame(Container *b, ContainerFrame *f, GError **error)
{
    guint64 bytes;
    if (f->loaded)
        return TRUE;
    f->loaded = load_frame_at(b, f->offset, f->offset + f->bytes, &bytes, error);
    return f->loaded;
}

/* -- the index; and files without one, such as those that other tools packed again -- */

/* The memory of a name in FRAME_OF, beyond its bytes in the index. */
enum { NAME_MEMORY = 64 };

static gboolean read_index_members(Container *b, WendCursor *c, guint frame)
{
    gsize n = wend_cursor_count(c, 2);
    guint64 size = 0;
    if (!allowance_take(b->allowance, n, NAME_MEMORY))
        return FALSE;
    for (gsize k = 0; k < n && !c->failed; k++) {
        WendCursor name = wend_cursor_block(c);
        size = wend_cursor_unsigned(c);
        if (c->failed)
            break;
        b->member_bytes += size;
        g_hash_table_replace(b->frame_of, g_strndup((const char *)name.p, name.end - name.p),
                             GUINT_TO_POINTER(frame + 1));
    }
    if (n == 1 && !c->failed)
        g_array_index(b->frames, ContainerFrame, frame).lone = size;
    return TRUE;
}

static gboolean read_frames(Container *b, const guint8 *p, gsize n, guint64 end_of_frames,
                            GError **error)
{
    WendCursor c = wend_cursor(p, n);
    gsize n_frames = wend_cursor_count(&c, 3);
    guint64 offset = 0;
    gboolean good = allowance_take(b->allowance, n_frames, sizeof(ContainerFrame));
    for (gsize i = 0; i < n_frames && good && !c.failed; i++) {
        guint64 bytes = wend_cursor_unsigned(&c);
        wend_cursor_unsigned(&c); /* the expanded size, which is not needed */
        if (bytes > end_of_frames - offset)
            c.failed = true;
        ContainerFrame f = {offset, bytes, 0, FALSE};
        offset += bytes;
        if (!c.failed)
            g_array_append_val(b->frames, f);
        good = read_index_members(b, &c, (guint)i);
    }
    good = good && !c.failed && offset == end_of_frames;
    return good || fail(b, error, "damaged: its index makes no sense");
}

static gboolean read_index(Container *b, GError **error)
{
    guint64 trailer = b->file_bytes - CONTAINER_TRAILER, hash;
    guint32 length = read_number(b, trailer + sizeof hash);
    if (length > trailer - 8)
        return fail(b, error, "damaged: its index is longer than the file");
    guint64 start = trailer - length;
    if (read_number(b, start - 8) != CONTAINER_SKIPPABLE
        || read_number(b, start - 4) != length + CONTAINER_TRAILER)
        return fail(b, error, "damaged: its index has no frame");
    g_autofree guint8 *index = allowance_block(b->allowance, length, 1);
    if (!index)
        return fail(b, error, "out of memory");
    if (!container_read_file(b, start, index, length)
        || !container_read_file(b, trailer, &hash, sizeof hash)
        || XXH64(index, length, 0) != GUINT64_FROM_LE(hash))
        return fail(b, error, "damaged: the checksum of its index is wrong");
    return read_frames(b, index, length, start - 8, error);
}

/* Loads all frames, from the front, of a file without an index. */
static gboolean scan(Container *b, GError **error)
{
    for (guint64 at = 0, bytes; at < b->file_bytes; at += bytes) {
        guint32 magic = read_number(b, at);
        if (magic == CONTAINER_SKIPPABLE)
            return fail(b, error, "damaged: the end of its index is wrong");
        if ((magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START) {
            bytes = 8 + (guint64)read_number(b, at + 4);
            if (bytes > b->file_bytes - at)
                return fail(b, error, "truncated or damaged at byte %" G_GUINT64_FORMAT, at);
            continue;
        }
        if (magic != ZSTD_MAGICNUMBER)
            return fail(b, error, "truncated or damaged at byte %" G_GUINT64_FORMAT, at);
        if (!load_frame_at(b, at, b->file_bytes, &bytes, error))
            return FALSE;
    }
    GHashTableIter iter;
    gpointer bytes;
    g_hash_table_iter_init(&iter, b->members);
    while (g_hash_table_iter_next(&iter, NULL, &bytes))
        b->member_bytes += g_bytes_get_size(bytes);
    return TRUE;
}

/* -- opening -- */

/* Refs the allowance. NULL: the container gets one of its own. */
static Container *container_new(const char *name, guint64 file_bytes, Allowance *allowance)
{
    Container *b = g_new0(Container, 1);
    b->name = g_strdup(name);
    b->fd = -1;
    b->file_bytes = file_bytes;
    b->allowance = allowance ? allowance_ref(allowance) : allowance_new(0);
    allowance_add_archive(b->allowance, file_bytes);
    b->frames = g_array_new(FALSE, FALSE, sizeof(ContainerFrame));
    b->members =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    b->frame_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return b;
}

static Container *opened(Container *b, GError **error)
{
    char end[4];
    gboolean good;
    if (b->file_bytes == 0)
        good = fail(b, error, "is empty");
    else if (read_number(b, 0) != ZSTD_MAGICNUMBER)
        good = fail(b, error, "is not a Wend archive");
    else if (b->file_bytes < 8 + CONTAINER_TRAILER)
        good = scan(b, error);
    else if (!container_read_file(b, b->file_bytes - sizeof end, end, sizeof end))
        good = fail(b, error, "cannot be read to its end");
    else
        good =
            memcmp(end, CONTAINER_MAGIC, sizeof end) == 0 ? read_index(b, error) : scan(b, error);
    if (good)
        return b;
    container_free(b);
    return NULL;
}

Container *container_from_bytes(GBytes *file, const char *name, GError **error)
{
    Container *b = container_new(name, g_bytes_get_size(file), NULL);
    b->in_memory = g_bytes_ref(file);
    return opened(b, error);
}

Container *container_from_members(GHashTable *members, const char *name)
{
    Container *b = container_new(name, 0, NULL);
    g_hash_table_unref(b->members);
    b->members = members;
    return b;
}

static void say_unfinished(const char *path, GError **error)
{
    g_autofree char *operand = g_strconcat(*path == '-' ? "./" : "", path, NULL);
    gsize room = 4 * strlen(operand) + 3;
    g_autofree char *word = g_malloc(room);
    wend_printable_word(word, room, operand);
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: unfinished: wend merge %s", path, word);
}

static gboolean has_parts(const char *folder)
{
    GDir *d = g_dir_open(folder, 0, NULL);
    gboolean found = FALSE;
    for (const char *name; d && !found && (name = g_dir_read_name(d));)
        found = g_str_has_prefix(name, WEND_CHECKPOINT_PREFIX);
    if (d)
        g_dir_close(d);
    return found;
}

/* Whether a further world of the recording in the directory has parts and no archive. */
static gboolean has_unfinished_world(const char *directory)
{
    GDir *d = g_dir_open(directory, 0, NULL);
    gboolean found = FALSE;
    for (const char *name; d && !found && (name = g_dir_read_name(d));) {
        if (!g_str_has_prefix(name, WORLD_FILE_PREFIX)
            || !g_str_has_suffix(name, WEND_CHECKPOINT_SUFFIX))
            continue;
        g_autofree char *world = g_strndup(name, strlen(name) - strlen(WEND_CHECKPOINT_SUFFIX)),
                        *file = g_strconcat(world, WORLD_FILE_SUFFIX, NULL),
                        *archive = g_build_filename(directory, file, NULL),
                        *parts = g_build_filename(directory, name, NULL);
        found = !g_file_test(archive, G_FILE_TEST_EXISTS) && has_parts(parts);
    }
    if (d)
        g_dir_close(d);
    return found;
}

/* Sets the error that says why there is no archive at PATH. */
static void say_missing(const char *path, const char *file, GError **error)
{
    g_autofree char *parts = g_build_filename(path, WEND_CHECKPOINT_FOLDER, NULL);
    g_clear_error(error);
    if (g_file_test(parts, G_FILE_TEST_IS_DIR))
        say_unfinished(path, error);
    else if (strcmp(file, path) != 0)
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT,
                    "%s: no %s in this directory: not a recording, or one that never ended", path,
                    CONTAINER_FILE);
    else
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: no such file or directory", file);
}

Container *container_open_within(const char *path, Allowance *allowance, GError **error)
{
    g_autofree char *file = g_file_test(path, G_FILE_TEST_IS_DIR)
                                ? g_build_filename(path, CONTAINER_FILE, NULL)
                                : g_strdup(path);
    guint64 bytes = 0;
    if (strcmp(file, path) != 0 && has_unfinished_world(path)) {
        say_unfinished(path, error);
        return NULL;
    }
    int why, fd = wend_regular_open(file, &bytes, &why, error);
    if (fd < 0 && why == ENOENT)
        say_missing(path, file, error);
    if (fd < 0)
        return NULL;
    Container *b = container_new(file, bytes, allowance);
    b->fd = fd;
    return opened(b, error);
}

Container *container_open(const char *path, GError **error)
{
    return container_open_within(path, NULL, error);
}

void container_free(Container *b)
{
    if (!b)
        return;
    g_hash_table_unref(b->members);
    g_hash_table_unref(b->frame_of);
    g_array_unref(b->frames);
    if (b->in_memory)
        g_bytes_unref(b->in_memory);
    if (b->fd >= 0)
        close(b->fd);
    allowance_unref(b->allowance);
    g_free(b->name);
    g_free(b);
}

const char *container_name(const Container *b)
{
    return b->name;
}

Allowance *container_allowance(const Container *b)
{
    return b->allowance;
}

guint64 container_file_bytes(const Container *b)
{
    return b->file_bytes;
}

guint64 container_member_bytes(const Container *b)
{
    return b->member_bytes;
}

gboolean container_has(const Container *b, const char *name)
{
    return g_hash_table_contains(b->members, name) || g_hash_table_contains(b->frame_of, name);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *container_names(const Container *b)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GHashTable *const tables[] = {b->members, b->frame_of};
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
        GHashTableIter iter;
        gpointer name;
        g_hash_table_iter_init(&iter, tables[i]);
        while (g_hash_table_iter_next(&iter, &name, NULL))
            if (i == 0 || !g_hash_table_contains(b->members, name))
                g_ptr_array_add(names, g_strdup(name));
    }
    g_ptr_array_sort(names, by_text);
    return names;
}

gboolean container_has_index(const Container *b)
{
    return b->frames->len > 0;
}

gint64 container_mtime(Container *b)
{
    if (b->frames->len > 0)
        load_frame(b, &g_array_index(b->frames, ContainerFrame, b->frames->len - 1), NULL);
    return b->mtime;
}

GBytes *container_member(Container *b, const char *name, GError **error)
{
    guint frame = GPOINTER_TO_UINT(g_hash_table_lookup(b->frame_of, name));
    if (frame && !load_frame(b, &g_array_index(b->frames, ContainerFrame, frame - 1), error)) {
        g_prefix_error(error, "member %s: ", name);
        return NULL;
    }
    GBytes *bytes = g_hash_table_lookup(b->members, name);
    if (bytes)
        return g_bytes_ref(bytes);
    fail(b, error, "has no member %s: not a Wend archive, or damaged", name);
    return NULL;
}

gboolean container_lone_member(const Container *b, const char *name, ContainerLone *lone)
{
    guint frame = GPOINTER_TO_UINT(g_hash_table_lookup(b->frame_of, name));
    const ContainerFrame *f = frame ? &g_array_index(b->frames, ContainerFrame, frame - 1) : NULL;
    if (!f || f->loaded || f->lone == 0)
        return FALSE;
    *lone = (ContainerLone){f->offset, f->offset + f->bytes, f->lone};
    return TRUE;
}
