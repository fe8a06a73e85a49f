/* SPDX-License-Identifier: BSD-3-Clause */
/* read-recorded.c: the values beside the calls. */
#include "config.h"

#include "lib/read/sides.h"
#include "read-private.h"

struct WendReadValues {
    WendRead *reader;
    WendSide *side;
    WendReadRecorded value;
};

static int open_side(WendRead *r, const void *result, uint32_t rank, uint32_t index,
                     WendSide **side)
{
    GError *error = NULL;
    int status = read_check(r, result);
    if (status == WEND_READ_OK)
        status = read_check_index(r, result, "rank", rank, wend_program_ranks(r->program));
    if (status < 0)
        return status;
    *side = wend_side_new(r->program, rank, WEND_SIDE_VALUES, index, &error);
    if (error != NULL)
        return read_fail_error(r, error);
    return *side != NULL ? WEND_READ_OK
                         : read_fail(r, WEND_READ_ERROR_NONE, "rank %u has no stream %u of values",
                                     rank, index);
}

int wend_read_value_stream(WendRead *r, uint32_t rank, uint32_t index,
                           const WendReadValueStream **stream)
{
    WendSide *side;
    int status = open_side(r, stream, rank, index, &side);
    if (status < 0)
        return status;
    const WendSideHead *head = wend_side_head(side);
    r->value_stream = (WendReadValueStream){.callback = head->kind == WEND_SEQUENCE_CALLBACK,
                                            .id = head->id,
                                            .n_values = wend_side_count(side)};
    wend_side_free(side);
    *stream = &r->value_stream;
    return WEND_READ_OK;
}

int wend_read_values(WendRead *r, uint32_t rank, uint32_t index, WendReadValues **values)
{
    WendSide *side;
    int status = open_side(r, values, rank, index, &side);
    if (status < 0)
        return status;
    *values = g_new0(WendReadValues, 1);
    (*values)->reader = r;
    (*values)->side = side;
    return WEND_READ_OK;
}

int wend_read_next_value(WendReadValues *values, const WendReadRecorded **value)
{
    if (values == NULL)
        return WEND_READ_ERROR_USAGE;
    int status = read_check(values->reader, value);
    if (status < 0)
        return status;
    guint64 at;
    const WendSideElement *e = wend_side_before(values->side, G_MAXUINT64, &at);
    *value = NULL;
    if (e == NULL && wend_side_damaged(values->side))
        return read_fail(values->reader, WEND_READ_ERROR_INPUT, "a stream of values is damaged");
    if (e == NULL)
        return WEND_READ_OK;
    const WendSideForm *form = &wend_side_kind(WEND_SIDE_VALUES)->forms[e->code];
    gboolean is_bytes = form->numbers == 0, is_numbers = !is_bytes && !form->seconds;
    values->value = (WendReadRecorded){.function = form->name,
                                       .clock = e->sub,
                                       .steps = at,
                                       .seconds = form->seconds ? &e->seconds : NULL,
                                       .numbers = is_numbers ? e->numbers : NULL,
                                       .n_numbers = is_numbers ? form->numbers : 0,
                                       .bytes = is_bytes ? e->bytes : NULL,
                                       .n_bytes = e->n_bytes};
    *value = &values->value;
    return WEND_READ_OK;
}

void wend_read_values_free(WendReadValues *values)
{
    if (values == NULL)
        return;
    wend_side_free(values->side);
    g_free(values);
}
