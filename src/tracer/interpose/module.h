/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h: the references of one loaded module (a library, or the program) to functions and
 * objects of others, in the table that the dynamic linker keeps for it: where they lead can be
 * changed for that module alone. */
#ifndef WEND_MODULE_H
#define WEND_MODULE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name; /* its file's; of the program: "" */
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t counts[2];
    uintptr_t relro, relro_end; /* what the dynamic linker has made read-only */
} Module;

/* Each stays loaded while it is visited. No lock of the loader is held: VISIT may ask it things
 * that another thread, which is loading, is asked to wait with. */
void modules_each(void (*visit)(const Module *m, void *user), void *user);
bool module_refers(const Module *m, const char *name);
/* Each reference leads to what WRAPPER_OF says of its name; NULL: where it led. */
void module_redirect(const Module *m, void *(*wrapper_of)(const char *name, void *user),
                     void *user);
/* The same, given where each leads NOW: NULL if it is weak and there is no such thing; and as long
 * as it was not called that may be code of the module's own, which looks for it. */
void module_redirect_from(const Module *m,
                          void *(*wrapper_of)(const char *name, void *now, void *user), void *user);

/* The file of libwend.so itself, as /proc names it: absolute, links followed. First asked for when
 * it is loaded, since it may have been named from where the program began. NULL: not known. */
const char *module_own_file(void);
/* A handle of libwend.so itself, to ask for its own functions by, whoever else defines them; for
 * dlclose. NULL: not to be had. */
void *module_self(void);

#endif
