/* SPDX-License-Identifier: BSD-3-Clause */
/* functions: the generated table, against facts read off the MPI standard by hand, and its inner
 * consistency. */
#include <glib.h>
#include <string.h>

#include "lib/record/functions.h"

static const WendParam *param(const WendFunction *f, const char *name)
{
    for (unsigned i = 0; i < f->n_params; i++)
        if (strcmp(f->params[i].name, name) == 0)
            return &f->params[i];
    g_error("%s has no parameter %s", f->name, name);
}

static const WendFunction *function(const char *name)
{
    const WendFunction *f = function_by_name(name);
    g_assert_nonnull(f);
    g_assert_cmpstr(f->name, ==, name);
    return f;
}

static void test_send(void)
{
    const WendFunction *f = function("MPI_Send");
    static const WendKind kinds[] = {WEND_KIND_SELF,     WEND_KIND_BUF,  WEND_KIND_COUNT,
                                     WEND_KIND_DATATYPE, WEND_KIND_RANK, WEND_KIND_TAG,
                                     WEND_KIND_COMM};
    g_assert_cmpuint(f->n_params, ==, G_N_ELEMENTS(kinds));
    for (unsigned i = 0; i < f->n_params; i++)
        g_assert_cmpint(f->params[i].kind, ==, kinds[i]);
    g_assert_cmpuint(f->flags, ==, WEND_F_SELF | WEND_F_SEND);
    g_assert_cmpint(f->params[1].extent, ==, WEND_EXTENT_COUNT);
    g_assert_cmpint(f->params[1].count, ==, 2);
    g_assert_cmpint(f->params[1].type, ==, 3);
    g_assert_cmpint(f->params[4].place, ==, WEND_PLACE_SLOT);
    g_assert_cmpint(f->params[6].place, ==, WEND_PLACE_SHAPE);
}

static void test_receive(void)
{
    const WendFunction *f = function("MPI_Recv");
    const WendParam *status = param(f, "status");
    g_assert_cmpstr(f->params[status->source].name, ==, "source");
    g_assert_cmpstr(f->params[status->tag].name, ==, "tag");
    g_assert_cmpstr(f->params[status->count].name, ==, "count");
    g_assert_cmpint(param(f, "buf")->dir, ==, WEND_DIR_INOUT);
    g_assert_true(f->flags & WEND_F_RECV);

    f = function("MPI_Isendrecv");
    const WendParam *request = param(f, "request");
    g_assert_cmpstr(f->params[request->tag].name, ==, "recvtag");
    g_assert_cmpstr(f->params[request->count].name, ==, "recvcount");

    f = function("MPI_Imrecv");
    request = param(f, "request");
    g_assert_cmpint(f->params[request->source].kind, ==, WEND_KIND_MESSAGE);
    g_assert_cmpint(request->tag, ==, -1);

    f = function("MPI_Precv_init");
    request = param(f, "request");
    g_assert_cmpstr(f->params[request->displs].name, ==, "partitions");
    g_assert_true(f->flags & WEND_F_PERSISTENT);
}

static void test_large(void)
{
    const WendFunction *f = function("MPI_Gatherv"), *large = function("MPI_Gatherv_c");
    g_assert_cmpstr(param(f, "displs")->ctype, ==, "int");
    g_assert_cmpstr(param(large, "displs")->ctype, ==, "MPI_Aint");
    g_assert_cmpstr(param(large, "recvcounts")->ctype, ==, "MPI_Count");
    g_assert_true(param(large, "recvcounts")->array);
    g_assert_false(f->flags & WEND_F_LARGE);
    g_assert_true(large->flags & WEND_F_LARGE);
    g_assert_null(function_by_name("MPI_Wait_c"));
    /* Only the large variant of this one has counts of its own. */
    g_assert_cmpuint(function("MPI_Type_get_contents_c")->n_params, ==,
                     function("MPI_Type_get_contents")->n_params + 2);
}

static void test_places(void)
{
    g_assert_cmpint(param(function("MPI_Comm_rank"), "rank")->place, ==, WEND_PLACE_SLOT);
    g_assert_cmpint(param(function("MPI_Test"), "flag")->place, ==, WEND_PLACE_OUTCOME);
    g_assert_cmpint(param(function("MPI_Waitany"), "index")->place, ==, WEND_PLACE_OUTCOME);
    g_assert_cmpint(param(function("MPI_Cart_create"), "reorder")->place, ==, WEND_PLACE_SHAPE);
    g_assert_cmpint(param(function("MPI_Get_count"), "count")->place, ==, WEND_PLACE_OUTCOME);
    g_assert_cmpint(param(function("MPI_Comm_get_name"), "comm_name")->place, ==,
                    WEND_PLACE_OUTCOME);
    g_assert_true(function("MPI_Cart_sub")->flags & WEND_F_CREATES_COMM);
    g_assert_false(function("MPI_Comm_get_parent")->flags & WEND_F_CREATES_COMM);
    g_assert_false(function("MPI_Group_incl")->flags & WEND_F_SELF);
    g_assert_true(function("wend_free")->flags & WEND_F_PSEUDO);
}

/* References point to parameters of the kinds that they should. */
static void test_references(void)
{
    for (size_t i = 0; i < mpi_n_functions; i++) {
        const WendFunction *f = &mpi_functions[i];
        for (unsigned k = 0; k < f->n_params; k++) {
            const WendParam *p = &f->params[k];
            const int at[] = {p->count, p->type, p->displs, p->source, p->tag};
            for (size_t j = 0; j < G_N_ELEMENTS(at); j++)
                g_assert_cmpint(at[j], <, f->n_params);
            if (p->type >= 0)
                g_assert_cmpint(f->params[p->type].kind, ==, WEND_KIND_DATATYPE);
            if (p->extent == WEND_EXTENT_VECTOR || p->extent == WEND_EXTENT_VECTOR_BYTES) {
                g_assert_true(f->params[p->count].array);
                g_assert_true(f->params[p->displs].array);
                g_assert_cmpint(f->params[p->type].array, ==,
                                p->extent == WEND_EXTENT_VECTOR_BYTES);
            }
            if (p->kind == WEND_KIND_SELF)
                g_assert_true(k == 0 && f->flags & WEND_F_SELF);
            if (p->group)
                g_assert_nonnull(constant_group_by_name(p->group));
            if (p->kind == WEND_KIND_BITS || p->kind == WEND_KIND_ENUM)
                g_assert_nonnull(p->group);
            g_assert_true(p->ctype != NULL && p->kind < WEND_KINDS);
        }
        g_assert_true(function_by_name(f->name) == f);
    }
}

static void test_constants(void)
{
    int undefined = functions_constant_by_name("MPI_UNDEFINED");
    g_assert_cmpint(undefined, >=, 0);
    static const char *const groups[] = {"rank", "color", "index", "topologies"};
    for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
        const WendConstantGroup *g = constant_group_by_name(groups[i]);
        gboolean found = FALSE;
        for (unsigned k = 0; k < g->n; k++)
            found |= g->members[k] == undefined;
        g_assert_true(found);
    }
    const WendConstantGroup *modes = constant_group_by_name("modes");
    g_assert_cmpstr(mpi_constants[modes->members[0]], ==, "MPI_MODE_CREATE");
    g_assert_cmpint(functions_constant_by_name("MPI_NO_SUCH_THING"), ==, -1);
    for (size_t i = 0; i < mpi_n_constants; i++)
        g_assert_cmpint(functions_constant_by_name(mpi_constants[i]), ==,
                        (int)i); /* no name twice */
}

/* Variants that differ in what their names say, and functions that are none. */
static void test_operations(void)
{
    static const struct {
        const char *name;
        guint operation;
        WendSendMode mode;
        WendProgress progress;
        guint32 flags;
    } rows[] = {
        {"MPI_Send", WEND_FN_MPI_Send, WEND_MODE_STANDARD, WEND_BLOCKING, 0},
        {"MPI_Ibsend_c", WEND_FN_MPI_Send, WEND_MODE_BUFFERED, WEND_NONBLOCKING, 0},
        {"MPI_Ssend_init_c", WEND_FN_MPI_Send, WEND_MODE_SYNCHRONOUS, WEND_PERSISTENT, 0},
        {"MPI_Rsend", WEND_FN_MPI_Send, WEND_MODE_READY, WEND_BLOCKING, 0},
        {"MPI_Isendrecv_replace", WEND_FN_MPI_Sendrecv, WEND_MODE_STANDARD, WEND_NONBLOCKING, 0},
        {"MPI_Psend_init", WEND_FN_MPI_Psend_init, WEND_MODE_STANDARD, WEND_PERSISTENT, 0},
        {"MPI_Recv_init", WEND_FN_MPI_Recv, WEND_MODE_NONE, WEND_PERSISTENT, 0},
        {"MPI_Imrecv_c", WEND_FN_MPI_Recv, WEND_MODE_NONE, WEND_NONBLOCKING, WEND_F_MATCHED},
        {"MPI_Improbe", WEND_FN_MPI_Probe, WEND_MODE_NONE, WEND_NONBLOCKING, WEND_F_MATCHED},
        {"MPI_Testsome", WEND_FN_MPI_Waitsome, WEND_MODE_NONE, WEND_NONBLOCKING, 0},
        {"MPI_Startall", WEND_FN_MPI_Start, WEND_MODE_NONE, WEND_BLOCKING, 0},
        {"MPI_Rget_c", WEND_FN_MPI_Get, WEND_MODE_NONE, WEND_NONBLOCKING, 0},
        {"MPI_Get_count", WEND_FN_MPI_Get_count, WEND_MODE_NONE, WEND_BLOCKING, 0},
        {"MPI_Ineighbor_alltoallw_c", WEND_FN_MPI_Neighbor_alltoallw, WEND_MODE_NONE,
         WEND_NONBLOCKING, WEND_F_NEIGHBORS},
        {"MPI_File_read_all_begin_c", WEND_FN_MPI_File_read_all, WEND_MODE_NONE, WEND_BLOCKING,
         WEND_F_BEGINS},
        {"MPI_File_iwrite_at", WEND_FN_MPI_File_write_at, WEND_MODE_NONE, WEND_NONBLOCKING, 0},
        {"MPI_Init_thread", WEND_FN_MPI_Init, WEND_MODE_NONE, WEND_BLOCKING,
         WEND_F_LIFETIME | WEND_F_KEPT},
    };
    const guint32 flags = WEND_F_MATCHED | WEND_F_NEIGHBORS | WEND_F_BEGINS | WEND_F_ENDS
                          | WEND_F_LIFETIME | WEND_F_KEPT;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const WendFunction *f = function(rows[i].name);
        g_assert_true(f == &mpi_functions[f->id]);
        g_assert_cmpstr(mpi_functions[f->operation].name, ==,
                        mpi_functions[rows[i].operation].name);
        g_assert_cmpint(f->mode, ==, rows[i].mode);
        g_assert_cmpint(f->progress, ==, rows[i].progress);
        g_assert_cmpuint(f->flags & flags, ==, rows[i].flags);
    }
}

static void test_collectives(void)
{
    static const struct {
        const char *name;
        WendSync sync, usual;
    } rows[] = {
        {"MPI_Iallreduce_c", WEND_SYNC_ALL, WEND_SYNC_ALL},
        {"MPI_Allgatherv_init", WEND_SYNC_LOOSE, WEND_SYNC_ALL},
        {"MPI_Reduce", WEND_SYNC_TO_ROOT, WEND_SYNC_TO_ROOT},
        {"MPI_Iscatterv", WEND_SYNC_LOOSE, WEND_SYNC_FROM_ROOT},
        {"MPI_Scan", WEND_SYNC_LOOSE, WEND_SYNC_LOOSE},
        {"MPI_Win_fence", WEND_SYNC_LOOSE, WEND_SYNC_LOOSE},
        {"MPI_Comm_create_group", WEND_SYNC_NONE, WEND_SYNC_NONE},
        {"MPI_Reduce_local", WEND_SYNC_NONE, WEND_SYNC_NONE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_cmpint(function(rows[i].name)->sync, ==, rows[i].sync);
        g_assert_cmpint(function(rows[i].name)->usual_sync, ==, rows[i].usual);
    }
    g_assert_cmpint(function("MPI_Comm_idup_with_info")->makes, ==, WEND_MAKES_DUP);
    g_assert_cmpint(function("MPI_Comm_spawn_multiple")->makes, ==, WEND_MAKES_SPAWN);
    g_assert_true(param(function("MPI_Comm_disconnect"), "comm")->frees);
    g_assert_false(param(function("MPI_Comm_set_name"), "comm")->frees);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/send", test_send);
    g_test_add_func("/functions/receive", test_receive);
    g_test_add_func("/functions/large", test_large);
    g_test_add_func("/functions/places", test_places);
    g_test_add_func("/functions/references", test_references);
    g_test_add_func("/functions/constants", test_constants);
    g_test_add_func("/functions/operations", test_operations);
    g_test_add_func("/functions/collectives", test_collectives);
    return g_test_run();
}
