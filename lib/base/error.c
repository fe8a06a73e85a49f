/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: the domain of errors in recordings (error.h). */
#include "error.h"

#include <errno.h>

G_DEFINE_QUARK(wend - error - quark, wend_error)

WendErrorCode wend_error_of_input(int number)
{
    return number == ENOENT || number == ENOTDIR ? WEND_ERROR_INPUT : wend_error_of_output(number);
}

WendErrorCode wend_error_of_output(int number)
{
    gboolean astray =
        number == ELOOP || number == ENAMETOOLONG || number == EISDIR || number == EEXIST;
    return astray ? WEND_ERROR_INPUT : WEND_ERROR_SYSTEM;
}
