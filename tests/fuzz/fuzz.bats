# SPDX-License-Identifier: BSD-3-Clause
# All readers read the fuzzers' first inputs and those that found faults: no crash, and no complaint
# of GLib's.
load ../helpers
setup() { in_scratch; }

replay() { # FUZZER SEEDS…: one process for each input, so that a failure names it
    local input folder program=$BUILD_DIR/tests/fuzz/replay-$1
    shift
    for folder; do
        for input in "$HELPERS_DIR/fuzz/seeds-$folder"/*; do
            TMPDIR=$PWD timeout 60 "$program" "$input" >out 2>&1 ||
                fail "$input: status $?" "$(cat out)" || return
        done
    done
}

@test "archives" { replay archive archive; }
@test "seeds of archives have the current format, and seeds of programs are whole" {
    local seed refused=0 all=0
    for seed in "$HELPERS_DIR"/fuzz/seeds-{archive,decoder,proxygen}/*; do
        "$BUILD_DIR/tests/fuzz/replay-archive" "$seed" >out
        ! grep -q "format\|version" out ||
            fail "$seed: $(cat out); tests/fuzz/seeds.bash records them again"
        all=$((all + 1))
        [ ! -s out ] || refused=$((refused + 1))
    done
    [ $((2 * refused)) -lt $all ] || fail "$refused of $all seeds are refused"
}
@test "archives, as wend show, dump and diff use them" { replay decoder archive decoder proxygen; }
@test "archives, as proxygen uses them" { replay proxygen archive decoder proxygen; }
@test "archives, as programs over libwend-read use them" { replay reader archive decoder proxygen; }
@test "archives, as wend replay uses them" { replay order archive decoder proxygen; }
@test "parts of ranks" { replay part part; }
@test "side streams" { replay side side; }
@test "times of calls" { replay times times; }
@test "programs before they run" { replay program program; }
@test "call frame information of modules" { replay frames frames; }
