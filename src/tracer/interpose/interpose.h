/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose.h: how calls reach Wend and go on to the library: references of loaded modules, the
 * MPI library, other tools. Files in which Wend itself calls MPI include own.gen.h, which
 * requires this header. */
#ifndef WEND_INTERPOSE_H
#define WEND_INTERPOSE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/functions.h"

/* -- module.c -- */

/* The references of one loaded module (a library or the program) to functions and objects of
 * other modules. They are in a table of the dynamic linker, where each target can be changed for
 * that module alone. */

typedef struct {
    const char *name; /* its file; "" for the program */
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t counts[2];
    const ElfW(Dyn) * dynamic;
    uintptr_t relro, relro_end; /* the part that the dynamic linker has made read-only */
} Module;

/* Calls VISIT for each loaded module. A module stays loaded while it is visited. No lock of the
 * loader is held, so VISIT may call functions of the loader that another thread, which is loading a
 * module, makes wait. */
void modules_each(void (*visit)(const Module *m, void *user), void *user);
/* The name of the I-th library that M needs. NULL: there are no more. */
const char *module_needed(const Module *m, size_t i);
bool module_refers(const Module *m, const char *name);
/* Whether ADDRESS, of a function or object, is in M. FALSE for NULL. */
bool module_contains(const Module *m, const void *address);
/* Changes the target of each reference to the result of WRAPPER_OF for its name. NULL leaves it
 * unchanged. */
void module_redirect(const Module *m, void *(*wrapper_of)(const char *name, void *user),
                     void *user);
/* The same; WRAPPER_OF also gets the current target NOW. It is NULL for a weak reference without a
 * target. Before the first call of a function it may be code of the module itself, which looks the
 * function up. */
void module_redirect_from(const Module *m,
                          void *(*wrapper_of)(const char *name, void *now, void *user), void *user);

/* The file of libwend.so, as /proc names it: absolute, with links resolved. The first call must
 * come when libwend.so is loaded, because the name may be relative to the directory where the
 * program began. NULL if unknown. */
const char *module_own_file(void);
/* A handle of libwend.so, to look up its own functions even if other modules define them. The
 * caller closes it with dlclose. NULL if there is none. */
void *module_self(void);

/* -- lookups.c -- */

/* What modules get from the dynamic linker while the program runs: functions (dlsym, dlvsym) and
 * further modules (dlopen). The references of all modules to these three functions are changed
 * (interpose.h). If libwend.so exported them, it would be the caller, and RTLD_NEXT, RUNPATH and
 * the like would mean something else. */

typedef struct {
    /* What a module gets that looks up NAME in HANDLE. CALLER is an address in that module. NULL:
     * what the dynamic linker gives. It is called with no lock held. */
    void *(*answer)(void *handle, const char *name, const void *caller);
    /* Changes references of the module M, whose handle is HANDLE. It is called once for each module
     * other than libwend.so, those that were there before included. FALSE: call it again when
     * modules have been opened. */
    bool (*look)(const Module *m, void *handle);
    /* Is called whenever modules may have been opened, after the calls of LOOK. */
    void (*changed)(void);
} LookupHooks;

/* Adds HOOKS, which stay. Members may be NULL. Call it before the program starts threads. */
void lookups_add(const LookupHooks *hooks);

/* Looks for modules that have been opened. This happens by itself before each dlsym of a module,
 * and after most calls of dlopen. */
void lookups_look(void);

/* -- mpi-library.c: finds the MPI library of this process -- */

#define MPI_LIBRARY_MARK "PMPI_Initialized" /* each library defines it */

/* Looks for a library outside of the global scope, which was loaded late (families.h). */
void mpi_library_find(void);
/* A symbol of the library. NULL if it is not defined, or there is no MPI library. */
void *mpi_library_symbol(const char *name);
/* Whether MPI runs although Wend has seen no call. */
bool mpi_library_passed_by(void);

/* -- tools.c -- */

/* Other libraries between the application and MPI: profilers, checkers, the application's own
 * wrappers. Each of them, and Wend, defines MPI_Send and passes the call on to PMPI_Send. So by
 * itself only the first of them would see the call. Wend forms a chain in the order of the
 * loader:
 *
 *     application ──► a tool in front ──► Wend ──► a tool behind ──► the MPI library
 *
 * If a wrapper calls PMPI_Send, it reaches the MPI_Send of the next tool that defines it. Wend's
 * own calls of MPI must not reach tools. Files that make such calls include own.gen.h, in which
 * PMPI_Comm_rank is always the library's function. */

/* The library's functions, by index, if there is a tool behind Wend. Otherwise NULL, and
 * PMPI_Comm_rank itself is the library's function. */
extern void *const *tools_own;

/* own.gen.h defines PMPI_X(...) as this for each function. */
#define WEND_OWN(function, ...)                                                          \
    (tools_own ? ((__typeof__(P##function) *)tools_own[WEND_FN_##function])(__VA_ARGS__) \
               : P##function(__VA_ARGS__))
/* In a file that includes own.gen.h: the next function behind Wend, for wrappers. */
#define WEND_NEXT(function) (P##function)

/* Looks for tools when Wend is loaded. */
void tools_open(void);
/* Looks again when MPI starts, because a program may have loaded tools since. If there is no MPI
 * library, it ends the process. */
void tools_start(void);
/* Whether the process has another libwend.so that comes before this one. It may be preloaded by two
 * paths, or preloaded and linked. */
bool tools_other_wend(void);

#endif
