/* memory.h: which segment of memory an address is in.
 *
 * Segments get their id when MPI first uses them (memory_where), and only the free of such a segment is an event. Any thread may call any of
 * this; no lock is held across the application's or the runtime's code. Nothing here calls MPI. */
#ifndef WEND_MEMORY_H
#define WEND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/words.h"

typedef struct { int64_t segment, offset; } Where;                   /* segment: word of words.h, or WEND_UNKNOWN (offset 0) */
Where memory_where(const void *address);                             /* marks the segment as used by MPI; gives it its id */
Where memory_known(const void *address);                             /* the same if MPI has used the segment before; marks nothing, asks nothing of the system */

/* Linux maps nothing below, by default: a pointer that is less is a number that somebody gives for an address. */
#define MEMORY_LOWEST_ADDRESS ((uintptr_t)1 << 16)

/* Could an MPI_Aint be an absolute address? No id is given. Below 4 GiB only if MPI has used the segment before: executables that are not
 * position-independent have data there, and displacements are numbers of that size. */
bool memory_looks_mapped(uintptr_t value);

/* Memory that MPI made: MPI_Alloc_mem (WEND_SEGMENT_MPI), windows (WEND_SEGMENT_WIN). NULL is ignored; a base that is there
 * already keeps its id. OWNER: the window's handle, or 0. Whatever else was known in that range is forgotten. */
void memory_add(int kind, const void *base, size_t bytes, uintptr_t owner);
void memory_remove(const void *base);                                /* MPI_Free_mem; a base that is not there is ignored */
void memory_remove_owner(uintptr_t owner);                           /* MPI_Win_free: own and queried parts */

/* -- what the runtime gives -- */
/* What a thread has made, or named, and another has freed: whether that was in time for the next thing that the first one makes is not the program's doing, so a
 * number that another thread gave back does not come again before its maker has made so many more of its kind. A thread that is further behind leaves its mark. */
enum { WEND_LAG = 16 };
/* Number of the calling thread as in its handles' ids, whatever callback it is in. -1: it has none yet, and gets none by this. */
int64_t thread_number(void);
/* A used segment is freed: append wend_free(segment) to the sequence that this thread's calls go to now; nothing if the thread has none.
 * Called within the application's free or realloc. */
void memory_freed_used_segment(int64_t segment);
/* Memory is short: recording stops. */
void state_break(const char *why);

#endif
