/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h: the checkpoint files of this rank (lib/record/checkpoint-file.h): their place, owner and
 * size.
 *
 * Ranks send each other no messages while the application runs, and only rank 0 knows the
 * recording's directory. So rank 0 makes a folder in it with a file that identifies the job. The
 * other ranks look for that file, and write only into that folder.
 *
 * parts_open and functions marked "application" run in the application's thread. All others run in
 * the watcher, and use system calls only. */
#ifndef WEND_PARTS_H
#define WEND_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void parts_open(void); /* application: notes the rank, and where to look */
void parts_make(void); /* application, rank 0: makes the folder in the directory */
/* application, rank 0: all data is in the archive, or is not to be kept */
void parts_remove(void);

bool parts_find(void);                  /* looks for the folder; false: it is not there (yet) */
const char *parts_directory(void);      /* directory of the recording; NULL: not found */
const char *parts_directory_said(void); /* the same as a word of a command (printable.h) */
/* Makes a folder of the parts if none was found, and nothing has the directory's name: this host
 * cannot see the file system of rank 0. Returns whether there is a folder. */
bool parts_make_own(void);
/* A number that ranks of the same job on one host have in common. */
uint64_t parts_job(void);
/* With WEND_FORCE, another run may have begun in the directory since: the parts are of that run. */
bool parts_replaced(void);
bool parts_any(void); /* whether a rank has saved its part; also in signal handlers */
/* whether this rank is the first that asks; never, if no file can be made */
bool parts_first(void);
/* false: there is no room, or not enough within the share of WEND_DISK */
bool parts_write(const void *part, size_t bytes);

#endif
