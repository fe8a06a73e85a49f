/* SPDX-License-Identifier: BSD-3-Clause */
/* reader.c: fuzzes libwend-read through its public interface: an archive as members.h has it, of
 * which a program of somebody else's asks everything.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include "exercise.h"

#include <glib.h>
#include "src/read/wrap.h"
#include "tests/read/exercise-read.h"

enum { CALLS = 20000, RANKS = 64 };

/* The matrix may go through all calls. */
static bool is_short(WendRead *r)
{
    const WendReadTotals *totals;
    const WendReadFacts *facts;
    return wend_read_totals(r, &totals) == 0 && totals->mpi_calls < CALLS
           && wend_read_facts(r, WEND_READ_JOB, &facts) == 0 && facts->n_ranks <= RANKS;
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    AUTO(Error) error = NULL;
    WendProgram *p = exercise_open(data, size, &error);
    if (p != NULL && program_ranks(p) > 0) {
        WendRead *r = read_wrap(p);
        exercise_read(r, is_short(r));
        wend_read_free(r);
    }
    program_free(p);
    return 0;
}
