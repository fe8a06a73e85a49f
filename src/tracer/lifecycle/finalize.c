/* SPDX-License-Identifier: BSD-3-Clause */
/* finalize.c: makes a part of each rank's state, merges the parts in pairs in log2(P) steps, and
 * writes the archive on rank 0.
 *
 * libwendmerge.so merges and writes. It is opened only here: until now the application's process
 * has had nothing but libc. The library has memory of its own, which limit.c bounds; if it is
 * short, a step fails. The steps of communication are the same if a rank fails. Such a rank sends
 * the reason instead of its data, and rank 0 prints it. Then each rank leaves its part. */
#include "lifecycle.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/record/checkpoint-file.h"
#include "lib/archive/steps.h"
#include "termination.h"
#include "interpose/interpose.h"
#include "output/output.h"
#include "own.gen.h"
#include "shared/shared.h"
#include "waiting.h"

#define LIBRARY "libwendmerge.so"

enum { TAG_HEADER = 1, TAG_ANSWER, TAG_DATA };
static const uint64_t CHUNK = UINT64_C(1) << 30; /* counts are ints */
/* All transports copy messages of this size. For larger ones some read the other process's
 * memory. */
static const uint64_t SMALL_CHUNK = 2048;

/* The functions of lib/archive/steps.h. */
typedef struct {
    void *library;
    void (*limit)(uint64_t, bool (*)(uint64_t));
    bool (*part)(const void *, size_t);
    bool (*absorb)(const void *, size_t);
    bool (*encode)(const void **, size_t *);
    void *(*memory)(size_t);
    bool (*write)(const char *, const char *, WendStepResult *);
    const char *(*problem)(void);
    void (*end)(void);
} Library;

/* Sent before a rank's data. If WHY is not empty, there is no data. */
typedef struct {
    uint64_t bytes;
    int32_t rank;
    int32_t small; /* data must come in small chunks */
    char why[240];
} Header;

typedef struct {
    Library library;
    bool good;      /* there is a merge; false once something has failed */
    bool small;     /* see Header */
    Header trouble; /* the first failure */
} Merge;

static void fail(Merge *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(Merge *m, const char *format, ...)
{
    if (!*m->trouble.why) {
        va_list args;
        va_start(args, format);
        vsnprintf(m->trouble.why, sizeof m->trouble.why, format, args);
        va_end(args);
        m->trouble.rank = state()->world_rank;
    }
    if (m->good)
        m->library.end();
    m->good = false;
}

/* Notes that a step has failed. */
static void fail_step(Merge *m)
{
    fail(m, "%s", m->library.problem());
}

/* -- the library -- */

/* Opens the library beside libwend.so, or in the package's folder. */
static void *open_library(const char **why)
{
    static const char *const places[] = {"", "wend/"};
    const char *own = module_own_file();
    void *library = NULL;
    if (!own) {
        *why = "cannot find the file of libwend.so";
        return NULL;
    }
    int dir = (int)(strrchr(own, '/') - own) + 1;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++) {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%.*s%s%s", dir, own, places[i], LIBRARY);
        if (n < 0 || (size_t)n >= sizeof path || access(path, R_OK) != 0)
            continue;
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            *why = dlerror();
    }
    if (!library && !*why)
        *why = LIBRARY " is not beside libwend.so";
    return library;
}

static bool library_open(Library *l, const char **why)
{
    *why = NULL;
    if (!(l->library = open_library(why)))
        return false;
    const struct {
        const char *name;
        void **function;
    } wanted[] = {
        {"wend_step_limit", (void **)&l->limit},     {"wend_step_part", (void **)&l->part},
        {"wend_step_absorb", (void **)&l->absorb},   {"wend_step_encode", (void **)&l->encode},
        {"wend_step_memory", (void **)&l->memory},   {"wend_step_write", (void **)&l->write},
        {"wend_step_problem", (void **)&l->problem}, {"wend_step_end", (void **)&l->end},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!(*wanted[i].function = dlsym(l->library, wanted[i].name))) {
            *why = dlerror();
            return false;
        }
    }
    return true;
}

/* The current step of the merge (limit_room). */
static int64_t merging_step;

/* The bytes that the step may take before the system is asked again. */
static uint64_t granted;

/* Whether BYTES more may be taken. The memory that was free at the beginning of the step may have
 * been used by now. The answer needs several files of the kernel. So a part of the free memory is
 * granted for the next allocations. */
static bool has_room(uint64_t bytes)
{
    enum { PART = 8 };
    if (bytes > granted) {
        uint64_t room = limit_room(merging_step);
        if (bytes > room)
            return false;
        granted = bytes + (room - bytes) / PART;
    }
    granted -= bytes;
    return true;
}

static void begin_step(const Merge *m, int64_t step)
{
    merging_step = step;
    granted = 0;
    m->library.limit(limit_room(step), has_room);
}

static void merge_open(Merge *m)
{
    const char *why,
        *stopped = atomic_load(&state()->broken) ? atomic_load(&state()->broken_why) : NULL;
    if (stopped && strcmp(stopped, WEND_ENDED_MEMORY) != 0) {
        fail(m, "%s", stopped);
        return;
    }
    if (!library_open(&m->library, &why)) {
        fail(m, "%s", why ? why : "cannot open " LIBRARY);
        return;
    }
    WendBuf part = WEND_BUF_INIT;
    facts_collect();
    part_of_rank(&part, stopped);
    begin_step(m, 0);
    if (part.failed)
        fail(m, "out of memory");
    else if (!(m->good = m->library.part(part.data, part.len)))
        fail_step(m);
    wend_buf_clear(&part);
}

/* -- between two ranks -- */

static uint64_t chunk_of(bool small)
{
    return small ? SMALL_CHUNK : CHUNK;
}

static bool transfer(bool sending, void *data, uint64_t bytes, uint64_t chunk, int partner,
                     MPI_Comm comm)
{
    for (uint64_t at = 0; at < bytes; at += chunk) {
        int n = (int)(bytes - at < chunk ? bytes - at : chunk);
        char *p = (char *)data + at;
        if (!(sending ? wait_send(p, n, MPI_BYTE, partner, TAG_DATA, comm)
                      : wait_recv(p, n, MPI_BYTE, partner, TAG_DATA, comm)))
            return false;
    }
    return true;
}

/* The answer to a header: the action of the other rank. */
enum { DROP, SEND, SEND_SMALL };

static void give(Merge *m, int partner, MPI_Comm comm)
{
    const void *bytes = NULL;
    size_t n = 0;
    int wanted = DROP;
    if (m->good && !m->library.encode(&bytes, &n))
        fail_step(m);
    Header header = m->trouble;
    header.small = m->small;
    header.bytes = n;
    if (wait_send(&header, (int)sizeof header, MPI_BYTE, partner, TAG_HEADER, comm)
        && wait_recv(&wanted, 1, MPI_INT, partner, TAG_ANSWER, comm) && wanted != DROP)
        transfer(true, (void *)(uintptr_t)bytes, n, chunk_of(wanted == SEND_SMALL), partner, comm);
}

static void take(Merge *m, int64_t step, int partner, MPI_Comm comm)
{
    Header header;
    if (!wait_recv(&header, (int)sizeof header, MPI_BYTE, partner, TAG_HEADER, comm)) {
        fail(m, "the merge cannot reach rank %d", partner);
        return;
    }
    if (*header.why) {
        if (!*m->trouble.why)
            m->trouble = header;
        fail(m, "%s", header.why);
    }
    if (m->good)
        begin_step(m, step);
    void *data = m->good ? m->library.memory(header.bytes) : NULL;
    if (m->good && !data)
        fail_step(m);
    bool small = m->small || header.small;
    int wanted = !m->good || header.bytes == 0 ? DROP : small ? SEND_SMALL : SEND;
    wait_send(&wanted, 1, MPI_INT, partner, TAG_ANSWER, comm);
    if (wanted != DROP && !transfer(false, data, header.bytes, chunk_of(small), partner, comm))
        fail(m, "the merge cannot reach rank %d", partner);
    else if (wanted != DROP && !m->library.absorb(data, header.bytes))
        fail_step(m);
}

/* -- the archive -- */

static void write_grouped(char *out, size_t size, uint64_t n)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t at = 0;
    for (int i = 0; i < len && at + 2 < size; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static bool write_archive(Merge *m)
{
    WendStepResult result;
    if (m->good)
        begin_step(m, state()->world_size);
    if (m->good && !m->library.write(output_directory(), output_file(), &result))
        fail_step(m);
    if (*m->trouble.why)
        return false;
    parts_remove();
    const char *unrecorded = *result.unrecorded ? result.unrecorded : NULL;
    unsigned stopped = result.stopped;
    if (!settings()->quiet || unrecorded || stopped) {
        char bytes[48], first[48], limit[128] = "";
        write_grouped(bytes, sizeof bytes, result.bytes);
        write_grouped(first, sizeof first, result.stopped_after);
        if (stopped)
            snprintf(limit, sizeof limit, "; %u rank%s reached WEND_MAX_MEMORY, %s %s MPI calls",
                     stopped, stopped == 1 ? "" : "s", stopped == 1 ? "after" : "the first after",
                     first);
        state_say("%s of %d %s in %s bytes: %s%s%s%s%s", result.totals, state()->world_size,
                  state()->world_size == 1 ? "rank" : "ranks", bytes, output_directory(), limit,
                  unrecorded ? ", without those of " : "", unrecorded ? unrecorded : "",
                  unrecorded ? ", which the MPI library that Wend was built for lacks" : "");
    }
    return true;
}

/* Leaves the part, because there is no archive. The user may find another place for it. */
static void keep_part(const Merge *m, int rank)
{
    char why[sizeof m->trouble.why + 32];
    snprintf(why, sizeof why, "rank %d: %s", m->trouble.rank, m->trouble.why);
    termination_keep(rank, why);
}

bool finalize_merge(MPI_Comm comm)
{
    Merge m = {.small = state_is_other_user(), .trouble = {.rank = -1}};
    int rank, size, saved = errno;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    merge_open(&m);
    for (int64_t step = 1; step < size; step *= 2) {
        if (rank & step) {
            give(&m, (int)(rank - step), comm);
            break;
        }
        if (rank + step < size)
            take(&m, step, (int)(rank + step), comm);
    }
    int written = rank == 0 && write_archive(&m);
    if (wait_bcast(&written, 1, MPI_INT, 0, comm) && !written)
        keep_part(&m, rank);
    if (m.good)
        m.library.end();
    errno = saved;
    return written;
}
