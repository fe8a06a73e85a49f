/* SPDX-License-Identifier: BSD-3-Clause */
/* functions.c: see functions.h. */
#include "functions.h"

#include <string.h>

/* A linear search through 700 names: it happens a few hundred times, when an archive is opened. */
const WendFunction *function_by_name(const char *name)
{
    for (size_t i = 0; i < mpi_n_functions; i++)
        if (strcmp(mpi_functions[i].name, name) == 0)
            return &mpi_functions[i];
    return NULL;
}

uint32_t function_digest_add(uint32_t digest, const WendFunction *f)
{
    return (digest ^ f->digest) * UINT32_C(16777619); /* as FNV-1a does with bytes */
}

const WendConstantGroup *constant_group_by_name(const char *name)
{
    for (size_t i = 0; i < mpi_n_groups; i++)
        if (strcmp(mpi_groups[i].name, name) == 0)
            return &mpi_groups[i];
    return NULL;
}

int functions_constant_by_name(const char *name)
{
    for (size_t i = 0; i < mpi_n_constants; i++)
        if (strcmp(mpi_constants[i], name) == 0)
            return (int)i;
    return -1;
}
