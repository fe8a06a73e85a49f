# SPDX-License-Identifier: BSD-3-Clause
# docs/format.md: its example is what the writer makes, and a reader written from the page alone
# (tests/format.py) reads what the writer makes.
load helpers
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

# The second reader's calls of the recording in DIRECTORY are those of wend dump.
read_alike() {
    PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$SOURCE_DIR/tests/format.py" "$1" |
        sed 's/ *$//; s/ failed$//' >read || fail "$1 cannot be read" || return
    "$WEND" dump "$1" | awk '
        /^# rank/ { rank = $3; sub(",", "", rank) }
        $1 ~ /^[0-9]+$/ { sub("[(].*", "", $2); print rank, $2 }' >dumped
    [ -s dumped ] && cmp read dumped || fail "$1: other calls" "$(diff read dumped | head)"
}

# Likewise its values; the streams of a rank may come in another order.
read_values_alike() {
    PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$SOURCE_DIR/tests/format.py" --values "$1" |
        LC_ALL=C sort -s -t, -k1,2 >read || fail "$1 cannot be read" || return
    "$WEND" dump --values --format=jsonl "$1" | grep '"value":"' |
        LC_ALL=C sort -s -t, -k1,2 >dumped
    [ -s dumped ] && cmp read dumped || fail "$1: other values" "$(diff read dumped | head)"
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
    member shards.dir meta | grep -qx 'shards=2'
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
