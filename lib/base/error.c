/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

G_DEFINE_QUARK(wend - error - quark, wend_error)
