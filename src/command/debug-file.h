/* SPDX-License-Identifier: BSD-3-Clause */
/* debug-file.h: the debug information of one file of code, by libdw. */
#ifndef WEND_DEBUG_FILE_H
#define WEND_DEBUG_FILE_H

#include <glib.h>

typedef struct DebugFile DebugFile;

typedef enum {
    DEBUG_FILE_GOOD,
    DEBUG_FILE_CHANGED,     /* the file at the path has another build-id */
    DEBUG_FILE_MISSING,     /* there is none, or it is no file of code */
    DEBUG_FILE_UNSUPPORTED, /* Wend was built without libdw */
    DEBUG_FILE_NO_LINES,    /* it has the function of an address, and no line */
    DEBUG_FILE_NO_NAMES     /* it has neither */
} DebugFileProblem;

/* Opens the file that had the build-id ID, of N bytes, when it was at PATH: the file at PATH if its
 * build-id is the same or N is 0; else a file with debug information or a copy that this machine
 * has by the build-id, in /usr/lib/debug or in the cache of debuginfod. PATH NULL: not known.
 * Returns NULL, with the problem, if there is none. The caller closes it. */
DebugFile *debug_file_open(const char *path, const guint8 *id, gsize n, DebugFileProblem *problem);
void debug_file_close(DebugFile *d); /* D may be NULL */

/* One function that the address is in. FUNCTION, FILE NULL, LINE 0: not known. */
typedef void (*DebugFrame)(gpointer data, const char *function, const char *file, guint line);
/* Calls FRAME for the function that the address OFFSET of the file is in, innermost first: if a
 * function was inlined, then for the one that it was inlined into. Not at all if nothing is known.
 * Returns DEBUG_FILE_GOOD, DEBUG_FILE_NO_LINES or DEBUG_FILE_NO_NAMES. With D NULL it returns
 * DEBUG_FILE_GOOD, since debug_file_open has given the problem. */
DebugFileProblem debug_file_frames(DebugFile *d, guint64 offset, DebugFrame frame, gpointer data);

#endif
