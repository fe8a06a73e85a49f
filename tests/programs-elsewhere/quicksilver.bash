# SPDX-License-Identifier: BSD-3-Clause
# Quicksilver: Monte Carlo transport of particles. Ranks send particles to their neighbours until a
# test in rounds of MPI_Iallreduce says that all are done. Needs g++.
build() {
    fetch_repository quicksilver LLNL/Quicksilver || return
    built "$CACHE/quicksilver/src/qs" make -C "$CACHE/quicksilver/src" \
        CXX="$MPIRUN_DIR/$(basename "${MPICC/mpicc/mpicxx}")" CXXFLAGS="-O2 -w -std=c++11" \
        CPPFLAGS="-DHAVE_MPI -DHAVE_ASYNC_MPI -DDISABLE_TIMERS" LDFLAGS=
}
cases() {
    printf '%s 4\n' AllScattering/scatteringOnly AllEscape/allEscape NoFission/noFission
    echo "AllScattering/scatteringOnly 8"
    printf 'small %s\n' 4 8
}
run_case() {
    local problem=$1 particles=40000 z=$(($2 / 4))
    [ "$1" != small ] || problem=AllScattering/scatteringOnly particles=2000
    replays=$ELSEWHERE_REPLAYS last_step=replay
    sed -E "s/nParticles: .*/nParticles: $particles/; s/nSteps: .*/nSteps: 3/" \
        "$CACHE/quicksilver/Examples/$problem.inp" >problem.inp
    command=("$CACHE/quicksilver/src/qs" -i problem.inp -X 8 -Y 8 -Z $((4 * z)) \
        -x 8 -y 8 -z $((4 * z)) -I 2 -J 2 -K "$z")
}
comparable() { # not times
    words <"$1"
}
