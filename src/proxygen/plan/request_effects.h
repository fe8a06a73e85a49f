/* SPDX-License-Identifier: BSD-3-Clause */
/* request_effects.h: what calls do to requests, and which sequences of a class name requests. */
#ifndef PROXYGEN_REQUEST_EFFECTS_H
#define PROXYGEN_REQUEST_EFFECTS_H

#include "request_lists.h"
#include "request_numbers.h"

/* The effect of a terminal on requests. */
typedef struct {
    RequestList *list; /* the array of the call, or NULL */
    /* of gint: the numbers of the requests that it makes, and by entry of the requests that it is
     * given, NO_REQUEST_NUMBER for none */
    GArray *makes, *gives;
    gboolean frees;
    gboolean differs; /* the requests that it completes may differ by rank */
} RequestEffect;

/* The effects of all terminals of the plan. */
typedef struct {
    const Plan *plan;
    const RequestLists *lists;
    RequestNumbers *numbers;
    RequestEffect **of; /* by terminal; NULL: it has no requests */
} RequestEffects;

/* Finds the effects of all terminals. Their requests get numbers, and indices. The caller owns all
 * three arguments, and keeps them as long as the result. */
RequestEffects *request_effects_find(const Plan *plan, const RequestLists *lists,
                                     RequestNumbers *numbers);
void request_effects_free(RequestEffects *effects);

/* The N-th number of MAKES and GIVES together; both have request_effect_count. */
guint request_effect_count(const RequestEffect *effect);
gint request_effect_number(const RequestEffect *effect, guint n);

/* How a class uses requests. */
typedef struct {
    const WendClass *class;
    gboolean *walks; /* by sequence: it names requests */
    /* by number: its lifetime is unlimited, because several sequences or a callback name it */
    gboolean *stays;
    gboolean same; /* completions are equal on all ranks of the class */
} RequestUse;

RequestUse *request_effects_use(const RequestEffects *effects, const WendClass *class);
void request_use_free(RequestUse *use);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RequestUse, request_use_free)

#endif
