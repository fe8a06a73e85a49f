/* SPDX-License-Identifier: BSD-3-Clause */
/* value-functions.c: the functions of the C library whose results are values. Each calls the real
 * one, which says whether the arguments are good, and then exchanges and records what it gave. A
 * call that fails is not recorded: it fails again, or it is repeated. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "process-values.h"

typedef struct SideStream SideStream;

static const int64_t BILLION = 1000000000, MILLION = 1000000;

/* Exchanges and records one number. */
static int64_t number(WendValueCode code, unsigned sub, int64_t value)
{
    SideStream *s = process_value_begin(false);
    if (!s)
        return value;
    process_value_numbers(s, code, sub, &value, 1);
    process_value_end(s);
    return value;
}

/* -- clocks -- */

static void timespec_value(WendValueCode code, unsigned sub, struct timespec *t)
{
    int64_t n = number(code, sub, t->tv_sec * BILLION + t->tv_nsec);
    int64_t seconds = n / BILLION - (n % BILLION < 0);
    *t = (struct timespec){seconds, n - seconds * BILLION};
}

static int value_clock_gettime(clockid_t clock, struct timespec *t)
{
    enum { OTHERS = 15 };
    int rc = clock_gettime(clock, t);
    if (rc == 0 && t)
        timespec_value(WEND_VALUE_CLOCK_GETTIME,
                       clock >= 0 && clock < OTHERS ? (unsigned)clock : OTHERS, t);
    return rc;
}

static int value_timespec_get(struct timespec *t, int base)
{
    int rc = timespec_get(t, base);
    if (rc != 0)
        timespec_value(WEND_VALUE_TIMESPEC_GET, 0, t);
    return rc;
}

static int value_gettimeofday(struct timeval *t, void *zone)
{
    int rc = gettimeofday(t, zone);
    if (rc != 0 || !t)
        return rc;
    int64_t n = number(WEND_VALUE_GETTIMEOFDAY, 0, t->tv_sec * MILLION + t->tv_usec);
    int64_t seconds = n / MILLION - (n % MILLION < 0);
    *t = (struct timeval){seconds, n - seconds * MILLION};
    return rc;
}

static time_t value_time(time_t *result)
{
    time_t now = number(WEND_VALUE_TIME, 0, time(NULL));
    if (result)
        *result = now;
    return now;
}

static clock_t value_clock(void)
{
    return number(WEND_VALUE_CLOCK, 0, clock());
}

static clock_t value_times(struct tms *t)
{
    struct tms own;
    clock_t rc = times(t ? t : &own);
    SideStream *s = process_value_begin(false);
    if (!s)
        return rc;
    if (!t)
        t = &own;
    int64_t n[] = {rc, t->tms_utime, t->tms_stime, t->tms_cutime, t->tms_cstime};
    process_value_numbers(s, WEND_VALUE_TIMES, 0, n, sizeof n / sizeof *n);
    process_value_end(s);
    *t = (struct tms){n[1], n[2], n[3], n[4]};
    return n[0];
}

/* -- randomness -- */

/* Exchanges and records N bytes of BUFFER, where there is room for ROOM. Returns how many there
 * are. */
static size_t bytes(WendValueCode code, void *buffer, size_t n, size_t room)
{
    SideStream *s = process_value_begin(false);
    if (!s)
        return n;
    process_value_bytes(s, code, buffer, &n, room);
    process_value_end(s);
    return n;
}

static ssize_t value_getrandom(void *buffer, size_t n, unsigned flags)
{
    ssize_t rc = getrandom(buffer, n, flags);
    return rc < 0 ? rc : (ssize_t)bytes(WEND_VALUE_GETRANDOM, buffer, (size_t)rc, n);
}

static int value_getentropy(void *buffer, size_t n)
{
    int rc = getentropy(buffer, n);
    if (rc == 0)
        bytes(WEND_VALUE_GETENTROPY, buffer, n, n);
    return rc;
}

/* Whether FD is /dev/random or /dev/urandom. */
static bool is_random(int fd)
{
    enum { MEMORY = 1, RANDOM = 8, URANDOM = 9 };
    struct stat info;
    int saved = errno;
    bool is = fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && major(info.st_rdev) == MEMORY
              && (minor(info.st_rdev) == RANDOM || minor(info.st_rdev) == URANDOM);
    errno = saved;
    return is;
}

static ssize_t value_read(int fd, void *buffer, size_t n)
{
    ssize_t rc = read(fd, buffer, n);
    return rc <= 0 || !atomic_load_explicit(&process_values_on, memory_order_relaxed)
                   || !is_random(fd)
               ? rc
               : (ssize_t)bytes(WEND_VALUE_RANDOM_DEVICE, buffer, (size_t)rc, n);
}

static ssize_t value_read_chk(int fd, void *buffer, size_t n, size_t room)
{
    (void)room; /* the kernel writes no more than N; a call that overflows is as bad as before */
    return value_read(fd, buffer, n);
}

/* A random device as a stream of the C library, whose own reads are not seen. */
static ssize_t stream_read(void *file, char *buffer, size_t n)
{
    return value_read(fileno(file), buffer, n);
}

static int stream_close(void *file)
{
    return fclose(file);
}

/* The stream has no buffer, so that it takes no more than the program gets. */
static FILE *value_fopen(const char *name, const char *mode)
{
    FILE *file = fopen(name, mode);
    bool reads = file && mode[0] == 'r' && !strchr(mode, '+');
    if (!reads || !atomic_load(&process_values_on) || !is_random(fileno(file)))
        return file;
    FILE *stream =
        fopencookie(file, "r", (cookie_io_functions_t){.read = stream_read, .close = stream_close});
    if (!stream)
        return file;
    setvbuf(stream, NULL, _IONBF, 0);
    return stream;
}

/* std::random_device::operator(), which takes numbers from the processor. */
#define CXX_RANDOM "_ZNSt13random_device9_M_getvalEv"

static unsigned value_cxx_random(void *device)
{
    static unsigned (*_Atomic real)(void *);
    if (!real)
        real = (unsigned (*)(void *))dlsym(RTLD_DEFAULT, CXX_RANDOM);
    return (unsigned)number(WEND_VALUE_RANDOM_NUMBER, 0, real(device));
}

/* -- the process and its host -- */

static pid_t value_getpid(void)
{
    pid_t pid = (pid_t)number(WEND_VALUE_GETPID, 0, getpid());
    process_value_note_pid(pid);
    return pid;
}

/* The program may send signals to itself, and in a replay another process may have the number. */
static int value_kill(pid_t pid, int signal)
{
    return kill(process_value_is_own_pid(pid) ? getpid() : pid, signal);
}

/* A host name of up to ROOM bytes. */
static void host_value(WendValueCode code, char *name, size_t room)
{
    size_t n = strnlen(name, room), got = bytes(code, name, n, room);
    if (got != n && got < room)
        name[got] = '\0';
}

static int value_gethostname(char *name, size_t room)
{
    int rc = gethostname(name, room);
    if (rc == 0)
        host_value(WEND_VALUE_GETHOSTNAME, name, room);
    return rc;
}

static int value_gethostname_chk(char *name, size_t room, size_t size)
{
    (void)size; /* as in value_read_chk */
    return value_gethostname(name, room);
}

static int value_uname(struct utsname *name)
{
    int rc = uname(name);
    if (rc == 0)
        host_value(WEND_VALUE_UNAME, name->nodename, sizeof name->nodename);
    return rc;
}

/* -- the table -- */

static const struct {
    const char *name;
    void *function;
} functions[] = {
    {"clock_gettime", (void *)value_clock_gettime},
    {"timespec_get", (void *)value_timespec_get},
    {"gettimeofday", (void *)value_gettimeofday},
    {"time", (void *)value_time},
    {"clock", (void *)value_clock},
    {"times", (void *)value_times},
    {"getrandom", (void *)value_getrandom},
    {"getentropy", (void *)value_getentropy},
    {"read", (void *)value_read},
    {"__read_chk", (void *)value_read_chk},
    {"fopen", (void *)value_fopen},
    {"fopen64", (void *)value_fopen},
    {CXX_RANDOM, (void *)value_cxx_random},
    {"getpid", (void *)value_getpid},
    {"kill", (void *)value_kill},
    {"gethostname", (void *)value_gethostname},
    {"__gethostname_chk", (void *)value_gethostname_chk},
    {"uname", (void *)value_uname},
};

void *value_function(const char *name, const char *file)
{
    const char *base = strrchr(file, '/');
    bool cxx = strncmp(base ? base + 1 : file, "libstdc++.so", 12) == 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            /* streams of C++ read by the file's number */
            return cxx && functions[i].function == (void *)value_fopen ? NULL
                                                                       : functions[i].function;
    return NULL;
}
