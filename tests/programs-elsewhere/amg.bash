# SPDX-License-Identifier: BSD-3-Clause
# AMG: an algebraic multigrid solver. A rank that needs data does not know who has it, so ranks ask
# and answer in loops over MPI_Iprobe and MPI_Test until a tree of messages says that all are done.
build() {
    fetch_repository amg LLNL/AMG || return
    built "$CACHE/amg/test/amg" make -C "$CACHE/amg" CC="$MPICC" \
        INCLUDE_CFLAGS="-O2 -w -fcommon -DTIMER_USE_MPI -DHYPRE_USING_PERSISTENT_COMM" \
        INCLUDE_LFLAGS=-lm
}
cases() {
    echo "laplace 4"
    echo "laplace 8"
    echo "pcg 4"
    printf 'small %s\n' 4 8
}
run_case() {
    local problem=2 size=8 py=$(($2 / 4))
    [ "$1" != pcg ] || problem=1
    [ "$1" != small ] || size=4
    replays=$ELSEWHERE_REPLAYS last_step=replay
    command=("$CACHE/amg/test/amg" -problem $problem -n $size $size $size \
        -P 2 $((2 * py)) 1)
}
comparable() { # not times, nor rates
    sed -E '/seconds|Times?:|FOM|MFLOPS/d' "$1" | words
}
