/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.c: see roles.h. */
#include "config.h"

#include "roles.h"

#include <string.h>

static const struct {
    const char *name; /* without MPI_, I…, …_init and …_c */
    OTF2_CollectiveOp op;
    OTF2_RegionRole region;
} collectives[] = {
    {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Barrier", OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_BARRIER},
    {"Bcast", OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {"Gather", OTF2_COLLECTIVE_OP_GATHER, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Reduce", OTF2_COLLECTIVE_OP_REDUCE, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
     OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"Scan", OTF2_COLLECTIVE_OP_SCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {"Scatter", OTF2_COLLECTIVE_OP_SCATTER, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV, OTF2_REGION_ROLE_COLL_ONE2ALL},
};

static const struct {
    const char *name; /* without MPI_, R… and …_c */
    ActKind kind;
    OTF2_RmaAtomicType atomic;
} one_sided[] = {
    {"Put", ACT_PUT, 0},
    {"Get", ACT_GET, 0},
    {"Accumulate", ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE},
    {"Get_accumulate", ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
    {"Fetch_and_op", ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
    {"Compare_and_swap", ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP},
    {"Win_create", ACT_WIN_MAKE, 0},
    {"Win_create_dynamic", ACT_WIN_MAKE, 0},
    {"Win_allocate", ACT_WIN_MAKE, 0},
    {"Win_allocate_shared", ACT_WIN_MAKE, 0},
    {"Win_free", ACT_WIN_FREE, 0},
    {"Win_fence", ACT_WIN_FENCE, 0},
    {"Win_complete", ACT_WIN_SYNC, 0},
    {"Win_unlock", ACT_WIN_SYNC, 0},
    {"Win_unlock_all", ACT_WIN_SYNC, 0},
    {"Win_flush", ACT_WIN_SYNC, 0},
    {"Win_flush_all", ACT_WIN_SYNC, 0},
};

/* NAME without MPI_ and _c. */
static char *stem_of(const char *name)
{
    if (g_str_has_prefix(name, "MPI_"))
        name += 4;
    gsize n = strlen(name);
    return g_strndup(name, g_str_has_suffix(name, "_c") ? n - 2 : n);
}

/* STEM without a first LETTER, the next one a capital. */
static char *without(const char *stem, char letter)
{
    char *rest = g_strdup(stem + (*stem == letter));
    *rest = g_ascii_toupper(*rest);
    return rest;
}

static void find_collective(Act *a, const char *stem)
{
    g_autofree char *at_once = without(stem, 'I');
    gsize n = strlen(stem);
    gboolean init = g_str_has_suffix(stem, "_init");
    for (guint i = 0; i < G_N_ELEMENTS(collectives); i++) {
        const char *name = collectives[i].name;
        gboolean made = init && strlen(name) == n - 5 && strncmp(stem, name, n - 5) == 0;
        if (!made && strcmp(stem, name) != 0 && strcmp(at_once, name) != 0)
            continue;
        a->kind = ACT_COLLECTIVE;
        a->persistent = made;
        a->op = collectives[i].op;
        a->region = collectives[i].region;
    }
}

static void find_one_sided(Act *a, const char *stem)
{
    g_autofree char *plain = without(stem, 'R');
    for (guint i = 0; i < G_N_ELEMENTS(one_sided); i++) {
        if (strcmp(stem, one_sided[i].name) != 0 && strcmp(plain, one_sided[i].name) != 0)
            continue;
        a->kind = one_sided[i].kind;
        a->atomic = one_sided[i].atomic;
    }
    if (g_str_has_prefix(stem, "Win_") || a->kind != ACT_NONE)
        a->region = OTF2_REGION_ROLE_RMA;
}

static void find_file(Act *a, const char *stem)
{
    if (!g_str_has_prefix(stem, "File_"))
        return;
    const char *rest = stem + 5;
    a->region = OTF2_REGION_ROLE_FILE_IO;
    a->begins = g_str_has_suffix(rest, "_begin");
    a->ends = g_str_has_suffix(rest, "_end");
    a->collective = strstr(rest, "_all") != NULL || strstr(rest, "_ordered") != NULL;
    if (strcmp(rest, "open") == 0)
        a->kind = ACT_FILE_OPEN;
    else if (strcmp(rest, "close") == 0)
        a->kind = ACT_FILE_CLOSE;
    else if (strcmp(rest, "seek") == 0 || strcmp(rest, "seek_shared") == 0)
        a->kind = ACT_FILE_SEEK;
    else if (g_str_has_prefix(rest, "read") || g_str_has_prefix(rest, "iread"))
        a->kind = ACT_FILE_READ;
    else if (g_str_has_prefix(rest, "write") || g_str_has_prefix(rest, "iwrite"))
        a->kind = ACT_FILE_WRITE;
    else
        a->region = OTF2_REGION_ROLE_FILE_IO_METADATA;
}

static void find_message(Act *a, const WendReadFunction *f, const char *stem)
{
    gboolean probes = strstr(stem, "robe") != NULL;
    a->region = OTF2_REGION_ROLE_POINT2POINT;
    if (strcmp(stem, "Start") == 0 || strcmp(stem, "Startall") == 0) {
        a->kind = ACT_START;
    } else if (strcmp(stem, "Request_free") == 0) {
        a->kind = ACT_FREE;
    } else if ((f->flags & (WEND_READ_SENDS | WEND_READ_RECEIVES)) != 0 && !probes
               && (f->flags & (WEND_READ_COLLECTIVE | WEND_READ_COMPLETES)) == 0) {
        a->kind = ACT_MESSAGE;
        a->sends = (f->flags & WEND_READ_SENDS) != 0;
        a->receives = (f->flags & WEND_READ_RECEIVES) != 0;
        a->persistent = (f->flags & WEND_READ_PERSISTENT) != 0;
        a->takes = strcmp(stem, "Mrecv") == 0 || strcmp(stem, "Imrecv") == 0;
    } else if (!probes && (f->flags & WEND_READ_COMPLETES) == 0) {
        a->region = OTF2_REGION_ROLE_FUNCTION;
    }
}

static guint either(const WendReadFunction *f, const char *name, const char *other)
{
    guint i = wend_read_parameter_named(f, name);
    return i != WEND_READ_NO_INDEX ? i : wend_read_parameter_named(f, other);
}

static guint self_of(const WendReadFunction *f)
{
    for (guint i = 0; i < f->n_parameters; i++)
        if (wend_read_parameter(f, i)->kind == WEND_READ_KIND_SELF)
            return i;
    return WEND_READ_NO_INDEX;
}

Act *roles_act_new(const WendReadFunction *f)
{
    Act *a = g_new0(Act, 1);
    g_autofree char *stem = stem_of(f->name);
    find_collective(a, stem);
    if (a->kind == ACT_NONE)
        find_one_sided(a, stem);
    if (a->kind == ACT_NONE && a->region == 0)
        find_file(a, stem);
    if (a->kind == ACT_NONE && a->region == 0)
        find_message(a, f, stem);
    a->self = self_of(f);
    a->peer = either(f, "dest", "source");
    a->tag = either(f, "tag", "sendtag");
    a->request = wend_read_parameter_named(f, "request");
    a->status = wend_read_parameter_named(f, "status");
    a->requests = wend_read_parameter_named(f, "array_of_requests");
    a->statuses = wend_read_parameter_named(f, "array_of_statuses");
    a->indices = wend_read_parameter_named(f, "array_of_indices");
    return a;
}
