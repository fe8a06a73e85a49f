# SPDX-License-Identifier: BSD-3-Clause
# The clocks of several hosts are brought together in the times of calls.
bats_require_minimum_version 1.5.0
load ../helpers
setup() {
    in_scratch
    OTHER=$BUILD_DIR/tests/support/other-clock.so
}

# Each rank makes calls, and prints between which times of the machine's clock each of them begins,
# in nanoseconds; then once more, as many seconds later as the first argument says. Ranks do so one
# after the other, as on a busy machine.
marks() {
    cat >marks.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long long now(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void mark(FILE *out, int n)
{
    int size;
    for (int i = 0; i < n; i++) {
        long long before = now();
        MPI_Comm_size(MPI_COMM_SELF, &size);
        fprintf(out, "%lld %lld\n", before, now());
    }
}
int main(int argc, char **argv)
{
    int rank;
    char name[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "marks.%d", rank);
    FILE *out = fopen(name, "w");
    nanosleep(&(struct timespec){0, 20000000 * rank}, NULL);
    mark(out, 200);
    nanosleep(&(struct timespec){argc > 1 ? atoi(argv[1]) : 0, 100000000}, NULL);
    mark(out, 200);
    fclose(out);
    if (argc > 2 && rank == 1)
        abort();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O1 marks.c -o marks
}

# on_hosts N "SHIFT,DRIFT …" [ARGUMENT…]: records marks on hosts with these clocks in app.dir. If
# there is a processor for each rank, none gives its own up while it waits: that makes a round trip
# longer.
on_hosts() {
    local n=$1 clocks=$2 YIELD=$YIELD
    shift 2
    [ "$n" -gt "$(nproc)" ] || YIELD=$OTHER
    rm -rf app.dir
    OTHER_CLOCK=$clocks LD_PRELOAD=$OTHER${ALSO:+:$ALSO} mpi "$n" \
        env MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1 \
        "$WEND" trace --quiet --times=lossless -o app.dir ./marks "$@"
}

# The nanoseconds by which the clocks may differ, as the recording says.
bound() { tar --zstd -xOf app.dir/trace.tar.zst meta | sed -n 's/^error=0*\([0-9.]*\)$/\1/p'; }

# off FROM TO N [DRIFT]: how far the clocks of N ranks are from rank 0's in the recording, at most,
# in nanoseconds, at marks FROM to TO. A mark is between two times of the machine's clock, so what
# is between these does not count. DRIFT: by how much rank 0's clock is too fast, in ns per second.
off() {
    "$WEND" dump --times -F csv app.dir >calls.csv
    python3 - "$@" <<'P'
import csv, sys
first, last, n, drift = map(int, (*sys.argv[1:], 0)[:4])
starts = [[] for _ in range(n)]
for row in csv.DictReader(open("calls.csv")):
    if row["function"] == "MPI_Comm_size":
        starts[int(row["rank"])].append(float(row["start"]) * 1e9)
ranges, zero = [], None
for rank in range(n):
    marks = [tuple(map(int, line.split())) for line in open(f"marks.{rank}")]
    zero = zero or marks[0][0]
    marks = [[t + (t - zero) * drift * 1e-9 for t in mark] for mark in marks]
    assert len(marks) == len(starts[rank]), (rank, len(marks), len(starts[rank]))
    pairs = list(zip(marks, starts[rank]))[first:last]
    # what rank 0's clock showed at the recording's time 0
    ranges.append((max(a - start for (a, _), start in pairs),
                   min(b - start for (_, b), start in pairs)))
low, high = ranges[0]
print(max(max(a - high, low - b, 0) for a, b in ranges))
P
}

# recovers N "SHIFT,DRIFT …" LIMIT: at both ends clocks are within the bound that the recording
# states, which is a small part of the shifts, and in one of ten runs within LIMIT nanoseconds. On a
# busy machine all round trips of a run may take long.
recovers() {
    local n=$1 clocks=$2 limit=$3 at stated off worst drift=${2%% *}
    for _ in {1..10}; do
        on_hosts "$n" "$clocks" 1 || return
        stated=$(bound)
        [ -n "$stated" ] || fail "no bound" || return
        worst=0
        for at in "0 200" "200 400"; do
            # shellcheck disable=SC2086
            off=$(off $at "$n" "${drift#*,}")
            awk -v off="$off" -v stated="$stated" \
                'BEGIN { print off, stated * 1e9; exit !(off <= stated * 1e9 + 200) }' ||
                fail "marks $at: more than the stated bound" || return
            worst=$(awk -v a="$off" -v b="$worst" 'BEGIN { print (a > b ? a : b) }')
        done
        awk -v stated="$stated" -v limit="$limit" -v worst="$worst" \
            'BEGIN { exit !(worst < limit && stated < 0.1) }' && return
    done
    fail "the clocks are never within $limit ns"
}

# exported_alike: the starts of calls in a table are those of wend dump, but for a constant.
exported_alike() {
    "$WEND" dump --times -F csv app.dir >calls.csv
    "$WEND" export --csv=calls -o - app.dir >exported.csv
    python3 - <<'P'
import csv
starts = {(row["rank"], row["call"]): float(row["start"]) * 1e9
          for row in csv.DictReader(open("calls.csv")) if row["function"].startswith("MPI_")}
exported = {(row["rank"], row["call"]): int(row["start_ns"])
            for row in csv.DictReader(open("exported.csv"))}
assert starts.keys() == exported.keys(), starts.keys() ^ exported.keys()
apart = [exported[call] - start for call, start in starts.items()]
# both are rounded to nanoseconds
assert max(apart) - min(apart) < 2.5, (min(apart), max(apart))
P
}

@test "clocks: the shift of a rank's clock is recovered within 2 us" {
    marks
    recovers 2 "0,0 -2500000000,0" 2000
    exported_alike
    recovers 2 "1000000000,0 0,0" 2000
}

@test "clocks: the drift of a rank's clock is recovered" {
    marks
    recovers 2 "0,0 0,150000" 2000
    recovers 2 "0,-90000 4000000000,60000" 2000
}

@test "clocks: many hosts, of several ranks each" {
    marks
    # The machine may have fewer processors than hosts, so that round trips take long.
    recovers 5 "0,0 50000000,0 -7000000,20000 0,-30000 90000000000,0" 100000000
    export OTHER_HOSTS="0 1 2 1 0 2"
    recovers 6 "0,0 3000000,0 -9000000,0 3000000,0 0,0 -9000000,0" 100000000
    exported_alike
    "$WEND" show app.dir | grep -qE "^clocks +of all hosts are within [0-9.]+ [mun]s of rank 0's$"
}

@test "clocks: a rank that loses its processor while it reads two clocks" {
    marks
    export OTHER_PAUSE=300000 OTHER_HOSTS="0 0 1"
    recovers 3 "0,0 0,0 7000000,0" 100000000
}

@test "clocks: of a run that dies, the shift at the start is known" {
    marks
    on_hosts 2 "0,0 -2500000000,0" 0 dies 2>err && fail "it did not die"
    "$WEND" merge app.dir
    awk -v off="$(off 0 200 2)" -v stated="$(bound)" \
        'BEGIN { print off, stated * 1e9; exit !(off <= stated * 1e9 + 2000) }'
}

# A preload that counts what is sent with functions that Wend could use. In MPI_Finalize Wend sends
# in any case, to merge; compared_so_far is what it sends to compare clocks alone.
counter() {
    cat >counter.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
int counted_so_far, compared_so_far;
#define REAL(name) \
    counted_so_far++; \
    __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
int PMPI_Comm_create(MPI_Comm a, MPI_Group b, MPI_Comm *c)
{
    REAL(PMPI_Comm_create);
    return real(a, b, c);
}
int PMPI_Ibarrier(MPI_Comm a, MPI_Request *b)
{
    REAL(PMPI_Ibarrier);
    return real(a, b);
}
int PMPI_Isend(const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g)
{
    REAL(PMPI_Isend);
    return real(a, b, c, d, e, f, g);
}
int PMPI_Iallreduce(const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f,
                    MPI_Request *g)
{
    REAL(PMPI_Iallreduce);
    return real(a, b, c, d, e, f, g);
}
int PMPI_Iallgather(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f,
                    MPI_Comm g, MPI_Request *h)
{
    compared_so_far++;
    REAL(PMPI_Iallgather);
    return real(a, b, c, d, e, f, g, h);
}
C
    "$MPICC" -shared -fPIC counter.c -o counter.so
    cat >counted.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int *compared = (int *)dlsym(RTLD_DEFAULT, "compared_so_far"), first = *compared;
    int sent = *(int *)dlsym(RTLD_DEFAULT, "counted_so_far");
    MPI_Finalize();
    printf("%d %d %d\n", sent, first, *compared - first);
    return 0;
}
C
    "$MPICC" counted.c -o counted
}

@test "clocks: nothing is sent on one host, or without times" {
    counter
    local hosts=(MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1)
    # What ranks send under env … wend trace …: anything at all in MPI_Init; and to compare clocks,
    # in MPI_Init and in MPI_Finalize.
    sends() {
        rm -rf app.dir
        LD_PRELOAD=$PWD/counter.so mpi 2 env "$@" -q -o app.dir ./counted >out || return
        sed 's/[1-9][0-9]*/some/g' out | sort -u
    }
    [ "$(sends "${hosts[@]}" "$WEND" trace --times=10%)" = "some some some" ] || fail "$(cat out)"
    [ "$(sends "$WEND" trace --times=10%)" = "0 0 0" ] || fail "$(cat out)"
    [ "$(sends "${hosts[@]}" "$WEND" trace)" = "0 0 0" ] || fail "$(cat out)"
}

@test "clocks: on one host they are what they are" {
    marks
    rm -rf app.dir
    OTHER_CLOCK="0,0 700000000,0" LD_PRELOAD=$OTHER OTHER_HOSTS="0 0" mpi 2 \
        "$WEND" trace --quiet --times=lossless -o app.dir ./marks
    [ -z "$(bound)" ]
    awk -v off="$(off 0 200 2)" 'BEGIN { exit !(off > 6.9e8 && off < 7.1e8) }'
    ! "$WEND" show app.dir | grep -q '^clocks' || false
}

@test "clocks: the first communicators of the program are those without times" {
    cat >first.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Comm comm;
    int rank, n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0)
        printf("%d\n", MPI_Comm_c2f(comm));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n < 40 && MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS)
        n++;
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" first.c -o first
    mpi 2 ./first >plain
    mpi 2 env MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1 \
        "$WEND" trace --quiet --times=10% -o app.dir ./first >traced
    diff plain traced
}

@test "clocks: a job of which one host alone runs under wend trace runs as ever" {
    cat >ring.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum = 0, got = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        sum += got;
    }
    printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" ring.c -o ring
    # The process that started a rank is the first one above it without the launcher's variables.
    # Ranks that have others are on other hosts.
    cat >host <<'S'
#!/bin/sh
export MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1
rank=${PMI_RANK-$OMPI_COMM_WORLD_RANK}
ranks=$(env | grep -E '^(PMI_RANK|PMIX_RANK|OMPI_COMM_WORLD_RANK)=')
[ "$rank" = "$TRACED" ] || set -- "$PROGRAM"
exec env -u PMI_RANK -u PMIX_RANK -u OMPI_COMM_WORLD_RANK sh -c 'env "$@"; exit $?' host $ranks "$@"
S
    chmod +x host
    for TRACED in 0 ${LONG:+1}; do # each waits 20 seconds for the other host
        rm -rf app.dir
        TRACED=$TRACED PROGRAM=$PWD/ring mpi 2 ./host \
            "$WEND" trace --times=10% --wait 1 -o app.dir ./ring >out 2>err || fail "$(cat err)"
        [ "$(grep -c '^sum 100$' out)" = 2 ] || fail "$(cat out err)"
        [ ! -e app.dir/trace.tar.zst ]
    done
}

@test "clocks: a host that does not answer is left out, and the run goes on" {
    marks
    cat >mute.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
int PMPI_Isend(const void *a, int b, MPI_Datatype c, int d, int tag, MPI_Comm f, MPI_Request *g)
{
    int rank;
    PMPI_Comm_rank(f, &rank);
    if (rank == 1 && tag == 12) /* TAG_ASK of host-clocks.c */
        return MPI_ERR_OTHER;
    __typeof__(&PMPI_Isend) real = (__typeof__(&PMPI_Isend))dlsym(RTLD_NEXT, "PMPI_Isend");
    return real(a, b, c, d, tag, f, g);
}
C
    "$MPICC" -shared -fPIC mute.c -o mute.so
    # Rank 3 asks rank 1, and rank 2 asks rank 0.
    ALSO=$PWD/mute.so on_hosts 4 "0,0 500000000,0 3000000000,0 0,0"
    tar --zstd -xOf app.dir/trace.tar.zst meta >meta
    grep -qx 'uncompared=1' meta
    grep -qx 'hosts=4' meta
    "$WEND" show app.dir >shown
    ! grep '^clocks' shown || fail "show says how well they agree"
    # rank 1's clock is what it is, and rank 2's is not
    awk -v off="$(off 0 200 4)" 'BEGIN { exit !(off > 4e8 && off < 6e8) }'
}
