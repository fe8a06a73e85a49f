/* SPDX-License-Identifier: BSD-3-Clause */
/* program-file.c: see program-file.h. A file may be hostile: each offset and size is checked. */
#include "program-file.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool program_file_is(const char *file)
{
    struct stat info;
    return access(file, X_OK) == 0 && stat(file, &info) == 0 && S_ISREG(info.st_mode);
}

bool program_file_find(const char *folders, const char *name, char file[PATH_MAX])
{
    if (!folders)
        folders = "/bin:/usr/bin"; /* the default of execvp */
    for (size_t n, m = strlen(name);; folders += n + 1) {
        n = strcspn(folders, ":");
        if (n + m + sizeof "./" <= PATH_MAX) {
            /* an empty name is the current folder */
            char *end = n ? mempcpy(file, folders, n) : mempcpy(file, ".", 1);
            *end = '/';
            memcpy(end + 1, name, m + 1);
            if (program_file_is(file))
                return true;
        }
        if (!folders[n])
            return false;
    }
}

/* -- the symbols that it defines -- */

typedef struct {
    const char *data;
    size_t size;
} ElfFile;

/* The N entries of SIZE bytes at OFFSET. NULL if the file is too short, or they are not aligned. */
static const void *part_of(const ElfFile *f, uint64_t offset, uint64_t n, size_t size)
{
    if (offset > f->size || n > (f->size - offset) / size || offset % _Alignof(ElfW(Sym)) != 0)
        return NULL;
    return f->data + offset;
}

static bool table_defines(const ElfFile *f, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                          const char *name)
{
    size_t n = table->sh_size / sizeof(ElfW(Sym)), len = strlen(name) + 1;
    const ElfW(Sym) *symbols = part_of(f, table->sh_offset, n, sizeof *symbols);
    if (!symbols || names->sh_offset > f->size || names->sh_size > f->size - names->sh_offset)
        return false;
    const char *strings = f->data + names->sh_offset;
    for (size_t i = 0; i < n; i++) {
        const ElfW(Sym) *s = &symbols[i];
        if (s->st_shndx != SHN_UNDEF && s->st_name < names->sh_size
            && names->sh_size - s->st_name >= len && memcmp(strings + s->st_name, name, len) == 0)
            return true;
    }
    return false;
}

static bool file_defines(const ElfFile *f, const char *name)
{
    const ElfW(Ehdr) *header = part_of(f, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0
        || header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
        || header->e_shentsize != sizeof(ElfW(Shdr)))
        return false;
    size_t n = header->e_shnum;
    const ElfW(Shdr) *sections = part_of(f, header->e_shoff, n, sizeof *sections);
    for (size_t i = 0; sections && i < n; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM)
            && sections[i].sh_link < n
            && table_defines(f, &sections[i], &sections[sections[i].sh_link], name))
            return true;
    return false;
}

bool program_file_defines(int fd, const char *name)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0)
        return false;
    ElfFile f = {.size = (size_t)info.st_size};
    void *mapped = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED)
        return false;
    f.data = mapped;
    bool found = file_defines(&f, name);
    munmap(mapped, f.size);
    return found;
}
