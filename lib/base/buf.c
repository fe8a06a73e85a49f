/* SPDX-License-Identifier: BSD-3-Clause */
/* buf.c: see buf.h. */
#include "buf.h"

#include <endian.h>
#include <string.h>

#include "memory.h"

void *buf_resize(WendResize resize, void *p, size_t old, size_t n)
{
    if (resize)
        return resize(p, old, n);
    return memory_resize(p, n);
}

/* For reserve. */
static bool grow(WendBuf *b, size_t n)
{
    if (b->failed)
        return false;
    size_t cap = b->cap < 64 ? 64 : b->cap;
    while (cap - b->len < n) {
        if (cap > SIZE_MAX / 2) {
            b->failed = true;
            return false;
        }
        cap *= 2;
    }
    uint8_t *data = buf_resize(b->resize, b->data, b->cap, cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

/* Makes room for n more bytes. */
static inline bool reserve(WendBuf *b, size_t n)
{
    return (b->cap - b->len >= n && !b->failed) || grow(b, n);
}

void buf_clear(WendBuf *b)
{
    buf_resize(b->resize, b->data, b->cap, 0);
    *b = (WendBuf){.resize = b->resize};
}

void buf_bytes(WendBuf *b, const void *data, size_t n)
{
    if (n == 0 || !reserve(b, n))
        return;
    memcpy(b->data + b->len, data, n);
    b->len += n;
}

void buf_unsigned(WendBuf *b, uint64_t v)
{
    if (!reserve(b, 10)) /* 64 bits, seven a byte */
        return;
    uint8_t *p = b->data + b->len;
    while (v >= 0x80) {
        *p++ = (uint8_t)v | 0x80;
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    b->len = (size_t)(p - b->data);
}

void buf_signed(WendBuf *b, int64_t v)
{
    buf_unsigned(b, buf_zigzag(v));
}

void buf_double(WendBuf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = htole64(bits);
    buf_bytes(b, &bits, sizeof bits);
}

void buf_counted(WendBuf *b, const void *data, size_t n)
{
    buf_unsigned(b, n);
    buf_bytes(b, data, n);
}

void buf_string(WendBuf *b, const char *s)
{
    buf_counted(b, s, strlen(s));
}

void buf_shorten(WendBuf *b, size_t from, WendBuf *other)
{
    if (other->len < b->len - from) {
        b->len = from;
        buf_bytes(b, other->data, other->len);
    }
    b->failed |= other->failed;
    buf_clear(other);
}

void buf_block(WendBuf *b, const WendBuf *block)
{
    if (block->failed) {
        b->failed = true;
        return;
    }
    buf_counted(b, block->data, block->len);
}

WendCursor cursor_of(const void *data, size_t n)
{
    static const uint8_t nothing; /* so that p is never NULL: NULL + 0 is undefined */
    const uint8_t *p = data ? data : &nothing;
    return (WendCursor){.p = p, .end = p + (data ? n : 0)};
}

static void fail(WendCursor *c)
{
    c->failed = true;
    c->p = c->end;
}

uint64_t cursor_varint(WendCursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && c->p < c->end; shift += 7) {
        uint8_t byte = *c->p++;
        if (shift == 63 && byte > 1) /* more than 64 bits */
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            /* a longer form of a shorter number: equal data must be equal bytes */
            if (byte == 0 && shift > 0)
                break;
            return v;
        }
    }
    fail(c);
    return 0;
}

double cursor_double(WendCursor *c)
{
    uint64_t bits = 0;
    double v;
    const uint8_t *bytes = cursor_bytes(c, sizeof bits);
    if (bytes)
        memcpy(&bits, bytes, sizeof bits);
    bits = le64toh(bits);
    memcpy(&v, &bits, sizeof v);
    return v;
}

size_t cursor_count(WendCursor *c, size_t min_bytes)
{
    uint64_t n = cursor_unsigned(c);
    size_t left = (size_t)(c->end - c->p);
    if (n > left / (min_bytes ? min_bytes : 1)) {
        fail(c);
        return 0;
    }
    return (size_t)n;
}

const uint8_t *cursor_bytes(WendCursor *c, size_t n)
{
    if (c->failed || n > (size_t)(c->end - c->p)) {
        fail(c);
        return NULL;
    }
    const uint8_t *p = c->p;
    c->p += n;
    return p;
}

WendCursor cursor_block(WendCursor *c)
{
    size_t n = cursor_count(c, 1);
    const uint8_t *p = cursor_bytes(c, n);
    WendCursor block = cursor_of(p, n);
    block.failed = c->failed;
    block.allowance = c->allowance;
    return block;
}
