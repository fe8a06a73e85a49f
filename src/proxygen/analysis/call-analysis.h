/* SPDX-License-Identifier: BSD-3-Clause */
/* call-analysis.h: the interface of this folder: facts about calls, without decisions. handlers.h
 * has those about their order. */
#ifndef PROXYGEN_CALL_ANALYSIS_H
#define PROXYGEN_CALL_ANALYSIS_H

#include "lib/base/error.h"
#include "src/proxygen/model/model.h"

/* -- lifetimes.c -- */

/* Finds the datatype or communicator that a handle stands for at each call.
 *
 * A number of a handle is used again after the object is freed: a new object gets the smallest free
 * number. So the object depends on the calls before. This module follows the objects through the
 * grammar of each class, rule by rule. The effect of a rule is found once for each state of the
 * handles before it, so the cost depends on the rules and not on the calls. The object may be
 * unknown, for example if one thread makes it and another uses it. Then the handle stands for any
 * object that ever had its number on that rank. */

typedef struct Lifetimes Lifetimes;

/* The call that made an object. */
typedef struct {
    guint terminal;
    guint slot;        /* slot of the first of its five facts */
    gboolean absolute; /* a datatype whose bounds are addresses, on some ranks at least */
    /* if absolute: the definitions of the call's datatypes, in the order of its words; 0 for a
     * datatype that has no single definition */
    guint n_inputs;
    const guint *inputs;
} Definition;

Lifetimes *lifetimes_new(Plan *plan);
void lifetimes_free(Lifetimes *live);

/* Calls FUNCTION for each call of the program. If its handles stand for several objects over time,
 * FUNCTION is called once for each, with the ranks that make the call so. */
typedef void (*LifetimesFunction)(const CallPattern *c, RankList ranks, gpointer data);
void lifetimes_foreach_call(Lifetimes *live, LifetimesFunction function, gpointer data);

/* The objects that the handle may stand for on a rank. Inside a LifetimesFunction they are those at
 * that call, else all that ever had its number. Returns their number. *definitions is valid until
 * the next call of this function. */
guint lifetimes_definitions(Lifetimes *live, WendKind kind, gint64 handle, guint rank,
                            const guint **definitions);
const Definition *lifetimes_definition(const Lifetimes *live, guint definition);
/* Whether the handles of the call that is visited stand for objects that differ by rank. */
gboolean lifetimes_varies(Lifetimes *live, const CallPattern *c);
/* Fact number FACT (0 to 4, docs/recording.md) of an object on RANK. */
gint64 lifetimes_fact(const Lifetimes *live, const Definition *d, guint fact, guint rank);

/* -- extent.c -- */

/* The bytes of memory that a buffer argument touches. They follow from the recorded
 * counts, datatypes and displacements. */

typedef struct Extents Extents;

/* A range of bytes: offsets low <= o < high of a segment, or of the buffer argument if the segment
 * is EXTENT_RELATIVE. */
#define EXTENT_RELATIVE WEND_ABSENT
typedef struct {
    gint64 segment, low, high;
} BytePiece;

/* Reads all recorded facts about datatypes and communicators. LIVE resolves handles. Where a handle
 * may stand for several objects, all of them count, so an extent is never too small. LIVE must
 * outlive the result. */
Extents *extents_new(Plan *plan, Lifetimes *live);
void extents_free(Extents *e);

/* Appends the bytes that the call touches on RANK through argument ARG, a buffer. Datatypes with
 * absolute addresses give ranges of segments. */
void extent_of_buffer(Extents *e, const CallPattern *c, guint arg, guint rank, GArray *pieces);
/* The size in bytes of COUNT elements, for the largest datatype that the handle stood for on
 * RANK. */
gint64 extent_data_size(Extents *e, gint64 datatype, gint64 count, guint rank);

/* -- datatype-layout.c -- */

/* The positions of a datatype's elements: bytes relative to the buffer, or bytes
 * of segments if the type has absolute addresses. */

/* The sum and the product of two numbers, clamped to a bound above all that an allocation grants.
 * Numbers may come from a hostile recording. */
gint64 datatype_layout_sum(gint64 a, gint64 b);
gint64 datatype_layout_product(gint64 a, gint64 b);

typedef struct {
    gint64 lb, extent; /* lb is relative to its segment */
    gint64 segment;    /* the segment of lb; mostly EXTENT_RELATIVE */
    GArray *pieces;    /* of BytePiece: the bytes that one element touches */
} DatatypeLayout;

typedef struct DatatypeLayouts DatatypeLayouts;
DatatypeLayouts *datatype_layouts_new(Plan *plan, Lifetimes *live);
void datatype_layouts_free(DatatypeLayouts *l);

/* Calls FUNCTION with the layout of each datatype that the word, a handle or a constant, may stand
 * for on RANK (lifetimes.c). The layout is valid during the call. */
typedef void (*DatatypeLayoutFunction)(const DatatypeLayout *layout, gpointer data);
void datatype_layout_foreach(DatatypeLayouts *l, gint64 datatype, guint rank,
                             DatatypeLayoutFunction function, gpointer data);

/* Appends the bytes of COUNT elements that begin at offset AT of SEGMENT. */
void datatype_layout_place(const DatatypeLayout *layout, gint64 segment, gint64 at, gint64 count,
                           GArray *pieces);

/* -- memory-use.c: the segments of the application's memory that MPI calls used -- */

typedef struct {
    gint64 word;      /* segment word */
    gint64 low, high; /* the bytes that MPI touches: offsets low <= o < high, low <= 0 */
    /* index in the proxy's list of segments of this kind. The main thread's segments come first, by
     * number (or consecutively, if numbers are far apart), then those of other threads */
    gint64 place;
} Segment;

/* Finds the segments that calls use, and the bytes of each. */
void memory_use_find(Plan *plan);

/* The segment of that word. NULL if the calls do not use it. */
const Segment *memory_use_segment(const Plan *plan, gint64 word);
/* The index of the segment in the proxy's list of its kind. */
gint64 memory_use_segment_place(const Plan *plan, gint64 word);
/* All segments of one kind, by id and so by place. The caller frees the array. */
GPtrArray *memory_use_segments_of_kind(const Plan *plan, enum segment_kind kind);
/* Whether a thread uses static data of several modules. */
gboolean memory_use_has_modules(const Plan *plan);
/* Whether datatypes reach below the beginning of heap blocks. */
gboolean memory_use_heap_reaches_below(const Plan *plan);

/* -- dynamic.c: memory in dynamic windows -- */

/* Finds the segments that are attached to dynamic windows. Returns FALSE with an error if the
 * recording does not know the memory that a call accesses. */
gboolean dynamic_find(Plan *plan, Error **error);

/* The number of an attached segment, from 1; 0 if it is not attached. */
guint dynamic_block(const Plan *plan, gint64 segment);

/* -- found-files.c -- */

/* The files that the application named, and the sizes that it found under these
 * names. */

typedef struct {
    guint number;
    char *name;       /* as recorded */
    gint64 bytes;     /* size before the run; -1 if there was no file */
    gboolean nowhere; /* its directory does not exist, so the file cannot be made */
} ScratchFile;

/* The results of a call, for each time it was made: a size in bytes, or one of these: */
enum { FOUND_NONE = -1, FOUND_UNKNOWN = -2 };
typedef struct {
    const ScratchFile *file;
    GArray *found;       /* of gint64 */
    gboolean unexpected; /* at least once, the size was not the one that MPI calls had left */
} FileFinding;

void found_files_find(Plan *plan);
void found_files_free(struct Files *files);
guint found_files_count(const Plan *plan);
const ScratchFile *found_files_by_number(const Plan *plan, guint number);
const ScratchFile *found_files_by_name(const Plan *plan, const char *name);
/* The sizes that the calls of TERMINAL must find and would not find by themselves. NULL if there
 * are none. */
const FileFinding *found_files_unexpected(const Plan *plan, guint terminal);

#endif
