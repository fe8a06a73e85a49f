# SPDX-License-Identifier: BSD-3-Clause
# Proxies of programs that are large or irregular: tables, patterns, callbacks, memory.
load compile
setup() { in_scratch; }

# The proxy numbers its variables for ports in the order in which it opens them. Equal names in a
# row are counted.
# bats test_tags=long
@test "the next port comes after all equal ones before it, however many" {
    {
        printf 'ranks 2\nMPI_Init\n'
        opens() { printf 'MPI_Open_port -> port_name=%s\n' "$@"; }
        printf 'rank 0\nrepeat 70000\n'
        opens first
        echo end
        opens second
        echo 'rank 1'
        opens second third third first
        printf 'rank *\nMPI_Finalize\n'
    } | "$BUILD_DIR/tests/decoder/script" - app.dir
    cat >ports.c <<'C'
#include <mpi.h>
#include <stdio.h>
extern char port[3][MPI_MAX_PORT_NAME + 1];
int MPI_Open_port(MPI_Info info, char *name)
{
    static FILE *out;
    char file[32];
    int rank;
    (void)info;
    if (!out) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(file, sizeof file, "ports.%d", rank);
        out = fopen(file, "w");
    }
    snprintf(name, MPI_MAX_PORT_NAME, "a port");
    int number = (int)((name - port[0]) / (long)sizeof port[0]);
    return fprintf(out, "%d\n", number) > 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
C
    "$PROXYGEN" app.dir -o there/
    "$MPICC" "${PROXY_CFLAGS[@]}" -O1 there/*.c ports.c -o proxy
    mpi 2 ./proxy
    [ "$(uniq -c ports.0 | xargs)" = "70000 0 1 1" ]
    [ "$(uniq -c ports.1 | xargs)" = "1 1 2 2 1 0" ]
}

@test "a recording without structure is compiled in seconds, to files that a compiler takes" {
    cat >noise.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    unsigned x = 12345;
    int size;
    MPI_Init(&argc, &argv);
    for (long i = 0; i < 600000; i++) {
        x = x * 1103515245 + 12345;
        MPI_Pack_size(x >> 16 & 63, MPI_INT, MPI_COMM_WORLD, &size);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 noise.c -o noise
    record app.dir 1 ./noise
    timeout 30 "$PROXYGEN" app.dir -o proxy.c
    timeout 60 "$MPICC" "${PROXY_CFLAGS[@]}" -O2 proxy.c -o proxy
    record proxy.dir 1 ./proxy
    "$WEND" diff app.dir proxy.dir
    timeout 30 "$PROXYGEN" app.dir -o there/
    for file in there/*; do
        [ "$(stat -c %s "$file")" -lt 1000000 ]
    done
    timeout 60 make -s -j2 -C there CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O2"
    record there.dir 1 there/proxy
    "$WEND" diff app.dir there.dir
}

# The calls that follow a Waitsome may free the memory of all requests that it completed. A proxy
# that completes them one by one must not free too early.
@test "memory that requests use is not freed when others complete" {
    cat >frees.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n, done, which[4], value = 7, *block[4];
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 4; k++) {
            block[k] = malloc(64);
            MPI_Irecv(block[k], 1, MPI_INT, 0, k, MPI_COMM_SELF, &requests[k]);
        }
        for (int k = 0; k < 3; k++)
            MPI_Send(&value, 1, MPI_INT, 0, k, MPI_COMM_SELF);
        for (done = 0; done < 4; done += n) {
            MPI_Waitsome(4, requests, &n, which, MPI_STATUSES_IGNORE);
            for (int k = 0; k < n; k++)
                free(block[which[k]]);
            if (done < 3 && done + n >= 3)
                MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
        }
    }
    MPI_Finalize();
    return 0;
}
C
    cat >one.c <<'C'
#include <mpi.h>
#include <unistd.h>
void __libc_free(void *p);
static struct { const void *buffer; MPI_Request request; } pending[4];
static int set(const void *buffer, MPI_Request request)
{
    int i = 0;
    while (i < 3 && pending[i].buffer)
        i++;
    pending[i].buffer = buffer;
    pending[i].request = request;
    return MPI_SUCCESS;
}
int MPI_Irecv(void *buffer, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    PMPI_Irecv(buffer, n, type, source, tag, comm, request);
    return set(buffer, *request);
}
/* The last one that is complete, and no other. */
int MPI_Waitsome(int n, MPI_Request requests[], int *done, int which[], MPI_Status statuses[])
{
    int there = 0;
    (void)statuses;
    for (*done = 0; *done == 0;)
        for (int i = n; i-- > 0 && *done == 0;)
            if (requests[i] != MPI_REQUEST_NULL) {
                MPI_Request request = requests[i];
                PMPI_Test(&requests[i], &there, MPI_STATUS_IGNORE);
                for (int k = 0; k < 4 && there; k++)
                    if (pending[k].request == request)
                        pending[k].buffer = NULL;
                which[0] = i;
                *done = there;
            }
    return MPI_SUCCESS;
}
void free(void *p)
{
    for (int i = 0; i < 4; i++)
        if (p && pending[i].buffer == p)
            _exit(9);
    __libc_free(p);
}
C
    "$MPICC" -w frees.c -o frees
    record app.dir 1 ./frees
    "$PROXYGEN" app.dir -o proxy.c
    "$MPICC" -w -fno-builtin proxy.c one.c -o proxy
    mpi 1 ./proxy
}

# Rows, columns and transposes of grids, butterfly exchanges, trees, rings of several dimensions.
# The proxy of each sends to the recorded partners of each rank, and has no table.
@test "partners that follow a pattern are expressions, whatever the number of ranks" {
    script=$BUILD_DIR/tests/decoder/script
    for ranks in 12 600; do
        awk -v n="$ranks" 'BEGIN {
            print "ranks " n
            w = n == 12 ? 4 : 150; h = n / w
            split("Send Ssend Bsend Rsend Send Ssend Bsend Rsend Send Ssend Bsend", how) # no loop
            for (r = 0; r < n; r++) {
                row = int(r / w); column = r % w
                to[1] = column * h + row
                to[2] = int((r + 1) / 2)
                to[3] = row * w + (column + 1) % w
                to[4] = ((row + h - 1) % h) * w + column
                to[5] = r % 4 < 2 ? r + 2 : r - 2
                to[6] = n - 1 - r
                to[7] = int(r / 6) * 6 + (r % 3) * 2 + int(r / 3) % 2
                to[8] = r ? int((r - 1) / 2) : "MPI_PROC_NULL"
                to[9] = 2 * r + 1 < n ? 2 * r + 1 : "MPI_PROC_NULL"
                to[10] = r < n - 1 ? int(r / 3) + 1 : 0
                # r ^ 3
                to[11] = r % 4 == 0 ? r + 3 : r % 4 == 1 ? r + 1 : r % 4 == 2 ? r - 1 : r - 3
                print "rank " r
                for (i = 1; i in to; i++) {
                    type = i < 5 ? "MPI_INT" : "MPI_DOUBLE"
                    print "MPI_" how[i] " count=1 datatype=" type " dest=" to[i] " tag=" i
                }
                for (i = 1; i in to; i++) print i, r, to[i] == "MPI_PROC_NULL" ? -1 : to[i] >"said"
            }
        }' >in.script
        rm -rf t
        "$script" in.script t
        "$PROXYGEN" -f t -o t.c
        ! grep '^static const int [a-z]*_[0-9]' t.c || fail "$ranks ranks: a table of values" ||
            return
        grep -q '(rank ^ 3), 11,' t.c || fail "$ranks ranks: partners of a butterfly" || return
        {
            printf '%s\n' '#include <stdio.h>' '#define MPI_PROC_NULL -1' 'int main(void)' '{' \
                "    for (int rank = 0; rank < $ranks; rank++) {"
            call='MPI_[A-Za-z]*\([^,]*, [^,]*, [^,]*, (.*), ([1-9]|1[01]), MPI_COMM_WORLD\);'
            tr -d '\n' <t.c | grep -o 'MPI_[SBR]s*end([^;]*;' | sed -E 's/ +/ /g' |
                sed -E 's/^'"$call"'$/        printf("\2 %d %d\\n", rank, \1);/'
            printf '    }\n}\n'
        } >values.c
        gcc -o values values.c
        ./values | sort >now
        sort said | diff - now >&2 || fail "$ranks ranks: other partners" || return
    done
}

# Sizes, partners and tags that change from iteration to iteration: equally on all ranks,
# differently on each, every few steps, in threads.
@test "loops whose numbers differ each time are loops over tables" {
    cat >varying.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <string.h>
enum { STEPS = 400, MOST = 4096 };
static int rank, size;
static int chance(unsigned long *x)
{
    return (int)((*x = *x * 6364136223846793005ul + 1442695040888963407ul) >> 52);
}
static void shift(int send, int by, int tag)
{
    static int a[MOST], b[MOST];
    MPI_Sendrecv(a, send, MPI_INT, (rank + by) % size, tag, b, MOST, MPI_INT,
                 (rank + size - by) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void exchange(int n, int by)
{
    static int a[MOST], b[2][MOST];
    MPI_Request requests[4];
    int left = (rank + size - by) % size, right = (rank + by) % size;
    MPI_Irecv(b[0], n, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(b[1], n, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(a, n, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(a, n, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}
static void *of_thread(void *number)
{
    static int a[2][MOST], b[2][MOST];
    int t = *(int *)number;
    unsigned long x = (unsigned long)t + 3;
    for (int i = 0; i < STEPS; i++) {
        int n = chance(&x);
        MPI_Sendrecv(a[t], n, MPI_INT, 0, t, b[t], n, MPI_INT, 0, t, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    }
    return NULL;
}
static void *of_two_threads(void *number)
{
    unsigned long x = 1;
    for (int i = 0, bytes; i < STEPS; i++)
        MPI_Pack_size(chance(&x), MPI_INT, MPI_COMM_SELF, &bytes);
    return number;
}
int main(int argc, char **argv)
{
    unsigned long x = 1, mine;
    const char *how = argv[argc > 1];
    int provided, numbers[2] = {0, 1};
    pthread_t threads[3];
    int level = strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = (unsigned long)rank + 1;
    for (int i = 0, n = 0, by = 1; i < STEPS && strcmp(how, "threads") != 0; i++) {
        if (i % 5 == 0) {
            n = chance(&x);
            by = 1 + n % (size - 1);
        }
        if (strcmp(how, "sizes") == 0)
            shift(chance(&x), 1, 0);
        else if (strcmp(how, "ranks") == 0)
            shift(chance(&mine), 1, i % 7);
        else if (strcmp(how, "mesh") == 0)
            exchange(n, by);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && i % 50 == 49) { /* a loop of its own on one rank */
            MPI_Request requests[2];
            int index;
            MPI_Irecv(&n, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
            MPI_Isend(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
            for (int k = 0; k < 2; k++)
                MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            n = i;
        }
        MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (strcmp(how, "threads") == 0) {
        pthread_create(&threads[0], NULL, of_thread, &numbers[0]);
        pthread_create(&threads[1], NULL, of_two_threads, NULL);
        pthread_create(&threads[2], NULL, of_two_threads, NULL);
        of_thread(&numbers[1]);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 varying.c -o varying -pthread
    for how in sizes ranks mesh threads; do
        rm -rf app.dir proxy.dir parts parts.dir proxy.c
        roundtrip 3 ./varying $how || fail "$how" || return
        [ "$(wc -l <proxy.c)" -lt 600 ] || fail "$how: $(wc -l <proxy.c) lines" || return
        in_several_files 3 || fail "$how, several files" || return
    done
}

@test "two loops over tables in one function, of long numbers and of short ones" {
    cat >kinds.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    unsigned long x = 1;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 300; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        int n = (int)(x >> 60) + 1, length = (int)(x >> 50 & 1023) + 1;
        MPI_Type_create_hindexed(2, (int[]){n, length},
                                 (MPI_Aint[]){(MPI_Aint)(x >> 28), 0}, MPI_CHAR, &type);
        MPI_Type_free(&type);
        MPI_Type_vector(n, length, length + n * n, MPI_CHAR, &type);
        MPI_Type_free(&type);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 kinds.c -o kinds
    roundtrip 1 ./kinds
    [ "$(grep -c 'rows_[12]\[' proxy.c)" = 4 ] # two tables, and where they are read
}

# Only memory tells rank 1 of the block, so its proxy may access it too early. The memory is aligned
# to 16 bytes: elsewhere MPICH 4.0.2 writes a replaced address eight bytes too low, as it did at
# rank 1 of a window with room for three blocks of each rank.
@test "a block that is attached later is waited for" {
    cat >later.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Aint second = 0, *told, one;
    MPI_Win dynamic, window;
    char *blocks[2], got[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_allocate(2 * sizeof *told, sizeof *told, MPI_INFO_NULL, MPI_COMM_WORLD, &told, &window);
    told[0] = told[1] = 0;
    for (int i = 0; i < 2; i++)
        blocks[i] = calloc(1, 64);
    if (rank == 0)
        MPI_Win_attach(dynamic, blocks[0], 64);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, dynamic);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (rank == 0) {
        for (int i = 0; i < 1000; i++) /* while these wait, what rank 1 wants to know is answered */
            MPI_Sendrecv(&i, 1, MPI_INT, 2, 0, got, 1, MPI_INT, 2, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        MPI_Win_attach(dynamic, blocks[1], 64);
        MPI_Get_address(blocks[1], &second);
        MPI_Accumulate(&second, 1, MPI_AINT, 1, 0, 1, MPI_AINT, MPI_REPLACE, window);
        MPI_Win_flush(1, window);
    } else if (rank == 2) {
        for (int i = 0; i < 1000; i++)
            MPI_Sendrecv(&i, 1, MPI_INT, 0, 0, got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    } else {
        while (second == 0) {
            usleep(5000);
            MPI_Fetch_and_op(&one, &second, MPI_AINT, 1, 0, MPI_NO_OP, window);
            MPI_Win_flush(1, window);
        }
        MPI_Get(got, 8, MPI_BYTE, 0, second, 8, MPI_BYTE, dynamic);
        MPI_Win_flush(0, dynamic);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_unlock_all(dynamic);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < 2; i++)
            MPI_Win_detach(dynamic, blocks[i]);
    MPI_Win_free(&window);
    MPI_Win_free(&dynamic);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O1 later.c -o later
    roundtrip 3 ./later
}

# The function of each rank makes another call in the last iterations.
@test "callbacks are called as often as in the recording, however often that is" {
    cat >often.c <<'C'
#include <mpi.h>
enum { TIMES = 1100000 };
static int count, rank;
static void handle(MPI_Comm *comm, int *code, ...)
{
    int n;
    if (count++ >= TIMES - 3 - rank)
        MPI_Comm_size(*comm, &n);
    (void)code;
}
int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < TIMES; i++)
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 often.c -o often
    roundtrip 2 ./often
    [ "$(wc -c <proxy.c)" -lt 8000 ]
}

equal_as_files() { # N: a proxy of several files of app.dir is equal
    "$PROXYGEN" app.dir -o there/
    make -s -j2 -C there CC="$MPICC" CFLAGS="${PROXY_CFLAGS[*]} -O1"
    record there.dir "$1" there/proxy
    "$WEND" diff app.dir there.dir
}

# Everything beside calls in a large program: all kinds of calls for which code is kept, in any
# order, on several ranks that differ.
@test "tables hold large programs with loops, callbacks, wildcards, arrays and values by rank" {
    cat >large.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    unsigned long x = 1;
    int rank, size, index, n, in[8], out[40] = {0}, counts[20], places[20];
    MPI_Request requests[8];
    MPI_Comm comms[5];
    int *blocks[7];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 7; i++)
        blocks[i] = malloc(40 * sizeof(int));
    for (int i = 0; i < 24000; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        unsigned y = (unsigned)(x >> 40);
        switch (y % 24) {
        case 0:
            for (int k = 0; k < 4; k++)
                MPI_Irecv(&in[k], 1, MPI_INT, (rank + size - 1) % size, k, MPI_COMM_WORLD,
                          &requests[k]);
            for (int k = 0; k < 4; k++)
                MPI_Isend(out, 1, MPI_INT, (rank + 1) % size, k, MPI_COMM_WORLD, &requests[4 + k]);
            for (int k = 0; k < 8; k++)
                MPI_Waitany(8, requests, &index, MPI_STATUS_IGNORE);
            break;
        case 1: case 10: case 11: case 12:
            MPI_Send(out, (int)(y / 8 % 40), MPI_INT, MPI_PROC_NULL, (int)(y / 8 % 1000),
                     MPI_COMM_WORLD);
            break;
        case 2: case 13: case 14: case 15:
            MPI_Pack_size((int)(y / 8 % 1000) + rank * (int)(y % 3), MPI_INT, MPI_COMM_WORLD, &n);
            break;
        case 3:
            for (int k = 0; k < 20; k++) {
                counts[k] = k == (int)(y / 8 % 20) && k < size;
                places[k] = k;
            }
            MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_SELF);
            break;
        case 4:
            for (unsigned k = 0; k < y / 8 % 5; k++)
                MPI_Bcast(blocks[y / 8 % 7], (int)(y / 64 % 40), MPI_INT, 0, comms[y / 512 % 5]);
            break;
        case 5:
            if (y / 8 % 20 == 0 && rank == 0) {
                for (int k = 1; k < size; k++)
                    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 100, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
            } else if (y / 8 % 20 == 0) {
                MPI_Send(out, 1, MPI_INT, 0, 100, MPI_COMM_WORLD);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case 9: /* the same requests at other places each time */
            for (int k = 0; k < 4; k++)
                MPI_Isend(blocks[y / 8 % 7], 1, MPI_INT, MPI_PROC_NULL, k, comms[y / 512 % 5],
                          &requests[(k + rank + (int)(y / 64)) % 4]);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
            break;
        case 6: case 7: case 8:
            MPI_Type_size(y & 64 ? MPI_INT : MPI_DOUBLE, &n);
            break;
        default:
            MPI_Get_processor_name((char[MPI_MAX_PROCESSOR_NAME]){0}, &n);
        }
    }
    for (int i = 0; i < 5; i++)
        MPI_Comm_free(&comms[i]);
    for (int i = 0; i < 7; i++)
        free(blocks[i]);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 large.c -o large
    record app.dir 3 ./large
    make_proxy app.dir ./proxy
    grep -q '^static void run(int rule)' proxy.c
    # 15 kinds of calls; counts, tags, requests, blocks and communicators are numbers
    functions=$(grep -c '^static void call_' proxy.c)
    [ "$functions" -lt 100 ] || fail "$functions functions for calls"
    record proxy.dir 3 ./proxy
    "$WEND" diff app.dir proxy.dir
    equal_as_files 3
}

@test "calls of large programs that differ in strings are one function" {
    cat >strings.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 6000; i++) {
        char key[64], value[64];
        MPI_Info info;
        snprintf(key, sizeof key, "key \"%d\" ?\?/ \\n %%s", i);
        snprintf(value, sizeof value, i % 7 ? "%d\n of rank %d \001" : "", i * i, rank);
        MPI_Info_create(&info);
        MPI_Info_set(info, key, i % 7 ? value : "none");
        if (i % 5 == 0)
            MPI_Info_delete(info, key);
        MPI_Info_free(&info);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O1 strings.c -o strings
    roundtrip 2 ./strings
    grep -q '^static const char \*const strings\[[0-9]*\]' proxy.c
    functions=$(grep -c '^static void call_' proxy.c)
    [ "$functions" -lt 20 ] || fail "$functions functions for calls"
    equal_as_files 2
}

# A loop that comes again with other numbers is written once, over a table. A body is taken for that
# up to 16 KB: here are bodies of about that length.
@test "long bodies of loops over tables are whole" {
    cat >long.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Datatype types[] = {MPI_INT, MPI_CHAR, MPI_LONG, MPI_SHORT, MPI_FLOAT, MPI_BYTE};
    int size;
    MPI_Init(&argc, &argv);
    for (int calls = 250; calls <= 310; calls += 20)
        for (int time = 0; time < 5; time++) {
            for (int twice = 0; twice < 2; twice++) {
                srand(calls);
                for (int i = 0; i < calls; i++)
                    MPI_Pack_size(1 + (time * 61 + i * i * (time + 3)) % 9973, types[rand() % 6],
                                  MPI_COMM_WORLD, &size);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 long.c -o long
    roundtrip 1 ./long
    grep -q 'rows_' proxy.c
}
