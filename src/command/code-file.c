/* SPDX-License-Identifier: BSD-3-Clause */
/* code-file.c: see code-file.h. */
#include "config.h"

#include "code-file.h"

#ifdef HAVE_LIBDW

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/* The bytes of a section in memory, if that is more than in the file. */
static guint64 grown_size(Elf *elf, Elf_Scn *section)
{
    /* the form before ELF had one: "ZLIB", and the size in eight bytes, the highest first */
    enum { OLD_HEADER = 12 };
    GElf_Shdr header;
    GElf_Chdr compressed;
    size_t names;
    if (gelf_getshdr(section, &header) == NULL)
        return 0;
    if (header.sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(section, &compressed) != NULL ? compressed.ch_size : G_MAXUINT64;
    const char *name =
        elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (name == NULL || !g_str_has_prefix(name, ".zdebug"))
        return 0;
    Elf_Data *data = elf_rawdata(section, NULL);
    guint64 size = 0;
    for (guint i = 4; data != NULL && data->d_size >= OLD_HEADER && i < OLD_HEADER; i++)
        size = size << 8 | ((const guint8 *)data->d_buf)[i];
    return size;
}

/* Whether the compressed sections of a file of BYTES are of a credible size. */
static gboolean is_bounded(Elf *elf, guint64 bytes)
{
    enum { FACTOR = 64, SMALL = 64 << 20 };
    guint64 left = bytes < G_MAXUINT64 / FACTOR - SMALL ? bytes * FACTOR + SMALL : G_MAXUINT64;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s)) != NULL;) {
        guint64 size = grown_size(elf, s);
        if (size > left)
            return FALSE;
        left -= size;
    }
    return TRUE;
}

static gboolean has_id(Elf *elf, const guint8 *id, gsize n)
{
    const void *own;
    ssize_t bytes = dwelf_elf_gnu_build_id(elf, &own);
    return bytes > 0 && (gsize)bytes == n && memcmp(own, id, n) == 0;
}

/* ID NULL: any. */
static int open_with_id(const char *path, const guint8 *id, gsize n)
{
    guint64 bytes;
    char magic[SELFMAG];
    int fd = wend_regular_open(path, &bytes, NULL, NULL);
    if (fd < 0)
        return -1;
    elf_version(EV_CURRENT);
    Elf *elf = wend_regular_read(fd, 0, magic, sizeof magic) && memcmp(magic, ELFMAG, SELFMAG) == 0
                   ? elf_begin(fd, ELF_C_READ_MMAP, NULL)
                   : NULL;
    gboolean good = elf != NULL && is_bounded(elf, bytes) && (id == NULL || has_id(elf, id, n));
    elf_end(elf);
    if (good)
        return fd;
    close(fd);
    return -1;
}

int code_file_open(const char *path)
{
    return open_with_id(path, NULL, 0);
}

/* Opens it, in the folder of debug information alone. */
static int open_shared(const char *folder, const char *name, char **found)
{
    g_autofree char *path = g_canonicalize_filename(name, folder);
    int fd = g_str_has_prefix(path, DEBUG_FOLDER "/") ? code_file_open(path) : -1;
    if (fd >= 0)
        *found = strdup(path);
    return fd;
}

int code_file_open_debug(const char *path, const char *name, const guint8 *id, gsize n,
                         char **found)
{
    g_autofree char *folder = g_path_get_dirname(path);
    if (strchr(name, '/') != NULL)
        return open_shared(folder, name, found);
    g_autofree char *beside = g_build_filename(folder, name, NULL);
    g_autofree char *below = g_build_filename(folder, ".debug", name, NULL);
    g_autofree char *apart = g_build_filename(DEBUG_FOLDER, folder, name, NULL);
    const char *const paths[] = {beside, below, apart};
    int fd = -1;
    for (guint i = 0; fd < 0 && i < G_N_ELEMENTS(paths); i++)
        if ((fd = open_with_id(paths[i], id, n)) >= 0)
            *found = strdup(paths[i]);
    return fd;
}

#endif
