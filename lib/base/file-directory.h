/* SPDX-License-Identifier: BSD-3-Clause */
/* file-directory.h: makes a directory of files that somebody else's library writes, by the rules of
 * file-write.h: it has its name when it is whole, and not before. */
#ifndef WEND_FILE_DIRECTORY_H
#define WEND_FILE_DIRECTORY_H

#include "file-write.h"

typedef struct WendFileDirectory WendFileDirectory;

/* Whether FILE ("traces.otf2", "traces/0.evt") is one that the writer of such a directory makes. */
typedef bool (*WendFileIsOurs)(const char *file);

/* Makes an empty directory under a temporary name, beside PATH. Signals that end the process are
 * held until it ends. If PATH exists, fails without WEND_FILE_REPLACE, and with it if PATH is no
 * directory, or holds a file that is not IS_OURS. Returns NULL and sets the error on failure. */
WendFileDirectory *file_directory_open(const char *path, WendFileFlags flags,
                                       WendFileIsOurs is_ours, Error **error);
const char *file_directory_path(const WendFileDirectory *d); /* the temporary name */

/* Whether a signal is to end the process: the caller ends D without KEEP. */
bool file_directory_interrupted(const WendFileDirectory *d);

/* Ends and frees D. With KEEP it gets its name, and the files of a directory that had it are
 * removed. Without KEEP it is removed. Returns false and sets the error if it cannot get its name;
 * then it is removed, too, and what was there stays. D may be NULL: true. */
bool file_directory_end(WendFileDirectory *d, bool keep, Error **error);

#endif
