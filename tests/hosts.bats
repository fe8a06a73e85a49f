# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several hosts, which are namespaces of this machine (support/hosts.bash).
bats_require_minimum_version 1.5.0
load helpers
load support/hosts.bash
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
