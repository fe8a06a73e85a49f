# SPDX-License-Identifier: BSD-3-Clause
# Whatever goes wrong around a run, its output and exit status are those without Wend. There is a
# recording, or one line says why there is none.
load ../helpers
bats_require_minimum_version 1.5.0
setup() { in_scratch; }

# Runs N ranks of unlucky, plain, then recorded into a.dir: output and status are the same, and Wend
# prints one line.
same_end() { # N STATE…
    local n=$1 status=0
    shift
    mpi_ends "$n" "$PROGRAMS/unlucky" "$@" >plain.out 2>plain.err || status=$?
    [ "$status" = 3 ] || fail "the program itself: $status" "$(tail -n 5 plain.err)" || return
    rm -rf a.dir
    status=0
    mpi_ends "$n" "$WEND" trace -o a.dir "$PROGRAMS/unlucky" "$@" >out 2>err || status=$?
    [ "$status" = 3 ] || fail "$*: status $status" "$(tail -n 5 err)" || return
    diff <(lines_of plain.out) <(lines_of out) >&2 || fail "$*: output" "$(tail -n 5 err)" || return
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$*: lines" "$(grep '^wend: ' err)"
}

is_recorded() { grep -q "^wend: [0-9,]* MPI calls of .*/a.dir$" err ||
    fail "$(grep '^wend: ' err)"; }
merges() { # WHY: the reason was printed, and wend merge makes the recording
    grep -q "^wend: $1; to make the recording: wend merge .*/a.dir$" err ||
        fail "$(cat err)" || return
    "$WEND" merge a.dir >merged || return
    "$WEND" dump a.dir >dumped || return
    grep -q 'MPI_Finalize' dumped || fail "$(tail -n 3 dumped)"
}

@test "MPI has no communicator left for the merge" {
    local ranks=2
    library_is openmpi && ranks=1 # 65,532 of them take too long with more
    same_end $ranks contexts
    merges "MPI gives no communicator for the merge"
}

@test "the initial error handler stays as it is" {
    library_is mpich || skip "the program itself ends in another library"
    same_end 1 copy
    is_recorded
}

@test "clocks of several hosts: communicators and error handlers are the program's" {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${HOSTS[*]}" "$WEND" >host
    chmod +x host
    export WEND_TIMES=10% WEND=$PWD/host
    same_end 2 handlers
    is_recorded
    library_is mpich || return 0 # as in the tests above
    same_end 2 copy
    is_recorded
    same_end 2 contexts
    merges "MPI gives no communicator for the merge"
}

@test "Wend's calls run no error handlers of the program" {
    local ranks=2
    library_is openmpi && ranks=1
    same_end $ranks contexts handlers
    merges "MPI gives no communicator for the merge"
    same_end 2 handlers
    is_recorded
    same_end 2 codes
    is_recorded
    same_end 1 infos
    is_recorded
}

# bats test_tags=once
@test "a process that becomes another user's" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    local here
    here=$(mktemp -d /tmp/wend-unlucky-XXXXXX)
    chmod 755 "$here"
    mkdir -m 777 "$here/to"
    cd "$here"
    for ranks in 2 3; do
        mpi $ranks "$PROGRAMS/unlucky" calls user 65534 >plain.out 2>plain.err || [ $? = 3 ]
        rm -rf to/* whole.dir
        mkdir -m 777 to/a.dir
        run mpi $ranks "$WEND" trace -o to/a.dir "$PROGRAMS/unlucky" calls user 65534
        [ "$status" = 3 ] || fail "status $status" "$output"
        grep -q "^wend: [0-9,]* MPI calls of $ranks ranks in .*/a.dir$" <<<"$output" ||
            fail "$output"
        record whole.dir $ranks "$PROGRAMS/unlucky" calls >/dev/null 2>&1 || [ $? = 3 ]
        "$WEND" diff whole.dir to/a.dir
    done
    cd /
    rm -rf "$here"
}

# With another group, too, UCX attaches no memory of others, and messages get stuck.
# bats test_tags=once
@test "a process that becomes another user's, and whose messages do not arrive any more" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    library_is mpich || skip "its messages arrive"
    run mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/unlucky" group 65534 user 65534 ring
    [ "$status" = 3 ] || fail "status $status" "$output"
    [ "$(grep -c '^wend: ' <<<"$output")" = 1 ] || fail "$output"
    grep -q '^wend: a rank does not answer' <<<"$output" || fail "$output"
}
@test "MPI completes nothing any more at the end of all ranks: one line, and the job ends" {
    cat >silent.c <<'END'
#include <mpi.h>
int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    (void)request, (void)status;
    *done = 0;
    return MPI_SUCCESS;
}
END
    "$MPICC" -shared -fPIC silent.c -o silent.so
    LD_PRELOAD="$PWD/silent.so" run mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/hello"
    [ "$status" = 0 ] || fail "status $status" "$output"
    grep -q '^wend: MPI does not communicate any more; .*: wend merge .*a.dir$' <<<"$output" ||
        fail "$output"
    [ "$(grep -c '^wend: ' <<<"$output")" = 1 ] || fail "$output"
    "$WEND" merge a.dir | grep -q 'MPI calls of 2 ranks'
}

@test "another user's process that may not write the recording: one line" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    same_end 2 calls user 65534
    grep -q '^wend: rank 0: .*a.dir.*: Permission denied: nothing was recorded$' err ||
        fail "$(cat err)"
}

@test "the program has opened all files that it may" {
    UCX_LOG_LEVEL=fatal same_end 2 files
    merges "rank 0: .*: Too many open files"
}

@test "a closed standard output is not written to, and its number stays free" {
    WEND_CHECKPOINT=1 same_end 2 closed 2.2
    grep -q 'rank 1: 0 written, 0 taken' out || fail "$(cat out)"
    is_recorded
}

# Without a launcher, which reads the output of its ranks, and without wend trace, whose wrapper
# script opens files here.
alone() { # STATUS REDIRECTION command…: plain and recorded, under a shell's REDIRECTION
    local plain=0 recorded=0
    rm -rf a.dir
    sh -c "$2"' exec timeout "$TEST_TIMEOUT" "$@"' - "${@:3}" >plain.out || plain=$?
    [ "$plain" = "$1" ] || fail "the program itself: status $plain" || return
    WEND_OUTPUT=$PWD/a.dir sh -c "$2"' LD_PRELOAD=$0 exec timeout "$TEST_TIMEOUT" "$@"' \
        "$LIBWEND" "${@:3}" >out || recorded=$?
    [ "$recorded" = "$1" ] || fail "$2: status $plain alone, $recorded recorded" || return
    diff plain.out out >&2 || fail "$2: output" || return
    "$WEND" dump a.dir | grep -q MPI_Finalize || fail "$2: no recording"
}

@test "standard error without a reader, full, closed" {
    export TEST_TIMEOUT
    mkfifo pipe
    for redirection in 'exec 2>/dev/full;' 'exec 2>&-;' 'exec 3<>pipe 2>pipe 3>&-;'; do
        alone 3 "$redirection" "$PROGRAMS/unlucky"
        sh -c "$redirection"' exec "$@"' - "$WEND" trace -o b.dir true
    done
}

@test "closed standard files stay closed, and new files get their numbers" {
    export TEST_TIMEOUT
    for redirection in ':;' 'exec <&-;' 'exec >&-;' 'exec <&- >&-;' 'exec >&- 2>&-;'; do
        rm -f kinds
        sh -c "$redirection"' exec "$@"' - "$PROGRAMS/unlucky" standard kinds >out || [ $? = 3 ]
        mv kinds plain.kinds
        alone 3 "$redirection" "$PROGRAMS/unlucky" standard kinds
        diff plain.kinds kinds || fail "$redirection"
    done
}

@test "Wend does not write to the program's file with the number of standard error" {
    export TEST_TIMEOUT
    alone 3 'exec 2>&-;' "$PROGRAMS/unlucky" data data.txt
    [ "$(cat data.txt)" = data ] || fail "$(cat data.txt)"
}

# bats test_tags=once
@test "a limit on the size of files" {
    for size in 0 1000; do
        same_end 2 calls size $size
        grep -q '^wend: rank 0: .*a.dir.*: File too large: nothing was recorded$' err ||
            fail "$(cat err)"
        [ ! -e a.dir ] || fail "$(ls -lR a.dir)"
    done
    WEND_CHECKPOINT=1 same_end 2 size 0 closed 1.2
    grep -q '^wend: rank 0: .*File too large: nothing was recorded$' err || fail "$(cat err)"
    # All files fit.
    WEND_CHECKPOINT=1 same_end 2 size 100000 closed 1.2
    is_recorded
    # The archive does not fit, and there are checkpoint files from before.
    WEND_CHECKPOINT=1 same_end 2 calls closed 2.2 size 0
    grep -q "^wend: rank 0: .*File too large; to make the recording: wend merge .*/a.dir$" err ||
        fail "$(cat err)"
    "$WEND" merge a.dir >merged
    [ "$("$WEND" dump a.dir | grep -c MPI_Sendrecv_replace)" = 40000 ]
}

@test "a limit on the size of files, of the commands" {
    record a.dir 2 "$PROGRAMS/unlucky" calls >/dev/null 2>&1 || [ $? = 3 ]
    run bash -c 'ulimit -f 1; "$@"' - "$PROXYGEN" a.dir -o proxy.c
    [ "$status" = 4 ]
    [[ "$output" == *"File too large"* ]]
    mpi 2 "$WEND" trace -q -o b.dir "$PROGRAMS/dying" SIGTERM >out 2>err || true
    run bash -c 'ulimit -f 0; "$@"' - "$WEND" merge b.dir
    [ "$status" = 4 ]
    [[ "$output" == *"File too large"* ]]
    "$WEND" merge b.dir
}

# -- there is no place for the recording --

is_not_run() { # STATUS MESSAGE N OPTION…: by no rank, and one says why
    local status=0
    TEST_TIMEOUT=30 mpi "$3" "$WEND" trace "${@:4}" "$PROGRAMS/hello" >out 2>err || status=$?
    [ "$status" = "$1" ] || fail "${*:4}: status $status" "$(cat out err)" || return
    ! grep -q hello out || fail "it was run" || return
    [ "$(grep -c '^wend' err)" = 1 ] || fail "lines of Wend's:" "$(cat err)" || return
    grep -q "^wend trace: .*$2" err || fail "$(cat err)"
}
runs() { # MESSAGE command…: it is run, and one rank says that it is not recorded
    local status=0
    TEST_TIMEOUT=30 "${@:2}" >out 2>err || status=$?
    [ "$status" = 0 ] || fail "${*:2}: status $status" "$(cat out err)" || return
    grep -q 'hello from [0-9]* ranks' out || fail "$(cat out err)" || return
    [ "$(grep -c '^wend' err)" = 1 ] || fail "lines of Wend's:" "$(cat err)" || return
    grep -q "^wend: .*$1; recording is off" err || fail "$(cat err)"
}
# The variables of launchers for jobs on several hosts.
HOSTS=(env MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1)

# bats test_tags=once
@test "no place for the recording: no rank runs the program, or all do" {
    : >file
    ln -s nowhere dangling
    mkdir -p a.dir
    : >a.dir/trace.tar.zst
    for n in 1 3; do
        is_not_run 4 "file/b.dir: Not a directory" $n -o file/b.dir
        is_not_run 3 "file: exists and is not a directory" $n -o file
        is_not_run 3 "dangling: exists and is not a directory" $n -o dangling
        is_not_run 3 "a.dir: has a recording: give another name, or --force to replace it" $n \
            -o a.dir
        runs "file/b.dir: Not a directory" mpi $n env WEND_OUTPUT="$PWD/file/b.dir" \
            LD_PRELOAD="$LIBWEND:$YIELD" "$PROGRAMS/hello"
    done
    # Faults that cannot be detected before the run, and those that differ from host to host.
    runs "/proc/b.dir: No such file or directory" \
        mpi 2 "$WEND" trace -o /proc/b.dir "$PROGRAMS/hello"
    runs "file/b.dir: Not a directory" \
        mpi 2 "${HOSTS[@]}" "$WEND" trace -o file/b.dir "$PROGRAMS/hello"
    runs "a.dir: exists: give another name, or --force to replace it" \
        mpi 2 "${HOSTS[@]}" "$WEND" trace -o a.dir "$PROGRAMS/hello"
}

@test "no place for the recording of one rank alone: the others do not wait for it" {
    mkdir -p a.dir
    : >a.dir/trace.tar.zst
    local plain="-n 1 $PROGRAMS/hello" traced="-n 1 $WEND trace -o a.dir $PROGRAMS/hello"
    for job in "$traced : $plain" "$plain : $traced"; do
        # shellcheck disable=SC2086
        LD_PRELOAD=$YIELD run --separate-stderr timeout -k 5 30 "${LAUNCH[@]}" $job
        [ "$status" = 3 ] || fail "$job: status $status" "$stderr"
        grep -q '^wend trace: .*a.dir: has a recording' <<<"$stderr" || fail "$stderr"
    done
}

@test "no place for the recording: wend trace ends no job that runs it as a child" {
    mkdir -p a.dir
    : >a.dir/trace.tar.zst
    printf '#!/bin/sh\n"%s" trace -o a.dir "$@" || exec "$@"\n' "$WEND" >wrapper
    chmod +x wrapper
    mpi 2 ./wrapper "$PROGRAMS/hello" >out 2>err || fail "$(cat err)"
    grep -q 'hello from 2 ranks' out
}

@test "no place for the recording: an ordinary user, by name and by default" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    local mine
    mine=$(mktemp -d /tmp/wend-unlucky-XXXXXX)
    chmod 755 "$mine"
    export HELPERS_DIR BUILD_DIR TEST_TIMEOUT
    ordinary() {
        # shellcheck disable=SC2016
        (cd "$mine" && HOME=/nonexistent TMPDIR=/tmp OMPI_MCA_orte_tmpdir_base=/tmp \
            setpriv --reuid=65534 --regid=65534 --clear-groups \
            bash -c 'source "$HELPERS_DIR/helpers.bash"; mpi 2 "$@"' - "$@")
    }
    for options in "-o $mine/b.dir" "-o $mine/some/b.dir" ""; do
        local status=0
        # shellcheck disable=SC2086
        TEST_TIMEOUT=30 ordinary "$WEND" trace $options "$PROGRAMS/hello" >out 2>err || status=$?
        [ "$status" = 4 ] || fail "$options: status $status" "$(cat out err)"
        grep -q "^wend trace: $mine/.*: Permission denied$" err || fail "$options: $(cat err)"
    done
    runs "$mine/b.dir: Permission denied" ordinary \
        env WEND_OUTPUT="$mine/b.dir" LD_PRELOAD="$LIBWEND:$YIELD" "$PROGRAMS/hello"
    runs "$mine/wend-hello-.*: Permission denied" ordinary \
        env LD_PRELOAD="$LIBWEND:$YIELD" "$PROGRAMS/hello"
    runs "$mine/wend-hello-.*: Permission denied" ordinary \
        "${HOSTS[@]}" "$WEND" trace "$PROGRAMS/hello"
    [ -z "$(ls -A "$mine")" ]
    rmdir "$mine"
}

@test "no place for the recording: a read-only file system, on all hosts or on one" {
    unshare --mount true 2>/dev/null || skip "file systems cannot be mounted here"
    mkdir -p on
    cat >host <<'END'
case ${PMI_RANK-$OMPI_COMM_WORLD_RANK} in
$1) mount -t tmpfs -o ro none on || exit ;;
esac
shift
exec "$@"
END
    for options in "-o on/b.dir" "-o on"; do
        # shellcheck disable=SC2086
        run timeout 30 unshare --mount sh ./host '*' "$WEND" trace $options "$PROGRAMS/hello"
        [ "$status" = 4 ] || fail "$options: status $status" "$output"
        [[ "$output" == *"Read-only file system"* ]]
    done
    runs "on/b.dir: Read-only file system" mpi 2 "${HOSTS[@]}" \
        unshare --mount sh ./host 0 "$WEND" trace -o on/b.dir "$PROGRAMS/hello"
    mpi 2 "${HOSTS[@]}" \
        unshare --mount sh ./host 1 "$WEND" trace -o on/b.dir "$PROGRAMS/hello" >out 2>err
    grep -q '^wend: [0-9]* MPI calls of 2 ranks' err || fail "$(cat err)"
    "$WEND" dump on/b.dir --rank 1 | grep -q MPI_Allreduce
}
