# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several hosts, which are namespaces of this machine (support/hosts.bash).
bats_require_minimum_version 1.5.0
load ../helpers
load ../support/hosts.bash
setup_file() { hosts_up 3 || export HOSTS_WHY; }
teardown_file() { hosts_down; }
setup() {
    [ -z "${HOSTS_WHY:-}" ] || skip "$HOSTS_WHY"
    in_scratch
}

# dies K N HOW: rank 1 of N ends so, with K ranks on each host; recorded in $DIR. Its calls are
# there, and those of the others up to where they waited.
dies() {
    hosts_mpi "$1" "$2" "$WEND" trace -o "${DIR:-a.dir}" "$PROGRAMS/dying" "$3" >out 2>&1 || true
}
is_whole() { # DIR N HOW: the recording that wend merge makes has all
    local rank
    "$WEND" merge -f "$1" >merged || return
    "$WEND" show "$1" | grep -q "rank 1: $3\$" || fail "$3:" "$(cat out merged)" || return
    for ((rank = 0; rank < $2; rank++)); do
        [ "$("$WEND" dump --rank $rank "$1" | grep -c MPI_Sendrecv)" = 50 ] ||
            fail "$3: rank $rank's calls are not all there" "$(cat out merged)" || return
    done
}

@test "hosts: they have names, clocks' identities and memory of their own, and reach each other" {
    [ "$(on_host 2 hostname)" = host2 ]
    [ "$(on_host 1 cat /proc/sys/kernel/random/boot_id)" != \
        "$(on_host 2 cat /proc/sys/kernel/random/boot_id)" ]
    on_host 1 touch /dev/shm/own
    ! on_host 2 ls /dev/shm/own 2>/dev/null || false
    hosts_mpi 1 3 hostname >out
    [ "$(sort out | xargs)" = "host1 host2 host3" ]
}

@test "hosts: a rank that ends on another host than rank 0, in each way: all hosts save" {
    for end in "SIGSEGV|signal SIGSEGV" "exit|exit 5" "SIGABRT|signal SIGABRT" \
        "abort|MPI_Abort 3" "fatal|error in MPI"; do
        rm -rf a.dir
        dies 1 3 "${end%|*}"
        is_whole a.dir 3 "${end#*|}"
        [ "$(grep -c '^wend: ' out)" = 1 ] || fail "${end%|*}: $(cat out)"
    done
}

@test "hosts: a rank that ends on rank 0's host: all hosts save" {
    dies 2 4 SIGSEGV
    is_whole a.dir 4 "signal SIGSEGV"
    # nor is rank 0 where the launcher runs
    rm -rf a.dir
    HOSTS_ORDER="3 1 2" dies 1 3 exit
    is_whole a.dir 3 "exit 5"
}

@test "hosts: a rank is killed: the others save" {
    dies 2 4 SIGKILL
    "$WEND" merge a.dir >merged
    for rank in 0 2 3; do
        "$WEND" dump --rank $rank a.dir | tail -n 1 | grep -q 'MPI_Barrier(.*) -> unfinished' ||
            fail "$(cat out merged)"
    done
    "$WEND" show a.dir | grep -q 'rank 1: nothing was saved$'
}

# gathered N: collects in all.dir what each host has in own/a.dir, once N ranks are there.
gathered() {
    local i tries
    for ((tries = 0; tries < 100; tries++)); do
        rm -rf all.dir
        mkdir all.dir
        for i in $(all_hosts); do
            ! on_host "$i" test -e own/a.dir || on_host "$i" cp -r own/a.dir/. all.dir/ || return
        done
        [ "$(cd all.dir/trace.parts && printf '%s\n' rank-* | sed 's/.[ab]$//' | sort -u | wc -l)" \
            = "$1" ] && return
        sleep 0.1
    done
    fail "not all ranks have saved: $(ls all.dir/trace.parts)"
}

@test "hosts: each has file systems of its own: each saves there, and wend merge takes them all" {
    hosts_private "$PWD/own"
    for end in "SIGSEGV|signal SIGSEGV" "exit|exit 5"; do
        DIR=own/a.dir dies 1 3 "${end%|*}"
        gathered 3
        is_whole all.dir 3 "${end#*|}"
        for i in 1 2 3; do on_host $i rm -rf own/a.dir; done
    done
    # The parts of an older run stay.
    on_host 2 mkdir -p own/a.dir/trace.parts
    on_host 2 cp "all.dir/trace.parts/run" own/a.dir/trace.parts/
    DIR=own/a.dir dies 1 3 exit
    for _ in {1..100}; do
        on_host 2 test -e own/a.dir-2/trace.parts/rank-1.b && break
        sleep 0.1
    done
    [ "$(on_host 2 ls own/a.dir/trace.parts)" = run ]
    on_host 2 test -e own/a.dir-2/trace.parts/rank-1.b
}

@test "hosts: containers on one machine are hosts, too" {
    export HOSTS_ONE_BOOT=1
    hosts_up 2
    dies 2 4 SIGSEGV
    hosts_down
    is_whole a.dir 4 "signal SIGSEGV"
}

# again K N RECORDING program…: a replay with noise, recorded in again.dir, has the same outcomes.
again() {
    rm -rf again.dir
    hosts_mpi "$1" "$2" "$WEND" replay --quiet --noise -o again.dir "${@:3}" >again.out || return
    diff <(sort app.out) <(sort again.out) || fail "another result" || return
    "$WEND" diff --outcomes "$3" again.dir
}

@test "hosts: a recording with times, and a replay of it with noise" {
    hosts_mpi 1 3 "$WEND" trace -q --noise --times=10% -o app.dir "$PROGRAMS/race" receive >app.out
    "$WEND" show app.dir >shown
    grep -qE '^ranks +3 on 3 hosts: host\[1-3\]$' shown || fail "$(cat shown)"
    grep -qE '^clocks +of all hosts are within [0-9.]+ [mun]s' shown || fail "$(cat shown)"
    again 1 3 app.dir "$PROGRAMS/race" receive
    "$WEND" export --csv=calls -o - app.dir | grep -q '^2,'
}

# steps: a program that makes ten Allreduces, and on rank 3 one more call with $DEPART, which never
# returns if it is "stuck".
steps() {
    cat >steps.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int v = 0, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const char *depart = rank == 3 ? getenv("DEPART") : NULL;
    if (depart && *depart == 's')
        MPI_Recv(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (depart)
        MPI_Barrier(MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g steps.c -o steps
    hosts_mpi 2 4 "$WEND" trace -q -o app.dir ./steps
}

@test "hosts: until stops all ranks, and they go on" {
    steps
    hosts_mpi 2 4 "$WEND" replay --until 3:7 app.dir ./steps >out 2>&1 &
    local job=$! i
    for ((i = 0; i < 600; i++)); do
        [ "$(grep -c ' is stopped .*goes on$' out)" != 4 ] || break
        [ -d /proc/$job ] || fail "$(cat out)"
        sleep 0.1
    done
    [ "$(grep -c 'on host1: gdb' out)" = 2 ] && [ "$(grep -c 'on host2: gdb' out)" = 2 ] ||
        fail "$(cat out)"
    local host pid
    for host in 1 2; do
        for pid in $(sed -n "s/.* on host$host: .*kill -CONT \([0-9]*\) goes on$/\1/p" out); do
            # it says so just before it stops
            for ((i = 0; i < 300; i++)); do
                ! on_host $host grep -q '^State:.*stopped' "/proc/$pid/status" || break
                sleep 0.1
            done
            on_host $host kill -CONT "$pid"
        done
    done
    wait $job || fail "$(cat out)"
}

@test "hosts: a replay that departs on one host ends on all, or all go on freely" {
    steps
    export DEPART=1
    hosts_mpi 2 4 "$WEND" replay app.dir ./steps >out 2>&1 && fail "it did not depart"
    grep -q 'rank 3, thread 0, call 12: the recording has MPI_Finalize.*calls MPI_Barrier' out ||
        fail "$(cat out)"
    ! grep -q HANG out || fail "$(cat out)"
    hosts_mpi 2 4 "$WEND" replay --on-divergence free app.dir ./steps >out 2>&1 || fail "$(cat out)"
}

@test "hosts: a replay without progress ends, and says what a rank of another host waits for" {
    steps
    local seconds
    seconds=$(patience 1)
    DEPART=stuck hosts_mpi 2 4 "$WEND" replay --patience "$seconds" --on-divergence free app.dir \
        ./steps >out 2>&1 && fail "it ended: $(cat out)"
    ! grep -q HANG out || fail "$(cat out)"
    grep -q "makes no progress for $seconds s" out || fail "$(cat out)"
    grep -qF 'rank 3 waits in MPI_Recv(source=0, tag=9)' out || fail "$(cat out)"
}

@test "hosts: a host vanishes: the others save when their launcher ends them" {
    hosts_up 2
    hosts_mpi 2 4 "$WEND" trace -q -o a.dir "$PROGRAMS/dying" ever >out 2>&1 &
    local job=$! i
    for ((i = 0; i < 600; i++)); do
        [ ! -s progress-0 ] || [ ! -s progress-3 ] || break
        sleep 0.1
    done
    hosts_link 2 down
    on_host 1 sh -c 'kill -TERM $(pgrep -x "mpiexec.*|mpirun.*|orterun" | head -n 1)'
    for ((i = 0; i < 300; i++)); do # until ranks 0 and 1 have saved
        "$WEND" merge -f a.dir >merged 2>&1 &&
            [ -n "$("$WEND" dump --rank 0 a.dir | head -n 1)" ] &&
            [ -n "$("$WEND" dump --rank 1 a.dir | head -n 1)" ] && break
        sleep 0.2
    done
    [ "$i" -lt 300 ] || fail "$(cat merged out)"
    hosts_down
    wait $job || true
}

# bats test_tags=long
@test "hosts: values, shards, several programs, a proxy with files, checkpoints" {
    hosts_mpi 1 3 "$WEND" trace -q --values --noise -o app.dir "$PROGRAMS/race" receive >app.out
    again 1 3 app.dir "$PROGRAMS/race" receive
    rm -rf app.dir
    hosts_mpi 2 6 "$WEND" trace -q --shard-ranks 2 -o app.dir "$PROGRAMS/irregular" >app.out
    "$WEND" show --json app.dir | grep -q '"shards":"0;1;2;3;4;5"'
    again 2 6 app.dir "$PROGRAMS/irregular"
    cp "$EXAMPLES/ring" other
    hosts_launch 1 -n 1 "$WEND" trace -q -o several.dir "$EXAMPLES/ring" : \
        -n 2 "$WEND" trace -q -o several.dir ./other
    mpi 3 "$WEND" trace -q -o ring.dir "$EXAMPLES/ring"
    "$WEND" diff ring.dir several.dir
    hosts_mpi 1 3 "$WEND" trace -q -o files.dir "$EXAMPLES/fileio"
    make_proxy files.dir ./proxy
    hosts_mpi 1 3 "$WEND" trace -q -o proxy.dir ./proxy
    "$WEND" diff files.dir proxy.dir
    hosts_mpi 1 3 "$WEND" trace -q --checkpoint 1 -o a.dir "$PROGRAMS/dying" SIGKILL 3 \
        >out 2>&1 || true
    "$WEND" merge a.dir >merged
    [ "$("$WEND" dump --rank 1 a.dir | grep -c MPI_Sendrecv)" = 50 ] || fail "$(cat merged)"
}

# bats test_tags=long
@test "hosts: processes that the application starts on another host are recorded" {
    library_is openmpi || skip "MPICH has no working MPI_Comm_spawn here"
    cat >spawns.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Comm parent, other;
    int v = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    else
        other = parent;
    MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, other);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" spawns.c -o spawns
    hosts_mpi 2 3 "$WEND" trace -q -o app.dir ./spawns
    "$WEND" show app.dir >shown
    [ "$(cd app.dir && echo *.zst | wc -w)" = 2 ] || fail "$(ls app.dir; cat shown)"
}

# bats test_tags=long
@test "hosts: slow connections: a recording with times, a replay, and a run that dies" {
    hosts_slow 20ms 2>/dev/null || skip "the kernel has no netem"
    hosts_mpi 1 3 "$WEND" trace -q --noise --times=10% -o app.dir "$PROGRAMS/race" receive >app.out
    again 1 3 app.dir "$PROGRAMS/race" receive
    dies 1 3 SIGSEGV
    is_whole a.dir 3 "signal SIGSEGV"
    hosts_slow ""
}
