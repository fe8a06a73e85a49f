/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h: the requests and messages that a walk follows. */
#ifndef WEND_REQUESTS_H
#define WEND_REQUESTS_H

#include "program-private.h"

/* What the words of a status are relative to. */
typedef struct {
    /* FALSE: a send, a collective, an inactive request: its status is empty */
    gboolean known;
    gint64 source, tag; /* constants stay constants; WEND_ABSENT: there is none (files) */
    gint64 bytes;       /* posted; WEND_UNKNOWN: the datatype's size is unknown */
} StatusBase;

typedef struct {
    WendRequestState state;
    StatusBase base;
    gboolean exists;
} Request;

typedef struct {
    guint tid;           /* requests of this thread are in own, by number; others in foreign */
    GArray *own;         /* Request */
    GHashTable *foreign; /* word -> Request */
} Requests;

void requests_init(Requests *r, guint tid);
void requests_clear(Requests *r);
Request *requests_find(const Requests *r, gint64 word); /* NULL: none */
Request *requests_put(Requests *r, gint64 word);        /* new, or the old one of that number */

#endif
