/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h: arguments of calls as text or JSON: one place for how commands write values. */
#ifndef WEND_COMMAND_VALUE_H
#define WEND_COMMAND_VALUE_H

#include <glib.h>

#include "lib/read/program.h"

typedef enum { VALUE_TEXT, VALUE_JSON } ValueStyle;

/* What stands in the parentheses of a call: what the caller gave, and the handles, addresses and numbers that MPI made out of it. */
gboolean value_is_argument(const WendArg *arg);
void value_argument(GString *out, const WendProgram *p, const WendWalk *w, const WendArg *arg, ValueStyle style);
/* What stands behind the arrow: what the run decided. */
gboolean value_is_result(const WendArg *arg);
void value_result(GString *out, const WendProgram *p, const WendWalk *w, const WendArg *arg, ValueStyle style);

/* How many words arg->in (IS_OUT: arg->out) points at. */
gsize value_words(const WendArg *arg, gboolean is_out);

/* Whether each call of this terminal reads as this one does, but for its return code: no argument is of the outcome, or of what a walk knows by then. */
gboolean value_repeats(const WendCall *call);

/* A name that the recording gives to a function, parameter, constant or error class: bare in text,
 * a string in JSON. */
void value_name(GString *out, const char *name, ValueStyle style);

/* A return code, as the recording has it: an error class. "MPI_SUCCESS", "MPI_ERR_TRUNCATE", or "error 74" where there is no name. */
void value_return_code(GString *out, const WendProgram *p, gint64 class, ValueStyle style);
char *value_error_class(const WendProgram *p, gint64 class); /* newly allocated; NULL: no name */

/* Of a call: "unfinished" if it had not returned when the recording ended. */
void value_return(GString *out, const WendProgram *p, const WendCall *call, ValueStyle style);

/* "MPI_Send(buf=heap#0, count=1, …) -> MPI_SUCCESS, …": a call on one line. W NULL: without what only a walk knows. */
void value_call(GString *out, const WendProgram *p, const WendWalk *w, const WendCall *call);
void value_call_arguments(GString *out, const WendProgram *p, const WendWalk *w, const WendCall *call);
void value_call_results(GString *out, const WendProgram *p, const WendWalk *w, const WendCall *call);

#endif
