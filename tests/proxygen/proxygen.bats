# SPDX-License-Identifier: BSD-3-Clause
# proxygen: the command, and what its programs look like and do. examples.bats and programs.bats
# test that proxies communicate as the application did.
load ../helpers
setup() { in_scratch; }

# Makes a recording of an example in app.dir, and its proxy in proxy.c.
record_and_compile() {
    local n=$1 program=$2
    shift 2
    record app.dir "$n" "$EXAMPLES/$program" "$@" >/dev/null && make_proxy app.dir ./proxy
}

# in_several_files N: the proxy of app.dir, in a folder, records the same
in_several_files() {
    "$PROXYGEN" app.dir -o parts/ &&
        make -s -C parts CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -pthread" &&
        quietly parts.out record parts.dir "$1" parts/proxy &&
        "$WEND" diff app.dir parts.dir
}

# compiles_in_seconds PROGRAM N [FLAG…]: PROGRAM.c makes a recording of N ranks whose proxy is the
# same, and proxygen takes less than half a minute.
compiles_in_seconds() {
    local program=$1 n=$2
    "$MPICC" -O2 "${@:3}" "$program.c" -o "$program"
    record app.dir "$n" "./$program"
    timeout 30 "$PROXYGEN" app.dir -o proxy.c
    "$MPICC" "${PROXY_CFLAGS[@]}" proxy.c -o proxy
    record proxy.dir "$n" ./proxy
    "$WEND" diff app.dir proxy.dir
}

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

@test "loops over Testsome and Waitsome become loops" {
    record app.dir 4 "$EXAMPLES/polling" -m testsome >/dev/null
    "$PROXYGEN" app.dir -o proxy.c
    grep -q 'while (pending > 0)' proxy.c
}

# A proxy whose loops over FUNCTION have BODY. Runs whose messages arrive in other orders are equal.
completions() {
    local seed
    YIELD_DELAYS=7 record app.dir 4 "$PROGRAMS/completions" "$1" "$2" 3 >/dev/null &&
        make_proxy app.dir ./proxy || return
    for seed in 1 2 3; do
        YIELD_DELAYS=$seed record "again$seed.dir" 4 ./proxy &&
            "$WEND" diff app.dir "again$seed.dir" || return
    done
}

# Several requests complete at once. That nothing followed one of them earlier must not give its
# later calls, which post it again, to another request.
@test "calls belong to the completion whose request they post again" {
    both() { # DONE N INDICES
        echo "MPI_Waitsome incount=2 array_of_requests=r0,r1 done=$1" \
            "-> outcount=$2 array_of_indices=$3"
    }
    post() { printf 'MPI_Irecv buf=heap#%d count=1 source=0 tag=%d request=r%d\n' "$1" "$1" "$1"; }
    {
        printf 'ranks 1\nMPI_Init\n'
        post 0; post 1; both r0,r1 2 0,1
        post 0; post 1; both r1 1 1
        post 1; both r0 1 0; both r1 1 1
        echo MPI_Finalize
    } | "$BUILD_DIR/tests/decoder/script" - app.dir
    "$PROXYGEN" app.dir -o proxy.c
    [ "$(grep -c 'MPI_Waitsome(' proxy.c)" = 1 ]
}

# One rank that sends to itself: messages that its recording completes in some order are complete at
# once in its proxy.
at_once() {
    "$BUILD_DIR/tests/decoder/script" - app.dir
    "$PROXYGEN" --force app.dir -o proxy.c
    "$MPICC" -std=c11 -O1 -Wall -Wextra -Werror proxy.c -o proxy
    rm -rf again.dir
    record again.dir 1 ./proxy
    "$WEND" diff app.dir again.dir
    rm -rf app.dir
}
receive() { # NAME N
    printf 'MPI_Irecv buf=heap#0+%d count=1 source=0 ' $((4 * $2 % 16))
    printf 'tag=%d request=%s%d\n' "$2" "$1" "$2"
}
send() {
    printf 'MPI_Isend buf=heap#0+%d count=1 dest=0 ' $((16 + 4 * $2 % 16))
    printf 'tag=%d request=%s%d\n' "$2" "$1" "$2"
}
test_send() { printf 'MPI_Test request=s%d done=s%d -> flag=1\n' "$1" "$1"; }
testsome() {
    local done=$1
    printf 'MPI_Testsome incount=4 array_of_requests=r0,r1,r2,r3 done=r%s -> ' "${done//,/,r}"
    printf 'outcount=%d array_of_indices=%s\n' "$(tr , '\n' <<<"$done" | wc -l)" "$done"
}
four_messages() {
    printf 'ranks 1\nMPI_Init\n'
    for i in 0 1 2 3; do receive r $i; send s $i; done
}
finish() {
    printf 'MPI_Waitall count=%d array_of_requests=%s done=%s\nMPI_Finalize\n' "$1" "$2" "$2"
}

@test "a handler of two completions is not split by that of a third" {
    { # like a sweep that waits for two neighbours: messages behind tests, later with other tags
        four_messages
        testsome 0,2; test_send 0; test_send 2; send t 4; send t 6
        testsome 1; test_send 1; echo 'MPI_Test request=MPI_REQUEST_NULL -> flag=1'; send t 5
        testsome 3
        receive q 4; receive q 5; receive q 6
        finish 7 q4,q5,q6,t4,t5,t6,s3
    } | at_once
    grep -q 'if (++heard\[0\] == 2) {' proxy.c
    [ "$(grep -c 'MPI_Testsome(' proxy.c)" = 1 ]
}

@test "completion handlers keep their order, also those that test" {
    { # the third one does not test
        four_messages
        testsome 0; test_send 0; send t 4
        testsome 1; test_send 1; send t 5
        testsome 2; send t 6
        testsome 3
        receive q 4; receive q 5; receive q 6
        finish 7 q4,q5,q6,t4,t5,t6,s3 | sed 's/count=7/count=8/; s/,s3/,s2,s3/g'
    } | at_once
    { # both test in the middle
        four_messages
        testsome 0; send t 4; test_send 0; send t 8
        testsome 1; send t 5; test_send 1; send t 9
        testsome 2; testsome 3
        for i in 4 5 8 9; do receive q $i; done
        finish 10 q4,q5,q8,q9,t4,t5,t8,t9,s2,s3
    } | at_once
    { # of three at once, the second and the third have calls, which only the order distinguishes
        four_messages
        testsome 0; test_send 0; send t 4
        testsome 1,2,3; send t 5; test_send 3; send t 6
        for i in 4 5 6; do receive q $i; done
        finish 8 q4,q5,q6,t4,t5,t6,s1,s2
    } | at_once
}

@test "receives that are posted again in pairs: one loop, whose handlers need two completions" {
    again() {
        local other=$(($1 + 2))
        test_send "$1"; test_send $other
        send s "$1"; send s $other
        receive r "$1"; receive r $other
    }
    {
        four_messages
        testsome 1; testsome 0,3; again 1; testsome 2; again 0; testsome 2,3; testsome 1; again 1
        testsome 0; again 0; testsome 0,1,2,3; again 0; again 1; testsome 3; testsome 1; again 1
        finish 8 r0,r1,r2,r3,s0,s1,s2,s3
    } | at_once
    [ "$(grep -c 'MPI_Testsome(' proxy.c)" = 1 ]
    [ "$(grep -c 'if (++heard' proxy.c)" -ge 2 ]
    ! grep -q 'Completes in the recorded order' proxy.c || false
}

@test "handlers of pairs of completions, whichever completes first" {
    for kind in tests first late free waits any; do
        rm -rf ./*.dir proxy.c
        YIELD_DELAYS=4 record app.dir 4 "$PROGRAMS/pairs" $kind 4 >/dev/null || fail $kind || return
        make_proxy app.dir ./proxy || fail $kind || return
        for seed in 1 2; do
            YIELD_DELAYS=$seed record "again$seed.dir" 4 ./proxy || fail $kind || return
            "$WEND" diff app.dir "again$seed.dir" || fail $kind || return
        done
    done
}

@test "each function that waits, with requests that are posted again" {
    for function in waitany waitsome testany testsome waitall testall wait test; do
        rm -rf ./*.dir proxy.c
        completions "$function" nothing || fail "$function" || return
        case $function in *any | *some) [ "$(grep -c 'while (pending > 0)' proxy.c)" -ge 4 ] ||
            fail "$function: not a loop for each rank" || return ;; esac
    done
}

@test "loops whose bodies depend on who completed: replies, some calls, persistent requests, all" {
    for body in local reply start place; do
        for function in waitany testsome; do
            rm -rf ./*.dir proxy.c
            completions "$function" "$body" || fail "$function, $body" || return
            grep -q 'while (pending > 0)' proxy.c
            ! grep -q 'Completes in the recorded order' proxy.c || false
        done
    done
}

@test "loops whose bodies wait, or depend on each other, keep the recorded order and say so" {
    completions waitsome blocking
    grep -q 'Completes in the recorded order' proxy.c
    rm -rf ./*.dir proxy.c
    completions testany memory
}

@test "a request that takes no part in a loop any more is hidden from it" {
    record app.dir 4 "$EXAMPLES/particles" -n 20 -s 2 >/dev/null
    make_proxy app.dir ./proxy
    grep -q 'hide_completed' proxy.c
    for run in 1 2; do
        YIELD_DELAYS=$run record "again$run.dir" 4 ./proxy
        "$WEND" diff app.dir "again$run.dir"
    done
}

@test "wildcards stay where that is safe; --pin names every source" {
    record app.dir 4 "$EXAMPLES/masterworker" >/dev/null
    "$PROXYGEN" app.dir -o free.c
    grep -q 'MPI_Recv(.*MPI_ANY_SOURCE' free.c
    "$PROXYGEN" --pin app.dir -o pinned.c
    ! grep 'MPI_Recv(.*MPI_ANY_SOURCE' pinned.c || false
    grep -q 'pinned' pinned.c
    "$MPICC" "${PROXY_CFLAGS[@]}" pinned.c -o pinned
    mpi 4 ./pinned
}

# A value in a window told the sender to go on; the proxy does not wait for it.
@test "a wildcard is pinned if a later receive on its communicator names a source" {
    record app.dir 4 "$PROGRAMS/wildcards" content
    make_proxy app.dir ./proxy
    grep -q 'pinned.*another receive of this rank' proxy.c
    mpi 4 ./proxy
}

# One request cannot name two sources, and the phase that makes it does not tell when it is started.
@test "a persistent wildcard is pinned for each start" {
    record app.dir 4 "$PROGRAMS/wildcards" started
    make_proxy app.dir ./proxy
    grep -q 'pinned to the source that came for each start' proxy.c
    "$PROXYGEN" app.dir -o parts/
    make -s -C parts CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]}"
    for run in 1 2 3; do
        YIELD_DELAYS=$run record "again$run.dir" 4 ./proxy
        "$WEND" dump "again$run.dir" --rank 0 | grep -E 'MPI_(Wait|Recv)\(' |
            grep -o 'source=.*' >"order$run"
        "$WEND" dump app.dir --rank 0 | grep -E 'MPI_(Wait|Recv)\(' | grep -o 'source=.*' |
            diff - "order$run"
    done
    mpi 4 parts/proxy
}

@test "a master that probes any source keeps its wildcards: senders wait for their turn" {
    record_and_compile 5 masterworker -p -t 30
    grep -q 'MPI_Improbe(MPI_ANY_SOURCE' proxy.c
    grep -q 'wait_for_turn(0);' proxy.c
    for run in 1 2 3 4 5; do
        record "again$run.dir" 5 ./proxy
        "$WEND" diff app.dir "again$run.dir"
    done
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

# The proxy numbers its variables for ports in the order in which it opens them. Equal names in a
# row are counted.
@test "the next port comes after all equal ones before it, however many" {
    {
        printf 'ranks 2\nMPI_Init\n'
        opens() { printf 'MPI_Open_port -> port_name=%s\n' "$@"; }
        printf 'rank 0\nrepeat 70000\n'
        opens first
        echo end
        opens second
        echo 'rank 1'
        opens second third third first
        printf 'rank *\nMPI_Finalize\n'
    } | "$BUILD_DIR/tests/decoder/script" - app.dir
    cat >ports.c <<'C'
#include <mpi.h>
#include <stdio.h>
extern char port[3][MPI_MAX_PORT_NAME + 1];
int MPI_Open_port(MPI_Info info, char *name)
{
    static FILE *out;
    char file[32];
    int rank;
    (void)info;
    if (!out) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(file, sizeof file, "ports.%d", rank);
        out = fopen(file, "w");
    }
    snprintf(name, MPI_MAX_PORT_NAME, "a port");
    int number = (int)((name - port[0]) / (long)sizeof port[0]);
    return fprintf(out, "%d\n", number) > 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
C
    "$PROXYGEN" app.dir -o there/
    "$MPICC" "${PROXY_CFLAGS[@]}" -O1 there/*.c ports.c -o proxy
    mpi 2 ./proxy
    [ "$(uniq -c ports.0 | xargs)" = "70000 0 1 1" ]
    [ "$(uniq -c ports.1 | xargs)" = "1 1 2 2 1 0" ]
}

@test "a recording without structure is compiled in seconds, to files that a compiler takes" {
    cat >noise.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    unsigned x = 12345;
    int size;
    MPI_Init(&argc, &argv);
    for (long i = 0; i < 600000; i++) {
        x = x * 1103515245 + 12345;
        MPI_Pack_size(x >> 16 & 63, MPI_INT, MPI_COMM_WORLD, &size);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 noise.c -o noise
    record app.dir 1 ./noise
    timeout 30 "$PROXYGEN" app.dir -o proxy.c
    timeout 60 "$MPICC" "${PROXY_CFLAGS[@]}" -O2 proxy.c -o proxy
    record proxy.dir 1 ./proxy
    "$WEND" diff app.dir proxy.dir
    timeout 30 "$PROXYGEN" app.dir -o there/
    for file in there/*; do
        [ "$(stat -c %s "$file")" -lt 1000000 ]
    done
    timeout 60 make -s -j2 -C there CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O2"
    record there.dir 1 there/proxy
    "$WEND" diff app.dir there.dir
}

# The calls that follow a Waitsome may free the memory of all requests that it completed. A proxy
# that completes them one by one must not free too early.
@test "memory that requests use is not freed when others complete" {
    cat >frees.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n, done, which[4], value = 7, *block[4];
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 4; k++) {
            block[k] = malloc(64);
            MPI_Irecv(block[k], 1, MPI_INT, 0, k, MPI_COMM_SELF, &requests[k]);
        }
        for (int k = 0; k < 3; k++)
            MPI_Send(&value, 1, MPI_INT, 0, k, MPI_COMM_SELF);
        for (done = 0; done < 4; done += n) {
            MPI_Waitsome(4, requests, &n, which, MPI_STATUSES_IGNORE);
            for (int k = 0; k < n; k++)
                free(block[which[k]]);
            if (done < 3 && done + n >= 3)
                MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
        }
    }
    MPI_Finalize();
    return 0;
}
C
    cat >one.c <<'C'
#include <mpi.h>
#include <unistd.h>
void __libc_free(void *p);
static struct { const void *buffer; MPI_Request request; } pending[4];
static int set(const void *buffer, MPI_Request request)
{
    int i = 0;
    while (i < 3 && pending[i].buffer)
        i++;
    pending[i].buffer = buffer;
    pending[i].request = request;
    return MPI_SUCCESS;
}
int MPI_Irecv(void *buffer, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    PMPI_Irecv(buffer, n, type, source, tag, comm, request);
    return set(buffer, *request);
}
/* The last one that is complete, and no other. */
int MPI_Waitsome(int n, MPI_Request requests[], int *done, int which[], MPI_Status statuses[])
{
    int there = 0;
    (void)statuses;
    for (*done = 0; *done == 0;)
        for (int i = n; i-- > 0 && *done == 0;)
            if (requests[i] != MPI_REQUEST_NULL) {
                MPI_Request request = requests[i];
                PMPI_Test(&requests[i], &there, MPI_STATUS_IGNORE);
                for (int k = 0; k < 4 && there; k++)
                    if (pending[k].request == request)
                        pending[k].buffer = NULL;
                which[0] = i;
                *done = there;
            }
    return MPI_SUCCESS;
}
void free(void *p)
{
    for (int i = 0; i < 4; i++)
        if (p && pending[i].buffer == p)
            _exit(9);
    __libc_free(p);
}
C
    "$MPICC" -w frees.c -o frees
    record app.dir 1 ./frees
    "$PROXYGEN" app.dir -o proxy.c
    "$MPICC" -w -fno-builtin proxy.c one.c -o proxy
    mpi 1 ./proxy
}

@test "datatypes of many parts are compiled in seconds" {
    cat >parts.c <<'C'
#include <mpi.h>
#include <stdlib.h>
enum { N = 200000 };
int main(int argc, char **argv)
{
    int *lengths = malloc(N * sizeof *lengths), size;
    MPI_Aint *places = malloc(N * sizeof *places);
    MPI_Datatype *types = malloc(N * sizeof *types), type, two[2];
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 3; k++) { /* the same numbers for others each time */
        MPI_Type_contiguous(1 + k, MPI_INT, &two[0]);
        MPI_Type_contiguous(2 + k, MPI_INT, &two[1]);
        for (int i = 0; i < N; i++) {
            lengths[i] = 1 + i % 3;
            places[i] = (MPI_Aint)i * 64;
            types[i] = two[i % 2];
        }
        MPI_Type_create_struct(N, lengths, places, types, &type);
        MPI_Type_commit(&type);
        MPI_Type_size(type, &size);
        MPI_Type_free(&type);
        MPI_Type_free(&two[1]);
        MPI_Type_free(&two[0]);
    }
    MPI_Finalize();
    return 0;
}
C
    compiles_in_seconds parts 1
}

@test "datatypes of many parts of random types are compiled in seconds" {
    cat >chance.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    static int lengths[N];
    static MPI_Aint places[N];
    static MPI_Datatype types[N];
    MPI_Datatype type, some[8];
    unsigned long x = 1;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 8; i++)
        MPI_Type_contiguous(1 + i, MPI_INT, &some[i]);
    for (int k = 0; k < 2; k++) { /* others of the same each time */
        for (int i = 0; i < N; i++) {
            x = x * 6364136223846793005ul + 1442695040888963407ul;
            lengths[i] = 1;
            places[i] = 64l * i;
            types[i] = some[x >> 61];
        }
        MPI_Type_create_struct(N, lengths, places, types, &type);
        MPI_Type_free(&type);
    }
    for (int i = 0; i < 8; i++)
        MPI_Type_free(&some[i]);
    MPI_Finalize();
    return 0;
}
C
    # gcc takes minutes for 200,000
    local parts=20000
    [ -z "${LONG:-}" ] || parts=200000
    compiles_in_seconds chance 1 -DN=$parts
}

@test "datatypes of many parts that differ by rank are compiled in seconds" {
    cat >rows.c <<'C'
#include <mpi.h>
#include <stdlib.h>
enum { N = 100000 };
int main(int argc, char **argv)
{
    int *lengths = malloc(N * sizeof *lengths), rank;
    MPI_Aint *places = malloc(N * sizeof *places);
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) {
        lengths[i] = 1 + (i * (rank + 7)) % 3;
        places[i] = (MPI_Aint)i * 64 + rank * 16 * (i % 2);
    }
    MPI_Type_create_hindexed(N, lengths, places, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
C
    compiles_in_seconds rows 2
}

# As in parallel HDF5: the application computes the distance without asking MPI, and MPI never sees
# the other block.
@test "datatypes lead from one block to another, before it or behind it, by subtracted pointers" {
    cat >apart.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static void give(char *from, char *to, size_t bytes)
{
    int rank, length[2] = {(int)bytes, (int)bytes};
    MPI_Aint place[2] = {0, to - from};
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_hindexed(2, length, place, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < (int)bytes; i++)
        from[i] = to[i] = (char)(rank + i);
    MPI_Bcast(from, 1, type, 0, MPI_COMM_WORLD);
    if (from[bytes - 1] != (char)(bytes - 1) || to[bytes - 1] != (char)(bytes - 1))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_free(&type);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 3; k++) {
        size_t bytes = k < 2 ? 64 : 400000;
        char *one = malloc(bytes), *gap = malloc(3 * bytes), *other = malloc(bytes);
        give(one, other, bytes);
        give(other, one, bytes);
        free(other);
        free(gap);
        free(one);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 apart.c -o apart
    roundtrip 4 ./apart
    in_several_files 4
}

# Types of many blocks: as constants the arrays would be 2 MB of C.
@test "long arrays that follow a pattern are loops" {
    cat >blocks.c <<'C'
#include <mpi.h>
#include <stdlib.h>
enum { N = 20000 };
static int ones[N], lengths[N], places[N];
static MPI_Aint offsets[N];
static MPI_Datatype types[N];
static void exchange(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lb, &extent);
    char *memory = calloc(1, (size_t)(lb + extent));
    MPI_Bcast(memory, 1, type, 0, MPI_COMM_SELF);
    free(memory);
    MPI_Type_free(&type);
}
int main(int argc, char **argv)
{
    unsigned long x = 1;
    int rank;
    MPI_Datatype type, pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    for (int i = 0; i < N; i++) {
        ones[i] = 1;
        places[i] = i * (i + 1) / 2; /* rows of a triangle */
    }
    MPI_Type_indexed(N, ones, places, MPI_CHAR, &type);
    exchange(type);
    for (int i = 0; i < N; i++) { /* in pairs, backwards, the last one alone */
        lengths[i] = i == N - 1 ? 7 : i % 2 ? 3 : 2;
        offsets[i] = 64l * (N - i) - (i % 2 ? 24 : 0);
        types[i] = i < N / 2 && i % 2 ? MPI_INT : pair;
    }
    MPI_Type_create_hindexed(N, lengths, offsets, MPI_INT, &type);
    exchange(type);
    MPI_Type_create_struct(N, ones, offsets, types, &type);
    exchange(type);
    for (int i = 0; i < N; i++) { /* other values, steps and bounds on each rank */
        lengths[i] = i < 1000 * (rank + 1) ? 1 : 2 + rank;
        places[i] = (7 + rank * rank) * i + rank;
    }
    MPI_Type_indexed(N, lengths, places, MPI_INT, &type);
    exchange(type);
    if (argc > 1) { /* by chance */
        for (int i = 0; i < 500; i++) {
            x = x * 6364136223846793005ul + 1442695040888963407ul;
            places[i] = 100 * i + (int)(x >> 59);
        }
        MPI_Type_create_indexed_block(500, 1, places, MPI_INT, &type);
        exchange(type);
    }
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 blocks.c -o blocks
    roundtrip 4 ./blocks
    [ "$(wc -c <proxy.c)" -lt 20000 ]
    in_several_files 4
    rm -r app.dir proxy.dir proxy.c
    roundtrip 3 ./blocks by-chance
}

# Rows, columns and transposes of grids, butterfly exchanges, trees, rings of several dimensions.
# The proxy of each sends to the recorded partners of each rank, and has no table.
@test "partners that follow a pattern are expressions, whatever the number of ranks" {
    script=$BUILD_DIR/tests/decoder/script
    for ranks in 12 600; do
        awk -v n="$ranks" 'BEGIN {
            print "ranks " n
            w = n == 12 ? 4 : 150; h = n / w
            split("Send Ssend Bsend Rsend Send Ssend Bsend Rsend Send Ssend Bsend", how) # no loop
            for (r = 0; r < n; r++) {
                row = int(r / w); column = r % w
                to[1] = column * h + row
                to[2] = int((r + 1) / 2)
                to[3] = row * w + (column + 1) % w
                to[4] = ((row + h - 1) % h) * w + column
                to[5] = r % 4 < 2 ? r + 2 : r - 2
                to[6] = n - 1 - r
                to[7] = int(r / 6) * 6 + (r % 3) * 2 + int(r / 3) % 2
                to[8] = r ? int((r - 1) / 2) : "MPI_PROC_NULL"
                to[9] = 2 * r + 1 < n ? 2 * r + 1 : "MPI_PROC_NULL"
                to[10] = r < n - 1 ? int(r / 3) + 1 : 0
                # r ^ 3
                to[11] = r % 4 == 0 ? r + 3 : r % 4 == 1 ? r + 1 : r % 4 == 2 ? r - 1 : r - 3
                print "rank " r
                for (i = 1; i in to; i++) {
                    type = i < 5 ? "MPI_INT" : "MPI_DOUBLE"
                    print "MPI_" how[i] " count=1 datatype=" type " dest=" to[i] " tag=" i
                }
                for (i = 1; i in to; i++) print i, r, to[i] == "MPI_PROC_NULL" ? -1 : to[i] >"said"
            }
        }' >in.script
        rm -rf t
        "$script" in.script t
        "$PROXYGEN" -f t -o t.c
        ! grep '^static const int [a-z]*_[0-9]' t.c || fail "$ranks ranks: a table of values" ||
            return
        grep -q '(rank ^ 3), 11,' t.c || fail "$ranks ranks: partners of a butterfly" || return
        {
            printf '%s\n' '#include <stdio.h>' '#define MPI_PROC_NULL -1' 'int main(void)' '{' \
                "    for (int rank = 0; rank < $ranks; rank++) {"
            call='MPI_[A-Za-z]*\([^,]*, [^,]*, [^,]*, (.*), ([1-9]|1[01]), MPI_COMM_WORLD\);'
            tr -d '\n' <t.c | grep -o 'MPI_[SBR]s*end([^;]*;' | sed -E 's/ +/ /g' |
                sed -E 's/^'"$call"'$/        printf("\2 %d %d\\n", rank, \1);/'
            printf '    }\n}\n'
        } >values.c
        gcc -o values values.c
        ./values | sort >now
        sort said | diff - now >&2 || fail "$ranks ranks: other partners" || return
    done
}

# Sizes, partners and tags that change from iteration to iteration: equally on all ranks,
# differently on each, every few steps, in threads.
@test "loops whose numbers differ each time are loops over tables" {
    cat >varying.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <string.h>
enum { STEPS = 400, MOST = 4096 };
static int rank, size;
static int chance(unsigned long *x)
{
    return (int)((*x = *x * 6364136223846793005ul + 1442695040888963407ul) >> 52);
}
static void shift(int send, int by, int tag)
{
    static int a[MOST], b[MOST];
    MPI_Sendrecv(a, send, MPI_INT, (rank + by) % size, tag, b, MOST, MPI_INT,
                 (rank + size - by) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void exchange(int n, int by)
{
    static int a[MOST], b[2][MOST];
    MPI_Request requests[4];
    int left = (rank + size - by) % size, right = (rank + by) % size;
    MPI_Irecv(b[0], n, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(b[1], n, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(a, n, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(a, n, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}
static void *of_thread(void *number)
{
    static int a[2][MOST], b[2][MOST];
    int t = *(int *)number;
    unsigned long x = (unsigned long)t + 3;
    for (int i = 0; i < STEPS; i++) {
        int n = chance(&x);
        MPI_Sendrecv(a[t], n, MPI_INT, 0, t, b[t], n, MPI_INT, 0, t, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    }
    return NULL;
}
static void *of_two_threads(void *number)
{
    unsigned long x = 1;
    for (int i = 0, bytes; i < STEPS; i++)
        MPI_Pack_size(chance(&x), MPI_INT, MPI_COMM_SELF, &bytes);
    return number;
}
int main(int argc, char **argv)
{
    unsigned long x = 1, mine;
    const char *how = argv[argc > 1];
    int provided, numbers[2] = {0, 1};
    pthread_t threads[3];
    int level = strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = (unsigned long)rank + 1;
    for (int i = 0, n = 0, by = 1; i < STEPS && strcmp(how, "threads") != 0; i++) {
        if (i % 5 == 0) {
            n = chance(&x);
            by = 1 + n % (size - 1);
        }
        if (strcmp(how, "sizes") == 0)
            shift(chance(&x), 1, 0);
        else if (strcmp(how, "ranks") == 0)
            shift(chance(&mine), 1, i % 7);
        else if (strcmp(how, "mesh") == 0)
            exchange(n, by);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && i % 50 == 49) { /* a loop of its own on one rank */
            MPI_Request requests[2];
            int index;
            MPI_Irecv(&n, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
            MPI_Isend(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
            for (int k = 0; k < 2; k++)
                MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            n = i;
        }
        MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (strcmp(how, "threads") == 0) {
        pthread_create(&threads[0], NULL, of_thread, &numbers[0]);
        pthread_create(&threads[1], NULL, of_two_threads, NULL);
        pthread_create(&threads[2], NULL, of_two_threads, NULL);
        of_thread(&numbers[1]);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 varying.c -o varying -pthread
    for how in sizes ranks mesh threads; do
        rm -rf app.dir proxy.dir parts parts.dir proxy.c
        roundtrip 3 ./varying $how || fail "$how" || return
        [ "$(wc -l <proxy.c)" -lt 600 ] || fail "$how: $(wc -l <proxy.c) lines" || return
        in_several_files 3 || fail "$how, several files" || return
    done
}

@test "two loops over tables in one function, of long numbers and of short ones" {
    cat >kinds.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    unsigned long x = 1;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 300; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        int n = (int)(x >> 60) + 1, length = (int)(x >> 50 & 1023) + 1;
        MPI_Type_create_hindexed(2, (int[]){n, length},
                                 (MPI_Aint[]){(MPI_Aint)(x >> 28), 0}, MPI_CHAR, &type);
        MPI_Type_free(&type);
        MPI_Type_vector(n, length, length + n * n, MPI_CHAR, &type);
        MPI_Type_free(&type);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 kinds.c -o kinds
    roundtrip 1 ./kinds
    [ "$(grep -c 'rows_[12]\[' proxy.c)" = 4 ] # two tables, and where they are read
}

# Only memory tells rank 1 of the block, so its proxy may access it too early. The memory is aligned
# to 16 bytes: elsewhere MPICH 4.0.2 writes a replaced address eight bytes too low, as it did at
# rank 1 of a window with room for three blocks of each rank.
@test "a block that is attached later is waited for" {
    cat >later.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Aint second = 0, *told, one;
    MPI_Win dynamic, window;
    char *blocks[2], got[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_allocate(2 * sizeof *told, sizeof *told, MPI_INFO_NULL, MPI_COMM_WORLD, &told, &window);
    told[0] = told[1] = 0;
    for (int i = 0; i < 2; i++)
        blocks[i] = calloc(1, 64);
    if (rank == 0)
        MPI_Win_attach(dynamic, blocks[0], 64);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, dynamic);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (rank == 0) {
        for (int i = 0; i < 1000; i++) /* while these wait, what rank 1 wants to know is answered */
            MPI_Sendrecv(&i, 1, MPI_INT, 2, 0, got, 1, MPI_INT, 2, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        MPI_Win_attach(dynamic, blocks[1], 64);
        MPI_Get_address(blocks[1], &second);
        MPI_Accumulate(&second, 1, MPI_AINT, 1, 0, 1, MPI_AINT, MPI_REPLACE, window);
        MPI_Win_flush(1, window);
    } else if (rank == 2) {
        for (int i = 0; i < 1000; i++)
            MPI_Sendrecv(&i, 1, MPI_INT, 0, 0, got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    } else {
        while (second == 0) {
            usleep(5000);
            MPI_Fetch_and_op(&one, &second, MPI_AINT, 1, 0, MPI_NO_OP, window);
            MPI_Win_flush(1, window);
        }
        MPI_Get(got, 8, MPI_BYTE, 0, second, 8, MPI_BYTE, dynamic);
        MPI_Win_flush(0, dynamic);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_unlock_all(dynamic);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < 2; i++)
            MPI_Win_detach(dynamic, blocks[i]);
    MPI_Win_free(&window);
    MPI_Win_free(&dynamic);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O1 later.c -o later
    roundtrip 3 ./later
}

# The function of each rank makes another call in the last iterations.
@test "callbacks are called as often as in the recording, however often that is" {
    cat >often.c <<'C'
#include <mpi.h>
enum { TIMES = 1100000 };
static int count, rank;
static void handle(MPI_Comm *comm, int *code, ...)
{
    int n;
    if (count++ >= TIMES - 3 - rank)
        MPI_Comm_size(*comm, &n);
    (void)code;
}
int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < TIMES; i++)
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 often.c -o often
    roundtrip 2 ./often
    [ "$(wc -c <proxy.c)" -lt 8000 ]
}

# Everything beside calls in a large program: all kinds of calls for which code is kept, in any
# order, on several ranks that differ.
@test "tables hold large programs with loops, callbacks, wildcards, arrays and values by rank" {
    cat >large.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    unsigned long x = 1;
    int rank, size, index, n, in[8], out[40] = {0}, counts[20], places[20];
    MPI_Request requests[8];
    MPI_Comm comms[5];
    int *blocks[7];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 7; i++)
        blocks[i] = malloc(40 * sizeof(int));
    for (int i = 0; i < 24000; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        unsigned y = (unsigned)(x >> 40);
        switch (y % 24) {
        case 0:
            for (int k = 0; k < 4; k++)
                MPI_Irecv(&in[k], 1, MPI_INT, (rank + size - 1) % size, k, MPI_COMM_WORLD,
                          &requests[k]);
            for (int k = 0; k < 4; k++)
                MPI_Isend(out, 1, MPI_INT, (rank + 1) % size, k, MPI_COMM_WORLD, &requests[4 + k]);
            for (int k = 0; k < 8; k++)
                MPI_Waitany(8, requests, &index, MPI_STATUS_IGNORE);
            break;
        case 1: case 10: case 11: case 12:
            MPI_Send(out, (int)(y / 8 % 40), MPI_INT, MPI_PROC_NULL, (int)(y / 8 % 1000),
                     MPI_COMM_WORLD);
            break;
        case 2: case 13: case 14: case 15:
            MPI_Pack_size((int)(y / 8 % 1000) + rank * (int)(y % 3), MPI_INT, MPI_COMM_WORLD, &n);
            break;
        case 3:
            for (int k = 0; k < 20; k++) {
                counts[k] = k == (int)(y / 8 % 20) && k < size;
                places[k] = k;
            }
            MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_SELF);
            break;
        case 4:
            for (unsigned k = 0; k < y / 8 % 5; k++)
                MPI_Bcast(blocks[y / 8 % 7], (int)(y / 64 % 40), MPI_INT, 0, comms[y / 512 % 5]);
            break;
        case 5:
            if (y / 8 % 20 == 0 && rank == 0) {
                for (int k = 1; k < size; k++)
                    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 100, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
            } else if (y / 8 % 20 == 0) {
                MPI_Send(out, 1, MPI_INT, 0, 100, MPI_COMM_WORLD);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case 9: /* the same requests at other places each time */
            for (int k = 0; k < 4; k++)
                MPI_Isend(blocks[y / 8 % 7], 1, MPI_INT, MPI_PROC_NULL, k, comms[y / 512 % 5],
                          &requests[(k + rank + (int)(y / 64)) % 4]);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
            break;
        case 6: case 7: case 8:
            MPI_Type_size(y & 64 ? MPI_INT : MPI_DOUBLE, &n);
            break;
        default:
            MPI_Get_processor_name((char[MPI_MAX_PROCESSOR_NAME]){0}, &n);
        }
    }
    for (int i = 0; i < 5; i++)
        MPI_Comm_free(&comms[i]);
    for (int i = 0; i < 7; i++)
        free(blocks[i]);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 large.c -o large
    record app.dir 3 ./large
    make_proxy app.dir ./proxy
    grep -q '^static void run(int rule)' proxy.c
    # 15 kinds of calls; counts, tags, requests, blocks and communicators are numbers
    functions=$(grep -c '^static void call_' proxy.c)
    [ "$functions" -lt 100 ] || fail "$functions functions for calls"
    record proxy.dir 3 ./proxy
    "$WEND" diff app.dir proxy.dir
    "$PROXYGEN" app.dir -o there/
    make -s -j2 -C there CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O1"
    record there.dir 3 there/proxy
    "$WEND" diff app.dir there.dir
}
