/* SPDX-License-Identifier: BSD-3-Clause */
/* example.h: what the examples share: numbers from the command line, and a check that ends the run.
 *
 * Every example is an application of its own that knows nothing of Wend: it does a small, real
 * computation, checks the result, and prints from rank 0 what is the same in every run. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether the library has what came with MPI 4.0: Open MPI 5 does, although its MPI_VERSION is
 * 3. */
#ifdef MPI_SESSION_NULL
#define MPI_4 1
#else
#define MPI_4 0
#endif

/* Ends all ranks with one line when CONDITION is false. */
#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))

static inline void check_failed(const char *condition, const char *file, int line)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: check failed: %s\n", file, line, rank, condition);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort(); /* not reached; the compiler does not know that */
}

/* A whole number from MIN to MAX; ends the process with usage status otherwise. Usable before
 * MPI_Init. */
static inline int number(const char *text, int min, int max)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < min || value > max) {
        fprintf(stderr, "not a number from %d to %d: %s\n", min, max, text);
        exit(2);
    }
    return (int)value;
}

/* malloc that does not return NULL. */
static inline void *allocate(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

#endif
