# SPDX-License-Identifier: BSD-3-Clause
# p4est: forests of octrees whose leaves are adapted, balanced and moved between ranks. The cases
# are its tests and those of libsc, on which it builds. Needs zlib1g-dev.
build() {
    fetch p4est || return
    built "$CACHE/p4est/complete" build_p4est
}
build_p4est() (
    cd "$CACHE/p4est" || exit
    echo 2.2 | tee .tarball-version >sc/.tarball-version
    ./bootstrap &&
        ./configure --enable-mpi --disable-shared --without-blas CC="$MPICC" CFLAGS="-O1 -w" &&
        make && make check TESTS= && touch complete
)
cases() {
    programs 4 "$CACHE"/p4est/{,sc/}test/*
}
run_case() {
    command=("$CACHE/p4est/$1")
}
comparable() { # not times
    sed -E '/attained at rank|std\. dev\./d
        s/[0-9.]+(e[-+]?[0-9]+)?%/…/g
        s/[0-9]*\.[0-9]+(e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+/…/g' "$1" | words
}
