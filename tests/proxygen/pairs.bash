#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# pairs.bash RECORDINGS RUNS KIND…: handlers of pairs of completions, many times (make check-pairs).
# Records tests/programs/pairs of each kind, each time with other delays, and runs each proxy
# several times. Prints a line for each kind. The exit status is 1 if a proxy was not equal. Scratch
# folders of failures are kept and named.
source "$(dirname "${BASH_SOURCE[0]}")/../helpers.bash"
recordings=$1 runs=$2
shift 2
scratch=$(mktemp -d)
failed=0

# trip KIND SEED, in the current folder
trip() {
    YIELD_DELAYS=$2 record app.dir 4 "$PROGRAMS/pairs" "$1" "$2" >/dev/null || return
    make_proxy app.dir ./proxy || return
    for ((run = 1; run <= runs; run++)); do
        YIELD_DELAYS=$run record "again$run.dir" 4 ./proxy || return
        "$WEND" diff app.dir "again$run.dir" || return
    done
}

for kind; do
    bad=()
    for ((seed = 1; seed <= recordings; seed++)); do
        mkdir "$scratch/$kind.$seed" && cd "$scratch/$kind.$seed" || exit
        if trip "$kind" "$seed" >output 2>&1; then rm -rf "$PWD"; else bad+=("$PWD"); fi
    done
    echo "pairs $kind: $recordings recordings, $runs runs of each, ${#bad[@]} failures ${bad[*]}"
    ((${#bad[@]} == 0)) || failed=1
done
cd / && rmdir "$scratch" 2>/dev/null
exit $failed
