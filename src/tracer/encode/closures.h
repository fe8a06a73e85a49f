/* SPDX-License-Identifier: BSD-3-Clause */
/* closures.h: the application's functions that MPI calls: reduction operators, attribute copy and
 * delete functions, error handlers, generalized requests, data representations, event handlers of
 * MPI_T.
 *
 * A wrapper passes a closure to the library instead of the function:
 *
 *     encode_in_func(c, user_fn); // the spec's group of predefined functions first, else
 *                                 // closure_word()
 *     …
 *     rc = PMPI_Op_create(CALLBACK(MPI_User_function, user_fn), commute, op); // closure_wrap()
 *
 * It does so even if call_begin gave NULL because recording is off, since a callback that is made
 * then may run while recording is on. Only if MPI calls itself, the function is passed as it is.
 * Extra state, attribute values and user data are never changed, and MPI has no query that returns
 * a function. So the application sees only its own values.
 *
 * A closure passes on eight words of arguments unchanged. This serves C, Fortran (other arguments,
 * by reference) and variadic prototypes. While the application's function runs, the thread's calls
 * go to the callback's own sequence (kind callback, id = function word). Afterwards
 * wend_return(kind, value, flag) is recorded. Closures live until the process ends, because a
 * library may call the function of a freed operator or keyval later. There is one closure for each
 * function, kind and language. */
#ifndef WEND_CLOSURES_H
#define WEND_CLOSURES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record/words.h"

/* Returns the function to pass to the library instead of FUNCTION. NULL, the library's predefined
 * functions (MPI_COMM_DUP_FN, …) and closures are returned unchanged, and so is FUNCTION if memory
 * is short. Thread-safe. Calls no MPI function, and holds no lock while application code runs. */
enum closure_language { CLOSURE_C, CLOSURE_FORTRAN, CLOSURE_CXX };
void *closure_wrap(enum WendCallback kind, void *function, enum closure_language language);

/* The word of FUNCTION: WEND_HANDLE(thread, n), numbered at its first use in the thread. The caller
 * handles NULL and predefined functions first, because their constants depend on the parameter's
 * group: NULL is MPI_COMM_NULL_COPY_FN for one parameter and MPI_CONVERSION_FN_NULL for another. */
int64_t closure_word(const void *function);

/* The language of the caller of the function in which this macro is used. The library's Fortran
 * layer may be the caller (MPICH's calls the C functions). It then calls callbacks with Fortran's
 * arguments. If its C++ layer is the caller, an error handler leaves no error code: whatever the
 * handler does, the call with the error returns MPI_SUCCESS. */
#define CALLERS_LANGUAGE() closure_language_of(__builtin_return_address(0))
enum closure_language closure_language_of(const void *return_address);

#endif
