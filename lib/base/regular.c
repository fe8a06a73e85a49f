/* SPDX-License-Identifier: BSD-3-Clause */
/* regular.c: see regular.h. */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "file-write.h"

int regular_open(const char *path, uint64_t *bytes, int *why, Error **error)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), number = errno;
    bool is_socket = fd < 0 && number == ENXIO;
    if (why)
        *why = fd < 0 && !is_socket ? number : 0;
    if (fd < 0 && !is_socket) {
        error_set(error, error_of_input(number), "%s: %s", path, strerror(number));
        return -1;
    }
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *bytes = (uint64_t)info.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    error_set(error, WEND_ERROR_INPUT, "%s: is not a regular file", path);
    return -1;
}

bool regular_read(int fd, uint64_t offset, void *data, size_t n)
{
    for (char *p = data; n > 0;) {
        ssize_t done = pread(fd, p, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = 0;
        if (done <= 0)
            return false;
        p += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}
