/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.c: see fortran.h. The layer's references to PMPI_ functions are resolved to the wrappers
 * instead, in the table that the dynamic linker keeps for that one module. (A libwend.so that
 * defined PMPI_Comm_rank itself would stand before everybody's calls to it: those of other tools,
 * and of the I/O part inside the library.) */
#include "fortran.h"

#include <dlfcn.h>
#include <string.h>

/* The layer's conversions of handles and statuses are no calls of the program. */
static bool converts(const char *name)
{
    return strstr(name, "_f2c") || strstr(name, "_c2f");
}

static void *wrapper_of(const char *name, void *self)
{
    if (converts(name))
        return NULL;
    return strncmp(name, "PMPI", 4) == 0 ? dlsym(self, name + 1) : fortran_internal(name);
}

static void visit_layer(const Module *m, void *self)
{
    if (fortran_is_layer(m))
        module_redirect(m, wrapper_of, self);
}

void fortran_open(void)
{
    void *self = module_self();
    if (!self)
        return;
    modules_each(visit_layer, self);
    dlclose(self);
}
