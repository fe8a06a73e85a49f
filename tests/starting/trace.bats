# SPDX-License-Identifier: BSD-3-Clause
# wend trace itself: what it passes to the program, where its own options end, and which process
# reports errors.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }

# environment OPTION…: prints the environment of a program under wend trace with these options.
environment() { timeout 20 "$WEND" trace "$@" sh -c 'env' 2>/dev/null; }

@test "options become variables" {
    environment >none
    ! grep -q '^WEND_OUTPUT\|^WEND_FORCE\|^WEND_QUIET\|^WEND_TRACING' none || false
    environment -o some/where --force --quiet --off >all
    grep -qx "WEND_OUTPUT=$PWD/some/where" all
    grep -qx 'WEND_FORCE=ON' all
    grep -qx 'WEND_QUIET=ON' all
    grep -qx 'WEND_TRACING=OFF' all
}

@test "variables stay, options come before them" {
    export WEND_OUTPUT=$PWD/a WEND_QUIET=yes
    environment >inherited
    grep -qx "WEND_OUTPUT=$PWD/a" inherited
    grep -qx 'WEND_QUIET=yes' inherited
    environment --output="$PWD/b" >given
    grep -qx "WEND_OUTPUT=$PWD/b" given
}

@test "an invalid variable is refused" {
    WEND_FORCE=perhaps run timeout 20 "$WEND" trace true
    [ "$status" = 2 ]
    [[ "$output" == *WEND_FORCE=perhaps* ]]
}

@test "each option has its variable in the help" {
    "$WEND" trace --help >help
    for option in output force quiet off; do grep -q -- "--$option" help; done
    for variable in OUTPUT FORCE QUIET TRACING; do grep -q "\[WEND_$variable\]" help; done
    grep -q 'Exit status' help
}

@test "the library is preloaded first, and once" {
    LD_PRELOAD=$YIELD environment >out
    grep -qx "LD_PRELOAD=[^:]*/libwend.so:$YIELD" out
    timeout 20 "$WEND" trace "$WEND" trace sh -c 'echo "$LD_PRELOAD"' >twice 2>/dev/null
    [ "$(grep -o libwend.so twice | wc -l)" = 1 ]
}

@test "options end at the program" {
    run timeout 20 "$WEND" trace echo --quiet -o x --help
    [ "${lines[0]}" = "--quiet -o x --help" ]
    run timeout 20 "$WEND" trace -- echo -- a
    [ "${lines[0]}" = "-- a" ]
    run timeout 20 "$WEND" trace --quiet -- -nosuch
    [ "$status" = 4 ]
    [[ "$output" == *-nosuch* ]]
}

@test "a program on PATH, and one that PATH does not have" {
    mkdir bin
    printf '#!/bin/sh\necho found "$@"\n' >bin/tool
    chmod +x bin/tool
    : >bin/plain
    PATH=$PWD/bin:$PATH run timeout 20 "$WEND" trace tool 1
    [ "${lines[0]}" = "found 1" ]
    PATH=$PWD/bin:$PATH run timeout 20 "$WEND" trace plain
    [ "$status" = 4 ]
    run timeout 20 "$WEND" trace tool 1
    [ "$status" = 4 ]
    [ "${#lines[@]}" = 1 ]
}

@test "a script without an interpreter line runs as exec runs it" {
    echo 'echo as ever' >script
    chmod +x script
    run timeout 20 "$WEND" trace ./script
    [ "${lines[0]}" = "as ever" ]
}

@test "only one of several ranks reports an error" {
    for rank in 0 1 2; do
        status=0
        PMI_RANK=$rank timeout 20 "$WEND" trace ./nosuch 2>>err || status=$?
        [ "$status" = 4 ]
    done
    [ "$(wc -l <err)" = 1 ]
    mkdir a.dir
    : >a.dir/trace.tar.zst
    for rank in 2 1 0; do
        status=0
        OMPI_COMM_WORLD_RANK=$rank timeout 20 "$WEND" trace -o a.dir true 2>>err || status=$?
        [ "$status" = 3 ]
    done
    [ "$(wc -l <err)" = 2 ]
}

@test "a program without MPI: one line, none from its children" {
    run --separate-stderr timeout 20 "$WEND" trace ls -d .
    [ "$status" = 0 ]
    [ "$output" = . ]
    [ "$(grep -c . <<<"$stderr")" = 1 ]
    [[ "$stderr" == *ls*MPI*nothing\ was\ recorded* ]]
    run --separate-stderr timeout 20 "$WEND" trace -o a.dir sh -c 'ls -d .; ls -d .; true'
    [ "$(grep -c . <<<"$stderr")" = 1 ]
    [[ "$stderr" == *sh*nothing\ was\ recorded* ]]
    run --separate-stderr mpi 3 "$WEND" trace true
    [ "$(grep -c . <<<"$stderr")" = 1 ]
}

@test "a script around an MPI program: no line about the script" {
    run --separate-stderr mpi 1 "$WEND" trace -o a.dir sh -c '"$0"; true' "$PROGRAMS/hello"
    [ "$(grep -c wend <<<"$stderr")" = 1 ]
    [[ "$stderr" == *a.dir* ]]
    [[ "$stderr" != *"nothing was"* ]]
}

@test "a program for which the loader ignores LD_PRELOAD is refused" {
    [ "$(id -u)" != 0 ] || skip "root gains nothing by a setuid program of root's"
    for file in /usr/bin/su /bin/su /usr/bin/passwd; do
        [ -u $file ] || continue
        run timeout 20 "$WEND" trace $file --help
        [ "$status" = 3 ]
        [[ "$output" == *"cannot be traced"* ]]
        return
    done
    skip "no setuid program here"
}

@test "another user's setuid program is refused" {
    [ "$(id -u)" = 0 ] || skip "needs root to make one"
    cp "$(type -P true)" ./other
    chown 1 other
    chmod u+s other
    run timeout 20 "$WEND" trace ./other
    [ "$status" = 3 ]
    [[ "$output" == *"cannot be traced"* ]]
    [ "${#lines[@]}" = 1 ]
}

@test "a program for another processor is refused" {
    cp "$(type -P true)" ./alien
    printf '\xf3\x00' | dd of=alien bs=1 seek=18 conv=notrunc 2>/dev/null # RISC-V
    run timeout 20 "$WEND" trace ./alien
    [ "$status" = 3 ]
    [[ "$output" == *processor* ]]
}

@test "a job with only some ranks traced is not disturbed, and one rank reports it" {
    for traced in 0 1; do
        jobs=("$PROGRAMS/hello" "$PROGRAMS/hello")
        command=()
        for i in 0 1; do
            [ $i = 0 ] || command+=(:)
            command+=(-n 2)
            [ $i = $traced ] && command+=("$WEND" trace -o a.dir)
            command+=("${jobs[$i]}")
        done
        timeout -k 5 "$TEST_TIMEOUT" "${LAUNCH[@]}" "${command[@]}" >out 2>err
        [ "$(cat out)" = "hello from 4 ranks: 6" ]
        [ "$(grep -c '^wend: ' err)" = 1 ]
        grep -q "^wend: rank $((2 - 2 * traced)) runs without wend trace: nothing was recorded" err
        [ ! -e a.dir ]
    done
}

@test "a wrapper script that traces one rank" {
    printf '%s\n' '#!/bin/sh' \
        "[ \"\$PMI_RANK\$OMPI_COMM_WORLD_RANK\" = 1 ] && exec \"$WEND\" trace -o a.dir \"\$@\"" \
        'exec "$@"' >wrapper
    chmod +x wrapper
    mpi 3 ./wrapper "$PROGRAMS/hello" >out 2>err
    [ "$(cat out)" = "hello from 3 ranks: 3" ]
    grep -q 'rank 0 runs without wend trace' err
}

@test "ranks that come late to MPI_Finalize are waited for, up to --wait" {
    record a.dir 3 "$PROGRAMS/hello" late
    "$WEND" dump a.dir --rank 2 | grep -q MPI_Allreduce
    record hidden.dir 3 "$PROGRAMS/hello" late hidden
    "$WEND" dump hidden.dir --rank 2 | grep -q MPI_Allreduce
    mpi 3 "$WEND" trace --wait 1 -o b.dir "$PROGRAMS/hello" late hidden >out 2>err
    grep -q 'hello from 3 ranks' out
    local late="not all ranks came to their end under wend trace within 1 s"
    [ "$(grep '^wend: ' err)" = "wend: $late; to make the recording: wend merge $PWD/b.dir" ]
    "$WEND" merge b.dir
    "$WEND" dump b.dir --rank 2 | grep -q MPI_Finalize
    run timeout 20 "$WEND" trace --wait soon "$PROGRAMS/hello"
    [ "$status" = 2 ]
    [[ "$output" == *"--wait=soon: not a number"* ]]
    WEND_WAIT=soon run timeout 20 "$WEND" trace --quiet "$PROGRAMS/hello"
    [ "$status" = 2 ]
    [[ "$output" == *"WEND_WAIT=soon: not a number"* ]]
}

@test "an installed tree works, also after it was moved" {
    make -C "$BUILD_DIR" -s install-exec DESTDIR="$PWD/root" >install.log 2>&1 ||
        { tail install.log; false; }
    wend=$(find root -name wend -type f)
    [ -x "$wend" ]
    unset LD_LIBRARY_PATH
    "$wend" --version | grep -q '^wend [0-9]'
    timeout 20 "$wend" trace sh -c 'echo $LD_PRELOAD' >out 2>/dev/null
    grep -q "^$PWD/root/.*/libwend.so$" out
    mv root elsewhere
    timeout 20 "$PWD/elsewhere${wend#root}" trace sh -c 'echo $LD_PRELOAD' >out 2>/dev/null
    grep -q "^$PWD/elsewhere/.*/libwend.so$" out
}

@test "wend: commands" {
    "$WEND" --help >help
    for command in trace show dump diff; do grep -q "wend $command" help; done
    run "$WEND"
    [ "$status" = 2 ]
    [ "${#lines[@]}" = 1 ]
    run "$WEND" nosuch
    [ "$status" = 2 ]
    [ "${#lines[@]}" = 1 ]
    [[ "$output" == *nosuch* ]]
}

@test "a world that another one started has its archive in the same directory" {
    record app.dir 2 "$PROGRAMS/hello" >/dev/null
    # Not every MPI library can start processes, so this process only appears to be started by one.
    cat >child.c <<'C'
#include <mpi.h>
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_SELF;
    return MPI_SUCCESS;
}
C
    "$MPICC" -shared -fPIC child.c -o child.so
    for n in 1 3; do
        LD_PRELOAD=$LIBWEND:$PWD/child.so WEND_OUTPUT=$PWD/app.dir WEND_QUIET=1 mpi $n \
            "$PROGRAMS/hello" >/dev/null
    done
    "$WEND" show app.dir >shown
    grep -q "^worlds  *0: ranks 0-1, " shown
    grep -q "^  *1: ranks 2-2, " shown
    grep -q "^  *2: ranks 3-5, " shown
    # A new recording of that name has no worlds of the old one.
    mpi 2 "$WEND" trace --force -q -o app.dir "$PROGRAMS/hello" >/dev/null
    [ "$(ls app.dir)" = trace.tar.zst ]
}

@test "show --ranks: the rank that the others wait for was in MPI_Barrier for the shortest time" {
    cat >late.c <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        if (rank == 2)
            usleep(30000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" late.c -o late
    record app.dir 4 ./late
    "$WEND" show --ranks --csv app.dir >ranks.csv
    [ "$(head -n 1 ranks.csv)" = "world,function,rank,ranks,seconds,of_run" ]
    [ "$(grep ',MPI_Barrier,' ranks.csv | sort -t, -gk 5 | head -n 1 | cut -d, -f 3)" = 2 ] ||
        fail "$(cat ranks.csv)" || return
    # The others waited for most of 0.3 s.
    [ "$(awk -F, '$2 == "MPI_Barrier" && $5 > 0.2' ranks.csv | wc -l)" = 3 ] ||
        fail "$(cat ranks.csv)" || return
    "$WEND" show --ranks --table app.dir >table
    grep -Eq '^MPI_Barrier +4 +[0-9.]+ .?s +2 ' table || fail "$(cat table)"
}
