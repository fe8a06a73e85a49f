/* SPDX-License-Identifier: BSD-3-Clause */
/* emit.h: the interface of this folder, which turns the plan into C. */
#ifndef PROXYGEN_EMIT_H
#define PROXYGEN_EMIT_H

#include "c_tokens.h"
#include "callback_stubs.h"
#include "changes.h"
#include "row_tables.h"
#include "emitter.h"
#include "outside_names.h"
#include "row_loops.h"
#include "source_lines.h"
#include "variable_names.h"

#endif
