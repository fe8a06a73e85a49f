/* SPDX-License-Identifier: BSD-3-Clause */
/* late-mpi.c: see families.h. Wend's own references, and those of all modules, once the MPI library
 * is there. */
#include "families.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/record/functions.h"
#include "interpose/interpose.h"
#include "library.gen.h"
#include "process/process.h"
#include "process/program-file.h"
#include "recorder/recorder.h"

/* -- the Fortran layer -- */

/* Calls that an MPI library's Fortran layer makes to other names than those that a tracer defines.
 * The layer's references to PMPI_ functions are changed to Wend's wrappers, in the dynamic linker's
 * table for that one module. If libwend.so defined PMPI_Comm_rank itself, it would intercept all
 * calls of it: those of other tools, and of the I/O part in the library. */

/* Whether the function converts handles or statuses. Such calls of the layer are not the
 * program's. */
static bool converts(const char *name)
{
    return strstr(name, "_f2c") || strstr(name, "_c2f");
}

static void *wrapper_for_layer(const char *name, void *self)
{
    if (converts(name))
        return NULL;
    return strncmp(name, "PMPI", 4) == 0 ? dlsym(self, name + 1) : families_fortran_internal(name);
}

/* SELF: of module_self. */
static void fortran_look(const Module *m, void *self)
{
    if (families_is_fortran_layer(m))
        module_redirect(m, wrapper_for_layer, self);
}

/* Called at the start of the process, because the first call of
 * "use mpi_f08" may be such a call, and when an MPI library is loaded late. */
static void fortran_open(void)
{
    void *self = module_self();
    if (!self)
        return;
    modules_each(fortran_look, self);
    dlclose(self);
}

/* -- functions that the program looks up -- */

/* MPI functions that the application looks up in a handle of the MPI library, as Python's ctypes
 * and cffi and Julia's ccall do, and modules that prefer the MPI library to all that is preloaded
 * (RTLD_DEEPBIND). Both would go past Wend. */

static void *self; /* of module_self; it stays open */

static bool is_of_mpi(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "MPIX_", 5) == 0;
}

static const void *module_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The wrapper for NAME; NULL: there is none. */
static void *wrapper_of(const char *name)
{
    bool passes = state()->other_wend || state()->other_family || !self;
    void *f = passes ? NULL : dlsym(self, name);
    return module_of(f) == module_of(&self) ? f : NULL;
}

/* The MPI library in the scope of HANDLE, by its beginning. NULL: there is none, or its handles are
 * not those that the wrappers know. */
static const void *library_of(void *handle)
{
    for (int i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, MPI_FAMILY) == 0 && !dlsym(handle, families[i].mark))
            return NULL;
    return module_of(dlsym(handle, MPI_LIBRARY_MARK));
}

/* -- lookups -- */

/* Who looks a function up. A tool behind Wend, and a part of a tool, get what they ask for. */
typedef enum { APPLICATION, TOOL_IN_FRONT, OTHER_TOOL } CallerKind;

typedef struct {
    const void *address;
    CallerKind kind;
} Caller;

static void judge(const Module *m, void *user)
{
    Caller *caller = user;
    if (!module_contains(m, caller->address) || !profiling_names_of_tool(m))
        return;
    caller->kind = OTHER_TOOL;
    for (size_t i = 0; i < mpi_n_functions && caller->kind == OTHER_TOOL; i++)
        if (module_contains(m, dlsym(RTLD_DEFAULT, mpi_functions[i].name)))
            caller->kind = TOOL_IN_FRONT;
}

/* The last answer is kept: who looks up one function looks up many. */
static CallerKind kind_of(const void *address)
{
    static struct {
        pthread_mutex_t lock; /* a leaf */
        const void *module;
        unsigned long long unloaded;
        CallerKind kind;
    } last = {.lock = PTHREAD_MUTEX_INITIALIZER};
    Caller caller = {address, APPLICATION};
    const void *module = module_of(address);
    unsigned long long unloaded = state_unloaded();
    pthread_mutex_lock(&last.lock);
    bool known = module && last.module == module && last.unloaded == unloaded;
    if (known)
        caller.kind = last.kind;
    pthread_mutex_unlock(&last.lock);
    if (known)
        return caller.kind;
    modules_each(judge, &caller);
    pthread_mutex_lock(&last.lock);
    last.module = module;
    last.unloaded = unloaded;
    last.kind = caller.kind;
    pthread_mutex_unlock(&last.lock);
    return caller.kind;
}

static bool is_of_fortran(const char *name)
{
    bool like = strncasecmp(name, "mpi_", 4) == 0 || strncmp(name, "ompi_", 5) == 0;
    for (const char *const *f = families_fortran_names; like && *f; f++)
        if (strcmp(*f, name) == 0)
            return true;
    return false;
}

/* Whether F, which was found in HANDLE, is the MPI library's, or its Fortran layer's. */
static bool is_of_library(const void *f, void *handle, bool fortran)
{
    Dl_info info;
    const void *library = library_of(handle);
    if (!library || !dladdr(f, &info))
        return false;
    return info.dli_fbase == library
           || (fortran && families_is_fortran_layer(&(Module){.name = info.dli_fname}));
}

/* A program may ask from which file a function comes (dladdr), which is libwend.so, open that file,
 * and look there for what only the MPI library has. */
static void *beyond_wend(void *handle, const char *name)
{
    const char *mpi = name + (*name == 'P' || *name == 'p' || *name == 'o');
    void *mark = strncasecmp(mpi, "mpi", 3) == 0 ? dlsym(handle, "wend_tracer") : NULL;
    return module_of(mark) == module_of(&self) ? mpi_library_symbol(name) : NULL;
}

/* Lookups of profiling names by a tool in front are led as its references are (interpose.h). */
static void *answer(void *handle, const char *name, const void *caller)
{
    bool fortran = is_of_fortran(name), profiling = strncmp(name, "PMPI", 4) == 0;
    if (!self || (handle == RTLD_NEXT && !profiling) || (this_thread && this_thread->inside))
        return NULL;
    void *wrapper = fortran || is_of_mpi(name + profiling) ? wrapper_of(name + profiling) : NULL;
    void *f = wrapper ? dlsym(handle, name) : NULL;
    if (f && (f == wrapper || is_of_library(f, handle, fortran))) {
        CallerKind kind = kind_of(caller);
        return kind == TOOL_IN_FRONT || (kind == APPLICATION && !profiling) ? wrapper : NULL;
    }
    void *beyond = f || handle == RTLD_NEXT ? NULL : beyond_wend(handle, name);
    return beyond && wrapper && kind_of(caller) == TOOL_IN_FRONT ? wrapper : beyond;
}

/* -- references -- */

typedef struct {
    const Module *module;
    const void *library;
} LaterModule;

/* A reference that is not bound yet is to code of its own module. */
static void *target(const char *name, void *now, void *user)
{
    const LaterModule *looking = user;
    void *wrapper = is_of_mpi(name) ? wrapper_of(name) : NULL;
    if (!wrapper || !now || now == wrapper)
        return NULL;
    if (module_contains(looking->module, now))
        return dlsym(RTLD_DEFAULT, name) == wrapper ? wrapper : NULL;
    return module_of(now) == looking->library ? wrapper : NULL;
}

static void *note_reference(const char *name, void *found)
{
    *(bool *)found |= is_of_mpi(name) || strncmp(name, "PMPI", 4) == 0;
    return NULL;
}

/* The program, and other modules that were there from the start, have been bound in order. */
static bool look(const Module *m, void *handle)
{
    bool refers = false;
    if (!self || !*m->name)
        return true;
    module_redirect(m, note_reference, &refers);
    const void *library = refers ? library_of(handle) : NULL;
    if (!library || module_contains(m, library))
        return true;
    fortran_look(m, self);
    profiling_names_look(m, self);
    if (families_is_fortran_layer(m) || !profiling_names_of_tool(m))
        module_redirect_from(m, target, &(LaterModule){m, library});
    return true;
}

/* From now on these lookups and references lead to Wend's wrappers. A tool gets what it asks for:
 * it looks for the function behind itself. */
static void looked_up_open(void)
{
    static const LookupHooks hooks = {.answer = answer, .look = look};
    if (state()->other_wend || state()->other_family)
        return;
    lookups_add(&hooks); /* what is there from the start is not looked at */
    self = module_self();
}

static _Atomic bool bound; /* Wend's references are bound */

typedef struct {
    const void *own, *library;
} Bases;

static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The target for a reference of Wend to a function that the MPI library defines. Other libraries,
 * such as the C library, have been loaded from the start. Preloaded tools still come before the MPI
 * library. */
static void *in_library(const char *name, void *user)
{
    const Bases *bases = user;
    void *symbol = mpi_library_symbol(name), *first;
    if (base_of(symbol) != bases->library)
        return NULL;
    return (first = dlsym(RTLD_DEFAULT, name)) ? first : symbol;
}

static void bind_own(const Module *m, void *user)
{
    const Bases *bases = user;
    if (m->base == (uintptr_t)bases->own)
        module_redirect(m, in_library, user);
}

__attribute__((constructor)) static void look_for_mpi(void)
{
    looked_up_open();
    if (!dlsym(RTLD_DEFAULT, MPI_LIBRARY_MARK))
        return;
    fortran_open();
    profiling_names_open();
    atomic_store(&bound, true);
}

void late_mpi_open(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load_explicit(&bound, memory_order_acquire))
        return;
    pthread_mutex_lock(&lock);
    if (!bound) {
        mpi_library_find();
        Bases bases = {base_of(&bound), base_of(mpi_library_symbol(MPI_LIBRARY_MARK))};
        if (bases.library)
            modules_each(bind_own, &bases);
        if (late_mpi_is_foreign()) {
            state()->other_family = true;
            atomic_store(&state()->active, false);
        } else {
            fortran_open();
            profiling_names_open();
            unrecorded_open();
        }
        atomic_store_explicit(&bound, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

/* -- a library of another family -- */

typedef struct {
    uintptr_t base;
    void *self;
} Own;

static bool is_of_own_family(void)
{
    for (int i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, MPI_FAMILY) == 0)
            return mpi_library_symbol(families[i].mark) != NULL;
    return true; /* built for a library of unknown family, which cannot be told from others */
}

/* The function after Wend's wrapper, for a reference that leads to the wrapper now, or would when
 * it is bound. NULL for other references. */
static void *beyond(const char *name, void *own)
{
    if ((strncasecmp(name, "mpi", 3) != 0 && strncmp(name, "ompi_", 5) != 0)
        || dlsym(RTLD_DEFAULT, name) != dlsym(((Own *)own)->self, name))
        return NULL;
    void *next = dlsym(RTLD_NEXT, name);
    return next ? next : mpi_library_symbol(name);
}

static void lead_past(const Module *m, void *user)
{
    if (m->base != ((const Own *)user)->base)
        module_redirect(m, beyond, user);
}

/* Hides a function of Wend: the dynamic linker skips a symbol without a value. */
static void hide(void *self, const char *name)
{
    Dl_info info;
    ElfW(Sym) * symbol;
    const void *wrapper = dlsym(self, name);
    if (!wrapper || !dladdr1(wrapper, &info, (void **)&symbol, RTLD_DL_SYMENT) || !info.dli_sname
        || strcmp(info.dli_sname, name) != 0)
        return;
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE),
              page = (uintptr_t)symbol & ~(page_size - 1);
    size_t len = (uintptr_t)(symbol + 1) - page;
    if (mprotect((void *)page, len, PROT_READ | PROT_WRITE) != 0)
        return;
    symbol->st_value = 0;
    mprotect((void *)page, len, PROT_READ);
}

bool late_mpi_is_foreign(void)
{
    Dl_info info;
    if (!mpi_library_symbol(MPI_LIBRARY_MARK) || is_of_own_family() || !dladdr(&families, &info))
        return false;
    Own own = {(uintptr_t)info.dli_fbase, module_self()};
    if (!own.self)
        return false;
    modules_each(lead_past, &own);
    for (size_t i = 0; i < mpi_n_functions; i++)
        hide(own.self, mpi_functions[i].name);
    for (const char *const *name = families_fortran_names; *name; name++)
        hide(own.self, *name);
    dlclose(own.self);
    return true;
}
