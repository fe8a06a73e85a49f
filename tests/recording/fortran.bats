# SPDX-License-Identifier: BSD-3-Clause
# Fortran's three interfaces: results are the same with and without Wend, and the recording has
# everything.
load ../helpers
setup() {
    [ -x "$PROGRAMS/fortran" ] || skip "no Fortran compiler for this MPI"
    in_scratch
}

@test "use mpi: sentinels, attributes, callbacks, MPI_BOTTOM" {
    same_lines 3 "$PROGRAMS/fortran"
    roundtrip_from_recording 3
}
@test "use mpi_f08: calls that bypass MPI's C names, array sections, attributes, callbacks" {
    same_lines 3 "$PROGRAMS/f08"
    roundtrip_from_recording 3
}
@test "mpif.h: each sentinel, index, logical, string and callback" {
    same_lines 3 "$PROGRAMS/sentinels-1"
    roundtrip_from_recording 3
}
@test "use mpi: each sentinel, index, logical, string and callback" {
    same_lines 3 "$PROGRAMS/sentinels-2"
    roundtrip_from_recording 3
}
@test "use mpi_f08: each sentinel, index, logical, string and callback" {
    same_lines 3 "$PROGRAMS/sentinels-3"
    roundtrip_from_recording 3
}
@test "MPI_ARGV_NULL, MPI_ARGVS_NULL, MPI_ERRCODES_IGNORE where no process can be started" {
    library_is mpich || skip "this MPI library can start processes"
    for interface in 1 2 3; do
        mpi 1 "$PROGRAMS/sentinels-$interface" -1 spawning >plain.out 2>plain.err || true
        record "spawn$interface.dir" 1 "$PROGRAMS/sentinels-$interface" -1 spawning \
            >recorded.out 2>recorded.err || true
        grep -q 'spawn_multiple: 0' plain.out
        diff plain.out recorded.out
    done
}
# bats test_tags=once
@test "each interface at each thread level" {
    for interface in 1 2 3; do
        for level in 0 1 2 3; do
            rm -rf app.dir
            cases=(nonblocking operators attributes)
            # This case makes windows. Open MPI's that work here (LAUNCH) lack MPI_THREAD_MULTIPLE.
            [ "$level" = 3 ] && library_is openmpi && cases=(nonblocking operators)
            same_lines 2 "$PROGRAMS/sentinels-$interface" "$level" "${cases[@]}"
            grep -q "^rank 0 level: $level $level $level 1" plain.out
            names=(SINGLE FUNNELED SERIALIZED MULTIPLE)
            "$WEND" show app.dir | grep -q "MPI_THREAD_${names[level]}"
        done
    done
}
@test "use mpi and use mpi_f08: equal calls of attributes, with names of predefined keys" {
    for program in fortran f08; do
        record $program.dir 2 "$PROGRAMS/$program" >/dev/null
        "$WEND" dump $program.dir --rank 1 >dump
        grep -q 'MPI_Comm_set_attr(comm=MPI_COMM_WORLD, comm_keyval=keyval#0, attribute_val=1001)' \
            dump
        grep -q 'MPI_Comm_get_attr(.*attribute_val=1011, flag=true' dump
        grep -q 'MPI_Comm_get_attr(comm=MPI_COMM_WORLD, comm_keyval=MPI_TAG_UB)' dump
        ! grep -q unknown dump || false
    done
}
