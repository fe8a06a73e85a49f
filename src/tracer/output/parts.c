/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c: see output.h. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/printable.h"
#include "lib/record/record.h"
#include "output.h"
#include "process/process.h"
#include "process/settings.h"
#include "process/launcher.h"

#define TOKEN "/run"

/* The file "run", which identifies the job of a folder. On one host the launcher's process
 * identifies it, together with the time. Rank 0 makes the folder after MPI_Init, when all processes
 * of its world have begun, so the folder of an older job is older than these. On another host, the
 * job of the batch system and of the launcher identifies it, together with the time, as far as
 * clocks agree. Containers on one machine are several hosts: each has a process of the launcher. */
typedef struct {
    char magic[8];
    char boot[40]; /* the machine, since it was started */
    char job[136]; /* what the batch system calls it, a blank, what the launcher calls it */
    int64_t launcher, launcher_start; /* -1: unknown */
    int64_t made;                     /* nanoseconds since the host was started */
    int64_t made_real;                /* since the epoch */
    int64_t ranks;
} JobToken;

static const char magic[8] = "WENDRUN2";
/* of a folder that another rank than 0 made, because it cannot see the folder of rank 0 */
static const char magic_of_host[8] = "WENDHOST";
static const int64_t CLOCKS_AGREE = INT64_C(60000000000);
enum { RESERVE = 16 << 10, PATH_ROOM = PATH_MAX + 300 };

static JobToken me;       /* MADE: when this process began */
static bool job_is_known; /* all hosts of the job have its name from the launcher */
/* the recording's directory, or the folder that will contain it under a default name */
static char base[PATH_ROOM];
/* the directory that a rank makes if it cannot see that of rank 0; "": it has no name */
static char own_directory[PATH_ROOM];
static bool named;                /* BASE is the directory */
static char folder[PATH_ROOM];    /* of the parts; "": not found */
static JobToken of_folder;        /* its token, once it is found */
static char directory[PATH_ROOM]; /* of the recording, once found */
/* the same as a word of a command, in printable form; made early because a handler has no room */
static char said[4 * PATH_ROOM];
static _Atomic bool directory_known; /* set by the watcher, for the application */
static char slots[2][64];            /* names of the files */
/* the name of the parts' folder; "": unknown, because this world was spawned and did not get its
 * name */
static char own_folder[256];
static uint64_t build, number; /* of the last save; its lowest bit is the slot */
static uint64_t sizes[2];      /* of the files, with reserved space */
static bool holds[2];          /* whether they have ever held a part */

static long sys_open(const char *path, int flags)
{
    return syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}

/* Opens a file in a folder that may belong to another user: it follows no link, and does not wait
 * for a pipe. */
static long open_file(const char *path, int flags)
{
    return sys_open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

static bool join(char *out, const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n + m >= PATH_ROOM)
        return false;
    memmove(out, a, n);
    memcpy(out + n, b, m + 1);
    return true;
}

/* -- identity of this process -- */

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The start of a process in nanoseconds since the host was started; -1 if unknown. */
static int64_t start_of(long pid)
{
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    const char *p = strrchr(text, ')');
    for (int field = 2; p && field < 22; field++) /* the program's name is the second field */
        if (!(p = strchr(p + 1, ' ')))
            return -1;
    return p ? strtoll(p, NULL, 10) * (1000000000 / sysconf(_SC_CLK_TCK)) : -1;
}

static void read_line(const char *path, char *out, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, room - 1) : 0;
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

void parts_open(void)
{
    const State *s = state();
    const char *given = settings()->output, *job = output_job();
    char here[PATH_MAX], of_launcher[64];
    memcpy(me.magic, magic, sizeof me.magic);
    read_line("/proc/sys/kernel/random/boot_id", me.boot, sizeof me.boot);
    node_job(of_launcher, sizeof of_launcher);
    snprintf(me.job, sizeof me.job, "%.70s %s", job ? job : "", of_launcher);
    job_is_known = *of_launcher;
    me.launcher = node_launcher();
    me.launcher_start = me.launcher > 0 ? start_of(me.launcher) : -1;
    me.made = start_of(getpid());
    me.made_real = nanoseconds(CLOCK_REALTIME) - (nanoseconds(CLOCK_BOOTTIME) - me.made);
    me.ranks = s->world_size;
    named = given != NULL;
    if (given && *given == '/')
        join(base, given, "");
    else if (getcwd(here, sizeof here) && join(base, here, "") && given && join(base, base, "/"))
        join(base, base, given);
    char *name = named ? NULL : output_default_name();
    if (named || (name && join(own_directory, base, "/")))
        join(own_directory, named ? base : own_directory, named ? "" : name);
    free(name);
    for (int i = 0; i < 2; i++) {
        static const char *const suffixes[] = WEND_CHECKPOINT_SLOTS;
        snprintf(slots[i], sizeof slots[i], "/" WEND_CHECKPOINT_PREFIX "%d%s", s->world_rank,
                 suffixes[i]);
    }
    if (!s->spawned)
        snprintf(own_folder, sizeof own_folder, WEND_CHECKPOINT_FOLDER);
    else if (launcher_world())
        snprintf(own_folder, sizeof own_folder, WORLD_FILE_PREFIX "%s" WEND_CHECKPOINT_SUFFIX,
                 launcher_world());
    build = checkpoint_file_build();
}

/* Writes the file "run" in the folder of parts at PATH. */
static bool write_token(const char *path, const JobToken *token)
{
    char name[PATH_ROOM], hidden[PATH_ROOM];
    if (!join(name, path, TOKEN) || !join(hidden, path, "/.run"))
        return false;
    long fd = sys_open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    bool good = fd >= 0 && syscall(SYS_write, fd, token, sizeof *token) == (long)sizeof *token;
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (good && syscall(SYS_renameat, AT_FDCWD, hidden, AT_FDCWD, name) == 0)
        return true;
    syscall(SYS_unlinkat, AT_FDCWD, hidden, 0);
    return false;
}

static void know_directory(const char *path)
{
    static char word[PATH_ROOM + 8];
    bool fits = join(directory, path, "") && printable_word(word, sizeof word, directory);
    printable_text(said, sizeof said, word, fits ? strlen(word) : 0, printable_utf8());
    atomic_store(&directory_known, fits);
}

void parts_make(void)
{
    JobToken token = me;
    const char *file = output_file(), *suffix = file ? strstr(file, WORLD_FILE_SUFFIX) : NULL;
    char path[PATH_ROOM];
    token.made = nanoseconds(CLOCK_BOOTTIME);
    token.made_real = nanoseconds(CLOCK_REALTIME);
    if (file)
        snprintf(path, sizeof path, "%s/%.*s" WEND_CHECKPOINT_SUFFIX, output_directory(),
                 (int)(suffix ? suffix - file : 0), file);
    else
        snprintf(path, sizeof path, "%s/" WEND_CHECKPOINT_FOLDER, output_directory());
    if ((file || !output_is_claimed()) && mkdir(path, 0777) != 0)
        return; /* then a run that dies leaves nothing; other runs are recorded as usual */
    if (write_token(path, &token)) {
        know_directory(output_directory());
        join(folder, path, "");
        of_folder = token;
    } else {
        rmdir(path);
    }
}

/* -- looking for the folder -- */

static bool same_text(const char *a, const char *b, size_t room)
{
    return memchr(a, 0, room) && memchr(b, 0, room) && strcmp(a, b) == 0;
}

/* Reads the file "run" in the folder of parts at PATH. */
static bool read_token(const char *path, JobToken *t)
{
    char file[PATH_ROOM];
    if (!join(file, path, TOKEN))
        return false;
    long fd = open_file(file, O_RDONLY);
    long n = fd >= 0 ? syscall(SYS_read, fd, t, sizeof *t) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return n == (long)sizeof *t
           && (memcmp(t->magic, magic, sizeof magic) == 0
               || memcmp(t->magic, magic_of_host, sizeof magic) == 0);
}

/* The time at which the folder at PATH was made, if it is of this job; else INT64_MAX. */
static int64_t made_for_us(const char *path)
{
    JobToken t;
    if (!read_token(path, &t) || t.ranks != me.ranks)
        return INT64_MAX;
    bool together = same_text(t.boot, me.boot, sizeof t.boot);
    if (together && t.launcher == me.launcher && t.launcher_start == me.launcher_start)
        return t.made >= me.made ? t.made : INT64_MAX;
    if (together && !job_is_known)
        return INT64_MAX;
    return same_text(t.job, me.job, sizeof t.job) && t.made_real >= me.made_real - CLOCKS_AGREE
               ? t.made_real
               : INT64_MAX;
}

bool parts_replaced(void)
{
    JobToken now;
    return *folder && read_token(folder, &now) && memcmp(&now, &of_folder, sizeof now) != 0;
}

void parts_remove(void)
{
    if (*folder && !parts_replaced())
        marker_remove_parts(folder);
    *folder = '\0';
}

typedef struct {
    char path[PATH_ROOM], of[PATH_ROOM];
    int64_t made;
} Found;

/* Calls VISIT with the path of each entry. */
static void each_entry(const char *path,
                       void (*visit)(const char *path, const char *name, void *user), void *user)
{
    _Alignas(8) char entries[2048];
    char entry[PATH_ROOM];
    long fd = sys_open(path, O_RDONLY | O_DIRECTORY), n;
    while (fd >= 0 && (n = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
        for (long at = 0; at < n;) {
            struct {
                uint64_t inode, offset;
                unsigned short length;
                unsigned char type;
                char name[];
            } *e = (void *)(entries + at);
            at += e->length;
            if (join(entry, path, "/") && join(entry, entry, e->name))
                visit(entry, e->name, user);
        }
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
}

/* Visits an entry: the oldest folder that is young enough counts, because worlds that this one
 * starts have folders, too. */
static void visit_member(const char *path, const char *name, void *user)
{
    Found *f = user;
    size_t n = strlen(name), suffix = strlen(WEND_CHECKPOINT_SUFFIX);
    if (n <= suffix || strcmp(name + n - suffix, WEND_CHECKPOINT_SUFFIX) != 0
        || (*own_folder && strcmp(name, own_folder) != 0))
        return;
    int64_t made = made_for_us(path);
    if (made >= f->made)
        return;
    f->made = made;
    join(f->path, path, "");
    join(f->of, path, "");
    f->of[strlen(path) - n - 1] = '\0';
}

static void visit_recording(const char *path, const char *name, void *user)
{
    if (strncmp(name, OUTPUT_PREFIX, strlen(OUTPUT_PREFIX)) == 0)
        each_entry(path, visit_member, user);
}

/* Visits the entries of the given directory, and of those that further jobs of the same wend trace
 * have instead (output.c). */
static void each_job(const char *given, Found *f)
{
    static char path[PATH_ROOM];
    join(path, given, "");
    for (unsigned n = 2;; n++) {
        char digits[16], *p = digits + sizeof digits - 1;
        each_entry(path, visit_member, f);
        *p = '\0';
        for (unsigned rest = n; rest > 0; rest /= 10)
            *--p = (char)('0' + rest % 10);
        if (!join(path, given, OUTPUT_NEXT) || !join(path, path, p)
            || syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0)
            return;
    }
}

bool parts_find(void)
{
    static Found found; /* too large for some stacks */
    if (*folder)
        return true;
    found.made = INT64_MAX;
    if (named)
        each_job(base, &found);
    else
        each_entry(base, visit_recording, &found);
    if (found.made == INT64_MAX)
        return false;
    know_directory(found.of);
    return read_token(found.path, &of_folder) && join(folder, found.path, "");
}

const char *parts_directory(void)
{
    return atomic_load(&directory_known) ? directory : NULL;
}

const char *parts_directory_said(void)
{
    return atomic_load(&directory_known) ? said : NULL;
}

/* Makes PATH and in it the folder of the parts. *USED: it is there, with the parts of an older run
 * of this host. */
static bool make_directory(const char *path, bool *used)
{
    JobToken token = me, other;
    char parts[PATH_ROOM];
    if (!join(parts, path, "/") || !join(parts, parts, own_folder))
        return false;
    bool made = syscall(SYS_mkdirat, AT_FDCWD, path, 0777) == 0;
    *used = !made && read_token(parts, &other)
            && memcmp(other.magic, magic_of_host, sizeof magic_of_host) == 0;
    if (!made)
        return false;
    memcpy(token.magic, magic_of_host, sizeof token.magic);
    token.made = nanoseconds(CLOCK_BOOTTIME);
    token.made_real = nanoseconds(CLOCK_REALTIME);
    marker_add(path, own_folder);
    if (syscall(SYS_mkdirat, AT_FDCWD, parts, 0777) != 0 || !write_token(parts, &token))
        return false;
    know_directory(path);
    of_folder = token;
    return join(folder, parts, "");
}

/* If there is no such directory, the host has file systems of its own: rank 0 has made one. */
bool parts_make_own(void)
{
    char path[PATH_ROOM], next[] = OUTPUT_NEXT "2";
    bool used = false;
    if (*folder || !*own_directory || !*own_folder)
        return *folder != '\0';
    bool made = make_directory(own_directory, &used);
    for (; used && join(path, own_directory, next); next[sizeof next - 2]++) {
        made = make_directory(path, &used);
        used &= next[sizeof next - 2] < '9';
    }
    return made;
}

uint64_t parts_job(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const int64_t numbers[] = {me.launcher, me.launcher_start, me.launcher > 0 ? 0 : me.made};
    const struct {
        const void *at;
        size_t n;
    } pieces[] = {{numbers, sizeof numbers},
                  {me.boot, sizeof me.boot},
                  {me.job, sizeof me.job},
                  {own_folder, sizeof own_folder}};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t at = 0; at < pieces[i].n; at++)
            hash = (hash ^ ((const unsigned char *)pieces[i].at)[at]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Visits a checkpoint file. It counts if it has a header, which is written last. Without one there
 * may have been no room for it. */
static void visit_saved(const char *path, const char *name, void *any)
{
    WendCheckpointHeader header;
    if (strncmp(name, WEND_CHECKPOINT_PREFIX, strlen(WEND_CHECKPOINT_PREFIX)) != 0)
        return;
    long fd = open_file(path, O_RDONLY);
    if (fd < 0)
        return;
    if (syscall(SYS_pread64, fd, &header, sizeof header, 0L) == (long)sizeof header
        && memcmp(header.magic, WEND_CHECKPOINT_MAGIC, sizeof header.magic) == 0)
        *(bool *)any = true;
    syscall(SYS_close, fd);
}

bool parts_any(void)
{
    bool any = false;
    if (*folder && !parts_replaced())
        each_entry(folder, visit_saved, &any);
    return any;
}

bool parts_first(void)
{
    char path[PATH_ROOM];
    if (!*folder || !join(path, folder, "/said"))
        return false;
    long fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return fd >= 0;
}

/* -- writing -- */

static bool write_all(long fd, const void *data, size_t n, long at)
{
    for (const char *p = data; n > 0;) {
        long done = syscall(SYS_pwrite64, fd, p, n, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* The bytes that the two files may take: this rank's share of the free space and of their own
 * space. */
static uint64_t allowed(void)
{
    struct statfs disk;
    if (syscall(SYS_statfs, folder, &disk) != 0)
        return UINT64_MAX;
    uint64_t free = (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize + sizes[0] + sizes[1];
    return (uint64_t)((double)free * (double)settings()->disk / 100 / (double)me.ranks);
}

/* Reserves twice the space, so that the last part fits even if the disk is full at the end. A file
 * system that cannot reserve gets none. */
static bool reserve(long fd, int slot, uint64_t bytes, uint64_t share)
{
    if (bytes <= sizes[slot])
        return true;
    uint64_t wanted = 2 * bytes + RESERVE;
    if (wanted + sizes[!slot] > share)
        wanted = bytes;
    if (wanted + sizes[!slot] > share)
        return false;
    bool room = syscall(SYS_fallocate, fd, 0, 0L, (long)wanted) == 0;
    if (!room && (errno == ENOSPC || errno == EDQUOT)) {
        wanted = bytes;
        if (syscall(SYS_fallocate, fd, 0, 0L, (long)wanted) != 0)
            return false;
    }
    sizes[slot] = room ? wanted : bytes;
    return true;
}

/* Whether the file is a regular file of this rank. Others may write to the folder, and put a link
 * or a pipe there. */
static bool is_ours(long fd)
{
    struct stat info;
    return syscall(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH) == 0 && S_ISREG(info.st_mode)
           && info.st_nlink <= 1;
}

static bool write_slot(int slot, const WendCheckpointHeader *header, const void *part,
                       uint64_t share)
{
    char path[PATH_ROOM];
    long fd = join(path, folder, slots[slot]) ? open_file(path, O_RDWR | O_CREAT) : -1;
    if (fd < 0)
        return false;
    if (!is_ours(fd)) {
        syscall(SYS_close, fd);
        return false;
    }
    bool good = reserve(fd, slot, sizeof *header + header->bytes, share);
    if (part)
        good = good && write_all(fd, part, header->bytes, sizeof *header)
               && write_all(fd, header, sizeof *header, 0);
    syscall(SYS_close, fd);
    holds[slot] |= good && part;
    if (!good && !holds[slot]) {
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        sizes[slot] = 0;
    }
    return good;
}

bool parts_write(const void *part, size_t bytes)
{
    if (!*folder || parts_replaced())
        return false;
    WendCheckpointHeader header = checkpoint_header(build, number + 1, part, bytes);
    uint64_t share = allowed();
    int slot = (int)((number + 1) & 1);
    if (!write_slot(slot, &header, part, share))
        return false;
    number++;
    if (sizes[!slot] < sizeof header + bytes)
        write_slot(!slot, &header, NULL, share); /* the space for the next part */
    return true;
}
