/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c: see late.h. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "late.h"

#include "fortran.h"
#include "module.h"
#include "state.h"
#include "stranger.h"
#include "unrecorded.h"

static const char in_every_library[] = "PMPI_Initialized";

static void *_Atomic library;          /* of dlopen; NULL: in the global scope, or not there */
static _Atomic bool bound;             /* Wend's references lead somewhere */

/* -- which it is -- */

/* A module that has it, or has loaded it with itself, says where it is. */
static void ask_module(const Module *m, void *found)
{
    Dl_info info;
    void **handle = found;
    void *module = *handle ? NULL : dlopen(*m->name ? m->name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *function = module ? dlsym(module, in_every_library) : NULL;
    if (function && dladdr(function, &info))
        *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (module)
        dlclose(module);
}

static void *find_library(void)
{
    void *found = NULL;
    modules_each(ask_module, &found);
    return found;
}

void *late_symbol(const char *name)
{
    void *handle = atomic_load(&library);
    return dlsym(handle ? handle : RTLD_DEFAULT, name);
}

/* -- Wend's references -- */

typedef struct { const void *own, *library; } Bases;

static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* What the library itself defines: the C library's and the like have been there all the time. Others that were preloaded come before it, as ever. */
static void *in_library(const char *name, void *user)
{
    const Bases *bases = user;
    void *symbol = late_symbol(name), *first;
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
    if (!dlsym(RTLD_DEFAULT, in_every_library))
        return;
    fortran_open();
    atomic_store(&bound, true);
}

void late_open(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load_explicit(&bound, memory_order_acquire))
        return;
    pthread_mutex_lock(&lock);
    if (!bound) {
        atomic_store(&library, find_library());
        Bases bases = {base_of(&library), base_of(late_symbol(in_every_library))};
        if (bases.library)
            modules_each(bind_own, &bases);
        if (stranger_met()) {
            state()->other_family = true;
            atomic_store(&state()->active, false);
        } else {
            fortran_open();
            unrecorded_open();
        }
        atomic_store_explicit(&bound, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

bool late_passed_by(void)
{
    int flag = 0;
    if (state()->started || state()->other_family)
        return false;
    if (!atomic_load(&library))
        atomic_store(&library, find_library());
    int (*initialized)(int *) = (int (*)(int *))late_symbol(in_every_library);
    return initialized && initialized(&flag) == MPI_SUCCESS && flag;
}
