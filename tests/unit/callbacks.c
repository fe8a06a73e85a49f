/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks: closures hand on whatever a library passes, C's, Fortran's and variadic arguments, and
 * tell the runtime what came back. The runtime is played by the test; there is no MPI but its
 * header. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/tracer/encode/encode.h"
#include "src/tracer/recorder/recorder.h"

#define CHECK(x)                                                              \
    do {                                                                      \
        if (!(x)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

/* -- the runtime -- */

__thread Thread *this_thread;
State process_state;
static __thread int64_t number;
static bool off;
static int depth, deepest, pseudo_calls, mpi_calls, forgotten;
static int64_t entered, returned_kind, returned_value, returned_flag;

int64_t thread_number(void)
{
    return number;
}
void state_break(const char *why)
{
    fprintf(stderr, "%s\n", why), exit(1);
}
bool callback_enter(int64_t word)
{
    errno = 99;
    if (off)
        return false;
    entered = word;
    mpi_calls = 0;
    if (++depth > deepest)
        deepest = depth;
    return true;
}
void callback_error_ignored(int code)
{
    (void)code;
}
uint64_t callback_calls(void)
{
    return (uint64_t)mpi_calls;
}
static uint64_t passed;
void callback_passed(void)
{
    passed++;
}
uint64_t callback_passes(void)
{
    uint64_t n = passed;
    passed = 0;
    return n;
}
void callback_leave(void)
{
    depth--;
}
void call_forget(ActiveCall *c)
{
    (void)c, forgotten++;
}
void call_pseudo(int function, const int64_t *shape, size_t n_shape, const int64_t *outcome,
                 size_t n_outcome)
{
    (void)function;
    CHECK(n_shape == 1 && n_outcome == 2 && depth > 0);
    returned_kind = shape[0];
    returned_value = outcome[0];
    returned_flag = outcome[1];
    pseudo_calls++;
}

static void expect_return(int64_t kind, int64_t value, int64_t flag)
{
    CHECK(pseudo_calls == 1 && depth == 0);
    CHECK(returned_kind == kind && returned_value == value && returned_flag == flag);
    pseudo_calls = 0;
}

/* -- the application -- */

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    CHECK(*type == MPI_DOUBLE);
    for (int i = 0; i < *n; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static void sum_that_calls(void *in, void *inout, int *n, MPI_Datatype *type)
{
    mpi_calls++;
    sum(in, inout, n, type);
}

static int extra;

static int copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    CHECK(comm == MPI_COMM_SELF && keyval == -17 && state == &extra);
    *(void **)out = (char *)in + 1;
    *flag = keyval != 0;
    CHECK(errno == 5);
    errno = 6;
    return extra;
}

static void fortran_copy(int *comm, int *keyval, MPI_Aint *state, MPI_Aint *in, MPI_Aint *out,
                         int *flag, int *error)
{
    CHECK(*comm == 3 && *keyval == 4 && *state == 5);
    *out = *in + 1;
    *flag = 1;
    *error = 0;
}

static void fortran_delete(int *comm, int *keyval, MPI_Aint *value, MPI_Aint *state, int *error)
{
    CHECK(*comm == 3 && *keyval == 4 && *value == 5 && *state == 6);
    *error = 13;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    va_list more;
    va_start(more, code);
    const char *name = va_arg(more, const char *);
    int last = va_arg(more, int);
    va_end(more);
    CHECK(*comm == MPI_COMM_WORLD && *code == 77 && strcmp(name, "MPI_Send") == 0 && last == -3);
    *code = 78;
}

static int convert(void *user, MPI_Datatype type, MPI_Count n, void *file, MPI_Offset position,
                   void *state)
{
    CHECK(user == &extra && type == MPI_INT && n == (MPI_Count)1 << 40 && file != NULL
          && position == -5 && !state);
    return 44;
}

static int cancel(void *state, int complete)
{
    CHECK(state == &extra);
    return complete ? 0 : 5;
}

typedef int Cancel(void *, int);
static Cancel *inner;
static int nesting(void *state, int complete)
{
    int rc = inner(state, !complete);
    CHECK(pseudo_calls == 1 && depth == 1);
    pseudo_calls = 0;
    return rc + 1;
}

static void test_operators(void)
{
    double in[3] = {1, 2, 3}, inout[3] = {10, 20, 30};
    int n = 3;
    MPI_Datatype type = MPI_DOUBLE;
    MPI_User_function *f =
        (MPI_User_function *)closure_wrap(WEND_CALLBACK_MPI_User_function, (void *)sum, CLOSURE_C);
    CHECK(f != sum);
    f(in, inout, &n, &type);
    CHECK(inout[2] == 33 && pseudo_calls == 0 && depth == 0); /* leaves nothing */
    f = (MPI_User_function *)closure_wrap(WEND_CALLBACK_MPI_User_function, (void *)sum_that_calls,
                                          CLOSURE_C);
    f(in, inout, &n, &type);
    CHECK(inout[0] == 12);
    /* the stand-in counts all that called nothing */
    expect_return(WEND_CALLBACK_MPI_User_function, 1, 0);
}

static void test_attributes(void)
{
    typedef int Copy(MPI_Comm, int, void *, void *, void *, int *);
    Copy *f =
        (Copy *)closure_wrap(WEND_CALLBACK_MPI_Comm_copy_attr_function, (void *)copy, CLOSURE_C);
    char *value = NULL;
    int flag = 0;
    errno = 5;
    CHECK(f(MPI_COMM_SELF, -17, &extra, &extra, &value, &flag) == 0);
    CHECK(errno == 6 && value == (char *)&extra + 1 && flag == 1);
    CHECK(entered == closure_word((const void *)copy));
    expect_return(WEND_CALLBACK_MPI_Comm_copy_attr_function, 0, 1);
    extra = 9;
    errno = 5;
    CHECK(f(MPI_COMM_SELF, -17, &extra, &extra, &value, &flag) == 9);
    expect_return(WEND_CALLBACK_MPI_Comm_copy_attr_function, 9, 0);
    off = true;
    errno = 5;
    CHECK(f(MPI_COMM_SELF, -17, &extra, &extra, &value, &flag) == 9 && pseudo_calls == 0
          && depth == 0);
    off = false;

    typedef void FortranCopy(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *);
    FortranCopy *g = (FortranCopy *)closure_wrap(WEND_CALLBACK_MPI_Comm_copy_attr_function,
                                                 (void *)fortran_copy, CLOSURE_FORTRAN);
    int comm = 3, keyval = 4, error = -1;
    MPI_Aint state = 5, in = 100, out = 0;
    flag = 0;
    g(&comm, &keyval, &state, &in, &out, &flag, &error);
    CHECK(out == 101 && flag == 1 && error == 0);
    expect_return(WEND_CALLBACK_MPI_Comm_copy_attr_function, 0, 1);

    typedef void FortranDelete(int *, int *, MPI_Aint *, MPI_Aint *, int *);
    FortranDelete *d = (FortranDelete *)closure_wrap(WEND_CALLBACK_MPI_Win_delete_attr_function,
                                                     (void *)fortran_delete, CLOSURE_FORTRAN);
    MPI_Aint five = 5, six = 6;
    d(&comm, &keyval, &five, &six, &error);
    CHECK(error == 13);
    expect_return(WEND_CALLBACK_MPI_Win_delete_attr_function, 13, 0);
}

static void test_others(void)
{
    MPI_Comm_errhandler_function *h = (MPI_Comm_errhandler_function *)closure_wrap(
        WEND_CALLBACK_MPI_Comm_errhandler_function, (void *)handler, CLOSURE_C);
    MPI_Comm comm = MPI_COMM_WORLD;
    int code = 77;
    h(&comm, &code, "MPI_Send", -3);
    CHECK(code == 78);
    expect_return(WEND_CALLBACK_MPI_Comm_errhandler_function, 0, 0);

    typedef int Convert(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
    Convert *c = (Convert *)closure_wrap(WEND_CALLBACK_MPI_Datarep_conversion_function_c,
                                         (void *)convert, CLOSURE_C);
    CHECK(c(&extra, MPI_INT, (MPI_Count)1 << 40, &code, -5, NULL) == 44);
    expect_return(WEND_CALLBACK_MPI_Datarep_conversion_function_c, 44, 0);

    inner = (Cancel *)closure_wrap(WEND_CALLBACK_MPI_Grequest_cancel_function, (void *)cancel,
                                   CLOSURE_C);
    CHECK(inner(&extra, 1) == 0);
    expect_return(WEND_CALLBACK_MPI_Grequest_cancel_function, 0, 0);
    Cancel *outer = (Cancel *)closure_wrap(WEND_CALLBACK_MPI_Grequest_cancel_function,
                                           (void *)nesting, CLOSURE_C);
    deepest = 0;
    CHECK(outer(&extra, 1) == 6 && deepest == 2);
    expect_return(WEND_CALLBACK_MPI_Grequest_cancel_function, 6, 0);
}

static void test_identity(void)
{
    void *a = closure_wrap(WEND_CALLBACK_MPI_Comm_delete_attr_function, (void *)cancel, CLOSURE_C);
    CHECK(a
          == closure_wrap(WEND_CALLBACK_MPI_Comm_delete_attr_function, (void *)cancel, CLOSURE_C));
    CHECK(a
          != closure_wrap(WEND_CALLBACK_MPI_Comm_delete_attr_function, (void *)cancel,
                          CLOSURE_FORTRAN));
    CHECK(a != closure_wrap(WEND_CALLBACK_MPI_Win_delete_attr_function, (void *)cancel, CLOSURE_C));
    CHECK(!closure_wrap(WEND_CALLBACK_MPI_Comm_copy_attr_function, NULL, CLOSURE_C));
    CHECK(CALLERS_LANGUAGE() == CLOSURE_C);
    int64_t known = closure_word((const void *)cancel);
    number = 7;
    /* a thread's words are by what it has seen itself */
    CHECK(closure_word((const void *)test_identity) == WEND_HANDLE(7, 0));
    CHECK(closure_word((const void *)test_others) == WEND_HANDLE(7, 1));
    CHECK(closure_word((const void *)cancel) == WEND_HANDLE(7, 2));
    CHECK(a
          != closure_wrap(WEND_CALLBACK_MPI_Comm_delete_attr_function, (void *)cancel, CLOSURE_C));
    number = 0;
    CHECK(closure_word((const void *)cancel) == known);
    CHECK(a
          == closure_wrap(WEND_CALLBACK_MPI_Comm_delete_attr_function, (void *)cancel, CLOSURE_C));
}

/* Many functions: no fixed number of closures, and each is its own. */
#define MANY(n)                         \
    static int many##n(void *s, int c)  \
    {                                   \
        return *(int *)s * 100 + n + c; \
    }
MANY(0) MANY(1) MANY(2) MANY(3) static void test_many(void)
{
    Cancel *f[4] = {many0, many1, many2, many3};
    int s = 3;
    for (int kind = 0; kind < WEND_CALLBACK_KINDS; kind++)
        for (int i = 0; i < 4; i++)
            for (int fortran = 0; fortran < 2; fortran++)
                closure_wrap((enum WendCallback)kind, (void *)f[i],
                             fortran ? CLOSURE_FORTRAN : CLOSURE_C);
    for (int i = 3; i >= 0; i--) {
        Cancel *g = (Cancel *)closure_wrap(WEND_CALLBACK_MPI_Grequest_cancel_function, (void *)f[i],
                                           CLOSURE_C);
        CHECK(g != f[i] && g(&s, 50) == 350 + i);
        expect_return(WEND_CALLBACK_MPI_Grequest_cancel_function, 350 + i, 0);
    }
}

static void *wrap_many(void *arg)
{
    (void)arg;
    void *all = NULL;
    for (uintptr_t i = 1; i < 2000; i++)
        all = closure_wrap(WEND_CALLBACK_MPI_User_function, (void *)(i * 64), CLOSURE_C);
    return all;
}

static void test_threads(void)
{
    pthread_t t[3];
    void *got[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&t[i], NULL, wrap_many, NULL) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], &got[i]);
    CHECK(got[0] == got[1] && got[1] == got[2]);
}

int main(void)
{
    test_operators();
    test_attributes();
    test_others();
    test_identity();
    test_many();
    test_threads();
    CHECK(forgotten == 0);
    return 0;
}
