/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c: see interpose.h. */
#include "interpose.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __x86_64__
enum { TYPE_SLOT = R_X86_64_JUMP_SLOT, TYPE_DATA = R_X86_64_GLOB_DAT, TYPE_ADDRESS = R_X86_64_64 };
#elif defined __aarch64__
enum {
    TYPE_SLOT = R_AARCH64_JUMP_SLOT,
    TYPE_DATA = R_AARCH64_GLOB_DAT,
    TYPE_ADDRESS = R_AARCH64_ABS64
};
#elif defined __riscv
enum { TYPE_SLOT = R_RISCV_JUMP_SLOT, TYPE_DATA = R_RISCV_64, TYPE_ADDRESS = R_RISCV_64 };
#else
enum { TYPE_SLOT = -1, TYPE_DATA = -1, TYPE_ADDRESS = -1 };
#endif

/* Some linkers leave offsets in the dynamic section. */
static uintptr_t address_in(const Module *m, ElfW(Addr) value)
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
        m->dynamic = (const void *)(m->base + h->p_vaddr);
        for (const ElfW(Dyn) *d = (const void *)(m->base + h->p_vaddr); d->d_tag != DT_NULL; d++) {
            switch (d->d_tag) {
            case DT_SYMTAB:
                m->symbols = (const void *)address_in(m, d->d_un.d_ptr);
                break;
            case DT_STRTAB:
                m->strings = (const void *)address_in(m, d->d_un.d_ptr);
                break;
            case DT_JMPREL:
                m->tables[0] = (const void *)address_in(m, d->d_un.d_ptr);
                break;
            case DT_PLTRELSZ:
                sizes[0] = d->d_un.d_val;
                break;
            case DT_RELA:
                m->tables[1] = (const void *)address_in(m, d->d_un.d_ptr);
                break;
            case DT_RELASZ:
                sizes[1] = d->d_un.d_val;
                break;
            }
        }
    }
    for (int t = 0; t < 2; t++)
        m->counts[t] = m->tables[t] && m->symbols && m->strings ? sizes[t] / sizeof(ElfW(Rela)) : 0;
}

/* The name that an entry refers to. NULL if it is no reference to a function or object of another
 * module. */
static const char *name_of(const Module *m, const ElfW(Rela) * r)
{
    int type = (int)ELF64_R_TYPE(r->r_info);
    const ElfW(Sym) *symbol = &m->symbols[ELF64_R_SYM(r->r_info)];
    if ((type != TYPE_SLOT && type != TYPE_DATA && type != TYPE_ADDRESS)
        || symbol->st_shndx != SHN_UNDEF)
        return NULL;
    return m->strings + symbol->st_name;
}

static void point_to(const Module *m, const ElfW(Rela) * r, void *wrapper)
{
    void **slot = (void **)(m->base + r->r_offset);
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE),
              page = (uintptr_t)slot & ~(page_size - 1);
    bool read_only = page < m->relro_end && page + page_size > m->relro;
    if (read_only && mprotect((void *)page, page_size, PROT_READ | PROT_WRITE) != 0)
        return;
    *slot = (char *)wrapper + r->r_addend;
    if (read_only && page + page_size <= m->relro_end)
        mprotect((void *)page, page_size, PROT_READ);
}

typedef struct {
    Module *at;
    size_t n;
} Modules;

static int note_module(struct dl_phdr_info *info, size_t size, void *user)
{
    Modules *all = user;
    (void)size;
    char *name = info->dlpi_name ? strdup(info->dlpi_name) : NULL;
    Module *grown = name ? realloc(all->at, (all->n + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(name);
        return 1;
    }
    all->at = grown;
    read_module(info, &grown[all->n]);
    grown[all->n++].name = name;
    return 0;
}

void modules_each(void (*visit)(const Module *m, void *user), void *user)
{
    Modules all = {0};
    dl_iterate_phdr(note_module, &all);
    for (size_t i = 0; i < all.n; i++) {
        char *name = (char *)all.at[i].name;
        /* the program itself has no name */
        void *held = *name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (held || !*name)
            visit(&all.at[i], user);
        if (held)
            dlclose(held);
        free(name);
    }
    free(all.at);
}

const char *module_needed(const Module *m, size_t i)
{
    for (const ElfW(Dyn) *d = m->dynamic; d && m->strings && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && i-- == 0)
            return m->strings + d->d_un.d_val;
    return NULL;
}

bool module_refers(const Module *m, const char *name)
{
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < m->counts[t]; i++) {
            const char *here = name_of(m, &m->tables[t][i]);
            if (here && strcmp(here, name) == 0)
                return true;
        }
    return false;
}

bool module_contains(const Module *m, const void *address)
{
    Dl_info info;
    struct link_map *map;
    return address && dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP)
           && map->l_addr == m->base;
}

void module_redirect_from(const Module *m,
                          void *(*wrapper_of)(const char *name, void *now, void *user), void *user)
{
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < m->counts[t]; i++) {
            const ElfW(Rela) *r = &m->tables[t][i];
            const char *name = name_of(m, r);
            char *now = name ? *(char **)(m->base + r->r_offset) : NULL;
            void *wrapper = name ? wrapper_of(name, now ? now - r->r_addend : NULL, user) : NULL;
            if (wrapper)
                point_to(m, r, wrapper);
        }
}

typedef struct {
    void *(*wrapper_of)(const char *name, void *user);
    void *user;
} ByName;

static void *wrapper_by_name(const char *name, void *now, void *user)
{
    const ByName *by = user;
    (void)now;
    return by->wrapper_of(name, by->user);
}

void module_redirect(const Module *m, void *(*wrapper_of)(const char *name, void *user), void *user)
{
    module_redirect_from(m, wrapper_by_name, &(ByName){wrapper_of, user});
}

void *module_self(void)
{
    Dl_info own;
    return dladdr((const void *)module_self, &own) ? dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                                                   : NULL;
}

const char *module_own_file(void)
{
    static char file[PATH_MAX];
    Dl_info own;
    if (!*file && (!dladdr(&file, &own) || !own.dli_fname || !realpath(own.dli_fname, file)))
        *file = '\0';
    return *file ? file : NULL;
}
