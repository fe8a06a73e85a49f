# SPDX-License-Identifier: BSD-3-Clause
# ADLB: servers share out work. They poll by PMPI_Test and PMPI_Iprobe, so that tools do not see it,
# and act on the time.
build() {
    local example
    fetch_repository adlb nazavode/adlb || return
    for example in nq c1; do
        built "$CACHE/adlb/$example" "$MPICC" -O2 -g -w -fcommon -I"$CACHE/adlb/include" \
            "$CACHE/adlb/examples/$example.c" "$CACHE"/adlb/src/{adlb,adlb_prof,xq}.c \
            -o "$CACHE/adlb/$example" -lm || return
    done
}
cases() {
    printf 'nq %s\n' 4 8
    printf 'c1 %s\n' 4 8
}
run_case() {
    export UCX_LOG_LEVEL=error # servers leave a receive that nothing comes for
    replays=$ELSEWHERE_REPLAYS trace_options=(--values) last_step=replay
    command=("$CACHE/adlb/$1" -nservers $(($2 / 4)))
    [ "$1" != nq ] || command+=(-n 5)
    [ "$1" != c1 ] || command+=(-nas 3)
}
comparable() { # not memory; the ends of ranks come in one line or in several
    sed '/ Vm[A-Z]/d; s/DONE/DONE /g' "$1" | words
}
