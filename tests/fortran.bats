# Fortran's three interfaces: what arrives is the same with and without Wend, and everything is in the recording.
load helpers
setup() {
    [ -x "$PROGRAMS/fortran" ] || skip "no Fortran compiler for this MPI"
    in_scratch
}

same_lines() { # ranks write in any order
    local n=$1
    shift
    mpi "$n" "$@" >plain.out 2>plain.err
    record app.dir "$n" "$@" >recorded.out 2>recorded.err
    diff <(sort plain.out) <(sort recorded.out)
    [ ! -s recorded.err ]
}

@test "use mpi: sentinels, attributes, callbacks, MPI_BOTTOM" {
    same_lines 3 "$PROGRAMS/fortran"
    roundtrip_from_recording 3
}
@test "use mpi_f08: calls that go past MPI's C names, array sections, attributes, callbacks" {
    same_lines 3 "$PROGRAMS/f08"
    roundtrip_from_recording 3
}
@test "both record the same calls of attributes, by the predefined keys' names" {
    for program in fortran f08; do
        record $program.dir 2 "$PROGRAMS/$program" >/dev/null
        "$WEND" dump $program.dir --rank 1 >dump
        grep -q 'MPI_Comm_set_attr(comm=MPI_COMM_WORLD, comm_keyval=keyval#0, attribute_val=1001)' dump
        grep -q 'MPI_Comm_get_attr(.*attribute_val=1011, flag=true' dump
        grep -q 'MPI_Comm_get_attr(comm=MPI_COMM_WORLD, comm_keyval=MPI_TAG_UB)' dump
        ! grep -q unknown dump
    done
}
