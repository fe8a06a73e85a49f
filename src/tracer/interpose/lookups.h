/* SPDX-License-Identifier: BSD-3-Clause */
/* lookups.h: what modules get from the dynamic linker while the program runs: functions (dlsym,
 * dlvsym) and further modules (dlopen). The references of all modules to these three functions are
 * changed (module.h). If libwend.so exported them, it would be the caller, and RTLD_NEXT, RUNPATH
 * and the like would mean something else. */
#ifndef WEND_LOOKUPS_H
#define WEND_LOOKUPS_H

#include <stdbool.h>

#include "module.h"

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

#endif
