/* SPDX-License-Identifier: BSD-3-Clause */
/* variable_names.h: the C names of the variables of handles and requests (variables.c). */
#ifndef PROXYGEN_VARIABLE_NAMES_H
#define PROXYGEN_VARIABLE_NAMES_H

#include "emitter.h"
#include "src/proxygen/plan/passes.h"

/* The C type of a handle, the name of its arrays, and its null constant. */
typedef struct {
    WendKind kind;
    const char *ctype, *name, *null;
} HandleVariable;
const HandleVariable *variable_name_handle_kind(WendKind kind);
const char *variable_name_handle_ctype(WendKind kind);
const char *variable_name_handle_null(WendKind kind);

/* "comm" or "comm_of_thread_2"; newly allocated, as are all below. */
char *variable_name_array(WendKind kind, guint thread);
/* "", or "_of_thread_2" for a further thread. */
char *variable_name_suffix(guint thread);
/* "comm[3]" for a handle of thread 0, "comm_of_thread_2[3]" for one of thread 2. */
char *variable_name_of_handle(Emitter *e, WendKind kind, gint64 handle);
/* The variable of a request on the RANKS that make a call: "request[3]", or "request[at[3]]" if the
 * slot differs (request_slots.c). */
char *variable_name_of_request(Emitter *e, gint64 request, RankList ranks);
/* The statement before a call that makes the request, "at[3] = next_slot(3);", or NULL if the
 * request keeps its slot. */
char *variable_name_of_request_moves(Emitter *e, gint64 request, RankList ranks);
/* A pointer to the first slot of a direct list. */
char *variable_name_of_list(Emitter *e, const RequestList *list, RankList ranks);

#endif
