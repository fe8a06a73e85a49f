/* SPDX-License-Identifier: BSD-3-Clause */
/* order-read.c: checks an order file, and goes through its grammars and streams. */
#include "order-read.h"

#include <string.h>

#include "lib/base/budget.h"
#include "lib/record/functions.h"
#include "lib/record/site-guesses.h"

/* -- the file -- */

/* Takes N things of SIZE bytes from *REST, padded to a multiple of 8. NULL: so many are not
 * there. */
static const void *take(const uint8_t **rest, size_t *left, uint64_t n, size_t size)
{
    const void *here = *rest;
    uint64_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > *left)
        return NULL;
    uint64_t padded = (bytes + 7) & ~UINT64_C(7);
    if (padded > *left)
        padded = *left;
    *rest += padded;
    *left -= padded;
    return here;
}

static bool within(uint64_t first, uint64_t n, uint64_t all)
{
    return first <= all && n <= all - first;
}

static bool check_signatures(const Order *o)
{
    const OrderHead *h = o->head;
    for (uint64_t i = 0; i < h->n_shapes; i++)
        if (o->shapes[i].n == 0 || !within(o->shapes[i].first, o->shapes[i].n, h->n_words))
            return false;
    for (uint64_t i = 0; i < h->n_terminals; i++)
        if (o->terminals[i].shape >= h->n_shapes
            || !within(o->terminals[i].first, o->terminals[i].n, h->n_words))
            return false;
    return true;
}

static bool check_rules(const Order *o)
{
    const OrderHead *h = o->head;
    for (uint64_t r = 0; r < h->n_rules; r++) {
        const OrderRule *rule = &o->rules[r];
        if (!within(rule->first, rule->n, h->n_symbols) || rule->depth == 0)
            return false;
        for (uint64_t k = 0; k < rule->n; k++) {
            const OrderSymbol *s = &o->symbols[rule->first + k];
            if (s->repeats == 0 || s->is_rule > 1 || s->id >= (s->is_rule ? r : h->n_terminals)
                || (s->is_rule && (o->rules[s->id].depth >= rule->depth || o->rules[s->id].n == 0)))
                return false;
        }
    }
    return true;
}

static bool check_sequences(const Order *o)
{
    const OrderHead *h = o->head;
    for (uint64_t i = 0; i < h->n_sequences; i++) {
        const OrderSequence *q = &o->sequences[i];
        if (q->rule >= h->n_rules || !within(q->first_stream, q->n_streams, h->n_streams)
            || (q->polls != WEND_ORDER_NO_RULE && q->polls >= h->n_rules)
            || !within(q->turns, q->turns_bytes, h->n_bytes))
            return false;
        for (int kind = 0; kind < ORDER_POSTED_KINDS; kind++)
            if (!within(q->answers[kind], q->answers_bytes[kind], h->n_bytes))
                return false;
    }
    for (uint64_t i = 0; i < h->n_streams; i++)
        if (o->streams[i].shape >= h->n_shapes
            || !within(o->streams[i].first, o->streams[i].n, h->n_bytes))
            return false;
    for (uint64_t i = 0; i < h->n_sides; i++)
        if (!within(o->sides[i].first, o->sides[i].n, h->n_bytes))
            return false;
    return true;
}

static bool check_sites(const Order *o)
{
    const OrderHead *h = o->head;
    for (uint64_t i = 0; i < h->n_modules; i++)
        if (!within(o->modules[i].file, o->modules[i].n_file, h->n_bytes)
            || !within(o->modules[i].id, o->modules[i].n_id, h->n_bytes))
            return false;
    for (uint64_t i = 0; i < h->n_sites; i++)
        if (!within(o->sites[i].text, o->sites[i].n_text, h->n_bytes)
            || (o->sites[i].module != WEND_ORDER_NO_MODULE && o->sites[i].module >= h->n_modules))
            return false;
    for (uint64_t i = 0; i < h->n_site_elements; i++)
        if (o->site_elements[i].site >= h->n_sites || o->site_elements[i].code >= WEND_SITE_CODES)
            return false;
    for (uint64_t i = 0; i < h->n_sequences; i++)
        if (!within(o->sequences[i].first_site_element, o->sequences[i].n_site_elements,
                    h->n_site_elements))
            return false;
    return true;
}

static uint32_t digest_here(void)
{
    uint32_t digest = WEND_DIGEST_START;
    for (size_t i = 0; i < mpi_n_functions; i++)
        digest = function_digest_add(digest, &mpi_functions[i]);
    return digest;
}

bool order_read(Order *o, const void *data, size_t n)
{
    const uint8_t *rest = data;
    const OrderHead *h = o->head = take(&rest, &n, 1, sizeof *h);
    return h && memcmp(h->magic, WEND_ORDER_MAGIC, sizeof h->magic) == 0
           && h->version == WEND_ORDER_VERSION && h->digest == digest_here()
           && (o->words = take(&rest, &n, h->n_words, sizeof *o->words))
           && (o->shapes = take(&rest, &n, h->n_shapes, sizeof *o->shapes))
           && (o->terminals = take(&rest, &n, h->n_terminals, sizeof *o->terminals))
           && (o->rules = take(&rest, &n, h->n_rules, sizeof *o->rules))
           && (o->symbols = take(&rest, &n, h->n_symbols, sizeof *o->symbols))
           && (o->sequences = take(&rest, &n, h->n_sequences, sizeof *o->sequences))
           && (o->streams = take(&rest, &n, h->n_streams, sizeof *o->streams))
           && (o->sides = take(&rest, &n, h->n_sides, sizeof *o->sides))
           && (o->modules = take(&rest, &n, h->n_modules, sizeof *o->modules))
           && (o->sites = take(&rest, &n, h->n_sites, sizeof *o->sites))
           && (o->site_elements = take(&rest, &n, h->n_site_elements, sizeof *o->site_elements))
           && (o->bytes = take(&rest, &n, h->n_bytes, 1)) && check_signatures(o) && check_rules(o)
           && check_sequences(o) && check_sites(o) && h->n_channels <= h->n_bytes;
}

const OrderSequence *order_sequence(const Order *o, uint32_t kind, int64_t id)
{
    for (uint64_t i = 0; i < o->head->n_sequences; i++)
        if (o->sequences[i].kind == kind && o->sequences[i].id == id)
            return &o->sequences[i];
    return NULL;
}

/* -- grammars -- */

static void push(struct OrderFrame *stack, size_t *depth, const OrderRule *rule,
                 const OrderSymbol *symbols)
{
    const OrderSymbol *first = symbols + rule->first;
    stack[(*depth)++] = (struct OrderFrame){first, first + rule->n, first->repeats};
}

/* Leaves the symbol at hand of the innermost rule once, and then rules that are at their end. */
static const OrderSymbol *step(struct OrderFrame *stack, size_t *depth)
{
    struct OrderFrame *top = &stack[*depth - 1];
    const OrderSymbol *s = top->symbol;
    if (--top->left == 0) {
        if (++top->symbol < top->end)
            top->left = top->symbol->repeats;
        else
            --*depth;
    }
    return s;
}

bool order_cursor_open(OrderCursor *c, const Order *order, uint32_t rule)
{
    const OrderRule *start = &order->rules[rule];
    size_t n = start->depth <= order->head->n_rules ? start->depth : order->head->n_rules;
    *c = (OrderCursor){.order = order, .capacity = n + 1};
    c->stack = budget_zeroed(c->capacity * sizeof *c->stack);
    if (c->stack && start->n)
        push(c->stack, &c->depth, start, order->symbols);
    return c->stack != NULL;
}

void order_cursor_close(OrderCursor *c)
{
    budget_free(c->stack, c->stack ? c->capacity * sizeof *c->stack : 0);
    *c = (OrderCursor){0};
}

const OrderTerminal *order_cursor_next(OrderCursor *c)
{
    while (c->depth) {
        const OrderSymbol *s = step(c->stack, &c->depth);
        if (!s->is_rule)
            return &c->order->terminals[s->id];
        push(c->stack, &c->depth, &c->order->rules[s->id], c->order->symbols);
    }
    return NULL;
}

/* -- streams -- */

void order_stream_open(OrderStreamReader *r, const uint8_t *bytes, size_t n)
{
    *r = (OrderStreamReader){0};
    WendCursor all = cursor_of(bytes, n);
    cursor_unsigned(&all); /* number of entries */
    r->bytes = cursor_block(&all);
}

void order_stream_close(OrderStreamReader *r)
{
    budget_free(r->words, r->words_capacity * sizeof *r->words);
    budget_free(r->entries, r->entries_capacity * sizeof *r->entries);
    budget_free(r->symbols, r->symbols_capacity * sizeof *r->symbols);
    budget_free(r->rules, r->rules_capacity * sizeof *r->rules);
    budget_free(r->stack, r->stack_capacity * sizeof *r->stack);
    *r = (OrderStreamReader){0};
}

/* Room for N more things of SIZE bytes in an array that has USED. False: no memory. */
static bool grow(void *array, size_t used, size_t n, size_t *capacity, size_t size)
{
    void **at = array;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted - used < n)
        if (__builtin_mul_overflow(wanted, 2, &wanted) || wanted > SIZE_MAX / size)
            return false;
    if (wanted == *capacity)
        return true;
    void *grown = budget_resize(*at, *capacity * size, wanted * size);
    if (!grown)
        return false;
    *at = grown;
    *capacity = wanted;
    return true;
}

/* Appends the words of an entry. */
static bool read_entry(OrderStreamReader *r)
{
    uint64_t head = cursor_unsigned(&r->bytes), n = head >> 1;
    if (r->bytes.failed || (head & 1) || n > (uint64_t)(r->bytes.end - r->bytes.p)
        || !grow(&r->words, r->n_words, n, &r->words_capacity, sizeof *r->words))
        return false;
    while (n-- > 0)
        r->words[r->n_words++] = cursor_signed(&r->bytes);
    return !r->bytes.failed;
}

static bool read_rules(OrderStreamReader *r)
{
    r->n_symbols = 0;
    r->n_rules = cursor_count(&r->bytes, 1);
    if (r->n_rules == 0 || !grow(&r->rules, 0, r->n_rules, &r->rules_capacity, sizeof *r->rules))
        return false;
    for (size_t i = 0; i < r->n_rules; i++) {
        size_t n = cursor_count(&r->bytes, 2);
        if (n == 0 || !grow(&r->symbols, r->n_symbols, n, &r->symbols_capacity, sizeof *r->symbols))
            return false;
        r->rules[i] = (OrderRule){r->n_symbols, n, 0};
        while (n-- > 0) {
            uint64_t id = cursor_unsigned(&r->bytes);
            OrderSymbol s = {(uint32_t)(id >> 1), id & 1, cursor_unsigned(&r->bytes)};
            if (s.repeats == 0 || id >> 1 >= (id & 1 ? r->n_rules : r->n_entries))
                return false;
            r->symbols[r->n_symbols++] = s;
        }
    }
    return !r->bytes.failed;
}

/* Reads the next piece. */
static bool read_piece(OrderStreamReader *r)
{
    if (r->bytes.p == r->bytes.end || r->bytes.failed)
        return false;
    r->n_words = r->n_entries = 0;
    r->left = cursor_unsigned(&r->bytes);
    if (r->left > 0) {
        bool good = read_entry(r);
        r->first = 0;
        r->n = r->n_words;
        return good;
    }
    size_t n = cursor_count(&r->bytes, 1);
    if (n == 0 || !grow(&r->entries, 0, n + 1, &r->entries_capacity, sizeof *r->entries))
        return false;
    for (r->n_entries = 0; r->n_entries < n; r->n_entries++) {
        r->entries[r->n_entries] = r->n_words;
        if (!read_entry(r))
            return false;
    }
    r->entries[n] = r->n_words;
    r->depth = 0;
    if (!read_rules(r) || !grow(&r->stack, 0, r->n_rules + 1, &r->stack_capacity, sizeof *r->stack))
        return false;
    push(r->stack, &r->depth, &r->rules[0], r->symbols);
    return true;
}

const int64_t *order_stream_next(OrderStreamReader *r, size_t *n)
{
    size_t entered =
        0; /* rules, since the last entry: no more than there are, or one uses itself */
    while (r->left == 0) {
        if (r->n_entries == 0 || r->depth == 0) {
            if (!read_piece(r))
                return NULL;
            continue;
        }
        const OrderSymbol *s = step(r->stack, &r->depth);
        if (s->is_rule) {
            if (r->depth > r->n_rules || ++entered > r->n_rules)
                return NULL;
            push(r->stack, &r->depth, &r->rules[s->id], r->symbols);
            continue;
        }
        r->first = r->entries[s->id];
        r->n = r->entries[s->id + 1] - r->first;
        r->left = 1;
    }
    r->left--;
    *n = r->n;
    return r->words + r->first;
}
