# SPDX-License-Identifier: BSD-3-Clause
# Proxies have the names of the application's functions, and its source lines.
bats_require_minimum_version 1.5.0
load ../helpers
setup() { in_scratch; }

needs_names() {
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
}

line_of() { # NAME: the place of the line with that comment
    echo "app.c:$(grep -n "// $1\$" app.c | cut -d: -f1)"
}

write_app() {
    cat >app.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
static int v[2], size, self;
static inline __attribute__((always_inline)) void inner(void)
{
    MPI_Bcast(v, 1, MPI_INT, 0, MPI_COMM_WORLD); // inlined
}
static APART void exchange(int tag)
{
    MPI_Sendrecv(v, 1, MPI_INT, (self + 1) % size, tag, v + 1, 1, MPI_INT, MPI_ANY_SOURCE, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE); // sendrecv
    MPI_Barrier(MPI_COMM_WORLD); // barrier
    inner();
}
static APART void read(int n) // a name of the C library
{
    for (int i = 0; i < n; i++) {
        MPI_Allreduce(v, v + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // read
        MPI_Reduce(v, v + 1, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}
static APART void heap(int n) // a name that a proxy may use
{
    int *block = malloc(4);
    for (int i = 0; i < n; i++) {
        MPI_Bcast(block, 1, MPI_INT, 1, MPI_COMM_WORLD); // heap
        MPI_Bcast(v, 2, MPI_INT, 1, MPI_COMM_WORLD);
    }
    free(block);
}
static APART void rank(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Bcast(v, 2, MPI_INT, 0, MPI_COMM_WORLD); // rank
        MPI_Gather(v, 0, MPI_INT, v, 0, MPI_INT, 0, MPI_COMM_WORLD);
    }
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv); // init
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    for (int i = 0; i < 7; i++) {
        exchange(5);
        read(6);
    }
    for (int i = 0; i < 4; i++)
        heap(3);
    for (int i = 0; i < 4; i++)
        rank(5);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O1 "$@" app.c -o app
}

@test "names: functions have those of the application, calls its source lines" {
    needs_names
    write_app
    roundtrip 2 ./app
    grep -q "MPI_Init(NULL, NULL); /\* $(line_of init) \*/" proxy.c
    grep -q "MPI_Barrier(MPI_COMM_WORLD); /\* $(line_of barrier) \*/" proxy.c
    grep -q "MPI_Bcast(.*); /\* $(line_of inlined) \*/" proxy.c
    grep -q "MPI_Allreduce(.*); /\* $(line_of read) \*/" proxy.c
    # names of the C library, of the proxy itself and of C are not taken
    for name in read main; do ! grep -q "void $name(void)" proxy.c; done
    [ "$(grep -c '^static void rank(void)$' proxy.c)" = 0 ]
    grep -q '^static void read_calls(void)$' proxy.c
    grep -q '^static void rule_[0-9]*(void)$' proxy.c # calls of several functions
    # what the calls of a rule share, though one is inlined
    awk '/^static void exchange\(void\)/, /^}/' proxy.c >exchange
    grep -q MPI_Barrier exchange
    grep -q MPI_Bcast exchange
    "$PROXYGEN" app.dir -o parts/
    make -s -C parts CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]}"
    grep -q '^void exchange(void);$' parts/proxy.h
}

@test "names: with call stacks, the innermost function on the stacks of all calls" {
    needs_names
    cat >app.c <<'C'
#include <mpi.h>
#define APART __attribute__((noinline, noclone))
static int v[2];
static APART void left(void)
{
    MPI_Bcast(v, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
static APART void right(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
static APART void step(void)
{
    left();
    right();
    v[1]++;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < 5; k++)
            step();
        MPI_Allreduce(v, v + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -g -O1 app.c -o app
    record plain.dir 2 ./app
    "$PROXYGEN" plain.dir -o plain.c
    ! grep -q '^static void step(void)$' plain.c || false
    mpi 2 "$WEND" trace --quiet --stacks -o app.dir ./app
    "$PROXYGEN" app.dir -o proxy.c
    awk '/^static void step\(void\)/, /^}/' proxy.c >step
    grep -q MPI_Bcast step
    grep -q MPI_Barrier step
    ! grep -q MPI_Allreduce step || false
    # from the archive alone
    "$WEND" merge --symbols app.dir
    rm app
    "$PROXYGEN" app.dir -o again.c
    diff proxy.c again.c
    "$MPICC" "${PROXY_CFLAGS[@]}" proxy.c -o proxy
    mpi 2 "$WEND" trace --quiet -o again.dir ./proxy
    "$WEND" diff app.dir again.dir
}

@test "names: --no-symbols, and a program without debug information" {
    needs_names
    write_app
    record app.dir 2 ./app
    "$PROXYGEN" --no-symbols app.dir -o plain.c
    ! grep -q 'app\.c:\|exchange\|_calls' plain.c || false
    grep -q rule_1 plain.c
    strip -s app
    record stripped.dir 2 ./app
    "$PROXYGEN" stripped.dir -o stripped.c
    diff <(grep -v '^ \*' plain.c) <(grep -v '^ \*' stripped.c)
    # names in the archive do for a program that is gone
    write_app
    "$WEND" merge --symbols app.dir
    rm app
    "$PROXYGEN" app.dir -o proxy.c
    grep -q '^static void exchange(void)$' proxy.c
}

@test "names: those of a hostile program are no code" {
    needs_names
    write_app
    {
        echo '# 1 "a*/ int injected = 1; /*.c"'
        sed 's/exchange/MPI_exchange/; s/\bread\b/\\u00e9int/; s/inner/rule_1/
            s/\bheap\b/unix/' app.c
    } >bad.c
    "$MPICC" -std=gnu11 -g -O1 -Uunix bad.c -o app
    roundtrip 2 ./app
    ! grep -q 'injected = 1; /\*' proxy.c || false
    ! grep -q 'void MPI_' proxy.c || false
    # a library is not asked for names that only comments have
    "$PROXYGEN" app.dir -o again.c 2>err
    ! grep -q MPI_exchange err || false
}

@test "names: columns of tables are named after arguments" {
    cat >table.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    static int v[4096];
    unsigned long x = 1;
    int self;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    for (int i = 0; i < 300; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        int count = (int)(x >> 54) + 1, tag = (int)(x >> 40 & 1023);
        if (self == 0)
            MPI_Send(v, count, MPI_INT, 1, tag, MPI_COMM_WORLD);
        else
            MPI_Recv(v, count, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 table.c -o table
    roundtrip 2 ./table
    grep -q 'enum { COUNT, TAG };' proxy.c || fail "$(cat proxy.c)"
    grep -q 'MPI_Send(.*, row\[COUNT\], MPI_INT, 1, row\[TAG\], MPI_COMM_WORLD)' proxy.c
}

@test "names: columns of partners and of addresses in a buffer" {
    cat >table.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    static int a[8192], b[8192];
    unsigned long x = 1;
    int self, size;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 300; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        int count = (int)(x >> 54) + 1, by = (int)(x >> 40) % size, at = (int)(x >> 20 & 4095);
        MPI_Irecv(b, 4096, MPI_INT, (self + size - by) % size, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(a + at, count, MPI_INT, (self + by) % size, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 -w table.c -o table
    roundtrip 3 ./table
    grep -q 'enum { SOURCE\b' proxy.c || fail "$(cat proxy.c)"
    grep -q 'MPI_Irecv(.*, row\[SOURCE + rank\], 7, MPI_COMM_WORLD, ' proxy.c
    grep -q 'enum { BUF, COUNT, DEST\b' proxy.c || fail "$(cat proxy.c)"
    grep -q 'MPI_Isend(.* + row\[BUF\], row\[COUNT\], MPI_INT, row\[DEST + rank\], 7, ' proxy.c
}
