/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h: what the application named outside of MPI: files, ports, processes that it started. */
#ifndef PROXYGEN_NAMES_H
#define PROXYGEN_NAMES_H

#include "emit.h"

/* Looks through the program for them; before any emission. */
void names_find(Emitter *e);
char *names_file(Emitter *e, const Call *c, const Arg *arg);
char *names_port(Emitter *e, const Call *c, guint index);
/* What a port is known by, by its number; NULL: there is none. here: a call of the recording gave it, opened: by making it. key: as the proxies of two jobs that meet there both know it. */
typedef struct { guint number; gboolean here, opened; char *key; } PortName;
const PortName *names_of_port(Emitter *e, guint number);
/* Why a call cannot be part of the proxy, or NULL. */
const char *names_left_out(Emitter *e, const Call *c);
/* The functions that say what calls found under a name; after all else that is emitted. */
void names_emit(Emitter *e, GString *declarations, GString *definitions);
/* The process at the other end of the socket that MPI_Comm_join gets, as an expression; NULL: it is not in the recording. */
char *names_joined(Emitter *e, const Call *c);

#endif
