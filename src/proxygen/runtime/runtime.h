/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.h: types of the helpers, and what proxygen writes for each proxy in place of the samples
 * here. prototypes.gen.h has the functions and variables that the helpers and a proxy share. */
#ifndef PROXYGEN_RUNTIME_H
#define PROXYGEN_RUNTIME_H

#include <mpi.h>
#include <pthread.h> /* pthread_t */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- types -- */

/* A thread of this process. */
typedef struct {
    int number;
    void *(*run)(void *);
    size_t stack;
    _Atomic int runs, ended;
    pthread_t id;
} ProxyThread;

typedef struct {
    int number, inits, runs;
    size_t stack;
    pthread_t id;
} EarlyThread;

/* uses of each life of a shared thing by a thread, from that life to before that */
typedef struct {
    long uses, from, until;
} Share;

typedef struct {
    const char *name;
    long long bytes; /* before the application ran; -1: it was not there */
} InitialFile;

typedef struct {
    const char *key; /* by which proxies of other jobs know it */
    int here;        /* was it from a call of this job? */
} KnownPort;

/* what kind of memory a block is */
typedef enum { ON_HEAP, ON_DEVICE, MANAGED, PINNED } HeapPlace;

/* -- written for each proxy -- */

extern int rank; /* in MPI_COMM_WORLD; of several worlds: in the job */

enum { RANKS = 4 };

extern MPI_Status status;

extern MPI_Status statuses[];

enum { WORLDS = 2, WORLD_STARTS = 2 };
extern const int world_ranks[WORLDS], world_first[WORLDS], world_starts[WORLD_STARTS][2];

enum { HEAP_BLOCKS = 4 };

extern const size_t heap_size[HEAP_BLOCKS];

extern const size_t heap_below[HEAP_BLOCKS];

enum { MAPPINGS = 4 };

extern const size_t mapped_size[MAPPINGS], mapped_below[MAPPINGS];

enum { SCRATCH_FILES = 3 };
extern const InitialFile scratch_files[SCRATCH_FILES];

enum { PORT_NAMES = 2 };

extern const KnownPort known_ports[PORT_NAMES];

enum { RECEIVER = 0 };

enum { GRAPHS_REORDERED = 1 };

enum { ATTACHED_BLOCKS = 4 };

extern const int *const awaited[];

enum { SHARED = 4 };

/* -- what an older MPI library lacks, although a proxy may call it -- */

#if MPI_VERSION < 4
int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request);
#endif

#include "src/proxygen/runtime/prototypes.gen.h"

#endif
