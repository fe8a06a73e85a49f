#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# wend show --messages: which send met which receive, against what the programs say themselves.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
    in_scratch
    HERE=${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/tests/decoder
}

recording() { # DIRECTORY, the script on standard input
    "$BUILD_DIR/tests/decoder/script" - "$1"
}

# same_messages RANKS SEED ROUNDS: the table is what the program says.
same_messages() {
    rm -rf a.dir said.*
    record a.dir "$1" "$PROGRAMS/numbered" "$2" "$3" said >out 2>errors ||
        fail "$(tail -n 5 errors)"
    cat said.* >said
    "$WEND" show --messages --csv --all a.dir >table
    python3 "$HERE/messages.py" table said >differences || fail "seed $2" "$(cat differences)"
    "$WEND" show --messages --table a.dir >totals
    ! grep 'unreceived\|unsent\|outside\|not completed\|out of order\|uncertain' totals || return 1
}

# as_in_the_matrix DIR: the sends, and their bytes, are those of the communication matrix.
as_in_the_matrix() {
    "$WEND" show --messages --csv --all "$1" |
        awk -F, 'NR > 1 && $1 != "unsent" {n++; b += $12} END {print n + 0, b + 0}' >mine
    "$WEND" show --matrix --csv "$1" |
        awk -F, '$1 == "point-to-point" {n += $4; b += $5} END {print n + 0, b + 0}' >theirs
    diff theirs mine || fail "$1"
}

@test "messages of every kind meet the receives that the program says: 2 ranks" {
    for seed in 1 2 3; do same_messages 2 $seed 3; done
}

@test "messages of every kind meet the receives that the program says: 3 ranks" {
    for seed in 4 5 6; do same_messages 3 $seed 3; done
}

@test "the totals are those of the matrix" {
    for program in "$EXAMPLES"/{ring,masterworker,persistent,intercomm} \
        "$PROGRAMS"/{cancelled,nbx,partners,threads,unlike,wildcards}; do
        rm -rf a.dir
        record a.dir 4 "$program" >out 2>&1 || fail "$program" "$(tail -n 5 out)"
        as_in_the_matrix a.dir
        "$WEND" show --messages --table a.dir >totals
        ! grep 'outside\|out of order' totals || fail "$program" "$(cat totals)"
    done
}

@test "messages between worlds meet: their tags say who sent and who received them" {
    timeout -k 5 60 "${LAUNCH[@]}" -n 1 "$PROGRAMS/spawn" probe >probe.out 2>&1 ||
        skip "the MPI library cannot start processes"
    for mode in single multiple leaders again together ports; do
        rm -rf a.dir
        record a.dir 2 "$PROGRAMS/across" $mode >out 2>&1 || fail "$mode" "$(tail -n 5 out)"
        "$WEND" show --messages --csv --all a.dir >table
        grep -q ^matched table
        # tags 0 and 1 are also those of names of ports and of edges
        awk -F, 'NR > 1 && ($1 != "matched" || ($3 > 1 && $3 != 100 * $4 + $7))' table >wrong
        [ ! -s wrong ] || fail "$mode" "$(head -n 5 wrong)"
    done
}

@test "what meets nothing is listed with its call" {
    recording a <<'END'
ranks 2
rank 0
MPI_Send dest=1 count=3 tag=7
MPI_Send dest=1 count=5 tag=8
MPI_Send dest=MPI_PROC_NULL count=1
rank 1
MPI_Recv source=0 count=9 tag=7 -> status=0,0,24,0
MPI_Irecv source=0 count=2 tag=9 request=q
MPI_Irecv source=MPI_ANY_SOURCE count=2 tag=9 request=r
END
    run -0 "$WEND" show --messages --csv a
    [[ ${#lines[@]} == 4 ]] || fail "$output"
    grep -Fq 'unreceived,MPI_COMM_WORLD,8,0,0,1,1,,,,,20,,,"MPI_Send(' <<<"$output"
    grep -Fq 'unsent,MPI_COMM_WORLD,9,0,,,1,0,1,,,,,,"MPI_Irecv(' <<<"$output"
    grep -Fq 'unsent,MPI_COMM_WORLD,9,,,,1,0,2,,,,,,"MPI_Irecv(' <<<"$output"
    run -0 "$WEND" show --messages --csv --all a
    [[ $output == *$'\nmatched,MPI_COMM_WORLD,7,0,0,0,1,0,0,0,0,12,12,,,\n'* ]] || fail "$output"
    run -0 "$WEND" show --messages --table a
    [[ ${lines[0]} == "messages        1, 12 B; at most "* ]] || fail "$output"
    [[ $output == *"unreceived      1 send without a receive"* ]]
    [[ $output == *"unsent          2 receives without a send"* ]]
    [[ $output == *"send    0 1 MPI_Send("*" to rank 1"* ]]
    run -0 "$BUILD_DIR/examples/read/print-messages" a
    [[ ${lines[0]} == "0:0 -> 1:0 tag 7, 12 bytes" ]] || fail "$output"
    [[ $output == *"0:1 -> nothing tag 8, 20 bytes"* && $output == *"nothing -> 1:1 tag 9"* ]]
}

@test "a receive waits in vain for a send that is not recorded, and the others go on" {
    recording a <<'END'
ranks 3
rank 0
MPI_Recv source=1 count=1 tag=1 -> status=0,0,0,0
MPI_Send dest=2 count=1 tag=2
rank 1
MPI_Wtime
rank 2
MPI_Recv source=0 count=1 tag=2 -> status=0,0,0,0
END
    run -0 "$WEND" show --messages --table a
    [[ ${lines[0]} == "messages        1, "* ]] || fail "$output"
    [[ $output == *"unsent          1 receive without a send"* ]] || fail "$output"
    [[ $output == *"out of order    1 call that waits"* ]] || fail "$output"
}

@test "--messages is one of the tables" {
    recording a <<'END'
MPI_Send dest=0
MPI_Recv source=0
END
    run -2 "$WEND" show --messages --matrix a
    run -2 "$WEND" show --messages --json a
    run -3 --separate-stderr "$WEND" show --messages nothing.dir
    [[ ${#stderr_lines[@]} == 1 && $stderr == "wend show: nothing.dir: "* ]]
}

@test "matching ends when nobody reads on" {
    printf '%s\n' 'ranks 2' 'rank 0' 'repeat 1000' 'repeat 300' 'MPI_Send dest=1' end end \
        'rank 1' 'repeat 1000' 'repeat 300' MPI_Recv end end | recording a
    local TIMEFORMAT=%U all some show=("$WEND" show --messages --all --csv a)
    all=$({ time "${show[@]}" >/dev/null; } 2>&1)
    some=$({ time "${show[@]}" | head -n 1 >first; } 2>&1)
    grep -q ^state, first
    awk -v all="$all" -v some="$some" 'BEGIN { exit !(4 * some < all) }' ||
        fail "all: $all s, the first line: $some s"
}
