# SPDX-License-Identifier: BSD-3-Clause
# The structure of lib/ and src/: which files and folders depend on which (structure.py).
load ../helpers
setup() {
    in_scratch
    STRUCTURE=("${PYTHON:-python3}" "$SOURCE_DIR/tests/house/structure.py")
}

# source_file FILE TEXT: adds a source to the tree, compiled.
source_file() {
    mkdir -p "$(dirname "tree/$1")" "$(dirname "objects/$1")"
    printf '%s\n' "$2" >"tree/$1"
    case $1 in *.c) "$MPICC" -Itree -c "tree/$1" -o "objects/${1%.c}.o" ;; esac
}

# reports TEXT: structure.py reports a fault of the tree in a line that begins with TEXT.
reports() {
    local status=0
    "${STRUCTURE[@]}" --build objects --source tree >found || status=$?
    [ "$status" = 1 ] || fail "exit status $status" "$(cat found)" || return
    grep -q "^$1" found || fail "no line '$1…' in" "$(cat found)"
}

# interface FOLDER HEADER: the README of the folder names its interface.
interface() {
    mkdir -p "tree/$1"
    printf 'Interface: `%s`, for all.\n' "$2" >"tree/$1/README.md"
}

# ring FOLDER N NAME: a ring of N files.
ring() {
    local i next
    for ((i = 0; i < $2; i++)); do
        next=$3$(((i + 1) % $2))
        source_file "$1/$3$i.c" "void $next(void); void $3$i(void) { $next(); }"
    done
}

@test "only known cycles, small folders, unique names and types, layers, interfaces, prefixes" {
    "${STRUCTURE[@]}" --build "$BUILD_DIR" --source "$SOURCE_DIR" \
        --limits "$SOURCE_DIR/tests/house/structure.limits" >found || fail "$(cat found)"
}

@test "wend show and wend dump need only wend/read.h and src/command" {
    local others
    cd "$SOURCE_DIR"
    others=$(grep -HE '^ *# *include *"' src/decoder/*.[ch] |
        grep -vE '"(config\.h|wend/read\.h|src/command/[a-z_-]*\.h|[a-z-]*\.h)"' || true)
    for header in $(sed -nE 's/^ *# *include *"([a-z-]*\.h)".*/\1/p' src/decoder/*.[ch] |
        sort -u); do
        [ "$header" = config.h ] || [ -f "src/decoder/$header" ] || others+=" $header"
    done
    [ -z "$others" ] || fail "src/decoder includes:" "$others" || return
    # nor does it declare such functions itself
    "${STRUCTURE[@]}" --build "$BUILD_DIR" --source "$SOURCE_DIR" --list src/decoder/ |
        grep '^src/decoder/' | grep -vE -- '-> (src/(decoder|command|read)|lib/base)/' \
        >"$BATS_TEST_TMPDIR/found" || true
    [ ! -s "$BATS_TEST_TMPDIR/found" ] || fail "$(cat "$BATS_TEST_TMPDIR/found")" || return
    ! grep -rq 'read/wrap\.h' src/decoder src/command || false
}

@test "libwend loads into a program without MPI: no symbol of the MPI library is needed" {
    local build symbols strong
    for build in "$BUILD_DIR" ${OPENMPI_BUILD_DIR:+"$OPENMPI_BUILD_DIR"}; do
        symbols=$(nm -D --undefined-only "$build/libwend.so")
        grep -q ' w .*MPI_Init' <<<"$symbols" || fail "$build: no weak symbols" || return
        ! grep -q ' U g_' <<<"$symbols" || fail "$build: GLib" || return
        # this one is in a section that is not loaded (tools.c)
        strong=$(grep -iE ' U .*(mpi|opal|orte|pmix)' <<<"$symbols" |
            grep -v ' MPI_F_STATUS_IGNORE$' || true)
        [ -z "$strong" ] || fail "$build: not weak:" "$strong" || return
    done
}

@test "a cycle of five files in a folder is found, one of four is not" {
    ring src/one 4 four
    "${STRUCTURE[@]}" --build objects --source tree
    ring src/two 5 five
    reports 'cycle: src/two: 5 files'
    grep -qx '  src/two/five0.c -> src/two/five1.c: five1' found
}

@test "a cycle of two folders is found, although no file is in one" {
    source_file src/up/a.c 'void c(void); void a(void) { c(); }'
    source_file src/up/b.c 'void b(void) { }'
    source_file src/down/c.c 'void c(void) { }'
    "${STRUCTURE[@]}" --build objects --source tree
    source_file src/down/d.c 'void b(void); void d(void) { b(); }'
    reports 'folders: src/down src/up'
    grep -qx '  src/down/d.c -> src/up/b.c: b' found
    echo 'folders src/up src/down' >limits
    "${STRUCTURE[@]}" --build objects --source tree --limits limits
}

@test "two files of one name are found, and a folder of more than forty" {
    source_file src/one/name.c 'int x;'
    source_file src/one/name.h ''
    interface src/one name.h
    "${STRUCTURE[@]}" --build objects --source tree
    source_file src/two/name.h ''
    reports 'name: name is a file in src/one, src/two'
    for i in {1..39}; do source_file "src/one/h$i.h" ''; done
    reports 'files: src/one has 41'
}

@test "types of one name in headers are found" {
    interface src/one a.h
    interface src/two b.h
    source_file src/one/a.h 'typedef struct Ends Ends; /* typedef int Length; */
typedef struct Ends {
    int a;
} Ends;
typedef int (*Visit)(int);
typedef int Length;'
    source_file src/two/b.h 'typedef struct Ends Ends;
typedef int Width;'
    source_file src/two/own.c 'typedef int Length;'
    "${STRUCTURE[@]}" --build objects --source tree
    source_file src/two/c.h 'typedef struct {
    int b;
} Ends;'
    reports 'type: Ends is defined in src/one/a.h, src/two/c.h'
    source_file src/two/c.h 'typedef long Visit;'
    reports 'type: Visit is defined in src/one/a.h, src/two/c.h'
    source_file src/two/c.h 'struct Ends {
    int b;
};'
    reports 'type: Ends is defined in src/one/a.h, src/two/c.h'
    source_file src/two/c.h 'typedef void (*Length)(int);'
    reports 'type: Length is defined in src/one/a.h, src/two/c.h'
}

@test "names of MPI functions in string literals are counted" {
    local names
    source_file src/one/names.c '/* "MPI_Send" */ const char *a[] = {"MPI_Comm", "MPI_INT", "t"};'
    mkdir tree/spec
    cp "$SOURCE_DIR"/spec/mpi* tree/spec
    "${STRUCTURE[@]}" --build objects --source tree
    names=$(printf '"%s", ' MPI_{Send,Isend,Win_,Start}{,} {P,}MPI_Recv_c wend_free{,,})
    source_file src/one/names.c "const char *a[] = {$names};"
    reports 'mpi: 13 string literals name functions of MPI'
}

@test "a layer that includes a higher one is found" {
    source_file lib/read/program.h ''
    source_file lib/merge/class.h ''
    interface lib/read program.h
    interface lib/merge class.h
    source_file lib/read/program.c '#include "program.h"
        #include "../merge/class.h"'
    "${STRUCTURE[@]}" --build objects --source tree
    # a header of its own folder, although src/ has one of that name
    source_file src/wend/program.h ''
    interface src/wend program.h
    echo 'name program' >limits
    "${STRUCTURE[@]}" --build objects --source tree --limits limits
    rm tree/src/wend/program.h
    source_file lib/merge/class.c '#include "../read/program.h"'
    reports 'include: lib/merge/class.c includes ../read/program.h of lib/read'
}

@test "a folder whose README does not name its interface is found" {
    source_file src/one/inner.h ''
    source_file src/one/one.h ''
    source_file src/one/one.c 'int one;'
    reports 'interface: src/one/README.md'
    interface src/one no-such.h
    reports 'interface: src/one/README.md'
    interface src/one one.h
    "${STRUCTURE[@]}" --build objects --source tree
    echo 'Interface: `inner.h`' >>tree/src/one/README.md
    reports 'interface: src/one/README.md'
}

@test "an included header that is not of the interface of its folder is found" {
    source_file src/one/inner.h ''
    source_file src/one/one.h ''
    interface src/one one.h
    source_file src/one/one.c '#include "inner.h"'
    source_file src/two/two.c '#include "src/one/one.h"'
    "${STRUCTURE[@]}" --build objects --source tree
    printf '#include "src/one/inner.h"\n' >>tree/src/two/two.c
    reports 'interface: src/two/two.c includes src/one/inner.h, which src/one/one.h does not name'
    # named in a comment, or included
    source_file src/one/one.h '/* - inner.h: what is inside */'
    "${STRUCTURE[@]}" --build objects --source tree
    source_file src/one/one.h '#include "inner.h"'
    "${STRUCTURE[@]}" --build objects --source tree
}

@test "a function without the prefix of its header, file, folder or type is found" {
    source_file src/box/call-stacks.c 'void call_stack_new(void (*each)(int)) { }
void box_open(void) { } void push(void) { } void pile_drop(void) { }'
    interface src/box call-stacks.h
    source_file src/box/piles.c 'void pile_new(void) { }'
    source_file src/box/call-stacks.h 'typedef struct WendHeapEntry WendHeapEntry;
void call_stack_new(void (*each)(int)), box_open(void);
void heap_entries_add(WendHeapEntry *e); /* push(e) */
void pile_new(void);
typedef int Visit(int);
#define push_all(n) push(n)
static inline int call_stacks_n(void)
{
    return sizeof(int);
}'
    "${STRUCTURE[@]}" --build objects --source tree
    echo 'int top(void), push(void);' >>tree/src/box/call-stacks.h
    reports 'prefix: src/box/call-stacks.h: push'
    grep -qx 'prefix: src/box/call-stacks.h: top' found
    [ "$(wc -l <found)" = 2 ]
    sed -i '$d' tree/src/box/call-stacks.h
    echo 'static inline int pile_up(void) { return 1; }' >>tree/src/box/call-stacks.h
    reports 'prefix: src/box/call-stacks.h: pile_up'
    # what a library exports, and nothing else, is wend_…
    sed -i '$d' tree/src/box/call-stacks.h
    echo 'static inline int wend_box_id(void) { return 1; }' >>tree/src/box/call-stacks.h
    reports 'prefix: src/box/call-stacks.h: wend_box_id'
    # a function of another folder
    sed -i '$d' tree/src/box/call-stacks.h
    source_file src/other/other.c 'void box_close(void) { }'
    echo 'void box_close(void);' >>tree/src/box/call-stacks.h
    reports 'declared: src/box/call-stacks.h has box_close, which src/other/other.c defines'
}

@test "no function of ours has the name of one in a library that it is linked with" {
    local libraries
    cd "$BUILD_DIR"
    nm --defined-only wend proxygen libwend-read.so | awk '$2 ~ /^[TDBRVW]$/ { print $3 }' |
        sort -u >"$BATS_TEST_TMPDIR/ours"
    libraries=$(ldd wend proxygen libwend-read.so | grep -o '/[^ ]*\.so[^ ]*' | sort -u)
    # shellcheck disable=SC2086
    nm -D --defined-only $libraries | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' |
        sort -u >"$BATS_TEST_TMPDIR/theirs"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/theirs")" -gt 3000 ]
    comm -12 "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs" >"$BATS_TEST_TMPDIR/both"
    [ ! -s "$BATS_TEST_TMPDIR/both" ] || fail "$(cat "$BATS_TEST_TMPDIR/both")"
}
