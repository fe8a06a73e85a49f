/* SPDX-License-Identifier: BSD-3-Clause */
/* code-modules.c: see frame-rules.h. What a module defines is looked up in its own tables: dlsym
 * would wait for a thread that is loading a module, which may wait for the caller. */
#include "frame-rules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

/* -- the linker's identifier -- */

static void read_notes(const uint8_t *p, size_t n, size_t align, CodeModule *m)
{
    ElfW(Nhdr) h;
    align = align == 8 ? 8 : 4;
    while (n >= sizeof h) {
        memcpy(&h, p, sizeof h);
        size_t name = (h.n_namesz + align - 1) & ~(align - 1);
        size_t content = (h.n_descsz + align - 1) & ~(align - 1);
        if (name > n - sizeof h || content > n - sizeof h - name)
            return;
        if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == sizeof "GNU"
            && memcmp(p + sizeof h, "GNU", sizeof "GNU") == 0 && h.n_descsz <= CODE_MODULE_ID) {
            m->n_id = h.n_descsz;
            memcpy(m->id, p + sizeof h + name, m->n_id);
            return;
        }
        p += sizeof h + name + content;
        n -= sizeof h + name + content;
    }
}

/* -- layers -- */

typedef struct {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu;   /* DT_GNU_HASH */
    const uint32_t *plain; /* DT_HASH */
} SymbolTables;

static void *address_in(const CodeModule *m, uintptr_t value)
{
    return (void *)(value < m->low ? m->base + value : value);
}

static SymbolTables symbol_tables(const CodeModule *m, const ElfW(Dyn) * d)
{
    SymbolTables t = {NULL, NULL, NULL, NULL};
    for (; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            t.symbols = address_in(m, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            t.strings = address_in(m, d->d_un.d_ptr);
        else if (d->d_tag == DT_GNU_HASH)
            t.gnu = address_in(m, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            t.plain = address_in(m, d->d_un.d_ptr);
    }
    return t;
}

static bool is_definition(const SymbolTables *t, uint32_t i, const char *name)
{
    const ElfW(Sym) *s = &t->symbols[i];
    return s->st_shndx != SHN_UNDEF && strcmp(t->strings + s->st_name, name) == 0;
}

static bool defines_by_gnu(const SymbolTables *t, const char *name)
{
    uint32_t hash = 5381, n_buckets = t->gnu[0], first = t->gnu[1], bloom = t->gnu[2];
    for (const char *p = name; *p; p++)
        hash = hash * 33 + (uint8_t)*p;
    const uint32_t *buckets = t->gnu + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + n_buckets;
    uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0;
    if (i < first)
        return false;
    for (;; i++) {
        uint32_t of = chains[i - first];
        if ((of | 1) == (hash | 1) && is_definition(t, i, name))
            return true;
        if (of & 1)
            return false;
    }
}

static bool defines_by_hash(const SymbolTables *t, const char *name)
{
    uint32_t hash = 0, n_buckets = t->plain[0], n_chains = t->plain[1];
    for (const char *p = name; *p; p++) {
        hash = (hash << 4) + (uint8_t)*p;
        uint32_t high = hash & 0xf0000000;
        hash = (hash ^ high >> 24) & ~high;
    }
    if (n_buckets == 0)
        return false;
    uint32_t i = t->plain[2 + hash % n_buckets];
    for (; i != 0 && i < n_chains; i = t->plain[2 + n_buckets + i])
        if (is_definition(t, i, name))
            return true;
    return false;
}

static bool is_layer(const CodeModule *m, const ElfW(Dyn) * dynamic)
{
    /* Functions in C and Fortran, an object of MPI::, and mpi4py's module. */
    static const char *const names[] = {"MPI_Init",
                                        "PMPI_Init",
                                        "MPI_Send",
                                        "mpi_init_",
                                        "mpi_init__",
                                        "MPI_INIT",
                                        "mpi_init",
                                        "mpi_init_f08_",
                                        "mpi_send_f08_",
                                        "mpi_send_f08ts_",
                                        "_ZN3MPI10COMM_WORLDE",
                                        "PyInit_MPI"};
    SymbolTables t = symbol_tables(m, dynamic);
    if (!t.symbols || !t.strings || (!t.gnu && !t.plain))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (t.gnu ? defines_by_gnu(&t, names[i]) : defines_by_hash(&t, names[i]))
            return true;
    return false;
}

/* -- modules -- */

typedef struct {
    uintptr_t address;
    CodeModule *m;
    unsigned long long unloaded;
    bool found;
} Query;

static bool has_address(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && address - info->dlpi_addr - h->p_vaddr < h->p_memsz)
            return true;
    }
    return false;
}

/* Its call frame information, which HEADER has. A segment is all there is: what comes between two
 * need not be in memory. */
static void find_frames(const struct dl_phdr_info *info, const ElfW(Phdr) * header, CodeModule *m)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        size_t from = header->p_vaddr - h->p_vaddr;
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_R) || from >= h->p_memsz)
            continue;
        m->frames_low = info->dlpi_addr + h->p_vaddr;
        m->frames_high = m->frames_low + h->p_memsz;
        m->frames = (const uint8_t *)m->frames_low + from;
        m->n_frames = h->p_memsz - from;
        if (m->n_frames > header->p_memsz)
            m->n_frames = header->p_memsz;
    }
}

static void read_module(const struct dl_phdr_info *info, CodeModule *m)
{
    const ElfW(Dyn) *dynamic = NULL;
    *m = (CodeModule){.base = info->dlpi_addr, .low = UINTPTR_MAX};
    strncpy(m->file, info->dlpi_name ? info->dlpi_name : "", sizeof m->file - 1);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD) {
            m->low = at < m->low ? at : m->low;
        } else if (h->p_type == PT_NOTE && m->n_id == 0) {
            read_notes((const uint8_t *)at, h->p_memsz, h->p_align, m);
        } else if (h->p_type == PT_GNU_EH_FRAME) {
            find_frames(info, h, m);
        } else if (h->p_type == PT_DYNAMIC) {
            dynamic = (const void *)at;
        }
    }
    m->layer = *m->file && is_layer(m, dynamic);
}

static int look(struct dl_phdr_info *info, size_t size, void *user)
{
    Query *l = user;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        l->unloaded = info->dlpi_subs;
    if (!has_address(info, l->address))
        return 0;
    read_module(info, l->m);
    l->found = true;
    return 1;
}

bool code_module_of(uintptr_t address, CodeModule *m, unsigned long long *unloaded)
{
    Query l = {.address = address, .m = m};
    dl_iterate_phdr(look, &l);
    *unloaded = l.unloaded;
    return l.found;
}

#ifdef DLFO_EH_SEGMENT_TYPE

bool code_module_now(uintptr_t address, CodeModule *m)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0)
        return false;
    /* Its first page is that of the file. Headers further on may be elsewhere in memory. */
    enum { PAGE = 4096 };
    const ElfW(Ehdr) *head = found.dlfo_map_start;
    uintptr_t size = (uintptr_t)found.dlfo_map_end - (uintptr_t)found.dlfo_map_start;
    size = size < PAGE ? size : PAGE;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phoff > size
        || head->e_phnum > (size - head->e_phoff) / sizeof(ElfW(Phdr)))
        return false;
    struct dl_phdr_info info = {.dlpi_addr = found.dlfo_link_map->l_addr,
                                .dlpi_name = found.dlfo_link_map->l_name,
                                .dlpi_phdr = (const void *)((uintptr_t)head + head->e_phoff),
                                .dlpi_phnum = head->e_phnum};
    read_module(&info, m);
    return true;
}

#else

bool code_module_now(uintptr_t address, CodeModule *m)
{
    (void)address, (void)m;
    return false;
}

#endif
