/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.c: see kept.h. */
#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HIGH = 200, ABOVE_STANDARD = 3 };

static int move(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    if (high < 0)
        high = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STANDARD);
    if (high < 0 && fd >= ABOVE_STANDARD)
        return fd;
    close(fd);
    return high;
}

bool kept_take(KeptFile *file, int fd)
{
    struct stat info;
    file->number = fd < 0 ? -1 : move(fd);
    if (file->number < 0)
        return false;
    if (fstat(file->number, &info) != 0) {
        close(file->number);
        file->number = -1;
        return false;
    }
    file->device = info.st_dev;
    file->inode = info.st_ino;
    return true;
}

int kept_number(const KeptFile *file)
{
    int saved = errno;
    struct stat info;
    bool same = file->number >= 0 && fstat(file->number, &info) == 0 && info.st_dev == file->device
                && info.st_ino == file->inode;
    errno = saved;
    return same ? file->number : -1;
}

void kept_close(KeptFile *file)
{
    int number = kept_number(file);
    if (number >= 0)
        close(number);
    file->number = -1;
}
