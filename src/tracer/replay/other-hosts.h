/* SPDX-License-Identifier: BSD-3-Clause */
/* other-hosts.h: what the hosts of a replay know of each other. The ranks of one host see each
 * other's pages (supervise.c). The first rank of each host is connected to rank 0 by TCP. */
#ifndef WEND_OTHER_HOSTS_H
#define WEND_OTHER_HOSTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What one host says of its ranks. */
typedef struct {
    uint32_t ranks; /* that are known */
    bool waits;     /* all of them wait, as long as the replay has patience, or have ended */
    bool ended;     /* one has come to the end of the recording of a run that died */
    bool stopped;   /* one has stopped at --until */
    bool freed;     /* one has departed, with --on-divergence=free */
} HostNote;

/* What the other hosts have said. Only rank 0 knows COMPLETE and WAIT. */
typedef struct {
    bool complete; /* all ranks are on hosts that are connected */
    bool wait;     /* all of them wait */
    bool ended, stopped, freed;
    bool ends; /* rank 0 ends the job: each host says what its ranks wait for */
} HostsView;

/* Called by all ranks once MPI runs. COMM: a communicator of Wend's own that has all ranks, if the
 * job has several hosts: there rank 0 broadcasts where it listens. Else MPI_COMM_NULL. */
void other_hosts_open(uint32_t rank, uint32_t size, MPI_Comm comm);
void other_hosts_close(void);
/* Whether there are several hosts, and rank 0 listens. */
bool other_hosts_known(void);

/* Tells rank 0 what this host has to say, or, on rank 0, all hosts. Sets *VIEW to what has come.
 * For the first rank of each host, and one thread. Returns false if there is no connection to
 * rank 0. */
bool other_hosts_exchange(const HostNote *own, HostsView *view);
/* Another rank is the first of this host. */
void other_hosts_leave(void);
/* Rank 0: tells the hosts that the job ends, and waits for at most MS milliseconds until they have
 * closed their connections. */
void other_hosts_end(long ms);

#endif
