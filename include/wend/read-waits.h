/* SPDX-License-Identifier: BSD-3-Clause */
/* wend/read-waits.h: who waits for whom. A part of wend/read.h, which has the terms, and the
 * rules for results, ownership and threads. */
#ifndef WEND_READ_WAITS_H
#define WEND_READ_WAITS_H

#include "read.h"

#ifdef __cplusplus
extern "C" {
#endif

/** \defgroup waits Who waits for whom
 *
 * With `wend trace --times`, the start of each call tells which calls waited for others. A call
 * waits from its start until the start of the call that it needs, and not beyond its own end. These
 * are the wait states of EXPERT and Scalasca. A call that completes several requests waits for the
 * last of the calls that it needs, MPI_Waitany and the like for the first. Times of other hosts are
 * as good as their clocks.
 * @{
 */

typedef enum {
    WEND_READ_LATE_SENDER,     /**< a receive, a probe, or a completion, waits for the send */
    WEND_READ_WAIT_AT_BARRIER, /**< of MPI_Barrier: a member waits for the one that comes last */
    WEND_READ_WAIT_AT_NXN,     /**< the same in another collective that needs all members */
    WEND_READ_LATE_BROADCAST,  /**< MPI_Bcast, MPI_Scatter: a member waits for the root */
    WEND_READ_EARLY_REDUCE     /**< MPI_Reduce, MPI_Gather: the root waits for the last member */
} WendReadWaitKind;
#define WEND_READ_N_WAIT_KINDS 5

/** How a rank waited, and was waited for. */
typedef struct {
    uint32_t rank;
    uint64_t waits; /**< its calls that waited */
    double seconds;
    uint64_t caused; /**< calls of other ranks that waited for it */
    double seconds_caused;
} WendReadWaitRank;

/** How a rank waited for another. */
typedef struct {
    uint32_t rank, late_rank;
    uint64_t waits;
    double seconds;
} WendReadWaitPair;

/** The calls of one function from one site that waited for those of another one, over all ranks.
 * Ranks are those of the job. */
typedef struct {
    WendReadWaitKind kind;
    const WendReadFunction *function;
    uint32_t site;                         /**< WEND_READ_NO_INDEX: not known */
    const WendReadFunction *late_function; /**< of the calls that began late */
    uint32_t late_site;
    uint64_t waits; /**< number of the calls that waited */
    double seconds; /**< of all of them together */
    double longest;
    uint32_t longest_rank, longest_late_rank; /**< who waited so long, and for whom */
    uint32_t n_ranks;
    const WendReadWaitRank *ranks; /**< ascending */
    uint32_t n_pairs;
    const WendReadWaitPair *pairs; /**< of WEND_READ_LATE_SENDER, the most seconds first. Else there
                                        are none */
} WendReadWait;

/** Gives entry number INDEX, from 0, the most seconds first. Sites that count as one
 * (wend_read_group_sites) share entries. Fails with WEND_READ_ERROR_NONE after the last one, and
 * if the recording does not have the time of each call. The first call goes through the calls of
 * all ranks, as wend_read_messages does. */
int wend_read_wait(WendRead *r, uint32_t index, const WendReadWait **wait);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
