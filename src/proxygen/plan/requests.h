/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h: the slots of requests in the arrays of the proxy. They may differ by rank and in time
 * (request-slots.c). The sections here are the steps. */
#ifndef PROXYGEN_REQUESTS_H
#define PROXYGEN_REQUESTS_H

#include "src/proxygen/model/model.h"

/* -- request-effects.c: the different arrays of requests that calls complete -- */

typedef struct {
    gint64 n;
    gint64 *words;
    /* the requests are consecutive, in this order, in the proxy's array of requests */
    gboolean direct;
    guint number; /* else the name: gathered_NUMBER */
} RequestList;

typedef struct RequestLists RequestLists;

RequestLists *request_lists_new(void);
void request_lists_free(RequestLists *lists);

/* Adds a list of N words, unless it is there already, or has no request. */
void request_lists_add(RequestLists *lists, const Word *words, gint64 n);
/* The list with these words, or NULL. */
RequestList *request_lists_find(const RequestLists *lists, const Word *words, gint64 n);
/* All lists (RequestList), in the order in which they were added. LISTS owns the array; the caller
 * may sort it. */
GPtrArray *request_lists_in_order(const RequestLists *lists);

/* The requests that calls name, numbered from 0; the threads that make them, and the arrays that
 * have the requests of each thread. */

typedef struct RequestNumbers RequestNumbers;

enum { NO_REQUEST_NUMBER = -1 };

RequestNumbers *request_numbers_new(void);
void request_numbers_free(RequestNumbers *numbers);

/* The number of a request; NO_REQUEST_NUMBER if it has none. */
gint request_numbers_find(const RequestNumbers *numbers, gint64 request);
/* How many requests have numbers: all numbers are below. */
guint request_numbers_count(const RequestNumbers *numbers);
/* The request with a number, and the thread that makes it. */
gint64 request_numbers_request(const RequestNumbers *numbers, guint number);
guint request_numbers_thread(const RequestNumbers *numbers, guint number);

/* The index of a request: the number of requests of its thread with a smaller handle. */
guint request_numbers_index(const RequestNumbers *numbers, guint number);
/* The number of requests of a thread. All its indices are below. */
guint request_numbers_of_thread(const RequestNumbers *numbers, guint thread);

/* Joins the arrays of two threads whose requests are in one array of the application. The array is
 * that of the first thread. */
void request_numbers_share_array(RequestNumbers *numbers, guint a, guint b);
/* The thread whose array has the requests of THREAD. */
guint request_numbers_array(const RequestNumbers *numbers, guint thread);

/* The effect of a terminal on requests. */
typedef struct {
    RequestList *list; /* the array of the call, or NULL */
    /* of gint: the numbers of the requests that it makes, and by entry of the requests that it is
     * given, NO_REQUEST_NUMBER for none */
    GArray *makes, *gives;
    gboolean frees;
    gboolean differs; /* the requests that it completes may differ by rank */
} RequestEffect;

/* The effects of all terminals of the plan. */
typedef struct {
    const Plan *plan;
    const RequestLists *lists;
    RequestNumbers *numbers;
    RequestEffect **of; /* by terminal; NULL: it has no requests */
} RequestEffects;

/* Finds the effects of all terminals. Their requests get numbers, and indices. The caller owns all
 * three arguments, and keeps them as long as the result. */
RequestEffects *request_effects_find(const Plan *plan, const RequestLists *lists,
                                     RequestNumbers *numbers);
void request_effects_free(RequestEffects *effects);

/* The N-th number of MAKES and GIVES together; both have request_effect_count. */
guint request_effect_count(const RequestEffect *effect);
gint request_effect_number(const RequestEffect *effect, guint n);

/* How a class uses requests. */
typedef struct {
    const WendClass *class;
    gboolean *walks; /* by sequence: it names requests */
    /* by number: its lifetime is unlimited, because several sequences or a callback name it */
    gboolean *stays;
    gboolean same; /* completions are equal on all ranks of the class */
} RequestUse;

RequestUse *request_effects_use(const RequestEffects *effects, const WendClass *class);
void request_use_free(RequestUse *use);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RequestUse, request_use_free)

/* -- request-lifetimes.c: the lifetimes of the requests of one rank, and their groups -- */

/* A lifetime goes from the call that makes a request to the call that ends it. Lifetimes that were
 * in one array at one time have fixed distances. They form a *group*, together with all lifetimes
 * that share an array with one of them.
 *
 * In a loop of loops.c the order of calls is open. A request in it has one lifetime for the whole
 * loop, however often it is made. Numbers that several threads or callbacks name have an unlimited
 * lifetime, because the walk cannot order their calls. */

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

/* Groups. LIFETIMES are of RequestLifetime. */

/* Appends a lifetime of its own group. Returns its index. */
guint request_lifetimes_add(GArray *lifetimes, gint number, guint clock, guint64 birth,
                            guint64 death);
RequestLifetime *request_lifetimes_at(const GArray *lifetimes, guint i);
/* The first lifetime of the group of lifetime I; *DISTANCE is relative to it. Shortens the path for
 * later calls. */
guint request_lifetimes_first(const GArray *lifetimes, guint i, gint64 *distance);
/* Puts B at DISTANCE after A. Returns FALSE if B has another distance already. */
gboolean request_lifetimes_join(const GArray *lifetimes, guint a, guint b, gint64 distance);

/* The lifetimes of the requests of RANK, which is of the class of USE. Lists that cannot be
 * consecutive lose DIRECT: those that contradict others, and those with a request of APART (by
 * number). PRESENT, by number, gets the last lifetime of each request, + 1; 0 if the rank does not
 * name it. Returns a new array, or NULL if there are too many lifetimes. */
GArray *request_lifetimes_find(const RequestEffects *effects, const RequestUse *use, guint rank,
                               const gboolean *apart, guint *present);

/* -- request-layout.c: the slots of the requests of one rank -- */

/* Slots are assigned to the lifetimes of requests. A group of lifetimes gets
 * slots that no other group has at that time; if possible, the slots that its numbers had before
 * (their *homes*).
 *
 * A lifetime that ends has its slots for its thread alone, because the order of two threads is
 * unknown. */

/* A request is made TIMES times in the slot PLACE. */
typedef struct {
    guint64 times;
    gint64 place;
} RequestMove;

/* The request slots of a rank. */
typedef struct {
    gint64 *place;  /* by number: the first slot; -1: it has none */
    GArray **moves; /* by number: of RequestMove; NULL: it keeps its slot */
    guint *again;   /* by number: how many of its last moves repeat */
} RequestLayout;

/* Lays out the requests of RANK, which is of the class of USE. Lists that must be gathered lose
 * DIRECT. LENGTHS (thread -> number of slots in its array) goes up to what the rank needs. Returns
 * NULL if the rank has too many lifetimes. */
RequestLayout *request_layout_find(const RequestEffects *effects, const RequestUse *use, guint rank,
                                   GHashTable *lengths);
/* N: how many requests have numbers (request_numbers_count) */
void request_layout_free(RequestLayout *layout, guint n);
guint64 request_layout_moves(const RequestLayout *layout, guint n); /* of all requests */

/* -- request-slots.c: the slots of all ranks -- */

typedef struct {
    RequestNumbers *numbers;
    GPtrArray *layouts;  /* of RequestLayout, all different */
    guint *layout_of;    /* by rank: index in LAYOUTS */
    GHashTable *lengths; /* thread -> number of slots in its array */
    gboolean vary;       /* some requests have their slot in "at" */
} RequestSlots;

/* Decides which of LISTS are consecutive, and sets their DIRECT. Returns NULL if there is too much
 * to follow; the lists are then unchanged. */
RequestSlots *request_slots_find(Plan *plan, RequestLists *lists);
void request_slots_free(RequestSlots *p);

/* The slot of REQUEST in the array of its thread, if it is the same on all of RANKS at all times.
 * -1 if "at" has the slot. */
gint64 request_slots_place(const RequestSlots *p, gint64 request, RankList ranks);
/* Whether the request has different slots over time on one of RANKS. Each call that makes it then
 * asks for the next slot. */
gboolean request_slots_move(const RequestSlots *p, gint64 request, RankList ranks);
/* The index of the request in the "at" of its thread. */
guint request_slots_index(const RequestSlots *p, gint64 request);
/* The number of requests of the thread, which is the length of its "at". */
guint request_slots_count(const RequestSlots *p, guint thread);
/* The thread whose array has the requests of THREAD. It is another thread if calls have arrays with
 * requests of both. */
guint request_slots_array(const RequestSlots *p, guint thread);
/* The number of slots in the array of the thread; 0 if its requests are in another thread's
 * array. */
guint request_slots_length(const RequestSlots *p, guint thread);

#endif
