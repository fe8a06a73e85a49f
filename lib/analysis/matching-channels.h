/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-channels.h: messages in flight: the n-th send of a channel meets the n-th receive that
 * is posted for it (MPI 4.0, 3.5, "Order").
 *
 * A channel is a communicator, a sender, a receiver and a tag. It exists as long as it has a send
 * without receive, a receive without send, or a probe that waits; so memory follows the messages in
 * flight. */
#ifndef WEND_MATCHING_CHANNELS_H
#define WEND_MATCHING_CHANNELS_H

#include <glib.h>
#include <math.h>

#include "base/allowance.h"

typedef struct {
    guint comm, from, to; /* ranks of the job */
    guint lane;           /* 0, or the number of a partitioned operation on this channel, from 1 */
    gint64 tag;
} ChannelKey;

/* A call. */
typedef struct {
    guint rank, sequence;
    guint32 terminal;
    guint64 call; /* its number in the sequence; MESSAGE_NO_CALL: none */
    /* What a stamp says (matching.h): */
    guint site;         /* from where it came; G_MAXUINT: not known */
    gdouble start, end; /* seconds; NaN: not known */
} MessagePlace;
#define MESSAGE_NO_CALL G_MAXUINT64
#define MESSAGE_NO_PLACE ((MessagePlace){0, 0, G_MAXUINT32, MESSAGE_NO_CALL, G_MAXUINT, NAN, NAN})

typedef struct {
    MessagePlace place;
    gint64 request;      /* its word; WEND_ABSENT: none */
    gint64 bytes;        /* WEND_UNKNOWN: unknown */
    guint strand;        /* of the sender */
    guint64 number;      /* of the message, from 1 */
    gboolean waits;      /* the sender waits for the receive */
    gboolean unfinished; /* the call had not returned */
    gboolean uncertain;  /* of several threads whose order is unknown */
} Sent;

/* A posted receive. */
typedef struct {
    MessagePlace posted, completed;
    ChannelKey channel;
    gint64 request;
    gint64 bytes;        /* received; WEND_UNKNOWN */
    guint refs;          /* in the channel, in the table of requests, in a call that completes it */
    guint waiter;        /* the strand that waits for it, + 1; 0: none */
    gboolean in_channel; /* it waits there for its send */
    gboolean resolved;   /* CHANNEL is known */
    gboolean outside;    /* the sender is not in the recording */
    gboolean paired;     /* SENT is known */
    gboolean given;      /* to the user */
    gboolean never;      /* it does not complete */
    guint64 number;      /* of the message, if the receive completed before its send; else 0 */
    gboolean cancelled, truncated, unfinished, uncertain;
    Sent sent;
} Receive;

typedef struct {
    ChannelKey key;
    GQueue sends;    /* Sent */
    GQueue receives; /* Receive; one of the two is empty */
    GArray *probes;  /* guint: strands that wait for a send; NULL: none */
} Channel;

typedef struct Channels Channels;

/* A takes the memory of all that is in flight; it may be NULL. */
Channels *channels_new(Allowance *a);
void channels_free(Channels *c);

/* The channel, made if there is none. NULL: there is none, and MAKE is FALSE, or memory is used
 * up. */
Channel *channels_at(Channels *c, const ChannelKey *key, gboolean make);
/* Frees CHANNEL if it is empty. */
void channels_tidy(Channels *c, Channel *channel);

/* A new receive with one reference; NULL: memory is used up. */
Receive *receive_new(Channels *c);
void receive_unref(Channels *c, Receive *r);

/* Adds a send. Returns the receive that it meets, with the reference that the channel had to it;
 * NULL: none so far. *FULL: memory is used up. */
Receive *channels_send(Channels *c, const ChannelKey *key, const Sent *sent, gboolean *full);
/* Adds a receive, whose channel is resolved. TRUE: it has met a send, which is in r->sent. Else the
 * channel takes a reference. */
gboolean channels_receive(Channels *c, Receive *r, gboolean *full);
/* Takes R, which waits for a send, out of its channel. */
void channels_withdraw(Channels *c, Receive *r);

/* Calls VISIT for each channel, in no order. */
void channels_each(Channels *c, void (*visit)(gpointer data, Channel *channel), gpointer data);
guint64 channels_in_flight(const Channels *c);      /* sends without receive, at present */
guint64 channels_most_in_flight(const Channels *c); /* the most at a time */

#endif
