/* SPDX-License-Identifier: BSD-3-Clause */
/* encode.h: arguments -> words, for the generated wrappers. What each kind gives is in
 * docs/recording.md.
 *
 * Helpers take the row (c->shape, c->slots, c->outcome) that the spec says. Those of cheap kinds
 * are inline; what loops or asks MPI is in arguments.c. */
#ifndef WEND_ENCODE_H
#define WEND_ENCODE_H

#include <limits.h>

#include "closures.h"
#include "array-patterns.h"
#include "functions.gen.h"
#include "memory/address.h"
#include "objects/objects.h"
#include "recorder/recorder.h"

#define WEND_EXPORT __attribute__((visibility("default")))
#define HANDLE_VALUE(h) ((uintptr_t)(h))

/* MPI runs on this thread below a wrapper: what it calls now is its own affair. */
static inline bool call_inside(void)
{
    return wend_thread && wend_thread->inside;
}

/* What to give the library for a function of the application. C is the wrapper's ActiveCall: with
 * one, this thread is inside by its own doing. Also while Wend is off: a function handed over now
 * may run when it is on. */
#define CALLBACK(type, function)                                \
    (!c && call_inside() ? (function)                           \
                         : (__typeof__(function))callback_wrap( \
                             WEND_CALLBACK_##type, (void *)(function), CALLERS_LANGUAGE()))

/* -- who calls -- */

static inline int facts_self(const CommMetadata *f)
{
    return f ? f->rank : -1;
}
static inline int64_t facts_size(const CommMetadata *f)
{
    return f->remote_size >= 0 ? f->remote_size : f->size;
}

/* Arguments that matter at the root; where data is contributed; at all (docs of mpi.spec: ?root,
 * ?leaf, ?member). An unknown communicator: nowhere. */
static inline bool facts_root(const CommMetadata *f, int root)
{
    return f && (f->remote_size < 0 ? root == f->rank : root == MPI_ROOT);
}
static inline bool facts_leaf(const CommMetadata *f, int root)
{
    return f && (f->remote_size < 0 || root >= 0);
}
static inline bool facts_member(const CommMetadata *f, int root)
{
    return f && (f->remote_size < 0 || root != MPI_PROC_NULL);
}

/* -- arrays -- */

/* Length word of an array of N elements. */
static inline int64_t array_length(const void *array, int64_t n)
{
    return !array ? -1 : n > 0 ? n : 0;
}
static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Edge weights: MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are addresses that stand for an array. */
static inline int64_t weights_length(const int *weights, int64_t n)
{
    if (weights == MPI_UNWEIGHTED)
        return WEND_CONST(WEND_CONSTANT_MPI_UNWEIGHTED);
    if (weights == MPI_WEIGHTS_EMPTY)
        return WEND_CONST(WEND_CONSTANT_MPI_WEIGHTS_EMPTY);
    return array_length(weights, n);
}

/* Length rules of the spec: -1 where MPI does not know. */
int64_t sum_ints(const int *a, int64_t n);
static inline int64_t last_int(const int *a, int64_t n)
{
    return a && n > 0 ? a[n - 1] : 0;
}
/* of what is under that name; -1: nothing. For a special file or a directory 0 */
int64_t file_bytes(const char *name);
int64_t cart_ndims(MPI_Comm comm);
int64_t graph_nodes(MPI_Comm comm), graph_edges(MPI_Comm comm),
    graph_neighbors(MPI_Comm comm, int rank);
int64_t spawned(const MPI_Comm *made);
int64_t type_integers(MPI_Datatype type), type_addresses(MPI_Datatype type),
    type_datatypes(MPI_Datatype type);
int64_t type_integers_c(MPI_Datatype type), type_addresses_c(MPI_Datatype type),
    type_large_counts_c(MPI_Datatype type), type_datatypes_c(MPI_Datatype type);

/* -- addresses -- */

/* Where an address may stand, and a number does. */
static inline void put_plain(ActiveCall *c, int64_t value)
{
    put_shape(c, WEND_PLAIN);
    put_slot(c, value);
}

/* A choice buffer, or a base address that MPI made: segment (shape), and offset (slot) if it is
 * one; a small number stays one. */
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

/* An integer, pointer-sized value that may be an address: its words go to SEGMENTS and OFFSETS.
 * GAP: as in memory_looks_mapped. */
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

/* An address that MPI was asked for, or was given to reckon with. */
static inline void in_asked_address(ActiveCall *c, MPI_Aint a)
{
    in_address(c, a);
    address_log_add(&c->thread->asked, a);
}

/* Displacements, which may lead from segment to segment: BASE is what address_log_base says of all
 * that stand together. */
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
static inline void in_folded_displacement(ActiveCall *c, int64_t value, Origin *origin,
                                          const Folding *folding)
{
    if (array_pattern_is_number(folding))
        put_plain(c, value);
    else
        in_displacement(c, value, origin);
}
static inline void in_displacement_alone(ActiveCall *c, int64_t value)
{
    Origin origin = displacement_origin(c, &value, 1, sizeof value);
    in_displacement(c, value, &origin);
}

/* What MPI reckoned from addresses: a number if all of them are numbers here. Memory that another
 * process attaches while the call runs would make it an address, and no proxy can reckon that from
 * numbers. These calls have no words in their shape but the function and those of addresses. */
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

/* A bound or an extent of TYPE. */
void out_bound(ActiveCall *c, MPI_Datatype type, int64_t value);

/* Where a one-sided operation goes: a number, and in dynamic windows a place in the target's
 * memory. */
static inline void in_target(ActiveCall *c, const CommMetadata *facts, int target, MPI_Aint disp)
{
    Where w = {WEND_PLAIN, disp};
    if (facts && facts->members && target >= 0 && target < facts->size)
        w = attachments_at(facts->members[target], (uintptr_t)disp);
    put_slot(c, w.segment);
    put_slot(c, w.offset);
}

/* What MPI_Comm_get_attr and its like gave, where the library says there is one. Predefined
 * attributes are numbers behind a pointer of the library. */
void out_attr(ActiveCall *c, int keyval, const void *attribute);

/* -- handles -- */

/* MPI_T_PVAR_ALL_HANDLES is a variable of the library in MPICH, so that no table can hold it. */
static inline int64_t pvar_word(MPI_T_pvar_handle h)
{
    return h == MPI_T_PVAR_ALL_HANDLES ? WEND_CONST(WEND_CONSTANT_MPI_T_PVAR_ALL_HANDLES)
                                       : handle_word(HANDLE_PVAR, HANDLE_VALUE(h));
}

/* -- text -- */

void put_string(Words *row, const char *s);
void put_strings(Words *row, char *const *s, int64_t n); /* n: length word */
void put_strings2(Words *row, char **const *s, int64_t n);
int64_t strings_length(char *const *s); /* up to the NULL */

/* -- functions -- */

static inline void in_func(ActiveCall *c, const void *f)
{
    put_shape(c, f ? func_word(f) : WEND_NULL_FUNCTION);
}

/* -- statuses -- */

/* The status to give the library: the application's, or one of Wend's in the place of
 * MPI_STATUS_IGNORE. Without memory: the application's. */
static inline MPI_Status *status_to_fill(ActiveCall *c, MPI_Status *s)
{
    if (s != MPI_STATUS_IGNORE)
        return s;
    MPI_Status *scratch = scratch_statuses(c, 1);
    return scratch ? scratch : MPI_STATUS_IGNORE;
}
static inline const MPI_Status *status_filled(const MPI_Status *s)
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
/* of a blocking file operation: only the size means something */
void out_status_io(ActiveCall *c, const MPI_Status *s, int64_t bytes);
/* nothing was there to have one */
static inline void out_status_absent(ActiveCall *c)
{
    for (int i = 0; i < 4; i++)
        put_outcome(c, 0);
}

#endif
