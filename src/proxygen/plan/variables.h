/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.h: where the proxy keeps handles and requests: in arrays by kind, and by the thread
 * that makes them. variable_names.h has the names. */
#ifndef PROXYGEN_VARIABLES_H
#define PROXYGEN_VARIABLES_H

#include "request_slots.h"

typedef struct Variables Variables;

/* Gives each handle and request its variable. */
void plan_variables(Plan *plan);
void variables_free(Variables *v);

/* May the variable stand for several references to one object? Then freeing one must leave its
 * value to the others. */
gboolean variables_are_shared(const Plan *plan, WendKind kind, gint64 handle);
/* The place of a request in its array, if it is the same on all RANKS at all times; else -1. */
gint64 variables_place(const Plan *plan, gint64 request, RankList ranks);
/* The thread whose array has the requests of THREAD. */
guint variables_array_of_requests(const Plan *plan, guint thread);
/* Where requests are differs: NULL, or what is known of that. */
const RequestSlots *variables_request_slots(const Plan *plan);
/* The list that holds these words; the same one for equal words. NULL: none of them is a
 * request. */
RequestList *variables_request_list(const Plan *plan, const Word *words, gint64 n);

/* Calls FUNCTION for each array that is not empty, in the order of kinds, and then of threads. */
typedef void (*VariableFunction)(WendKind kind, guint thread, guint length, gpointer data);
void variables_foreach(const Plan *plan, VariableFunction function, gpointer data);

#endif
