/* SPDX-License-Identifier: BSD-3-Clause */
/* variable_names.h: where handles and requests are, as C (variables.h). */
#ifndef PROXYGEN_VARIABLE_NAMES_H
#define PROXYGEN_VARIABLE_NAMES_H

#include "emitter.h"
#include "src/proxygen/plan/passes.h"

/* The C type of a handle, the name of its arrays, and that of its null constant. */
typedef struct {
    WendKind kind;
    const char *ctype, *name, *null;
} HandleVariable;
const HandleVariable *handle_kind(WendKind kind);
const char *handle_ctype(WendKind kind);
const char *handle_null(WendKind kind);

/* "comm" or "comm_of_thread_2"; newly allocated, as all below. */
char *variable_array(WendKind kind, guint thread);
/* "", or for a further thread "_of_thread_2". */
char *variables_suffix(guint thread);
/* "comm[3]" for a handle of thread 0, "comm_of_thread_2[3]" for one of another. */
char *variable_of_handle(Emitter *e, WendKind kind, gint64 handle);
/* As the RANKS that make a call have it: "request[3]", or "request[at[3]]" where that differs
 * (request_slots.h). */
char *variable_of_request(Emitter *e, gint64 request, RankList ranks);
/* A statement to stand before a call that makes it, "at[3] = next_place(3);", or NULL. */
char *variable_of_request_moves(Emitter *e, gint64 request, RankList ranks);
/* A pointer to the first place of a direct list. */
char *variables_of_list(Emitter *e, const RequestList *list, RankList ranks);

#endif
