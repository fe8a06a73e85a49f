/* SPDX-License-Identifier: BSD-3-Clause */
/* request_numbers.h: the requests that calls name, numbered from 0; the threads that make them, and
 * the arrays that have the requests of each thread. */
#ifndef PROXYGEN_REQUEST_NUMBERS_H
#define PROXYGEN_REQUEST_NUMBERS_H

#include "src/proxygen/model/model.h"

typedef struct RequestNumbers RequestNumbers;

enum { NO_REQUEST_NUMBER = -1 };

RequestNumbers *request_numbers_new(void);
void request_numbers_free(RequestNumbers *numbers);

/* The number of a request, which gets the next one if it has none. NO_REQUEST_NUMBER if the word is
 * no handle, as that of MPI_REQUEST_NULL. */
gint request_numbers_add(RequestNumbers *numbers, gint64 request);
/* The number of a request; NO_REQUEST_NUMBER if it has none. */
gint request_numbers_find(const RequestNumbers *numbers, gint64 request);
/* How many requests have numbers: all numbers are below. */
guint request_numbers_count(const RequestNumbers *numbers);
/* The request with a number, and the thread that makes it. */
gint64 request_numbers_request(const RequestNumbers *numbers, guint number);
guint request_numbers_thread(const RequestNumbers *numbers, guint number);

/* Assigns indices, once all requests have numbers. The index of a request is the number of requests
 * of its thread with a smaller handle. Handles of a thread are numbered with few gaps, so at[3] is
 * mostly request 3. A table up to the largest handle could have any size that a recording
 * claims. */
void request_numbers_assign_indices(RequestNumbers *numbers);
guint request_numbers_index(const RequestNumbers *numbers, guint number);
/* The number of requests of a thread. All its indices are below. */
guint request_numbers_of_thread(const RequestNumbers *numbers, guint thread);

/* Joins the arrays of two threads whose requests are in one array of the application. The array is
 * that of the first thread. */
void request_numbers_share_array(RequestNumbers *numbers, guint a, guint b);
/* The thread whose array has the requests of THREAD. */
guint request_numbers_array(const RequestNumbers *numbers, guint thread);

#endif
