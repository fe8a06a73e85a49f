# SPDX-License-Identifier: BSD-3-Clause
# mpi4py's own test suite: each test has the result that it has without Wend, and parts of the suite
# go through the round trip. Needs python3-dev, python3-setuptools and cython3. Without numpy both
# runs skip the tests that need it.
build() {
    fetch mpi4py || return
    built "$CACHE/mpi4py/lib/complete" build_mpi4py || return
    export PYTHONPATH=$CACHE/mpi4py/lib PYTHONDONTWRITEBYTECODE=1
}
build_mpi4py() (
    cd "$CACHE/mpi4py" || exit
    MPICC=$MPICC /usr/bin/python3 setup.py build --build-lib lib && touch lib/complete
)
cases() {
    printf 'all %s\n' 1 2 4
    printf '%s 2\n' p2p_obj p2p_buf cco_obj cco_buf group most
    printf 'small %s\n' 4 8
}
run_case() { # ranks write at the same time: each to its own file
    cat >suite <<'END'
#!/bin/sh
exec "$@" 2>"results.${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}"
END
    chmod +x suite
    command=("$PWD/suite" /usr/bin/python3 "$CACHE/mpi4py/test/runtests.py" -v)
    [ "$1" != all ] || { last_step=dump; return; } # most is what can be replayed
    # Python's own allocator puts objects elsewhere in each run. Its hashes begin with a random
    # number.
    export PYTHONMALLOC=malloc
    trace_options=(--values)
    [ "$1" = p2p_buf ] || replays=$ELSEWHERE_REPLAYS
    case $1 in
        most)
            # Not what calls MPI_Pcontrol (environ), starts other worlds (spawn, dynproc), probes
            # for a message that its sender then cancels (p2p_buf), has a lock that asks the clock
            # (threads), or takes minutes (util_dtlib).
            last_step=replay
            for module in environ spawn dynproc p2p_buf threads util_dtlib; do
                command+=(-e "test_$module\$")
            done
            ;;
        small)
            last_step=replay
            for module in p2p_{obj,buf}_matched msgzero request grequest status cco_ngh_obj; do
                command+=(-i "test_$module\$")
            done
            ;;
        *) command+=(-i "test_$1\$") ;;
    esac
}
comparable() { # name and result of each test
    local results='ok|FAIL|ERROR|skipped .*|expected failure'
    sed -nE 's/^(test[^ ]* \([^)]*\)) \.\.\. .*('"$results"')$/\1 \2/p' "$1"
}
