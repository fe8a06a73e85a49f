/* SPDX-License-Identifier: BSD-3-Clause */
/* printable.c: see printable.h. */
#include "printable.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lower-bound.h"

/* Ranges of characters that are not printed, ascending, both ends included: Unicode's control and
 * format characters, line and paragraph separators, noncharacters, and characters that are ignored
 * by default (Default_Ignorable_Code_Point: zero-width, tags, variation selectors, fillers).
 * is_listed() adds the noncharacters at the end of each plane. */
static const struct {
    uint32_t first, last;
} listed[] = {
    {0x0, 0x1F},        {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1345F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

static bool is_listed(uint32_t c)
{
    size_t n = sizeof listed / sizeof *listed, at = LOWER_BOUND(i, n, listed[i].last < c);
    return (c & 0xFFFE) == 0xFFFE || (at < n && c >= listed[at].first);
}

/* The number of bytes of a character that begins with FIRST; 0 if none does. */
static uint8_t length_from(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xC0 || first >= 0xF8)
        return 0;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

WendCharacter character_at(const char *p, const char *end)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length */
    const uint8_t *s = (const uint8_t *)p;
    uint8_t first = *s, n = length_from(first);
    const WendCharacter bad = {first, 1, false};
    if (n == 0 || n > end - p)
        return bad;
    uint32_t c = n == 1 ? first : first & (0x7Fu >> n);
    for (uint8_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return bad;
        c = c << 6 | (s[i] & 0x3F);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return bad;
    return (WendCharacter){c, n, true};
}

bool character_is_safe(WendCharacter c, bool utf8)
{
    if (c.point < 0x80)
        return c.point >= ' ' && c.point != 0x7F;
    return c.valid && utf8 && !is_listed(c.point);
}

bool printable_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value)
            continue;
        const char *dot = strchr(value, '.'), *encoding = dot ? dot + 1 : value;
        size_t n = strcspn(encoding, "@");
        return (n == 5 && strncasecmp(encoding, "UTF-8", n) == 0)
               || (n == 4 && strncasecmp(encoding, "UTF8", n) == 0);
    }
    return false;
}

static size_t escape(char out[WEND_PRINTABLE_LONGEST], WendCharacter c, size_t digits)
{
    uint32_t rest = c.point;
    out[0] = '\\';
    out[1] = digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
    for (size_t i = digits; i-- > 0; rest >>= 4)
        out[2 + i] = "0123456789abcdef"[rest & 15];
    return 2 + digits;
}

/* Writes the printable form of the character C at P. Returns its length. */
static size_t form(char out[WEND_PRINTABLE_LONGEST], const char *p, WendCharacter c, bool utf8)
{
    static const char letters[] = {'\\', '\\', '\n', 'n', '\r', 'r', '\t', 't'};
    for (size_t i = 0; i < sizeof letters; i += 2) {
        if (c.point == (uint32_t)letters[i]) {
            out[0] = '\\';
            out[1] = letters[i + 1];
            return 2;
        }
    }
    if (!character_is_safe(c, utf8))
        return escape(out, c, c.bytes == 1 ? 2 : c.point < 0x10000 ? 4 : 8);
    memcpy(out, p, c.bytes);
    return c.bytes;
}

size_t printable_text(char *out, size_t room, const char *text, size_t n, bool utf8)
{
    size_t all = 0, written = 0;
    for (const char *p = text, *end = text + n; p < end;) {
        char piece[WEND_PRINTABLE_LONGEST];
        WendCharacter c = character_at(p, end);
        size_t length = form(piece, p, c, utf8);
        if (all == written && written + length < room) {
            memcpy(out + written, piece, length);
            written += length;
        }
        all += length;
        p += c.bytes;
    }
    out[written] = '\0';
    return all;
}

bool printable_word(char *out, size_t room, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_/.,:+@%=-";
    size_t at = 0;
    bool quoted = !*text || text[strspn(text, plain)] != '\0';
    if (quoted && at < room)
        out[at++] = '\'';
    for (const char *p = text; *p && at < room; p++) {
        const char *piece = quoted && *p == '\'' ? "'\"'\"'" : NULL;
        if (!piece)
            out[at++] = *p;
        for (; piece && *piece && at < room; piece++)
            out[at++] = *piece;
    }
    if (quoted && at < room)
        out[at++] = '\'';
    if (room > 0)
        out[at < room ? at : 0] = '\0';
    return at < room;
}
