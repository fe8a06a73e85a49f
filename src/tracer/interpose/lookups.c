/* SPDX-License-Identifier: BSD-3-Clause */
/* lookups.c: see interpose.h. */
#include "interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HOOKS = 4 };
static const LookupHooks *all_hooks[MOST_HOOKS];
static atomic_int n_hooks;

/* The functions of the time when Wend was loaded. Another library of this kind may change Wend's
 * reference to its own function, which calls Wend's. */
static struct {
    void *(*dlsym)(void *, const char *);
    void *(*dlvsym)(void *, const char *, const char *);
    void *(*dlopen)(const char *, int);
} linker;

/* The dynamic linker finds its caller by the return address: for RTLD_NEXT, for libraries that were
 * opened with RTLD_LOCAL, for the folders that a module names. So the call must be a jump. */
#if defined __has_attribute && __has_attribute(musttail)
#define AS_JUMP
#define JUMP __attribute__((musttail))
#else
#define AS_JUMP                                                               \
    __attribute__((optimize("O2", "optimize-sibling-calls", "no-exceptions"), \
                   no_sanitize("address", "thread", "undefined"), no_stack_protector))
#define JUMP
#endif

/* -- functions -- */

static __attribute__((noinline)) void *answer_of(void *handle, const char *name, const void *caller)
{
    void *f = NULL;
    lookups_look(); /* a program that has opened a library calls dlsym next */
    for (int i = 0; name && !f && i < n_hooks; i++)
        if (all_hooks[i]->answer)
            f = all_hooks[i]->answer(handle, name, caller);
    return f;
}

static AS_JUMP void *dlsym_of_modules(void *handle, const char *name)
{
    void *f = answer_of(handle, name, __builtin_return_address(0));
    if (f)
        return f;
    JUMP return linker.dlsym(handle, name);
}

static AS_JUMP void *dlvsym_of_modules(void *handle, const char *name, const char *version)
{
    void *f = answer_of(handle, name, __builtin_return_address(0));
    if (f)
        return f;
    JUMP return linker.dlvsym(handle, name, version);
}

/* -- modules -- */

typedef struct {
    const void *caller;
    bool bare; /* the name of the file has no folder */
    bool matters;
} Opening;

static bool is_in(const struct dl_phdr_info *info, const void *address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD
            && (uintptr_t)address - info->dlpi_addr - h->p_vaddr < (uintptr_t)h->p_memsz)
            return true;
    }
    return false;
}

/* The program's DT_RPATH holds for all callers, another module's for what it opens and what that
 * needs. DT_RUNPATH holds for what the module itself opens. */
static int ask_folders(struct dl_phdr_info *info, size_t size, void *user)
{
    Opening *o = user;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + h->p_vaddr);
        for (; d->d_tag != DT_NULL; d++)
            o->matters |= (d->d_tag == DT_RPATH && *info->dlpi_name)
                          || (d->d_tag == DT_RUNPATH && o->bare
                              && (is_in(info, o->caller) || is_in(info, &linker)));
    }
    return o->matters;
}

/* Opens FILE if it does not matter who opens it, and looks at it before the program can use it.
 * NULL: nothing is open. */
static __attribute__((noinline)) void *open_file(const char *file, int flags, const void *caller)
{
    if (!file || !*file || strchr(file, '$') || (flags & RTLD_NOLOAD)) /* $ORIGIN is the caller's */
        return NULL;
    Opening o = {.caller = caller, .bare = !strchr(file, '/')};
    if (dl_iterate_phdr(ask_folders, &o))
        return NULL;
    void *handle = linker.dlopen(file, flags);
    if (handle)
        lookups_look();
    return handle;
}

static AS_JUMP void *dlopen_of_modules(const char *file, int flags)
{
    void *handle = open_file(file, flags, __builtin_return_address(0));
    if (handle)
        return handle;
    JUMP return linker.dlopen(file, flags);
}

/* -- references of modules -- */

static void *own_function(const char *name, void *unused)
{
    (void)unused;
    if (strncmp(name, "dl", 2) != 0)
        return NULL;
    return strcmp(name, "dlsym") == 0    ? (void *)dlsym_of_modules
           : strcmp(name, "dlvsym") == 0 ? (void *)dlvsym_of_modules
           : strcmp(name, "dlopen") == 0 ? (void *)dlopen_of_modules
                                         : NULL;
}

static struct {
    pthread_mutex_t lock; /* a leaf: no function of the dynamic linker is called while it is held */
    unsigned long long loaded, unloaded;
    uintptr_t *done; /* modules by base, whose references have all been changed */
    size_t n, cap;
} looked = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int count_modules(struct dl_phdr_info *info, size_t size, void *counts)
{
    (void)size;
    ((unsigned long long *)counts)[0] = info->dlpi_adds;
    ((unsigned long long *)counts)[1] = info->dlpi_subs;
    return 1;
}

/* Whether the module needs no further examination. */
static bool is_done(uintptr_t base)
{
    pthread_mutex_lock(&looked.lock);
    size_t i = 0;
    while (i < looked.n && looked.done[i] != base)
        i++;
    bool is = i < looked.n;
    pthread_mutex_unlock(&looked.lock);
    return is;
}

static void note_done(uintptr_t base)
{
    pthread_mutex_lock(&looked.lock);
    if (looked.n == looked.cap) {
        size_t cap = 2 * looked.cap + 64;
        uintptr_t *grown = realloc(looked.done, cap * sizeof *grown);
        if (grown) {
            looked.done = grown;
            looked.cap = cap;
        }
    }
    if (looked.n < looked.cap)
        looked.done[looked.n++] = base;
    pthread_mutex_unlock(&looked.lock);
}

static void look_at(const Module *m, void *own)
{
    struct link_map *map;
    if (m->counts[0] + m->counts[1] == 0 || m->base == (uintptr_t)own || is_done(m->base))
        return;
    void *handle = dlopen(*m->name ? m->name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == m->base) {
        bool done = true;
        module_redirect(m, own_function, NULL);
        for (int i = 0; i < n_hooks; i++)
            done &= !all_hooks[i]->look || all_hooks[i]->look(m, handle);
        if (done)
            note_done(m->base);
    }
    dlclose(handle);
}

/* It takes the loader's lock, as the functions do from which it is called. It is not called from
 * wrappers of MPI but MPI_Init, since it might wait there for another thread that is loading a
 * library. Several threads may run it at once, with the same effect. */
void lookups_look(void)
{
    static __thread bool looking; /* dlclose calls this function again */
    unsigned long long counts[2] = {0, 0};
    Dl_info own;
    if (looking)
        return;
    dl_iterate_phdr(count_modules, counts);
    pthread_mutex_lock(&looked.lock);
    bool same = counts[0] == looked.loaded && counts[1] == looked.unloaded;
    if (counts[1] != looked.unloaded)
        looked.n = 0; /* a new module may have the address of another one */
    pthread_mutex_unlock(&looked.lock);
    if (same || tools_other_wend() || !dladdr(&linker, &own))
        return;
    int saved = errno;
    looking = true;
    modules_each(look_at, own.dli_fbase);
    for (int i = 0; i < n_hooks; i++)
        if (all_hooks[i]->changed)
            all_hooks[i]->changed();
    dlerror();
    pthread_mutex_lock(&looked.lock);
    looked.loaded = counts[0];
    looked.unloaded = counts[1];
    pthread_mutex_unlock(&looked.lock);
    looking = false;
    errno = saved;
}

/* The function itself: F may be a stub of a program that is linked to fixed addresses, which uses
 * the reference that is changed. */
static void *definition(void *f, const char *name)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    bool is_stub = dladdr1(f, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol
                   && symbol->st_shndx == SHN_UNDEF;
    return is_stub ? dlsym(RTLD_NEXT, name) : f;
}

void lookups_add(const LookupHooks *hooks)
{
    if (!linker.dlsym) {
        *(void **)&linker.dlsym = definition((void *)dlsym, "dlsym");
        *(void **)&linker.dlvsym = definition((void *)dlvsym, "dlvsym");
        *(void **)&linker.dlopen = definition((void *)dlopen, "dlopen");
    }
    if (n_hooks == MOST_HOOKS)
        return;
    all_hooks[n_hooks++] = hooks;
    looked.n = 0;
    looked.loaded = looked.unloaded = 0;
    lookups_look();
}
