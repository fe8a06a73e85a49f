/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks: process CPU time of MPI calls below a stack of 14 frames. Prints a line "LOOP
 * NANOSECONDS" for each loop, per call:
 *
 *   same_stack      each call comes from the same line of the same function
 *   other_lines     from four lines of a function in turn
 *   other_callers   the function that calls MPI is called from two lines in turn
 *   other_paths     two functions that are seven frames above it call in turn
 *
 *   stacks [THOUSANDS]     calls of a loop, in thousands (default 1000)
 *
 * bench/sites.py runs it without sites, with sites and with stacks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FRAMES = 14, HALF = 7 };

static long calls;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const char *name, double began)
{
    printf("%s %.2f\n", name, (cpu_seconds() - began) / (double)calls * 1e9);
}

/* No compiler makes a jump of a call that something follows. */
#define HERE __asm__ volatile("")

__attribute__((noinline)) static void ask_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    HERE;
}

__attribute__((noinline)) static void ask_same(int below)
{
    int rank;
    if (below > 0) {
        ask_same(below - 1);
        HERE;
        return;
    }
    double began = cpu_seconds();
    for (long i = 0; i < calls; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    report("same_stack", began);
    began = cpu_seconds();
    for (long i = 0; i < calls / 4; i++) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &rank);
        MPI_Comm_rank(MPI_COMM_SELF, &rank);
        MPI_Comm_size(MPI_COMM_SELF, &rank);
    }
    report("other_lines", began);
}

__attribute__((noinline)) static void ask_from_two(int below)
{
    if (below > 0) {
        ask_from_two(below - 1);
        HERE;
        return;
    }
    double began = cpu_seconds();
    for (long i = 0; i < calls / 2; i++) {
        ask_rank();
        HERE;
        ask_rank();
        HERE;
    }
    report("other_callers", began);
}

__attribute__((noinline)) static void go_down(int below)
{
    if (below > 0)
        go_down(below - 1);
    else
        ask_rank();
    HERE;
}

__attribute__((noinline)) static void ask_by_two_paths(int below)
{
    if (below > 0) {
        ask_by_two_paths(below - 1);
        HERE;
        return;
    }
    double began = cpu_seconds();
    for (long i = 0; i < calls / 2; i++) {
        go_down(HALF - 2);
        HERE;
        go_down(HALF - 2);
        HERE;
    }
    report("other_paths", began);
}

int main(int argc, char **argv)
{
    calls = 1000 * (argc > 1 ? atol(argv[1]) : 1000);
    MPI_Init(&argc, &argv);
    ask_same(FRAMES - 2); /* main is one */
    ask_from_two(FRAMES - 3);
    ask_by_two_paths(HALF - 2);
    MPI_Finalize();
    return 0;
}
