/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h: the process, for all files of the tracer: the state, the failure path, the clock, and
 * system calls that do not harm the application. */
#ifndef WEND_PROCESS_H
#define WEND_PROCESS_H

#include "cgroup.h"       /* memory that the control group allows */
#include "clock.h"        /* ticks of calls */
#include "failure.h"      /* state_break and state_say, also for files that do not depend on MPI */
#include "futex.h"        /* waiting in signal handlers */
#include "kernel.h"       /* numbers in files of the kernel */
#include "kept.h"         /* files that stay open while the application runs */
#include "mappings.h"     /* what the kernel shows of the memory */
#include "memory-files.h" /* files in memory of other processes */
#include "node.h"         /* the ranks of this node, by /proc */
#include "scratch.h"      /* memory of the watcher, without malloc */
#include "shield.h"       /* signals that Wend's own writes cause */
#include "state.h"        /* the state of the tracer */
#include "thread-stack.h" /* where the thread's stack is */

#endif
