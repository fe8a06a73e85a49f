/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h: a recording in memory: rules, terminals, shapes, classes, slots, outcomes.
 *
 * A WendProgram is read-only once it is open. All pointers that it gives belong to it, unless a
 * function says otherwise. Functions with an Error (error.h) set it when they fail; the message
 * names the file and the member. Opening validates everything: indices, cycles in rules, lengths,
 * expanded lengths (no overflow). Nothing later needs to check them again.
 *
 * This header is the interface of the folder. These answer further questions about a program:
 *
 * - graph-order.h: which calls depend on the order of neighbours in a graph
 * - sides.h: the side streams of a rank; call-sites.h and sequence-times.h: along with a walk
 * - site-symbols.h: names of call sites that the archive has
 * - terminations.h: how the ranks ended
 * - world-starts.h: which call started each world
 * - worlds.h: which archives a recording's directory has */
#ifndef WEND_PROGRAM_H
#define WEND_PROGRAM_H

#include <glib.h>

#include "base/containers.h"
#include "base/error.h"
#include "record/functions.h"
#include "record/layout.h"
#include "record/types.h"
#include "record/words.h"

typedef struct WendProgram WendProgram;

/* Opens a recording. PATH is the directory, for all worlds of the job, or an archive in it, for
 * that world alone. Returns NULL and sets the error on failure. The caller frees the result with
 * program_free. */
WendProgram *program_open(const char *path, Error **error);
/* The same, with a limit of memory; program_open_world opens world NUMBER alone. If the
 * archives take more than MAX_SIZE bytes of memory they count as hostile (WEND_ERROR_INPUT). 0: the
 * limit follows from their size, as in program_open (allowance.h). */
WendProgram *program_open_within(const char *path, guint64 max_size, Error **error);
WendProgram *program_open_world(const char *path, guint number, guint64 max_size, Error **error);
/* As program_open_within, but other ranks of the first world than RANK may have no calls: what
 * is stored apart from those of RANK is not read. For a recording of several worlds it is the
 * same. */
WendProgram *program_open_rank(const char *path, guint rank, guint64 max_size, Error **error);
/* P may be NULL. */
void program_free(WendProgram *p);

GKeyFile *program_meta(const WendProgram *p);       /* groups: docs/format.md */
guint program_ranks(const WendProgram *p);          /* of all worlds */
guint64 program_n_hosts(const WendProgram *p);      /* 0: unknown */
guint64 program_archive_size(const WendProgram *p); /* bytes on disk */
guint64 program_member_bytes(const WendProgram *p); /* bytes of all members, uncompressed */
/* The archive with the members of *RANK, which becomes a rank of that archive. NULL: P is not from
 * an archive. */
struct Container *program_container(const WendProgram *p, guint *rank);

/* How long ranks were in a function, unsuccessful polls included. A time is off by at most 3 %. */
typedef struct {
    const WendFunction *function;
    guint n;
    double *seconds;
    /* Up to 1,024 ranks: N ranks of the world, ascending; SECONDS is by rank. Else NULL. */
    const guint32 *ranks;
    /* Of more ranks: how many had each of N times, which ascend, and a rank with the first and one
     * with the last of them. Else NULL. */
    const guint32 *counts;
    guint32 fastest, slowest;
} WendRankTimes;
/* The functions whose calls were timed in WORLD, and their number. */
const WendRankTimes *program_rank_times(const WendProgram *p, guint world, guint *n);

/* -- worlds: the processes of one MPI_COMM_WORLD. The first world is the one that the job was
 * started with. In all that follows, a rank is a rank of the job: the ranks of a world follow those
 * of the worlds before it -- */
typedef struct {
    const char *name; /* in the name of its archive; "": the first world */
    guint first, ranks;
} WendWorld;
guint program_n_worlds(const WendProgram *p);
const WendWorld *program_world(const WendProgram *p, guint i);
guint program_world_of(const WendProgram *p, guint rank);
GKeyFile *program_world_meta(const WendProgram *p, guint i);

/* -- grammar (shared by all classes) -- */
guint program_n_rules(const WendProgram *p);
const WendRule *program_rule(const WendProgram *p, guint rule);

/* -- shapes and terminals -- */
typedef struct {
    /* as the archive describes it; its parameters may be those of another version of Wend */
    const WendFunction *function;
    gboolean failed;
    guint n_words;
    const gint64 *words;
} WendShape;
guint program_n_shapes(const WendProgram *p);
const WendShape *program_shape(const WendProgram *p, guint shape);

typedef enum { WEND_SLOT_CONSTANT, WEND_SLOT_SELF, WEND_SLOT_TABLE } WendSlotForm;
typedef struct WendSlotTable WendSlotTable; /* program-private.h */
typedef struct {
    WendSlotForm form;
    /* CONSTANT: the value. SELF: it is added to self. TABLE: it is added to values of the table
     * that are relative to self. */
    gint64 value;
    /* TABLE: it has a value for rank - first_rank. Use program_slot. */
    const WendSlotTable *table;
    guint first_rank;
} WendSlot;
typedef struct {
    guint32 shape;
    /* Slot 0 is self if the function has WEND_F_SELF. Slot 0 itself is relative to the rank in the
     * world. */
    guint n_slots;
    const WendSlot *slots;
} WendTerminal;
guint program_n_terminals(const WendProgram *p);
const WendTerminal *program_terminal(const WendProgram *p, guint terminal);
/* The value of a slot on RANK. */
gint64 program_slot(const WendProgram *p, guint terminal, guint slot, guint rank);

/* -- classes and sequences -- */
typedef struct {
    WendSequenceKind kind;
    gint64 id;  /* thread number, or the word of the callback's function or of the communicator */
    guint rule; /* its start rule */
} WendSequence;
typedef struct {
    guint n_ranks;
    const guint *ranks; /* ascending */
    guint n_sequences;
    /* Threads by number, then callbacks. Behind these n_sequences come n_orders: the order in which
     * threads received or sent on a communicator. Only their outcomes can be asked for. */
    const WendSequence *sequences;
    guint n_orders;
} WendClass;
guint program_n_classes(const WendProgram *p);
const WendClass *program_class(const WendProgram *p, guint i);
/* The class of a rank. Ranks of which nothing was recorded have the last class, without
 * sequences. */
guint program_class_of(const WendProgram *p, guint rank);
/* The times of a terminal in a sequence of a class. A count of 0 means that the class did not call
 * it. The times of calls of one shape may have been summed up together (docs/format.md); then all
 * except the count is of all these calls. */
void program_timing(const WendProgram *p, guint class_index, guint sequence, guint terminal,
                    WendTiming *duration, WendTiming *interval);

/* -- outcomes -- */
/* An iterator over the outcomes of one shape in one sequence of one rank, in order, as runs of
 * equal entries. words[0] is the number of polls, words[1] the return code; the outputs follow. */
typedef struct WendOutcomes WendOutcomes;
WendOutcomes *program_outcomes(const WendProgram *p, guint rank, guint sequence, guint shape);
/* Returns FALSE at the end. *WORDS, of N words, is valid until the next call; *REPEATS is the
 * length of the run. */
gboolean outcomes_next_run(WendOutcomes *o, guint64 *repeats, const gint64 **words, guint *n);
void outcomes_free(WendOutcomes *o);
/* The number of unsuccessful polls of a sequence. */
guint64 program_polls(const WendProgram *p, guint rank, guint sequence);
/* The unsuccessful polls of one sequence of one rank, which have a grammar of their own. FALSE:
 * there are none. */
typedef struct {
    guint n_rules;         /* the last is the start; each uses only rules before it */
    const WendRule *rules; /* terminals: places in */
    const guint32 *terminals;
    guint64 after; /* polls after the last call */
} WendPolls;
gboolean program_poll_calls(const WendProgram *p, guint rank, guint sequence, WendPolls *polls);

/* -- calls, decoded -- */
/* The words of one parameter, from shape, slots and outcome. The length of an array is apart. */
typedef struct {
    const WendParam *param;
    /* Arrays: the length. It is -1 for NULL, or WEND_ABSENT, WEND_IGNORE or a constant; then there
     * are no elements. Scalars: 1 if present, else 0. */
    gint64 n_in, n_out;
    /* The elements. Their words, by kind of the parameter:
     *
     * - buf, attr, target: 2 (segment, offset; offset 0 if there is none)
     * - address: 4: the same two, then the two of another place if it is the distance from there,
     *   else WEND_PLAIN and 0
     * - status: 4. n_in is the word of the shape (0 ignored, 1 given; arrays: their length or
     *   WEND_IGNORE). n_out is the number of statuses that the call filled (0 from a decoder, which
     *   sees no outcomes)
     * - comm, datatype, as output: 6 (handle, then five numbers of metadata)
     * - string: n bytes, packed in words (use arg_string)
     * - strings: for each its length, then its words
     * - strings2: for each its number of strings, then these
     * - all others: 1 */
    const gint64 *in, *out;
    gboolean null; /* an output for which the caller gave NULL */
} WendArg;

typedef struct {
    const WendFunction *function;
    guint32 terminal, shape;
    guint rank;
    gboolean failed; /* it has no outputs */
    /* It failed because the run ended before it returned. It has no return code either. */
    gboolean unfinished;
    gboolean poll; /* an unsuccessful poll */
    /* All calls of this terminal, except polls, have the same words: no parameter is an outcome. */
    gboolean fixed;
    /* The number of the call in its sequence, from 0. Polls count only if the walk gives them. */
    guint64 index;
    guint64 polls_before;
    gint64 return_code; /* in the numbering of the MPI library that was recorded; 0: MPI_SUCCESS */
    guint n_args;
    const WendArg *args; /* one for each parameter, in order */
    /* the outcome as it was recorded (docs/recording.md), from a walk; none: a poll */
    guint n_outcome;
    const gint64 *outcome;
} WendCall;
/* The first argument with this name, or of this kind. NULL: there is none. */
const WendArg *call_arg(const WendCall *call, const char *name);
const WendArg *call_arg_of_kind(const WendCall *call, WendKind kind);
/* The word of the request that the call makes, or NULL. */
const gint64 *call_request_made(const WendCall *call);
/* The status of the I-th request of COMPLETED, the requests that the call completed
 * (walk_completed). Waitall and Testall have a status for each entry, the Some calls one for
 * each completed request, the others one. NULL: there is none. */
const gint64 *call_status_of(const WendCall *call, const gint64 *completed, guint i);

/* Static decoding: a terminal as RANK calls it, without outcomes; outputs that are outcomes are
 * absent. The call belongs to the decoder and is valid until its next use. P must outlive the
 * decoder. */
typedef struct WendDecoder WendDecoder;
WendDecoder *decoder_new(const WendProgram *p);
const WendCall *decoder_call(WendDecoder *d, guint terminal, guint rank);
/* The layout of a terminal of the decoder's program (record/layout.h), valid until the decoder's
 * next use. *ORIGINS has an element for each word. */
const Layout *decoder_layout(WendDecoder *d, guint terminal, const LayoutOrigin **origins);
void decoder_free(WendDecoder *d);

/* A walk over the calls of one sequence of one rank, in order, with outcomes. It follows requests,
 * communicators and datatypes, and makes statuses absolute. Sends, collectives, cancelled and
 * inactive requests have MPI's empty status: MPI_ANY_SOURCE, MPI_ANY_TAG, 0. The count is
 * WEND_UNKNOWN if the size of the datatype is unknown. Walks of one program must be in one thread,
 * because the program keeps data that they make on demand. */
typedef struct WendWalk WendWalk;
typedef enum {
    WEND_WALK_MAIN = 0,
    WEND_WALK_POLLS = 1 /* unsuccessful polls too, where they happened */
} WendWalkFlags;
WendWalk *walk_new(const WendProgram *p, guint rank, guint sequence, WendWalkFlags flags);
const WendCall *walk_next(WendWalk *w); /* NULL: the end. Valid until the next call */
void walk_free(WendWalk *w);
/* Keeps at most about N signatures decoded; by default all. If there are more, they are decoded
 * again when they are called again. For many walks at a time. */
void walk_keep(WendWalk *w, guint n);
/* About how much memory a walk takes, in bytes: what it has decoded so far. */
gsize walk_bytes(const WendWalk *w);

/* The state at the last call that the walk gave: before the effects of the call on its inputs, and
 * after those on its outputs. */
/* The global number N of a communicator, comm#N. 0: the first MPI_COMM_WORLD. G_MAXUINT:
 * unknown. */
guint walk_comm(const WendWalk *w, gint64 handle);
typedef struct {
    gboolean active; /* not completed */
    gboolean persistent;
    guint64 created;  /* index of the creating call */
    guint32 terminal; /* the terminal that created it */
} WendRequestState;
/* FALSE: there is no such request. */
gboolean walk_request(const WendWalk *w, gint64 request, WendRequestState *state);
/* Whether the last call starts the persistent requests that it was given, or frees its request. */
gboolean walk_starts(const WendWalk *w);
gboolean walk_frees(const WendWalk *w);
gint64 walk_datatype_size(const WendWalk *w, gint64 datatype); /* bytes; -1: unknown */
/* The words of the requests that the last call completed, in the order of its array. They belong to
 * the walk, until the next call. Sets *N to their number. */
const gint64 *walk_completed(const WendWalk *w, guint *n);

/* The communicators that the successful calls of a sequence gave to the application, in order, also
 * MPI_COMM_NULL. They belong to the program. */
typedef struct {
    gint64 handle;
    guint number; /* as walk_comm */
    /* the caller's rank in it; here and below -1: unknown or none */
    gint64 rank;
    gint64 leader;                     /* rank 0 of the caller's group, as a rank of the job */
    gint64 remote_size, remote_leader; /* of the other group of an intercommunicator */
    gint64 size;                       /* of the caller's group */
    gint64 out_neighbours;             /* to which neighbourhood collectives send */
    const WendFunction *function;      /* the function that gave it */
} WendCommMade;
const WendCommMade *program_comms(const WendProgram *p, guint rank, guint sequence, guint *n);
guint program_n_comms(const WendProgram *p);    /* numbers are 0 to the result */
int comm_made_parameter(const WendFunction *f); /* parameter; -1: none */

/* The metadata of a predefined datatype: size, lb, extent, true lb, true extent. FALSE: unknown. */
gboolean program_datatype(const WendProgram *p, gint64 constant, gint64 facts[5]);

/* -- text -- */
const char *program_constant_name(const WendProgram *p, gint64 word); /* NULL: not a constant */
/* The word of a constant, the same in all programs. WEND_UNKNOWN: Wend does not know the
 * constant. */
gint64 program_constant_word(const char *name);
/* The string of an argument, newly allocated. NULL if the argument was NULL. OUT: the output. */
char *arg_string(const WendArg *arg, gboolean out);

#endif
