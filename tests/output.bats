# SPDX-License-Identifier: BSD-3-Clause
# Where recordings go, and what wend says about them.
load helpers
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
