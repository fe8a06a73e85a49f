/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-rows.c: see timing-rows.h. */
#include "timing-rows.h"

#include "base/lower-bound.h"

/* The number of terminals of a shape, and the row that the first of them had before. */
typedef struct {
    uint64_t n;
    uint32_t first;
} OfShape;

uint32_t timing_rows(const uint32_t *shapes, uint32_t *rows, uint32_t n)
{
    /* row before -> 1 + row after; no row has terminals of several shapes */
    AUTO(Map) known = map_new(NULL, NULL, NULL, NULL);
    /* -> OfShape */
    AUTO(Map) by_shape = map_new(NULL, NULL, NULL, memory_free);
    uint32_t n_rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        OfShape *s = map_get(by_shape, OF_NUMBER(shapes[i]));
        if (!s) {
            s = NEW(OfShape, 1);
            *s = (OfShape){0, rows[i]};
            map_put(by_shape, OF_NUMBER(shapes[i]), s);
        }
        s->n++;
    }
    for (uint32_t i = 0; i < n; i++) {
        const OfShape *s = map_get(by_shape, OF_NUMBER(shapes[i]));
        void *before = OF_NUMBER(s->n > WEND_TIMED_APART ? s->first : rows[i]);
        uint32_t row = NUMBER_OF(map_get(known, before));
        if (!row)
            map_put(known, before, OF_NUMBER(row = ++n_rows));
        rows[i] = row - 1;
    }
    return n_rows;
}

void shared_rows_init(SharedRows *r, uint32_t n_groups, uint32_t n_terminals)
{
    *r = (SharedRows){NEW0(Vector *, n_groups + 1), NEW0(uint32_t, n_groups + 1),
                      NEW0(uint32_t, n_terminals + 1), n_groups, 0};
}

void shared_rows_clear(SharedRows *r)
{
    for (uint32_t i = 0; i < r->n_groups; i++)
        CLEAR(r->of_group[i], vector_unref);
    memory_free(r->of_group);
    memory_free(r->likely_of_group);
    memory_free(r->likely_of_terminal);
}

uint32_t shared_rows_count(const SharedRows *r, uint32_t group)
{
    return r->of_group[group] ? r->of_group[group]->len : 0;
}

uint32_t shared_rows_at(const SharedRows *r, uint32_t group, uint32_t i)
{
    return VECTOR_AT(r->of_group[group], uint32_t, i);
}

static uint32_t add_row(SharedRows *r, uint32_t group)
{
    if (!r->of_group[group])
        r->of_group[group] = vector_new(sizeof(uint32_t));
    VECTOR_APPEND(r->of_group[group], r->n);
    return r->n++;
}

uint32_t shared_rows_likely(const SharedRows *r, uint32_t group, uint32_t terminal)
{
    return r->likely_of_terminal[terminal] ? r->likely_of_terminal[terminal]
                                           : r->likely_of_group[group];
}

static void had_row(SharedRows *r, uint32_t group, uint32_t terminal, uint32_t row)
{
    r->likely_of_group[group] = r->likely_of_terminal[terminal] = row + 1;
}

int64_t shared_rows_encode(SharedRows *r, uint32_t group, uint32_t terminal, uint32_t row)
{
    bool likely = shared_rows_likely(r, group, terminal) == row + 1;
    had_row(r, group, terminal, row);
    if (likely)
        return ROW_LIKELY;
    if (row == r->n) {
        add_row(r, group);
        return ROW_NEW;
    }
    uint32_t n = shared_rows_count(r, group); /* the group's rows ascend */
    return ROW_NEW + (int64_t)(n - LAST_WHERE(i, n, shared_rows_at(r, group, i) <= row));
}

bool shared_rows_read(SharedRows *r, uint32_t group, uint32_t terminal, int64_t told, uint32_t *row)
{
    uint32_t n = shared_rows_count(r, group), likely = shared_rows_likely(r, group, terminal);
    if (told < 0 || told > ROW_NEW + (int64_t)n || (told == ROW_LIKELY && !likely))
        return false;
    *row = told == ROW_LIKELY ? likely - 1
           : told == ROW_NEW  ? add_row(r, group)
                              : shared_rows_at(r, group, n - (uint32_t)(told - ROW_NEW));
    had_row(r, group, terminal, *row);
    return true;
}
