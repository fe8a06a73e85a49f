/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c: the facts of a rank and its run. lib/record/part.h has the keys. */
#include "config.h"

#include "lifecycle.h"

#include <ctype.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/record/record.h"
#include "encode/encode.h"
#include "families/families.h"
#include "objects/objects.h"
#include "output/output.h"
#include "own.gen.h"
#include "recorder/recorder.h"
#include "process/settings.h"
#include "side-streams/side-streams.h"

static char *directory; /* at the start, since the application may change it */
static double start;    /* seconds since the epoch */
static uint64_t start_nanoseconds;
static WendFacts constant_facts;

void facts_open(void)
{
    struct timespec now;
    if (directory)
        return;
    directory = getcwd(NULL, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    start = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    start_nanoseconds = clock_nanoseconds();
}

static void add(WendFacts *f, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(WendFacts *f, const char *key, const char *format, ...)
{
    char *value;
    va_list args;
    /* The application's locale may have a decimal comma. This one takes no memory. */
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    va_start(args, format);
    int n = vasprintf(&value, format, args);
    va_end(args);
    uselocale(before);
    if (n < 0) {
        f->bytes.failed = true;
        return;
    }
    facts_add(f, key, value);
    free(value);
}

static void add_named(WendFacts *f, const char *prefix, const char *name, const char *value)
{
    char *key;
    if (asprintf(&key, "%s%s", prefix, name) < 0) {
        f->bytes.failed = true;
        return;
    }
    facts_add(f, key, value);
    free(key);
}

/* Reads a file of /proc, whose size is unknown. */
static char *read_whole(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t cap = 0;
    char *data = NULL;
    *n = 0;
    if (fd < 0)
        return NULL;
    for (;;) {
        if (cap - *n < 2) {
            cap = cap ? 2 * cap : 4096;
            char *grown = realloc(data, cap);
            if (!grown)
                break;
            data = grown;
        }
        ssize_t got = read(fd, data + *n, cap - *n - 1);
        if (got <= 0)
            break;
        *n += (size_t)got;
    }
    close(fd);
    if (data)
        data[*n] = '\0';
    return data;
}

static bool is_plain(const char *s)
{
    if (!*s)
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("_-+=.,:/@%^", *s))
            return false;
    return true;
}

static void append_quoted(WendBuf *out, const char *s)
{
    if (is_plain(s)) {
        buf_bytes(out, s, strlen(s));
        return;
    }
    buf_bytes(out, "'", 1);
    for (; *s; s++) {
        if (*s == '\'')
            buf_bytes(out, "'\\''", 4);
        else
            buf_bytes(out, s, 1);
    }
    buf_bytes(out, "'", 1);
}

static void add_command(WendFacts *f)
{
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    facts_add(f, "run.program", program);
    size_t len;
    char *line = read_whole("/proc/self/cmdline", &len);
    WendBuf arguments = WEND_BUF_INIT;
    if (line) {
        for (const char *p = line + strlen(line) + 1; p < line + len; p += strlen(p) + 1) {
            if (arguments.len)
                buf_bytes(&arguments, " ", 1);
            append_quoted(&arguments, p);
        }
    }
    buf_bytes(&arguments, "", 1);
    if (arguments.failed)
        f->bytes.failed = true;
    else if (arguments.len > 1)
        facts_add(f, "run.arguments", (const char *)arguments.data);
    buf_clear(&arguments);
    free(line);
}

static const char *thread_level_name(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE:
        return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
        return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
        return "MPI_THREAD_SERIALIZED";
    default:
        return "MPI_THREAD_MULTIPLE";
    }
}

static void add_library(WendFacts *f)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1], host[MPI_MAX_PROCESSOR_NAME + 1];
    int n, major, minor;
    if (PMPI_Get_library_version(version, &n) == MPI_SUCCESS) {
        version[strcspn(version, "\n")] = '\0';
        for (char *p = version; *p; p++)
            if (*p == '\t')
                *p = ' ';
        facts_add(f, "mpi.library", version);
    }
    if (PMPI_Get_version(&major, &minor) == MPI_SUCCESS)
        add(f, "mpi.version", "%d.%d", major, minor);
    facts_add(f, "mpi.thread", thread_level_name(state()->thread_level));
    if (PMPI_Get_processor_name(host, &n) == MPI_SUCCESS)
        facts_add(f, "run.host", host);
}

static void add_datatypes(WendFacts *f)
{
    for (size_t i = 0; i < mpi_n_predefined; i++) {
        const PredefinedHandle *p = &mpi_predefined[i];
        const int64_t *d =
            p->kind == HANDLE_DATATYPE ? datatype_metadata((MPI_Datatype)p->value) : NULL;
        char text[128];
        if (!d)
            continue;
        snprintf(text, sizeof text, "%lld %lld %lld %lld %lld", (long long)d[0], (long long)d[1],
                 (long long)d[2], (long long)d[3], (long long)d[4]);
        add_named(f, "datatype.", mpi_constants[p->constant], text);
    }
}

/* Adds a setting, unless it is about the place of the recording or its messages. */
static void add_setting(void *f, const char *name, const char *value)
{
    static const char *const around[] = {"output", "force", "quiet", "sites"};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        if (strcmp(name, around[i]) == 0)
            return;
    add_named(f, "options.", name, value);
}

/* Writes N with at least DIGITS digits, and a 0 after it. Returns a pointer to the 0. */
static char *decimal(char *out, uint64_t n, int digits)
{
    char reversed[24];
    int len = 0;
    for (; n > 0 || len < digits; n /= 10)
        reversed[len++] = (char)('0' + n % 10);
    while (len > 0)
        *out++ = reversed[--len];
    *out = '\0';
    return out;
}

/* Writes N / 10^DIGITS, with so many digits behind the point. */
static void decimal_seconds(char *out, uint64_t n, int digits)
{
    uint64_t unit = 1;
    for (int i = 0; i < digits; i++)
        unit *= 10;
    out = decimal(out, n / unit, 1);
    *out++ = '.';
    decimal(out, n % unit, digits);
}

static void add_error(void *f, int class)
{
    char key[40] = "error.";
    decimal(key + strlen(key), (uint64_t) class, 1);
    const char *name = ""; /* an error class that the application made */
    for (size_t j = 0; j < mpi_n_error_classes && !*name; j++)
        if (mpi_error_classes[j].value == class)
            name = mpi_constants[mpi_error_classes[j].constant];
    facts_add(f, key, name);
}

static void add_unrecorded(void *f, const char *key)
{
    facts_add(f, key, "");
}

void facts_collect(void)
{
    WendFacts *f = &constant_facts;
    if (f->n > 0)
        return;
    add_command(f);
    facts_add(f, "run.directory", directory ? directory : "");
    if (output_job())
        facts_add(f, "run.job", output_job());
    add(f, "run.start", "%.3f", start);
    add_library(f);
    facts_add(f, "clock.source", clock_source());
    add(f, "clock.resolution", "%.3g", clock_resolution());
    facts_add(f, "wend.version", PACKAGE_VERSION);
    settings_given(add_setting, f);
    add_datatypes(f);
}

uint64_t facts_calls(void)
{
    uint64_t n = 0;
    for (const CallSequence *q = __atomic_load_n(&state()->sequences, __ATOMIC_ACQUIRE); q;
         q = __atomic_load_n(&q->next, __ATOMIC_ACQUIRE))
        n += q->calls;
    return n;
}

/* What the comparison of clocks came to. */
static void add_clocks(WendFacts *f)
{
    char text[48];
    uint64_t error;
    bool known;
    uint32_t hosts = host_clocks_result(&known, &error);
    if (hosts == 0)
        return;
    decimal(text, hosts, 1);
    facts_add(f, "clock.hosts", text);
    if (known)
        decimal_seconds(text, error, 9);
    else
        decimal(text, (uint64_t)state()->world_rank, 1);
    facts_add(f, known ? "clock.error" : "clock.uncompared", text);
}

/* The kinds of side streams of which this rank has not all. */
static void add_cut(WendFacts *f)
{
    char kinds[64] = "";
    for (int k = 0; k < WEND_SIDE_KINDS; k++) {
        size_t n = strlen(kinds);
        if (side_stream_was_cut((WendSideKindNumber)k))
            snprintf(kinds + n, sizeof kinds - n, "%s%s", n ? ", " : "",
                     side_stream_kind((WendSideKindNumber)k)->name);
    }
    if (*kinds)
        facts_add(f, "run.cut", kinds);
}

/* The MPI calls that were made while recording was off. */
static void add_left_out(WendFacts *f)
{
    char text[24];
    uint64_t n = 0;
    for (const CallSequence *q = __atomic_load_n(&state()->sequences, __ATOMIC_ACQUIRE); q;
         q = __atomic_load_n(&q->next, __ATOMIC_ACQUIRE))
        n += q->left_out;
    if (n == 0 && !atomic_load(&state()->was_off))
        return;
    decimal(text, n, 1);
    facts_add(f, WEND_LEFT_OUT, text);
}

void facts_put(WendFacts *f, const char *ended)
{
    uint64_t elapsed = clock_nanoseconds() - start_nanoseconds;
    char seconds[48], calls[24];
    f->n += constant_facts.n;
    f->bytes.failed |= constant_facts.bytes.failed;
    buf_bytes(&f->bytes, constant_facts.bytes.data, constant_facts.bytes.len);
    decimal_seconds(seconds, elapsed / 1000, 6);
    facts_add(f, "run.elapsed", seconds);
    if (ended)
        facts_add(f, "run.ended", ended);
    if (ended && strcmp(ended, WEND_ENDED_MEMORY) == 0) {
        decimal(calls, facts_calls(), 1);
        facts_add(f, WEND_STOPPED_AFTER, calls);
    }
    if (thread_numbers_by_creator())
        facts_add(f, "run.threads", "by creator");
    add_cut(f);
    add_left_out(f);
    add_clocks(f);
    error_codes_each_class(add_error, f);
    unrecorded_each(add_unrecorded, f);
}
