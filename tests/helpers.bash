# SPDX-License-Identifier: BSD-3-Clause
# helpers.bash: what the bats files and the scripts beside them share ("load ../helpers"). BUILD_DIR
# is the folder of the build (default: build/ in the sources).
#
#   mpi N command…            runs N ranks for at most $TEST_TIMEOUT seconds, with standard input
#                             from $INPUT; says so if they hang
#   mpi_ends N command…       the same; the status is the one that all ranks end with
#   record DIR N command…     the same under "wend trace -o DIR"
#   make_proxy DIR PROGRAM    runs proxygen and the compiler, without warnings
#   roundtrip N program…      runs, records and dumps it, compiles its proxy, records that, compares
#   same_output N program…    the program prints and returns the same with and without Wend
#   same_lines N program…     the same, with lines in any order
#   library_is FAMILY         whether the MPI library under test is of it (mpich, openmpi)
#   often N                   how many of N cases to try: all with LONG, else a third
#   few CASE…                 the cases to try: all with LONG, else every third
#   library_has FUNCTION      skips the test if the MPI library does not have it
#   patience S                S seconds, and more if programs start slowly on a busy machine
#
# All functions write to the current folder; "in_scratch" (for setup) makes that a folder of the
# test's own.

HELPERS_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${BUILD_DIR:=$HELPERS_DIR/../build}"
# shellcheck disable=SC1091
source "$BUILD_DIR/tests/config.bash" ||
    { echo "no build in $BUILD_DIR: set BUILD_DIR" >&2; exit 1; }

: "${TEST_TIMEOUT:=120}"
WEND=${WEND:-$BUILD_DIR/wend}
PROXYGEN=${PROXYGEN:-$BUILD_DIR/proxygen}
EXAMPLES=$BUILD_DIR/examples
PROGRAMS=$BUILD_DIR/tests/programs
LIBWEND=$BUILD_DIR/libwend.so
YIELD=$BUILD_DIR/tests/support/yield.so
# The flags for proxies, which must compile without any warning.
PROXY_CFLAGS=(-std=c11 -pedantic -Wall -Wextra -Werror)
# Tests must not depend on settings in the environment.
for variable in ${!WEND_@}; do unset "$variable"; done
export LC_ALL=C
# Ranks of these tests do little, and a fifth of their time would go to what the library looks for
# when it starts: the machine's processors and caches. "make" wrote them to a file.
if [ -s "$BUILD_DIR/tests/topology.xml" ]; then
    export HWLOC_XMLFILE=$BUILD_DIR/tests/topology.xml HWLOC_THISSYSTEM=1
fi

# Each test has a folder for Open MPI's launcher, too. A launcher that begins while another one ends
# may fail in their common folder.
in_scratch() {
    export OMPI_MCA_orte_tmpdir_base=${BATS_TEST_TMPDIR:?}-launcher
    mkdir -p "$OMPI_MCA_orte_tmpdir_base" && cd "$BATS_TEST_TMPDIR" || return 1
}

# Makes a folder in the scratch folder whose name has more than a kilobyte, and sets $long to it.
long_folder() {
    local part
    part=$(printf '%0200d' 7)
    long=$PWD/$part/$part/$part/$part/$part/$part
    mkdir -p "$long"
}

# library_has FUNCTION: the MPI library under test has it; else the test is skipped.
library_has() {
    grep -q "^#define HAVE_$1 " "$BUILD_DIR/src/tracer/library.gen.h" ||
        skip "the MPI library has no $1"
}

library_is() { # mpich or openmpi, the family
    [ -f "$BUILD_DIR/spec/$1.target" ]
}

often() { # N: how many cases a test tries. N of them, or, without LONG, a third of that
    [ -n "${LONG:-}" ] && echo "$1" || echo $((($1 + 2) / 3))
}

few() { # CASE…, of which a test tries all, or, without LONG, every third
    local i step=3
    [ -z "${LONG:-}" ] || step=1
    for ((i = 1; i <= $#; i += step)); do printf '%s\n' "${!i}"; done
}

fail() {
    printf '%s\n' "$@" >&2
    return 1
}

# The options with which the launcher allows more ranks than cores. Open MPI's launcher is OpenRTE
# up to 4.1. It would choose pml ob1 here, but only after a search for fast networks. Two of its
# components fail in the test programs without Wend: the one-sided operations over shared memory
# crash (osc rdma and ucx), and collective file operations read data that was not written (io
# ompio).
LAUNCH=("$MPIEXEC")
case "$("$MPIEXEC" --version 2>/dev/null | head -n 1)" in
*OpenRTE*)
    LAUNCH+=(--map-by slot:OVERSUBSCRIBE --allow-run-as-root --mca mpi_yield_when_idle 1 \
        --mca osc pt2pt,sm --mca io ^ompio --mca pml ob1) ;;
*Open*MPI* | *PRRTE*)
    LAUNCH+=(--map-by slot:OVERSUBSCRIBE --allow-run-as-root --mca mpi_yield_when_idle 1) ;;
esac

mpi() {
    local n=$1 status=0
    shift
    [ -f "$YIELD" ] || fail "no $YIELD: make check builds it" || return
    LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$YIELD" timeout -k 5 "$TEST_TIMEOUT" "${LAUNCH[@]}" \
        -n "$n" "$@" <"${INPUT:-/dev/null}" || status=$?
    case $status in
    124 | 137) echo "HANG: still running after $TEST_TIMEOUT s, $n ranks: $*" >&2 ;;
    esac
    return "$status"
}

# Open MPI's launcher kills all ranks as soon as one ends with an error. So a shell around each rank
# writes the rank's status to a file and ends without error.
mpi_ends() {
    library_is openmpi || { mpi "$@" || return; return; }
    local n=$1 ends
    shift
    rm -f ended.*
    # shellcheck disable=SC2016
    mpi "$n" sh -c '"$@"; echo $? >"ended.$OMPI_COMM_WORLD_RANK"' - "$@" || return
    ends=$(cat ended.*)
    [ "$(wc -l <<<"$ends")" = "$n" ] && [ "$(uniq <<<"$ends" | wc -l)" = 1 ] ||
        fail "$n ranks ended differently, with" "$ends" || return
    return "${ends%%$'\n'*}"
}

# A replay must not lose its patience while the ranks start: others may use the machine, too.
patience() {
    local began=${EPOCHREALTIME/[.,]/}
    mpi 2 "$PROGRAMS/hello" >/dev/null || return
    echo $(($1 + 4 * (${EPOCHREALTIME/[.,]/} - began) / 1000000))
}

record() {
    local dir=$1 n=$2
    shift 2
    mpi "$n" "$WEND" trace --quiet -o "$dir" "$@"
}

make_proxy() {
    local dir=$1 program=$2
    timeout -k 5 "$TEST_TIMEOUT" "$PROXYGEN" "$dir" -o "$program.c" ||
        fail "proxygen $dir failed" || return
    timeout -k 5 "$TEST_TIMEOUT" "$MPICC" "${PROXY_CFLAGS[@]}" -O1 "$program.c" -o "$program" ||
        fail "the proxy of $dir does not compile without a warning" || return
}

# quietly FILE command…: writes the output to FILE, and shows it only on failure.
quietly() {
    local file=$1 status=0
    shift
    "$@" >"$file" 2>&1 || status=$?
    [ "$status" = 0 ] || { echo "exit status $status: $*"; tail -n 40 "$file"; } >&2
    return "$status"
}

same_output() {
    local n=$1 recorded=0
    plain_status=0
    shift
    mpi "$n" "$@" >plain.out 2>plain.err || plain_status=$?
    case $plain_status in
    124 | 137)
        fail "the program itself hangs" "$(tail -n 5 plain.err)"
        return 1 ;;
    esac
    record app.dir "$n" "$@" >recorded.out 2>recorded.err || recorded=$?
    [ "$plain_status" = "$recorded" ] ||
        fail "exit status $plain_status alone, $recorded recorded" \
        "$(tail -n 20 recorded.out recorded.err)" || return
    diff plain.out recorded.out >&2 || fail "standard output changed under wend trace" || return
}

# A launcher may print the line of one rank in the middle of another's.
lines_of() {
    sed 's/\(.\)\(rank [0-9]\)/\1\n\2/g' "$1" | sed '/^$/d' | sort
}

# Like same_output, for programs whose ranks write in any order. The recording is app.dir.
same_lines() {
    local n=$1
    shift
    mpi "$n" "$@" >plain.out 2>plain.err || return
    record app.dir "$n" "$@" >recorded.out 2>recorded.err || return
    diff <(lines_of plain.out) <(lines_of recorded.out) >&2 ||
        fail "standard output changed under wend trace" || return
    diff plain.err recorded.err >&2 || fail "standard error changed under wend trace" || return
}

roundtrip() {
    local n=$1
    shift
    same_output "$n" "$@" || return
    [ "$plain_status" = 0 ] ||
        fail "the program fails by itself" "$(tail -n 20 plain.out plain.err)" || return
    roundtrip_from_recording "$n"
}

# The second half of a round trip, from app.dir.
roundtrip_from_recording() {
    local n=$1
    quietly show.out "$WEND" show app.dir || return
    quietly dump.out timeout "$TEST_TIMEOUT" "$WEND" dump app.dir || return
    make_proxy app.dir ./proxy || return
    quietly proxy.out record proxy.dir "$n" ./proxy || return
    quietly diff.out timeout "$TEST_TIMEOUT" "$WEND" diff app.dir proxy.dir ||
        fail "application and proxy differ" || return
}

# Debian's mpi4py is built for one MPI library: whether it is that of the build. Sets PYTHON to the
# Python that has it.
library_of() { ldd "$1" | sed -n 's/^\t\(libmpi[^ ]*\.so\.[0-9]*\) .*/\1/p' | sort | head -n 1; }
has_mpi4py() {
    local python extension
    for python in "$PYTHON" /usr/bin/python3; do
        extension=$("$python" -c 'import importlib.util as u
print(u.find_spec("mpi4py.MPI").origin)' 2>/dev/null) &&
            [ "$(library_of "$extension")" = "$(library_of "$PROGRAMS/hello")" ] || continue
        PYTHON=$python
        return
    done
    return 1
}

# repeated_calls N DIR: a recording of two ranks of which each makes 2 N calls.
repeated_calls() {
    printf '%s\n' 'ranks 2' 'rank 0' "repeat $1" 'MPI_Send dest=1' MPI_Barrier end \
        'rank 1' "repeat $1" MPI_Recv MPI_Barrier end |
        "$BUILD_DIR/tests/decoder/script" - "$2"
}

# export_memory FORMAT RECORDING: the kilobytes of memory that wend export takes. The one that
# starts it is a small program, since its own memory at that time counts, too.
export_memory() {
    cat >peak.c <<'C'
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct rusage used;
    int status = 1;
    pid_t child = fork();
    if (child == 0 && argc > 1)
        execv(argv[1], argv + 1);
    if (child <= 0 || wait4(child, &status, 0, &used) != child || status != 0)
        return 1;
    printf("%ld\n", used.ru_maxrss);
    return 0;
}
C
    [ -x peak ] || cc peak.c -o peak || return
    ./peak "$WEND" export "$1" -o exported -f "$2" 2>/dev/null || return
    rm -rf exported
}

# export_takes_as_much FORMAT LESS MORE KB: wend export takes less than so much more memory for the
# recording MORE.
export_takes_as_much() {
    local less more
    less=$(export_memory "$1" "$2") && more=$(export_memory "$1" "$3") || return
    [ $((more - less)) -lt "$4" ] || fail "$1: $less and $more KB"
}

# export_needs_no_more FORMAT: wend export takes no more memory for a recording with more calls.
export_needs_no_more() {
    [ -d less.dir ] || repeated_calls 1000 less.dir || return
    [ -d more.dir ] || repeated_calls 30000 more.dir || return
    export_takes_as_much "$1" less.dir more.dir 2000
}

# export_of_times_needs_no_more FORMAT: the same, where the time of each call is recorded.
export_of_times_needs_no_more() {
    local less more
    cat >busy.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < atoi(argv[1]); i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" busy.c -o busy || return
    rm -rf less.dir more.dir
    mpi 2 "$WEND" trace --quiet --times=lossless -o less.dir ./busy 800000 || return
    mpi 2 "$WEND" trace --quiet --times=lossless -o more.dir ./busy 3000000 || return
    # Both are so long that their times are read as they are needed. In memory they would take as
    # much as they differ in the archive.
    less=$(stat -c %s less.dir/trace.tar.zst) more=$(stat -c %s more.dir/trace.tar.zst)
    [ "$less" -gt 600000 ] && [ $((more - less)) -gt 1600000 ] ||
        fail "the times are short: $less and $more" || return
    export_takes_as_much "$1" less.dir more.dir 1200
}

# export_shows_progress FORMAT: wend export shows on a terminal how far it is, and nowhere else.
export_shows_progress() {
    command -v script >/dev/null || skip "no script of util-linux"
    local command="'$WEND' export $1 -f -o out progress.dir"
    [ -d progress.dir ] || repeated_calls 5000 progress.dir || return
    script -qec "$command" shown >/dev/null </dev/null
    grep -q 'exporting: [1-9][0-9]* %' shown || fail "$1: $(cat shown)" || return
    # the line is wiped at the end
    tail -n +2 shown | tr '\r' '\n' | grep -A 1 exporting | tail -n 1 | grep -q '^.\[K' ||
        fail "$1: $(cat -v shown)" || return
    rm -rf out
    script -qec "$command 2>said" shown >/dev/null </dev/null
    ! grep -q exporting shown said || fail "$1: $(cat shown said)" || return
    [ "$(wc -l <said)" = 1 ] || fail "$1: $(cat said)" || return
    rm -rf out
}

# export_is_stopped FORMAT RECORDING: a signal ends wend export, and leaves nothing of its output.
export_is_stopped() {
    local job status=0 i
    "$WEND" export "$1" -o big "$2" 2>said &
    job=$!
    for ((i = 0; i < 200; i++)); do
        [ -z "$(find . -maxdepth 1 -name '.wend-*')" ] || break
        sleep 0.01
    done
    kill -TERM $job
    wait $job || status=$?
    [ $status = 143 ] || fail "$1: status $status" "$(cat said)" || return
    [ ! -e big ] && [ -z "$(find . -name '.wend-*')" ] || fail "$1: $(ls -A)"
}
