# SPDX-License-Identifier: BSD-3-Clause
# The test harness itself: failures must be visible.
load ../helpers
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

@test "programs-elsewhere: a cache whose path has a dot has programs" {
    mkdir -p .cache/base/test
    printf '#!/bin/sh\n' | tee .cache/base/test/one .cache/base/test/two.sh >.cache/base/test/data
    chmod +x .cache/base/test/one .cache/base/test/two.sh
    run env WEND_CACHE="$PWD/.cache" BUILD_DIR="$BUILD_DIR" bash -c '
        source "$0/programs-elsewhere/common.bash"
        programs 4 "$CACHE"/base/test/*' "$HELPERS_DIR"
    [ "$output" = "test/one 4" ]
}
