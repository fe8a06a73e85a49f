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
#include "lib/record/functions.h"
#include "lengths.h"
#include "memory/address.h"
#include "objects/objects.h"
#include "recorder/recorder.h"

#define WEND_EXPORT __attribute__((visibility("default")))
#define HANDLE_VALUE(h) ((uintptr_t)(h))

/* Whether MPI runs on this thread below a wrapper. The calls that it makes are not the
 * application's. */
static inline bool encode_is_inside(void)
{
    return this_thread && this_thread->inside;
}

/* The function to pass to the library for a function of the application. C is the wrapper's
 * ActiveCall. If C is not NULL, this wrapper has set `inside` itself. It wraps even while recording
 * is off, because a function that is passed now may run later. */
#define CALLBACK(type, function)                                    \
    (!c && encode_is_inside() ? (function)                          \
                              : (__typeof__(function))closure_wrap( \
                                  WEND_CALLBACK_##type, (void *)(function), CALLERS_LANGUAGE()))

/* -- addresses -- */

/* Puts a number in the place of an address. */
static inline void encode_plain(ActiveCall *c, int64_t value)
{
    call_put_shape(c, WEND_PLAIN);
    call_put_slot(c, value);
}

/* Puts a choice buffer, or a base address that MPI made: its segment (shape), and its offset (slot)
 * if it is in a segment. A small number is put as a number. */
static inline void encode_in_buf(ActiveCall *c, const void *p)
{
    if (p == MPI_IN_PLACE) {
        call_put_shape(c, WEND_CONST(WEND_CONSTANT_MPI_IN_PLACE));
    } else if (p == MPI_BOTTOM) {
        call_put_shape(c, WEND_CONST(WEND_CONSTANT_MPI_BOTTOM));
    } else if ((uintptr_t)p < MEMORY_LOWEST_ADDRESS) {
        encode_plain(c, (int64_t)(uintptr_t)p);
    } else {
        Where w = memory_where(p);
        call_put_shape(c, w.segment);
        if (word_is_segment(w.segment))
            call_put_slot(c, w.offset);
    }
}

/* The same for a buffer that the call may leave untouched. Then the address is no part of the call,
 * and names no memory: WEND_ABSENT stands for its offset. The segment is put nevertheless if there
 * is one, so that calls with and without data have one shape. */
static inline void encode_in_buf_if(ActiveCall *c, const void *p, bool touched)
{
    size_t slot = c->slots.n;
    c->segments |= call_word_bit(c->shape.n);
    if (__builtin_expect(touched, 1)) {
        encode_in_buf(c, p);
    } else {
        int64_t segment = memory_untouched(p);
        c->untouched = true;
        call_put_shape(c, word_is_segment(segment) ? segment : WEND_PLAIN);
        call_put_slot(c, WEND_ABSENT);
    }
    c->offsets |= c->slots.n > slot ? call_word_bit(slot) : 0;
}

/* Puts a pointer-sized integer that may be an address: its words go to SEGMENTS and OFFSETS. GAP is
 * as in memory_looks_mapped. */
static inline void encode_address(Words *segments, Words *offsets, int64_t value, Gap *gap)
{
    Where w = attachments_where((uintptr_t)value, gap);
    bool known = word_is_segment(w.segment);
    words_put(segments, known ? w.segment : WEND_PLAIN);
    words_put(offsets, known ? w.offset : value);
}
static inline void encode_in_address(ActiveCall *c, MPI_Aint a)
{
    encode_address(&c->shape, &c->slots, a, NULL);
}

/* Puts what the application lets MPI keep for it: a pointer, or a number in place of one. */
static inline void encode_in_kept_pointer(ActiveCall *c, const void *p)
{
    if (memory_is_mapped((uintptr_t)p))
        memory_where(p); /* it is known then */
    encode_in_address(c, (MPI_Aint)p);
}

/* Puts an address that the application asked MPI for, or passed to address arithmetic. */
static inline void encode_in_asked_address(ActiveCall *c, MPI_Aint a)
{
    encode_in_address(c, a);
    address_log_add(&c->thread->asked, a);
}

/* Displacements that may lead from one segment to another. BASE is the result of address_log_base
 * for all displacements of the argument. */
typedef struct {
    int64_t base;
    Gap gap;
} Origin;
void encode_distance(ActiveCall *c, int64_t value, int64_t base);
static inline Origin encode_displacement_origin(const ActiveCall *c, const void *values, int64_t n,
                                                size_t width)
{
    return (Origin){.base =
                        __builtin_expect(c->thread->asked != NULL, 0) && values
                            ? address_log_base(c->thread->asked, (Displacements){values, n, width})
                            : 0};
}
static inline void encode_in_displacement(ActiveCall *c, int64_t value, Origin *origin)
{
    if (__builtin_expect(origin->base != 0, 0))
        encode_distance(c, value, origin->base);
    else
        encode_address(&c->shape, &c->slots, value, &origin->gap);
}
static inline void encode_in_patterned_displacement(ActiveCall *c, int64_t value, Origin *origin,
                                                    const ArrayPatterns *patterns)
{
    if (array_patterns_is_number(patterns))
        encode_plain(c, value);
    else
        encode_in_displacement(c, value, origin);
}
static inline void encode_in_displacement_alone(ActiveCall *c, int64_t value)
{
    Origin origin = encode_displacement_origin(c, &value, 1, sizeof value);
    encode_in_displacement(c, value, &origin);
}

/* An address that MPI computed. It is put as a number if all its inputs are numbers. Another
 * process may attach memory while the call runs, which would turn the number into an address, and
 * no proxy can compute an address from numbers. The shapes of these calls have only the function
 * and words of addresses. */
static inline bool encode_any_address(const ActiveCall *c)
{
    for (size_t i = 1; i < c->shape.n; i++)
        if (word_is_segment(c->shape.w[i]))
            return true;
    return false;
}
static inline void encode_out_asked_address(ActiveCall *c, MPI_Aint a)
{
    if (encode_any_address(c))
        encode_in_asked_address(c, a);
    else
        encode_plain(c, a);
}
static inline void encode_out_displacement_alone(ActiveCall *c, int64_t value)
{
    if (encode_any_address(c))
        encode_in_displacement_alone(c, value);
    else
        encode_plain(c, value);
}

/* Puts a bound or an extent of TYPE. */
void encode_out_bound(ActiveCall *c, MPI_Datatype type, int64_t value);

/* Puts the target displacement of a one-sided operation: a number, or in a dynamic window a segment
 * and offset of the target's memory. */
static inline void encode_in_target(ActiveCall *c, const CommMetadata *facts, int target,
                                    MPI_Aint disp)
{
    Where w = {WEND_PLAIN, disp};
    if (facts && facts->members && target >= 0 && target < facts->size)
        w = attachments_at(facts->members[target], (uintptr_t)disp);
    call_put_slot(c, w.segment);
    call_put_slot(c, w.offset);
}

/* Puts what MPI has kept for the application, a pointer or a number in place of one. It is
 * WEND_UNKNOWN if it leads to memory that MPI has not used, such as what a copy function has made:
 * to get it from MPI is no use of it, and another program need not have it. */
void encode_out_kept(ActiveCall *c, int64_t value);
/* Puts the value that MPI_Comm_get_attr or a similar function gave, if the attribute is set.
 * Predefined attributes are numbers behind a pointer of the library. */
void encode_out_attr(ActiveCall *c, int keyval, const void *attribute);

/* -- handles -- */

/* In MPICH, MPI_T_PVAR_ALL_HANDLES is a variable of the library, so no generated table can contain
 * it. */
static inline int64_t encode_pvar_word(MPI_T_pvar_handle h)
{
    return h == MPI_T_PVAR_ALL_HANDLES ? WEND_CONST(WEND_CONSTANT_MPI_T_PVAR_ALL_HANDLES)
                                       : handle_word(HANDLE_PVAR, HANDLE_VALUE(h));
}

/* -- text -- */

void encode_string(Words *row, const char *s);
void encode_strings(Words *row, char *const *s, int64_t n); /* n: length word */
void encode_strings2(Words *row, char **const *s, int64_t n);

/* -- functions -- */

static inline void encode_in_func(ActiveCall *c, const void *f)
{
    call_put_shape(c, f ? closure_word(f) : WEND_NULL_FUNCTION);
}

/* -- statuses -- */

/* The status to pass to the library: the application's, or one of Wend's instead of
 * MPI_STATUS_IGNORE. If memory is short, the application's. */
static inline MPI_Status *encode_status_to_fill(ActiveCall *c, MPI_Status *s)
{
    if (s != MPI_STATUS_IGNORE)
        return s;
    MPI_Status *scratch = thread_statuses(c, 1);
    return scratch ? scratch : MPI_STATUS_IGNORE;
}
static inline MPI_Status *encode_status_filled(MPI_Status *s)
{
    return s == MPI_STATUS_IGNORE ? NULL : s;
}
static inline void encode_status_given(ActiveCall *c, const MPI_Status *s)
{
    call_put_shape(c, s != MPI_STATUS_IGNORE);
}
static inline int64_t encode_posted_bytes(int64_t count, MPI_Datatype type)
{
    int64_t size = datatype_size(type);
    return count > 0 && size > 0 ? count * size : 0;
}
/* of a blocking file operation: only the size is defined */
void encode_out_status_io(ActiveCall *c, const MPI_Status *s, int64_t bytes);
/* for a call that found nothing and has no status */
static inline void encode_out_status_absent(ActiveCall *c)
{
    for (int i = 0; i < 4; i++)
        call_put_outcome(c, 0);
}

#endif
