/* SPDX-License-Identifier: BSD-3-Clause */
/* host-clocks.c: see lifecycle.h.
 *
 * The first rank of each host is its leader. The leaders compare their clocks in log2(hosts) steps:
 * in each step, the hosts that know rank 0's clock tell it to as many others. A host asks for the
 * time several times, and takes the answer that came soonest: rank 0's clock showed that time in
 * the middle of the round trip, and not before or after it. So half of the shortest round trip is
 * the bound of the error. (F. Cristian, "Probabilistic clock synchronization", 1989.) A leader then
 * tells the other ranks of its host, which have the same clock. */

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "objects/objects.h"
#include "own.gen.h"
#include "process/process.h"
#include "side-streams/side-streams.h"
#include "lifecycle.h"

enum { TAG_READY = 11, TAG_ASK, TAG_ANSWER, TAG_HOST };
/* Tests of a request before a rank that waits gives its processor away. */
enum { SPINS = 2000 };
/* Round trips: so many, and more for so many nanoseconds if none takes less than so many
 * seconds. */
enum { ROUND_TRIPS = 32, LONG_ENOUGH = 20000000 };
static const double SHORT = 4e-6;
/* Seconds after which a rank is given up: one that has other hosts to compare before, and one that
 * answers. */
static const double LATE = 20, SILENT = 2;

/* What a rank says about the clock of rank 0. */
typedef struct {
    uint64_t known;
    int64_t own;   /* to ranks of the same host: the clock of the host, in ticks */
    int64_t first; /* rank 0's clock, in its ticks since it was opened */
    uint64_t error;
    WendClock clock; /* rank 0's */
} Statement;

typedef struct {
    MPI_Comm comm;
    int rank, size;
    const uint64_t *names; /* of the hosts, by rank */
    uint32_t *leaders;     /* by host, in the order of ranks */
    uint32_t n, own;       /* hosts; that of this rank */
} ClockHosts;

/* -- hosts -- */

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The same on two ranks if they have one clock: the system since its start. A container may have a
 * clock, and has a name, of its own. */
static uint64_t own_name(void)
{
    char text[256];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (fd >= 0)
        close(fd);
    hash = hash_bytes(hash, text, n > 0 ? (size_t)n : 0);
    if (gethostname(text, sizeof text) == 0)
        hash = hash_bytes(hash, text, strnlen(text, sizeof text));
    return hash;
}

/* Finds the leaders. PLACES is a hash table of MASK + 1 hosts, + 1, by name. */
static void find_leaders(ClockHosts *h, uint32_t *places, uint32_t mask)
{
    for (int rank = 0; rank < h->size; rank++) {
        uint32_t at = (uint32_t)h->names[rank] & mask;
        while (places[at] && h->names[h->leaders[places[at] - 1]] != h->names[rank])
            at = (at + 1) & mask;
        if (!places[at]) {
            h->leaders[h->n++] = (uint32_t)rank;
            places[at] = h->n;
        }
        if (rank == h->rank)
            h->own = places[at] - 1;
    }
}

/* Memory for the hosts: names, leaders, places. */
static size_t bytes_for(size_t ranks, size_t places)
{
    return ranks * (sizeof(uint64_t) + sizeof(uint32_t)) + places * sizeof(uint32_t);
}

/* Fills in H. False: a rank has no memory. *MEMORY is what the caller unmaps, of *BYTES bytes. */
static bool find_hosts(ClockHosts *h, void **memory, size_t *bytes)
{
    size_t places = 2;
    bool all = false;
    MPI_Request request;
    uint64_t name = own_name();
    while (places < 2 * (size_t)h->size)
        places *= 2;
    *bytes = bytes_for((size_t)h->size, places);
    *memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!waiting_all(*memory != MAP_FAILED, &all, h->comm) || !all)
        return false;
    uint64_t *names = *memory;
    if (PMPI_Iallgather(&name, sizeof name, MPI_BYTE, names, sizeof name, MPI_BYTE, h->comm,
                        &request)
            != MPI_SUCCESS
        || !waiting_for_request(&request, WAITING_SECONDS)) {
        *memory = MAP_FAILED; /* it stays in use */
        return false;
    }
    h->names = names;
    h->leaders = (uint32_t *)(names + h->size);
    find_leaders(h, h->leaders + h->size, (uint32_t)places - 1);
    return true;
}

/* -- messages -- */

/* Waits without giving the processor away for long, since the time counts. False: MPI reports an
 * error, or the time is over; a receive is cancelled then. */
static bool spin_for(MPI_Request *request, double seconds)
{
    uint64_t end = clock_nanoseconds() + (uint64_t)(seconds * 1e9);
    for (int spins = 0;; spins++) {
        int done = 0;
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (done)
            return true;
        if (spins < SPINS)
            continue;
        if (clock_nanoseconds() > end)
            break;
        sched_yield();
    }
    return false;
}

static bool give_up(MPI_Request *request)
{
    PMPI_Cancel(request);
    PMPI_Request_free(request);
    return false;
}

/* A send that is given up stays in use, and so do its bytes. */
static bool send_statement(const Statement *s, int to, int tag, const ClockHosts *h)
{
    static Statement bytes;
    MPI_Request request;
    bytes = *s;
    return PMPI_Isend(&bytes, sizeof bytes, MPI_BYTE, to, tag, h->comm, &request) == MPI_SUCCESS
           && spin_for(&request, SILENT);
}

static bool begin_receive(Statement *s, int from, int tag, const ClockHosts *h,
                          MPI_Request *request)
{
    return PMPI_Irecv(s, sizeof *s, MPI_BYTE, from, tag, h->comm, request) == MPI_SUCCESS;
}

/* Waits for long, without taking the processor from those that measure. */
static bool receive_statement(Statement *s, int from, int tag, const ClockHosts *h)
{
    static Statement bytes;
    MPI_Request request;
    if (!begin_receive(&bytes, from, tag, h, &request))
        return false;
    if (!waiting_for_request(&request, LATE))
        return give_up(&request);
    *s = bytes;
    return true;
}

/* -- two hosts -- */

static int64_t own_ticks(void)
{
    int64_t unused;
    return (int64_t)(clock_ticks() - clock_opened(&unused));
}

/* The time of rank 0 at this moment, as far as this rank knows it. RATIO: the length of an own tick
 * in ticks of rank 0. */
static Statement time_now(const Statement *known, double ratio)
{
    Statement now = *known;
    int64_t passed = own_ticks() - known->own;
    now.first += (int64_t)((double)passed * ratio);
    return now;
}

static void answer(const Statement *known, int partner, const ClockHosts *h)
{
    static Statement question;
    MPI_Request request;
    double ratio = h->rank == 0 || !known->known ? 1 : clock_tick() / known->clock.tick;
    if (!send_statement(known, partner, TAG_READY, h) || !known->known)
        return;
    while (begin_receive(&question, partner, TAG_ASK, h, &request)) {
        if (!spin_for(&request, SILENT)) {
            give_up(&request);
            return;
        }
        Statement now = time_now(known, ratio);
        if (!question.known || !send_statement(&now, partner, TAG_ANSWER, h))
            return;
    }
}

/* Asks PARTNER once. Keeps the answer if it came sooner than *LEAST. */
static bool ask(Statement *best, int64_t *least, int partner, const ClockHosts *h)
{
    static Statement reply;
    const Statement question = {.known = true};
    MPI_Request request;
    if (!begin_receive(&reply, partner, TAG_ANSWER, h, &request))
        return false;
    int64_t before = own_ticks();
    if (!send_statement(&question, partner, TAG_ASK, h) || !spin_for(&request, SILENT))
        return give_up(&request);
    int64_t took = own_ticks() - before;
    if (took >= *least)
        return true;
    *least = took;
    *best = reply;
    best->own = before + took / 2;
    best->error += (uint64_t)((double)took / 2 * clock_tick() * 1e9) + 1;
    return true;
}

/* Asks often enough. Processes that share a processor with others may not run at the same time for
 * a while, and then no round trip is short. */
static Statement learn(int partner, const ClockHosts *h)
{
    const Statement end = {0};
    Statement best = {0};
    int64_t least = INT64_MAX;
    if (!receive_statement(&best, partner, TAG_READY, h) || !best.known)
        return end;
    uint64_t until = clock_nanoseconds() + LONG_ENOUGH;
    for (int i = 0;
         i < ROUND_TRIPS || ((double)least * clock_tick() > SHORT && clock_nanoseconds() < until);
         i++)
        if (!ask(&best, &least, partner, h))
            return end;
    return send_statement(&end, partner, TAG_ASK, h) ? best : end;
}

/* -- all hosts -- */

/* Those that know the time tell it to as many others. */
static Statement compare_leaders(const ClockHosts *h, Statement own)
{
    for (uint32_t know = 1; know < h->n; know *= 2) {
        if (h->own < know && h->own + know < h->n)
            answer(&own, (int)h->leaders[h->own + know], h);
        else if (h->own >= know && h->own - know < know)
            own = learn((int)h->leaders[h->own - know], h);
    }
    return own;
}

static void tell_host(const Statement *own, const ClockHosts *h)
{
    int64_t unused;
    Statement s = *own;
    s.own += (int64_t)clock_opened(&unused);
    for (int rank = h->rank + 1; rank < h->size; rank++)
        if (h->names[rank] == h->names[h->rank])
            send_statement(&s, rank, TAG_HOST, h);
}

static Statement receive_host(const ClockHosts *h)
{
    Statement s = {0};
    int64_t unused;
    if (!receive_statement(&s, (int)h->leaders[h->own], TAG_HOST, h))
        return (Statement){0};
    s.own -= (int64_t)clock_opened(&unused);
    return s;
}

static Statement compare_hosts(const ClockHosts *h)
{
    Statement own = {0};
    if (h->rank == 0) {
        own = (Statement){.known = true, .clock.tick = clock_tick()};
        clock_opened(&own.clock.origin);
    }
    if (h->leaders[h->own] != (uint32_t)h->rank)
        return receive_host(h);
    own = compare_leaders(h, own);
    tell_host(&own, h);
    return own;
}

/* -- the result -- */

static _Atomic uint32_t compared_hosts; /* 0: none was compared */
static bool compared;                   /* this rank's clock was */
static uint64_t greatest_error;         /* of its comparisons */

static void conclude(const ClockHosts *h, const Statement *own)
{
    if (own->known && h->rank > 0)
        call_times_compared(&(WendClockPoint){own->own, own->first, own->error}, &own->clock);
    if (own->known && own->error > greatest_error)
        greatest_error = own->error;
    compared |= own->known != 0;
    atomic_store(&compared_hosts, h->n);
}

uint32_t host_clocks_result(bool *known, uint64_t *error)
{
    uint32_t hosts = atomic_load(&compared_hosts);
    *known = compared;
    *error = greatest_error;
    return hosts;
}

void host_clocks_compare(MPI_Comm comm, bool last)
{
    ClockHosts h = {.comm = comm};
    void *memory = MAP_FAILED;
    size_t bytes = 0;
    PMPI_Comm_rank(comm, &h.rank);
    PMPI_Comm_size(comm, &h.size);
    if (find_hosts(&h, &memory, &bytes) && h.n > 1) {
        if (last && h.rank == 0)
            clock_keep_tick();
        Statement own = compare_hosts(&h);
        conclude(&h, &own);
    }
    if (memory != MAP_FAILED)
        munmap(memory, bytes);
}
