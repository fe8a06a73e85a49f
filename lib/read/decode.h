/* SPDX-License-Identifier: BSD-3-Clause */
/* decode.h: the part of decoding that decoder and walk share. */
#ifndef WEND_DECODE_H
#define WEND_DECODE_H

#include "program-private.h"
#include "record/layout.h"

/* Splits shape and slots of a terminal as RANK makes it into LAYOUT. */
void decode_static(const WendProgram *p, guint32 terminal, guint rank, Layout *layout,
                   GArray *slots);
/* Points the arguments at WORDS, where layout->words or a copy of it is. */
void decode_args(const WendFunction *f, const Layout *layout, const gint64 *words, WendArg *args);

#endif
