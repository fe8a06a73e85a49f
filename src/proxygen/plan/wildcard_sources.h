/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcard_sources.h: the sources that recorded receives from any source got. */
#ifndef PROXYGEN_WILDCARD_SOURCES_H
#define PROXYGEN_WILDCARD_SOURCES_H

#include "src/proxygen/model/model.h"

/* Fills in the sources of the plan's wildcards, and the sources of each start if one source is not
 * enough. */
void wildcard_sources_find(Plan *plan);

#endif
