# SPDX-License-Identifier: BSD-3-Clause
# Round trips of the small programs in tests/programs. Each tests one difficult case.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }

@test "round trip: hello, 1 rank" { roundtrip 1 "$PROGRAMS/hello"; }
@test "round trip: arguments" { roundtrip 4 "$PROGRAMS/arguments"; }
@test "round trip: errors" { roundtrip 3 "$PROGRAMS/errors"; }
@test "each sentinel of the C interface: what arrives is the same, and the round trip" {
    same_lines 3 "$PROGRAMS/sentinels"
    roundtrip_from_recording 3
}
@test "round trip: statuses" { roundtrip 4 "$PROGRAMS/statuses"; }
@test "round trip: callbacks" { roundtrip 4 "$PROGRAMS/callbacks"; }
@test "round trip: keys that are named after they were freed" { roundtrip 2 "$PROGRAMS/keys"; }
@test "round trip: NULL where a call gives a result" { roundtrip 2 "$PROGRAMS/nulls"; }
@test "round trip: handles that are none, and functions that are NULL" {
    roundtrip 2 "$PROGRAMS/invalid"
    [ "$(grep -c 'MPI_Cancel(request=unknown) -> MPI_ERR_REQUEST' dump.out)" = 2 ]
    [ "$(grep -c 'MPI_Register_datarep(.*dtype_file_extent_fn=NULL' dump.out)" = 2 ]
    "$WEND" dump -F jsonl app.dir >lines
    [ "$(grep -c '"dtype_file_extent_fn": *null' lines)" = 2 ]
    # The library has everything that the proxy needs, also as macros.
    library_is openmpi && family=openmpi || family=mpich
    run --separate-stderr "$PROXYGEN" --target "$family" app.dir -o files/
    [ "$status" = 0 ]
    [ -z "$stderr" ]
    make -s -C files CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O1"
    record files.dir 2 files/proxy
    "$WEND" diff app.dir files.dir
}
@test "round trip: displacements from one segment to another" {
    roundtrip 2 "$PROGRAMS/displacements"
    # displacements between segments are distances of two places, and no others are
    [ "$(grep -c 'MPI_Type_create_struct.*heap#[0-9+]* - heap#[0-9+]*\]' dump.out)" = 16 ]
    [ "$(grep -c 'MPI_Type_create_hindexed.*stack#0.* - heap#.*static#0.* - heap#' dump.out)" = 2 ]
    [ "$(grep -c 'MPI_Type_create_struct.*array_of_displacements=\[0, 8\]' dump.out)" = 2 ]
    [ "$(grep -c 'MPI_Type_get_extent.*lb=.* - .*extent=unknown' dump.out)" = 2 ]
    # nor are extents that happen to be equal to a distance
    [ "$(grep -c 'MPI_Type_get_extent.*lb=0, extent=[0-9]*$' dump.out)" = 2 ]
    [ "$(grep -c 'MPI_Type_get_extent.*lb=heap#[0-9]*, extent=unknown$' dump.out)" = 2 ]
}
@test "round trip: long arrays that follow a pattern" {
    roundtrip 3 "$PROGRAMS/folded"
    for rank in 0 1 2; do
        "$WEND" dump -r "$rank" -f MPI_Type_create_hindexed_block app.dir |
            sed -n 's/.*array_of_displacements=\[\([^]]*\)\].*/\1/p' >said
        diff said "folded.$rank" || fail "rank $rank: not the elements that the program gave" ||
            return
    done
    # one array of thirteen follows no pattern, and one is too short
    [ "$(wc -c <app.dir/trace.tar.zst)" -lt 40000 ]
}
@test "round trip: long arrays of addresses" {
    roundtrip 2 "$PROGRAMS/folded" addresses
    for segment in static heap; do
        elements="\[$segment#[^ ]*, $segment#.*, $segment#[^ ]*\]"
        [ "$(grep -c "MPI_Type_create_hindexed_block.*$elements" dump.out)" = 2 ]
    done
}
@test "numbers that happen to be addresses are recorded as numbers" {
    record app.dir 1 "$PROGRAMS/folded" chance
    "$WEND" dump -f MPI_Type_create_hindexed_block app.dir >dump.out
    grep -Eq 'array_of_displacements=\[([0-9]+, )+[0-9]+\]' dump.out
}
@test "round trip: counts by chance that come again now and then" {
    roundtrip 2 "$PROGRAMS/irregular" again 3000
}
# bats test_tags=once
@test "round trip: each iteration with tags of its own" {
    roundtrip 3 "$PROGRAMS/tagged"
    # with numbers and shapes of its own, each iteration would take as many bytes
    record long.dir 3 "$PROGRAMS/tagged" 10000
    [ "$(stat -c %s long.dir/trace.tar.zst)" -lt $((2 * $(stat -c %s app.dir/trace.tar.zst))) ] ||
        fail "$(ls -l ./*.dir/trace.tar.zst)"
}
# bats test_tags=once
@test "round trip: requests that have numbers in common and complete in any order" {
    roundtrip 3 "$PROGRAMS/tagged" 300 rolling
    # two runs take the numbers in different orders
    record again.dir 3 "$PROGRAMS/tagged" 1000 rolling
    record other.dir 3 "$PROGRAMS/tagged" 1000 rolling
    "$WEND" diff again.dir other.dir
}
@test "round trip: MPI_Alltoallv with counts by chance" {
    roundtrip 6 "$PROGRAMS/irregular" exchange 5
}
@test "round trip: requests at places that differ by rank and in time" {
    roundtrip 4 "$PROGRAMS/partners"
    # alternating lists are stored once, however often they occur
    grep -q 'next_slot(' proxy.c
    [ "$(sed -n 's/^static const int times_and_place_[0-9]*\[\([0-9]*\)\].*/\1/p' proxy.c |
        sort -n | tail -n 1)" -lt 40 ]
    rm -r proxy.dir proxy
    timeout "$TEST_TIMEOUT" "$PROXYGEN" app.dir -o files/
    make -s -C files CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O1"
    record proxy.dir 4 files/proxy
    "$WEND" diff app.dir proxy.dir
}
@test "round trip: requests at places that differ in time, some in loops of open order" {
    roundtrip 1 "$PROGRAMS/shuffled"
}
@test "round trip: early and late calls" { roundtrip 2 "$PROGRAMS/early"; }
@test "round trip: threads" { roundtrip 2 "$PROGRAMS/threads"; }
@test "round trip: published names" { roundtrip 2 "$PROGRAMS/services"; }
@test "round trip: sessions" { library_has MPI_Session_init; roundtrip 2 "$PROGRAMS/sessions"; }
@test "round trip: a session of one rank" {
    library_has MPI_Session_init
    roundtrip 1 "$PROGRAMS/sessions"
}
@test "round trip: a session of each thread" {
    library_has MPI_Session_init
    roundtrip 2 "$PROGRAMS/sessions" threads
}
@test "round trip: wildcards that one rank sends to" { roundtrip 3 "$PROGRAMS/wildcards"; }
@test "round trip: wildcards on communicators of their own" {
    roundtrip 5 "$PROGRAMS/wildcards" comms
    ! grep -q pinned proxy.c || false
}
@test "round trip: files that existed before, or were made and removed without MPI" {
    roundtrip 3 "$PROGRAMS/files"
    quietly diff.out "$WEND" diff --outcomes app.dir proxy.dir
}
@test "round trip: neighbours in graphs with and without weights" { roundtrip 3 "$PROGRAMS/graph"; }
@test "round trip: partners whose numbers differ in one bit, and a binomial tree" {
    roundtrip 8 "$PROGRAMS/butterfly"
    grep -q 'rank ^ 4' proxy.c
}
@test "round trip: thousands of calls whose arguments go up in equal steps, by rank" {
    roundtrip 3 "$PROGRAMS/rows" own
}
# bats test_tags=once
@test "round trip: a root takes no more bytes for such calls" {
    roundtrip 3 "$PROGRAMS/rows"
    [ "$(stat -c %s app.dir/trace.tar.zst)" -lt 1500 ]
}
@test "round trip: calls that ranks leave out on coarse levels" {
    roundtrip 8 "$PROGRAMS/coarse"
}
@test "round trip: neighbours in a torus, some of which are left out in some rows" {
    roundtrip 8 "$PROGRAMS/torus"
}
@test "round trip: ranks in communicators, in calls that are rows of a table" {
    roundtrip 8 "$PROGRAMS/themselves"
}
@test "round trip: trip counts by rank" {
    roundtrip 5 "$PROGRAMS/trips"
    "$WEND" diff --outcomes app.dir proxy.dir
    grep -q 'i < rank + 2; ' proxy.c
}
@test "round trip: one function of two types, one array for two arguments" {
    roundtrip 3 "$PROGRAMS/twice"
}
@test "round trip: attached blocks whose addresses are used again" {
    roundtrip 4 "$PROGRAMS/dynamic" blocks
}
@test "round trip: datatypes of addresses at the target of a dynamic window" {
    roundtrip 4 "$PROGRAMS/dynamic" bottom
}
@test "round trip: a dynamic window of some ranks" { roundtrip 5 "$PROGRAMS/dynamic" half; }
@test "round trip: a list that grows by what is read from a dynamic window" {
    roundtrip 4 "$PROGRAMS/dynamic" list
}

# MPICH's info key coll_attach makes MPI_Win_attach wait for all. A tool behind Wend does so here,
# and lets the other process go on long before its own.
@test "an address is that of attached memory as soon as its owner may have returned" {
    library_is openmpi && skip "its MPI_Aint_add is a macro"
    cat >tool.c <<'END'
#include <mpi.h>
#include <unistd.h>
int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    int rank, status = PMPI_Win_attach(win, base, size);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        usleep(500000);
    return status;
}
END
    cat >together.c <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    char *block = malloc(4096);
    MPI_Aint place[2];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_address(block, &place[rank]);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, place, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, block, 4096);
    if (rank == 0)
        MPI_Aint_add(place[1], 8);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, block);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" -shared -fPIC tool.c -o tool.so
    "$MPICC" together.c -o together
    LD_PRELOAD=$PWD/tool.so record a.dir 2 ./together
    "$WEND" dump --rank 0 a.dir >dump
    grep -q 'MPI_Aint_add(base=1:heap#0, ' dump || fail "$(cat dump)"
}

# A tool behind Wend that has the other process attach its memory while the call runs.
@test "an address that another process attaches meanwhile is recorded as a number" {
    library_is openmpi && skip "its MPI_Aint_add is a macro"
    cat >tool.c <<'END'
#include <mpi.h>
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    char c = 0;
    PMPI_Send(&c, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    PMPI_Recv(&c, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return PMPI_Aint_add(base, disp);
}
END
    cat >late.c <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    char *block = malloc(4096), c;
    MPI_Aint place;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 1) {
        MPI_Get_address(block, &place);
        MPI_Send(&place, 1, MPI_AINT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&c, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_attach(win, block, 4096);
        MPI_Send(&c, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&place, 1, MPI_AINT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        place = MPI_Aint_add(place, 8);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Win_detach(win, block);
    MPI_Win_free(&win);
    free(block);
    MPI_Finalize();
    return place == 0;
}
END
    "$MPICC" -shared -fPIC tool.c -o tool.so
    "$MPICC" late.c -o late
    LD_PRELOAD=$PWD/tool.so record a.dir 2 ./late
    "$WEND" dump --rank 0 a.dir >dump
    local sum=$(grep MPI_Aint_add dump)
    [[ $sum =~ base=([0-9]+),\ disp=8.*return=([0-9]+)$ ]] || fail "$sum"
    [ $((BASH_REMATCH[1] + 8)) = "${BASH_REMATCH[2]}" ] || fail "$sum"
}

@test "round trip: wildcards between barriers on another communicator" {
    roundtrip 4 "$PROGRAMS/wildcards" phases
}
@test "round trip: wildcards before a message that their completion causes" {
    roundtrip 4 "$PROGRAMS/wildcards" sent
    ! grep -q pinned proxy.c || false
}
@test "round trip: the same on a communicator that other ranks go on using" {
    roundtrip 4 "$PROGRAMS/wildcards" mixed
    ! grep -q pinned proxy.c || false
}
@test "round trip: wildcards before a message that the lock of a window keeps back" {
    roundtrip 4 "$PROGRAMS/wildcards" locks
    ! grep -q pinned proxy.c || false
}
@test "round trip: wildcards of which the last is cancelled" {
    roundtrip 3 "$PROGRAMS/cancelled"
    ! grep -q pinned proxy.c || false
}
@test "proxies of wildcards beside collective calls that move no data" {
    local kind
    for kind in $(few 0 11 5 1 2 3 4 6 7 8 9 10 12); do
        rm -rf app.dir proxy.dir proxy.c
        record app.dir 3 "$PROGRAMS/wildcards" empty "$kind" && make_proxy app.dir ./proxy &&
            TEST_TIMEOUT=20 record proxy.dir 3 ./proxy || fail "kind $kind" || return
        "$WEND" diff app.dir proxy.dir >diff.out || # pinned
            grep -q '^differ, only as expected' diff.out ||
            fail "kind $kind: $(cat diff.out)" || return
    done
}
@test "the matching follows messages through collective calls that move no data" {
    record app.dir 4 "$PROGRAMS/wildcards" empty
    "$WEND" show --messages app.dir >shown
    grep -q '^messages  *28, 112 B' shown || fail "$(cat shown)" || return
    ! grep -q 'out of order' shown || fail "$(cat shown)"
}
@test "round trip: strays" { roundtrip 4 "$PROGRAMS/strays"; }
@test "round trip: datatypes and communicators whose numbers are used again" {
    roundtrip 3 "$PROGRAMS/memory" reuse
}
@test "round trip: several elements of datatypes made of addresses" {
    roundtrip 2 "$PROGRAMS/memory" absolute
}
@test "round trip: negative strides and extents" { roundtrip 3 "$PROGRAMS/memory" strides; }
@test "round trip: memory for neighbours has the size and place that they need" {
    roundtrip 4 "$PROGRAMS/memory" neighbours
}
@test "round trip: small numbers for addresses" { roundtrip 2 "$PROGRAMS/memory" numbers; }
@test "round trip: mappings that are addressed from their end" {
    roundtrip 2 "$PROGRAMS/memory" mappings
}
@test "memory that the program maps: two recordings, a replay and the round trip are equal" {
    record first.dir 2 "$PROGRAMS/mapped"
    roundtrip 2 "$PROGRAMS/mapped"
    "$WEND" diff first.dir app.dir
    mpi 2 "$WEND" replay --quiet first.dir "$PROGRAMS/mapped"
    # each mapping is one segment, and the number of one that has ended is used again
    "$WEND" dump --rank 0 app.dir | grep -o 'buf=map#[0-9]*' | sort -u >names
    [ "$(wc -l <names)" -lt 20 ] || fail "$(cat names)"
    "$WEND" dump --rank 0 app.dir | grep -o 'buf=map#[0-9]*' | head -n 12 | sort -u | wc -l |
        grep -qx 12
}
@test "round trip: memory of a whole program" { roundtrip 4 "$PROGRAMS/memory"; }

recorded_allreduces() { # of rank 0
    "$WEND" dump app.dir --rank 0 | grep -c MPI_Allreduce
}
@test "MPI_Pcontrol switches recording off and on; objects made meanwhile are known" {
    roundtrip 4 "$PROGRAMS/control"
    [ "$(recorded_allreduces)" = 1 ]
}
@test "MPI_Info_set switches recording off and on" {
    roundtrip 4 "$PROGRAMS/control" info
    [ "$(recorded_allreduces)" = 1 ]
}
# Events that a program marks for other tools, with and without further arguments.
events() { # RANKS: those that switch recording off
    cat >events.c <<END
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, in;
    char text[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *copy = strdup("on the heap");
    snprintf(text, sizeof text, "step %d", rank);
    for (int i = 0; i < 30; i++) {
        if (i == 3)
            MPI_Pcontrol(0, "written");
        if (i == 4)
            MPI_Pcontrol(0, "enter", "loop", 1.5, 7, 8, 9, 10L, 11L, 2.5, "end");
        if (i == 5)
            MPI_Pcontrol(0, text), MPI_Pcontrol(0, copy), MPI_Pcontrol(-1, "loop");
        if (i == 10 && $1)
            MPI_Pcontrol(0, (char *)0);
        MPI_Sendrecv(&i, 1, MPI_INT, !rank, 0, &in, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    free(copy);
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" events.c -o events
    rm -rf app.dir
    mpi 2 "$WEND" trace -o app.dir ./events 2>trace.err
    "$WEND" show app.dir >show.out
}
@test "MPI_Pcontrol(0, text) is an event of another tool, which gets all arguments" {
    events 0
    ! grep 'recording was off' trace.err show.out || false
    [ "$("$WEND" dump app.dir | grep -c MPI_Sendrecv)" = 60 ]
    roundtrip_from_recording 2
    cat >tool.c <<'END'
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
int MPI_Pcontrol(const int level, ...)
{
    va_list list;
    va_start(list, level);
    const char *text = level == 0 ? va_arg(list, const char *) : "";
    if (strcmp(text, "enter") == 0) {
        const char *name = va_arg(list, const char *);
        double a = va_arg(list, double);
        int i = va_arg(list, int), j = va_arg(list, int), k = va_arg(list, int);
        long m = va_arg(list, long), n = va_arg(list, long);
        double b = va_arg(list, double);
        printf("%s %g %d %d %d %ld %ld %g %s\n", name, a, i, j, k, m, n, b,
               va_arg(list, const char *));
    }
    va_end(list);
    return MPI_SUCCESS;
}
END
    "$MPICC" -shared -fPIC tool.c -o tool.so
    LD_PRELOAD=$PWD/tool.so record tool.dir 2 ./events >out
    [ "$(sort -u out)" = "loop 1.5 7 8 9 10 11 2.5 end" ] || fail "$(cat out)"
}
@test "what was not recorded because recording was off is said" {
    events 1
    grep -q 'recording was off for 40 calls$' trace.err || fail "$(cat trace.err)"
    grep -q '^not recorded *40 calls of ranks 0-1: recording was off' show.out ||
        fail "$(cat show.out)"
    ! grep -q '^missing' show.out || false
    "$PROXYGEN" app.dir -o proxy.c 2>err
    grep -q 'leaves out 40 calls that the application made while recording was off' err
    # on one rank alone: the proxy would wait
    events 'rank == 0'
    grep -q 'recording was off for 20 calls$' trace.err || fail "$(cat trace.err)"
    grep -q '^missing *20 receives have no send: some were made while recording was off' show.out ||
        fail "$(cat show.out)"
    status=0
    "$PROXYGEN" -f app.dir -o proxy.c 2>err || status=$?
    [ "$status" = 3 ]
    grep -q 'a proxy would wait for calls that are not recorded' err || fail "$(cat err)"
}
@test "wend trace --off: recording begins when the program asks for it" {
    mpi 2 "$WEND" trace --off -q -o app.dir "$PROGRAMS/control"
    [ "$(recorded_allreduces)" = 1 ]
    ! "$WEND" dump app.dir --rank 0 | grep -q MPI_Barrier || false
}
@test "a proxy of many calls is not optimized: it compiles in seconds" {
    # random kinds and types, so that there are no loops
    {
        sends=(MPI_Send MPI_Ssend MPI_Rsend MPI_Bsend) x=1
        types=(MPI_INT MPI_CHAR MPI_DOUBLE MPI_FLOAT MPI_LONG MPI_SHORT MPI_BYTE MPI_UNSIGNED)
        echo MPI_Init
        for i in $(seq 8000); do
            x=$(((x * 1103515245 + 12345) % 2147483648))
            echo "${sends[x >> 29]} count=$((i * i)) datatype=${types[(x >> 26) % 8]} dest=0 tag=$i"
        done
        echo MPI_Finalize
    } >script
    "$BUILD_DIR/tests/decoder/script" script app.dir
    make_proxy app.dir ./proxy
    grep -q '^#pragma GCC optimize (0)' proxy.c
}

@test "round trip: static data of several modules" {
    cat >module.c <<'C'
#include <mpi.h>
static char before[256], box[512];
void NAME(int at);
void NAME(int at)
{
    before[0]++;
    MPI_Bcast(box + at, 16, MPI_CHAR, 0, MPI_COMM_WORLD);
}
C
    cat >modules.c <<'C'
#include <mpi.h>
#include <pthread.h>
void first(int at);
void second(int at);
static int own[64];
static void *thread(void *unused)
{
    second(64);
    first(128);
    second(32);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t other;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Bcast(own + 8, 4, MPI_INT, 0, MPI_COMM_WORLD);
    first(32);
    second(256);
    MPI_Bcast(own, 4, MPI_INT, 0, MPI_COMM_WORLD);
    first(5);
    second(300);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    first(32);
    MPI_Finalize();
    return 0;
}
C
    for module in first second; do
        "$MPICC" -shared -fPIC -DNAME=$module module.c -o lib$module.so
    done
    "$MPICC" modules.c -pthread -L. -lfirst -lsecond -Wl,-rpath,"$PWD" -o modules
    roundtrip 2 ./modules
    [ "$(grep -c 'buffer=static#2' dump.out)" -ge 4 ]
}
