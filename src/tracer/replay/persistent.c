/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.c: a table of requests, by their handles. */
#include "replay-private.h"

#include "lib/base/budget.h"
#include "own.gen.h"

typedef struct Entry {
    MPI_Request request;
    PersistentReceive receive;
    struct Entry *next;
} Entry;

enum { CHAINS = 256 };
static Entry *chains[CHAINS];
static _Atomic size_t n_entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Entry **find(MPI_Request request)
{
    uintptr_t value = (uintptr_t)request;
    Entry **e = &chains[(value ^ value >> 6 ^ value >> 14) % CHAINS];
    while (*e && (*e)->request != request)
        e = &(*e)->next;
    return e;
}

bool persistent_any(void)
{
    return n_entries > 0;
}

void persistent_add(MPI_Request request, PersistentReceive receive)
{
    Entry *e = budget_zeroed(sizeof *e);
    MPI_Datatype copy;
    if (!e || PMPI_Type_dup(receive.type, &copy) != MPI_SUCCESS) {
        budget_free(e, e ? sizeof *e : 0);
        return;
    }
    receive.type = copy;
    receive.posted = MPI_REQUEST_NULL;
    *e = (Entry){request, receive, NULL};
    bool locked = state_lock(&lock);
    *find(request) = e;
    n_entries++;
    state_unlock(&lock, locked);
}

void persistent_remove(MPI_Request request)
{
    bool locked = state_lock(&lock);
    Entry **at = find(request), *e = *at;
    if (e) {
        *at = e->next;
        n_entries--;
    }
    state_unlock(&lock, locked);
    if (!e)
        return;
    PMPI_Type_free(&e->receive.type);
    if (e->receive.posted != MPI_REQUEST_NULL)
        PMPI_Request_free(&e->receive.posted);
    budget_free(e, sizeof *e);
}

void persistent_close(void)
{
    for (size_t i = 0; i < CHAINS; i++)
        for (; chains[i]; n_entries--) {
            Entry *e = chains[i];
            chains[i] = e->next;
            PMPI_Type_free(&e->receive.type);
            budget_free(e, sizeof *e);
        }
}

PersistentReceive *persistent_find(MPI_Request request)
{
    if (n_entries == 0)
        return NULL;
    bool locked = state_lock(&lock);
    Entry *e = *find(request);
    state_unlock(&lock, locked);
    return e ? &e->receive : NULL;
}

int persistent_start(PersistentReceive *r, Posting p)
{
    r->nowhere = p.comm != r->as_called.comm;
#ifdef HAVE_MPI_Irecv_c
    if (r->large)
        return PMPI_Irecv_c(r->buf, r->count, r->type, p.source, p.tag, p.comm, &r->posted);
#endif
    return PMPI_Irecv(r->buf, (int)r->count, r->type, p.source, p.tag, p.comm, &r->posted);
}
