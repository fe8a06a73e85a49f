/* SPDX-License-Identifier: BSD-3-Clause */
/* read-waits.c: which calls waited for which others. */
#include "config.h"

#include "read-private.h"

int wend_read_wait(WendRead *r, uint32_t index, const WendReadWait **wait)
{
    bool has = false;
    int status = read_check(r, wait);
    if (status == WEND_READ_OK && r->waits == NULL)
        status = wend_read_has_times(r, &has);
    if (status < 0)
        return status;
    if (r->waits == NULL && !has)
        return read_fail(r, WEND_READ_ERROR_NONE, "%s", WITHOUT_TIMES);
    if (r->waits == NULL)
        r->waits = wait_rows_new(r, &status);
    if (r->waits == NULL)
        return status;
    const WendReadWait *row = wait_rows_at(r->waits, index);
    if (row == NULL)
        return read_fail(r, WEND_READ_ERROR_NONE, "no other calls waited");
    *wait = row;
    return WEND_READ_OK;
}

void read_waits_clear(WendRead *r)
{
    g_clear_pointer(&r->waits, wait_rows_free);
}
