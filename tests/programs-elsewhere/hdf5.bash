# SPDX-License-Identifier: BSD-3-Clause
# Parallel HDF5: its tests of the parallel library. Needs zlib1g-dev.
build() {
    fetch hdf5 || return
    built "$CACHE/hdf5/complete" build_hdf5
}
build_hdf5() (
    cd "$CACHE/hdf5" || exit
    ./configure --enable-parallel --disable-shared --disable-hl CC="$MPICC" CFLAGS="-O1 -w" &&
        make -C src && make -C test libh5test.la && make -C testpar build-check-s && touch complete
)
cases() {
    programs 4 "$CACHE"/hdf5/testpar/*
}
run_case() {
    command=("$CACHE/hdf5/$1")
}
