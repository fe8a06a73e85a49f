/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2.h: the parts of the export to OTF2. */
#ifndef WEND_OTF2_H
#define WEND_OTF2_H

#include <glib.h>
#include <otf2/otf2.h>

#include "wend/read.h"
#include "format.h"

/* -- roles.c: what a function of MPI does: sends, receives, collectives and others -- */

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

/* -- otf2-names.c -- */

/* The definitions of an OTF2 archive: what the numbers in its events stand for. They are gathered
 * while events are written, and written at the end. */

/* Returns the code of CALL from the function around it, if CALL fails. */
#define OTF2_TRY(call)              \
    do {                            \
        OTF2_ErrorCode code = call; \
        if (code != OTF2_SUCCESS)   \
            return code;            \
    } while (0)

typedef struct Otf2Names Otf2Names;

/* COMMAND says which programs have no names of sites (site-names.h). */
Otf2Names *otf2_names_new(const Export *e, const char *command);
void otf2_names_free(Otf2Names *n); /* N may be NULL */

/* The region of CALL: of its function, as it is called from its site and from those that count as
 * the same one. *ACT: what the function does, valid as long as N is. */
OTF2_RegionRef otf2_names_region(Otf2Names *n, const WendReadCall *call, const Act **act);

/* The communicator with number COMM, as RANK sees it: MPI_COMM_WORLD is that of its world. */
OTF2_CommRef otf2_names_comm(Otf2Names *n, guint rank, guint32 comm);
/* The application's name of a communicator. */
void otf2_names_name_comm(Otf2Names *n, guint rank, guint32 comm, const char *name);

/* Window number K, from 0, of those made on COMM. */
OTF2_RmaWinRef otf2_names_window(Otf2Names *n, OTF2_CommRef comm, guint k);

/* The file NAME as opened by the processes of COMM. */
OTF2_IoHandleRef otf2_names_file(Otf2Names *n, OTF2_CommRef comm, const char *name);

/* Counts an event of LOCATION, at TIME. */
void otf2_names_count(Otf2Names *n, guint64 location, guint64 time);

/* Writes all definitions. Ranks that were not exported are there without events. */
OTF2_ErrorCode otf2_names_write(Otf2Names *n, OTF2_GlobalDefWriter *w);

/* -- otf2-events.c -- */

/* The events of OTF2 that follow from a call: messages, requests, collectives, one- sided
 * operations, files. */

/* What is known of the requests, windows and files of one rank. */
typedef struct Otf2Rank Otf2Rank;

Otf2Rank *otf2_rank_new(Otf2Names *n, guint rank);
void otf2_rank_free(Otf2Rank *r); /* R may be NULL */

/* Writes the events of a call with W, the writer of its location: from the entry to the return. */
OTF2_ErrorCode otf2_rank_write_call(Otf2Rank *r, OTF2_EvtWriter *w, guint64 location,
                                    const TimedCall *timed);

#endif
