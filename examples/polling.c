/* SPDX-License-Identifier: BSD-3-Clause */
/* polling: messages from both neighbours of a ring, waited for in each way that MPI has of looking
 * whether something has come.
 *
 *   polling [-m test|testall|testany|testsome|wait|waitany|waitsome|iprobe|improbe|request|all] [-i
 *     MESSAGES] [-w WINDOW]
 *
 * Each rank gets MESSAGES messages from its left and from its right neighbour and sends as many. Up
 * to WINDOW receives for each side are posted; a mode that completes one or some of them posts
 * those again at once, so that requests of different ages are pending together. Between two looks
 * the program does some work of its own and now and then another MPI call. The sum of what came is
 * checked. */
#include <string.h>

#include "example.h"

static const char *const modes[] = {"test",    "testall",  "testany", "testsome", "wait",
                                    "waitany", "waitsome", "iprobe",  "improbe",  "request"};
enum mode {
    TEST,
    TESTALL,
    TESTANY,
    TESTSOME,
    WAIT,
    WAITANY,
    WAITSOME,
    IPROBE,
    IMPROBE,
    REQUEST,
    MODES
};

static int rank, size, sides[2], messages = 12, window = 3;
static long sum;
static int posted[2], received[2]; /* of each side */
static int *buffers;
static MPI_Request *receives; /* side * window + slot */

static int text(int from, int number)
{
    return from * 1000 + number;
}

/* Work between two looks; sometimes it talks to MPI. */
static void work(int *turn)
{
    volatile double x = 0;
    for (int i = 0; i < 50; i++)
        x = x * 0.5 + i;
    if (++*turn % 64 == 0) {
        int flag;
        MPI_Initialized(&flag);
        CHECK(flag);
    }
}

static void post(int request)
{
    int side = request / window;
    if (posted[side] < messages) {
        posted[side]++;
        MPI_Irecv(&buffers[request], 1, MPI_INT, sides[side], side, MPI_COMM_WORLD,
                  &receives[request]);
    }
}

static void arrived(int request, int repost)
{
    sum += buffers[request];
    received[request / window]++;
    if (repost)
        post(request);
}

static int all_received(void)
{
    return received[0] == messages && received[1] == messages;
}

/* Posts a window of receives for each side, if there is something left to receive. */
static void post_window(void)
{
    for (int r = 0; r < 2 * window; r++)
        post(r);
}

/* All receives of the window complete, one by one or together, before the next window. */
static void by_windows(enum mode mode)
{
    int turn = 0;
    while (!all_received()) {
        int before = posted[0], count;
        post_window();
        count = posted[0] - before; /* both sides alike */
        if (mode == TESTALL) {
            for (int done = 0; !done; work(&turn))
                MPI_Testall(2 * window, receives, &done, MPI_STATUSES_IGNORE);
        } else {
            for (int r = 0; r < 2 * window; r++) {
                int done = 0;
                MPI_Status status;
                if (r % window >= count)
                    continue;
                if (mode == WAIT)
                    MPI_Wait(&receives[r], &status);
                else if (mode == REQUEST) {
                    for (; !done; work(&turn))
                        MPI_Request_get_status(receives[r], &done, MPI_STATUS_IGNORE);
                    MPI_Wait(&receives[r], &status);
                } else
                    for (; !done; work(&turn))
                        MPI_Test(&receives[r], &done, &status);
                CHECK(status.MPI_SOURCE == sides[r / window]);
            }
        }
        for (int r = 0; r < 2 * window; r++)
            if (r % window < count)
                arrived(r, 0);
    }
}

/* What completes is posted again. */
static void by_completion(enum mode mode)
{
    int turn = 0, *which = allocate(sizeof *which * 2 * window);
    MPI_Status *statuses = allocate(sizeof *statuses * 2 * window);
    post_window();
    while (!all_received()) {
        int n = 0, flag = 0;
        switch (mode) {
        case TESTANY:
            MPI_Testany(2 * window, receives, which, &flag, statuses);
            n = flag && which[0] != MPI_UNDEFINED;
            break;
        case WAITANY:
            MPI_Waitany(2 * window, receives, which, statuses);
            n = which[0] != MPI_UNDEFINED;
            break;
        case TESTSOME:
            MPI_Testsome(2 * window, receives, &n, which, statuses);
            break;
        default:
            MPI_Waitsome(2 * window, receives, &n, which, statuses);
            break;
        }
        CHECK(n != MPI_UNDEFINED);
        for (int i = 0; i < n; i++) {
            CHECK(statuses[i].MPI_SOURCE == sides[which[i] / window]);
            arrived(which[i], 1);
        }
        work(&turn);
    }
    free(which);
    free(statuses);
}

/* Nothing is posted: the program asks whether a message is there, of anybody. */
static void by_probe(enum mode mode)
{
    int turn = 0;
    while (!all_received()) {
        int flag = 0, value;
        MPI_Status status;
        MPI_Message message;
        if (mode == IPROBE)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        else
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        if (flag) {
            if (mode == IPROBE)
                MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            else
                MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            CHECK(status.MPI_SOURCE == sides[status.MPI_TAG]);
            sum += value;
            received[status.MPI_TAG]++;
        }
        work(&turn);
    }
}

static void run(enum mode mode)
{
    int *out = allocate(sizeof *out * messages);
    MPI_Request *sends = allocate(sizeof *sends * 2 * messages);
    sum = 0;
    for (int s = 0; s < 2; s++)
        posted[s] = received[s] = 0;
    for (int r = 0; r < 2 * window; r++)
        receives[r] = MPI_REQUEST_NULL;
    for (int m = 0; m < messages; m++) {
        out[m] = text(rank, m);
        /* my left neighbour gets it as from its right side */
        MPI_Isend(&out[m], 1, MPI_INT, sides[0], 1, MPI_COMM_WORLD, &sends[2 * m]);
        MPI_Isend(&out[m], 1, MPI_INT, sides[1], 0, MPI_COMM_WORLD, &sends[2 * m + 1]);
    }
    switch (mode) {
    case TEST:
    case TESTALL:
    case WAIT:
    case REQUEST:
        by_windows(mode);
        break;
    case IPROBE:
    case IMPROBE:
        by_probe(mode);
        break;
    default:
        by_completion(mode);
        break;
    }
    MPI_Waitall(2 * messages, sends, MPI_STATUSES_IGNORE);
    long expected = 0;
    for (int m = 0; m < messages; m++)
        expected += text(sides[0], m) + text(sides[1], m);
    CHECK(sum == expected);
    free(out);
    free(sends);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int first = 0, last = MODES - 1;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "m:i:w:")) != -1;)
        switch (o) {
        case 'm':
            if (strcmp(optarg, "all") == 0)
                break;
            for (first = 0; first < MODES && strcmp(optarg, modes[first]); first++)
                ;
            if (first == MODES) {
                fprintf(stderr, "unknown mode: %s\n", optarg);
                return 2;
            }
            last = first;
            break;
        case 'i':
            messages = number(optarg, 0, 100000);
            break;
        case 'w':
            window = number(optarg, 1, 1000);
            break;
        default:
            return 2;
        }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sides[0] = (rank + size - 1) % size;
    sides[1] = (rank + 1) % size;
    buffers = allocate(sizeof *buffers * 2 * window);
    receives = allocate(sizeof *receives * 2 * window);
    for (int mode = first; mode <= last; mode++)
        run((enum mode)mode);
    free(buffers);
    free(receives);
    if (rank == 0)
        printf("polling: %d ranks, %d messages from either side, %d of %d modes\n", size, messages,
               last - first + 1, MODES);
    MPI_Finalize();
    return 0;
}
