/* SPDX-License-Identifier: BSD-3-Clause */
/* program-file.h: the file of a program: where it is, what it defines, and of which family its MPI
 * library is. wend trace uses it, too, before it runs a program. C11 and POSIX. */
#ifndef WEND_PROGRAM_FILE_H
#define WEND_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether FILE is a program that can be executed. */
bool program_file_is(const char *file);
/* Finds program NAME in FOLDERS ("/a:/b", as in PATH; NULL: PATH is not set), and writes its path,
 * with a slash in it, to FILE. Returns false if there is none. It allocates
 * nothing, because a child calls it between vfork and exec. */
bool program_file_find(const char *folders, const char *name, char file[PATH_MAX]);

/* Whether the ELF file in FD defines NAME. False if it is no ELF file, or if its symbol tables have
 * been stripped. */
bool program_file_defines(int fd, const char *name);

/* Whether the MPI library is linked into it statically. Its calls then do not reach a preloaded
 * library. */
static inline bool program_file_has_mpi(int fd)
{
    return program_file_defines(fd, "PMPI_Init");
}

/* A family of MPI libraries, whose handles, constants and statuses have the same representation in
 * memory. One libwend-FAMILY.so records programs of all libraries of a family. */
typedef struct {
    const char *name;  /* in the name of libwend-NAME.so */
    const char *title; /* for people */
    /* a symbol that all libraries of the family define, because mpi.h refers to it, and no other
     * library does */
    const char *mark;
    const char *launchers[2]; /* file names of launchers, with links resolved */
} Family;

static const Family families[] = {
    {"mpich", "MPICH or a relative of it", "MPIR_Dup_fn", {"mpiexec.hydra", "mpiexec.mpich"}},
    {"openmpi", "Open MPI", "ompi_mpi_comm_world", {"orterun", "prterun"}},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

#endif
