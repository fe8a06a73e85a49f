/* SPDX-License-Identifier: BSD-3-Clause */
/* application-modules.c: see process-values.h. */
#include "process-values.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"

typedef struct {
    uintptr_t base;
    char *file;    /* its path; "": the program */
    char **needed; /* names */
    size_t n_needed;
    bool foreign; /* MPI's or the system's */
    bool seen;    /* in an earlier look */
} Loaded;

/* The modules of a look. */
typedef struct {
    Loaded *at;
    size_t n;
    bool failed; /* no memory */
} LoadedModules;

/* What earlier looks have found, and folders of modules that MPI loads. */
static struct {
    pthread_mutex_t lock;
    uintptr_t *seen;
    size_t n_seen;
    char **folders;
    size_t n_folders;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Appends to an array of N things of SIZE bytes. NULL: no memory. */
static void *grown(void *array, size_t n, size_t size)
{
    return realloc(array, (n + 1) * size);
}

/* -- what is loaded -- */

static void note(const Module *m, void *user)
{
    LoadedModules *all = user;
    Loaded *at = grown(all->at, all->n, sizeof *at);
    if (at)
        all->at = at;
    Loaded l = {.base = m->base, .file = strdup(m->name)};
    if (!at || !l.file) {
        free(l.file);
        all->failed = true;
        return;
    }
    for (const char *name; (name = module_needed(m, l.n_needed));) {
        char **needed = grown(l.needed, l.n_needed, sizeof *needed);
        char *copy = strdup(name);
        if (needed)
            l.needed = needed;
        if (!needed || !copy) {
            free(copy);
            all->failed = true;
            break;
        }
        l.needed[l.n_needed++] = copy;
    }
    all->at[all->n++] = l;
}

static void loaded_free(LoadedModules *all)
{
    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < all->at[i].n_needed; k++)
            free(all->at[i].needed[k]);
        free(all->at[i].needed);
        free(all->at[i].file);
    }
    free(all->at);
}

/* -- which are foreign -- */

/* Run-time libraries of languages. */
static bool is_runtime(const char *file)
{
    static const char *const names[] = {"libstdc++.so", "libgfortran.so", "libgomp.so",
                                        "libpython",    "libc++.so",      "libomp.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(base_name(file), names[i]))
            return true;
    return false;
}

/* Marks module I, and what it needs. */
static void mark(LoadedModules *all, size_t i)
{
    if (all->at[i].foreign)
        return;
    all->at[i].foreign = true;
    for (size_t k = 0; k < all->at[i].n_needed; k++)
        for (size_t j = 0; j < all->n; j++)
            if (*all->at[j].file && !is_runtime(all->at[j].file)
                && strcmp(base_name(all->at[j].file), all->at[i].needed[k]) == 0)
                mark(all, j);
}

static void mark_module_of(LoadedModules *all, const void *function)
{
    Dl_info info;
    if (!function || !dladdr(function, &info))
        return;
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].base == (uintptr_t)info.dli_fbase && *all->at[i].file)
            mark(all, i);
}

static bool is_preloaded(const char *file)
{
    const char *list = getenv("LD_PRELOAD"), *name = base_name(file);
    size_t n = strlen(name);
    for (const char *at = list; at && n > 0 && (at = strstr(at, name)); at += n)
        if ((at == list || strchr("/: ", at[-1])) && (!at[n] || strchr(": ", at[n])))
            return true;
    return false;
}

static bool is_in_folder_of_mpi(const char *file)
{
    size_t n = (size_t)(base_name(file) - file);
    for (size_t i = 0; i < known.n_folders; i++)
        if (strncmp(known.folders[i], file, n) == 0 && known.folders[i][n] == '\0')
            return true;
    return false;
}

static void mark_foreign(LoadedModules *all)
{
    mark_module_of(all, (const void *)application_modules_look);
    mark_module_of(all, mpi_library_symbol(MPI_LIBRARY_MARK));
    for (size_t i = 0; i < all->n; i++)
        if (*all->at[i].file
            && (is_preloaded(all->at[i].file) || is_in_folder_of_mpi(all->at[i].file)))
            all->at[i].foreign = true;
}

/* -- what earlier looks have found -- */

static void mark_seen(LoadedModules *all)
{
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < known.n_seen && !all->at[i].seen; k++)
            all->at[i].seen = known.seen[k] == all->at[i].base;
}

/* Modules that were unloaded are forgotten, since others may get their addresses. */
static void keep_seen(const LoadedModules *all)
{
    uintptr_t *seen = malloc((all->n + 1) * sizeof *seen);
    if (!seen)
        return;
    for (size_t i = 0; i < all->n; i++)
        seen[i] = all->at[i].base;
    free(known.seen);
    known.seen = seen;
    known.n_seen = all->n;
}

/* Notes the folder of a module that MPI has loaded, unless it has libraries of everybody. */
static void keep_folder(const LoadedModules *all, const char *file)
{
    size_t n = (size_t)(base_name(file) - file);
    if (n == 0 || is_in_folder_of_mpi(file))
        return;
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].seen && strncmp(all->at[i].file, file, n) == 0
            && !strchr(all->at[i].file + n, '/'))
            return;
    char **folders = grown(known.folders, known.n_folders, sizeof *folders);
    char *folder = strndup(file, n);
    if (folders)
        known.folders = folders;
    if (folders && folder)
        known.folders[known.n_folders++] = folder;
    else
        free(folder);
}

/* -- references -- */

typedef struct {
    LoadedModules all;
    ModuleFunction *function;
    const char *file;
} Look;

static void *by_name(const char *name, void *user)
{
    const Look *looking = user;
    return looking->function(name, looking->file);
}

static void change(const Module *m, void *user)
{
    Look *looking = user;
    for (size_t i = 0; i < looking->all.n; i++) {
        const Loaded *l = &looking->all.at[i];
        if (l->base != m->base || l->seen || l->foreign)
            continue;
        looking->file = l->file;
        module_redirect(m, by_name, looking);
    }
}

void application_modules_look(ModuleFunction *function, bool of_mpi)
{
    Look looking = {.function = function};
    LoadedModules *all = &looking.all;
    int saved = errno;
    modules_each(note, all);
    pthread_mutex_lock(&known.lock);
    mark_seen(all);
    for (size_t i = 0; of_mpi && i < all->n; i++)
        if (!all->at[i].seen) {
            all->at[i].foreign = true;
            keep_folder(all, all->at[i].file);
        }
    mark_foreign(all);
    if (!all->failed)
        keep_seen(all);
    pthread_mutex_unlock(&known.lock);
    if (!all->failed)
        modules_each(change, &looking);
    loaded_free(all);
    errno = saved;
}

static ModuleFunction *followed;

static void look_again(void)
{
    application_modules_look(followed, false);
}

void application_modules_follow(ModuleFunction *function)
{
    followed = function;
    static const LookupHooks hooks = {.changed = look_again};
    lookups_add(&hooks);
}
