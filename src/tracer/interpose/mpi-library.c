/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi-library.c: see interpose.h. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>

#include "interpose.h"
#include "process/process.h"

/* from dlopen; NULL: the library is in the global scope, or not loaded */
static void *_Atomic library;

/* Finds the library by module M, if M is the library or has loaded it. */
static void ask_module(const Module *m, void *found)
{
    Dl_info info;
    void **handle = found;
    void *module = *handle ? NULL : dlopen(*m->name ? m->name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *function = module ? dlsym(module, MPI_LIBRARY_MARK) : NULL;
    if (function && dladdr(function, &info))
        *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (module)
        dlclose(module);
}

void mpi_library_find(void)
{
    void *found = NULL;
    modules_each(ask_module, &found);
    atomic_store(&library, found);
}

void *mpi_library_symbol(const char *name)
{
    void *handle = atomic_load(&library);
    return dlsym(handle ? handle : RTLD_DEFAULT, name);
}

bool mpi_library_passed_by(void)
{
    int flag = 0;
    if (state()->started || state()->other_family)
        return false;
    if (!atomic_load(&library))
        mpi_library_find();
    int (*initialized)(int *) = (int (*)(int *))mpi_library_symbol(MPI_LIBRARY_MARK);
    return initialized && initialized(&flag) == MPI_SUCCESS && flag;
}
