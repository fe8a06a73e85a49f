/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.h: the interface of this folder: what follows from a recording as a whole. */
#ifndef WEND_ANALYSIS_H
#define WEND_ANALYSIS_H

#include "members.h"
#include "precedence.h"

#endif
