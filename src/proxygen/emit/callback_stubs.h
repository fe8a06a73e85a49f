/* SPDX-License-Identifier: BSD-3-Clause */
/* callback_stubs.h: the application's functions, as stubs. */
#ifndef PROXYGEN_CALLBACK_STUBS_H
#define PROXYGEN_CALLBACK_STUBS_H

#include "emitter.h"

typedef struct Callbacks Callbacks;
gboolean plan_callbacks(Plan *plan, GError **error);

/* What a stub of each type looks like: its parameters, the type of its value, how it hands out a
 * flag or another result. */
typedef struct {
    const char *ctype, *name, *value, *parameters, *body;
} StubType;

/* One function may have been given as several types (C allows the cast, and all keys' copy
 * functions take the same arguments in most libraries): it is one stub for all types whose stubs do
 * the same, named by the first. */
typedef struct {
    gint64 word;
    const StubType *type;
    char *name;
} Stub;

struct Callbacks {
    GHashTable *stubs; /* key (function, what its stub does) -> Stub */
    GPtrArray *order;  /* of Stub */
};

void callbacks_free(Callbacks *c);

/* The stub for the function that is WORD, of a C type: an expression, newly allocated. */
char *callback_name(Emitter *e, gint64 word, const char *ctype);

#endif
