/* SPDX-License-Identifier: BSD-3-Clause */
/* request_lifetimes.h: the lifetimes of the requests of one rank, and the groups that they form.
 *
 * A lifetime goes from the call that makes a request to the call that ends it. Lifetimes that were
 * in one array at one time have fixed distances. They form a *group*, together with all lifetimes
 * that share an array with one of them.
 *
 * In a loop of loops.c the order of calls is open. A request in it has one lifetime for the whole
 * loop, however often it is made. Numbers that several threads or callbacks name have an unlimited
 * lifetime, because the walk cannot order their calls. */
#ifndef PROXYGEN_REQUEST_LIFETIMES_H
#define PROXYGEN_REQUEST_LIFETIMES_H

#include "request_effects.h"

#define LIFETIME_FOR_EVER G_MAXUINT64

/* A lifetime of a request. Each lifetime of a group except the first has a fixed distance to
 * another one. */
typedef struct {
    /* NO_REQUEST_NUMBER: an MPI_REQUEST_NULL in an array, with the lifetime of that call */
    gint number;
    guint other;
    gint64 distance;
    guint64 birth, death; /* the calls that make and end it */
    guint64 makes;        /* more than 1 in a loop */
    gint64 low, high;     /* ^first of a group: the slots of its arrays, relative to its own */
    guint64 begin, end;   /* ^and the time of these */
    guint clock;          /* the sequence whose calls these are */
} RequestLifetime;

/* -- groups: LIFETIMES are of RequestLifetime -- */

/* Appends a lifetime of its own group. Returns its index. */
guint request_lifetimes_add(GArray *lifetimes, gint number, guint clock, guint64 birth,
                            guint64 death);
RequestLifetime *request_lifetimes_at(const GArray *lifetimes, guint i);
/* The first lifetime of the group of lifetime I; *DISTANCE is relative to it. Shortens the path for
 * later calls. */
guint request_lifetimes_first(const GArray *lifetimes, guint i, gint64 *distance);
/* Puts B at DISTANCE after A. Returns FALSE if B has another distance already. */
gboolean request_lifetimes_join(const GArray *lifetimes, guint a, guint b, gint64 distance);

/* -- the walk -- */

/* The lifetimes of the requests of RANK, which is of the class of USE. Lists that cannot be
 * consecutive lose DIRECT: those that contradict others, and those with a request of APART (by
 * number). PRESENT, by number, gets the last lifetime of each request, + 1; 0 if the rank does not
 * name it. Returns a new array, or NULL if there are too many lifetimes. */
GArray *request_lifetimes_find(const RequestEffects *effects, const RequestUse *use, guint rank,
                               const gboolean *apart, guint *present);

#endif
