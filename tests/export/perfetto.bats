# SPDX-License-Identifier: BSD-3-Clause
# wend export --perfetto: protoc reads the file, and finds what wend says of the recording. protoc's
# schema is made from perfetto-fields.txt, and not the one that the writer is made from.
bats_require_minimum_version 1.5.0
load ../helpers

setup() {
    in_scratch
    TABLE=$HELPERS_DIR/export/perfetto-fields.txt SCHEMA=$PWD/public.proto
    ! "$WEND" export --perfetto -o none none 2>&1 | grep -q 'built without' ||
        skip "this Wend was built without protobuf-c"
    command -v protoc >/dev/null || skip "no protoc"
    schema_table proto "$TABLE" >"$SCHEMA"
}

schema_table() { "$PYTHON" "$HELPERS_DIR/export/perfetto-schema.py" "$@"; }

decode() { protoc -I "${SCHEMA%/*}" --decode=perfetto.protos.Trace "${SCHEMA##*/}"; }

compared() { # RECORDING TRACE [options of wend dump…]
    "$PYTHON" "$HELPERS_DIR/export/perfetto.py" "$WEND" "$1" "$2" "$SCHEMA" "${@:3}" >compared ||
        fail "$*" "$(cat compared)"
}

# same_in_perfetto N program…: slices are the calls of wend dump, flows those of wend show
# --messages.
same_in_perfetto() {
    rm -rf a.dir
    record a.dir "$@" >out 2>&1 || fail "$*" "$(tail -n 5 out)" || return
    "$WEND" export --perfetto -f -o a.pf a.dir 2>said || fail "$*: $(cat said)" || return
    [ "$(grep -c 'no time of each call' said)" = 1 ] || fail "$(cat said)" || return
    compared a.dir a.pf
}

@test "the schema of the writer has the numbers and types of the public one" {
    local schema=${SOURCE_DIR:-$HELPERS_DIR/..}/src/export/track-event.proto
    schema_table equal "$TABLE" "$schema" >said || fail "$(cat said)"
    # another field of the same type is found by the table alone
    sed 's/source_location_iid = 34/source_location_iid = 35/' "$schema" >wrong.proto
    run -1 schema_table equal "$TABLE" wrong.proto
    wrong='TrackEvent.source_location_iid: 34 uint64 in the table, 35 uint64 in the schema'
    [ "$output" = "$wrong" ] || fail "$output"
    # and the table is the public schema's, where it is at hand
    [ -z "${PERFETTO_SCHEMA:-}" ] ||
        schema_table compare "$TABLE" "$PERFETTO_SCHEMA" >said || fail "$(cat said)"
}

@test "slices and flows of the examples" {
    for program in $(few persistent particles stencil2d intercomm masterworker collectives \
        polling); do
        same_in_perfetto 4 "$EXAMPLES/$program"
    done
    same_in_perfetto 4 "$EXAMPLES/rma"
    same_in_perfetto 2 "$EXAMPLES/fileio"
}

@test "threads, callbacks, wildcards, cancelled messages, errors" {
    for program in $(few threads nbx callbacks cancelled interleaved wildcards requests \
        statuses); do
        same_in_perfetto 4 "$PROGRAMS/$program"
    done
}

@test "flows connect the messages that the program says" {
    for seed in 1 2; do
        rm -rf a.dir said.*
        record a.dir 3 "$PROGRAMS/numbered" $seed 3 said >out 2>errors || fail "$(tail errors)"
        cat said.* >program
        "$WEND" export --perfetto -f -o a.pf a.dir 2>said
        compared a.dir a.pf
        # the table that the flows are compared with is what the program says
        "$WEND" show --messages --csv --all a.dir >table
        "$PYTHON" "$HELPERS_DIR/decoder/messages.py" table program >different ||
            fail "$(cat different)"
        flows=$(sed 's/.* slices, \([0-9]*\) flows.*/\1/' compared)
        [ "$flows" -ge "$(grep -c '^M' program)" ] || fail "$(cat compared)"
    done
}

@test "several worlds" {
    timeout -k 5 60 "${LAUNCH[@]}" -n 1 "$PROGRAMS/spawn" probe >probe.out 2>&1 ||
        skip "the MPI library cannot start processes"
    same_in_perfetto 2 "$PROGRAMS/across" single
    decode <a.pf >text
    grep -q 'process_name: "rank 2 (rank 0 of world 1)"' text
}

# Without MPI: the recordings of two worlds are made from a script, in one folder.
@test "several worlds: their ranks are processes of one timeline, in the order of the worlds" {
    local n i
    for n in 2 3; do
        {
            echo "ranks $n"
            for ((i = 0; i < n; i++)); do # a ring
                printf '%s\n' "rank $i" MPI_Init "MPI_Send dest=$(((i + 1) % n)) count=4 tag=3" \
                    "MPI_Recv source=$(((i + n - 1) % n)) count=4 tag=3" MPI_Finalize
            done
        } >lines
        "$BUILD_DIR/tests/decoder/script" lines world-of-$n
    done
    mv world-of-2 a.dir
    mv world-of-3/trace.tar.zst a.dir/world-0.1.tar.zst
    "$WEND" export --perfetto -o a.pf a.dir 2>said
    [ "$(wc -l <said)" = 1 ] && grep -q 'no time of each call' said || fail "$(cat said)"
    compared a.dir a.pf
    grep -q ' 5 flows' compared || fail "$(cat compared)"
    decode <a.pf | sed -n 's/.*process_name: "\(.*\)"/\1/p' >names
    diff names - <<'END' || fail "$(cat names)"
rank 0 (rank 0 of world 0)
rank 1 (rank 1 of world 0)
rank 2 (rank 0 of world 1)
rank 3 (rank 1 of world 1)
rank 4 (rank 2 of world 1)
END
    # one of them
    "$WEND" export --perfetto --world 1 -f -o a.pf a.dir 2>said
    compared a.dir a.pf --world=1
    [ "$(decode <a.pf | grep -c process_name)" = 3 ]
}

@test "the lines that calls come from" {
    cat >caller.c <<'END'
#include <mpi.h>
#include <stddef.h>
static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
int main(void)
{
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 3; i++)
        meet();
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" -g -O0 caller.c -o caller
    record a.dir 2 ./caller >out
    "$WEND" dump --sites --format=csv a.dir | grep -q ',meet,.*caller.c,5,' ||
        skip "wend names no call sites here"
    "$WEND" export --perfetto -o a.pf a.dir
    compared a.dir a.pf --sites
    # without names there are addresses
    strip caller
    "$WEND" export --perfetto -f -o a.pf a.dir 2>said
    decode <a.pf >text
    grep -q 'str: "caller + 0x' text || fail "$(cat said)"
    ! grep -q source_location text || false
}

@test "a run that died: calls that had not returned" {
    mpi 3 "$WEND" trace -q -o a.dir "$PROGRAMS/dying" SIGTERM >out 2>&1 || true
    "$WEND" merge a.dir >merged
    "$WEND" export --perfetto -o a.pf a.dir 2>said
    compared a.dir a.pf
    decode <a.pf >text
    grep -q 'bool_value: true' text
    grep -Eq ', [1-9][0-9]* flows' compared
}

@test "the time of each call: messages go forward in time" {
    mpi 4 "$WEND" trace --quiet --times=lossless -o a.dir "$EXAMPLES/stencil2d" >out
    "$WEND" export --perfetto -o a.pf a.dir 2>said
    [ ! -s said ] || fail "$(cat said)"
    compared a.dir a.pf
    grep -Eq ', ([1-9][0-9]*) flows, \1 in' compared || fail "$(cat compared)"
}

@test "some ranks, calls and times" {
    record a.dir 4 "$EXAMPLES/stencil2d" >out
    "$WEND" export --perfetto -r 1,3 -c 10-19 -o a.pf a.dir
    compared a.dir a.pf --rank=1,3 --calls=10-19
    "$WEND" export --csv=calls -r 0 -o all.csv a.dir
    awk -F, 'NR == 30 {from = $7 + 1} NR == 40 {to = $6} END {print from / 1e9, to / 1e9}' \
        OFMT=%.9f all.csv >span
    read -r from to <span
    "$WEND" export --csv=calls -r 0 --from "$from" --to "$to" -o some.csv a.dir
    "$WEND" export --perfetto -r 0 --from "$from" --to "$to" -f -o a.pf a.dir
    decode <a.pf >text
    [ "$(grep -c TYPE_SLICE_BEGIN text)" = "$(tail -n +2 some.csv | wc -l)" ]
    [ "$(grep -c TYPE_SLICE_BEGIN text)" -lt 50 ]
}

@test "an output that exists stays without --force; full disks, closed outputs, signals" {
    record a.dir 2 "$PROGRAMS/irregular" apart 100000 >out
    echo mine >a.pf
    run -3 "$WEND" export --perfetto -o a.pf a.dir
    [ "$(cat a.pf)" = mine ]
    run -4 "$WEND" export --perfetto -o /dev/full a.dir
    [ "$(grep -c '^wend export: .*/dev/full' <<<"$output")" = 1 ] || fail "$output"
    "$WEND" export --perfetto -o - a.dir 2>said | head -c 10 >begin
    [ -s begin ]
    export_is_stopped --perfetto a.dir
}

@test "long work shows its progress on a terminal, and nowhere else" {
    export_shows_progress --perfetto
}

@test "memory does not grow with the number of calls" {
    export_needs_no_more --perfetto
}

# bats test_tags=long
@test "memory does not grow with the number of calls that have times" {
    export_of_times_needs_no_more --perfetto
}
