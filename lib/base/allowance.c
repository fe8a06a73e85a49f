/* SPDX-License-Identifier: BSD-3-Clause */
/* allowance.c: see allowance.h. */
#include "allowance.h"

#include <sys/resource.h>

#include "error.h"

struct Allowance {
    guint64 archives; /* bytes of the archives that are read */
    guint64 most, taken;
    gboolean given; /* the user set the most */
    gboolean exceeded, no_memory;
};

/* Half of the process's address space: the other half is for the results. */
static guint64 ceiling(void)
{
    struct rlimit own;
    gboolean limited = getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY;
    return limited ? MIN(ALLOWANCE_MOST, own.rlim_cur / 2) : ALLOWANCE_MOST;
}

static void measure(Allowance *a)
{
    guint64 most;
    if (__builtin_mul_overflow(a->archives, ALLOWANCE_FACTOR, &most))
        most = G_MAXUINT64;
    a->most = MIN(MAX(most, ALLOWANCE_LEAST), ceiling());
}

Allowance *allowance_new(guint64 bytes)
{
    Allowance *a = g_rc_box_new0(Allowance);
    a->given = bytes > 0;
    a->most = bytes;
    if (!a->given)
        measure(a);
    return a;
}

Allowance *allowance_ref(Allowance *a)
{
    return a ? g_rc_box_acquire(a) : NULL;
}

void allowance_unref(Allowance *a)
{
    if (a)
        g_rc_box_release(a);
}

void allowance_add_archive(Allowance *a, guint64 bytes)
{
    if (__builtin_add_overflow(a->archives, bytes, &a->archives))
        a->archives = G_MAXUINT64;
    if (!a->given)
        measure(a);
}

gboolean allowance_take(Allowance *a, guint64 n, gsize size)
{
    guint64 bytes;
    if (!a)
        return TRUE;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > a->most - a->taken) {
        a->exceeded = TRUE;
        return FALSE;
    }
    a->taken += bytes;
    return TRUE;
}

void allowance_give(Allowance *a, guint64 bytes)
{
    if (a)
        a->taken -= MIN(bytes, a->taken);
}

gpointer allowance_block(Allowance *a, guint64 n, gsize size)
{
    if (n >= G_MAXSIZE || !allowance_take(a, n + 1, size))
        return NULL;
    gpointer block = g_try_malloc0_n(n + 1, size);
    if (!block && a)
        a->no_memory = TRUE;
    return block;
}

gboolean allowance_grow(Allowance *a, guint8 **block, gsize old, gsize n)
{
    if (!allowance_take(a, n - old, 1))
        return FALSE;
    guint8 *grown = g_try_realloc(*block, n);
    if (grown)
        *block = grown;
    else if (a)
        a->no_memory = TRUE;
    return grown != NULL;
}

gboolean allowance_error(const Allowance *a, const char *name, GError **error)
{
    if (!a || (!a->exceeded && !a->no_memory))
        return FALSE;
    if (a->exceeded) {
        g_autofree char *most = g_format_size_full(a->most, G_FORMAT_SIZE_IEC_UNITS);
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT,
                    "%s: takes more than %s, which no recording of its size does: "
                    "--max-size=SIZE allows more",
                    name, most);
    } else
        g_set_error(error, WEND_ERROR, WEND_ERROR_SYSTEM, "%s: not enough memory to read it", name);
    return TRUE;
}
