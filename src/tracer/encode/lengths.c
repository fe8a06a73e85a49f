/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.c: see lengths.h. MPI is asked as arguments.c says. */
#include "encode.h"
#include "own.gen.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

int64_t length_sum(const int *a, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; a && i < n; i++)
        sum += a[i] > 0 ? a[i] : 0;
    return sum;
}

static bool is_positive(const void *counts, size_t width, int64_t i)
{
    return width == sizeof(int) ? ((const int *)counts)[i] > 0 : ((const MPI_Count *)counts)[i] > 0;
}

bool length_touches(const void *counts, size_t width, int64_t n, const MPI_Datatype *types)
{
    for (int64_t i = 0; counts && i < n; i++)
        if (is_positive(counts, width, i) && !(types && datatype_is_empty(types[i])))
            return true;
    return false;
}

bool length_touches_own(const void *counts, size_t width, int own)
{
    return own < 0 || (counts && is_positive(counts, width, own));
}

/* The topology of COMM; MPI_UNDEFINED if the communicator is unknown. */
static int topology(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    if (!comm_metadata(comm) || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    return kind;
}

int64_t length_cart_ndims(MPI_Comm comm)
{
    int n = 0;
    return topology(comm) == MPI_CART && PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS ? n : 0;
}

static void graph_dims(MPI_Comm comm, int *nodes, int *edges)
{
    *nodes = *edges = 0;
    if (topology(comm) == MPI_GRAPH)
        PMPI_Graphdims_get(comm, nodes, edges);
}

int64_t length_graph_nodes(MPI_Comm comm)
{
    int nodes, edges;
    graph_dims(comm, &nodes, &edges);
    return nodes;
}

int64_t length_graph_edges(MPI_Comm comm)
{
    int nodes, edges;
    graph_dims(comm, &nodes, &edges);
    return edges;
}

int64_t length_graph_neighbors(MPI_Comm comm, int rank)
{
    int n = 0;
    const CommMetadata *f = comm_metadata(comm);
    if (!f || rank < 0 || rank >= f->size || topology(comm) != MPI_GRAPH)
        return 0;
    return PMPI_Graph_neighbors_count(comm, rank, &n) == MPI_SUCCESS ? n : 0;
}

/* The number of processes that were started, which may be less than the application wanted. */
int64_t length_spawned(const MPI_Comm *made)
{
    const CommMetadata *f = made ? comm_metadata(*made) : NULL;
    return f && f->remote_size > 0 ? f->remote_size : 0;
}

/* The envelope of TYPE. MPI_Type_get_contents has succeeded, so this call succeeds, too. */
typedef struct {
    int integers, addresses, datatypes, combiner;
} Envelope;
static Envelope envelope(MPI_Datatype type)
{
    Envelope e = {0, 0, 0, 0};
    if (PMPI_Type_get_envelope(type, &e.integers, &e.addresses, &e.datatypes, &e.combiner)
        != MPI_SUCCESS)
        e = (Envelope){0, 0, 0, 0};
    return e;
}
int64_t length_type_integers(MPI_Datatype type)
{
    return envelope(type).integers;
}
int64_t length_type_addresses(MPI_Datatype type)
{
    return envelope(type).addresses;
}
int64_t length_type_datatypes(MPI_Datatype type)
{
    return envelope(type).datatypes;
}

#ifdef HAVE_MPI_Type_get_envelope_c
typedef struct {
    MPI_Count integers, addresses, large_counts, datatypes;
    int combiner;
} LargeEnvelope;
static LargeEnvelope envelope_c(MPI_Datatype type)
{
    LargeEnvelope e = {0, 0, 0, 0, 0};
    if (PMPI_Type_get_envelope_c(type, &e.integers, &e.addresses, &e.large_counts, &e.datatypes,
                                 &e.combiner)
        != MPI_SUCCESS)
        e = (LargeEnvelope){0, 0, 0, 0, 0};
    return e;
}
int64_t length_type_integers_c(MPI_Datatype type)
{
    return envelope_c(type).integers;
}
int64_t length_type_addresses_c(MPI_Datatype type)
{
    return envelope_c(type).addresses;
}
int64_t length_type_large_counts_c(MPI_Datatype type)
{
    return envelope_c(type).large_counts;
}
int64_t length_type_datatypes_c(MPI_Datatype type)
{
    return envelope_c(type).datatypes;
}
#endif

/* -- files -- */

int64_t length_of_file(const char *name)
{
    struct stat info;
    int saved = errno;
    bool there = name && stat(name, &info) == 0;
    if (name && !there) {
        /* "ufs:/data/input": libraries accept a type of file system as prefix */
        const char *end = name;
        while (isalnum((unsigned char)*end))
            end++;
        there = end > name && *end == ':' && stat(end + 1, &info) == 0;
    }
    errno = saved;
    return !there ? -1 : S_ISREG(info.st_mode) ? (int64_t)info.st_size : 0;
}

/* -- strings -- */

int64_t length_of_strings(char *const *s)
{
    int64_t n = 0;
    if (!s)
        return -1;
    while (s[n])
        n++;
    return n;
}
