/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.h: what a function of MPI does, for formats that tell sends, receives and collectives
 * apart. */
#ifndef WEND_EXPORT_ROLES_H
#define WEND_EXPORT_ROLES_H

#include <glib.h>
#include <otf2/otf2.h>

#include "wend/read.h"

typedef enum {
    ACT_NONE,
    ACT_MESSAGE,    /* sends, receives, or both; also a request that does */
    ACT_START,      /* MPI_Start, MPI_Startall */
    ACT_FREE,       /* MPI_Request_free */
    ACT_COLLECTIVE, /* moves data, or waits for all, on a communicator */
    ACT_WIN_MAKE,
    ACT_WIN_FREE,
    ACT_WIN_SYNC, /* ends an epoch: what was begun in it is complete */
    ACT_WIN_FENCE,
    ACT_PUT,
    ACT_GET,
    ACT_ATOMIC,
    ACT_FILE_OPEN,
    ACT_FILE_CLOSE,
    ACT_FILE_READ,
    ACT_FILE_WRITE,
    ACT_FILE_SEEK
} ActKind;

typedef struct {
    ActKind kind;
    gboolean sends, receives;       /* ACT_MESSAGE */
    gboolean persistent;            /* only makes a request, which MPI_Start starts */
    gboolean takes;                 /* ACT_MESSAGE: of a message that a probe found */
    gboolean begins, ends;          /* ACT_FILE_…: the halves of a split collective */
    gboolean collective;            /* ACT_FILE_… */
    OTF2_CollectiveOp op;           /* ACT_COLLECTIVE */
    OTF2_RmaAtomicType atomic;      /* ACT_ATOMIC */
    OTF2_RegionRole region;         /* how tools show the function */
    guint self, peer, tag, request; /* parameters; WEND_READ_NO_INDEX: none */
    guint status, requests, statuses, indices;
} Act;

/* What F does. The caller frees the result with g_free. */
Act *roles_act_new(const WendReadFunction *f);

#endif
