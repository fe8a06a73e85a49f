# Programs with threads.
load helpers
setup() { in_scratch; }

@test "each thread level is what it is without Wend" {
    for level in -1 0 1 2 3; do
        rm -rf app.dir
        same_output 2 "$PROGRAMS/levels" "$level"
        grep -q "asked $level: returned 0" plain.out
        quietly dump.out "$WEND" dump app.dir
        [ "$level" -lt 0 ] || grep -q "MPI_Init_thread.*provided=MPI_THREAD" dump.out
    done
}

# free_recordings THREADS TIMES: however threads interleave, the recording is the same.
free_recordings() {
    record first.dir 2 "$PROGRAMS/interleaved" "$1"
    for ((i = 0; i < $2; i++)); do
        record "next$i.dir" 2 "$PROGRAMS/interleaved" "$1"
        quietly diff.out "$WEND" diff first.dir "next$i.dir"
    done
}
@test "two threads that run freely: 20 recordings are equal" { free_recordings 2 20; }
@test "four threads that run freely: 20 recordings are equal" { free_recordings 4 20; }

@test "threads that run freely take no more room than one after the other" {
    record free.dir 2 "$PROGRAMS/interleaved" 2 100
    record alone.dir 2 "$PROGRAMS/interleaved" 2 100 alone
    "$WEND" diff free.dir alone.dir
    free=$(stat -c %s free.dir/trace.tar.zst) alone=$(stat -c %s alone.dir/trace.tar.zst)
    [ "$free" -le $((alone + alone / 20)) ] || fail "$free bytes, not $alone"
}

@test "round trip: threads that run freely" { roundtrip 2 "$PROGRAMS/interleaved" 3; }
