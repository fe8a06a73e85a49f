# SPDX-License-Identifier: BSD-3-Clause
# However a program is started, and whatever other library comes before MPI: the recording is that
# of "mpirun wend trace".
bats_require_minimum_version 1.5.0
load ../helpers
setup_file() {
    export RIGHT=$BATS_FILE_TMPDIR/right.dir
    cd "$BATS_FILE_TMPDIR" && record "$RIGHT" 4 "$EXAMPLES/stencil2d"
}
setup() { in_scratch; }

TOOL=$BUILD_DIR/tests/support/tool.so

is_right() { # [DIR [OF]]: DIR is the recording of all ranks that it should be
    "$WEND" diff "${2:-$RIGHT}" "${1:-a.dir}"
}

build() { # FLAGS…: compiles ./stencil like the examples, and links it with FLAGS
    "$MPICC" -std=gnu11 -O2 -g -w "$SOURCE_DIR/examples/stencil2d.c" -o stencil "$@" -lm
}

# -- launchers --

is_mpich() { ! "$MPIEXEC" --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE\|PRRTE'; }

# The launcher's other names.
launchers() {
    local name folder suffix
    folder=$(dirname "$(type -P "$MPIEXEC")")
    suffix=$(sed -n 's/^[a-z.]*exec\(\.[a-z0-9]*\)*$/\1/p' <<<"${MPIEXEC##*/}")
    for name in mpirun mpiexec mpiexec.hydra orterun prterun; do
        for name in "$name$suffix" "$name"; do
            [ -x "$folder/$name" ] &&
                [ "$("$folder/$name" --version 2>&1)" = "$("$MPIEXEC" --version 2>&1)" ] &&
                echo "$folder/$name"
        done
    done | sort -u
}

@test "mpirun, mpiexec and whatever the launcher is called" {
    [ -n "$(launchers)" ]
    for launcher in $(launchers); do
        LAUNCH[0]=$launcher
        rm -rf a.dir
        record a.dir 4 "$EXAMPLES/stencil2d"
        is_right
    done
}

several() { # command… : command…, four ranks of two programs, within the time limit
    LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$YIELD" timeout -k 5 "$TEST_TIMEOUT" "${LAUNCH[@]}" \
        "$@" </dev/null
}

@test "one job of several programs" {
    cp "$EXAMPLES/stencil2d" other
    several -n 1 "$WEND" trace -q -o a.dir "$EXAMPLES/stencil2d" : -n 3 "$WEND" trace -q -o a.dir \
        ./other
    is_right
    several -n 3 "$WEND" trace -q -o b.dir env "$EXAMPLES/stencil2d" : -n 1 nice "$WEND" trace -q \
        -o b.dir ./other
    is_right b.dir
}

with_variables() { # NAME=VALUE… -- command…: four ranks with variables that the launcher sets
    local options=()
    while [ "$1" != -- ]; do
        if is_mpich; then options+=(-genv "${1%%=*}" "${1#*=}"); else options+=(-x "$1"); fi
        shift
    done
    shift
    timeout -k 5 "$TEST_TIMEOUT" "${LAUNCH[@]}" "${options[@]}" -n 4 "$@" </dev/null
}

@test "variables that the launcher sets" {
    with_variables WEND_OUTPUT="$PWD/a.dir" WEND_QUIET=1 LD_PRELOAD="$LIBWEND:$YIELD" \
        -- "$EXAMPLES/stencil2d" >out 2>err
    is_right
    [ ! -s err ]
    with_variables WEND_OUTPUT="$PWD/b.dir" -- "$WEND" trace -q "$EXAMPLES/stencil2d"
    is_right b.dir
    if is_mpich; then
        several -n 2 -env WEND_OUTPUT "$PWD/c.dir" -env LD_PRELOAD "$LIBWEND" \
            "$EXAMPLES/stencil2d" : -n 2 -env LD_PRELOAD "$LIBWEND" "$EXAMPLES/stencil2d"
        is_right c.dir
    fi
}

@test "wend trace in front of the launcher" {
    LD_PRELOAD=$YIELD timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -o a.dir "${LAUNCH[@]}" -n 4 \
        "$EXAMPLES/stencil2d" >out 2>err </dev/null
    [ "$(grep -c wend err)" = 1 ] || fail "$(cat err)"
    is_right
    run --separate-stderr timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -o b.dir "${LAUNCH[@]}" -n 2 \
        sh -c 'exit 3'
    [ "$status" = 3 ]
    [ ! -e b.dir ]
}

@test "several jobs under one wend trace: each has a recording" {
    cat >script <<'END'
#!/bin/sh
"$@" "$EXAMPLES/stencil2d"
"$@" "$EXAMPLES/ring"
END
    chmod +x script
    export EXAMPLES LD_PRELOAD=$YIELD
    timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -o a.dir ./script "${LAUNCH[@]}" -n 4 \
        >out 2>err </dev/null
    [ "$(grep -c '^wend: .*a.dir' err)" = 2 ] || fail "$(cat err)"
    is_right
    "$WEND" show a.dir-2 | grep -q ring
    # Neither is lost to a second run, and --force replaces both.
    run timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -o a.dir ./script "${LAUNCH[@]}" -n 4
    [ "$status" = 3 ]
    timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -f -q -o a.dir ./script "${LAUNCH[@]}" -n 4 \
        </dev/null
    is_right
    "$WEND" show a.dir-2 | grep -q ring
    [ "$(echo a.dir*)" = "a.dir a.dir-2" ]
    # The parts of a job that dies are there, too.
    sed -i 's|"$EXAMPLES/ring"|"$EXAMPLES/../tests/programs/dying" SIGTERM|' script
    timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -f -o a.dir ./script "${LAUNCH[@]}" -n 4 \
        >out 2>err </dev/null || true
    grep -q "^wend: rank 1: signal SIGTERM; to make the recording: wend merge $PWD/a.dir-2" err ||
        fail "$(cat err)"
    is_right
    "$WEND" merge --force a.dir-2
    [ "$("$WEND" dump --rank 1 a.dir-2 | grep -c MPI_Sendrecv)" = 50 ]
    "$WEND" dump --rank 3 a.dir-2 | tail -n 1 | grep -q 'MPI_Barrier(.*) -> unfinished'
}

@test "several jobs at the same time under one wend trace" {
    export LD_PRELOAD=$YIELD
    cat >script <<'END'
#!/bin/sh
for i in 1 2 3 4; do "$@" & done
wait
END
    chmod +x script
    timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -q -o a.dir ./script "${LAUNCH[@]}" -n 2 \
        "$PROGRAMS/hello" >out 2>err </dev/null
    [ "$(grep -c 'hello from 2 ranks: 1' out)" = 4 ] || fail "$(cat err)"
    [ "$(echo a.dir*)" = "a.dir a.dir-2 a.dir-3 a.dir-4" ]
    for dir in a.dir-*; do
        [ "$(ls "$dir")" = trace.tar.zst ]
        is_right "$dir" a.dir
    done
}

@test "a job finds a directory that another job has just made" {
    cat >slow.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t) = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
    if (strstr(path, "trace.parts"))
        sleep(1);
    return next(path, mode);
}
END
    gcc -shared -fPIC -o slow.so slow.c
    cat >script <<'END'
#!/bin/sh
LD_PRELOAD="$LD_PRELOAD ./slow.so" "$@" &
until [ -e a.dir/.wend ]; do sleep 0.01; done
"$@"
wait
END
    chmod +x script
    export LD_PRELOAD=$YIELD
    timeout -k 5 "$TEST_TIMEOUT" "$WEND" trace -q -o a.dir ./script "${LAUNCH[@]}" -n 2 \
        "$PROGRAMS/hello" >out 2>err </dev/null
    [ "$(grep -c 'hello from 2 ranks: 1' out)" = 2 ] || fail "$(cat err)"
    is_right a.dir a.dir-2
}

# -- batch systems: tasks have the named variables and those of the batch system --

slurm_task() { # makes ./task EXPORT command…
    cat >task <<'END'
#!/bin/bash
# A task as srun --export=EXPORT starts it. Its environment has the named variables and those that
# MPI needs to start; no PATH, no HOME.
export=$1
shift
rank=$PMI_RANK$OMPI_COMM_WORLD_RANK size=$PMI_SIZE$OMPI_COMM_WORLD_SIZE
variables=(SLURM_JOB_ID=42 SLURM_PROCID="$rank" SLURM_NTASKS="$size" SLURM_LOCALID="$rank")
while IFS= read -r -d '' variable; do
    case $variable in
    PMI* | HYD* | MPI_LOCAL* | MPIR_* | OMPI_* | ORTE_* | OPAL_* | PRTE_* | UCX_*)
        variables+=("$variable") ;;
    esac
    [[ $export != ALL* ]] || variables+=("$variable")
done < <(env -0)
IFS=,
for variable in $export; do
    [[ $variable != *=* ]] || variables+=("$variable")
done
exec env -i "${variables[@]}" "$@"
END
    chmod +x task
}

@test "srun wend trace" {
    slurm_task
    mpi 4 ./task NONE "$WEND" trace -o a.dir "$EXAMPLES/stencil2d" >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right
    mpi 4 ./task ALL "$WEND" trace -q -o b.dir "$EXAMPLES/stencil2d"
    is_right b.dir
    mpi 4 ./task NONE "$WEND" trace -q "$EXAMPLES/stencil2d"
    is_right "$(echo wend-stencil2d-42-*)"
}

@test "srun --export=LD_PRELOAD=libwend.so" {
    slurm_task
    mpi 4 ./task NONE,LD_PRELOAD="$LIBWEND",WEND_OUTPUT="$PWD/a.dir" "$EXAMPLES/stencil2d" \
        >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right
    mpi 4 ./task ALL,LD_PRELOAD="$LIBWEND",WEND_QUIET=1 "$EXAMPLES/stencil2d"
    is_right "$(echo wend-stencil2d-42-*)"
    # A run that dies: the ranks find each other.
    mpi 3 ./task NONE,LD_PRELOAD="$LIBWEND",WEND_OUTPUT="$PWD/b.dir" "$PROGRAMS/dying" SIGTERM \
        >out 2>err || true
    "$WEND" merge b.dir
    [ "$("$WEND" dump --rank 1 b.dir | grep -c MPI_Sendrecv)" = 50 ]
    "$WEND" dump --rank 2 b.dir | tail -n 1 | grep -q 'MPI_Barrier(.*) -> unfinished'
}

@test "each launcher's variable tells which process prints" {
    for variable in PMI_RANK PMIX_RANK OMPI_COMM_WORLD_RANK MV2_COMM_WORLD_RANK PALS_RANKID \
        ALPS_APP_PE JSM_NAMESPACE_RANK FLUX_TASK_RANK SLURM_PROCID; do
        for rank in 0 3; do
            run --separate-stderr timeout 20 env $variable=$rank "$WEND" trace ./nosuch
            [ "$status" = 4 ]
            [ "$(grep -c . <<<"$stderr")" = $((rank == 0)) ] || fail "$variable=$rank: $stderr"
            run --separate-stderr timeout 20 env $variable=$rank "$WEND" trace true
            [ "$(grep -c . <<<"$stderr")" = $((rank == 0)) ] || fail "$variable=$rank: $stderr"
        done
    done
}

# -- LD_PRELOAD by hand --

@test "LD_PRELOAD for the launcher too, and by a path from here" {
    WEND_OUTPUT=$PWD/a.dir LD_PRELOAD=$LIBWEND mpi 4 "$EXAMPLES/stencil2d"
    is_right
    ln -s "$LIBWEND" libwend.so
    WEND_OUTPUT=b.dir LD_PRELOAD=./libwend.so mpi 4 "$EXAMPLES/stencil2d" >out 2>err
    is_right b.dir
    # The path holds for a program that changes its folder: the recording is where it started.
    mkdir elsewhere
    cat >moves.c <<'END'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rc = chdir("elsewhere");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rc;
}
END
    "$MPICC" -w moves.c -o moves
    WEND_OUTPUT=c.dir LD_PRELOAD=./libwend.so mpi 2 ./moves >out 2>err
    [ "$("$WEND" dump c.dir | grep -c MPI_Barrier)" = 2 ] || fail "$(cat err)"
    [ -z "$(ls elsewhere)" ]
}

@test "LD_PRELOAD with all settings by variables" {
    WEND_OUTPUT=a.dir LD_PRELOAD=$LIBWEND mpi 2 "$PROGRAMS/hello" >out 2>err
    WEND_OUTPUT=a.dir WEND_FORCE=ON WEND_QUIET=ON LD_PRELOAD=$LIBWEND mpi 4 "$EXAMPLES/stencil2d" \
        >out 2>err
    ! grep -q wend err || fail "$(cat err)"
    is_right
    WEND_OUTPUT=b.dir WEND_TRACING=OFF LD_PRELOAD=$LIBWEND mpi 4 "$EXAMPLES/stencil2d" >out 2>err
    ! "$WEND" dump b.dir | grep -q MPI_Isend || false
}

# -- scripts and other programs between the launcher and the application --

@test "shell and Python scripts, env, nice and timeout before the program, and behind wend trace" {
    printf '#!/bin/sh\nexec "$@"\n' >execs.sh
    printf '#!/bin/sh\n"$@"\nstatus=$?\nls / >/dev/null\nexit $status\n' >runs.sh
    printf '%s\n' "#!$(type -P python3)" 'import subprocess, sys' \
        'sys.exit(subprocess.run(sys.argv[1:], close_fds=False).returncode)' >runs.py
    printf '#!%s\nimport os, sys\nos.execvp(sys.argv[1], sys.argv[1:])\n' "$(type -P python3)" \
        >execs.py
    chmod +x ./*.sh ./*.py
    i=0
    for between in ./execs.sh ./runs.sh ./execs.py ./runs.py "env A=B" "nice -n 1" "timeout 60" \
        "setsid -w" "./runs.py ./runs.sh env nice"; do
        type -P "${between%% *}" >/dev/null || continue
        # shellcheck disable=SC2086
        mpi 4 "$WEND" trace -o $((++i)).dir $between "$EXAMPLES/stencil2d" >out 2>err ||
            fail "$between: $(cat err)"
        [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$between: $(cat err)"
        is_right $i.dir || fail "$between"
        # shellcheck disable=SC2086
        mpi 4 $between "$WEND" trace -q -o $((++i)).dir "$EXAMPLES/stencil2d" ||
            fail "$between before wend"
        is_right $i.dir || fail "$between before wend"
    done
    [ $i -ge 12 ]
}

@test "programs that exec, before MPI and after it, and that start others in between" {
    record right.dir 4 "$PROGRAMS/processes"
    for what in exec-first exec-last children; do
        mpi 4 "$WEND" trace -o $what.dir "$PROGRAMS/processes" $what >out 2>err
        [ "$(cat out)" = "done" ] || fail "$what: $(cat out)"
        [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$what: $(cat err)"
        is_right $what.dir right.dir || fail "$what"
        [ "$(ls $what.dir)" = trace.tar.zst ]
    done
    WEND_OUTPUT=a.dir LD_PRELOAD=$LIBWEND mpi 4 "$PROGRAMS/processes" children >out 2>err
    is_right a.dir right.dir
}

# -- linked --

@test "linked with -lwend from an installed tree: C, C++ and Fortran" {
    make -C "$BUILD_DIR" -s install-exec install-data DESTDIR="$PWD/root" >install.log 2>&1 ||
        { tail install.log; false; }
    lib=$(dirname "$(find root -name libwend.so)")
    link=(-L"$PWD/$lib" -lwend -Wl,-rpath,"$PWD/$lib")
    build "${link[@]}"
    WEND_OUTPUT=a.dir mpi 4 ./stencil >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right
    # The linker may drop libraries without references; the MPI library stays.
    build -Wl,--as-needed "${link[@]}"
    WEND_OUTPUT=b.dir mpi 4 ./stencil
    is_right b.dir
    mpi 4 "$WEND" trace -q -o c.dir ./stencil
    is_right c.dir
    if cxx=$(compiler_beside mpicxx); then
        echo '#include <mpi.h>
            struct Mpi { Mpi(int *c, char ***v) { MPI_Init(c, v); } ~Mpi() { MPI_Finalize(); } };
            int main(int argc, char **argv)
            {
                Mpi mpi(&argc, &argv);
                MPI_Barrier(MPI_COMM_WORLD);
            }' >app.cc
        "$cxx" app.cc -o app-cc "${link[@]}"
        WEND_OUTPUT=cc.dir mpi 4 ./app-cc
        [ "$("$WEND" dump cc.dir | grep -c MPI_Barrier)" = 4 ]
    fi
    if [ -x "$EXAMPLES/stencil" ]; then
        # shellcheck disable=SC2086
        "$MPIFORT" -O2 -g -w "$SOURCE_DIR/examples/stencil.f90" -o stencil-f "${link[@]}" \
            $MPIFORT_LDFLAGS
        record f-right.dir 4 "$EXAMPLES/stencil"
        WEND_OUTPUT=f.dir mpi 4 ./stencil-f
        is_right f.dir f-right.dir
    fi
    # And by pkg-config.
    export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$PWD/root
    PKG_CONFIG_PATH=$(dirname "$(find "$PWD/root" -name 'wend-[mo]p*.pc')")
    # shellcheck disable=SC2046
    build -Wl,--as-needed $(pkg-config --libs "$(basename "$PKG_CONFIG_PATH"/wend-[mo]p*.pc .pc)") \
        -Wl,-rpath,"$PWD/$lib"
    WEND_OUTPUT=pc.dir mpi 4 ./stencil
    is_right pc.dir
}
compiler_beside() {
    local found=${MPICC/%mpicc*/$1${MPICC##*mpicc}}
    type -P "$found"
}

@test "-lwend behind the MPI library is reported in one line" {
    local libraries
    libraries=$("$MPICC" -show 2>/dev/null | grep -o -- '-lmpi[a-z]*' || echo -lmpi)
    "$MPICC" -w "$SOURCE_DIR/tests/programs/hello.c" -o hello $libraries \
        -Wl,--no-as-needed -L"${LIBWEND%/*}" -lwend -Wl,-rpath,"${LIBWEND%/*}"
    mpi 2 ./hello >out 2>err
    [ "$(cat out)" = "hello from 2 ranks: 1" ]
    local why="hello started MPI past libwend.so, which does not come before the MPI library"
    [ "$(grep '^wend: ' err)" = "wend: $why: nothing was recorded" ] || fail "$(cat err)"
}

# -- static --

static_mpi() { # makes a program that contains an MPI library of two functions
    cat >static.c <<'END'
#include <stdio.h>
int PMPI_Init(int *argc, char ***argv) { return argc == (void *)argv; }
int PMPI_Finalize(void) { return 0; }
int MPI_Init(int *, char ***) __attribute__((weak, alias("PMPI_Init")));
int MPI_Finalize(void) __attribute__((weak, alias("PMPI_Finalize")));
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts("as ever");
    return MPI_Finalize();
}
END
    gcc static.c -o static "$@"
}

@test "MPI linked statically: refused, or reported at the end" {
    static_mpi
    run timeout 20 "$WEND" trace -o a.dir ./static
    [ "$status" = 3 ]
    local why="./static has the MPI library linked into it statically: it cannot be traced"
    [ "$output" = "wend trace: $why" ]
    said="wend: static has the MPI library linked into it statically: nothing was recorded"
    run --separate-stderr mpi 2 env LD_PRELOAD="$LIBWEND" WEND_OUTPUT="$PWD/a.dir" ./static
    [ "$status" = 0 ]
    [ "$output" = $'as ever\nas ever' ]
    [ "$(grep '^wend: ' <<<"$stderr")" = "$said" ] || fail "$stderr"
    run --separate-stderr timeout 20 "$WEND" trace sh -c './static; true'
    [ "$(grep '^wend: ' <<<"$stderr")" = "$said" ] || fail "$stderr"
    [ ! -e a.dir ]
    # Without symbols that cannot be seen.
    strip static
    run --separate-stderr timeout 20 "$WEND" trace ./static
    [ "$output" = "as ever" ]
    [[ "$stderr" == "wend: static did not start MPI: nothing was recorded" ]]
}

@test "a static program is refused" {
    static_mpi -static
    run timeout 20 "$WEND" trace -o a.dir ./static
    [ "$status" = 3 ]
    [ "$output" = "wend trace: ./static is statically linked: it cannot be traced" ]
}

# -- two tools at once --

counted() { # of the tool, in FILE
    sed -n 's/^tool: \(.*\) calls$/\1/p' "$1"
}

# The tool has the same counts with and without Wend.
tool_alone() { # PROGRAM [LD_PRELOAD]
    LD_PRELOAD=$2 mpi 4 "$1" >alone.out
    [ "$(counted alone.out)" -gt 100 ]
}
both_work() {
    cmp alone.out out && [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat out err)"
}

@test "a tool behind Wend, preloaded: both see each call, but not each other's own calls" {
    for TOOL_TALKS in '' 1; do
        [ -z "$TOOL_TALKS" ] || export TOOL_TALKS
        tool_alone "$EXAMPLES/stencil2d" "$TOOL"
        LD_PRELOAD=$TOOL mpi 4 "$WEND" trace -f -o a.dir "$EXAMPLES/stencil2d" >out 2>err
        both_work
        is_right
    done
}

@test "a tool behind Wend, linked to the program" {
    export TOOL_TALKS=1
    build "$TOOL"
    tool_alone ./stencil
    mpi 4 "$WEND" trace -o a.dir ./stencil >out 2>err
    both_work
    is_right
    WEND_OUTPUT=$PWD/b.dir LD_PRELOAD=$LIBWEND mpi 4 ./stencil >out 2>err
    both_work
    is_right b.dir
}

# Calls that a tool before Wend makes are recorded: here MPI_Comm_rank and MPI_Reduce at the end.
without_finalizing() { "$WEND" dump "$1" | grep -v 'MPI_Finalize\|MPI_Reduce' |
    sed 's/^ *[0-9]* *//' | grep -v '^#'; }
tool_is_in_front() {
    diff <(without_finalizing "$RIGHT") <(without_finalizing a.dir) >differences || true
    [ "$(grep -c '^[<>]' differences)" = 4 ] &&
        [ "$(grep -c '^> MPI_Comm_rank(comm=MPI_COMM_WORLD)' differences)" = 4 ] ||
        fail "$(cat differences)"
    [ "$("$WEND" dump a.dir | grep -c 'MPI_Reduce(')" = 4 ]
}

@test "a tool in front of Wend, preloaded" {
    tool_alone "$EXAMPLES/stencil2d" "$TOOL"
    LD_PRELOAD=$TOOL:$LIBWEND WEND_OUTPUT=a.dir mpi 4 "$EXAMPLES/stencil2d" >out 2>err
    both_work
    tool_is_in_front
}

@test "a tool in front of Wend, part of the program" {
    build "${TOOL%.so}.o"
    tool_alone ./stencil
    mpi 4 "$WEND" trace -o a.dir ./stencil >out 2>err
    both_work
    tool_is_in_front
}

@test "a tool in front of Wend with a communicator of its own: the proxy has it too" {
    export TOOL_TALKS=1
    tool_alone "$EXAMPLES/stencil2d" "$TOOL"
    LD_PRELOAD=$TOOL:$LIBWEND WEND_OUTPUT=app.dir mpi 4 "$EXAMPLES/stencil2d" >out 2>err
    both_work
    unset TOOL_TALKS
    roundtrip_from_recording 4
}

@test "tools on both sides" {
    export TOOL_TALKS=1
    sed 's/tool: /second: /' "$SOURCE_DIR/tests/support/tool.c" >second.c
    "$MPICC" -w -shared -fPIC second.c -o second.so
    LD_PRELOAD=$PWD/second.so mpi 4 "$EXAMPLES/stencil2d" | grep '^second' >alone.out
    LD_PRELOAD=$TOOL:$LIBWEND:$PWD/second.so WEND_OUTPUT=a.dir mpi 4 "$EXAMPLES/stencil2d" \
        >out 2>err
    [ "$(counted out)" -gt 100 ]
    # Calls that the first tool makes reach the second, as they reach Wend.
    [ "$(sed -n 's/^second: \(.*\) calls/\1/p' out)" -gt "$(counted out)" ]
    [ "$("$WEND" dump a.dir | grep -c 'MPI_Isend(')" = "$("$WEND" dump "$RIGHT" |
        grep -c 'MPI_Isend(')" ]
}

@test "a tool with Fortran names of its own, behind Wend and in front of it" {
    [ -x "$EXAMPLES/stencil" ] || skip "no Fortran here"
    tool_alone "$EXAMPLES/stencil" "$TOOL"
    record right.dir 4 "$EXAMPLES/stencil" >/dev/null
    LD_PRELOAD=$TOOL mpi 4 "$WEND" trace -o a.dir "$EXAMPLES/stencil" >out 2>err
    both_work
    is_right a.dir right.dir
    LD_PRELOAD=$TOOL:$LIBWEND WEND_OUTPUT=b.dir mpi 4 "$EXAMPLES/stencil" >out 2>err
    both_work
    [ "$("$WEND" dump b.dir | grep -c 'MPI_Sendrecv(')" = "$("$WEND" dump right.dir |
        grep -c 'MPI_Sendrecv(')" ]
}

@test "Wend twice: one of them records" {
    build -L"${LIBWEND%/*}" -lwend -Wl,-rpath,"${LIBWEND%/*}"
    mpi 4 "$WEND" trace -o a.dir ./stencil >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right
    # A copy, like that of another installation.
    mkdir other
    cp "${LIBWEND%/*}"/libwend*.so other
    LD_PRELOAD=$PWD/other/libwend.so mpi 4 "$WEND" trace -o b.dir ./stencil >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right b.dir
    LD_PRELOAD=$PWD/other/libwend.so WEND_OUTPUT=c.dir mpi 4 ./stencil >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right c.dir
}

# -- calls by profiling names: rank 0 serves the others, and hides its polls from tools --

serving() { # WHERE [FLAGS…]: builds ./serve, which has its polls there
    cat >polls.c <<'C'
#include <mpi.h>
int next_message(int *source)
{
    static MPI_Request urgent = MPI_REQUEST_NULL;
    static int first, second;
    MPI_Status status;
    int found, waiting;
    if (urgent == MPI_REQUEST_NULL)
        MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &urgent);
    do {
        PMPI_Test(&urgent, &found, &status);
        waiting = 0;
        if (!found)
            PMPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &waiting, &status);
    } while (!found && !waiting);
    *source = status.MPI_SOURCE;
    if (!found)
        MPI_Recv(&second, 1, MPI_INT, *source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return found ? first : second;
}
C
    cat >serve.c <<'C'
#include <mpi.h>
#include <stdio.h>
int next_message(int *source);
int main(int argc, char **argv)
{
    int rank, size, source;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; rank > 0 && i < 20; i++)
        PMPI_Send(&i, 1, MPI_INT, 0, i % 3 == 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 20 * (size - 1); i++) {
        int payload = next_message(&source);
        printf("%d from %d\n", payload, source);
    }
    if (rank == 0) { // the receive that is always posted
        int last = -1;
        MPI_Request request;
        MPI_Isend(&last, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        next_message(&source);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Irecv(&last, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
C
    case $1 in
    program) "$MPICC" -O2 -g "${@:2}" serve.c polls.c -o serve ;;
    library)
        "$MPICC" -O2 -g -shared -fPIC polls.c -o libpolls.so
        "$MPICC" -O2 -g "${@:2}" serve.c -o serve -L. -lpolls -Wl,-rpath,"$PWD"
        ;;
    plugin)
        "$MPICC" -O2 -g -shared -fPIC -Dmain=serve serve.c polls.c -o plugin.so
        cat >host.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    int (*serve)(int, char **) = plugin ? (int (*)(int, char **))dlsym(plugin, "serve") : 0;
    return serve ? serve(argc, argv) : 1;
}
C
        gcc -O2 host.c -o serve
        ;;
    esac
}

served() { # all calls of ./serve are recorded, and given back
    mpi 4 "$WEND" trace -q --noise -f -o app.dir ./serve >app.out
    [ "$("$WEND" dump --rank 0 app.dir | grep -c 'MPI_Iprobe(.*flag=true')" -gt 0 ]
    [ "$("$WEND" dump --rank 0 app.dir | grep -c 'MPI_Test(.*flag=true')" = 22 ]
    [ "$("$WEND" dump --rank 3 app.dir | grep -c 'MPI_Send(')" = 20 ]
    mpi 4 "$WEND" replay -q --noise -o again.dir app.dir ./serve >again.out
    diff app.out again.out
    "$WEND" diff --outcomes app.dir again.dir
    roundtrip_from_recording 4
}

@test "calls by PMPI names, in a program" {
    serving program
    served
}

@test "calls by PMPI names, in a program at a fixed address" {
    serving program -no-pie -Wl,-z,now
    served
}

@test "calls by PMPI names, in a library of the application" {
    serving library
    served
}

@test "calls by PMPI names, in a plugin that brings the MPI library" {
    serving plugin
    served
}

@test "calls by PMPI names, beside a tool behind Wend and one in front of it" {
    serving library
    LD_PRELOAD=$TOOL mpi 4 "$WEND" trace -q -o app.dir ./serve >app.out
    roundtrip_from_recording 4
    [ "$("$WEND" dump --rank 3 app.dir | grep -c 'MPI_Send(')" = 20 ]
    LD_PRELOAD=$TOOL:$LIBWEND WEND_OUTPUT=b.dir mpi 4 ./serve >out 2>err
    [ "$("$WEND" dump --rank 3 b.dir | grep -c 'MPI_Send(')" = 20 ]
}

@test "a part of a profiler that has no wrappers: its calls are not recorded" {
    cat >part.c <<'C'
#include <mpi.h>
int size_of_world(void)
{
    int size;
    MPI_Wtime(); // by its MPI name, as an application may
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}
C
    cat >wrapper.c <<'C'
#include <mpi.h>
#include <stdio.h>
int size_of_world(void);
int MPI_Barrier(MPI_Comm comm)
{
    printf("wrapped: %d\n", size_of_world());
    return PMPI_Barrier(comm);
}
void region(void) // the program itself says where it is
{
    printf("region: %d\n", size_of_world());
}
C
    cat >app.c <<'C'
#include <mpi.h>
void region(void);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    region();
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
C
    "$MPICC" -shared -fPIC part.c -o libpart.so
    "$MPICC" -shared -fPIC wrapper.c -o libwrapper.so -L. -lpart -Wl,-rpath,"$PWD"
    "$MPICC" app.c -o app -L. -lwrapper -Wl,-rpath,"$PWD" -Wl,-rpath-link,"$PWD"
    mpi 2 "$WEND" trace -q -o app.dir ./app >out
    [ "$(grep -c '^wrapped: 2$' out)" = 2 ]
    [ "$(grep -c '^region: 2$' out)" = 2 ]
    "$WEND" dump app.dir >dump.out
    grep 'MPI_Barrier(' dump.out
    [ "$(grep -c 'MPI_Comm_size(' dump.out)" = 0 ]
}
