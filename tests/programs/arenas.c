/* SPDX-License-Identifier: BSD-3-Clause */
/* arenas: how many arenas the C library's malloc has, beside threads that never call it. Each takes
 * 64 MB of addresses. */
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6 };
static pthread_barrier_t all;

static void *wait_for_all(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&all);
    return NULL;
}

static int count_arenas(void)
{
    char *text = NULL;
    size_t n;
    int count = 0;
    FILE *f = open_memstream(&text, &n);
    malloc_info(0, f);
    fclose(f);
    for (const char *p = text; (p = strstr(p, "<heap nr=")); p++)
        count++;
    free(text);
    return count;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    MPI_Init(&argc, &argv);
    pthread_barrier_init(&all, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, wait_for_all, NULL) != 0)
            return 1;
    pthread_barrier_wait(&all);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d arenas\n", count_arenas());
    MPI_Finalize();
    return 0;
}
