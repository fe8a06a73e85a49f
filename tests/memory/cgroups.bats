# SPDX-License-Identifier: BSD-3-Clause
# Limits of simulated control groups, of either version, whatever version the machine has.
# tests/unit/cgroup.c tests other forms of groups, tests/memory/shortage.bats a real group.
load ../helpers
bats_require_minimum_version 1.5.0

setup() {
    in_scratch
    unshare --mount true 2>/dev/null || skip "file systems cannot be mounted here"
    # The process becomes the program, so its number in /proc does not change.
    cat >host <<'END'
mount --bind cgroup /proc/$$/cgroup && mount --bind mountinfo /proc/$$/mountinfo && exec "$@"
END
}

# The process is in /job/step, and /job has the limit. $used is the file with the used memory.
groups() { # VERSION LIMIT USED
    local line='4:memory:/job/step' type='cgroup none rw,memory' limit=memory.limit_in_bytes
    used=groups/job/memory.usage_in_bytes
    [ "$1" = 1 ] || line='0::/job/step' type='cgroup2 none rw' limit=memory.max \
        used=groups/job/memory.current
    rm -rf groups
    mkdir -p groups/job/step
    echo "$line" >cgroup
    echo "31 22 0:27 / $PWD/groups rw,relatime - $type" >mountinfo
    echo "$2" >groups/job/$limit
    echo "$3" >$used
}

PROGRAM=("$PROGRAMS/irregular" apart 500)

run_within() { # RANKS
    rm -rf a.dir
    mpi "$1" unshare --mount sh ./host "$WEND" trace -o a.dir "${PROGRAM[@]}" >out 2>err ||
        fail "status $?" "$(cat err)" || return
    cmp plain out || fail "other results" || return
    [ "$(grep -c '^wend: ' err)" = 1 ] || fail "not one line" "$(cat err)"
}

is_merged() { [ -e a.dir/trace.tar.zst ] || fail "$1: $(cat err)"; }
is_kept() { # the parts are kept, and wend merge makes the recording from them
    [ ! -e a.dir/trace.tar.zst ] || fail "$1: the merge took more than it may" || return
    grep -q "^wend: rank [0-9]: .*; to make the recording: wend merge $PWD/a.dir\$" err ||
        fail "$1: $(cat err)" || return
    "$WEND" merge a.dir >merged || return
    "$WEND" diff whole.dir a.dir
}

@test "the merge stays below a limit of either version" {
    mpi 2 "$WEND" trace -q -o whole.dir "${PROGRAM[@]}" >plain
    for version in 1 2; do
        local none=max
        [ $version = 2 ] || none=9223372036854771712
        groups $version 400000 0
        run_within 2
        is_kept "version $version, 400 KB"
        groups $version 1000000000 999600000
        run_within 2
        is_kept "version $version, 400 KB left of 1 GB"
        groups $version $none 999600000
        run_within 2
        is_merged "version $version, no limit"
    done
}

# The file is a pipe here, so each read can give another number. The merge of one rank reads it at
# the start of its two steps, when each step first takes memory, and whenever an eighth of the rest
# is used up.
@test "the merge ends cleanly whenever other processes take the rest of the memory" {
    mpi 1 "$WEND" trace -q -o whole.dir "${PROGRAM[@]}" >plain
    groups 2 2000000 0
    rm $used
    mkfifo $used
    {
        for _ in 1 2 3 4; do
            echo 0 >$used
            sleep 0.05
        done
        while echo 2000000 >$used; do sleep 0.05; done
    } &
    answers=$!
    run_within 1
    kill $answers
    is_kept "all is taken"
}
