/* SPDX-License-Identifier: BSD-3-Clause */
/* buf.h: a growable byte buffer with varints, for writers that must not abort (no GLib).
 *
 * A write that finds no memory sets failed and drops the data; test failed once at the end. */
#ifndef WEND_BUF_H
#define WEND_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where memory comes from: realloc with the size that P has, for writers that must not call malloc.
 * N 0 frees. */
typedef void *(*WendResize)(void *p, size_t old, size_t n);

typedef struct {
    uint8_t *data; /* owned; NULL when empty */
    size_t len, cap;
    bool failed;
    WendResize resize; /* NULL: realloc and free */
} WendBuf;

#define WEND_BUF_INIT           \
    {                           \
        NULL, 0, 0, false, NULL \
    }
/* RESIZE's, or realloc's where it is NULL */
void *wend_resize(WendResize resize, void *p, size_t old, size_t n);
/* frees, and is ready again, with the same memory */
void wend_buf_clear(WendBuf *b);
void wend_buf_bytes(WendBuf *b, const void *data, size_t n);
void wend_buf_unsigned(WendBuf *b, uint64_t v); /* LEB128 */
void wend_buf_signed(WendBuf *b, int64_t v);    /* zigzag, LEB128 */
/* Signed numbers as unsigned ones, small ones small, and back: 0, -1, 1, -2, … are 0, 1, 2, 3, … */
static inline uint64_t wend_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}
static inline int64_t wend_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}
void wend_buf_string(WendBuf *b, const char *s); /* length, bytes */
/* what is in OTHER, in place of what is there from FROM on, if that is longer; clears OTHER */
void wend_buf_shorten(WendBuf *b, size_t from, WendBuf *other);
void wend_buf_block(WendBuf *b, const WendBuf *block); /* length, bytes */

/* A cursor for reading hostile bytes: each read checks the bounds; after a failure all reads give
 * 0. A varint of more than 64 bits, or longer than its number needs, is a failure. */
typedef struct {
    const uint8_t *p, *end;
    bool failed;
    struct Allowance *allowance; /* what may be made of the bytes (allowance.h); NULL: anything */
} WendCursor;

WendCursor wend_cursor(const void *data, size_t n);
uint64_t wend_read_unsigned(WendCursor *c);
int64_t wend_read_signed(WendCursor *c);
/* A count of things that take at least MIN_BYTES each: fails when the rest could not hold them, so
 * that nothing is allocated for a lie. */
size_t wend_read_count(WendCursor *c, size_t min_bytes);
/* points into the data; NULL on failure */
const uint8_t *wend_read_bytes(WendCursor *c, size_t n);
/* length, bytes: a cursor over the bytes */
WendCursor wend_read_block(WendCursor *c);

#endif
