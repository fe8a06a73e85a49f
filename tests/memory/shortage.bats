# SPDX-License-Identifier: BSD-3-Clause
# Memory is short at the end, when ranks merge. The application's results and exit status do not
# change, no rank waits for one that fails, and wend merge makes the recording from the parts.
load ../helpers
bats_require_minimum_version 1.5.0
setup() { in_scratch; }

SHORT=$BUILD_DIR/tests/support/shortage.so

# short RANK:FIRST:LAST (tests/support/shortage.c): records the program into a.dir; sets out, err
# and status. The preload comes before Wend, so it sees who allocates. UCX is turned off: its mmap
# would come before both, and allocations of the merge's heap would never fail.
short() {
    status=0
    rm -rf a.dir count
    UCX_MEM_MMAP_HOOK_MODE=none SHORTAGE=$1 SHORTAGE_COUNT=$PWD/count WEND_OUTPUT=$PWD/a.dir \
        mpi_ends 3 env LD_PRELOAD="$SHORT:$LIBWEND:$YIELD" "$PROGRAMS/shortage" >out 2>err ||
        status=$?
}

plainly() { # the program by itself
    status=0
    mpi_ends 3 "$PROGRAMS/shortage" >plain || status=$?
    [ "$status" = 3 ]
    short 0:0:0
    [ "$status" = 3 ] || fail "exit status $status" "$(cat err)"
    mv a.dir whole.dir
}

# If recording the call of MPI_Finalize fails, only this call is missing.
is_cut_at_end() {
    grep -q '^differ: 1 difference$' differences &&
        grep -q 'only in whole.dir: MPI_Finalize$' differences &&
        grep -q '^ *< [0-9]* *MPI_Finalize() ' differences
}

# Checks the last run, which WHAT describes. If there is no archive, sets kept, and wend merge makes
# it.
is_unharmed() {
    kept=
    [ "$status" = 3 ] || fail "$1: exit status $status" "$(cat err)" || return
    cmp plain out || fail "$1: other results" || return
    grep -q '^wend: ' err && [ "$(wc -l <err)" = 1 ] || fail "$1: not one line:" "$(cat err)" ||
        return
    if [ ! -e a.dir/trace.tar.zst ]; then
        kept=1
        grep -q "^wend: rank [0-9]: .*; to make the recording: wend merge $PWD/a.dir\$" err ||
            fail "$1: $(cat err)" || return
        "$WEND" merge a.dir >merged || fail "$1: no merge" || return
    fi
    "$WEND" diff whole.dir a.dir >differences || is_cut_at_end ||
        fail "$1: another recording" "$(cat err differences)" || return
}

# At RANK a single allocation fails or, with ALL, also all later ones. That is tried for every
# STRIDEth allocation. It is also tried for each one that grows the merge's heap, of which there are
# few: they provide all memory of the merge.
each() { # RANK ALL STRIDE
    local rank=$1 stride=$3 k count mappings tried failures=0
    short "$rank:0:0"
    { read -r count && read -r mappings; } <count
    [ "$count" -gt 20 ] || fail "hardly anything is allocated: $count" || return
    # A rank whose part another one reads has no heap.
    [ -n "$mappings" ] || [ "$rank:${WEND_SHARD_RANKS:-none}" = 2:none ] ||
        fail "the heap does not grow" || return
    tried=$({ seq 1 "$stride" "$count" && tr ' ' '\n' <<<"$mappings"; } | sort -nu)
    for k in $tried; do
        short "$rank:$k:$([ "$2" = all ] && echo 0 || echo "$k")"
        is_unharmed "rank $rank, allocation $k of $count, $2" || return
        [ -z "$kept" ] || failures=$((failures + 1))
    done
    echo "rank $rank, $2: $failures of $(wc -w <<<"$tried") left parts"
    [ "$failures" -gt 0 ] || fail "none of $count failed: this tests nothing"
}

each_of_ranks() {
    # With 1 each is tried, on all ranks (make check-shortage).
    local rank stride=400 ranks="0 1"
    [ -z "${LONG:-}" ] || stride=89
    stride=${SHORTAGE_STRIDE:-$stride}
    [ "$stride" != 1 ] || ranks="0 1 2"
    for rank in $ranks; do
        each "$rank" one "$stride" && each "$rank" all "$stride" || return
    done
}

@test "an allocation of the merge fails, on rank 0 or another, once or always" {
    export WEND_SHARD_RANKS=8 # each rank reads its own part
    plainly
    each_of_ranks
}

@test "an allocation fails where one rank reads the parts of all" {
    plainly
    local rank stride=${SHORTAGE_STRIDE:-400}
    for rank in 0 2; do
        each "$rank" one "$stride" && each "$rank" all "$stride" || return
    done
}

# bats test_tags=long
@test "an allocation fails where other ranks make shards, which they write" {
    export WEND_SHARD_RANKS=1
    plainly
    grep -qa WNDX whole.dir/trace.tar.zst || fail "there are no shards"
    each_of_ranks
}

# bats test_tags=long
@test "an allocation fails where ranks have side streams" {
    export WEND_VALUES=ON
    plainly
    tar --zstd -tf whole.dir/trace.tar.zst | grep -q '^values\.2$' || fail "there are no values"
    each_of_ranks
}

# The merge takes 150 MB on rank 0.
PROGRAM=("$PROGRAMS/irregular" apart 100000)

# The message if a rank does not enter MPI_Comm_create.
too_little='a rank does not answer, or has too little memory for the merge'

# Runs under shrinking limits, the last of which are too small for the merge. Each recording is
# equal to the one without a limit.
shrinking() { # FUNCTION…: runs it with each of $limits
    local kept=0 made=0 limit
    mpi 3 "$WEND" trace -q -o whole.dir "${PROGRAM[@]}" >plain
    for limit in $limits; do
        rm -rf a.dir
        status=0
        "$@" "$limit" mpi 3 "$WEND" trace -o a.dir "${PROGRAM[@]}" >out 2>err || status=$?
        [ "$status" = 0 ] || fail "$limit: exit status $status" "$(cat err)" || return
        cmp plain out || fail "$limit: other results" || return
        [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$limit: $(cat err)" || return
        if [ -e a.dir/trace.tar.zst ]; then
            made=$((made + 1))
        else
            kept=$((kept + 1))
            grep -qE "^wend: (rank [0-9]: .*|$too_little); to make the recording: wend merge" err ||
                fail "$limit: $(cat err)" || return
            "$WEND" merge a.dir >merged || return
        fi
        "$WEND" diff whole.dir a.dir || fail "$limit: another recording" || return
    done
    [ "$made" -gt 0 ] && [ "$kept" -gt 1 ] ||
        fail "$made recordings were made, $kept were not: this tests nothing"
}

with_addresses() { # KB command…
    (ulimit -v "$1" && "${@:2}")
}

# bats test_tags=long
@test "fewer and fewer addresses (RLIMIT_AS)" {
    local limits="1000000 450000 280000 230000"
    # The program itself maps a third more. Below these limits the recording stops before the end.
    ! library_is openmpi || limits="1000000 450000 400000 370000"
    shrinking with_addresses
}

# A library in the place of another tool, behind Wend. When MPI has started, it leaves the process
# LEAVE MB of addresses (or LEAVE_0, LEAVE_1 by rank), and it prints how many rank 0 has at the end.
limiter() {
    cat >limiter.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static int rank;
static long taken(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        abort();
    fclose(f);
    return pages << 12;
}
static void start(void)
{
    char name[16];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "LEAVE_%d", rank);
    const char *left = getenv(name) ? getenv(name) : getenv("LEAVE");
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = left ? taken() + (atol(left) << 20) : limit.rlim_cur;
    setrlimit(RLIMIT_AS, &limit);
}
int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    start();
    return rc;
}
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    start();
    return rc;
}
int MPI_Finalize(void)
{
    if (rank == 0 && getenv("TAKEN"))
        fprintf(stderr, "taken: %ld KB\n", taken() >> 10);
    return PMPI_Finalize();
}
END
    "$MPICC" -shared -fPIC limiter.c -o limiter.so
    mpi 2 "${PROGRAM[@]}" >plain
}

leaving() { # VARIABLE=MB…: records into a.dir with these addresses
    rm -rf a.dir
    (
        export "$@" LD_PRELOAD="$PWD/limiter.so"
        mpi 2 "$WEND" trace -o a.dir "${PROGRAM[@]}" >out 2>err
    ) || fail "$*: status $?" "$(cat err)" || return
    cmp plain out || fail "$*: other results" || return
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "$*: $(cat err)"
}

@test "so few addresses that recording stops before the end" {
    local PROGRAM=("$PROGRAMS/irregular" apart 100000)
    limiter
    leaving LEAVE=69
    grep -q "^wend: $too_little; to make the recording: wend merge $PWD/a.dir\$" err ||
        fail "$(cat err)"
    "$WEND" merge a.dir >merged
    # each at a call of its own, or both at the same
    grep -Eq '\branks? 0(-1)?: recorded up to WEND_MAX_MEMORY' merged &&
        grep -Eq '\brank(s 0-| )1: recorded up to WEND_MAX_MEMORY' merged || fail "$(cat merged)"
}

@test "at the start fewer addresses than recording needs: the program runs without" {
    local PROGRAM=("$PROGRAMS/irregular" apart 2000)
    local off='fewer than 64 MB of addresses are left (RLIMIT_AS); recording is off'
    limiter
    leaving LEAVE=100
    [ -e a.dir/trace.tar.zst ]
    local which
    for which in LEAVE LEAVE_0; do
        leaving $which=50
        grep -qxF "wend: $off" err || fail "$which: $(cat err)"
        [ ! -e a.dir ] || fail "$which: $(ls -R a.dir)"
    done
    leaving LEAVE_1=50
    grep -q "^wend: $too_little; to make the recording: wend merge $PWD/a.dir\$" err ||
        fail "$(cat err)"
    "$WEND" merge a.dir >merged
    grep -q 'rank 1: nothing was saved' merged || fail "$(cat merged)"
}

@test "what the recorder takes of the addresses is a few megabytes" {
    local PROGRAM=("$PROGRAMS/irregular" apart 2000) alone recorded
    limiter
    export LD_PRELOAD=$PWD/limiter.so TAKEN=1
    alone=$(mpi 2 "${PROGRAM[@]}" 2>&1 | sed -n 's/^taken: \(.*\) KB$/\1/p')
    recorded=$(mpi 2 "$WEND" trace -q -o a.dir "${PROGRAM[@]}" 2>&1 |
        sed -n 's/^taken: \(.*\) KB$/\1/p')
    unset LD_PRELOAD
    echo "$alone KB alone, $recorded KB recorded"
    [ "$alone" -gt 20000 ]
    [ $((recorded - alone)) -lt 10240 ]
}

# Makes a control group of either version. Sets $group to it, and $group_limit to the file with its
# limit. Skips the test if that is not possible.
make_group() {
    local version
    for version in memory.max:/sys/fs/cgroup memory.max:/sys/fs/cgroup/unified \
        memory.limit_in_bytes:/sys/fs/cgroup/memory; do
        group=${version#*:}/wend-test-$$
        mkdir "$group" 2>/dev/null || continue
        group_limit=$group/${version%:*}
        [ -w "$group_limit" ] && return
        rmdir "$group"
    done
    skip "no control group for memory can be made here"
}

teardown() {
    [ -z "${group-}" ] || rmdir "$group"
}

in_group() { # MB command…: it and what it starts
    echo $(($1 << 20)) >"$group_limit"
    (echo "$BASHPID" >"$group/cgroup.procs" && "${@:2}")
}

# Beyond the limit the kernel kills the process, and no allocation fails. So the merge itself has to
# stay below it.
@test "less and less memory (control group)" {
    make_group
    limits="450 180 100 64" shrinking in_group
}

@test "the merge calls nothing that ends the process" {
    local ends='\b(g_error|g_abort|g_critical) *\(' objects
    ! grep -rnE --include='*.[ch]' "$ends" "$SOURCE_DIR/lib" "$SOURCE_DIR/src" ||
        fail "an error is to be returned, or memory_short called"
    # It uses no GLib or libarchive, nor malloc, which may be the application's and broken: only
    # the allocator does, in commands.
    objects=$(make -C "$BUILD_DIR" -s --no-print-directory \
        --eval='merge-objects: ; @echo $(libwendmerge_so_OBJECTS)' merge-objects)
    cd "$BUILD_DIR"
    nm -A --undefined-only ${objects/lib\/base\/memory.o/} | awk '{ print $3 }' | sort -u \
        >"$BATS_TEST_TMPDIR/needed"
    [ "$(grep -c . "$BATS_TEST_TMPDIR/needed")" -gt 100 ]
    ends='g_.*|archive_.*|malloc|calloc|realloc|free|str.?dup|v?asprintf|abort|exit|_exit|qsort'
    ! grep -xE "$ends|__assert_fail" "$BATS_TEST_TMPDIR/needed" || fail "the merge calls these"
    [ "$(nm -D --defined-only libwendmerge.so | grep -cv ' wend_step_')" = 0 ]
}
