/* SPDX-License-Identifier: BSD-3-Clause */
/* passes.h: the interface of this folder: the passes and their decisions. */
#ifndef PROXYGEN_PASSES_H
#define PROXYGEN_PASSES_H

#include "alike.h"
#include "graphs.h"
#include "loop_rules.h"
#include "loops.h"
#include "outcomes.h"
#include "request_slots.h"
#include "request_lists.h"
#include "wildcard_sources.h"
#include "send_order.h"
#include "variables.h"
#include "wildcards.h"

#endif
