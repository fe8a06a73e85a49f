#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Recordings of several worlds: an archive for each in one directory, read as one job.

bats_require_minimum_version 1.5.0
load ../helpers

setup() { in_scratch; }

script() { # RANKS PEER COUNT: each rank sends to PEER ("+1": the next one) and probes once
    cat <<S
ranks $1
rank *
MPI_Init
MPI_Comm_split color=0 key=0 newcomm=comm#0/$1/self/0
? MPI_Iprobe source=$2 tag=$3
MPI_Send count=$3 datatype=MPI_INT dest=$2 tag=3 comm=comm#0
MPI_Finalize
S
}

# A recording $1 of three worlds. The first has 2 ranks; it started one of 3 ranks, which send $2
# integers, and one of 1 rank, which sends 9.
recording() {
    script 2 self+1 4 | "$BUILD_DIR/tests/decoder/script" - "$1"
    script 3 self+2 "$2" | "$BUILD_DIR/tests/decoder/script" - second
    script 1 0 9 | "$BUILD_DIR/tests/decoder/script" - third
    mv second/trace.tar.zst "$1/world-1700000000.000000001-77.tar.zst"
    mv third/trace.tar.zst "$1/world-1700000000.000000002-5.tar.zst"
}

sends() { # OPTIONS…: rank, peer and count of the sends
    "$WEND" dump -F csv -f MPI_Send "$@" | awk -F, 'NR > 1 { print $1, $8, $10 }' | paste -sd ";"
}

@test "all worlds are read as one job, rank after rank" {
    recording a 6
    [ "$(sends a)" = "0 1 4;1 2 4;2 2 6;3 3 6;4 4 6;5 0 9" ]
    "$WEND" dump a >text
    grep -q "^# rank 1 (rank 1 of world 0), thread 0$" text
    grep -q "^# rank 4 (rank 2 of world 1), thread 0$" text
    printf 'MPI_Iprobe(source=%s\n' "1, tag=4" "2, tag=4" "2, tag=6" "3, tag=6" "4, tag=6" \
        "0, tag=9" >expected
    grep -o 'MPI_Iprobe(source=., tag=.' text | diff expected -
    "$WEND" show a >shown
    grep -q "^ranks  *6" shown
    grep -q "^worlds  *0: ranks 0-1," shown
    grep -q "^  *2: ranks 5-5," shown
    grep -q "^calls  *24 MPI calls, 6 unsuccessful polls$" shown
}

@test "--world takes one of them, with its own ranks" {
    recording a 6
    [ "$(sends --world 1 a)" = "0 2 6;1 3 6;2 4 6" ]
    [ "$(sends -w 0 a)" = "0 1 4;1 2 4" ]
    run -2 --separate-stderr "$WEND" dump --world 3 a
    [[ $stderr == *"has no world 3"* ]]
    [ "$(sends a/trace.tar.zst)" = "0 1 4;1 2 4" ]
}

@test "communicators of different worlds have different numbers" {
    recording a 6
    numbers=$("$WEND" dump -f MPI_Send a | grep -o 'comm#[0-9]*' | paste -sd " ")
    [ "$numbers" = "comm#1 comm#1 comm#2 comm#2 comm#2 comm#3" ]
}

@test "diff compares world by world" {
    recording a 6
    recording b 6
    run -0 "$WEND" diff a b
    calls="equal: 3 worlds, 6 ranks, 24 MPI calls"
    [ "$output" = "$calls; not compared: 6 and 6 unsuccessful polls" ]
    run -0 "$WEND" diff --outcomes a b
    recording c 7
    run -1 "$WEND" diff a c
    [[ $output == *"ranks 2-4 (ranks 0-2 of world 1)"* ]]
    run -0 "$WEND" diff --world 2 a c
    rm b/world-*-5.tar.zst
    run -1 "$WEND" diff a b
    [[ $output == *"a has 3 worlds, b has 2"* ]]
}

@test "a damaged world is one clear error" {
    recording a 6
    head -c 100 a/world-1700000000.000000001-77.tar.zst >short
    mv short a/world-1700000000.000000001-77.tar.zst
    run -3 --separate-stderr "$WEND" show a
    [[ $stderr == *"world-1700000000.000000001-77.tar.zst"* ]]
    [ "${#stderr_lines[@]}" = 1 ]
    run -0 "$WEND" show --world 0 a
}
