/* SPDX-License-Identifier: BSD-3-Clause */
/* tools.c: see interpose.h. The dynamic linker determines the order. The first definition of
 * MPI_Send is that of a tool in front, unless it is Wend's. The definition after Wend's is that
 * of a tool behind, unless it is in the MPI library. References to PMPI_ names are then changed,
 * module by module (interpose.h): those of a tool in front to Wend's wrappers, Wend's own to the
 * tool behind. Without other tools nothing is changed. */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/record/functions.h"
#include "interpose.h"
#include "process/process.h"
#include "process/launcher.h"

/* A program that is linked with -lwend takes all MPI functions from it. Wend refers to the MPI
 * library weakly, so a linker with --as-needed as default would drop that library. This is a
 * reference that is not weak, to a symbol that every MPI library has. It is in a section that is
 * not loaded, so no loader sees it. */
#ifdef LIBWEND /* not in a test that compiles this file */
__asm__(".pushsection .wend.needs,\"\",%progbits\n\t.8byte MPI_F_STATUS_IGNORE\n\t.popsection");
#endif

enum { CANNOT_BE_TRACED = 3 }; /* exit status, as of wend trace */

void *const *tools_own;

typedef struct {
    void *self; /* handle to look up Wend's own functions */
    /* Wend, and MPI's C functions (NULL: not loaded yet) */
    const struct link_map *mine, *library;
    const struct link_map **front;
    size_t n_front;
    bool behind;
} Row;

static const struct link_map *map_of(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return address && dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static void *of_library(const char *name)
{
    char profiling[128] = "P";
    return dlsym(RTLD_DEFAULT, strncat(profiling, name, sizeof profiling - 2));
}

/* The MPI_ function of a tool behind Wend. NULL: the library's function comes next, or none. */
static void *behind(const Row *row, const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    /* in most libraries both names stand for one function */
    if (!next || !row->library || next == of_library(name))
        return NULL;
    const struct link_map *map = map_of(next);
    return map == row->library || map == row->mine ? NULL : next;
}

static void note_front(Row *row, const char *name)
{
    void *first = dlsym(RTLD_DEFAULT, name);
    if (!first || first == dlsym(row->self, name))
        return;
    const struct link_map *map = map_of(first);
    /* a Wend behind the library takes no part */
    if (!map || map == row->mine || map == row->library)
        return;
    for (size_t i = 0; i < row->n_front; i++)
        if (row->front[i] == map)
            return;
    const struct link_map **grown = realloc(row->front, (row->n_front + 1) * sizeof *grown);
    if (!grown)
        return;
    row->front = grown;
    row->front[row->n_front++] = map;
}

static void find(Row *row)
{
    for (size_t i = 0; i < mpi_n_functions; i++) {
        const char *name = mpi_functions[i].name;
        note_front(row, name);
        row->behind |= behind(row, name) != NULL;
    }
}

static void *wrapper_for_front(const char *name, void *user)
{
    const Row *row = user;
    return strncmp(name, "PMPI", 4) == 0 ? dlsym(row->self, name + 1) : NULL;
}

static void *function_behind(const char *name, void *user)
{
    return strncmp(name, "PMPI", 4) == 0 ? behind(user, name + 1) : NULL;
}

/* -- Fortran: a tool may define mpi_send_ as well as MPI_Send, and call PMPI_Send from it. Wend has
 * C names alone, because the library's Fortran layer calls these. Behind Wend such a tool would
 * come before it for Fortran. So its Fortran names are bypassed: the layer calls Wend, and Wend
 * calls the tool. -- */

/* The C name MPI_Send for mpi_send_, mpi_send__ or MPI_SEND, as compilers form the names. */
static const char *name_in_c(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] == '_')
        n--;
    for (size_t i = 0; i < mpi_n_functions; i++)
        if (strlen(mpi_functions[i].name) == n && strncasecmp(mpi_functions[i].name, name, n) == 0)
            return mpi_functions[i].name;
    return NULL;
}

static void *fortran_layer(const char *name, void *user)
{
    const char *in_c = strncasecmp(name, "mpi_", 4) == 0 ? name_in_c(name) : NULL;
    if (!in_c || strcmp(in_c, name) == 0)
        return NULL;
    const void *of_tool = behind(user, in_c), *first = dlsym(RTLD_DEFAULT, name);
    char profiling[128] = {*name == 'm' ? 'p' : 'P'};
    if (!of_tool || !first || map_of(first) != map_of(of_tool))
        return NULL;
    return dlsym(RTLD_DEFAULT, strncat(profiling, name, sizeof profiling - 2));
}

static void redirect(const Module *m, void *user)
{
    Row *row = user;
    if (row->behind && m->base == row->mine->l_addr)
        module_redirect(m, function_behind, row);
    else if (row->behind)
        module_redirect(m, fortran_layer, row);
    for (size_t i = 0; i < row->n_front; i++)
        if (m->base == row->front[i]->l_addr)
            module_redirect(m, wrapper_for_front, row);
}

/* Keeps the functions that Wend itself calls, before its references are changed. */
static void keep_own(void)
{
    static void *own[WEND_N_FUNCTIONS];
    for (size_t i = 0; i < mpi_n_functions; i++)
        own[i] = of_library(mpi_functions[i].name);
    tools_own = own;
}

void tools_open(void)
{
    static bool done;
    Row row = {.mine = map_of(&tools_own),
               .library = map_of(dlsym(RTLD_DEFAULT, MPI_LIBRARY_MARK))};
    /* most processes have no MPI: a shell, and its commands */
    if (done || !row.mine || !(row.self = module_self()))
        return;
    if (row.library || dlsym(RTLD_DEFAULT, "MPI_Init") != dlsym(row.self, "MPI_Init")) {
        done = row.library != NULL;
        find(&row);
        if (row.behind)
            keep_own();
        if (row.behind || row.n_front > 0)
            modules_each(redirect, &row);
        free(row.front);
    }
    dlclose(row.self);
}

void tools_start(void)
{
    tools_open();
    lookups_look();
    if (mpi_library_symbol(MPI_LIBRARY_MARK))
        return;
    if (launcher_is_first())
        state_say("%s has no MPI library to hand calls on to: link with -Wl,--no-as-needed, or "
                  "without -lwend if MPI is linked statically",
                  program_invocation_short_name);
    _exit(CANNOT_BE_TRACED); /* the program cannot go on without an MPI library */
}

/* With this symbol each libwend.so finds the first of them. It knows its own address by another
 * name, because references to this symbol lead to the first libwend.so. */
static const char here;
extern const char wend_tracer __attribute__((alias("here"), visibility("default")));

bool tools_other_wend(void)
{
    const void *first = dlsym(RTLD_DEFAULT, "wend_tracer");
    return first && first != &here;
}
