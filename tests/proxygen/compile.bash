# SPDX-License-Identifier: BSD-3-Clause
# What the bats files of this folder share.
# shellcheck disable=SC1091
source "$(dirname "${BASH_SOURCE[0]}")/../helpers.bash"

# Makes a recording of an example in app.dir, and its proxy in proxy.c.
record_and_compile() {
    local n=$1 program=$2
    shift 2
    record app.dir "$n" "$EXAMPLES/$program" "$@" >/dev/null && make_proxy app.dir ./proxy
}

# in_several_files N: the proxy of app.dir, in a folder, records the same
in_several_files() {
    "$PROXYGEN" app.dir -o parts/ &&
        make -s -C parts CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -pthread" &&
        quietly parts.out record parts.dir "$1" parts/proxy &&
        "$WEND" diff app.dir parts.dir
}

# compiles_in_seconds PROGRAM N [FLAG…]: PROGRAM.c makes a recording of N ranks whose proxy is the
# same, and proxygen takes less than half a minute.
compiles_in_seconds() {
    local program=$1 n=$2
    "$MPICC" -O2 "${@:3}" "$program.c" -o "$program"
    record app.dir "$n" "./$program"
    timeout 30 "$PROXYGEN" app.dir -o proxy.c
    "$MPICC" "${PROXY_CFLAGS[@]}" proxy.c -o proxy
    record proxy.dir "$n" ./proxy
    "$WEND" diff app.dir proxy.dir
}
