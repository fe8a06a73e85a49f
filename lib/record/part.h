/* SPDX-License-Identifier: BSD-3-Clause */
/* part.h: what one rank hands to the merge, as bytes.
 *
 * part      := "WENDPART" unsigned(version = 4)
 *                n (string key, string value)^n               facts for meta (rank 0's are used;
 *                                                             others where they differ: hosts)
 *                unsigned(world rank) unsigned(world size)
 *                n sequence^n
 *                [n (unsigned(kind) block(member))^n]         side streams (side-stream.h), if any
 * sequence  := unsigned(kind: words.h) signed(id: thread number, function or communicator word)
 *                table(M) block(grammar M) unsigned(polls after the last call)
 *                                                              calls that had not returned are the
 *                                                              last of M (words.h: WEND_UNFINISHED)
 *                table(F) block(grammar F)                     F's streams and timing are empty
 * table     := n shape^n   n terminal^n   stream^(number of shapes)   n timing^n (n: terminals or
 *                                           0)
 * shape     := n signed^n                                    words; word 0 has function * 2 +
 *                                                              failed
 * terminal  := unsigned(2 * shape) n signed^n                slots
 *              | unsigned(2 * shape + 1) stream                an elastic shape's (cst.h): an entry
 *                                                              for each of its calls, in the order
 *                                                              of M: slots as differences from
 *                                                              those of the entry before, or zeros
 * stream    := unsigned(entries) block(piece*)
 *              | 0 n entry^n grammar                           entries in the order of a grammar,
 *                                                              whose terminals are their numbers;
 *                                                              not empty
 * piece     := unsigned(repeats >= 1) entry                    a run of equal ones
 * entry     := unsigned(2 n) signed^n | unsigned(2 n + 1) signed^n unsigned(count >= 2) signed^n:
 *             so many, of which each is the one before and these steps
 * timing    := for duration, then interval:
 *                unsigned(count) and, if count > 0,
 *                mean, min, max, m2                            64-bit IEEE little-endian, seconds;
 *                                                              those of terminals that share them
 *                                                              (cst.h) are the first one's
 *
 * The facts. A key "group.key" becomes [group] key=value of the archive's meta; unknown groups and
 * keys are carried as they are.
 *
 * run.program        path of the executable
 * run.arguments      arguments, if any, each shell-quoted when needed, separated by spaces
 * run.directory      working directory
 * run.job            the batch system's job id, if any
 * run.host           of this rank: the archive gets run.hosts, the distinct ones, sorted, separated
 *                    by ";"
 * run.start          seconds since the epoch, decimal (the archive keeps the smallest)
 * run.elapsed        seconds from MPI_Init to MPI_Finalize, decimal (the largest)
 * run.ended          how this rank ended if not in MPI_Finalize (checkpoint-file.h). The archive
 *                    gets ended.HOW, the ranks that ended so
 * run.stopped_after  calls that this rank had recorded when its recording stopped at
 *                    WEND_MAX_MEMORY (the smallest)
 * run.cut            kinds of side streams of which this rank has not all, because its recorder
 *                    had no memory for more: "values, sites". The archive gets cut.KINDS, these
 *                    ranks
 * run.left_out       MPI calls that this rank made while recording was off (the sum). Only if it
 *                    was switched off, or if MPI_Pcontrol(0, …) did not. The archive also gets
 *                    off.calls, the ranks that made any
 * mpi.library        MPI_Get_library_version, first line
 * mpi.version        "4.0"
 * mpi.thread         MPI_THREAD_SINGLE … as provided
 * clock.source
 * clock.resolution   seconds
 * clock.hosts        hosts whose clocks were compared, if there are several
 * clock.error        seconds by which this rank's clock may differ from rank 0's (the largest)
 * clock.uncompared   a rank whose clock was not compared
 * wend.version       of the tracer
 * options.NAME       each WEND_ setting that was given and says what is recorded: options.timing
 * datatype.NAME      of predefined datatypes, at least those used (more are dropped): "size lb
 *                    extent true_lb true_extent", decimal. Not in meta.
 * error.CLASS        for each error class that occurred, its name: error.4=MPI_ERR_TAG; empty for
 *                    one that the application added
 * unrecorded.NAME    for each function that was called and that this libwend cannot record
 *                    (src/tracer/families/unrecorded.c): empty
 *
 * If ranks differ in another key, the lowest rank's value is kept. A key without a value has an
 * empty string.
 *
 * n is unsigned. All numbers are varints (buf.h), except timing's doubles. Only the build that
 * wrote a part reads it, because function indices differ between builds. */
#ifndef WEND_PART_H
#define WEND_PART_H

#include "cst.h"
#include "grammar.h"
#include "words.h"

#define WEND_PART_MAGIC "WENDPART"
#define WEND_PART_VERSION 4
#define WEND_STOPPED_AFTER "run.stopped_after"
#define WEND_LEFT_OUT "run.left_out"
#define WEND_UNRECORDED_GROUP "unrecorded"
#define WEND_CUT_GROUP "cut"
#define WEND_OFF_GROUP "off"

/* To write a part, collect the facts, call part_begin, then part_sequence for each of the
 * announced sequences, and append the side streams. Test out->failed at the end. No GLib. */
typedef struct {
    size_t n;
    WendBuf bytes;
} WendFacts; /* {0} is empty; buf_clear(&f.bytes) frees */
void facts_add(WendFacts *f, const char *key, const char *value);

typedef struct {
    enum sequence_kind kind;
    int64_t id; /* thread number, or word of a function or communicator */
    const WendCst *calls;
    WendGrammar *grammar;
    uint64_t polls_after;             /* unsuccessful polls after the last call */
    const WendUnfinished *unfinished; /* calls that have not returned */
    size_t n_unfinished;
    const WendCst *polls;       /* NULL: there were none */
    WendGrammar *polls_grammar; /* NULL: there were none */
} WendPartSequence;

void part_begin(WendBuf *out, const WendFacts *facts, uint32_t rank, uint32_t size,
                size_t n_sequences);
void part_sequence(WendBuf *out, const WendPartSequence *s);

#endif
