/* finalize.c: each rank's state -> a part (bytes) -> merged pairwise in log2(P) steps -> the archive, on rank 0.
 *
 * Merging and writing are libwendcore.so's, which is opened here and nowhere else: until now nothing but libc has been in the application's way.
 * The steps of communication are the same whatever fails: a rank in trouble sends the reason in the place of its data, and rank 0 says it. */
#include "control.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/merge.h"
#include "../../lib/saved.h"
#include "ending.h"
#include "module.h"
#include "output.h"
#include "own.gen.h"
#include "parts.h"
#include "settings.h"

#define CORE "libwendcore.so"

/* Memory that it takes to read a part, times its bytes. Measured with values by chance (bench/ranks), rounded up. */
enum { FROM_PART = 16 };
enum { TAG_HEADER = 1, TAG_ANSWER, TAG_DATA };
static const uint64_t CHUNK = UINT64_C(1) << 30; /* counts are ints */
/* What all transports take along with the message itself: none lets one process read the other's
 * memory for so little. */
static const uint64_t SMALL_CHUNK = 2048;

typedef struct {
    void *library;
    WendMerge *(*from_part)(const guint8 *, gsize, guint64, GError **);
    gboolean (*absorb)(WendMerge *, const guint8 *, gsize, GError **);
    guint64 (*memory)(const WendMerge *), (*absorbing)(const WendMerge *), (*writing)(const WendMerge *);
    GByteArray *(*encode)(WendMerge *);
    char *(*unrecorded)(const WendMerge *);
    char *(*totals_text)(const WendTotals *);
    guint (*stopped)(const WendMerge *, guint64 *);
    void (*free)(WendMerge *);
    gboolean (*write)(WendMerge *, const char *, const char *, WendMergeResult *, GError **);
    void (*g_free)(gpointer);
    void (*error_free)(GError *);
    guint8 *(*array_free)(GByteArray *, gboolean);
} Core;

/* What is sent ahead of a rank's data. WHY not empty: there are none. */
typedef struct {
    uint64_t bytes;
    uint64_t memory;                  /* that they take as a WendMerge, and until they are one with another */
    int32_t rank;
    int32_t small;                    /* only small chunks will do */
    char why[232];
} Header;

typedef struct {
    Core core;
    WendMerge *merge;                 /* NULL once something has failed */
    bool small;                       /* see Header */
    Header trouble;                   /* the first */
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
    if (m->merge)
        m->core.free(m->merge);
    m->merge = NULL;
}

static void fail_of(Merge *m, GError *error)
{
    fail(m, "%s", error ? error->message : "unknown error");
    if (error)
        m->core.error_free(error);
}

/* -- the library -- */

/* Beside libwend.so, and where the package keeps it. */
static void *open_core(const char **why)
{
    static const char *const places[] = {"", "wend/"};
    const char *own = module_own_file();
    void *library = NULL;
    if (!own) {
        *why = "cannot find myself";
        return NULL;
    }
    int dir = (int)(strrchr(own, '/') - own) + 1;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++) {
        char *path;
        if (asprintf(&path, "%.*s%s%s", dir, own, places[i], CORE) < 0)
            break;
        if (access(path, R_OK) == 0) {
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (!library)
                *why = dlerror();
        }
        free(path);
    }
    if (!library && !*why)
        *why = CORE " is not beside libwend.so";
    return library;
}

static bool core_open(Core *c, const char **why)
{
    *why = NULL;
    if (!(c->library = open_core(why)))
        return false;
    const struct { const char *name; void **function; } wanted[] = {
        {"wend_merge_from_part", (void **)&c->from_part}, {"wend_merge_absorb", (void **)&c->absorb},
        {"wend_merge_encode", (void **)&c->encode},       {"wend_merge_free", (void **)&c->free},
        {"wend_merge_memory", (void **)&c->memory}, {"wend_merge_absorbing", (void **)&c->absorbing}, {"wend_merge_writing", (void **)&c->writing},
        {"wend_merge_unrecorded", (void **)&c->unrecorded}, {"wend_merge_write", (void **)&c->write},
        {"wend_merge_totals_text", (void **)&c->totals_text}, {"wend_merge_stopped", (void **)&c->stopped},
        {"g_free", (void **)&c->g_free},                  {"g_error_free", (void **)&c->error_free},
        {"g_byte_array_free", (void **)&c->array_free},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!(*wanted[i].function = dlsym(c->library, wanted[i].name))) {
            *why = dlerror();
            return false;
        }
    }
    return true;
}

/* Short of memory GLib would abort, and the application with it; or the system would choose whom to kill. */
static bool affords(Merge *m, uint64_t bytes, uint64_t room)
{
    if (bytes > room)
        fail(m, "merging takes %llu MB more, and there are %llu to spare", (unsigned long long)(bytes >> 20) + 1, (unsigned long long)(room >> 20));
    return bytes <= room;
}

static void merge_open(Merge *m)
{
    const char *why, *stopped = atomic_load(&state()->broken) ? atomic_load(&state()->broken_why) : NULL;
    if (stopped && strcmp(stopped, WEND_ENDED_MEMORY) != 0) { /* short of memory GLib would abort */
        fail(m, "%s", stopped);
        return;
    }
    if (!core_open(&m->core, &why)) {
        fail(m, "%s", why ? why : "cannot open " CORE);
        return;
    }
    WendBuf part = WEND_BUF_INIT;
    GError *error = NULL;
    facts_collect();
    part_of_rank(&part, stopped);
    uint64_t least = FROM_PART * part.len, room = limit_room(0);
    if (part.failed)
        fail(m, "out of memory");
    else if (affords(m, least, room) && !(m->merge = m->core.from_part(part.data, part.len, room - least, &error)))
        fail_of(m, error);
    wend_buf_clear(&part);
}

/* -- between two ranks -- */

static uint64_t chunk_of(bool small) { return small ? SMALL_CHUNK : CHUNK; }

static bool transfer(bool sending, void *data, uint64_t bytes, uint64_t chunk, int partner,
                     MPI_Comm comm)
{
    for (uint64_t at = 0; at < bytes; at += chunk) {
        int n = (int)(bytes - at < chunk ? bytes - at : chunk);
        char *p = (char *)data + at;
        int rc = sending ? PMPI_Send(p, n, MPI_BYTE, partner, TAG_DATA, comm)
                         : PMPI_Recv(p, n, MPI_BYTE, partner, TAG_DATA, comm, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS)
            return false;
    }
    return true;
}

/* The answer to a header: what the other rank is to do. */
enum { DROP, SEND, SEND_SMALL };

static void give(Merge *m, int partner, MPI_Comm comm)
{
    GByteArray *bytes = m->merge ? m->core.encode(m->merge) : NULL;
    int wanted = DROP;
    if (m->merge && !bytes)
        fail(m, "out of memory");
    Header header = m->trouble;
    header.small = m->small;
    header.bytes = bytes ? bytes->len : 0;
    header.memory = bytes ? m->core.memory(m->merge) + m->core.absorbing(m->merge) : 0;
    if (PMPI_Send(&header, (int)sizeof header, MPI_BYTE, partner, TAG_HEADER, comm) == MPI_SUCCESS
        && PMPI_Recv(&wanted, 1, MPI_INT, partner, TAG_ANSWER, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS
        && wanted != DROP)
        transfer(true, bytes->data, bytes->len, chunk_of(wanted == SEND_SMALL), partner, comm);
    if (bytes)
        m->core.array_free(bytes, TRUE);
}

static void take(Merge *m, int64_t step, int partner, MPI_Comm comm)
{
    Header header;
    if (PMPI_Recv(&header, (int)sizeof header, MPI_BYTE, partner, TAG_HEADER, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        fail(m, "the merge lost rank %d", partner);
        return;
    }
    if (*header.why) {
        if (!*m->trouble.why)
            m->trouble = header;
        fail(m, "%s", header.why);
    }
    uint8_t *data = m->merge && affords(m, header.bytes + header.memory, limit_room(step)) ? malloc(header.bytes ? header.bytes : 1) : NULL;
    if (m->merge && !data)
        fail(m, "out of memory");
    bool small = m->small || header.small;
    int wanted = !m->merge || header.bytes == 0 ? DROP : small ? SEND_SMALL : SEND;
    PMPI_Send(&wanted, 1, MPI_INT, partner, TAG_ANSWER, comm);
    GError *error = NULL;
    if (wanted != DROP && !transfer(false, data, header.bytes, chunk_of(small), partner, comm))
        fail(m, "the merge lost rank %d", partner);
    else if (wanted != DROP && !m->core.absorb(m->merge, data, header.bytes, &error))
        fail_of(m, error);
    free(data);
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
    WendMergeResult result;
    GError *error = NULL;
    if (m->merge && affords(m, m->core.writing(m->merge), limit_room(state()->world_size)) && !m->core.write(m->merge, output_directory(), output_file(), &result, &error))
        fail_of(m, error);
    if (*m->trouble.why)
        return false;
    parts_remove();
    char *unrecorded = m->core.unrecorded(m->merge);
    guint64 after = 0;
    guint stopped = m->core.stopped(m->merge, &after);
    if (!settings()->quiet || unrecorded || stopped) {
        char *totals = m->core.totals_text(&result.totals), bytes[48], first[48], limit[128] = "";
        write_grouped(bytes, sizeof bytes, result.bytes);
        write_grouped(first, sizeof first, after);
        if (stopped)
            snprintf(limit, sizeof limit, "; %u rank%s reached WEND_MAX_MEMORY, %s %s MPI calls", stopped, stopped == 1 ? "" : "s",
                     stopped == 1 ? "after" : "the first after", first);
        state_say("%s of %d %s in %s bytes: %s%s%s%s%s", totals, state()->world_size, state()->world_size == 1 ? "rank" : "ranks", bytes, output_directory(), limit,
                  unrecorded ? ", without those of " : "", unrecorded ? unrecorded : "", unrecorded ? ", which the MPI library that Wend was built for lacks" : "");
        m->core.g_free(totals);
    }
    m->core.g_free(unrecorded);
    return true;
}

/* There is no archive; the user may find another place for it. */
static void keep_part(const Merge *m, int rank)
{
    char why[sizeof m->trouble.why + 32];
    snprintf(why, sizeof why, "rank %d: %s", m->trouble.rank, m->trouble.why);
    ending_keep(rank, why);
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
    if (PMPI_Bcast(&written, 1, MPI_INT, 0, comm) == MPI_SUCCESS && !written)
        keep_part(&m, rank);
    if (m.merge)
        m.core.free(m.merge);
    /* The library stays open: GLib and what it keeps cannot be unloaded. */
    errno = saved;
    return written;
}
