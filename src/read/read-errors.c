/* SPDX-License-Identifier: BSD-3-Clause */
/* read-errors.c: error messages and checks of arguments. */
#include "config.h"

#include "lib/base/error.h"
#include "read-private.h"

static void set_message(WendRead *r, char *message)
{
    for (char *c = message; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    g_free(r->message);
    r->message = message;
}

int read_fail(WendRead *r, int code, const char *format, ...)
{
    va_list arguments;
    if (!r)
        return code;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    set_message(r, r->path != NULL ? g_strdup_printf("%s: %s", r->path, text)
                                   : g_steal_pointer(&text));
    return code;
}

int read_fail_error(WendRead *r, Error *error)
{
    int code = WEND_READ_ERROR_SYSTEM;
    if (error->code == WEND_ERROR_USAGE)
        code = WEND_READ_ERROR_USAGE;
    else if (error->code == WEND_ERROR_INPUT)
        code = WEND_READ_ERROR_INPUT;
    set_message(r, g_strdup(error->message));
    error_free(error);
    return code;
}

int read_check(WendRead *r, const void *result)
{
    if (!r)
        return WEND_READ_ERROR_USAGE;
    if (!result)
        return read_fail(r, WEND_READ_ERROR_USAGE, "there is no place for the result: it is NULL");
    if (!r->program)
        return read_fail(r, WEND_READ_ERROR_USAGE, "no recording is open: call wend_read_open");
    return WEND_READ_OK;
}

int read_check_index(WendRead *r, const void *result, const char *what, guint64 n, guint64 limit)
{
    int status = read_check(r, result);
    if (status == WEND_READ_OK && n >= limit)
        return read_fail(r, WEND_READ_ERROR_USAGE,
                         "there is no %s %" G_GUINT64_FORMAT ": there are %" G_GUINT64_FORMAT, what,
                         n, limit);
    return status;
}

const char *wend_read_message(const WendRead *r)
{
    return r != NULL ? r->message : "there is no reader: it is NULL";
}
