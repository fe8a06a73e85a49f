# SPDX-License-Identifier: BSD-3-Clause
# Programs with threads.
load ../helpers
setup() { in_scratch; }

@test "a thread that allocates nothing gets no arena of malloc's" {
    same_output 1 "$PROGRAMS/arenas"
}

@test "each thread level is the same as without Wend" {
    for level in -1 0 1 2 3; do
        rm -rf app.dir
        same_output 2 "$PROGRAMS/levels" "$level"
        grep -q "asked $level: returned 0" plain.out
        quietly dump.out "$WEND" dump app.dir
        [ "$level" -lt 0 ] || grep -q "MPI_Init_thread.*provided=MPI_THREAD" dump.out
    done
}

# free_recordings THREADS TIMES: however threads interleave, the recording is the same.
free_recordings() {
    record first.dir 2 "$PROGRAMS/interleaved" "$1"
    for ((i = 0; i < $2; i++)); do
        record "next$i.dir" 2 "$PROGRAMS/interleaved" "$1"
        quietly diff.out "$WEND" diff first.dir "next$i.dir"
    done
}
@test "two threads that run freely: recordings are equal" { free_recordings 2 "$(often 20)"; }
@test "four threads that run freely: recordings are equal" { free_recordings 4 "$(often 20)"; }

@test "threads that run freely take no more bytes than threads in turn" {
    record free.dir 2 "$PROGRAMS/interleaved" 2 100
    record alone.dir 2 "$PROGRAMS/interleaved" 2 100 alone
    free=$(stat -c %s free.dir/trace.tar.zst) alone=$(stat -c %s alone.dir/trace.tar.zst)
    [ "$free" -le $((alone + alone / 20)) ] || fail "$free bytes, not $alone"
}

@test "threads that a constructor or the MPI library starts do not count" {
    cat >starts.c <<'END'
#include <mpi.h>
#include <pthread.h>
#include <time.h>
static void *nothing(void *p) { return time(NULL) ? p : NULL; }
static void *start_another(void *p)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return p;
}
__attribute__((constructor)) static void construct(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_detach(thread);
}
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    pthread_t thread;
    pthread_create(&thread, NULL, start_another, NULL);
    pthread_join(thread, NULL);
    return PMPI_Init_thread(argc, argv, required, provided);
}
END
    "$MPICC" -w -shared -fPIC starts.c -o starts.so -pthread
    record without.dir 2 "$PROGRAMS/threads" >/dev/null
    LD_PRELOAD=$PWD/starts.so record with.dir 2 "$PROGRAMS/threads" >/dev/null
    "$WEND" diff without.dir with.dir
    "$WEND" dump with.dir | grep -q 'wend_start(thread=1)'
    # nor if they ask for values
    LD_PRELOAD=$PWD/starts.so mpi 2 "$WEND" trace -q --values -o values.dir "$PROGRAMS/threads"
    "$WEND" diff without.dir values.dir
}

@test "round trip: threads that run freely" { roundtrip 2 "$PROGRAMS/interleaved" 3; }
@test "round trip: requests made in one thread and completed in another" {
    roundtrip 2 "$PROGRAMS/teams" requests
}
@test "round trip: communicators and datatypes made in one thread and used in another" {
    roundtrip 2 "$PROGRAMS/teams" objects
}
@test "round trip: objects made and freed before threads and after, with the same numbers" {
    roundtrip 2 "$PROGRAMS/teams" earlier
}
@test "round trip: objects that their maker uses in some of their lives only" {
    roundtrip 2 "$PROGRAMS/teams" uneven
}
@test "round trip: memory allocated in one thread and freed in another" {
    roundtrip 2 "$PROGRAMS/teams" blocks
}
@test "round trip: memory that is freed when another thread has completed the send from it" {
    roundtrip 2 "$PROGRAMS/teams" lent
}
@test "round trip: requests of several threads in one array" {
    roundtrip 2 "$PROGRAMS/teams" together
}
@test "round trip: threads that are started and joined, again and again" {
    roundtrip 2 "$PROGRAMS/teams" phases
    [ "$(grep -c 'join_thread([1-5]);' proxy.c)" = 5 ] # each before the main thread goes on
}
@test "round trip: threads on some ranks only" { roundtrip 2 "$PROGRAMS/teams" some; }
@test "round trip: threads among others that never call MPI" { roundtrip 2 "$PROGRAMS/teams" idle; }
@test "round trip: threads that nobody joins" { roundtrip 2 "$PROGRAMS/teams" detached; }
@test "round trip: four threads on one communicator" { roundtrip 2 "$PROGRAMS/teams" hammer; }
@test "recordings of threads that pass objects on are equal" {
    for what in requests objects blocks; do
        record "first-$what.dir" 2 "$PROGRAMS/teams" "$what"
        for i in 1 2 3 4 5; do
            record "$what-$i.dir" 2 "$PROGRAMS/teams" "$what"
            quietly diff.out "$WEND" diff "first-$what.dir" "$what-$i.dir"
        done
    done
}

# born RANKS CASE…: the proxy is equal, and so are a second recording and a replay with noise.
born() {
    local n=$1 what
    shift
    for what in "$@"; do
        rm -rf ./*.dir proxy.c
        roundtrip "$n" "$PROGRAMS/births" "$what" || fail "$what" || return
        record second.dir "$n" "$PROGRAMS/births" "$what" || return
        "$WEND" diff app.dir second.dir || fail "$what: recordings differ" || return
        mpi "$n" "$WEND" replay --quiet --noise -o again.dir app.dir "$PROGRAMS/births" "$what" ||
            fail "$what: no replay" || return
        "$WEND" diff --outcomes app.dir again.dir || fail "$what: another replay" || return
    done
}
@test "threads that exist before MPI_Init" {
    born 2 early idle family
    born 3 some
}
@test "several threads that create threads at the same time: numbers follow from the creator" {
    born 2 creators
    # the 10 threads of each, by their creator
    "$WEND" dump --rank 0 --thread 1 app.dir >one
    "$WEND" dump --rank 0 --thread 2 app.dir >other
    grep -o 'wend_start(thread=.*)' one | sort >one.starts
    grep -o 'wend_start(thread=.*)' other | sort >other.starts
    [ "$(wc -l <one.starts)" = 10 ]
    [ -z "$(comm -12 one.starts other.starts)" ]
}
@test "the thread that starts MPI is joined, and other threads end MPI" {
    born 2 first among asked exit
    "$WEND" dump --rank 0 app.dir | grep -q 'wend_join(thread=0)'
}
@test "in a proxy, too, the main thread calls MPI before another thread starts it" {
    record app.dir 2 "$PROGRAMS/births" asked
    make_proxy app.dir proxy
    sed -i 's/^ *MPI_Initialized(&flag);/usleep(300000);\n&/' proxy.c # late
    "$MPICC" -O2 proxy.c -o proxy
    record proxy.dir 2 ./proxy
    "$WEND" diff --outcomes app.dir proxy.dir
}
@test "threads that are joined in other ways, and those of C11" {
    born 2 joins c11
    [ "$("$WEND" dump --rank 0 --thread 0 app.dir | grep -c wend_join)" = 3 ] # of C11
}
@test "nested regions of OpenMP" {
    cat >nested.c <<'C'
#include <mpi.h>
#include <omp.h>
int main(int argc, char **argv)
{
    int provided;
    MPI_Comm comms[6];
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
    provided = omp_get_thread_num();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < 6; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(3)
        {
            int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
            {
                int i = 2 * outer + omp_get_thread_num(), all;
                MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comms[i]);
            }
        }
    }
    for (int i = 0; i < 6; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -w -O1 -fopenmp nested.c -o births || skip "no OpenMP"
    PROGRAMS=. born 2 ''
}

@test "threads that make and free communicators at once: each call names its own" {
    cat >swap.c <<'END'
#include <mpi.h>
#include <pthread.h>
enum { THREADS = 3, ROUNDS = 8 };
static MPI_Comm parents[THREADS];
static void *run(void *argument)
{
    MPI_Comm parent = parents[(long)argument], made[3];
    int n, rank;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 3; k++)
            MPI_Comm_dup(parent, &made[k]);
        for (int k = 0; k < 3; k++) {
            MPI_Comm_rank(made[k], &rank);
            MPI_Comm_size(made[k], &n);
        }
        for (int k = 0; k < 3; k++) /* the library gives out the last value first */
            MPI_Comm_free(&made[(k + i) % 3]);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 6);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_SELF, &parents[t]);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, run, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&parents[t]);
    MPI_Finalize();
    return 0;
}
END
    "$MPICC" -w -O1 -pthread swap.c -o swap
    record app.dir 1 ./swap
    "$WEND" dump --format jsonl app.dir >calls
    python3 - <<'END'
import collections, json
threads = collections.defaultdict(list)
for row in map(json.loads, open("calls")):
    if row["thread"] > 0:
        name = row["arguments"].get("newcomm", row["arguments"]["comm"])
        threads[row["thread"]].append((row["function"][9:], name))
seen = set()
for calls in threads.values():
    assert len(calls) == 8 * 12, len(calls)
    for i in range(8):
        turn = calls[12 * i : 12 * i + 12]
        made = [name for _, name in turn[:3]]
        assert not seen & set(made), (i, made)
        seen |= set(made)
        used = [(f, name) for name in made for f in ("rank", "size")]
        freed = [("free", made[(k + i) % 3]) for k in range(3)]
        assert turn[3:] == used + freed, (i, turn)
assert len(threads) == 3
END
}

@test "threads that open files at the same time get their own files in the proxy" {
    cat >opens.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *opens(void *argument)
{
    for (int i = 0; i < 200; i++) {
        char name[32];
        MPI_File file;
        snprintf(name, sizeof name, "file-of-%d", *(int *)argument);
        int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
        if (MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
            abort();
        MPI_File_close(&file);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    int provided, number[6];
    pthread_t thread[6];
    MPI_File file;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    /* MPICH 4.0.2 creates the lock of its file operations in the first of them, without a lock:
     * two first operations at the same time sometimes fail. */
    MPI_File_open(MPI_COMM_SELF, "first", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    for (int i = 0; i < 6; i++) {
        number[i] = i;
        pthread_create(&thread[i], NULL, opens, &number[i]);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(thread[i], NULL);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 -pthread opens.c -o opens
    # ROMIO parses hints with global variables in Open MPI: 40 of 240 runs of this program die
    # without Wend. OMPIO does not.
    LAUNCH=("${LAUNCH[@]/#^ompio/ompio}")
    roundtrip 1 ./opens
}
