/* SPDX-License-Identifier: BSD-3-Clause */
/* stat.h: the table of wend diff --stat, which compares two recordings function by function. */
#ifndef WEND_DIFF_STAT_H
#define WEND_DIFF_STAT_H

#include <glib.h>

#include "lib/read/program.h"

/* Appends a table of MPI calls, bytes and times of all functions that either recording has, then
 * unsuccessful polls and frees. PATHS are the names of the recordings. */
void stat_print(GString *out, const WendProgram *const programs[2], const char *const paths[2]);

#endif
