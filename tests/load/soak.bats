# SPDX-License-Identifier: BSD-3-Clause
# Neither memory nor parts on disk grow with the number of calls that a program repeats ("make
# soak": 100 million calls).
load ../helpers
setup() { in_scratch; }

# Without the preload that yields: on a busy machine each poll would wait for another process.
soak() { # CALLS THREADS
    THREADS=$2 timeout "$TEST_TIMEOUT" python3 "$HELPERS_DIR/load/soak.py" "$1" "$WEND" \
        "$BUILD_DIR/tests/load/soak" "${LAUNCH[@]}"
}

@test "five million calls at flat memory, with checkpoints" { soak 5000000 1; }
@test "five million calls of two threads at flat memory, with checkpoints" { soak 5000000 2; }
