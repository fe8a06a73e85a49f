/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h: what launchers tell the processes that they start. C11 and nothing else. */
#ifndef WEND_LAUNCHER_H
#define WEND_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Environment variables that hold a process's rank, the most specific first: an mpirun within a
 * batch step hands on the step's too. In order: MPICH's Hydra and all that speak PMI, PRRTE and
 * Slurm's PMIx, Open MPI, MVAPICH, HPE's PALS, Cray's ALPS, IBM's jsrun, Flux, Slurm. */
static inline const char *launcher_rank_variable(void) /* NULL: no launcher that is known */
{
    static const char *const variables[] = {
        "PMI_RANK",    "PMIX_RANK",   "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK",
        "PALS_RANKID", "ALPS_APP_PE", "JSM_NAMESPACE_RANK",   "FLUX_TASK_RANK",
        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return variables[i];
    return NULL;
}

/* Name (family.h) of the family of MPI libraries that the launcher comes with; NULL: that is not
 * known. */
static inline const char *launcher_family(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return "openmpi";
    /* Hydra's; where Slurm or PALS speak PMI it is MPICH's relatives that listen */
    return getenv("PMI_RANK") ? "mpich" : NULL;
}

/* The first of the variables' values that is positive, else 0. */
static inline long launcher_number(const char *const *variables, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = getenv(variables[i]);
        if (value && atol(value) > 0)
            return atol(value);
    }
    return 0;
}

/* How many processes the launcher started on this machine; 0: it does not say. */
static inline long launcher_local_size(void)
{
    static const char *const variables[] = {
        "MPI_LOCALNRANKS",           "OMPI_COMM_WORLD_LOCAL_SIZE",
        "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
        "JSM_NAMESPACE_LOCAL_SIZE",  "SLURM_STEP_TASKS_PER_NODE" /* "16(x3),8" */};
    return launcher_number(variables, sizeof variables / sizeof *variables);
}

/* How many in all; 0: it does not say. */
static inline long launcher_size(void)
{
    static const char *const variables[] = {
        "PMI_SIZE",           "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PALS_SIZE",
        "JSM_NAMESPACE_SIZE", "FLUX_JOB_SIZE",        "SLURM_STEP_NUM_TASKS"};
    return launcher_number(variables, sizeof variables / sizeof *variables);
}

/* What is to be said once is said by the first of the processes that a launcher started. */
static inline bool launcher_speaks(void)
{
    const char *variable = launcher_rank_variable();
    return !variable || atol(getenv(variable)) == 0;
}

/* Wend's own: the name by which this world was started, if there is one that can be a file's. "0.2"
 * is the second world that rank 0 of the first one started, "0.2-1.1" the first that rank 1 of that
 * one started; "0t3.1" is thread 3's. NULL: none. */
#define LAUNCHER_WORLD "WEND_WORLD"
static inline const char *launcher_world(void)
{
    const char *name = getenv(LAUNCHER_WORLD);
    bool good =
        name && *name && strspn(name, "0123456789.-t") == strlen(name) && strlen(name) < 200;
    return good ? name : NULL;
}

#endif
