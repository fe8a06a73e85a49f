# SPDX-License-Identifier: BSD-3-Clause
# wend trace --times: when each call began and how long it took.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }

with_times() { # CODING N program…: recorded in app.dir
    local coding=$1 n=$2
    shift 2
    rm -rf app.dir
    mpi "$n" "$WEND" trace --quiet "--times=$coding" -o app.dir "$@" >app.out
}

# "rank sequence start duration function" of each call and poll, what is not known as "-".
calls_of() { # RECORDING [OPTION…]
    "$WEND" dump --times -F csv "${@:2}" "$1" | awk -F, '
        function known(time) { return time == "" ? "-" : time }
        NR > 1 { sub(" ", "", $2); print $1, $2, known($(NF - 1)), known($NF), $5 }'
}

# All calls of the recording have times, which fit together: no call begins before the one before it
# in its sequence ends. Only these have no duration: MPI_Finalize, notes, and those in $UNKNOWN.
in_order() {
    calls_of app.dir >calls 2>err && [ ! -s err ] || { cat err; return 1; }
    awk -v unknown="${UNKNOWN:-^$}" '
        $1 " " $2 != sequence { end = -1e9; sequence = $1 " " $2 }
        $3 == "-" { print "no start:", $0; bad = 1 }
        $3 + 2e-9 < end { print "begins before the end of the call before:", $0; bad = 1 }
        $4 == "-" && $5 !~ /^(MPI_Finalize|wend_)/ && $5 !~ unknown {
            print "no duration:", $0
            bad = 1
        }
        { end = $3 + ($4 == "-" ? 0 : $4) }
        END { exit bad || NR == 0 }' calls
}

sleeper() { # a loop of barriers and of sleeps of 100 ms, 5000 short calls between
    cat >sleeper.c <<'C'
#include <mpi.h>
#include <time.h>
int main(int argc, char **argv)
{
    const struct timespec pause = {0, 100000000};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&rank, 0, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        if (rank == 1)
            nanosleep(&pause, NULL);
        MPI_Barrier(MPI_COMM_WORLD); /* rank 0 waits in it */
        for (int k = 0; k < 5000; k++)
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    MPI_Finalize();
}
C
    "$MPICC" -O1 sleeper.c -o sleeper
}

# pauses RECORDING LEAST: the five pauses of rank 1 are as long as that, in seconds, and less than
# another half. Rank 0, which may be late itself, needs as much time for its barriers and between.
pauses() {
    calls_of "$1" -r 1 | awk -v least="$2" '
        $5 == "MPI_Barrier" { n++ }
        $5 == "MPI_Barrier" && ($3 - end < least || $3 - end > least + 0.5) { print; bad = 1 }
        { end = $3 + $4 }
        END { exit bad || n != 5 }' || return
    calls_of "$1" -r 0 | awk -v least="$2" '
        $5 == "MPI_Bcast" { begin = $3 + $4 }
        $5 == "MPI_Barrier" { n++; end = $3 + $4 }
        END { exit n != 5 || end - begin < 4 * least || end - begin > 5 * least + 2.5 }'
}

@test "times: a rank that is late, and the one that waits for it" {
    sleeper
    for coding in lossless 1% 10% bins:50%; do
        with_times "$coding" 2 ./sleeper
        in_order
        case $coding in
        lossless) pauses app.dir 0.1 ;;
        1%) pauses app.dir 0.099 ;;
        10%) pauses app.dir 0.09 ;;
        bins:50%) pauses app.dir 0.05 ;;
        esac
    done
}

@test "times: the calls are those of a recording without" {
    sleeper
    record plain.dir 2 ./sleeper
    with_times 10% 2 ./sleeper
    "$WEND" diff --outcomes plain.dir app.dir
    cmp <("$WEND" dump plain.dir) <("$WEND" dump app.dir)
}

@test "times: of starts, no more is lost than of one time" {
    # The barriers are in the same order on both ranks, and the second rank leaves the last one when
    # the first one does, so the sums of 25,000 lossy times must agree.
    sleeper
    with_times 50% 2 ./sleeper
    last() { calls_of app.dir -r "$1" | awk '$5 == "MPI_Finalize" { print $3 }'; }
    awk -v a="$(last 0)" -v b="$(last 1)" 'BEGIN { exit !(a - b < 0.1 && b - a < 0.1) }'
}

@test "times: of polls, threads, callbacks, and of a recording that was off for a while" {
    with_times 10% 2 "$EXAMPLES/polling"
    in_order
    with_times lossless 2 "$PROGRAMS/threads"
    in_order
    grep -q ' thread1 ' calls
    with_times 10% 2 "$PROGRAMS/callbacks"
    in_order
    grep -q ' callback' calls
    # what was made while off is recorded later, when its times have passed
    UNKNOWN=^MPI_I with_times 10% 2 "$PROGRAMS/control" pcontrol
    UNKNOWN=^MPI_I in_order
}

@test "times: in JSON and in text" {
    with_times lossless 2 "$PROGRAMS/hello"
    "$WEND" dump --times -F jsonl app.dir >app.json
    python3 - <<'P'
import json
calls = [json.loads(line) for line in open("app.json")]
assert calls
for call in calls:
    assert -60 < call["start"] < 60, call # MPI_Init begins before the run does
    assert ("duration" in call) == (call["function"] != "MPI_Finalize"), call
P
    "$WEND" dump --times -r 0 app.dir | grep -qE 'MPI_Init.*  @ -?[0-9.]+ \+ [0-9]+\.[0-9]{9}$'
    "$WEND" dump --times -r 0 app.dir | grep -qE 'MPI_Finalize.*  @ [0-9.]+$'
}

@test "times: a rank that dies keeps those of its calls" {
    mpi 2 "$WEND" trace --quiet --times=10% -o app.dir "$PROGRAMS/dying" SIGSEGV >out 2>&1 || true
    "$WEND" merge app.dir >out 2>&1 || [ $? = 1 ] || { cat out; false; }
    calls_of app.dir -r 0 >calls
    [ "$(grep -c 'MPI_Sendrecv' calls)" -gt 1 ]
    # all but the call that had not returned
    [ "$(awk '$3 == "-"' calls | wc -l)" -le 1 ]
}

@test "times: memory that is short ends them, and not the recording" {
    sleeper
    WEND_MAX_MEMORY=1M with_times lossless 2 ./sleeper 2>err
    calls_of app.dir >calls
    [ "$(wc -l <calls)" = 50018 ] || fail "$(wc -l <calls) calls"
    [ "$(awk '$4 == "-"' calls | wc -l)" -gt 10000 ] || fail "all times are there"
    grep -q '; 2 ranks had no memory for all times\b' err || fail "$(cat err)"
    "$WEND" show app.dir | grep -q '^incomplete *times.* of ranks 0-1: ' ||
        fail "$("$WEND" show app.dir)"
}

@test "times: what is no coding is refused, and a recording without times is said to be one" {
    for wrong in 10 0% 51% x lossless:10% bins: zfp; do
        run "$WEND" trace "--times=$wrong" -o wrong.dir true
        [ "$status" = 2 ] && [ "${#lines[@]}" = 1 ] || fail "$wrong: $output"
        run env WEND_TIMES="$wrong" "$WEND" trace -o wrong.dir true
        [ "$status" = 2 ] || fail "$wrong: $output"
    done
    record plain.dir 1 "$PROGRAMS/hello"
    local format line='plain.dir: the recording has no times: wend trace --times records them'
    for format in text csv jsonl; do
        "$WEND" dump --times --format $format plain.dir >out 2>err
        [ "$(cat err)" = "wend dump: $line" ] || fail "$format: $(cat err)" || return
        [ "$(grep -c MPI_ out)" = "$("$WEND" dump plain.dir | grep -c MPI_)" ] || fail "$format"
    done
    diff <("$WEND" dump plain.dir) <("$WEND" dump --times plain.dir 2>err)
}

@test "times: of ranks that differ, of elastic shapes, shards and sessions" {
    # The reader must find the same places as the recorder; else times are damaged.
    local command
    for command in "5 trips" "8 coarse" "2 tagged" "4 rows" "6 unlike 1" \
        "6 irregular exchange 2"; do
        # shellcheck disable=SC2086
        set -- $command
        WEND_SHARD_RANKS=2 with_times lossless "$1" "$PROGRAMS/$2" "${@:3}"
        in_order || fail "$command"
    done
    ! grep -q '^#define HAVE_MPI_Session_init ' "$BUILD_DIR/src/tracer/library.gen.h" ||
        with_times lossless 2 "$PROGRAMS/sessions"
    UNKNOWN=MPI_Session_finalize in_order
}

@test "times: of millions of calls take no more memory than those of a few" {
    cat >busy.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static void peak(void)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("%s", line);
    fclose(f);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2000000; i++) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (i == 200000)
            peak();
    }
    peak();
    MPI_Finalize();
}
C
    "$MPICC" -O1 busy.c -o busy
    with_times 10% 1 ./busy
    awk '/^VmHWM/ { kb[n++] = $2 } END { exit n != 2 || kb[1] - kb[0] > 6000 }' app.out ||
        { cat app.out; false; }
    calls_of app.dir | awk '$3 == "-" { bad = 1 } END { exit bad || NR != 2000002 }'
}
