# SPDX-License-Identifier: BSD-3-Clause
# The specification, the generator, and the coverage of MPI.
load ../helpers
setup() {
    in_scratch
    SPEC=$SOURCE_DIR/spec/mpi.spec
    GEN=(env PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$SOURCE_DIR/spec/gen.py")
}

# refused SED TEXT: the specification, changed by SED, stops the build with a message that has TEXT.
refused() {
    sed "$1" "$SPEC" >changed.spec
    ! cmp -s "$SPEC" changed.spec || fail "$1 changes nothing" || return
    ! "${GEN[@]}" wrappers changed.spec --mpicc "$MPICC" -o out.c 2>message ||
        fail "accepted: $1" || return
    grep -q "$2" message || fail "the message does not say '$2'" "$(cat message)"
}

@test "coverage: every function that the library has is recorded" {
    [ -f "$BUILD_DIR/spec/coverage.txt" ]
    grep -qx 'difference: 0' "$BUILD_DIR/spec/coverage.txt" ||
        { cat "$BUILD_DIR/spec/coverage.txt" >&2; false; }
}

@test "coverage: libwend.so defines every MPI function of the library's symbol table" {
    # Without the generator: compares the dynamic symbols of both libraries.
    ldd "$PROGRAMS/hello" | awk '$3 ~ /\/lib(mpich|mpi)\.so/ { print $3 }' | sort -u >libraries
    [ -s libraries ]
    xargs nm -D --defined-only <libraries | awk '$2 ~ /[TW]/ && $3 ~ /^MPIX?_/ { print $3 }' |
        sort -u >has
    nm -D --defined-only "$LIBWEND" | awk '$2 ~ /[TW]/ { print $3 }' | sort -u >wrapped
    # New programs cannot call functions that mpi.h does not declare.
    echo '#include <mpi.h>' | "$MPICC" -E -P -x c - | grep -oE '\bMPIX?_\w+ *\(' | tr -d ' (' |
        sort -u >declared
    comm -12 has declared | comm -23 - wrapped >missing
    [ "$(comm -12 has declared | wc -l)" -gt 300 ]
    [ ! -s missing ] || fail "not intercepted:" "$(cat missing)"
}

@test "a process without MPI loads the tracer, with all references bound at the start" {
    LD_BIND_NOW=1 LD_PRELOAD=$LIBWEND "$(command -v true)"
}

@test "a parameter too many or too few stops the build" {
    refused 's/^\(MPI_Send .*\), tag, comm$/\1, comm/' \
        'MPI_Send: 5 parameters in mpi.spec, 6 in mpi.h'
    refused 's/^MPI_Barrier .*/&, info/' 'MPI_Barrier: 2 parameters'
}
@test "a type that is not the prototype's stops the build" {
    refused 's/^MPI_Comm_rank .*/MPI_Comm_rank: comm, rank/' 'MPI_Comm_rank: rank is int\* in mpi.h'
    refused 's/^\(MPI_Gatherv .*\)displs\[size\]/\1displs:disp<MPI_Aint>[size]/' \
        'MPI_Gatherv.*displs'
    refused 's/^\(MPI_Group_incl.*\)ranks:rank\[n\]/\1ranks:rank/' 'MPI_Group_incl: ranks'
    refused 's/^\(MPI_Op_create.*\)MPI_User_function \*|/\1MPI_Copy_function *|/' \
        'MPI_Op_create: user_fn'
}
@test "an error in the specification's syntax stops the build" {
    refused 's/^MPI_Send large/MPI_Send huge/' 'unknown flag huge'
    refused 's/^\(MPI_Send .*\)dest/\1dest:rnak/' 'unknown kind rnak'
    refused 's/^\(MPI_Bcast .*\)?member/\1?members/' 'no parameter members'
    refused 's/^\(MPI_Send .*\)=count(count,datatype)/\1=count(amount,datatype)/' \
        'no parameter amount'
    refused 's/^\(MPI_Send .*\)=count(count,datatype)/\1=count(count)/' 'wrong number of arguments'
    refused 's/^\(MPI_Test .*\)@outcome/\1@outcom/' 'unknown word @outcom'
    refused '/^MPI_Waitall/h; /^MPI_Waitall/d; /^MPI_Waitany/G' 'not sorted'
    refused 's/^MPI_Ssend /MPI_Rsend /' 'MPI_Rsend is there already'
}
@test "a function that the specification lacks is named" {
    sed '/^MPI_Ssend /d' "$SPEC" >changed.spec
    "${GEN[@]}" wrappers changed.spec --mpicc "$MPICC" -o out.c
    "${GEN[@]}" coverage changed.spec --mpicc "$MPICC" -o coverage
    grep -q '^  MPI_Ssend: not in mpi.spec' coverage
    ! grep -qx 'difference: 0' coverage || false
}
@test "the table does not depend on the MPI library" {
    "${GEN[@]}" table "$SPEC" >one
    MPICC=/nonexistent "${GEN[@]}" table "$SPEC" >two
    cmp one two
    cmp one "$BUILD_DIR/lib/record/functions.gen.c"
}
