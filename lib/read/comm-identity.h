/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-identity.h: identities of communicators. All members of a communicator derive the same
 * identity from what they recorded themselves and from the numbers of the communicators that they
 * had before. */
#ifndef WEND_COMM_IDENTITY_H
#define WEND_COMM_IDENTITY_H

#include "base/buf.h"

#include <glib.h>
#include "comm-leaders.h"
#include "program.h"

/* The state of numbering at one call of one rank, from which identities are made. A communicator is
 * *across* if it may hold processes of several worlds; its members then do not know all leaders. */
typedef struct {
    gint64 comm_world; /* its word */
    CommLeaders *leaders;
    GHashTable *across; /* numbers of the communicators that are across */
    GHashTable *grids;  /* number of a Cartesian communicator that is across -> GArray of gint64 */
    guint rank, world;
    guint place;      /* this rank: its creations so far */
    GHashTable *here; /* this rank: handle -> number */
    Map *counts;      /* this rank: kind of creation (bytes) -> creations so far */
} CommNumbering;

/* A call that makes a communicator. */
typedef struct {
    const WendCall *call;
    WendCommMade *made;
    gboolean by_group, merge, pair;
    const WendArg *parent; /* the first communicator argument of the call; NULL: none */
    gboolean across;       /* the parent is across */
    gboolean by_local;     /* an MPI_Intercomm_create with a side that leaders do not identify */
    guint count;           /* number of the creation among those of its kind */
} CommCreation;

/* Describes CALL, which gave MADE. Both must outlive the result. */
CommCreation comm_creation(const CommNumbering *n, const WendCall *call, WendCommMade *made);

/* Appends to IDENTITY the identity of what C made, and counts C. So it must be called once for each
 * creation, also if the rank got MPI_COMM_NULL. */
void comm_identity_put(CommNumbering *n, CommCreation *c, WendBuf *identity);

/* Notes that C made communicator c->made->number, which is across, with the data that identities of
 * communicators made from it need. */
void comm_numbering_note_across(CommNumbering *n, const CommCreation *c);

/* The number of a communicator argument. 0 if it is unknown or predefined, or COMM is NULL. */
guint comm_numbering_find(const CommNumbering *n, const WendArg *comm);

/* Appends the tags and strings of the call. They distinguish creations by groups without a common
 * parent. */
void comm_identity_put_tags(const WendCall *call, WendBuf *b);

#endif
