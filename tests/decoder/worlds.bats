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

# A recording $1 of a world that starts another one, of 2 ranks each, by the call of rank 0. Both
# make an intercommunicator of the one that they have in common, one intracommunicator of all, and
# of that the halves that have a rank of each world. $2, $3: sed scripts, which change what the
# worlds record.
family() {
    local from_both='
MPI_Comm_dup comm=comm#0 newcomm=comm#1/2/self/0/2/-1
MPI_Intercomm_merge intercomm=comm#1 newintracomm=comm#2/4/HERE/LEADER
MPI_Comm_split comm=comm#2 color=self newcomm=comm#3/2/HALF/LEAD
MPI_Comm_create comm=comm#2 newcomm=comm#4/4/HERE/LEADER
MPI_Send dest=0 tag=1 comm=comm#0
MPI_Send dest=1 tag=2 comm=comm#1
MPI_Send dest=3 tag=3 comm=comm#2
MPI_Send dest=1 tag=4 comm=comm#3
MPI_Send dest=0 tag=5 comm=comm#4
MPI_Finalize'
    local script=$BUILD_DIR/tests/decoder/script facts=comm#0/2/self/0/2/-1
    printf '%s\n' "ranks 2" "rank 0" MPI_Init \
        "MPI_Comm_spawn command=x argv=absent intercomm=$facts" "rank 1" MPI_Init \
        "MPI_Comm_spawn command=absent argv=absent intercomm=$facts" "rank *" "$from_both" |
        sed "s/HERE/self/; s/LEADER/0/; s/HALF/0/; s/LEAD/self/" | sed "${2-}" | "$script" - "$1"
    printf '%s\n' "ranks 2" "rank *" MPI_Init "MPI_Comm_get_parent parent=$facts" "$from_both" |
        sed "s/HERE/self+2/; s/LEADER/-1/; s/HALF/1/; s/LEAD/-1/" | sed "${3-}" |
        "$script" - child
    mv child/trace.tar.zst "$1/world-0.1.tar.zst"
    rmdir child
}

# RECORDING: the sends of each rank on a line, as receiver, tag and number of the communicator.
messages() {
    "$WEND" dump -F csv -f MPI_Send "$1" | sed 's,"[^"]*",,g; s/comm#//' | awk -F, '
        NR == 2 || (NR > 2 && $1 != rank) { printf "%s%s:", (NR > 2 ? "\n" : ""), $1; rank = $1 }
        NR > 1 { printf " %s/%s/%s", $15, $9, $7 } END { print "" }'
}

@test "a communicator of two worlds has one number, and its members are known" {
    family a
    messages a >sent
    diff sent - <<'S'
0: 2/1/1 3/2/2 3/3/3 2/4/4 0/5/5
1: 2/1/1 3/2/2 3/3/3 3/4/6 0/5/5
2: 0/1/1 1/2/2 3/3/3 2/4/4 0/5/5
3: 0/1/1 1/2/2 3/3/3 3/4/6 0/5/5
S
    "$WEND" show --comms --csv a | tail -n +4 >comms
    diff comms - <<'S'
comm#1,MPI_Comm_spawn,2,2,"0-1","2-3"
comm#2,MPI_Comm_dup,2,2,"0-1","2-3"
comm#3,MPI_Intercomm_merge,4,,"0-3",""
comm#4,MPI_Comm_split,2,,"0, 2",""
comm#5,MPI_Comm_create,4,,"0-3",""
comm#6,MPI_Comm_split,2,,"1, 3",""
S
    "$WEND" show --matrix --csv a >matrix
    grep -qx 'point-to-point,0,3,2,0,0' matrix
    ! grep -q ',,' matrix || false
}

@test "a world that another thread started" {
    family a 's/^rank 0$/&\nthread 1/'
    mv a/world-0.1.tar.zst a/world-0t1.1.tar.zst
    "$WEND" show --comms --csv a | grep -qx 'comm#.*,MPI_Comm_spawn,2,2,"0-1","2-3"'
    mv a/world-0t1.1.tar.zst a/world-0t2.1.tar.zst
    "$WEND" show --comms --csv a | grep -qx 'comm#.*,MPI_Comm_spawn,2,2,"0-1","?, ?"'
}

# CALL RANKS TIMES: all ranks of a world meet others at a port, each by itself, and send something.
at_port() {
    printf '%s\n' "ranks $2" "rank *" MPI_Init
    local i
    for ((i = 0; i < $3; i++)); do
        echo "$1 port_name=door comm=MPI_COMM_SELF newcomm=comm#$i/1/0/self/1/-1"
        echo "MPI_Send dest=0 tag=$i comm=comm#$i"
    done
    echo MPI_Finalize
}

@test "worlds that meet at a port, if only one order is possible" {
    local script=$BUILD_DIR/tests/decoder/script
    at_port MPI_Comm_accept 1 2 | "$script" - a
    at_port MPI_Comm_connect 1 2 | "$script" - b
    mv b/trace.tar.zst a/world-x.tar.zst
    [ "$(messages a)" = "0: 1/0/1 1/1/2
1: 0/0/1 0/1/2" ]
    at_port MPI_Comm_connect 1 1 | "$script" - b
    mv b/trace.tar.zst a/world-x.tar.zst
    [ "$(messages a)" = "0: /0/1 /1/2
1: /0/3" ]
    at_port MPI_Comm_connect 2 1 | "$script" - b
    mv b/trace.tar.zst a/world-x.tar.zst
    [ "$(messages a)" = "0: /0/1 /1/2
1: /0/3
2: /0/4" ]
}

# Each world knows what it has recorded itself.
@test "worlds stay apart if the recording does not have the call that started one" {
    family a
    local name
    for name in 0.2 0.0 7.1 1.1 0.1-0.1 0.1x 0t1.1 .1 0. x 1700000000.000000001-77 \
        99999999999999999999.1; do
        mv a/world-*.tar.zst "a/world-$name.tar.zst"
        messages a >sent
        diff sent - <<'S' || fail "$name"
0: /1/1 /2/2 /3/3 /4/4 0/5/5
1: /1/1 /2/2 /3/3 /4/6 0/5/5
2: /1/7 /2/8 3/3/9 2/4/10 /5/11
3: /1/7 /2/8 3/3/9 3/4/12 /5/11
S
    done
    # its starter has no archive
    mv a/world-*.tar.zst a/trace.tar.zst
    messages a >sent
    diff sent - <<'S'
0: /1/1 /2/2 1/3/3 0/4/4 /5/5
1: /1/1 /2/2 1/3/3 1/4/6 /5/5
S
}

@test "two worlds that claim the same start" {
    family a
    cp a/world-0.1.tar.zst a/world-00.1.tar.zst
    messages a >sent
    [ "$(wc -l <sent)" = 6 ]
    ! grep '[^ ]/[12]/' sent || false # no peer of an intercommunicator is known
    "$WEND" show --comms --csv a >comms
    "$WEND" show --matrix --csv a >matrix
}

@test "members of several worlds that contradict each other" {
    local facts
    for facts in s,/4/HERE/,/4/9/, s,/4/self,/4/9, s,/4/self,/-4/self, s,/4/self,/4/-1, \
        s,/2/self/0/2/-1,/2/self/7/2/9999999999, s,/2/self/0/2/-1,/2/0/-1/2/-1, \
        s,/2/self/0/2/-1,/2/self/1/2/0, s,#3/2/./[^/]*$,#3/2/1/0/4/1, \
        s,#3/2/./[^/]*$,#3/99999999999/-5/-7, s,#4/4/.*,#4/4/self/1/2/0, s,#4/4/.*,#4/4/self/1,; do
        family first "$facts"
        family second "" "$facts"
        family both "$facts" "$facts"
        for recording in first second both; do
            messages $recording >sent
            [ "$(wc -l <sent)" = 4 ]
            "$WEND" show --comms --csv $recording >comms
            "$WEND" show --matrix --csv $recording >matrix
            rm -r $recording
        done
    done
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
