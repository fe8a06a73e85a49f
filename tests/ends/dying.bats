# SPDX-License-Identifier: BSD-3-Clause
# Runs that end before MPI_Finalize: the recording has the calls up to the end, and the run ends as
# it would without Wend.
load ../helpers
bats_require_minimum_version 1.5.0
setup() { in_scratch; }

# Runs the command; its ranks write to the files out and err, because a launcher that ends ranks may
# lose their last output.
run_to_files() { # N command…; whatever the launcher's status
    rm -f out err
    # shellcheck disable=SC2016
    mpi "$1" sh -c 'exec "$@" >>out 2>>err' - "${@:2}" >launcher 2>&1 || true
}
dies() { # HOW N: runs it recorded, into a.dir
    run_to_files "$2" "$WEND" trace -o a.dir "$PROGRAMS/dying" "$1"
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "lines of Wend's:" "$(grep '^wend: ' err)" || return
    [ ! -e a.dir/trace.tar.zst ] || fail "there is an archive" || return
    "$WEND" merge a.dir >merged || return
}
is_whole() { # the recording has the calls of rank 1, and the unfinished calls of the others
    [ "$("$WEND" dump --rank 1 a.dir | grep -c MPI_Sendrecv)" = 50 ] ||
        fail "rank 1's calls are not all there" || return
    for rank in 0 2; do
        "$WEND" dump --rank $rank a.dir | tail -n 1 | grep -q 'MPI_Barrier(.*) -> unfinished' ||
            fail "rank $rank was in a barrier" || return
    done
    grep -q 'MPI_Barrier(comm=MPI_COMM_WORLD) has not returned' merged
}

@test "a rank ends by a signal, MPI_Abort, exit, _exit or exec: all calls are there, and why" {
    local overflow="overflow|signal SIGSEGV"
    # its handler for crashes cannot run then: only the last checkpoint is left
    library_is openmpi && overflow=
    for end in "SIGSEGV|signal SIGSEGV" "SIGFPE|signal SIGFPE" "SIGABRT|signal SIGABRT" \
        "SIGTERM|signal SIGTERM" ${overflow:+"$overflow"} \
        "abort|MPI_Abort 3" "exit|exit 5" "_exit|exit 6" "default|signal SIGTERM" "exec|exec true" \
        "handler|exit 8"; do
        rm -rf a.dir
        dies "${end%|*}" 3 || fail "${end%|*}"
        grep -q "^wend: rank 1: ${end#*|}; to make the recording: wend merge .*a.dir$" err ||
            fail "${end%|*}: $(cat err)"
        "$WEND" show a.dir | grep -q "rank 1: ${end#*|}\$" || fail "${end%|*}: $(cat merged)"
        is_whole || fail "${end%|*}"
        ! grep -q "not the default" out || false
    done
    grep -q caught out
}

# A program whose library ends MPI when it is unloaded, if "on" is set.
ends_late() {
    cat >library.c <<'C'
#include <mpi.h>
int on;
__attribute__((destructor)) static void end(void)
{
    if (!on)
        return;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
C
    cat >late.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern int on;
static void finalize(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
static void *leave(void *unused)
{
    (void)unused;
    exit(6);
}
int main(int argc, char **argv)
{
    const char *how = argv[1];
    int level;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &level);
    on = strcmp(how, "library") == 0 || strcmp(how, "thread") == 0;
    if (strcmp(how, "quick") == 0)
        at_quick_exit(finalize);
    if (strcmp(how, "function") == 0)
        atexit(finalize);
    if (strstr(how, "quick"))
        quick_exit(6);
    if (strstr(how, "thread") && pthread_create(&other, NULL, leave, NULL) == 0)
        pthread_join(other, NULL);
    return 6;
}
C
    "$MPICC" -shared -fPIC library.c -o liblate.so
    "$MPICC" late.c -o late "$@" -pthread "$PWD/liblate.so"
}

@test "MPI_Finalize in a destructor of a library, or a function of the end: the archive is whole" {
    local how before
    ends_late
    cp late preloaded
    ends_late -Wl,--no-as-needed -L"$BUILD_DIR" -lwend -Wl,-rpath,"$BUILD_DIR"
    for how in library thread quick function; do
        rm -rf a.dir
        run -6 mpi_ends 2 "$WEND" trace -o a.dir ./preloaded $how
        "$WEND" dump a.dir >dump
        [ "$(grep -c 'MPI_Barrier\|MPI_Finalize' dump)" = 4 ] || fail "$how: $output"
        run -6 mpi_ends 2 "$WEND" replay a.dir ./preloaded $how
        rm -rf a.dir
        WEND_OUTPUT=$PWD/a.dir run -6 mpi_ends 2 ./late $how
        "$WEND" dump a.dir >dump
        [ "$(grep -c 'MPI_Barrier\|MPI_Finalize' dump)" = 4 ] || fail "$how: $output"
    done
    # without MPI_Finalize the parts are saved, with the status
    for how in early early-thread early-quick; do
        for before in "$WEND trace -o a.dir ./preloaded" "env WEND_OUTPUT=$PWD/a.dir ./late"; do
            rm -rf a.dir
            # shellcheck disable=SC2086
            run_to_files 1 $before $how # the launcher kills others as soon as one rank ends
            grep -q '^wend: rank 0: exit 6; to make the recording: wend merge .*a.dir$' err ||
                fail "$how: $(cat err)"
            "$WEND" merge a.dir >merged
            "$WEND" dump a.dir | grep -q MPI_Comm_size || fail "$how: $(cat merged)"
        done
    done
}

@test "a call that has not returned is not counted as one that returned an error" {
    dies SIGTERM 3
    "$WEND" show a.dir >shown
    grep -q 'of the MPI calls 2 had not returned$' shown && ! grep -q 'returned an error' shown ||
        fail "$(cat shown)"
    "$WEND" show --json a.dir >shown.json
    grep -q '"failed_calls":0,"unfinished_calls":2,' shown.json || fail "$(cat shown.json)"
}

@test "the reason is whole, however long names are" {
    long_folder
    local successor=x${long##*/}
    ln -s "$(type -P true)" "$successor"
    run_to_files 2 "$WEND" trace -o b.dir "$PROGRAMS/dying" exec 0 "./$successor"
    grep -q "^wend: rank 1: exec $successor; to make the recording: wend merge " err ||
        fail "$(cat err)"
    run_to_files 2 "$WEND" trace -o "$long/a.dir" "$PROGRAMS/dying" SIGTERM
    grep -q "^wend: rank 1: signal SIGTERM; to make the recording: wend merge $long/a.dir$" err ||
        fail "$(cat err)"
    "$WEND" merge "$long/a.dir" >out
    "$WEND" show "$long/a.dir" | grep -q 'rank 1: signal SIGTERM$'
}

@test "an error in MPI that is fatal: the calls of all are there" {
    dies fatal 3
    grep -q 'rank 1: error in MPI$' merged || fail "$(cat merged)"
    grep -q 'MPI_Send(.*) has not returned' merged
    is_whole
}

@test "a rank ends before the others have left MPI_Init: all are there, and a replay ends there" {
    # Ranks 0 and 2 come late: they wait for rank 1 in a call that Wend makes for MPI_Init.
    cat >late.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank != 1 && i < 1000 && access("ends", F_OK) != 0; i++)
        usleep(10000);
    usleep(rank == 1 ? 0 : 100000 * (1 + rank));
    return ((int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_get_parent"))(parent);
}
END
    cat >early.c <<'END'
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
int main(void)
{
    int rank;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        open("ends", O_CREAT, 0666);
        exit(5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" early.c -o early
    "$MPICC" -shared -fPIC late.c -o late.so
    run_to_files 3 env LD_PRELOAD="$PWD/late.so:$YIELD" "$WEND" trace -o a.dir ./early
    "$WEND" merge a.dir >merged
    ! grep 'nothing was saved' merged || fail "$(cat err)"
    for rank in 0 1 2; do
        [ "$("$WEND" dump --rank $rank a.dir | grep -c MPI_Init)" = 1 ] || fail "$(cat merged)"
    done
    "$WEND" show a.dir | grep -q 'rank 1: exit 5$'
    rm -rf b.dir
    run_to_files 3 "$WEND" replay -o b.dir a.dir ./early
    "$WEND" merge b.dir >merged
    "$WEND" show b.dir | grep -q 'rank 1: exit 5$' || fail "$(cat launcher merged)"
}

@test "the process itself ends by the same signal and with the same status" {
    # The launcher's status is that of any of the processes. The shell around rank 1 sees that of
    # its rank. It has a session of its own, because the launcher ends its processes when one rank
    # is gone.
    cat >around <<'END'
if [ "${PMI_RANK-$OMPI_COMM_WORLD_RANK}" != 1 ]; then exec "$@"; fi
setsid --wait sh -c '"$@"; echo "$?" >ended.new; mv ended.new ended' - "$@"
END
    for how in SIGSEGV SIGFPE SIGABRT SIGTERM abort exit _exit handler; do
        for command in "" "$WEND trace -f -q -o a.dir"; do
            rm -f ended
            mpi 2 sh around $command "$PROGRAMS/dying" $how >out 2>err || true
            for ((i = 0; i < 10 * TEST_TIMEOUT; i++)); do
                [ ! -e ended ] && sleep 0.1 || break
            done
            mv ended "end${command:+-recorded}" || fail "$how: ${command:+recorded, }it did not end"
        done
        cmp end end-recorded || fail "$how: $(cat end) alone, $(cat end-recorded) recorded"
    done
}

@test "several threads, and a callback: each has its unfinished call" {
    dies threads 2
    grep -q 'thread 1  MPI_Recv(.*count=1.*tag=1.*) has not returned' merged || fail "$(cat merged)"
    grep -q 'thread 2  MPI_Recv(.*count=2.*tag=2.*) has not returned' merged || fail "$(cat merged)"
    grep -q 'rank 1: signal SIGTERM' merged
    rm -rf a.dir
    dies callback 2
    "$WEND" dump --rank 1 a.dir >dumped
    grep -q 'MPI_Reduce_local(.*) -> unfinished' dumped || fail "$(tail -n 5 dumped)"
    grep -q 'MPI_Probe(.*) -> unfinished' dumped || fail "$(tail -n 5 dumped)"
    grep -q 'rank 1: signal SIGALRM' merged
}

@test "children or a last thread that end do not end the run" {
    record a.dir 2 "$PROGRAMS/dying" children >out 2>err
    [ ! -s out ] || fail "$(cat out)"
    [ "$(ls a.dir)" = trace.tar.zst ]
    [ "$("$WEND" dump --rank 1 a.dir | grep -c MPI_Sendrecv)" = 50 ]
    TEST_TIMEOUT=30 record b.dir 2 "$PROGRAMS/dying" "last thread"
    [ "$(ls b.dir)" = trace.tar.zst ]
}

@test "SIGKILL after a checkpoint: the recording goes up to it" {
    "$PYTHON" "$SOURCE_DIR/tests/ends/kills.py" "$(often 6)" "$WEND" "$PROGRAMS/dying" \
        env LD_PRELOAD="$YIELD" "${LAUNCH[@]}"
}

@test "SIGKILL before the first checkpoint: wend merge finds no recording" {
    # Open MPI lets the others end by SIGTERM
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/dying" "SIGKILL all" >out 2>err || true
    run "$WEND" merge a.dir
    [ "$status" = 3 ]
    [[ "$output" == *"no rank saved anything"* ]]
    [ "${#lines[@]}" = 1 ]
}

@test "parts alone are no recording: readers name wend merge" {
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/dying" SIGTERM >out 2>err || true
    for reader in "$WEND show" "$WEND dump" "$PROXYGEN -o proxy.c"; do
        run $reader a.dir
        [ "$status" = 3 ]
        [ "${#lines[@]}" = 1 ]
        [[ "$output" == *"a.dir: "*"wend merge"* ]]
    done
}

@test "wend merge: wrong operands, an existing archive, damaged parts" {
    run "$WEND" merge
    [ "$status" = 2 ]
    run "$WEND" merge nosuch
    [ "$status" = 3 ]
    mkdir empty
    run "$WEND" merge empty
    [ "$status" = 3 ]
    [[ "$output" == *"has no parts"* ]]
    dies SIGTERM 3
    run "$WEND" merge a.dir
    [ "$status" = 3 ]
    [[ "$output" == *"--force"* ]]
    for slot in a b; do
        printf x | dd of=a.dir/trace.parts/rank-2.$slot bs=1 seek=200 conv=notrunc 2>/dev/null
    done
    run --separate-stderr "$WEND" merge --force --remove a.dir
    [ "$status" = 0 ]
    [[ "$stderr" == *"rank 2: its parts are damaged"* ]]
    [[ "$output" == *"rank 2: nothing was saved"* ]]
    [ ! -e a.dir/trace.parts ]
    "$WEND" show a.dir >shown
    [ -z "$("$WEND" dump --rank 2 a.dir)" ]
}

@test "wend merge: a world without parts does not prevent the others" {
    dies SIGTERM 3
    rm a.dir/trace.tar.zst
    mkdir a.dir/world-2.parts
    run --separate-stderr "$WEND" merge a.dir
    [ "$status" = 0 ]
    [[ "$stderr" == *"world-2.parts: no rank saved anything: it is left out"* ]]
    [ "$(cd a.dir && echo *.zst)" = trace.tar.zst ]
    rm a.dir/trace.tar.zst
    rmdir a.dir/world-2.parts
    mv a.dir/trace.parts a.dir/world-2.parts
    mkdir a.dir/trace.parts
    run --separate-stderr "$WEND" merge a.dir
    [ "$status" = 3 ]
    [[ "$stderr" == *"a.dir: the world that started the others saved nothing"* ]]
    "$WEND" show a.dir/world-2.tar.zst | grep -q "rank 1: signal SIGTERM"
}

@test "recordings of such runs: dump in all formats, diff, and proxygen says why not" {
    dies SIGSEGV 3
    "$WEND" dump --format csv a.dir | grep -q ',MPI_Barrier,unfinished,'
    "$WEND" dump --format jsonl a.dir | grep -q '"function":"MPI_Barrier".*"return":"unfinished"'
    "$WEND" diff a.dir a.dir
    record whole.dir 3 "$PROGRAMS/dying"
    run "$WEND" diff a.dir whole.dir
    [ "$status" = 1 ]
    run "$PROXYGEN" a.dir -o proxy.c
    [ "$status" = 3 ]
    [[ "$output" == *"ended early"* ]]
}

@test "round trip: a rank alone that ends in MPI_Abort, or in an error that nobody handles" {
    for how in "MPI_Abort(MPI_COMM_WORLD, 7)" \
        "MPI_Send(&rank, 1, MPI_INT, 3, 0, MPI_COMM_WORLD)"; do
        cat >ends.c <<END
#include <mpi.h>
int main(void)
{
    int rank;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    $how;
    MPI_Finalize();
    return 0;
}
END
        "$MPICC" ends.c -o ends
        rm -rf app.dir proxy.dir
        status=0 again=0
        # Without a launcher: in one of ten runs MPICH's returns 1 instead of the program's status.
        timeout "$TEST_TIMEOUT" "$WEND" trace -o app.dir ./ends >out 2>&1 || status=$?
        [ "$status" != 0 ]
        "$WEND" merge app.dir
        "$PROXYGEN" --force app.dir -o proxy.c
        "$MPICC" "${PROXY_CFLAGS[@]}" proxy.c -o proxy
        timeout "$TEST_TIMEOUT" "$WEND" trace -o proxy.dir ./proxy >out 2>&1 || again=$?
        [ "$again" = "$status" ]
        "$WEND" merge proxy.dir >merged
        grep -q "rank 0: \(MPI_Abort 7\|error in MPI\)" merged
        "$WEND" diff app.dir proxy.dir
    done
}

@test "a run that reaches its end leaves no parts, with checkpoints and without" {
    WEND_CHECKPOINT=1 record a.dir 3 "$PROGRAMS/dying" none 2
    [ "$(ls a.dir)" = trace.tar.zst ]
    WEND_CHECKPOINT=0 record b.dir 3 "$PROGRAMS/dying"
    [ "$(ls b.dir)" = trace.tar.zst ]
}

@test "the parts take at most their share of the disk" {
    WEND_DISK=0 mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/dying" SIGTERM >out 2>err || true
    [ "$(ls a.dir/trace.parts)" = run ]
}

on_small_disk() { # command…: a.dir is on a disk of 16 MB
    mkdir -p a.dir
    # shellcheck disable=SC2016
    unshare --mount bash -c 'mount -t tmpfs -o size=16m none a.dir && "$@"' - bash \
        -c 'source "$HELPERS_DIR/helpers.bash"; "$@"' - "$@"
}

@test "a full disk: the reserved space holds the end; without a checkpoint there is no recording" {
    unshare --mount true 2>/dev/null || skip "file systems cannot be mounted here"
    export HELPERS_DIR BUILD_DIR WEND PROGRAMS
    check() { # HOW SECONDS: runs it, and frees the disk
        WEND_CHECKPOINT=1 mpi 2 "$WEND" trace -f -o a.dir "$PROGRAMS/dying" "$1" "$2" 2>err || true
        rm a.dir/full
        grep '^wend: ' err
        "$WEND" merge a.dir || return 0
        "$WEND" dump --rank 1 a.dir | grep -c MPI_Sendrecv
    }
    export -f check
    on_small_disk check full 3 >out
    grep -q '^wend: rank 0: .*a.dir.*; to make the recording: wend merge' out || fail "$(cat out)"
    [ "$(tail -n 1 out)" = 50 ] || fail "$(cat out)"
    on_small_disk check "full and SIGTERM" 3 >out
    grep -q '^wend: rank 1: signal SIGTERM; to make the recording: wend merge' out ||
        fail "$(cat out)"
    [ "$(tail -n 1 out)" = 50 ] || fail "$(cat out)"
    on_small_disk check full 0 >out 2>&1
    grep -q '^wend: rank 0: .*: nothing was recorded' out || fail "$(cat out)"
}

@test "no archive can be written at the end: the parts are kept" {
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/dying" block 2>err
    grep -q '^wend: rank 0: .*to make the recording: wend merge .*a.dir$' err || fail "$(cat err)"
    rm -rf a.dir/trace.tar.zst
    "$WEND" merge a.dir
    [ "$("$WEND" dump --rank 1 a.dir | grep -c MPI_Sendrecv)" = 50 ]
    "$PROXYGEN" a.dir -o proxy.c
}
