/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h: the environment that launchers give to the processes that they start. C11 and nothing
 * else. */
#ifndef WEND_LAUNCHER_H
#define WEND_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The environment variable that has this process's rank. NULL: no known launcher has started it.
 * The most specific variables come first, because an mpirun within a batch step also hands on those
 * of the step. In order: MPICH's Hydra and all that speak PMI, PRRTE and Slurm's PMIx, Open MPI,
 * MVAPICH, HPE's PALS, Cray's ALPS, IBM's jsrun, Flux, Slurm. */
static inline const char *launcher_rank_variable(void)
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

/* The name (program-file.h) of the family of MPI libraries that the launcher belongs to. NULL if
 * unknown. */
static inline const char *launcher_family(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return "openmpi";
    /* Hydra's variable; if Slurm or PALS speak PMI, the program uses a relative of MPICH */
    return getenv("PMI_RANK") ? "mpich" : NULL;
}

/* The first positive value of the variables, else 0. */
static inline long launcher_number(const char *const *variables, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = getenv(variables[i]);
        if (value && atol(value) > 0)
            return atol(value);
    }
    return 0;
}

/* The number of processes that the launcher started on this machine; 0 if unknown. */
static inline long launcher_local_size(void)
{
    static const char *const variables[] = {
        "MPI_LOCALNRANKS",           "OMPI_COMM_WORLD_LOCAL_SIZE",
        "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
        "JSM_NAMESPACE_LOCAL_SIZE",  "SLURM_STEP_TASKS_PER_NODE" /* "16(x3),8" */};
    return launcher_number(variables, sizeof variables / sizeof *variables);
}

/* The number of processes of the job; 0 if unknown. */
static inline long launcher_size(void)
{
    static const char *const variables[] = {
        "PMI_SIZE",           "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PALS_SIZE",
        "JSM_NAMESPACE_SIZE", "FLUX_JOB_SIZE",        "SLURM_STEP_NUM_TASKS"};
    return launcher_number(variables, sizeof variables / sizeof *variables);
}

/* Whether this process prints messages that concern the job: the first process of a launcher, or
 * one without a launcher. */
static inline bool launcher_is_first(void)
{
    const char *variable = launcher_rank_variable();
    return !variable || atol(getenv(variable)) == 0;
}

/* A variable of Wend: the name with which this world was started, if it is valid in a file name.
 * "0.2" is the second world that rank 0 of the first world started, "0.2-1.1" the first that rank 1
 * of that one started. "0t3.1" was started by thread 3. NULL if there is none. */
#define LAUNCHER_WORLD "WEND_WORLD"
static inline const char *launcher_world(void)
{
    const char *name = getenv(LAUNCHER_WORLD);
    bool good =
        name && *name && strspn(name, "0123456789.-t") == strlen(name) && strlen(name) < 200;
    return good ? name : NULL;
}

/* A variable of Wend: the number of the process of wend trace that stays as the parent of the
 * program (src/tracer/lifecycle/watcher.c). */
#define LAUNCHER_ATTENDANT "WEND_ATTENDANT"

#endif
