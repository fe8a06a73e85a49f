/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2-names.h: the definitions of an OTF2 archive: what the numbers in its events stand for. They
 * are gathered while events are written, and written at the end. */
#ifndef WEND_EXPORT_OTF2_NAMES_H
#define WEND_EXPORT_OTF2_NAMES_H

#include <glib.h>
#include <otf2/otf2.h>

#include "format.h"
#include "roles.h"

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

#endif
