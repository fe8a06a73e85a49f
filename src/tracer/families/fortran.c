/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.c: see fortran.h. It changes the layer's references to PMPI_ functions to Wend's
 * wrappers, in the dynamic linker's table for that one module. If libwend.so defined PMPI_Comm_rank
 * itself, it would intercept all calls of it: those of other tools, and of the I/O part in the
 * library. */
#include "fortran.h"

#include <dlfcn.h>
#include <string.h>

/* Whether the function converts handles or statuses. Such calls of the layer are not the
 * program's. */
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

void fortran_look(const Module *m, void *self)
{
    if (fortran_is_layer(m))
        module_redirect(m, wrapper_of, self);
}

void fortran_open(void)
{
    void *self = module_self();
    if (!self)
        return;
    modules_each(fortran_look, self);
    dlclose(self);
}
