# SPDX-License-Identifier: BSD-3-Clause
# Python does what other programs rarely do: MPI is loaded while the program runs, and for one
# module alone.
load ../helpers
setup() { in_scratch; }

same_lines_and_roundtrip() {
    same_lines "$@"
    roundtrip_from_recording "$1"
}

@test "a module brings MPI with it" {
    same_lines_and_roundtrip 3 "$PROGRAMS/late" "$PROGRAMS/late.so"
    grep -q 'MPI_Dist_graph_create_adjacent(.*sourceweights=MPI_UNWEIGHTED' dump.out
    grep -q 'MPI_Comm_create_keyval(comm_copy_attr_fn=MPI_COMM_DUP_FN' dump.out
}
@test "the same, and the loader binds all symbols at once" {
    export LD_BIND_NOW=1
    same_lines_and_roundtrip 2 "$PROGRAMS/late" "$PROGRAMS/late.so"
}
@test "a Python program loads such a module" {
    same_lines_and_roundtrip 3 "$PYTHON" "$SOURCE_DIR/tests/programs/late.py" "$PROGRAMS/late.so"
}
@test "a program that gets MPI's functions from the loader" {
    same_lines_and_roundtrip 2 "$PROGRAMS/late" "$PROGRAMS/late.so" dlsym
    [ "$(grep -c 'MPI_Init()' dump.out)" = 2 ]
}
@test "one that does so past Wend, which says so" {
    mpi 1 "$WEND" trace -o app.dir "$PROGRAMS/late" "$PROGRAMS/late.so" past 2>err
    local why="late looked MPI's functions up by itself (dlsym), past libwend.so"
    [ "$(cat err)" = "wend: $why: nothing was recorded" ]
    [ ! -e app.dir ]
}

# "make check-elsewhere" builds mpi4py for the library at hand, and runs mpi4py's own tests.
@test "mpi4py" {
    has_mpi4py || skip "no mpi4py for this MPI library here"
    same_lines_and_roundtrip 3 "$PYTHON" "$SOURCE_DIR/tests/programs/python.py"
}
