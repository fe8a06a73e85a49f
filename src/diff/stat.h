/* SPDX-License-Identifier: BSD-3-Clause */
/* stat.h: two recordings side by side, function by function: wend diff --stat. */
#ifndef WEND_DIFF_STAT_H
#define WEND_DIFF_STAT_H

#include <glib.h>

#include "lib/read/program.h"

/* PATHS: what the recordings are called. Adds a table of MPI calls, bytes and times by function, of
 * those that either recording has, then unsuccessful polls and frees. */
void stat_print(GString *out, const WendProgram *const programs[2], const char *const paths[2]);

#endif
