/* extent.h: how much memory a buffer argument touches, from counts, datatypes and displacements as recorded. */
#ifndef PROXYGEN_EXTENT_H
#define PROXYGEN_EXTENT_H

#include "plan.h"

typedef struct Extents Extents;

/* Reads what the recording says on datatypes and communicators. A handle's number may name several objects, one after the other and
 * on different ranks: an extent is the hull over all of them, so it is never too small. */
Extents *extents_new(Plan *plan);
void extents_free(Extents *e);

/* Bytes relative to the buffer argument that the call may touch on RANK: [*low, *high). Empty when nothing is. */
void extent_of_buffer(const Extents *e, const Call *c, guint arg, guint rank, gint64 *low, gint64 *high);
/* Of COUNT elements of a datatype, at 0. */
void extent_of_elements(const Extents *e, gint64 datatype, gint64 count, gint64 *low, gint64 *high);
/* Members of the (remote) group of a communicator: as many as any that had this handle. */
gint64 extent_comm_size(const Extents *e, gint64 comm);
gint64 extent_comm_indegree(const Extents *e, gint64 comm);
gint64 extent_comm_outdegree(const Extents *e, gint64 comm);
/* Size in bytes of COUNT elements, as large as any datatype of that handle. */
gint64 extent_data_size(const Extents *e, gint64 datatype, gint64 count);

#endif
