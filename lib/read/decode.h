/* SPDX-License-Identifier: BSD-3-Clause */
/* decode.h: functions that decode a terminal, for the decoder and the walk. */
#ifndef WEND_DECODE_H
#define WEND_DECODE_H

#include "program-private.h"

#include <glib.h>
#include "record/layout.h"

/* Sets SLOTS (gint64) to the slots of TERMINAL on RANK, and LAYOUT to its parameters there, without
 * outcomes. The caller has made both. */
void decode_static(const WendProgram *p, guint32 terminal, guint rank, Layout *layout,
                   GArray *slots);
/* Points the ARGS of F, one for each parameter, at WORDS: at layout->words or a copy of it. */
void decode_args(const WendFunction *f, const Layout *layout, const gint64 *words, WendArg *args);

#endif
