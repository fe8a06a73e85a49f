/* SPDX-License-Identifier: BSD-3-Clause */
/* strings.c: see strings.h. */
#include "strings.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *string_part(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = memory_new(len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *string_copy(const char *s)
{
    return s ? string_part(s, strlen(s)) : NULL;
}

char *string_print_list(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        memory_short();
    char *text = memory_new((size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

char *string_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = string_print_list(format, args);
    va_end(args);
    return text;
}

char *string_path(const char *directory, const char *file)
{
    size_t n = strlen(directory);
    while (n > 1 && directory[n - 1] == '/')
        n--;
    while (n > 0 && *file == '/')
        file++;
    return string_print("%.*s%s%s", (int)n, directory, n > 0 && directory[n - 1] != '/' ? "/" : "",
                        file);
}

/* The number of bytes of the UTF-8 character at P; 0 if there is none (RFC 3629). */
static size_t character(const unsigned char *p)
{
    size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool longer = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xf0 && p[1] < 0x90);
    bool surrogate = *p == 0xed && p[1] > 0x9f, beyond = *p == 0xf4 && p[1] > 0x8f;
    return longer || surrogate || beyond ? 0 : n;
}

char *string_valid(const char *s)
{
    WendBuf valid = WEND_BUF_INIT;
    for (const char *p = s; *p;) {
        size_t bytes = character((const unsigned char *)p);
        if (bytes)
            buf_bytes(&valid, p, bytes);
        else
            buf_bytes(&valid, "\xef\xbf\xbd", 3);
        p += bytes ? bytes : 1;
    }
    return string_take(&valid);
}

void string_add(WendBuf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    AUTOFREE char *text = string_print_list(format, args);
    va_end(args);
    buf_bytes(b, text, strlen(text));
}

char *string_take(WendBuf *b)
{
    char *text = string_part(b->len ? (const char *)b->data : "", b->len);
    buf_clear(b);
    return text;
}

double string_number(const char *s)
{
    /* newlocale allocates nothing for this locale */
    return strtod_l(s, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

bool string_begins(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

Vector *string_split(const char *s, char by)
{
    Vector *parts = vector_of_pointers(memory_free);
    for (const char *end; *s; s = *end ? end + 1 : end) {
        end = strchrnul(s, by);
        vector_add(parts, string_part(s, (size_t)(end - s)));
    }
    return parts;
}

char *string_replace(char *s, const char *which, char by)
{
    for (char *p = s; *p; p++)
        if (strchr(which, *p))
            *p = by;
    return s;
}

char *string_strip(char *s)
{
    static const char spaces[] = " \t\n\f\r";
    size_t n = strlen(s), first = strspn(s, spaces);
    while (n > first && strchr(spaces, s[n - 1]))
        n--;
    memmove(s, s + first, n - first);
    s[n - first] = '\0';
    return s;
}
