/* SPDX-License-Identifier: BSD-3-Clause */
/* call_analysis.h: the interface of this folder: facts about calls, without decisions. */
#ifndef PROXYGEN_CALL_ANALYSIS_H
#define PROXYGEN_CALL_ANALYSIS_H

#include "conflicts.h"
#include "datatype_layout.h"
#include "dynamic.h"
#include "dependence.h"
#include "extent.h"
#include "found_files.h"
#include "handlers.h"
#include "lifetimes.h"
#include "memory_use.h"

#endif
