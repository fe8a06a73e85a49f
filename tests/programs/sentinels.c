/* SPDX-License-Identifier: BSD-3-Clause */
/* sentinels: each of the C interface's special values where MPI takes it, and what the program's
 * memory holds afterwards, in lines that do not depend on the run. All cases, or those that the
 * arguments name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gcc takes MPI_STATUSES_IGNORE and MPI_UNWEIGHTED for the arrays that they stand for */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wstringop-overread"

enum { MOST = 64 };

static int rank, size, next, previous;
static MPI_Comm world;

static void say(const char *name, int n, const int *values)
{
    char line[16 * MOST + 80];
    int at = snprintf(line, sizeof line, "rank %d %s:", rank, name);
    for (int i = 0; i < n; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " %d", values[i]);
    puts(line);
}
static void say_one(const char *name, int value)
{
    say(name, 1, &value);
}
static void say_status(const char *name, const MPI_Status *s)
{
    int count, cancelled;
    MPI_Get_count(s, MPI_INT, &count);
    MPI_Test_cancelled(s, &cancelled);
    say(name, 4, (const int[]){s->MPI_SOURCE, s->MPI_TAG, count, cancelled});
}

/* N numbers that only this rank has. */
static int *mine(int n)
{
    static int values[MOST];
    for (int i = 0; i < MOST; i++)
        values[i] = i < n ? 1000 * (rank + 1) + i : -1;
    return values;
}

/* At the root, and at the others what is not significant. */
static void in_place(void)
{
    int counts[MOST], places[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = 2;
        places[i] = 2 * (size - 1 - i);
        types[i] = MPI_INT;
    }
    for (int i = 0; i < 2; i++) {
        int root = i * (size - 1), at_root = rank == root, *v = mine(2 * size);
        MPI_Reduce(at_root ? MPI_IN_PLACE : v, at_root ? v : NULL, 2, MPI_INT, MPI_SUM, root,
                   world);
        say("Reduce", 2 * size, v);
        v = mine(2 * size);
        MPI_Gather(at_root ? MPI_IN_PLACE : v, at_root ? 0 : 2,
                   at_root ? MPI_DATATYPE_NULL : MPI_INT, at_root ? v : NULL, 2, MPI_INT, root,
                   world);
        say("Gather", 2 * size, v);
        v = mine(2 * size);
        MPI_Gatherv(at_root ? MPI_IN_PLACE : v, at_root ? 0 : 2,
                    at_root ? MPI_DATATYPE_NULL : MPI_INT, at_root ? v : NULL,
                    at_root ? counts : NULL, at_root ? places : NULL, MPI_INT, root, world);
        say("Gatherv", 2 * size, v);
        v = mine(2 * size);
        MPI_Scatter(at_root ? v : NULL, 2, MPI_INT, at_root ? MPI_IN_PLACE : v, at_root ? 0 : 2,
                    at_root ? MPI_DATATYPE_NULL : MPI_INT, root, world);
        say("Scatter", 2 * size, v);
        v = mine(2 * size);
        MPI_Scatterv(at_root ? v : NULL, at_root ? counts : NULL, at_root ? places : NULL, MPI_INT,
                     at_root ? MPI_IN_PLACE : v, at_root ? 0 : 2,
                     at_root ? MPI_DATATYPE_NULL : MPI_INT, root, world);
        say("Scatterv", 2 * size, v);
    }
    int *v = mine(2 * size);
    MPI_Allreduce(MPI_IN_PLACE, v, 2 * size, MPI_INT, MPI_MAX, world);
    say("Allreduce", 2 * size, v);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v = mine(2 * size), 2, MPI_INT, world);
    say("Allgather", 2 * size, v);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v = mine(2 * size), counts, places, MPI_INT,
                   world);
    say("Allgatherv", 2 * size, v);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v = mine(2 * size), 2, MPI_INT, world);
    say("Alltoall", 2 * size, v);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, v = mine(2 * size), counts, places,
                  MPI_INT, world);
    say("Alltoallv", 2 * size, v);
    for (int i = 0; i < size; i++)
        places[i] *= (int)sizeof(int);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, v = mine(2 * size), counts, places, types, world);
    say("Alltoallw", 2 * size, v);
    MPI_Reduce_scatter(MPI_IN_PLACE, v = mine(2 * size), counts, MPI_INT, MPI_SUM, world);
    say("Reduce_scatter", 2, v);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, v = mine(2 * size), 2, MPI_INT, MPI_SUM, world);
    say("Reduce_scatter_block", 2, v);
    MPI_Scan(MPI_IN_PLACE, v = mine(2), 2, MPI_INT, MPI_SUM, world);
    say("Scan", 2, v);
    MPI_Exscan(MPI_IN_PLACE, v = mine(2), 2, MPI_INT, MPI_SUM, world);
    if (rank > 0)
        say("Exscan", 2, v);

    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, v = mine(2), 2, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("Iallreduce", 2, v);
    v = mine(2 * size);
    MPI_Igather(rank == 0 ? MPI_IN_PLACE : v, rank == 0 ? 0 : 2,
                rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, rank == 0 ? v : NULL, 2, MPI_INT, 0, world,
                &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("Igather", 2 * size, v);
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, v = mine(2 * size), counts, places, types, world,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("Ialltoallw", 2 * size, v);
    MPI_Iscan(MPI_IN_PLACE, v = mine(2), 2, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("Iscan", 2, v);
}

static void bottom(void)
{
    int out[3], in[3] = {-1, -1, -1}, scattered = -2;
    MPI_Aint places[2];
    MPI_Datatype from, to;
    memcpy(out, mine(3), sizeof out);
    MPI_Get_address(out, &places[0]);
    MPI_Get_address(&out[2], &places[1]);
    MPI_Type_create_hindexed(2, (const int[]){1, 1}, places, MPI_INT, &from);
    MPI_Get_address(&in[1], &places[0]);
    MPI_Get_address(&scattered, &places[1]);
    MPI_Type_create_hindexed(2, (const int[]){1, 1}, places, MPI_INT, &to);
    MPI_Type_commit(&from);
    MPI_Type_commit(&to);
    MPI_Sendrecv(MPI_BOTTOM, 1, from, next, 1, MPI_BOTTOM, 1, to, previous, 1, world,
                 MPI_STATUS_IGNORE);
    say("Sendrecv at MPI_BOTTOM", 3, in);
    say_one("and elsewhere", scattered);
    MPI_Bcast(MPI_BOTTOM, 1, to, 0, world);
    say("Bcast at MPI_BOTTOM", 3, in);
    MPI_Request requests[2];
    MPI_Irecv(MPI_BOTTOM, 1, to, previous, 2, world, &requests[0]);
    MPI_Isend(MPI_BOTTOM, 1, from, next, 2, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say("Irecv at MPI_BOTTOM", 3, in);
    char packed[64];
    int position = 0;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN); /* MPICH 4.0 refuses it here */
    int packs =
        MPI_Pack(MPI_BOTTOM, 1, from, packed, sizeof packed, &position, world) == MPI_SUCCESS;
    position = 0;
    if (packs)
        MPI_Unpack(packed, sizeof packed, &position, MPI_BOTTOM, 1, to, world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    say("Pack from MPI_BOTTOM", 1, &packs);
    say("Unpack to MPI_BOTTOM", 3, in);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

static void statuses(void)
{
    int in[4] = {-1, -1, -1, -1}, *v = mine(4), flag = 0, index, n, which[4];
    MPI_Request r[4];
    MPI_Sendrecv(v, 1, MPI_INT, next, 3, in, 1, MPI_INT, previous, 3, world, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(v, 1, MPI_INT, next, 3, previous, 3, world, MPI_STATUS_IGNORE);
    say("Sendrecv_replace", 4, v);
    MPI_Isend(v, 2, MPI_INT, next, 4, world, &r[0]);
    MPI_Probe(previous, 4, world, MPI_STATUS_IGNORE);
    MPI_Iprobe(previous, 4, world, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(in, 2, MPI_INT, previous, 4, world, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    say("Recv", 4, in);
    for (int way = 0; way < 6; way++) {
        for (int i = 0; i < 2; i++) {
            MPI_Irecv(&in[i], 1, MPI_INT, previous, 5 + i, world, &r[i]);
            MPI_Isend(&v[i], 1, MPI_INT, next, 5 + i, world, &r[2 + i]);
        }
        for (int left = 4; left > 0;) {
            index = n = flag = 0;
            switch (way) {
            case 0:
                MPI_Waitall(4, r, MPI_STATUSES_IGNORE), left = 0;
                break;
            case 1:
                MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE), left--;
                break;
            case 2:
                MPI_Waitsome(4, r, &n, which, MPI_STATUSES_IGNORE), left -= n;
                break;
            case 3:
                MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE), left = flag ? 0 : 4;
                break;
            case 4:
                MPI_Testany(4, r, &index, &flag, MPI_STATUS_IGNORE), left -= flag;
                break;
            default:
                MPI_Testsome(4, r, &n, which, MPI_STATUSES_IGNORE), left -= n;
                break;
            }
        }
        say("completed", 4, in);
    }
    MPI_Irecv(in, 1, MPI_INT, previous, 99, world, &r[0]);
    MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    say_one("not complete", flag);
}

static void nobody(void)
{
    int in[2] = {-7, -8}, *v = mine(2), flag;
    MPI_Status status;
    MPI_Request r[2];
    MPI_Message message;
    MPI_Send(v, 2, MPI_INT, MPI_PROC_NULL, 1, world);
    MPI_Recv(in, 2, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, world, &status);
    say("Recv from nobody", 2, in);
    say_status("its status", &status);
    MPI_Probe(MPI_PROC_NULL, 1, world, &status);
    say_status("Probe of nobody", &status);
    MPI_Improbe(MPI_PROC_NULL, 1, world, &flag, &message, &status);
    say("Improbe of nobody", 2, (const int[]){flag, message == MPI_MESSAGE_NO_PROC});
    MPI_Mrecv(in, 2, MPI_INT, &message, &status);
    say("Mrecv of nobody's message", 3, (const int[]){in[0], in[1], message == MPI_MESSAGE_NULL});
    MPI_Irecv(in, 2, MPI_INT, rank == 0 ? MPI_PROC_NULL : rank - 1, 1, world, &r[0]);
    MPI_Isend(v, 2, MPI_INT, rank == size - 1 ? MPI_PROC_NULL : rank + 1, 1, world, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    say("from the left, if any", 2, in);
    MPI_Isend(v, 2, MPI_INT, next, 33, world, &r[0]);
    MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    say_status("from anybody", &status);

    MPI_Comm half, across;
    int first = rank < size / 2, value = rank + 50;
    MPI_Comm_split(world, first, rank, &half);
    MPI_Intercomm_create(half, 0, world, first ? size / 2 : 0, 8, &across);
    /* From the first of the one half to all of the other. */
    MPI_Bcast(&value, 1, MPI_INT, first ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, across);
    say_one("Bcast from MPI_ROOT", value);
    MPI_Comm_free(&across);
    MPI_Comm_free(&half);
}

static void weights(void)
{
    MPI_Comm graph;
    int degrees[3], from[2] = {-1, -1}, to[2] = {-1, -1}, weight_from[2] = {-1, -1},
                    weight_to[2] = {-1, -1};
    MPI_Dist_graph_create_adjacent(world, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &degrees[0], &degrees[1], &degrees[2]);
    MPI_Dist_graph_neighbors(graph, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED);
    say("MPI_UNWEIGHTED: degrees", 3, degrees);
    say("neighbours", 2, (const int[]){from[0], to[0]});
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(world, rank ? 1 : 0, &previous,
                                   rank ? (const int[]){4} : MPI_WEIGHTS_EMPTY, rank != size - 1,
                                   &next, rank != size - 1 ? (const int[]){4} : MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &degrees[0], &degrees[1], &degrees[2]);
    MPI_Dist_graph_neighbors(graph, degrees[0], from, weight_from, degrees[1], to, weight_to);
    say("MPI_WEIGHTS_EMPTY: degrees", 3, degrees);
    say("weights", 2,
        (const int[]){degrees[0] ? weight_from[0] : 0, degrees[1] ? weight_to[0] : 0});
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create(world, 1, &rank, (const int[]){1}, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                          0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &degrees[0], &degrees[1], &degrees[2]);
    say("Dist_graph_create: degrees", 3, degrees);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create(world, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &degrees[0], &degrees[1], &degrees[2]);
    say("no edges: degrees", 2, degrees);
    MPI_Comm_free(&graph);
}

static void nothing(void)
{
    MPI_Comm comm;
    int flag = -1, index = -1, n = -1, which[2], kind;
    MPI_Comm_split(world, rank == 0 ? MPI_UNDEFINED : 1, rank, &comm);
    say_one("MPI_UNDEFINED: MPI_COMM_NULL", comm == MPI_COMM_NULL);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Topo_test(world, &kind);
    say_one("no topology", kind == MPI_UNDEFINED);

    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, several[2];
    MPI_Wait(&none[0], &status);
    say_status("Wait for MPI_REQUEST_NULL", &status);
    MPI_Waitall(2, none, several);
    say_status("Waitall", &several[1]);
    MPI_Waitany(2, none, &index, &status);
    say_one("Waitany", index == MPI_UNDEFINED);
    MPI_Testsome(2, none, &n, which, several);
    say_one("Testsome", n == MPI_UNDEFINED);
    MPI_Testany(2, none, &index, &flag, MPI_STATUS_IGNORE);
    say("Testany", 2, (const int[]){flag, index == MPI_UNDEFINED});

    MPI_Group all, some;
    int ranks[2] = {0, 1 % size}, translated[2];
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, ranks, &some);
    MPI_Group_translate_ranks(all, 2, ranks, some, translated);
    say("Group_translate_ranks", 2, (const int[]){translated[0], translated[1] == MPI_UNDEFINED});
    MPI_Group_translate_ranks(all, 1, (const int[]){MPI_PROC_NULL}, some, translated);
    say_one("of MPI_PROC_NULL", translated[0] == MPI_PROC_NULL);
    MPI_Group_rank(MPI_GROUP_EMPTY, &n);
    say_one("rank in MPI_GROUP_EMPTY", n == MPI_UNDEFINED);
    MPI_Comm_create(world, MPI_GROUP_EMPTY, &comm);
    say_one("Comm_create of nobody", comm == MPI_COMM_NULL);
    MPI_Group_free(&some);
    MPI_Group_free(&all);

    int three[3] = {1, 2, 3};
    MPI_Isend(three, 3, MPI_INT, next, 1, world, &none[0]);
    MPI_Recv(three, 3, MPI_INT, previous, 1, world, &status);
    MPI_Wait(&none[0], MPI_STATUS_IGNORE);
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Get_count(&status, pair, &n);
    say_one("Get_count of one and a half", n == MPI_UNDEFINED);
    MPI_Type_free(&pair);
    MPI_Type_create_f90_real(MPI_UNDEFINED, 30, &pair);
    MPI_Type_size(pair, &n);
    say_one("a real of any precision: bytes", n);
}

static int times_copied, times_deleted;
static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    times_copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    times_deleted++;
    return MPI_SUCCESS;
}

static void functions(void)
{
    static int value;
    int keys[3], flag, *found;
    MPI_Comm again;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[0], NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &keys[1], &value);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keys[2], NULL);
    for (int i = 0; i < 3; i++)
        MPI_Comm_set_attr(world, keys[i], &value);
    MPI_Comm_dup(world, &again);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_get_attr(again, keys[i], &found, &flag);
        say("in the duplicate", 2, (const int[]){flag, flag && found == &value});
    }
    MPI_Comm_free(&again);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_delete_attr(world, keys[i]);
        MPI_Comm_free_keyval(&keys[i]);
    }
    say("keys are gone", 3,
        (const int[]){keys[0] == MPI_KEYVAL_INVALID, times_copied, times_deleted});

    MPI_Errhandler handler;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(world, &handler);
    int class, code = MPI_Send(NULL, 1, MPI_INT, size + 3, 0, world);
    MPI_Error_class(code, &class);
    say("MPI_ERRORS_RETURN", 2, (const int[]){handler == MPI_ERRORS_RETURN, class == MPI_ERR_RANK});
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_get_errhandler(world, &handler);
    say_one("MPI_ERRORS_ARE_FATAL", handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static void windows(void)
{
    int memory[2] = {10 * rank, -1}, out = 5 * (rank + 1), in = -1;
    MPI_Win win;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &in, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP,
                       win);
    MPI_Accumulate(&out, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Put(&out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    say("MPI_NO_OP, MPI_REPLACE", 3, (const int[]){in, memory[0], memory[1]});
    MPI_Win_free(&win);
    say_one("MPI_WIN_NULL", win == MPI_WIN_NULL);
    MPI_Win_create(MPI_BOTTOM, 0, 1, MPI_INFO_NULL, world, &win); /* a window of nothing */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void darrays(void)
{
    MPI_Datatype part;
    int n, sizes[2] = {2 * size, 4}, how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
           grid[2] = {size, 1}, arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG},
           all[MOST], in[MOST];
    MPI_Type_create_darray(size, rank, 2, sizes, how, arguments, grid, MPI_ORDER_C, MPI_INT, &part);
    MPI_Type_commit(&part);
    MPI_Type_size(part, &n);
    memcpy(all, mine(8 * size < MOST ? 8 * size : MOST), sizeof all);
    MPI_Sendrecv(all, 1, part, rank, 1, in, 8, MPI_INT, rank, 1, world, MPI_STATUS_IGNORE);
    say_one("MPI_DISTRIBUTE_DFLT_DARG: bytes", n);
    say("its part", 8, in);
    MPI_Type_free(&part);
}

static void files(void)
{
    MPI_File file;
    MPI_Status status;
    int *v = mine(4), in[4] = {-1, -1, -1, -1};
    MPI_File_open(world, "sentinels.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)(16 * rank), v, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(world);
    MPI_File_sync(file);
    MPI_File_read_at(file, (MPI_Offset)(16 * next), in, 4, MPI_INT, &status);
    say("the next one's part of the file", 4, in);
    MPI_File_close(&file);
    say_one("MPI_FILE_NULL", file == MPI_FILE_NULL);
}

static void infos(void)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int flag;
    MPI_Info_get(MPI_INFO_ENV, "no such key", MPI_MAX_INFO_VAL, value, &flag);
    say_one("MPI_INFO_ENV", flag);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_free(&info);
    say_one("MPI_INFO_NULL", info == MPI_INFO_NULL);
}

/* By itself: a library that cannot start processes ends the program or says so. */
static void spawning(char *program)
{
    MPI_Comm parent, children;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        return;
    }
    MPI_Info infos[1] = {MPI_INFO_NULL};
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int failed = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, world, &children,
                                MPI_ERRCODES_IGNORE)
                 != MPI_SUCCESS;
    if (!failed)
        MPI_Comm_disconnect(&children);
    say_one("Comm_spawn failed", failed);
    failed = MPI_Comm_spawn_multiple(1, &program, MPI_ARGVS_NULL, (const int[]){1}, infos, 0, world,
                                     &children, MPI_ERRCODES_IGNORE)
             != MPI_SUCCESS;
    if (!failed)
        MPI_Comm_disconnect(&children);
    say_one("Comm_spawn_multiple failed", failed);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"in_place", in_place},   {"bottom", bottom},   {"statuses", statuses},
        {"nobody", nobody},       {"weights", weights}, {"nothing", nothing},
        {"functions", functions}, {"windows", windows}, {"darrays", darrays},
        {"files", files},         {"infos", infos},
    };
    MPI_Comm parent;
    MPI_Init(NULL, NULL); /* which are sentinels, too */
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL || (argc > 1 && strcmp(argv[1], "spawning") == 0)) {
        spawning(argv[0]);
    } else {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int asked = argc < 2;
            for (int k = 1; k < argc; k++)
                asked |= strcmp(argv[k], cases[i].name) == 0;
            if (asked)
                cases[i].run();
            MPI_Barrier(MPI_COMM_WORLD); /* no case's messages meet another's wildcards */
        }
    }
    MPI_Comm_free(&world);
    MPI_Finalize();
    return 0;
}
