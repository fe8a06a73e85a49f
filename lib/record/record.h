/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h: the interface of this folder: the calls of one rank, and the table of MPI.
 *
 * It includes what the recorder uses. What reads parts and archives is included by itself:
 *
 * - codec.h: words as the archive has them
 * - elastic.h: the table of a part, its streams of values turned into terminals
 * - layout.h: which words of a call belong to which parameter
 * - outcome-runs.h: the runs of a stream of outcomes
 * - rules.h: grammars as rows of rules
 * - types.h: structs that writers and readers share */
#ifndef WEND_RECORD_H
#define WEND_RECORD_H

#include "checkpoint-file.h" /* parts in files, for runs that end early */
#include "cst.h"             /* the call signature table of a sequence */
#include "functions.h"       /* the table of MPI: functions, parameters, constants */
#include "grammar.h"         /* the grammar of a sequence */
#include "neighbours.h"      /* the words of the neighbours in a graph */
#include "part.h"            /* what one rank hands to the merge, as bytes */
#include "progressions.h"    /* long arrays that follow a pattern, as few numbers */
#include "results.h"         /* what --values records of one-sided communication */
#include "side-stream.h"     /* streams that lie beside the calls */
#include "site-guesses.h"    /* predicts from where the next call comes */
#include "stream.h"          /* a stream of outcomes */
#include "values.h"          /* the values of wend trace --values */
#include "words.h"           /* the words that calls are recorded in */
#include "world-files.h"     /* the names of a recording's archives */

#endif
