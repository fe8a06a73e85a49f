/* SPDX-License-Identifier: BSD-3-Clause */
/* file-directory.c: see file-directory.h. */
#include "file-directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "strings.h"
#include "file-write.h"

struct WendFileDirectory {
    char *path, *temporary;
    WendFileFlags flags;
    WendFileIsOurs is_ours;
    SignalHold hold;
};

/* Deeper directories are nobody's that this is for. */
enum { DEEPEST = 3 };

/* Goes through the files below the open directory FD, which it closes. PREFIX: their path from the
 * top. Without IS_OURS all are removed; with it nothing is, and the first that is not ours is set
 * in *STRANGER. Returns 0 or the errno. */
static int each_file(int fd, const char *prefix, WendFileIsOurs is_ours, char **stranger,
                     uint32_t depth)
{
    DIR *dir = fdopendir(fd);
    int number = 0;
    if (!dir) {
        number = errno;
        close(fd);
        return number;
    }
    while (number == 0 && (!stranger || !*stranger)) {
        struct stat info;
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            number = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        AUTOFREE char *file = string_print("%s%s", prefix, entry->d_name);
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
            number = errno;
        } else if (S_ISDIR(info.st_mode) && depth < DEEPEST) {
            AUTOFREE char *below = string_print("%s/", file);
            int inner =
                openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            number = inner < 0 ? errno : each_file(inner, below, is_ours, stranger, depth + 1);
            if (number == 0 && !is_ours && unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR) != 0)
                number = errno;
        } else if (is_ours != NULL) {
            if (!S_ISREG(info.st_mode) || !is_ours(file))
                *stranger = STEAL(file);
        } else if (unlinkat(dirfd(dir), entry->d_name, 0) != 0) {
            number = errno;
        }
    }
    closedir(dir);
    return number;
}

static int open_directory(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whether PATH may be replaced: it is a directory, and all files in it are ours. */
static bool is_replaceable(const WendFileDirectory *d, const char *path, Error **error)
{
    AUTOFREE char *stranger = NULL;
    int fd = open_directory(path);
    int number = fd < 0 ? errno : each_file(fd, "", d->is_ours, &stranger, 0);
    if (number == ENOTDIR || number == ELOOP)
        return file_write_refuse(error, d->path, "is no directory");
    if (number != 0)
        return file_write_failed(error, d->path, number);
    if (!stranger)
        return true;
    error_set(error, WEND_ERROR_INPUT,
              "%s: has a file that is not of such a directory, and stays: %s", d->path, stranger);
    return false;
}

static bool may_write(const WendFileDirectory *d, Error **error)
{
    struct stat info;
    if (lstat(d->path, &info) != 0)
        return errno == ENOENT || file_write_failed(error, d->path, errno);
    if ((d->flags & WEND_FILE_REPLACE) == 0)
        return file_write_refuse(error, d->path, "exists: --force overwrites it");
    return is_replaceable(d, d->path, error);
}

/* A name beside PATH that nobody can guess; NULL: there are no random numbers. */
static char *name_beside(const char *path)
{
    uint64_t random;
    AUTOFREE char *copy = string_copy(path);
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return NULL;
    return string_print("%s/.wend-%016" PRIx64, dirname(copy), random);
}

static void remove_directory(const char *path)
{
    int fd = open_directory(path);
    if (fd >= 0 && each_file(fd, "", NULL, NULL, 0) == 0)
        rmdir(path);
}

static void free_directory(WendFileDirectory *d)
{
    signals_release(&d->hold);
    memory_free(d->path);
    memory_free(d->temporary);
    memory_free(d);
}

WendFileDirectory *file_directory_open(const char *path, WendFileFlags flags,
                                       WendFileIsOurs is_ours, Error **error)
{
    WendFileDirectory *d = NEW0(WendFileDirectory, 1);
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    d->path = string_part(path, n);
    d->flags = flags;
    d->is_ours = is_ours;
    signals_hold(&d->hold);
    if (may_write(d, error)) {
        d->temporary = name_beside(d->path);
        if (d->temporary != NULL && mkdir(d->temporary, 0777) == 0)
            return d;
        file_write_failed(error, d->path, errno);
    }
    free_directory(d);
    return NULL;
}

const char *file_directory_path(const WendFileDirectory *d)
{
    return d->temporary;
}

bool file_directory_interrupted(const WendFileDirectory *d)
{
    return signals_ending(&d->hold);
}

/* Gives it its name. What has the name by now is checked again under a name that nobody knows. */
static bool give_name(const WendFileDirectory *d, Error **error)
{
    if (renameat2(AT_FDCWD, d->temporary, AT_FDCWD, d->path, RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST && (d->flags & WEND_FILE_REPLACE) == 0)
        return file_write_refuse(error, d->path, "exists: somebody else has made it meanwhile");
    if (errno != EEXIST && errno != EINVAL && errno != ENOSYS)
        return file_write_failed(error, d->path, errno);
    AUTOFREE char *old = name_beside(d->path);
    bool moved = old != NULL && rename(d->path, old) == 0;
    if (!moved && errno != ENOENT)
        return file_write_failed(error, d->path, errno);
    bool good = !moved || is_replaceable(d, old, error);
    if (good && rename(d->temporary, d->path) != 0)
        good = file_write_failed(error, d->path, errno);
    if (moved && good)
        remove_directory(old);
    else if (moved)
        rename(old, d->path);
    return good;
}

bool file_directory_end(WendFileDirectory *d, bool keep, Error **error)
{
    if (!d)
        return true;
    bool good = !keep || give_name(d, error);
    if (!keep || !good)
        remove_directory(d->temporary);
    free_directory(d);
    return good;
}
