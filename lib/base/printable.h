/* SPDX-License-Identifier: BSD-3-Clause */
/* printable.h: foreign text as it may be printed. No GLib, no allocation.
 *
 * Foreign is whatever Wend did not write itself: names of files, programs, hosts and jobs,
 * arguments, strings from a recording, messages that contain one of these. Printed as it is, such
 * text could move the cursor, colour the terminal, hide what stands before it or forge a line of
 * Wend's.
 *
 * What is safe passes: printable ASCII and, where the output takes UTF-8, printable characters of
 * it. All else is escaped, and so is the backslash, so that the text can be had back:
 *
 *     \\            a backslash
 *     \n \r \t      newline, carriage return, tab
 *     \xHH          any other control character of ASCII, and each byte that is no UTF-8
 *     \uHHHH        a character up to U+FFFF that is invisible or directs others
 *     \UHHHHHHHH    the same beyond U+FFFF
 *
 * docs/safety.md, "Foreign text", has the rules.
 */
#ifndef WEND_PRINTABLE_H
#define WEND_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEND_PRINTABLE_LONGEST = 10 }; /* bytes, of one character or bad byte: \UHHHHHHHH */

typedef struct {
    uint32_t point; /* the code point; the byte if it begins no character */
    uint8_t bytes;  /* that it takes in the text; at least 1 */
    bool valid;     /* false: a byte that is no UTF-8 */
} WendCharacter;

/* The first character of the text from P to END, which is not empty. Overlong forms and surrogates
 * are no UTF-8. */
WendCharacter wend_character_at(const char *p, const char *end);
/* May it be printed as it is? UTF8: the output takes UTF-8. The backslash may; who escapes with it
 * escapes it too. */
bool wend_character_is_safe(WendCharacter c, bool utf8);

/* Does the output take UTF-8? LC_ALL, LC_CTYPE or LANG decides, the first that is set. Not the C
 * library's locale: an application may have set none. */
bool wend_printable_utf8(void);

/* Writes the N bytes of TEXT to the ROOM bytes at OUT, ROOM > 0, as they may be printed, with a NUL
 * behind. Cuts between characters. Returns the bytes that all of it takes without the NUL: at least
 * ROOM if it was cut. Safe in a signal handler. */
size_t wend_printable(char *out, size_t room, const char *text, size_t n, bool utf8);

#endif
