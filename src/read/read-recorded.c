/* SPDX-License-Identifier: BSD-3-Clause */
/* read-recorded.c: the values beside the calls. */
#include "config.h"

#include "lib/read/sides.h"
#include "read-private.h"

struct WendReadValues {
    WendRead *reader;
    WendSideKindNumber kind;
    WendSide *side;
    WendReadRecorded value;
};

static guint count_streams(const WendProgram *p, guint rank, WendSideKindNumber kind, Error **error)
{
    WendSides *sides = sides_open(p, rank, kind, error);
    WendSideHead head;
    WendCursor rows;
    guint n = 0;
    while (sides != NULL && sides_next(sides, &head, &rows))
        n++;
    sides_free(sides);
    return n;
}

/* Opens stream INDEX of those of all kinds, one kind behind the other. */
static WendSide *open_any(const WendProgram *p, guint rank, guint index, WendSideKindNumber *kind,
                          Error **error)
{
    for (*kind = 0; *kind < WEND_SIDE_KINDS; ++*kind) {
        if (!side_stream_kind(*kind)->replayed) /* times and call sites are no values */
            continue;
        guint n = count_streams(p, rank, *kind, error);
        if (*error != NULL)
            return NULL;
        if (index < n)
            return side_new(p, rank, *kind, index, error);
        index -= n;
    }
    return NULL;
}

static int open_side(WendRead *r, const void *result, uint32_t rank, uint32_t index,
                     WendSideKindNumber *kind, WendSide **side)
{
    Error *error = NULL;
    int status = read_check(r, result);
    if (status == WEND_READ_OK)
        status = read_check_index(r, result, "rank", rank, program_ranks(r->program));
    if (status < 0)
        return status;
    *side = open_any(r->program, rank, index, kind, &error);
    if (error != NULL)
        return read_fail_error(r, error);
    return *side != NULL ? WEND_READ_OK
                         : read_fail(r, WEND_READ_ERROR_NONE, "rank %u has no stream %u of values",
                                     rank, index);
}

int wend_read_value_stream(WendRead *r, uint32_t rank, uint32_t index,
                           const WendReadValueStream **stream)
{
    WendSideKindNumber kind;
    WendSide *side;
    int status = open_side(r, stream, rank, index, &kind, &side);
    if (status < 0)
        return status;
    const WendSideHead *head = side_head(side);
    r->value_stream = (WendReadValueStream){.callback = head->kind == WEND_SEQUENCE_CALLBACK,
                                            .id = head->id,
                                            .n_values = side_count(side)};
    side_free(side);
    *stream = &r->value_stream;
    return WEND_READ_OK;
}

int wend_read_values(WendRead *r, uint32_t rank, uint32_t index, WendReadValues **values)
{
    WendSideKindNumber kind;
    WendSide *side;
    int status = open_side(r, values, rank, index, &kind, &side);
    if (status < 0)
        return status;
    *values = g_new0(WendReadValues, 1);
    (*values)->reader = r;
    (*values)->kind = kind;
    (*values)->side = side;
    return WEND_READ_OK;
}

int wend_read_next_value(WendReadValues *values, const WendReadRecorded **value)
{
    if (!values)
        return WEND_READ_ERROR_USAGE;
    int status = read_check(values->reader, value);
    if (status < 0)
        return status;
    guint64 at;
    const WendSideElement *e = side_before(values->side, G_MAXUINT64, &at);
    *value = NULL;
    if (!e && side_damaged(values->side))
        return read_fail(values->reader, WEND_READ_ERROR_INPUT, "a stream of values is damaged");
    if (!e)
        return WEND_READ_OK;
    const WendSideForm *form = &side_stream_kind(values->kind)->forms[e->code];
    gboolean is_bytes = form->numbers == 0, is_numbers = !is_bytes && !form->seconds;
    values->value = (WendReadRecorded){.function = form->name,
                                       .of_call = form->seconds || values->kind != WEND_SIDE_VALUES,
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
    if (!values)
        return;
    side_free(values->side);
    g_free(values);
}
