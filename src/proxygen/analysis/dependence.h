/* SPDX-License-Identifier: BSD-3-Clause */
/* dependence.h: the dependences between the calls of a rank. They decide which calls may be made in
 * another order than the recorded one.
 *
 * A call uses resources: handles, memory, the numbers of memory and requests, messages on a
 * channel, collective calls on a communicator. */
#ifndef PROXYGEN_DEPENDENCE_H
#define PROXYGEN_DEPENDENCE_H

#include "lib/base/byte-table.h"
#include "src/proxygen/model/model.h"

typedef struct {
    gboolean is_receive; /* messages that receives are posted for, with these parameters: */
    gint64 comm, source, tag;
} Resource;

typedef enum {
    USE_READ,
    USE_WRITE,
    USE_SEND, /* of a message: commutes with sends of equally many bytes */
    USE_POST  /* of a receive */
} UseKind;
typedef struct {
    guint resource;
    UseKind kind;
    gint64 bytes;
} ResourceUse;
/* The change of a request: a receive is posted, or a send started. */
typedef struct {
    gint64 request;
    gboolean active;
} RequestChange;
typedef struct {
    gboolean waits;         /* it waits, or is not known to be safe */
    gboolean noticed;       /* other ranks notice it: it sends, or is collective */
    guint function;         /* a number for its function */
    GArray *uses, *changes; /* of ResourceUse, of RequestChange */
    GArray *memory;         /* of guint: the segments that it uses */
    gboolean frees;         /* it frees them */
} Dependence;

/* The calls of one rank. */
typedef struct {
    const Plan *plan;
    guint rank;
    GArray *resources;  /* of Resource; grows with the calls that are analysed */
    GArray *receives;   /* of guint: resources that are receives */
    Dependence **calls; /* by terminal; NULL if not analysed yet */
    GHashTable *makers; /* request -> GArray of the terminals that make it */
    /* request -> GArray of guint and of Resource: the results of dependence_request_memory and
     * dependence_request_meets */
    GHashTable *memories, *channels;
    GHashTable *numbers; /* numbers of resources, by bytes */
    gint64 any_source, any_tag, proc_null;
} RankDependence;

RankDependence *rank_dependence_new(const Plan *plan, guint rank);
void rank_dependence_free(RankDependence *e);

/* The dependences of a call of that rank. E owns them. */
const Dependence *rank_dependence_of(RankDependence *e, const WendCall *call);

guint dependence_request_resource(RankDependence *e, gint64 request);
/* The segments that the request uses. E owns the array. NULL if no recorded call makes the
 * request. */
const GArray *dependence_request_memory(RankDependence *e, gint64 request);
/* The resource of the numbers of memory. Memory is numbered in the order of its first use, so a
 * call that uses some for the first time, or frees some, writes this resource. */
guint dependence_memory_numbers(RankDependence *e);
/* Whether one message could be received by both. */
gboolean dependence_receives_meet(const RankDependence *e, const Resource *a, const Resource *b);
/* Whether the request is a receive that could get a message that RECEIVE could get. */
gboolean dependence_request_meets(RankDependence *e, WendDecoder *decoder, gint64 request,
                                  const Resource *receive);

#endif
