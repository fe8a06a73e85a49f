/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy_files.h: the files of the generated program. */
#ifndef PROXYGEN_PROXY_FILES_H
#define PROXYGEN_PROXY_FILES_H

#include "src/proxygen/model/model.h"

/* Writes the program. Adds the identifiers of its text that begin with MPI to NAMES. On failure
 * returns FALSE with an error that names the file. */
gboolean proxy_files_write(Plan *plan, GHashTable *names, GError **error);

#endif
