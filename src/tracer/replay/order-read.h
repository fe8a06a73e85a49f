/* SPDX-License-Identifier: BSD-3-Clause */
/* order-read.h: reads an order file (order-file.h) in the process of the application, without GLib.
 * Memory comes from the recorder's budget. */
#ifndef WEND_ORDER_READ_H
#define WEND_ORDER_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "order-file.h"

typedef struct {
    const OrderHead *head;
    const int64_t *words;
    const OrderShape *shapes;
    const OrderTerminal *terminals;
    const OrderRule *rules;
    const OrderSymbol *symbols;
    const OrderSequence *sequences;
    const OrderStream *streams;
    const OrderSide *sides;
    const OrderModule *modules;
    const OrderSite *sites;
    const OrderSiteElement *site_elements;
    const uint8_t *bytes;
} Order;

/* Points ORDER into the N bytes at DATA, which stay the caller's, and checks all that is read later
 * except for streams and side streams. False: it is not an order file of this build. */
bool order_read(Order *order, const void *data, size_t n);
/* NULL: there is none. */
const OrderSequence *order_sequence(const Order *order, uint32_t kind, int64_t id);

/* Going through the expansion of a rule. */
typedef struct {
    const Order *order;
    struct OrderFrame {
        const OrderSymbol *symbol, *end;
        uint64_t left; /* of this symbol, the one at hand included */
    } * stack;
    size_t depth, capacity;
} OrderCursor;

/* False: no memory. */
bool order_cursor_open(OrderCursor *c, const Order *order, uint32_t rule);
void order_cursor_close(OrderCursor *c);
/* The next terminal, NULL: the end. */
const OrderTerminal *order_cursor_next(OrderCursor *c);

/* Going through a stream, entry by entry. */
typedef struct {
    WendCursor bytes;
    int64_t *words; /* the entry, or in a piece with a grammar all of its entries */
    size_t n_words, words_capacity;
    uint64_t left; /* of the entry that is still to come */
    /* A piece with a grammar; n_entries is 0 in others. */
    uint64_t *entries; /* where the words of each begin, and where the last ends */
    size_t n_entries, entries_capacity;
    OrderSymbol *symbols;
    size_t n_symbols, symbols_capacity;
    OrderRule *rules;
    size_t n_rules, rules_capacity;
    struct OrderFrame *stack;
    size_t depth, stack_capacity;
    size_t first, n; /* words of the entry at hand */
} OrderStreamReader;

void order_stream_open(OrderStreamReader *r, const uint8_t *bytes, size_t n);
void order_stream_close(OrderStreamReader *r);
/* The next entry, N words that stay until the next call. NULL: the end, no memory, or damaged. */
const int64_t *order_stream_next(OrderStreamReader *r, size_t *n);

#endif
