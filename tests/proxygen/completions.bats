# SPDX-License-Identifier: BSD-3-Clause
# Loops in proxies whose bodies depend on what completed, and wildcards.
load compile
setup() { in_scratch; }

@test "loops over Testsome and Waitsome become loops" {
    record app.dir 4 "$EXAMPLES/polling" -m testsome >/dev/null
    "$PROXYGEN" app.dir -o proxy.c
    grep -q 'while (pending > 0)' proxy.c
}

# A proxy whose loops over FUNCTION have BODY. Runs whose messages arrive in other orders are equal.
completions() {
    local seed
    YIELD_DELAYS=7 record app.dir 4 "$PROGRAMS/completions" "$1" "$2" 3 >/dev/null &&
        make_proxy app.dir ./proxy || return
    for seed in 1 2 3; do
        YIELD_DELAYS=$seed record "again$seed.dir" 4 ./proxy &&
            "$WEND" diff app.dir "again$seed.dir" || return
    done
}

# Several requests complete at once. That nothing followed one of them earlier must not give its
# later calls, which post it again, to another request.
@test "calls belong to the completion whose request they post again" {
    both() { # DONE N INDICES
        echo "MPI_Waitsome incount=2 array_of_requests=r0,r1 done=$1" \
            "-> outcount=$2 array_of_indices=$3"
    }
    post() { printf 'MPI_Irecv buf=heap#%d count=1 source=0 tag=%d request=r%d\n' "$1" "$1" "$1"; }
    {
        printf 'ranks 1\nMPI_Init\n'
        for tag in 0 0 1 1 1; do echo "MPI_Send buf=heap#2 count=1 dest=0 tag=$tag"; done
        post 0; post 1; both r0,r1 2 0,1
        post 0; post 1; both r1 1 1
        post 1; both r0 1 0; both r1 1 1
        echo MPI_Finalize
    } | "$BUILD_DIR/tests/decoder/script" - app.dir
    "$PROXYGEN" app.dir -o proxy.c
    [ "$(grep -c 'MPI_Waitsome(' proxy.c)" = 1 ]
}

# One rank that sends to itself: messages that its recording completes in some order are complete at
# once in its proxy.
at_once() {
    "$BUILD_DIR/tests/decoder/script" - app.dir
    "$PROXYGEN" --force app.dir -o proxy.c
    "$MPICC" -std=c11 -O1 -Wall -Wextra -Werror proxy.c -o proxy
    rm -rf again.dir
    record again.dir 1 ./proxy
    "$WEND" diff app.dir again.dir
    rm -rf app.dir
}
receive() { # NAME N
    printf 'MPI_Irecv buf=heap#0+%d count=1 source=0 ' $((4 * $2 % 16))
    printf 'tag=%d request=%s%d\n' "$2" "$1" "$2"
}
send() {
    printf 'MPI_Isend buf=heap#0+%d count=1 dest=0 ' $((16 + 4 * $2 % 16))
    printf 'tag=%d request=%s%d\n' "$2" "$1" "$2"
}
test_send() { printf 'MPI_Test request=s%d done=s%d -> flag=1\n' "$1" "$1"; }
testsome() {
    local done=$1
    printf 'MPI_Testsome incount=4 array_of_requests=r0,r1,r2,r3 done=r%s -> ' "${done//,/,r}"
    printf 'outcount=%d array_of_indices=%s\n' "$(tr , '\n' <<<"$done" | wc -l)" "$done"
}
four_messages() {
    printf 'ranks 1\nMPI_Init\n'
    for i in 0 1 2 3; do receive r $i; send s $i; done
}
finish() {
    printf 'MPI_Waitall count=%d array_of_requests=%s done=%s\nMPI_Finalize\n' "$1" "$2" "$2"
}

@test "a handler of two completions is not split by that of a third" {
    { # like a sweep that waits for two neighbours: messages behind tests, later with other tags
        four_messages
        testsome 0,2; test_send 0; test_send 2; send t 4; send t 6
        testsome 1; test_send 1; echo 'MPI_Test request=MPI_REQUEST_NULL -> flag=1'; send t 5
        testsome 3
        receive q 4; receive q 5; receive q 6
        finish 7 q4,q5,q6,t4,t5,t6,s3
    } | at_once
    grep -q 'if (++arrived\[0\] == 2) {' proxy.c
    [ "$(grep -c 'MPI_Testsome(' proxy.c)" = 1 ]
}

@test "completion handlers keep their order, also those that test" {
    { # the third one does not test
        four_messages
        testsome 0; test_send 0; send t 4
        testsome 1; test_send 1; send t 5
        testsome 2; send t 6
        testsome 3
        receive q 4; receive q 5; receive q 6
        finish 7 q4,q5,q6,t4,t5,t6,s3 | sed 's/count=7/count=8/; s/,s3/,s2,s3/g'
    } | at_once
    { # both test in the middle
        four_messages
        testsome 0; send t 4; test_send 0; send t 8
        testsome 1; send t 5; test_send 1; send t 9
        testsome 2; testsome 3
        for i in 4 5 8 9; do receive q $i; done
        finish 10 q4,q5,q8,q9,t4,t5,t8,t9,s2,s3
    } | at_once
    { # of three at once, the second and the third have calls, which only the order distinguishes
        four_messages
        testsome 0; test_send 0; send t 4
        testsome 1,2,3; send t 5; test_send 3; send t 6
        for i in 4 5 6; do receive q $i; done
        finish 8 q4,q5,q6,t4,t5,t6,s1,s2
    } | at_once
}

@test "receives that are posted again in pairs: one loop, whose handlers need two completions" {
    again() {
        local other=$(($1 + 2))
        test_send "$1"; test_send $other
        send s "$1"; send s $other
        receive r "$1"; receive r $other
    }
    {
        four_messages
        testsome 1; testsome 0,3; again 1; testsome 2; again 0; testsome 2,3; testsome 1; again 1
        testsome 0; again 0; testsome 0,1,2,3; again 0; again 1; testsome 3; testsome 1; again 1
        finish 8 r0,r1,r2,r3,s0,s1,s2,s3
    } | at_once
    [ "$(grep -c 'MPI_Testsome(' proxy.c)" = 1 ]
    [ "$(grep -c 'if (++arrived' proxy.c)" -ge 2 ]
    ! grep -q 'Completes in the recorded order' proxy.c || false
}

@test "handlers of pairs of completions, whichever completes first" {
    for kind in tests first late free waits any; do
        rm -rf ./*.dir proxy.c
        YIELD_DELAYS=4 record app.dir 4 "$PROGRAMS/pairs" $kind 4 >/dev/null || fail $kind || return
        make_proxy app.dir ./proxy || fail $kind || return
        for seed in 1 2; do
            YIELD_DELAYS=$seed record "again$seed.dir" 4 ./proxy || fail $kind || return
            "$WEND" diff app.dir "again$seed.dir" || fail $kind || return
        done
    done
}

@test "each function that waits, with requests that are posted again" {
    for function in waitany waitsome testany testsome waitall testall wait test; do
        rm -rf ./*.dir proxy.c
        completions "$function" nothing || fail "$function" || return
        case $function in *any | *some) [ "$(grep -c 'while (pending > 0)' proxy.c)" -ge 4 ] ||
            fail "$function: not a loop for each rank" || return ;; esac
    done
}

# bats test_tags=long
@test "loops whose bodies depend on who completed: replies, some calls, persistent requests, all" {
    for body in local reply start place; do
        for function in waitany testsome; do
            rm -rf ./*.dir proxy.c
            completions "$function" "$body" || fail "$function, $body" || return
            grep -q 'while (pending > 0)' proxy.c
            ! grep -q 'Completes in the recorded order' proxy.c || false
        done
    done
}

@test "loops whose bodies wait, or depend on each other, keep the recorded order and say so" {
    completions waitsome blocking
    grep -q 'Completes in the recorded order' proxy.c
    rm -rf ./*.dir proxy.c
    completions testany memory
}

@test "a request that takes no part in a loop any more is hidden from it" {
    record app.dir 4 "$EXAMPLES/particles" -n 20 -s 2 >/dev/null
    make_proxy app.dir ./proxy
    grep -q 'hide_completed' proxy.c
    for run in 1 2; do
        YIELD_DELAYS=$run record "again$run.dir" 4 ./proxy
        "$WEND" diff app.dir "again$run.dir"
    done
}

@test "wildcards stay where that is safe; --pin names every source" {
    record app.dir 4 "$EXAMPLES/masterworker" >/dev/null
    "$PROXYGEN" app.dir -o free.c
    grep -q 'MPI_Recv(.*MPI_ANY_SOURCE' free.c
    "$PROXYGEN" --pin app.dir -o pinned.c
    ! grep 'MPI_Recv(.*MPI_ANY_SOURCE' pinned.c || false
    grep -q 'pinned' pinned.c
    "$MPICC" "${PROXY_CFLAGS[@]}" pinned.c -o pinned
    mpi 4 ./pinned
}

# A value in a window told the sender to go on; the proxy does not wait for it.
@test "a wildcard is pinned if a later receive on its communicator names a source" {
    record app.dir 4 "$PROGRAMS/wildcards" content
    make_proxy app.dir ./proxy
    grep -q 'pinned.*another receive of this rank' proxy.c
    mpi 4 ./proxy
}

# One request cannot name two sources, and the phase that makes it does not tell when it is started.
@test "a persistent wildcard is pinned for each start" {
    record app.dir 4 "$PROGRAMS/wildcards" started
    make_proxy app.dir ./proxy
    grep -q 'pinned to the source that came for each start' proxy.c
    "$PROXYGEN" app.dir -o parts/
    make -s -C parts CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]}"
    for run in 1 2 3; do
        YIELD_DELAYS=$run record "again$run.dir" 4 ./proxy
        "$WEND" dump "again$run.dir" --rank 0 | grep -E 'MPI_(Wait|Recv)\(' |
            grep -o 'source=.*' >"order$run"
        "$WEND" dump app.dir --rank 0 | grep -E 'MPI_(Wait|Recv)\(' | grep -o 'source=.*' |
            diff - "order$run"
    done
    mpi 4 parts/proxy
}

@test "a master that probes any source keeps its wildcards: senders wait for their turn" {
    record_and_compile 5 masterworker -p -t 30
    grep -q 'MPI_Improbe(MPI_ANY_SOURCE' proxy.c
    grep -q 'wait_for_turn(0);' proxy.c
    for run in 1 2 3 4 5; do
        record "again$run.dir" 5 ./proxy
        "$WEND" diff app.dir "again$run.dir"
    done
}
