/* SPDX-License-Identifier: BSD-3-Clause */
/* other-hosts.c: see replay-private.h. Rank 0 listens on a port that the system chooses, and only
 * to those who know a random number that it has broadcast. A message has a few bytes and goes out
 * at once, or is lost: the next one says the same. */
#include "replay-private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "library.gen.h"
#include "process/process.h"

enum { ADDRESSES = 8, HOSTS_MOST = 4096, CONNECT_MS = 500, TRIES = 20, MEET_MS = 20000 };
enum { NOTE_WAITS = 1, NOTE_ENDED = 2, NOTE_STOPPED = 4, NOTE_FREED = 8, NOTE_ENDS = 16 };

/* Where rank 0 listens. PORT 0: nowhere. */
typedef struct {
    uint64_t token;
    uint32_t n, address[ADDRESSES]; /* IPv4, as in sin_addr */
    uint16_t port;
} Meeting;

typedef struct {
    uint64_t token;
    uint32_t ranks, flags;
} Message;

typedef struct {
    KeptFile file;
    Message last, part;
    size_t have;   /* bytes of PART */
    bool has_last; /* LAST has come */
} Connection;

static Meeting meeting;
static uint32_t own_rank, n_ranks;
static KeptFile listener = KEPT_NONE;
static Connection *connections; /* rank 0: of all hosts, else one */
static uint32_t n_connections;
static uint32_t gone; /* ranks of hosts that have closed their connection */
static unsigned tries;
static _Atomic bool opened; /* the thread that exchanges may run before */

/* -- rank 0 listens -- */

static void find_addresses(void)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) < 0)
        all = NULL;
    for (int loopback = 0; loopback < 2; loopback++) /* of no use for others but containers */
        for (const struct ifaddrs *i = all; i && meeting.n < ADDRESSES; i = i->ifa_next) {
            bool local = (i->ifa_flags & IFF_LOOPBACK) != 0;
            if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP)
                || local != (loopback == 1))
                continue;
            struct sockaddr_in address;
            memcpy(&address, i->ifa_addr, sizeof address);
            meeting.address[meeting.n++] = address.sin_addr.s_addr;
        }
    if (all)
        freeifaddrs(all);
}

static void listen_here(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t n = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (!kept_file_take(&listener, fd))
        return;
    fd = listener.number;
    if (getrandom(&meeting.token, sizeof meeting.token, 0) == sizeof meeting.token
        && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 128) == 0
        && getsockname(fd, (struct sockaddr *)&address, &n) == 0) {
        meeting.port = address.sin_port;
        find_addresses();
    } else {
        kept_file_close(&listener);
    }
}

static uint32_t most_connections(void)
{
    return own_rank > 0 ? 1 : n_ranks < HOSTS_MOST ? n_ranks : HOSTS_MOST;
}

/* Gets what rank 0 says of the meeting, if it comes in some seconds. */
static bool receive_meeting(MPI_Comm comm)
{
    static Meeting received; /* it stays in use if the time is over */
    MPI_Request request;
    int done = 0;
    received = meeting;
    if (PMPI_Ibcast(&received, sizeof received, MPI_BYTE, 0, comm, &request) != MPI_SUCCESS)
        return false;
    for (int waited = 0; waited < MEET_MS && !done; waited++) {
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (done)
        meeting = received;
    return done;
}

void other_hosts_open(uint32_t rank, uint32_t size, MPI_Comm comm)
{
    own_rank = rank;
    n_ranks = size;
    if (comm == MPI_COMM_NULL)
        return;
    connections = calloc(most_connections(), sizeof *connections);
    if (rank == 0 && connections)
        listen_here();
    if (!receive_meeting(comm))
        meeting.port = 0;
    atomic_store(&opened, connections && meeting.port != 0);
}

/* -- messages -- */

static bool tell(Connection *c, uint32_t ranks, uint32_t flags)
{
    Message m = {meeting.token, ranks, flags};
    return send(kept_file_number(&c->file), &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

/* Takes what has come. Returns false if the other has closed the connection, or does not know the
 * token. */
static bool receive_messages(Connection *c)
{
    for (;;) {
        ssize_t n = recv(kept_file_number(&c->file), (char *)&c->part + c->have,
                         sizeof c->part - c->have, MSG_DONTWAIT);
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EINTR);
        c->have += (size_t)n;
        if (c->have < sizeof c->part)
            continue;
        c->have = 0;
        if (c->part.token != meeting.token)
            return false;
        c->last = c->part;
        c->has_last = true;
    }
}

static void add_connection(int fd)
{
    uint32_t n = n_connections;
    if (n == most_connections()) {
        close(fd);
        return;
    }
    connections[n] = (Connection){.file = KEPT_NONE};
    if (kept_file_take(&connections[n].file, fd))
        n_connections = n + 1;
}

static uint32_t flags_of(const HostNote *n)
{
    return (n->waits ? NOTE_WAITS : 0) | (n->ended ? NOTE_ENDED : 0)
           | (n->stopped ? NOTE_STOPPED : 0) | (n->freed ? NOTE_FREED : 0);
}

/* -- rank 0 -- */

static void accept_all(void)
{
    int fd;
    while ((fd = accept4(kept_file_number(&listener), NULL, NULL, SOCK_CLOEXEC)) >= 0)
        add_connection(fd);
}

/* Hears all. A host that has closed its connection waits for nothing. */
static void receive_from_all(void)
{
    accept_all();
    for (uint32_t i = 0; i < n_connections; i++) {
        Connection *c = &connections[i];
        if (c->file.number < 0 || receive_messages(c))
            continue;
        gone += c->has_last ? c->last.ranks : 0;
        kept_file_close(&c->file);
    }
}

static void tell_all(uint32_t flags)
{
    for (uint32_t i = 0; i < n_connections; i++)
        if (connections[i].file.number >= 0)
            tell(&connections[i], 0, flags);
}

static void exchange_with_all(const HostNote *own, HostsView *view)
{
    receive_from_all();
    uint32_t ranks = own->ranks + gone;
    *view = (HostsView){.wait = true};
    for (uint32_t i = 0; i < n_connections; i++) {
        const Connection *c = &connections[i];
        if (c->file.number < 0 || !c->has_last)
            continue;
        ranks += c->last.ranks;
        view->wait &= c->last.ranks == 0 || (c->last.flags & NOTE_WAITS) != 0;
        view->ended |= (c->last.flags & NOTE_ENDED) != 0;
        view->stopped |= (c->last.flags & NOTE_STOPPED) != 0;
        view->freed |= (c->last.flags & NOTE_FREED) != 0;
    }
    view->complete = ranks >= n_ranks;
    HostNote all = {.ended = view->ended || own->ended,
                    .stopped = view->stopped || own->stopped,
                    .freed = view->freed || own->freed};
    tell_all(flags_of(&all));
}

/* -- others -- */

/* Connects to one of rank 0's addresses, for a while. Returns the socket, or -1. */
static int connect_to(uint32_t to)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = meeting.port, .sin_addr.s_addr = to};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), failure = 0;
    socklen_t n = sizeof failure;
    if (fd < 0)
        return -1;
    struct pollfd ready = {fd, POLLOUT, 0};
    if ((connect(fd, (const struct sockaddr *)&address, sizeof address) == 0
         || (errno == EINPROGRESS && poll(&ready, 1, CONNECT_MS) == 1))
        && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &n) == 0 && failure == 0)
        return fd;
    close(fd);
    return -1;
}

static bool is_connected(void)
{
    return n_connections > 0 && connections[0].file.number >= 0;
}

static void connect_somewhere(void)
{
    int fd = -1;
    if (tries++ >= TRIES)
        return;
    for (uint32_t i = 0; i < meeting.n && fd < 0; i++)
        fd = connect_to(meeting.address[i]);
    if (fd >= 0)
        add_connection(fd);
}

static bool exchange_with_first(const HostNote *own, HostsView *view)
{
    *view = (HostsView){0};
    if (n_connections == 0)
        connect_somewhere();
    if (!is_connected())
        return false;
    Connection *c = &connections[0];
    tell(c, own->ranks, flags_of(own));
    if (!receive_messages(c)) {
        kept_file_close(&c->file);
        return false;
    }
    view->ended = (c->last.flags & NOTE_ENDED) != 0;
    view->stopped = (c->last.flags & NOTE_STOPPED) != 0;
    view->freed = (c->last.flags & NOTE_FREED) != 0;
    view->ends = (c->last.flags & NOTE_ENDS) != 0;
    return true;
}

/* -- all -- */

bool other_hosts_known(void)
{
    return atomic_load(&opened);
}

bool other_hosts_exchange(const HostNote *own, HostsView *view)
{
    *view = (HostsView){0};
    if (!other_hosts_known())
        return false;
    if (own_rank > 0)
        return exchange_with_first(own, view);
    exchange_with_all(own, view);
    return true;
}

void other_hosts_leave(void)
{
    if (own_rank == 0 || !connections || !is_connected())
        return;
    tell(&connections[0], 0, 0);
    kept_file_close(&connections[0].file);
    n_connections = 0;
}

void other_hosts_end(long ms)
{
    tell_all(NOTE_ENDS);
    for (; ms > 0; ms -= 50) {
        bool any = false;
        for (uint32_t i = 0; i < n_connections; i++)
            any |= connections[i].file.number >= 0;
        if (!any)
            return;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        receive_from_all();
    }
}

void other_hosts_close(void)
{
    for (uint32_t i = 0; i < n_connections; i++)
        kept_file_close(&connections[i].file);
    n_connections = 0;
    kept_file_close(&listener);
    free(connections);
    connections = NULL;
}
