/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs: what a program does upon two completions together.
 *
 *   pairs KIND SEED [ROUNDS [PAIRS]]
 *
 * Each rank has some pairs of receives (two by default) in one array: the first ones of all pairs,
 * then the second ones. When both of a pair are complete, it waits for the pair's earlier sends,
 * sends two messages, and posts both receives again: a sweep over a grid waits so for neighbours in
 * two directions. KIND says how it looks and waits:
 *
 *   tests     MPI_Testsome, and MPI_Test until the earlier sends are done
 *   first     the same, but at first there are no earlier sends
 *   late      as "tests", but of pairs that are ready at once one goes on before it looks again
 *   free      MPI_Testsome; the sends are waited for in the end
 *   waits     MPI_Waitsome, and MPI_Waitall for the earlier sends
 *   any       MPI_Waitany, and MPI_Test
 *
 * Ranks sleep now and then, as SEED says: what completes together differs from run to run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 16, MOST_ROUNDS = 64 };
static const char *const kinds[] = {"tests", "first", "late", "free", "waits", "any"};
enum { TESTS, FIRST, LATE, FREE, WAITS, ANY, KINDS };

static int rank, size, kind, n_pairs = 2, n_rounds = 12;
static int done[MOST], complete[2 * MOST], in[2 * MOST], out[MOST_ROUNDS + 1][2 * MOST];
static MPI_Request receives[2 * MOST], sends[MOST_ROUNDS + 1][2 * MOST];
static unsigned state;
static long sum;

static void sleep_now_and_then(void)
{
    state = state * 1664525u + 1013904223u;
    if (state >> 30 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(state >> 8) % 400000}, NULL);
}

/* Messages of side 0 go up by as many ranks as the pair says, those of side 1 down. */
static int partner(int pair, int side, int sends_to)
{
    int distance = (pair + 1) % size;
    return (rank + (side == sends_to ? size - distance : distance)) % size;
}

static void post(int pair)
{
    for (int side = 0; side < 2; side++)
        MPI_Irecv(&in[side * n_pairs + pair], 1, MPI_INT, partner(pair, side, 0), 2 * pair + side,
                  MPI_COMM_WORLD, &receives[side * n_pairs + pair]);
}

static void send(int pair, int round)
{
    int place = kind == FREE ? round : 0; /* else where those before were */
    for (int side = 0; side < 2; side++) {
        int *value = &out[place][2 * pair + side];
        *value = 1000 * round + rank;
        if (kind == FIRST && round == 0)
            MPI_Send(value, 1, MPI_INT, partner(pair, side, 1), 2 * pair + side, MPI_COMM_WORLD);
        else
            MPI_Isend(value, 1, MPI_INT, partner(pair, side, 1), 2 * pair + side, MPI_COMM_WORLD,
                      &sends[place][2 * pair + side]);
    }
}

static void wait_for_sends(MPI_Request *both)
{
    if (kind == WAITS)
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (int side = 0, flag = 0; side < 2 && kind != WAITS && kind != FREE; side++, flag = 0)
        while (!flag)
            MPI_Test(&both[side], &flag, MPI_STATUS_IGNORE);
}

static void advance(int pair)
{
    complete[pair] = complete[n_pairs + pair] = 0;
    sum += in[pair] + in[n_pairs + pair];
    wait_for_sends(&sends[0][2 * pair]);
    sleep_now_and_then();
    if (++done[pair] > n_rounds)
        return;
    send(pair, done[pair]);
    post(pair);
}

static void look(void)
{
    int n = 2 * n_pairs, outcount = 0, indices[2 * MOST];
    if (kind == ANY) {
        MPI_Waitany(n, receives, indices, MPI_STATUS_IGNORE);
        outcount = indices[0] == MPI_UNDEFINED ? 0 : 1;
    } else if (kind == WAITS) {
        MPI_Waitsome(n, receives, &outcount, indices, MPI_STATUSES_IGNORE);
    } else {
        MPI_Testsome(n, receives, &outcount, indices, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; outcount != MPI_UNDEFINED && i < outcount; i++)
        complete[indices[i]] = 1;
}

/* Looks once, and goes on with the pairs that are ready. */
static void go_on(void)
{
    sleep_now_and_then();
    look();
    for (int pair = 0, any = 0; pair < n_pairs && !(kind == LATE && any); pair++) {
        if (complete[pair] && complete[n_pairs + pair]) {
            advance(pair);
            any = 1;
        }
    }
}

static int is_done(void)
{
    for (int pair = 0; pair < n_pairs; pair++)
        if (done[pair] <= n_rounds)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    while (kind < KINDS && argc > 2 && strcmp(argv[1], kinds[kind]) != 0)
        kind++;
    if (argc < 3 || kind == KINDS)
        return 2;
    n_rounds = argc > 3 ? atoi(argv[3]) : n_rounds;
    n_pairs = argc > 4 ? atoi(argv[4]) : n_pairs;
    if (n_rounds < 0 || n_rounds > MOST_ROUNDS || n_pairs < 1 || n_pairs > MOST)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = (unsigned)atoi(argv[2]) * 2654435761u ^ (unsigned)(rank + 1) * 40503u;
    for (int i = 0; i <= MOST_ROUNDS; i++)
        for (int k = 0; k < 2 * MOST; k++)
            sends[i][k] = MPI_REQUEST_NULL;
    for (int pair = 0; pair < n_pairs; pair++)
        post(pair);
    for (int pair = 0; pair < n_pairs; pair++)
        send(pair, 0);
    while (!is_done())
        go_on();
    for (int i = 0; i <= (kind == FREE ? n_rounds : 0); i++)
        MPI_Waitall(2 * n_pairs, sends[i], MPI_STATUSES_IGNORE);

    long expected = 0, all, right;
    for (int round = 0; round <= n_rounds; round++)
        expected += 2 * n_pairs * (1000 * round + rank);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&expected, &right, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pairs: %s: %s\n", argv[1], all == right ? "as expected" : "wrong");
    MPI_Finalize();
    return 0;
}
