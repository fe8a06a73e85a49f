# SPDX-License-Identifier: BSD-3-Clause
# docs/format.md: its example is what the writer makes, and a reader written from the page alone
# (tests/read/format.py) reads what the writer makes.
load ../helpers
setup() {
    in_scratch
    PAGE=$SOURCE_DIR/docs/format.md
    SCRIPT=$BUILD_DIR/tests/decoder/script
    command -v zstd >/dev/null || skip "no zstd"
}

member() { # DIRECTORY NAME
    zstd -dcq "$1/trace.tar.zst" | tar -xO "$2"
}

# The code block of the page with this first line or language, and the bytes of the example's table.
block() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$PAGE" | sed '1d;$d'
}
bytes() {
    sed -n '/^## An archive, byte by byte/,/^## Limits/p' "$PAGE" |
        sed -n 's/^| `\([0-9a-f ]*\)` |.*/\1/p' | tr -d ' \n'
}

second_reader() { # FILE ARGUMENT…
    PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$SOURCE_DIR/tests/read/$1" "${@:2}"
}

# The second reader's calls of the recording in DIRECTORY are those of wend dump.
read_alike() {
    second_reader format.py "$1" |
        sed 's/ *$//; s/ failed$//' >read || fail "$1 cannot be read" || return
    "$WEND" dump "$1" | awk '
        /^# rank/ { rank = $3; sub(",", "", rank) }
        $1 ~ /^[0-9]+$/ { sub("[(].*", "", $2); print rank, $2 }' >dumped
    [ -s dumped ] && cmp read dumped || fail "$1: other calls" "$(diff read dumped | head)"
}

# Likewise its values, results and locks. The streams of a rank may come in another order, and those
# of different kinds are read one after another, so values are compared function by function.
read_values_alike() {
    second_reader format.py --values "$1" |
        LC_ALL=C sort -s -t, -k1,3 >read || fail "$1 cannot be read" || return
    "$WEND" dump --values --format=jsonl "$1" | grep '"value":"' |
        LC_ALL=C sort -s -t, -k1,3 >dumped
    [ -s dumped ] && cmp read dumped || fail "$1: other values" "$(diff read dumped | head)"
}

# Likewise when each call and poll began, to 2 ns, and its duration. The second reader has times
# since the epoch; those of wend dump are from another beginning.
read_times_alike() {
    second_reader format.py --times "$1" |
        LC_ALL=C sort -s -k1,3 >read || fail "$1 cannot be read" || return
    "$WEND" dump --times --format=jsonl "$1" | sed -nE '
        s/"start":[-0-9.]+\}$/&,"duration":-}/; s/\},"duration"/,"duration"/
        s/^\{"rank":([0-9]+),"([a-z]+)":([0-9]+),/\1 \2 \3 /
        s/ "call":.*"poll":(true|false),.*"start":([-0-9.]+),"duration":([-0-9.]+)\}$/ \1 \2 \3/
        s/ true / 1 /; s/ false / 0 /; /^[0-9]/p' |
        LC_ALL=C sort -s -k1,3 >dumped
    [ -s dumped ] && [ "$(wc -l <read)" = "$(wc -l <dumped)" ] ||
        fail "$1: $(wc -l <read) and $(wc -l <dumped) times" || return
    paste -d ' ' read dumped | awk '
        { split($5, a, "."); split($11, b, "."); sign = b[1] ~ /^-/ ? -1 : 1 }
        NR == 1 { second = a[1] }
        { ns = (a[1] - second - b[1]) * 1e9 + a[2] - sign * b[2] }
        NR == 1 { first = ns }
        $1 " " $2 " " $3 " " $4 != $7 " " $8 " " $9 " " $10 || $6 != $12 ||
        ns - first > 2 || first - ns > 2 { print; exit }' >differences
    [ ! -s differences ] || fail "$1: other times" "$(cat differences)"
}

# Likewise from where each call and poll came.
read_sites_alike() {
    second_reader format-sites.py "$1" \
        >read || fail "$1 cannot be read" || return
    "$WEND" dump --sites --format=jsonl "$1" | "${PYTHON:-python3}" -c '
import json, sys
for call in map(json.loads, sys.stdin):
    kind = "thread" if "thread" in call else "callback"
    site = call["site"] or {}
    callers = [c["offset"] for c in site.get("callers", [])]
    print(call["rank"], kind, call[kind], int(call["poll"]), site.get("offset", "-"), *callers,
          *["cut"] * (not site.get("whole", True)))' >dumped
    [ -s dumped ] && cmp read dumped || fail "$1: other sites" "$(diff read dumped | head)"
}

# Likewise the names of all addresses that calls came from.
read_names_alike() {
    second_reader format-sites.py --names \
        "$1" | LC_ALL=C sort >read || fail "$1 cannot be read" || return
    "$WEND" dump --sites --format=jsonl "$1" | "${PYTHON:-python3}" -c '
import json, sys
for call in map(json.loads, sys.stdin):
    for site in [call["site"], *call["site"].get("callers", [])]:
        frames = [(f["function"], f["file"], f["line"]) for f in site.get("frames", [])]
        if frames:
            print(json.dumps([site["offset"], frames]))' | LC_ALL=C sort -u >dumped
    [ -s dumped ] && cmp read dumped || fail "$1: other names" "$(diff read dumped | head)"
}

@test "the writer makes the archive that docs/format.md explains byte by byte" {
    block script >example.script
    [ -s example.script ]
    "$SCRIPT" example.script example.dir
    [ "$(member example.dir program | od -An -v -tx1 | tr -d ' \n')" = "$(bytes)" ] ||
        fail "docs/format.md explains $(bytes)" "$(member example.dir program | od -An -v -tx1)"
    member example.dir meta >meta
    sed -n '/^\[recording\]$/,/^```$/p' "$PAGE" | sed '$d' | diff - meta
    read_alike example.dir
}

@test "a reader written from the page reads the golden archive" {
    read_alike "$SOURCE_DIR/tests/decoder/golden.dir"
}

@test "a reader written from the page reads classes, variants, loops, polls and all values" {
    cat >app.script <<'END'
ranks 9
rank *
MPI_Init
repeat 50
MPI_Irecv source=MPI_ANY_SOURCE tag=3 request=r
? MPI_Test request=r
MPI_Test request=r done=r -> flag=1 status=1,0,0,0
MPI_Allreduce count=1
end
rank 0-3
repeat 20
MPI_Send dest=self+1 count=1 tag=1
end
repeat 5
MPI_Recv source=0 count=1 tag=2 -> status=0,2,0,4
end
rank 4-8
repeat 30
MPI_Send dest=self+1 count=1 tag=1
end
repeat 7
MPI_Recv source=0 count=1 tag=2 -> status=0,2,0,4
end
rank *
MPI_Barrier
END
    for i in $(seq 60); do
        for rank in 0 4 8; do
            echo "rank $rank"
            echo "MPI_Send dest=self+1 count=$((i * i * 7919 % 1009)) tag=$((i % 7))"
        done
    done >>app.script
    printf 'rank *\nMPI_Finalize\n' >>app.script
    "$SCRIPT" app.script app.dir
    read_alike app.dir
}

@test "a reader written from the page reads shards" {
    export WEND_SHARD_RANKS=2
    record shards.dir 5 "$PROGRAMS/unlike" >/dev/null
    member shards.dir meta | grep -qx 'shards=0;2'
    read_alike shards.dir
}

@test "a reader written from the page reads the order of threads" {
    record order.dir 3 "$PROGRAMS/turns" tags >/dev/null
    member order.dir program | grep -aq wend_turn
    read_alike order.dir
}

@test "a reader written from the page reads side streams" {
    local program
    for program in clocks random threads between identity; do
        mpi 3 "$WEND" trace --quiet --values -o values.dir "$PROGRAMS/values" $program >out
        read_alike values.dir
        read_values_alike values.dir
        rm -r values.dir
    done
}

@test "a reader written from the page reads results and locks" {
    mpi 3 "$WEND" trace --quiet --values -o values.dir "$PROGRAMS/onesided" \
        tickets replacing append phases >out
    zstd -dcq values.dir/trace.tar.zst | tar -t results.0 locks.0
    read_values_alike values.dir
    # data is guessed from data before it, which is longer, shorter, and longer again
    cat >gets.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    char *base, got[700];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(700, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < 700; i++)
        base[i] = i * i / 9;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 60; i++) {
        int n = 9 + i * 97 % 600;
        MPI_Get(got, n, MPI_CHAR, i % 2, i, n, MPI_CHAR, win);
        MPI_Win_flush_all(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" gets.c -o gets
    rm -r values.dir
    mpi 2 "$WEND" trace --quiet --values -o values.dir ./gets >out
    read_values_alike values.dir
}

@test "a reader written from the page reads the time of every call" {
    local times
    for times in lossless 10% 1% 50%; do
        mpi 3 "$WEND" trace --quiet --times=$times -o times.dir "$PROGRAMS/turns" tags >out
        read_times_alike times.dir
        rm -r times.dir
    done
    mpi 4 "$WEND" trace --quiet --times=bins:10% -o times.dir "$PROGRAMS/nbx" >out
    "$WEND" dump times.dir | grep -q '^ *- ' || fail "no polls"
    read_times_alike times.dir
}

@test "a reader written from the page reads call sites and call stacks" {
    local option
    for option in --symbols --stacks --stacks=2; do
        mpi 3 "$WEND" trace --quiet $option -o sites.dir "$PROGRAMS/turns" tags >out
        read_sites_alike sites.dir
        rm -r sites.dir
        mpi 4 "$WEND" trace --quiet $option -o sites.dir "$PROGRAMS/nbx" >out
        read_sites_alike sites.dir
        rm -r sites.dir
        mpi 2 "$WEND" trace --quiet $option -o sites.dir "$PROGRAMS/callbacks" >out
        read_sites_alike sites.dir
        rm -r sites.dir
    done
    # streams that begin with a site of the stream before
    mpi 3 "$WEND" trace --quiet -o sites.dir "$PROGRAMS/turns" probes >out
    read_sites_alike sites.dir
}

# Calls at random from 256 places. The streams of rank 0 are too long for the member of all ranks.
# bats test_tags=once
@test "a reader written from the page reads sites and stacks of one rank, and names" {
    cat >places.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#define ONE(n) case n: MPI_Comm_rank(MPI_COMM_WORLD, &rank); break;
#define FOUR(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3)
#define SIXTEEN(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12)
#define MANY(n) SIXTEEN(n) SIXTEEN(n + 16) SIXTEEN(n + 32) SIXTEEN(n + 48)
static int rank;
static void place(int n)
{
    switch (n) {
        MANY(0) MANY(64) MANY(128) MANY(192)
    }
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = rank == 0 ? atoi(argv[1]) : 9; i > 0; i--)
        place(rand() / 8 % 256);
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" -g places.c -o places
    mpi 2 "$WEND" trace --quiet --symbols -o sites.dir ./places 17000 >out
    zstd -dcq sites.dir/trace.tar.zst | tar -t sites sites.0 names
    read_sites_alike sites.dir
    read_names_alike sites.dir
    mpi 2 "$WEND" trace --quiet --stacks --symbols -o stacks.dir ./places 66000 >out
    zstd -dcq stacks.dir/trace.tar.zst | tar -t stacks stacks.0 names
    read_sites_alike stacks.dir
    read_names_alike stacks.dir
}
