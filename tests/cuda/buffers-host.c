/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers-host.c: opens buffers.c as a library, as Python does with its modules: neither it nor
 * CUDA's runtime is there before (MPI is). */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen("libbuffers.so", RTLD_NOW | RTLD_LOCAL);
    int (*buffers)(int, char **) =
        library ? (int (*)(int, char **))dlsym(library, "buffers") : NULL;
    if (!buffers) {
        puts(dlerror());
        return 1;
    }
    buffers(argc, argv);
    int finalized;
    return MPI_Finalized(&finalized) != MPI_SUCCESS || !finalized;
}
