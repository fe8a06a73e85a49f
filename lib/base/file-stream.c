/* SPDX-License-Identifier: BSD-3-Clause */
/* file-stream.c: see file-stream.h. */
#include "file-stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "strings.h"
#include "file-write.h"

struct WendFileStream {
    char *path;
    WendFileFlags flags;
    FileBeside beside;
    SignalHold hold;
    int fd;
    bool in_place, own; /* written in place: whether this opened FD */
    int number;         /* the errno of the first failure, or 0 */
};

WendFileStream *file_stream_open(const char *path, WendFileFlags flags, Error **error)
{
    FileTarget t;
    int number = 0;
    if (!file_target_inspect(&t, path, flags, error))
        return NULL;
    WendFileStream *f = NEW0(WendFileStream, 1);
    f->path = string_copy(path);
    f->flags = flags;
    f->in_place = t.kind == FILE_IN_PLACE;
    f->fd = -1;
    if (f->in_place) {
        number = file_target_open(path, &t, &f->fd);
        f->own = t.fd < 0;
    } else {
        signals_hold(&f->hold);
        number = file_beside_open(&f->beside, path, &t);
        f->fd = f->beside.fd;
    }
    f->number = number;
    if (number == 0)
        return f;
    if (file_stream_end(f, false, error))
        file_write_failed(error, path, number);
    return NULL;
}

bool file_stream_write(WendFileStream *f, const void *data, size_t n)
{
    if (f->number == 0)
        f->number = file_write_all(f->fd, data, n, f->in_place ? NULL : &f->hold);
    return f->number == 0;
}

bool file_stream_end(WendFileStream *f, bool keep, Error **error)
{
    if (!f)
        return true;
    int number = f->number;
    bool good = true;
    if (f->in_place) {
        if (f->own && f->fd >= 0 && close(f->fd) != 0 && number == 0)
            number = errno;
        if (number == EPIPE)
            number = 0;
    } else {
        /* a number that is not 0 removes the file */
        int ended = file_beside_end(&f->beside, f->flags,
                                    number != 0 ? number
                                    : keep      ? 0
                                                : ECANCELED,
                                    &f->hold);
        if (keep)
            number = ended;
        signals_release(&f->hold);
    }
    if (keep && number == EEXIST)
        good = file_write_refuse(error, f->path, "exists: somebody else has made it meanwhile");
    else if (keep && number != 0)
        good = file_write_failed(error, f->path, number);
    memory_free(f->path);
    memory_free(f);
    return good;
}
