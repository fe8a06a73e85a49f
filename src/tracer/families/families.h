/* SPDX-License-Identifier: BSD-3-Clause */
/* families.h: differences between MPI libraries: Fortran layers, spawned processes, and libraries
 * of another family, of another version, or that are loaded late. */
#ifndef WEND_FAMILIES_H
#define WEND_FAMILIES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "interpose/interpose.h"
#include "recorder/recorder.h"

/* -- spawn.c -- */

/* Makes the processes that the application starts with MPI_Comm_spawn run under Wend, and gives
 * their world a name.
 *
 * A launcher gives spawned processes its own environment, not that of the calling process. So the
 * settings that they need are passed with the call, in a way that the library supports
 * (mpich.c, openmpi.c). */

/* When the library is loaded: takes the settings that were passed to this process, and keeps them
 * to be passed on. */
void spawn_load(void);

/* The arguments to pass to the library: at the root those with Wend's settings added. Elsewhere,
 * and if nothing can be added, they are the application's. N_PROCESSES is that of the first
 * command. */
typedef struct {
    char **commands, ***argvs;
    const MPI_Info *infos;
} Spawn;
Spawn spawn_begin(ActiveCall *c, bool at_root, int n, int n_processes, char *const *commands,
                  char **const *argvs, const MPI_Info *infos);
void spawn_end(ActiveCall *c, bool at_root); /* after the call has returned */

/* of mpich.c and openmpi.c */
void spawn_wrap(const ActiveCall *c, int n, Spawn *spawn);
/* frees the result of this thread's last spawn_wrap, if there is one */
void spawn_unwrap(void);

/* The recording's directory. NULL if this process does not know it. */
const char *spawn_directory(void);
/* Writes the name (launcher_world) of the next world that C starts to OUT, which has ROOM bytes. */
void spawn_name(const ActiveCall *c, char *out, size_t room);
/* Prints once that the settings are too long to be passed on. */
void spawn_say_too_long(void);

/* -- late-mpi.c -- */

/* An MPI library that was not loaded when the process started. Python loads it with the extension
 * module that needs it, other programs with a plugin, mostly for that module alone (RTLD_LOCAL).
 * Calls then reach Wend as usual. But the dynamic linker cannot bind Wend's own references to
 * that library, neither at the start nor at their first use. */

/* Binds Wend's references to the library that is loaded now. Called before a thread's first call
 * goes on to MPI. */
void late_mpi_open(void);

/* A foreign MPI library is of another family (program-file.h) than this libwend. Wend's wrappers
 * would take handles of another size. So the program's references are changed to bypass them, and
 * the program runs as if Wend were not there.
 *
 * Checks the MPI library once it is loaded, at the start or later. If it is of another family,
 * returns true, and the program's references bypass Wend. References that are bound later do not
 * find Wend either. The calls made before are MPI_Init, MPI_Initialized and the like, with integers
 * and pointers only, which have the same size in all families. */
bool late_mpi_is_foreign(void);

/* -- mpich.c, openmpi.c: the Fortran layer of the library -- */

bool families_is_fortran_layer(const Module *m);
/* Wend's function for an internal function of the library that the layer calls instead of an MPI_
 * function. NULL: there is none. */
void *families_fortran_internal(const char *name);
/* Fortran names that Wend defines itself, ended by NULL. */
extern const char *const families_fortran_names[];

/* -- mpich.c: MPICH over UCX -- */

/* Whether the MPI library is MPICH over UCX, of a version before MAJOR.MINOR. */
bool mpich_ucx_before(int major, int minor);

/* Called in MPI_Finalize on all ranks of the world, after all communication of the application and
 * of Wend. The library then does not wait in MPI_Finalize until other ranks have confirmed what
 * this rank has sent, and so does not wait for ever. Does nothing for other libraries. */
void mpich_ucx_finalize(void);
/* After MPI_Finalize: the library closes its connections as it always does. A program with sessions
 * may start it again. */
void mpich_ucx_finalized(void);

/* -- profiling-names.c -- */

/* Calls that the application makes by the profiling names of MPI (PMPI_Iprobe), so that no tool
 * counts them. Messages depend on them as on all others. */

/* Leads these references of the program and of its libraries to Wend's wrappers. Call it at the
 * start of the process, and when an MPI library is loaded late. A library is taken for the
 * application's if it calls MPI functions by both names, defines none, and is not needed by a
 * library that does: a profiler has wrappers, and parts that these need or that call nothing but
 * PMPI functions. */
void profiling_names_open(void);
/* The same for one module, which has been loaded since. SELF: of module_self. */
void profiling_names_look(const Module *m, void *self);
/* Whether M is a tool: it defines MPI functions, or a library that does needs it. */
bool profiling_names_of_tool(const Module *m);

/* -- unrecorded.c -- */

/* MPI functions of the process's library that this libwend does not know, because it was built
 * for another version. */

/* Notes calls of such functions from now on. Call it once the MPI library is loaded. */
void unrecorded_open(void);
/* Calls VISIT for each such function that any thread has called, with the key of a fact
 * ("unrecorded.MPI_X"). May be called at any time. */
void unrecorded_each(void (*visit)(void *user, const char *key), void *user);

#endif
