/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: the domain of errors in recordings (error.h). */
#include "error.h"

G_DEFINE_QUARK(wend - error - quark, wend_error)
