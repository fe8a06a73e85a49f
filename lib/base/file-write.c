/* SPDX-License-Identifier: BSD-3-Clause */
/* file-write.c: see file-write.h. */
#include "file-write.h"

#include "strings.h"
#include "identifier.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes between two looks at pending signals. */
static const size_t CHUNK = 1 << 20;

bool file_write_failed(Error **error, const char *path, int number)
{
    error_set(error, error_of_output(number), "%s: cannot write: %s", path, strerror(number));
    return false;
}

bool file_write_refuse(Error **error, const char *path, const char *why)
{
    error_set(error, WEND_ERROR_INPUT, "%s: %s", path, why);
    return false;
}

/* -- what is there -- */

/* Names of what the process has open. Their links would lead past it: a new file for one that
 * somebody else goes on writing to. */
static int descriptor_of(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (uint32_t i = 0; i < COUNT_OF(prefixes); i++) {
        char *end;
        const char *number = path + strlen(prefixes[i]);
        if (!string_begins(path, prefixes[i]) || !identifier_digit(*number))
            continue;
        uint64_t fd = strtoull(number, &end, 10);
        if (*end == '\0' && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

/* What the file that INFO is of may be used for. */
static bool judge(FileTarget *t, const char *path, WendFileFlags flags, Error **error)
{
    mode_t type = t->info.st_mode & S_IFMT;
    if (type == S_IFDIR)
        return file_write_refuse(error, path, "is a directory");
    if (type == S_IFREG || type == S_IFLNK) {
        t->kind = type == S_IFREG ? FILE_REGULAR : FILE_LINK;
        return (flags & WEND_FILE_REPLACE) != 0
               || file_write_refuse(error, path, "exists: --force overwrites it");
    }
    t->kind = FILE_IN_PLACE;
    if (type == S_IFSOCK || (flags & WEND_FILE_REGULAR) != 0)
        return file_write_refuse(error, path,
                                 type == S_IFSOCK ? "is a socket" : "is no regular file");
    return type != S_IFBLK || (flags & WEND_FILE_REPLACE) != 0
           || file_write_refuse(error, path, "is a disk: --force overwrites it");
}

bool file_target_inspect(FileTarget *t, const char *path, WendFileFlags flags, Error **error)
{
    struct stat behind;
    int fd = (flags & WEND_FILE_REGULAR) != 0 ? -1 : descriptor_of(path);
    *t = (FileTarget){.kind = fd >= 0 ? FILE_IN_PLACE : FILE_ABSENT, .fd = fd};
    if (fd >= 0)
        return true;
    if (lstat(path, &t->info) != 0)
        return errno == ENOENT || file_write_failed(error, path, errno);
    if (!S_ISLNK(t->info.st_mode))
        return judge(t, path, flags, error);
    if (stat(path, &behind) != 0)
        return errno == ENOENT ? judge(t, path, flags, error)
                               : file_write_failed(error, path, errno);
    if (S_ISREG(behind.st_mode))
        return judge(t, path, flags, error);
    /* Anybody can put a link where everybody may write. */
    if (t->info.st_uid != 0 && t->info.st_uid != geteuid() && !S_ISDIR(behind.st_mode))
        return file_write_refuse(error, path, "is a symbolic link that somebody else has made");
    t->linked = true;
    t->info = behind;
    return judge(t, path, flags, error);
}

bool file_check(const char *path, WendFileFlags flags, Error **error)
{
    FileTarget t;
    return file_target_inspect(&t, path, flags, error);
}

/* -- writing -- */

int file_write_all(int fd, const uint8_t *p, size_t n, const SignalHold *h)
{
    while (n > 0) {
        ssize_t done = write(fd, p, MIN(n, CHUNK));
        if (done < 0 && errno != EINTR)
            return errno;
        if (done == 0)
            return EIO;
        if (h && signals_ending(h))
            return EINTR;
        p += MAX(done, 0);
        n -= (size_t)MAX(done, 0);
    }
    return 0;
}

int file_target_open(const char *path, const FileTarget *t, int *fd)
{
    struct stat info;
    *fd = t->fd;
    if (t->fd >= 0)
        return 0;
    *fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (t->linked ? 0 : O_NOFOLLOW));
    if (*fd < 0)
        return errno;
    bool same = fstat(*fd, &info) == 0 && info.st_dev == t->info.st_dev
                && info.st_ino == t->info.st_ino
                && (info.st_mode & S_IFMT) == (t->info.st_mode & S_IFMT);
    return same ? 0 : ESTALE;
}

static int write_in_place(const char *path, const FileTarget *t, const void *data, size_t n)
{
    int fd, number = file_target_open(path, t, &fd);
    if (number == 0)
        number = file_write_all(fd, data, n, NULL);
    if (t->fd < 0 && fd >= 0 && close(fd) != 0 && number == 0)
        number = errno;
    return number;
}

/* Not under the number of a standard file that the application has closed, for its other threads
 * may write to that. -1: errno says why. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), number = errno;
    close(fd);
    errno = number;
    return above;
}

/* A file that was not there, under a name that nobody can guess. -1: errno says why. */
static int open_temporary(int dir, char name[32], mode_t mode)
{
    for (uint32_t tries = 0; tries < 100; tries++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            return -1;
        snprintf(name, 32, ".wend-%016" PRIx64, random);
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Gives the file its name; what has the name by now is replaced only if it may be. */
static int rename_temporary(int dir, const char *temporary, const char *name, WendFileFlags flags)
{
    struct stat now;
    if ((flags & WEND_FILE_REPLACE) == 0) {
        if (renameat2(dir, temporary, dir, name, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EINVAL && errno != ENOSYS)
            return errno;
    }
    bool there = fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (there
        && ((flags & WEND_FILE_REPLACE) == 0 || (!S_ISREG(now.st_mode) && !S_ISLNK(now.st_mode))))
        return EEXIST;
    return renameat(dir, temporary, dir, name) == 0 ? 0 : errno;
}

/* The rename is safe on the disk only when the directory is. */
static void sync_directory(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd); /* some file systems refuse this on directories; the file's own data is safe */
    close(fd);
}

/* A private file stays private, also while it is written. */
static bool keeps_mode(const FileTarget *t)
{
    return t->kind == FILE_REGULAR && t->info.st_uid == geteuid();
}

int file_beside_open(FileBeside *b, const char *path, const FileTarget *t)
{
    AUTOFREE char *copy = string_copy(path), *again = string_copy(path);
    const char *directory = dirname(copy), *name = basename(again);
    *b = (FileBeside){.target = *t, .directory = -1, .fd = -1};
    if (snprintf(b->name, sizeof b->name, "%s", name) >= (int)sizeof b->name)
        return ENAMETOOLONG;
    b->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (b->directory < 0)
        return errno;
    mode_t mode = keeps_mode(t) ? 0600 : 0666;
    b->fd = above_standard(open_temporary(b->directory, b->temporary, mode));
    return b->fd < 0 ? errno : 0;
}

static int make_last(const FileBeside *b, WendFileFlags flags)
{
    const FileTarget *t = &b->target;
    if (keeps_mode(t) && fchmod(b->fd, t->info.st_mode & 0777) != 0)
        return errno;
    /* What is replaced must not be lost to a crash for something that never got to the disk. */
    if (((flags & WEND_FILE_DURABLE) != 0 || t->kind == FILE_REGULAR) && fsync(b->fd) != 0)
        return errno;
    return 0;
}

int file_beside_end(FileBeside *b, WendFileFlags flags, int number, const SignalHold *h)
{
    if (b->fd >= 0 && number == 0)
        number = make_last(b, flags);
    if (number == 0 && signals_ending(h))
        number = EINTR;
    if (b->fd >= 0 && close(b->fd) != 0 && number == 0)
        number = errno;
    if (b->fd >= 0 && number == 0)
        number = rename_temporary(b->directory, b->temporary, b->name, flags);
    if (b->fd >= 0 && number != 0)
        unlinkat(b->directory, b->temporary, 0);
    if (number == 0 && (flags & WEND_FILE_DURABLE) != 0)
        sync_directory(b->directory);
    if (b->directory >= 0)
        close(b->directory);
    b->directory = b->fd = -1;
    return number;
}

static int write_beside(const char *path, const FileTarget *t, const void *data, size_t n,
                        WendFileFlags flags, const SignalHold *h)
{
    FileBeside b;
    int number = file_beside_open(&b, path, t);
    if (number == 0)
        number = file_write_all(b.fd, data, n, h);
    return file_beside_end(&b, flags, number, h);
}

static bool put(const char *path, const void *data, size_t n, WendFileFlags flags,
                const SignalHold *h, Error **error)
{
    FileTarget t;
    if (!file_target_inspect(&t, path, flags, error))
        return false;
    if (t.kind == FILE_IN_PLACE) { /* a FIFO waits for a reader, who may never come */
        sigset_t held;
        pthread_sigmask(SIG_SETMASK, &h->before, &held);
        int number = write_in_place(path, &t, data, n);
        pthread_sigmask(SIG_SETMASK, &held, NULL);
        return number == 0 || file_write_failed(error, path, number);
    }
    int number = write_beside(path, &t, data, n, flags, h);
    if (number == EEXIST)
        return file_write_refuse(error, path, "exists: somebody else has made it meanwhile");
    return number == 0 || file_write_failed(error, path, number);
}

bool file_write(const char *path, const void *data, size_t n, WendFileFlags flags, Error **error)
{
    SignalHold h;
    signals_hold(&h);
    bool good = put(path, data, n, flags, &h, error);
    signals_release(&h);
    return good;
}

bool file_write_directory(const char *directory, const WendFile *files, uint32_t count,
                          WendFileFlags flags, Error **error)
{
    SignalHold h;
    uint32_t done = 0;
    signals_hold(&h);
    bool made = mkdir(directory, 0777) == 0, good = made || errno == EEXIST;
    if (!good)
        error_set(error, error_of_output(errno), "%s: cannot make the directory: %s", directory,
                  strerror(errno));
    while (good && done < count) {
        AUTOFREE char *path = string_path(directory, files[done].name);
        good = put(path, files[done].data, files[done].n, flags, &h, error);
        done += good;
    }
    for (uint32_t i = 0; !good && made && i < done; i++) {
        AUTOFREE char *path = string_path(directory, files[i].name);
        unlink(path);
    }
    if (!good && made)
        rmdir(directory);
    signals_release(&h);
    return good;
}
