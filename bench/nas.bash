#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# nas.bash FOLDER: bytes of the archives of the NAS Parallel Benchmarks (NPB 3.4), whose licence
# keeps them out of this repository. FOLDER is that of NPB3.4-MPI. They are built there;
# config/make.def is written if there is none. Printed are the medians of several runs, because
# times differ from run to run; below them, how far the smallest and the largest are from these.
# Class S on 16 ranks is also recorded with --no-sites and with --stacks=8. The exit status is 1 if
# all its archives without sites take more than 12 KB, or if sites or stacks add too much.
#
#   RUNS         runs of each (default 3)
#   CLASSES      class:ranks[:benchmark,…]… (default: those of docs/performance.md; LU of class S
#                cannot run on 64 ranks)
#   BENCHMARKS   names (default: all eight)
#   OPTIONS      of wend trace, such as --no-sites or --stacks=8
set -eu
[ $# -eq 1 ] && [ -f "$1/config/suite.def.template" ] ||
    { echo "usage: nas.bash FOLDER (of NPB3.4-MPI)" >&2; exit 2; }
npb=$(cd "$1" && pwd)
source "$(dirname "$0")/../tests/helpers.bash"
TEST_TIMEOUT=600
benchmarks=(${BENCHMARKS:-bt cg ep ft is lu mg sp})
classes=(${CLASSES:-S:4 S:16 S:64:cg,mg W:16:lu W:64:lu})
runs=${RUNS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ ! -f "$npb/config/make.def" ]; then
    # gfortran 10 and newer report an error if a routine is called with different types of buffers
    mpifort="$(dirname "$MPICC")/mpifort${MPICC#*mpicc} -fallow-argument-mismatch -w"
    sed -e "s|^MPIFC *=.*|MPIFC = $mpifort|" -e "s|^MPICC *=.*|MPICC = $MPICC|" \
        -e 's|= -O3|= -O2|' "$npb/config/make.def.template" >"$npb/config/make.def"
fi
mkdir -p "$npb/bin"
printf 'archive bytes of the NAS Parallel Benchmarks\n%6s %6s' class ranks
printf '%9s' "${benchmarks[@]}" all
printf '\n'
# row CLASS RANKS ONLY option…: records the benchmarks with the options, prints a row, sets `all`.
row() {
    local class=$1 n=$2 only=$3 name run median spread= bytes
    shift 3
    all=0
    printf '%6s %6s' "$class" "$n"
    for name in "${benchmarks[@]}"; do
        [[ -z $only || ,$only, == *,$name,* ]] ||
            { printf '%9s' -; spread+=$(printf '%9s' ''); continue; }
        [ -x "$npb/bin/$name.$class.x" ] ||
            make -C "$npb" "$name" "CLASS=$class" >"$scratch/make" 2>&1 ||
            { tail -n 20 "$scratch/make" >&2; exit 1; }
        for ((run = 0; run < runs; run++)); do
            rm -rf "$scratch/trace"
            record "$scratch/trace" "$n" "$@" "$npb/bin/$name.$class.x" >"$scratch/out" 2>&1 ||
                { cat "$scratch/out" >&2; exit 1; }
            grep -qiE 'successful' "$scratch/out" || { echo "$name did not verify" >&2; exit 1; }
            stat -c %s "$scratch/trace/trace.tar.zst"
        done | sort -n >"$scratch/bytes"
        mapfile -t bytes <"$scratch/bytes"
        [ "${#bytes[@]}" = "$runs" ] || exit 1
        median=${bytes[runs / 2]}
        all=$((all + median))
        printf '%9s' "$median"
        spread+=$(printf '%9s' "$((bytes[0] - median))+$((bytes[-1] - median))")
    done
    printf '%9s%s\n%13s%s\n' "$all" "${*:+ $*}" '' "$spread"
}

# within BYTES LIMIT WHAT: a line, and `missed` if it is not
within() {
    local verdict=within
    (($1 <= $2)) || { verdict=over; missed=1; }
    printf '%13s%s: %s bytes, %s the limit of %s\n' '' "$3" "$1" "$verdict" "$2"
}

missed=0
for one in "${classes[@]}"; do
    IFS=: read -r class n only <<<"$one"
    # shellcheck disable=SC2086
    row "$class" "$n" "$only" ${OPTIONS:-}
    [ "$class:$n:$only${OPTIONS:-}${BENCHMARKS:-}" = S:16: ] || continue
    sites=$all
    row "$class" "$n" "" --no-sites
    without=$all
    row "$class" "$n" "" --stacks=8
    within "$without" 12288 "without sites"
    within "$sites" $((without * 112 / 100)) "sites"
    within "$all" $((without * 125 / 100)) "stacks"
done
exit "$missed"
