/* SPDX-License-Identifier: BSD-3-Clause */
/* lifetimes.h: which datatype or communicator the number of a handle stands for at each call.
 *
 * Numbers of handles come again: the smallest free one is taken. So what a call's handle is depends
 * on the calls before it. This follows them through the grammar of each class, rule by rule: what a
 * rule does to the handles that it finds is found once for each state that it finds them in, so the
 * cost follows the rules and not the calls. A handle of which that cannot be said (made by one
 * thread and used by another, say) stands for any object that ever had its number on that rank. */
#ifndef PROXYGEN_LIFETIMES_H
#define PROXYGEN_LIFETIMES_H

#include "src/proxygen/model/model.h"

typedef struct Lifetimes Lifetimes;

/* The call that made an object. */
typedef struct {
    guint terminal;
    guint slot;        /* of the first of its five facts */
    gboolean absolute; /* a datatype whose bounds are addresses, at least on some ranks */
    /* absolute: definitions of the call's datatypes, in the order of its words; 0 when it is no one
     * handle's */
    guint n_inputs;
    const guint *inputs;
} Definition;

Lifetimes *lifetimes_new(Plan *plan);
void lifetimes_free(Lifetimes *live);

/* Calls FUNCTION for each call that the program holds, as often as its handles stand for different
 * objects, with the ranks that make it so. */
typedef void (*LifetimesFunction)(const CallPattern *c, RankList ranks, gpointer data);
void lifetimes_foreach_call(Lifetimes *live, LifetimesFunction function, gpointer data);

/* In such a function: what the handle can be, on a rank; outside: all that ever had its number.
 * Returns how many; *definitions holds until the next call. */
guint lifetimes_definitions(Lifetimes *live, WendKind kind, gint64 handle, guint rank,
                            const guint **definitions);
const Definition *lifetimes_definition(const Lifetimes *live, guint definition);
/* Do the handles of the call that is visited stand for things that differ by rank? */
gboolean lifetimes_varies(Lifetimes *live, const CallPattern *c);
/* Fact number FACT (0 to 4, docs/recording.md) of an object. */
gint64 lifetimes_fact(const Lifetimes *live, const Definition *d, guint fact, guint rank);

#endif
