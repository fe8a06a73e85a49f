# SPDX-License-Identifier: BSD-3-Clause
# wend export: OTF2's own readers find what wend says of the recording, and tables have a row for
# each call.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }
teardown() {
    ! mountpoint -q small 2>/dev/null || umount small
}

OTF2_PYTHON=/usr/bin/python3 # Debian's, for which its modules are

needs_otf2() {
    "$WEND" export --otf2 -o none none 2>&1 | grep -q 'built without' &&
        skip "this Wend was built without OTF2"
    command -v otf2-print >/dev/null && "$OTF2_PYTHON" -c 'import otf2' 2>/dev/null ||
        skip "no otf2-print or no Python module of OTF2"
}

# same_in_otf2 N program…: the archive is read without a complaint, and says what wend says.
same_in_otf2() {
    rm -rf a.dir
    record a.dir "$@" >out 2>&1 || fail "$*" "$(tail -n 5 out)" || return
    compared_in_otf2 "$*"
}

# compared_in_otf2 NAME: the same for the recording a.dir, which has no times of calls.
compared_in_otf2() {
    rm -rf a.otf2
    "$WEND" export --otf2 -o a.otf2 a.dir 2>said || fail "$1: $(cat said)" || return
    [ "$(wc -l <said)" = 1 ] && grep -q 'no time of each call' said || fail "$(cat said)" || return
    read_by_otf2 "$1"
}

# read_by_otf2 NAME: a.otf2 is read without a complaint, and says what wend says of a.dir.
read_by_otf2() {
    otf2-print a.otf2/traces.otf2 >printed 2>complaints || fail "$1: $(cat complaints)" || return
    [ ! -s complaints ] || fail "$1: $(head -n 5 complaints)" || return
    ! grep -m 3 INVALID printed || fail "$1: invalid" || return
    "$OTF2_PYTHON" "$HELPERS_DIR/export/export.py" "$WEND" a.dir a.otf2 >compared ||
        fail "$1" "$(cat compared)"
}

@test "OTF2: messages, requests, collectives, windows and files of the examples" {
    needs_otf2
    for program in $(few persistent masterworker stencil2d intercomm particles collectives); do
        same_in_otf2 4 "$EXAMPLES/$program"
    done
    same_in_otf2 4 "$EXAMPLES/rma"
    grep -q ' [1-9][0-9]* one-sided' compared || fail "$(cat compared)"
    for event in RMA_WIN_CREATE RMA_PUT RMA_GET RMA_ATOMIC RMA_OP_COMPLETE RMA_WIN_DESTROY; do
        grep -q "^$event" printed || fail "no $event"
    done
    same_in_otf2 2 "$EXAMPLES/fileio"
    grep -q ' [1-9][0-9]* operations on files' compared || fail "$(cat compared)"
    "$WEND" dump --format=csv a.dir >calls.csv
    for event in CREATE,open DESTROY,close; do
        number=$(grep -c ",MPI_File_${event#*,}," calls.csv)
        [ "$number" -gt 0 ] && [ "$(grep -c "^IO_${event%,*}_HANDLE" printed)" = "$number" ] ||
            fail "not $number: $event"
    done
}

@test "OTF2: threads, callbacks, wildcards, cancelled and generalized requests" {
    needs_otf2
    for program in $(few cancelled callbacks nbx wildcards threads interleaved requests); do
        same_in_otf2 4 "$PROGRAMS/$program"
    done
}

@test "OTF2: requests that are freed before they complete" {
    needs_otf2
    printf '%s\n' 'ranks 2' 'rank *' MPI_Init \
        'MPI_Irecv source=MPI_ANY_SOURCE request=a' 'MPI_Request_free request=a' \
        'MPI_Isend dest=0 request=b' 'MPI_Request_free request=b' \
        'MPI_Isend dest=0 request=c' 'MPI_Wait request=c done=c' MPI_Finalize |
        "$BUILD_DIR/tests/decoder/script" - a.dir
    compared_in_otf2 scripted
    [ "$(grep -c '^MPI_ISEND ' printed)" = 4 ]
    [ "$(grep -c '^MPI_ISEND_COMPLETE ' printed)" = 2 ]
    ! grep '^MPI_IRECV ' printed || false
}

@test "OTF2: a function has a region for each place from which it is called" {
    needs_otf2
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
    same_in_otf2 4 "$EXAMPLES/stencil2d"
    otf2-print -G a.otf2/traces.otf2 | sed -nE \
        's/^REGION .* Name: "([^"]*)".* File: "([^"]*)".* Begin: ([0-9]*),.*/\1,\2,\3/p' |
        sort >regions
    "$WEND" show --sites --csv a.dir | tail -n +2 | cut -d, -f1,3,4 | sort >sites
    grep -q '^MPI_Isend,.*stencil2d.c,[0-9]' sites
    diff sites regions
    mpi 4 "$WEND" trace --quiet --force --no-sites -o a.dir "$EXAMPLES/stencil2d" >out
    "$WEND" export --otf2 --force -o a.otf2 a.dir 2>said
    otf2-print -G a.otf2/traces.otf2 >printed
    [ "$(grep -c '^REGION .*"MPI_Isend"' printed)" = 1 ]
}

@test "OTF2: call stacks that match have one region" {
    needs_otf2
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
    [ "$(uname -m)" = x86_64 ] || skip "stacks are followed on x86-64 alone"
    cat >app.c <<'END'
#include <mpi.h>
#define F(name, call) \
    __attribute__((noinline)) static void name(void) { call; __asm__ volatile(""); }
F(leaf, MPI_Barrier(MPI_COMM_WORLD))
F(first, leaf())
F(second, leaf())
F(third, leaf())
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    first();
    second();
    third();
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" -g -O1 app.c -o app
    mpi 2 "$WEND" trace --quiet --stacks -o a.dir ./app
    regions() { # OPTION…: how many MPI_Barrier has; they are those of wend show, with all calls
        "$WEND" export --otf2 --force -o a.otf2 "$@" a.dir 2>said || fail "$(cat said)" || return
        otf2-print -G a.otf2/traces.otf2 | sed -nE \
            's/^REGION .* Name: "([^"]*)".* File: "([^"]*)".* Begin: ([0-9]*),.*/\1,\2,\3/p' |
            sort >regions
        "$WEND" show --sites --csv "$@" a.dir | tail -n +2 | cut -d, -f1,3,4 | sort >sites
        diff sites regions >&2 || return
        [ "$(otf2-print a.otf2/traces.otf2 | grep -c '^ENTER .*"MPI_Barrier"')" = 6 ] || return
        grep -c '^MPI_Barrier,.*app.c,4$' regions
    }
    [ "$(regions)" = 3 ]
    [ "$(regions --site-tolerance=1)" = 3 ]
    [ "$(regions --site-tolerance=2)" = 1 ]
    [ "$(regions --site-ignore=main)" = 3 ]
    [ "$(regions --site-ignore=main --site-tolerance=1)" = 1 ]
    [ "$(regions --site-ignore=app.c)" = 1 ]
    # other formats have no regions, and other recordings no stacks
    for format in --csv --csv=calls --perfetto; do
        "$WEND" export $format -o none none 2>&1 | grep -q 'built without' && continue
        run -2 --separate-stderr "$WEND" export $format --site-ignore=main -o a.out a.dir
        [[ $stderr == *"--site-tolerance and --site-ignore are for --otf2"* ]] || fail "$stderr"
        run -2 "$WEND" export $format --site-tolerance=1 -o a.out a.dir
        [ ! -e a.out ]
    done
    run -2 "$WEND" export --otf2 --site-tolerance=-1 -o a.out a.dir
    record plain.dir 2 ./app
    "$WEND" export --otf2 --site-tolerance=1 -o plain.otf2 plain.dir 2>said
    grep -q 'the recording has no call stacks, which --site-tolerance needs' said
}

@test "OTF2: names of communicators, and the roots and bytes of collectives" {
    needs_otf2
    "$BUILD_DIR/tests/decoder/script" - a.dir <<'END'
ranks 4
rank *
MPI_Init
MPI_Comm_dup comm=MPI_COMM_WORLD newcomm=comm#0/4/self/0
MPI_Comm_set_name comm=comm#0 comm_name=others
MPI_Bcast count=5 datatype=MPI_INT root=2 comm=comm#0
MPI_Alltoall sendcount=2 recvcount=2 sendtype=MPI_INT recvtype=MPI_INT comm=comm#0
MPI_Gather sendcount=3 recvcount=3 sendtype=MPI_INT recvtype=MPI_INT root=1
MPI_Scatter sendcount=4 recvcount=4 sendtype=MPI_INT recvtype=MPI_INT root=0
MPI_Allreduce count=7 datatype=MPI_DOUBLE
MPI_Finalize
END
    "$WEND" export --otf2 -o a.otf2 a.dir 2>said || fail "$(cat said)"
    otf2-print a.otf2/traces.otf2 >printed
    ends_of() { # OPERATION ROOT, then what is wanted of the ranks in order: bytes sent-received
        grep "^MPI_COLLECTIVE_END.*: $1, .* Root: $2[ ,]" printed | sort -n -k 2,2 |
            sed 's/.*Sent: \([0-9]*\), Received: \([0-9]*\).*/\1-\2/' | paste -sd ' ' >ends
        [ "$(cat ends)" = "$3" ] || fail "$1: $(cat ends), not $3" "$(grep "$1" printed)"
    }
    ends_of BCAST 2 "0-20 0-20 20-0 0-20"
    ends_of ALLTOALL NONE "32-32 32-32 32-32 32-32"
    ends_of GATHER 1 "12-0 12-48 12-0 12-0"
    ends_of SCATTER 0 "64-16 0-16 0-16 0-16"
    ends_of ALLREDUCE NONE "56-56 56-56 56-56 56-56"
    grep 'BCAST.*Communicator: "others"' printed
}

@test "OTF2: some ranks, calls and times" {
    needs_otf2
    record a.dir 4 "$EXAMPLES/stencil2d" >out
    "$WEND" export --otf2 -r 1,3 -c 10-19 -o a.otf2 a.dir
    otf2-print a.otf2/traces.otf2 >printed
    [ "$(grep ^ENTER printed | awk '{print $2}' | sort | uniq -c | xargs)" = "10 1 10 3" ]
    "$WEND" export --csv=calls -r 0 -o all.csv a.dir
    awk -F, 'NR == 30 {from = $7 + 1} NR == 40 {to = $6} END {print from / 1e9, to / 1e9}' \
        OFMT=%.9f all.csv >span
    read -r from to <span
    "$WEND" export --csv=calls -r 0 --from "$from" --to "$to" -o some.csv a.dir
    sed -n 31,40p all.csv >wanted
    tail -n +2 some.csv | head -n 10 >got
    diff wanted got
    "$WEND" export --otf2 -f -r 0 --from "$from" --to "$to" -o a.otf2 a.dir
    otf2-print a.otf2/traces.otf2 >printed
    for event in ENTER,6 LEAVE,7; do
        awk -F, -v time="${event#*,}" 'NR > 1 {print $1, $time, $5}' some.csv >wanted
        sed -nE "s/^${event%,*} +([0-9]+) +([0-9]+) .*\"(.*)\".*/\1 \2 \3/p" printed >got
        diff wanted got
    done
    # what was begun before is not known
    for event in IRECV,IRECV_REQUEST ISEND_COMPLETE,ISEND; do
        for kind in ${event/,/ }; do
            sed -nE "s/^MPI_$kind .*Request: ([0-9]+).*/\1/p" printed | sort -u >"$kind"
        done
        comm -23 "${event%,*}" "${event#*,}" >unknown
        [ ! -s unknown ] || fail "$event: $(cat unknown)"
    done
}

@test "tables: a call that ends or begins at a bound belongs to the span" {
    printf '%s\n' 'ranks 1' 'rank 0' 'repeat 500' MPI_Wtime end |
        "$BUILD_DIR/tests/decoder/script" - a.dir
    "$WEND" export --csv=calls -o all.csv a.dir
    # many such times are no exact numbers of seconds
    tail -n +2 all.csv | awk -F, '
        {from = sprintf("%.9f", $7 / 1e9); to = sprintf("%.9f", $6 / 1e9)}
        from * 1e9 > $7 {print "--from", from, $0}
        to * 1e9 < $6 {print "--to", to, $0}' | head -n 10 >bounds
    [ -s bounds ] || fail "no bounds"
    while read -r option time row; do
        "$WEND" export --csv=calls "$option" "$time" -f -o some.csv a.dir
        grep -qx "$row" some.csv || fail "$option $time: not $row"
    done <bounds
}

@test "tables: a row for each entry and return, by time, and a row for each call" {
    record a.dir 4 "$PROGRAMS/threads" >out
    "$WEND" export --csv -o a.csv a.dir
    "$WEND" export --csv=calls -o - a.dir >calls.csv
    "$WEND" dump --format=csv a.dir | awk -F, 'NR > 1 && $5 ~ /^MPI_/ {print $1, $5}' | sort >wanted
    tail -n +2 calls.csv | awk -F, '{print $1, $5}' | sort | diff wanted -
    "$PYTHON" - <<'END'
import csv
rows = list(csv.DictReader(open("a.csv")))
assert list(rows[0]) == ["Timestamp (ns)", "Event Type", "Name", "Process", "Thread"], rows[0]
stacks, last = {}, {}
for row in rows:
    where, time = (row["Process"], row["Thread"]), int(row["Timestamp (ns)"])
    assert time >= last.get(where, 0), row
    last[where] = time
    stack = stacks.setdefault(where, [])
    if row["Event Type"] == "Enter":
        assert not stack, row
        stack.append(row["Name"])
    else:
        assert row["Event Type"] == "Leave" and stack.pop() == row["Name"], row
assert not any(stacks.values()) and len(stacks) > 4, stacks
assert len(rows) == 2 * (len(open("calls.csv").readlines()) - 1)
END
}

@test "the time of each call, if it is recorded" {
    cat >sleeper.c <<'END'
#include <mpi.h>
#include <unistd.h>
int main(void)
{
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 4; i++) {
        usleep(i == 2 ? 200000 : 1000);
        MPI_Barrier(MPI_COMM_SELF);
    }
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" sleeper.c -o sleeper
    mpi 2 "$WEND" trace --quiet --times=1% -o a.dir ./sleeper
    "$WEND" export --csv=calls -o a.csv a.dir 2>said
    [ ! -s said ] || fail "$(cat said)"
    # it sleeps for long before the third barrier alone
    awk -F, '$5 == "MPI_Barrier" {print ($6 - last > 150e6)} {last = $7}' a.csv | xargs >long
    [ "$(cat long)" = "0 0 1 0 0 0 1 0" ] || fail "$(cat long)" "$(cat a.csv)"
    "$WEND" export --csv=calls -o b.csv a.dir
    cmp a.csv b.csv
    record b.dir 2 ./sleeper
    "$WEND" export --csv=calls -f -o b.csv b.dir 2>said
    grep -q 'no time of each call' said
}

@test "OTF2: the time of each call" {
    needs_otf2
    mpi 4 "$WEND" trace --quiet --times=lossless -o a.dir "$EXAMPLES/stencil2d" >out
    "$WEND" export --otf2 -o a.otf2 a.dir 2>said
    [ ! -s said ] || fail "$(cat said)"
    read_by_otf2 stencil2d
    "$WEND" export --csv=calls -o a.csv a.dir
    for event in ENTER,6 LEAVE,7; do
        awk -F, -v time="${event#*,}" 'NR > 1 {print $1, $time, $5}' a.csv | sort >wanted
        sed -nE "s/^${event%,*} +([0-9]+) +([0-9]+) .*\"(.*)\".*/\1 \2 \3/p" printed | sort >got
        [ "$(wc -l <got)" -gt 1000 ]
        diff wanted got
    done
}

@test "times that follow from the statistics: a call takes the mean of its kind" {
    printf '%s\n' 'ranks 2' 'rank *' MPI_Init 'repeat 20' 'MPI_Send dest=0' 'MPI_Send dest=1' \
        'MPI_Recv source=0' end MPI_Wtime MPI_Finalize |
        "$BUILD_DIR/tests/decoder/script" - a.dir
    "$WEND" export --csv=calls -o a.csv a.dir 2>said
    "$WEND" dump --timing a.dir >means
    "$PYTHON" - <<'END'
import csv
import re
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
time = r"([0-9.]+) ([num]?s)"
means = []
for line in open("means"):
    if not line.startswith("#"):
        taken = re.search("# mean " + time, line)
        since = re.search("since the call before " + time, line)
        means.append([float(m[1]) * units[m[2]] if m else 0 for m in (since, taken)])
rows = list(csv.DictReader(open("a.csv")))
assert len(rows) == len(means) == 2 * 63, (len(rows), len(means))
assert len({taken for _, taken in means}) >= 5, means
end = {}
for row, (since, taken) in zip(rows, means):
    start, stop = int(row["start_ns"]), int(row["end_ns"])
    interval = start - end.get(row["rank"], 0)
    assert abs(interval - since) <= 0.01 * since + 2, (row, since)
    assert abs(stop - start - taken) <= 0.01 * taken + 2, (row, taken)
    end[row["rank"]] = stop
END
}

@test "docs/timeline.py draws a box for each call and an arrow for each message" {
    mpi 4 "$WEND" trace --quiet --times=10% -o a.dir "$EXAMPLES/stencil2d" >out
    WEND=$WEND "$PYTHON" "$HELPERS_DIR/../docs/timeline.py" a.dir 0 1000 'a <title>' >a.svg
    "$PYTHON" -c 'import xml.etree.ElementTree as t; t.parse("a.svg")'
    [ "$(grep -c '<title>MPI_' a.svg)" = "$("$WEND" dump --format=csv a.dir | grep -c ',0,MPI_')" ]
    [ "$(grep -c 'class="message".*L' a.svg)" = "$("$WEND" show --messages --csv --all a.dir |
        grep -c ^matched)" ]
}

@test "an output that exists stays, and --force replaces only what is of OTF2" {
    needs_otf2
    record a.dir 1 "$PROGRAMS/hello" >out
    echo mine >a.csv
    mkdir a.otf2
    run -3 "$WEND" export --csv -o a.csv a.dir
    run -3 "$WEND" export --otf2 -o a.otf2 a.dir
    [ "$(cat a.csv)" = mine ]
    rmdir a.otf2
    "$WEND" export --csv -f -o a.csv a.dir
    grep -q MPI_Init a.csv
    for i in 1 2; do "$WEND" export --otf2 -f -o a.otf2/ a.dir; done
    touch a.otf2/traces/mine
    run -3 "$WEND" export --otf2 -f -o a.otf2 a.dir
    [[ $output == *"a.otf2: has a file"*"traces/mine"* ]]
    rm a.otf2/traces/mine
    mkdir -p home
    echo mine >home/traces.otf2
    ln -s home linked
    run -3 "$WEND" export --otf2 -f -o linked a.dir
    grep -q mine home/traces.otf2
    [ -z "$(find . -name '.wend-*')" ] || fail "$(find . -name '.wend-*')"
}

@test "wrong usage, bad input, full disks, closed outputs" {
    record a.dir 1 "$PROGRAMS/hello" >out
    fails() { # STATUS TEXT arguments…
        local status=0
        "$WEND" export "${@:3}" >out 2>err || status=$?
        [ "$status" = "$1" ] && grep -q -- "$2" err && [ "$(grep -c '^wend export:' err)" -le 2 ] ||
            fail "$*: $status" "$(cat err)"
    }
    fails 2 'no format given' -o x a.dir
    fails 2 'more than one format' --csv --csv=calls -o x a.dir
    fails 2 'no output' --csv a.dir
    fails 2 'no recording' --csv -o x
    fails 2 "no table 'rows'" --csv=rows -o x a.dir
    fails 2 'is no time' --csv --from soon -o x a.dir
    fails 2 'is no time' --csv --to -1 -o x a.dir
    fails 2 rank --csv -r 9 -o x a.dir
    fails 3 nothing.dir --csv -o x nothing.dir
    fails 4 x/y --csv -o x/y a.dir
    fails 4 /dev/full --csv -o /dev/full a.dir
    "$WEND" export --csv -o - a.dir | head -n 1 | grep -q '^Timestamp'
    [ ! -e x ]
}

@test "OTF2: a full disk, and one that has no room for another file" {
    needs_otf2
    mpi 2 "$WEND" trace --quiet --times=1% -o a.dir "$PROGRAMS/irregular" apart 20000 >out
    "$WEND" export --otf2 -o a.otf2 a.dir
    size=$(du -sk a.otf2 | cut -f1)
    [ "$size" -gt 100 ]
    mkdir small
    for room in size=4k size=$((size / 2))k size=$((size * 3 / 4))k nr_inodes={1..7}; do
        mount -t tmpfs -o "$room" tmpfs small 2>/dev/null ||
            skip "cannot mount a small file system here"
        run -4 "$WEND" export --otf2 -o small/a.otf2 a.dir
        [[ "$output" == "wend export: small/a.otf2: cannot write: No space left on device"* ]] &&
            [ "${#lines[@]}" = 1 ] || fail "$room: $output"
        [ -z "$(ls -A small)" ] || fail "$room: left: $(ls -A small)"
        umount small
    done
}

@test "memory does not grow with the number of calls" {
    export_needs_no_more --csv
    export_needs_no_more --csv=calls
    needs_otf2
    export_needs_no_more --otf2
}

@test "memory does not grow with the number of calls that have times" {
    export_of_times_needs_no_more --csv
    # a member that is read as it is needed may be damaged, too
    "$PYTHON" - more.dir/trace.tar.zst <<'P'
import sys
with open(sys.argv[1], "r+b") as file:
    for at in range(100_000, 1_000_000, 100_000):
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
P
    run -3 "$WEND" export --csv -f -o a.csv more.dir
    [[ $output == "wend export: "*"more.dir/trace.tar.zst: damaged"* ]] || fail "$output"
    [ "${#lines[@]}" = 1 ] && [ ! -e a.csv ] || fail "$output"
}

@test "OTF2: memory does not grow with the number of calls that have times" {
    needs_otf2
    export_of_times_needs_no_more --otf2
}

@test "long work shows its progress on a terminal, and nowhere else" {
    export_shows_progress --csv
    needs_otf2
    export_shows_progress --otf2
}

@test "a signal leaves no half of an output" {
    needs_otf2
    record a.dir 2 "$PROGRAMS/irregular" apart 100000 >out
    for format in --otf2 --csv; do
        export_is_stopped $format a.dir || return
    done
}
