/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h: what the tracer knows of its process, and what all of its files may use: the state,
 * the failure path, the clock, and system calls that do the application no harm. */
#ifndef WEND_PROCESS_H
#define WEND_PROCESS_H

#include "cgroup.h"  /* memory that the control group leaves */
#include "clock.h"   /* ticks of calls */
#include "failure.h" /* state_break, state_say; for files that know nothing of MPI */
#include "futex.h"   /* waiting in handlers of signals */
#include "kernel.h"  /* numbers in files of the kernel's */
#include "kept.h"    /* files that stay open while the application runs */
#include "node.h"    /* the ranks of this node, by /proc */
#include "scratch.h" /* memory of the watcher's, past malloc */
#include "shield.h"  /* signals that Wend's own writes cause */
#include "state.h"   /* the one state */

#endif
