/* SPDX-License-Identifier: BSD-3-Clause */
/* race_requests.c: races of messages whose requests are hard to tell apart, or of another kind than
 * receives. */
#include "race.h"

/* Each request has two variables, and is completed through either. */
static void copied(void)
{
    if (rank > 0)
        send_all(10, 2);
    for (int n = 0; rank == 0 && n < MESSAGES * (size - 1); n += POOL) {
        MPI_Request r[POOL], copy[POOL], mixed[POOL + 1];
        int v[POOL], here = MESSAGES * (size - 1) - n < POOL ? MESSAGES * (size - 1) - n : POOL;
        for (int i = 0; i < POOL; i++)
            r[i] = copy[i] = MPI_REQUEST_NULL;
        for (int i = 0; i < here; i++) {
            MPI_Irecv(&v[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
            copy[i] = r[i];
        }
        for (int i = 0; i < POOL; i++)
            mixed[i] = i % 2 ? copy[i] : r[i];
        mixed[POOL] = MPI_REQUEST_NULL;
        for (int left = here; left > 0;) {
            int i, found;
            MPI_Testany(POOL + 1, mixed, &i, &found, MPI_STATUS_IGNORE);
            if (!found || i == MPI_UNDEFINED)
                continue;
            mix(i);
            mix(v[i]);
            left--;
        }
    }
}

/* Active, inactive and null requests in one array. */
static void inactive(void)
{
    enum { N = 6 }; /* persistent, inactive at times, in even places */
    MPI_Request r[N];
    int v[N], all = MESSAGES * (size - 1);
    if (rank > 0)
        send_all(20, 1);
    if (rank > 0 || size == 1)
        return;
    for (int i = 0; i < N; i++) {
        r[i] = MPI_REQUEST_NULL;
        if (i % 2 == 0)
            MPI_Recv_init(&v[i], 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &r[i]);
    }
    int is_active[N] = {0};
    for (int got = 0, active = 0, i, n, found, which[N]; got < all;) {
        MPI_Status s[N];
        if (active == 0) {
            MPI_Testall(N, r, &found, s);
            mix(found);
            MPI_Waitany(N, r, &i, &s[0]);
            mix(i == MPI_UNDEFINED);
            MPI_Testsome(N, r, &n, which, s);
            mix(n == MPI_UNDEFINED);
        }
        for (i = 0; i < N && active <= got % 3 && got + active < all; i += 2) {
            if (is_active[i])
                continue;
            MPI_Request_get_status(r[i], &found, &s[0]);
            mix(found);
            MPI_Start(&r[i]);
            is_active[i] = 1;
            active++;
        }
        if (got % 2) {
            n = 1;
            MPI_Waitany(N, r, &which[0], &s[0]);
        } else {
            MPI_Waitsome(N, r, &n, which, s);
        }
        for (i = 0; i < n; i++) {
            mix(which[i]);
            mix(v[which[i]]);
            mix(s[i].MPI_SOURCE);
            is_active[which[i]] = 0;
        }
        got += n;
        active -= n;
    }
    for (int i = 0; i < N; i += 2)
        MPI_Request_free(&r[i]);
}

/* Sends that are complete at once have one handle in MPICH. They are in one array with receives. */
static void one_handle(void)
{
    enum { N = 8 };
    for (int round = 0; round < MESSAGES; round++) {
        MPI_Request r[2 * N];
        int v[2 * N], left = 2 * N;
        for (int i = 0; i < N; i++) {
            v[i] = 1000 * rank + N * round + i;
            int dest = i % 4 == 3 ? MPI_PROC_NULL : (rank + i) % size;
            if (i == N / 2)
                nap();
            MPI_Isend(&v[i], 1, MPI_INT, dest, 30 + i, MPI_COMM_WORLD, &r[i]);
            MPI_Irecv(&v[N + i], 1, MPI_INT, i % 4 == 3 ? MPI_PROC_NULL : MPI_ANY_SOURCE, 30 + i,
                      MPI_COMM_WORLD, &r[N + i]);
        }
        while (left > 0) {
            int n, which[2 * N];
            MPI_Testsome(2 * N, r, &n, which, MPI_STATUSES_IGNORE);
            for (int i = 0; i < n; i++) {
                mix(which[i]);
                if (which[i] >= N && which[i] % 4 != 3)
                    mix(v[which[i]]);
            }
            left -= n;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static int query(void *extra, MPI_Status *s)
{
    MPI_Status_set_elements(s, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = *(int *)extra;
    s->MPI_TAG = 7;
    return MPI_SUCCESS;
}

static int forget(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

/* Generalized requests are completed as messages come, and seen to be complete in between. */
static void generalized(void)
{
    enum { G = 3 };
    int extra[G] = {3, 5, 8}, v, all = MESSAGES * (size - 1);
    MPI_Request r[G + 1];
    if (rank > 0)
        send_all(40, 1);
    if (rank > 0 || size == 1)
        return;
    for (int g = 0; g < G; g++)
        MPI_Grequest_start(query, forget, cancel, &extra[g], &r[g]);
    MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &r[G]);
    for (int got = 0, i, found; got < all;) {
        MPI_Status s;
        MPI_Testany(G + 1, r, &i, &found, &s);
        if (!found)
            continue;
        mix(i);
        mix(s.MPI_SOURCE);
        if (i < G) {
            MPI_Grequest_start(query, forget, cancel, &extra[i], &r[i]);
            continue;
        }
        mix(v);
        MPI_Grequest_complete(r[v % G]);
        if (v % 2) { /* seen at once, or with those that are complete by then */
            MPI_Wait(&r[v % G], &s);
            mix(s.MPI_SOURCE);
            MPI_Grequest_start(query, forget, cancel, &extra[v % G], &r[v % G]);
        } else {
            MPI_Request_get_status(r[v % G], &found, &s);
            mix(found);
            MPI_Wait(&r[v % G], MPI_STATUS_IGNORE);
            MPI_Grequest_start(query, forget, cancel, &extra[v % G], &r[v % G]);
        }
        if (++got < all)
            MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &r[G]);
    }
    for (int g = 0; g < G; g++) {
        MPI_Grequest_complete(r[g]);
        MPI_Wait(&r[g], MPI_STATUS_IGNORE);
    }
}

#if MPI_VERSION >= 4
/* The order in which partitions are seen to have arrived. */
static void partitioned(void)
{
    enum { N = 8 };
    int v[N] = {0};
    MPI_Request r;
    if (size < 2 || rank > 1)
        return;
    if (rank == 0)
        MPI_Precv_init(v, N, 1, MPI_INT, 1, 50, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    else
        MPI_Psend_init(v, N, 1, MPI_INT, 0, 50, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int round = 0; round < MESSAGES; round++) {
        int first = 3 * round % N, done = 0, arrived[N] = {0}, n = 0;
        MPI_Start(&r);
        for (int i = 0; rank == 1 && i < N; i++) {
            int p = (first + i) % N;
            v[p] = 100 * round + p;
            nap();
            MPI_Pready(p, r);
        }
        for (long polls = 0; rank == 0 && n < N; polls++) {
            int p = (int)(polls % N);
            if (!arrived[p])
                MPI_Parrived(r, p, &arrived[p]);
            else
                continue;
            if (arrived[p]) {
                mix(p);
                mix(v[p]);
                n++;
            }
        }
        while (!done)
            MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
}
#endif

/* A function that MPI calls, and that receives a message from any source. */
static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    int v;
    MPI_Status s;
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &s);
    mix(v);
    mix(s.MPI_SOURCE);
    return MPI_SUCCESS;
}

static void called_back(void)
{
    int key;
    if (rank > 0)
        send_all(60, 1);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    for (int i = 0; rank == 0 && i < MESSAGES * (size - 1); i++) {
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    }
    MPI_Comm_free_keyval(&key);
}

/* The same tag and source on a communicator and two that were made from it. */
static void derived(void)
{
    MPI_Comm comm[3] = {MPI_COMM_WORLD};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    MPI_Comm_split(comm[1], 0, -rank, &comm[2]); /* ranks the other way round */
    for (int i = 0; rank > 0 && i < 3 * MESSAGES; i++) {
        int v = 1000 * rank + i;
        nap();
        MPI_Send(&v, 1, MPI_INT, i % 3 == 2 ? size - 1 : 0, 70, comm[i % 3]);
    }
    if (rank == 0) {
        MPI_Request r[3];
        int v[3], left[3];
        for (int i = 0; i < 3; i++) {
            left[i] = MESSAGES * (size - 1);
            r[i] = MPI_REQUEST_NULL;
            if (left[i] > 0)
                MPI_Irecv(&v[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm[i], &r[i]);
        }
        for (int i, all = 3 * MESSAGES * (size - 1); all > 0; all--) {
            MPI_Status s;
            MPI_Waitany(3, r, &i, &s);
            mix(i);
            mix(v[i]);
            mix(s.MPI_SOURCE);
            if (--left[i] > 0)
                MPI_Irecv(&v[i], 1, MPI_INT, MPI_ANY_SOURCE, 70, comm[i], &r[i]);
        }
    }
    MPI_Comm_free(&comm[2]);
    MPI_Comm_free(&comm[1]);
}

/* Senders see the order in which synchronous and buffered sends complete. */
static void completed_sends(void)
{
    enum { N = 6 };
    static char room[MESSAGES * N * (sizeof(int) + MPI_BSEND_OVERHEAD)];
    void *given;
    int bytes;
    MPI_Buffer_attach(room, (int)sizeof room);
    for (int round = 0; round < MESSAGES / 2; round++) {
        MPI_Request r[N];
        int v[N], left = rank > 0 ? N : 0, i, found;
        for (i = 0; rank > 0 && i < N; i++) {
            v[i] = 1000 * rank + N * round + i;
            if (i % 3 == 0)
                MPI_Ibsend(&v[i], 1, MPI_INT, 0, 80, MPI_COMM_WORLD, &r[i]);
            else
                MPI_Issend(&v[i], 1, MPI_INT, 0, 80 + i % 3, MPI_COMM_WORLD, &r[i]);
        }
        while (left > 0) {
            MPI_Testany(N, r, &i, &found, MPI_STATUS_IGNORE);
            if (!found)
                continue;
            mix(i);
            left--;
        }
        for (i = 0; rank == 0 && i < N * (size - 1); i++) {
            MPI_Status s;
            nap();
            MPI_Recv(&v[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            mix(v[0]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0 && round % 3 == 0) {
            MPI_Bsend(&rank, 1, MPI_INT, 0, 89, MPI_COMM_WORLD);
            MPI_Buffer_detach(&given, &bytes);
            MPI_Buffer_attach(given, bytes);
        }
        for (i = 1; rank == 0 && round % 3 == 0 && i < size; i++) {
            MPI_Recv(&v[0], 1, MPI_INT, MPI_ANY_SOURCE, 89, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mix(v[0]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&given, &bytes);
}

/* Receives whose status is asked for before they are freed, and a send that may be cancelled. */
static void looked_at(void)
{
    MPI_Request r[2];
    MPI_Status s;
    int v[2], w, flag = 0;
    if (rank > 0)
        send_all(95, 1);
    for (int n = 0; rank == 0 && n < MESSAGES * (size - 1); n += 2) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&v[i], 1, MPI_INT, MPI_ANY_SOURCE, 95, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < 2; i++) {
            do
                MPI_Request_get_status(r[i], &flag, &s);
            while (!flag);
            mix(s.MPI_SOURCE);
            mix(v[i]);
            MPI_Request_free(&r[i]);
        }
    }
    MPI_Issend(&rank, 1, MPI_INT, 0, 96, MPI_COMM_SELF, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Request_get_status(r[0], &flag, &s);
    if (flag)
        MPI_Test_cancelled(&s, &flag);
    mix(flag);
    if (!flag)
        MPI_Recv(&w, 1, MPI_INT, 0, 96, MPI_COMM_SELF, &s);
    MPI_Request_free(&r[0]);
}

/* Requests and probes that leave a source or a tag open, and not both. */
static void half_open(void)
{
    enum { N = 4 };
    MPI_Request r[N];
    int v[N], is_active[N] = {1, 1, 1, 1};
    if (rank > 0)
        send_all(100, 4);
    if (rank > 0 || size == 1)
        return;
    /* Tag 100 from any source; from rank 1 also any other; the rest by probes. */
    MPI_Irecv(&v[0], 1, MPI_INT, MPI_ANY_SOURCE, 100, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&v[1], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
    MPI_Recv_init(&v[2], 1, MPI_INT, MPI_ANY_SOURCE, 101, MPI_COMM_WORLD, &r[2]);
    MPI_Recv_init(&v[3], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &r[3]);
    MPI_Startall(2, &r[2]);
    int got = 0;
    while (got < MESSAGES * (size - 1) - N) {
        MPI_Status s;
        MPI_Message m;
        int i, found, w;
        MPI_Testany(N, r, &i, &found, &s);
        if (found && i != MPI_UNDEFINED) {
            mix(i);
            mix(v[i]);
            mix(s.MPI_TAG);
            got++;
            is_active[i] = i >= 2;
            if (i >= 2)
                MPI_Start(&r[i]);
        }
        MPI_Iprobe(MPI_ANY_SOURCE, 102, MPI_COMM_WORLD, &found, &s);
        if (found) {
            MPI_Recv(&w, 1, MPI_INT, s.MPI_SOURCE, 102, MPI_COMM_WORLD, &s);
            mix(w);
            got++;
        }
        for (int from = 1; from < size; from++) {
            MPI_Improbe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &m, &s);
            if (!found)
                continue;
            MPI_Mrecv(&w, 1, MPI_INT, &m, &s);
            mix(w);
            mix(s.MPI_TAG);
            got++;
        }
    }
    for (int i = 0; i < N; i++) {
        MPI_Status s;
        int flag;
        if (is_active[i]) {
            MPI_Cancel(&r[i]);
            MPI_Wait(&r[i], &s);
            MPI_Test_cancelled(&s, &flag);
            mix(flag ? -1 : v[i]);
            got += !flag;
        }
        if (i >= 2)
            MPI_Request_free(&r[i]);
    }
    for (; got < MESSAGES * (size - 1); got++) {
        MPI_Recv(&v[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mix(v[0]);
    }
}

/* Receives that are completed together, where some messages are too long: each status has the
 * error of its receive. */
static void errors_together(void)
{
    int all = MESSAGES * (size - 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; rank > 0 && i < MESSAGES; i++) {
        int v[2] = {rank * 1000 + i, i};
        nap();
        MPI_Send(v, (rank + i) % 4 == 0 ? 2 : 1, MPI_INT, 0, 110, MPI_COMM_WORLD);
    }
    for (int n = 0; rank == 0 && n < all; n += POOL) {
        MPI_Request r[POOL];
        MPI_Status s[POOL];
        int v[POOL], here = all - n < POOL ? all - n : POOL, class;
        for (int k = 0; k < here; k++)
            MPI_Irecv(&v[k], 1, MPI_INT, MPI_ANY_SOURCE, 110, MPI_COMM_WORLD, &r[k]);
        int rc = MPI_Waitall(here, r, s);
        MPI_Error_class(rc, &class);
        mix(class);
        for (int k = 0; k < here; k++) {
            int error = class == MPI_ERR_IN_STATUS ? s[k].MPI_ERROR : rc, of_one;
            MPI_Error_class(error, &of_one);
            mix(of_one);
            if (of_one == MPI_ERR_PENDING)
                MPI_Error_class(MPI_Wait(&r[k], &s[k]), &of_one);
            mix(of_one == MPI_SUCCESS ? v[k] : -1);
            mix(of_one == MPI_SUCCESS ? s[k].MPI_SOURCE : -1);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A nonblocking consensus (see race.c) whose receive, barrier and sum are in one array. */
static void nbx_together(void)
{
    enum { RECEIVE, BARRIER, SUM, N };
    for (int round = 0; round < MESSAGES / 2; round++) {
        MPI_Request out[3], r[N] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status s[N];
        int n = rank % 3 + 1, v, sum = 0, done = 0, in_barrier = 0, flag;
        for (int i = 0; i < n; i++)
            MPI_Issend(&rank, 1, MPI_INT, (rank + 1 + i) % size, 120, MPI_COMM_WORLD, &out[i]);
        MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 120, MPI_COMM_WORLD, &r[RECEIVE]);
        while (done < 2) {
            int which[N], completed;
            if (in_barrier && round % 2)
                MPI_Waitsome(N, r, &completed, which, s);
            else
                MPI_Testany(N, r, &which[0], &completed, &s[0]);
            for (int i = 0; i < completed; i++) {
                mix(which[i]);
                done += which[i] != RECEIVE;
                if (which[i] != RECEIVE)
                    continue;
                mix(v);
                MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 120, MPI_COMM_WORLD, &r[RECEIVE]);
            }
            flag = 0;
            if (!in_barrier)
                MPI_Testall(n, out, &flag, MPI_STATUSES_IGNORE);
            if (flag) {
                nap();
                MPI_Ibarrier(MPI_COMM_WORLD, &r[BARRIER]);
                MPI_Iallreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[SUM]);
                in_barrier = 1;
            }
        }
        mix(sum);
        MPI_Cancel(&r[RECEIVE]); /* its message may have come */
        MPI_Wait(&r[RECEIVE], &s[0]);
        MPI_Test_cancelled(&s[0], &flag);
        mix(flag ? -1 : v);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static const Part parts[] = {{"copied", copied},
                             {"inactive", inactive},
                             {"one_handle", one_handle},
                             {"generalized", generalized},
#if MPI_VERSION >= 4
                             {"partitioned", partitioned},
#else
                             {"partitioned", NULL},
#endif
                             {"called_back", called_back},
                             {"derived", derived},
                             {"completed_sends", completed_sends},
                             {"looked_at", looked_at},
                             {"half_open", half_open},
                             {"errors_together", errors_together},
                             {"nbx_together", nbx_together}};

/* race_requests [PART…]: all parts, or those. */
int main(int argc, char **argv)
{
    return race(argc, argv, parts, sizeof parts / sizeof *parts);
}
