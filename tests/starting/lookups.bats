# SPDX-License-Identifier: BSD-3-Clause
# MPI functions that programs look up by themselves, plug-ins that prefer the MPI library to all
# that is preloaded, and what is said of calls that went past Wend all the same.
load ../helpers
setup() { in_scratch; }

# The file of the MPI library that programs of this build have.
mpi_library() {
    echo 'int MPI_Finalize(void); int main(void) { return MPI_Finalize(); }' >linked.c
    "$MPICC" linked.c -o linked && library_of linked
}

same_lines_and_roundtrip() {
    same_lines "$@"
    roundtrip_from_recording "$1"
}

# Writes ring.h: a ring of messages and a sum, by functions that LOOK(name) gives.
ring() {
    cat >ring.h <<'END'
#include <mpi.h>
#include <stdio.h>
#define CALL(name) ((__typeof__(&name))LOOK(#name))
static int ring(int rank, int size)
{
    int in = 0, sum = 0;
    MPI_Request r[2];
    for (int i = 0; i < 5; i++) {
        CALL(MPI_Irecv)(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r[0]);
        CALL(MPI_Isend)(&i, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &r[1]);
        CALL(MPI_Wait)(&r[0], MPI_STATUS_IGNORE);
        CALL(MPI_Wait)(&r[1], MPI_STATUS_IGNORE);
        CALL(MPI_Allreduce)(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return sum;
}
END
}

# compile NAME [OPTION…]: a program whose functions are those that its first lines, from standard
# input, define LOOK as.
compile_ring() {
    ring
    {
        printf '#define _GNU_SOURCE\n#include <dlfcn.h>\n'
        cat
        cat <<'END'
#include "ring.h"
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d: %d\n", rank, ring(rank, size));
    MPI_Finalize();
    return 0;
}
END
    } >"$1.c"
    "$MPICC" "$1.c" -o "$@" -ldl
}

# The handle of the MPI library, whatever its file is called.
HANDLE='static void *handle(void)
{
    Dl_info info;
    return dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &info) ? dlopen(info.dli_fname, RTLD_LAZY) : 0;
}'

@test "functions that a program looks up are recorded" {
    compile_ring handle <<<"$HANDLE
#define LOOK(name) dlsym(handle(), name)"
    same_lines_and_roundtrip 3 ./handle
    [ "$(grep -c MPI_Isend dump.out)" = 15 ]
    # linked to fixed addresses, and looked up by version
    compile_ring fixed -fno-pie -no-pie <<<"$HANDLE
static void *look(const char *name)
{
    void *f = dlvsym(handle(), name, \"MPI\");
    return f ? f : dlsym(handle(), name);
}
#define LOOK(name) look(name)"
    rm -rf app.dir
    same_lines 2 ./fixed
    "$WEND" dump app.dir >dump.out
    [ "$(grep -c MPI_Isend dump.out)" = 10 ] || fail "$(cat dump.out)"
}

@test "calls of a plug-in with RTLD_DEEPBIND are recorded" {
    ring
    cat >plug.c <<'END'
extern void add(int (*f)(int, int));
#define LOOK(name) ADDRESS(name)
#include "ring.h"
#undef CALL
#define CALL(name) name
END
    # the functions are references of the plug-in
    sed 's/CALL(\(MPI_[A-Za-z]*\))(/\1(/' ring.h >>plug.c
    sed -i '/include "ring.h"/d; /LOOK/d; /define CALL/d' plug.c
    cat >>plug.c <<'END'
int run(int rank, int size) { return ring(rank, size); }
#ifdef ADDS
__attribute__((constructor)) static void begin(void) { add(run); }
#endif
END
    cat >host.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int (*run)(int, int);
void add(int (*f)(int, int)) { run = f; }
int main(int argc, char **argv)
{
    // Open MPI's handles are data, of which a program has its own copy: it uses none
    int rank = atoi(getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK"));
    MPI_Init(&argc, &argv);
    void *plug = dlopen(argv[1], RTLD_DEEPBIND | (argc > 2 ? RTLD_NOW : RTLD_LAZY));
    if (!plug)
        puts(dlerror());
    if (!run)
        *(void **)&run = dlsym(plug, "run");
    printf("rank %d: %d\n", rank, run(rank, 2));
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" -rdynamic host.c -o host -ldl
    "$MPICC" -shared -fPIC plug.c -o plug.so
    "$MPICC" -shared -fPIC -DADDS plug.c -o adds.so
    export LD_LIBRARY_PATH=$PWD
    for plug in ./plug.so "./plug.so now" ./adds.so "adds.so now"; do
        rm -rf app.dir
        # shellcheck disable=SC2086
        same_lines 2 ./host $plug
        "$WEND" dump app.dir >dump.out
        [ "$(grep -c MPI_Isend dump.out)" = 10 ] || fail "$plug" "$(cat dump.out)"
    done
}

@test "Python: ctypes and cffi" {
    for how in local global deep program cffi; do
        [ "$how" != cffi ] || "$PYTHON" -c 'import cffi' 2>/dev/null || continue
        rm -rf app.dir
        same_lines 2 "$PYTHON" "$SOURCE_DIR/tests/programs/looked_up.py" "$how" "$(mpi_library)"
        "$WEND" dump app.dir >dump.out
        [ "$(grep -c 'MPI_Send\|MPI_Recv' dump.out)" = 8 ] || fail "$how" "$(cat dump.out)"
    done
    make_proxy app.dir ./proxy
    mpi 2 ./proxy
}

@test "Python: ctypes and the Fortran names" {
    library_is openmpi && fortran=libmpi_mpifh.so.40 || fortran=libmpichfort.so.12
    "$PYTHON" -c "import ctypes; ctypes.CDLL('$fortran')" 2>/dev/null || skip "no $fortran"
    same_lines 2 "$PYTHON" "$SOURCE_DIR/tests/programs/looked_up.py" fortran "$fortran"
    "$WEND" dump app.dir >dump.out
    [ "$(grep -c 'MPI_Send\|MPI_Recv\|MPI_Comm_[sg]et_attr' dump.out)" = 12 ] ||
        fail "$(cat dump.out)"
}

@test "a tool behind Wend gets what it looks up, one in front gets Wend" {
    compile_ring program <<<'#define LOOK(name) dlsym(RTLD_DEFAULT, name)'
    for next in 'dlsym(RTLD_NEXT, "MPI_Isend")' 'dlsym(handle(), "MPI_Isend")' \
        'dlsym(handle(), "PMPI_Isend")'; do
        cat >tool.c <<END
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
$HANDLE
int MPI_Isend(const void *b, int n, MPI_Datatype d, int to, int tag, MPI_Comm c, MPI_Request *r)
{
    static int calls;
    __typeof__(&MPI_Isend) f = (__typeof__(&MPI_Isend))$next;
    if (++calls == 5)
        printf("rank %s: the tool has seen 5\n",
               getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK"));
    if (calls > 5)
        abort();
    return f(b, n, d, to, tag, c, r);
}
END
        "$MPICC" -shared -fPIC tool.c -o tool.so -ldl
        export LD_PRELOAD=$PWD/tool.so
        rm -rf app.dir front.dir
        same_lines 2 ./program
        [ "$("$WEND" dump app.dir | grep -c MPI_Isend)" = 10 ] || fail "behind: $next"
        export LD_PRELOAD=$PWD/tool.so:$LIBWEND
        WEND_OUTPUT=front.dir WEND_QUIET=1 mpi 2 ./program >front.out
        unset LD_PRELOAD
        diff <(lines_of plain.out) <(lines_of front.out)
        [ "$("$WEND" dump front.dir | grep -c MPI_Isend)" = 10 ] || fail "in front: $next"
    done
}

# past WHICH: of two ranks, rank 1 makes its calls of function WHICH past Wend.
past() {
    cat >past.c <<END
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
$HANDLE
#define PAST(name) ((__typeof__(&name))(rank == 1 ? look(handle(), #name) : (void *)name))
int main(int argc, char **argv)
{
    int rank, n = 0;
    void *(*look)(void *, const char *);
    *(void **)&look = dlsym(RTLD_DEFAULT, "dlsym"); // the C library's own
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        if (rank == 1)
            SEND(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        BARRIER(MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        else
            RECV(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
END
    local options=()
    for f in Send Barrier Recv; do
        options+=("-D${f^^}=$([ "$f" = "$1" ] && echo "PAST(MPI_$f)" || echo "MPI_$f")")
    done
    "$MPICC" "${options[@]}" past.c -o past -ldl
    rm -rf app.dir
    record app.dir 2 ./past
    "$WEND" show app.dir >show.out
}

@test "messages that went past Wend: show says so, and proxygen refuses" {
    past Send
    grep -q '^missing *10 receives have no send: some were made past Wend' show.out ||
        fail "$(cat show.out)"
    status=0
    "$PROXYGEN" app.dir -o proxy.c 2>err || status=$?
    [ "$status" = 3 ]
    grep -q '10 receives have no send .*a proxy would wait' err || fail "$(cat err)"
    [ ! -e proxy.c ]

    past Barrier
    grep -q '^missing *[0-9]* calls wait for calls that the recording does not have' show.out ||
        fail "$(cat show.out)"
    status=0
    "$PROXYGEN" app.dir -o proxy.c 2>err || status=$?
    [ "$status" = 3 ]

    past none
    ! grep -q '^missing' show.out || fail "$(cat show.out)"
    make_proxy app.dir ./proxy
    # messages that nobody receives are the application's own business
    past Recv
    ! grep -q '^missing' show.out || fail "$(cat show.out)"
    "$PROXYGEN" -f app.dir -o proxy.c
}
