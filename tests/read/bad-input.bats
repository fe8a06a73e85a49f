# SPDX-License-Identifier: BSD-3-Clause
# Bad input to the readers. Each prints one line that says what is wrong and returns the documented
# exit status. None crashes, and nothing is overwritten.
bats_require_minimum_version 1.5.0
load ../helpers

setup_file() {
    load ../helpers
    cd "$BATS_FILE_TMPDIR" || return 1
    record good.dir 2 "$EXAMPLES/ring" -l 3 >/dev/null
}
setup() {
    in_scratch
    good=$BATS_FILE_TMPDIR/good.dir
}

teardown() {
    ! mountpoint -q small 2>/dev/null || umount small
}

# refuses STATUS command…: the command ends with STATUS and one line on standard error.
refuses() {
    local expected=$1 lines
    shift
    run --separate-stderr timeout 20 "$@"
    lines=$(printf '%s\n' "$stderr" | grep -c .)
    [ "$status" = "$expected" ] && [ "$lines" = 1 ] ||
        fail "status $status (wanted $expected), $lines lines: $*" "$stderr"
}
readers_refuse() { # each reader refuses recording $1 as bad input
    refuses 3 "$WEND" show "$1"
    refuses 3 "$WEND" dump "$1"
    refuses 3 "$WEND" diff "$1" "$good"
    refuses 3 "$WEND" diff "$good" "$1"
    refuses 3 "$WEND" export --csv -o out.csv "$1"
    refuses 3 "$PROXYGEN" "$1" -o out.c
    [ ! -e out.c ]
    [ ! -e out.csv ]
}

@test "a missing recording" { readers_refuse nowhere.dir; }
@test "an empty folder" {
    mkdir empty.dir
    readers_refuse empty.dir
}
@test "an empty archive" {
    mkdir bad.dir
    : >bad.dir/trace.tar.zst
    readers_refuse bad.dir
}
@test "a file that is no archive" {
    mkdir bad.dir
    echo "this is not an archive, though it is long enough to be one" >bad.dir/trace.tar.zst
    readers_refuse bad.dir
}
@test "an archive of something else" {
    mkdir bad.dir
    echo hello >hello.txt
    tar --zstd -cf bad.dir/trace.tar.zst hello.txt
    readers_refuse bad.dir
}
@test "truncated archives" {
    size=$(stat -c %s "$good/trace.tar.zst")
    mkdir bad.dir
    for ((n = 1; n < size; n += size / 12)); do
        head -c "$n" "$good/trace.tar.zst" >bad.dir/trace.tar.zst
        refuses 3 "$WEND" show bad.dir
        refuses 3 "$WEND" dump bad.dir
        refuses 3 "$WEND" export --csv -o out.csv bad.dir
    done
    head -c $((size - 1)) "$good/trace.tar.zst" >bad.dir/trace.tar.zst
    refuses 3 "$WEND" dump bad.dir
}
@test "bit-flipped archives: refused, or read as if nothing had happened" {
    mkdir bad.dir
    "$WEND" dump "$good" >expected
    flip=$BATS_TEST_TMPDIR/flip.py
    cat >"$flip" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
bit = int(sys.argv[3]) * 7919 % (len(data) * 8)
data[bit // 8] ^= 1 << bit % 8
open(sys.argv[2], "wb").write(data)
END
    for i in $(seq "$(often 60)"); do
        python3 "$flip" "$good/trace.tar.zst" bad.dir/trace.tar.zst "$i"
        run --separate-stderr timeout 20 "$WEND" dump bad.dir
        case $status in
        0) diff <(printf '%s\n' "$output") expected >/dev/null ||
            fail "flip $i: another content, and no error" ;;
        3) [ "$(printf '%s\n' "$stderr" | grep -c .)" = 1 ] ;;
        *) fail "flip $i: status $status: $stderr" ;;
        esac
    done
}
@test "bits flipped inside the members, checksums right" {
    # The archive is packed again, so every checksum fits: only the reader's own checks are left.
    mkdir unpacked bad.dir
    tar --zstd -xf "$good/trace.tar.zst" -C unpacked
    cp -r unpacked pristine
    (cd unpacked && find . -type f -size +0 | sort) >members
    cat >flip.py <<'END'
import sys
path, n = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
bit = n * 104729 % (len(data) * 8)
data[bit // 8] ^= 1 << bit % 8
open(path, "wb").write(data)
END
    formats=(--csv --csv=calls)
    ! grep -q '^#define HAVE_OTF2 1' "$BUILD_DIR/config.h" || formats+=(--otf2)
    ! grep -q '^#define HAVE_PROTOBUF_C 1' "$BUILD_DIR/config.h" || formats+=(--perfetto)
    for i in $(seq "$(often 60)"); do
        member=$(sed -n "$((i % $(wc -l <members) + 1))p" members)
        cp "pristine/$member" "unpacked/$member"
        python3 flip.py "unpacked/$member" "$i"
        (cd unpacked &&
            tar --zstd --format=pax -cf ../bad.dir/trace.tar.zst \
            $(tar --zstd -tf "$good/trace.tar.zst"))
        for command in "$WEND show" "$WEND dump" "$PROXYGEN -o out.c" \
            "$WEND export ${formats[i % ${#formats[@]}]} -o exported"; do
            rm -rf out.c exported
            # shellcheck disable=SC2086
            run --separate-stderr timeout 20 $command bad.dir
            case $status in
            0) ;;
            3) [ "$(printf '%s\n' "$stderr" | grep -v 'no time of each call' | grep -c .)" = 1 ] ||
                fail "$command, flip $i in $member: $stderr"
                [ ! -e exported ] || fail "$command, flip $i in $member: half an output" ;;
            *) fail "$command, flip $i in $member: status $status: $stderr" ;;
            esac
        done
        cp "pristine/$member" "unpacked/$member"
    done
}
@test "an archive of another version of the format" {
    mkdir unpacked bad.dir
    tar --zstd -xf "$good/trace.tar.zst" -C unpacked
    grep -q '^format=' unpacked/meta
    sed -i 's/^format=.*/format=9999/' unpacked/meta
    (cd unpacked &&
        tar --zstd --format=pax -cf ../bad.dir/trace.tar.zst \
        $(tar --zstd -tf "$good/trace.tar.zst"))
    refuses 3 "$WEND" show bad.dir
    [[ "$stderr" == *9999* ]]
    readers_refuse bad.dir
}
@test "diff of recordings with different numbers of ranks is an answer, not an error" {
    record one.dir 1 "$EXAMPLES/ring" >/dev/null
    run "$WEND" diff one.dir "$good"
    [ "$status" = 1 ]
}
@test "missing ranks and functions" {
    refuses 2 "$WEND" dump "$good" --rank 99
    refuses 2 "$WEND" dump "$good" --rank -1
    refuses 2 "$WEND" dump "$good" --rank x
}

@test "unknown commands and options" {
    refuses 2 "$WEND" nosuch
    refuses 2 "$WEND" --nosuch
    refuses 2 "$WEND" show --nosuch "$good"
    refuses 2 "$WEND" dump --nosuch "$good"
    refuses 2 "$WEND" dump --format nosuch "$good"
    refuses 2 "$WEND" diff --nosuch "$good" "$good"
    refuses 2 "$WEND" trace --nosuch true
    refuses 2 "$PROXYGEN" --nosuch "$good"
}
@test "missing and superfluous operands" {
    refuses 2 "$WEND" show
    refuses 2 "$WEND" diff "$good"
    refuses 2 "$WEND" diff "$good" "$good" "$good"
    refuses 2 "$WEND" trace
    refuses 2 "$WEND" trace -o x.dir
    refuses 2 "$PROXYGEN"
}
@test "output that cannot be written: the readers" {
    refuses 4 "$PROXYGEN" "$good" -o nowhere/out.c
    run --separate-stderr bash -c '"$0" dump "$1" >/dev/full' "$WEND" "$good"
    [ "$status" = 4 ]
    [ "$(printf '%s\n' "$stderr" | grep -c .)" = 1 ]
    run --separate-stderr bash -c '"$0" show "$1" >/dev/full' "$WEND" "$good"
    [ "$status" = 4 ]
}
@test "standard output that is closed early is no error" {
    run --separate-stderr bash -c '"$0" dump "$1" | head -n 1; exit ${PIPESTATUS[0]}' "$WEND" \
        "$good"
    [ "$status" = 0 ] || fail "status $status"
    [ -z "$stderr" ]
}

# application_survives: the program's own output and status are the same, and wend prints one line
# that says what went wrong.
application_survives() {
    [ "$status" = 0 ] || fail "status $status" "$stderr"
    [ "$output" = "hello from 2 ranks: 1" ]
    [ "$(printf '%s\n' "$stderr" | grep -c wend)" = 1 ] || fail "not one line:" "$stderr"
}
@test "an output that cannot be made is refused before the program runs" {
    : >file
    refuses 4 "$WEND" trace -o file/a.dir "$PROGRAMS/hello"
    refuses 3 "$WEND" trace -o file "$PROGRAMS/hello"
}
@test "an output that cannot be made later: the application is not disturbed" {
    : >file
    WEND_OUTPUT=$PWD/file/a.dir LD_PRELOAD=$LIBWEND run --separate-stderr mpi 2 "$PROGRAMS/hello"
    application_survives
}
@test "a full disk: the application is not disturbed, and no file has the final name" {
    mkdir small
    mount -t tmpfs -o size=64k,nr_inodes=16 tmpfs small 2>/dev/null ||
        skip "cannot mount a small file system here"
    dd if=/dev/zero of=small/filler bs=4096 2>/dev/null || true
    run --separate-stderr mpi 2 "$WEND" trace -o small/a.dir "$PROGRAMS/hello"
    left=$(ls small/a.dir 2>/dev/null || true)
    umount small
    application_survives
    [ -z "$left" ]
}
@test "a program without MPI: its output and status, no recording" {
    run --separate-stderr timeout 20 "$WEND" trace -o a.dir sh -c 'echo hi; exit 7'
    [ "$status" = 7 ]
    [ "$output" = hi ]
    [ ! -e a.dir ]
}
@test "a missing program" {
    refuses 4 "$WEND" trace -o a.dir ./nosuch
    [ ! -e a.dir ]
    : >not-executable
    refuses 4 "$WEND" trace -o a.dir ./not-executable
}
@test "a program that nothing can be preloaded into" {
    echo 'int main(void) { return 0; }' >static.c
    ${CC:-gcc} -static static.c -o static 2>/dev/null || skip "no static libc here"
    refuses 3 "$WEND" trace -o a.dir ./static
}
@test "a program that ends without MPI_Finalize: its output and status, and one line" {
    run --separate-stderr timeout 60 "$WEND" trace -o a.dir "$PROGRAMS/exits" nofinalize 4
    [ "$status" = 4 ]
    [ "$output" = "before the end" ]
    [ "$(printf '%s\n' "$stderr" | grep -c 'wend')" = 1 ]
}
