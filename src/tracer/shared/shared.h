/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.h: code and data that the tracer shares with "wend trace". Both compile it. C11 and POSIX,
 * without MPI. */
#ifndef WEND_SHARED_H
#define WEND_SHARED_H

#include "family.h"       /* families of MPI libraries, with one libwend.so for each */
#include "launcher.h"     /* the environment that launchers give to processes */
#include "marker.h"       /* Wend's files in a recording's directory */
#include "program-file.h" /* finds the file of a program by its name */
#include "settings.h"     /* options and environment variables, in one table */
#include "symbols.h"      /* symbols that a file on disk defines */

#endif
