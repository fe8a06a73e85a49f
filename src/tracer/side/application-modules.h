/* SPDX-License-Identifier: BSD-3-Clause */
/* application-modules.h: which loaded modules are the application's, and changes of what they refer
 * to. The others are MPI's and the system's:
 *
 * - libwend.so and the MPI library, and what these need (the C library, UCX, hwloc and others),
 *   except for run-time libraries of languages, by which programs ask for the time, too;
 * - what MPI loads while it starts, and later modules from the folders of these;
 * - libraries that were preloaded.
 *
 * What is left is the program and its own libraries. */
#ifndef WEND_APPLICATION_MODULES_H
#define WEND_APPLICATION_MODULES_H

#include <stdbool.h>

/* What a reference to NAME leads to, in the module FILE ("": the program). NULL: where it leads. */
typedef void *ModuleFunction(const char *name, const char *file);

/* Changes the references of the application's modules that came since the last call. OF_MPI: what
 * came is MPI's. */
void application_modules_look(ModuleFunction *function, bool of_mpi);
/* From now on also of modules that are opened while the program runs. */
void application_modules_follow(ModuleFunction *function);

#endif
