/* SPDX-License-Identifier: BSD-3-Clause */
/* callback_stubs.h: stubs for the functions that the application handed to MPI. */
#ifndef PROXYGEN_CALLBACK_STUBS_H
#define PROXYGEN_CALLBACK_STUBS_H

#include "emitter.h"

typedef struct Callbacks Callbacks;
gboolean callback_stubs_find(Plan *plan, GError **error);

/* The stub of one C type: its parameters, the type of its value, and the way it returns a flag or
 * another result. */
typedef struct {
    const char *ctype, *name, *value, *parameters, *body;
    gboolean has_flag; /* BODY uses the flag that was recorded */
} StubType;

/* A stub. The application may have passed one function as several types: C allows the cast, and in
 * most libraries the copy functions of all keys take the same arguments. There is one stub for all
 * types whose stubs do the same, named after the first. */
typedef struct {
    gint64 word;
    const StubType *type;
    char *name;
} Stub;

struct Callbacks {
    GHashTable *stubs; /* key (function and body of its stub) -> Stub */
    GPtrArray *order;  /* of Stub */
};

void callbacks_free(Callbacks *c);

/* The stub for the function WORD of a C type: an expression, newly allocated. */
char *callback_name(Emitter *e, gint64 word, const char *ctype);

#endif
