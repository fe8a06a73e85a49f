# SPDX-License-Identifier: BSD-3-Clause
# MrBayes: Bayesian inference of phylogeny by Markov chain Monte Carlo. Chains are spread over ranks
# and swap states by messages whose partners the random numbers decide.
build() {
    fetch mrbayes || return
    built "$CACHE/mrbayes/src/mb" build_mrbayes
}
build_mrbayes() (
    cd "$CACHE/mrbayes" &&
        ./configure --with-mpi --without-beagle --without-readline MPICC="$MPICC" CC="$MPICC" \
        CFLAGS="-O2 -w" && make -C src
)
cases() {
    echo "primates 4"
    echo "primates 8"
    printf 'small %s\n' 4 8
}
run_case() {
    local generations=2000
    [ "$1" != small ] || generations=500
    replays=$ELSEWHERE_REPLAYS
    trace_options=(--values) # it prints a stamp made of the time
    cp "$CACHE/mrbayes/examples/primates.nex" .
    cat >batch.nex <<END
#NEXUS
begin mrbayes;
    set autoclose=yes nowarn=yes seed=12345 swapseed=54321;
    execute primates.nex;
    lset nst=6 rates=invgamma;
    mcmc nruns=2 nchains=4 ngen=$generations samplefreq=100 printfreq=500 diagnfreq=1000
        savebrlens=yes checkpoint=no;
end;
END
    command=("$CACHE/mrbayes/src/mb" batch.nex)
}
comparable() { # not times, nor what is named by the time
    sed -E '/[0-9]:[0-9][0-9]|seconds?|ID:/d' "$1" | words
}
