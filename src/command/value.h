/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h: writes arguments of calls as text or JSON. All commands use it. */
#ifndef WEND_COMMAND_VALUE_H
#define WEND_COMMAND_VALUE_H

#include <glib.h>

#include "wend/read.h"

typedef enum { VALUE_TEXT, VALUE_JSON } ValueStyle;

/* Gives the value of parameter I of CALL in the parentheses: the caller's argument, and the
 * handles, addresses and numbers that MPI made of it. Returns FALSE if there is none. */
gboolean value_argument(const WendReadCall *call, guint i, WendReadValue *v);
/* Gives the value of parameter I of CALL after the arrow: a result that the run decided. Returns
 * FALSE if there is none. */
gboolean value_result(const WendReadCall *call, guint i, WendReadValue *v);
/* Appends V, a value of parameter I of CALL. */
void value_append(GString *out, const WendReadCall *call, guint i, const WendReadValue *v,
                  ValueStyle style);

/* Appends the name of a constant or an error class: bare in text, a string in JSON. */
void value_name(GString *out, const char *name, ValueStyle style);

/* Appends the return code of a call of R by its error class: "MPI_SUCCESS", "MPI_ERR_TRUNCATE", or
 * "error 74" if it has no name. It is "unfinished" if the call had not returned when the recording
 * ended. */
void value_return(GString *out, WendRead *r, const WendReadCall *call, ValueStyle style);

/* Appends a call of R on one line: "MPI_Send(buf=heap#0, count=1, …) -> MPI_SUCCESS, …". */
void value_call(GString *out, WendRead *r, const WendReadCall *call);
/* Appends the part in the parentheses, or the part after the return code. */
void value_call_arguments(GString *out, const WendReadCall *call);
void value_call_results(GString *out, const WendReadCall *call);

#endif
