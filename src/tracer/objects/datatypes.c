/* SPDX-License-Identifier: BSD-3-Clause */
/* datatypes.c: size and bounds of datatypes. MPI is asked for them when a datatype is made. The
 * handle is valid then, so these calls run no error handler. */
#include "objects.h"

#include "memory/address.h"
#include "own.gen.h"

#define VALUE(handle) ((uintptr_t)(handle))

/* The facts: size, lb, extent, true lb, true extent. One more is not recorded: whether bounds
 * differ in each run. */

enum { VARIES = 5, DATATYPE_FACTS };

static int64_t *datatype_ask(MPI_Datatype type)
{
    int64_t *facts = handle_facts_new(DATATYPE_FACTS * sizeof *facts);
    MPI_Count size = -1, lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    if (!facts) {
        state_break("out of memory");
        return NULL;
    }
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent_x(type, &lb, &extent);
    PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
    facts[0] = size == MPI_UNDEFINED ? -1 : size;
    facts[1] = lb;
    facts[2] = extent;
    facts[3] = true_lb;
    facts[4] = true_extent;
    return facts;
}

static _Atomic bool any_empty;

static const int64_t *datatype_learn(MPI_Datatype type, bool varies)
{
    int64_t *facts = datatype_ask(type);
    if (facts) {
        if (facts[0] == 0)
            atomic_store(&any_empty, true);
        /* The bounds are absolute addresses (the type is used with MPI_BOTTOM), or distances
         * between segments. The constructor's arguments record them. */
        facts[VARIES] = varies || attachments_looks_mapped((uintptr_t)facts[1], NULL)
                        || attachments_looks_mapped((uintptr_t)facts[3], NULL);
        handle_set_metadata(HANDLE_DATATYPE, VALUE(type), facts);
    }
    return facts;
}

void datatypes_open(void)
{
    for (size_t i = 0; i < mpi_n_predefined; i++) {
        const PredefinedHandle *p = &mpi_predefined[i];
        if (p->kind == HANDLE_DATATYPE && p->value != VALUE(MPI_DATATYPE_NULL)
            && !handle_metadata(HANDLE_DATATYPE, p->value))
            datatype_learn((MPI_Datatype)p->value, false);
    }
}

int64_t datatype_made(ActiveCall *c, MPI_Datatype type)
{
    int64_t word = handle_made(c, HANDLE_DATATYPE, VALUE(type));
    call_put_shape(c, word);
    if (!word_is_handle(word))
        return word;
    const int64_t *facts = handle_metadata(HANDLE_DATATYPE, VALUE(type));
    if (!facts)
        facts = datatype_learn(type, c->varies);
    for (int i = 0; i < 5; i++)
        call_put_slot(c, !facts ? -1 : i > 0 && facts[VARIES] ? WEND_ABSENT : facts[i]);
    return word;
}

bool datatypes_vary(const MPI_Datatype *types, int64_t n)
{
    bool vary = false;
    for (int64_t i = 0; types && i < n && !vary; i++) {
        const int64_t *facts = handle_metadata(HANDLE_DATATYPE, VALUE(types[i]));
        vary = facts && facts[VARIES];
    }
    return vary;
}

int64_t datatype_size(MPI_Datatype type)
{
    const int64_t *facts = handle_metadata(HANDLE_DATATYPE, VALUE(type));
    return facts ? facts[0] : -1;
}

bool datatype_is_empty(MPI_Datatype type)
{
    return __builtin_expect(atomic_load_explicit(&any_empty, memory_order_relaxed), 0)
           && datatype_size(type) == 0;
}

const int64_t *datatype_metadata(MPI_Datatype type)
{
    return handle_metadata(HANDLE_DATATYPE, VALUE(type));
}
