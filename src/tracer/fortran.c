/* fortran.c: the calls that MPICH's Fortran layer makes past the names that a tracer stands before.
 *
 * libmpichfort calls MPI_Send for mpi_send_, but for "use mpi_f08" PMPI_Comm_rank and the like (all but what takes a choice buffer), and for attributes in any
 * Fortran functions of the library's own, MPII_Comm_set_attr…, which know that a value is an integer. Its references are resolved to the wrappers here
 * instead, in the table that the dynamic linker keeps for that one module. (A libwend.so that defined PMPI_Comm_rank itself would stand before everybody's
 * calls to it: those of other tools, and of the I/O part inside the library.) */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "call.h"
#include "encode.h"
#include "functions.gen.h"

/* -- attributes -- */

/* The last argument says what a value is: MPICH's MPIR_Attr_type, a C enum. */
#define EACH_OBJECT_WITH_ATTRIBUTES(DO) \
    DO(Comm, MPI_Comm, HANDLE_COMM, comm_facts(object)) \
    DO(Win, MPI_Win, HANDLE_WIN, win_facts(object)) \
    DO(Type, MPI_Datatype, HANDLE_DATATYPE, NULL)

/* In Fortran the predefined ones have values of their own, each one more than in C. */
static int64_t keyval_word(int keyval)
{
    int64_t word = handle_word(HANDLE_KEYVAL, HANDLE_VALUE(keyval));
    if (word == WEND_UNKNOWN && keyval - 1 != MPI_KEYVAL_INVALID) {
        int64_t c = handle_word(HANDLE_KEYVAL, HANDLE_VALUE(keyval - 1));
        return wend_is_const(c) ? c : word;
    }
    return word;
}

static void begin_words(Call *c, bool has_self, const CommFacts *facts, int64_t object, int keyval)
{
    if (has_self)
        put_slot(c, facts ? facts->rank : -1);
    put_shape(c, object);
    put_shape(c, keyval_word(keyval));
}

#define DEFINE(OBJECT, CTYPE, KIND, FACTS) \
    extern int MPII_##OBJECT##_set_attr(CTYPE, int, void *, int) __attribute__((weak)); \
    extern int MPII_##OBJECT##_get_attr(CTYPE, int, void *, int *, int) __attribute__((weak)); \
\
    static int set_##OBJECT(CTYPE object, int keyval, void *value, int type) \
    { \
        Call *c = call_begin(WEND_FN_MPI_##OBJECT##_set_attr); \
        if (!c) \
            return MPII_##OBJECT##_set_attr(object, keyval, value, type); \
        begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(object)), keyval); \
        in_address(c, (MPI_Aint)value); \
        call_start(c); \
        int rc = MPII_##OBJECT##_set_attr(object, keyval, value, type); \
        call_stop(c, rc); \
        call_end(c); \
        return rc; \
    } \
\
    static int get_##OBJECT(CTYPE object, int keyval, void *value, int *flag, int type) \
    { \
        Call *c = call_begin(WEND_FN_MPI_##OBJECT##_get_attr); \
        if (!c) \
            return MPII_##OBJECT##_get_attr(object, keyval, value, flag, type); \
        begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(object)), keyval); \
        call_start(c); \
        int rc = MPII_##OBJECT##_get_attr(object, keyval, value, flag, type); \
        call_stop(c, rc); \
        if (call_ok(c)) { \
            if (*flag) \
                put_address(&c->outcome, &c->outcome, *(MPI_Aint *)value); /* a predefined one too: not behind a pointer, as in C */ \
            else \
                put_outcome(c, WEND_ABSENT); \
            put_outcome(c, *flag != 0); \
        } \
        call_end(c); \
        return rc; \
    }

EACH_OBJECT_WITH_ATTRIBUTES(DEFINE)

static void *wrapper_of_internal(const char *name)
{
#define ROW(OBJECT, CTYPE, KIND, FACTS) \
    {"MPII_" #OBJECT "_set_attr", (void *)set_##OBJECT}, {"MPII_" #OBJECT "_get_attr", (void *)get_##OBJECT},
    static const struct { const char *name; void *wrapper; } rows[] = {EACH_OBJECT_WITH_ATTRIBUTES(ROW)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].wrapper;
    return NULL;
}

/* -- a module's references -- */

/* The module that takes this from another is the Fortran layer (or a program that was linked with it statically). */
#define MARK "MPII_Grequest_set_lang_f77"

#if defined __x86_64__
enum { TYPE_SLOT = R_X86_64_JUMP_SLOT, TYPE_DATA = R_X86_64_GLOB_DAT };
#elif defined __aarch64__
enum { TYPE_SLOT = R_AARCH64_JUMP_SLOT, TYPE_DATA = R_AARCH64_GLOB_DAT };
#elif defined __riscv
enum { TYPE_SLOT = R_RISCV_JUMP_SLOT, TYPE_DATA = R_RISCV_64 };
#else
enum { TYPE_SLOT = -1, TYPE_DATA = -1 };
#endif

typedef struct {
    uintptr_t base;
    const ElfW(Sym) *symbols;
    const char *strings;
    const ElfW(Rela) *tables[2];
    size_t counts[2];
    uintptr_t relro, relro_end; /* what the dynamic linker has made read-only */
} Module;

static uintptr_t address_in(const Module *m, ElfW(Addr) value) /* some linkers leave offsets in the dynamic section */
{
    return value < m->base ? m->base + value : value;
}

static void read_module(const struct dl_phdr_info *info, Module *m)
{
    size_t sizes[2] = {0, 0};
    *m = (Module){.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_GNU_RELRO) {
            m->relro = m->base + h->p_vaddr;
            m->relro_end = m->relro + h->p_memsz;
        }
        if (h->p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *d = (const void *)(m->base + h->p_vaddr); d->d_tag != DT_NULL; d++) {
            switch (d->d_tag) {
            case DT_SYMTAB: m->symbols = (const void *)address_in(m, d->d_un.d_ptr); break;
            case DT_STRTAB: m->strings = (const void *)address_in(m, d->d_un.d_ptr); break;
            case DT_JMPREL: m->tables[0] = (const void *)address_in(m, d->d_un.d_ptr); break;
            case DT_PLTRELSZ: sizes[0] = d->d_un.d_val; break;
            case DT_RELA: m->tables[1] = (const void *)address_in(m, d->d_un.d_ptr); break;
            case DT_RELASZ: sizes[1] = d->d_un.d_val; break;
            }
        }
    }
    for (int t = 0; t < 2; t++)
        m->counts[t] = m->tables[t] && m->symbols && m->strings ? sizes[t] / sizeof(ElfW(Rela)) : 0;
}

/* The name that an entry refers to, NULL if it is no reference to another module's function. */
static const char *name_of(const Module *m, const ElfW(Rela) *r)
{
    int type = (int)ELF64_R_TYPE(r->r_info);
    const ElfW(Sym) *symbol = &m->symbols[ELF64_R_SYM(r->r_info)];
    if ((type != TYPE_SLOT && type != TYPE_DATA) || symbol->st_shndx != SHN_UNDEF)
        return NULL;
    return m->strings + symbol->st_name;
}

static void point_to(const Module *m, const ElfW(Rela) *r, void *wrapper)
{
    void **slot = (void **)(m->base + r->r_offset);
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)slot & ~(page_size - 1);
    bool read_only = page < m->relro_end && page + page_size > m->relro;
    if (read_only && mprotect((void *)page, page_size, PROT_READ | PROT_WRITE) != 0)
        return;
    *slot = wrapper;
    if (read_only && page + page_size <= m->relro_end)
        mprotect((void *)page, page_size, PROT_READ);
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *self)
{
    Module m;
    bool marked = false;
    (void)size;
    read_module(info, &m);
    for (int t = 0; t < 2 && !marked; t++)
        for (size_t i = 0; i < m.counts[t] && !marked; i++) {
            const char *name = name_of(&m, &m.tables[t][i]);
            marked = name && strcmp(name, MARK) == 0;
        }
    for (int t = 0; marked && t < 2; t++)
        for (size_t i = 0; i < m.counts[t]; i++) {
            const char *name = name_of(&m, &m.tables[t][i]);
            void *wrapper = NULL;
            if (name && strncmp(name, "PMPI", 4) == 0)
                wrapper = dlsym(self, name + 1);
            else if (name && strncmp(name, "MPII_", 5) == 0)
                wrapper = wrapper_of_internal(name);
            if (wrapper)
                point_to(&m, &m.tables[t][i], wrapper);
        }
    return 0;
}

__attribute__((constructor)) static void redirect_fortran(void)
{
    Dl_info own;
    if (!dlsym(RTLD_DEFAULT, MARK) || !dladdr((void *)set_Comm, &own))
        return;
    void *self = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!self)
        return;
    dl_iterate_phdr(visit_module, self);
    dlclose(self);
}
