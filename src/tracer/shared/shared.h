/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.h: what the tracer and "wend trace" agree on, and both compile. C11 and POSIX, nothing of
 * MPI. */
#ifndef WEND_SHARED_H
#define WEND_SHARED_H

#include "family.h"       /* families of MPI libraries: one libwend.so for each */
#include "launcher.h"     /* what launchers tell the processes that they start */
#include "marker.h"       /* what is Wend's in a recording's directory */
#include "program-file.h" /* which file the name of a program leads to */
#include "settings.h"     /* options and environment variables, in one table */
#include "symbols.h"      /* what a file on disk defines */

#endif
