/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.h: persistent receives that leave source or tag open. Each start of one may get a
 * message from another process. So in a replay it is never started itself: each start posts a
 * receive for what that start got, and calls with the request are made with the receive. */
#ifndef WEND_PERSISTENT_H
#define WEND_PERSISTENT_H

#include "recorder/recorder.h"

typedef struct {
    void *buf;
    MPI_Count count;
    bool large; /* the large-count variant made it */
    MPI_Datatype type;
    Posting as_called;
    MPI_Request posted; /* for the last start; MPI_REQUEST_NULL once it is complete */
    bool nowhere;       /* it gets no message */
} PersistentReceive;

/* Notes that REQUEST is RECEIVE, and keeps a copy of its datatype. */
void persistent_add(MPI_Request request, PersistentReceive receive);
/* Forgets REQUEST, which the application frees, and frees what was posted for it. */
void persistent_remove(MPI_Request request);
/* The receive of REQUEST, or NULL if it is none of these. */
PersistentReceive *persistent_find(MPI_Request request);
/* Forgets all, and frees the copies of datatypes, before MPI ends. */
void persistent_close(void);
/* Whether there are any. */
bool persistent_any(void);
/* Posts a receive for a start. Returns MPI's code. */
int persistent_start(PersistentReceive *receive, Posting posting);

#endif
