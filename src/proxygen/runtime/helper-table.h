/* SPDX-License-Identifier: BSD-3-Clause */
/* helper-table.h: the definitions of the helpers' files, as text (embed.py). */
#ifndef PROXYGEN_HELPER_TABLE_H
#define PROXYGEN_HELPER_TABLE_H

#include "src/proxygen/runtime/helper-names.gen.h"

typedef struct {
    const char *name; /* of the first function, variable or type that it defines */
    /* For a proxy of one file, where all are static; NULL: proxygen writes it. */
    const char *alone;
    const char *definitions, *declarations; /* for a proxy of several files */
    const char *includes;                   /* lines that it needs; NULL: none */
    const Helper *uses;                     /* up to HELPER_NONE; NULL: none */
} HelperText;

extern const HelperText helper_texts[HELPERS];

#endif
