# SPDX-License-Identifier: BSD-3-Clause
# miniAMR: a stencil on blocks that are refined and moved between ranks. Receives complete by
# MPI_Waitany, and MPI_Wtime is called around everything.
build() {
    fetch_repository miniamr Mantevo/miniAMR || return
    built "$CACHE/miniamr/ref/miniAMR.x" make -C "$CACHE/miniamr/ref" CC="$MPICC" LD="$MPICC" \
        CFLAGS="-O2 -w -fcommon"
}
cases() {
    echo "sphere 4"
    echo "sphere 8"
    echo "values 4"
}
run_case() {
    replays=$ELSEWHERE_REPLAYS last_step=replay
    [ "$1" != values ] || trace_options=(--values)
    command=("$CACHE/miniamr/ref/miniAMR.x" --npx 2 --npy 2 --npz $(($2 / 4)) --nx 4 --ny 4 --nz 4 \
        --num_tsteps 4 --stages_per_ts 4 --max_blocks 2000 --num_refine 2 --num_objects 1 \
        --object 2 0 -0.8 -0.8 -0.8 0.1 0.1 0.1 0.4 0.4 0.4 0 0 0)
}
comparable() { # not times, nor rates
    without_fractions "$1"
}
