/* SPDX-License-Identifier: BSD-3-Clause */
/* encode.h: encodes arguments as words, for the generated wrappers. docs/recording.md has the words
 * of each kind.
 *
 * A helper puts words into the row (c->shape, c->slots, c->outcome) that the spec names. Helpers of
 * simple kinds are inline. Those with loops or MPI calls are in arguments.c. */
#ifndef WEND_ENCODE_H
#define WEND_ENCODE_H

#include <limits.h>

#include "closures.h"
#include "array-patterns.h"
#include "functions.gen.h"
#include "lengths.h"
#include "memory/address.h"
#include "objects/objects.h"
#include "recorder/recorder.h"

#define WEND_EXPORT __attribute__((visibility("default")))
#define HANDLE_VALUE(h) ((uintptr_t)(h))

/* Whether MPI runs on this thread below a wrapper. The calls that it makes are not the
 * application's. */
static inline bool call_inside(void)
{
    return wend_thread && wend_thread->inside;
}

/* The function to pass to the library for a function of the application. C is the wrapper's
 * ActiveCall. If C is not NULL, this wrapper has set `inside` itself. It wraps even while recording
 * is off, because a function that is passed now may run later. */
#define CALLBACK(type, function)                                \
    (!c && call_inside() ? (function)                           \
                         : (__typeof__(function))callback_wrap( \
                             WEND_CALLBACK_##type, (void *)(function), CALLERS_LANGUAGE()))

/* -- addresses -- */

/* Puts a number in the place of an address. */
static inline void put_plain(ActiveCall *c, int64_t value)
{
    put_shape(c, WEND_PLAIN);
    put_slot(c, value);
}

/* Puts a choice buffer, or a base address that MPI made: its segment (shape), and its offset (slot)
 * if it is in a segment. A small number is put as a number. */
static inline void in_buf(ActiveCall *c, const void *p)
{
    if (p == MPI_IN_PLACE) {
        put_shape(c, WEND_CONST(WEND_CONSTANT_MPI_IN_PLACE));
    } else if (p == MPI_BOTTOM) {
        put_shape(c, WEND_CONST(WEND_CONSTANT_MPI_BOTTOM));
    } else if ((uintptr_t)p < MEMORY_LOWEST_ADDRESS) {
        put_plain(c, (int64_t)(uintptr_t)p);
    } else {
        Where w = memory_where(p);
        put_shape(c, w.segment);
        if (wend_is_segment(w.segment))
            put_slot(c, w.offset);
    }
}

/* Puts a pointer-sized integer that may be an address: its words go to SEGMENTS and OFFSETS. GAP is
 * as in memory_looks_mapped. */
static inline void put_address(Words *segments, Words *offsets, int64_t value, Gap *gap)
{
    Where w = attachments_where((uintptr_t)value, gap);
    bool known = wend_is_segment(w.segment);
    words_put(segments, known ? w.segment : WEND_PLAIN);
    words_put(offsets, known ? w.offset : value);
}
static inline void in_address(ActiveCall *c, MPI_Aint a)
{
    put_address(&c->shape, &c->slots, a, NULL);
}

/* Puts what the application lets MPI keep for it: a pointer, or a number in place of one. */
static inline void in_kept_pointer(ActiveCall *c, const void *p)
{
    if (memory_is_mapped((uintptr_t)p))
        memory_where(p); /* it is known then */
    in_address(c, (MPI_Aint)p);
}

/* Puts an address that the application asked MPI for, or passed to address arithmetic. */
static inline void in_asked_address(ActiveCall *c, MPI_Aint a)
{
    in_address(c, a);
    address_log_add(&c->thread->asked, a);
}

/* Displacements that may lead from one segment to another. BASE is the result of address_log_base
 * for all displacements of the argument. */
typedef struct {
    int64_t base;
    Gap gap;
} Origin;
void put_distance(ActiveCall *c, int64_t value, int64_t base);
static inline Origin displacement_origin(const ActiveCall *c, const void *values, int64_t n,
                                         size_t width)
{
    return (Origin){.base =
                        __builtin_expect(c->thread->asked != NULL, 0) && values
                            ? address_log_base(c->thread->asked, (Displacements){values, n, width})
                            : 0};
}
static inline void in_displacement(ActiveCall *c, int64_t value, Origin *origin)
{
    if (__builtin_expect(origin->base != 0, 0))
        put_distance(c, value, origin->base);
    else
        put_address(&c->shape, &c->slots, value, &origin->gap);
}
static inline void in_patterned_displacement(ActiveCall *c, int64_t value, Origin *origin,
                                             const ArrayPatterns *patterns)
{
    if (array_pattern_is_number(patterns))
        put_plain(c, value);
    else
        in_displacement(c, value, origin);
}
static inline void in_displacement_alone(ActiveCall *c, int64_t value)
{
    Origin origin = displacement_origin(c, &value, 1, sizeof value);
    in_displacement(c, value, &origin);
}

/* An address that MPI computed. It is put as a number if all its inputs are numbers. Another
 * process may attach memory while the call runs, which would turn the number into an address, and
 * no proxy can compute an address from numbers. The shapes of these calls have only the function
 * and words of addresses. */
static inline bool any_address(const ActiveCall *c)
{
    for (size_t i = 1; i < c->shape.n; i++)
        if (wend_is_segment(c->shape.w[i]))
            return true;
    return false;
}
static inline void out_asked_address(ActiveCall *c, MPI_Aint a)
{
    if (any_address(c))
        in_asked_address(c, a);
    else
        put_plain(c, a);
}
static inline void out_displacement_alone(ActiveCall *c, int64_t value)
{
    if (any_address(c))
        in_displacement_alone(c, value);
    else
        put_plain(c, value);
}

/* Puts a bound or an extent of TYPE. */
void out_bound(ActiveCall *c, MPI_Datatype type, int64_t value);

/* Puts the target displacement of a one-sided operation: a number, or in a dynamic window a segment
 * and offset of the target's memory. */
static inline void in_target(ActiveCall *c, const CommMetadata *facts, int target, MPI_Aint disp)
{
    Where w = {WEND_PLAIN, disp};
    if (facts && facts->members && target >= 0 && target < facts->size)
        w = attachments_at(facts->members[target], (uintptr_t)disp);
    put_slot(c, w.segment);
    put_slot(c, w.offset);
}

/* Puts what MPI has kept for the application, a pointer or a number in place of one. It is
 * WEND_UNKNOWN if it leads to memory that MPI has not used, such as what a copy function has made:
 * to get it from MPI is no use of it, and another program need not have it. */
void out_kept(ActiveCall *c, int64_t value);
/* Puts the value that MPI_Comm_get_attr or a similar function gave, if the attribute is set.
 * Predefined attributes are numbers behind a pointer of the library. */
void out_attr(ActiveCall *c, int keyval, const void *attribute);

/* -- handles -- */

/* In MPICH, MPI_T_PVAR_ALL_HANDLES is a variable of the library, so no generated table can contain
 * it. */
static inline int64_t pvar_word(MPI_T_pvar_handle h)
{
    return h == MPI_T_PVAR_ALL_HANDLES ? WEND_CONST(WEND_CONSTANT_MPI_T_PVAR_ALL_HANDLES)
                                       : handle_word(HANDLE_PVAR, HANDLE_VALUE(h));
}

/* -- text -- */

void put_string(Words *row, const char *s);
void put_strings(Words *row, char *const *s, int64_t n); /* n: length word */
void put_strings2(Words *row, char **const *s, int64_t n);

/* -- functions -- */

static inline void in_func(ActiveCall *c, const void *f)
{
    put_shape(c, f ? func_word(f) : WEND_NULL_FUNCTION);
}

/* -- statuses -- */

/* The status to pass to the library: the application's, or one of Wend's instead of
 * MPI_STATUS_IGNORE. If memory is short, the application's. */
static inline MPI_Status *status_to_fill(ActiveCall *c, MPI_Status *s)
{
    if (s != MPI_STATUS_IGNORE)
        return s;
    MPI_Status *scratch = scratch_statuses(c, 1);
    return scratch ? scratch : MPI_STATUS_IGNORE;
}
static inline MPI_Status *status_filled(MPI_Status *s)
{
    return s == MPI_STATUS_IGNORE ? NULL : s;
}
static inline void put_status_given(ActiveCall *c, const MPI_Status *s)
{
    put_shape(c, s != MPI_STATUS_IGNORE);
}
static inline int64_t posted_bytes(int64_t count, MPI_Datatype type)
{
    int64_t size = datatype_size(type);
    return count > 0 && size > 0 ? count * size : 0;
}
/* of a blocking file operation: only the size is defined */
void out_status_io(ActiveCall *c, const MPI_Status *s, int64_t bytes);
/* for a call that found nothing and has no status */
static inline void out_status_absent(ActiveCall *c)
{
    for (int i = 0; i < 4; i++)
        put_outcome(c, 0);
}

#endif
