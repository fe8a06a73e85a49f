# SPDX-License-Identifier: BSD-3-Clause
# MPI's C++ bindings: operators, attributes, generalized requests and exceptions go through
# functions of the library that no other language uses.
load ../helpers
setup() {
    [ -x "$PROGRAMS/cxx" ] || skip "no C++ bindings in this MPI"
    in_scratch
}

@test "the C++ bindings: equal results, and the round trip" {
    same_lines 3 "$PROGRAMS/cxx"
    grep -q 'rank 1: exception: ' plain.out
    roundtrip_from_recording 3
}
@test "the C++ bindings: an error handler that returns, and the round trip" {
    same_lines 3 "$PROGRAMS/cxx" handler
    quietly dump.out "$WEND" dump app.dir
    ! grep 'MPI_Iprobe.*flag=' dump.out || false
    roundtrip_from_recording 3
}
@test "the C++ bindings: error handlers that return, and that throw" {
    same_lines 3 "$PROGRAMS/cxx" handlers
    grep -q 'rank 1: thrown: ' plain.out
    quietly dump.out "$WEND" dump app.dir
}
