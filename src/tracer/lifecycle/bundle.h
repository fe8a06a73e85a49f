/* SPDX-License-Identifier: BSD-3-Clause */
/* bundle.h: small parts of consecutive ranks, on their way to the rank that reads them. The others
 * need not open the library that merges, and nobody encodes what another rank decodes
 * (docs/merging.md, "Bundles"). */
#ifndef WEND_BUNDLE_H
#define WEND_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts, each after its length. The memory is the kernel's. */
typedef struct {
    uint8_t *data; /* NULL: there is none */
    size_t len, cap;
} Bundle;

/* An empty bundle with room for CAP bytes. False: there is no memory. */
bool bundle_open(Bundle *b, size_t cap);
/* Adds a part of N bytes, or N bytes that are a bundle. False: there is no room. */
bool bundle_add_part(Bundle *b, const void *part, size_t n);
bool bundle_add_bundle(Bundle *b, const void *bundle, size_t n);
/* The part at *AT, which is 0 for the first one, in *PART and *N. *AT becomes that of the next one.
 * False: there is none. */
bool bundle_next(const Bundle *b, size_t *at, const void **part, size_t *n);
/* Frees the memory. B can be opened again. */
void bundle_close(Bundle *b);

#endif
