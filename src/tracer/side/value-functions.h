/* SPDX-License-Identifier: BSD-3-Clause */
/* value-functions.h: the functions whose results are values (process-values.h). */
#ifndef WEND_VALUE_FUNCTIONS_H
#define WEND_VALUE_FUNCTIONS_H

/* What a reference to NAME in the module FILE leads to while values are recorded or replayed.
 * NULL: where it leads. */
void *value_function(const char *name, const char *file);

#endif
