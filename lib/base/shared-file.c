/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-file.c: see shared-file.h. */
#include "shared-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Bytes between two looks at pending signals. */
static const size_t CHUNK = 1 << 20;

static const WendFileFlags flags = WEND_FILE_REPLACE | WEND_FILE_DURABLE | WEND_FILE_REGULAR;

/* 0 or the errno. */
static int write_at(int fd, uint64_t offset, const uint8_t *p, size_t n, const SignalHold *h)
{
    while (n > 0) {
        ssize_t done = pwrite(fd, p, MIN(n, CHUNK), (off_t)offset);
        if (done < 0 && errno != EINTR)
            return errno;
        if (done == 0)
            return EIO;
        if (signals_ending(h))
            return EINTR;
        p += MAX(done, 0);
        offset += (uint64_t)MAX(done, 0);
        n -= (size_t)MAX(done, 0);
    }
    return 0;
}

/* -- the owner -- */

bool shared_file_begin(SharedFile *f, const char *path, Error **error)
{
    SignalHold h;
    FileTarget t;
    *f = (SharedFile){.is_open = false};
    if (snprintf(f->path, sizeof f->path, "%s", path) >= (int)sizeof f->path)
        return file_write_failed(error, path, ENAMETOOLONG);
    if (!file_target_inspect(&t, path, flags, error))
        return false;
    signals_hold(&h);
    int number = file_beside_open(&f->beside, path, &t);
    if (number == 0 && getrandom(&f->key.mark, sizeof f->key.mark, 0) != sizeof f->key.mark)
        number = EIO;
    if (number != 0)
        file_beside_end(&f->beside, flags, number, &h);
    signals_release(&h);
    if (number != 0)
        return file_write_failed(error, path, number);
    f->is_open = true;
    memcpy(f->key.temporary, f->beside.temporary, sizeof f->key.temporary);
    return true;
}

bool shared_file_write(SharedFile *f, uint64_t offset, const void *data, size_t n, Error **error)
{
    SignalHold h;
    signals_hold(&h);
    int number = write_at(f->beside.fd, offset, data, n, &h);
    if (number == EINTR) { /* the process ends */
        file_beside_end(&f->beside, flags, number, &h);
        f->is_open = false;
    }
    signals_release(&h);
    return number == 0 || file_write_failed(error, f->path, number);
}

bool shared_file_mark(SharedFile *f, uint64_t offset, Error **error)
{
    return shared_file_write(f, offset, &f->key.mark, sizeof f->key.mark, error);
}

/* Opens the file again, as processes have it that share it. 0 or the errno. */
static int open_again(FileBeside *b)
{
    struct stat info, before;
    int fd = openat(b->directory, b->temporary, O_WRONLY | O_DSYNC | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : errno; /* then no other process can open it either */
    bool same = fstat(fd, &info) == 0 && fstat(b->fd, &before) == 0 && info.st_dev == before.st_dev
                && info.st_ino == before.st_ino;
    int number = !same ? ESTALE : dup3(fd, b->fd, O_CLOEXEC) < 0 ? errno : 0;
    close(fd);
    return number;
}

bool shared_file_share(SharedFile *f, Error **error)
{
    int number = fdatasync(f->beside.fd) == 0 ? open_again(&f->beside) : errno;
    return number == 0 || file_write_failed(error, f->path, number);
}

bool shared_file_end(SharedFile *f, Error **error)
{
    SignalHold h;
    signals_hold(&h);
    int number = file_beside_end(&f->beside, flags, 0, &h);
    f->is_open = false;
    signals_release(&h);
    if (number == EEXIST)
        return file_write_refuse(error, f->path, "exists: somebody else has made it meanwhile");
    return number == 0 || file_write_failed(error, f->path, number);
}

void shared_file_abandon(SharedFile *f)
{
    SignalHold h;
    if (!f->is_open)
        return;
    signals_hold(&h);
    file_beside_end(&f->beside, flags, ECANCELED, &h);
    f->is_open = false;
    signals_release(&h);
}

/* -- another process -- */

/* The descriptor of the owner's file, or -1. */
static int open_there(const char *directory, const SharedFileKey *key)
{
    struct stat info;
    int dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    int fd = openat(dir, key->temporary, O_RDWR | O_DSYNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(dir);
    /* not under the number of a standard file that the application has closed */
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || fd <= STDERR_FILENO)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool shared_file_contribute(const char *directory, const SharedFileKey *key, uint64_t offset,
                            const void *data, size_t n)
{
    SignalHold h;
    uint64_t mark;
    int fd = open_there(directory, key);
    if (fd < 0)
        return false;
    signals_hold(&h);
    bool good = pread(fd, &mark, sizeof mark, (off_t)offset) == (ssize_t)sizeof mark
                && mark == key->mark && write_at(fd, offset, data, n, &h) == 0;
    good = close(fd) == 0 && good;
    signals_release(&h);
    return good;
}
