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
    printf 'small %s\n' 4 8
}
run_case() {
    local size=4 steps=4 variables=40 refinements=2
    replays=$ELSEWHERE_REPLAYS last_step=replay
    [ "$1" != small ] || size=2 steps=2 variables=8 refinements=1
    [ "$1" != values ] || trace_options=(--values)
    command=("$CACHE/miniamr/ref/miniAMR.x" --npx 2 --npy 2 --npz $(($2 / 4)) \
        --nx $size --ny $size --nz $size --num_vars $variables --num_tsteps $steps \
        --stages_per_ts $steps --max_blocks 2000 --num_refine $refinements --num_objects 1 \
        --object 2 0 -0.8 -0.8 -0.8 0.1 0.1 0.1 0.4 0.4 0.4 0 0 0)
}
comparable() { # not times, nor rates
    without_fractions "$1"
}
