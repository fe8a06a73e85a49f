/* SPDX-License-Identifier: BSD-3-Clause */
/* process-values.h: results of functions that are no communication and differ from run to run:
 * the clock, random numbers, process ids, host names. `wend trace --values` records what the
 * application gets of them, and a replay of such a recording returns it.
 *
 * Values of a thread are in one side stream, in their order. A replay takes them one by one. It
 * checks that the program asks for what was recorded, and after the last one the program gets its
 * own. */
#ifndef WEND_PROCESS_VALUES_H
#define WEND_PROCESS_VALUES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/values.h"

struct SideStream;

/* Values are recorded, or replayed. */
extern _Atomic bool process_values_on __attribute__((visibility("hidden")));

/* When the library is loaded, after replay_open: leads the application's references to the
 * functions to Wend, if values are recorded or replayed. If not, nothing happens here, ever. */
void process_values_open(void);
/* Before and after the MPI library starts. What it loads meanwhile is its own. */
void process_values_before_start(void);
void process_values_after_start(void);
/* When the application has made its last call: values are its own from here on. */
void process_values_close(void);
/* In a forked child, whose values are its own. */
void process_values_in_child(void);

/* -- one value: begin, take, end. WITHIN_CALL: in the wrapper of a function of MPI -- */

/* NULL: the value is not recorded or replayed: MPI asks for it, or the recording is off. */
struct SideStream *process_value_begin(bool within_call);
void process_value_end(struct SideStream *s);
/* Replaces the numbers, or the seconds, by the recorded ones in a replay; records them. */
void process_value_numbers(struct SideStream *s, WendValueCode code, unsigned sub, int64_t *numbers,
                           size_t n);
/* The same for *N bytes at DATA, where there is room for ROOM. */
void process_value_bytes(struct SideStream *s, WendValueCode code, void *data, size_t *n,
                         size_t room);

double process_value_seconds(double now);
/* What MPI_Wtime returns, if NOW is the time. */
static inline double process_value_wtime(double now)
{
    return __builtin_expect(atomic_load_explicit(&process_values_on, memory_order_relaxed), 0)
               ? process_value_seconds(now)
               : now;
}

struct ActiveCall;
/* Replaces what MPI_Get_processor_name gave by the recorded name, in a replay with values. */
void process_value_processor_name(const struct ActiveCall *c, char *name, int *n);

/* Whether the program got PID as its own, though it is not. */
bool process_value_is_own_pid(long pid);
void process_value_note_pid(long pid);

/* -- value-functions.c: the functions whose results are values (process-values.h) -- */

/* What a reference to NAME in the module FILE leads to while values are recorded or replayed.
 * NULL: where it leads. */
void *value_function(const char *name, const char *file);

/* -- application-modules.c -- */

/* Which loaded modules are the application's, and changes of what they refer to. The others are
 * MPI's and the system's:
 *
 * - libwend.so and the MPI library, and what these need (the C library, UCX, hwloc and others),
 *   except for run-time libraries of languages, by which programs ask for the time, too;
 * - what MPI loads while it starts, and later modules from the folders of these;
 * - libraries that were preloaded.
 *
 * What is left is the program and its own libraries. */

/* What a reference to NAME leads to, in the module FILE ("": the program). NULL: where it leads. */
typedef void *ModuleFunction(const char *name, const char *file);

/* Changes the references of the application's modules that came since the last call. OF_MPI: what
 * came is MPI's. */
void application_modules_look(ModuleFunction *function, bool of_mpi);
/* From now on also of modules that are opened while the program runs. */
void application_modules_follow(ModuleFunction *function);

#endif
