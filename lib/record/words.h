/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h: the 64-bit words that calls are recorded in.
 *
 * docs/recording.md ("Calls as words") says which words each kind of parameter gives. This header
 * has the few special values, and the packing of handles and segments. Used by the tracer and by
 * every reader; needs nothing but C11.
 */
#ifndef WEND_WORDS_H
#define WEND_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Specials. None of them collides with an ordinary value: counts, ranks and displacements are far
 * from INT64_MIN. */
#define WEND_SPECIAL_BASE (INT64_MIN + 0x100000)
#define WEND_ABSENT (INT64_MIN + 1)  /* not significant at this caller; not read */
#define WEND_UNKNOWN (INT64_MIN + 2) /* a handle or pointer that Wend has never seen made */
#define WEND_IGNORE \
    (INT64_MIN      \
     + 3) /* MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE, MPI_UNWEIGHTED as constants are WEND_CONST */
#define WEND_PLAIN (INT64_MIN + 4)    /* kind address: the slot is a plain number */
#define WEND_DISTANCE (INT64_MIN + 5) /* kind address: the distance of two places follows */
#define WEND_PROGRESSIONS \
    (INT64_MIN + 6) /* as an array's length: its elements follow as progressions */

/* Arrays of more elements are not recorded as progressions: a small archive must not unfold to
 * unlimited memory. */
#define WEND_MOST_UNFOLDED (INT64_C(1) << 24)

/* A function that the caller gave as NULL, if no constant of the parameter's group is NULL. */
#define WEND_NULL_FUNCTION INT64_C(-1)

/* Named constant number i of the spec's list. */
#define WEND_CONST(i) (INT64_MIN + 0x1000 + (int64_t)(i))
static inline bool word_is_special(int64_t w)
{
    return w < WEND_SPECIAL_BASE;
}
static inline bool word_is_const(int64_t w)
{
    return w >= INT64_MIN + 0x1000 && w < WEND_SPECIAL_BASE;
}
static inline uint32_t word_const_index(int64_t w)
{
    return (uint32_t)(w - (INT64_MIN + 0x1000));
}

/* Handles and requests: the making thread's number and a number in that thread. */
#define WEND_HANDLE(tid, n) (((int64_t)(tid) << 32) | (int64_t)(n))
static inline bool word_is_handle(int64_t w)
{
    return w >= 0;
}
static inline uint32_t word_handle_tid(int64_t w)
{
    return (uint32_t)(w >> 32);
}
static inline uint32_t word_handle_number(int64_t w)
{
    return (uint32_t)w;
}

/* Segments of memory. A pointer that is none of them is a constant (MPI_BOTTOM, MPI_IN_PLACE, …) or
 * WEND_UNKNOWN. */
enum segment_kind {
    WEND_SEGMENT_HEAP,   /* malloc and its family */
    WEND_SEGMENT_STACK,  /* the calling thread's own stack; id = thread number */
    WEND_SEGMENT_STATIC, /* data of the executable or a shared object */
    WEND_SEGMENT_MPI,    /* MPI_Alloc_mem */
    /* memory of a window that MPI allocated (own part or, in shared windows, another rank's) */
    WEND_SEGMENT_WIN,
    WEND_SEGMENT_MAP, /* any other mapping, stacks of other threads among them */
    /* of another process, attached to a dynamic window: kind address only. id = its segment word
     * there */
    WEND_SEGMENT_REMOTE,
    /* CUDA's allocators; wend_device, wend_managed or wend_pinned says where it is. Shares its
     * numbers with the heap */
    WEND_SEGMENT_CUDA,
    WEND_SEGMENT_KINDS
};
#define WEND_SEGMENT(kind, id) (((int64_t)(id) << 3) | (int64_t)(kind))
static inline bool word_is_segment(int64_t w)
{
    return w >= 0;
}
/* Does a second word, in the slots, belong to a segment's word? It is the offset, or behind
 * WEND_PLAIN the number. */
static inline bool word_segment_has_second(int64_t w)
{
    return word_is_segment(w) || w == WEND_PLAIN;
}
static inline enum segment_kind segment_kind(int64_t w)
{
    return (enum segment_kind)(w & 7);
}
static inline int64_t word_segment_id(int64_t w)
{
    return w >> 3;
}
/* Ids of heap, static, MPI-allocated, window and mapped segments are as those of handles: the
 * thread that named it, and a number in that thread. */
#define WEND_SEGMENT_OF(kind, tid, n) WEND_SEGMENT(kind, WEND_HANDLE(tid, n))
static inline uint32_t word_segment_thread(int64_t w)
{
    return (uint32_t)(word_segment_id(w) >> 32);
}
static inline uint32_t word_segment_number(int64_t w)
{
    return (uint32_t)word_segment_id(w);
}

/* The word that the segment has if CUDA's memory is taken for the heap's, as in a proxy for
 * machines without CUDA. */
static inline int64_t word_segment_in_host_memory(int64_t w)
{
    if (!word_is_segment(w))
        return w;
    if (segment_kind(w) == WEND_SEGMENT_REMOTE)
        return WEND_SEGMENT(WEND_SEGMENT_REMOTE, word_segment_in_host_memory(word_segment_id(w)));
    return segment_kind(w) == WEND_SEGMENT_CUDA
               ? WEND_SEGMENT(WEND_SEGMENT_HEAP, word_segment_id(w))
               : w;
}

/* The offset of an address in a WEND_SEGMENT_REMOTE has the process (its rank in MPI_COMM_WORLD) in
 * the lower bits, so that "my right neighbour's" is the same thing on all ranks. */
#define WEND_REMOTE_OFFSET(rank, offset) ((int64_t)((uint64_t)(offset) << 24 | (uint64_t)(rank)))
static inline uint32_t word_remote_rank(int64_t w)
{
    return (uint32_t)w & 0xffffff;
}
static inline int64_t word_remote_offset(int64_t w)
{
    return w >> 24;
}

/* Kinds of user callbacks, by the C type of the function; the kind in wend_return. */
/* clang-format off */
#define WEND_CALLBACKS(X) \
    X(MPI_User_function) \
    X(MPI_User_function_c) \
    X(MPI_Comm_copy_attr_function) \
    X(MPI_Comm_delete_attr_function) \
    X(MPI_Type_copy_attr_function) \
    X(MPI_Type_delete_attr_function) \
    X(MPI_Win_copy_attr_function) \
    X(MPI_Win_delete_attr_function) \
    X(MPI_Copy_function) \
    X(MPI_Delete_function) \
    X(MPI_Comm_errhandler_function) \
    X(MPI_File_errhandler_function) \
    X(MPI_Win_errhandler_function) \
    X(MPI_Session_errhandler_function) \
    X(MPI_Handler_function) \
    X(MPI_Grequest_query_function) \
    X(MPI_Grequest_free_function) \
    X(MPI_Grequest_cancel_function) \
    X(MPIX_Grequest_poll_function) \
    X(MPIX_Grequest_wait_function) \
    X(MPI_Datarep_conversion_function) \
    X(MPI_Datarep_conversion_function_c) \
    X(MPI_Datarep_extent_function) \
    X(MPI_T_event_cb_function) \
    X(MPI_T_event_free_cb_function) \
    X(MPI_T_event_dropped_cb_function)
/* clang-format on */
#define WEND_CALLBACK_ENUM(type) WEND_CALLBACK_##type,
enum WendCallback { WEND_CALLBACKS(WEND_CALLBACK_ENUM) WEND_CALLBACK_KINDS };

/* A sequence has the calls of a thread, or those of a callback that MPI called. Or it has the order
 * in which the threads of a rank received or sent on one communicator, as pseudo-calls. */
enum sequence_kind {
    WEND_SEQUENCE_THREAD = 0,
    WEND_SEQUENCE_CALLBACK = 1,
    WEND_SEQUENCE_RECEIVES = 2,
    WEND_SEQUENCE_SENDS = 3,
    WEND_SEQUENCE_KINDS
};

/* Word 0 of a shape. FAILED: the record has no outputs. */
#define WEND_SHAPE_HEAD(function, failed) ((int64_t)(function)*2 + ((failed) ? 1 : 0))

/* A bit of the last word of a shape, whose others say where the caller gave NULL. Set: the call had
 * not returned when the recording ended. Word 0 has FAILED too. */
#define WEND_UNFINISHED (INT64_C(1) << 62)
/* Whether a shape of N words is that of a call that had not returned when the recording ended. */
static inline bool words_unfinished(const int64_t *shape, size_t n)
{
    return (shape[0] & 1) && n > 1 && shape[n - 1] > 0 && (shape[n - 1] & WEND_UNFINISHED) != 0;
}

/* Are the N words at A and B equal? Rows are short (about 15 words in all) and mostly equal. So two
 * words are compared at once, without a branch for each, which is faster than memcmp. Long rows use
 * memcmp, which ends at the first difference. */
typedef int64_t WendWordPair __attribute__((vector_size(16), aligned(8), may_alias));
static inline bool words_equal(const int64_t *a, const int64_t *b, size_t n)
{
    if (n < 2)
        return n == 0 || *a == *b;
    if (n > 64)
        return memcmp(a, b, n * sizeof *a) == 0;
    /* the last two words; for even n the loop would reach them too */
    WendWordPair differ = *(const WendWordPair *)(a + n - 2) ^ *(const WendWordPair *)(b + n - 2);
    for (size_t i = 0; i + 2 < n; i += 2)
        differ |= *(const WendWordPair *)(a + i) ^ *(const WendWordPair *)(b + i);
    return (differ[0] | differ[1]) == 0;
}

#endif
