/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h: a recording in memory, for every consumer: rules, terminals, shapes, classes, slots,
 * outcomes.
 *
 * A WendProgram is read-only once open; all pointers that it gives belong to it. Functions with a
 * GError fail with WEND_ERROR (error.h), the message names the file and the member. An open
 * validates everything: indices, cycles in rules, lengths, expanded lengths (no overflow), so that
 * nothing later needs to check again. */
#ifndef WEND_PROGRAM_H
#define WEND_PROGRAM_H

#include <glib.h>

#include "record/functions.h"
#include "record/types.h"
#include "record/words.h"

typedef struct WendProgram WendProgram;

/* the directory: all worlds of the job; or an archive in it: that world */
WendProgram *wend_program_open(const char *path, GError **error);
/* The same, and one world alone. MAX_SIZE: bytes of memory that the archives may take, which count
 * as hostile beyond it (WEND_ERROR_INPUT); 0: by their size, as wend_program_open has it
 * (allowance.h). */
WendProgram *wend_program_open_within(const char *path, guint64 max_size, GError **error);
WendProgram *wend_program_open_world(const char *path, guint number, guint64 max_size,
                                     GError **error);
void wend_program_free(WendProgram *p);

GKeyFile *wend_program_meta(const WendProgram *p);       /* groups: docs/format.md */
guint wend_program_ranks(const WendProgram *p);          /* processes of all its worlds */
guint64 wend_program_n_hosts(const WendProgram *p);      /* 0: not known */
guint64 wend_program_archive_size(const WendProgram *p); /* bytes on disk */
guint64 wend_program_member_bytes(const WendProgram *p); /* bytes of all members, uncompressed */

/* -- worlds: processes that share an MPI_COMM_WORLD; the first is the one that the job was started
 * with. In all that follows a rank is that of the job: the ranks of one world come behind those of
 * the worlds before it -- */
typedef struct {
    const char *name; /* in the name of its archive; "" the first */
    guint first, ranks;
} WendWorld;
guint wend_program_n_worlds(const WendProgram *p);
const WendWorld *wend_program_world(const WendProgram *p, guint i);
guint wend_program_world_of(const WendProgram *p, guint rank);
GKeyFile *wend_program_world_meta(const WendProgram *p, guint i);

/* -- grammar (shared by all classes) -- */
guint wend_program_n_rules(const WendProgram *p);
const WendRule *wend_program_rule(const WendProgram *p, guint rule);

/* -- what a call is -- */
typedef struct {
    /* as the archive describes it: its parameters may be those of another version of Wend */
    const WendFunction *function;
    gboolean failed;
    guint n_words;
    const gint64 *words;
} WendShape;
guint wend_program_n_shapes(const WendProgram *p);
const WendShape *wend_program_shape(const WendProgram *p, guint shape);

typedef enum { WEND_SLOT_CONSTANT, WEND_SLOT_SELF, WEND_SLOT_TABLE } WendSlotForm;
typedef struct WendSlotTable WendSlotTable; /* of ranks: program-private.h */
typedef struct {
    WendSlotForm form;
    /* CONSTANT: it; SELF: added to self; TABLE: likewise, with what the table says */
    gint64 value;
    /* TABLE: what it has for rank - first_rank; ask wend_program_slot */
    const WendSlotTable *table;
    guint first_rank;
} WendSlot;
typedef struct {
    guint32 shape;
    /* slot 0 is self if the function has WEND_F_SELF; its own self is the world rank */
    guint n_slots;
    const WendSlot *slots;
} WendTerminal;
guint wend_program_n_terminals(const WendProgram *p);
const WendTerminal *wend_program_terminal(const WendProgram *p, guint terminal);
/* the value */
gint64 wend_program_slot(const WendProgram *p, guint terminal, guint slot, guint rank);

/* -- who runs what -- */
typedef struct {
    WendSequenceKind kind;
    gint64 id;  /* thread number, or the callback's function word */
    guint rule; /* its start rule, M */
} WendSequence;
typedef struct {
    guint n_ranks;
    const guint *ranks; /* ascending */
    guint n_sequences;
    const WendSequence *sequences; /* threads by number, then callbacks */
} WendClass;
guint wend_program_n_classes(const WendProgram *p);
const WendClass *wend_program_class(const WendProgram *p, guint i);
/* ranks of which nothing was recorded: a class without sequences, the last */
guint wend_program_class_of(const WendProgram *p, guint rank);
/* Timing of a terminal as class I ran it (count 0: it did not). Calls of one shape whose times
 * could not be distinguished were summed up together: all but the count is of these. */
void wend_program_timing(const WendProgram *p, guint class_index, guint sequence, guint terminal,
                         WendTiming *duration, WendTiming *interval);

/* How far the times of T may be off, as parts of themselves: the mean, and the rest (extremes and
 * deviation). Archives keep few digits (docs/format.md, "timing"). */
void wend_program_timing_error(const WendTiming *t, double *mean, double *rest);

/* -- outcomes -- */
/* The entries of one shape in one sequence of one rank, in order; runs of equal entries. words[0]
 * polls, [1] return code, then the outputs. */
typedef struct WendOutcomes WendOutcomes; /* an iterator */
WendOutcomes *wend_program_outcomes(const WendProgram *p, guint rank, guint sequence, guint shape);
/* words valid until the next call */
gboolean wend_outcomes_next_run(WendOutcomes *o, guint64 *repeats, const gint64 **words, guint *n);
void wend_outcomes_free(WendOutcomes *o);
/* failing polls, all */
guint64 wend_program_polls(const WendProgram *p, guint rank, guint sequence);
/* The unsuccessful polls of one sequence of one rank, which have a grammar of their own. FALSE:
 * there are none. */
typedef struct {
    guint n_rules;         /* the last is the start; each uses only rules before it */
    const WendRule *rules; /* terminals: places in */
    const guint32 *terminals;
    guint64 after; /* polls after the last call */
} WendPolls;
gboolean wend_program_poll_calls(const WendProgram *p, guint rank, guint sequence,
                                 WendPolls *polls);

/* -- calls, decoded -- */
/* The words of one parameter, split from shape, slots and outcome. For arrays the length is
 * apart. */
typedef struct {
    const WendParam *param;
    /* arrays: length word (-1 NULL, WEND_ABSENT, WEND_IGNORE or a constant: no elements); scalars:
     * 1 if present, else 0 */
    gint64 n_in, n_out;
    /* elements: 1 word each; buf, attr and target 2 (segment, offset; offset 0 if none); address 4:
     * the same, and if it is the distance from another place that place's two, else WEND_PLAIN and
     * 0; status 4; out of comm and datatype 6 (handle, then the five facts); string: n bytes packed
     * in words (use wend_arg_string); strings: for each its length, then its words; strings2: for
     * each its number of strings, then these. status: n_in is the word of the shape (0 ignored, 1
     * given; arrays their length or WEND_IGNORE) and n_out the number of statuses that the call
     * filled (0 from a decoder, which sees no outcomes) */
    const gint64 *in, *out;
    gboolean null; /* a result for which the caller gave NULL */
} WendArg;

typedef struct {
    const WendFunction *function;
    guint32 terminal, shape;
    guint rank;
    gboolean failed; /* there are no outputs */
    /* failed, because the run ended before it returned: there is no return code either */
    gboolean unfinished;
    gboolean poll; /* an unsuccessful poll, from F */
    /* the words of all parameters are the same in each call of this terminal, polls aside: none is
     * of the outcome */
    gboolean fixed;
    /* number of the call in its sequence, from 0; polls count only when the walk gives them */
    guint64 index;
    guint64 polls_before;
    gint64 return_code; /* as the recording MPI library numbers it; 0 MPI_SUCCESS */
    guint n_args;
    const WendArg *args; /* one for each parameter, in order */
    /* the outcome as it was recorded (docs/recording.md), from a walk; none: a poll */
    guint n_outcome;
    const gint64 *outcome;
} WendCall;
/* The first argument with that name, or of that kind; NULL: none. */
const WendArg *wend_call_arg(const WendCall *call, const char *name);
const WendArg *wend_call_arg_of_kind(const WendCall *call, WendKind kind);
/* The request that the call makes, or NULL. */
const gint64 *wend_call_request_made(const WendCall *call);
/* The status of the I-th of the requests that the call COMPLETED (wend_walk_completed): Waitall and
 * Testall have one for each entry, the Some calls one for each that completed, the others one.
 * NULL: there is none. */
const gint64 *wend_call_status_of(const WendCall *call, const gint64 *completed, guint i);

/* Static decoding: shape and slots of a terminal as RANK makes it; no outcomes (out parts that live
 * there are absent). The call belongs to DECODER and is valid until its next use. */
typedef struct WendDecoder WendDecoder;
WendDecoder *wend_decoder_new(const WendProgram *p);
const WendCall *wend_decoder_call(WendDecoder *d, guint terminal, guint rank);
void wend_decoder_free(WendDecoder *d);

/* A walk over every call of one sequence of one rank, in order, with outcomes; statuses are
 * absolute (of sends, collectives, cancelled and inactive requests: MPI's empty status,
 * MPI_ANY_SOURCE, MPI_ANY_TAG, 0; WEND_UNKNOWN where the datatype's size is not known). It follows
 * requests, communicators and datatypes. Different walks of one program are not for different
 * threads: the program keeps what they find. */
typedef struct WendWalk WendWalk;
typedef enum {
    WEND_WALK_MAIN = 0,
    WEND_WALK_POLLS = 1 /* unsuccessful polls too, where they happened */
} WendWalkFlags;
WendWalk *wend_walk_new(const WendProgram *p, guint rank, guint sequence, WendWalkFlags flags);
const WendCall *wend_walk_next(WendWalk *w); /* NULL: the end */
void wend_walk_free(WendWalk *w);

/* What the walk knows at the call just given (before its effects on inputs, after on outputs). */
/* global number of a communicator: comm#N; 0 = the first MPI_COMM_WORLD; G_MAXUINT unknown */
guint wend_walk_comm(const WendWalk *w, gint64 handle);
typedef struct {
    gboolean active; /* not completed */
    gboolean persistent;
    guint64 created;  /* index of the creating call */
    guint32 terminal; /* that created it */
} WendRequestState;
/* FALSE: none of that number */
gboolean wend_walk_request(const WendWalk *w, gint64 request, WendRequestState *state);
gint64 wend_walk_datatype_size(const WendWalk *w, gint64 datatype); /* bytes, -1 unknown */
/* Requests that the call just given completed, as words, in the order of its array; owned by the
 * walk. */
const gint64 *wend_walk_completed(const WendWalk *w, guint *n);

/* The communicators that a sequence's calls gave to the program (those calls that succeeded), in
 * order, MPI_COMM_NULL too. Belongs to the program. */
typedef struct {
    gint64 handle;
    guint number;                      /* as wend_walk_comm */
    gint64 rank;                       /* the caller's in it; here and below -1: unknown or none */
    gint64 leader;                     /* rank 0 of the caller's group, as a rank of the job */
    gint64 remote_size, remote_leader; /* of the other group of an intercommunicator */
    gint64 size;                       /* of the caller's group */
    gint64 out_neighbours;             /* whom neighbourhood collectives send to */
    const WendFunction *function;      /* that gave it */
} WendCommMade;
const WendCommMade *wend_program_comms(const WendProgram *p, guint rank, guint sequence, guint *n);
guint wend_program_n_comms(const WendProgram *p);   /* their numbers are 1 to that, and 0 */
int wend_function_comm_made(const WendFunction *f); /* the parameter that gives it; -1 none */

/* Facts on predefined datatypes: size, lb, extent, true lb, true extent. */
gboolean wend_program_datatype(const WendProgram *p, gint64 constant, gint64 facts[5]);

/* -- text -- */
const char *wend_constant_name(const WendProgram *p, gint64 word); /* NULL: not a constant */
/* the same in all programs; WEND_UNKNOWN: none that Wend knows */
gint64 wend_constant_word(const char *name);
/* for a GHashTable of words; GLib's g_int64_hash leaves out the upper half, where much is */
guint wend_program_word_hash(gconstpointer word);
/* newly allocated; NULL if the pointer was NULL */
char *wend_arg_string(const WendArg *arg, gboolean out);

#endif
