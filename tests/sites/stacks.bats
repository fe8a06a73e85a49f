# SPDX-License-Identifier: BSD-3-Clause
# Call stacks: through which functions each call comes, and which stacks count as one.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }

needs_names() {
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
    [ "$(uname -m)" = x86_64 ] || skip "stacks are followed on x86-64 alone"
}

# compile FILE OUT flags…: with names of lines.
compile() {
    local file=$1 out=$2
    shift 2
    "$MPICC" -g -O2 -w "$@" "$file" -o "$out" -ldl -lpthread
}

build_stacks() {
    compile "$SOURCE_DIR/tests/programs/stacks.c" stacks "$@"
    compile "$SOURCE_DIR/tests/programs/stacks-library.c" stacks.so -shared -fPIC
}

stacked() { # DIR RANKS [--stacks=DEPTH] PROGRAM…: recorded with stacks
    local dir=$1 n=$2 option=--stacks
    shift 2
    [[ $1 != --stacks=* ]] || { option=$1; shift; }
    mpi "$n" "$WEND" trace --quiet "$option" -o "$dir" "$@"
}

# names DIR RANK: the functions of each stack, by the calls' order.
names() {
    "$WEND" dump --sites --rank "$2" "$1" | sed -n 's/.*# from //p' | sed 's/ ([^)]*)//g'
}

# has FILE TIMES STACK: so many calls have that stack.
has() {
    [ "$(grep -cFx -- "$3" "$1")" = "$2" ] || fail "$3: not $2 times" "$(sort "$1" | uniq -c)"
}

check_frames() { # FILE
    has "$1" 4 'leaf < large < frames < main' || return
    has "$1" 4 'leaf < with_alloca < frames < main' || return
    has "$1" 4 'leaf < aligned < frames < main' || return
    has "$1" 4 'leaf < with_alloca < aligned < frames < main' || return
    has "$1" 4 'leaf < around < frames < main' || return
    has "$1" 4 'inlined < around < frames < main' || return
    has "$1" 4 'leaf < frames < main' || return
    has "$1" 4 'leaf < middle < first < frames < main' || return
    has "$1" 4 'leaf < middle < second < frames < main' || return
    has "$1" 1 'leaf < recurse < frames < main' || return
    has "$1" 1 'leaf < recurse < recurse < recurse < recurse < frames < main' || return
    # cut at 64 frames
    has "$1" 4 "leaf$(printf ' < recurse%.0s' {1..63}) < ..." || return
    [ "$(grep -c '^leaf < compare < .* < frames < main$' "$1")" -ge 1 ] || return
    has "$1" 1 'free_inner < freed < callbacks < main' || return
    has "$1" 5 'callbacks < main' || return
}

@test "stacks: frames of all kinds, recursion, inlined functions, callbacks, threads" {
    needs_names
    for flags in -O0 -O1 -O2 '-O2 -fno-omit-frame-pointer' '-O3 -mavx'; do
        rm -rf app.dir
        # shellcheck disable=SC2086
        build_stacks $flags -fno-inline-functions -fno-inline-functions-called-once \
            -fno-inline-small-functions -fno-ipa-icf -fno-optimize-sibling-calls
        stacked app.dir 1 ./stacks
        names app.dir 0 >all
        check_frames all || fail "$flags"
        "$WEND" show app.dir | grep -q MPI_THREAD_MULTIPLE
        has all 10 'in_thread < thread'
    done
}
@test "stacks: equal on all ranks, in two runs, and calls are as without stacks" {
    needs_names
    build_stacks
    stacked one.dir 3 ./stacks
    stacked two.dir 3 ./stacks
    record plain.dir 3 ./stacks
    for run in one two; do
        "$WEND" dump --sites --format jsonl --no-polls $run.dir |
            sed 's/"results":.*"site":/"site":/' >$run
    done
    cmp one two
    [[ $("$WEND" diff --sites one.dir two.dir) == "equal, from the same places: 3 ranks, "* ]]
    "$WEND" diff one.dir plain.dir
    "$WEND" diff --sites one.dir plain.dir
    zstd -dcq one.dir/trace.tar.zst | tar -t | sort >members
    diff members - <<<$'meta\nprogram\nstacks'
    zstd -dcq plain.dir/trace.tar.zst | tar -t | sort | diff - <(echo $'meta\nprogram\nsites')
}
@test "stacks: at most so many frames" {
    needs_names
    build_stacks -fno-inline
    stacked two.dir 1 --stacks=2 ./stacks
    names two.dir 0 >two
    has two 4 'leaf < large < ...'
    has two 5 'callbacks < main'
    stacked one.dir 1 --stacks=1 ./stacks
    names one.dir 0 >one
    has one 5 'callbacks < ...'
    stacked all.dir 1 --stacks=1000 ./stacks
    names all.dir 0 >all
    has all 1 "leaf$(printf ' < recurse%.0s' {1..84}) < frames < main"
    # without names, the frames are the same
    strip stacks
    "$WEND" dump --sites two.dir | grep -q 'from stacks + 0x[0-9a-f]* < stacks + 0x[0-9a-f]* < ...$'
}
@test "stacks: frames without rules, unloaded or made by the program, end a stack" {
    needs_names
    build_stacks -fno-inline -fno-crossjumping
    stacked unloaded.dir 1 ./stacks unloaded ./stacks.so
    names unloaded.dir 0 >unloaded
    has unloaded 3 'leaf < close_and_call < ...'
    has unloaded 1 'leaf < unloaded < main'
    stacked made.dir 1 ./stacks made
    names made.dir 0 >made
    has made 3 'leaf < ...'
    has made 1 'leaf < made < main'
}
@test "stacks: whatever is on the stack, the application comes to no harm" {
    needs_names
    build_stacks -fno-inline
    for depth in 1 2 3 64; do
        rm -rf app.dir
        stacked app.dir 1 --stacks=$depth ./stacks wrong
        "$WEND" dump --sites app.dir >dump
        [ "$(grep -c MPI_Bcast dump)" -gt 300 ]
    done
    names app.dir 0 >all
    has all 1 'leaf < wrong < main'
    [ "$(grep -c '^leaf_of_wrong < stacks_call_wrong < ...$' all)" -gt 200 ]
}
@test "stacks: dlopened libraries, several threads, a run that died" {
    needs_names
    compile "$SOURCE_DIR/tests/programs/sites.c" sites -fno-inline
    compile "$SOURCE_DIR/tests/programs/sites-library.c" sites.so -shared -fPIC
    stacked app.dir 2 ./sites ./sites.so
    names app.dir 1 >all
    has all 2 'sites_call < library < main'
    has all 1 'freed < callbacks < main'
    has all 20 'synchronize < main'
    ! grep unknown all || false
    mpi 3 "$WEND" trace --quiet --stacks -o died.dir ./sites abort 2>err || true
    "$WEND" merge died.dir 2>err
    # the rank that ended the run: others may be killed before they have saved their calls
    names died.dir 2 >all
    has all 114 'broadcasts < main'
}
@test "stacks: Fortran" {
    needs_names
    command -v "$MPIFORT" >/dev/null || skip "no Fortran compiler for this MPI"
    cat >app.f90 <<'F'
module m
    use mpi
contains
    recursive subroutine exchange(n)
        integer :: n, x, ierr
        if (n > 0) then
            call exchange(n - 1)
            x = n
        else
            call MPI_Bcast(x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        end if
    end subroutine
end module
program p
    use m
    integer :: ierr, i
    call MPI_Init(ierr)
    do i = 0, 2
        call exchange(i)
    end do
    call MPI_Finalize(ierr)
end program
F
    # shellcheck disable=SC2086
    "$MPIFORT" -g -O2 -fno-inline -fno-optimize-sibling-calls -w app.f90 -o app $MPIFORT_LDFLAGS \
        -Wl,--copy-dt-needed-entries
    stacked app.dir 2 ./app
    names app.dir 1 >all
    for i in 1 2 3; do
        [ "$(grep -cE "^(__m_MOD_)?exchange( < (__m_MOD_)?exchange){$((i - 1))} < (p|MAIN__)( <\
 main)?$" all)" = 1 ] || fail "$i" "$(cat all)"
    done
}
@test "stacks: C++ with inlined frames, and through an exception" {
    needs_names
    cat >app.cxx <<'C'
#include <mpi.h>
#include <stdexcept>
struct Exchange {
    int n;
    template <class F> __attribute__((always_inline)) void each(F f)
    {
        for (int i = 0; i < n; i++)
            f(i);
    }
};
__attribute__((noinline)) static void thrower(int i)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == 1)
        throw std::runtime_error("one");
}
__attribute__((noinline)) static void run(Exchange &e)
{
    e.each([](int i) __attribute__((noinline)) {
        try {
            thrower(i);
        } catch (const std::exception &) {
            MPI_Barrier(MPI_COMM_SELF);
        }
    });
    __asm__ volatile("");
}
int main(int argc, char **argv)
{
    Exchange e{3};
    MPI_Init(&argc, &argv);
    run(e);
    MPI_Finalize();
}
C
    "$MPICXX" -g -O2 -w app.cxx -o app
    stacked app.dir 2 ./app
    "$WEND" dump --sites --format jsonl --rank 1 app.dir >calls
    "$PYTHON" - <<'P'
import json
stacks = []
for line in open("calls"):
    call = json.loads(line)
    if call["function"] != "MPI_Barrier":
        continue
    site = call["site"]
    frames = site["frames"] + [f for c in site["callers"] for f in c["frames"]]
    assert site["whole"], site
    stacks.append([f["function"].split("(")[0] for f in frames])
assert len(stacks) == 4, stacks
for stack in stacks:
    assert stack[-1] == "main" and "run" in stack[-2], stack
    assert any("each" in f for f in stack), stack  # inlined
assert sum("thrower" in stack[0] for stack in stacks) == 3, stacks
P
}
@test "stacks: as text, CSV, JSON and in the table" {
    needs_names
    build_stacks -fno-inline
    stacked app.dir 2 ./stacks
    "$WEND" dump --sites --format csv --rank 0 app.dir | "$PYTHON" -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
stacks = [r["site_stack"] for r in rows if r["function"] == "MPI_Comm_free_keyval"]
assert len(stacks) == 1 and stacks[0].startswith("callbacks (stacks.c:"), stacks
assert " < main (stacks.c:" in stacks[0], stacks'
    # frames of qsort are in a library of the system, which has no lines
    "$WEND" show --sites --table --all app.dir >table 2>err
    [ ! -s err ] || fail "$(cat err)"
    grep -A 2 '^MPI_Comm_free_keyval  *callbacks (stacks.c:' table |
        grep -q '^ *called from main (stacks.c:'
    grep -q '^ *called from ...$' table
    "$WEND" show --sites --csv app.dir | "$PYTHON" -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
row = next(r for r in rows if "with_alloca" in r["site_stack"] and "aligned" in r["site_stack"])
assert row["calls"] == "8" and row["sites"] == "1", row'
    "$WEND" show --sites --json app.dir | "$PYTHON" -c '
import json, sys
rows = json.load(sys.stdin)
cut = [r for r in rows if len(r["site"].get("callers", [])) == 63]
assert len(cut) == 1 and not cut[0]["site"]["whole"] and cut[0]["calls"] == 8, cut'
    # without stacks there is no such column
    record plain.dir 2 ./stacks
    ! "$WEND" dump --sites --format csv plain.dir | head -n 1 | grep site_stack || false
}
@test "stacks: not without sites, and only with a depth" {
    run -2 --separate-stderr "$WEND" trace --stacks --no-sites true
    [[ $stderr == *"--stacks=64: needs call sites: WEND_SITES is OFF"* ]]
    run -2 --separate-stderr "$WEND" trace --stacks=deep true
    [[ $stderr == *"--stacks=deep: not a number"* ]]
}

# pop N: a program with N functions, each of which calls MPI_Bcast and is called from a line of its
# own (ScalaTrace II, 3.3).
pop() {
    {
        printf '#include <mpi.h>\nstatic int x;\n#define END __asm__ volatile("")\n'
        printf '#define W(n) __attribute__((noinline)) static void broadcast_##n(void) \\\n'
        printf '{ MPI_Bcast(&x, n, MPI_BYTE, 0, MPI_COMM_WORLD); END; }\n'
        for ((i = 1; i <= $1; i++)); do echo "W($i)"; done
        printf 'int main(int argc, char **argv)\n{\nMPI_Init(&argc, &argv);\n'
        for ((i = 1; i <= $1; i++)); do echo "broadcast_$i();"; done
        printf 'MPI_Finalize();\nreturn 0;\n}\n'
    } | sed "s/, n, MPI_BYTE/, n % 4, MPI_BYTE/" >pop.c
    compile pop.c pop -fno-ipa-icf
}

rows() { # OPTION…: the rows of MPI_Bcast in the table
    "$WEND" show --sites --csv "$@" | grep -c '^MPI_Bcast,'
}

@test "stacks: MPI_Bcast behind 400 functions is one line" {
    needs_names
    pop 400
    stacked app.dir 2 ./pop
    [ "$(rows app.dir)" = 400 ]
    [ "$(rows --site-tolerance=1 app.dir)" = 400 ]
    [ "$(rows --site-tolerance=2 app.dir)" = 1 ]
    [ "$(rows --site-ignore=pop.c app.dir)" = 1 ]
    [ "$(rows --site-ignore=main --site-tolerance=1 app.dir)" = 1 ]
    [ "$(rows --site-ignore=main app.dir)" = 400 ]
    [ "$(rows --site-ignore=broadcast_1 --site-ignore=main app.dir)" = 1 ]
    [ "$(rows --site-ignore=broadcast_400 --site-ignore=main app.dir)" = 399 ]
    "$WEND" show --sites --json --site-tolerance=2 app.dir | "$PYTHON" -c '
import json, sys
rows = json.load(sys.stdin)
row = next(r for r in rows if r["function"] == "MPI_Bcast")
assert row["calls"] == 800 and row["sites"] == 400 and row["ranks"] == 2, row
assert row["least_calls"] == row["most_calls"] == 400, row
# MPI_Init and MPI_Finalize have stacks that differ as little
assert sorted(r["function"] for r in rows) == ["MPI_Bcast", "MPI_Finalize", "MPI_Init"], rows'
    "$WEND" show --sites --table --site-tolerance=2 app.dir | grep -q '^ *and 399 that match$'
    run -2 --separate-stderr "$WEND" show --site-tolerance=2 app.dir
    [[ $stderr == *"--site-tolerance and --site-ignore are for --sites and --waits"* ]]
    record plain.dir 2 ./pop
    run --separate-stderr "$WEND" show --sites --site-tolerance=2 --csv plain.dir
    [[ $stderr == *"the recording has no call stacks, which --site-tolerance needs"* ]]
}
@test "stacks: waits of call stacks that match are one line" {
    needs_names
    cat >app.c <<'C'
#include <mpi.h>
#include <unistd.h>
static int rank;
#define F(name) \
    __attribute__((noinline)) static void name(void) \
    { \
        if (rank == 0) \
            usleep(20000); \
        MPI_Barrier(MPI_COMM_WORLD); \
        __asm__ volatile(""); \
    }
F(first)
F(second)
F(third)
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    first();
    second();
    third();
    MPI_Finalize();
    return 0;
}
C
    compile app.c app -fno-ipa-icf
    mpi 2 "$WEND" trace --quiet --times=lossless --stacks -o app.dir ./app
    waits() { # OPTION…: the entries of MPI_Barrier, and how often it waited, whichever rank did
        "$WEND" show --waits --json "$@" app.dir | "$PYTHON" -c '
import json, sys
rows = [row for row in json.load(sys.stdin) if row["function"] == "MPI_Barrier"]
print(len(rows), sum(row["waits"] for row in rows))'
    }
    [ "$(waits)" = '3 3' ] || fail "$("$WEND" show --waits --csv app.dir)"
    [ "$(waits --site-tolerance=1)" = '3 3' ]
    [ "$(waits --site-tolerance=2)" = '1 3' ] ||
        fail "$("$WEND" show --waits --csv --site-tolerance=2 app.dir)"
    [ "$(waits --site-ignore=app.c)" = '1 3' ]
    mpi 2 "$WEND" trace --quiet --times=lossless -o plain.dir ./app
    run -0 --separate-stderr "$WEND" show --waits --csv --site-tolerance=2 plain.dir
    [[ $stderr == *"the recording has no call stacks, which --site-tolerance needs"* ]]
}
@test "stacks: frames are counted from main" {
    needs_names
    cat >app.c <<'C'
#include <mpi.h>
#define F(name, call) \
    __attribute__((noinline)) static void name(void) { call; __asm__ volatile(""); }
F(leaf, MPI_Barrier(MPI_COMM_WORLD))
F(inner, leaf())
F(outer, inner())
F(other, leaf())
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    outer(), other(), inner();
    MPI_Finalize();
    return 0;
}
C
    compile app.c app
    stacked app.dir 1 ./app
    groups() { "$WEND" show --sites --csv "$@" app.dir | grep -c '^MPI_Barrier,'; }
    # main (one line) < outer < inner < leaf, main < other < leaf, main < inner < leaf
    [ "$(groups)" = 3 ]
    [ "$(groups --site-tolerance=1)" = 2 ]
    [ "$(groups --site-tolerance=2)" = 2 ]
    [ "$(groups --site-tolerance=3)" = 1 ]
}
@test "stacks: wend diff compares them with --sites, approximately if asked" {
    needs_names
    pop 6
    stacked one.dir 2 ./pop
    sed -i 's/^broadcast_3();/\n&/' pop.c
    compile pop.c moved -fno-ipa-icf
    stacked two.dir 2 ./moved
    run -1 "$WEND" diff --sites one.dir two.dir
    line=$(grep -n '^broadcast_3();' pop.c | cut -d: -f1)
    [[ $output == *"MPI_Bcast from another place"* ]]
    [[ $output == *"< from broadcast_3 (pop.c:"*" < main (pop.c:$((line - 1)))"* ]]
    [[ $output == *"> from broadcast_3 (pop.c:"*" < main (pop.c:$line)"* ]]
    "$WEND" diff one.dir two.dir
    "$WEND" diff --sites --site-tolerance=1 one.dir two.dir
    "$WEND" diff --sites --site-ignore=main one.dir two.dir
    "$WEND" diff --sites --site-ignore=pop.c one.dir two.dir
    run -1 "$WEND" diff --sites --site-ignore=broadcast_3 one.dir two.dir
    run -2 --separate-stderr "$WEND" diff --site-ignore=pop.c one.dir two.dir
    # one signature, from another function
    sed -i 's/^broadcast_4();/broadcast_8();/; s/^W(6)/W(6)W(8)/' pop.c
    compile pop.c other -fno-ipa-icf
    stacked three.dir 2 ./other
    "$WEND" diff one.dir three.dir
    run -1 "$WEND" diff --sites --site-ignore=main one.dir three.dir
    [[ $output == *"> from broadcast_8 (pop.c:"* ]]
    "$WEND" diff --sites --site-ignore=main --site-tolerance=1 one.dir three.dir
}
