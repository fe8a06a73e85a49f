/* SPDX-License-Identifier: BSD-3-Clause */
/* allowance.h: how much memory the archives of one recording may take.
 *
 * A few bytes of a hostile archive stand for any number of things: Zstandard unpacks one byte to
 * 32,000, and a row of equal numbers takes five bytes, however long it is. So a reader takes from
 * the allowance before it makes room for what an archive claims, and gives back what it frees.
 *
 * Unless a size is given, an allowance is ALLOWANCE_FACTOR times the bytes of the archives, but at
 * least ALLOWANCE_LEAST, and at most ALLOWANCE_MOST or half of the process's address space
 * (RLIMIT_AS). docs/format.md, "Limits", says how far honest recordings are from it. */
#ifndef WEND_ALLOWANCE_H
#define WEND_ALLOWANCE_H

#include <glib.h>

#define ALLOWANCE_FACTOR 1024
#define ALLOWANCE_LEAST (G_GUINT64_CONSTANT(1) << 30)
#define ALLOWANCE_MOST (G_GUINT64_CONSTANT(8) << 30)

typedef struct Allowance Allowance;

Allowance *allowance_new(guint64 bytes); /* BYTES 0: by the size of the archives. One reference */
Allowance *allowance_ref(Allowance *a);
void allowance_unref(Allowance *a);                      /* NULL: nothing happens */
void allowance_add_archive(Allowance *a, guint64 bytes); /* an archive of so many bytes is read */

/* N things of SIZE bytes. FALSE: they are more than is left; nothing is taken, and the allowance is
 * exceeded from then on. A NULL has no end. */
gboolean allowance_take(Allowance *a, guint64 n, gsize size);
void allowance_give(Allowance *a, guint64 bytes);
/* Takes, and makes a zeroed block of N things and one more. NULL: too much, or out of memory. The
 * caller frees it (g_free), and gives back what it took unless that is over with the reading. */
gpointer allowance_block(Allowance *a, guint64 n, gsize size);
/* The same of bytes that there are more of now: *BLOCK had OLD, and gets N. FALSE: it is as it
 * was. */
gboolean allowance_grow(Allowance *a, guint8 **block, gsize old, gsize n);

/* Sets the error if anything was refused: NAME takes too much (WEND_ERROR_INPUT), or there is no
 * memory (WEND_ERROR_SYSTEM). FALSE: nothing was. */
gboolean allowance_error(const Allowance *a, const char *name, GError **error);

#endif
