/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.h: the words of the neighbours in a graph (WEND_KIND_NEIGHBOURS).
 *
 * MPI_Dist_graph_create gives each rank its neighbours in an order of the library's choice, which
 * may differ from run to run. The order is an outcome of the call: the array's words are 1 or 0
 * (are there weights?), the indegree, the outdegree, the sources and then the destinations, each as
 * its rank minus the caller's, both in the new communicator; and with weights those of the sources,
 * then those of the destinations. docs/recording.md, "Calls as words". */
#ifndef WEND_NEIGHBOURS_H
#define WEND_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

enum { WEND_NEIGHBOURS_HEAD = 3 }; /* words before the sources */

typedef struct {
    bool weighted;
    int64_t n[2];              /* sources, destinations */
    const int64_t *ranks[2];   /* minus the caller's */
    const int64_t *weights[2]; /* NULL: none */
} Neighbours;

/* Splits the N words at WORDS; the arrays of *OUT point into them. False: they are invalid, or the
 * recorder could not ask for the neighbours. */
static inline bool neighbours_read(const int64_t *words, int64_t n, Neighbours *out)
{
    if (!words || n < WEND_NEIGHBOURS_HEAD || words[0] < 0 || words[0] > 1)
        return false;
    *out = (Neighbours){.weighted = words[0] == 1, .n = {words[1], words[2]}};
    int64_t left = n - WEND_NEIGHBOURS_HEAD;
    if (out->n[0] < 0 || out->n[0] > left || out->n[1] < 0 || out->n[1] > left)
        return false;
    if (left != (out->n[0] + out->n[1]) * (out->weighted ? 2 : 1))
        return false;
    const int64_t *rest = words + WEND_NEIGHBOURS_HEAD;
    for (int i = 0; i < 2; rest += out->n[i++])
        out->ranks[i] = rest;
    for (int i = 0; out->weighted && i < 2; rest += out->n[i++])
        out->weights[i] = rest;
    return true;
}

#endif
