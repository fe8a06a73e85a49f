/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.c: see otf2.h. */
#include "config.h"

#include "otf2.h"

#include "lib/record/record.h"

static const struct {
    guint operation; /* WEND_FN_… */
    OTF2_CollectiveOp op;
    OTF2_RegionRole region;
} collectives[] = {
    {WEND_FN_MPI_Allgather, OTF2_COLLECTIVE_OP_ALLGATHER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Alltoall, OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Barrier, OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_BARRIER},
    {WEND_FN_MPI_Bcast, OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {WEND_FN_MPI_Exscan, OTF2_COLLECTIVE_OP_EXSCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {WEND_FN_MPI_Gather, OTF2_COLLECTIVE_OP_GATHER, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {WEND_FN_MPI_Gatherv, OTF2_COLLECTIVE_OP_GATHERV, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {WEND_FN_MPI_Reduce, OTF2_COLLECTIVE_OP_REDUCE, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {WEND_FN_MPI_Reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
     OTF2_REGION_ROLE_COLL_ALL2ALL},
    {WEND_FN_MPI_Scan, OTF2_COLLECTIVE_OP_SCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {WEND_FN_MPI_Scatter, OTF2_COLLECTIVE_OP_SCATTER, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {WEND_FN_MPI_Scatterv, OTF2_COLLECTIVE_OP_SCATTERV, OTF2_REGION_ROLE_COLL_ONE2ALL},
};

static const struct {
    guint operation; /* WEND_FN_… */
    ActKind kind;
    OTF2_RmaAtomicType atomic;
} one_sided[] = {
    {WEND_FN_MPI_Put, ACT_PUT, 0},
    {WEND_FN_MPI_Get, ACT_GET, 0},
    {WEND_FN_MPI_Accumulate, ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE},
    {WEND_FN_MPI_Get_accumulate, ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
    {WEND_FN_MPI_Fetch_and_op, ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
    {WEND_FN_MPI_Compare_and_swap, ACT_ATOMIC, OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP},
    {WEND_FN_MPI_Win_create, ACT_WIN_MAKE, 0},
    {WEND_FN_MPI_Win_create_dynamic, ACT_WIN_MAKE, 0},
    {WEND_FN_MPI_Win_allocate, ACT_WIN_MAKE, 0},
    {WEND_FN_MPI_Win_allocate_shared, ACT_WIN_MAKE, 0},
    {WEND_FN_MPI_Win_free, ACT_WIN_FREE, 0},
    {WEND_FN_MPI_Win_fence, ACT_WIN_FENCE, 0},
    {WEND_FN_MPI_Win_complete, ACT_WIN_SYNC, 0},
    {WEND_FN_MPI_Win_unlock, ACT_WIN_SYNC, 0},
    {WEND_FN_MPI_Win_unlock_all, ACT_WIN_SYNC, 0},
    {WEND_FN_MPI_Win_flush, ACT_WIN_SYNC, 0},
    {WEND_FN_MPI_Win_flush_all, ACT_WIN_SYNC, 0},
};

static gboolean has_kind(const WendFunction *f, WendKind kind)
{
    for (guint i = 0; i < f->n_params; i++)
        if (f->params[i].kind == kind)
            return TRUE;
    return FALSE;
}

static void find_collective(Act *a, const WendFunction *f)
{
    for (guint i = 0; i < G_N_ELEMENTS(collectives); i++) {
        if (f->operation != collectives[i].operation)
            continue;
        a->kind = ACT_COLLECTIVE;
        a->persistent = f->progress == WEND_PERSISTENT;
        a->op = collectives[i].op;
        a->region = collectives[i].region;
    }
}

static void find_one_sided(Act *a, const WendFunction *f)
{
    for (guint i = 0; i < G_N_ELEMENTS(one_sided); i++) {
        if (f->operation != one_sided[i].operation)
            continue;
        a->kind = one_sided[i].kind;
        a->atomic = one_sided[i].atomic;
    }
    if (has_kind(f, WEND_KIND_WIN))
        a->region = OTF2_REGION_ROLE_RMA;
}

/* The kind of a function of files; ACT_NONE: it moves no data, and opens and closes none. */
static ActKind file_kind(const WendFunction *f)
{
    switch (f->id) {
    case WEND_FN_MPI_File_open:
        return ACT_FILE_OPEN;
    case WEND_FN_MPI_File_close:
        return ACT_FILE_CLOSE;
    case WEND_FN_MPI_File_seek:
    case WEND_FN_MPI_File_seek_shared:
        return ACT_FILE_SEEK;
    default:
        break;
    }
    for (guint i = 0; i < f->n_params; i++)
        if (f->params[i].kind == WEND_KIND_BUF)
            return f->params[i].dir == WEND_DIR_IN ? ACT_FILE_WRITE : ACT_FILE_READ;
    return ACT_NONE;
}

static void find_file(Act *a, const WendFunction *f)
{
    if (!has_kind(f, WEND_KIND_FILE) && !has_kind(f, WEND_KIND_FOUND))
        return;
    a->kind = file_kind(f);
    a->region = a->kind == ACT_NONE ? OTF2_REGION_ROLE_FILE_IO_METADATA : OTF2_REGION_ROLE_FILE_IO;
    a->begins = (f->flags & WEND_F_BEGINS) != 0;
    a->ends = (f->flags & WEND_F_ENDS) != 0;
    a->collective = (f->flags & WEND_F_COLLECTIVE) != 0
                    && (a->kind == ACT_FILE_READ || a->kind == ACT_FILE_WRITE);
}

static void find_message(Act *a, const WendFunction *f)
{
    gboolean probes = f->operation == WEND_FN_MPI_Probe;
    a->region = OTF2_REGION_ROLE_POINT2POINT;
    if (f->operation == WEND_FN_MPI_Start) {
        a->kind = ACT_START;
    } else if (f->id == WEND_FN_MPI_Request_free) {
        a->kind = ACT_FREE;
    } else if ((f->flags & (WEND_F_SEND | WEND_F_RECV)) != 0 && !probes
               && (f->flags & (WEND_F_COLLECTIVE | WEND_F_COMPLETES)) == 0) {
        a->kind = ACT_MESSAGE;
        a->sends = (f->flags & WEND_F_SEND) != 0;
        a->receives = (f->flags & WEND_F_RECV) != 0;
        a->persistent = f->progress == WEND_PERSISTENT;
        a->takes = (f->flags & WEND_F_MATCHED) != 0;
    } else if (!probes && (f->flags & WEND_F_COMPLETES) == 0) {
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
    const WendFunction *inside = &mpi_functions[f->index];
    find_collective(a, inside);
    if (a->kind == ACT_NONE)
        find_one_sided(a, inside);
    if (a->kind == ACT_NONE && a->region == 0)
        find_file(a, inside);
    if (a->kind == ACT_NONE && a->region == 0)
        find_message(a, inside);
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
