/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.h: parts of ranks -> one recording, which archive/write.h writes. The tracer calls these
 * through dlopen; tests and benchmarks directly.
 *
 * A WendMerge holds the classes of a set of ranks. Merging two is associative over disjoint rank
 * sets, so ranks pair up in log2(P) steps. A rank reads its own part and, if they are small, those
 * of the next ranks (tree.h). It absorbs the merges that others encoded, and encodes its own for
 * the next rank.
 *
 * This header is the interface of the folder. Other folders include these of its headers, too:
 *
 * - the archive and the reader, for the inside of a merged recording: recording.h, derive.h,
 *   hosts.h, rank-times.h, shared-sides.h, side-members.h, timing.h, timing-rows.h
 * - the archive and the commands: totals.h, the number of calls
 * - the tracer: tree.h, the order in which ranks merge */
#ifndef WEND_MERGE_H
#define WEND_MERGE_H

#include "base/containers.h"
#include "base/error.h"

typedef struct WendMerge WendMerge;

/* Reads the part of one rank. It may take 16 times the part's bytes and ROOM more, which it needs
 * for values of elastic shapes. Returns NULL and sets the error: WEND_ERROR_SYSTEM if it would take
 * more. */
WendMerge *merge_from_part(const uint8_t *part, size_t n, uint64_t room, Error **error);
/* Merges OTHER, which is freed, into M. Returns false and sets the error if they do not belong
 * together or OTHER is damaged. */
bool merge_unite(WendMerge *m, WendMerge *other, Error **error);
/* Merges what merge_encode of another rank wrote. Returns false and sets the error if it is
 * damaged. */
bool merge_absorb(WendMerge *m, const uint8_t *encoded, size_t n, Error **error);
/* An estimate of the bytes that it holds. */
uint64_t merge_memory(const WendMerge *m);
/* Encodes M for the partner. The caller unrefs the result. */
Vector *merge_encode(WendMerge *m);
/* Functions that were called but cannot be recorded: "MPI_A, MPI_B and 3 others". Newly allocated;
 * NULL: there are none. */
char *merge_unrecorded(const WendMerge *m);
/* The number of ranks whose recording stopped at WEND_MAX_MEMORY. If it is not 0, *CALLS is the
 * number of calls of the rank that stopped first. */
uint32_t merge_stopped(const WendMerge *m, uint64_t *calls);
/* The number of ranks whose recorders had no memory for all of their side streams. If it is not 0,
 * *KINDS names those that the first rank lacks (part.h), and is valid as long as M. */
uint32_t merge_cut(const WendMerge *m, const char **kinds);
/* The MPI calls of all ranks that were made while recording was off. */
uint64_t merge_left_out(const WendMerge *m);
void merge_free(WendMerge *m);

#endif
