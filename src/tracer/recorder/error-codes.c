/* SPDX-License-Identifier: BSD-3-Clause */
/* error-codes.c: see recorder.h. */
#include "recorder.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "own.gen.h"
#include "process/process.h"

/* Error classes that occurred. The watcher may read it at any time, so it is replaced by a larger
 * one and never freed. */
typedef struct {
    size_t n;
    _Atomic uint8_t occurred[];
} Classes;
static Classes *_Atomic classes;

static void note(int class)
{
    if (class < 0 || class > 1 << 24)
        return;
    bool locked = state_lock(&state()->threads_lock);
    Classes *k = atomic_load(&classes);
    if (!k || (size_t) class >= k->n) {
        size_t n = 2 * (size_t) class + 128;
        Classes *grown = calloc(1, sizeof *grown + n);
        if (grown) {
            grown->n = n;
            if (k)
                memcpy((void *)grown->occurred, (void *)k->occurred, k->n);
            atomic_store(&classes, k = grown);
        }
    }
    if (k && (size_t) class < k->n)
        k->occurred[class] = 1;
    state_unlock(&state()->threads_lock, locked);
}

static int *added; /* error codes and classes of the application */
static size_t n_added;

void error_code_added(int code)
{
    bool locked = state_lock(&state()->threads_lock);
    int *grown = realloc(added, (n_added + 1) * sizeof *added);
    if (grown) {
        added = grown;
        added[n_added++] = code;
    }
    state_unlock(&state()->threads_lock, locked);
}

static bool is_added(int code)
{
    bool own = false, locked = state_lock(&state()->threads_lock);
    for (size_t i = 0; i < n_added && !own; i++)
        own = added[i] == code;
    state_unlock(&state()->threads_lock, locked);
    return own;
}

/* The class of a code, or the code itself. A callback may return a number that is no code of MPI,
 * and some libraries run an error handler for such a number. Codes above MPI_ERR_LASTCODE are the
 * application's, in MPICH and in Open MPI. */
static int class_of(int code, bool own)
{
    int class;
    bool known = own || (code >= MPI_SUCCESS && code <= MPI_ERR_LASTCODE);
    return known && PMPI_Error_class(code, &class) == MPI_SUCCESS ? class : code;
}

int error_code_note(int rc)
{
    int class = class_of(rc, rc > MPI_ERR_LASTCODE && is_added(rc));
    note(class);
    return class;
}

int error_code_class(int code)
{
    return is_added(code) ? code : class_of(code, false);
}

void error_codes_each_class(void (*visit)(void *user, int class), void *user)
{
    const Classes *k = atomic_load(&classes);
    for (size_t i = 0; k && i < k->n; i++)
        if (k->occurred[i])
            visit(user, (int)i);
}
