/* SPDX-License-Identifier: BSD-3-Clause */
/* openmpi.c: what is particular to Open MPI (families.h). Empty in a build for another family. */
#include "families.h"

#ifdef OPEN_MPI

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/record/functions.h"
#include "encode/encode.h"
#include "interpose/interpose.h"
#include "own.gen.h"
#include "process/launcher.h"
#include "recorder/recorder.h"

/* -- spawned processes -- */

/* Open MPI adds two kinds of variables to the environment of new processes: those in the Info key
 * "env" (255 bytes), and all variables of the calling process whose names begin with OMPI_MCA_.
 * Settings take the second way, from the start. Variables that concern one world take the first. */

#define ENVIRONMENT_PREFIX "OMPI_MCA_"
#define OWN "WEND_"

extern char **environ;

/* Sets a variable that came by the second way, unless it exists. Those of the first way are of this
 * world. */
static void arrive(const char *entry)
{
    size_t n = strcspn(entry, "=");
    char *name = entry[n] == '=' ? strndup(entry, n) : NULL;
    if (name)
        setenv(name, entry + n + 1, 0);
    free(name);
}

static void hand_on(const char *entry)
{
    size_t n = strcspn(entry, "=");
    char *name;
    if (entry[n] != '=' || strncmp(entry, LAUNCHER_WORLD "=", sizeof LAUNCHER_WORLD) == 0
        || asprintf(&name, ENVIRONMENT_PREFIX "%.*s", (int)n, entry) < 0)
        return;
    setenv(name, entry + n + 1, 1);
    free(name);
}

/* Visits all variables with PREFIX. A visit may move the environment. */
static void each_variable(const char *prefix, size_t skipped, void (*visit)(const char *entry))
{
    for (size_t i = 0; environ && environ[i]; i++)
        if (strncmp(environ[i], prefix, strlen(prefix)) == 0)
            visit(environ[i] + skipped);
}

void spawn_load(void)
{
    each_variable(ENVIRONMENT_PREFIX OWN, strlen(ENVIRONMENT_PREFIX), arrive);
    each_variable(OWN, 0, hand_on);
}

/* For the call that this thread is in. */
typedef struct {
    MPI_Info *made;
    int n;
} GivenInfos;
static _Thread_local GivenInfos given;

/* The Info key. Open MPI 5, which has sessions, warns about the key of 4.1. */
static const char *key(void)
{
    return mpi_library_symbol("PMPI_Session_init") ? "PMIX_ENVAR" : "env";
}

/* The value of that key: VALUE has the entry of INFO before, and Wend's variables. Returns false if
 * it is too long. */
static bool environment(const ActiveCall *c, MPI_Info info, char value[MPI_MAX_INFO_VAL + 1])
{
    char name[256], before[MPI_MAX_INFO_VAL + 1] = "";
    const char *given_preload = getenv("LD_PRELOAD"),
               *preloads[] = {given_preload, module_own_file()}, *output = spawn_directory();
    int known = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, key(), MPI_MAX_INFO_VAL, before, &known);
    if (!given_preload || strstr(before, "LD_PRELOAD="))
        /* Wend is part of the program, or the application loads it itself */
        preloads[0] = preloads[1] = NULL;
    spawn_name(c, name, sizeof name);
    /* All variables that are wanted, or as many as fit. The settings have the directory's name as
     * it was given. */
    for (int less = output ? 0 : 1; less < 4; less++) {
        const char *preload = preloads[less / 2];
        bool with_output = output && less % 2 == 0;
        if (snprintf(value, MPI_MAX_INFO_VAL + 1, "%s%s%s%s%s" LAUNCHER_WORLD "=%s%s%s", before,
                     known ? "\n" : "", preload ? "LD_PRELOAD=" : "", preload ? preload : "",
                     preload ? "\n" : "", name, with_output ? "\nWEND_OUTPUT=" : "",
                     with_output ? output : "")
            < MPI_MAX_INFO_VAL)
            return true;
    }
    return false;
}

static MPI_Info with_environment(const ActiveCall *c, MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info made = MPI_INFO_NULL;
    if (!environment(c, info, value)) {
        spawn_say_too_long();
        return info;
    }
    if ((info == MPI_INFO_NULL ? PMPI_Info_create(&made) : PMPI_Info_dup(info, &made))
        != MPI_SUCCESS)
        return info;
    if (PMPI_Info_set(made, key(), value) != MPI_SUCCESS) {
        PMPI_Info_free(&made);
        return info;
    }
    return made;
}

void spawn_wrap(const ActiveCall *c, int n, Spawn *spawn)
{
    given = (GivenInfos){malloc((size_t)n * 2 * sizeof *given.made), 0};
    if (!given.made)
        return;
    for (int i = 0; i < n; i++) {
        MPI_Info info = spawn->infos ? spawn->infos[i] : MPI_INFO_NULL;
        given.made[i] = with_environment(c, info);
        given.made[n + i] = info;
    }
    given.n = n;
    spawn->infos = given.made;
}

void spawn_unwrap(void)
{
    for (int i = 0; i < given.n; i++)
        if (given.made[i] != given.made[given.n + i])
            PMPI_Info_free(&given.made[i]);
    free(given.made);
    given = (GivenInfos){NULL, 0};
}

/* -- the Fortran layer -- */

/* Open MPI's Fortran layer. In libmpi_mpifh, mpi_send_ calls PMPI_Send, and "use mpi_f08" calls
 * libmpi_mpifh. For attributes, keys and error handlers the layer calls internal functions, which
 * do not get the object. So Wend defines the Fortran names of these functions. */

/* Defines one function with five names: the name that mpi_f08 calls, and the names that compilers
 * make of mpi_NAME. UPPER is NAME in upper case, which a macro cannot compute. */
#define NAMED(NAME, UPPER, ...)                                                              \
    WEND_EXPORT void ompi_##NAME##_f(__VA_ARGS__);                                           \
    WEND_EXPORT void mpi_##NAME(__VA_ARGS__) __attribute__((alias("ompi_" #NAME "_f")));     \
    WEND_EXPORT void mpi_##NAME##_(__VA_ARGS__) __attribute__((alias("ompi_" #NAME "_f")));  \
    WEND_EXPORT void mpi_##NAME##__(__VA_ARGS__) __attribute__((alias("ompi_" #NAME "_f"))); \
    WEND_EXPORT void MPI_##UPPER(__VA_ARGS__) __attribute__((alias("ompi_" #NAME "_f")));    \
    WEND_EXPORT void ompi_##NAME##_f(__VA_ARGS__)
#define NAMES_OF(NAME, UPPER) \
    "ompi_" #NAME "_f", "mpi_" #NAME, "mpi_" #NAME "_", "mpi_" #NAME "__", "MPI_" #UPPER,

typedef void Function(void); /* of any type */

typedef struct {
    const char *name;
    Function *found;
} InLayer;

static void look_in_layer(const Module *m, void *user)
{
    InLayer *looking = user;
    void *handle = !looking->found && families_is_fortran_layer(m)
                       ? dlopen(m->name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)
                       : NULL;
    if (!handle)
        return;
    looking->found = (Function *)dlsym(handle, looking->name);
    dlclose(handle);
}

/* The library's function, which comes after Wend's. A program may have loaded the layer for one
 * module alone. */
static Function *next(const char *name)
{
    Function *found = (Function *)dlsym(RTLD_NEXT, name);
    if (!found)
        found = (Function *)mpi_library_symbol(name);
    InLayer looking = {name, found};
    if (!found)
        modules_each(look_in_layer, &looking);
    return looking.found;
}
#define NEXT(NAME, ...) ((void (*)(__VA_ARGS__))next("ompi_" #NAME "_f"))

/* -- attributes -- */

static void begin_words(ActiveCall *c, bool has_self, const CommMetadata *facts, int64_t object,
                        const MPI_Fint *keyval)
{
    if (has_self)
        call_put_slot(c, comm_metadata_self(facts));
    call_put_shape(c, object);
    call_put_shape(c, handle_word(HANDLE_KEYVAL, HANDLE_VALUE(*keyval)));
}

/* VALUE is the type of attributes: MPI_Fint in functions of MPI 1. */
#define ATTRIBUTES(OBJECT, CTYPE, KIND, FACTS, VALUE, SET, SET_UPPER, SET_C, GET, GET_UPPER,    \
                   GET_C)                                                                       \
    NAMED(SET, SET_UPPER, MPI_Fint *object, MPI_Fint *keyval, VALUE *value, MPI_Fint *ierr)     \
    {                                                                                           \
        MPI_Fint rc = MPI_SUCCESS;                                                              \
        CTYPE it = PMPI_##OBJECT##_f2c(*object);                                                \
        ActiveCall *c = call_begin(WEND_FN_##SET_C);                                            \
        if (c) {                                                                                \
            begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(it)), \
                        keyval);                                                                \
            encode_in_address(c, (MPI_Aint)*value);                                             \
            call_start(c);                                                                      \
        }                                                                                       \
        NEXT(SET, MPI_Fint *, MPI_Fint *, VALUE *, MPI_Fint *)(object, keyval, value, &rc);     \
        if (c) {                                                                                \
            call_stop(c, rc);                                                                   \
            call_end(c);                                                                        \
        }                                                                                       \
        if (ierr)                                                                               \
            *ierr = rc;                                                                         \
    }                                                                                           \
                                                                                                \
    NAMED(GET, GET_UPPER, MPI_Fint *object, MPI_Fint *keyval, VALUE *value, MPI_Fint *flag,     \
          MPI_Fint *ierr)                                                                       \
    {                                                                                           \
        MPI_Fint rc = MPI_SUCCESS;                                                              \
        CTYPE it = PMPI_##OBJECT##_f2c(*object);                                                \
        ActiveCall *c = call_begin(WEND_FN_##GET_C);                                            \
        if (c) {                                                                                \
            begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(it)), \
                        keyval);                                                                \
            call_start(c);                                                                      \
        }                                                                                       \
        NEXT(GET, MPI_Fint *, MPI_Fint *, VALUE *, MPI_Fint *, MPI_Fint *)                      \
        (object, keyval, value, flag, &rc);                                                     \
        if (c) {                                                                                \
            call_stop(c, rc);                                                                   \
            if (call_ok(c)) {                                                                   \
                if (*flag)                                                                      \
                    /* a predefined one, too: it is not behind a pointer, as in C */            \
                    encode_out_kept(c, (int64_t)*value);                                        \
                else                                                                            \
                    call_put_outcome(c, WEND_ABSENT);                                           \
                call_put_outcome(c, *flag != 0);                                                \
            }                                                                                   \
            call_end(c);                                                                        \
        }                                                                                       \
        if (ierr)                                                                               \
            *ierr = rc;                                                                         \
    }

ATTRIBUTES(Comm, MPI_Comm, HANDLE_COMM, comm_metadata(it), MPI_Aint, comm_set_attr, COMM_SET_ATTR,
           MPI_Comm_set_attr, comm_get_attr, COMM_GET_ATTR, MPI_Comm_get_attr)
ATTRIBUTES(Win, MPI_Win, HANDLE_WIN, comm_metadata_of_win(it), MPI_Aint, win_set_attr, WIN_SET_ATTR,
           MPI_Win_set_attr, win_get_attr, WIN_GET_ATTR, MPI_Win_get_attr)
ATTRIBUTES(Type, MPI_Datatype, HANDLE_DATATYPE, NULL, MPI_Aint, type_set_attr, TYPE_SET_ATTR,
           MPI_Type_set_attr, type_get_attr, TYPE_GET_ATTR, MPI_Type_get_attr)
ATTRIBUTES(Comm, MPI_Comm, HANDLE_COMM, comm_metadata(it), MPI_Fint, attr_put, ATTR_PUT,
           MPI_Attr_put, attr_get, ATTR_GET, MPI_Attr_get)

/* -- keys -- */

/* Whether FUNCTION is the predefined function NAME. These have Fortran names of their own, and
 * other names in the mpi_f08 module. */
static const char *const predefined_in[] = {"mpi_%s_", "__mpi_f08_callbacks_MOD_mpi_%s"};
static bool is_predefined(const void *function, const char *name)
{
    for (size_t i = 0; i < sizeof predefined_in / sizeof *predefined_in; i++) {
        char symbol[80];
        snprintf(symbol, sizeof symbol, predefined_in[i], name);
        if (function == dlsym(RTLD_DEFAULT, symbol) || function == mpi_library_symbol(symbol))
            return true;
    }
    return false;
}

/* The function to pass to the library instead of FUNCTION. Puts its word into the shape. */
static Function *in_function(ActiveCall *c, enum WendCallback kind, Function *function,
                             const char *const *names, const uint32_t *words, int n)
{
    for (int i = 0; i < n; i++)
        if (is_predefined((const void *)function, names[i])) {
            if (c)
                call_put_shape(c, WEND_CONST(words[i]));
            return function;
        }
    if (c)
        encode_in_func(c, (const void *)function);
    return !c && encode_is_inside()
               ? function
               : (Function *)closure_wrap(kind, (void *)function, CLOSURE_FORTRAN);
}

/* EXTRA is the type of the extra state. */
#define KEYS(NAME, UPPER, FUNCTION, EXTRA, COPY, COPY_NAMES, COPY_WORDS, DELETE, DELETE_NAME,   \
             DELETE_WORD)                                                                       \
    NAMED(NAME, UPPER, Function *copy, Function *delete, MPI_Fint *keyval, EXTRA *extra,        \
          MPI_Fint *ierr)                                                                       \
    {                                                                                           \
        static const char *const copies[] = COPY_NAMES, *const deletes[] = {DELETE_NAME};       \
        static const uint32_t copy_words[] = COPY_WORDS, delete_words[] = {DELETE_WORD};        \
        MPI_Fint rc = MPI_SUCCESS;                                                              \
        ActiveCall *c = call_begin(WEND_FN_##FUNCTION);                                         \
        Function *its_copy = in_function(c, WEND_CALLBACK_##COPY, copy, copies, copy_words, 2); \
        Function *its_delete =                                                                  \
            in_function(c, WEND_CALLBACK_##DELETE, delete, deletes, delete_words, 1);           \
        if (c) {                                                                                \
            encode_in_address(c, (MPI_Aint)*extra);                                             \
            call_start(c);                                                                      \
        }                                                                                       \
        NEXT(NAME, Function *, Function *, MPI_Fint *, EXTRA *, MPI_Fint *)                     \
        (its_copy, its_delete, keyval, extra, &rc);                                             \
        if (c) {                                                                                \
            call_stop(c, rc);                                                                   \
            if (call_ok(c))                                                                     \
                call_put_shape(c, handle_made(c, HANDLE_KEYVAL, HANDLE_VALUE(*keyval)));        \
            call_end(c);                                                                        \
        }                                                                                       \
        if (ierr)                                                                               \
            *ierr = rc;                                                                         \
    }
#define TWO(a, b) \
    {             \
        a, b      \
    }

KEYS(comm_create_keyval, COMM_CREATE_KEYVAL, MPI_Comm_create_keyval, MPI_Aint,
     MPI_Comm_copy_attr_function, TWO("comm_null_copy_fn", "comm_dup_fn"),
     TWO(WEND_CONSTANT_MPI_COMM_NULL_COPY_FN, WEND_CONSTANT_MPI_COMM_DUP_FN),
     MPI_Comm_delete_attr_function, "comm_null_delete_fn", WEND_CONSTANT_MPI_COMM_NULL_DELETE_FN)
KEYS(win_create_keyval, WIN_CREATE_KEYVAL, MPI_Win_create_keyval, MPI_Aint,
     MPI_Win_copy_attr_function, TWO("win_null_copy_fn", "win_dup_fn"),
     TWO(WEND_CONSTANT_MPI_WIN_NULL_COPY_FN, WEND_CONSTANT_MPI_WIN_DUP_FN),
     MPI_Win_delete_attr_function, "win_null_delete_fn", WEND_CONSTANT_MPI_WIN_NULL_DELETE_FN)
KEYS(type_create_keyval, TYPE_CREATE_KEYVAL, MPI_Type_create_keyval, MPI_Aint,
     MPI_Type_copy_attr_function, TWO("type_null_copy_fn", "type_dup_fn"),
     TWO(WEND_CONSTANT_MPI_TYPE_NULL_COPY_FN, WEND_CONSTANT_MPI_TYPE_DUP_FN),
     MPI_Type_delete_attr_function, "type_null_delete_fn", WEND_CONSTANT_MPI_TYPE_NULL_DELETE_FN)
KEYS(keyval_create, KEYVAL_CREATE, MPI_Keyval_create, MPI_Fint, MPI_Copy_function,
     TWO("null_copy_fn", "dup_fn"), TWO(WEND_CONSTANT_MPI_NULL_COPY_FN, WEND_CONSTANT_MPI_DUP_FN),
     MPI_Delete_function, "null_delete_fn", WEND_CONSTANT_MPI_NULL_DELETE_FN)

/* -- error handlers -- */

#define ERRHANDLERS(NAME, UPPER, FUNCTION, KIND)                                                \
    NAMED(NAME, UPPER, Function *function, MPI_Fint *errhandler, MPI_Fint *ierr)                \
    {                                                                                           \
        MPI_Fint rc = MPI_SUCCESS;                                                              \
        ActiveCall *c = call_begin(WEND_FN_##FUNCTION);                                         \
        Function *its = in_function(c, WEND_CALLBACK_##KIND, function, NULL, NULL, 0);          \
        if (c)                                                                                  \
            call_start(c);                                                                      \
        NEXT(NAME, Function *, MPI_Fint *, MPI_Fint *)(its, errhandler, &rc);                   \
        if (c) {                                                                                \
            call_stop(c, rc);                                                                   \
            if (call_ok(c))                                                                     \
                call_put_shape(c, handle_made(c, HANDLE_ERRHANDLER,                             \
                                              HANDLE_VALUE(PMPI_Errhandler_f2c(*errhandler)))); \
            call_end(c);                                                                        \
        }                                                                                       \
        if (ierr)                                                                               \
            *ierr = rc;                                                                         \
    }

ERRHANDLERS(comm_create_errhandler, COMM_CREATE_ERRHANDLER, MPI_Comm_create_errhandler,
            MPI_Comm_errhandler_function)
ERRHANDLERS(win_create_errhandler, WIN_CREATE_ERRHANDLER, MPI_Win_create_errhandler,
            MPI_Win_errhandler_function)
ERRHANDLERS(file_create_errhandler, FILE_CREATE_ERRHANDLER, MPI_File_create_errhandler,
            MPI_File_errhandler_function)
ERRHANDLERS(errhandler_create, ERRHANDLER_CREATE, MPI_Errhandler_create,
            MPI_Comm_errhandler_function)

const char *const families_fortran_names[] = {
    NAMES_OF(comm_set_attr, COMM_SET_ATTR) NAMES_OF(comm_get_attr, COMM_GET_ATTR)
        NAMES_OF(win_set_attr, WIN_SET_ATTR) NAMES_OF(win_get_attr, WIN_GET_ATTR)
            NAMES_OF(type_set_attr, TYPE_SET_ATTR) NAMES_OF(type_get_attr, TYPE_GET_ATTR)
                NAMES_OF(attr_put, ATTR_PUT) NAMES_OF(attr_get, ATTR_GET)
                    NAMES_OF(comm_create_keyval, COMM_CREATE_KEYVAL)
                        NAMES_OF(win_create_keyval, WIN_CREATE_KEYVAL)
                            NAMES_OF(type_create_keyval, TYPE_CREATE_KEYVAL) NAMES_OF(keyval_create,
                                                                                      KEYVAL_CREATE)
                                NAMES_OF(comm_create_errhandler, COMM_CREATE_ERRHANDLER)
                                    NAMES_OF(win_create_errhandler, WIN_CREATE_ERRHANDLER)
                                        NAMES_OF(file_create_errhandler, FILE_CREATE_ERRHANDLER)
                                            NAMES_OF(errhandler_create, ERRHANDLER_CREATE) NULL};

/* -- the layer -- */

bool families_is_fortran_layer(const Module *m)
{
    return strstr(m->name, "/libmpi_mpifh") || strstr(m->name, "/libmpi_usempi");
}

/* Functions of mpi_f08 call some of these functions by their profiling names. */
void *families_fortran_internal(const char *name)
{
    static const struct {
        const char *name;
        void *wrapper;
    } rows[] = {
        {"pmpi_comm_get_attr_", (void *)ompi_comm_get_attr_f},
        {"pmpi_type_get_attr_", (void *)ompi_type_get_attr_f},
        {"pmpi_win_get_attr_", (void *)ompi_win_get_attr_f},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].wrapper;
    return NULL;
}

#endif
