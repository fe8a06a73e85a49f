# SPDX-License-Identifier: BSD-3-Clause
# What follows from the time of each call: percentiles, late senders, late arrivals at collectives.
bats_require_minimum_version 1.5.0
load ../helpers

setup() {
    in_scratch
    SOURCE=$SOURCE_DIR/tests/programs/waiting.c
    command -v python3 >/dev/null || skip "no python3"
}

waiting() { # CODING: records tests/programs/waiting.c in app.dir
    [ -x waiting ] || "$MPICC" -g -O1 -w "$SOURCE" -o waiting || return
    rm -rf app.dir steps
    mpi 4 "$WEND" trace --quiet "--times=$1" -o app.dir ./waiting
}

follows() { # WHAT: wend says of app.dir what follows from its times
    python3 "$HELPERS_DIR/decoder/waits.py" "$WEND" app.dir "$1"
}

line_of() { # NAME: the line of waiting.c with that comment
    grep -n "/\* site: $1 \*/" "$SOURCE" | cut -d: -f1
}

@test "waits: as they follow from the times of all calls, and for those who are late by design" {
    waiting lossless
    follows waits
    follows design
    waiting 10%
    follows waits
}

@test "waits: by call site, for people and as CSV" {
    waiting lossless
    "$WEND" show --waits --table --all app.dir >table
    head -n 1 table |
        grep -qE '^[0-9.]+ m?s in [0-9]+ calls that waited, [0-9.]+ % of the time in MPI$'
    "$WEND" show --waits --csv app.dir >csv
    python3 - csv <<'P'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sums = {}
for row in rows:
    assert (row["rank"] == "" or row["late_rank"] == "") == (row["state"] != "late_sender"), row
    if row["rank"]:
        sums[row["state"]] = sums.get(row["state"], 0) + float(row["seconds"])
late = sum(float(r["seconds"]) for r in rows if r["state"] == "wait_at_barrier" and r["late_rank"])
assert abs(late - sums["wait_at_barrier"]) < 1e-6, (late, sums)
assert len(sums) == 5, sums
P
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
    grep -A 3 "late sender  *MPI_Recv in late_sender (waiting.c:$(line_of receive))" table >block ||
        fail "$(cat table)" || return
    grep -q "for MPI_Send in late_sender (waiting.c:$(line_of 'late send'))" block ||
        fail "$(cat table)" || return
    grep -q 'rank 1 for 0 (' block || fail "$(cat table)" || return
    grep -A 2 "wait at barrier  *MPI_Barrier in .* (waiting.c:$(line_of barrier))" table |
        grep -q 'late: rank 2 (' || fail "$(cat table)" || return
    grep -q "^late_sender,MPI_Waitall,[^,]*,[^,]*waiting.c,$(line_of all)," csv ||
        fail "$(cat csv)" || return
    grep -A 1 'wait at barrier  *MPI_Wait in' table | grep -q 'for MPI_Ibarrier in' ||
        fail "$(cat table)"
}

@test "waits: the longest ones of messages" {
    waiting lossless
    "$WEND" show --messages --table app.dir >table
    awk '/^ +waited  rank, call$/ { on = 1 } on && $3 ~ /^[0-9]+$/ && $2 ~ /^[mun]?s$/' table >rows
    "$WEND" show --messages --all --csv app.dir | tail -n +2 | awk -F, '$NF > 0 { print $NF }' |
        sort -gr | head -n 20 >longest
    [ -s longest ] && [ "$(wc -l <rows)" = "$(wc -l <longest)" ] || fail "$(cat table)" || return
    paste rows longest | awk '
        BEGIN { unit["s"] = 1; unit["ms"] = 1e-3; unit["us"] = 1e-6; unit["ns"] = 1e-9 }
        { mine = $1 * unit[$2]; its = $NF }
        mine < 0.98 * its - 1e-9 || mine > 1.02 * its + 1e-9 { print; bad = 1 }
        END { exit bad }' || fail "$(cat rows)"
}

@test "waits: of polls, threads, callbacks, intercommunicators, one-sided" {
    for program in "$EXAMPLES/particles" "$EXAMPLES/intercomm" "$EXAMPLES/rma" "$PROGRAMS/nbx" \
        "$PROGRAMS/threads" "$PROGRAMS/callbacks" "$PROGRAMS/cancelled"; do
        rm -rf app.dir
        mpi 4 "$WEND" trace --quiet --times=10% -o app.dir "$program" >out
        "$WEND" show --waits --json app.dir >json || fail "$program" || return
        python3 -m json.tool <json >checked || fail "$program" || return
        "$WEND" show --messages --csv --all app.dir >messages
        follows percentiles
    done
}

@test "percentiles: as they follow from the times of all calls" {
    for coding in lossless 10%; do
        mpi 4 "$WEND" trace --quiet --times=$coding -o $coding.dir "$EXAMPLES/stencil2d" >out
        ln -sfn "$coding.dir" app.dir
        follows percentiles
    done
    "$WEND" show lossless.dir | grep -Eq ' deviation +median +90 % +99 % +of MPI' ||
        fail "$("$WEND" show lossless.dir)" || return
    "$WEND" diff lossless.dir 10%.dir # ignores times
    "$WEND" diff --stat lossless.dir 10%.dir >stat
    grep -Eq '^duration +mean A +mean B +median A +median B +90 % A +90 % B +99 % A +99 % B$' stat
    grep -Eq '^MPI_Waitall( +[0-9.]+ [mun]?s){8}$' stat || fail "$(cat stat)"
}

@test "percentiles and waits: without the time of each call" {
    record app.dir 2 "$PROGRAMS/hello"
    "$WEND" show app.dir | grep -E ' deviation +of MPI +of run$'
    ! "$WEND" show --json app.dir | grep -q median || fail "a median"
    "$WEND" diff --stat app.dir app.dir >stat
    ! grep 'median' stat || fail "a median" || return
    line='app.dir: the recording does not have the time of each call: record it with wend trace'
    for format in --csv --table --json; do
        run -3 --separate-stderr "$WEND" show --waits $format app.dir
        [ -z "$output" ] && [ "$stderr" = "wend show: $line --times" ] ||
            fail "$format: $output" "$stderr" || return
    done
    "$WEND" show --messages --all --csv app.dir | head -n 1 | grep -q ',call,waited$'
}

@test "ranks: the share of the run that each was in MPI" {
    waiting lossless
    "$WEND" show --ranks --csv app.dir >csv
    "$WEND" show --json app.dir >json
    python3 - <<'P'
import csv, json
run = json.load(open("json"))["seconds_of_run"] / 4
shares = [r for r in csv.DictReader(open("csv")) if r["of_run"]]
assert shares and not any(r["function"] == "MPI_Init" for r in shares)
for r in shares:
    share = float(r["seconds"]) / run
    assert abs(float(r["of_run"]) - share) <= 0.02 * share, (r, share)
P
    "$WEND" show --ranks --table app.dir >table
    grep -A 1 '^ *rank  *in MPI  *of run$' table | grep -Eq '^ +[0-9] +[0-9.]+ m?s +[0-9.]+ %$' ||
        fail "$(cat table)"
}
