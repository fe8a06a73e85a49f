# SPDX-License-Identifier: BSD-3-Clause
# The examples in MPICH's own source (but ircpi, which hangs by itself).
build() {
    fetch mpich || return
    local name
    for name in cpi icpi hellow srtest; do
        built "$CACHE/mpich/examples/$name.exe" "$MPICC" -w -O2 "$CACHE/mpich/examples/$name.c" \
            -o "$CACHE/mpich/examples/$name.exe" -lm || return
    done
}
cases() {
    local name
    for name in cpi icpi hellow srtest; do
        printf '%s 4\n%s 9\n' "$name" "$name"
    done
}
run_case() {
    command=("$CACHE/mpich/examples/$1.exe")
    printf '100\n1000\n0\n' >input # intervals for icpi; 0 ends
    INPUT=$PWD/input
}
comparable() {
    sed 's/wall clock time = .*//' "$1" | words
}
