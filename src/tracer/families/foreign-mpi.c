/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign-mpi.c: see foreign-mpi.h. */
#include "foreign-mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/record/functions.h"
#include "fortran.h"
#include "interpose/interpose.h"
#include "shared/shared.h"

typedef struct {
    uintptr_t base;
    void *self;
} Own;

static bool is_of_own_family(void)
{
    for (int i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, MPI_FAMILY) == 0)
            return mpi_library_symbol(families[i].mark) != NULL;
    return true; /* built for a library of unknown family, which cannot be told from others */
}

/* The function after Wend's wrapper, for a reference that leads to the wrapper now, or would when
 * it is bound. NULL for other references. */
static void *beyond(const char *name, void *own)
{
    if ((strncasecmp(name, "mpi", 3) != 0 && strncmp(name, "ompi_", 5) != 0)
        || dlsym(RTLD_DEFAULT, name) != dlsym(((Own *)own)->self, name))
        return NULL;
    void *next = dlsym(RTLD_NEXT, name);
    return next ? next : mpi_library_symbol(name);
}

static void lead_past(const Module *m, void *user)
{
    if (m->base != ((const Own *)user)->base)
        module_redirect(m, beyond, user);
}

/* Hides a function of Wend: the dynamic linker skips a symbol without a value. */
static void hide(void *self, const char *name)
{
    Dl_info info;
    ElfW(Sym) * symbol;
    const void *wrapper = dlsym(self, name);
    if (!wrapper || !dladdr1(wrapper, &info, (void **)&symbol, RTLD_DL_SYMENT) || !info.dli_sname
        || strcmp(info.dli_sname, name) != 0)
        return;
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE),
              page = (uintptr_t)symbol & ~(page_size - 1);
    size_t len = (uintptr_t)(symbol + 1) - page;
    if (mprotect((void *)page, len, PROT_READ | PROT_WRITE) != 0)
        return;
    symbol->st_value = 0;
    mprotect((void *)page, len, PROT_READ);
}

bool foreign_mpi_met(void)
{
    Dl_info info;
    if (!mpi_library_symbol(MPI_LIBRARY_MARK) || is_of_own_family() || !dladdr(&families, &info))
        return false;
    Own own = {(uintptr_t)info.dli_fbase, module_self()};
    if (!own.self)
        return false;
    modules_each(lead_past, &own);
    for (size_t i = 0; i < wend_n_functions; i++)
        hide(own.self, wend_functions[i].name);
    for (const char *const *name = fortran_names; *name; name++)
        hide(own.self, *name);
    dlclose(own.self);
    return true;
}
