/* SPDX-License-Identifier: BSD-3-Clause */
/* code-modules.h: the loaded module that an address of code is in. */
#ifndef WEND_CODE_MODULES_H
#define WEND_CODE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_MODULE_ID = 32, CODE_MODULE_FILE = 1024 };

typedef struct {
    char file[CODE_MODULE_FILE]; /* its path; "": the program */
    uint8_t id[CODE_MODULE_ID];  /* the linker's identifier of the file (build-id), N_ID bytes */
    size_t n_id;                 /* 0: it has none */
    uintptr_t base;              /* what addresses in the file are moved by */
    uintptr_t low;               /* where it begins in memory; there may be gaps in it */
    const uint8_t *frames;       /* its section .eh_frame_hdr, N_FRAMES bytes; NULL: none */
    size_t n_frames;
    uintptr_t frames_low, frames_high; /* the segment that has it and, by linkers, .eh_frame */
    /* It passes on calls of the application to MPI: a Fortran layer, MPI:: of C++, mpi4py, the MPI
     * library itself, another tool. The program's own file is none. */
    bool layer;
} CodeModule;

/* Sets *M to the module that ADDRESS is in. No lock is taken except the one that
 * dl_iterate_phdr(3) takes, and no memory. *UNLOADED becomes how many modules have been unloaded so
 * far. False: it is in none. */
bool code_module_of(uintptr_t address, CodeModule *m, unsigned long long *unloaded);
/* The same where no lock may be taken. Also false if this libc cannot tell (before glibc 2.35). */
bool code_module_now(uintptr_t address, CodeModule *m);

#endif
