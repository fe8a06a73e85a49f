# However a program is started, and whatever else stands before MPI: the recording is the one of "mpirun wend trace".
bats_require_minimum_version 1.5.0
load helpers
setup_file() {
    export RIGHT=$BATS_FILE_TMPDIR/right.dir
    cd "$BATS_FILE_TMPDIR" && record "$RIGHT" 4 "$EXAMPLES/stencil2d"
}
setup() { in_scratch; }

TOOL=$BUILD_DIR/tests/support/tool.so

is_right() { # [DIR [OF]]: DIR is the recording of all ranks that it should be
    "$WEND" diff "${2:-$RIGHT}" "${1:-a.dir}"
}

build() { # what else to link: ./stencil, as the examples are compiled
    "$MPICC" -std=gnu11 -O2 -g -w "$SOURCE_DIR/examples/stencil2d.c" -o stencil "$@" -lm
}

# -- two tools at once --

counted() { # of the tool, in FILE
    sed -n 's/^tool: \(.*\) calls$/\1/p' "$1"
}

# What the tool counts without Wend is what it counts with it.
tool_alone() { # PROGRAM [LD_PRELOAD]
    LD_PRELOAD=$2 mpi 4 "$1" >alone.out
    [ "$(counted alone.out)" -gt 100 ]
}
both_work() {
    cmp alone.out out && [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat out err)"
}

@test "a tool behind Wend, preloaded: both see each call, and none of the other's own" {
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

# What a tool in front makes itself is part of what comes to Wend: here MPI_Comm_rank and MPI_Reduce at the end.
without_finalizing() { "$WEND" dump "$1" | grep -v 'MPI_Finalize\|MPI_Reduce' | sed 's/^ *[0-9]* *//' | grep -v '^#'; }
tool_is_in_front() {
    diff <(without_finalizing "$RIGHT") <(without_finalizing a.dir) >differences || true
    [ "$(grep -c '^[<>]' differences)" = 4 ] && [ "$(grep -c '^> MPI_Comm_rank(comm=MPI_COMM_WORLD)' differences)" = 4 ] || fail "$(cat differences)"
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
    LD_PRELOAD=$TOOL:$LIBWEND:$PWD/second.so WEND_OUTPUT=a.dir mpi 4 "$EXAMPLES/stencil2d" >out 2>err
    [ "$(counted out)" -gt 100 ]
    # What the first tool makes itself comes to the second as it comes to Wend.
    [ "$(sed -n 's/^second: \(.*\) calls/\1/p' out)" -gt "$(counted out)" ]
    [ "$("$WEND" dump a.dir | grep -c 'MPI_Isend(')" = "$("$WEND" dump "$RIGHT" | grep -c 'MPI_Isend(')" ]
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
    [ "$("$WEND" dump b.dir | grep -c 'MPI_Sendrecv(')" = "$("$WEND" dump right.dir | grep -c 'MPI_Sendrecv(')" ]
}

@test "Wend and Wend: one of them records" {
    build -L"${LIBWEND%/*}" -lwend -Wl,-rpath,"${LIBWEND%/*}"
    mpi 4 "$WEND" trace -o a.dir ./stencil >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right
    # Another copy, as of another installation.
    mkdir other
    cp "${LIBWEND%/*}"/libwend*.so other
    LD_PRELOAD=$PWD/other/libwend.so mpi 4 "$WEND" trace -o b.dir ./stencil >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right b.dir
    LD_PRELOAD=$PWD/other/libwend.so WEND_OUTPUT=c.dir mpi 4 ./stencil >out 2>err
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$(cat err)"
    is_right c.dir
}
