# The harness itself: its failures must be seen.
load helpers
setup() { in_scratch; }

@test "mpi: the launcher runs the ranks asked for, with the yield preload" {
    # where all ranks are over before Hydra has handed on standard input, SIGPIPE ends mpiexec now and then (1 % of runs of "echo" on a machine under load)
    mpi 3 sh -c 'echo "$LD_PRELOAD"; sleep 0.5' >out
    [ "$(grep -c yield.so out)" = 3 ]
}

@test "mpi: a hang is a failure that says so" {
    TEST_TIMEOUT=1 run mpi 2 sleep 30
    [ "$status" != 0 ]
    [[ "$output" == *"HANG: still running after 1 s"* ]]
}

@test "mpi: an exit status comes through" {
    run mpi 1 sh -c 'exit 3'
    [ "$status" = 3 ]
}
