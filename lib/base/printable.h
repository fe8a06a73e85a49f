/* SPDX-License-Identifier: BSD-3-Clause */
/* printable.h: foreign text as it may be printed. No GLib, no allocation.
 *
 * Foreign text is text that Wend did not write: names of files, programs, hosts and jobs,
 * arguments, strings from a recording, messages that contain one of these. Printed unchanged, such
 * text could move the cursor, colour the terminal, hide earlier text or imitate a line of Wend's.
 *
 * Printable ASCII is safe and, if the output takes UTF-8, so are its printable characters. All else
 * is escaped. The backslash is escaped too, so that the text can be recovered:
 *
 *     \\            a backslash
 *     \n \r \t      newline, carriage return, tab
 *     \xHH          any other control character of ASCII, and each byte that is no UTF-8
 *     \uHHHH        a character up to U+FFFF that is invisible or directs others
 *     \UHHHHHHHH    the same beyond U+FFFF
 *
 * docs/safety.md, "Foreign text", has the rules.
 *  */
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
WendCharacter character_at(const char *p, const char *end);
/* May the character be printed unchanged? UTF8: the output takes UTF-8. The backslash may; a caller
 * that escapes with it must escape it too. */
bool character_is_safe(WendCharacter c, bool utf8);

/* Does the output take UTF-8? The first of LC_ALL, LC_CTYPE and LANG that is set decides. The C
 * library's locale does not, because an application may have set none. */
bool printable_utf8(void);

/* Writes the printable form of the N bytes of TEXT, and a NUL, to the ROOM bytes at OUT; ROOM > 0.
 * Cuts between characters if there is less room. Returns the bytes of the whole form without the
 * NUL: at least ROOM if it was cut. Safe in a signal handler. */
size_t printable_text(char *out, size_t room, const char *text, size_t n, bool utf8);

/* Writes TEXT as a word of a shell's command, and a NUL, to the ROOM bytes at OUT. It is quoted if
 * it is not plain, without a backslash, which printable_text would double. Returns false if there
 * is less room; OUT is then empty. */
bool printable_word(char *out, size_t room, const char *text);

#endif
