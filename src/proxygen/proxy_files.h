/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy_files.h: the files of the generated program. */
#ifndef PROXYGEN_PROXY_FILES_H
#define PROXYGEN_PROXY_FILES_H

#include "src/proxygen/model/model.h"

/* Writes the program. The identifiers of its text that begin with MPI go to NAMES. */
gboolean plan_emit(Plan *plan, GHashTable *names, GError **error);

#endif
