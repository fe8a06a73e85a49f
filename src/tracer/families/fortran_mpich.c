/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran_mpich.c: MPICH's Fortran layer. In libmpichfort, mpi_send_ calls MPI_Send. But "use
 * mpi_f08" calls PMPI_Comm_rank and so on, for all functions without a choice buffer. For
 * attributes, all Fortran interfaces call internal functions, MPII_Comm_set_attr…, which know that
 * a value is an integer. */
#include "fortran.h"

#ifndef OPEN_MPI

#include <stdint.h>
#include <string.h>

#include "encode/encode.h"
#include "lib/record/functions.h"
#include "recorder/recorder.h"

/* The last argument is the type of the value: MPICH's MPIR_Attr_type, a C enum. */
#define EACH_OBJECT_WITH_ATTRIBUTES(DO)                        \
    DO(Comm, MPI_Comm, HANDLE_COMM, comm_metadata(object))     \
    DO(Win, MPI_Win, HANDLE_WIN, comm_metadata_of_win(object)) \
    DO(Type, MPI_Datatype, HANDLE_DATATYPE, NULL)

/* The word of a key. In Fortran the predefined keys have other values, each one more than in C. */
static int64_t keyval_word(int keyval)
{
    int64_t word = handle_word(HANDLE_KEYVAL, HANDLE_VALUE(keyval));
    if (word == WEND_UNKNOWN && keyval - 1 != MPI_KEYVAL_INVALID) {
        int64_t c = handle_word(HANDLE_KEYVAL, HANDLE_VALUE(keyval - 1));
        return wend_word_is_const(c) ? c : word;
    }
    return word;
}

static void begin_words(ActiveCall *c, bool has_self, const CommMetadata *facts, int64_t object,
                        int keyval)
{
    if (has_self)
        call_put_slot(c, facts ? facts->rank : -1);
    call_put_shape(c, object);
    call_put_shape(c, keyval_word(keyval));
}

#define DEFINE(OBJECT, CTYPE, KIND, FACTS)                                                      \
    extern int MPII_##OBJECT##_set_attr(CTYPE, int, void *, int) __attribute__((weak));         \
    extern int MPII_##OBJECT##_get_attr(CTYPE, int, void *, int *, int) __attribute__((weak));  \
                                                                                                \
    static int set_##OBJECT(CTYPE object, int keyval, void *value, int type)                    \
    {                                                                                           \
        ActiveCall *c = call_begin(WEND_FN_MPI_##OBJECT##_set_attr);                            \
        if (!c)                                                                                 \
            return MPII_##OBJECT##_set_attr(object, keyval, value, type);                       \
        begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(object)), \
                    keyval);                                                                    \
        encode_in_address(c, (MPI_Aint)value);                                                  \
        call_start(c);                                                                          \
        int rc = MPII_##OBJECT##_set_attr(object, keyval, value, type);                         \
        call_stop(c, rc);                                                                       \
        call_end(c);                                                                            \
        return rc;                                                                              \
    }                                                                                           \
                                                                                                \
    static int get_##OBJECT(CTYPE object, int keyval, void *value, int *flag, int type)         \
    {                                                                                           \
        ActiveCall *c = call_begin(WEND_FN_MPI_##OBJECT##_get_attr);                            \
        if (!c)                                                                                 \
            return MPII_##OBJECT##_get_attr(object, keyval, value, flag, type);                 \
        begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(object)), \
                    keyval);                                                                    \
        call_start(c);                                                                          \
        int rc = MPII_##OBJECT##_get_attr(object, keyval, value, flag, type);                   \
        call_stop(c, rc);                                                                       \
        if (call_ok(c)) {                                                                       \
            if (*flag)                                                                          \
                /* a predefined one, too: it is not behind a pointer, as in C */                \
                encode_out_kept(c, *(MPI_Aint *)value);                                         \
            else                                                                                \
                call_put_outcome(c, WEND_ABSENT);                                               \
            call_put_outcome(c, *flag != 0);                                                    \
        }                                                                                       \
        call_end(c);                                                                            \
        return rc;                                                                              \
    }

EACH_OBJECT_WITH_ATTRIBUTES(DEFINE)

void *fortran_internal(const char *name)
{
#define ROW(OBJECT, CTYPE, KIND, FACTS)                  \
    {"MPII_" #OBJECT "_set_attr", (void *)set_##OBJECT}, \
        {"MPII_" #OBJECT "_get_attr", (void *)get_##OBJECT},
    static const struct {
        const char *name;
        void *wrapper;
    } rows[] = {EACH_OBJECT_WITH_ATTRIBUTES(ROW)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].wrapper;
    return NULL;
}

/* Whether the module is the layer, or a program that is linked with it statically. No other module
 * refers to this function. */
bool fortran_is_layer(const Module *m)
{
    return module_refers(m, "MPII_Grequest_set_lang_f77");
}

const char *const fortran_names[] = {NULL};

#endif
