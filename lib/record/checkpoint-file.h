/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint-file.h: parts in files, for runs that end early. A rank has two files, written in
 * turn, so that one is whole whenever the process is killed. Each has a header, the part (part.h),
 * and bytes without meaning: reserved space, or the rest of an older part. No GLib.
 *
 * They are in a folder of the recording's directory: trace.parts, or world-NAME.parts for a world
 * that another one started. The file "run" there says whose they are
 * (src/tracer/output/parts.c). */
#ifndef WEND_CHECKPOINT_H
#define WEND_CHECKPOINT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEND_CHECKPOINT_FOLDER "trace.parts"
#define WEND_CHECKPOINT_SUFFIX ".parts"
#define WEND_CHECKPOINT_PREFIX "rank-" /* then the rank, decimal, and one of these */
#define WEND_CHECKPOINT_SLOTS \
    {                         \
        ".a", ".b"            \
    }
#define WEND_CHECKPOINT_MAGIC "WENDSAVE"

/* Numbers are in the machine's own form: only the build that wrote a part reads it. */
typedef struct {
    char magic[8];
    uint64_t build;  /* checkpoint_file_build */
    uint64_t number; /* the higher is the newer */
    uint64_t bytes;  /* of the part, which follows */
    uint64_t hash;   /* XXH64 of the part; its seed is the XXH64 of the members above */
} WendCheckpointHeader;

/* A hash of the functions and constants of this build. */
uint64_t checkpoint_file_build(void);
WendCheckpointHeader checkpoint_header(uint64_t build, uint64_t number, const void *part,
                                       size_t bytes);
/* Do the N bytes of a file contain a whole part? Then *H gets the header, which the part
 * follows. */
bool checkpoint_file_is_whole(const void *file, size_t n, WendCheckpointHeader *h);

/* The archive's meta has the ranks that ended in one way, as "3;5-7", in this group. */
#define WEND_ENDED_GROUP "ended"

/* The beginnings of a part's fact run.ended. A run that reached MPI_Finalize has none. */
#define WEND_ENDED_SIGNAL "signal "                        /* then SIGSEGV */
#define WEND_ENDED_ABORT "MPI_Abort "                      /* then the code */
#define WEND_ENDED_EXIT "exit "                            /* then the status */
#define WEND_ENDED_EXEC "exec "                            /* then the program that it became */
#define WEND_ENDED_FATAL "error in MPI"                    /* without an error handler */
#define WEND_ENDED_MEMORY "recorded up to WEND_MAX_MEMORY" /* the run went on */
#define WEND_ENDED_UNKNOWN "unknown"                       /* a checkpoint, or another rank ended */
#define WEND_ENDED_ROOM \
    (sizeof WEND_ENDED_EXEC + NAME_MAX) /* bytes for any of these texts, with its NUL */

#endif
