#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The round trip over MPICH's own test suite (make check-mpich). Fetches the Debian source package
# "mpich" and configures its tests for the MPICH that Wend was built for, once, in $WEND_CACHE
# (default ~/.cache/wend). check.py runs them and gets the arguments.
source "$(dirname "${BASH_SOURCE[0]}")/../tests/programs-elsewhere/common.bash"
here=$SOURCE_DIR/testsuite-mpich
TESTS=$CACHE/mpich-tests

# The suite's configure asks for the languages and extensions of an MPICH only if it runs as part of
# one. Then it takes the compilers from one folder, by their plain names. Debian's have a suffix.
configure_tests() (
    suffix=$(expr "$MPICC" : '.*/mpicc\(.*\)')
    rm -rf "$TESTS"
    mkdir -p "$TESTS/bin"
    cd "$TESTS" || exit
    for tool in mpicc mpicxx mpif77 mpifort; do
        ln -s "$MPIRUN_DIR/$tool$suffix" "bin/$tool"
    done
    export FROM_MPICH=yes MPICH_ENABLE_FC=yes MPICH_ENABLE_CXX=yes MPIEXEC nameserv_name=pmi
    "$CACHE/mpich/test/mpi/configure" --bindir="$TESTS/bin" --enable-fortran=all \
        --enable-threads=multiple --enable-xfail \
        CC="$TESTS/bin/mpicc" CXX="$TESTS/bin/mpicxx" F77="$TESTS/bin/mpif77" \
        FC="$TESTS/bin/mpifort" &&
        touch configured
)

fetch mpich || exit
built "$TESTS/configured" configure_tests || exit
export MPICC WEND PROXYGEN LIBWEND YIELD TESTS
export LAUNCHER=$MPIEXEC SUITE=$CACHE/mpich/test/mpi
exec python3 "$here/check.py" "$@"
