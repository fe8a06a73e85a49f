/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling-names.c: see families.h. */
#include "families.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "interpose/interpose.h"
#include "lib/record/functions.h"
#include "process/process.h"

typedef struct {
    bool by_mpi_name, by_profiling_name;
} NamesUsed;

static bool program_is_led; /* its references lead to Wend */

static bool is_program(const Module *m)
{
    return !*m->name;
}

static bool is_profiling_name(const char *name)
{
    return strncmp(name, "PMPI_", 5) == 0;
}

static void *note_name(const char *name, void *user)
{
    NamesUsed *used = user;
    used->by_mpi_name |= strncmp(name, "MPI_", 4) == 0;
    used->by_profiling_name |= is_profiling_name(name);
    return NULL;
}

static bool defines_mpi(const Module *m)
{
    void *handle = dlopen(is_program(m) ? NULL : m->name, RTLD_LAZY | RTLD_NOLOAD);
    bool defines = false;
    for (size_t i = 0; handle && i < mpi_n_functions && !defines; i++)
        defines = module_contains(m, dlsym(handle, mpi_functions[i].name));
    if (handle)
        dlclose(handle);
    return defines;
}

static NamesUsed names_used(const Module *m)
{
    NamesUsed used = {0};
    module_redirect(m, note_name, &used); /* looks at each name, and changes none */
    return used;
}

static bool needs(const Module *m, const Module *library)
{
    const char *slash = strrchr(library->name, '/'), *file = slash ? slash + 1 : library->name,
               *needed;
    for (size_t i = 0; (needed = module_needed(m, i)); i++)
        if (strcmp(needed, file) == 0)
            return true;
    return false;
}

typedef struct {
    const Module *library;
    bool found;
} ToolLook;

static void look_for_tool(const Module *m, void *user)
{
    ToolLook *looking = user;
    if (!looking->found && !is_program(m) && needs(m, looking->library)
        && names_used(m).by_profiling_name)
        looking->found = defines_mpi(m);
}

static bool is_part_of_tool(const Module *m)
{
    ToolLook looking = {m, false};
    modules_each(look_for_tool, &looking);
    return looking.found;
}

bool profiling_names_of_tool(const Module *m)
{
    return defines_mpi(m) || (!is_program(m) && is_part_of_tool(m));
}

static bool is_application(const Module *m)
{
    NamesUsed used = names_used(m);
    if (!used.by_profiling_name || (!used.by_mpi_name && !is_program(m)))
        return false;
    return !families_is_fortran_layer(m) && !module_contains(m, (const void *)profiling_names_open)
           && !module_contains(m, mpi_library_symbol(MPI_LIBRARY_MARK))
           && !profiling_names_of_tool(m);
}

static void *wrapper_of(const char *name, void *self)
{
    return is_profiling_name(name) ? dlsym(self, name + 1) : NULL;
}

void profiling_names_look(const Module *m, void *self)
{
    if (!is_application(m))
        return;
    module_redirect(m, wrapper_of, self);
    program_is_led |= is_program(m);
}

void profiling_names_open(void)
{
    void *self = state()->other_wend || state()->other_family ? NULL : module_self();
    if (!self)
        return;
    modules_each(profiling_names_look, self);
    dlclose(self);
}

/* -- proxies -- */

static void *of_library(const char *name, void *unused)
{
    (void)unused;
    return is_profiling_name(name) ? mpi_library_symbol(name) : NULL;
}

static void lead_back(const Module *m, void *unused)
{
    if (is_program(m))
        module_redirect(m, of_library, unused);
}

/* A proxy calls this before MPI_Init, by a weak reference: its calls by profiling names are its
 * own, and are not recorded. */
__attribute__((visibility("default"))) void wend_proxy_begins(void);
void wend_proxy_begins(void)
{
    if (program_is_led)
        modules_each(lead_back, NULL);
}
