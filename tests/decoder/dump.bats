#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# wend dump: the three formats, the options that select calls, and errors of output.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
    in_scratch
    HERE=${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/tests/decoder
    "$BUILD_DIR/tests/decoder/script" "$HERE/golden.script" t
}

@test "text, CSV and JSON lines are those that were checked by hand" {
    "$WEND" dump t >out
    diff out "$HERE/golden.txt"
    "$WEND" dump --format csv t >out
    diff out "$HERE/golden.csv"
    "$WEND" dump -F jsonl t >out
    diff out "$HERE/golden.jsonl"
}

# If this fails, the format has changed: do what docs/format.md, "Versions", requires.
@test "the golden archive is still read correctly" {
    "$WEND" dump "$HERE/golden.dir" >out
    diff out "$HERE/golden.txt"
}

@test "Python reads CSV and JSON back, with the same arguments" {
    command -v python3 >/dev/null || skip "no python3"
    "$WEND" dump -F csv t >csv
    "$WEND" dump -F jsonl t >jsonl
    python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("csv")))
lines = [json.loads(line) for line in open("jsonl")]
assert len(rows) == len(lines) == 16
for row, line in zip(rows, lines):
    assert int(row["rank"]) == line["rank"] and int(row["call"]) == line["call"]
    assert row["function"] == line["function"]
    assert (row["poll"] == "1") == line["poll"]
    assert row["arguments"].count("=") >= len(line["arguments"])
    assert None not in row and len(row) == 17
name = [l for l in lines if l["function"] == "MPI_Comm_set_name"][0]
assert name["arguments"]["comm_name"] == 'a"b,c'
END
}

@test "a displacement can be the distance of two places" {
    displacements="0,heap#3+64~heap#2,stack#0-8~static#1+4"
    struct="MPI_Type_create_struct count=3 array_of_blocklengths=1,1,1"
    struct+=" array_of_displacements=$displacements array_of_types=MPI_INT,MPI_INT,MPI_INT"
    vector="MPI_Type_create_hvector count=2 blocklength=1 stride=heap#3~heap#2 oldtype=MPI_INT"
    printf '%s\n' MPI_Init "$struct newtype=type#0/12" "$vector newtype=type#1/8" MPI_Finalize \
        >distances
    "$BUILD_DIR/tests/decoder/script" distances d
    "$WEND" dump d >out
    grep -q 'array_of_displacements=\[0, heap#3+64 - heap#2, stack#0-8 - static#1+4\]' out
    grep -q 'stride=heap#3 - heap#2,' out
    "$WEND" dump -F jsonl d |
        grep -q '"array_of_displacements":\[0,"heap#3+64 - heap#2","stack#0-8 - static#1+4"\]'
    sed 's/heap#3+64~heap#2/heap#3+64~heap#1/' distances >others
    "$BUILD_DIR/tests/decoder/script" others e
    run -1 "$WEND" diff d e
    "$PROXYGEN" d -o proxy.c
    grep -q '(MPI_Aint)(heap(3) + 64) - (MPI_Aint)heap(2), *(MPI_Aint)(stack - 8)' \
        <(tr -s ' \n' ' ' <proxy.c)
}

@test "a repeated call is printed like a single one" {
    cat >again <<'END'
ranks 2
rank *
MPI_Init
repeat 3
MPI_Comm_split color=1 key=self newcomm=comm#0/2/self/0
MPI_Bcast buffer=heap#0 count=1 root=0 comm=comm#0
MPI_Type_size datatype=MPI_INT size=4
MPI_Send dest=self tag=7
MPI_Send dest=self tag=7 -> rc=6
MPI_Recv source=self tag=MPI_ANY_TAG -> status=0,5,4,0
MPI_Recv source=self tag=MPI_ANY_TAG -> status=0,8,4,0
MPI_Comm_free comm=comm#0
end
MPI_Finalize
END
    "$BUILD_DIR/tests/decoder/script" again a
    for format in text csv jsonl; do
        "$WEND" dump -F $format a | grep -v '^#\|^rank,' >whole
        for rank in 0 1; do
            for ((call = 0; call < 26; call++)); do
                "$WEND" dump -F $format -r $rank -c $call a
            done
        done | grep -v '^#\|^rank,' >each
        [[ $(wc -l <each) == 52 ]]
        diff whole each
    done
    [[ $("$WEND" dump a | grep -c 'MPI_Bcast.*comm=comm#3)') == 2 &&
        $("$WEND" dump a | grep -c 'tag=8') == 6 ]]
}

@test "ranks, threads, calls, functions and polls can be chosen" {
    run -0 "$WEND" dump -r 1 -c 3-4 t
    [[ ${#lines[@]} == 5 && ${lines[0]} == "# rank 1, thread 0" &&
        ${lines[1]} == *"3  MPI_Irecv("* && ${lines[4]} == *"4  MPI_Test("*"flag=true"* ]]
    run -0 "$WEND" dump -r 1 -c 3-4 --no-polls t
    [[ ${#lines[@]} == 3 ]]
    run -0 "$WEND" dump -f 'MPI_*cast,MPI_Init' t
    [[ $(grep -c '(' <<<"$output") == 4 && $(grep -c MPI_Bcast <<<"$output") == 2 ]]
    run -0 "$WEND" dump -t 0 -r 1 -c 3 t
    [[ ${lines[1]} == *"3  MPI_Irecv("* ]]
    run -0 "$WEND" dump -c -1 -r 0 t
    [[ ${#lines[@]} == 3 ]]
    run -0 "$WEND" dump --timing -r 0 -F csv t
    # an archive has four digits
    [[ ${lines[0]} == *",mean_duration,mean_interval" && ${lines[1]} == *,1*e-06,1.00?e-05 ]]
}

@test "a function, a thread or a call that does not exist is reported" {
    for options in "-f NoSuch" "-f MPI_Send,NoSuch*" "-t 9" "-t -1" "-t 1 -r 1"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr "$WEND" dump $options t
        [[ -z $output && ${#stderr_lines[@]} == 1 && $stderr == "wend dump: there is no "* ]] ||
            fail "$options: $stderr"
    done
    for options in "-f MPI_Ibcast" "-c 100-" "-r 0 -f MPI_Irecv"; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr "$WEND" dump $options t
        [[ $output != *"("* && $stderr == "wend dump: no call matches --calls and --function" ]] ||
            fail "$options: $output" "$stderr"
    done
    run -0 --separate-stderr "$WEND" dump -f 'MPI_Irec?' t
    [[ -z $stderr ]]
}

@test "wrong usage and bad input: one line, documented exit codes" {
    for options in "" "t t" "-r 2 t" "-r x t" "-r 1-0 t" "-c 5-3 t" "-c x t" "-F xml t" \
        "--nonsense t"; do
        # shellcheck disable=SC2086
        run -2 "$WEND" dump $options
        [[ ${#lines[@]} == 1 && $output == "wend dump: "* ]] || fail "$options: $output"
    done
    run -3 "$WEND" dump nowhere
    [[ ${#lines[@]} == 1 && $output == *nowhere* ]]
    head -c 100 t/trace.tar.zst >short
    mkdir s
    mv short s/trace.tar.zst
    run -3 "$WEND" dump s
    [[ ${#lines[@]} == 1 && $output == *s/trace.tar.zst* ]]
}

@test "a full disk is an error, a closed output is not" {
    [ -c /dev/full ] || skip "no /dev/full"
    run -4 bash -c '"$0" dump t >/dev/full' "$WEND"
    [[ $output == "wend dump: "* ]]
    { echo "ranks 1"; for _ in {1..300}; do
        printf '%s\n' "repeat 50" MPI_Barrier end MPI_Comm_size
    done; } >many
    "$BUILD_DIR/tests/decoder/script" many m
    run -0 bash -c 'set -o pipefail; trap "" PIPE; "$0" dump m | head -n 1' "$WEND"
    [[ $output == "# rank 0, thread 0" ]]
    run bash -c '"$0" dump m 2>err | head -n 1; echo "${PIPESTATUS[0]}"; cat err' "$WEND"
    [[ ${lines[1]} == 0 && ${#lines[@]} == 2 ]]
}

# function:world:peer_world:bytes:comm_size of the calls of a rank
partners() { # RECORDING RANK
    "$WEND" dump -F csv -r "$2" "$1" | python3 -c 'import csv, sys
for r in csv.DictReader(sys.stdin):
    print(":".join(r[k] for k in ("function", "world", "peer_world", "bytes", "comm_size")))'
}

@test "handles are followed: the partner of a call, its bytes, the communicator's size" {
    command -v python3 >/dev/null || skip "no python3"
    # comm#0 has ranks 2 and 1, later all ranks in reverse; type#0 has 12 bytes, later 40. Sources
    # in statuses are relative to the caller's rank
    cat >follow <<'END'
ranks 3
rank 0
MPI_Comm_split color=MPI_UNDEFINED newcomm=MPI_COMM_NULL
MPI_Comm_split color=1 key=2 newcomm=comm#0/3/2/2
rank 1
MPI_Comm_split color=1 key=1 newcomm=comm#0/2/1/2
MPI_Type_contiguous count=3 oldtype=MPI_INT newtype=type#0/12/0/12/0/12
MPI_Send count=2 datatype=type#0 dest=0 comm=comm#0
MPI_Send_init count=5 datatype=type#0 dest=0 comm=comm#0 request=p
MPI_Irecv count=9 source=MPI_ANY_SOURCE comm=comm#0 request=q
MPI_Type_free datatype=type#0
MPI_Comm_free comm=comm#0
MPI_Comm_split color=1 key=1 newcomm=comm#0/3/1/2
MPI_Type_contiguous count=10 oldtype=MPI_INT newtype=type#0/40/0/40/0/40
MPI_Send count=2 datatype=type#0 dest=2 comm=comm#0
MPI_Start request=p
MPI_Wait request=q done=q -> status=-1,0,0,0
MPI_Wait request=p done=p persistent=1
MPI_Win_create size=64 comm=comm#0 win=win#0
MPI_Put origin_count=6 target_rank=0 win=win#0
MPI_Send dest=MPI_PROC_NULL count=3
MPI_Recv source=MPI_ANY_SOURCE count=3 -> status=1,0,0,0
rank 2
MPI_Comm_split color=1 key=0 newcomm=comm#0/2/0/2
MPI_Comm_split color=1 key=0 newcomm=comm#0/3/0/2
END
    "$BUILD_DIR/tests/decoder/script" follow f
    partners f 1 >out
    grep -v 'Comm_\|Type_\|Win_' out >calls
    diff calls - <<'END'
MPI_Send:0:2:24:2
MPI_Send_init:0:2:60:2
MPI_Irecv:0::36:2
MPI_Send:0:0:80:3
MPI_Start:0:2:60:2
MPI_Wait:0:2::2
MPI_Wait:0:2::2
MPI_Put:0:2:24:3
MPI_Send:0::12:3
MPI_Recv:0:2:12:3
END
    "$WEND" dump -F jsonl -r 1 -f MPI_Put f |
        grep -q '"world":0,"peer_world":2,"bytes":24,"comm_size":3}'
}
