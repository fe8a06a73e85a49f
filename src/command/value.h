/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h: arguments of calls as text or JSON: one place for how commands write values. */
#ifndef WEND_COMMAND_VALUE_H
#define WEND_COMMAND_VALUE_H

#include <glib.h>

#include "wend/read.h"

typedef enum { VALUE_TEXT, VALUE_JSON } ValueStyle;

/* What stands in the parentheses of CALL for parameter I: what the caller gave, and the handles,
 * addresses and numbers that MPI made out of it. FALSE: nothing. */
gboolean value_argument(const WendReadCall *call, guint i, WendReadValue *v);
/* What stands behind the arrow: what the run decided. FALSE: nothing. */
gboolean value_result(const WendReadCall *call, guint i, WendReadValue *v);
/* Appends V, a value of parameter I of CALL. */
void value_append(GString *out, const WendReadCall *call, guint i, const WendReadValue *v,
                  ValueStyle style);

/* A name that the recording gives to a constant or an error class: bare in text, a string in
 * JSON. */
void value_name(GString *out, const char *name, ValueStyle style);

/* The return code of a call of R, by its error class: "MPI_SUCCESS", "MPI_ERR_TRUNCATE", or
 * "error 74" where there is no name. "unfinished" if the call had not returned when the recording
 * ended. */
void value_return(GString *out, WendRead *r, const WendReadCall *call, ValueStyle style);

/* "MPI_Send(buf=heap#0, count=1, …) -> MPI_SUCCESS, …": a call of R on one line. */
void value_call(GString *out, WendRead *r, const WendReadCall *call);
/* What is in its parentheses, and what behind its return code. */
void value_call_arguments(GString *out, const WendReadCall *call);
void value_call_results(GString *out, const WendReadCall *call);

#endif
