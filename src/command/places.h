/* SPDX-License-Identifier: BSD-3-Clause */
/* places.h: where a command finds other parts of Wend at run time. They are beside an uninstalled
 * build, or where they were installed, even if the whole tree has been moved. */
#ifndef WEND_PLACES_H
#define WEND_PLACES_H

#include <glib.h>

/* The folders that may have the parts that are installed in FOLDER (absolute). The first one that
 * exists counts. They are the folders of UNINSTALLED, a NULL-terminated list relative to the folder
 * of the running command; FOLDER as seen from BINDIR; FOLDER. Returns a NULL-terminated array for
 * g_strfreev. */
char **places_of(const char *folder, const char *const *uninstalled);

#endif
