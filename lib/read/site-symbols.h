/* SPDX-License-Identifier: BSD-3-Clause */
/* site-symbols.h: names of call sites that an archive has itself: functions, files and lines
 * (docs/format.md, "Names of call sites"). */
#ifndef WEND_SITE_SYMBOLS_H
#define WEND_SITE_SYMBOLS_H

#include "base/allowance.h"
#include "base/error.h"
#include "program.h"

#define WEND_SITE_SYMBOLS "names" /* the member */

/* A function that an address is in. */
typedef struct {
    const char *function; /* NULL: not known */
    const char *file;     /* NULL: not known */
    guint line;           /* 0: not known */
} WendSiteFrame;

typedef struct WendSiteSymbols WendSiteSymbols;

/* No names. The caller frees the result. */
WendSiteSymbols *site_symbols_new(void);
void site_symbols_free(WendSiteSymbols *s); /* S may be NULL */
/* Reads a member. Returns FALSE if it is damaged or takes more than ALLOWANCE. The texts are
 * copied. */
gboolean site_symbols_read(WendSiteSymbols *s, const guint8 *member, gsize n, Allowance *allowance);
/* Notes that the address OFFSET in the file with that path and build-id (N_ID bytes at ID) is in
 * FRAMES, N of them, innermost first. What was noted before stays. Texts are copied. */
void site_symbols_add(WendSiteSymbols *s, const char *file, const guint8 *id, guint n_id,
                      guint64 offset, const WendSiteFrame *frames, guint n);
/* The frames of an address, which belong to S, and their number. NULL: it has no names. */
const WendSiteFrame *site_symbols_of(const WendSiteSymbols *s, const char *file, const guint8 *id,
                                     guint n_id, guint64 offset, guint *n);

/* Stores the names in the archive PATH, whose older names they replace. MOST: so many bytes the
 * archive may grow. *STORED: whether it has them now. Returns FALSE and sets the error if the
 * archive cannot be read or written. */
gboolean site_symbols_store(const WendSiteSymbols *s, const char *path, guint64 most, bool *stored,
                            Error **error);

#endif
