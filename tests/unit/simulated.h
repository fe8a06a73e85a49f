/* SPDX-License-Identifier: BSD-3-Clause */
/* simulated.h: ranks without MPI: calls put together word by word, as the tracer would, with the
 * tracer's own tables and grammars.
 *
 * The words are written out by hand here, from docs/recording.md: nothing is taken from the reader
 * that the tests are about. Everything
 * that is recorded is also kept as it is, to be compared with what is read. */
#ifndef WEND_SIMULATED_H
#define WEND_SIMULATED_H

#include <glib.h>

#include "../../lib/record/record.h"

typedef struct {
    const char *function;
    gboolean poll;
    GArray *shape, *slots, *outcome; /* gint64 */
    guintptr site;
} SimulatedCall;

typedef struct {
    enum sequence_kind kind;
    gint64 id;
    WendCst *calls, *polls;
    WendGrammar *grammar, *polls_grammar;
    guint64 polls_since;
    GPtrArray *kept; /* SimulatedCall; empty if not asked for */
    SimulatedCall *now;
    GArray *pool; /* WendPoolKey by request number */
    /* With sites: what the recorder has of them. */
    WendSiteGuesses guesses;
    GArray *elements;   /* WendSideElement */
    GHashTable *places; /* address -> number + 1 */
    GArray *addresses;  /* guintptr, by number */
    guintptr site;      /* of the call at hand */
} SimulatedSequence;

typedef struct {
    guint rank, world;
    gboolean keep;
    gboolean sites; /* calls have sites: the lines of the simulation that make them */
    GRand *noise;   /* times vary by this; NULL: they do not */
    GPtrArray *sequences;
    WendFacts facts;
} SimulatedRank;

SimulatedRank *simulated_new(guint rank, guint world, gboolean keep);
void simulated_free(SimulatedRank *r);
SimulatedSequence *simulated_sequence(SimulatedRank *r, enum sequence_kind kind, gint64 id);
GByteArray *simulated_part(SimulatedRank *r);

/* One call: begin, its words, end. */
gint64 constant(const char *name);
/* The next call comes from where the function that calls this returns to; without it, from where
 * call() returns to. */
#define FROM_CALLER(s) ((s)->site = (s)->site ? (s)->site : (guintptr)__builtin_return_address(0))
void call(SimulatedSequence *s, const char *function);
void shape(SimulatedSequence *s, gint64 word);
void slot(SimulatedSequence *s, gint64 word);
void outcome(SimulatedSequence *s, gint64 word);
void end(SimulatedRank *r, SimulatedSequence *s, double seconds);
void end_failed(SimulatedRank *r, SimulatedSequence *s, gint64 code);
/* an unsuccessful poll: to F, without outcomes */
void end_poll(SimulatedRank *r, SimulatedSequence *s);
gint64 end_request(SimulatedRank *r, SimulatedSequence *s); /* makes a request; its word */
void release(SimulatedSequence *s, gint64 request);

/* Whole calls on MPI_COMM_WORLD with MPI_DOUBLE. */
void sim_send(SimulatedRank *r, SimulatedSequence *s, gint64 segment, gint64 offset, gint64 count,
              gint64 dest, gint64 tag);
gint64 sim_isend(SimulatedRank *r, SimulatedSequence *s, gint64 segment, gint64 offset,
                 gint64 count, gint64 dest, gint64 tag);
gint64 sim_irecv(SimulatedRank *r, SimulatedSequence *s, gint64 segment, gint64 offset,
                 gint64 count, gint64 source, gint64 tag);
void sim_recv(SimulatedRank *r, SimulatedSequence *s, gint64 count, gint64 source, gint64 tag,
              gint64 got_source, gint64 got_tag, gint64 got_bytes);
/* statuses: zeros */
void sim_waitall(SimulatedRank *r, SimulatedSequence *s, guint n, const gint64 *requests);
/* status: zeros */
void sim_waitany(SimulatedRank *r, SimulatedSequence *s, guint n, const gint64 *requests,
                 guint index);
void sim_test(SimulatedRank *r, SimulatedSequence *s, gint64 request, gboolean done);
void sim_allreduce(SimulatedRank *r, SimulatedSequence *s, gint64 count);
void sim_allreduce_in(SimulatedRank *r, SimulatedSequence *s, gint64 count, double seconds);

/* So many messages of one of VALUES sizes, by chance, each at least LEAST long, to
 * MPI_PROC_NULL. */
SimulatedRank *simulated_chance(guint rank, guint world, guint calls, gint64 least, gint32 values,
                                gboolean keep);

/* A 2D stencil over a grid of W x H ranks with MPI_PROC_NULL borders. */
SimulatedRank *simulated_stencil(guint rank, guint width, guint height, guint iterations,
                                 gboolean keep);
/* From now on, sites of ranks have call stacks, which follow from their addresses. */
extern gboolean simulated_stacks;
/* The frames of that of ADDRESS: their offsets, the outermost first. Returns how many there are.
 * *WHOLE: it is not cut. */
enum { SIMULATED_FRAMES = 6 };
guint simulated_stack(guintptr address, guint64 offsets[SIMULATED_FRAMES], gboolean *whole);

/* The same, with sites or without. */
SimulatedRank *simulated_stencil_with(guint rank, guint width, guint height, guint iterations,
                                      gboolean keep, gboolean sites);

/* An entry of an order: a thread took so many turns, before which it had made CALLS - 1 calls. */
void sim_turn(SimulatedRank *r, SimulatedSequence *s, gint64 thread, gint64 calls, gint64 turns);

#endif
