# SPDX-License-Identifier: BSD-3-Clause
# Requests and communicators have names in the recording, whatever handles the library gives them.
load ../helpers
setup() { in_scratch; }

calls_of() { # function, rank: its calls
    "$WEND" dump app.dir --rank "$2" | grep -E "[0-9] +$1\("
}

@test "requests: no change to the program, and two recordings are equal" {
    same_output 4 "$PROGRAMS/requests" alike
    mv app.dir first.dir
    same_output 4 "$PROGRAMS/requests" alike
    "$WEND" diff first.dir app.dir
}

@test "requests of one value through one variable are told apart" {
    record app.dir 4 "$PROGRAMS/requests"
    # The waits for the 16 receives come before those for the sends.
    made=$(calls_of MPI_Isend 1 | head -n 16 | sed 's/.*request=//; s/[,)].*//')
    waited=$(calls_of MPI_Wait 1 | sed -n 17,32p | sed 's/.*request=//; s/[,)].*//')
    [ "$(printf '%s\n' "$made" | sort -u | wc -l)" = 16 ]
    diff <(printf '%s\n' "$made") <(printf '%s\n' "$waited")
}

@test "no handle is unknown, and every request ends" {
    record app.dir 4 "$PROGRAMS/requests"
    "$WEND" dump app.dir >dump
    ! grep -iE 'unknown|\?' dump || false
}

@test "communicators have one name on all their members" {
    record app.dir 4 "$PROGRAMS/requests"
    for function in MPI_Comm_idup MPI_Intercomm_merge; do
        [ "$("$WEND" dump app.dir | grep "$function(" |
            sed 's/.*\(newcomm\|newintracomm\)=\([^,)]*\).*/\2/' | sort -u | wc -l)" = 1 ]
    done
    # Two halves; each has one name on both of its members.
    "$WEND" dump app.dir | grep 'MPI_Comm_split(' | sed 's/.*newcomm=\([^,)]*\).*/\1/' | sort |
        uniq -c | awk '{ print $1 }' >halves
    diff halves <(printf '2\n2\n')
}

@test "round trip: requests" { roundtrip 4 "$PROGRAMS/requests"; }

# The size of messages changes: 20 iterations have as many shapes as 80, and there is one class.
@test "sizes do not change the numbers of requests" {
    cat >sizes.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static double in[2000], out[2000];
    int rank, size, steps = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand(1);
    for (int i = 0; i < steps; i++) {
        MPI_Request r[4];
        int n = rand() % 1000 + 1, right = (rank + 1) % size, left = (rank + size - 1) % size;
        MPI_Irecv(in, 1000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(in + 1000, 1000 + i, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(out, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(out, (n + rank) % 999, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 sizes.c -o sizes
    shapes() { "$WEND" show "$1" | sed -n 's/.* signatures of \([0-9]*\) shapes/\1/p'; }
    record short.dir 3 ./sizes 20
    record app.dir 3 ./sizes 80
    [ -n "$(shapes app.dir)" ]
    [ "$(shapes short.dir)" = "$(shapes app.dir)" ]
    "$WEND" dump app.dir | grep -E 'MPI_I(send|recv)' | sed 's/.*request=req#\([0-9]*\).*/\1/' |
        sort -nu | diff - <(printf '0\n1\n2\n3\n')
    make_proxy app.dir ./proxy
    record proxy.dir 3 ./proxy
    "$WEND" diff app.dir proxy.dir
}

# The waiting thread knows a request by its number, which does not tell the size that was posted.
@test "a request that another thread posted has its own size and tag" {
    cat >posted.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
enum { N = 12 };
static MPI_Request requests[N];
static void *wait_for(void *one)
{
    MPI_Status status;
    MPI_Wait(one, &status);
    return NULL;
}
int main(int argc, char **argv)
{
    static int in[100], out[100];
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) {
        pthread_t thread;
        MPI_Irecv(in, 50 + i, MPI_INT, 1 - rank, 7 * (i / 6), MPI_COMM_WORLD, &requests[i]);
        pthread_create(&thread, NULL, wait_for, &requests[i]);
        MPI_Send(out, 20 + 2 * i, MPI_INT, 1 - rank, 7 * (i / 6), MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 posted.c -o posted -lpthread
    record app.dir 2 ./posted
    "$WEND" dump app.dir --rank 1 | grep 'MPI_Wait(' | sed 's/.*status={\(.*\)}.*/\1/' | sort >got
    for i in {0..11}; do echo "source=0, tag=$((7 * (i / 6))), bytes=$((4 * (20 + 2 * i)))"; done |
        sort | diff - got
    make_proxy app.dir ./proxy
    record proxy.dir 2 ./proxy
    "$WEND" diff app.dir proxy.dir
}
