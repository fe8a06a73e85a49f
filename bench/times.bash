#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# times.bash [FOLDER]: table 8 of the Pilgrim paper, for programs on 16 ranks: compression ratio and
# PSNR of durations and intervals, for each coding (times.c). Each program is recorded once with
# wend trace --times=lossless, so all codings have the same times. FOLDER is that of NPB3.4-MPI
# (nas.bash), without which there are the stencil and the irregular program alone. The exit status
# is 1 if `bins` compresses less than 1.5 times as well as HIST, or with a worse PSNR.
#
#   CLASSES      of the NAS Parallel Benchmarks (default: S W)
#   BENCHMARKS   names (default: all eight)
#   IRREGULAR    a command besides, run in its folder (such as LLNL's AMG: "test/amg -P 4 2 2")
#   PERCENT      the relative error (default: 10)
set -eu
source "$(dirname "$0")/../tests/helpers.bash"
TEST_TIMEOUT=600
npb=${1:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

compare() { # NAME command…
    local name=$1
    shift
    mpi 16 "$WEND" trace --quiet --force --times=lossless -o "$scratch/$name" "$@" \
        >"$scratch/out" 2>&1 || { tail -n 20 "$scratch/out" >&2; return 1; }
    (cd "$scratch" && "$BUILD_DIR/bench/times" -e "${PERCENT:-10}" "$name") || missed=1
    rm -rf "${scratch:?}/$name"
}

missed=0
compare stencil2d "$EXAMPLES/stencil2d"
compare particles "$EXAMPLES/particles"
# shellcheck disable=SC2086
[ -z "${IRREGULAR:-}" ] || compare irregular $IRREGULAR
[ -n "$npb" ] || exit "$missed"
for class in ${CLASSES:-S W}; do
    for name in ${BENCHMARKS:-bt cg ep ft is lu mg sp}; do
        [ -x "$npb/bin/$name.$class.x" ] ||
            { echo "no $npb/bin/$name.$class.x: make bench-nas builds such files" >&2; exit 1; }
        compare "$name.$class" "$npb/bin/$name.$class.x"
    done
done
exit "$missed"
