# SPDX-License-Identifier: BSD-3-Clause
# wend trace --values: the clock, random numbers, process ids and host names are recorded, and a
# replay returns them.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }

with_values() { # N program…: recorded in app.dir, what it prints in app.out
    local n=$1
    shift
    rm -rf app.dir
    mpi "$n" "$WEND" trace --quiet --values -o app.dir "$@" >app.out
}

# exact N program…: replays print the same as the recorded run, and another run does not. What
# they record is equal, down to the values.
exact() {
    local n=$1 i
    shift
    with_values "$n" "$@" || return
    for i in 1 2; do
        rm -rf again.dir
        mpi "$n" "$WEND" replay --quiet --values -o again.dir app.dir "$@" >again.out || return
        diff app.out again.out || fail "replay $i of $*: another result" || return
        "$WEND" diff --outcomes app.dir again.dir || return
        "$WEND" dump --values app.dir >app.dump
        "$WEND" dump --values again.dir >again.dump
        cmp app.dump again.dump || fail "other values: $*" || return
    done
    mpi "$n" "$@" >plain.out || return
    ! diff -q app.out plain.out >/dev/null || fail "$*: the same without a replay"
}

@test "values: a loop that ends after 0.2 seconds" { exact 2 "$PROGRAMS/values" loop; }
@test "values: before MPI_Init" { exact 2 "$PROGRAMS/values" early; }
@test "values: all clocks" { exact 2 "$PROGRAMS/values" clocks; }
@test "values: random bytes, more than an element has" { exact 2 "$PROGRAMS/values" random; }
@test "values: threads that never call MPI" { exact 2 "$PROGRAMS/values" threads; }
@test "values: between calls, and in callbacks" { exact 4 "$PROGRAMS/values" between; }
@test "values: process ids and host names, a signal to itself, a child" {
    exact 2 "$PROGRAMS/values" identity
}
@test "values: all of it" { exact 4 "$PROGRAMS/values"; }

# The thread that codes and the program share a processor, so that the former falls behind: all
# values before they are coded would take 160 MB.
@test "values: ten million, on one processor and in little memory" {
    cat >spin.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    unsigned long hash = 1;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10000000; i++)
        hash = hash * 31 + (unsigned long)(MPI_Wtime() * 1e9);
    printf("%lx\n", hash);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O1 spin.c -o spin
    local processor=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
    export WEND_MAX_MEMORY=64M
    mpi 1 taskset -c "$processor" "$WEND" trace --quiet --values -o app.dir ./spin >app.out
    mpi 1 taskset -c "$processor" "$WEND" replay --quiet app.dir ./spin >again.out
    diff app.out again.out
}

@test "values: in Fortran, C++ and Python" {
    if command -v "$MPIFORT" >/dev/null; then
        cat >clock.f90 <<'F'
program clock
    use mpi
    integer :: ierr, count, seed(64)
    real(8) :: start
    call MPI_Init(ierr)
    start = MPI_Wtime()
    call system_clock(count)
    call random_seed()
    call random_seed(get=seed)
    print *, start, MPI_Wtime() - start, count, seed(1)
    call MPI_Finalize(ierr)
end program
F
        # shellcheck disable=SC2086
        "$MPIFORT" -w clock.f90 -o clock-fortran $MPIFORT_LDFLAGS -Wl,--copy-dt-needed-entries
        exact 1 ./clock-fortran
    fi
    cat >clock.cxx <<'C'
#include <chrono>
#include <fstream>
#include <iostream>
#include <mpi.h>
#include <random>
int main(int argc, char **argv)
{
    std::random_device device;
    unsigned char bytes[8];
    MPI_Init(&argc, &argv);
    std::cout << std::chrono::steady_clock::now().time_since_epoch().count() << ' '
              << std::chrono::system_clock::now().time_since_epoch().count() << ' ' << device()
              << '\n';
    std::ifstream("/dev/urandom").read(reinterpret_cast<char *>(bytes), sizeof bytes);
    for (unsigned char b : bytes)
        std::cout << unsigned(b) << ' ';
    std::cout << std::endl;
    MPI_Finalize();
}
C
    local cxx=${MPICC/mpicc/mpicxx}
    if command -v "$cxx" >/dev/null; then
        "$cxx" -w clock.cxx -o clock-cxx
        exact 1 ./clock-cxx
    fi
    # MPI comes with a module (programs/late.c), long after the first values
    cat >clock.py <<'P'
import ctypes, os, random, sys, time
print(time.time(), time.perf_counter(), random.random(), os.getpid(), os.urandom(4).hex())
module = ctypes.CDLL(sys.argv[1])
sys.stdout.flush()
module.run()
P
    exact 1 "$PYTHON" clock.py "$PROGRAMS/late.so"
}

@test "values: a signal handler that asks for the time harms nothing" {
    cat >handler.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
static volatile long seen;
static void tick(int number)
{
    struct timespec t;
    (void)number;
    clock_gettime(CLOCK_MONOTONIC, &t);
    seen += t.tv_sec != 0;
}
int main(int argc, char **argv)
{
    struct itimerval often = {{0, 50}, {0, 50}};
    struct timespec t;
    MPI_Init(&argc, &argv);
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < 2000000; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    if (seen < 10)
        return 1;
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" handler.c -o handler
    with_values 2 ./handler
    # all values of the loops, and nearly all of the handlers
    [ "$("$WEND" dump --values app.dir | grep -c 'clock_gettime(1)')" -ge 4000000 ]
}

@test "values: without --values a recording has none, and no function is changed" {
    mpi 2 "$WEND" trace --quiet -o app.dir "$PROGRAMS/values" between >app.out
    zstd -dc app.dir/trace.tar.zst | tar -t >members
    ! grep -q values members || false
    ! "$WEND" show app.dir | grep -q '^values' || false
    run "$WEND" dump --values app.dir
    [ "$status" = 0 ]
    grep -q 'has no values' <<<"$output"
}

@test "values: what MPI asks for itself is not recorded" {
    with_values 4 "$PROGRAMS/requests"
    "$WEND" dump --values app.dir >dump.out 2>dump.err
    ! grep -q '^        =  ' dump.out || fail "$(grep -m 5 '^        =  ' dump.out)"
    grep -q 'has no values' dump.err
}

@test "values: a replay of a recording without them says so in one line" {
    mpi 2 "$WEND" trace --quiet -o app.dir "$PROGRAMS/values" between >app.out
    mpi 2 "$WEND" replay --on-divergence free app.dir "$PROGRAMS/values" between 2>err >/dev/null
    [ "$(grep -c 'wend trace --values' err)" = 1 ] || fail "$(cat err)"
    grep -q 'MPI_Wtime' err
    # nothing to say of a program without a clock, and of a recording with values
    mpi 2 "$WEND" trace --quiet -o hello.dir "$PROGRAMS/hello"
    mpi 2 "$WEND" replay hello.dir "$PROGRAMS/hello" 2>err
    ! grep -q -- --values err || false
    with_values 2 "$PROGRAMS/values" between
    mpi 2 "$WEND" replay app.dir "$PROGRAMS/values" between 2>err
    ! grep -q -- --values err || false
}

@test "values: the first one that differs is named, and after the last the program goes on" {
    cat >asks.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int what = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    time(NULL);
    if (what == 1)
        getpid();
    else
        time(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (what == 2)
        clock();
    MPI_Finalize();
    return time(NULL) < 1000; /* this one is the program's own */
}
C
    "$MPICC" asks.c -o asks
    with_values 2 ./asks
    run mpi 2 "$WEND" replay app.dir ./asks 1
    [ "$status" = 1 ]
    grep -qF 'the recording has a value of time, and the program asks for one of getpid' \
        <<<"$output" || fail "$output"
    run mpi 2 "$WEND" replay app.dir ./asks 2
    [ "$status" = 1 ]
    grep -qF 'the recording has no more values, and the program asks for one of clock' \
        <<<"$output" || fail "$output"
    run mpi 2 "$WEND" replay --on-divergence free app.dir ./asks 1
    [ "$status" = 0 ]
    mpi 2 "$WEND" replay app.dir ./asks
}

@test "values: a run that is killed keeps what was written" {
    cat >killed.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    double until;
    unsigned long count = 0;
    MPI_Init(&argc, &argv);
    for (until = MPI_Wtime() + 0.05; MPI_Wtime() < until; count++)
        continue;
    fprintf(stderr, "count %lu\n", count);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "kill"))
        sleep(3), raise(SIGKILL); /* what was made before is in a checkpoint */
    if (argc > 1)
        raise(SIGTERM);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" killed.c -o killed
    # One rank: the launcher kills the others, and not with a signal that can be caught.
    for how in terminate kill; do
        rm -rf app.dir
        mpi 1 "$WEND" trace --quiet --values --checkpoint 1 -o app.dir ./killed $how 2>app.err || :
        "$WEND" merge app.dir
        [ "$("$WEND" dump --values app.dir | grep -c '=  MPI_Wtime')" -gt 100 ] || fail "$how"
        mpi 1 "$WEND" replay --then free app.dir ./killed 2>again.err
        diff <(grep count app.err) <(grep count again.err) || fail "$how"
    done
}

@test "values: where memory is short they end, and the recording goes on" {
    cat >many.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <sys/random.h>
int main(int argc, char **argv)
{
    unsigned char some[1000];
    unsigned long sum = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 20000; i++) {
        getrandom(some, sizeof some, 0);
        if (i < 100)
            sum = sum * 31 + some[i];
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%lu\n", sum);
    MPI_Finalize();
    return 0;
}
C
    # The thread that codes comes late: the program has taken all memory before.
    cat >late.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
long syscall(long n, ...)
{
    static long (*next)(long, ...);
    __builtin_va_list v;
    long a[6];
    __builtin_va_start(v, n);
    for (int i = 0; i < 6; i++)
        a[i] = __builtin_va_arg(v, long);
    __builtin_va_end(v);
    if (!next)
        next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (n == SYS_prctl && a[0] == PR_SET_NAME && strcmp((char *)a[1], "wend-side") == 0)
        usleep(500000);
    return next(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
C
    "$MPICC" many.c -o many
    gcc -shared -fPIC late.c -o late.so
    LD_PRELOAD=$PWD/late.so${LD_PRELOAD:+:$LD_PRELOAD} mpi 1 "$WEND" trace --quiet --values \
        --max-memory 8M -o app.dir ./many >app.out 2>err
    grep -q '; 1 rank had no memory for all values$' err || fail "$(cat err)"
    "$WEND" show app.dir | grep -q '^incomplete *values of ranks 0: the recorder had no memory' ||
        fail "$("$WEND" show app.dir)"
    "$WEND" dump app.dir | grep -q MPI_Finalize
    [ "$("$WEND" dump --values app.dir | grep -c '=  getrandom')" -lt 20000 ]
    mpi 1 "$WEND" replay app.dir ./many >again.out 2>err
    diff app.out again.out # what comes first is there
    [ "$(grep -c 'no memory for more values' err)" = 1 ] || fail "$(cat err)"
}

@test "values: on a host of another name" {
    unshare -u hostname elsewhere 2>/dev/null || skip "no other host name here"
    with_values 1 "$PROGRAMS/values" identity
    mpi 1 unshare -u sh -c 'hostname elsewhere; exec "$@"' - \
        "$WEND" replay app.dir "$PROGRAMS/values" identity >again.out
    diff app.out again.out
}

@test "values: a rank that cannot write its own has rank 0 write it" {
    local how elsewhere=$BUILD_DIR/tests/support/elsewhere.so
    export ELSEWHERE ELSEWHERE_LOG=$PWD/log
    for how in absent another; do
        rm -rf log app.dir
        ELSEWHERE=$how LD_PRELOAD=$elsewhere mpi 4 "$WEND" trace --quiet --values -o app.dir \
            "$PROGRAMS/values" between >app.out
        [ "$(wc -l <log)" = 3 ] || fail "$how: not from three ranks"
        mpi 4 "$WEND" replay app.dir "$PROGRAMS/values" between >again.out
        diff app.out again.out || return
    done
}

@test "values: of shards, in one archive" {
    WEND_SHARD_RANKS=2 mpi 6 "$WEND" trace --quiet --values -o app.dir "$PROGRAMS/unlike" 1
    zstd -dc app.dir/trace.tar.zst | tar -t | grep -q '^program\.2$'
    WEND_SHARD_RANKS=2 mpi 6 "$WEND" replay --quiet app.dir "$PROGRAMS/unlike" 1
}

@test "values: damage of a member is found, and all else can be read" {
    with_values 2 "$PROGRAMS/values" between
    mkdir parts
    zstd -dc app.dir/trace.tar.zst | tar -xC parts
    printf 'xyz' | dd of=parts/values.1 bs=1 seek=60 conv=notrunc 2>/dev/null
    truncate -s -3 parts/values.0
    mkdir bad.dir
    tar -C parts -cf - program meta values.0 values.1 | zstd -q -f -o bad.dir/trace.tar.zst
    "$WEND" show bad.dir >/dev/null
    "$WEND" dump bad.dir >/dev/null
    "$WEND" dump --values --rank 1 bad.dir >dump.out 2>dump.err
    grep -q 'rank 1: its values are damaged' dump.err || fail "$(cat dump.err)"
    run mpi 2 "$WEND" replay bad.dir "$PROGRAMS/values" between
    [ "$status" != 0 ]
    grep -q 'values.0: truncated or damaged' <<<"$output" || fail "$output"
}
