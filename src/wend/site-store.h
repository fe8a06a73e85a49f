/* SPDX-License-Identifier: BSD-3-Clause */
/* site-store.h: puts the names of call sites into an archive (lib/sides/site-symbols.h), so that it
 * can be read where the program is not. */
#ifndef WEND_SITE_STORE_H
#define WEND_SITE_STORE_H

#include <glib.h>

typedef enum {
    SITE_STORE_SMALL, /* if they take less than SITE_STORE_BYTES */
    SITE_STORE_ALL,
    SITE_STORE_NONE
} SiteStoreMode;

enum { SITE_STORE_BYTES = 2048 };

/* Stores the names of all sites in the archives of the recording in DIRECTORY, as far as they are
 * found. *BYTES: so many bytes the archives have grown. With SITE_STORE_ALL, COMMAND says if there
 * are none. Returns FALSE and sets the error if an archive cannot be read or written. */
gboolean site_store(const char *directory, const char *command, SiteStoreMode mode, guint64 *bytes,
                    GError **error);

#endif
