/* launcher.h: what launchers tell the processes that they start. C11 and nothing else. */
#ifndef WEND_LAUNCHER_H
#define WEND_LAUNCHER_H

/* Environment variables that hold a process's rank, the most specific first: an mpirun within a batch step hands on the step's too. */
#define WEND_LAUNCHER_RANKS \
    {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_PROCID"}

#endif
