/* SPDX-License-Identifier: BSD-3-Clause */
/* output-check.h: whether a recording can be written, before the program runs. */
#ifndef WEND_OUTPUT_CHECK_H
#define WEND_OUTPUT_CHECK_H

#include <glib.h>

/* Checks the directory of the setting output, or without one the current folder, in which the
 * recorder makes a new name. Returns FALSE with an error if it cannot be used. */
gboolean output_check(GError **error);

#endif
