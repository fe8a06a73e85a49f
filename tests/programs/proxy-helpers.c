/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy-helpers.c: the helpers of proxies, called by themselves. It says what is wrong, and ends
 * with 1.
 *
 *   proxy-helpers requests | memory | shared | scratch | turns */
#include "src/proxygen/runtime/runtime.h"

#include <sys/stat.h>

/* -- what proxygen writes -- */

int rank;
const size_t heap_size[HEAP_BLOCKS] = {100, 200, 1, 4096};
const size_t heap_below[HEAP_BLOCKS] = {0, 5000, 0, 64};
const size_t mapped_size[MAPPINGS] = {100, 200, 1, 4096};
const size_t mapped_below[MAPPINGS] = {0, 64, 0, 0};
const InitialFile scratch_files[SCRATCH_FILES] = {{"file-0", 10}, {"file-1", -1}, {"file-2", 0}};
const KnownPort known_ports[PORT_NAMES];
const int *const awaited[RANKS];

#if MPI_VERSION < 4
int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return MPI_Recv_init(buf, (int)count, datatype, source, tag, comm, request);
}
#endif

static int faults;

#define CHECK(condition) check(condition, #condition, __LINE__)
static void check(int good, const char *condition, int line)
{
    if (!good)
        printf("line %d: not so: %s\n", line, condition);
    faults += !good;
}

/* -- lists of requests -- */

/* Requests of no library: helpers compare and copy them. */
static MPI_Request made(int i)
{
    return (MPI_Request)(intptr_t)(0x1000 + i);
}

static int is(const MPI_Request *list, int n, const int *values)
{
    for (int i = 0; i < n; i++)
        if (list[i] != (values[i] < 0 ? MPI_REQUEST_NULL : made(values[i])))
            return 0;
    return 1;
}

static void requests(void)
{
    MPI_Request list[] = {made(0), made(1), made(2), made(3)}, hidden[4], other[4];
    hide_others(4, list, hidden, (const int[]){2, 3, 1});
    CHECK(is(list, 4, (const int[]){-1, 1, -1, 3}));
    CHECK(active(4, list) == 2);
    list[1] = MPI_REQUEST_NULL; /* it completes */
    show_others(4, list, hidden);
    CHECK(is(list, 4, (const int[]){0, -1, 2, 3}));

    hide_completed(4, list, hidden, (const long[]){1, 0, 0, 2});
    CHECK(is(list, 4, (const int[]){0, -1, -1, 3}));
    show_others(4, list, hidden);
    CHECK(is(list, 4, (const int[]){0, -1, 2, 3}));

    gather_requests(4, (MPI_Request *const[]){&list[3], NULL, &list[0], &list[2]}, other);
    CHECK(is(other, 4, (const int[]){3, -1, 0, 2}));
    other[2] = MPI_REQUEST_NULL;
    scatter_requests(4, other, (MPI_Request *const[]){&list[3], NULL, &list[0], &list[2]});
    CHECK(is(list, 4, (const int[]){-1, -1, 2, 3}));

    MPI_Request *nulls = null_requests(3);
    nulls[1] = made(1);
    CHECK(null_requests(2) == nulls && is(nulls, 2, (const int[]){-1, -1}));
}

/* -- memory -- */

static void fill(char *start, long n)
{
    for (long i = 0; i < n; i++)
        CHECK(start[i] == 0);
    if (n > 0)
        memset(start, 1, (size_t)n);
}

/* A block is zero when it is new, and again after it was freed; all of it can be written but what
 * malloc has before it. */
static void use_block(char *(*block)(int id), int id, size_t below, size_t above)
{
    enum { OF_MALLOC = 16 };
    char *start = block(id);
    fill(start - below, (long)below - OF_MALLOC);
    fill(start, (long)above);
    CHECK(block(id) == start);
}

static void memory(void)
{
    for (int twice = 0; twice < 2; twice++)
        for (int id = 0; id < HEAP_BLOCKS; id++) {
            use_block(heap, id, HEAP_REACHES_BELOW ? heap_below[id] : 0, heap_size[id]);
            heap_free(id);
        }
#if HEAP_REACHES_BELOW
    for (int twice = 0; twice < 2; twice++)
        for (int id = 0; id < MAPPINGS; id++) {
            use_block(mapped, id, mapped_below[id], mapped_size[id]);
            mapped_free(id);
        }
#endif
}

/* -- what several threads use -- */

typedef struct {
    void (*call)(void);
    _Atomic int returned;
    int number, place;
    pthread_t id;
} Caller;

static void *run_caller(void *argument)
{
    Caller *caller = argument;
    thread_number = caller->number;
    thread_place = caller->place;
    caller->call();
    caller->returned = 1;
    return NULL;
}

static void start(Caller *caller)
{
    pthread_create(&caller->id, NULL, run_caller, caller);
    usleep(30000);
}

static void end(Caller *caller)
{
    pthread_join(caller->id, NULL);
    CHECK(caller->returned);
}

/* The other thread, number 1, uses thing 0 twice in each of three lives. */
static const Share two_uses[SHARED][2] = {{{0, 0, 0}, {2, 0, 3}}};

static void use_twice(void)
{
    shared_use(0);
    shared_used(0);
    shared_use(0);
    shared_used(0);
}

static void make(void)
{
    shared_make(0);
    shared_made(0);
}

static void finish(void)
{
    shared_end(0);
    shared_ended(0);
}

static void use_six_times(void)
{
    use_twice();
    use_twice();
    use_twice();
}

/* A life begins after the one before, uses wait for theirs, and it ends after them. */
static void lives(void)
{
    Caller user = {.call = use_six_times, .number = 1, .place = 1};
    Caller maker = {.call = make}, ender = {.call = finish}, last = {.call = finish};
    shares = two_uses[0];
    n_shares = 2;
    make();
    start(&ender);
    CHECK(!ender.returned); /* two uses are to come */
    start(&user);
    end(&ender);
    CHECK(!user.returned); /* the second life has not begun */
    make();
    start(&maker);
    CHECK(!maker.returned); /* the second life has not ended */
    finish();
    end(&maker);
    finish();
    end(&user);

    /* A fourth life has no uses, and so ends at once. */
    make();
    start(&last);
    end(&last);
}

static void use_memory(void)
{
    for (int i = 0; i < 3; i++) {
        shared_use_memory(1);
        shared_used(1);
    }
}

/* Memory is used again after the life before it has ended. */
static void memory_lives(void)
{
    static const Share uses[SHARED][2] = {{{0, 0, 0}}, {{0, 0, 0}, {1, 0, 3}}};
    Caller user = {.call = use_memory, .number = 1, .place = 1};
    shares = uses[0];
    start(&user);
    CHECK(!user.returned);
    shared_end(1);
    shared_ended(1);
    usleep(30000);
    CHECK(!user.returned);
    shared_end(1);
    shared_ended(1);
    end(&user);
}

static void complete(void)
{
    shared_request(2, 0, 0);
    shared_request_used(2, MPI_REQUEST_NULL);
}

static void wait_for_requests(void)
{
    shared_requests_done(2, 2);
}

/* A request of thread 0 that thread 1 completes, and that uses memory. */
static void requests_of_threads(void)
{
    Caller completer = {.call = complete, .number = 1}, waiter = {.call = wait_for_requests};
    start(&completer);
    CHECK(!completer.returned);
    shared_made(2);
    end(&completer);
    shared_made(2);
    start(&waiter);
    CHECK(!waiter.returned);
    shared_request(2, 0, 0);
    shared_request_used(2, made(1)); /* it has not completed */
    usleep(30000);
    CHECK(!waiter.returned);
    shared_request_used(2, MPI_REQUEST_NULL);
    end(&waiter);
}

static void shared_things(void)
{
    lives();
    memory_lives();
    requests_of_threads();
}

/* -- with MPI: files and turns -- */

static long bytes_of(int number)
{
    struct stat info;
    return stat(scratch_file(number), &info) == 0 ? (long)info.st_size : -1;
}

static void scratch(void)
{
    scratch_begin(MPI_COMM_WORLD);
    scratch_fill(MPI_COMM_WORLD);
    CHECK(bytes_of(0) == 10 && bytes_of(1) == -1 && bytes_of(2) == 0);
    PMPI_Barrier(MPI_COMM_WORLD);
    scratch_found(MPI_COMM_WORLD, 0, -1);
    scratch_found(MPI_COMM_WORLD, 1, 7);
    CHECK(bytes_of(0) == -1 && bytes_of(1) == 7);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        scratch_end();
        CHECK(access(scratch_dir, F_OK) != 0);
    }
}

/* All but rank 0 send to it, the last one first. It is late. */
static void turns(void)
{
    int size, from = 0;
    MPI_Status where;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    send_order_begin();
    for (int i = size - 1; rank == RECEIVER && i > 0; i--) {
        give_turn(i);
        PMPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &where);
        CHECK(where.MPI_SOURCE == i);
    }
    if (rank == RECEIVER)
        return;
    if (rank == size - 1)
        usleep(100000);
    wait_for_turn(RECEIVER);
    PMPI_Send(&rank, 1, MPI_INT, RECEIVER, 0, MPI_COMM_WORLD);
    wait_for_turn(RECEIVER + 1); /* is nobody's */
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
        int mpi;
    } cases[] = {{"requests", requests, 0},
                 {"memory", memory, 0},
                 {"shared", shared_things, 0},
                 {"scratch", scratch, 1},
                 {"turns", turns, 1}};
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        if (cases[i].mpi) {
            PMPI_Init(NULL, NULL);
            PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        }
        cases[i].run();
        if (cases[i].mpi)
            PMPI_Finalize();
        return faults > 0;
    }
    return 2;
}
