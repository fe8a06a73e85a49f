/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.h: the variables of the proxy for handles and requests: arrays by kind, and by the
 * thread that makes the objects. variable_names.h has the names. */
#ifndef PROXYGEN_VARIABLES_H
#define PROXYGEN_VARIABLES_H

#include "request_slots.h"

typedef struct Variables Variables;

/* Assigns a variable to each handle and request. */
void plan_variables(Plan *plan);
void variables_free(Variables *v);

/* Whether the variable may hold several references to one object. Freeing one must then leave the
 * value for the others. */
gboolean variables_are_shared(const Plan *plan, WendKind kind, gint64 handle);
/* The slot of a request in its array, if it is the same on all RANKS at all times; else -1. */
gint64 variables_place(const Plan *plan, gint64 request, RankList ranks);
/* The thread whose array has the requests of THREAD. */
guint variables_array_of_requests(const Plan *plan, guint thread);
/* The request slots, if they differ by rank or in time; else NULL. */
const RequestSlots *variables_request_slots(const Plan *plan);
/* The list with these words; equal words give the same list. NULL if none of them is a request. */
RequestList *variables_request_list(const Plan *plan, const Word *words, gint64 n);

/* Calls FUNCTION for each array that is not empty, ordered by kind and then by thread. */
typedef void (*VariableFunction)(WendKind kind, guint thread, guint length, gpointer data);
void variables_foreach(const Plan *plan, VariableFunction function, gpointer data);

#endif
