/* SPDX-License-Identifier: BSD-3-Clause */
/* places.h: where the parts of Wend are that a command needs at run time: beside an uninstalled
 * build, or where they were installed, also when the whole tree has been moved. */
#ifndef WEND_PLACES_H
#define WEND_PLACES_H

#include <glib.h>

/* Folders that may have what is installed in FOLDER (absolute), the first that exists counts:
 * UNINSTALLED, a NULL-terminated list of folders relative to that of the running command; FOLDER as
 * it lies to BINDIR; FOLDER. A NULL-terminated array for g_strfreev. */
char **places_of(const char *folder, const char *const *uninstalled);

#endif
