/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h: the references of one loaded module (a library or the program) to functions and objects
 * of other modules. They are in a table of the dynamic linker, where each target can be changed for
 * that module alone. */
#ifndef WEND_MODULE_H
#define WEND_MODULE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
