/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h: the files of this rank's parts (lib/record/checkpoint-file.h): where they are, whose,
 * how large.
 *
 * Ranks tell each other nothing while the application runs, and rank 0 alone knows the recording's
 * directory, if it has one. So rank 0 makes a folder in it with a file that says which job it is
 * of, and the others look for that. What they write, they write only there.
 *
 * parts_open and those that say so are for the application's thread; the rest for the watcher, with
 * system calls only. */
#ifndef WEND_PARTS_H
#define WEND_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void parts_open(void); /* application: who we are, where to look */
void parts_make(void); /* application, rank 0: the directory is there */
/* application, rank 0: all is in the archive, or nothing is to be kept */
void parts_remove(void);

bool parts_find(void);                  /* false: not there (yet) */
const char *parts_directory(void);      /* of the recording; NULL: not found */
const char *parts_directory_said(void); /* the same as it may be printed (printable.h) */
const char *parts_folder(void);         /* once found */
bool parts_any(void);                   /* has a rank saved anything? Also in handlers */
/* is this the first rank that asks? Where nothing can be made, none is */
bool parts_first(void);
/* false: no room, or no more than the share that WEND_DISK allows */
bool parts_write(const void *part, size_t bytes);

#endif
