# SPDX-License-Identifier: BSD-3-Clause
# Graph500's reference: breadth-first search by active messages. Each rank has persistent receives
# from any source, goes through them with MPI_Testany, and ends rounds with MPI_Ibarrier.
build() {
    fetch_repository graph500 graph500/graph500 || return
    built "$CACHE/graph500/src/graph500_reference_bfs" make -C "$CACHE/graph500/src" \
        MPICC="$MPICC" graph500_reference_bfs \
        CFLAGS="-Drestrict=__restrict__ -O2 -w -fcommon -fgnu89-inline -DGRAPH_GENERATOR_MPI \
            -DREUSE_CSR_FOR_VALIDATION -I../aml"
}
cases() {
    echo "bfs 4"
    echo "bfs 8"
    printf 'small %s\n' 4 8
}
run_case() {
    local scale=8
    [ "$1" != small ] || scale=4
    replays=$ELSEWHERE_REPLAYS last_step=replay
    command=("$CACHE/graph500/src/graph500_reference_bfs" $scale 4)
}
comparable() { # not times, nor rates
    without_fractions <(grep -v TEPS "$1")
}
