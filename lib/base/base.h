/* SPDX-License-Identifier: BSD-3-Clause */
/* base.h: the interface of this folder: bytes, memory and files, without MPI.
 *
 * It includes what needs no GLib, so any file may include it. What needs GLib, or lib/small in its
 * place, is included by itself:
 *
 * - allowance.h: the memory that the archives of one recording may take
 * - byte-table.h: hash tables whose keys are bytes
 * - coder.h: sequences of numbers, coded by an adaptive range coder
 * - error.h: the errors of all of lib/
 * - file-directory.h: a directory that is made whole or not at all
 * - file-stream.h: files that are written piece by piece
 * - file-write.h: files that are written whole or not at all
 * - order.h: indices in the order of their keys, in linear time
 * - pairs.h: numbers for pairs of terminals
 * - regular.h: reading regular files alone
 * - shared-file.h: a file that several processes write
 * - signals.h: signals that wait until there is nothing to clean up
 * - word-hash.h: the hash of tables whose keys are words */
#ifndef WEND_BASE_H
#define WEND_BASE_H

#include "arena.h"       /* memory in chunks that are freed together */
#include "budget.h"      /* the memory of the recorder, counted and limited */
#include "buf.h"         /* a growable buffer of bytes, and a cursor that reads hostile bytes */
#include "identifier.h"  /* which names an archive may contain */
#include "printable.h"   /* foreign text as it may be printed */
#include "range-coder.h" /* an adaptive binary range coder */
#include "shortage.h"    /* memory for code that cannot go on without it */

#endif
