/* SPDX-License-Identifier: BSD-3-Clause */
/* executable.c: finds a program, and decides by its ELF header whether a library can be preloaded
 * into it. */
#include "config.h"

#include "wend.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/base/file-write.h"
#include "lib/base/error.h"
#include "src/tracer/process/program-file.h"

static char *missing(Error **error, const char *name, int why)
{
    /* A folder counts as a program that cannot be run. */
    WendErrorCode code = why == EISDIR ? WEND_ERROR_SYSTEM : error_of_output(why);
    error_set(error, code, "%s: %s", name, g_strerror(why));
    return NULL;
}

static int why_not(const char *file)
{
    struct stat info;
    if (stat(file, &info) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return access(file, X_OK) == 0 ? 0 : errno;
}

char *executable_find(const char *name, Error **error)
{
    if (*name == '\0')
        return missing(error, "program", ENOENT);
    if (strchr(name, '/')) {
        int why = why_not(name);
        return why == 0 ? g_strdup(name) : missing(error, name, why);
    }
    const char *path = g_getenv("PATH");
    char **folders = g_strsplit(path ? path : "/bin:/usr/bin", ":", -1);
    char *found = NULL;
    int why = ENOENT;
    for (char **folder = folders; *folder && !found; folder++) {
        char *file = g_build_filename(**folder ? *folder : ".", name, NULL);
        int here = why_not(file);
        if (here == 0)
            found = g_steal_pointer(&file);
        else if (here == EACCES)
            why = here; /* exec searches on, and reports this if it finds no other */
        g_free(file);
    }
    g_strfreev(folders);
    return found ? found : missing(error, name, why);
}

/* Whether exec gives the program other privileges (setuid and the like). The loader then ignores
 * LD_PRELOAD. A file that gives what the process already has does not count. */
static gboolean gains_privileges(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return FALSE;
    if ((info.st_mode & S_ISUID) && info.st_uid != getuid())
        return TRUE;
    if ((info.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && info.st_gid != getgid())
        return TRUE;
    return getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static gboolean read_at(int fd, void *data, gsize n, guint64 offset)
{
    return pread(fd, data, n, (off_t)offset) == (gssize)n;
}

/* Returns FALSE for a script. */
static gboolean read_header(int fd, ElfW(Ehdr) * header)
{
    return read_at(fd, header, sizeof *header, 0) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/* Finds the segment that names the program's dynamic linker. */
typedef enum { THERE, MISSING, UNREADABLE } Presence;
static Presence find_interpreter(int fd, const ElfW(Ehdr) * header, ElfW(Phdr) * part)
{
    if (header->e_phentsize != sizeof *part)
        return UNREADABLE;
    for (gsize i = 0; i < header->e_phnum; i++) {
        if (!read_at(fd, part, sizeof *part, header->e_phoff + i * sizeof *part))
            return UNREADABLE;
        if (part->p_type == PT_INTERP)
            return THERE;
    }
    return MISSING;
}

static const char *elf_obstacle(int fd)
{
    ElfW(Ehdr) header, mine;
    ElfW(Phdr) part;
    if (!read_header(fd, &header))
        return NULL;
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (self >= 0) {
        gboolean same = !read_header(self, &mine)
                        || (header.e_ident[EI_CLASS] == mine.e_ident[EI_CLASS]
                            && header.e_ident[EI_DATA] == mine.e_ident[EI_DATA]
                            && header.e_machine == mine.e_machine);
        close(self);
        if (!same)
            return "is for another kind of processor than libwend.so";
    }
    switch (find_interpreter(fd, &header, &part)) {
    case THERE:
        return program_file_has_mpi(fd) ? "has the MPI library linked into it statically" : NULL;
    case MISSING:
        return "is statically linked";
    default:
        return NULL;
    }
}

const char *executable_obstacle(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL; /* the file may be executable without being readable */
    const char *obstacle =
        gains_privileges(fd)
            ? "runs with another user's or with added rights (setuid, setgid or capabilities)"
            : elf_obstacle(fd);
    close(fd);
    return obstacle;
}

char *executable_linker(const char *program)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) part;
    char path[PATH_MAX], *linker = NULL; /* the kernel accepts no longer path */
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (read_header(fd, &header) && find_interpreter(fd, &header, &part) == THERE
        && part.p_filesz > 1 && part.p_filesz <= sizeof path
        && read_at(fd, path, part.p_filesz, part.p_offset))
        linker = g_strndup(path, part.p_filesz - 1);
    close(fd);
    return linker;
}
