/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.c: see totals.h. */
#include "totals.h"

/* N with commas. */
static void put_count(GString *text, guint64 n)
{
    char digits[24];
    int length = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, n);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            g_string_append_c(text, ',');
        g_string_append_c(text, digits[i]);
    }
}

char *wend_totals_text(const WendTotals *t)
{
    const struct {
        guint64 n;
        const char *one, *more;
    } parts[] = {{t->mpi_calls, "MPI call", "MPI calls"},
                 {t->polls, "unsuccessful poll", "unsuccessful polls"},
                 {t->frees, "free", "frees"}};
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (i > 0 && parts[i].n == 0)
            continue;
        if (i > 0)
            g_string_append(text, ", ");
        put_count(text, parts[i].n);
        g_string_append_printf(text, " %s", parts[i].n == 1 ? parts[i].one : parts[i].more);
    }
    return g_string_free(text, FALSE);
}
