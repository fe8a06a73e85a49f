/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-identity.h: what tells communicators apart. All members of one have the same identity, and
 * make it from what they recorded themselves and from the numbers of communicators that they had
 * before. */
#ifndef WEND_COMM_IDENTITY_H
#define WEND_COMM_IDENTITY_H

#include "base/buf.h"
#include "comm-leaders.h"
#include "program.h"

/* What identities are made from, at one place of one rank. A communicator is across if it may hold
 * processes of several worlds: its members do not agree on leaders. */
typedef struct {
    gint64 comm_world; /* word */
    CommLeaders *leaders;
    GHashTable *across; /* numbers */
    GHashTable *grids;  /* number of a Cartesian communicator that is across -> GArray of gint64 */
    guint rank, world;
    guint place;        /* this rank: creations so far */
    GHashTable *here;   /* this rank: handle -> number */
    GHashTable *counts; /* this rank: what has been counted, as GBytes -> how many so far */
} CommNumbering;

/* A call that makes a communicator. */
typedef struct {
    const WendCall *call;
    WendCommMade *made;
    gboolean by_group, merge, pair;
    const WendArg *parent; /* the first communicator that it has; NULL: none */
    gboolean across;       /* the parent is */
    gboolean by_local;     /* a pair with a side that leaders do not identify */
    guint count;           /* number of the creation among those of its kind */
} CommCreation;

/* CALL, which gave MADE. Both must outlive it. */
CommCreation comm_creation(const CommNumbering *n, const WendCall *call, WendCommMade *made);

/* Appends the identity of what C made. Counts C, so it must be called once for each creation, also
 * where the rank got MPI_COMM_NULL. */
void comm_identify(CommNumbering *n, CommCreation *c, WendBuf *identity);

/* C made communicator c->made->number, which is across. Notes what others that are made from it are
 * told apart by. */
void comm_note_across(CommNumbering *n, const CommCreation *c);

/* The number that an argument stands for; 0: not known, or predefined. COMM may be NULL. */
guint comm_number_of(const CommNumbering *n, const WendArg *comm);

/* Appends the tags and strings of the call: they tell groups apart that have no common parent. */
void comm_put_tags(const WendCall *call, WendBuf *b);

#endif
