# SPDX-License-Identifier: BSD-3-Clause
# The whole loop on every example: run it, record it, dump it, compile its proxy, record that,
# compare. There is a test for each program and number of ranks. Many ranks take long, so some of
# these tests run with LONG alone.
load ../helpers
setup() { in_scratch; }

@test "stencil2d, 4 ranks" { roundtrip 4 "$EXAMPLES/stencil2d"; }
# bats test_tags=long
@test "stencil2d, 9 ranks" { roundtrip 9 "$EXAMPLES/stencil2d"; }
# bats test_tags=long
@test "stencil2d, 16 ranks" { roundtrip 16 "$EXAMPLES/stencil2d"; }
@test "stencil2d, 6 ranks, no reductions" { roundtrip 6 "$EXAMPLES/stencil2d" -r 0 -i 7; }
@test "stencil3d, 4 ranks" { roundtrip 4 "$EXAMPLES/stencil3d"; }
# bats test_tags=long
@test "stencil3d, 8 ranks" { roundtrip 8 "$EXAMPLES/stencil3d"; }
@test "ring, 4 ranks" { roundtrip 4 "$EXAMPLES/ring"; }
@test "ring, 7 ranks, large messages" { roundtrip 7 "$EXAMPLES/ring" -b 200000 -l 3; }
# bats test_tags=long
@test "ring, 16 ranks" { roundtrip 16 "$EXAMPLES/ring"; }
@test "collectives, blocking, 4 ranks" { roundtrip 4 "$EXAMPLES/collectives" -k blocking; }
@test "collectives, nonblocking, 4 ranks" { roundtrip 4 "$EXAMPLES/collectives" -k nonblocking; }
@test "collectives, persistent, 4 ranks" {
    library_has MPI_Bcast_init
    roundtrip 4 "$EXAMPLES/collectives" -k persistent
}
# bats test_tags=long
@test "collectives, 9 ranks" { roundtrip 9 "$EXAMPLES/collectives"; }
@test "rowcol, 4 ranks" { roundtrip 4 "$EXAMPLES/rowcol"; }
@test "rowcol, 11 ranks, two of them idle" { roundtrip 11 "$EXAMPLES/rowcol"; }
# bats test_tags=long
@test "rowcol, 16 ranks" { roundtrip 16 "$EXAMPLES/rowcol"; }
@test "masterworker, 4 ranks" { roundtrip 4 "$EXAMPLES/masterworker"; }
@test "masterworker with probes, 4 ranks" { roundtrip 4 "$EXAMPLES/masterworker" -p; }
# bats test_tags=long
@test "masterworker with probes, 12 ranks" { roundtrip 12 "$EXAMPLES/masterworker" -p -t 100; }
@test "particles, 4 ranks" { roundtrip 4 "$EXAMPLES/particles"; }
# bats test_tags=long
@test "particles, 9 ranks" { roundtrip 9 "$EXAMPLES/particles"; }
@test "amr, 4 ranks" { roundtrip 4 "$EXAMPLES/amr"; }
@test "amr, 9 ranks" { roundtrip 9 "$EXAMPLES/amr"; }
@test "rma, fence, 4 ranks" { roundtrip 4 "$EXAMPLES/rma" -m fence; }
@test "rma, pscw, 4 ranks" { roundtrip 4 "$EXAMPLES/rma" -m pscw; }
@test "rma, lock, 4 ranks" { roundtrip 4 "$EXAMPLES/rma" -m lock; }
@test "rma, lockall, 4 ranks" { roundtrip 4 "$EXAMPLES/rma" -m lockall; }
@test "rma, shared, 4 ranks" { roundtrip 4 "$EXAMPLES/rma" -m shared; }
@test "rma, dynamic, 4 ranks" { roundtrip 4 "$EXAMPLES/rma" -m dynamic; }
# bats test_tags=long
@test "rma, pscw, 9 ranks" { roundtrip 9 "$EXAMPLES/rma" -m pscw; }
# bats test_tags=long
@test "rma, lockall, 9 ranks" { roundtrip 9 "$EXAMPLES/rma" -m lockall; }
@test "fileio, 4 ranks" { roundtrip 4 "$EXAMPLES/fileio"; }
@test "persistent, 4 ranks" { roundtrip 4 "$EXAMPLES/persistent"; }
# bats test_tags=long
@test "persistent, 9 ranks, one partition" { roundtrip 9 "$EXAMPLES/persistent" -p 1; }
@test "intercomm, 4 ranks" { roundtrip 4 "$EXAMPLES/intercomm"; }
@test "intercomm, 9 ranks" { roundtrip 9 "$EXAMPLES/intercomm"; }
@test "datatypes, 4 ranks" { roundtrip 4 "$EXAMPLES/datatypes"; }
@test "datatypes, 5 ranks, one to itself" { roundtrip 5 "$EXAMPLES/datatypes"; }
@test "polling, test, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m test; }
@test "polling, testall, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m testall; }
@test "polling, testany, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m testany; }
@test "polling, testsome, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m testsome; }
@test "polling, wait, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m wait; }
@test "polling, waitany, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m waitany; }
@test "polling, waitsome, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m waitsome; }
@test "polling, iprobe, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m iprobe; }
@test "polling, improbe, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m improbe; }
@test "polling, request status, 4 ranks" { roundtrip 4 "$EXAMPLES/polling" -m request; }
# bats test_tags=long
@test "polling, all, 9 ranks" { roundtrip 9 "$EXAMPLES/polling"; }
@test "stencil in Fortran, 4 ranks" {
    [ -x "$EXAMPLES/stencil" ] || skip "no Fortran compiler for this MPI"
    roundtrip 4 "$EXAMPLES/stencil"
}
# bats test_tags=long
@test "stencil in Fortran, 9 ranks" {
    [ -x "$EXAMPLES/stencil" ] || skip "no Fortran compiler for this MPI"
    roundtrip 9 "$EXAMPLES/stencil"
}
