/* SPDX-License-Identifier: BSD-3-Clause */
/* channels.c: see replay-private.h. */
#include "replay-private.h"

#include "lib/base/budget.h"
#include "objects/objects.h"
#include "process/futex.h"

#define PAUSE INT64_C(1000000) /* ns. A thread that waits lets MPI make progress so often */

static _Atomic uint64_t *over; /* by channel: turns that are over */
static uint64_t n_channels;
static _Atomic uint32_t changes; /* of all channels */
static _Atomic uint32_t waiting; /* threads */
static _Atomic bool given_up;

bool channels_open(uint64_t n)
{
    if (n == 0)
        return true;
    over = n < SIZE_MAX / sizeof *over ? budget_zeroed(n * sizeof *over) : NULL;
    n_channels = over ? n : 0;
    return over != NULL;
}

static bool has_come(const ReplayedTurn *turn)
{
    return atomic_load(&over[turn->channel]) >= turn->number || atomic_load(&given_up)
           || atomic_load(&state()->broken);
}

bool channel_wait(ActiveCall *c, const ReplayedTurn *turn)
{
    if (turn->channel >= n_channels || has_come(turn))
        return !atomic_load(&given_up);
    atomic_store_explicit(&c->waits_for_turn, true, memory_order_relaxed);
    atomic_fetch_add(&waiting, 1);
    for (;;) {
        uint32_t seen = atomic_load(&changes);
        if (has_come(turn))
            break;
        futex_wait(&changes, seen, PAUSE);
        progress_make();
    }
    atomic_fetch_sub(&waiting, 1);
    atomic_store_explicit(&c->waits_for_turn, false, memory_order_relaxed);
    return !atomic_load(&given_up);
}

static void wake(void)
{
    atomic_fetch_add(&changes, 1);
    if (atomic_load(&waiting) > 0)
        futex_wake(&changes);
}

void channel_pass(const ReplayedTurn *turn)
{
    if (turn->channel >= n_channels)
        return;
    atomic_fetch_add(&over[turn->channel], 1);
    wake();
}

void channels_give_up(void)
{
    atomic_store(&given_up, true);
    wake();
}
