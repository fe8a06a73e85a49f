/* SPDX-License-Identifier: BSD-3-Clause */
/* closures.h: the application's functions that MPI calls: reduction operators, attribute copy and
 * delete functions, error handlers, generalized requests, data representations, MPI_T's event
 * handlers.
 *
 * A wrapper hands the library a closure in the function's place:
 *
 *     in_func(c, user_fn);        // the spec's group of predefined functions first, else
 *                                 func_word()
 *     …
 *     rc = PMPI_Op_create((MPI_User_function *)callback_wrap(WEND_CALLBACK_MPI_User_function, (void
 *       *)user_fn, CALLERS_LANGUAGE()), commute, op);
 *
 * also when call_begin gave NULL because Wend is off for now (a callback made while off may run
 * while on); only when MPI calls itself the function goes on as it is. Extra state, attribute
 * values and user data are never touched, and MPI has no query that gives a function back, so that
 * the application sees only what is its own.
 *
 * A closure forwards its arguments as they are, eight words of them, so that it does for C, Fortran
 * (other arguments, by reference) and variadic prototypes alike. Around the application's function
 * the thread's calls go to the callback's own sequence (kind callback, id = function word);
 * afterwards comes wend_return(kind, value, flag). Closures live to the end of the process, because
 * a library may call a freed operator's or keyval's function later; there is one for each function,
 * kind and language. */
#ifndef WEND_CLOSURES_H
#define WEND_CLOSURES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record/words.h"

/* What to give the library in place of FUNCTION. NULL, the library's predefined functions
 * (MPI_COMM_DUP_FN, …) and closures come back as they are; FUNCTION itself too when memory is
 * short. Thread-safe, no MPI call, no lock held across application code. */
enum callback_language { CALLBACK_C, CALLBACK_FORTRAN, CALLBACK_CXX };
void *callback_wrap(enum wend_callback kind, void *function, enum callback_language language);

/* FUNCTION's word: WEND_HANDLE(thread, n), by first sight in the thread. NULL and predefined
 * functions are the caller's to name first (their constants depend on the parameter's group: NULL
 * is MPI_COMM_NULL_COPY_FN here and MPI_CONVERSION_FN_NULL there). */
int64_t func_word(const void *function);

/* Whether the caller of the function that this stands in is the library's Fortran layer (MPICH's
 * calls the C functions), so that callbacks given now will be called with Fortran's arguments; or
 * its C++ layer, so that an error handler given now leaves no code: whatever it does, the call that
 * had the error gives MPI_SUCCESS. */
#define CALLERS_LANGUAGE() callback_language_of(__builtin_return_address(0))
enum callback_language callback_language_of(const void *return_address);

#endif
