#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# wend diff: what counts as equal and what never does. docs/comparing.md, "Equality of two
# recordings", has the rules by number.

bats_require_minimum_version 1.5.0
load ../helpers

setup() { in_scratch; }

# Makes recording $1 from the script on standard input.
recording() {
    "$BUILD_DIR/tests/decoder/script" - "$1"
}

# The recordings a and b are equal, or differ, in both directions.
equal() {
    run -0 "$WEND" diff a b
    [[ $output == equal:* ]]
    run -0 "$WEND" diff b a
}
different() {
    run -1 "$WEND" diff b a
    run -1 "$WEND" diff a b
    [[ $output == *differ:* ]]
}

stencil() {
    cat <<'END'
ranks 4
rank *
MPI_Init
repeat 50
MPI_Irecv buf=heap#0 count=10 datatype=MPI_DOUBLE source=self-1 tag=7 request=r
MPI_Isend buf=heap#0+80 count=10 datatype=MPI_DOUBLE dest=self+1 tag=7 request=s
MPI_Waitall count=2 array_of_requests=r,s done=r,s
end
MPI_Send count=1 dest=0 tag=1
MPI_Send count=1 dest=1 tag=1
MPI_Finalize
END
}

# Waitany completes three receives in the order $1 $2 $3, then in the order $4 $5 $6. Each is
# answered and received again.
server() {
    echo "ranks 1"
    for i in 0 1 2; do echo "MPI_Irecv buf=heap#$i source=$i tag=5 request=r$i"; done
    for i in "$1" "$2" "$3"; do
        echo "MPI_Waitany count=3 array_of_requests=r0,r1,r2 done=r$i -> index=$i"
        echo "MPI_Send buf=heap#9 count=$((i + 10)) dest=$i tag=6"
        echo "MPI_Irecv buf=heap#$i source=$i tag=5 request=r$i"
    done
    echo "MPI_Barrier"
    for i in "$4" "$5" "$6"; do
        echo "MPI_Waitany count=3 array_of_requests=r0,r1,r2 done=r$i -> index=$i"
        echo "MPI_Send buf=heap#9 count=$((i + 20)) dest=$i tag=6"
    done
    echo "MPI_Finalize"
}

@test "a recording is equal to itself and to a second recording" {
    stencil | recording a
    stencil | recording b
    equal
    run -0 "$WEND" diff a a
    run -0 "$WEND" diff --outcomes a b
}

@test "every single change to a call is found, with rank and call number" {
    stencil | recording a
    for change in 's/tag=7 request=s/tag=8 request=s/' \
        's/count=10 datatype=MPI_DOUBLE dest/count=11 datatype=MPI_DOUBLE dest/' \
        's/MPI_DOUBLE dest/MPI_INT dest/' 's/heap#0+80/heap#0+88/' 's/heap#0+80/heap#1+80/' \
        's/dest=self+1/dest=self+2/' \
        's/repeat 50/repeat 51/' 's/MPI_Isend/MPI_Issend/' 's/MPI_Finalize/MPI_Barrier/' \
        's/array_of_requests=r,s/array_of_requests=s,r/'; do
        rm -rf b
        stencil | sed "$change" | recording b
        different || fail "not found: $change"
    done
    rm -rf b
    stencil | sed 's/dest=1 tag=1/dest=1 tag=2/' | recording b
    run -1 "$WEND" diff -m 1 a b
    [[ ${lines[0]} == "ranks 0-3, thread 0, call 152: MPI_Send: tag 1 and 2" ]]
    [[ ${lines[1]} == *"< 152  MPI_Send("*"dest=1, tag=1"* ]]
    [[ ${lines[2]} == *"> 152  MPI_Send("*"dest=1, tag=2"* ]]
}

@test "a missing call, an additional call and two exchanged calls are found" {
    stencil | recording a
    for edit in '/dest=0 tag=1/d' '/dest=0 tag=1/p' '/MPI_Finalize/d' \
        '/dest=0 tag=1/{h;d};/dest=1 tag=1/G'; do
        rm -rf b
        stencil | sed "$edit" | recording b
        different || fail "not found: $edit"
    done
}

@test "one rank's difference among equal ranks is found, and only that one" {
    stencil | recording a
    { stencil; printf 'rank 2\nMPI_Barrier\n'; } | recording b
    different
    [[ $(grep -c '^rank' <<<"$output") == 1 ]]
    local longer="rank 2, thread 0, after the last call: one sequence is longer"
    [[ $output == *"$longer"*"< (the end)"*"> 153  MPI_Barrier"* ]] ||
        [[ $output == *"rank 2, thread 0"*"(the end)"*"MPI_Barrier"* ]]
}

@test "a table of peers is compared rank by rank" {
    peers() { # PEER of each rank
        echo "ranks 4"
        printf 'rank %d\nMPI_Send dest=%d tag=1\n' 0 "$1" 1 "$2" 2 "$3" 3 "$4"
    }
    peers 1 0 3 2 | recording a
    peers 1 0 3 0 | recording b
    different
    [[ $(grep -c '^rank' <<<"$output") == 1 ]]
    [[ $output == *"rank 3, thread 0, call 0"* ]]
}

@test "another number of ranks and another thread are found" {
    stencil | recording a
    stencil | sed 's/ranks 4/ranks 5/' | recording b
    different
    rm -rf b
    { stencil; printf 'rank 1\nthread 1\nMPI_Barrier\n'; } | recording b
    different
    [[ $output == *"rank 1, thread 1: only in b"* ]]
}

@test "the number and places of unsuccessful polls do not count" {
    printf '%s\n' 'MPI_Irecv source=0 request=r' '? MPI_Test request=r' MPI_Barrier \
        'MPI_Test request=r done=r -> flag=1' | recording a
    printf '%s\n' 'MPI_Irecv source=0 request=r' MPI_Barrier '? MPI_Test request=r' \
        '? MPI_Test request=r' 'MPI_Test request=r done=r -> flag=1' | recording b
    equal
    [[ $output == *"; not compared: 2 and 1 unsuccessful polls" ]]
}

@test "with --outcomes, the number and places of unsuccessful polls count" {
    polls() { # RECORDING N M: N polls before a barrier, and M behind it
        printf '%s\n' 'MPI_Irecv source=0 request=r' 'repeat '"$2" '? MPI_Test request=r' end \
            MPI_Barrier 'repeat '"$3" '? MPI_Test request=r' end \
            'MPI_Test request=r done=r -> flag=1' | recording "$1"
    }
    polls a 2 1
    polls a2 2 1
    polls more 3 1
    polls later 1 2
    run -0 "$WEND" diff --outcomes a a2
    [[ $output == "equal, outcomes and polls too: "*", 3 unsuccessful polls" ]]
    for other in more later; do
        run -1 "$WEND" diff --outcomes a $other
        [[ ${lines[0]} == "rank 0, thread 0, call "* ]]
        run -0 "$WEND" diff --outcomes --no-polls a $other
        [[ $output == "equal, outcomes too: "*"; not compared: 3 and "*" unsuccessful polls" ]]
    done
}

@test "with --outcomes, the order of unsuccessful polls counts" {
    polls() { # RECORDING POLL POLL
        printf '%s\n' 'MPI_Irecv source=0 request=r' 'repeat 5' "? $2" "? $3" end MPI_Barrier \
            'MPI_Test request=r done=r -> flag=1' | recording "$1"
    }
    polls a 'MPI_Test request=r' 'MPI_Iprobe source=0 tag=1'
    polls same 'MPI_Test request=r' 'MPI_Iprobe source=0 tag=1'
    polls other 'MPI_Iprobe source=0 tag=1' 'MPI_Test request=r'
    polls tag 'MPI_Test request=r' 'MPI_Iprobe source=0 tag=2'
    run -0 "$WEND" diff --outcomes a same
    for other in other tag; do
        run -1 "$WEND" diff --outcomes a $other
        run -0 "$WEND" diff --outcomes --no-polls a $other
    done
}

@test "a test of an inactive request is an unsuccessful one (rule 1), a wait is a call" {
    printf '%s\n' 'MPI_Irecv source=0 request=r' 'MPI_Test request=r done=r -> flag=1' \
        'MPI_Test request=r -> flag=1' MPI_Finalize | recording a
    printf 'MPI_Irecv source=0 request=r\nMPI_Test request=r done=r -> flag=1\nMPI_Finalize\n' |
        recording b
    equal
    rm -rf a
    printf '%s\n' 'MPI_Irecv source=0 request=r' 'MPI_Test request=r done=r -> flag=1' \
        'MPI_Wait request=r' MPI_Finalize | recording a
    different
    rm -rf b # an inactive request is MPI_REQUEST_NULL
    printf '%s\n' 'MPI_Irecv source=0 request=r' 'MPI_Test request=r done=r -> flag=1' \
        'MPI_Wait request=MPI_REQUEST_NULL' MPI_Finalize | recording b
    equal
}

@test "completions in another order, with what follows each (rule 5)" {
    server 0 1 2 0 1 2 | recording a
    for order in "2 1 0 0 1 2" "1 0 2 2 0 1" "2 0 1 1 2 0" "0 2 1 2 1 0"; do
        rm -rf b
        server $order | recording b
        equal || fail "$order: $output"
        run -1 "$WEND" diff --outcomes a b
    done
}

@test "in another order, what follows a completion is still compared" {
    server 0 1 2 0 1 2 | recording a
    for change in 's/count=10 dest=0 tag=6/count=10 dest=0 tag=9/' 's/count=12/count=13/' \
        's/count=22/count=23/' 's/count=11 dest=1/count=11 dest=2/' \
        '/count=11 dest=1/d' '/count=22 dest=2/d' '/MPI_Barrier/d' 's/MPI_Barrier/MPI_Allreduce/' \
        '/MPI_Finalize/d'; do
        rm -rf b
        server 2 0 1 1 2 0 | sed "$change" | recording b
        different || fail "not found: $change"
    done
}

@test "exchanged handlers of two completions are found" {
    server 0 1 2 0 1 2 | recording a
    server 2 0 1 0 1 2 |
        sed 's/count=10 dest=0/X/; s/count=12 dest=2/count=10 dest=0/; s/X/count=12 dest=2/' |
        recording b
    different
}

@test "calls that depend on the place, not on the completion (rule 4)" {
    body() {
        echo "ranks 1"
        for i in 0 1 2; do echo "MPI_Irecv buf=heap#$i source=$i request=r$i"; done
        echo "MPI_Waitany count=3 array_of_requests=r0,r1,r2 done=r$1 -> index=$1"
        echo "MPI_Send dest=5 tag=1"
        echo "MPI_Waitany count=3 array_of_requests=r0,r1,r2 done=r$2 -> index=$2"
        echo "MPI_Send dest=6 tag=2"
        echo "MPI_Waitany count=3 array_of_requests=r0,r1,r2 done=r$3 -> index=$3"
    }
    body 0 1 2 | recording a
    body 2 0 1 | recording b
    equal
    rm -rf b
    body 2 0 1 | sed 's/tag=2/tag=3/' | recording b
    different
    rm -rf b # the order of two sends
    body 2 0 1 | sed 's/dest=5 tag=1/X/; s/dest=6 tag=2/dest=5 tag=1/; s/X/dest=6 tag=2/' |
        recording b
    different
}

@test "calls before each completion: the last one lacks them (rule 5, end of rows)" {
    body() {
        echo "ranks 1"
        for i in 0 1 2; do echo "MPI_Irecv buf=heap#$i source=$i request=r$i"; done
        for i in "$@"; do
            echo "MPI_Comm_rank"
            echo "MPI_Waitany count=3 array_of_requests=r0,r1,r2 done=r$i -> index=$i"
            echo "MPI_Send dest=$i tag=1"
        done
        echo "MPI_Barrier"
    }
    body 0 1 2 | recording a
    body 2 0 1 | recording b
    equal
    rm -rf b
    body 2 0 1 | sed 's/dest=1/dest=0/' | recording b
    different
}

@test "requests that complete together, or one by one" {
    head='ranks 1\nMPI_Irecv buf=heap#0 source=0 request=x\n'
    head+='MPI_Irecv buf=heap#1 source=1 request=y\nMPI_Irecv buf=heap#2 source=2 request=z\n'
    some() { # REQUESTS N INDICES
        echo "MPI_Waitsome incount=3 array_of_requests=x,y,z done=$1" \
            "-> outcount=$2 array_of_indices=$3"
    }
    { printf "$head"; some x,y 2 0,1; some z 1 2; echo MPI_Barrier; } | recording a
    { printf "$head"; some z 1 2; some x 1 0; some y 1 1; echo MPI_Barrier; } | recording b
    equal
    # … each answered
    answer() { echo "MPI_Send dest=$1 tag=1"; }
    rm -rf a b
    { printf "$head"; some x,y 2 0,1; answer 0; answer 1; some z 1 2; answer 2
        echo MPI_Barrier; } | recording a
    { printf "$head"; some z 1 2; answer 2; some x 1 0; answer 0; some y 1 1; answer 1
        echo MPI_Barrier; } | recording b
    equal
    rm -rf b
    { printf "$head"; some z 1 2; answer 2; some x 1 0; answer 1; some y 1 1; answer 0
        echo MPI_Barrier; } | recording b
    different
}

@test "another request completed, and another function that completes, are found" {
    head='ranks 1\nMPI_Irecv buf=heap#0 source=0 request=x\n'
    head+='MPI_Irecv buf=heap#1 source=1 request=y\n'
    then_calls() { # CALL…: behind the two receives
        printf "$head"
        printf '%s\n' "$@"
    }
    then_calls 'MPI_Waitany count=2 array_of_requests=x,y done=x -> index=0' MPI_Barrier \
        MPI_Finalize | recording a
    printf "${head}MPI_Waitany count=2 array_of_requests=x,y done=y -> index=1\nMPI_Barrier\n" |
        recording b
    different
    [[ $output == *"different requests complete"* ]]
    rm -rf b # the same calls with another completion
    then_calls 'MPI_Waitany count=2 array_of_requests=x,y done=y -> index=1' MPI_Barrier \
        MPI_Finalize | recording b
    equal
    rm -rf b
    then_calls 'MPI_Testany count=2 array_of_requests=x,y done=x -> index=0 flag=1' MPI_Barrier \
        MPI_Finalize | recording b
    different
}

@test "requests are told apart by the calls that made them, not by number" {
    # Each completion posts a receive with a new buffer, whose number depends on the order.
    body() {
        printf '%s\n' 'ranks 1' 'MPI_Irecv buf=heap#0 source=0 request=x' \
            'MPI_Irecv buf=heap#1 source=1 request=y'
        for r in "$@"; do
            i=$([[ $r == x ]] && echo 2 || echo 3)
            echo "MPI_Waitany count=2 array_of_requests=x,y done=$r -> index=$((i - 2))"
            echo "MPI_Irecv buf=heap#$i source=$i request=$r"
        done
        printf 'MPI_Waitall count=2 array_of_requests=x,y done=x,y\nMPI_Barrier\n'
    }
    body x y | recording a
    body y x | recording b
    equal
    rm -rf b
    body y x | sed 's/array_of_requests=x,y done=x,y/array_of_requests=y,x done=x,y/' | recording b
    different
}

@test "an order of waits that the program chose is found" {
    head='ranks 1\nMPI_Irecv buf=heap#0 source=0 request=x\n'
    head+='MPI_Irecv buf=heap#1 source=1 request=y\n'
    printf "${head}MPI_Wait request=x done=x\nMPI_Wait request=y done=y\n" | recording a
    printf "${head}MPI_Wait request=y done=y\nMPI_Wait request=x done=x\n" | recording b
    different
}

@test "outcomes are compared only when asked for" {
    printf 'MPI_Recv source=MPI_ANY_SOURCE tag=1 -> status=0,0,0,0\nMPI_Barrier\n' | recording a
    printf 'MPI_Recv source=MPI_ANY_SOURCE tag=1 -> status=1,0,0,0\nMPI_Barrier\n' | recording b
    equal
    run -1 "$WEND" diff --outcomes a b
    [[ ${lines[0]} == "rank 0, thread 0, call 0:"* ]]
}

@test "failed calls are compared with their error class" {
    printf 'fact error.4=MPI_ERR_TAG\nMPI_Send dest=0 tag=-5 -> rc=4\n' | recording a
    printf 'fact error.4=MPI_ERR_TAG\nMPI_Send dest=0 tag=-5 -> rc=4\n' | recording b
    equal
    rm -rf b
    printf 'fact error.6=MPI_ERR_RANK\nMPI_Send dest=0 tag=-5 -> rc=6\n' | recording b
    different
    [[ $output == *"MPI_ERR_TAG"*"MPI_ERR_RANK"* ]]
    rm -rf b
    printf 'MPI_Send dest=0 tag=-5\n' | recording b
    different
}

@test "communicators are compared where they are made" {
    printf 'MPI_Comm_split color=0 key=0 newcomm=comm#0/2/1/0\nMPI_Barrier comm=comm#0\n' |
        recording a
    printf 'MPI_Comm_split color=0 key=0 newcomm=comm#0/3/1/0\nMPI_Barrier comm=comm#0\n' |
        recording b
    different
}

@test "neighbours in a graph: ranks and weights count, their order does not" {
    neighbours() { # SOURCES WEIGHTS
        echo "MPI_Dist_graph_neighbors comm=comm#0 maxindegree=3 sources=$1 sourceweights=$2" \
            "maxoutdegree=1 destinations=4 destweights=7"
    }
    neighbours 0,2,5 1,2,3 | recording a
    neighbours 5,0,2 3,1,2 | recording b
    equal
    neighbours 5,0,2 1,2,3 | recording b
    different
    neighbours 5,0,1 3,1,2 | recording b
    different
}

# -- differences that are expected of a proxy --

# Only expected differences: they are printed with the function and the number of calls, whichever
# recording is given first.
expected() { # CALLS FUNCTION
    local order
    for order in "a b" "b a"; do
        # shellcheck disable=SC2086
        run -1 "$WEND" diff $order
        [[ ${lines[0]} == "differ, only as expected of a proxy:" ]] || fail "$output"
        [[ ${lines[1]} == "  $1 call"*" of $2: "* ]] || fail "$output"
        [ "${#lines[@]}" = 2 ] || fail "$output"
    done
    run -1 "$WEND" diff --quiet a b
    [ -z "$output" ]
}

@test "expected of a proxy: receives and probes that name the recorded source" {
    printf 'repeat 2\nMPI_Recv source=MPI_ANY_SOURCE tag=1 -> status=3,0,0,0\nend\nMPI_Barrier\n' |
        recording a
    printf 'repeat 2\nMPI_Recv source=3 tag=1 -> status=0,0,0,0\nend\nMPI_Barrier\n' | recording b
    expected 2 MPI_Recv
    # other differences are printed as usual, the expected ones beside them
    rm -rf b
    printf 'repeat 2\nMPI_Recv source=3 tag=1\nend\nMPI_Barrier comm=MPI_COMM_SELF\n' | recording b
    run -1 "$WEND" diff a b
    [ "$(grep -c '^rank' <<<"$output")" = 1 ]
    [[ $output == *"the calls differ"*"MPI_Barrier"*"differ: 1 difference"* ]]
    [[ $output == *"differ: 1 difference"*"besides, as expected of a proxy:"* &&
        $output == *"besides, as expected of a proxy:"*"2 calls of MPI_Recv"* ]]
}

@test "expected of a proxy: only the source may differ" {
    printf 'MPI_Recv source=MPI_ANY_SOURCE tag=1 -> status=3,0,0,0\n' | recording a
    for b in 'source=2 tag=1' 'source=3 tag=2' 'source=3 tag=1 count=7' \
        'source=3 tag=1 buf=heap#1'; do
        rm -rf b
        echo "MPI_Recv $b" | recording b
        different
        ! grep expected <<<"$output" || fail "$b: $output"
    done
}

@test "expected of a proxy: requests of pinned receives, whatever completes first" {
    receives() {
        printf '%s\n' "MPI_Irecv source=$1 tag=1 request=x" \
            "MPI_Irecv source=$2 tag=1 request=y" MPI_Barrier
    }
    (receives MPI_ANY_SOURCE MPI_ANY_SOURCE
        printf '%s\n' 'MPI_Waitany array_of_requests=x,y done=x -> index=0 status=3,0,0,0' \
            'MPI_Send tag=1' \
            'MPI_Waitany array_of_requests=x,y done=y -> index=1 status=5,0,0,0' 'MPI_Send tag=2') |
            recording a
    (receives 3 5
        printf '%s\n' 'MPI_Waitany array_of_requests=x,y done=y -> index=1' 'MPI_Send tag=2' \
            'MPI_Waitany array_of_requests=x,y done=x -> index=0' 'MPI_Send tag=1') | recording b
    expected 2 MPI_Irecv
    # with both names exchanged, the sends follow other messages
    rm -rf b
    (receives 5 3
        printf '%s\n' 'MPI_Waitany array_of_requests=x,y done=y -> index=1' 'MPI_Send tag=2' \
            'MPI_Waitany array_of_requests=x,y done=x -> index=0' 'MPI_Send tag=1') | recording b
    different
}

# Two persistent receives from any source are started together. Both get messages of 3, 5 and 3.
any_started() { # FUNCTION
    local source tag
    for tag in 1 2; do echo "$1 source=MPI_ANY_SOURCE tag=$tag request=r$tag"; done
    for source in 3 5 3; do
        echo "MPI_Startall array_of_requests=r1,r2"
        echo "MPI_Waitall array_of_requests=r1,r2 done=r1,r2 persistent=1" \
            "-> array_of_statuses=$source,1,0,0,$source,2,0,0"
    done
    for tag in 1 2; do echo "MPI_Request_free request=r$tag done=r$tag"; done
}

# A proxy has a request for each source, and frees the one that it started last after the others.
split_started() { # FUNCTION
    local source tag
    for tag in 1 2; do
        for source in 3 5; do echo "$1 source=$source tag=$tag request=r$tag.$source"; done
    done
    for source in 3 5 3; do
        echo "MPI_Startall array_of_requests=r1.$source,r2.$source"
        echo "MPI_Waitall array_of_requests=r1.$source,r2.$source" \
            "done=r1.$source,r2.$source persistent=1"
    done
    for tag in 1 2; do
        for source in 5 3; do
            echo "MPI_Request_free request=r$tag.$source done=r$tag.$source"
        done
    done
}

@test "expected of a proxy: a persistent receive with a request for each source that came" {
    for init in MPI_Recv_init MPI_Recv_init_c; do
        rm -rf a b
        (any_started $init; any_started $init) | recording a
        (split_started $init; split_started $init) | recording b
        expected 4 $init
        [[ $("$WEND" diff a b) == *", each with its own request" ]] || fail "$init"
    done
}

@test "expected of a proxy: a persistent receive has all sources that came, and no others" {
    any_started MPI_Recv_init | recording a
    # another receive, or one less; another source, or one more
    # another one is started; a round is missing, or in another order; one is not freed
    for change in '1p' '4d;13d;s/r2\.5/r2.3/g' 's/source=5/source=4/' \
        '4{p;s/\.5/.6/;s/=5/=6/}' '7,8s/r2\.5/r2.3/g' '9,10d' \
        '5,10{s/\.3/.x/g;s/\.5/.3/g;s/\.x/.5/g}' '11d'; do
        rm -rf b
        split_started MPI_Recv_init | sed "$change" >script
        recording b <script || fail "$change" "$(cat script)"
        different
        ! grep -q 'only as expected' <<<"$output" || fail "$change" "$output"
    done
    # its first source alone is not enough
    rm -rf b
    any_started MPI_Recv_init | sed 's/MPI_ANY_SOURCE/3/' | recording b
    different
    ! grep expected <<<"$output" || fail "$output"
}

@test "expected of a proxy: its wildcards count as usual" {
    any() { echo "MPI_Recv source=MPI_ANY_SOURCE tag=$1 -> status=$2,0,0,0"; }
    (any 1 3; any 2 4; any 2 5) | recording a
    (echo 'MPI_Recv source=3 tag=1'; any 2 5; any 2 4) | recording b
    expected 1 MPI_Recv
}

@test "expected of a proxy: graphs with the recorded order of neighbours" {
    made() { # SOURCES THEIR-WEIGHTS DESTINATIONS of rank 1 of 3
        echo "MPI_Dist_graph_create_adjacent indegree=2 sources=$1 sourceweights=$2" \
            "outdegree=1 destinations=$3 destweights=7" \
            "info=MPI_INFO_NULL comm_dist_graph=comm#0/3/1/0"
    }
    (echo "MPI_Dist_graph_create n=1 sources=1 degrees=1 destinations=2 weights=7" \
        "info=MPI_INFO_NULL reorder=1" \
        "comm_dist_graph=comm#0/3/1/0 -> neighbours=1,2,1,1,-1,1,5,6,7"
        echo "MPI_Neighbor_alltoall comm=comm#0") | recording a
    run -0 "$WEND" dump a
    neighbours="{sources=[2, 0], destinations=[2], sourceweights=[5, 6], destweights=[7]}"
    [[ $output == *"neighbours=$neighbours"* ]] || fail "$output"
    (made 2,0 5,6 2; echo "MPI_Neighbor_alltoall comm=comm#0") | recording b
    expected 1 MPI_Dist_graph_create
    for other in "0,2 5,6 2" "2,0 6,5 2" "2,0 5,6 0"; do
        rm -rf b
        # shellcheck disable=SC2086
        (made $other; echo "MPI_Neighbor_alltoall comm=comm#0") | recording b
        different
    done
}

@test "--max, --quiet, --help and wrong usage" {
    stencil | recording a
    stencil | sed 's/tag=7/tag=8/' | recording b
    run -1 "$WEND" diff a b
    [[ $(grep -c '^rank' <<<"$output") == 2 && $output == *"differ: 2 differences" ]]
    run -1 "$WEND" diff --max 1 a b
    [[ $(grep -c '^rank' <<<"$output") == 1 ]]
    [[ $output == *"stopped after 1 difference (--max)" ]]
    run -1 "$WEND" diff --quiet a b
    [[ $output == "" ]]
    run -0 "$WEND" diff --help
    run -2 "$WEND" diff a
    run -2 "$WEND" diff a b c
    run -2 "$WEND" diff --nonsense a b
    run -3 "$WEND" diff a nowhere
    [[ $output == "wend diff: "* && ${#lines[@]} == 1 ]]
}

# A trial of the search that fails must leave nothing behind that changes later trials.
@test "completions: the search takes back all of a trial" {
    # REQUESTS that complete, in the order of the array; then the tags of the sends that follow
    some() {
        local array=r0,r1,r2,r3 indices=0,1,2
        case $1 in
        r0,r3,r1) array=r0,r3,r1,r2 ;;
        r?) array=$1 indices=0 ;;
        esac
        echo "MPI_Waitsome incount=4 array_of_requests=$array done=$1" \
            "-> outcount=$(((${#indices} + 1) / 2)) array_of_indices=$indices"
        shift
        printf 'MPI_Send tag=%s\n' "$@"
    }
    posts() {
        echo 'ranks 1'
        printf 'MPI_Irecv source=%s request=r%s\n' 0 0 1 1 2 2 3 3
    }
    { posts; some r0,r1,r2 9 1 9 2 3 4; some r3 9 5; } | recording a
    { posts; some r0,r3,r1 9 1; some r2 9 2 3 4 9 5; } | recording b
    equal
}

@test "random sequences: equal and different as the rules say" {
    command -v python3 >/dev/null || skip "no python3"
    python3 "${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/tests/decoder/diff-definition.py" "$WEND" \
        "$BUILD_DIR/tests/decoder/script" "$(often 300)"
}

@test "random programs: every legal order is equal, every mutation is found" {
    command -v python3 >/dev/null || skip "no python3"
    python3 "${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/tests/decoder/diff-random.py" "$WEND" \
        "$BUILD_DIR/tests/decoder/script" "$(often 60)"
    python3 "${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/tests/decoder/diff-random.py" "$WEND" \
        "$BUILD_DIR/tests/decoder/script" "$(often 24)" 86
}

@test "iterations of a loop are counted, whatever comes between some of them" {
    solver() { # 5 times 10 iterations and a sum, then ITERATIONS
        printf '%s\n' 'ranks 2' 'rank *' MPI_Init 'repeat 5' 'repeat 10' \
            'MPI_Send dest=self tag=1' \
            'MPI_Recv source=self tag=1' end 'MPI_Allreduce count=1' end
        for ((i = 0; i < $1; i++)); do
            printf '%s\n' 'MPI_Send dest=self tag=1' 'MPI_Recv source=self tag=1'
        done
        echo MPI_Finalize
    }
    solver 0 | recording a
    for more in "1 once" "3 3 times"; do
        rm -rf b
        solver "${more%% *}" | recording b
        different
        loop="a loop of 2 calls, 50 times and $((50 + ${more%% *})) times in all"
        loop+="; here ${more#* } more in b"
        [[ ${lines[0]} == "ranks 0-1, thread 0, before call 106: $loop" ]] ||
            fail "$output"
    done
}

@test "loops, calls that are missing and arguments are explained, once for all ranks" {
    stencil | recording a
    explained() { # EDIT EXPLANATION
        rm -rf b
        stencil | sed "$1" | recording b
        different
        [[ ${lines[0]} == "ranks 0-3, thread 0, $2" && ${lines[-1]} == "differ: 1 difference" ]] ||
            fail "$1: $output"
    }
    explained 's/repeat 50/repeat 51/' "calls 1 to 150: a loop of 3 calls, 50 times and 51 times"
    [[ ${lines[1]} == *"< 151  MPI_Send("* && ${lines[2]} == *"> 151  MPI_Irecv("* ]]
    explained 's/repeat 50/repeat 1/' "calls 1 to 150: a loop of 3 calls, 50 times and once"
    explained '/dest=0 tag=1/d' "call 151: only in a: MPI_Send"
    explained '/dest=0 tag=1/p' "before call 152: only in b: MPI_Send"
    explained 's/MPI_Finalize/MPI_Barrier/' "call 153: MPI_Finalize and MPI_Barrier"
    # once for all iterations, and not for the MPI_Waitall that names the request of the call
    explained 's/tag=7 request=s/tag=8 request=s/' \
        "call 2: MPI_Isend: tag 7 and 8, in each of 50 iterations of a loop of 3 calls"
    # values that differ by rank are not printed
    explained 's/dest=self+1/dest=self+2/' \
        "call 2: MPI_Isend: dest differs, in each of 50 iterations of a loop of 3 calls"
}

@test "a loop whose buffers alternate is found as a loop" {
    alternating() {
        echo MPI_Init
        for ((i = 0; i < $1; i++)); do
            printf 'MPI_Send buf=heap#%d tag=1\nMPI_Barrier\n' $((i % 2))
        done
        printf 'wend_free segment=heap#%d\n' $(($1 % 2)) $((1 - $1 % 2))
    }
    alternating 50 | recording a
    alternating 51 | recording b
    different
    loop="a loop of 2 calls, 50 times and 51 times"
    [[ ${lines[0]} == "rank 0, thread 0, calls 1 to 100: $loop" ]] || fail "$output"
    local named="from here on, calls differ only in the memory or requests that they name"
    [[ ${lines[3]} == "rank 0, thread 0, call 101: $named" ]] ||
        fail "$output"
    [[ ${lines[4]} == *"< 101  wend_free(segment=heap#0)"* &&
        ${lines[5]} == *"> 103  wend_free(segment=heap#1)"* &&
        ${lines[6]} == "differ: 2 differences" ]] || fail "$output"
}

@test "an explanation is for the ranks that have it, of all classes" {
    { stencil; printf 'rank 3\nMPI_Comm_size\n'; } | recording a
    { stencil | sed 's/repeat 50/repeat 51/'; printf 'rank 3\nMPI_Comm_rank\n'; } | recording b
    different
    loop="a loop of 3 calls, 50 times and 51 times"
    [[ ${lines[0]} == "ranks 0-3, thread 0, calls 1 to 150: $loop" ]] || fail "$output"
    [[ ${lines[3]} == "rank 3, thread 0, call 154: MPI_Comm_size and MPI_Comm_rank" ]] ||
        fail "$output"
    [[ $output == *"differ: 2 differences" ]]
}

@test "with nondeterministic completions, the difference that counts is explained" {
    server 0 1 2 0 1 2 | recording a
    server 2 0 1 1 2 0 | sed 's/MPI_Finalize/MPI_Comm_size\nMPI_Finalize/' | recording b
    different
    [[ ${lines[0]} == "rank 0, thread 0, before call 19: only in b: MPI_Comm_size" ]] ||
        fail "$output"
    [[ $output == *"differ: 1 difference" ]]
}

@test "a difference among a million calls is explained from the grammar" {
    million() {
        printf 'ranks 1\nMPI_Init\n'
        printf 'repeat %s\nMPI_Send tag=%s\n' 100 1 100 2 "$1" 3
        printf 'MPI_Barrier\nend\nMPI_Bcast\nend\nMPI_Reduce\nend\n'
    }
    million 45 | recording a
    million 46 | recording b
    run -1 timeout 20 "$WEND" diff a b
    loop="a loop of 2 calls, 45 times and 46 times"
    loop+=", in each of 10,000 iterations of a loop of 9,202 calls"
    [[ ${lines[0]} == "rank 0, thread 0, calls 3 to 92: $loop" &&
        ${lines[-1]} == "differ: 1 difference" ]] || fail "$output"
}

@test "--stat: MPI calls, bytes and times by function, side by side" {
    stencil | recording a
    stencil | sed 's/repeat 50/repeat 51/; s/MPI_Finalize/MPI_Barrier/' | recording b
    run -1 "$WEND" diff --stat a b
    grep -q '^A is a, B is b$' <<<"$output"
    # 4 ranks send 80 bytes in each iteration; each call of signature N takes 1 + N us
    grep -Eq '^MPI_Isend +200 +204 +\+4 +16\.0 KB +16\.3 KB +\+320 B +600 us +612 us +1$' \
        <<<"$output" || fail "$output"
    grep -Eq '^MPI_Barrier +0 +4 +\+4 +- +- +- +- ' <<<"$output" || fail "$output"
    grep -Eq '^MPI_Finalize +4 +0 +-4 ' <<<"$output" || fail "$output"
    grep -Eq '^all MPI calls +616 +628 +\+12$' <<<"$output" || fail "$output"
    run -0 "$WEND" diff --stat a a
    [[ ${lines[0]} == "equal: 4 ranks, 616 MPI calls" ]]
    grep -Eq '^MPI_Isend +200 +200 += +16\.0 KB +16\.0 KB += ' <<<"$output" || fail "$output"
}

@test "random edits of random loops: the explanation names the edit, and its ranks" {
    command -v python3 >/dev/null || skip "no python3"
    python3 "${SOURCE_DIR:-$BATS_TEST_DIRNAME/../..}/tests/decoder/diff-edits.py" "$WEND" \
        "$BUILD_DIR/tests/decoder/script" 40
}
