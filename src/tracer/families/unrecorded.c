/* SPDX-License-Identifier: BSD-3-Clause */
/* unrecorded.c: see families.h. Libraries of a family differ in their functions. A libwend that
 * was built for Open MPI 4.1 has no wrapper for MPI_Psend_init, and a program of Open MPI 5 would
 * bypass Wend without notice. So references to functions that the library has with both names
 * (MPI_X and PMPI_X), and Wend lacks, get closures. These note the call and pass it on. Mostly
 * there are none, and the cost is one search of the modules' tables. A program that only refers to
 * such functions is not reported (Python's mpi4py refers to all). */
#include "families.h"

#include <dlfcn.h>
#include <ffi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/record/part.h"
#include "interpose/interpose.h"

/* As in closures.c: the number of words that are passed on. No function of MPI has more arguments
 * (MPI_Rget_accumulate has 13, and one more in Fortran). */
enum { ARGUMENTS = 16 };
typedef uint64_t Function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t);

typedef struct Unrecorded {
    struct Unrecorded *next;
    Function *function; /* the target before */
    void *code;         /* the target now */
    atomic_bool called;
    /* key of the fact, "unrecorded.MPI_X", for signal handlers, which cannot allocate */
    char key[];
} Unrecorded;

#define KEY_PREFIX WEND_UNRECORDED_GROUP "."

/* Entries are added at the front and never freed. */
static Unrecorded *_Atomic all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void hand_on(ffi_cif *cif, void *result, void **a, void *data)
{
    Unrecorded *u = data;
    (void)cif;
#define WORD(i) (*(uint64_t *)a[i])
    atomic_store_explicit(&u->called, true, memory_order_relaxed);
    *(ffi_arg *)result =
        u->function(WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(7), WORD(8),
                    WORD(9), WORD(10), WORD(11), WORD(12), WORD(13), WORD(14), WORD(15));
#undef WORD
}

/* Returns NULL if memory is short. */
static Unrecorded *unrecorded_new(const char *name, void *function)
{
    static ffi_cif interface;
    static ffi_type *types[ARGUMENTS];
    if (!interface.abi) {
        for (size_t i = 0; i < ARGUMENTS; i++)
            types[i] = &ffi_type_uint64;
        if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, ARGUMENTS, &ffi_type_uint64, types) != FFI_OK)
            return NULL;
    }
    Unrecorded *u = calloc(1, sizeof *u + sizeof KEY_PREFIX + strlen(name));
    ffi_closure *closure = u ? ffi_closure_alloc(sizeof *closure, &u->code) : NULL;
    if (!closure || ffi_prep_closure_loc(closure, &interface, hand_on, u, u->code) != FFI_OK) {
        if (closure)
            ffi_closure_free(closure);
        free(u);
        return NULL;
    }
    u->function = (Function *)function;
    stpcpy(stpcpy(u->key, KEY_PREFIX), name);
    u->next = all;
    all = u;
    return u;
}

/* The current target of references to NAME: the library's function, or a tool's. A program that is
 * linked to fixed addresses may have a stub for it, which uses the reference itself. */
static void *current(const char *name)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *function = dlsym(RTLD_DEFAULT, name);
    if (function && dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol
        && symbol->st_shndx == SHN_UNDEF)
        function = dlsym(RTLD_NEXT, name);
    return function ? function : mpi_library_symbol(name);
}

static bool library_has_both(const char *name)
{
    char *profiling;
    if (!mpi_library_symbol(name) || asprintf(&profiling, "P%s", name) < 0)
        return false;
    bool both = mpi_library_symbol(profiling) != NULL;
    free(profiling);
    return both;
}

/* The closure for REFERENCE to function NAME (MPI_X, or its profiling name). NULL unless the
 * library has the function and Wend lacks it. */
static void *closure_for(const char *reference, const char *name, void *self)
{
    void *function = dlsym(self, name) || !library_has_both(name) ? NULL : current(reference);
    if (!function)
        return NULL;
    for (Unrecorded *u = all; u; u = u->next)
        if (strcmp(u->key + strlen(KEY_PREFIX), name) == 0 && u->function == (Function *)function)
            return u->code;
    Unrecorded *u = unrecorded_new(name, function);
    return u ? u->code : NULL;
}

static void *of_module(const char *name, void *self)
{
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "MPIX_", 5) == 0
               ? closure_for(name, name, self)
               : NULL;
}

/* The closure for a reference of the Fortran layer, which uses profiling names. */
static void *of_layer(const char *name, void *self)
{
    if (strncmp(name, "PMPI", 4) != 0 || strstr(name, "_f2c") || strstr(name, "_c2f"))
        return NULL;
    return closure_for(name, name + 1, self);
}

static void visit(const Module *m, void *self)
{
    if (!module_contains(m, &all) && !module_contains(m, mpi_library_symbol(MPI_LIBRARY_MARK)))
        module_redirect(m, families_is_fortran_layer(m) ? of_layer : of_module, self);
}

void unrecorded_open(void)
{
    void *self = module_self();
    if (!self)
        return;
    pthread_mutex_lock(&lock);
    modules_each(visit, self);
    pthread_mutex_unlock(&lock);
    dlclose(self);
}

void unrecorded_each(void (*visit_key)(void *user, const char *key), void *user)
{
    for (const Unrecorded *u = all; u; u = u->next)
        if (atomic_load_explicit(&u->called, memory_order_relaxed))
            visit_key(user, u->key);
}
