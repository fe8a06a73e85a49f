# SPDX-License-Identifier: BSD-3-Clause
# wend replay: the same calls with the same outcomes, down to the last unsuccessful poll.
bats_require_minimum_version 1.5.0
load ../helpers
setup() {
    in_scratch
    export UCX_LOG_LEVEL=error # it warns of a receive that is never completed
}

again() { # N RECORDING command…: replayed and recorded in again.dir
    local n=$1 recording=$2
    shift 2
    rm -rf again.dir
    mpi "$n" "$WEND" replay --quiet -o again.dir "$recording" "$@"
}

# exact N TIMES program…: recorded with noise, and replayed so often without and with it. What it
# prints is the same, and so is the recording.
exact() {
    local n=$1 times=$2 i noise=()
    shift 2
    rm -rf app.dir
    mpi "$n" "$WEND" trace --quiet --noise -o app.dir "$@" >app.out || return
    for ((i = 0; i < times; i++)); do
        [ $((i % 2)) = 0 ] || noise=(--noise)
        rm -rf again.dir
        mpi "$n" "$WEND" replay --quiet "${noise[@]}" -o again.dir app.dir "$@" >again.out ||
            return
        diff app.out again.out || fail "replay $i of $*: another result" || return
        "$WEND" diff --outcomes app.dir again.dir || return
    done
}

# each_part N parts…: each is exact. The test is skipped if the MPI library lacks one of them; the
# program ends with 77 then.
each_part() {
    local n=$1 part status lacking=()
    shift
    for part in "$@"; do
        status=0
        exact "$n" 2 "$PROGRAMS/${race:-race}" "$part" || status=$?
        case $status in
        0) ;;
        77) lacking+=("$part") ;;
        *) fail "$part: status $status" || return ;;
        esac
    done
    [ ${#lacking[@]} = 0 ] || skip "the MPI library lacks what these need: ${lacking[*]}"
}

@test "a race says if it cannot run one of its parts" {
    run timeout "$TEST_TIMEOUT" "$PROGRAMS/race" receive no_such_part
    [ "$status" = 2 ] && [ "$output" = "no_such_part: no such part" ] || fail "$status: $output"
    run timeout "$TEST_TIMEOUT" "$PROGRAMS/race_requests" receive
    [ "$status" = 2 ] || fail "$status: $output"
}

@test "wildcard receives and probes" { each_part 4 receive half_open both_ways matched; }
@test "wildcard receives beside collective calls that move no data" {
    exact 4 2 "$PROGRAMS/wildcards" empty
}
@test "sends and receives in one request" { each_part 4 both_at_once; } # needs MPI 4
@test "polls in a program that has sessions alone" {
    library_has MPI_Session_init
    exact 4 4 "$PROGRAMS/sessions" polls
}
@test "completions by choice" { each_part 4 pool any out_of_order get_status; }
@test "probes and tests in loops" { each_part 4 master nbx; }
@test "persistent receives whose partner changes, and cancelled ones" {
    each_part 4 persistent cancelled
}
@test "receives that are freed before they complete" { each_part 4 freed; }
@test "receives that are never completed, and others that take messages of the same kind" {
    each_part 4 unfinished
}
@test "neighbours in the library's order" { each_part 4 graph; }
@test "an intercommunicator" { each_part 4 intercommunicator; }
@test "messages that are too long for receives from any source" {
    each_part 4 too_long too_long_any
}
@test "particles on a grid, sent one by one and in bursts" {
    race=race_grid each_part 4 one_by_one bursts
}
@test "requests: copied, inactive and null ones, and many with one handle" {
    race=race_requests each_part 4 copied inactive one_handle
}
@test "requests: generalized ones, and sends" {
    race=race_requests each_part 4 generalized completed_sends
}
@test "requests: freed after their status was asked for" {
    race=race_requests each_part 4 looked_at
}
@test "requests: partitioned ones" { race=race_requests each_part 4 partitioned; } # needs MPI 4
@test "requests: a source or a tag is open, but not both; communicators made from others" {
    race=race_requests each_part 4 half_open derived
}
@test "requests: a Waitall some of whose messages are too long" {
    race=race_requests each_part 4 errors_together
}
@test "requests: a receive, a barrier and a sum in one array" {
    race=race_requests each_part 4 nbx_together
}
@test "callbacks that receive" { race=race_requests each_part 4 called_back; }
# bats test_tags=long
@test "all of it with eight ranks" {
    exact 8 3 "$PROGRAMS/race"
    exact 8 3 "$PROGRAMS/race_grid"
    exact 8 3 "$PROGRAMS/race_requests"
}

# This MPI cancels no send. A tool behind Wend makes sends with tag 5 that can be cancelled:
# receives on a communicator of its own. The replays are without it.
@test "sends that were cancelled in time" {
    cat >tool.c <<'C'
#include <mpi.h>
#include <stddef.h>
static MPI_Comm own(void)
{
    static MPI_Comm comm = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL)
        PMPI_Comm_dup(MPI_COMM_SELF, &comm);
    return comm;
}
int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return tag == 5 ? PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, own(), request)
                    : PMPI_Isend(buf, count, type, dest, tag, comm, request);
}
int MPI_Send_init(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    return tag == 5 ? PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, 0, own(), request)
                    : PMPI_Send_init(buf, count, type, dest, tag, comm, request);
}
C
    cat >cancels.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, v = 0, flag, cancelled = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++) {
        MPI_Request r, again;
        MPI_Status s;
        v = 10 * i;
        if (rank == 1) {
            MPI_Recv(&v, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%d\n", v);
            MPI_Barrier(MPI_COMM_WORLD);
            continue;
        }
        MPI_Isend(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &flag);
        cancelled += flag;
        MPI_Send_init(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &again);
        for (int k = 0; k < 2; k++) {
            MPI_Start(&again);
            MPI_Cancel(&again);
            MPI_Waitall(1, &again, &s);
            MPI_Test_cancelled(&s, &flag);
            cancelled += flag;
        }
        MPI_Request_free(&again);
        v++;
        MPI_Isend(&v, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, &s);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d cancelled\n", cancelled);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -shared -fPIC tool.c -o tool.so
    "$MPICC" cancels.c -o cancels
    LD_PRELOAD=$PWD/tool.so mpi 2 "$WEND" trace --quiet -o app.dir ./cancels | sort >app.out
    grep -qx '12 cancelled' app.out || fail "$(cat app.out)"
    again 2 app.dir ./cancels | sort >again.out
    diff app.out again.out
    "$WEND" diff --outcomes app.dir again.dir
}

@test "as many communicators as in the recording" {
    library_is mpich || skip "Open MPI has no such limit"
    cat >many.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int n = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (n < 10000 && MPI_Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS)
        n++;
    printf("%d\n", n);
    MPI_Abort(MPI_COMM_SELF, 0);
    return 0;
}
C
    "$MPICC" many.c -o many
    mpi 1 "$WEND" trace --quiet --checkpoint 1 -o app.dir ./many >app.out 2>/dev/null || :
    [ ! -e app.dir/trace.parts ] || "$WEND" merge app.dir >/dev/null
    again 1 app.dir ./many >again.out 2>error || :
    ! grep departs error || fail "$(cat error)"
    diff app.out again.out
}

threads_of() { # parts of turns.c
    local part
    for part in "$@"; do
        exact 3 4 "$PROGRAMS/turns" "$part" || fail "$part" || return
    done
}

@test "threads on one communicator: a server" { threads_of server; }
@test "threads on one communicator: overlapping tags, and probes" { threads_of tags probes; }
@test "threads on one communicator: matched probes" { threads_of matched; }
@test "threads on one communicator: sends, in each way" { threads_of sends exchange; }
@test "threads on one communicator: persistent receives" { threads_of persistent; }

# has_order RECORDING: whether the order of threads is in it
has_order() {
    zstd -dc "$1/trace.tar.zst" | grep -aq wend_turn
}

@test "the order of threads is stored only if sources and tags overlap" {
    record shared.dir 3 "$PROGRAMS/turns" tags >/dev/null
    has_order shared.dir
    record threads.dir 2 "$PROGRAMS/threads" >/dev/null
    ! has_order threads.dir || false
    record apart.dir 2 "$PROGRAMS/interleaved" 3 >/dev/null
    ! has_order apart.dir || false
    "$WEND" dump shared.dir >dump.out
    ! grep -q wend_turn dump.out || false
}

@test "a turn that a lock of the program holds up: the replay says who waits for whom" {
    cat >lock.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken;
static long first;
static void *take(void *me)
{
    int value;
    if ((long)me != first)
        sem_wait(&taken);
    pthread_mutex_lock(&mutex);
    if ((long)me == first)
        sem_post(&taken);
    MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&mutex);
    return NULL;
}
int main(int argc, char **argv)
{
    int rank, provided;
    pthread_t threads[2];
    first = getenv("FIRST") ? atol(getenv("FIRST")) : 0;
    sem_init(&taken, 0, 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < 2 && rank == 0; i++)
        pthread_create(&threads[i], NULL, take, (void *)i);
    for (int i = 0; i < 2 && rank == 0; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2 && rank == 1; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" lock.c -o lock -pthread
    mpi 2 "$WEND" trace --quiet -o app.dir ./lock
    mpi 2 "$WEND" replay --quiet app.dir ./lock
    FIRST=1 run mpi_ends 2 "$WEND" replay --quiet --patience "$(patience 1)" app.dir ./lock
    [ "$status" = 1 ]
    [[ "$output" == *"rank 0 waits in MPI_Recv(source=1, tag=5) for its turn behind another"* ]]
}

@test "threads of a run that died: the same again" {
    cat >die.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static unsigned hashes[3];
static void *take(void *me)
{
    unsigned *hash = &hashes[(long)me];
    for (int i = 0; i < 20; i++) {
        MPI_Status s;
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        *hash = *hash * 31 + (unsigned)(s.MPI_SOURCE * 100 + value);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    int rank, provided;
    pthread_t threads[3];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < 3 && rank == 0; i++)
        pthread_create(&threads[i], NULL, take, (void *)i);
    for (int i = 0; i < 30 && rank > 0; i++)
        MPI_Ssend(&i, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
    for (int i = 0; i < 3 && rank == 0; i++)
        pthread_join(threads[i], NULL);
    if (rank == 0) {
        printf("died with %u %u %u\n", hashes[0], hashes[1], hashes[2]);
        fflush(stdout);
        if (getenv("LATE")) /* the others have saved their last calls then */
            sleep(2);
        abort();
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" die.c -o die -pthread
    LATE=1 mpi 3 "$WEND" trace --quiet --noise --checkpoint 1 -o app.dir ./die >app.out || :
    "$WEND" merge app.dir >merge.out
    grep "^died" app.out >died.out
    for i in 1 2 3; do
        mpi 3 "$WEND" replay --quiet --noise app.dir ./die >again.out || :
        grep "^died" again.out | diff died.out -
    done
}

@test "small programs: the same recording again" {
    # left out: those that send differences of addresses, race in memory, or switch recording off
    local n program arguments turn=0 half=0
    ! library_is openmpi || half=1
    while read -r n program arguments; do
        # without LONG, each family replays every second
        [ -n "${LONG:-}" ] || [ $((turn++ % 2)) = "$half" ] || continue
        rm -rf app.dir
        # shellcheck disable=SC2086
        record app.dir "$n" "$PROGRAMS/$program" $arguments >/dev/null
        # shellcheck disable=SC2086
        again "$n" app.dir "$PROGRAMS/$program" $arguments >/dev/null || fail "$program" || return
        quietly diff.out "$WEND" diff --outcomes app.dir again.dir || fail "$program" || return
    done <<'LIST'
1 hello
4 arguments
3 errors
4 statuses
4 callbacks
2 nulls
2 invalid
4 requests
4 nbx
3 tagged 300 rolling
3 wildcards
5 wildcards comms
4 partners
2 early
2 threads
4 memory
3 files
LIST
}

# The programs of other languages that are here: each is recorded, and its replay is the same.
same_again() { # N program…
    local n=$1
    shift
    rm -rf app.dir
    record app.dir "$n" "$@" >app.out
    again "$n" app.dir "$@" >again.out || fail "$*" || return
    diff <(sort app.out) <(sort again.out) || fail "$*: another output" || return
    quietly diff.out "$WEND" diff --outcomes app.dir again.dir || fail "$*"
}

@test "C++" {
    [ -x "$PROGRAMS/cxx" ] || skip "this MPI has no C++ bindings"
    same_again 2 "$PROGRAMS/cxx"
}

@test "Fortran: mpif.h, use mpi, use mpi_f08" {
    [ -x "$PROGRAMS/fortran" ] || skip "no Fortran compiler for this MPI"
    local interface
    same_again 3 "$PROGRAMS/fortran"
    same_again 3 "$PROGRAMS/f08"
    for interface in 1 2 3; do same_again 3 "$PROGRAMS/sentinels-$interface"; done
}

@test "a library that a program loads, and Python" {
    same_again 3 "$PROGRAMS/late" "$PROGRAMS/late.so"
    same_again 3 "$PYTHON" "$SOURCE_DIR/tests/programs/late.py" "$PROGRAMS/late.so"
}

# Its objects lie elsewhere in each run, so "wend diff" tells them apart.
@test "mpi4py" {
    has_mpi4py || skip "no mpi4py for this MPI library here"
    local settings i
    for settings in '' 'PYTHONMALLOC=malloc PYTHONHASHSEED=0'; do
        # shellcheck disable=SC2086,SC2163
        [ -z "$settings" ] || export $settings
        record app.dir 3 "$PYTHON" "$SOURCE_DIR/tests/programs/python.py" >app.out
        for i in 1 2; do
            again 3 app.dir "$PYTHON" "$SOURCE_DIR/tests/programs/python.py" >again.out 2>again.err
            [ ! -s again.err ] || fail "$settings: $(cat again.err)" || return
            diff <(sort app.out) <(sort again.out) ||
                fail "$settings: replay $i: another output" || return
        done
        rm -rf app.dir
    done
}

@test "races in C++ and in Fortran, by mpif.h, use mpi and use mpi_f08" {
    local program ran=
    for program in cxx 1 2 3; do
        [ -x "$PROGRAMS/racing-$program" ] || continue
        ran+=" $program"
        exact 4 2 "$PROGRAMS/racing-$program" || fail "racing-$program" || return
    done
    [ -n "$ran" ] || skip "neither C++ bindings nor a Fortran compiler for this MPI"
}

@test "races in Python" {
    has_mpi4py || skip "no mpi4py for this MPI library here"
    export PYTHONMALLOC=malloc PYTHONHASHSEED=0
    exact 4 2 "$PYTHON" "$SOURCE_DIR/tests/programs/racing.py"
}

# bats test_tags=once
@test "noise: twenty recordings of a race differ" {
    local i
    for ((i = 0; i < 20; i++)); do
        NO_NAPS=1 mpi 4 "$WEND" trace --quiet --force --noise -o app.dir "$PROGRAMS/race" receive
    done >hashes
    [ "$(sort -u hashes | wc -l)" -ge 15 ] || fail "$(sort hashes | uniq -c)"
}

# A preload notes how long the rank's own thread sleeps. The delays are a microsecond or longer and
# shorter than 2.048 ms (man/wend-trace.1).
@test "noise: the delays follow from the seed" {
    cat >delays.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int nanosleep(const struct timespec *t, struct timespec *left)
{
    int (*real)(const struct timespec *, struct timespec *);
    *(void **)&real = dlsym(RTLD_NEXT, "nanosleep");
    FILE *f = getenv("DELAYS") && gettid() == getpid() ? fopen(getenv("DELAYS"), "a") : NULL;
    if (f) {
        fprintf(f, "%ld\n", (long)t->tv_sec * 1000000000 + t->tv_nsec);
        fclose(f);
    }
    return real(t, left);
}
C
    cat >alone.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int v = 0, w;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++) {
        MPI_Isend(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r);
        MPI_Recv(&w, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -shared -fPIC delays.c -o delays.so -ldl
    "$MPICC" alone.c -o alone
    local run
    for run in none one same other; do
        local noise=()
        case $run in
        one | same) noise=(--noise=7) ;;
        other) noise=(--noise=8) ;;
        esac
        : >$run
        mpi 1 env LD_PRELOAD="$PWD/delays.so" DELAYS="$PWD/$run" "$WEND" trace --quiet --force \
            "${noise[@]}" -o app.dir ./alone
    done
    diff none /dev/null || fail "it sleeps without noise"
    [ "$(wc -l <one)" -ge 30 ] || fail "$(cat one)"
    cmp one same
    ! cmp -s one other || fail "another seed gives the same delays"
    awk '$1 < 1000 || $1 >= 2048000' one other | diff - /dev/null
}

# -- departing from the recording --

# diverge.c: what the program does otherwise is its argument.
diverging() {
    cat >diverge.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, v = 0, w = 0, found, what = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        MPI_Send(&v, 1, MPI_INT, 0, what == 1 ? 6 : 5, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&v, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (what == 2 && rank == 1)
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (what == 3)
        v = 2;
    MPI_Bcast(what == 6 ? &w : &v, 1, what == 3 ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD);
    if (what != 4)
        MPI_Barrier(MPI_COMM_WORLD);
    if (what == 5)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" diverge.c -o diverge
    record app.dir 2 ./diverge
}

diverges() { # WHAT LINE: with that line, and exit status 1
    run mpi 2 "$WEND" replay app.dir ./diverge "$1"
    [ "$status" = 1 ] || fail "$1: status $status" "$output" || return
    grep -qF "$2" <<<"$(without_sites <<<"$output")" || fail "$1: $output"
}

without_sites() { # the programs here have no lines, and addresses depend on the compiler
    sed -E 's/(, which has it)? from (main|[a-z_]+ \+ 0x[0-9a-f]+)//g'
}

@test "the first call that differs is named" {
    diverging
    mpi 2 "$WEND" replay app.dir ./diverge
    diverges 1 'rank 1, thread 0, call 2: MPI_Send departs from the recording: tag=6, not 5'
    diverges 2 'call 3: the recording has MPI_Bcast, and the program calls MPI_Iprobe'
    diverges 3 'MPI_Bcast departs from the recording: another datatype'
    diverges 6 'MPI_Bcast departs from the recording: another buffer'
    diverges 4 'the recording has MPI_Barrier, and the program calls MPI_Finalize'
    diverges 5 'the recording has MPI_Finalize, and the program calls MPI_Barrier'
}

@test "what came out of a call and differs is named" {
    cat >results.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, two[2] = {0}, n = argc > 1 ? atoi(argv[1]) : 1;
    MPI_File file;
    MPI_Offset size;
    MPI_Status status;
    char name[] = "file";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n == 0) {
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        MPI_File_get_size(file, &size);
        MPI_File_close(&file);
    } else if (n < 0) {
        if (!MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file))
            MPI_File_close(&file);
    } else if (rank == 0) {
        MPI_Recv(two, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, &status);
    } else {
        MPI_Send(two, n, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" results.c -o results
    results() { # RANKS WARN-OR-STOP ARGUMENT FUNCTION WHAT: with a line that says so
        run mpi "$1" "$WEND" replay --on-divergence="$2" app.dir ./results "$3"
        grep -qF "$4 departs from the recording: $5" <<<"$(without_sites <<<"$output")" ||
            fail "no $4: $5" "$output"
    }
    record app.dir 2 ./results 1
    results 2 warn 2 'rank 0, thread 0, call 2: MPI_Recv' 'it returns another status: its size'
    printf 12345 >file
    rm -r app.dir
    record app.dir 1 ./results 0
    printf 123 >file
    results 1 stop 0 MPI_File_open \
        'it finds a file of 3 bytes, and a file of 5 bytes in the recording'
    rm -r app.dir
    record app.dir 1 ./results -1
    rm file
    results 1 stop -1 MPI_File_open 'it fails ('
    grep -qF '), and did not in the recording' <<<"$output"
    rm -r app.dir
    record app.dir 1 ./results -1
    touch file
    results 1 stop -1 MPI_File_open 'it succeeds, and failed in the recording'
}

# departs LINE RECORDING program…: one rank, with that line alone, and exit status 1
departs() {
    local line=$1
    shift
    run --separate-stderr mpi 1 "$WEND" replay "$@"
    [ "$status" = 1 ] || fail "$*: status $status" "$stderr" || return
    without_sites <<<"$stderr" | grep '^wend:' >lines
    diff lines - <<<"wend: rank 0, thread 0, $line" || fail "$*"
}

# bats test_tags=once
@test "another program, other arguments and another thread level: a line says what to do" {
    cat >level.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int provided, v = 0, level = argc > 1 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    cat >count.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int v[2] = {0}, other = argc > 1 ? atoi(argv[1]) : 0; /* the call that has another count */
    MPI_Init(&argc, &argv);
    for (int call = 1; call < 20; call++)
        MPI_Bcast(v, call == other ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" level.c -o level
    "$MPICC" count.c -o count
    record level.dir 1 ./level
    record count.dir 1 ./count
    local advice='; start the program that was recorded, with the same arguments'
    departs "call 0: MPI_Init_thread departs from the recording: \
required=MPI_THREAD_FUNNELED, not MPI_THREAD_MULTIPLE$advice" level.dir ./level funneled
    departs "call 0: the recording has MPI_Init_thread, and the program calls MPI_Init$advice" \
        level.dir ./count
    local other_count='MPI_Bcast departs from the recording: count=2, not 1'
    departs "call 9: $other_count$advice" count.dir ./count 9
    departs "call 10: $other_count" count.dir ./count 10
}

@test "on divergence: free and warn go on" {
    diverging
    for mode in free warn; do
        run mpi 2 "$WEND" replay --on-divergence=$mode app.dir ./diverge 3
        [ "$status" = 0 ]
        # One line for each rank; with free, the second may have heard of the first by then.
        local lines=$(grep -c 'another datatype' <<<"$output")
        [ "$lines" = 2 ] || [ "$mode:$lines" = free:1 ] || fail "$mode" "$output"
        run mpi 2 "$WEND" replay --on-divergence $mode app.dir ./diverge 2
        [ "$status" = 0 ]
        [ "$(grep -c 'wend: ' <<<"$output")" = 1 ]
    done
}

# Rank 1's message is so long that rank 0 must do something for it, and only polls for others. The
# file is there if rank 1 got rid of it.
@test "polls that find nothing let MPI make progress" {
    cat >polling.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { WAYS = 8, LONG = 1 << 18, POLLS = 500 };
int main(int argc, char **argv)
{
    int rank, v, flag, index, n;
    char *text = calloc(LONG, 1), file[32];
    MPI_Request none, r;
    MPI_Message message;
    MPI_Group all, other;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &(int){1 - rank}, &other);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int way = 0; way < WAYS; way++) {
        snprintf(file, sizeof file, "%s.%d", argv[1], way);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            MPI_Send(text, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            fclose(fopen(file, "w"));
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            if (way == 7) {
                MPI_Recv(&v, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Win_start(other, 0, win);
                MPI_Win_complete(win);
            }
        }
        if (rank == 0) {
            MPI_Status s;
            MPI_Irecv(text, LONG, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &r);
            MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &none);
            if (way == 7)
                MPI_Win_post(other, 0, win);
            for (int i = 0; i < POLLS; i++, usleep(1000))
                switch (way) {
                case 0: MPI_Test(&none, &flag, &s); break;
                case 1: MPI_Testany(1, &none, &index, &flag, &s); break;
                case 2: MPI_Testsome(1, &none, &n, &index, &s); break;
                case 3: MPI_Testall(1, &none, &flag, &s); break;
                case 4: MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &s); break;
                case 5: MPI_Improbe(1, 3, MPI_COMM_WORLD, &flag, &message, &s); break;
                case 6: MPI_Request_get_status(none, &flag, &s); break;
                case 7: MPI_Win_test(win, &flag); break;
                }
            printf("%d: %s\n", way, access(file, F_OK) == 0 ? "sent" : "still being sent");
            MPI_Wait(&r, &s);
            MPI_Recv(&v, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &s);
            MPI_Cancel(&none);
            MPI_Wait(&none, &s);
            if (way == 7) {
                MPI_Send(&v, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
                while (!flag)
                    MPI_Win_test(win, &flag);
            }
        }
    }
    MPI_Group_free(&all);
    MPI_Group_free(&other);
    MPI_Win_free(&win);
    free(text);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" polling.c -o polling
    record app.dir 2 ./polling recorded >out
    [ "$(grep -c ' sent$' out)" = 8 ] || fail "$(<out)"
    mpi 2 "$WEND" replay --quiet -o again.dir app.dir ./polling replayed >again
    diff out again
    "$WEND" diff --outcomes app.dir again.dir
}

@test "attributes that point to memory below 4 GiB" {
    cat >kept.c <<'C'
#include <mpi.h>
#include <stdlib.h>
static void *copied;
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *value_out, int *flag)
{
    *(void **)value_out = copied = malloc(100);
    *flag = 1;
    return MPI_SUCCESS;
}
int main(int argc, char **argv)
{
    int key, flag;
    void *earlier = malloc(1 << (argc > 1 ? 14 : 8)), *kept = malloc(100), *got, *given;
    MPI_Comm dup;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, kept);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &given, &flag);
    MPI_Comm_free(&dup);
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
    int low = ((size_t)kept | (size_t)copied) >> 32 == 0 && got == kept && given == copied;
    free(kept);
    free(copied);
    free(earlier);
    return low ? 0 : 9;
}
C
    "$MPICC" -no-pie -fno-pie kept.c -o kept
    record app.dir 1 ./kept
    mpi 1 "$WEND" replay app.dir ./kept with other addresses
    "$WEND" dump app.dir | grep -qE 'MPI_Comm_set_attr.*attribute_val=heap#0\)'
    "$WEND" dump app.dir | grep -qE 'MPI_Comm_get_attr\(comm=comm.*attribute_val=unknown, flag=true'
}

@test "neither GLib nor libarchive is in the application" {
    cat >maps.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char line[4096];
    int v = 1;
    MPI_Init(&argc, &argv);
    MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        fputs(line, stdout);
    fclose(maps);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" maps.c -o maps
    record app.dir 2 ./maps >recorded
    mpi 2 "$WEND" replay app.dir ./maps >replayed
    for maps in recorded replayed; do
        grep -q 'libwend' $maps
        grep -q 'libmpi' $maps
        ! grep -E 'libglib|libarchive|libwendmerge' $maps || fail $maps
    done
}

# Rank 0 departs by an argument in the second of several turns. Each time the message of rank FIRST
# comes to the LAST rank before that of the other one. In the recorded run rank 1 was the first.
departing() {
    cat >first.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, first = atoi(argv[1]), to = atoi(argv[2]);
    int v[2] = {0}, seconds = argc > 3 ? atoi(argv[3]) : 0; /* before turn 2 */
    char sent[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < 4; turn++) {
        snprintf(sent, sizeof sent, "sent.%d", turn);
        MPI_Bcast(v, rank == 0 && turn == 1 ? first : 1, MPI_INT, 0, MPI_COMM_SELF);
        sleep(turn == 2 ? (unsigned)seconds : 0);
        if (rank == to) {
            for (int i = 0; i < 2; i++)
                MPI_Recv(&v[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%d%d ", v[0], v[1]);
            remove(sent);
        } else if (rank == 1 || rank == 2) {
            while (rank != first && access(sent, F_OK) != 0)
                usleep(1000);
            usleep(rank != first ? 200000 : 0);
            MPI_Send(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
            if (rank == first)
                fclose(fopen(sent, "w"));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" first.c -o first
}

# departs_as RECEIVER MODE ORDERS [SECONDS [LAUNCH]]: a pattern of the orders in which it got them
departs_as() {
    local launch=${5:-mpi}
    rm -rf app.dir
    record app.dir 4 ./first 1 "$1" >out
    [ "$(<out)" = "12 12 12 12 " ] || fail "recorded: $(<out)" || return
    "$launch" 4 "$WEND" replay --quiet --on-divergence="$2" app.dir ./first 2 "$1" "${4:-0}" \
        >out 2>err || fail "$2" "$(<err)" || return
    [[ $(<out) == $3 ]] || fail "$2: $(<out)" || return
    [ "$(grep -c 'count=2, not 1' err)" = 1 ] || fail "$2" "$(<err)"
}

@test "on divergence: after it, warn keeps the recorded order and free does not" {
    departing
    departs_as 0 warn "12 12 12 12 "
    departs_as 0 free "12 21 21 21 "
}

# Turn 2 begins when the other rank has heard of it.
@test "on divergence: free frees the other ranks too" {
    departing
    departs_as 3 warn "12 12 12 12 " 1
    departs_as 3 free "12 ?? 21 21 " 1
}

# bats test_tags=once
@test "several hosts: free frees the ranks of other hosts" {
    departing
    departs_as 3 free "12 ?? 21 21 " 10 mpi_on_hosts
}

@test "a replay without progress ends with what each rank waits for" {
    diverging
    # Rank 0 waits for tag 5, and rank 1 goes on with tag 6.
    local seconds
    seconds=$(patience 1)
    run mpi 2 "$WEND" replay --patience "$seconds" --on-divergence free app.dir ./diverge 1
    [ "$status" = 1 ]
    grep -q "makes no progress for $seconds s" <<<"$output"
    grep -qF 'rank 0 waits in MPI_Recv(source=1, tag=MPI_ANY_TAG)' <<<"$output"
    grep -q 'rank 1 waits in MPI_B' <<<"$output"
}

@test "a replay ends if a rank waits for one that has made its last call" {
    cat >last.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, silent = argc > 1 ? atoi(argv[1]) : -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != silent)
        MPI_Send(&rank, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD);
    if (rank != silent)
        MPI_Recv(&rank, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" last.c -o last
    record app.dir 2 ./last
    local seconds
    seconds=$(patience 1)
    for silent in 0 1; do
        run mpi 2 "$WEND" replay --patience "$seconds" --on-divergence free app.dir ./last $silent
        [ "$status" = 1 ] || fail "rank $silent: status $status: $output" || return
        grep -q "makes no progress for $seconds s" <<<"$output"
        grep -q "rank $silent has made its last call" <<<"$output" ||
            fail "rank $silent: $output" || return
        grep -q "rank $((1 - silent)) waits in MPI_Recv" <<<"$output"
    done
}

@test "a replay that waits in MPI_Init ends with what each rank waits for" {
    cat >absent.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Open MPI's launcher ends the job if a rank ends without MPI_Init after another has called it. So
 * one leaves, and the others begin when the launcher has seen that. */
static int leave(void)
{
    FILE *f = fopen("leaving", "w");
    fprintf(f, "%d", (int)getpid());
    fclose(f);
    return rename("leaving", "left");
}
static void wait_until_left(void)
{
    int id;
    while (access("left", R_OK) != 0)
        usleep(1000);
    FILE *f = fopen("left", "r");
    if (fscanf(f, "%d", &id) != 1)
        abort();
    fclose(f);
    while (kill(id, 0) == 0) /* until the launcher has waited for it */
        usleep(1000);
    usleep(200000);
}
int main(int argc, char **argv)
{
    const char *mpich = getenv("PMI_RANK"), *rank = mpich ? mpich : getenv("OMPI_COMM_WORLD_RANK");
    const char *absent = getenv("ABSENT"), *late = getenv("LATE");
    if (absent && strcmp(absent, rank) == 0)
        return leave();
    if (absent)
        wait_until_left();
    if (late && strcmp(late, rank) == 0)
        sleep(5);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" absent.c -o absent
    record app.dir 3 ./absent
    ABSENT=1 run mpi 3 "$WEND" replay --patience 1 app.dir ./absent
    [ "$status" = 1 ] || fail "status $status: $output"
    grep -q 'makes no progress for 1 s' <<<"$output"
    grep -qF 'rank 0 waits in MPI_Init' <<<"$output"
    grep -qF 'rank 1 has ended without a call of MPI' <<<"$output"
    grep -qF 'rank 2 waits in MPI_Init' <<<"$output"
    # A rank that computes before its first call is not waited for in vain.
    LATE=1 mpi 3 "$WEND" replay --patience 1 app.dir ./absent >late.out 2>&1
    [ ! -s late.out ] || fail "$(cat late.out)"
}

@test "persistent receives that are never freed leave nothing behind" {
    cat >kept.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, v = 0;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv_init(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &r);
    if (rank == 0)
        MPI_Start(&r);
    if (rank == 1)
        MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" kept.c -o kept
    record app.dir 2 ./kept
    mpi 2 ./kept >plain.out 2>&1
    mpi 2 "$WEND" replay app.dir ./kept >again.out 2>&1
    diff plain.out again.out # MPICH names what is left at the end
}

@test "the stack: without a limit as with one, and back" {
    in_limit() { (ulimit -s "$1" && shift && "$@"); }
    in_limit unlimited true || skip "the limit of the stack cannot be raised"
    for limit in 8192 1000000 unlimited; do
        in_limit $limit record $limit.dir 2 "$PROGRAMS/memory" stacks
        "$WEND" diff 8192.dir $limit.dir || fail "with a stack of $limit" || return
    done
    "$WEND" dump -r 0 unlimited.dir >dump.out
    [ "$(grep -c 'sendbuf=heap#[0-9]*, sendcount=50000' dump.out)" = 20 ]
    [ "$(grep -c 'sendbuf=stack#0' dump.out)" = 12 ]
    in_limit 8192 mpi 2 "$WEND" replay --quiet unlimited.dir "$PROGRAMS/memory" stacks
    in_limit unlimited mpi 2 "$WEND" replay --quiet 8192.dir "$PROGRAMS/memory" stacks
    make_proxy unlimited.dir ./proxy
    in_limit unlimited record proxy.dir 2 ./proxy
    "$WEND" diff 8192.dir proxy.dir
}

@test "the address of a buffer that MPI does not touch is no part of a call" {
    for way in 0 1 2 3 4; do
        record $way.dir 2 "$PROGRAMS/untouched" $way
        "$WEND" diff 0.dir $way.dir || fail "another address, $way" || return
        mpi 2 "$WEND" replay --quiet -o again.$way 0.dir "$PROGRAMS/untouched" $way
        "$WEND" diff --outcomes 0.dir again.$way
    done
    "$WEND" dump 0.dir | grep -q 'MPI_Send(buf=-, count=4, datatype=MPI_INT, dest=MPI_PROC_NULL'
    make_proxy 3.dir ./proxy
    record proxy.dir 2 ./proxy
    "$WEND" diff 0.dir proxy.dir
}

@test "data that the program aligns in its blocks and on its stack" {
    cat >aligned.c <<'C'
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static void *aligned(void *p) { return (char *)p + (-(uintptr_t)p & 63); }
__attribute__((noinline)) static void sum(void)
{
    _Alignas(64) double in[7] = {0}, out[7];
    MPI_Allreduce(in, out, 7, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    const char *pad = getenv("PAD");
    size_t n = pad ? strlen(pad) : 0;
    char *volatile before = malloc(n + 100000), *volatile block = malloc(100000);
    int moves = getenv("MOVES") != NULL, first = 0;
    MPI_Aint at;
    MPI_Init(&argc, &argv);
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Get_address(aligned(block), &at);
    MPI_Bcast((char *)aligned(block) + 128 * moves, 16, MPI_CHAR, 0, MPI_COMM_WORLD);
    sum();
    MPI_Finalize();
    free(before);
    free(block);
    return 0;
}
C
    "$MPICC" -O1 aligned.c -o aligned
    record app.dir 2 ./aligned
    "$WEND" dump app.dir | grep -q 'MPI_Bcast(buffer=heap#0'
    "$WEND" dump app.dir | grep -q 'MPI_Allreduce(sendbuf=stack#0'
    pad=''
    for i in 1 2 3 4; do
        PAD=$pad mpi 2 "$WEND" replay --quiet -o "again.$i" app.dir ./aligned
        "$WEND" diff --outcomes app.dir "again.$i"
        pad+=xxxxxxxxxxxxxxxx
    done
    MOVES=1 run mpi 2 "$WEND" replay app.dir ./aligned
    [ "$status" = 1 ]
    without_sites <<<"$output" | grep -q 'MPI_Bcast departs from the recording: another buffer'
}

# -- what cannot be replayed --

refused() { # STATUS LINE command…
    local wanted=$1 line=$2
    shift 2
    run mpi 2 "$@"
    [ "$status" = "$wanted" ] || fail "status $status: $*" "$output" || return
    grep -q "$line" <<<"$output" || fail "$*: $output" || return
    # a report of several lines has the ranks indented
    [ "$(grep -c '^wend[^:]*: [^ ]' <<<"$output")" = 1 ] || fail "not one line: $*: $output"
}

# bats test_tags=once
@test "patience of any length" {
    cat >slow.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static MPI_Request request;
static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}
static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}
static void *complete(void *unused)
{
    sleep((unsigned)atoi(getenv("SECONDS_WAITED")));
    MPI_Grequest_complete(request);
    return unused;
}
int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Grequest_start(query, nothing, cancel, NULL, &request);
    pthread_create(&thread, NULL, complete, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" slow.c -o slow -lpthread
    SECONDS_WAITED=0 record app.dir 2 ./slow
    SECONDS_WAITED=60 refused 1 'no progress' "$WEND" replay --patience 1 app.dir ./slow
    export SECONDS_WAITED=4
    for patience in 60 9223372036854775807; do
        mpi 2 "$WEND" replay --patience $patience app.dir ./slow
    done
}

# bats test_tags=once
@test "what cannot be replayed is refused in one line" {
    record app.dir 2 "$PROGRAMS/hello"
    record three.dir 3 "$PROGRAMS/hello"
    record gaps.dir 2 "$PROGRAMS/control"
    refused 3 'no.dir: no such' "$WEND" replay no.dir "$PROGRAMS/hello"
    refused 3 'has 3 ranks\|rank 0 of 2 has the order of rank 0 of 3' \
        "$WEND" replay three.dir "$PROGRAMS/hello"
    refused 2 'is the recording to replay' "$WEND" replay -f -o app.dir app.dir "$PROGRAMS/hello"
    refused 3 'not recorded as a whole' "$WEND" replay gaps.dir "$PROGRAMS/control"
    refused 4 'no-program' "$WEND" replay app.dir ./no-program
    refused 2 'no program' "$WEND" replay app.dir
    refused 2 'no recording' "$WEND" replay
    refused 2 'Unknown option --onward' "$WEND" replay --onward app.dir "$PROGRAMS/hello"
    refused 2 'not stop, free or warn' "$WEND" replay --on-divergence=go app.dir "$PROGRAMS/hello"
    refused 2 'until takes RANK:CALL' "$WEND" replay --until 5:1 app.dir "$PROGRAMS/hello"
    refused 2 "exec: .*quot" "$WEND" replay --exec "gdb '" app.dir "$PROGRAMS/hello"
    refused 2 'exec: ' "$WEND" replay --exec '' app.dir "$PROGRAMS/hello"
    refused 2 'debug takes ranks' "$WEND" replay --debug 1- app.dir "$PROGRAMS/hello"
    refused 3 'has a recording' "$WEND" replay -o three.dir app.dir "$PROGRAMS/hello"
    head -c 400 app.dir/trace.tar.zst >cut.tar.zst
    refused 3 'cut.tar.zst' "$WEND" replay cut.tar.zst "$PROGRAMS/hello"
    refused 3 'rank 0 of 2 has the order of rank 0 of 3\|has 3 ranks' \
        env WEND_WAIT=5 "$WEND" replay three.dir "$PROGRAMS/hello"
}

@test "a recording of several worlds is refused in one line" {
    local script=$BUILD_DIR/tests/decoder/script line
    printf '%s\n' 'ranks 2' 'rank *' MPI_Init MPI_Finalize >calls
    "$script" calls app.dir
    "$script" calls second
    mv second/trace.tar.zst app.dir/world-1700000000.000000001-77.tar.zst
    line='app.dir: a run that started processes (MPI_Comm_spawn) cannot be replayed'
    for before in "" "${LAUNCH[*]} -n 2"; do
        # shellcheck disable=SC2086
        run -3 timeout "$TEST_TIMEOUT" "$WEND" replay app.dir $before "$PROGRAMS/hello"
        [ "$output" = "wend replay: $line" ] || fail "$output"
    done
    run -3 mpi 2 "$WEND" replay app.dir "$PROGRAMS/hello"
    diff <(grep '^wend' <<<"$output" | sort -u) - <<<"wend replay: $line"
}

# -- runs that died --

dying() {
    cat >die.c <<'C'
#include "checkpoints.h"
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static void others_save(void)
{
    if (getenv("RECORDED"))
        wait_for_checkpoints(1 << 0 | 1 << 2);
}
int main(int argc, char **argv)
{
    int rank, size, v = 0;
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && strcmp(how, "abort") == 0) {
        others_save();
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    if (rank == 1 && (strcmp(how, "signal") == 0 || strcmp(how, "crash") == 0)) {
        others_save();
        raise(how[0] == 's' ? SIGTERM : SIGSEGV);
    }
    if (strcmp(how, "deadlock") == 0)
        MPI_Recv(&v, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -I"$SOURCE_DIR/tests/programs" die.c -o die
    RECORDED=1 TEST_TIMEOUT=${2:-$TEST_TIMEOUT} mpi 3 "$WEND" trace --quiet --checkpoint 1 \
        -o app.dir ./die "$1" >died 2>&1 || :
    rm -f app.dir/trace.parts/${3:-none}
    "$WEND" merge app.dir >merged 2>&1 || fail "$(cat died merged)"
}

@test "a run that aborted aborts again" {
    dying abort
    run mpi 3 "$WEND" replay app.dir ./die abort
    [ "$status" = 7 ]
    ! grep -q departs <<<"$output" || false
}

@test "a rank that crashes by itself crashes again" {
    dying crash
    # shellcheck disable=SC2016
    mpi 3 sh -c '"$@"; echo "$?" >"ended.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"; exit 1' - \
        "$WEND" replay app.dir ./die crash >out 2>&1 || :
    [ "$(cat ended.1)" = 139 ] || fail "rank 1 ends with $(cat ended.1)" "$(cat out)"
    ! grep -e departs -e 'rank 1 is at its end' out || false
}

@test "a run that was killed stops where it had come to, or goes on" {
    dying signal
    # the same program, which is not killed this time
    run mpi 3 "$WEND" replay app.dir ./die
    [ "$status" = 1 ] || fail "status $status: $output"
    grep -q 'is where the recorded run ended' <<<"$output"
    grep -q 'rank 1 is at its end, before MPI_Barrier' <<<"$output"
    grep -q 'rank 0 waits in MPI_Barrier' <<<"$output"
    run mpi 3 "$WEND" replay --then free app.dir ./die
    [ "$status" = 0 ] || fail "status $status: $output"
}

@test "ranks of which nothing was saved are at their ends at once, and the job ends" {
    local parts
    for parts in 'rank-[02].*' 'rank-2.*'; do
        rm -rf app.dir
        dying signal "" "$parts"
        run mpi 3 "$WEND" replay app.dir ./die
        [ "$status" = 1 ] || fail "status $status: $output"
        grep -q 'is where the recorded run ended' <<<"$output" || fail "$output"
        grep -q 'rank 2 is at its end, before MPI_Init' <<<"$output" || fail "$output"
    done
}

@test "a deadlock is replayed to where it stood" {
    dying deadlock "$(patience 4)"
    run mpi 3 "$WEND" replay app.dir ./die deadlock
    [ "$status" = 1 ] || fail "status $status: $output"
    grep -qF 'rank 0 waits in MPI_Recv(source=1, tag=9)' <<<"$output"
    grep -qF 'rank 2 waits in MPI_Recv(source=0, tag=9)' <<<"$output"
}

# -- debugging --

line_with() { # FILE PATTERN: waits for it
    local i
    for ((i = 0; i < 10 * TEST_TIMEOUT; i++)); do
        grep -m 1 -- "$2" "$1" && return
        sleep 0.1
    done
    fail "no $2 in $1:" "$(cat "$1")"
}

# The program that stops: its variable `step` is the number of the iteration.
stopping() {
    cat >steps.c <<'C'
#include <mpi.h>
int step;
int main(int argc, char **argv)
{
    int v = 0;
    MPI_Init(&argc, &argv);
    for (step = 0; step < 10; step++)
        MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O0 steps.c -o steps
    record app.dir 2 ./steps
}

in_gdb() { # PID command…
    local pid=$1 commands=()
    shift
    for command in "$@"; do commands+=(-ex "$command"); done
    timeout 60 gdb -batch -p "$pid" "${commands[@]}" 2>/dev/null
}

@test "until: all ranks stop, a debugger looks, and they go on" {
    command -v gdb >/dev/null || skip "no gdb"
    stopping
    # call 0 is MPI_Init, and call 7 the seventh sum
    mpi 2 "$WEND" replay --until 1:7 app.dir ./steps >out 2>&1 &
    line_with out "rank 1 is stopped before call 7, MPI_Allreduce, on $(hostname): gdb -p"
    line_with out "rank 0 is stopped .* on $(hostname): gdb -p"
    pids=$(sed -n 's/.*gdb -p \([0-9]*\).*/\1/p' out)
    for pid in $pids; do
        grep -q '^State:.*stopped' "/proc/$pid/status"
    done
    one=$(sed -n 's/.*rank 1 is stopped.*gdb -p \([0-9]*\).*/\1/p' out)
    in_gdb "$one" 'print step' >gdb.out
    grep -qx '$1 = 6' gdb.out || fail "$(cat gdb.out)"
    for pid in $pids; do kill -CONT "$pid"; done
    wait $!
}

@test "a program with sessions alone: until, and patience" {
    cat >session.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
#ifdef MPI_SESSION_NULL
    int rank, v = 0;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "wend.tests", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 4; i++)
        MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, comm);
    if (!getenv("NEVER") || rank == 0)
        MPI_Barrier(comm);
    else
        MPI_Recv(&v, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
#else
    return 77;
#endif
}
C
    "$MPICC" session.c -o session
    ./session || skip "the MPI library has no sessions"
    record app.dir 2 ./session
    mpi 2 "$WEND" replay --until 1:7 app.dir ./session >out 2>&1 &
    line_with out 'rank 1 is stopped before call 7, MPI_Allreduce'
    line_with out 'rank 0 is stopped'
    for pid in $(sed -n 's/.*gdb -p \([0-9]*\).*/\1/p' out); do kill -CONT "$pid"; done
    wait $!
    local seconds
    seconds=$(patience 1)
    NEVER=1 run mpi 2 "$WEND" replay --patience "$seconds" --on-divergence free app.dir ./session
    [ "$status" = 1 ] || fail "status $status: $output"
    grep -q "makes no progress for $seconds s" <<<"$output"
    grep -q 'rank 0 waits in MPI_Barrier' <<<"$output"
    grep -q 'rank 1 waits in MPI_Recv' <<<"$output"
}

@test "until: a call of another thread" {
    cat >threads.c <<'C'
#include <mpi.h>
#include <pthread.h>
static MPI_Comm of_threads[2];
static void *exchange(void *number)
{
    int rank, v = 0;
    MPI_Comm comm = of_threads[*(int *)number];
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 6; i++)
        MPI_Sendrecv_replace(&v, 1, MPI_INT, 1 - rank, 10 * *(int *)number + i, 1 - rank,
                             MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    return NULL;
}
int main(int argc, char **argv)
{
    int provided, numbers[2] = {0, 1};
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &of_threads[i]);
    pthread_create(&other, NULL, exchange, &numbers[1]);
    exchange(&numbers[0]);
    pthread_join(other, NULL);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" threads.c -o threads -pthread
    record app.dir 2 ./threads
    mpi 2 "$WEND" replay --until 1:1.3 app.dir ./threads >out 2>&1 &
    line_with out 'rank 1 is stopped' >line
    line_with out 'rank 0 is stopped'
    for pid in $(sed -n 's/.*gdb -p \([0-9]*\).*/\1/p' out); do kill -CONT "$pid"; done
    wait $!
    grep -qF "before call 3 of thread 1, MPI_Sendrecv_replace(dest=0, sendtag=12" line ||
        fail "$(cat line)"
}

@test "debug: a rank waits for its debugger" {
    command -v gdb >/dev/null || skip "no gdb"
    stopping
    mpi 2 "$WEND" replay --debug 1 app.dir ./steps >out 2>&1 &
    line_with out 'rank 1 waits for a debugger'
    pid=$(sed -n 's/.*gdb -p \([0-9]*\).*/\1/p' out)
    in_gdb "$pid" 'break MPI_Allreduce if step == 3' continue 'print step' >gdb.out
    grep -qx '$1 = 3' gdb.out || fail "$(cat gdb.out)"
    wait $!
}

# bats test_tags=once
@test "exec: a command before the program, on the ranks of --debug" {
    stopping
    cat >before <<'S'
#!/bin/sh
echo "$1 $2" >"before.$2"
shift 2
exec "$@"
S
    chmod +x before
    mpi 2 "$WEND" replay --exec './before %p %r' app.dir ./steps
    [ "$(cat before.0 before.1)" = $'2345 0\n2346 1' ]
    rm before.*
    # the rank waits for a debugger, and is ended here
    TEST_TIMEOUT=10 mpi 2 "$WEND" replay --debug 1 --exec './before %p %r' app.dir ./steps || :
    [ "$(echo before.*)" = before.1 ]
    [ "$(cat before.1)" = '2346 1' ]
}

# -- several hosts --

# mpi_on_hosts N command…: as mpi, with a host for each rank, as far as a replay can see. The
# process that started a rank is the first one above it without the launcher's variables; ranks that
# have others are on other hosts.
mpi_on_hosts() {
    local n=$1
    shift
    cat >host <<'S'
#!/bin/sh
export MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1
ranks=$(env | grep -E '^(PMI_RANK|PMIX_RANK|OMPI_COMM_WORLD_RANK)=')
exec env -u PMI_RANK -u PMIX_RANK -u OMPI_COMM_WORLD_RANK sh -c 'env "$@"; exit $?' host $ranks "$@"
S
    chmod +x host
    mpi "$n" ./host "$@"
}

# bats test_tags=once
@test "several hosts: a host that waits for a rank of another has patience" {
    cat >slow.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, v = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2 && getenv("SLOW"))
        sleep(6);
    MPI_Bcast(&v, 1, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" slow.c -o slow
    record app.dir 3 ./slow
    SLOW=1 mpi_on_hosts 3 "$WEND" replay --patience "$(patience 1)" app.dir ./slow
}

# bats test_tags=once
@test "several hosts: a replay without progress ends with what each rank waits for" {
    diverging
    local seconds
    seconds=$(patience 1)
    run mpi_on_hosts 2 "$WEND" replay --patience "$seconds" --on-divergence free app.dir ./diverge 1
    [ "$status" = 1 ]
    [ "$(grep -c "makes no progress for $seconds s" <<<"$output")" = 1 ]
    grep -qF 'rank 0 waits in MPI_Recv(source=1, tag=MPI_ANY_TAG)' <<<"$output"
    grep -q 'rank 1 waits in MPI_B' <<<"$output"
}

# bats test_tags=once
@test "several hosts: until stops all ranks" {
    stopping
    rm -r app.dir
    record app.dir 3 ./steps
    for rank in 0 1; do
        mpi_on_hosts 3 "$WEND" replay --until $rank:7 app.dir ./steps >out 2>&1 &
        line_with out "rank $rank is stopped before call 7, MPI_Allreduce"
        for other in 0 1 2; do
            line_with out "rank $other is stopped"
        done
        for pid in $(sed -n 's/.*gdb -p \([0-9]*\).*/\1/p' out); do
            # it says so just before it stops
            for ((i = 0; i < 100; i++)); do
                ! grep -q '^State:.*stopped' "/proc/$pid/status" || break
                sleep 0.1
            done
            grep -q '^State:.*stopped' "/proc/$pid/status"
            kill -CONT "$pid"
        done
        wait $!
    done
}

# -- launchers --

@test "before the launcher: nothing is left behind" {
    record app.dir 2 "$PROGRAMS/hello"
    mkdir tmp
    TMPDIR=$PWD/tmp LD_PRELOAD=$YIELD timeout "$TEST_TIMEOUT" "$WEND" replay app.dir \
        "${LAUNCH[@]}" -n 2 "$PROGRAMS/hello"
    [ -z "$(ls tmp)" ]
}

# A launcher that waits for a signal, and ends with 9 when it has come.
@test "before the launcher: nothing is left behind by a replay that a signal ends" {
    record app.dir 2 "$PROGRAMS/hello"
    mkdir tmp
    local family=mpich signal
    library_is mpich || family=openmpi
    for signal in TERM HUP; do
        rm -f begun
        # whoever started the tests may ignore the signal, which a shell then cannot trap
        TMPDIR=$PWD/tmp env --default-signal=$signal "$WEND" replay --mpi "$family" app.dir sh -c '
            trap "exit 9" '$signal'; : >begun; for i in $(seq 300); do sleep 0.1; done' &
        local child=$! status=0
        until [ -e begun ]; do sleep 0.1; done
        [ -n "$(ls tmp)" ]
        kill -$signal $child
        wait $child || status=$?
        [ "$status" = 9 ] || fail "$signal: status $status"
        [ -z "$(ls tmp)" ] || fail "$signal: $(ls -R tmp)"
    done
}

@test "before the launcher: the exit status is the launcher's, also if SIGCHLD is ignored" {
    record app.dir 2 "$PROGRAMS/hello"
    local family=mpich how a b
    library_is mpich || family=openmpi
    for how in 'exit 7' 'kill -TERM $$'; do
        a=0 b=0
        sh -c "$how" || a=$?
        env --ignore-signal=CHLD "$WEND" replay --mpi "$family" app.dir sh -c "$how" || b=$?
        [ "$a" = "$b" ] || fail "$how: $a without, $b with"
    done
}

@test "a limit on the size of files" {
    # MPICH writes to a file of shared memory, and dies of the limit by itself.
    if mpi 2 sh -c 'ulimit -f 0; exec "$0"' "$PROGRAMS/hello" >again 2>&1; then
        record app.dir 2 "$PROGRAMS/hello" >plain
        # shellcheck disable=SC2016
        mpi 2 "$WEND" replay --exec 'sh -c "ulimit -f 0; exec \"\$0\" \"\$@\""' app.dir \
            "$PROGRAMS/hello" >again
        diff plain again
        rm -r app.dir
    fi
    record app.dir 2 "$PROGRAMS/unlucky" calls >plain 2>&1 || [ $? = 3 ]
    for limit in 0 1; do
        run timeout "$TEST_TIMEOUT" bash -c 'ulimit -f "$1"; shift; exec "$@"' - $limit \
            "$WEND" replay app.dir "$PROGRAMS/unlucky" calls
        [ "$status" = 4 ] && [[ "$output" == *"File too large"* ]] ||
            fail "$limit: $status: $output"
    done
    mkdir tmp
    run env TMPDIR="$PWD/tmp" timeout "$TEST_TIMEOUT" bash -c 'ulimit -f 0; exec "$@"' - \
        "$WEND" replay app.dir "${LAUNCH[@]}" -n 2 "$PROGRAMS/unlucky" calls
    [ "$status" = 4 ] && [[ "$output" == *"File too large"* ]] || fail "$status: $output"
    [ -z "$(ls tmp)" ]
}

# Without a launcher and YIELD, whose files have numbers, too.
@test "closed standard files stay closed, and new files get their numbers" {
    WEND_OUTPUT=$PWD/app.dir LD_PRELOAD=$LIBWEND timeout "$TEST_TIMEOUT" \
        "$PROGRAMS/unlucky" standard kinds >out || [ $? = 3 ]
    for redirection in ':;' 'exec <&-;' 'exec >&-;' 'exec <&- >&-;' 'exec >&- 2>&-;'; do
        rm -f kinds
        sh -c "$redirection"' exec "$@"' - "$PROGRAMS/unlucky" standard kinds >out || [ $? = 3 ]
        mv kinds plain.kinds
        local status=0
        sh -c "$redirection"' exec "$@"' - timeout "$TEST_TIMEOUT" "$WEND" replay app.dir \
            "$PROGRAMS/unlucky" standard kinds >out || status=$?
        [ "$status" = 3 ] || fail "$redirection: status $status"
        diff plain.kinds kinds || fail "$redirection"
    done
}

# What a status counts of a message that was too long depends on the library too, and in MPICH on
# chance.
@test "recorded with one MPI library, replayed with the other" {
    [ -n "${OPENMPI_BUILD_DIR:-}" ] && [ -n "${MPICH_BUILD_DIR:-}" ] || skip "one library"
    local other=$OPENMPI_BUILD_DIR
    library_is mpich || other=$MPICH_BUILD_DIR
    record app.dir 4 "$PROGRAMS/race" receive pool >app.out
    record long.dir 2 "$PROGRAMS/too_long" >>app.out
    record errors.dir 4 "$PROGRAMS/race_requests" errors_together >/dev/null
    # shellcheck disable=SC2030
    (
        BUILD_DIR=$other
        unset WEND PROXYGEN MPICC MPIEXEC MPIFORT MPIFORT_LDFLAGS
        source "$HELPERS_DIR/helpers.bash"
        mpi 4 "$WEND" replay app.dir "$PROGRAMS/race" receive pool >again.out
        LATE=20000 mpi 2 "$WEND" replay long.dir "$PROGRAMS/too_long" >>again.out
        # what it prints has numbers of error classes, which differ between the libraries
        mpi 4 "$WEND" replay errors.dir "$PROGRAMS/race_requests" errors_together >/dev/null
    )
    diff app.out again.out
}

@test "a divergence in memory of a window names the window" {
    cat >window.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double *x, *y, *z = malloc(80);
    MPI_Win w, v;
    const char *which = getenv("WHICH");
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &x, &w);
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &y, &v);
    MPI_Bcast(!which ? x : *which == 'y' ? y + 2 : z, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Win_free(&v);
    MPI_Win_free(&w);
    MPI_Finalize();
    free(z);
    return 0;
}
C
    "$MPICC" -w window.c -o window
    record window.dir 1 ./window
    for which in y z; do
        WHICH=$which mpi 1 "$WEND" replay window.dir ./window 2>err && fail "no divergence"
        grep -q 'MPI_Bcast.* departs from the recording: buffer=.*, not memory of win#0' err ||
            fail "$(cat err)"
    done
    WHICH=y mpi 1 "$WEND" replay window.dir ./window 2>err && fail "no divergence"
    grep -q 'buffer=memory of win#1+16, not memory of win#0' err
}
