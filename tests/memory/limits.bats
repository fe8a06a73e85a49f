# SPDX-License-Identifier: BSD-3-Clause
# WEND_MAX_MEMORY: recording stops when it is reached, what was recorded is kept, and the run goes
# on as it would without Wend.
load ../helpers
bats_require_minimum_version 1.5.0
setup() { in_scratch; }

irregular() { # DIR N LIMIT HOW CALLS [END]: records it into DIR; out, err
    local dir=$1 n=$2 limit=$3 status=0
    shift 3
    mpi "$n" "$WEND" trace -q -f -o "$dir" --max-memory "$limit" "$PROGRAMS/irregular" "$@" \
        >out 2>err || status=$?
    [ "$status" = 0 ] || fail "$*, $limit: exit status $status" "$(cat err)"
}

sequences() { # DIR FOLDER: the calls of each sequence of each rank, a file each
    rm -rf "$2"
    mkdir "$2"
    "$WEND" dump "$1" >dumped || fail "$1 cannot be read" || return
    awk -v folder="$2" '
        /^# / {
            file = folder "/" $0
            gsub(/[# ,]/, "_", file)
            sub(/^[^\/]*/, folder, file)
            next
        }
        {
            sub(/^ *[0-9]+ /, "")
            print > file
        }' dumped
}

is_beginning() { # CUT FULL: folders of sequences
    local file
    for file in "$1"/*; do
        [ -e "$file" ] || continue
        head -n "$(wc -l <"$file")" "$2/${file##*/}" | cmp -s - "$file" ||
            fail "not the beginning of what the whole run did: $file" \
            "$(head -n "$(wc -l <"$file")" "$2/${file##*/}" | diff - "$file" | head -n 5)" || return
    done
}

@test "recording stops and keeps what it has: on ranks, in threads, a callback, requests, objects" {
    for how in all one threads callback pending received objects; do
        mpi 3 "$PROGRAMS/irregular" $how 5000 >plain
        irregular full.dir 3 0 $how 5000
        cmp plain out
        [ ! -s err ] || fail "$(cat err)"
        irregular cut.dir 3 300K $how 5000
        cmp plain out || fail "$how: another result"
        local ranks=3 word="s reached WEND_MAX_MEMORY, the first after"
        case $how in
        one | received) ranks=1 word=" reached WEND_MAX_MEMORY, after" ;;
        esac
        local calls="[0-9,]* MPI calls"
        grep -q "^wend: $calls.* of 3 ranks in .*; $ranks rank$word $calls\$" err ||
            fail "$how: $(cat err)"
        [ "$(wc -l <err)" = 1 ]
        "$WEND" show cut.dir >shown
        grep -q "ranks\? [0-9].*: recorded up to WEND_MAX_MEMORY\$" shown ||
            fail "$how: $(cat shown)"
        sequences full.dir full
        sequences cut.dir cut
        is_beginning cut full || fail "$how"
        [ "$("$WEND" dump cut.dir | wc -l)" -gt 100 ] || fail "$how: hardly anything is there"
        run "$WEND" diff full.dir cut.dir
        [ "$status" = 1 ] || fail "$how: wend diff: $status"
        run "$WEND" diff cut.dir cut.dir
        [ "$status" = 0 ]
        run "$PROXYGEN" cut.dir -o proxy.c
        [ "$status" = 3 ]
        [ "${#lines[@]}" = 1 ]
        [[ "$output" == *"stopped at WEND_MAX_MEMORY"* ]] || fail "$output"
    done
}

@test "one rank reaches the limit: the others are recorded whole" {
    irregular full.dir 3 0 one 5000
    irregular cut.dir 3 300K one 5000
    for rank in 0 2; do
        cmp <("$WEND" dump --rank $rank full.dir) <("$WEND" dump --rank $rank cut.dir)
    done
    "$WEND" show cut.dir | grep -q "rank 1: recorded up to WEND_MAX_MEMORY"
}

# bats test_tags=long
@test "wherever memory ends, the recording up to there is whole" {
    local limits=(1 80000 93000 105000 180000)
    [ -z "${LONG:-}" ] || limits=(1 30000 80000 84000 90000 93000 97000 100000 105000 115000 130000
        150000 180000 250000)
    for how in received pending callback objects; do
        irregular full.dir 2 0 $how 1500
        sequences full.dir full
        for limit in "${limits[@]}"; do
            irregular cut.dir 2 $limit $how 1500
            sequences cut.dir cut || fail "$how, $limit"
            is_beginning cut full || fail "$how, $limit"
        done
    done
}

in_err() { sed -n "s/^$1 //p" err; }

# The merge turns values in streams into terminals, which take twenty times the memory. So there are
# two bounds: one while the application runs, and one for each call that is merged.
@test "memory stays below the limit during the run, and grows by call only in the merge" {
    for how in all again objects; do
        irregular a.dir 1 64K $how 200000 peak
        local running=$(in_err running) peak=$(in_err peak)
        irregular b.dir 1 1M $how 200000 peak
        local calls=$(sed -n 's/^wend: \([0-9,]*\) MPI calls.*/\1/p' err | tr -d ,)
        "$WEND" show b.dir | grep -q "recorded up to WEND_MAX_MEMORY" ||
            fail "$how: 1M is not reached: this tests nothing"
        [ $(($(in_err running) - running)) -lt 2048 ] ||
            fail "$how: $running KB at 64K, $(in_err running) KB at 1M, while it runs"
        [ $(($(in_err peak) - peak)) -lt $((8 * 1024 + calls * 450 / 1024)) ] ||
            fail "$how: $peak KB at 64K, $(in_err peak) KB at 1M with $calls calls"
    done
}

@test "a run that dies after the limit was reached" {
    mpi 2 "$WEND" trace -o a.dir --max-memory 300K "$PROGRAMS/irregular" all 5000 abort >out 2>err \
        || true
    "$WEND" merge a.dir >merged
    grep -q "rank 0: recorded up to WEND_MAX_MEMORY" merged || fail "$(cat merged)"
    [ "$("$WEND" dump --rank 0 a.dir | grep -c MPI_Sendrecv)" -gt 100 ]
}

@test "a limit that is not reached changes nothing; sizes have units" {
    irregular a.dir 2 1G all 500
    [ ! -s err ]
    for size in 1t 64M 65536k 8388608; do
        irregular b.dir 2 $size all 500
        [ ! -s err ] || fail "$size: $(cat err)"
        "$WEND" diff a.dir b.dir
        ! "$WEND" show b.dir | grep -q ended || false
    done
    for size in 12Q K -5 1.5M 9999999999T; do
        run "$WEND" trace --max-memory=$size -o c.dir "$PROGRAMS/irregular"
        [ "$status" = 2 ] || fail "$size"
        [[ "${lines[0]}" == *"not a number of bytes"* ]]
    done
}
