/* SPDX-License-Identifier: BSD-3-Clause */
/* closures.c: closures around the application's functions that MPI calls (closures.h).
 *
 * A closure is a few words of code made by libffi. It passes on the library's arguments, whatever
 * they are: eight words, in the registers in which the relevant ABIs (x86-64, AArch64, ppc64,
 * RISC-V) pass integers and pointers. Words after the last argument are read and have no meaning.
 * All of these functions take only integers and pointers, and return an int or nothing. The one
 * exception is the wait function of MPICH's extended generalized requests, which takes a double and
 * gets no closure. */
#include "closures.h"

#include <dlfcn.h>
#include <errno.h>
#include <ffi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/record/functions.h"
#include "lib/base/lower-bound.h"
#include "recorder/recorder.h"

/* The predefined functions are only compared with, and a process without MPI lacks them. */
#pragma weak MPIR_Dup_fn
#pragma weak OMPI_C_MPI_COMM_DUP_FN
#pragma weak OMPI_C_MPI_COMM_NULL_COPY_FN
#pragma weak OMPI_C_MPI_COMM_NULL_DELETE_FN
#pragma weak OMPI_C_MPI_TYPE_DUP_FN
#pragma weak OMPI_C_MPI_TYPE_NULL_COPY_FN
#pragma weak OMPI_C_MPI_TYPE_NULL_DELETE_FN
#pragma weak OMPI_C_MPI_WIN_DUP_FN
#pragma weak OMPI_C_MPI_WIN_NULL_COPY_FN
#pragma weak OMPI_C_MPI_WIN_NULL_DELETE_FN
#pragma weak OMPI_C_MPI_DUP_FN
#pragma weak OMPI_C_MPI_NULL_COPY_FN
#pragma weak OMPI_C_MPI_NULL_DELETE_FN

enum { ARGUMENTS = 8 };
typedef uint64_t Variadic(uint64_t, uint64_t, ...); /* error handlers */
typedef uint64_t Plain(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                       uint64_t);

typedef struct {
    void *function; /* the application's function */
    void *code;     /* the code that the library calls */
    int64_t word;
    enum WendCallback kind;
    enum closure_language language;
} Closure;

typedef struct {
    const void *function;
    int64_t word;
} Named;

/* Both tables are sorted by address, and only grow. Each thread has a word of its own for a
 * function, because the order of first uses in several threads does not depend on the program. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    Closure **at;
    size_t n, cap;
} closures; /* sorted by function */
static struct {
    Named *at;
    size_t n, cap;
} names; /* sorted by function and thread */
/* by thread: number of functions that have words */
static struct {
    uint32_t *next;
    size_t n;
} numbers;

static ffi_cif interface;
static ffi_type *argument_types[ARGUMENTS];

/* -- tables -- */

static bool grow(void *at, size_t n, size_t *cap, size_t size)
{
    void **array = at;
    if (n < *cap)
        return true;
    size_t more = *cap ? 2 * *cap : 16;
    void *grown = realloc(*array, more * size);
    if (!grown)
        return false;
    *array = grown;
    *cap = more;
    return true;
}

static size_t named_from(const void *function, uint32_t thread)
{
    return LOWER_BOUND(
        i, names.n,
        (uintptr_t)names.at[i].function < (uintptr_t)function
            || (names.at[i].function == function && word_handle_tid(names.at[i].word) < thread));
}

static int64_t word_of(const void *function, int64_t thread)
{
    size_t t = thread < 0 ? 0 : (size_t)thread, i = named_from(function, (uint32_t)t);
    if (i < names.n && names.at[i].function == function && word_handle_tid(names.at[i].word) == t)
        return names.at[i].word;
    if (t >= numbers.n) {
        size_t n = t + 16;
        uint32_t *grown = realloc(numbers.next, n * sizeof *grown);
        if (!grown)
            return WEND_UNKNOWN;
        memset(grown + numbers.n, 0, (n - numbers.n) * sizeof *grown);
        numbers.next = grown;
        numbers.n = n;
    }
    if (!grow(&names.at, names.n, &names.cap, sizeof *names.at))
        return WEND_UNKNOWN;
    memmove(&names.at[i + 1], &names.at[i], (names.n - i) * sizeof *names.at);
    names.at[i] = (Named){function, WEND_HANDLE(t, numbers.next[t])};
    numbers.next[t]++;
    names.n++;
    return names.at[i].word;
}

int64_t closure_word(const void *function)
{
    int64_t thread = thread_number();
    pthread_mutex_lock(&lock);
    int64_t word = word_of(function, thread);
    pthread_mutex_unlock(&lock);
    if (word == WEND_UNKNOWN)
        state_break("out of memory");
    return word;
}

/* -- around the application's function -- */

static bool is_operator(enum WendCallback kind)
{
    return kind == WEND_CALLBACK_MPI_User_function || kind == WEND_CALLBACK_MPI_User_function_c;
}

static bool is_error_handler(enum WendCallback kind)
{
    return kind == WEND_CALLBACK_MPI_Comm_errhandler_function
           || kind == WEND_CALLBACK_MPI_File_errhandler_function
           || kind == WEND_CALLBACK_MPI_Win_errhandler_function
           || kind == WEND_CALLBACK_MPI_Session_errhandler_function
           || kind == WEND_CALLBACK_MPI_Handler_function;
}

static bool is_copy(enum WendCallback kind)
{
    return kind == WEND_CALLBACK_MPI_Comm_copy_attr_function
           || kind == WEND_CALLBACK_MPI_Type_copy_attr_function
           || kind == WEND_CALLBACK_MPI_Win_copy_attr_function
           || kind == WEND_CALLBACK_MPI_Copy_function;
}

static bool returns_nothing(enum WendCallback kind)
{
    return is_operator(kind) || is_error_handler(kind)
           || kind == WEND_CALLBACK_MPI_T_event_cb_function
           || kind == WEND_CALLBACK_MPI_T_event_free_cb_function
           || kind == WEND_CALLBACK_MPI_T_event_dropped_cb_function;
}

/* The index of the argument in which a Fortran function returns its error code. It comes after the
 * arguments of the C function. */
static int fortran_error_argument(enum WendCallback kind)
{
    switch (kind) {
    case WEND_CALLBACK_MPI_Grequest_free_function:
        return 1;
    case WEND_CALLBACK_MPI_Grequest_query_function:
    case WEND_CALLBACK_MPI_Grequest_cancel_function:
        return 2;
    case WEND_CALLBACK_MPI_Comm_delete_attr_function:
    case WEND_CALLBACK_MPI_Type_delete_attr_function:
    case WEND_CALLBACK_MPI_Win_delete_attr_function:
    case WEND_CALLBACK_MPI_Delete_function:
        return 4;
    case WEND_CALLBACK_MPI_Datarep_extent_function:
        return 3;
    case WEND_CALLBACK_MPI_Comm_copy_attr_function:
    case WEND_CALLBACK_MPI_Type_copy_attr_function:
    case WEND_CALLBACK_MPI_Win_copy_attr_function:
    case WEND_CALLBACK_MPI_Copy_function:
    case WEND_CALLBACK_MPI_Datarep_conversion_function:
    case WEND_CALLBACK_MPI_Datarep_conversion_function_c:
        return 6;
    default:
        return -1;
    }
}

/* Whether the call with the error returns MPI_SUCCESS after this error handler. */
static bool leaves_success(const Closure *c, const uint64_t *argument)
{
    return c->language == CLOSURE_CXX || *(const int *)(uintptr_t)argument[1] == MPI_SUCCESS;
}

static void record_return(const Closure *c, uint64_t returned, const uint64_t *argument)
{
    int64_t value = 0, flag = 0;
    if (is_operator(c->kind)) {
        value = (int64_t)callback_passes();
    } else if (!returns_nothing(c->kind)) {
        int at = c->language == CLOSURE_FORTRAN ? fortran_error_argument(c->kind) : -1;
        value = at >= 0 ? *(const int *)(uintptr_t)argument[at] : (int)returned;
    }
    if (is_copy(c->kind) && value == 0)
        flag = *(const int *)(uintptr_t)argument[5] != 0;
    else if (is_error_handler(c->kind))
        flag = leaves_success(c, argument);
    call_pseudo(WEND_FN_wend_return, (int64_t[]){c->kind}, 1, (int64_t[]){value, flag}, 2);
}

/* A visit to the application's function. It may leave by an exception, as error handlers of MPI's
 * C++ bindings do. The visit then ends without a value. */
typedef struct {
    bool entered, returned;
} Visit;

static void leave(const Visit *v)
{
    if (!v->entered)
        return;
    callback_leave();
    if (!v->returned && this_thread)
        call_forget(this_thread->call); /* the interrupted call does not return either */
}

static void run(ffi_cif *cif, void *result, void **arguments, void *data)
{
    const Closure *c = data;
    uint64_t a[ARGUMENTS], returned;
    (void)cif;
    for (size_t i = 0; i < ARGUMENTS; i++)
        a[i] = *(uint64_t *)arguments[i];
    int saved = errno;
    __attribute__((cleanup(leave))) Visit visit = {.entered = callback_enter(c->word)};
    errno = saved;
    if (is_error_handler(c->kind)) {
        int code = *(const int *)(uintptr_t)a[1];
        returned = ((Variadic *)c->function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
        if (visit.entered && code != MPI_SUCCESS && leaves_success(c, a))
            callback_error_ignored(code);
    } else {
        returned = ((Plain *)c->function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    }
    visit.returned = true;
    if (visit.entered) {
        saved = errno;
        /* The library decides how often an operator runs. */
        if (is_operator(c->kind) && callback_calls() == 0)
            callback_passed();
        else
            record_return(c, returned, a);
        errno = saved;
    }
    *(ffi_arg *)result = returned;
}

/* -- closures -- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Whether FUNCTION is NULL or part of the library, which gives it a meaning. */
static bool is_predefined(const void *function)
{
    return !function || function == (const void *)MPI_COMM_DUP_FN
           || function == (const void *)MPI_TYPE_DUP_FN || function == (const void *)MPI_WIN_DUP_FN
           || function == (const void *)MPI_COMM_NULL_COPY_FN
           || function == (const void *)MPI_COMM_NULL_DELETE_FN
           || function == (const void *)MPI_TYPE_NULL_COPY_FN
           || function == (const void *)MPI_TYPE_NULL_DELETE_FN
           || function == (const void *)MPI_WIN_NULL_COPY_FN
           || function == (const void *)MPI_WIN_NULL_DELETE_FN
#ifdef MPI_DUP_FN
           || function == (const void *)MPI_DUP_FN || function == (const void *)MPI_NULL_COPY_FN
           || function == (const void *)MPI_NULL_DELETE_FN
#endif
#ifdef MPI_CONVERSION_FN_NULL
           || function == (const void *)MPI_CONVERSION_FN_NULL
#endif
        ;
}
#pragma GCC diagnostic pop

static size_t closure_from(const void *function)
{
    return LOWER_BOUND(i, closures.n, (uintptr_t)closures.at[i]->function < (uintptr_t)function);
}

static Closure *closure_new(enum WendCallback kind, void *function, enum closure_language language,
                            int64_t word)
{
    if (!interface.abi) {
        for (size_t i = 0; i < ARGUMENTS; i++)
            argument_types[i] = &ffi_type_uint64;
        if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, ARGUMENTS, &ffi_type_uint64, argument_types)
            != FFI_OK)
            return NULL;
    }
    Closure *c = malloc(sizeof *c);
    void *code;
    ffi_closure *f = c ? ffi_closure_alloc(sizeof *f, &code) : NULL;
    if (!f || ffi_prep_closure_loc(f, &interface, run, c, code) != FFI_OK) {
        if (f)
            ffi_closure_free(f);
        free(c);
        return NULL;
    }
    *c = (Closure){
        .function = function, .code = code, .word = word, .kind = kind, .language = language};
    return c;
}

void *closure_wrap(enum WendCallback kind, void *function, enum closure_language language)
{
    if (kind == WEND_CALLBACK_MPIX_Grequest_wait_function || is_predefined(function))
        return function;
    void *code = function;
    int64_t thread = thread_number();
    pthread_mutex_lock(&lock);
    size_t i = closure_from(function);
    Closure *c = NULL;
    for (size_t j = i; j < closures.n && closures.at[j]->function == function && !c; j++)
        if (closures.at[j]->kind == kind && closures.at[j]->language == language
            && word_handle_tid(closures.at[j]->word) == (thread < 0 ? 0 : thread))
            c = closures.at[j];
    if (!c && grow(&closures.at, closures.n, &closures.cap, sizeof(Closure *))) {
        int64_t word = word_of(function, thread);
        if (word != WEND_UNKNOWN && (c = closure_new(kind, function, language, word))) {
            memmove(&closures.at[i + 1], &closures.at[i], (closures.n - i) * sizeof(Closure *));
            closures.at[i] = c;
            closures.n++;
        }
    }
    if (c)
        code = c->code;
    pthread_mutex_unlock(&lock);
    return code;
}

/* -- other languages -- */

/* Whether NAME is an entry of the Fortran layer: the C name without MPI_ in upper or lower case,
 * with trailing underscores, or a name that the mpi_f08 module calls. */
static bool is_entry(const char *name, const char *lower)
{
    size_t n = strlen(lower);
    if (strncasecmp(name, lower, n) != 0)
        return false;
    if (strncmp(name + n, "_f08", 4) == 0)
        n += 4;
    else if (strncmp(name + n, "_f", 2) == 0)
        n += 2;
    return name[n + strspn(name + n, "_")] == '\0';
}

enum closure_language closure_language_of(const void *return_address)
{
    static const char *const entries[] = {
        "op_create",
        "keyval_create",
        "errhandler_create",
        "comm_create_keyval",
        "type_create_keyval",
        "win_create_keyval",
        "comm_create_errhandler",
        "file_create_errhandler",
        "win_create_errhandler",
        "session_create_errhandler",
        "grequest_start",
#ifndef OPEN_MPI /* Open MPI passes functions of its own, which call the application's */
        "register_datarep",
#endif
    };
    Dl_info caller;
    if (!dladdr(return_address, &caller) || !caller.dli_sname)
        return CLOSURE_C;
    const char *name = caller.dli_sname;
    /* MPI::Comm::Create_errhandler, mangled, and those of MPI::File and MPI::Win */
    if (strncmp(name, "_ZN3MPI", strlen("_ZN3MPI")) == 0 && strstr(name, "Create_errhandler"))
        return CLOSURE_CXX;
    if (strncmp(name, "pmpir_", 6) == 0) /* the profiling names of mpi_f08 */
        name += 2;
    else if (*name == 'p' || *name == 'P')
        name++;
    else if (strncmp(name, "ompi_", 5) == 0) /* names of Open MPI */
        name++;
    if (strncmp(name, "mpi_", 4) != 0 && strncmp(name, "MPI_", 4) != 0
        && strncmp(name, "pir_", 4) != 0)
        return CLOSURE_C;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (is_entry(name + 4, entries[i]))
            return CLOSURE_FORTRAN;
    return CLOSURE_C;
}
