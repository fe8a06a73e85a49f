/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.h: the lengths of arrays that are arguments, for the generated wrappers. */
#ifndef WEND_LENGTHS_H
#define WEND_LENGTHS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/functions.h"
#include "lib/record/words.h"

/* The length word of an array of N elements. */
static inline int64_t length_of_array(const void *array, int64_t n)
{
    return !array ? -1 : n > 0 ? n : 0;
}
static inline int64_t length_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The length word of edge weights. MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are addresses that stand
 * for an array. */
static inline int64_t length_of_weights(const int *weights, int64_t n)
{
    if (weights == MPI_UNWEIGHTED)
        return WEND_CONST(WEND_CONSTANT_MPI_UNWEIGHTED);
    if (weights == MPI_WEIGHTS_EMPTY)
        return WEND_CONST(WEND_CONSTANT_MPI_WEIGHTS_EMPTY);
    return length_of_array(weights, n);
}

/* -- length rules of the spec; -1: MPI does not know the length -- */

int64_t length_sum(const int *a, int64_t n);
static inline int64_t length_last(const int *a, int64_t n)
{
    return a && n > 0 ? a[n - 1] : 0;
}
/* bytes of the file with that name; -1: there is none; 0 for a special file or a directory */
int64_t length_of_file(const char *name);
int64_t length_cart_ndims(MPI_Comm comm);
int64_t length_graph_nodes(MPI_Comm comm), length_graph_edges(MPI_Comm comm),
    length_graph_neighbors(MPI_Comm comm, int rank);
int64_t length_spawned(const MPI_Comm *made);
int64_t length_type_integers(MPI_Datatype type), length_type_addresses(MPI_Datatype type),
    length_type_datatypes(MPI_Datatype type);
int64_t length_type_integers_c(MPI_Datatype type), length_type_addresses_c(MPI_Datatype type),
    length_type_large_counts_c(MPI_Datatype type), length_type_datatypes_c(MPI_Datatype type);
/* Whether a call touches memory with these N counts, each of WIDTH bytes: one is positive. With
 * TYPES, which may be NULL, that count is of a datatype that is not empty. */
bool length_touches(const void *counts, size_t width, int64_t n, const MPI_Datatype *types);
/* Whether count OWN is positive. True if it is not known (-1). */
bool length_touches_own(const void *counts, size_t width, int own);
/* of an array that ends with NULL */
int64_t length_of_strings(char *const *s);

#endif
