/* SPDX-License-Identifier: BSD-3-Clause */
/* part-list.h: small parts of consecutive ranks, on their way to the rank that reads them. The
 * others need not open the library that merges, and no rank encodes what the next one decodes
 * (docs/merging.md, "Parts that are read for others"). */
#ifndef WEND_PART_LIST_H
#define WEND_PART_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts, each after its length. The memory is the kernel's. */
typedef struct {
    uint8_t *data; /* NULL: there is none */
    size_t len, cap;
} PartList;

/* An empty list with room for CAP bytes. False: there is no memory. */
bool part_list_open(PartList *l, size_t cap);
/* Adds a part of N bytes, or N bytes that are a list. False: there is no room. */
bool part_list_add(PartList *l, const void *part, size_t n);
bool part_list_append(PartList *l, const void *list, size_t n);
/* The part at *AT, which is 0 for the first one, in *PART and *N. *AT becomes that of the next one.
 * False: there is none. */
bool part_list_next(const PartList *l, size_t *at, const void **part, size_t *n);
/* Frees the memory. L can be opened again. */
void part_list_close(PartList *l);

#endif
