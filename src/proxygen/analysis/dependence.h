/* SPDX-License-Identifier: BSD-3-Clause */
/* dependence.h: what the calls of a rank have to do with each other: which of them may be made in
 * another order than the recorded one.
 *
 * A call uses resources: handles, memory, the numbers that memory and requests get, messages on a
 * channel, collective calls on a communicator. */
#ifndef PROXYGEN_DEPENDENCE_H
#define PROXYGEN_DEPENDENCE_H

#include "lib/base/byte-table.h"
#include "src/proxygen/model/model.h"

typedef struct {
    gboolean is_receive; /* messages that receives are posted for: */
    gint64 comm, source, tag;
} Resource;

typedef enum {
    USE_READ,
    USE_WRITE,
    USE_SEND, /* of a message: commutes with others of as many bytes */
    USE_POST  /* of a receive */
} UseKind;
typedef struct {
    guint resource;
    UseKind kind;
    gint64 bytes;
} ResourceUse;
/* of a request: a receive is posted, a send started */
typedef struct {
    gint64 request;
    gboolean active;
} RequestChange;
typedef struct {
    gboolean waits;         /* or what it does is not known to be safe */
    gboolean heard;         /* by others: it sends, or takes part in a collective call */
    guint function;         /* a number for its function */
    GArray *uses, *changes; /* of Use, of Change */
    GArray *memory;         /* of guint: the segments it uses */
    gboolean frees;         /* them */
} Dependence;

/* The calls of one rank. */
typedef struct {
    const Plan *plan;
    guint rank;
    GArray *resources;  /* of Resource; grows with the calls that have been asked for */
    GArray *receives;   /* of guint: resources that are receives */
    Dependence **calls; /* by terminal: those asked for */
    GHashTable *makers; /* request -> GArray of the terminals that make it */
    /* request -> GArray of guint, of Resource: what dependence_request_memory and
     * dependence_request_meets have found */
    GHashTable *memories, *channels;
    GHashTable *numbers; /* of resources, by bytes */
    gint64 any_source, any_tag, proc_null;
} RankDependence;

RankDependence *rank_dependence_new(const Plan *plan, guint rank);
void rank_dependence_free(RankDependence *e);

/* Of a call of that rank; owned by E, valid as long as it. */
const Dependence *rank_dependence_of(RankDependence *e, const WendCall *call);

guint dependence_request_resource(RankDependence *e, gint64 request);
/* The segments that the request uses, owned by E; NULL: no call of the recording makes it. */
const GArray *dependence_request_memory(RankDependence *e, gint64 request);
/* Memory is numbered in the order of its first use; who uses some first, or frees some, writes
 * this. */
guint dependence_memory_numbers(RankDependence *e);
/* Could one message be received by both? */
gboolean dependence_receives_meet(const RankDependence *e, const Resource *a, const Resource *b);
/* Is the request a receive that could get a message of RECEIVE's? */
gboolean dependence_request_meets(RankDependence *e, WendDecoder *decoder, gint64 request,
                                  const Resource *receive);

#endif
