/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h: the requests and messages that a walk follows. */
#ifndef WEND_REQUESTS_H
#define WEND_REQUESTS_H

#include "program-private.h"

/* The values that the words of a status are relative to. */
typedef struct {
    /* FALSE: the status is empty (a send, a collective, an inactive request) */
    gboolean known;
    gint64 source, tag; /* may be constants; WEND_ABSENT: there is none (files) */
    gint64 bytes;       /* bytes posted; WEND_UNKNOWN: the size of the datatype is unknown */
} StatusBase;

typedef struct {
    WendRequestState state;
    StatusBase base;
    gboolean exists;
} Request;

typedef struct {
    guint tid;           /* the requests of this thread are in OWN, all others in FOREIGN */
    GArray *own;         /* Request, by number */
    GHashTable *foreign; /* word -> Request */
} Requests;

/* No requests yet. TID: the number of the walk's thread. */
void requests_init(Requests *r, guint tid);
void requests_clear(Requests *r);
Request *requests_find(const Requests *r, gint64 word); /* NULL: there is none */
/* a new one, or the old one with this number */
Request *requests_put(Requests *r, gint64 word);

#endif
