/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcard_sources.h: whom a recorded receive from any source got its message from. */
#ifndef PROXYGEN_WILDCARD_SOURCES_H
#define PROXYGEN_WILDCARD_SOURCES_H

#include "src/proxygen/model/model.h"

/* Fills in the sources of the plan's wildcards, and their starts where one source is not enough. */
void wildcard_sources_find(Plan *plan);

#endif
