/* SPDX-License-Identifier: BSD-3-Clause */
/* found_files.h: the files that the application named, and the sizes that it found under these
 * names. */
#ifndef PROXYGEN_FOUND_FILES_H
#define PROXYGEN_FOUND_FILES_H

#include "src/proxygen/model/model.h"

typedef struct {
    guint number;
    char *name;       /* as recorded */
    gint64 bytes;     /* size before the run; -1 if there was no file */
    gboolean nowhere; /* its directory does not exist, so the file cannot be made */
} ScratchFile;

/* The results of a call, for each time it was made: a size in bytes, or one of these: */
enum { FOUND_NONE = -1, FOUND_UNKNOWN = -2 };
typedef struct {
    const ScratchFile *file;
    GArray *found;     /* of gint64 */
    gboolean surprise; /* at least once, the size was not the one that MPI calls had left */
} FileFinding;

void found_files_find(Plan *plan);
void found_files_free(struct Files *files);
guint found_files_count(const Plan *plan);
const ScratchFile *found_files_by_number(const Plan *plan, guint number);
const ScratchFile *found_files_by_name(const Plan *plan, const char *name);
/* The sizes that the calls of TERMINAL must find and would not find by themselves. NULL if there
 * are none. */
const FileFinding *found_files_surprise(const Plan *plan, guint terminal);

#endif
