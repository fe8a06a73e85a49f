# SPDX-License-Identifier: BSD-3-Clause
# Two builds side by side: which libwend a program gets, and recordings of one library that are used
# with the other. MPICH_BUILD_DIR and OPENMPI_BUILD_DIR are the builds; with one of them there is
# nothing to choose.
load ../helpers

setup() {
    in_scratch
    FAMILY=$(basename "$BUILD_DIR"/spec/*.target .target)
    case $FAMILY in
    mpich) OTHER_BUILD_DIR=${OPENMPI_BUILD_DIR:-} ;;
    openmpi) OTHER_BUILD_DIR=${MPICH_BUILD_DIR:-} ;;
    esac
}

other() { # command…: runs it with the configuration of the other build
    [ -n "${OTHER_BUILD_DIR:-}" ] || skip "there is a build for one MPI library only"
    (unset MPICC MPIEXEC MPIFORT WEND PROXYGEN
        BUILD_DIR=$OTHER_BUILD_DIR
        load ../helpers
        "$@")
}

@test "a program of another family than this build's is refused in one line, and not run" {
    other true
    status=0
    "$WEND" trace -o a.dir "$OTHER_BUILD_DIR/tests/programs/hello" >out 2>message || status=$?
    [ "$status" = 3 ]
    [ ! -s out ]
    [ "$(wc -l <message)" = 1 ]
    grep -q 'is linked with .*and there is no libwend-.*\.so' message
    [ ! -e a.dir ]
}

@test "installed side by side, each program is recorded with the library that goes with it" {
    other true
    for build in "$BUILD_DIR" "$OTHER_BUILD_DIR"; do
        make -s -C "$build" install DESTDIR="$PWD/root" >install.out 2>&1 ||
            fail "make install" "$(tail -n 5 install.out)"
    done
    installed=$(find root -path "*/bin/wend" -type f)
    [ "$(find root -name 'libwend-[mo]p*.so' | wc -l)" = 2 ]
    WEND=$PWD/$installed record here.dir 2 "$PROGRAMS/hello"
    "$WEND" show here.dir >here
    export OTHER_WEND=$PWD/$installed
    there() { WEND=$OTHER_WEND record there.dir 2 "$PROGRAMS/hello"; }
    other there
    "$WEND" show there.dir >there
    [ "$(grep '^MPI  ' here)" != "$(grep '^MPI  ' there)" ]
    # if the program does not show its family, the launcher does
    WEND=$PWD/$installed record here2.dir 2 sh -c 'exec "$0"' "$PROGRAMS/hello"
    there() { WEND=$OTHER_WEND record there2.dir 2 sh -c 'exec "$0"' "$PROGRAMS/hello"; }
    other there
    "$WEND" show there2.dir >/dev/null
}

# bats test_tags=long
@test "two builds in one prefix: uninstalling both, in either order, leaves nothing" {
    other true
    both=("$BUILD_DIR" "$OTHER_BUILD_DIR")
    for first in 0 1; do
        for build in "${both[@]}"; do
            quietly out make -s -C "$build" install DESTDIR="$PWD/root"
        done
        quietly out make -s -C "${both[first]}" uninstall DESTDIR="$PWD/root"
        [ "$(find root -name 'libwend-[mo]p*.so' | wc -l)" = 1 ] # the other's
        [ -e "$(find root -name libwend.so)" ]
        quietly out make -s -C "${both[!first]}" uninstall DESTDIR="$PWD/root"
        left=$(find root ! -type d -o -name wend)
        [ -z "$left" ] || fail "$left"
    done
}

@test "a family without a library is a usage error" {
    status=0
    "$WEND" trace --mpi none "$PROGRAMS/hello" 2>message || status=$?
    [ "$status" = 2 ]
    grep -q 'libwend-none.so' message
}

# past PROGRAM…: the other build's program runs under this build's library as it does alone, and one
# line says why there is no recording.
past() {
    ours=$BUILD_DIR/libwend-$FAMILY.so
    alone() { mpi 2 "$@" >plain.out; }
    preloaded() { mpi 2 env LD_PRELOAD="$ours" WEND_OUTPUT=a.dir "$@" >out 2>err; }
    other alone "$@"
    other preloaded "$@"
    diff <(sort plain.out) <(sort out)
    [ "$(grep -c '^wend:' err)" = 1 ]
    grep -q "has an MPI library that libwend-$FAMILY.so does not support.*nothing was recorded" err
    [ ! -e a.dir ]
}

@test "a program with another family's libwend preloaded runs undisturbed" {
    other true
    past "$OTHER_BUILD_DIR/examples/datatypes"
    export LD_BIND_NOW=1
    past "$OTHER_BUILD_DIR/examples/stencil2d"
}

@test "the same if MPI is loaded later, for one module alone" {
    other true
    past "$OTHER_BUILD_DIR/tests/programs/late" "$OTHER_BUILD_DIR/tests/programs/late.so"
}

# -- a recording under one library, compiled and run under the other --

across() { # N PROGRAM…
    across_or_expected "$@"
    [ "$difference" = 0 ] || fail "application and proxy differ" "$(cat diff.out)"
}

# The proxy may differ, as diff.out says.
across_or_expected() {
    record app.dir "$@" >/dev/null
    there() {
        quietly dump.out "$WEND" dump app.dir
        make_proxy app.dir ./proxy
        quietly proxy.out record proxy.dir "$1" ./proxy
    }
    other there "$1"
    difference=0
    "$WEND" diff app.dir proxy.dir >diff.out 2>&1 || difference=$?
    [ "$difference" -le 1 ]
}

@test "across: stencil2d" { across 4 "$EXAMPLES/stencil2d"; }
@test "across: a mesh that refines" { across 4 "$EXAMPLES/amr"; }
@test "across: master and workers" { across 4 "$EXAMPLES/masterworker"; }
@test "across: particles" { across 4 "$EXAMPLES/particles"; }
@test "across: polling" { across 4 "$EXAMPLES/polling"; }
@test "across: intercommunicators" { across 4 "$EXAMPLES/intercomm"; }
@test "across: files" { across 4 "$EXAMPLES/fileio"; }
@test "across: statuses" { across 4 "$PROGRAMS/statuses"; }
@test "across: graphs whose neighbours have an order of the library's" {
    across_or_expected 4 "$PROGRAMS/distgraph" all
    grep -q '^differ, only as expected of a proxy:$' diff.out
    rm -rf ./*.dir ./proxy ./proxy.c
    across 4 "$PROGRAMS/distgraph" alike
}
@test "across: sparse exchange" {
    across_or_expected 4 "$PROGRAMS/nbx" 8 7 0
    grep -q '^differ, only as expected of a proxy:$' diff.out
}
@test "across: use mpi_f08" {
    [ -x "$PROGRAMS/f08" ] || skip "no Fortran here"
    across 3 "$PROGRAMS/f08"
}

@test "proxygen names the functions that the proxy's library lacks" {
    other true
    status=0
    if grep -q 'MPI_Pready;' "$BUILD_DIR"/spec/*.target; then
        record app.dir 2 "$EXAMPLES/persistent" >/dev/null
    else
        there() { record app.dir 2 "$EXAMPLES/persistent"; }
        other there >/dev/null
    fi
    lacking=$(grep -L 'MPI_Pready;' {"$BUILD_DIR","$OTHER_BUILD_DIR"}/spec/*.target)
    lacking=$(basename "$lacking" .target)
    for build in "$BUILD_DIR" "$OTHER_BUILD_DIR"; do
        (BUILD_DIR=$build &&
            "$build/proxygen" app.dir -f -o p.c 2>"note-$(basename "$build"/spec/*.target .target)")
    done
    partitioned="MPI_Parrived, MPI_Pready, MPI_Pready_list, MPI_Pready_range, MPI_Precv_init"
    grep -qx "proxygen: p.c: .* lacks $partitioned and MPI_Psend_init" "note-$lacking"
    [ "$(cat note-* | wc -l)" = 1 ]
    for build in "$BUILD_DIR" "$OTHER_BUILD_DIR"; do
        target=$(basename "$build"/spec/*.target .target) status=0
        "$build/proxygen" app.dir -f -o p.c --target "$target" 2>message || status=$?
        [ "$target" = "$lacking" ] && [ "$status" = 1 ] || [ "$status" = 0 ]
    done
    status=0
    "$PROXYGEN" app.dir -o q.c --target none 2>message || status=$?
    [ "$status" = 2 ]
    [ ! -e q.c ]
}

# -- versions of one family --

# A library with two functions that Wend was not built for: one has 14 arguments, all of which
# matter, the other a long name.
OTHER=MPIX_Other_$(printf '%0200d' 0)
newer_library() {
    cat >more.c <<'END'
#define MORE int *rank, long a, long b, long c, long d, long e, long f, long g, long h, long i, \
             long j, long k, long l, long m
long PMPIX_More(MORE)
{
    return *rank * 0 + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j +
           11 * k + 12 * l + 13 * m;
}
long MPIX_More(MORE) __attribute__((weak, alias("PMPIX_More")));
int PMPIX_Other(void) { return 0; }
int MPIX_Other(void) __attribute__((weak, alias("PMPIX_Other")));
int MPIX_NUMBER = 7; /* no function */
END
    cat >newer.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MORE int *, long, long, long, long, long, long, long, long, long, long, long, long, long
long MPIX_More(MORE);
int MPIX_Other(void);
extern int MPIX_NUMBER;
long (*volatile pointer)(MORE) = MPIX_More;
int main(int argc, char **argv)
{
    int rank, which = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long sum = which > 0 ? pointer(&rank, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1L << 40) : 0;
    if (which > 0 && rank == 1)
        sum += MPIX_More(&rank, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    if (which > 1 && rank == 1)
        MPIX_Other();
    if (rank == 1)
        printf("sum %ld, number %d\n", sum, MPIX_NUMBER);
    MPI_Finalize();
    return 0;
}
END
    sed -i "s/MPIX_Other/$OTHER/g" more.c newer.c
    "$MPICC" -w -shared -fPIC more.c -o libmore.so
    "$MPICC" -w "$@" newer.c -o newer -L. -lmore -Wl,-rpath,"$PWD"
}

@test "called functions that Wend was not built for are named" {
    newer_library
    mpi 2 "$WEND" trace -o none.dir ./newer >out 2>err
    [ "$(cat out)" = "sum 0, number 7" ]
    [[ "$(grep '^wend:' err)" == *" bytes: $PWD/none.dir" ]] || fail "$(cat err)"
    ! "$WEND" show none.dir | grep '^not recorded' || fail "a reference is no call"

    mpi 2 "$WEND" trace -o one.dir ./newer 1 >out 2>err
    local sum=$((1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 81 + 100 + 121 + 144 + 13 * (1 << 40) + 91))
    [ "$(cat out)" = "sum $sum, number 7" ] || fail "$(cat out)"
    [ "$(grep -c '^wend:' err)" = 1 ]
    local lack="which the MPI library that Wend was built for lacks"
    grep -q "one.dir, without those of MPIX_More, $lack$" err || fail "$(cat err)"
    lack="Wend was built for an MPI library without them"
    "$WEND" show one.dir | grep -qx "not recorded    calls of MPIX_More: $lack"

    # The function is called by a rank that does not print, in a run with no other message, and in a
    # program at fixed addresses.
    newer_library -no-pie
    mpi 2 "$WEND" trace --quiet -o two.dir ./newer 2 >out 2>err
    grep -q "two.dir, without those of MPIX_More and $OTHER, which" err || fail "$(cat err)"
    "$PROXYGEN" two.dir -o proxy.c 2>message
    local calls="the application's calls of MPIX_More, $OTHER"
    [ "$(cat message)" = \
        "proxygen: proxy.c: $calls are not in the recording (see wend show)" ] ||
        fail "$(cat message)"
}
