/* variables.h: where the proxy keeps handles and requests. */
#ifndef PROXYGEN_VARIABLES_H
#define PROXYGEN_VARIABLES_H

#include "plan.h"

void variables_free(Variables *v);

/* "comm[3]" for a handle of thread 0, "comm_of_thread_2[3]" for one of another; newly allocated. */
char *variable_of_handle(Plan *plan, WendKind kind, gint64 handle);
/* May the variable stand for several references to one object? Then freeing one must leave its value to the others. */
gboolean variable_is_shared(Plan *plan, WendKind kind, gint64 handle);
char *variable_of_request(Plan *plan, gint64 request);
/* The list that holds these words; the same one for equal words. NULL when none of them is a request. */
RequestList *variables_request_list(Plan *plan, const Word *words, gint64 n);

/* Calls FUNCTION(kind's C type, name, length) for each array of variables. */
typedef void (*VariableFunction)(const char *ctype, const char *name, guint length, const char *null, gpointer data);
void variables_foreach(Plan *plan, VariableFunction function, gpointer data);

/* The C type of a handle, and the name of its null constant. */
const char *handle_ctype(WendKind kind);
const char *handle_null(WendKind kind);

#endif
