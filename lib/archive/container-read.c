/* SPDX-License-Identifier: BSD-3-Clause */
/* container-read.c: reads file -> frames -> tar -> members. Nothing in the file is trusted. */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/allowance.h"
#include "base/buf.h"
#include "base/printable.h"
#include "base/regular.h"
#include "base/strings.h"
#include "record/checkpoint-file.h"
#include "record/world-files.h"
#include "container-index.h"

typedef struct {
    uint64_t offset, bytes;
    uint64_t lone; /* bytes of its only member; 0: it has several, or an empty one */
    bool loaded;
} ContainerFrame;

struct Container {
    char *name;
    int fd; /* -1: the file is in memory */
    Bytes *in_memory;
    uint64_t file_bytes;
    Allowance *allowance;
    Vector *frames;
    Map *members;          /* name -> Bytes, of the frames that are loaded */
    Map *frame_of;         /* name -> frame + 1, from the index */
    uint64_t member_bytes; /* from the index, or of all that is loaded */
    int64_t mtime;         /* of the entry that was loaded last */
};

/* Sets the error and returns false. If the allowance was exceeded, that is the error, because a
 * file that is too large need not be damaged. */
static bool fail(const Container *b, Error **error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(const Container *b, Error **error, const char *format, ...)
{
    if (allowance_error(b->allowance, b->name, error))
        return false;
    va_list arguments;
    va_start(arguments, format);
    AUTOFREE char *text = string_print_list(format, arguments);
    va_end(arguments);
    error_set(error, WEND_ERROR_INPUT, "%s: %s", b->name, text);
    return false;
}

/* -- the file -- */

bool container_read_file(const Container *b, uint64_t offset, void *data, size_t n)
{
    if (offset > b->file_bytes || n > b->file_bytes - offset)
        return false;
    if (b->fd >= 0)
        return regular_read(b->fd, offset, data, n);
    if (n > 0)
        memcpy(data, (const uint8_t *)b->in_memory->data + offset, n);
    return true;
}

static uint32_t read_number(const Container *b, uint64_t offset)
{
    uint32_t number;
    return container_read_file(b, offset, &number, sizeof number) ? le32toh(number) : 0;
}

/* -- frames -- */

/* The expanded bytes of a frame. The buffer grows with the bytes that are there, and not with the
 * size that the header of the frame claims. */
typedef struct {
    uint8_t *bytes;
    size_t n, room;
} MemberBytes;

static bool content_grow(MemberBytes *c, Allowance *allowance, size_t least)
{
    if (c->room - c->n >= least)
        return true;
    size_t room = MAX(2 * c->room, c->n + least);
    if (!allowance_grow(allowance, &c->bytes, c->room, room))
        return false;
    c->room = room;
    return true;
}

static void content_clear(MemberBytes *c, Allowance *allowance)
{
    memory_free(c->bytes);
    allowance_give(allowance, c->room);
}

/* Expands the frame at OFFSET, which ends at END or before, into OUT. Sets *BYTES to the size of
 * the frame in the file. Returns NULL, or the problem. */
static const char *expand(const Container *b, ZSTD_DCtx *z, uint64_t offset, uint64_t end,
                          MemberBytes *out, uint64_t *bytes)
{
    const size_t in_room = ZSTD_DStreamInSize(), out_room = ZSTD_DStreamOutSize();
    AUTOFREE uint8_t *chunk = memory_new(in_room);
    ZSTD_inBuffer in = {chunk, 0, 0};
    uint64_t next = offset;
    for (size_t left = 1; left != 0;) {
        if (in.pos == in.size && next < end) {
            in = (ZSTD_inBuffer){chunk, (size_t)MIN(end - next, in_room), 0};
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
static bool load_member(Container *b, struct archive *a, struct archive_entry *e, size_t n,
                        Error **error)
{
    int64_t size = archive_entry_size(e);
    const char *name = archive_entry_pathname(e);
    if (!name || size < 0 || (uint64_t)size > n)
        return fail(b, error, "damaged: a member's size makes no sense");
    uint8_t *bytes = allowance_block(b->allowance, (uint64_t)size, 1);
    if (!bytes)
        return fail(b, error, "out of memory");
    size_t at = 0;
    la_ssize_t got = 1;
    while (at < (size_t)size && (got = archive_read_data(a, bytes + at, size - at)) > 0)
        at += got;
    if (at < (size_t)size) {
        memory_free(bytes);
        return fail(b, error, "member %s is truncated", name);
    }
    map_replace(b->members, string_copy(name), bytes_take(bytes, (size_t)size));
    b->mtime = archive_entry_mtime(e);
    return true;
}

/* Adds the members of all tar entries of a frame. */
static bool load_tar(Container *b, const MemberBytes *tar, Error **error)
{
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    bool good = a && archive_read_support_format_tar(a) == ARCHIVE_OK
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
static bool load_frame_at(Container *b, uint64_t offset, uint64_t end, uint64_t *bytes,
                          Error **error)
{
    MemberBytes tar = {0};
    ZSTD_DCtx *z = ZSTD_createDCtx();
    const char *problem = z ? expand(b, z, offset, end, &tar, bytes) : "out of memory";
    ZSTD_freeDCtx(z);
    bool good = !problem && load_tar(b, &tar, error);
    if (problem)
        fail(b, error, "damaged: %s (in the frame at byte %" PRIu64 ")", problem, offset);
    content_clear(&tar, b->allowance);
    return good;
}

static bool load_frame(Container *b, ContainerFrame *f, Error **error)
{
    uint64_t bytes;
    if (f->loaded)
        return true;
    f->loaded = load_frame_at(b, f->offset, f->offset + f->bytes, &bytes, error);
    return f->loaded;
}

/* -- the index; and files without one, such as those that other tools packed again -- */

/* The memory of a name in FRAME_OF, beyond its bytes in the index. */
enum { NAME_MEMORY = 64 };

static bool read_index_members(Container *b, WendCursor *c, uint32_t frame)
{
    size_t n = cursor_count(c, 2);
    uint64_t size = 0;
    if (!allowance_take(b->allowance, n, NAME_MEMORY))
        return false;
    for (size_t k = 0; k < n && !c->failed; k++) {
        WendCursor name = cursor_block(c);
        size = cursor_unsigned(c);
        if (c->failed)
            break;
        b->member_bytes += size;
        map_replace(b->frame_of, string_part((const char *)name.p, name.end - name.p),
                    OF_NUMBER(frame + 1));
    }
    if (n == 1 && !c->failed)
        VECTOR_AT(b->frames, ContainerFrame, frame).lone = size;
    return true;
}

static bool read_frames(Container *b, const uint8_t *p, size_t n, uint64_t end_of_frames,
                        Error **error)
{
    WendCursor c = cursor_of(p, n);
    size_t n_frames = cursor_count(&c, 3);
    uint64_t offset = 0;
    bool good = allowance_take(b->allowance, n_frames, sizeof(ContainerFrame));
    for (size_t i = 0; i < n_frames && good && !c.failed; i++) {
        uint64_t bytes = cursor_unsigned(&c);
        cursor_unsigned(&c); /* the expanded size, which is not needed */
        if (bytes > end_of_frames - offset)
            c.failed = true;
        ContainerFrame f = {offset, bytes, 0, false};
        offset += bytes;
        if (!c.failed)
            VECTOR_APPEND(b->frames, f);
        good = read_index_members(b, &c, (uint32_t)i);
    }
    good = good && !c.failed && offset == end_of_frames;
    return good || fail(b, error, "damaged: its index makes no sense");
}

static bool read_index(Container *b, Error **error)
{
    uint64_t trailer = b->file_bytes - CONTAINER_TRAILER, hash;
    uint32_t length = read_number(b, trailer + sizeof hash);
    if (length > trailer - 8)
        return fail(b, error, "damaged: its index is longer than the file");
    uint64_t start = trailer - length;
    if (read_number(b, start - 8) != CONTAINER_SKIPPABLE
        || read_number(b, start - 4) != length + CONTAINER_TRAILER)
        return fail(b, error, "damaged: its index has no frame");
    AUTOFREE uint8_t *index = allowance_block(b->allowance, length, 1);
    if (!index)
        return fail(b, error, "out of memory");
    if (!container_read_file(b, start, index, length)
        || !container_read_file(b, trailer, &hash, sizeof hash)
        || XXH64(index, length, 0) != le64toh(hash))
        return fail(b, error, "damaged: the checksum of its index is wrong");
    return read_frames(b, index, length, start - 8, error);
}

/* Loads all frames, from the front, of a file without an index. */
static bool scan(Container *b, Error **error)
{
    for (uint64_t at = 0, bytes; at < b->file_bytes; at += bytes) {
        uint32_t magic = read_number(b, at);
        if (magic == CONTAINER_SKIPPABLE)
            return fail(b, error, "damaged: the end of its index is wrong");
        if ((magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START) {
            bytes = 8 + (uint64_t)read_number(b, at + 4);
            if (bytes > b->file_bytes - at)
                return fail(b, error, "truncated or damaged at byte %" PRIu64, at);
            continue;
        }
        if (magic != ZSTD_MAGICNUMBER)
            return fail(b, error, "truncated or damaged at byte %" PRIu64, at);
        if (!load_frame_at(b, at, b->file_bytes, &bytes, error))
            return false;
    }
    for (MapPlace p = {.map = b->members}; map_next(&p);)
        b->member_bytes += ((const Bytes *)p.value)->n;
    return true;
}

/* -- opening -- */

/* Refs the allowance. NULL: the container gets one of its own. */
static Container *container_new(const char *name, uint64_t file_bytes, Allowance *allowance)
{
    Container *b = NEW0(Container, 1);
    b->name = string_copy(name);
    b->fd = -1;
    b->file_bytes = file_bytes;
    b->allowance = allowance ? allowance_ref(allowance) : allowance_new(0);
    allowance_add_archive(b->allowance, file_bytes);
    b->frames = vector_new(sizeof(ContainerFrame));
    b->members = map_new(map_text_hash, map_text_equal, memory_free, (Release)bytes_unref);
    b->frame_of = map_new(map_text_hash, map_text_equal, memory_free, NULL);
    return b;
}

static Container *opened(Container *b, Error **error)
{
    char end[4];
    bool good;
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

Container *container_from_bytes(Bytes *file, const char *name, Error **error)
{
    Container *b = container_new(name, file->n, NULL);
    b->in_memory = bytes_ref(file);
    return opened(b, error);
}

Container *container_from_members(Map *members, const char *name)
{
    Container *b = container_new(name, 0, NULL);
    map_unref(b->members);
    b->members = members;
    return b;
}

static void say_unfinished(const char *path, Error **error)
{
    AUTOFREE char *operand = string_print("%s%s", *path == '-' ? "./" : "", path);
    size_t room = 4 * strlen(operand) + 3;
    AUTOFREE char *word = memory_new(room);
    printable_word(word, room, operand);
    error_set(error, WEND_ERROR_INPUT, "%s: unfinished: wend merge %s", path, word);
}

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool has_parts(const char *folder)
{
    DIR *d = opendir(folder);
    bool found = false;
    for (const struct dirent *entry; d && !found && (entry = readdir(d));)
        found = string_begins(entry->d_name, WEND_CHECKPOINT_PREFIX);
    if (d)
        closedir(d);
    return found;
}

/* Whether a further world of the recording in the directory has parts and no archive. */
static bool has_unfinished_world(const char *directory)
{
    const size_t n_suffix = strlen(WEND_CHECKPOINT_SUFFIX);
    DIR *d = opendir(directory);
    bool found = false;
    for (const struct dirent *entry; d && !found && (entry = readdir(d));) {
        const char *name = entry->d_name;
        size_t n = strlen(name);
        if (!string_begins(name, WORLD_FILE_PREFIX) || n < n_suffix
            || strcmp(name + n - n_suffix, WEND_CHECKPOINT_SUFFIX) != 0)
            continue;
        AUTOFREE char *archive = string_print("%s/%.*s%s", directory, (int)(n - n_suffix), name,
                                              WORLD_FILE_SUFFIX),
                      *parts = string_path(directory, name);
        found = access(archive, F_OK) != 0 && has_parts(parts);
    }
    if (d)
        closedir(d);
    return found;
}

/* Sets the error that says why there is no archive at PATH. */
static void say_missing(const char *path, const char *file, Error **error)
{
    AUTOFREE char *parts = string_path(path, WEND_CHECKPOINT_FOLDER);
    error_clear(error);
    if (is_directory(parts))
        say_unfinished(path, error);
    else if (strcmp(file, path) != 0)
        error_set(error, WEND_ERROR_INPUT,
                  "%s: no %s in this directory: not a recording, or one that never ended", path,
                  CONTAINER_FILE);
    else
        error_set(error, WEND_ERROR_INPUT, "%s: no such file or directory", file);
}

Container *container_open_within(const char *path, Allowance *allowance, Error **error)
{
    AUTOFREE char *file =
        is_directory(path) ? string_path(path, CONTAINER_FILE) : string_copy(path);
    uint64_t bytes = 0;
    if (strcmp(file, path) != 0 && has_unfinished_world(path)) {
        say_unfinished(path, error);
        return NULL;
    }
    int why, fd = regular_open(file, &bytes, &why, error);
    if (fd < 0 && why == ENOENT)
        say_missing(path, file, error);
    if (fd < 0)
        return NULL;
    Container *b = container_new(file, bytes, allowance);
    b->fd = fd;
    return opened(b, error);
}

Container *container_open(const char *path, Error **error)
{
    return container_open_within(path, NULL, error);
}

void container_free(Container *b)
{
    if (!b)
        return;
    map_unref(b->members);
    map_unref(b->frame_of);
    vector_unref(b->frames);
    if (b->in_memory)
        bytes_unref(b->in_memory);
    if (b->fd >= 0)
        close(b->fd);
    allowance_unref(b->allowance);
    memory_free(b->name);
    memory_free(b);
}

const char *container_name(const Container *b)
{
    return b->name;
}

Allowance *container_allowance(const Container *b)
{
    return b->allowance;
}

uint64_t container_file_bytes(const Container *b)
{
    return b->file_bytes;
}

uint64_t container_member_bytes(const Container *b)
{
    return b->member_bytes;
}

bool container_has(const Container *b, const char *name)
{
    return map_has(b->members, name) || map_has(b->frame_of, name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

Vector *container_names(const Container *b)
{
    Vector *names = vector_of_pointers(memory_free);
    Map *const tables[] = {b->members, b->frame_of};
    for (uint32_t i = 0; i < COUNT_OF(tables); i++) {
        for (MapPlace p = {.map = tables[i]}; map_next(&p);)
            if (i == 0 || !map_has(b->members, p.key))
                vector_add(names, string_copy(p.key));
    }
    vector_sort(names, by_text);
    return names;
}

bool container_has_index(const Container *b)
{
    return b->frames->len > 0;
}

int64_t container_mtime(Container *b)
{
    if (b->frames->len > 0)
        load_frame(b, &VECTOR_AT(b->frames, ContainerFrame, b->frames->len - 1), NULL);
    return b->mtime;
}

Bytes *container_member(Container *b, const char *name, Error **error)
{
    uint32_t frame = NUMBER_OF(map_get(b->frame_of, name));
    if (frame && !load_frame(b, &VECTOR_AT(b->frames, ContainerFrame, frame - 1), error)) {
        error_prefix(error, "member %s: ", name);
        return NULL;
    }
    Bytes *bytes = map_get(b->members, name);
    if (bytes)
        return bytes_ref(bytes);
    fail(b, error, "has no member %s: not a Wend archive, or damaged", name);
    return NULL;
}

bool container_lone_member(const Container *b, const char *name, ContainerLone *lone)
{
    uint32_t frame = NUMBER_OF(map_get(b->frame_of, name));
    const ContainerFrame *f = frame ? &VECTOR_AT(b->frames, ContainerFrame, frame - 1) : NULL;
    if (!f || f->loaded || f->lone == 0)
        return false;
    *lone = (ContainerLone){f->offset, f->offset + f->bytes, f->lone};
    return true;
}
