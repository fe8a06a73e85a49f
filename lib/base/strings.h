/* SPDX-License-Identifier: BSD-3-Clause */
/* strings.h: strings in the memory of memory.h. What is returned is the caller's, to be freed with
 * memory_free. */
#ifndef WEND_STRINGS_H
#define WEND_STRINGS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "containers.h"

char *string_copy(const char *s);           /* S may be NULL: NULL */
char *string_part(const char *s, size_t n); /* at most N bytes of S */
char *string_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *string_print_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
char *string_path(const char *directory, const char *file); /* with one slash between them */
/* S as UTF-8: U+FFFD is in the place of each byte that is not. */
char *string_valid(const char *s);

/* Appends to a buffer, which string_take makes a string of, and clears. */
void string_add(WendBuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *string_take(WendBuf *b);

/* The number at the start of S, in the C locale, whatever the process has. */
double string_number(const char *s);

bool string_begins(const char *s, const char *prefix);
/* The parts of S between the characters BY, char *; none for "". The caller unrefs it. */
Vector *string_split(const char *s, char by);
/* Both change S, and return it: each character that is in WHICH becomes BY; spaces at the ends
 * go. */
char *string_replace(char *s, const char *which, char by);
char *string_strip(char *s);

#endif
