/* SPDX-License-Identifier: BSD-3-Clause */
/* memory-files.h: files in memory (memfd_create) of the processes of this host.
 *
 * A process shows something to others in such a file, so that nothing remains however it ends. The
 * others find the file by its name among the open files of the process. C11 and libc alone. */
#ifndef WEND_MEMORY_FILES_H
#define WEND_MEMORY_FILES_H

/* Calls FOUND for each file in memory whose name is PREFIX and a number. NUMBER is the number, and
 * openat(FOLDER, ENTRY, …) opens the file. Processes of other users are left out, and those whose
 * open files cannot be read. */
typedef void (*MemoryFileFound)(unsigned long number, int folder, const char *entry);
void memory_files_find(const char *prefix, MemoryFileFound found);

#endif
