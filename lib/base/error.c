/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: see error.h. */
#include "error.h"

#include <errno.h>

#include "strings.h"

void error_set(Error **at, WendErrorCode code, const char *format, ...)
{
    if (!at)
        return;
    va_list args;
    va_start(args, format);
    *at = NEW(Error, 1);
    **at = (Error){code, string_print_list(format, args)};
    va_end(args);
}

void error_give(Error **at, Error *e)
{
    if (at)
        *at = e;
    else
        error_free(e);
}

void error_prefix(Error **at, const char *format, ...)
{
    if (!at || !*at)
        return;
    va_list args;
    va_start(args, format);
    AUTOFREE char *before = string_print_list(format, args), *message = (*at)->message;
    va_end(args);
    (*at)->message = string_print("%s%s", before, message);
}

void error_free(Error *e)
{
    memory_free(e->message);
    memory_free(e);
}

void error_clear(Error **at)
{
    CLEAR(*at, error_free);
}

WendErrorCode error_of_input(int number)
{
    return number == ENOENT || number == ENOTDIR ? WEND_ERROR_INPUT : error_of_output(number);
}

WendErrorCode error_of_output(int number)
{
    bool astray = number == ELOOP || number == ENAMETOOLONG || number == EISDIR || number == EEXIST;
    return astray ? WEND_ERROR_INPUT : WEND_ERROR_SYSTEM;
}
