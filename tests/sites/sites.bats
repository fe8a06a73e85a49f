# SPDX-License-Identifier: BSD-3-Clause
# Call sites: from where in the program each call comes, on all ranks and in all runs.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }

SITES=$SOURCE_DIR/tests/programs/sites.c
NO_LINES="has no line numbers for call sites in it: compile it with -g, or install its .debug file"
NO_SYMBOLS="has no symbols for call sites in it: compile it with -g and do not strip it, or \
install its .debug file"

# compile FILE OUT flags…: with names of lines.
compile() {
    local file=$1 out=$2
    shift 2
    "$MPICC" -g -O2 "$@" "$file" -o "$out" -ldl -lpthread
}

line_of() { # NAME: the line of sites.c with that comment
    grep -n "/\* site: $1 \*/" "$SITES" | cut -d: -f1
}

# called FILE FUNCTION NAME [N]: in the dump, FUNCTION was called from the line NAME (N times).
called() {
    local n
    n=$(grep -c "$2(.*# from .* (sites.c:$(line_of "$3"))\$" "$1") || fail "no $2 from $3" || return
    [ -z "${4:-}" ] || [ "$n" = "$4" ] || fail "$2 from '$3': $n times, not $4" || return
}

needs_names() {
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
}

build_sites() {
    compile "$SITES" sites -w "$@"
    compile "$SOURCE_DIR/tests/programs/sites-library.c" sites.so -shared -fPIC
}

check_lines() { # DUMP, of rank 1 of 4
    called "$1" MPI_Init_thread start 1 || return
    called "$1" MPI_Irecv receive 20 || return
    called "$1" MPI_Isend send 20 || return
    called "$1" MPI_Waitall wait 20 || return
    called "$1" MPI_Barrier inlined 20 || return
    called "$1" MPI_Bcast 'in a loop' 50 || return
    called "$1" MPI_Bcast sometimes 7 || return
    called "$1" MPI_Bcast 'of others' 50 || return
    called "$1" MPI_Comm_rank 'as often as the rank says' 6 || return
    called "$1" MPI_Comm_rank 'after it' 1 || return
    called "$1" MPI_Test 'until it is there' || return
    called "$1" MPI_Comm_size callback 1 || return
    called "$1" MPI_Finalize end 1 || return
}

@test "sites: lines, loops, branches, threads, callbacks, a library that is opened twice" {
    needs_names
    build_sites
    record app.dir 4 ./sites ./sites.so
    "$WEND" dump --sites --rank 1 app.dir >dump
    check_lines dump
    [ "$(grep -c 'MPI_Barrier(.*# from sites_call (sites-library.c:8)$' dump)" = 2 ]
    "$WEND" show app.dir | grep -q MPI_THREAD_MULTIPLE
    called dump MPI_Allreduce 'first thread' 1
    called dump MPI_Allreduce 'second thread' 1
    "$WEND" dump --sites --rank 0 app.dir >first
    called first MPI_Bcast 'of rank 0' 50
    called first MPI_Comm_rank 'as often as the rank says' 5
    ! grep 'from unknown' dump first || false
}
@test "sites: of unsuccessful polls" {
    needs_names
    build_sites
    record app.dir 2 ./sites
    "$WEND" dump --sites --rank 1 app.dir >dump
    # MPI may complete the request at the first of them
    [ "$(grep -c 'MPI_Test(' dump)" -ge 4 ]
    [ "$(grep 'MPI_Test(' dump | grep -vc "sites.c:$(line_of 'too early')\|sites.c:$(line_of \
        'until it is there')")" = 0 ]
    "$WEND" dump --sites --no-polls app.dir --rank 1 >calls
    diff <(grep -v '^        -' dump) calls
}
@test "sites: equal in two runs, under address randomisation or without" {
    build_sites
    build_other=$(command -v setarch)
    record one.dir 3 ./sites ./sites.so
    record two.dir 3 ./sites ./sites.so
    record three.dir 3 "$build_other" -R ./sites ./sites.so
    for run in one two three; do
        "$WEND" dump --sites --format jsonl --no-polls $run.dir |
            sed 's/"results":.*"site":/"site":/' >$run
    done
    cmp one two
    cmp one three
    [[ $("$WEND" diff --sites one.dir two.dir) == "equal, from the same places: 3 ranks, "* ]]
}
@test "sites: wend diff says which recording has none, and compares none" {
    build_sites
    record with.dir 2 ./sites
    mpi 2 "$WEND" trace --quiet --no-sites -o without.dir ./sites
    local line='without.dir: the recording has no call sites: they are not compared' names
    for names in "with.dir without.dir" "without.dir with.dir" "without.dir without.dir"; do
        # shellcheck disable=SC2086
        "$WEND" diff --sites $names >out 2>err
        [[ $(<out) == "equal: 2 ranks, "* ]] || fail "$names: $(<out)"
        [ "$(<err)" = "wend diff: $line" ] || fail "$names: $(<err)"
    done
    "$WEND" diff --sites --site-tolerance=1 with.dir with.dir >out 2>err
    [[ $(<out) == "equal, from the same places: 2 ranks, "* ]] || fail "$(<out)"
    line='with.dir has no call stacks, which --site-tolerance needs: wend trace --stacks records'
    [ "$(sort -u err)" = "wend diff: $line them" ] || fail "$(<err)"
}
@test "sites: wend diff names both, and compares them with --sites alone" {
    needs_names
    build_sites
    record one.dir 2 ./sites
    mkdir other
    sed '20i int another_line;' "$SITES" >moved.c
    compile moved.c other/moved -w
    record two.dir 2 other/moved
    "$WEND" diff one.dir two.dir
    run -1 "$WEND" diff --sites one.dir two.dir
    line=$(line_of start)
    [[ $output == *"MPI_Init_thread from another place"* ]]
    [[ $output == *"< from main (sites.c:$line)"* ]]
    [[ $output == *"> from main (moved.c:$((line + 1)))"* ]]
    sed 's/MPI_INT, left, 0,/MPI_INT, left, 1,/; s/MPI_INT, right, 0,/MPI_INT, right, 1,/' \
        "$SITES" >tag.c
    compile tag.c tag -w
    record three.dir 2 ./tag
    run -1 "$WEND" diff one.dir three.dir
    [[ $output == *"MPI_Irecv("*"# from exchange (sites.c:$(line_of receive))"* ]]
    [[ $output == *"MPI_Irecv("*"# from exchange (tag.c:$(line_of receive))"* ]]
}
@test "sites: a program at a fixed address, and one without debug information" {
    needs_names
    build_sites -no-pie -fno-pie
    record app.dir 2 ./sites
    "$WEND" dump --sites --rank 1 app.dir >dump
    called dump MPI_Irecv receive 20
    build_sites
    strip --strip-debug sites
    record symbols.dir 2 ./sites
    "$WEND" dump --sites --rank 1 symbols.dir >dump
    grep -q 'MPI_Irecv(.*# from exchange$' dump
    strip sites
    record stripped.dir 2 ./sites
    "$WEND" dump --sites --rank 1 stripped.dir >dump
    grep -q 'MPI_Irecv(.*# from sites + 0x[0-9a-f]*$' dump
}
@test "sites: a program that has changed is not asked for names, and a copy by its build-id is" {
    needs_names
    build_sites
    record app.dir 2 ./sites
    cp sites copy
    compile "$SITES" sites -O0
    run --separate-stderr "$WEND" show --sites --table app.dir
    [ "$status" = 0 ]
    [[ $stderr == *"sites has changed since the recording: addresses in it have no names"* ]]
    [ "$(wc -l <<<"$stderr")" = 1 ]
    [[ $output == *"sites + 0x"* && $output != *exchange* ]]
    id=$(readelf -n copy | sed -n 's/ *Build ID: //p')
    mkdir -p cache/"$id"
    cp copy cache/"$id"/executable
    DEBUGINFOD_CACHE_PATH=$PWD/cache "$WEND" show --sites --table app.dir 2>err | grep -q exchange
    [ ! -s err ]
    rm -r sites cache
    "$WEND" show --sites --table app.dir 2>err | grep -q 'sites + 0x'
    grep -q 'sites cannot be read: addresses in it have no names' err
}
# says_once LINE: each command that names sites says LINE, and nothing else.
says_once() {
    local words
    for words in "show --sites --csv" "show --sites --table" "dump --sites" \
        "export --perfetto -f -o app.pf" "diff --sites app.dir"; do
        # shellcheck disable=SC2086
        "$WEND" $words app.dir >out 2>err || fail "$words: $(cat err)" || return
        if [[ $words == export* ]]; then
            ! grep -q 'built without' err || continue
            sed -i '/no time of each call/d' err
        fi
        [ "$(cat err)" = "wend ${words%% *}: $1" ] || fail "$words: $(cat err)" || return
    done
}
@test "sites: of a stripped program: one line says so, and all but names is there" {
    needs_names
    build_sites
    record app.dir 2 ./sites ./sites.so
    "$WEND" show --sites --csv app.dir >named 2>err
    [ ! -s err ] || fail "$(cat err)"
    grep -q "^MPI_Irecv,exchange,[^,]*/sites.c,$(line_of receive),sites," named
    strip sites
    "$WEND" show --sites --csv app.dir >table 2>err
    [ "$(cat err)" = "wend show: $PWD/sites $NO_SYMBOLS" ] || fail "$(cat err)"
    diff <(sed -E 's/^([^,]*),[^,]*,[^,]*,[^,]*,sites,/\1,,,,sites,/' named) table
    grep -q '^MPI_Irecv,,,,sites,0x[0-9a-f]*,40,0,' table
    grep -q '^MPI_Barrier,sites_call,[^,]*/sites-library.c,8,sites.so,' table
    says_once "$PWD/sites $NO_SYMBOLS"
    # a line for each file; what a library exports keeps its name
    strip sites.so
    "$WEND" show --sites --csv app.dir >table 2>err
    sort err | diff <(printf '%s\n' "wend show: ./sites.so $NO_LINES" \
        "wend show: $PWD/sites $NO_SYMBOLS" | sort) -
    grep -q '^MPI_Barrier,sites_call,,,sites.so,' table
}
@test "sites: of a program without -g: one line says so, and functions are there" {
    needs_names
    build_sites -g0
    record app.dir 2 ./sites ./sites.so
    "$WEND" show --sites --csv app.dir >table 2>err
    [ "$(cat err)" = "wend show: $PWD/sites $NO_LINES" ] || fail "$(cat err)"
    grep -q '^MPI_Irecv,exchange,,,sites,0x[0-9a-f]*,40,0,' table
    grep -q '^MPI_Isend,exchange,,,sites,0x[0-9a-f]*,40,0,40,160,0,' table
    grep -q '^MPI_Barrier,sites_call,[^,]*/sites-library.c,8,sites.so,' table
    says_once "$PWD/sites $NO_LINES"
    # names that are not asked for are not missed
    "$WEND" show app.dir 2>err >out
    "$WEND" dump app.dir 2>>err >out
    [ ! -s err ] || fail "$(cat err)"
}
@test "sites: in a library of the system: a line names it, and gives no advice" {
    needs_names
    cat >ffi.c <<'C'
#include <ffi.h>
#include <mpi.h>
int main(int argc, char **argv)
{
    ffi_cif barrier;
    ffi_type *type = sizeof(MPI_Comm) == sizeof(int) ? &ffi_type_sint : &ffi_type_pointer;
    MPI_Comm comm = MPI_COMM_WORLD;
    void *arguments[] = {&comm};
    ffi_arg result;
    MPI_Init(&argc, &argv);
    ffi_prep_cif(&barrier, FFI_DEFAULT_ABI, 1, &ffi_type_sint, &type);
    ffi_call(&barrier, FFI_FN(MPI_Barrier), &result, arguments);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g ffi.c -o ffi -lffi
    record app.dir 1 ./ffi
    DEBUGINFOD_CACHE_PATH=$PWD/none "$WEND" show --sites --csv app.dir >table 2>err
    grep -q '^MPI_Barrier,[^,]*,,,libffi.so' table || skip "libffi has debug information"
    grep -qx 'wend show: /.*/libffi.so[^ ]* has no [a-z ]* for call sites in it' err
    [ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
}
@test "sites: names of a stripped program, by the debug information of its build-id" {
    needs_names
    build_sites
    objcopy --only-keep-debug sites debug
    strip sites
    record app.dir 2 ./sites
    line=$(line_of receive)
    "$WEND" show --sites --table --all app.dir >table
    ! grep -q "exchange (sites.c:$line)" table || fail "$(cat table)" || return
    id=$(readelf -n sites | sed -n 's/ *Build ID: //p')
    mkdir -p cache/"$id"
    mv debug cache/"$id"/debuginfo
    DEBUGINFOD_CACHE_PATH=$PWD/cache "$WEND" show --sites --table --all app.dir >table 2>err
    [ ! -s err ] || fail "$(cat err)" || return
    grep -q "^MPI_Irecv .*exchange (sites.c:$line)" table || fail "$(cat table)"
}
@test "sites: no build-id" {
    needs_names
    build_sites -Wl,--build-id=none
    record app.dir 2 ./sites
    "$WEND" dump --sites --rank 1 app.dir >dump
    called dump MPI_Irecv receive 20
}
@test "sites: the table, as text, CSV and JSON" {
    needs_names
    build_sites
    record app.dir 4 ./sites
    "$WEND" show --sites --table --all app.dir >table
    line=$(line_of 'as often as the rank says')
    grep -q "^MPI_Comm_rank .*(sites.c:$line) * 26 .* 4 .* 5 - 8 (3)" table
    grep -A 1 '^MPI_Barrier .*synchronize (sites.c' table | grep -q '^ *inlined in main (sites.c'
    "$WEND" show --sites --csv app.dir >csv
    grep -q "^MPI_Isend,exchange,.*/sites.c,$(line_of send),sites,0x[0-9a-f]*,80,0,80,320,0," csv
    "$WEND" show --sites --json app.dir | "$PYTHON" -c '
import json, sys
rows = json.load(sys.stdin)
row = next(r for r in rows if r["function"] == "MPI_Isend")
assert row["calls"] == 80 and row["bytes"] == 320 and row["ranks"] == 4, row
barriers = [r["site"]["frames"] for r in rows if r["function"] == "MPI_Barrier"]
frames = [f["function"] for b in barriers for f in b]
assert frames == ["synchronize", "main"], frames
for r in rows: # each time is printed with three digits
    if "least_seconds" in r:
        assert r["least_seconds"] <= 1.01 * r["mean_seconds"], r
        assert r["mean_seconds"] <= 1.01 * r["most_seconds"], r
        assert abs(r["mean_seconds"] * r["ranks"] - r["seconds"]) <= 0.011 * r["seconds"], r
        assert r["least_seconds_rank"] < 4 and r["most_seconds_rank"] < 4, r
    assert ("least_seconds" in r) == ("seconds" in r), r'
}
@test "sites: of more irregular calls than there are guesses" {
    cat >irregular.c <<'C'
#include <mpi.h>
static char x[1 << 17];
int main(int argc, char **argv)
{
    unsigned s = 1;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1200; i++) {
        MPI_Request r[2];
        s = s * 1103515245u + 12345u;
        MPI_Send_init(x + (s >> 13 & 65535), 1 + (s >> 8 & 1023), MPI_CHAR, rank, s >> 16 & 16383,
                      MPI_COMM_WORLD, &r[0]); /* MPI_Send_init */
        MPI_Recv_init(x + (s >> 14 & 65535), 1 + (s >> 8 & 1023), MPI_CHAR, MPI_PROC_NULL, 1,
                      MPI_COMM_WORLD, &r[1]); /* MPI_Recv_init */
        if (s >> 20 & 1)
            MPI_Start(&r[1]); /* MPI_Start */
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE); /* MPI_Waitall */
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]); /* MPI_Request_free */
    }
    MPI_Finalize();
    return 0;
}
C
    compile irregular.c irregular -w
    record app.dir 2 ./irregular
    for rank in 0 1; do
        for f in MPI_Send_init MPI_Recv_init MPI_Start MPI_Waitall MPI_Request_free; do
            line=$(grep -n "/\* $f \*/" irregular.c | cut -d: -f1)
            "$WEND" dump --sites --rank $rank app.dir | grep " $f(" >calls
            # a call of several lines may have that of its beginning
            grep -c "# from main (irregular.c:\($line\|$((line - 1))\))\$" calls >n
            [ "$(cat n)" -gt 500 ] && [ "$(cat n)" = "$(wc -l <calls)" ] || fail "$f: $(cat n)"
        done
    done
    "$WEND" diff --sites app.dir app.dir | grep -q '^equal, from the same places'
    [ "$("$WEND" show --sites --csv app.dir | grep -c MPI_Request_free)" = 2 ]
}
@test "sites: of one class of ranks, where the line follows from an argument" {
    cat >which.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    static const int tags[2][5] = {{0, 1, 2, 2, 2}, {0, 1, 1, 1, 1}};
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        int tag = tags[rank % 2][i];
        MPI_Barrier(MPI_COMM_WORLD);
        if (tag == 1)
            MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
        else
            MPI_Send(&x, 2 - 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O0 which.c -o which
    record app.dir 4 ./which
    "$WEND" show app.dir | grep -q '^ *4  *13  0-3$'
    # each line sends 4 times on two ranks and once on two
    "$WEND" show --sites --csv app.dir | grep '^MPI_Send' | cut -d, -f4,7,15-18 | sort >rows
    printf '%s\n' 12,10,1,0,4,1 14,10,1,1,4,0 | diff - rows
    make_proxy app.dir proxy
    [ "$(grep -c 'which.c:14, which.c:12' proxy.c)" -ge 1 ]
}
@test "sites: those for which the recorder had no memory are counted" {
    cat >ways.c <<'C'
#include <mpi.h>
static int call(unsigned way, int depth);
static __attribute__((noinline)) int left(unsigned way, int depth)
{
    return call(way, depth) + 1;
}
static __attribute__((noinline)) int right(unsigned way, int depth)
{
    return call(way, depth) + 2;
}
static __attribute__((noinline)) int call(unsigned way, int depth)
{
    if (depth == 0)
        return MPI_Barrier(MPI_COMM_SELF) + 1;
    return (way & 1 ? left(way >> 1, depth - 1) : right(way >> 1, depth - 1)) + 1;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (unsigned way = 0; way < 20000; way++)
        call(way * 2654435761u, 20);
    MPI_Finalize();
    return 0;
}
C
    compile ways.c ways -O1
    mpi 1 "$WEND" trace --stacks --max-memory=4M -o app.dir ./ways 2>err
    grep -q '1 rank had no memory for all stacks' err
    "$WEND" show --sites --csv app.dir 2>said >csv
    n=$(awk -F, '$5 == "" { n += $7 } END { print n }' csv)
    [ "$n" -gt 10000 ]
    [ "$n" -lt 20000 ]
    grep -q '^wend show: some calls have unknown sites' said
    "$WEND" show --sites --table app.dir 2>/dev/null | tail -1 >end
    n=$(printf '%d,%03d' $((n / 1000)) $((n % 1000)))
    diff end - <<<"the sites of $n of 20,002 calls are unknown"
    n=${n/,/}
    "$WEND" dump --sites app.dir 2>said | grep -c '# from' >with
    [ "$(cat with)" = $((20002 - n)) ]
    [ "$(wc -l <said)" = 1 ]
    grep -q '^wend dump: some calls have unknown sites' said
}
@test "sites: calls by function add up to those of wend show" {
    build_sites
    record app.dir 4 ./sites
    "$WEND" show --sites --csv app.dir |
        awk -F, 'NR > 1 { n[$1] += $7 } END { for (f in n) print f, n[f] }' | sort >by_site
    "$WEND" show --json app.dir | "$PYTHON" -c '
import json, sys
for f in json.load(sys.stdin)["functions"]: print(f["name"], f["calls"])' | sort >by_function
    diff by_site by_function
}
@test "sites: seconds by function add up to those of wend show" {
    build_sites
    record app.dir 4 ./sites
    "$WEND" show --sites --json app.dir >sites.json
    "$WEND" show --json app.dir >show.json
    "$PYTHON" - <<'P'
import json
by_site, compared = {}, 0
for row in json.load(open("sites.json")):
    if "seconds" in row:
        by_site[row["function"]] = by_site.get(row["function"], 0) + row["seconds"]
for f in json.load(open("show.json"))["functions"]:
    if "duration" not in f:
        assert f["name"] not in by_site, f
        continue
    if f["name"] == "MPI_Comm_size":
        continue # wend show has the times in callbacks, too
    seconds = f["duration"]["count"] * f["duration"]["mean"]
    # each is printed with three digits
    assert abs(by_site[f["name"]] - seconds) <= 0.011 * seconds, (f, by_site[f["name"]])
    compared += 1
assert compared >= 8 and len(by_site) == compared + 1, by_site
P
}
@test "sites: calls of one signature have their own times if the recording has them" {
    cat >app.c <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            usleep(50000);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < 3; k++)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O1 app.c -o app
    for times in lossless 10%; do
        rm -rf app.dir
        mpi 2 "$WEND" trace --quiet --times=$times -o app.dir ./app
        "$WEND" show --sites --json app.dir >sites.json
        "$WEND" dump --sites --times --format jsonl app.dir >calls.jsonl
        "$PYTHON" - <<'P' || fail "with $times" || return
import json
of_calls = {}
for call in map(json.loads, open("calls.jsonl")):
    if call.get("function") == "MPI_Barrier":
        offset = call["site"]["offset"]
        of_calls[offset] = of_calls.get(offset, 0) + call["duration"]
rows = [row for row in json.load(open("sites.json")) if row["function"] == "MPI_Barrier"]
assert len(rows) == len(of_calls) >= 3, rows # a loop may be unrolled
for row in rows:
    seconds = of_calls[row["site"]["offset"]]
    assert abs(row["seconds"] - seconds) <= 0.006 * seconds, (row, seconds) # three digits
    assert not row["seconds_shared"], row
P
        "$WEND" show --sites --table app.dir >table
        ! grep '~' table || fail "$times: marked" || return
    done
    record plain.dir 2 ./app
    "$WEND" show --sites --json plain.dir | "$PYTHON" -c '
import json, sys
rows = [row for row in json.load(sys.stdin) if row["function"] == "MPI_Barrier"]
means = [row["seconds"] / row["calls"] for row in rows]
assert max(means) < 1.02 * min(means), rows
assert all(row["seconds_shared"] for row in rows), rows'
}
# Rank 2 of 4 comes a second late to a barrier.
late() {
    cat >app.c <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i <= rank; i++)
        MPI_Barrier(MPI_COMM_SELF); // alone
    if (rank == 2)
        sleep(1);
    MPI_Barrier(MPI_COMM_WORLD); // late
    if (rank == 1)
        MPI_Comm_size(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O1 app.c -o app
}
check_late() { # SHARED: 1 if times of ranks are estimates. Those of app.dir
    "$WEND" show --sites --json app.dir >sites.json
    "$WEND" show --sites --csv app.dir >sites.csv
    "$PYTHON" - "$1" <<'P' || return
import csv, json, sys
rows = json.load(open("sites.json"))
def at(name):
    line = next(n for n, text in enumerate(open("app.c"), 1) if text.endswith(f"// {name}\n"))
    return next(r for r in rows if r["site"]["frames"][0].get("line") == line)
late, alone = at("late"), at("alone")
assert late["least_seconds_rank"] == 2 and late["most_seconds_rank"] != 2, late
assert late["most_seconds"] >= 0.5 and late["least_seconds"] < late["most_seconds"] / 2, late
for r in late, alone:
    assert r["ranks"] == 4 and r["rank_seconds_shared"] == (sys.argv[1] == "1"), r
    assert r["least_seconds"] <= r["mean_seconds"] <= r["most_seconds"], r
    assert abs(4 * r["mean_seconds"] - r["seconds"]) <= 0.011 * r["seconds"], r
size = next(r for r in rows if r["function"] == "MPI_Comm_size")
for key in "least", "most":
    assert size[key + "_seconds"] == size["mean_seconds"] == size["seconds"], size
    assert size[key + "_seconds_rank"] == 1, size
for row, r in zip(csv.DictReader(open("sites.csv")), rows):
    assert row["mpi_function"] == r["function"] and row["calls"] == str(r["calls"]), (row, r)
    for key in ("least_seconds", "mean_seconds", "most_seconds", "least_seconds_rank",
                "most_seconds_rank", "rank_seconds_shared"):
        wanted = r.get(key, 0 if key == "rank_seconds_shared" else "")
        assert wanted == ("" if row[key] == "" else float(row[key])), (key, row, r)
finalize = next(r for r in rows if r["function"] == "MPI_Finalize")
assert "seconds" not in finalize and "least_seconds" not in finalize, finalize
P
    "$WEND" show --sites --table app.dir >table
    local time='[0-9.]* [mun]*s' before=' '
    [ "$1" = 0 ] || before='~'
    grep -q "^MPI_Barrier  *main (app.c:.* 4 .*$before$time (2) - $time - $time ([013])  *1\$" table
}
@test "sites: the least, the mean and the most time of a rank, from the time of each call" {
    needs_names
    late
    mpi 4 "$WEND" trace --quiet --times=lossless -o app.dir ./app
    check_late 0 || fail "$(cat table sites.json)"
    ! grep '~' table || fail "marked"
    # they are the sums of the calls
    "$WEND" dump --sites --times --format jsonl app.dir >calls.jsonl
    "$PYTHON" - <<'P'
import json
sums = {}
for call in map(json.loads, open("calls.jsonl")):
    if call.get("duration") is not None:
        by_rank = sums.setdefault((call["function"], call["site"]["offset"]), {})
        by_rank[call["rank"]] = by_rank.get(call["rank"], 0) + call["duration"]
rows = [r for r in json.load(open("sites.json")) if "least_seconds" in r]
assert len(rows) == len(sums) >= 5, (rows, sums)
def near(a, b):
    return abs(a - b) <= 0.006 * b # three digits
for r in rows:
    by_rank = sums[r["function"], r["site"]["offset"]]
    assert len(by_rank) == r["ranks"], r
    assert near(r["least_seconds"], min(by_rank.values())), (r, by_rank)
    assert near(r["most_seconds"], max(by_rank.values())), (r, by_rank)
    assert near(r["mean_seconds"], sum(by_rank.values()) / len(by_rank)), (r, by_rank)
    assert near(r["least_seconds"], by_rank[r["least_seconds_rank"]]), (r, by_rank)
    assert near(r["most_seconds"], by_rank[r["most_seconds_rank"]]), (r, by_rank)
P
    rm -r app.dir
    mpi 4 "$WEND" trace --quiet --times=10% -o app.dir ./app
    check_late 0 || fail "10%" "$(cat table sites.json)"
}
@test "sites: the least, the mean and the most time of a rank, from those by function" {
    needs_names
    late
    record app.dir 4 ./app
    check_late 1 || fail "$(cat table sites.json)"
    # MPI_Init is called from one place
    "$PYTHON" -c '
import json
row = next(r for r in json.load(open("sites.json")) if r["function"] == "MPI_Init")
assert not row["rank_seconds_shared"] and row["least_seconds"] > 0, row'
    # all places count as one, which has the times of the function
    "$WEND" show --sites --json --site-ignore=app.c app.dir | "$PYTHON" -c '
import json, sys
(row,) = [r for r in json.load(sys.stdin) if r["function"] == "MPI_Barrier"]
assert not row["rank_seconds_shared"] and row["least_seconds_rank"] == 2, row'
}
# Where the site follows from the place in the grammar, its stream is empty.
@test "sites: more iterations of a loop take no more bytes, with call stacks or without" {
    [ "$(uname -m)" = x86_64 ] || skip "stacks are followed on x86-64 alone"
    cat >loop.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
static int v;
static APART void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");
}
static APART void twice(void)
{
    meet();
    MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
    meet();
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < atoi(argv[1]); i++) {
        twice();
        meet();
        for (int k = 0; k < 3; k++)
            MPI_Bcast(&v, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O1 -w loop.c -o loop
    local member n options=()
    for member in sites stacks; do
        [ $member = sites ] || options=(--stacks)
        for n in 20 2000; do
            rm -rf app.dir
            mpi 2 "$WEND" trace --quiet "${options[@]}" -o app.dir ./loop $n
            zstd -dcq app.dir/trace.tar.zst | tar -xO "$member" >"$member.$n"
            cp app.dir/trace.tar.zst "$n.tar.zst"
            "$WEND" dump --sites app.dir | grep -c MPI_ >calls
            [ "$(cat calls)" = $((2 * (7 * n + 2))) ] || fail "$n: $(cat calls) calls"
        done
        [ -s "$member.20" ] && cmp "$member.20" "$member.2000" ||
            fail "$(wc -c "$member".*)" || return
        # times differ between runs, and take some bytes more or less
        [ "$(stat -c %s 2000.tar.zst)" -lt $(($(stat -c %s 20.tar.zst) + 64)) ] ||
            fail "$member: $(wc -c ./*.tar.zst)" || return
    done
}
@test "sites: off, the recording is as it was without them" {
    build_sites
    mpi 2 "$WEND" trace --quiet --no-sites -o app.dir ./sites
    run --separate-stderr "$WEND" show --sites app.dir
    [ "$status" = 0 ]
    [[ $stderr == *"the recording has no call sites"* ]]
    zstd -dcq app.dir/trace.tar.zst | tar -t >members
    ! grep -q sites members || false
    ! zstd -dcq app.dir/trace.tar.zst | tar -xO meta | grep -i '^sites=' || false
}
@test "sites: a run that died" {
    needs_names
    build_sites
    # rank 2 aborts; the launcher may kill the others before they can save anything
    mpi 3 "$WEND" trace --quiet -o app.dir ./sites abort 2>err || true
    "$WEND" merge app.dir 2>err
    "$WEND" dump --sites --rank 2 app.dir >dump
    called dump MPI_Irecv receive 20
    called dump MPI_Bcast 'of others' 50
}
@test "sites: Fortran, through the layer of the library" {
    needs_names
    command -v "$MPIFORT" >/dev/null || skip "no Fortran compiler for this MPI"
    for interface in "include 'mpif.h'" 'use mpi' 'use mpi_f08'; do
        {
            echo 'subroutine exchange(x)'
            [[ $interface == use* ]] && echo "$interface"
            echo 'implicit none'
            [[ $interface == use* ]] || echo "$interface"
            echo 'integer :: x(2), ierr'
            echo 'call MPI_Bcast(x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! first'
            echo 'call MPI_Bcast(x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! second'
            echo 'call MPI_Barrier(MPI_COMM_WORLD, ierr) ! barrier'
            echo 'end subroutine'
            echo 'program p'
            [[ $interface == use* ]] && echo "$interface"
            echo 'implicit none'
            [[ $interface == use* ]] || echo "$interface"
            echo 'integer :: x(2), ierr, i'
            echo 'call MPI_Init(ierr)'
            printf 'do i = 1, 5\ncall exchange(x)\nend do\n'
            echo 'call MPI_Finalize(ierr) ! end'
            echo 'end program'
        } >app.f90
        # shellcheck disable=SC2086
        "$MPIFORT" -g -O2 -fno-inline -w app.f90 -o app $MPIFORT_LDFLAGS \
            -Wl,--copy-dt-needed-entries
        rm -rf app.dir
        record app.dir 2 ./app
        "$WEND" dump --sites --rank 1 app.dir >dump
        calls=('Bcast first' 'Bcast second' 'Barrier barrier')
        # gfortran gives calls in a program the line of "program"
        for call in "${calls[@]}"; do
            set -- $call
            at=$(grep -n "! $2\$" app.f90 | cut -d: -f1)
            grep -q "MPI_$1(.*# from .* (app.f90:$at)\$" dump ||
                fail "$interface: no MPI_$1 from line $at" "$(cat dump)"
        done
    done
}
@test "sites: MPI:: of C++" {
    needs_names
    [ -x "$PROGRAMS/cxx" ] || skip "no C++ bindings in this MPI"
    cat >app.cxx <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::COMM_WORLD.Barrier(); // barrier
    MPI::Finalize();
}
C
    "$MPICXX" -g -O2 -w app.cxx -o app
    record app.dir 2 ./app
    "$WEND" dump --sites --format jsonl --rank 1 app.dir | grep MPI_Barrier | grep -q '"line":5'
}
@test "sites: mpi4py" {
    has_mpi4py || skip "no mpi4py for this MPI library here"
    record app.dir 2 "$PYTHON" -c 'from mpi4py import MPI; MPI.COMM_WORLD.Barrier()'
    "$WEND" show --sites --csv app.dir >csv 2>err
    module=$(grep ^MPI_Barrier, csv | cut -d, -f5)
    # the layer is MPI.cpython-….so
    [[ $module == python* || $module == libpython* ]] || fail "MPI_Barrier from $module"
}
@test "sites: a tool in front of Wend is a layer" {
    needs_names
    cat >tool.c <<'C'
#include <mpi.h>
static volatile int calls;
int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    calls++;
    return rc;
}
int MPI_Barrier(MPI_Comm comm)
{
    int rc = PMPI_Barrier(comm);
    calls++; // no jump to Wend: the tool has a frame
    return rc;
}
C
    "$MPICC" -g -O2 -shared -fPIC tool.c -o tool.so
    cat >app.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD); // barrier
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O1 app.c -o app
    LD_PRELOAD=$PWD/tool.so:$LIBWEND WEND_OUTPUT=app.dir mpi 2 ./app
    "$WEND" dump --sites --rank 1 app.dir >dump
    grep -q "MPI_Barrier(.*# from main $(at barrier)\$" dump || fail "$(cat dump)"
}

# -- in replays --

diverging() {
    cat >app.c <<'C'
#include <mpi.h>
#include <stdlib.h>
static __attribute__((noinline)) void exchange(int tag)
{
    int v = 0, w;
    MPI_Request request;
    MPI_Isend(&v, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request); // send
    MPI_Recv(&w, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static __attribute__((noinline)) int probe(int n)
{
    int found;
    for (int i = 0; i < n; i++)
        MPI_Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE); // probe
    return found;
}
int main(int argc, char **argv)
{
    int what = argc > 1 ? atoi(argv[1]) : 0, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        probe(2);
        exchange(what == 1 && i == 17 && rank == 1 ? 6 : 5); // call
        if (i % 7 == 3)
            MPI_Barrier(MPI_COMM_WORLD); // sometimes
    }
    if (what == 2)
        MPI_Allreduce(MPI_IN_PLACE, &what, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD); // more
    if (what == 3)
        probe(1);
    MPI_Finalize(); // end
    return 0;
}
C
    "$MPICC" -g -O1 "$@" app.c -o app
}

at() { # NAME: the place of the line with that comment
    echo "(app.c:$(grep -n "// $1\$" app.c | cut -d: -f1))"
}

replays() { # WHAT
    run mpi 2 "$WEND" replay app.dir ./app "$1"
    [ "$status" = 1 ] || fail "status $status: $output"
}

@test "sites: a divergence names that of the recorded call, and that of the call made" {
    needs_names
    diverging
    record app.dir 2 ./app
    replays 1
    [[ $output == *"MPI_Isend from exchange $(at send) departs from the recording: tag=6, not 5"* ]]
    replays 3
    [[ $output == *"the recording has MPI_Finalize from main $(at end), and the program calls \
MPI_Iprobe from probe $(at probe)"* ]] || fail "$output"
    # a site that the recording does not have
    replays 2
    line="MPI_Finalize from main $(at end), and the program calls MPI_Allreduce from app + 0x"
    [[ $output =~ "$line"[0-9a-f]+ ]]
    run mpi 2 "$WEND" replay --no-sites app.dir ./app 2
    [[ $output == *"the recording has MPI_Finalize, and the program calls MPI_Allreduce"* ]]
}

@test "sites: a divergence of a program that has changed" {
    needs_names
    diverging
    record app.dir 2 ./app
    sed -i 's/exchange(what/probe(1);exchange(what/' app.c
    "$MPICC" -g -O0 app.c -o app
    replays 0
    other=', and the program calls MPI_Iprobe from app + 0x'
    [[ $output =~ "the recording has MPI_Isend from app + 0x"[0-9a-f]+"$other" ]]
    [[ $output == *"the program has changed since the recording, whose addresses have no names"* ]]
    diverging -s
    rm -r app.dir
    record app.dir 2 ./app
    replays 3
    [[ $output =~ "the recording has MPI_Finalize from app + 0x"[0-9a-f]+"$other" ]]
    [[ $output != *"has changed"* ]]
}

# -- of ranks that died --

@test "sites: the last calls of ranks that died, also those that had not returned" {
    needs_names
    cat >app.c <<'C'
#include <mpi.h>
#include <unistd.h>
static __attribute__((noinline)) void waits(int rank)
{
    int v;
    MPI_Recv(&v, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // waits
    if (rank > 5)
        MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 9; i++)
        MPI_Barrier(MPI_COMM_WORLD); // loop
    if (rank == 0) {
        MPI_Wtime(); // last
        sleep(1);
        MPI_Abort(MPI_COMM_WORLD, 3); // abort
    }
    waits(rank);
    MPI_Finalize();
}
C
    "$MPICC" -g -O1 app.c -o app
    mpi 2 "$WEND" trace --quiet -o app.dir ./app 2>err || true
    "$WEND" merge app.dir >merged 2>err
    grep -q "MPI_Wtime()  # from main $(at last)\$" merged || fail "$(cat merged)"
    grep -q "MPI_Barrier(.*)  # from main $(at loop)\$" merged
    grep -q "MPI_Recv(.*) has not returned  # from waits $(at waits)\$" merged ||
        fail "$(cat merged)"
    "$WEND" show app.dir >shown
    grep -q "has not returned  # from waits $(at waits)\$" shown
    "$WEND" dump --sites --rank 1 app.dir | grep -q "MPI_Recv(.*# from waits $(at waits)\$"
    strip app
    mpi 2 "$WEND" trace --quiet -f -o app.dir ./app 2>err || true
    "$WEND" merge -f app.dir >merged 2>err
    grep -q 'has not returned  # from app + 0x[0-9a-f]*$' merged
}

# Where the thread's own stack does not bound what the recorder reads.
@test "sites: Fortran's layer on a stack that the program has made" {
    needs_names
    command -v "$MPIFORT" >/dev/null || skip "no Fortran compiler for this MPI"
    cat >stack.c <<'C'
#include <stdlib.h>
#include <ucontext.h>
void exchange(void);
void on_other_stack(void);
void on_other_stack(void)
{
    enum { SIZE = 1 << 18 };
    static ucontext_t here, there;
    for (int i = 0; i < 3; i++) {
        getcontext(&there);
        there.uc_stack.ss_sp = malloc(SIZE);
        there.uc_stack.ss_size = SIZE;
        there.uc_link = &here;
        makecontext(&there, exchange, 0);
        swapcontext(&here, &there);
    }
}
C
    cat >app.f90 <<'F'
subroutine exchange() bind(c)
  use mpi
  integer :: ierr
  call MPI_Barrier(MPI_COMM_WORLD, ierr) ! meets
end subroutine
program p
  use mpi
  implicit none
  interface
    subroutine on_other_stack() bind(c)
    end subroutine
  end interface
  integer :: ierr
  call MPI_Init(ierr)
  call on_other_stack()
  call MPI_Finalize(ierr)
end program
F
    "$MPICC" -O1 -w -c stack.c -o stack.o
    # shellcheck disable=SC2086
    "$MPIFORT" -g -O1 -w app.f90 stack.o -o app $MPIFORT_LDFLAGS -Wl,--copy-dt-needed-entries
    record app.dir 2 ./app
    "$WEND" dump --sites app.dir >dump
    [ "$(grep -c "MPI_Barrier(.*# from exchange (app.f90:4)\$" dump)" = 6 ] ||
        fail "$(cat dump)"
}

@test "sites: a call that has not returned, through the Fortran layer of the library" {
    needs_names
    command -v "$MPIFORT" >/dev/null || skip "no Fortran compiler for this MPI"
    cat >app.f90 <<'F'
program p
  use mpi
  implicit none
  integer :: x(1), ierr, rank
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call sleep(1)
    call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  end if
  call waits(x)
contains
  subroutine waits(x)
    integer :: x(1), ierr
    call MPI_Recv(x, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! waits
    x(1) = ierr + 1
  end subroutine
end program
F
    # shellcheck disable=SC2086
    "$MPIFORT" -g -O1 -fno-inline -w app.f90 -o app $MPIFORT_LDFLAGS -Wl,--copy-dt-needed-entries
    mpi 2 "$WEND" trace --quiet -o app.dir ./app 2>err || true
    "$WEND" merge app.dir >merged 2>err
    line=$(grep -n '! waits$' app.f90 | cut -d: -f1)
    grep -q "MPI_Recv(.*has not returned  # from waits[.0-9]* (app.f90:$line)\$" merged ||
        fail "$(cat merged)"
}

# -- names in the archive --

has_names() { # DIR: without the program
    rm -rf away && mkdir away && mv app away/
    "$WEND" show --sites --table --all "$1" >table 2>err
    mv away/app .
    [ ! -s err ] || fail "$(cat err)" || return
    grep -q "^MPI_Isend *exchange $(at send)" table || fail "$(cat table)"
}

@test "sites: wend merge --symbols adds names to a recording, which is read without its program" {
    needs_names
    diverging -O2
    record app.dir 2 ./app
    "$WEND" dump app.dir >before
    "$WEND" dump --sites app.dir >sites
    run has_names app.dir
    [ "$status" != 0 ]
    "$WEND" merge --symbols app.dir | grep -q '^names of call sites in [0-9]* bytes: app.dir$'
    has_names app.dir
    "$WEND" dump app.dir | diff before -
    rm app
    "$WEND" dump --sites app.dir 2>err | diff sites -
    [ ! -s err ]
    # a replay of a program that has changed
    diverging -O0
    sed -i 's/probe(2)/probe(3)/' app.c
    "$MPICC" -g -O0 app.c -o app
    replays 0
    [[ $output == *"the recording has MPI_Isend from exchange $(at send), and the program calls"* ]]
    # names that are there stay
    size=$(stat -c %s app.dir/trace.tar.zst)
    "$WEND" merge --symbols app.dir
    [ "$(stat -c %s app.dir/trace.tar.zst)" = "$size" ]
    run -2 "$WEND" merge --symbols --no-symbols app.dir
}
@test "sites: --symbols, in an archive of several frames" {
    needs_names
    diverging
    mpi 2 "$WEND" trace --quiet --times=10% -o app.dir ./app
    "$WEND" dump --times app.dir >before
    for i in 1 2; do # names are replaced
        "$WEND" merge --symbols app.dir
        has_names app.dir
        "$WEND" dump --times app.dir | diff before -
        [ "$(zstd -dcq app.dir/trace.tar.zst | tar -t | sort | uniq -d | wc -l)" = 0 ]
        zstd -dcq app.dir/trace.tar.zst | tar -t | grep -q '^names$'
    done
}
@test "sites: --symbols, where there is no debug information, or the program has changed" {
    needs_names
    diverging -s -Wl,--strip-all
    record app.dir 2 ./app
    cp app.dir/trace.tar.zst before
    run --separate-stderr "$WEND" merge --symbols app.dir
    [ "$status" = 0 ]
    diff - <<<"$stderr" <(
        echo "wend merge: $PWD/app $NO_SYMBOLS"
        echo "wend merge: no names of call sites are known: none are stored"
    )
    cmp before app.dir/trace.tar.zst
    diverging -O0
    run --separate-stderr "$WEND" merge --symbols app.dir
    [ "$status" = 0 ]
    [[ ${stderr_lines[0]} == *"app has changed since the recording: addresses in it have no "* ]]
    cmp before app.dir/trace.tar.zst
    head -c 100 /dev/zero >app
    run --separate-stderr "$WEND" show --sites --table app.dir
    [ "$status" = 0 ]
    [ "${#stderr_lines[@]}" = 1 ]
    [[ $output == *"app + 0x"* ]]
}
# symbols_on OPTIONS SCRIPT: copies app.dir to a file system with these mount options, in the folder
# "small", and runs SCRIPT. Then wend merge --symbols fails, and leaves the copy as it was.
symbols_on() {
    # shellcheck disable=SC2016
    run --separate-stderr unshare --mount bash -c '
        mount -t tmpfs -o "$1" none small && cp -r app.dir small/ && eval "$2" || exit 1
        timeout 20 "$3" merge --symbols small/app.dir
        status=$?
        cmp app.dir/trace.tar.zst small/app.dir/trace.tar.zst && ls -A small/app.dir >left
        exit $status' - "$1" "$2" "$WEND"
    [ "$status" = 4 ] && [ "${#stderr_lines[@]}" = 1 ] && [ -z "$output" ] &&
        [[ $stderr == "wend merge: small/app.dir/trace.tar.zst: cannot write: "* ]] ||
        fail "$*: status $status" "$output" "$stderr" || return
    diff left <(ls -A app.dir) || fail "$*: left behind"
}
@test "sites: wend merge --symbols within a limit on the size of files" {
    needs_names
    diverging
    record app.dir 2 ./app
    cp app.dir/trace.tar.zst before
    # shellcheck disable=SC2016
    run --separate-stderr bash -c \
        'set -o pipefail; { ulimit -f 0; "$0" merge --symbols app.dir; } 2>&1 | cat >&2' "$WEND"
    [ "$status" = 4 ] && [ "${#stderr_lines[@]}" = 1 ] &&
        [[ $stderr == "wend merge: app.dir/trace.tar.zst: cannot write: "* ]] ||
        fail "status $status" "$stderr"
    cmp before app.dir/trace.tar.zst
    [ -z "$(find app.dir -name '.wend-*')" ] || fail "$(ls -A app.dir)"
}
@test "sites: wend merge --symbols on a full disk, or one that is not to be written" {
    needs_names
    mkdir small
    unshare --mount mount -t tmpfs none small 2>/dev/null ||
        skip "file systems cannot be mounted here"
    diverging
    record app.dir 2 ./app
    symbols_on size=64k 'cat /dev/zero >small/filler 2>/dev/null; true'
    symbols_on "nr_inodes=$((1 + $(find app.dir | wc -l)))" true
    symbols_on size=64k 'mount -o remount,ro small'
    # with room it works
    run symbols_on size=64k true
    [[ $output == *"status 0"*"names of call sites in "* ]] || fail "$output"
}
@test "sites: wend trace --symbols on a full disk: the recording, the status, and one line" {
    needs_names
    unshare --mount true 2>/dev/null || skip "file systems cannot be mounted here"
    diverging
    mkdir small
    # The recording is there when the program has ended, and then the disk is full.
    # shellcheck disable=SC2016
    printf '#!/bin/sh\n%s\n' "'$PWD/app' || exit" 'cat /dev/zero >small/filler 2>/dev/null' \
        'exit 5' >fills
    chmod +x fills
    export HELPERS_DIR BUILD_DIR WEND
    # shellcheck disable=SC2016
    run --separate-stderr unshare --mount bash -c '
        mount -t tmpfs -o size=2m none small && source "$HELPERS_DIR/helpers.bash" || exit 1
        mpi_ends 1 "$WEND" trace --quiet --symbols -o small/app.dir ./fills
        status=$?
        cp -r small/app.dir . # the disk is gone at the end
        exit $status'
    [ "$status" = 5 ] && [ "$(grep -c '^wend trace: ' <<<"$stderr")" = 1 ] &&
        [[ $stderr == *"wend trace: "*"/small/app.dir/trace.tar.zst: cannot write: "* ]] ||
        fail "status $status" "$output" "$stderr"
    [ "$(ls app.dir)" = trace.tar.zst ] || fail "$(ls -A app.dir)"
    "$WEND" dump --sites app.dir >dump
    grep -q "MPI_Isend(.*# from exchange $(at send)\$" dump || fail "$(cat dump)"
    run has_names app.dir
    [ "$status" != 0 ]
}
@test "sites: wend merge stores names by default if they are few" {
    needs_names
    diverging
    sed -i 's/MPI_Finalize();/abort();/' app.c
    "$MPICC" -g app.c -o app
    mpi 2 "$WEND" trace --quiet -o app.dir ./app 2>err || true
    "$WEND" merge --no-symbols app.dir >out
    run has_names app.dir
    [ "$status" != 0 ]
    size=$(stat -c %s app.dir/trace.tar.zst)
    "$WEND" merge -f app.dir >out
    has_names app.dir
    [ "$(stat -c %s app.dir/trace.tar.zst)" -lt $((size + 2048)) ]
    grep -q " in $(stat -c %s app.dir/trace.tar.zst) bytes" out
    python3 - >many.c <<'P'
import hashlib
names = [hashlib.md5(b"%d" % i).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
         for i in range(300)]
print("#include <mpi.h>\n#include <stdlib.h>")
for name in names:
    print(f"__attribute__((noinline)) void {name}(int *v)"
          '{ MPI_Get_address(v, (MPI_Aint[1]){0}); __asm__ volatile(""); }')
print("int main(int c, char **v) { int x; MPI_Init(&c, &v);")
print("\n".join(f"{name}(&x);" for name in names))
print("abort(); }")
P
    "$MPICC" -g many.c -o many
    mpi 1 "$WEND" trace --quiet -o many.dir ./many 2>err || true
    "$WEND" merge many.dir >out
    zstd -dcq many.dir/trace.tar.zst | tar -t >members
    ! grep names members || false
    "$WEND" merge -f --symbols many.dir >out
    zstd -dcq many.dir/trace.tar.zst | tar -t | grep names
}
@test "sites: wend trace --symbols, and the end of the program is that of the command" {
    needs_names
    diverging
    run -2 "$WEND" trace --symbols ./app
    mpi 2 "$WEND" trace --quiet --symbols -o app.dir ./app
    has_names app.dir
    for how in 'exit 7' 'kill -TERM $$' 'kill -USR1 $$' 'kill -SEGV $$'; do
        a=0 b=0
        sh -c "$how" || a=$?
        "$WEND" trace --quiet --symbols -o other.dir sh -c "$how" || b=$?
        [ "$a" = "$b" ] || fail "$how: $a without, $b with"
    done
    # signals reach the program
    "$WEND" trace --quiet --symbols -o other.dir \
        sh -c 'trap "echo got; exit 5" USR1; echo ready; while :; do sleep 0.1; done' >out &
    until grep -q ready out; do sleep 0.1; done
    kill -USR1 $!
    status=0
    wait $! || status=$?
    [ "$status" = 5 ]
    grep -q got out
    # and the program does not outlive the command
    "$WEND" trace --quiet --symbols -o other.dir sh -c 'echo $$; exec sleep 60' >out &
    until [ -s out ]; do sleep 0.1; done
    kill -KILL $!
    wait $! || true
    while kill -0 "$(cat out)" 2>/dev/null; do sleep 0.1; done
}
@test "sites: wend trace --symbols, whatever signals are ignored, blocked, or stop the program" {
    local traced=("$WEND" trace --quiet --symbols --mpi mpich -o other.dir) child status=0
    library_is mpich || traced[5]=openmpi
    for how in 'exit 7' 'kill -TERM $$'; do
        a=0 b=0
        sh -c "$how" || a=$?
        env --ignore-signal=CHLD "${traced[@]}" sh -c "$how" || b=$?
        [ "$a" = "$b" ] || fail "$how: $a without, $b with"
    done
    # the program lets in what its launcher has blocked
    cat >lets.py <<'PY'
import signal, sys
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(5))
open('ready', 'w').close()
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
while True:
    signal.pause()
PY
    env --block-signal=TERM "${traced[@]}" "$PYTHON" lets.py &
    child=$!
    until [ -e ready ]; do sleep 0.1; done
    kill -TERM $child
    wait $child || status=$?
    [ "$status" = 5 ]
    # it stops, and somebody who knows its number lets it go on
    status=0
    "${traced[@]}" sh -c 'echo $$ >pid; kill -STOP $$; exit 6' &
    child=$!
    until [ -s pid ] && grep -q ') T' "/proc/$(cat pid)/stat" && grep -q ') T' "/proc/$child/stat"
    do
        sleep 0.1
    done
    kill -CONT "$(cat pid)"
    wait $child || status=$?
    [ "$status" = 6 ]
    # it closes its output, and who reads that sees the end
    status=0
    mkfifo out
    { cat out; : >seen; } &
    "${traced[@]}" sh -c 'exec >&-; until [ -e seen ]; do sleep 0.1; done; exit 4' >out ||
        status=$?
    [ "$status" = 4 ]
}

@test "sites: names of an archive are text, whatever is in them" {
    needs_names
    diverging
    printf '%s\n' '# 1 "a\033[31m*/\"b.c"' >bad.c
    sed 's/exchange/exch\\u00e9nge/' app.c >>bad.c
    "$MPICC" -g -O1 bad.c -o app
    record app.dir 2 ./app
    "$WEND" merge --symbols app.dir
    rm app
    "$WEND" show --sites --table app.dir >table
    ! grep -P '\x1b' table || false
    "$WEND" show --sites --json app.dir | "$PYTHON" -c 'import json, sys; json.load(sys.stdin)'
}
