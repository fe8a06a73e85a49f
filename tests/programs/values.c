/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c: a program that depends on the clock, on random numbers and on its process id. Its
 * arguments are parts; without any it runs all. What it prints differs from run to run. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static uint64_t before_start; /* of the time and the process id before MPI_Init */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3) ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = mix(hash, ((const unsigned char *)data)[i]);
    return hash;
}

static uint64_t bits(double seconds)
{
    uint64_t value;
    memcpy(&value, &seconds, sizeof value);
    return value;
}

/* Stops after some time. */
static uint64_t loop(void)
{
    uint64_t count = 0, hash = 0;
    for (double start = MPI_Wtime(), now = start; now - start < 0.2; now = MPI_Wtime(), count++)
        hash = mix(hash, bits(now));
    return mix(hash, count);
}

static uint64_t timespec_hash(uint64_t hash, const struct timespec *t)
{
    return mix(mix(hash, (uint64_t)t->tv_sec), (uint64_t)t->tv_nsec);
}

static uint64_t clocks(void)
{
    struct timespec t;
    struct timeval v;
    struct tms s;
    uint64_t hash = 0;
    for (int i = 0; i < 1000; i++) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        hash = timespec_hash(hash, &t);
        clock_gettime(i % 2 ? CLOCK_REALTIME : CLOCK_PROCESS_CPUTIME_ID, &t);
        hash = timespec_hash(hash, &t);
        timespec_get(&t, TIME_UTC);
        hash = timespec_hash(hash, &t);
        gettimeofday(&v, NULL);
        hash = mix(mix(hash, (uint64_t)v.tv_sec), (uint64_t)v.tv_usec);
        hash = mix(mix(hash, (uint64_t)time(NULL)), (uint64_t)clock());
        hash = mix(hash, (uint64_t)times(&s));
        hash = mix(mix(hash, (uint64_t)s.tms_utime), (uint64_t)s.tms_stime);
    }
    if (clock_gettime(12345, &t) == 0 || errno != EINVAL)
        return 0; /* it fails as ever */
    return hash;
}

/* Bytes from the system, more than an element of the recording has. */
static uint64_t randomness(void)
{
    static unsigned char some[3000];
    uint64_t hash = 0;
    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    hash = mix(hash, (uint64_t)rand());
    if (getrandom(some, sizeof some, 0) != sizeof some)
        return 0;
    hash = mix_bytes(hash, some, sizeof some);
    if (getrandom(some, 1024, 0) != 1024 || getentropy(some + 1024, 16) != 0)
        return 0;
    hash = mix_bytes(hash, some, 1040);
    int fd = open("/dev/urandom", O_RDONLY);
    if (fd < 0 || read(fd, some, 100) != 100)
        return 0;
    close(fd);
    hash = mix_bytes(hash, some, 100);
    fd = open("/dev/random", O_RDONLY);
    if (fd < 0 || read(fd, some, 16) != 16)
        return 0;
    close(fd);
    hash = mix_bytes(hash, some, 16);
    FILE *file = fopen("/dev/urandom", "r");
    if (!file || fread(some, 1, 33, file) != 33)
        return 0;
    hash = mix(mix_bytes(hash, some, 33), (uint64_t)getc(file));
    fclose(file);
    fd = open("/dev/zero", O_RDONLY); /* another device */
    if (fd < 0 || read(fd, some, 10) != 10 || some[9] != 0)
        return 0;
    close(fd);
    return hash;
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

/* The process id, the host, and a child, which has ids of its own. */
static uint64_t identity(void)
{
    char name[256] = "", processor[MPI_MAX_PROCESSOR_NAME];
    struct utsname u;
    int n, status = 0;
    uint64_t hash = mix(0, (uint64_t)getpid());
    gethostname(name, sizeof name);
    uname(&u);
    MPI_Get_processor_name(processor, &n);
    hash = mix_bytes(mix_bytes(hash, name, strlen(name)), u.nodename, strlen(u.nodename));
    hash = mix_bytes(hash, processor, (size_t)n);
    signal(SIGUSR1, count_signal);
    if (kill(getpid(), SIGUSR1) != 0 || signals != 1)
        return 0; /* a signal to itself arrives */
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        _exit(getpid() == parent || time(NULL) < 1000 ? 1 : 0);
    if (waitpid(child, &status, 0) != child || status != 0)
        return 0;
    return mix(hash, (uint64_t)getpid());
}

/* Threads that never call MPI, and read the clock at the same time. */
static void *in_thread(void *result)
{
    struct timespec t;
    uint64_t hash = 0;
    for (int i = 0; i < 10000; i++) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        hash = timespec_hash(hash, &t);
    }
    *(uint64_t *)result = hash;
    return NULL;
}

static uint64_t threads(void)
{
    pthread_t all[3];
    uint64_t results[3], hash = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&all[i], NULL, in_thread, &results[i]);
    for (int i = 0; i < 3; i++) {
        pthread_join(all[i], NULL);
        hash = mix(hash, results[i]);
    }
    return hash;
}

static uint64_t in_operator;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    in_operator = mix(in_operator, bits(MPI_Wtime()));
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* The clock between calls, and in callbacks of MPI. */
static uint64_t between(void)
{
    uint64_t hash = 0;
    MPI_Op op;
    int v = 1, sum;
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 50; i++) {
        double start = MPI_Wtime();
        MPI_Allreduce(&v, &sum, 1, MPI_INT, i % 10 ? MPI_SUM : op, MPI_COMM_WORLD);
        hash = mix(hash, bits(MPI_Wtime() - start));
        if (i % 5 == rank)
            hash = mix(hash, (uint64_t)time(NULL) + (uint64_t)clock());
    }
    MPI_Op_free(&op);
    return mix(hash, in_operator);
}

static uint64_t early(void)
{
    return before_start;
}

static const struct {
    const char *name;
    uint64_t (*run)(void);
} parts[] = {
    {"early", early},       {"loop", loop},       {"clocks", clocks},   {"random", randomness},
    {"identity", identity}, {"threads", threads}, {"between", between},
};

int main(int argc, char **argv)
{
    struct timespec t;
    uint64_t all = 0;
    clock_gettime(CLOCK_REALTIME, &t);
    before_start = mix(timespec_hash(0, &t), (uint64_t)getpid());
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (argc > 1 && strcmp(argv[1], parts[i].name) != 0)
            continue;
        uint64_t hash = parts[i].run();
        if (hash == 0)
            fprintf(stderr, "rank %d: %s failed\n", rank, parts[i].name);
        all = mix(all, hash);
    }
    uint64_t *hashes = malloc((size_t)size * sizeof *hashes);
    MPI_Gather(&all, 1, MPI_UINT64_T, hashes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%016llx\n", (unsigned long long)hashes[i]);
    free(hashes);
    MPI_Finalize();
    time(NULL);
    return 0;
}
