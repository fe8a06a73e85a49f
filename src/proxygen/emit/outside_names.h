/* SPDX-License-Identifier: BSD-3-Clause */
/* outside_names.h: what the application named outside of MPI: files, ports, processes that it
 * started. */
#ifndef PROXYGEN_OUTSIDE_NAMES_H
#define PROXYGEN_OUTSIDE_NAMES_H

#include "emitter.h"

/* Looks through the program for them; before any emission. */
void outside_names_find(Emitter *e);
char *outside_names_file(Emitter *e, const CallPattern *c, const Arg *arg);
char *outside_names_port(Emitter *e, const CallPattern *c, guint index);
/* What a port is known by, by its number; NULL: there is none. here: a call of the recording gave
 * it, opened: by making it. key: as the proxies of two jobs that meet there both know it. */
typedef struct {
    guint number;
    gboolean here, opened;
    char *key;
} PortName;
const PortName *outside_names_of_port(Emitter *e, guint number);
/* Why a call cannot be part of the proxy, or NULL. */
const char *outside_names_left_out(Emitter *e, const CallPattern *c);
/* The functions that say what calls found under a name; after all else that is emitted. */
void outside_names_emit(Emitter *e, GString *declarations, GString *definitions);
/* The process at the other end of the socket that MPI_Comm_join gets, as an expression; NULL: it is
 * not in the recording. */
char *outside_names_joined(Emitter *e, const CallPattern *c);

#endif
