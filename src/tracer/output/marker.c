/* SPDX-License-Identifier: BSD-3-Clause */
/* marker.c: see output.h. */
#include "output.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/record/record.h"

#define FIRST_ARCHIVE "trace" WORLD_FILE_SUFFIX
#define TITLE "# What Wend made here, and wend trace --force may remove:\n"

enum { LONGEST = 1 << 24 }; /* maximum size of a marker in bytes */

/* -- names -- */

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

static bool is_archive(const char *name)
{
    return strcmp(name, FIRST_ARCHIVE) == 0
           || (has_prefix(name, WORLD_FILE_PREFIX) && has_suffix(name, WORLD_FILE_SUFFIX));
}

static bool is_folder(const char *name)
{
    return strcmp(name, WEND_CHECKPOINT_FOLDER) == 0
           || (has_prefix(name, WORLD_FILE_PREFIX) && has_suffix(name, WEND_CHECKPOINT_SUFFIX));
}

/* Whether NAME is a file of a folder of parts (parts.c). */
static bool is_part(const char *name)
{
    static const char *const others[] = {"run", ".run", "said"}, *const slots[] =
                                                                     WEND_CHECKPOINT_SLOTS;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    if (!has_prefix(name, WEND_CHECKPOINT_PREFIX))
        return false;
    const char *digits = name + strlen(WEND_CHECKPOINT_PREFIX), *end = digits;
    while (isdigit((unsigned char)*end))
        end++;
    return end > digits && (strcmp(end, slots[0]) == 0 || strcmp(end, slots[1]) == 0);
}

/* Whether NAME is an unfinished archive (lib/base/file-write.c), which a killed process leaves. */
static bool is_unfinished(const char *name)
{
    static const char prefix[] = ".wend-";
    if (!has_prefix(name, prefix))
        return false;
    const char *digits = name + strlen(prefix);
    return strspn(digits, "0123456789abcdef") == 16 && digits[16] == '\0';
}

/* -- the marker -- */

bool marker_add(const char *directory, const char *name)
{
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(folder, MARKER_FILE, flags | O_EXCL, 0666);
    bool is_new = fd >= 0, good = false;
    if (fd < 0 && errno == EEXIST)
        fd = openat(folder, MARKER_FILE, flags, 0666);
    /* In one piece, since several processes may add lines. Without malloc, since the process may
     * be at its end. */
    size_t before = is_new ? strlen(TITLE) : 0, n = strlen(name);
    const struct iovec line[] = {
        {(char *)TITLE, before}, {(char *)(uintptr_t)name, n}, {(char *)"\n", 1}};
    if (fd >= 0)
        good = writev(fd, line, 3) == (ssize_t)(before + n + 1);
    int why = errno;
    if (fd >= 0)
        close(fd);
    close(folder);
    errno = why;
    return good;
}

/* The lines of the marker, malloc'ed, with a newline before and after. NULL if there is no readable
 * marker. */
static char *read_marker(int folder)
{
    struct stat info;
    int fd = openat(folder, MARKER_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= LONGEST)
        text = malloc((size_t)info.st_size + 3);
    ssize_t n = text ? read(fd, text + 1, (size_t)info.st_size) : -1;
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[0] = text[n + 1] = '\n';
    text[n + 2] = '\0';
    return text;
}

static bool is_listed(const char *marker, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = marker; line && *line; line = strchr(line + 1, '\n'))
        if (strncmp(line + 1, name, n) == 0 && line[n + 1] == '\n')
            return true;
    return false;
}

/* -- entries -- */

typedef bool (*Visit)(int folder, const char *name, void *user);

/* Calls VISIT with each entry of the directory FD, and closes FD. Returns false if it cannot be
 * read, or if VISIT returned false. */
static bool each_entry(int fd, Visit visit, void *user)
{
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *e;
    bool good = d != NULL;
    if (!d && fd >= 0)
        close(fd);
    while (good && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            good = visit(fd, e->d_name, user);
    if (d)
        closedir(d);
    return good;
}

static int open_folder(int folder, const char *name)
{
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whether the entry is a regular file, or has been removed: a running job removes its own files. */
static bool is_regular(int folder, const char *name)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    return S_ISREG(info.st_mode);
}

static bool is_gone(int folder, const char *name)
{
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

static bool is_own_part(int folder, const char *name, void *unused)
{
    (void)unused;
    return is_part(name) && is_regular(folder, name);
}

static bool is_own(int folder, const char *name, const char *marker)
{
    if (strcmp(name, MARKER_FILE) == 0 || is_unfinished(name))
        return marker && is_regular(folder, name);
    if (!is_listed(marker, name))
        return false;
    if (is_archive(name))
        return is_regular(folder, name);
    return is_folder(name) && each_entry(open_folder(folder, name), is_own_part, NULL);
}

/* -- looking -- */

typedef struct {
    char *marker, *foreign;
} Looking; /* NULL: none */

static bool look(int folder, const char *name, void *user)
{
    Looking *l = user;
    if (is_own(folder, name, l->marker))
        return true;
    /* files that were made after the marker was read are listed by now */
    free(l->marker);
    l->marker = read_marker(folder);
    if (is_own(folder, name, l->marker) || is_gone(folder, name))
        return true;
    l->foreign = strdup(name);
    return false;
}

char *marker_foreign(const char *directory, int *error)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *error = fd < 0 ? errno : 0;
    if (fd < 0)
        return NULL;
    Looking l = {.marker = read_marker(fd)};
    if (!each_entry(fd, look, &l) && !l.foreign)
        *error = ENOMEM;
    free(l.marker);
    return l.foreign;
}

/* -- removing -- */

static bool remove_part(int folder, const char *name, void *unused)
{
    (void)unused;
    if (is_own_part(folder, name, NULL))
        unlinkat(folder, name, 0);
    return true;
}

void marker_remove_parts(const char *folder)
{
    each_entry(open_folder(AT_FDCWD, folder), remove_part, NULL);
    rmdir(folder);
}

static bool remove_own(int folder, const char *name, void *marker)
{
    if (!is_own(folder, name, marker))
        return true;
    if (is_folder(name)) {
        each_entry(open_folder(folder, name), remove_part, NULL);
        unlinkat(folder, name, AT_REMOVEDIR);
    } else {
        unlinkat(folder, name, 0);
    }
    return true;
}

void marker_remove(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *marker = fd >= 0 ? read_marker(fd) : NULL;
    if (marker)
        each_entry(fd, remove_own, marker);
    else if (fd >= 0)
        close(fd);
    free(marker);
}
