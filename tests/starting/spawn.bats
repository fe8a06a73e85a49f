#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Dynamic processes: worlds that MPI starts, and worlds that meet.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
    in_scratch
    timeout -k 5 60 "${LAUNCH[@]}" -n 1 "$PROGRAMS/spawn" probe >probe.out 2>&1 ||
        skip "the MPI library cannot start processes (MPI_Comm_spawn fails: $(tail -n 1 probe.out))"
}

FIVE_WORLDS="trace.tar.zst world-0.1.tar.zst world-0.2.tar.zst world-1.1.tar.zst world-1.2.tar.zst"
worlds() { # DIR: the archives in it
    (cd "$1" && echo *)
}

calls() { # DIR WORLD FUNCTION: of all ranks of that world
    "$WEND" dump --world "$2" -f "$3" "$1" | grep -c "$3("
}

@test "processes that are started are recorded as a world of their own" {
    same_lines 3 "$PROGRAMS/spawn" world
    [ "$(worlds app.dir)" = "trace.tar.zst world-0.1.tar.zst" ]
    [ "$(calls app.dir 0 MPI_Comm_spawn)" = 3 ]
    [ "$(calls app.dir 1 MPI_Sendrecv)" = 20 ]
    "$WEND" show app.dir | grep -q "^  *1: ranks 3-4,.*spawn talks"
}

@test "a world is named by the rank that started it and by how many it started before" {
    record app.dir 2 "$PROGRAMS/spawn" self
    [ "$(worlds app.dir)" = "$FIVE_WORLDS" ]
    record again.dir 2 "$PROGRAMS/spawn" again
    [ "$(worlds again.dir)" = "trace.tar.zst world-0.1-0.1.tar.zst world-0.1.tar.zst" ]
    # The one that started the other comes first.
    [ "$(calls again.dir 1 MPI_Comm_spawn)" = 1 ]
    run -0 "$WEND" diff app.dir app.dir
    [[ $output == "equal: 5 worlds, 8 ranks, "* ]]
}

@test "several programs in one world; worlds that connect, merge, and outlive their parents" {
    for mode in multiple merge early ports halves doors join various refused; do
        same_lines 2 "$PROGRAMS/spawn" "$mode" || { echo "mode $mode"; return 1; }
        "$WEND" dump app.dir >dumped
        rm -r app.dir
    done
}

@test "a proxy starts itself for the worlds that the application started" {
    for mode in world self multiple again merge early connected windows functions ports halves \
        doors join various refused; do
        roundtrip 2 "$PROGRAMS/spawn" "$mode" || { echo "mode $mode"; return 1; }
        [ "$(worlds app.dir)" = "$(worlds proxy.dir)" ]
        rm -r app.dir proxy.dir proxy.c proxy
    done
}

@test "started processes without Wend do not count as missing ranks" {
    same_lines 2 "$PROGRAMS/spawn" bare
    [ "$(worlds app.dir)" = trace.tar.zst ]
    [ "$(calls app.dir 0 MPI_Finalize)" = 2 ]
    # A world that is not recorded is not in the proxy, and neither are calls that need it.
    make_proxy app.dir ./proxy
    record proxy.dir 2 ./proxy
    [ "$(calls proxy.dir 0 MPI_Sendrecv)" = "$(calls app.dir 0 MPI_Sendrecv)" ]
    [ "$("$WEND" dump -f MPI_Barrier proxy.dir | grep -c MPI_Barrier)" = 0 ]
}

@test "paths that are longer than what the MPI library passes on" {
    local long
    long=$PWD/$(printf 'l%.0s' {1..200})
    mkdir "$long"
    cp "$YIELD" "$long/yield.so"
    LD_PRELOAD=$long/yield.so mpi 2 "$WEND" trace -q -o "$long/app.dir" "$PROGRAMS/spawn" self \
        >out 2>err
    [ ! -s err ]
    [ "$(worlds "$long/app.dir")" = "$FIVE_WORLDS" ]
}

# No version of Wend has this setting; it is passed on all the same.
@test "a program of the current folder, by an empty element of PATH; settings with long names" {
    local setting
    setting=WEND_$(printf 'X%.0s' {1..100})
    printf '#!/bin/sh\n[ "$1" != talks ] || env >"environment.$$"\nexec "%s" "$@"\n' \
        "$PROGRAMS/spawn" >here
    chmod +x here
    PATH=:$PATH record app.dir 2 bash -c "$setting=long exec -a here '$PROGRAMS/spawn' world"
    [ "$(worlds app.dir)" = "trace.tar.zst world-0.1.tar.zst" ]
    [ "$(grep -lx "$setting=long" environment.* | wc -l)" = 2 ]
}

@test "a proxy of several worlds in several files" {
    record app.dir 2 "$PROGRAMS/spawn" ports
    "$PROXYGEN" app.dir -o several/
    make -C several CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O1" >made 2>&1
    record proxy.dir 2 several/proxy
    "$WEND" diff app.dir proxy.dir
    # The directory that the worlds shared is removed.
    mkdir scratch
    WEND_PROXY_DIR=$PWD/scratch mpi 2 several/proxy
    [ "$(ls scratch)" = "" ]
}

@test "two jobs that meet at a port, and their proxies" {
    library_is openmpi && skip "Open MPI's jobs meet with the help of a server that is not there"
    record served.dir 2 "$PROGRAMS/spawn" serve port &
    record visit.dir 2 "$PROGRAMS/spawn" visit port
    wait $!
    [ "$(calls served.dir 0 MPI_Comm_accept)" = 2 ]
    make_proxy served.dir ./server
    make_proxy visit.dir ./visitor
    mkdir meeting
    export WEND_PROXY_DIR=$PWD/meeting
    record served2.dir 2 ./server &
    record visit2.dir 2 ./visitor
    wait $!
    "$WEND" diff served.dir served2.dir
    "$WEND" diff visit.dir visit2.dir
    [ "$(ls meeting)" = "" ]
    # A proxy that would wait for ever reports it.
    unset WEND_PROXY_DIR
    run mpi 2 ./visitor
    [[ $output == *"another job opened the port"* ]]
}

@test "diff compares the worlds that were started" {
    record a 2 "$PROGRAMS/spawn" multiple
    record b 2 "$PROGRAMS/spawn" multiple
    "$WEND" diff a b
    record c 2 "$PROGRAMS/spawn" self
    run -1 "$WEND" diff a c
    rm b/world-0.1.tar.zst
    run -1 "$WEND" diff a b
    [[ $output == *"a has 2 worlds, b has 1"* ]]
}

@test "wend trace before the launcher" {
    LD_PRELOAD=$YIELD timeout -k 5 60 "$WEND" trace -q -o app.dir "${LAUNCH[@]}" -n 2 \
        "$PROGRAMS/spawn" world
    [ "$(worlds app.dir)" = "trace.tar.zst world-0.1.tar.zst" ]
}

@test "the worlds of a job without -o are in one recording" {
    mpi 2 "$WEND" trace -q "$PROGRAMS/spawn" self
    [ "$(echo wend-spawn-*)" = "$(echo wend-spawn-*-*)" ]
    [ "$(worlds wend-spawn-*)" = "$FIVE_WORLDS" ]
}

@test "a started process that dies leaves both worlds to be merged" {
    ! record app.dir 2 "$PROGRAMS/spawn" dies >out 2>err || false
    "$WEND" merge app.dir >merged
    [ "$("$WEND" dump --world 1 -f MPI_Send app.dir | grep -c MPI_Send)" = 2 ]
    "$WEND" show app.dir | grep -q "SIGSEGV"
}

# The tags of the messages say who sent and who received them (across.c, across.py).
@test "communicators of several worlds have one number, and their members are known" {
    command -v python3 >/dev/null || skip "no python3"
    local mode
    for mode in single multiple leaders turns again together ports; do
        record app.dir 2 "$PROGRAMS/across" "$mode"
        python3 "$SOURCE_DIR/tests/starting/across.py" "$WEND" app.dir >counts ||
            fail "mode $mode" "$(cat counts)"
        "$WEND" show --matrix --csv app.dir >matrix
        ! grep ',,' matrix || false
        rm -r app.dir
    done
}

@test "a proxy makes communicators of several worlds, with the same members" {
    command -v python3 >/dev/null || skip "no python3"
    local mode
    for mode in single leaders together ports; do
        roundtrip 2 "$PROGRAMS/across" "$mode" || fail "mode $mode"
        python3 "$SOURCE_DIR/tests/starting/across.py" "$WEND" proxy.dir >counts ||
            fail "mode $mode" "$(cat counts)"
        rm -r app.dir proxy.dir proxy.c proxy
    done
}
