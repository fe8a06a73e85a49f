/* SPDX-License-Identifier: BSD-3-Clause */
/* late-mpi.c: see late-mpi.h. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "late-mpi.h"

#include "fortran.h"
#include "interpose/interpose.h"
#include "process/process.h"
#include "foreign-mpi.h"
#include "looked-up.h"
#include "profiling-names.h"
#include "unrecorded.h"

static _Atomic bool bound; /* Wend's references are bound */

typedef struct {
    const void *own, *library;
} Bases;

static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The target for a reference of Wend to a function that the MPI library defines. Other libraries,
 * such as the C library, have been loaded from the start. Preloaded tools still come before the MPI
 * library. */
static void *in_library(const char *name, void *user)
{
    const Bases *bases = user;
    void *symbol = mpi_library_symbol(name), *first;
    if (base_of(symbol) != bases->library)
        return NULL;
    return (first = dlsym(RTLD_DEFAULT, name)) ? first : symbol;
}

static void bind_own(const Module *m, void *user)
{
    const Bases *bases = user;
    if (m->base == (uintptr_t)bases->own)
        module_redirect(m, in_library, user);
}

__attribute__((constructor)) static void look(void)
{
    looked_up_open();
    if (!dlsym(RTLD_DEFAULT, MPI_LIBRARY_MARK))
        return;
    fortran_open();
    profiling_names_open();
    atomic_store(&bound, true);
}

void late_mpi_open(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load_explicit(&bound, memory_order_acquire))
        return;
    pthread_mutex_lock(&lock);
    if (!bound) {
        mpi_library_find();
        Bases bases = {base_of(&bound), base_of(mpi_library_symbol(MPI_LIBRARY_MARK))};
        if (bases.library)
            modules_each(bind_own, &bases);
        if (foreign_mpi_met()) {
            state()->other_family = true;
            atomic_store(&state()->active, false);
        } else {
            fortran_open();
            profiling_names_open();
            unrecorded_open();
        }
        atomic_store_explicit(&bound, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}
