# SPDX-License-Identifier: BSD-3-Clause
# proxygen: the command, and what its programs look like and do. examples.bats and programs.bats
# test that proxies communicate as the application did.
load compile
setup() { in_scratch; }

@test "proxygen: usage errors are 2, a missing recording is 3" {
    run "$PROXYGEN"
    [ "$status" = 2 ]
    run "$PROXYGEN" nowhere.dir
    [ "$status" = 2 ]
    run "$PROXYGEN" one two -o x.c
    [ "$status" = 2 ]
    run "$PROXYGEN" nowhere.dir -o x.c
    [ "$status" = 3 ]
    [ "${#lines[@]}" = 1 ]
    [ ! -e x.c ]
}

@test "proxygen: an existing file or directory is kept without --force" {
    record app.dir 2 "$EXAMPLES/ring" -l 2 >/dev/null
    echo precious >proxy.c
    mkdir there
    run "$PROXYGEN" app.dir -o proxy.c
    [ "$status" = 3 ]
    [ "$(cat proxy.c)" = precious ]
    run "$PROXYGEN" app.dir -o there/
    [ "$status" = 3 ]
    [ -z "$(ls there)" ]
    "$PROXYGEN" --force app.dir -o proxy.c
    grep -q MPI_Init proxy.c
    "$PROXYGEN" --force app.dir -o there/
    [ -f there/Makefile ]
    [ -z "$(ls ./*.tmp there/*.tmp 2>/dev/null)" ]
}

@test "proxygen: an unwritable output is 4, and nothing stays" {
    record app.dir 2 "$EXAMPLES/ring" -l 2 >/dev/null
    run "$PROXYGEN" app.dir -o missing/proxy.c
    [ "$status" = 4 ]
    run "$PROXYGEN" --force app.dir -o /dev/full/x.c
    [ "$status" = 4 ]
}

@test "a proxy says so when it is started with another number of ranks, and does not hang" {
    record_and_compile 4 ring
    run mpi 3 ./proxy
    [ "$status" = 2 ]
    [[ "$output" == *"4 ranks"*"started with 3"* ]]
    [ "$(grep -c "started with" <<<"$output")" = 1 ]
    run mpi 4 ./proxy
    [ "$status" = 0 ]
}

@test "a proxy as a directory of files is built by its Makefile" {
    record app.dir 4 "$EXAMPLES/collectives" -k blocking >/dev/null
    "$PROXYGEN" app.dir -o there/
    make -s -C there CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O1"
    record proxy.dir 4 there/proxy
    "$WEND" diff app.dir proxy.dir
}

@test "peers are written in terms of the rank, loops are loops, the header says what it is" {
    record_and_compile 9 stencil2d -i 50
    grep -q 'rank + 1' proxy.c
    grep -q 'for (int i = 0; i < 5; i++)' proxy.c # two buffers in turn, a norm every tenth time
    grep -q 'recorded:  *stencil2d -i 50' proxy.c
    grep -q 'mpirun -n 9 ' proxy.c
    ! grep -q $'\t' proxy.c || false
    [ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' proxy.c)" -le 140 ]
}

@test "the text follows the grammar, not the number of calls" {
    record few.dir 4 "$EXAMPLES/stencil2d" -i 20 >/dev/null
    record many.dir 4 "$EXAMPLES/stencil2d" -i 400 >/dev/null
    "$PROXYGEN" few.dir -o few.c
    "$PROXYGEN" many.dir -o many.c
    few=$(wc -l <few.c) many=$(wc -l <many.c)
    [ "$many" -le $((few + 10)) ]
}

@test "a proxy keeps to its scratch directory and cleans it up" {
    record_and_compile 4 fileio
    mkdir scratch run
    cd run
    WEND_PROXY_DIR=../scratch mpi 4 ../proxy
    [ -z "$(ls -A ../scratch)" ]
    [ -z "$(ls -A .)" ]
}

@test "a proxy without a place for its files says so" {
    record_and_compile 2 fileio
    WEND_PROXY_DIR=$PWD/nowhere run mpi 2 ./proxy
    [ "$status" != 0 ]
    [[ "$output" == *"scratch directory"* ]]
}

@test "much memory on stacks, with a small limit" {
    cat >large.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#define N (12 << 20)
static void exchange(int tag)
{
    char memory[N];
    int rank, size;
    memory[0] = memory[N - 1] = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(memory, N / 2, MPI_CHAR, (rank + 1) % size, tag, memory + N / 2, N / 2, MPI_CHAR,
                 (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void *run(void *unused)
{
    exchange(2);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_attr_t attributes;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    exchange(1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 2 * N);
    if (pthread_create(&thread, &attributes, run, NULL) == 0)
        pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O1 -pthread large.c -o large
    ulimit -Ss 32768
    record app.dir 2 ./large
    make_proxy app.dir proxy
    ulimit -Ss 2048
    record proxy.dir 2 ./proxy
    "$WEND" diff app.dir proxy.dir
}

# Where the proxy's ranks agree on a directory. With the argument "differ" they make different calls
# before MPI_Init; with "session" they never call MPI_Init.
file_program() {
    cat >begin.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static void use_file(MPI_Comm comm)
{
    MPI_File file;
    /* MPICH 4.0 refuses without MPI_Init. */
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    if (MPI_File_open(comm, "begin.data", mode, MPI_INFO_NULL, &file) == MPI_SUCCESS)
        MPI_File_close(&file);
}
int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    int started;
    if (strcmp(argv[1], "differ") == 0) {
        if (rank && atoi(rank) % 2)
            MPI_Initialized(&started);
        MPI_Init(&argc, &argv);
        use_file(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "begin", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    use_file(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
}
C
    "$MPICC" -O1 begin.c -o begin
}

@test "files in a program whose ranks differ before MPI_Init" {
    library_has MPI_Session_init
    file_program
    roundtrip 4 ./begin differ
}

@test "files in a program that has sessions alone" {
    library_has MPI_Session_init
    file_program
    roundtrip 4 ./begin session
}
