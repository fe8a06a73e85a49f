# SPDX-License-Identifier: BSD-3-Clause
# Hostile recordings: names that do not lead to regular files, and archives that take much more
# memory than they have bytes.
bats_require_minimum_version 1.5.0
load ../helpers

setup_file() {
    load ../helpers
    cd "$BATS_FILE_TMPDIR" || return 1
    record good.dir 2 "$EXAMPLES/ring" -l 3 >/dev/null
    tar --zstd -xOf good.dir/trace.tar.zst meta >meta
    digest=$(sed -n 's/^#define WEND_DIGEST_START UINT32_C(\([0-9]*\))$/\1/p' \
        "$SOURCE_DIR/lib/record/functions.h")
    for kind in "one ZEROS 1 6" "eight ZEROS 8 1" "claims CLAIMS meta $digest"; do
        # shellcheck disable=SC2086
        set -- $kind
        mkdir "$1.dir"
        python3 "$SOURCE_DIR/tests/support/bomb.py" "$1.dir/trace.tar.zst" "${@:2}" || return 1
    done
}
setup() {
    in_scratch
    files=$BATS_FILE_TMPDIR
    good=$files/good.dir
}

# refuses STATUS TEXT command…: with 800 MB of memory the command ends with STATUS and a line that
# has TEXT.
refuses() {
    local expected=$1 text=$2
    shift 2
    run --separate-stderr timeout 60 bash -c 'ulimit -v 800000; exec "$@"' - "$@"
    [ "$status" = "$expected" ] || fail "status $status (wanted $expected): $*" "$stderr" || return
    [ "$(printf '%s\n' "$stderr" | grep -c .)" = 1 ] && [[ "$stderr" == *"$text"* ]] ||
        fail "$*: $stderr" || return
    [ ! -e out.c ] || fail "$*: it wrote the proxy" || return
    [ ! -e out.csv ] || fail "$*: it wrote the table"
}
readers_refuse() { # TEXT RECORDING
    refuses 3 "$1" "$WEND" show "$2" || return
    refuses 3 "$1" "$WEND" dump "$2" || return
    refuses 3 "$1" "$WEND" diff "$good" "$2" || return
    refuses 3 "$1" "$WEND" diff "$2" "$good" || return
    refuses 3 "$1" "$WEND" export --csv -o out.csv "$2" || return
    refuses 3 "$1" "$PROXYGEN" "$2" -o out.c || return
    refuses 3 "$1" "$WEND" replay "$2" "$PROGRAMS/hello"
}

@test "archives that unpack to gigabytes, in one frame and in many" {
    for name in one eight; do
        [ "$(stat -c %s "$files/$name.dir/trace.tar.zst")" -lt 300000 ]
        readers_refuse --max-size "$files/$name.dir"
    done
}

@test "an archive that claims millions of things in a few bytes" {
    [ "$(stat -c %s "$files/claims.dir/trace.tar.zst")" -lt 2000 ]
    readers_refuse --max-size "$files/claims.dir"
}

@test "a hostile archive among those of a recording's worlds, and where wend merge reads them" {
    cp -r "$good" a.dir
    cp "$files/one.dir/trace.tar.zst" a.dir/world-1.tar.zst
    readers_refuse --max-size a.dir
    mpi 2 "$WEND" trace -o b.dir "$PROGRAMS/dying" SIGTERM >/dev/null 2>&1 || true
    cp "$files/one.dir/trace.tar.zst" b.dir/world-1.tar.zst
    refuses 3 --max-size "$WEND" merge b.dir
}

@test "--max-size allows a recording more memory, or less" {
    "$WEND" show --max-size=1G "$good" >/dev/null
    readers_refuse_less() { refuses 3 "takes more than" "$@" --max-size=1K; }
    readers_refuse_less "$WEND" show "$good"
    readers_refuse_less "$WEND" dump "$good"
    readers_refuse_less "$WEND" diff "$good" "$good"
    readers_refuse_less "$WEND" export --csv "$good" -o out.csv
    readers_refuse_less "$PROXYGEN" "$good" -o out.c
    refuses 3 "takes more than" "$WEND" replay --max-size=1K "$good" "$PROGRAMS/hello"
    for bad in "" 0 -1 12Q 1KB 1.5M 99999999999999999999 " 1" +1 0x10; do
        refuses 2 max-size "$WEND" show --max-size="$bad" "$good"
        refuses 2 max-size "$WEND" export --max-size="$bad" --csv "$good" -o out.csv
        refuses 2 max-size "$WEND" merge --max-size="$bad" "$good"
        refuses 2 max-size "$PROXYGEN" --max-size="$bad" "$good" -o out.c
        refuses 2 max-size "$WEND" replay --max-size="$bad" "$good" "$PROGRAMS/hello"
    done
    # more than there is
    refuses 4 memory "$WEND" show --max-size=100G "$files/one.dir"
}

# What a replay needs is in proportion to some of the calls, and a few bytes stand for any number.
@test "a recording that stands for many more calls than it has bytes, in a replay" {
    looping() { # LINES
        printf '%s\n' "repeat 100" "repeat 4000" "$@" end end
    }
    refuses_replay() {
        "$BUILD_DIR/tests/decoder/script" script a.dir
        [ "$(stat -c %s a.dir/trace.tar.zst)" -lt 2000 ]
        refuses 3 "a.dir: its replay: takes more than" \
            "$WEND" replay --max-size=2M a.dir "$PROGRAMS/hello" || return
    }
    looping 'MPI_Irecv source=MPI_ANY_SOURCE request=a' 'MPI_Wait request=a done=a' >script
    refuses_replay
    # messages, to find what a receive got that was freed
    {
        printf '%s\n' 'MPI_Irecv source=MPI_ANY_SOURCE request=a' 'MPI_Request_free request=a'
        looping 'MPI_Send dest=0' 'MPI_Send dest=0'
    } >script
    refuses_replay
}

@test "devices, pipes, sockets and large empty files are refused at once" {
    mkfifo pipe
    truncate -s 6G sparse
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    mkdir folder empty.dir
    for file in /dev/zero pipe socket; do readers_refuse "not a regular file" $file; done
    readers_refuse "not a Wend archive" sparse
    readers_refuse "no trace.tar.zst" empty.dir
    for file in /dev/zero pipe socket sparse folder; do
        rm -rf a.dir
        mkdir a.dir
        ln -s "$(realpath $file)" a.dir/trace.tar.zst
        readers_refuse a.dir/trace.tar.zst a.dir
        rm a.dir/trace.tar.zst
        cp "$good/trace.tar.zst" a.dir
        ln -s "$(realpath $file)" a.dir/world-1.tar.zst
        readers_refuse a.dir/world-1.tar.zst a.dir
    done
}

@test "wend merge leaves out parts that are no regular files or not Wend's" {
    mkfifo pipe
    truncate -s 6G sparse
    mpi 2 "$WEND" trace -o whole.dir "$PROGRAMS/dying" SIGTERM >/dev/null 2>&1 || true
    for file in /dev/zero pipe sparse; do
        cp -r whole.dir a.dir
        for slot in a b; do ln -sf "$(realpath $file)" a.dir/trace.parts/rank-1.$slot; done
        run --separate-stderr timeout 60 bash -c 'ulimit -v 800000; exec "$@"' - "$WEND" merge a.dir
        [ "$status" = 0 ] &&
            [ "$stderr" = "wend merge: rank 1: its parts are damaged: it is left out" ] ||
            fail "$file: status $status: $stderr"
        rm -r a.dir
    done
    # a header that says that the part has the file's 6 GB
    cp -r whole.dir a.dir
    rm a.dir/trace.parts/rank-1.b
    printf 'WENDSAVE' | dd of=a.dir/trace.parts/rank-1.a conv=notrunc 2>/dev/null
    printf '\0\0\0\140\1\0\0\0' |
        dd of=a.dir/trace.parts/rank-1.a bs=1 seek=24 conv=notrunc 2>/dev/null
    truncate -s 6G a.dir/trace.parts/rank-1.a
    refuses 4 memory "$WEND" merge a.dir
}

@test "a pipe in a recording's directory does not stop the recorder" {
    mkdir -p wend-other/trace.parts wend-more
    mkfifo wend-other/trace.parts/run wend-more/trace.parts
    WEND_CHECKPOINT=1 mpi 2 "$WEND" trace "$PROGRAMS/dying" SIGTERM 3 2>err || true
    "$WEND" merge wend-dying* || fail "$(cat err)"
    [ "$("$WEND" dump --rank 1 wend-dying* | grep -c MPI_Sendrecv)" = 50 ] ||
        fail "$(cat err)" # it looked for the parts' folder
}
