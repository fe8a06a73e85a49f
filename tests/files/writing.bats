# SPDX-License-Identifier: BSD-3-Clause
# Output files: an existing file is replaced only if asked, devices and pipes are written to, links
# are not followed, and no temporary file is left.
bats_require_minimum_version 1.5.0
load ../helpers

setup() {
    in_scratch
    mkdir work # bats keeps files of its own in the scratch folder
    cd work
    printf '%s\n' 'ranks 2' 'rank *' MPI_Init 'MPI_Barrier comm=MPI_COMM_WORLD' MPI_Finalize >lines
    "$BUILD_DIR/tests/decoder/script" lines a.dir
}

# gives STATUS PATTERN command…: the command ends with STATUS. A refusal prints one line, which
# matches PATTERN.
gives() {
    local expected=$1 pattern=$2
    shift 2
    run --separate-stderr timeout 20 "$@"
    # shellcheck disable=SC2053
    [ "$status" = "$expected" ] && [[ "$stderr" == $pattern ]] ||
        fail "status $status, wanted $expected: $*" "$stderr" || return
    ((expected == 0 || ${#stderr_lines[@]} == 1)) || fail "not one line" "$stderr"
}
nothing_else() { # FILE…: this folder has only a.dir, lines and FILE…
    local left
    left=$(ls -A | grep -vxF -f <(printf '%s\n' a.dir lines "$@") || true)
    [ -z "$left" ] || fail "left behind:" "$left"
}

@test "proxygen -o FILE: new, existing, --force, a directory" {
    umask 027
    gives 0 "" "$PROXYGEN" a.dir -o p.c
    [ "$(stat -c %a p.c)" = 640 ]
    cp p.c whole.c
    echo precious >p.c
    gives 3 "*p.c: exists*--force*" "$PROXYGEN" a.dir -o p.c
    [ "$(cat p.c)" = precious ]
    chmod 600 p.c
    gives 0 "" "$PROXYGEN" --force a.dir -o p.c
    cmp p.c whole.c
    [ "$(stat -c %a p.c)" = 600 ]
    mkdir there
    gives 3 "*there: exists*--force*" "$PROXYGEN" a.dir -o there
    gives 0 "" "$PROXYGEN" a.dir -o new/
    [ -f new/Makefile ]
    gives 4 "*missing/p.c*" "$PROXYGEN" a.dir -o missing/p.c
    gives 4 "*missing/new*" "$PROXYGEN" a.dir -o missing/new/
    nothing_else p.c whole.c there new
}

@test "proxygen -o: standard output, a descriptor, a FIFO" {
    "$PROXYGEN" a.dir -o whole.c
    for name in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        "$PROXYGEN" a.dir -o $name >p.c
        cmp p.c whole.c
        "$PROXYGEN" --force a.dir -o $name | cmp - whole.c
    done
    mkfifo pipe
    cat pipe >p.c &
    gives 0 "" "$PROXYGEN" --force a.dir -o pipe
    wait $!
    cmp p.c whole.c
    [ -p pipe ]
    # A signal ends a command that waits for a reader.
    "$PROXYGEN" a.dir -o pipe &
    sleep 0.5
    kill -TERM $!
    local status=0
    wait $! || status=$?
    [ "$status" = 143 ]
    nothing_else p.c whole.c pipe
}

@test "proxygen -o: a full device stays one" {
    mknod full c 1 7 2>/dev/null || skip "cannot make a device here"
    run bash -c 'echo x >full'
    [[ "$output" == *"No space left"* ]] || skip "devices do not work here"
    local refusal="proxygen: full: cannot write: No space left on device"
    gives 4 "$refusal" "$PROXYGEN" --force a.dir -o full
    gives 4 "$refusal" "$PROXYGEN" a.dir -o full
    [ -c full ]
    run --separate-stderr bash -c '"$0" a.dir -o - >full' "$PROXYGEN"
    [ "$status" = 4 ]
    nothing_else full
}

@test "proxygen -o: links are replaced, not followed" {
    echo precious >victim
    ln -s victim p.c
    gives 3 "*p.c: exists*" "$PROXYGEN" a.dir -o p.c
    gives 0 "" "$PROXYGEN" --force a.dir -o p.c
    [ "$(cat victim)" = precious ]
    [ ! -L p.c ]
    [ -s p.c ]
    ln -s nowhere dangling.c
    gives 3 "*dangling.c: exists*" "$PROXYGEN" a.dir -o dangling.c
    gives 0 "" "$PROXYGEN" --force a.dir -o dangling.c
    [ ! -e nowhere ]
    ln -s loop loop
    gives 3 "*loop*" "$PROXYGEN" --force a.dir -o loop
    gives 3 "*loop*" "$PROXYGEN" --force a.dir -o loop/p.c
    # A temporary file must not have a name that can be guessed.
    bash -c 'ln -s victim "q.c.$$.tmp"; exec "$0" a.dir -o q.c' "$PROXYGEN"
    [ "$(cat victim)" = precious ]
    [ -s q.c ]
    rm q.c.*.tmp
    nothing_else victim p.c dangling.c loop q.c
}

@test "no space, or a limit: no file is left" {
    gives 4 "*p.c: cannot write: *" bash -c 'ulimit -f 1; exec "$0" a.dir -o p.c' "$PROXYGEN"
    gives 4 "*: cannot write: *" bash -c 'ulimit -f 1; exec "$0" a.dir -o new/' "$PROXYGEN"
    nothing_else
    mkdir small
    mount -t tmpfs -o size=8k tmpfs small 2>/dev/null || skip "cannot mount a file system here"
    dd if=/dev/zero of=small/filler bs=4096 2>/dev/null || true
    run "$PROXYGEN" a.dir -o small/p.c
    left=$(ls -A small)
    umount small
    [ "$status" = 4 ]
    [[ "$output" == *"small/p.c: cannot write: "* ]]
    [ "$left" = filler ]
}

@test "wend export: an output that exists is refused in one line, in each format" {
    local format
    for format in --csv --csv=calls --perfetto --otf2; do
        ! "$WEND" export $format -o none none 2>&1 | grep -q 'built without' || continue
        # the recording has no times, which is a line of its own only if something is written
        local refused="wend export: there: exists: --force overwrites it"
        echo precious >there
        gives 3 "$refused" "$WEND" export $format -o there a.dir
        [ "$(cat there)" = precious ]
        rm there
        mkdir there
        case $format in
        --otf2) gives 3 "$refused" "$WEND" export $format -o there a.dir ;;
        *) gives 3 "wend export: there: is a directory" "$WEND" export $format -o there a.dir ;;
        esac
        rmdir there
        ln -s nowhere there
        gives 3 "$refused" "$WEND" export $format -o there a.dir
        [ "$(readlink there)" = nowhere ]
        rm there
        gives 4 "wend export: missing/there: *" "$WEND" export $format -o missing/there a.dir
        nothing_else
        gives 0 "wend export: a.dir: the recording has no time of each call (wend trace --times)*" \
            "$WEND" export $format -o there a.dir
        [ "$(wc -l <<<"$stderr")" = 1 ]
        gives 3 "$refused" "$WEND" export $format -o there a.dir
        gives 0 "*" "$WEND" export $format --force -o there a.dir
        rm -r there
    done
}

@test "wend merge: an archive replaces a file or a link, and nothing else" {
    mpi 2 "$WEND" trace -o b.dir "$PROGRAMS/dying" SIGTERM >/dev/null 2>&1 || true
    echo precious >victim
    ln -s ../victim b.dir/trace.tar.zst
    gives 3 "*b.dir/trace.tar.zst: exists*--force*" "$WEND" merge b.dir
    gives 0 "" "$WEND" merge --force b.dir
    [ "$(cat victim)" = precious ]
    [ ! -L b.dir/trace.tar.zst ]
    "$WEND" show b.dir >/dev/null
    rm b.dir/trace.tar.zst
    mkfifo b.dir/trace.tar.zst
    gives 3 "*b.dir/trace.tar.zst: is no regular file" "$WEND" merge --force b.dir
    [ -p b.dir/trace.tar.zst ]
    rm b.dir/trace.tar.zst
    mkdir b.dir/trace.tar.zst
    gives 3 "*b.dir/trace.tar.zst: is a directory" "$WEND" merge --force b.dir
    rmdir b.dir/trace.tar.zst
    gives 4 "*b.dir/trace.tar.zst: cannot write: *" \
        bash -c 'set -o pipefail; { ulimit -f 0; "$0" merge b.dir; } 2>&1 | cat >&2' "$WEND"
    [ "$(ls -A b.dir)" = "$(printf "%s\n" .wend trace.parts)" ]
}

@test "a link or a pipe with the name of a checkpoint file is not written to" {
    echo precious >victim
    # shellcheck disable=SC2016
    WEND_CHECKPOINT=0 mpi 2 sh -c 'echo $$ >>pids; exec "$@"' - \
        "$WEND" trace -o b.dir "$PROGRAMS/dying" ever >out 2>err &
    local launcher=$!
    until [ -e b.dir/trace.parts/run ] && [ -s progress-0 ] && [ -s progress-1 ]; do
        sleep 0.1
        kill -0 $launcher || fail "it is over" "$(cat err)" || return
    done
    for slot in a b; do
        ln -s ../../victim b.dir/trace.parts/rank-0.$slot
        ln victim b.dir/trace.parts/rank-1.$slot
    done
    # shellcheck disable=SC2046
    kill -TERM $(cat pids)
    wait $launcher || true
    [ "$(cat victim)" = precious ]
    run -3 "$WEND" merge b.dir
}

@test "names that lead nowhere, and refused names" {
    ln -s loop loop
    : >file
    long=$(printf '%0300d' 7)
    for name in loop loop/a.dir "$long" "$long/a.dir" file/a.dir nowhere; do
        for words in "$WEND show" "$WEND dump" "$WEND merge" "$WEND diff a.dir" \
            "$PROXYGEN -o p.c"; do
            # shellcheck disable=SC2086
            gives 3 "*: *" $words "$name"
        done
    done
    gives 3 "*" "$WEND" diff loop a.dir
    for name in loop loop/a.dir "$long"; do
        gives 3 "*" "$WEND" trace -o "$name" true
        gives 3 "*" "$WEND" trace "./$name"
    done
    nothing_else loop file
}
