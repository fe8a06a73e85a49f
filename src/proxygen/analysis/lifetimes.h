/* SPDX-License-Identifier: BSD-3-Clause */
/* lifetimes.h: finds the datatype or communicator that a handle stands for at each call.
 *
 * A number of a handle is used again after the object is freed: a new object gets the smallest free
 * number. So the object depends on the calls before. This module follows the objects through the
 * grammar of each class, rule by rule. The effect of a rule is found once for each state of the
 * handles before it, so the cost depends on the rules and not on the calls. The object may be
 * unknown, for example if one thread makes it and another uses it. Then the handle stands for any
 * object that ever had its number on that rank. */
#ifndef PROXYGEN_LIFETIMES_H
#define PROXYGEN_LIFETIMES_H

#include "src/proxygen/model/model.h"

typedef struct Lifetimes Lifetimes;

/* The call that made an object. */
typedef struct {
    guint terminal;
    guint slot;        /* slot of the first of its five facts */
    gboolean absolute; /* a datatype whose bounds are addresses, on some ranks at least */
    /* if absolute: the definitions of the call's datatypes, in the order of its words; 0 for a
     * datatype that has no single definition */
    guint n_inputs;
    const guint *inputs;
} Definition;

Lifetimes *lifetimes_new(Plan *plan);
void lifetimes_free(Lifetimes *live);

/* Calls FUNCTION for each call of the program. If its handles stand for several objects over time,
 * FUNCTION is called once for each, with the ranks that make the call so. */
typedef void (*LifetimesFunction)(const CallPattern *c, RankList ranks, gpointer data);
void lifetimes_foreach_call(Lifetimes *live, LifetimesFunction function, gpointer data);

/* The objects that the handle may stand for on a rank. Inside a LifetimesFunction they are those at
 * that call, else all that ever had its number. Returns their number. *definitions is valid until
 * the next call of this function. */
guint lifetimes_definitions(Lifetimes *live, WendKind kind, gint64 handle, guint rank,
                            const guint **definitions);
const Definition *lifetimes_definition(const Lifetimes *live, guint definition);
/* Whether the handles of the call that is visited stand for objects that differ by rank. */
gboolean lifetimes_varies(Lifetimes *live, const CallPattern *c);
/* Fact number FACT (0 to 4, docs/recording.md) of an object on RANK. */
gint64 lifetimes_fact(const Lifetimes *live, const Definition *d, guint fact, guint rank);

#endif
