/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.c: see totals.h. */
#include "totals.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/strings.h"

/* N with commas. */
static void put_count(WendBuf *text, uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buf_bytes(text, ",", 1);
        buf_bytes(text, &digits[i], 1);
    }
}

char *totals_text(const WendTotals *t)
{
    const struct {
        uint64_t n;
        const char *one, *more;
    } parts[] = {{t->mpi_calls, "MPI call", "MPI calls"},
                 {t->polls, "unsuccessful poll", "unsuccessful polls"},
                 {t->frees, "free", "frees"}};
    WendBuf text = WEND_BUF_INIT;
    for (uint32_t i = 0; i < COUNT_OF(parts); i++) {
        if (i > 0 && parts[i].n == 0)
            continue;
        if (i > 0)
            string_add(&text, ", ");
        put_count(&text, parts[i].n);
        string_add(&text, " %s", parts[i].n == 1 ? parts[i].one : parts[i].more);
    }
    return string_take(&text);
}
