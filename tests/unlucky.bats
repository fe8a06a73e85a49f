# Whatever goes wrong around a run, its output and its exit status are those without Wend. There is a recording, or one line says why not.
load helpers
bats_require_minimum_version 1.5.0
setup() { in_scratch; }

# Plain, then recorded into a.dir: the same lines of output, the same status, at most one line of Wend's. N ranks of unlucky.
same_end() { # N STATE…
    local n=$1 status=0
    shift
    mpi "$n" "$PROGRAMS/unlucky" "$@" >plain.out 2>plain.err || status=$?
    [ "$status" = 3 ] || fail "the program itself: status $status" "$(tail -n 5 plain.err)" || return
    rm -rf a.dir
    status=0
    mpi "$n" "$WEND" trace -o a.dir "$PROGRAMS/unlucky" "$@" >out 2>err || status=$?
    [ "$status" = 3 ] || fail "$*: status $status" "$(tail -n 5 err)" || return
    diff <(lines_of plain.out) <(lines_of out) >&2 || fail "$*: output" "$(tail -n 5 err)" || return
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$*: lines" "$(grep '^wend: ' err)"
}

is_recorded() { grep -q "^wend: [0-9,]* calls of .*/a.dir$" err || fail "$(grep '^wend: ' err)"; }
merges() { # WHY: it was said, and wend merge makes the recording
    grep -q "^wend: $1; what was recorded: wend merge .*/a.dir$" err || fail "$(grep '^wend: ' err)" || return
    "$WEND" merge a.dir >merged || return
    "$WEND" dump a.dir >dumped || return
    grep -q 'MPI_Finalize' dumped || fail "$(tail -n 3 dumped)"
}

@test "MPI has no communicator left for the merge" {
    local ranks=2
    library_is openmpi && ranks=1 # 65,532 of them take too long with more
    same_end $ranks contexts
    merges "MPI gives no communicator for the merge"
    same_end $ranks contexts handlers
    merges "MPI gives no communicator for the merge"
}

@test "error handlers that print and exit do not run, nor are they run for others' numbers" {
    same_end 2 handlers
    is_recorded
    same_end 2 codes
    is_recorded
    same_end 1 infos
    is_recorded
}

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
        grep -q "^wend: [0-9,]* calls of $ranks ranks in .*/a.dir$" <<<"$output" || fail "$output"
        record whole.dir $ranks "$PROGRAMS/unlucky" calls >/dev/null 2>&1 || [ $? = 3 ]
        "$WEND" diff whole.dir to/a.dir
    done
    cd /
    rm -rf "$here"
}

@test "another user's process that may not write the recording: one line" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    same_end 2 calls user 65534
    grep -q '^wend: rank 0: .*a.dir.*: Permission denied: nothing was recorded$' err || fail "$(cat err)"
}

@test "all files that the program may open are open" {
    UCX_LOG_LEVEL=fatal same_end 2 files
    merges "rank 0: .*: Too many open files"
}

@test "while standard output is closed nothing is written to it, and its number is free" {
    WEND_CHECKPOINT=1 same_end 2 closed 2.2
    grep -q 'rank 1: 0 written, 0 taken' out || fail "$(cat out)"
    is_recorded
}

# Without a launcher, which reads what its ranks write, and without wend trace, whose wrapper script here has files of its own.
alone() { # STATUS REDIRECTION command…: plain and recorded, under a shell's REDIRECTION
    local plain=0 recorded=0
    rm -rf a.dir
    sh -c "$2"' exec timeout "$TEST_TIMEOUT" "$@"' - "${@:3}" >plain.out || plain=$?
    [ "$plain" = "$1" ] || fail "the program itself: status $plain" || return
    WEND_OUTPUT=$PWD/a.dir sh -c "$2"' LD_PRELOAD=$0 exec timeout "$TEST_TIMEOUT" "$@"' "$LIBWEND" "${@:3}" >out || recorded=$?
    [ "$recorded" = "$1" ] || fail "$2: status $plain alone, $recorded recorded" || return
    diff plain.out out >&2 || fail "$2: output" || return
    "$WEND" dump a.dir | grep -q MPI_Finalize || fail "$2: no recording"
}

@test "nobody reads standard error; it is full; it is closed" {
    export TEST_TIMEOUT
    mkfifo pipe
    for redirection in 'exec 2>/dev/full;' 'exec 2>&-;' 'exec 3<>pipe 2>pipe 3>&-;'; do
        alone 3 "$redirection" "$PROGRAMS/unlucky"
        sh -c "$redirection"' exec "$@"' - "$WEND" trace -o b.dir true
    done
}

@test "standard files that are closed from the start" {
    export TEST_TIMEOUT
    for redirection in 'exec <&-;' 'exec >&-;' 'exec <&- >&-;' 'exec >&- 2>&-;'; do
        alone 3 "$redirection" "$PROGRAMS/unlucky"
    done
}

@test "a file of the program's that has the number of standard error is the program's alone" {
    export TEST_TIMEOUT
    alone 3 'exec 2>&-;' "$PROGRAMS/unlucky" data data.txt
    [ "$(cat data.txt)" = data ] || fail "$(cat data.txt)"
}

@test "a limit on the size of files" {
    for size in 0 1000; do
        same_end 2 calls size $size
        grep -q '^wend: rank 0: .*a.dir.*: File too large: nothing was recorded$' err || fail "$(cat err)"
        [ ! -e a.dir ] || fail "$(ls -lR a.dir)"
    done
    WEND_CHECKPOINT=1 same_end 2 size 0 closed 1.2
    grep -q '^wend: rank 0: .*File too large: nothing was recorded$' err || fail "$(cat err)"
    # Checkpoint files fit, the archive does not.
    mkdir -p full.dir
    WEND_CHECKPOINT=1 same_end 2 size 100000 closed 1.2
    is_recorded
}
