/* SPDX-License-Identifier: BSD-3-Clause */
/* file-write.c: see file-write.h. */
#include "file-write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are written between two checks for pending signals. */
static const gsize CHUNK = 1 << 20;

WendErrorCode wend_error_of_input(int number)
{
    return number == ENOENT || number == ENOTDIR ? WEND_ERROR_INPUT : wend_error_of_output(number);
}

WendErrorCode wend_error_of_output(int number)
{
    gboolean astray =
        number == ELOOP || number == ENAMETOOLONG || number == EISDIR || number == EEXIST;
    return astray ? WEND_ERROR_INPUT : WEND_ERROR_SYSTEM;
}

static gboolean fail(GError **error, const char *path, int number)
{
    g_set_error(error, WEND_ERROR, wend_error_of_output(number), "%s: cannot write: %s", path,
                g_strerror(number));
    return FALSE;
}

static gboolean refuse(GError **error, const char *path, const char *why)
{
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: %s", path, why);
    return FALSE;
}

/* -- signals that end the process are blocked until there is nothing to clean up -- */

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

typedef struct {
    sigset_t before;
    gboolean size_pending; /* SIGXFSZ was pending before */
} Hold;

static void hold(Hold *h)
{
    sigset_t set;
    sigpending(&set);
    h->size_pending = sigismember(&set, SIGXFSZ) == 1;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ); /* write fails with EFBIG as well */
    for (guint i = 0; i < G_N_ELEMENTS(ending); i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(SIG_BLOCK, &set, &h->before);
}

static void release(const Hold *h)
{
    sigset_t size;
    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    if (!h->size_pending)
        while (sigtimedwait(&size, NULL, &(struct timespec){0}) == SIGXFSZ)
            ;
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

/* Is a signal pending that will end the process when it is unblocked? A signal with a handler does
 * not count: the process goes on afterwards, or the handler cleans up. */
static gboolean is_ending(const Hold *h)
{
    sigset_t pending;
    struct sigaction action;
    sigpending(&pending);
    for (guint i = 0; i < G_N_ELEMENTS(ending); i++)
        if (sigismember(&pending, ending[i]) == 1 && sigismember(&h->before, ending[i]) != 1
            && sigaction(ending[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            return TRUE;
    return FALSE;
}

/* -- the file that has the name now -- */

typedef enum { ABSENT, REGULAR, LINK, IN_PLACE } Kind;

typedef struct {
    Kind kind;
    int fd;           /* IN_PLACE: an open descriptor, or -1 */
    gboolean linked;  /* IN_PLACE: by a symbolic link */
    struct stat info; /* of the file that is replaced or written to */
} Target;

/* The descriptor that PATH names, such as /dev/stdout, or -1. These names are links; to follow one
 * would replace a file that other processes still write to. */
static int descriptor_of(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (guint i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        char *end;
        const char *number = path + strlen(prefixes[i]);
        if (!g_str_has_prefix(path, prefixes[i]) || !g_ascii_isdigit(*number))
            continue;
        guint64 fd = g_ascii_strtoull(number, &end, 10);
        if (*end == '\0' && fd <= G_MAXINT)
            return (int)fd;
    }
    return -1;
}

/* Sets T's kind by its INFO. Returns FALSE and sets the error if FLAGS do not allow to write
 * there. */
static gboolean judge(Target *t, const char *path, WendFileFlags flags, GError **error)
{
    mode_t type = t->info.st_mode & S_IFMT;
    if (type == S_IFDIR)
        return refuse(error, path, "is a directory");
    if (type == S_IFREG || type == S_IFLNK) {
        t->kind = type == S_IFREG ? REGULAR : LINK;
        return (flags & WEND_FILE_REPLACE) != 0
               || refuse(error, path, "exists: --force overwrites it");
    }
    t->kind = IN_PLACE;
    if (type == S_IFSOCK || (flags & WEND_FILE_REGULAR) != 0)
        return refuse(error, path, type == S_IFSOCK ? "is a socket" : "is no regular file");
    return type != S_IFBLK || (flags & WEND_FILE_REPLACE) != 0
           || refuse(error, path, "is a disk: --force overwrites it");
}

static gboolean inspect(Target *t, const char *path, WendFileFlags flags, GError **error)
{
    struct stat behind;
    int fd = (flags & WEND_FILE_REGULAR) != 0 ? -1 : descriptor_of(path);
    *t = (Target){.kind = fd >= 0 ? IN_PLACE : ABSENT, .fd = fd};
    if (fd >= 0)
        return TRUE;
    if (lstat(path, &t->info) != 0)
        return errno == ENOENT || fail(error, path, errno);
    if (!S_ISLNK(t->info.st_mode))
        return judge(t, path, flags, error);
    if (stat(path, &behind) != 0)
        return errno == ENOENT ? judge(t, path, flags, error) : fail(error, path, errno);
    if (S_ISREG(behind.st_mode))
        return judge(t, path, flags, error);
    /* In a directory that everybody may write to, anybody can make a link. */
    if (t->info.st_uid != 0 && t->info.st_uid != geteuid() && !S_ISDIR(behind.st_mode))
        return refuse(error, path, "is a symbolic link that somebody else has made");
    t->linked = TRUE;
    t->info = behind;
    return judge(t, path, flags, error);
}

gboolean wend_file_check(const char *path, WendFileFlags flags, GError **error)
{
    Target t;
    return inspect(&t, path, flags, error);
}

/* -- writing -- */

/* Writes N bytes. Returns 0 or the errno: EINTR if a signal that H holds will end the process. H
 * NULL: no signals are held. */
static int write_all(int fd, const guint8 *p, gsize n, const Hold *h)
{
    while (n > 0) {
        gssize done = write(fd, p, MIN(n, CHUNK));
        if (done < 0 && errno != EINTR)
            return errno;
        if (done == 0)
            return EIO;
        if (h && is_ending(h))
            return EINTR;
        p += MAX(done, 0);
        n -= (gsize)MAX(done, 0);
    }
    return 0;
}

/* Writes to an existing device, pipe or FIFO. Checks after opening that it is still that file. */
static int write_in_place(const char *path, const Target *t, const void *data, gsize n)
{
    struct stat info;
    if (t->fd >= 0)
        return write_all(t->fd, data, n, NULL);
    int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (t->linked ? 0 : O_NOFOLLOW));
    if (fd < 0)
        return errno;
    gboolean same = fstat(fd, &info) == 0 && info.st_dev == t->info.st_dev
                    && info.st_ino == t->info.st_ino
                    && (info.st_mode & S_IFMT) == (t->info.st_mode & S_IFMT);
    int number = same ? write_all(fd, data, n, NULL) : ESTALE;
    if (close(fd) != 0 && number == 0)
        number = errno;
    return number;
}

/* Moves FD to a number above 2. The application may have closed a standard file, and its other
 * threads may still write to that number. Returns -1 and sets errno on failure. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), number = errno;
    close(fd);
    errno = number;
    return above;
}

/* Creates a file under a random name, and stores the name. Returns the descriptor, or -1 and sets
 * errno. */
static int open_temporary(int dir, char name[32], mode_t mode)
{
    for (guint tries = 0; tries < 100; tries++) {
        guint64 random;
        if (getrandom(&random, sizeof random, 0) != (gssize)sizeof random)
            return -1;
        g_snprintf(name, 32, ".wend-%016" G_GINT64_MODIFIER "x", random);
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Renames the temporary file. A file that has the name by now is replaced only if FLAGS allow. */
static int rename_temporary(int dir, const char *temporary, const char *name, WendFileFlags flags)
{
    struct stat now;
    if ((flags & WEND_FILE_REPLACE) == 0) {
        if (renameat2(dir, temporary, dir, name, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EINVAL && errno != ENOSYS)
            return errno;
    }
    gboolean there = fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (there
        && ((flags & WEND_FILE_REPLACE) == 0 || (!S_ISREG(now.st_mode) && !S_ISLNK(now.st_mode))))
        return EEXIST;
    return renameat(dir, temporary, dir, name) == 0 ? 0 : errno;
}

/* Writes the directory to the disk, so that the rename survives a crash. */
static void sync_directory(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd); /* some file systems refuse this on directories; the file's own data is safe */
    close(fd);
}

/* Does the new file get the mode of the one that it replaces? A private file stays private, also
 * while it is written. */
static gboolean keeps_mode(const Target *t)
{
    return t->kind == REGULAR && t->info.st_uid == geteuid();
}

static int write_temporary(int fd, const Target *t, const void *data, gsize n, WendFileFlags flags,
                           const Hold *h)
{
    int number = write_all(fd, data, n, h);
    if (number != 0)
        return number;
    if (keeps_mode(t) && fchmod(fd, t->info.st_mode & 0777) != 0)
        return errno;
    /* After a crash there must be the old file or the whole new one. */
    if (((flags & WEND_FILE_DURABLE) != 0 || t->kind == REGULAR) && fsync(fd) != 0)
        return errno;
    return is_ending(h) ? EINTR : 0;
}

static int write_beside(const char *path, const Target *t, const void *data, gsize n,
                        WendFileFlags flags, const Hold *h)
{
    g_autofree char *directory = g_path_get_dirname(path), *name = g_path_get_basename(path);
    char temporary[32];
    int dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return errno;
    int fd = above_standard(open_temporary(dir, temporary, keeps_mode(t) ? 0600 : 0666));
    int number = fd < 0 ? errno : write_temporary(fd, t, data, n, flags, h);
    if (fd >= 0 && close(fd) != 0 && number == 0)
        number = errno;
    if (fd >= 0 && number == 0)
        number = rename_temporary(dir, temporary, name, flags);
    if (fd >= 0 && number != 0)
        unlinkat(dir, temporary, 0);
    if (number == 0 && (flags & WEND_FILE_DURABLE) != 0)
        sync_directory(dir);
    close(dir);
    return number;
}

static gboolean put(const char *path, const void *data, gsize n, WendFileFlags flags, const Hold *h,
                    GError **error)
{
    Target t;
    if (!inspect(&t, path, flags, error))
        return FALSE;
    if (t.kind == IN_PLACE) { /* signals arrive meanwhile: a FIFO may never have a reader */
        sigset_t held;
        pthread_sigmask(SIG_SETMASK, &h->before, &held);
        int number = write_in_place(path, &t, data, n);
        pthread_sigmask(SIG_SETMASK, &held, NULL);
        return number == 0 || fail(error, path, number);
    }
    int number = write_beside(path, &t, data, n, flags, h);
    if (number == EEXIST)
        return refuse(error, path, "exists: somebody else has made it meanwhile");
    return number == 0 || fail(error, path, number);
}

gboolean wend_file_write(const char *path, const void *data, gsize n, WendFileFlags flags,
                         GError **error)
{
    Hold h;
    hold(&h);
    gboolean good = put(path, data, n, flags, &h, error);
    release(&h);
    return good;
}

gboolean wend_file_write_directory(const char *directory, const WendFile *files, guint count,
                                   WendFileFlags flags, GError **error)
{
    Hold h;
    guint done = 0;
    hold(&h);
    gboolean made = mkdir(directory, 0777) == 0, good = made || errno == EEXIST;
    if (!good)
        g_set_error(error, WEND_ERROR, wend_error_of_output(errno),
                    "%s: cannot make the directory: %s", directory, g_strerror(errno));
    while (good && done < count) {
        g_autofree char *path = g_build_filename(directory, files[done].name, NULL);
        good = put(path, files[done].data, files[done].n, flags, &h, error);
        done += good;
    }
    for (guint i = 0; !good && made && i < done; i++) {
        g_autofree char *path = g_build_filename(directory, files[i].name, NULL);
        unlink(path);
    }
    if (!good && made)
        rmdir(directory);
    release(&h);
    return good;
}
