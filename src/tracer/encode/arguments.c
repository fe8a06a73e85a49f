/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments.c: the parts of the generated wrappers that loop or call MPI. Wait and Test are in
 * completion.c.
 *
 * MPI is asked only inside a wrapper, only about handles that Wend knows, and only in calls that
 * cannot fail. The application's error handlers must not run for a call of Wend. */
#include "encode.h"

#include <string.h>

/* -- displacements -- */

void encode_distance(ActiveCall *c, int64_t value, int64_t base)
{
    int64_t target = base + value;
    Where from = memory_where((const void *)base), to = {WEND_UNKNOWN, 0};
    if (address_log_segment(base, target) != from.segment)
        to = memory_where((const void *)target);
    if (!word_is_segment(from.segment) || !word_is_segment(to.segment)) {
        call_put_shape(c, WEND_PLAIN);
        call_put_slot(c, value);
        return;
    }
    call_put_shape(c, WEND_DISTANCE);
    call_put_shape(c, to.segment);
    call_put_shape(c, from.segment);
    call_put_slot(c, to.offset);
    call_put_slot(c, from.offset);
    c->varies = true;
}

/* Whether the datatype is at an absolute address. */
static bool is_placed(MPI_Datatype type)
{
    MPI_Aint low, extent;
    return (PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS
            && attachments_looks_mapped((uintptr_t)low, NULL))
           || (PMPI_Type_get_true_extent(type, &low, &extent) == MPI_SUCCESS
               && attachments_looks_mapped((uintptr_t)low, NULL));
}

void encode_out_bound(ActiveCall *c, MPI_Datatype type, int64_t value)
{
    Origin origin = {0};
    /* other datatypes have no distance between addresses, even if a number happens to equal one */
    if (value != 0 && datatypes_vary(&type, 1)) {
        if (!is_placed(type))
            origin = encode_displacement_origin(c, &value, 1, sizeof value);
        if (origin.base == 0 && !attachments_looks_mapped((uintptr_t)value, NULL)) {
            call_put_shape(c, WEND_UNKNOWN);
            return;
        }
    }
    encode_in_displacement(c, value, &origin);
}

/* -- attributes -- */

/* Reads a predefined attribute that is a number behind a pointer into the library. */
static bool number_attribute(int keyval, const void *p, int64_t *value)
{
    if (keyval == MPI_WIN_SIZE) {
        *value = *(const MPI_Aint *)p;
        return true;
    }
    const int ints[] = {MPI_TAG_UB,          MPI_HOST,          MPI_IO,
                        MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE,
                        MPI_APPNUM,          MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR,
                        MPI_WIN_MODEL};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        if (keyval == ints[i]) {
            *value = *(const int *)p;
            return true;
        }
    }
    return false;
}

void encode_out_kept(ActiveCall *c, int64_t value)
{
    Where known = memory_known((const void *)value);
    if (word_is_segment(known.segment)) {
        call_put_outcome(c, known.segment);
        call_put_outcome(c, known.offset);
    } else if (memory_is_mapped((uintptr_t)value)) {
        call_put_outcome(c, WEND_UNKNOWN);
    } else {
        encode_address(&c->outcome, &c->outcome, value, NULL);
    }
}

void encode_out_attr(ActiveCall *c, int keyval, const void *attribute)
{
    void *p = *(void *const *)attribute;
    int64_t value;
    if (p && number_attribute(keyval, p, &value)) {
        call_put_outcome(c, WEND_PLAIN);
        call_put_outcome(c, value);
    } else {
        encode_out_kept(c, (int64_t)(intptr_t)p);
    }
}

/* -- text -- */

void encode_string(Words *row, const char *s)
{
    if (!s) {
        words_put(row, -1);
        return;
    }
    size_t n = strlen(s);
    words_put(row, (int64_t)n);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && i + k < n; k++)
            word |= (uint64_t)(unsigned char)s[i + k] << 8 * k;
        words_put(row, (int64_t)word);
    }
}

void encode_strings(Words *row, char *const *s, int64_t n)
{
    words_put(row, n);
    for (int64_t i = 0; i < n; i++)
        encode_string(row, s[i]);
}

void encode_strings2(Words *row, char **const *s, int64_t n)
{
    words_put(row, n);
    for (int64_t i = 0; i < n; i++)
        encode_strings(row, s[i], length_of_strings(s[i]));
}

/* -- statuses -- */

/* Puts a status of a file operation. Libraries leave its source and tag undefined. */
void encode_out_status_io(ActiveCall *c, const MPI_Status *s, int64_t bytes)
{
    MPI_Count n = 0;
    if (!s || PMPI_Get_elements_x(s, MPI_BYTE, &n) != MPI_SUCCESS || n == MPI_UNDEFINED)
        n = (MPI_Count)bytes;
    call_put_outcome(c, 0);
    call_put_outcome(c, 0);
    call_put_outcome(c, bytes - (int64_t)n);
    call_put_outcome(c, 0);
}
