/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h: resolves an address of the application to a segment and an offset. */
#ifndef WEND_ADDRESS_H
#define WEND_ADDRESS_H

#include "address-log.h" /* addresses that a thread asked MPI for, and their differences */
#include "attachments.h" /* memory of dynamic windows, of other processes too */
#include "segments.h"    /* memory of this process */

#endif
