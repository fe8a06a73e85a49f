/* SPDX-License-Identifier: BSD-3-Clause */
/* outside_names.h: names that the application used outside of MPI: files, ports, and processes that
 * it started. */
#ifndef PROXYGEN_OUTSIDE_NAMES_H
#define PROXYGEN_OUTSIDE_NAMES_H

#include "emitter.h"

/* Finds these names in the program. Call it before anything is written. */
void outside_names_find(Emitter *e);
char *outside_names_file(Emitter *e, const CallPattern *c, const Arg *arg);
char *outside_names_port(Emitter *e, const CallPattern *c, guint index);
/* A port by its number.
 * here: a call of the recording returned it.
 * opened: that call made it.
 * key: the proxies of two jobs that meet at the port know it by this name. */
typedef struct {
    guint number;
    gboolean here, opened;
    char *key;
} PortName;
/* The port with that number; NULL if there is none. */
const PortName *outside_names_of_port(Emitter *e, guint number);
/* The reason why a call cannot be part of the proxy; NULL if it can. */
const char *outside_names_left_out(Emitter *e, const CallPattern *c);
/* Appends the functions that return the results that calls found under a name. Call it after all
 * else is written. */
void outside_names_emit(Emitter *e, GString *declarations, GString *definitions);
/* The process at the other end of the socket of MPI_Comm_join, as an expression. NULL if it is not
 * in the recording. */
char *outside_names_joined(Emitter *e, const CallPattern *c);

#endif
