# SPDX-License-Identifier: BSD-3-Clause
# Differences between a proxy and its application: graphs with the recorded order of neighbours, and
# named sources. proxygen and wend diff report them.
load ../helpers
setup() { in_scratch; }

# made N PROGRAM…: makes a recording in app.dir and its proxy, with proxygen's messages in said.
made() {
    record app.dir "$@" >/dev/null
    "$PROXYGEN" app.dir -o proxy.c 2>said
    "$MPICC" -std=c11 -O1 -Wall -Wextra -Werror proxy.c -o proxy
}

# Recordings of the proxy differ from the application's only as expected: by CALLS calls of
# FUNCTION, which wend diff prints.
again_as_expected() { # N CALLS FUNCTION
    local run status
    for run in 1 2; do
        YIELD_DELAYS=$run record "again$run.dir" "$1" ./proxy
        status=0
        "$WEND" diff app.dir "again$run.dir" >differences || status=$?
        [ "$status" = 1 ]
        [ "$(head -n 1 differences)" = "differ, only as expected of a proxy:" ] ||
            fail "$(cat differences)"
        grep -q "^  $2 calls* of $3: " differences || fail "$(cat differences)"
        [ "$(wc -l <differences)" = 2 ]
    done
}

graph() { # KIND [REORDER]
    made 4 "$PROGRAMS/distgraph" "$@"
    local what="MPI_Dist_graph_create_adjacent with the recorded order of neighbours"
    [ "$(cat said)" = "proxygen: proxy.c: 12 calls of MPI_Dist_graph_create become $what" ] ||
        fail "$(cat said)"
    again_as_expected 4 12 MPI_Dist_graph_create
}

@test "graphs: blocks of different sizes, the neighbours in the recorded order" { graph all; }
@test "graphs: with weights" { graph weights; }
@test "graphs: edges named by others, repeated edges, loops, a rank without any, reorder" {
    graph odd 1
}
@test "graphs: lists of some of the neighbours" {
    ! library_is mpich || skip "MPICH takes no list that is shorter than there are neighbours"
    graph first
    ! grep -q 'blocks' differences || false
    for dir in app.dir again1.dir; do
        "$WEND" dump "$dir" | grep -o 'MPI_Dist_graph_neighbors(.*maxindegree=1,.*' >"first-$dir"
        [ -s "first-$dir" ]
    done
    diff first-app.dir first-again1.dir
}

@test "graphs: if the order does not matter, the calls are the application's" {
    made 4 "$PROGRAMS/distgraph" alike
    [ ! -s said ] || fail "$(cat said)"
    record again.dir 4 ./proxy
    "$WEND" diff app.dir again.dir
}

# A library that gives ranks other numbers in the graph.
@test "graphs: ranks with other numbers in the graph, and a proxy of several files" {
    cat >reorder.c <<'C'
#include <mpi.h>
int MPI_Dist_graph_create(MPI_Comm old, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info,
                          int reorder, MPI_Comm *graph)
{
    int rank, status;
    MPI_Comm turned;
    PMPI_Comm_rank(old, &rank);
    PMPI_Comm_split(old, 0, -rank, &turned);
    status = PMPI_Dist_graph_create(turned, n, sources, degrees, destinations, weights, info,
                                    reorder, graph);
    PMPI_Comm_free(&turned);
    return status;
}
C
    "$MPICC" -shared -fPIC reorder.c -o reorder.so
    LD_PRELOAD=$PWD/reorder.so record app.dir 4 "$PROGRAMS/distgraph" odd 1
    "$WEND" dump app.dir --rank 0 | grep -q 'neighbours={sources=\[[0-9]' ||
        fail "$("$WEND" dump app.dir --rank 0 | head -n 9)"
    make_proxy app.dir ./proxy
    grep -q PMPI_Comm_split proxy.c
    again_as_expected 4 12 MPI_Dist_graph_create
    "$PROXYGEN" --quiet app.dir -o parts/
    make -s -C parts CC="$MPICC" CFLAGS="-std=c11 -Wall -Wextra -Werror"
    mpi 4 parts/proxy
}

# -- NBX --

nbx() { # MODE WHY
    made 4 "$PROGRAMS/nbx" 8 7 "$1"
    local what="name the source that came instead of MPI_ANY_SOURCE: $2"
    calls=$(sed -n "s/^proxygen: proxy.c: \([0-9]*\) calls of MPI_Improbe $what\$/\1/p" said)
    [ "$calls" -gt 50 ] && [ "$(wc -l <said)" = 1 ] || fail "$(cat said)"
    again_as_expected 4 "$calls" MPI_Improbe
}

unfit="a message of another sender might not fit"
@test "sparse exchange: Improbe and Mrecv" { nbx 0 "$unfit"; }
@test "sparse exchange: Improbe and Imrecv" { nbx 1 "$unfit"; }
@test "sparse exchange: Improbe and Mrecv, sends tested one by one" { nbx 3 "$unfit"; }
# A rank that took another message than the recorded one would test its sends for ever.
@test "sparse exchange: messages of one size" {
    nbx 4 "senders wait until their messages are received, so the order matters"
}
@test "sparse exchange: Iprobe, and a receive that names its source" {
    made 4 "$PROGRAMS/nbx" 8 7 2
    [ ! -s said ] || fail "$(cat said)"
    for run in 1 2; do
        YIELD_DELAYS=$run record "again$run.dir" 4 ./proxy
        "$WEND" diff app.dir "again$run.dir"
    done
}

@test "a large send that completes before what another receive waits for" {
    cat >waits.c <<'END'
#include <mpi.h>
#include <unistd.h>
enum { LARGE = 1 << 20 };
static char data[LARGE];
int main(int argc, char **argv)
{
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(data, LARGE, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 1, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, LARGE, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Isend(data, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(data, 1, MPI_CHAR, 0, 9, MPI_COMM_WORLD);
    } else if (rank == 2) {
        usleep(300000);
        MPI_Send(data, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" waits.c -o waits
    made 3 ./waits
    grep -q '1 call of MPI_Isend wait for their turn in the recorded order$' said ||
        fail "$(cat said)"
    for run in 1 2 3; do
        record "again$run.dir" 3 ./proxy
        "$WEND" diff app.dir "again$run.dir"
    done
}

# -- the report --

@test "persistent wildcards with a request for each source" {
    made 4 "$PROGRAMS/wildcards" started
    grep -q '^proxygen: proxy.c: 1 call of MPI_Recv_init .*, each with its own request: ' said ||
        fail "$(cat said)"
    again_as_expected 4 1 MPI_Recv_init
}

@test "proxygen says what it pins, reorders and holds back; --quiet says nothing" {
    # Rank 2 sends when rank 0 has completed the other request, so no call completes both.
    cat >parted.c <<'END'
#include <mpi.h>
enum { FIRST, SECOND, TOKEN };
int main(int argc, char **argv)
{
    int rank, in[2], second, token = 0, n, left = 2, which[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, i + 1, FIRST, MPI_COMM_WORLD, &requests[i]);
        while (left > 0) {
            MPI_Waitsome(2, requests, &n, which, statuses);
            for (int i = 0; i < n; i++)
                MPI_Recv(&second, 1, MPI_INT, which[i] + 1, SECOND, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            if (left == 2) /* only now does rank 2 send */
                MPI_Send(&token, 1, MPI_INT, 2, TOKEN, MPI_COMM_WORLD);
            left -= n;
        }
    } else {
        if (rank == 2)
            MPI_Recv(&token, 1, MPI_INT, 0, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 0, FIRST, MPI_COMM_WORLD);
        MPI_Send(&rank, 1, MPI_INT, 0, SECOND, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" parted.c -o parted
    record app.dir 3 ./parted >/dev/null
    "$PROXYGEN" app.dir -o ordered.c 2>said
    local what="complete requests in the recorded order: what follows waits"
    grep -q "^proxygen: ordered.c: 1 call of MPI_Waitsome $what" said || fail "$(cat said)"
    "$PROXYGEN" --quiet app.dir -f -o ordered.c 2>said
    [ ! -s said ]
    rm -rf app.dir
    record app.dir 4 "$PROGRAMS/completions" waitany reply >/dev/null
    "$PROXYGEN" app.dir -o free.c 2>said
    local order="complete requests in any order, each followed by its own calls"
    grep -qE "^proxygen: free.c: [0-9]+ calls of MPI_Waitany $order\$" said ||
        fail "$(cat said)"
    rm -rf app.dir
    record app.dir 4 "$EXAMPLES/masterworker" >/dev/null
    "$PROXYGEN" app.dir --pin -o pinned.c 2>said
    wildcards=$("$WEND" dump app.dir -f MPI_Recv | grep -c 'MPI_Recv(.*source=MPI_ANY_SOURCE')
    local what="name the source that came instead of MPI_ANY_SOURCE: asked for with --pin"
    [ "$(cat said)" = "proxygen: pinned.c: $wildcards calls of MPI_Recv $what" ] ||
        fail "$(cat said)"
}
