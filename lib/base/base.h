/* SPDX-License-Identifier: BSD-3-Clause */
/* base.h: the interface of this folder: bytes, memory, texts and files, without MPI. It includes
 * all but what reads and writes files (file-directory.h, file-stream.h, file-write.h, regular.h,
 * shared-file.h, signals.h) and coder.h. */
#ifndef WEND_BASE_H
#define WEND_BASE_H

#include "allowance.h"   /* the memory that the archives of one recording may take */
#include "arena.h"       /* memory in chunks that are freed together */
#include "budget.h"      /* the memory of the recorder, counted and limited */
#include "buf.h"         /* a growable buffer of bytes, and a cursor that reads hostile bytes */
#include "containers.h"  /* vectors, bytes and maps */
#include "lower-bound.h" /* binary search */
#include "error.h"       /* the errors of lib/ and of the commands */
#include "identifier.h"  /* which names an archive may contain */
#include "memory.h"      /* what all that is made of, which may be bounded */
#include "printable.h"   /* foreign text as it may be printed */
#include "range-coder.h" /* an adaptive binary range coder */
#include "strings.h"     /* strings */

#endif
