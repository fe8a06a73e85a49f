/* SPDX-License-Identifier: BSD-3-Clause */
/* finalize.c: makes a part of each rank's state, merges the parts in pairs in log2(P) steps, and
 * writes the archive on rank 0. What cannot be merged is written by the rank at the head of a part
 * of the tree (docs/merging.md, "Shards").
 *
 * libwendmerge.so merges and writes. It is opened only here, and only by ranks that read parts:
 * until now the application's process has had nothing but libc. The library has memory of its own,
 * which limit.c bounds; if it is short, a step fails. The steps of communication are the same if a
 * rank fails. Such a rank sends the reason instead of its data, and rank 0 prints it. Then each
 * rank leaves its part. */
#include "lifecycle.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "lib/archive/steps.h"
#include "lib/merge/tree.h"
#include "lib/record/checkpoint-file.h"
#include "lib/record/side-stream.h"
#include "output/output.h"
#include "own.gen.h"
#include "process/settings.h"

/* -- lists of parts -- */

/* Small parts of consecutive ranks, on their way to the rank that reads them. The others need not
 * open the library that merges, and no rank encodes what the next one decodes (docs/merging.md,
 * "Parts that are read for others"). */

/* Parts, each after its length. The memory is the kernel's. */
typedef struct {
    uint8_t *data; /* NULL: there is none */
    size_t len, cap;
} PartList;

/* An empty list with room for CAP bytes. False: there is no memory. */
static bool part_list_open(PartList *l, size_t cap)
{
    void *data = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *l = (PartList){.data = data == MAP_FAILED ? NULL : data, .cap = cap};
    return l->data;
}

static bool list_has_room(const PartList *l, size_t n)
{
    return l->data && n <= l->cap - l->len;
}

static bool part_list_append(PartList *l, const void *list, size_t n)
{
    if (!list_has_room(l, n))
        return false;
    memcpy(l->data + l->len, list, n);
    l->len += n;
    return true;
}

/* Adds a part of N bytes, or N bytes that are a list. False: there is no room. */
static bool part_list_add(PartList *l, const void *part, size_t n)
{
    return n < SIZE_MAX - sizeof n && list_has_room(l, sizeof n + n)
           && part_list_append(l, &n, sizeof n) && part_list_append(l, part, n);
}

/* The part at *AT, which is 0 for the first one, in *PART and *N. *AT becomes that of the next one.
 * False: there is none. */
static bool part_list_next(const PartList *l, size_t *at, const void **part, size_t *n)
{
    if (!l->data || l->len - *at < sizeof *n)
        return false;
    memcpy(n, l->data + *at, sizeof *n);
    *at += sizeof *n;
    if (*n > l->len - *at)
        return false;
    *part = l->data + *at;
    *at += *n;
    return true;
}

/* Frees the memory. L can be opened again. */
static void part_list_close(PartList *l)
{
    if (l->data)
        munmap(l->data, l->cap);
    *l = (PartList){0};
}

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
    bool (*shard)(uint32_t);
    bool (*contribute)(const char *, const WendStepKey *, const WendStepPlace *);
    bool (*frame)(const WendStepPlace *, const void **, size_t *);
    bool (*fill)(const void *, size_t, uint64_t);
    bool (*finish)(void);
    const char *(*problem)(void);
    void (*end)(void);
} Library;

/* Sent before a rank's data. If WHY is not empty, there is no data. */
typedef struct {
    uint64_t bytes;
    int32_t rank;
    int32_t small; /* data must come in small chunks */
    int32_t parts; /* the data are a list of parts */
    char why[236];
} Header;

typedef struct {
    Library library;
    bool opened;    /* the library, which has read all parts but those in the list */
    PartList parts; /* while the library is not opened: what this rank has */
    bool good;      /* false once something has failed */
    bool small;     /* see Header */
    bool apart;     /* each rank is a shard */
    Header failure; /* the first failure */
} Merge;

/* A message that was waited for in vain may still come, or leave: its memory stays. */
static void end_library(const Merge *m)
{
    if (m->good && m->opened && !waiting_failed())
        m->library.end();
}

static void close_parts(PartList *list)
{
    if (!waiting_failed())
        part_list_close(list);
}

static void fail(Merge *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(Merge *m, const char *format, ...)
{
    if (!*m->failure.why) {
        va_list args;
        va_start(args, format);
        vsnprintf(m->failure.why, sizeof m->failure.why, format, args);
        va_end(args);
        m->failure.rank = state()->world_rank;
    }
    end_library(m);
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
        {"wend_step_limit", (void **)&l->limit},
        {"wend_step_part", (void **)&l->part},
        {"wend_step_absorb", (void **)&l->absorb},
        {"wend_step_encode", (void **)&l->encode},
        {"wend_step_memory", (void **)&l->memory},
        {"wend_step_write", (void **)&l->write},
        {"wend_step_problem", (void **)&l->problem},
        {"wend_step_end", (void **)&l->end},
        {"wend_step_shard", (void **)&l->shard},
        {"wend_step_contribute", (void **)&l->contribute},
        {"wend_step_frame", (void **)&l->frame},
        {"wend_step_fill", (void **)&l->fill},
        {"wend_step_finish", (void **)&l->finish},
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

/* Opens the library. Returns whether it is there and nothing has failed. */
static bool open_merge(Merge *m)
{
    const char *why;
    if (m->good && !m->opened && !(m->opened = library_open(&m->library, &why)))
        fail(m, "%s", why ? why : "cannot open " LIBRARY);
    return m->good;
}

/* Reads the parts in LIST, which is closed. */
static void read_parts(Merge *m, int64_t step, PartList *list)
{
    const void *part;
    size_t n, at = 0;
    if (list->data && open_merge(m))
        begin_step(m, step);
    while (m->good && part_list_next(list, &at, &part, &n))
        if (!m->library.part(part, n))
            fail_step(m);
    close_parts(list);
}

/* Before STEP: reads what this rank has in its list, the parts of up to STEP ranks. */
static void read_own(Merge *m, int64_t step)
{
    read_parts(m, step / 2, &m->parts);
}

/* Makes the part of this rank. */
static void begin_merge(Merge *m)
{
    const char *stopped = atomic_load(&state()->broken) ? atomic_load(&state()->broken_why) : NULL;
    if (stopped && strcmp(stopped, WEND_ENDED_MEMORY) != 0) {
        fail(m, "%s", stopped);
        return;
    }
    WendBuf part = WEND_BUF_INIT;
    facts_collect();
    bool own_members = rank_part_write(&part, stopped);
    if (part.failed) {
        fail(m, "out of memory");
    } else if (own_members || facts_calls() > TREE_PARTS_CALLS
               || !part_list_open(&m->parts, TREE_PARTS_BYTES)
               || !part_list_add(&m->parts, part.data, part.len)) {
        part_list_close(&m->parts);
        if (open_merge(m)) {
            begin_step(m, 0);
            if (!m->library.part(part.data, part.len))
                fail_step(m);
        }
    }
    buf_clear(&part);
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
        if (!(sending ? waiting_send(p, n, MPI_BYTE, partner, TAG_DATA, comm)
                      : waiting_recv(p, n, MPI_BYTE, partner, TAG_DATA, comm)))
            return false;
    }
    return true;
}

/* The answer to a header: the action of the other rank. */
enum { DROP, SEND, SEND_SMALL };

/* Sends N bytes, which may be a list of parts (PARTS), or the reason why there are none. */
static void offer(const Merge *m, const void *bytes, size_t n, bool parts, int partner,
                  MPI_Comm comm)
{
    static int wanted;
    static Header header;
    wanted = DROP;
    header = m->failure;
    header.small = m->small;
    header.parts = parts;
    header.bytes = n;
    if (waiting_send(&header, (int)sizeof header, MPI_BYTE, partner, TAG_HEADER, comm)
        && waiting_recv(&wanted, 1, MPI_INT, partner, TAG_ANSWER, comm) && wanted != DROP)
        transfer(true, (void *)(uintptr_t)bytes, n, chunk_of(wanted == SEND_SMALL), partner, comm);
}

static void give(Merge *m, int partner, MPI_Comm comm)
{
    const void *bytes = NULL;
    size_t n = 0;
    if (m->good && !m->opened) {
        offer(m, m->parts.data, m->parts.len, true, partner, comm);
        return;
    }
    if (m->good && !m->library.encode(&bytes, &n))
        fail_step(m);
    offer(m, bytes, n, false, partner, comm);
}

/* What PARTNER offers. False: it cannot be reached. */
static bool receive_header(Merge *m, Header *header, int partner, MPI_Comm comm)
{
    if (!waiting_recv(header, (int)sizeof *header, MPI_BYTE, partner, TAG_HEADER, comm)) {
        fail(m, "the merge cannot reach rank %d", partner);
        return false;
    }
    if (*header->why) {
        if (!*m->failure.why)
            m->failure = *header;
        fail(m, "%s", header->why);
    }
    return true;
}

/* Takes what PARTNER offered to DATA, or drops it if DATA is NULL or the merge has failed. Returns
 * whether the data are there. */
static bool accept_offer(Merge *m, const Header *header, void *data, int partner, MPI_Comm comm)
{
    bool small = m->small || header->small;
    static int wanted;
    wanted = !data || !m->good ? DROP : small ? SEND_SMALL : SEND;
    waiting_send(&wanted, 1, MPI_INT, partner, TAG_ANSWER, comm);
    if (wanted == DROP)
        return false;
    if (!transfer(false, data, header->bytes, chunk_of(small), partner, comm)) {
        fail(m, "the merge cannot reach rank %d", partner);
        return false;
    }
    return true;
}

/* What PARTNER offered with HEADER, in the library's memory until the next step. NULL: nothing, or
 * the merge has failed. */
static void *fetch(Merge *m, const Header *header, int64_t step, int partner, MPI_Comm comm)
{
    if (m->good)
        begin_step(m, step);
    void *data = m->good && header->bytes > 0 ? m->library.memory(header->bytes) : NULL;
    if (m->good && header->bytes > 0 && !data)
        fail_step(m);
    return accept_offer(m, header, data, partner, comm) ? data : NULL;
}

/* Takes a list of parts: into the own one, or else the parts are read. */
static void take_parts(Merge *m, const Header *header, int64_t step, int partner, MPI_Comm comm)
{
    PartList more = {0};
    if (m->good && !part_list_open(&more, header->bytes))
        fail(m, "out of memory");
    if (accept_offer(m, header, more.data, partner, comm))
        more.len = header->bytes;
    if (!m->opened && part_list_append(&m->parts, more.data, more.len)) {
        close_parts(&more);
    } else {
        read_own(m, step);
        read_parts(m, step, &more);
    }
}

static void take(Merge *m, int64_t step, int partner, MPI_Comm comm)
{
    static Header header;
    if (!receive_header(m, &header, partner, comm))
        return;
    if (header.parts) {
        take_parts(m, &header, step, partner, comm);
        return;
    }
    read_own(m, step);
    const void *data = fetch(m, &header, step, partner, comm);
    if (data && !m->library.absorb(data, header.bytes))
        fail_step(m);
}

/* -- shards -- */

/* Finds out whether the ranks have next to nothing in common, and so many terminals that each
 * makes a shard at once. False on all ranks, or on none; also if MPI fails. */
static bool are_apart(MPI_Comm comm, int size, int fewest, int most)
{
    enum { LEAST = 64, BITS = 64 * WEND_SKETCH_WORDS, SPARSE = 4, PARTS = 4, OF_PARTS = 3 };
    uint64_t bits[WEND_SKETCH_WORDS] = {0}, shapes = 0, distinct = 0, one_of = 1;
    if (size == 1 || fewest / LEAST < settings()->shard_ranks)
        return false;
    while (one_of * BITS < (uint64_t)most * (uint64_t)size * SPARSE)
        one_of *= 2;
    rank_part_sketch(one_of, bits);
    for (size_t i = 0; i < WEND_SKETCH_WORDS; i++)
        shapes += (uint64_t)__builtin_popcountll(bits[i]);
    if (!waiting_reduce(bits, WEND_SKETCH_WORDS, MPI_UINT64_T, MPI_BOR, comm)
        || !waiting_reduce(&shapes, 1, MPI_UINT64_T, MPI_SUM, comm))
        return false;
    for (size_t i = 0; i < WEND_SKETCH_WORDS; i++)
        distinct += (uint64_t)__builtin_popcountll(bits[i]);
    return shapes > 0 && distinct * PARTS >= shapes * OF_PARTS;
}

static uint32_t shard_least(const Merge *m)
{
    if (m->apart)
        return 1;
    uint64_t given = (uint64_t)settings()->shard_ranks;
    return given < UINT32_MAX ? (uint32_t)given : UINT32_MAX;
}

/* Makes a shard of what was merged so far, if it is one and nothing more belongs to it. */
static void make_shard(Merge *m, int rank, int64_t step, int size)
{
    uint32_t least = shard_least(m);
    if (!tree_may_shard((uint64_t)rank, (uint64_t)step, (uint64_t)size, least))
        return;
    read_own(m, step);
    if (m->good && !m->library.shard(least))
        fail_step(m);
}

/* What all ranks must know to write theirs. */
typedef struct {
    WendStepKey key;
    char directory[PATH_MAX];
} Target;

/* Places are sent in pieces, so that no rank needs memory for them. */
enum { PLACES_AT_ONCE = 64 };

/* The places of this rank: of a shard, and of side streams of each kind. */
typedef struct {
    uint32_t n;
    WendStepPlace at[1 + WEND_SIDE_KINDS];
    bool written[1 + WEND_SIDE_KINDS];
} OwnPlaces;

/* Sends N places from rank 0, and finds those of this rank. False: MPI failed. */
static bool spread_places(const WendStepPlace *places, uint32_t n, OwnPlaces *own, MPI_Comm comm)
{
    static WendStepPlace some[PLACES_AT_ONCE];
    own->n = 0;
    for (uint32_t at = 0; at < n; at += PLACES_AT_ONCE) {
        uint32_t count = n - at < PLACES_AT_ONCE ? n - at : PLACES_AT_ONCE;
        if (places)
            memcpy(some, places + at, count * sizeof *some);
        if (!waiting_bcast(some, (int)(count * sizeof *some), MPI_BYTE, 0, comm))
            return false;
        for (uint32_t i = 0; i < count; i++)
            if (some[i].rank == (uint32_t)state()->world_rank && own->n <= WEND_SIDE_KINDS)
                own->at[own->n++] = some[i];
    }
    return true;
}

/* Rank 0 writes the frames of ranks that cannot write to the file. They offer them, and all others
 * with frames offer nothing for each. */
static void collect_frames(Merge *m, const WendStepResult *result, MPI_Comm comm)
{
    for (uint32_t i = 0; i < result->n_places; i++) {
        const WendStepPlace *place = &result->places[i];
        static Header header;
        if (place->rank == 0) /* it is there already */
            continue;
        if (!receive_header(m, &header, (int)place->rank, comm))
            continue;
        const void *data = fetch(m, &header, state()->world_size, (int)place->rank, comm);
        if (data && header.bytes != place->bytes)
            fail(m, "the frame of rank %u is not what it was", place->rank);
        else if (data && !m->library.fill(data, header.bytes, place->offset))
            fail_step(m);
    }
}

/* Writes the frames of this rank. Returns whether it could write all. */
static bool write_own(Merge *m, OwnPlaces *own, const Target *target)
{
    bool all = true;
    for (uint32_t i = 0; i < own->n; i++) {
        const WendStepPlace *place = &own->at[i];
        const void *frame;
        size_t bytes;
        own->written[i] = false;
        if (!m->good || !m->opened || !m->library.frame(place, &frame, &bytes)
            || bytes != place->bytes)
            fail(m, "a frame of rank %u is gone", place->rank);
        else if (place->rank != 0)
            own->written[i] = m->library.contribute(target->directory, &target->key, place);
        else if (!(own->written[i] = m->library.fill(frame, bytes, place->offset)))
            fail_step(m);
        all = all && own->written[i];
    }
    return all;
}

/* Offers the frames of this rank to rank 0. */
static void offer_own(const Merge *m, const OwnPlaces *own, MPI_Comm comm)
{
    for (uint32_t i = 0; i < own->n; i++) {
        const void *frame = NULL;
        size_t bytes = 0;
        if (!own->written[i] && m->good && m->opened)
            m->library.frame(&own->at[i], &frame, &bytes);
        offer(m, frame, bytes, false, 0, comm);
    }
}

/* N frames are written by those that have them. RESULT: rank 0 only. False: MPI failed. */
static bool write_frames(Merge *m, uint32_t n, const WendStepResult *result, MPI_Comm comm)
{
    static Target target;
    OwnPlaces own;
    bool all_written;
    if (result) {
        target.key = result->key;
        snprintf(target.directory, sizeof target.directory, "%s", output_directory());
    }
    if (!waiting_bcast(&target, (int)sizeof target, MPI_BYTE, 0, comm)
        || !spread_places(result ? result->places : NULL, n, &own, comm))
        return false;
    if (!waiting_all(write_own(m, &own, &target), &all_written, comm))
        return false;
    if (!all_written && result)
        collect_frames(m, result, comm);
    else if (!all_written)
        offer_own(m, &own, comm);
    return true;
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

static void report(const WendStepResult *result)
{
    const char *unrecorded = *result->unrecorded ? result->unrecorded : NULL;
    unsigned stopped = result->stopped;
    if (settings()->quiet && !unrecorded && !stopped && !result->cut)
        return;
    char bytes[48], first[48], off[48], gap[80] = "", limit[128] = "";
    write_grouped(bytes, sizeof bytes, result->bytes);
    write_grouped(first, sizeof first, result->stopped_after);
    if (stopped)
        snprintf(limit, sizeof limit, "; %u rank%s reached WEND_MAX_MEMORY, %s %s MPI calls",
                 stopped, stopped == 1 ? "" : "s", stopped == 1 ? "after" : "the first after",
                 first);
    else if (result->cut) /* where recording stops, side streams do, too */
        snprintf(limit, sizeof limit, "; %u rank%s had no memory for all %s", result->cut,
                 result->cut == 1 ? "" : "s", result->cut_kinds);
    write_grouped(off, sizeof off, result->left_out);
    if (result->left_out)
        snprintf(gap, sizeof gap, "; recording was off for %s call%s", off,
                 result->left_out == 1 ? "" : "s");
    state_say("%s of %d %s in %s bytes: %s%s%s%s%s%s", result->totals, state()->world_size,
              state()->world_size == 1 ? "rank" : "ranks", bytes, output_directory(), gap, limit,
              unrecorded ? ", without those of " : "", unrecorded ? unrecorded : "",
              unrecorded ? ", which the MPI library that Wend was built for lacks" : "");
}

/* What rank 0 says of the archive: NOT_WRITTEN, WRITTEN or, if ranks have frames, WRITTEN and their
 * number. */
enum { NOT_WRITTEN, WRITTEN };

/* The library's places are gone if a step fails. But then, too, rank 0 must answer all ranks with
 * frames. The copy stays. */
static bool copy_places(WendStepResult *result)
{
    size_t bytes = result->n_places * sizeof *result->places;
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    result->places = memcpy(copy, result->places, bytes);
    return true;
}

static int write_archive(Merge *m, WendStepResult *result)
{
    if (parts_replaced())
        fail(m, "another run records there since: %s", output_directory());
    if (m->good)
        begin_step(m, state()->world_size);
    if (m->good && !m->library.write(output_directory(), output_file(), result))
        fail_step(m);
    if (m->good && result->n_places > 0 && !copy_places(result))
        fail(m, "out of memory");
    return *m->failure.why ? NOT_WRITTEN : WRITTEN + (int)result->n_places;
}

static void conclude(const WendStepResult *result)
{
    parts_remove();
    report(result);
}

/* Leaves the part, because there is no archive. The user may find another place for it. */
static void keep_part(const Merge *m, int rank)
{
    char why[sizeof m->failure.why + 32];
    snprintf(why, sizeof why, "rank %d: %s", m->failure.rank, m->failure.why);
    termination_keep(rank, why);
}

/* On all ranks. Whether the archive is there. */
static bool finish_archive(Merge *m, int rank, MPI_Comm comm)
{
    WendStepResult result;
    static int written;
    written = rank == 0 ? write_archive(m, &result) : NOT_WRITTEN;
    if (rank == 0 && written == WRITTEN)
        conclude(&result);
    bool received = waiting_bcast(&written, 1, MPI_INT, 0, comm);
    if (received && written > WRITTEN) {
        uint32_t n = (uint32_t)(written - WRITTEN);
        if (!write_frames(m, n, rank == 0 ? &result : NULL, comm))
            fail(m, "the merge cannot reach all ranks");
        if (rank == 0 && m->good && !m->library.finish())
            fail_step(m);
        written = rank == 0 && !*m->failure.why ? WRITTEN : NOT_WRITTEN;
        if (written)
            conclude(&result);
        waiting_bcast(&written, 1, MPI_INT, 0, comm);
    }
    /* A rank without an answer cannot know whether there is an archive, which has its calls. */
    if (!written)
        keep_part(m, rank);
    return written != NOT_WRITTEN;
}

bool finalize_merge(MPI_Comm comm, int fewest, int most)
{
    Merge m = {.good = true, .small = state_is_other_user(), .failure = {.rank = -1}};
    int rank, size, saved = errno;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    /* Ranks may merge for long before they answer. */
    waiting_set_limit(settings()->wait > WAITING_SECONDS ? (double)settings()->wait
                                                         : WAITING_SECONDS);
    m.apart = are_apart(comm, size, fewest, most);
    begin_merge(&m);
    for (int64_t step = 1; step < size; step *= 2) {
        if (!tree_sends_parts((uint64_t)step, shard_least(&m)))
            read_own(&m, step);
        make_shard(&m, rank, step, size);
        if (rank & step) {
            give(&m, (int)(rank - step), comm);
            break;
        }
        if (rank + step < size)
            take(&m, step, (int)(rank + step), comm);
    }
    if (rank == 0)
        read_own(&m, size);
    close_parts(&m.parts);
    bool written = finish_archive(&m, rank, comm);
    end_library(&m);
    errno = saved;
    return written;
}
