# SPDX-License-Identifier: BSD-3-Clause
# An application sees the MPI library that it would see without Wend: same output, same exit code.
load ../helpers
setup() { in_scratch; }

@test "errors: codes, statuses of failed calls, handlers" { same_output 3 "$PROGRAMS/errors"; }
@test "arguments that are not significant, and refused ones" {
    same_output 4 "$PROGRAMS/arguments"
}
@test "completions in any order" { same_output 4 "$PROGRAMS/completions" testsome reply 2; }
@test "statuses: given and ignored, and requests of equal value" {
    same_output 4 "$PROGRAMS/statuses"
}
@test "callbacks: operators, attributes, generalized requests" {
    same_output 4 "$PROGRAMS/callbacks"
}
@test "before MPI_Init and after MPI_Finalize" { same_output 2 "$PROGRAMS/early"; }
@test "threads" { same_output 2 "$PROGRAMS/threads"; }
@test "sessions" { library_has MPI_Session_init; same_output 2 "$PROGRAMS/sessions"; }
@test "no stray message of Wend's while ranks finalize" { same_output 4 "$PROGRAMS/strays"; }
# By themselves these runs hang in the library's MPI_Finalize more often than not (mpich.c).
@test "MPICH over TCP: a recording, an empty one, and a replay come to their end" {
    library_is mpich || skip "only MPICH waits there"
    export UCX_TLS=tcp,self TEST_TIMEOUT=60
    record ring.dir 4 "$EXAMPLES/ring"
    record off.dir 4 env WEND_TRACING=off "$EXAMPLES/ring"
    mpi 4 env MPI_LOCALNRANKS=2 "$WEND" replay --quiet ring.dir "$EXAMPLES/ring"
}
@test "exit code of the program" {
    same_output 2 "$PROGRAMS/exits" code 3
    [ "$plain_status" = 3 ]
}
@test "a program that exits without MPI_Finalize" { same_output 1 "$PROGRAMS/exits" nofinalize 4; }
# Without a launcher, because MPICH's sometimes returns 1 whatever the program's status is.
# tests/ends/dying.bats has more ranks.
same_status() { # STATUS command…
    local status=0
    timeout "$TEST_TIMEOUT" "${@:2}" >plain.out 2>&1 || status=$?
    [ "$status" = "$1" ] || fail "status $status alone, not $1" "$(cat plain.out)" || return
    status=0
    timeout "$TEST_TIMEOUT" "$WEND" trace -o app.dir "${@:2}" >recorded.out 2>&1 || status=$?
    [ "$status" = "$1" ] || fail "status $1 alone, $status recorded" "$(cat recorded.out)" || return
    grep -q '^wend: .*app.dir$' recorded.out || fail "it was not recorded" "$(cat recorded.out)"
}
@test "MPI_Abort's code" { same_status 5 "$PROGRAMS/exits" abort 5; }
@test "a crash stays a crash" { same_status 139 "$PROGRAMS/exits" segv; }
@test "a signal ends the program" { same_status 143 "$PROGRAMS/exits" term; }
@test "arguments arrive unchanged" {
    cat >show-arguments <<'END'
#!/bin/sh
cat >/dev/null # MPICH's launcher dies of SIGPIPE if it has standard input for a program that ended
for argument; do echo "[$argument]"; done
END
    chmod +x show-arguments
    same_output 1 ./show-arguments -n --quiet "two words" '' '*' -- --help
    grep -qx '\[two words\]' plain.out
}
@test "a shell script that starts the application" {
    printf '#!/bin/sh\necho before\n"$@"\nstatus=$?\necho after\nexit $status\n' >wrapper
    chmod +x wrapper
    same_output 1 ./wrapper "$PROGRAMS/hello"
    "$WEND" dump app.dir | grep -q MPI_Allreduce
}
@test "standard input arrives" {
    printf '1 2 3\n' >input
    timeout 60 "${LAUNCH[@]}" -n 1 "$WEND" trace -o in.dir cat <input >out
    cmp input out
}
@test "LD_PRELOAD of libwend.so alone records too" {
    [ -f "$LIBWEND" ]
    WEND_OUTPUT=$PWD/preload.dir LD_PRELOAD=$LIBWEND mpi 2 "$PROGRAMS/hello" >out
    grep -q 'hello from 2 ranks: 1' out
    "$WEND" dump preload.dir | grep -q MPI_Allreduce
}

# sanitized OPTION…: makes ./sanitized. With "leak" it loses a block, with "over" it reads behind
# one. False: there is no such sanitizer.
sanitized() {
    cat >sanitized.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void lose(void)
{
    char *volatile lost = malloc(1234);
    lost = NULL;
    (void)lost;
}
static __attribute__((noinline)) int over(int n)
{
    volatile int *block = calloc(4, sizeof *block);
    int value = block[n];
    free((void *)block);
    return value;
}
int main(int argc, char **argv)
{
    int rank, way = argc > 1 ? argv[1][0] : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *in = malloc(100 * sizeof *in), *out = realloc(NULL, 100 * sizeof *out);
    memset(out, 0, 100 * sizeof *out);
    for (int i = 0; i < 5; i++)
        MPI_Sendrecv(out, 100, MPI_INT, 1 - rank, 0, in, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    printf("rank %d: %d\n", rank, in[0]);
    free(in);
    free(out);
    if (way == 'l')
        lose();
    MPI_Finalize();
    return way == 'o' ? over(argc + 2) : 0;
}
END
    echo 'int main(void) { return 0; }' >probe.c
    gcc "$@" probe.c -o probe 2>probe.err && LD_PRELOAD='' ./probe || return 1
    "$MPICC" -g "$@" sanitized.c -o sanitized
}

# same_report [FUNCTION] OPERAND…: ./sanitized has the same status and output plain and traced, and
# its report has the function, if there is one.
same_report() {
    local plain=0 traced=0 asan=${ASAN_OPTIONS:-}
    # the yield library comes before the sanitizer
    ASAN_OPTIONS=${asan:+$asan:}verify_asan_link_order=0 mpi 2 ./sanitized "${@:2}" \
        >plain.out 2>plain.err || plain=$?
    record app.dir 2 ./sanitized "${@:2}" >traced.out 2>traced.err || traced=$?
    [ "$plain" = "$traced" ] || fail "$*: $plain and $traced" "$(head -n 60 traced.err)" || return
    diff <(sort plain.out) <(sort traced.out) >&2 || fail "$*" "$(head -n 60 traced.err)" || return
    [ -z "$1" ] || ! grep -q "#[0-9].* in $1 " plain.err || grep -q "#[0-9].* in $1 " traced.err ||
        fail "$*: no $1" "$(head -n 60 traced.err)" || return
    "$WEND" dump app.dir | grep -q 'MPI_Sendrecv(sendbuf=' || fail 'nothing recorded' || return
    rm -rf app.dir
}

@test "programs with sanitizers: exit status and reports" {
    local how tried=0
    # what the MPI library leaves; the slow unwinder finds it in stacks without frame pointers
    printf 'leak:%s\n' libhwloc libmpi libopen libucs libucp libpmix libevent libpciaccess >known
    for how in leak address 'address -static-libasan'; do
        # shellcheck disable=SC2086
        sanitized -fsanitize=$how || continue
        tried=$((tried + 1))
        export LSAN_OPTIONS=suppressions=$PWD/known:fast_unwind_on_malloc=0
        same_report ''
        LSAN_OPTIONS=suppressions=$PWD/known same_report lose leak
        [ "$how" = leak ] || same_report over over
    done
    [ "$tried" -gt 0 ] || skip "the compiler has no sanitizer"
}
