/* SPDX-License-Identifier: BSD-3-Clause */
/* regular.c: see regular.h. */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "file-write.h"

int wend_regular_open(const char *path, guint64 *bytes, int *why, GError **error)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), number = errno;
    gboolean is_socket = fd < 0 && number == ENXIO;
    if (why)
        *why = fd < 0 && !is_socket ? number : 0;
    if (fd < 0 && !is_socket) {
        g_set_error(error, WEND_ERROR, wend_error_of_input(number), "%s: %s", path,
                    g_strerror(number));
        return -1;
    }
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *bytes = (guint64)info.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: is not a regular file", path);
    return -1;
}

gboolean wend_regular_read(int fd, guint64 offset, void *data, gsize n)
{
    for (char *p = data; n > 0;) {
        gssize done = pread(fd, p, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = 0;
        if (done <= 0)
            return FALSE;
        p += done;
        offset += (guint64)done;
        n -= (gsize)done;
    }
    return TRUE;
}
