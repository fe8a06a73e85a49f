# SPDX-License-Identifier: BSD-3-Clause
# Where recordings go, and what wend says about them.
load ../helpers
setup() { in_scratch; }

@test "one line at the end, on standard error; --quiet silences it" {
    mpi 2 "$WEND" trace -o a.dir "$PROGRAMS/hello" >out 2>err
    [ "$(cat out)" = "hello from 2 ranks: 1" ]
    [ "$(grep -c wend err)" = 1 ]
    grep -q a.dir err
    mpi 2 "$WEND" trace --quiet -o b.dir "$PROGRAMS/hello" >out 2>err
    ! grep -q wend err || false
}

@test "the line at the end is whole, however long the name of the recording is" {
    long_folder
    mpi 2 "$WEND" trace -o "$long/a.dir" "$PROGRAMS/hello" >out 2>err
    grep -q "^wend: [0-9]* MPI calls of 2 ranks in [0-9]* bytes: $long/a.dir$" err ||
        fail "$(cat err)"
}

@test "an existing recording is kept, and the program is not started" {
    record a.dir 2 "$PROGRAMS/hello"
    before=$(cat a.dir/* | cksum)
    run timeout 20 "$WEND" trace -o a.dir "$PROGRAMS/hello"
    [ "$status" = 3 ]
    [[ "$output" == *a.dir*--force* ]]
    [[ "$output" != *hello\ from* ]]
    [ "$before" = "$(cat a.dir/* | cksum)" ]
}

@test "an existing recording is kept without wend trace, too" {
    record a.dir 1 "$PROGRAMS/hello"
    before=$(cat a.dir/* | cksum)
    WEND_OUTPUT=$PWD/a.dir LD_PRELOAD=$LIBWEND mpi 1 "$PROGRAMS/hello" >out 2>err
    grep -q 'hello from' out
    grep -q 'a.dir' err
    [ "$before" = "$(cat a.dir/* | cksum)" ]
}

@test "--force replaces a recording" {
    record a.dir 1 "$PROGRAMS/hello"
    mpi 2 "$WEND" trace --quiet --force -o a.dir "$PROGRAMS/hello"
    "$WEND" dump a.dir --rank 1 | grep -q MPI_Allreduce
}

@test "without -o the name is the program's, and runs do not collide" {
    mpi 1 "$WEND" trace "$PROGRAMS/hello" >/dev/null 2>&1
    mpi 1 "$WEND" trace "$PROGRAMS/hello" >/dev/null 2>&1
    [ "$(ls -d wend-hello* | wc -l)" = 2 ]
}

@test "a relative output is relative to where the program started, folders are made" {
    record some/where/a.dir 2 "$PROGRAMS/hello"
    [ -f some/where/a.dir/trace.tar.zst ]
}

@test "the archive opens with tar" {
    record a.dir 2 "$PROGRAMS/hello"
    tar --zstd -tf a.dir/trace.tar.zst >members
    grep -qx meta members
    tar --zstd -xOf a.dir/trace.tar.zst meta | grep -q hello
}

@test "two recordings of one program are equal, of two programs are not" {
    record a.dir 4 "$EXAMPLES/ring"
    record b.dir 4 "$EXAMPLES/ring"
    record c.dir 4 "$EXAMPLES/ring" -l 11
    "$WEND" diff a.dir b.dir
    run "$WEND" diff a.dir c.dir
    [ "$status" = 1 ]
    [ -n "$output" ]
}

@test "the same program with other numbers of ranks is not equal" {
    record a.dir 2 "$PROGRAMS/hello"
    record b.dir 3 "$PROGRAMS/hello"
    run "$WEND" diff a.dir b.dir
    [ "$status" = 1 ]
}

@test "a proxy says so when started with another number of ranks" {
    record a.dir 3 "$EXAMPLES/ring"
    make_proxy a.dir ./proxy
    run mpi 2 ./proxy
    [ "$status" != 0 ]
    [[ "$output" == *3* ]]
}

@test "a proxy touches no file outside its scratch folder" {
    mkdir -p data scratch elsewhere
    record a.dir 2 "$EXAMPLES/fileio" -f "$PWD/data/file"
    make_proxy a.dir ./proxy
    (cd elsewhere && WEND_PROXY_DIR=$OLDPWD/scratch mpi 2 ../proxy) ||
        (cd elsewhere && WEND_PROXY_DIR=$BATS_TEST_TMPDIR/scratch mpi 2 ../proxy)
    [ -z "$(ls -A data)" ]
    [ -z "$(ls -A elsewhere)" ]
}

@test "dump: text, CSV and JSON lines agree on the number of calls" {
    record a.dir 2 "$EXAMPLES/ring"
    text=$("$WEND" dump a.dir --rank 1 | grep -vc '^#')
    csv=$("$WEND" dump a.dir --rank 1 --format csv | tail -n +2 | grep -c .)
    json=$("$WEND" dump a.dir --rank 1 --format jsonl | grep -c .)
    [ "$text" -gt 20 ]
    [ "$text" = "$csv" ]
    [ "$text" = "$json" ]
    "$WEND" dump a.dir --rank 1 --format jsonl |
        python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]'
    "$WEND" dump a.dir --rank 1 --format csv |
        python3 -c 'import csv, sys; assert len({len(row) for row in csv.reader(sys.stdin)}) == 1'
}

@test "dump gives the calls that the program made" {
    record a.dir 2 "$PROGRAMS/hello"
    "$WEND" dump a.dir --rank 1 | grep -o 'MPI_[A-Z][a-z_]*(' >calls
    printf 'MPI_%s(\n' Init Comm_rank Comm_size Allreduce Finalize >expected
    diff expected calls
}

# -- the line at the end --

# A program that takes number 2 for a log of its own in the way that its argument says, when MPI has
# started or before ("early").
logging() {
    cat >logging.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static const char *how;
static void take(void)
{
    if (strstr(how, "freopen")) {
        if (!freopen("log", "a", stderr))
            return;
    } else if (strstr(how, "dup2")) {
        int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0666);
        dup2(fd, 2);
        close(fd);
    } else {
        close(2);
        if (strstr(how, "all"))
            close_range(3, ~0U, 0);
        if (!strstr(how, "only"))
            (void)!open("log", O_WRONLY | O_CREAT | O_APPEND, 0666);
    }
}
int main(int argc, char **argv)
{
    how = argv[1];
    if (strstr(how, "early"))
        take();
    MPI_Init(&argc, &argv);
    if (!strstr(how, "early"))
        take();
    if (strstr(how, "child") && fork() == 0) {
        alarm(100);
        close(1);
        while (access("seen", F_OK) != 0)
            usleep(10000);
        _exit(0);
    }
    if (strstr(how, "dies"))
        _exit(5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    fprintf(stderr, "end\n");
    return 0;
}
C
    "$MPICC" logging.c -o logging
}

@test "the line at the end goes to the launcher's standard error, not to a log of the program" {
    local how
    logging
    for how in freopen dup2 reopen freopen-early dup2-early reopen-early reopen-early-dies; do
        rm -rf a.dir log
        mpi 1 "$WEND" trace -o a.dir ./logging $how 2>err || [[ $how == *dies ]]
        grep -q '^wend: .*a.dir$' err || fail "$how: $(cat err)"
        if [[ $how == *dies ]]; then ! grep . log || false; else diff log - <<<end; fi
    done
    # if the program has closed all files, nothing is written to others
    for how in reopen-early-all only-early-all; do
        rm -rf a.dir log
        : >log
        timeout "$TEST_TIMEOUT" "$WEND" trace -o a.dir ./logging $how 2>err
        diff <(cat log err) <([[ $how == only* ]] || echo end) || fail "$how"
    done
}

@test "no copy of standard error outlives the program in a child" {
    logging
    mkfifo err
    { cat err >said; : >seen; } &
    "$WEND" trace -o a.dir ./logging only-child 2>err
    wait $! # the child waits for the end of the pipe
    grep -q '^wend: .*a.dir$' said || fail "$(cat said)"
}
