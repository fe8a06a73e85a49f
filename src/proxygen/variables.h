/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.h: where the proxy keeps handles and requests. */
#ifndef PROXYGEN_VARIABLES_H
#define PROXYGEN_VARIABLES_H

#include "emit.h"
#include "positions.h"

void variables_free(Variables *v);

/* "comm[3]" for a handle of thread 0, "comm_of_thread_2[3]" for one of another; newly allocated. */
char *variable_of_handle(Emitter *e, WendKind kind, gint64 handle);
/* May the variable stand for several references to one object? Then freeing one must leave its value to the others. */
gboolean variable_is_shared(Plan *plan, WendKind kind, gint64 handle);
/* As the RANKS that make a call have it: "request[3]", or "request[at[3]]" where that differs (positions.h). */
char *variable_of_request(Emitter *e, gint64 request, RankSet ranks);
/* A statement to stand before a call that makes it, "at[3] = next_place(3);", or NULL. */
char *variable_of_request_moves(Emitter *e, gint64 request, RankSet ranks);
/* A pointer to the first place of a direct list. */
char *variables_of_list(Emitter *e, const RequestList *list, RankSet ranks);
/* Where requests are differs: NULL, or what is known of that. */
const Positions *variables_positions(const Plan *plan);
/* The list that holds these words; the same one for equal words. NULL when none of them is a request. */
RequestList *variables_request_list(Plan *plan, const Word *words, gint64 n);

/* "", or for a further thread "_of_thread_2". */
char *variables_suffix(guint thread);
/* Calls FUNCTION(kind's C type, name, length) for each array of variables. */
typedef void (*VariableFunction)(const char *ctype, const char *name, guint length, const char *null, gpointer data);
void variables_foreach(Plan *plan, VariableFunction function, gpointer data);

/* The C type of a handle, and the name of its null constant. */
const char *handle_ctype(WendKind kind);
const char *handle_null(WendKind kind);

#endif
