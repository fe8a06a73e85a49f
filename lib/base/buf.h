/* SPDX-License-Identifier: BSD-3-Clause */
/* buf.h: a growable byte buffer with varints, for writers that must not abort (no GLib).
 *
 * A write that finds no memory sets failed and drops the data; test failed once at the end. */
#ifndef WEND_BUF_H
#define WEND_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reallocates P from OLD to N bytes, or frees it if N is 0. Returns NULL if there is no memory. For
 * writers that must not call malloc. */
typedef void *(*WendResize)(void *p, size_t old, size_t n);

typedef struct {
    uint8_t *data; /* owned; NULL when empty */
    size_t len, cap;
    bool failed;
    WendResize resize; /* NULL: memory_resize */
} WendBuf;

#define WEND_BUF_INIT           \
    {                           \
        NULL, 0, 0, false, NULL \
    }
/* Calls RESIZE, or memory_resize (memory.h) if that is NULL. */
void *buf_resize(WendResize resize, void *p, size_t old, size_t n);
/* Frees the data. The buffer can be used again, with the same function for its memory. */
void buf_clear(WendBuf *b);
void buf_bytes(WendBuf *b, const void *data, size_t n);
void buf_unsigned(WendBuf *b, uint64_t v); /* LEB128 */
void buf_signed(WendBuf *b, int64_t v);    /* zigzag, LEB128 */
void buf_double(WendBuf *b, double v);     /* 64-bit IEEE, little-endian */
/* Signed numbers as unsigned ones, small ones small, and back: 0, -1, 1, -2, … are 0, 1, 2, 3, … */
static inline uint64_t buf_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}
static inline int64_t buf_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}
void buf_counted(WendBuf *b, const void *data, size_t n); /* N, bytes */
void buf_string(WendBuf *b, const char *s);               /* the same */
/* If OTHER is shorter than the bytes from offset FROM on, replaces these by it. Clears OTHER. */
void buf_shorten(WendBuf *b, size_t from, WendBuf *other);
void buf_block(WendBuf *b, const WendBuf *block); /* length, bytes */

/* A cursor for reading hostile bytes: each read checks the bounds; after a failure all reads give
 * 0. A varint of more than 64 bits, or longer than its number needs, is a failure. */
typedef struct {
    const uint8_t *p, *end;
    bool failed;
    struct Allowance *allowance; /* for memory made from the bytes (allowance.h); NULL: no limit */
} WendCursor;

WendCursor cursor_of(const void *data, size_t n);
uint64_t cursor_varint(WendCursor *c); /* for cursor_unsigned */
/* Most numbers have one byte, and are read without a call. */
static inline uint64_t cursor_unsigned(WendCursor *c)
{
    return c->p < c->end && *c->p < 0x80 ? *c->p++ : cursor_varint(c);
}
static inline int64_t cursor_signed(WendCursor *c)
{
    return buf_unzigzag(cursor_unsigned(c));
}
double cursor_double(WendCursor *c); /* may be infinite or not a number */
/* A count of things that take at least MIN_BYTES each. Fails if the rest of the bytes cannot hold
 * so many, so that callers may allocate for the count. */
size_t cursor_count(WendCursor *c, size_t min_bytes);
/* The next N bytes, inside the data of the cursor; NULL on failure. */
const uint8_t *cursor_bytes(WendCursor *c, size_t n);
/* Reads a length and that many bytes; returns a cursor over the bytes. */
WendCursor cursor_block(WendCursor *c);

#endif
