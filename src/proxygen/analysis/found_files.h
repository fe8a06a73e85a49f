/* SPDX-License-Identifier: BSD-3-Clause */
/* found_files.h: the files that the application named, and what it found under their names. */
#ifndef PROXYGEN_FOUND_FILES_H
#define PROXYGEN_FOUND_FILES_H

#include "src/proxygen/model/model.h"

typedef struct {
    guint number;
    char *name;       /* as recorded */
    gint64 bytes;     /* before the run; -1 there was none */
    gboolean nowhere; /* its directory does not exist: it cannot be made */
} ScratchFile;

/* What a call found, each time it was made: bytes; one of these: */
enum { FOUND_NONE = -1, FOUND_UNKNOWN = -2 };
typedef struct {
    const ScratchFile *file;
    GArray *found;     /* of gint64 */
    gboolean surprise; /* once at least it was not what MPI calls had left there */
} FileFinding;

void plan_files(Plan *plan);
void found_files_free(struct Files *files);
guint found_files_count(const Plan *plan);
const ScratchFile *found_files_by_number(const Plan *plan, guint number);
const ScratchFile *found_files_by_name(const Plan *plan, const char *name);
/* What the calls of TERMINAL have to find and would not find otherwise; NULL: nothing of the
 * kind. */
const FileFinding *found_files_surprise(const Plan *plan, guint terminal);

#endif
