# SPDX-License-Identifier: BSD-3-Clause
# Ranks that have nothing in common write members of their own (docs/merging.md, "Shards"): the
# recording says the same, wherever the ranks are, and whatever fails.
bats_require_minimum_version 1.5.0
load ../helpers
setup() {
    in_scratch
    ELSEWHERE_SO=$BUILD_DIR/tests/support/elsewhere.so
    command -v zstd >/dev/null || skip "no zstd"
}

members() { # DIRECTORY: their names, in the order of the file, but for call sites
    zstd -dcq "$1/trace.tar.zst" | tar -t | grep -v '^sites' | tr '\n' ' '
}

# records DIR RANKS SHARD_RANKS PROGRAM…: standard output and error in out and err
records() {
    local dir=$1 n=$2 status=0
    export WEND_SHARD_RANKS=$3
    shift 3
    mpi "$n" "$WEND" trace -o "$dir" "$@" >out 2>err || status=$?
    unset WEND_SHARD_RANKS
    return "$status"
}

# Nothing is in the folder but the archive, the mark of wend trace and those named.
only() {
    local dir=$1 left
    shift
    left=$(ls -A "$dir" | grep -vxF -e trace.tar.zst -e .wend "$@" || true)
    [ -z "$left" ] || fail "$dir has also" "$left"
}

# The recording in DIR has the calls of that in whole.dir, and their times.
says_all() {
    "$WEND" dump whole.dir >whole.dump
    "$WEND" dump "$1" | diff whole.dump - | head -n 20 >differences
    [ -s whole.dump ] && [ ! -s differences ] ||
        fail "$1: other calls" "$(cat differences)" || return
    "$WEND" diff whole.dir "$1" >differences || fail "$1 differs" "$(cat differences)"
}

@test "shards: the recording says what it says without them" {
    local ranks
    records whole.dir 7 64 "$PROGRAMS/unlike"
    mv out plain
    [ "$(members whole.dir)" = "program meta " ]
    for ranks in 2 3 4; do
        records "$ranks.dir" 7 "$ranks" "$PROGRAMS/unlike"
        cmp out plain
        [ "$(sed -n 's/^wend: .* of 7 ranks in \(.*\) bytes: .*/\1/p' err | tr -d ,)" = \
            "$(stat -c %s $ranks.dir/trace.tar.zst)" ] || fail "$(cat err)"
        says_all "$ranks.dir"
        only "$ranks.dir"
    done
    [ "$(members 2.dir)" = "program.0 program.2 program.4 program meta " ]
    [ "$(members 3.dir)" = "program.0 program.4 program meta " ]
    [ "$(members 4.dir)" = "program.0 program meta " ]
    for ranks in whole 2; do
        "$WEND" show $ranks.dir |
            grep -E '^(application|MPI|ranks|calls|sent|nondeterminism| +collective)' >$ranks.show
    done
    [ "$(wc -l <whole.show)" -ge 6 ]
    diff whole.show 2.show
}

@test "shards: of several worlds, and of one rank each" {
    records whole.dir 5 64 "$PROGRAMS/unlike"
    records 2.dir 5 2 "$PROGRAMS/unlike"
    records 1.dir 5 1 "$PROGRAMS/unlike"
    [ "$(members 1.dir)" = "program.0 program.1 program.2 program.3 program.4 program meta " ]
    says_all 1.dir
    cp 2.dir/trace.tar.zst 2.dir/world-0.1.tar.zst
    cp whole.dir/trace.tar.zst whole.dir/world-0.1.tar.zst
    says_all 2.dir
    grep -q '^# rank 9' whole.dump
}

@test "shards: proxies and comparisons" {
    export WEND_SHARD_RANKS=2
    roundtrip 5 "$PROGRAMS/unlike"
    [ "$(members app.dir)" = "program.0 program.2 program meta " ]
}

@test "shards: a rank that is replayed reads its own calls alone" {
    local rank frames
    records app.dir 7 2 "$PROGRAMS/unlike"
    [ "$(members app.dir)" = "program.0 program.2 program.4 program meta " ]
    mkdir orders
    # shellcheck disable=SC2016
    "$WEND" replay app.dir sh -c 'cp "$(dirname "$WEND_ORDER")"/* orders'
    # The member of ranks 4 to 6 is damaged.
    frames=$(LC_ALL=C grep -obUaP '\x28\xb5\x2f\xfd' app.dir/trace.tar.zst | cut -d: -f1)
    printf 'damaged' | dd of=app.dir/trace.tar.zst bs=1 conv=notrunc status=none \
        seek=$(($(sed -n 3p <<<"$frames") + 200))
    run -3 "$WEND" show app.dir
    for rank in 0 1 2 3; do
        # shellcheck disable=SC2016
        PMI_RANK=$rank PMI_SIZE=7 "$WEND" replay app.dir sh -c 'cmp "$WEND_ORDER" "$0"' \
            orders/$rank || fail "rank $rank" || return
    done
    PMI_RANK=5 PMI_SIZE=7 run -3 "$WEND" replay app.dir true
}

# What a receive got that is freed before it completes is found in the calls of the others.
@test "shards: a rank that is replayed reads the calls of others if it needs them" {
    cat >freed.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, v = 0, w[64] = {0}, x[64];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)rank);
    for (int i = 0; i < 200; i++) {
        int n = rand() % 64, tag = 64 * rank + rand() % 64;
        MPI_Sendrecv(w, n, MPI_INT, rank, tag, x, n, MPI_INT, rank, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 9999, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (rank == size - 1) {
        MPI_Send(&rank, 1, MPI_INT, 0, 9999, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" freed.c -o freed
    records app.dir 4 1 ./freed
    [[ "$(members app.dir)" == "program.0 program.1 "* ]] || fail "$(members app.dir)"
    mkdir orders
    # shellcheck disable=SC2016
    "$WEND" replay app.dir sh -c 'cp "$(dirname "$WEND_ORDER")"/* orders'
    # shellcheck disable=SC2016
    PMI_RANK=0 PMI_SIZE=4 "$WEND" replay app.dir sh -c 'cmp "$WEND_ORDER" "$0"' orders/0
}

@test "shards: a program whose ranks have much in common has none" {
    records trips.dir 8 2 "$PROGRAMS/trips"
    [ "$(members trips.dir)" = "program meta " ]
    records coarse.dir 16 8 "$PROGRAMS/coarse"
    [ "$(members coarse.dir)" = "program meta " ]
}

@test "shards: ranks with many calls that have nothing in common are one each, at once" {
    cat >apart.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    enum { N = 300, BLOCKS = 50 };
    int rank;
    char *block[BLOCKS];
    MPI_Aint address;
    MPI_Request request[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    srand((unsigned)(argc > 1 ? 1 : rank + 1));
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(64);
        MPI_Get_address(block[i], &address);
    }
    for (int i = 0; i < N; i++)
        MPI_Send_init(block[rand() % BLOCKS], 1 + i % 64, MPI_CHAR, 0, i, MPI_COMM_WORLD,
                      &request[i]);
    for (int i = 0; i < N; i++)
        MPI_Request_free(&request[i]);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" apart.c -o apart
    records whole.dir 4 64 ./apart
    [ "$(members whole.dir)" = "program meta " ]
    records apart.dir 4 8 ./apart
    [ "$(members apart.dir)" = "program.0 program.1 program.2 program.3 program meta " ] ||
        fail "$(members apart.dir)"
    says_all apart.dir
    records alike.dir 4 8 ./apart alike
    [ "$(members alike.dir)" = "program meta " ] || fail "$(members alike.dir)"
}

@test "parts: one rank of eight reads the parts of those that made few calls" {
    local many
    cat >calls.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++)
        for (int k = 0; atoi(argv[i]) == rank && k < 70000; k++)
            MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" calls.c -o calls
    # How many ranks open the library that merges.
    opened() {
        grep -l 'file=[^ ]*/libwendmerge.so' log.* | wc -l
        rm log.*
    }
    export LD_DEBUG_OUTPUT=$PWD/log
    for many in "2:" "2:0" "3:1" "4:2 3" "3:4" "2:8" "9:0 1 2 3 4 5 6 7 8"; do
        rm -rf together.dir whole.dir
        # shellcheck disable=SC2086
        LD_DEBUG=files records together.dir 9 64 ./calls ${many#*:}
        [ "$(opened)" = "${many%:*}" ] || fail "$many"
        # shellcheck disable=SC2086
        LD_DEBUG=files records whole.dir 9 8 ./calls ${many#*:} # each reads its own
        [ "$(opened)" = 9 ]
        says_all together.dir || return
    done
}

@test "shards: ranks that do not see the file have rank 0 write it" {
    local how
    records whole.dir 7 64 "$PROGRAMS/unlike"
    mv out plain
    export ELSEWHERE ELSEWHERE_LOG=$PWD/log
    for how in absent another; do
        rm -f log
        ELSEWHERE=$how LD_PRELOAD=$ELSEWHERE_SO records $how.dir 7 2 "$PROGRAMS/unlike"
        [ "$(wc -l <log)" = 2 ] || fail "$how: not from two ranks"
        cmp out plain
        says_all $how.dir
        only $how.dir
        [ "$(members $how.dir)" = "program.0 program.2 program.4 program meta " ]
    done
}

@test "shards: without an archive the parts stay, and the program goes on" {
    local how
    records whole.dir 7 64 "$PROGRAMS/unlike"
    mv out plain
    export ELSEWHERE ELSEWHERE_LOG=$PWD/log
    for how in lost full; do
        rm -f log
        ELSEWHERE=$how LD_PRELOAD=$ELSEWHERE_SO records $how.dir 7 2 "$PROGRAMS/unlike" ||
            fail "$how: another exit status" "$(cat err)"
        [ -s log ]
        cmp out plain
        grep -q "rank 0: .*trace.tar.zst: cannot write: No space left on device" err ||
            fail "$how: $(cat err)"
        [ ! -e $how.dir/trace.tar.zst ] && [ -z "$(find $how.dir -name '.wend-*')" ] ||
            fail "$how: $(ls -A $how.dir)"
        "$WEND" merge $how.dir 2>merge.err || fail "$(cat merge.err)"
        says_all $how.dir
    done
}

# repacked DIRECTORY: an archive of what is in the folder content.
repacked() {
    mkdir -p "$1"
    tar -C content --format=ustar -cf - $(ls content) | zstd -q >"$1/trace.tar.zst"
}

@test "shards: an archive with shards missing, twice or of another recording is refused" {
    records good.dir 7 2 "$PROGRAMS/unlike"
    records other.dir 6 2 "$PROGRAMS/unlike"
    mkdir whole content other
    zstd -dcq good.dir/trace.tar.zst | tar -xC whole
    zstd -dcq other.dir/trace.tar.zst | tar -xC other
    refused() { # PATTERN
        local command
        repacked bad.dir
        for command in show dump; do
            run --separate-stderr timeout 20 "$WEND" $command bad.dir
            # shellcheck disable=SC2053
            [ "$status" = 3 ] && [[ "$stderr" == $1 ]] && [ "${#stderr_lines[@]}" = 1 ] ||
                fail "wend $command: status $status" "$stderr" || return
        done
        run --separate-stderr timeout 20 "$PROXYGEN" bad.dir -o out.c
        [ "$status" = 3 ] && [ "${#stderr_lines[@]}" = 1 ] && [ ! -e out.c ] || fail "$stderr"
    }
    cp whole/* content/
    repacked same.dir
    "$WEND" diff good.dir same.dir
    rm content/program.4
    refused "*has no member program.4*"
    cp whole/program.2 content/program.4
    refused "*member program.4*a rank is in two classes*"
    cp other/program.4 content/program.4
    refused "*member program.4*another number of ranks*"
    cp whole/* content/
    sed -i 's/^shards=.*/shards=0;2/' content/meta
    refused "*its shards: a rank is in none of them*"
    sed -i 's/^shards=.*/shards=0;4;2/' content/meta
    refused "*its shards: their first ranks are no ascending numbers*"
    sed -i '/^shards=/d' content/meta
    refused "*a rank is in no class*"
}
