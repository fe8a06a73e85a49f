#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Bytes of the archive of a 2D stencil by ranks (down) and iterations (across). The exit status is 1
# if an archive of 9 or more ranks has more than 4,096 bytes.
set -eu
source "$(dirname "$0")/../tests/helpers.bash"
TEST_TIMEOUT=600
ranks=(${RANKS:-4 9 16 25}) iterations=(${ITERATIONS:-100 1000 10000})
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
printf 'archive bytes of examples/stencil2d\n%8s' ranks
printf '%12s' "${iterations[@]}"
printf '  iterations\n'
for n in "${ranks[@]}"; do
    printf '%8s' "$n"
    for i in "${iterations[@]}"; do
        record "$scratch/$n.$i" "$n" "$EXAMPLES/stencil2d" -i "$i" -n 50 >"$scratch/out" 2>&1 ||
            { cat "$scratch/out"; exit 1; }
        bytes=$(stat -c %s "$scratch/$n.$i/trace.tar.zst")
        printf '%12s' "$bytes"
        [ "$n" -lt 9 ] || [ "$bytes" -le 4096 ] || status=1
    done
    printf '\n'
done
exit $status
