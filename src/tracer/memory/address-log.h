/* SPDX-License-Identifier: BSD-3-Clause */
/* address-log.h: the addresses that a thread has asked of MPI lately, and the displacements that
 * are differences of two of them.
 *
 * Applications make datatypes of variables that are far apart: they ask for the address of each
 * (MPI_Get_address), subtract, and give MPI the differences. Within one segment that is a number
 * like any other. Between segments it is another number in each run, so it is recorded as the
 * distance of two places (docs/recording.md, "Displacements"). Knows nothing of MPI. */
#ifndef WEND_ADDRESS_LOG_H
#define WEND_ADDRESS_LOG_H

#include <stddef.h>
#include <stdint.h>

typedef struct AddressLog AddressLog;

/* Remembers the address; *ASKED NULL: nothing yet. Without memory it is forgotten. */
void address_log_add(AddressLog **asked, int64_t address);

/* Displacements, as an application gives them: N signed integers of WIDTH bytes (4 or 8). */
typedef struct {
    const void *values;
    int64_t n;
    size_t width;
} Displacements;
int64_t displacement(Displacements d, int64_t i);

/* The address from which these displacements lead to addresses in other segments, or 0 if they do
 * not. Then each of them leads to memory that MPI has used, and one at least to another segment and
 * to an address that was asked. */
int64_t address_log_base(const AddressLog *asked, Displacements d);
/* The segment that TARGET is in, or -1; just behind BASE's own, where the upper bound of a type is,
 * counts as that. */
int64_t address_log_segment(int64_t base, int64_t target);

#endif
