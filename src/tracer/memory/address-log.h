/* SPDX-License-Identifier: BSD-3-Clause */
/* address-log.h: the addresses that a thread has asked MPI for lately, and displacements that are
 * differences of two of them.
 *
 * Applications make datatypes of variables that are far apart: they get the address of each
 * (MPI_Get_address), subtract, and pass the differences to MPI. Within one segment a difference is
 * an ordinary number. Between segments it differs in each run, so it is recorded as the distance of
 * two addresses (docs/memory.md, "Displacements"). This file does not depend on MPI. */
#ifndef WEND_ADDRESS_LOG_H
#define WEND_ADDRESS_LOG_H

#include <stddef.h>
#include <stdint.h>

typedef struct AddressLog AddressLog;

/* Adds the address to *ASKED, which is NULL for an empty log. If memory is short, the address is
 * dropped. */
void address_log_add(AddressLog **asked, int64_t address);

/* Displacements of an argument: N signed integers of WIDTH bytes (4 or 8). */
typedef struct {
    const void *values;
    int64_t n;
    size_t width;
} Displacements;
int64_t address_log_displacement(Displacements d, int64_t i);

/* The address from which these displacements lead to addresses in other segments, or 0 if they do
 * not. If it is not 0, each displacement leads to memory that MPI has used, and at least one leads
 * to another segment and to an address in the log. */
int64_t address_log_base(const AddressLog *asked, Displacements d);
/* The segment of TARGET, or -1. The address just behind the segment of BASE, where the upper bound
 * of a type may be, counts as that segment. */
int64_t address_log_segment(int64_t base, int64_t target);

#endif
