# SPDX-License-Identifier: BSD-3-Clause
# The test harness itself: failures must be visible.
load helpers
# The ranks run for a while. To ranks that are over at once and are no MPI programs, Hydra passes
# the end of standard input after they have gone, and mpiexec dies of SIGPIPE.
setup() { in_scratch; }

@test "mpi: the launcher runs the ranks asked for, with the yield preload" {
    mpi 3 sh -c 'echo "$LD_PRELOAD"; sleep 0.5' >out
    [ "$(grep -c yield.so out)" = 3 ]
}

@test "mpi: a hang is reported as a failure" {
    TEST_TIMEOUT=1 run mpi 2 sleep 30
    [ "$status" != 0 ]
    [[ "$output" == *"HANG: still running after 1 s"* ]]
}

@test "mpi: the exit status is that of the program" {
    run mpi 1 sh -c 'sleep 0.5; exit 3'
    [ "$status" = 3 ]
}
