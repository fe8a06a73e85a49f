/* SPDX-License-Identifier: BSD-3-Clause */
/* identifier.h: which names an archive may contain. Generated C contains them unchanged, so any
 * other text would become code. Both the reader (program-read.c) and proxygen (c-tokens.c)
 * check. */
#ifndef WEND_IDENTIFIER_H
#define WEND_IDENTIFIER_H

#include <stdbool.h>
#include <stddef.h>

/* Compilers need to accept only 4095 characters in a line of C (C11, 5.2.4.1). With this limit a
 * line has room for a call with several names. */
enum { IDENTIFIER_MOST = 1023 };

/* Not isalnum, which depends on the locale. */
static inline bool identifier_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
static inline bool identifier_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the N bytes at TEXT are an identifier, of IDENTIFIER_MOST characters at most. */
static inline bool identifier_is(const char *text, size_t n)
{
    if (n == 0 || n > IDENTIFIER_MOST || identifier_digit(text[0]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!identifier_letter(text[i]) && !identifier_digit(text[i]))
            return false;
    return true;
}

#endif
