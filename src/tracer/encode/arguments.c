/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments.c: the parts of the generated wrappers that loop or call MPI. Wait and Test are in
 * completion.c.
 *
 * MPI is asked only inside a wrapper, only about handles that Wend knows, and only in calls that
 * cannot fail. The application's error handlers must not run for a call of Wend. */
#include "encode.h"
#include "own.gen.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* -- length rules -- */

int64_t sum_ints(const int *a, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; a && i < n; i++)
        sum += a[i] > 0 ? a[i] : 0;
    return sum;
}

/* The topology of COMM; MPI_UNDEFINED if the communicator is unknown. */
static int topology(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    if (!comm_metadata(comm) || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    return kind;
}

int64_t cart_ndims(MPI_Comm comm)
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

int64_t graph_nodes(MPI_Comm comm)
{
    int nodes, edges;
    graph_dims(comm, &nodes, &edges);
    return nodes;
}

int64_t graph_edges(MPI_Comm comm)
{
    int nodes, edges;
    graph_dims(comm, &nodes, &edges);
    return edges;
}

int64_t graph_neighbors(MPI_Comm comm, int rank)
{
    int n = 0;
    const CommMetadata *f = comm_metadata(comm);
    if (!f || rank < 0 || rank >= f->size || topology(comm) != MPI_GRAPH)
        return 0;
    return PMPI_Graph_neighbors_count(comm, rank, &n) == MPI_SUCCESS ? n : 0;
}

/* The number of processes that were started, which may be less than the application wanted. */
int64_t spawned(const MPI_Comm *made)
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
int64_t type_integers(MPI_Datatype type)
{
    return envelope(type).integers;
}
int64_t type_addresses(MPI_Datatype type)
{
    return envelope(type).addresses;
}
int64_t type_datatypes(MPI_Datatype type)
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
int64_t type_integers_c(MPI_Datatype type)
{
    return envelope_c(type).integers;
}
int64_t type_addresses_c(MPI_Datatype type)
{
    return envelope_c(type).addresses;
}
int64_t type_large_counts_c(MPI_Datatype type)
{
    return envelope_c(type).large_counts;
}
int64_t type_datatypes_c(MPI_Datatype type)
{
    return envelope_c(type).datatypes;
}
#endif

/* -- files -- */

int64_t file_bytes(const char *name)
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

/* -- displacements -- */

void put_distance(ActiveCall *c, int64_t value, int64_t base)
{
    int64_t target = base + value;
    Where from = memory_where((const void *)base), to = {WEND_UNKNOWN, 0};
    if (address_log_segment(base, target) != from.segment)
        to = memory_where((const void *)target);
    if (!wend_is_segment(from.segment) || !wend_is_segment(to.segment)) {
        put_shape(c, WEND_PLAIN);
        put_slot(c, value);
        return;
    }
    put_shape(c, WEND_DISTANCE);
    put_shape(c, to.segment);
    put_shape(c, from.segment);
    put_slot(c, to.offset);
    put_slot(c, from.offset);
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

void out_bound(ActiveCall *c, MPI_Datatype type, int64_t value)
{
    Origin origin = {0};
    /* other datatypes have no distance between addresses, even if a number happens to equal one */
    if (value != 0 && datatypes_vary(&type, 1)) {
        if (!is_placed(type))
            origin = displacement_origin(c, &value, 1, sizeof value);
        if (origin.base == 0 && !attachments_looks_mapped((uintptr_t)value, NULL)) {
            put_shape(c, WEND_UNKNOWN);
            return;
        }
    }
    in_displacement(c, value, &origin);
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

void out_kept(ActiveCall *c, int64_t value)
{
    Where known = memory_known((const void *)value);
    if (wend_is_segment(known.segment)) {
        put_outcome(c, known.segment);
        put_outcome(c, known.offset);
    } else if (memory_is_mapped((uintptr_t)value)) {
        put_outcome(c, WEND_UNKNOWN);
    } else {
        put_address(&c->outcome, &c->outcome, value, NULL);
    }
}

void out_attr(ActiveCall *c, int keyval, const void *attribute)
{
    void *p = *(void *const *)attribute;
    int64_t value;
    if (p && number_attribute(keyval, p, &value)) {
        put_outcome(c, WEND_PLAIN);
        put_outcome(c, value);
    } else {
        out_kept(c, (int64_t)(intptr_t)p);
    }
}

/* -- text -- */

void put_string(Words *row, const char *s)
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

int64_t strings_length(char *const *s)
{
    int64_t n = 0;
    if (!s)
        return -1;
    while (s[n])
        n++;
    return n;
}

void put_strings(Words *row, char *const *s, int64_t n)
{
    words_put(row, n);
    for (int64_t i = 0; i < n; i++)
        put_string(row, s[i]);
}

void put_strings2(Words *row, char **const *s, int64_t n)
{
    words_put(row, n);
    for (int64_t i = 0; i < n; i++)
        put_strings(row, s[i], strings_length(s[i]));
}

/* -- statuses -- */

/* Puts a status of a file operation. Libraries leave its source and tag undefined. */
void out_status_io(ActiveCall *c, const MPI_Status *s, int64_t bytes)
{
    MPI_Count n = 0;
    if (!s || PMPI_Get_elements_x(s, MPI_BYTE, &n) != MPI_SUCCESS || n == MPI_UNDEFINED)
        n = (MPI_Count)bytes;
    put_outcome(c, 0);
    put_outcome(c, 0);
    put_outcome(c, bytes - (int64_t)n);
    put_outcome(c, 0);
}
