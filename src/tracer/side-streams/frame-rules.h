/* SPDX-License-Identifier: BSD-3-Clause */
/* frame-rules.h: how to get from a frame of the stack to that of its caller: the part of DWARF's
 * call frame information that this needs. It is read from memory, where the module is loaded; no
 * memory is taken and no lock. Only for x86-64; elsewhere there are no rules. */
#ifndef WEND_FRAME_RULES_H
#define WEND_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The canonical frame address (CFA) is BASE and OFFSET bytes. The return address is just below it.
 * SAVED: the caller's frame pointer is at the CFA and so many bytes, below 0; 0: it is unchanged.
 * Of a frame that the function has aligned, the CFA is stored at the frame pointer and OFFSET
 * bytes, and the caller's frame pointer at the frame pointer and SAVED bytes. An outermost frame
 * has no caller. */
typedef struct {
    enum {
        FRAME_UNKNOWN,
        FRAME_OF_STACK_POINTER,
        FRAME_OF_FRAME_POINTER,
        FRAME_ALIGNED,
        FRAME_OUTERMOST
    } base;
    int32_t offset, saved;
} FrameRule;

/* The registers in the frame of a function that has called another one, after it has returned. */
typedef struct {
    uintptr_t stack_pointer, frame_pointer;
} Frame;

/* The rule at PC, an address of a module. Its section .eh_frame_hdr is at HEADER, N bytes. Nothing
 * else is read but the memory from LOW to HIGH, which has the section .eh_frame. Whatever is there,
 * the time is at most in proportion to it. The base is FRAME_UNKNOWN if there is no rule, or none
 * that fits a FrameRule. */
FrameRule frame_rule(const uint8_t *header, size_t n, uintptr_t low, uintptr_t high, uintptr_t pc);

/* Makes *F the frame of the caller, and *ADDRESS the address there to which the function returns.
 * The stack is there from the stack pointer up to HIGH, and nothing else is read. False: the rule
 * is unknown or of an aligned frame, or it leads to where no frame can be. */
bool frame_up(const FrameRule *rule, uintptr_t high, Frame *f, uintptr_t *address);
/* The same for a stack of which nothing is known: memory that is not there is no frame. */
bool frame_up_of_other(const FrameRule *rule, Frame *f, uintptr_t *address);
bool frame_read(uintptr_t from, uintptr_t *word); /* a word of such a stack; false: not there */

/* -- code-modules.c: the loaded module that an address of code is in -- */

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
