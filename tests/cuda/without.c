/* SPDX-License-Identifier: BSD-3-Clause */
/* without.c: a program that uses CUDA if it is there. It is not. It is linked with next.c, too. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

#pragma weak cudaMalloc
int cudaMalloc(void **p, size_t n);
#pragma weak cuMemAlloc_v2
int cuMemAlloc_v2(unsigned long long *p, size_t n);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    char text[100];
    snprintf(text, sizeof text, "%d %d %d %d", cudaMalloc != NULL, cuMemAlloc_v2 != NULL,
             dlsym(RTLD_DEFAULT, "cudaMalloc") != NULL,
             dlsym(dlopen(NULL, RTLD_NOW), "cuMemAlloc_v2") != NULL);
    puts(text);
    MPI_Finalize();
    return 0;
}
