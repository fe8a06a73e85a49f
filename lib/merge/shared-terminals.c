/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-terminals.c: one set of terminals and rules for all classes.
 *
 * First, classes that differ only in trip counts become one (variants.h), and so do classes with
 * most calls in common (class-alignment.h). Terminals of different classes become one if their
 * shapes are equal and one expression fits the slots of both. Rules of the classes are shared by
 * content, bottom-up. Then Sequitur is applied to the start sequences and the bodies of the shared
 * rules. Each of them ends with a terminal that occurs once, so no rule crosses from one to the
 * next. Time is linear in the size of the grammars and does not depend on the calls. */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "record/grammar.h"
#include "record/layout.h"
#include "recording.h"
#include "class-alignment.h"

typedef struct {
    Recording *r;
    Map *shapes;       /* words -> number */
    Map *signatures;   /* hash (signature_key) -> number + 1, of the first that has it */
    uint32_t n_tables; /* tables that remain; the signatures of the last one are not entered */
    Layout layout;
} TerminalSharing;

static uint32_t share_shape(TerminalSharing *sharing, const ShapeRow *shape)
{
    bool is_new;
    size_t bytes = shape->n * sizeof(int64_t);
    uint32_t number = map_number(sharing->shapes, shape->words, bytes, &is_new);
    if (is_new) {
        ShapeRow copy = {shape->n, memory_copy(shape->words, bytes)};
        VECTOR_APPEND(sharing->r->shapes, copy);
    }
    return number;
}

/* -- terminals -- */

enum { PREFER_SELF_FIRST = 1, PREFER_SELF_RANKS = 2, PREFERENCES = 4 };

static bool is_open(const RankVector *v)
{
    return rank_vector_is_constant(v) && rank_vector_is_relative(v);
}

/* A hash by which a signature is found. A class of one rank fits both a constant and self + k. For
 * slot 0 (self) and for parameters that are ranks both are tried; for all others the constant is
 * likely. Two signatures with one hash (1 in 2^64) do not become one, but one of them is not
 * found. */
static void *signature_key(uint32_t shape, const RankVector *slots, uint32_t n,
                           const RankSet *ranks, const bool *is_rank, int preference)
{
    WendBuf b = WEND_BUF_INIT;
    bool deltas = false;
    buf_unsigned(&b, shape);
    for (uint32_t i = 0; i < n; i++) {
        RankVector v = slots[i];
        bool self = i == 0 ? (preference & PREFER_SELF_FIRST) != 0
                           : is_rank[i] && (preference & PREFER_SELF_RANKS);
        if (is_open(&v)) {
            if (self)
                v.value = RANK_VECTOR_RELATIVE;
            else
                v.delta = RANK_VECTOR_NO_DELTA;
        }
        rank_vector_encode(&v, &b);
        deltas |= rank_vector_is_deltas(&v);
    }
    /* the index of a word in a delta sequence is that of its rank in the set */
    if (deltas)
        rankset_encode(ranks, &b);
    uint64_t hash = XXH3_64bits(b.data, b.len);
    buf_clear(&b);
    return OF_NUMBER((size_t)hash);
}

static bool fits(const Signature *s, uint32_t shape, const RankVector *slots, uint32_t n,
                 const RankSet *ranks)
{
    bool deltas = false;
    if (s->shape != shape || s->n_slots != n)
        return false;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        bool is_deltas = rank_vector_is_deltas(&slots[i]);
        deltas |= is_deltas;
        if (!rank_vector_joins(&s->slots[i], &slots[i])
            && !(is_deltas && rank_vector_equal(&s->slots[i], &slots[i])))
            return false;
    }
    return !deltas || rankset_equal(s->ranks, ranks);
}

static bool share_terminal(TerminalSharing *sharing, uint32_t shape, RankVector *slots, uint32_t n,
                           const RankSet *ranks, uint32_t *number)
{
    const ShapeRow *row = &VECTOR_AT(sharing->r->shapes, ShapeRow, shape);
    const WendFunction *f = &mpi_functions[row->words[0] / 2];
    AUTOFREE bool *is_rank = NEW0(bool, n + 1);
    if (!layout_fits(&sharing->layout, f, row->words, row->n, n))
        return false;
    bool open = false, deltas = false;
    for (uint32_t i = 0; i < n; i++) {
        is_rank[i] =
            f->params[VECTOR_AT(sharing->layout.slot_param, int16_t, i)].kind == WEND_KIND_RANK;
        open |= is_open(&slots[i]);
        deltas |= rank_vector_is_deltas(&slots[i]);
    }
    void *keys[PREFERENCES];
    int n_keys = open ? PREFERENCES : 1;
    Signature *found = NULL;
    for (int k = 0; k < n_keys; k++)
        keys[k] = signature_key(shape, slots, n, ranks, is_rank, PREFERENCES - 1 - k);
    for (int k = 0; k < n_keys && !found; k++) {
        uint32_t known = NUMBER_OF(map_get(sharing->signatures, keys[k]));
        if (!known)
            continue;
        Signature *s = &VECTOR_AT(sharing->r->signatures, Signature, known - 1);
        if (fits(s, shape, slots, n, ranks)) {
            found = s;
            *number = known - 1;
        }
    }
    if (found) {
        for (uint32_t i = 0; i < n; i++)
            rank_vector_join(&found->slots[i], &slots[i]);
    } else {
        Signature s = {
            .shape = shape, .n_slots = n, .slots = slots, .ranks = deltas ? ranks : NULL};
        VECTOR_APPEND(sharing->r->signatures, s);
        *number = sharing->r->signatures->len - 1;
    }
    for (int k = 0; k < n_keys && !found && sharing->n_tables > 0; k++)
        if (!map_has(sharing->signatures, keys[k]))
            map_put(sharing->signatures, keys[k], OF_NUMBER(*number + 1));
    return true;
}

static bool share_table(TerminalSharing *sharing, const Table *t, const RankSet *ranks,
                        TableMap *map)
{
    ShapeRow *shapes = table_shapes(t);
    map->shapes = NEW(uint32_t, t->n_shapes + 1);
    map->terminals = NEW0(uint32_t, t->n_terminals + 1);
    for (uint32_t i = 0; i < t->n_shapes; i++)
        map->shapes[i] = share_shape(sharing, &shapes[i]);
    table_shapes_free(shapes, t->n_shapes);
    sharing->n_tables--;
    for (uint32_t i = 0; i < t->n_terminals; i++) {
        uint32_t shape = map->shapes[t->terminal_shape[i]], *number = &map->terminals[i];
        RankVector *slots = &t->slots[t->first_slot[i]];
        uint32_t n = t->first_slot[i + 1] - t->first_slot[i];
        if (!share_terminal(sharing, shape, slots, n, t->ranks ? &t->ranks[i] : ranks, number))
            return false;
    }
    return true;
}

/* -- rules -- */

/* The state of sharing rules. Symbols of a grammar are numbered: first the terminals, then the
 * bodies, then their ends. */
typedef struct {
    /* Rule over terminals and bodies: the shared rules and the start of each sequence */
    Vector *bodies;
    Map *by_content; /* Bytes -> number + 1 */
    Vector *starts;  /* uint32_t: number of the body of each sequence's start */
    /* WendSymbol over terminals and bodies: the symbols of all bodies that have a trip count */
    Vector *trips;
} RuleSharing;

static uint32_t share_body(RuleSharing *s, const Rule *rule, const uint32_t *terminals,
                           const uint32_t *body_of, bool start)
{
    WendSymbol *symbols = NEW(WendSymbol, rule->n + 1);
    WendBuf b = WEND_BUF_INIT;
    for (uint32_t i = 0; i < rule->n; i++) {
        symbols[i] = rule->symbols[i];
        symbols[i].id = symbols[i].is_rule ? body_of[symbols[i].id] : terminals[symbols[i].id];
        buf_unsigned(&b, (uint64_t)symbols[i].id << 1 | (symbols[i].is_rule ? 1 : 0));
        buf_unsigned(&b, symbols[i].repeats);
    }
    AUTO(Bytes) key = bytes_new(b.data, b.len);
    buf_clear(&b);
    uint32_t known = NUMBER_OF(map_get(s->by_content, key));
    if (known) {
        memory_free(symbols);
        if (start)
            vector_append_all(s->starts, (uint32_t[]){known - 1}, 1);
        return known - 1;
    }
    Rule body = {rule->n, symbols};
    VECTOR_APPEND(s->bodies, body);
    uint32_t number = s->bodies->len - 1;
    map_put(s->by_content, STEAL(key), OF_NUMBER(number + 1));
    if (start)
        VECTOR_APPEND(s->starts, number);
    return number;
}

/* *TRIP_OF (or NULL) is as in Variants, and is moved behind the symbols of this grammar. */
static bool share_grammar(RuleSharing *s, Bytes *grammar, const uint32_t *terminals,
                          uint32_t n_terminals, const uint32_t **trip_of)
{
    RuleRow row;
    if (!rules_from(&row, grammar, n_terminals))
        return false;
    for (uint32_t i = 0; *trip_of && i < row.n_rules; i++)
        for (uint32_t k = 0; k < row.rules[i].n; k++, ++*trip_of)
            if (**trip_of)
                row.rules[i].symbols[k].repeats = RULE_TRIP + **trip_of - 1;
    uint32_t n;
    uint32_t *order = rules_bottom_up(&row, &n);
    uint32_t *body_of = NEW0(uint32_t, row.n_rules);
    for (uint32_t i = 0; order && i < n; i++)
        body_of[order[i]] = share_body(s, &row.rules[order[i]], terminals, body_of, order[i] == 0);
    bool whole = order != NULL;
    memory_free(order);
    memory_free(body_of);
    rules_clear(&row);
    return whole;
}

/* Applies Sequitur to all bodies and fills the row of rules. Rule 0 has the bodies one after the
 * other, each ended by a terminal from FIRST_END on. A symbol with a trip count becomes a terminal
 * of its own, behind the ends, so that it is not changed. */
static bool compress_bodies(RuleSharing *s, uint32_t n_terminals, uint32_t first_end, RuleRow *row)
{
    WendGrammar *g = grammar_new();
    bool good = g != NULL;
    for (uint32_t i = 0; i < s->bodies->len && good; i++) {
        const Rule *body = &VECTOR_AT(s->bodies, Rule, i);
        for (uint32_t k = 0; k < body->n && good; k++) {
            const WendSymbol *y = &body->symbols[k];
            if (y->repeats & RULE_TRIP) {
                uint64_t terminal = (uint64_t)first_end + s->bodies->len + s->trips->len;
                good = terminal < INT32_MAX && grammar_append(g, (uint32_t)terminal, 1);
                VECTOR_APPEND(s->trips, *y);
            } else {
                good = grammar_append(g, y->is_rule ? n_terminals + y->id : y->id, y->repeats);
            }
        }
        good = good && grammar_append(g, first_end + i, 1);
    }
    WendBuf b = WEND_BUF_INIT;
    if (good)
        grammar_end(g, &b);
    else
        grammar_free(g);
    WendCursor c = cursor_of(b.data, b.len);
    good = good && rules_read(row, &c, first_end + s->bodies->len + s->trips->len, RULES_PLAIN);
    buf_clear(&b);
    return good;
}

/* The nodes of which the rules of the recording are made. Node n < N_BODIES is body n. Node
 * N_BODIES + q is rule q of Sequitur. */
typedef struct {
    uint32_t n_terminals, n_bodies;
    const Vector *trips; /* RuleSharing.trips */
    Rule *nodes;
    uint32_t n_nodes;
} Nodes;

static WendSymbol node_symbol(const Nodes *n, WendSymbol s)
{
    if (s.is_rule)
        s.id += n->n_bodies;
    else if (s.id >= n->n_terminals + 2 * n->n_bodies)
        s = VECTOR_AT(n->trips, WendSymbol, s.id - n->n_terminals - 2 * n->n_bodies);
    else if (s.id >= n->n_terminals) {
        s.is_rule = true;
        s.id -= n->n_terminals;
    }
    return s;
}

static bool cut_bodies(Nodes *n, const RuleRow *row, uint32_t first_end)
{
    n->n_nodes = n->n_bodies + row->n_rules;
    n->nodes = NEW0(Rule, n->n_nodes);
    const Rule *all = &row->rules[0];
    uint32_t at = 0;
    for (uint32_t body = 0; body < n->n_bodies; body++) {
        uint32_t end = at;
        while (end < all->n
               && (all->symbols[end].is_rule || all->symbols[end].id < first_end
                   || all->symbols[end].id >= first_end + n->n_bodies))
            end++;
        if (end == all->n || all->symbols[end].id != first_end + body)
            return false;
        n->nodes[body] = (Rule){end - at, NEW(WendSymbol, end - at + 1)};
        for (uint32_t k = at; k < end; k++)
            n->nodes[body].symbols[k - at] = node_symbol(n, all->symbols[k]);
        at = end + 1;
    }
    for (uint32_t q = 1; q < row->n_rules; q++) {
        Rule *node = &n->nodes[n->n_bodies + q];
        *node = (Rule){row->rules[q].n, NEW(WendSymbol, row->rules[q].n + 1)};
        for (uint32_t k = 0; k < node->n; k++)
            node->symbols[k] = node_symbol(n, row->rules[q].symbols[k]);
    }
    return true;
}

/* If a body became one use of another rule, returns that rule. */
static uint32_t behind(const Nodes *n, uint32_t node)
{
    for (uint32_t steps = 0; steps < n->n_nodes; steps++) {
        const Rule *rule = &n->nodes[node];
        if (rule->n != 1 || !rule->symbols[0].is_rule || rule->symbols[0].repeats != 1)
            break;
        node = rule->symbols[0].id;
    }
    return node;
}

/* Appends START and the nodes that it uses, directly or not, to ORDER, each after the nodes that it
 * uses. PLACED nodes are left out. */
static void append_below(const Nodes *n, uint32_t start, uint8_t *placed, Vector *order)
{
    typedef struct {
        uint32_t node;
        uint32_t at;
    } Frame;
    AUTO(Vector) stack = vector_new(sizeof(Frame));
    Frame next = {start, 0};
    if (!placed[start])
        VECTOR_APPEND(stack, next);
    while (stack->len) {
        Frame *top = &VECTOR_AT(stack, Frame, stack->len - 1);
        const Rule *rule = &n->nodes[top->node];
        for (; top->at < rule->n; top->at++) {
            if (!rule->symbols[top->at].is_rule)
                continue;
            next.node = behind(n, rule->symbols[top->at].id);
            if (!placed[next.node])
                break;
        }
        if (top->at < rule->n) {
            VECTOR_APPEND(stack, next);
            continue;
        }
        VECTOR_APPEND(order, top->node);
        placed[top->node] = 1;
        vector_resize(stack, stack->len - 1);
    }
}

/* All nodes that STARTS need (uint32_t), each after the nodes that it uses. */
static Vector *nodes_bottom_up(const Nodes *n, const uint32_t *starts, uint32_t n_starts)
{
    AUTOFREE uint8_t *placed = NEW0(uint8_t, n->n_nodes + 1);
    Vector *order = vector_new(sizeof(uint32_t));
    for (uint32_t i = 0; i < n_starts; i++)
        append_below(n, starts[i], placed, order);
    return order;
}

/* By node: how deep its rules are nested. The caller frees the result. */
static uint32_t *node_heights(const Nodes *n, const uint32_t *starts, uint32_t n_starts)
{
    uint32_t *height = NEW0(uint32_t, n->n_nodes + 1);
    AUTO(Vector) order = nodes_bottom_up(n, starts, n_starts);
    for (uint32_t i = 0; i < order->len; i++) {
        uint32_t node = VECTOR_AT(order, uint32_t, i), most = 0;
        for (uint32_t k = 0; k < n->nodes[node].n; k++)
            if (n->nodes[node].symbols[k].is_rule)
                most = MAX(most, height[behind(n, n->nodes[node].symbols[k].id)]);
        height[node] = most + 1;
    }
    return height;
}

static int by_height(const void *a, const void *b, void *data)
{
    const uint32_t *height = data, x = height[*(const uint32_t *)a],
                   y = height[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

/* Makes the rules of the recording. Rules of less depth come first: if a program communicates along
 * a tree, each level adds to the level before, and the writer encodes the difference. STARTS: by
 * sequence, its node, which becomes its rule. */
static void emit_rules(Recording *r, const Nodes *n, uint32_t *starts, uint32_t n_starts)
{
    AUTOFREE uint32_t *height = node_heights(n, starts, n_starts),
                      *number = NEW0(uint32_t, n->n_nodes + 1);
    AUTOFREE uint32_t *sorted = memory_copy(starts, n_starts * sizeof *starts);
    vector_sort_plain_by(sorted, (int)n_starts, sizeof *sorted, by_height, height); /* stable */
    AUTO(Vector) order = nodes_bottom_up(n, sorted, n_starts);
    for (uint32_t i = 0; i < order->len; i++) {
        uint32_t node = VECTOR_AT(order, uint32_t, i);
        const Rule *rule = &n->nodes[node];
        Rule out = {rule->n, memory_copy(rule->symbols, rule->n * sizeof(WendSymbol))};
        for (uint32_t k = 0; k < out.n; k++)
            if (out.symbols[k].is_rule)
                out.symbols[k].id = number[behind(n, out.symbols[k].id)];
        number[node] = r->rules->len;
        VECTOR_APPEND(r->rules, out);
    }
    for (uint32_t i = 0; i < n_starts; i++)
        starts[i] = number[starts[i]];
}

static bool share_rules(Recording *r)
{
    RuleSharing s = {vector_new(sizeof(Rule)), map_of_bytes(NULL), vector_new(sizeof(uint32_t)),
                     vector_new(sizeof(WendSymbol))};
    bool good = true;
    for (uint32_t i = 0; i < r->classes->len && good; i++) {
        RecordedClass *k = &VECTOR_AT(r->classes, RecordedClass, i);
        const uint32_t *trip_of = k->variants ? k->variants->trip_of : NULL;
        for (uint32_t q = 0; q < k->class->n_sequences && good; q++)
            good =
                share_grammar(&s, k->sequences[q].sequence->grammar, k->sequences[q].main.terminals,
                              k->sequences[q].sequence->table.n_terminals, &trip_of);
    }
    Nodes n = {.n_terminals = r->signatures->len, .n_bodies = s.bodies->len, .trips = s.trips};
    uint32_t first_end = n.n_terminals + n.n_bodies;
    RuleRow row = {0};
    /* the limit of a grammar's terminals */
    good = good && (uint64_t)n.n_terminals + 2 * (uint64_t)n.n_bodies < INT32_MAX;
    good = good && compress_bodies(&s, n.n_terminals, first_end, &row)
           && cut_bodies(&n, &row, first_end);
    if (good) {
        uint32_t *starts = (uint32_t *)(void *)s.starts->data;
        uint32_t at = 0;
        for (uint32_t i = 0; i < s.starts->len; i++)
            starts[i] = behind(&n, starts[i]);
        emit_rules(r, &n, starts, s.starts->len);
        for (uint32_t i = 0; i < r->classes->len; i++) {
            RecordedClass *k = &VECTOR_AT(r->classes, RecordedClass, i);
            for (uint32_t q = 0; q < k->class->n_sequences; q++)
                k->sequences[q].rule = starts[at++];
        }
    }
    for (uint32_t i = 0; n.nodes && i < n.n_nodes; i++)
        memory_free(n.nodes[i].symbols);
    memory_free(n.nodes);
    rules_clear(&row);
    for (uint32_t i = 0; i < s.bodies->len; i++)
        memory_free(VECTOR_AT(s.bodies, Rule, i).symbols);
    vector_unref(s.bodies);
    vector_unref(s.starts);
    vector_unref(s.trips);
    map_unref(s.by_content);
    return good;
}

/* -- the whole -- */

static int by_lowest(const void *a, const void *b)
{
    uint32_t x = rankset_lowest(&((const RecordedClass *)a)->class->ranks),
             y = rankset_lowest(&((const RecordedClass *)b)->class->ranks);
    return x < y ? -1 : x > y;
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = (*(RecordedClass *const *)a)->class->ranks.n,
             y = (*(RecordedClass *const *)b)->class->ranks.n;
    return x != y ? (x < y ? 1 : -1)
                  : by_lowest(*(RecordedClass *const *)a, *(RecordedClass *const *)b);
}

static int polls_by_lowest(const void *a, const void *b)
{
    uint32_t x = rankset_lowest(&(*(PollTable *const *)a)->ranks),
             y = rankset_lowest(&(*(PollTable *const *)b)->ranks);
    return x < y ? -1 : x > y;
}

static void put_in_order(WendMerge *m, Recording *r)
{
    for (uint32_t i = 0; i < m->classes->len; i++) {
        Class *class = VECTOR_POINTER(m->classes, i);
        RecordedClass k = {.class = class,
                           .variants = map_get(r->variants, class),
                           .sequences = NEW0(RecordedSequence, class->n_sequences + 1)};
        for (uint32_t q = 0; q < k.class->n_sequences; q++) {
            Sequence *s = &k.class->sequences[q];
            k.sequences[q].sequence = s;
            vector_sort(s->poll_tables, polls_by_lowest);
            k.sequences[q].polls = NEW0(TableMap, s->poll_tables->len + 1);
            contents_sort(&s->poll_grammars);
            for (uint32_t o = 0; o < s->table.n_shapes; o++)
                contents_sort(&s->outcomes[o]);
        }
        VECTOR_APPEND(r->classes, k);
    }
    vector_sort(r->classes, by_lowest);
}

/* Large classes come first: their expressions are certain, and those of single ranks follow
 * them. */
static bool share_tables(TerminalSharing *sharing)
{
    AUTO(Vector) order = vector_of_pointers(NULL);
    for (uint32_t i = 0; i < sharing->r->classes->len; i++)
        vector_add(order, &VECTOR_AT(sharing->r->classes, RecordedClass, i));
    vector_sort(order, by_size);
    for (uint32_t i = 0; i < order->len; i++) {
        const Class *k = ((const RecordedClass *)VECTOR_POINTER(order, i))->class;
        for (uint32_t q = 0; q < k->n_sequences; q++)
            sharing->n_tables += 1 + k->sequences[q].poll_tables->len;
    }
    for (int polls = 0; polls < 2; polls++)
        for (uint32_t i = 0; i < order->len; i++) {
            RecordedClass *k = VECTOR_POINTER(order, i);
            for (uint32_t q = 0; q < k->class->n_sequences; q++) {
                RecordedSequence *s = &k->sequences[q];
                if (!polls
                    && !share_table(sharing, &s->sequence->table, &k->class->ranks, &s->main))
                    return false;
                for (uint32_t p = 0; polls && p < s->sequence->poll_tables->len; p++) {
                    const PollTable *t = VECTOR_POINTER(s->sequence->poll_tables, p);
                    if (!share_table(sharing, &t->table, &t->ranks, &s->polls[p]))
                        return false;
                }
            }
        }
    return true;
}

/* Orders terminals by shape, so that their slots can be encoded column by column (write.c). */
static void sort_terminals(Recording *r)
{
    uint32_t n = r->signatures->len;
    AUTOFREE uint32_t *first = NEW0(uint32_t, r->shapes->len + 1), *number = NEW(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        first[VECTOR_AT(r->signatures, Signature, i).shape + 1]++;
    for (uint32_t s = 0; s < r->shapes->len; s++)
        first[s + 1] += first[s];
    for (uint32_t i = 0; i < n; i++)
        number[i] = first[VECTOR_AT(r->signatures, Signature, i).shape]++;
    Vector *sorted = vector_new(sizeof(Signature));
    vector_resize(sorted, n);
    for (uint32_t i = 0; i < n; i++)
        VECTOR_AT(sorted, Signature, number[i]) = VECTOR_AT(r->signatures, Signature, i);
    vector_unref(r->signatures);
    r->signatures = sorted;
    for (uint32_t i = 0; i < r->classes->len; i++) {
        RecordedClass *k = &VECTOR_AT(r->classes, RecordedClass, i);
        for (uint32_t q = 0; q < k->class->n_sequences; q++) {
            RecordedSequence *s = &k->sequences[q];
            for (uint32_t t = 0; t < s->sequence->table.n_terminals; t++)
                s->main.terminals[t] = number[s->main.terminals[t]];
            for (uint32_t p = 0; p < s->sequence->poll_tables->len; p++) {
                const PollTable *polls = VECTOR_POINTER(s->sequence->poll_tables, p);
                for (uint32_t t = 0; t < polls->table.n_terminals; t++)
                    s->polls[p].terminals[t] = number[s->polls[p].terminals[t]];
            }
        }
    }
}

Recording *recording_share_terminals(WendMerge *m, Error **error)
{
    Recording *r = NEW0(Recording, 1);
    r->merge = m;
    r->shapes = vector_new(sizeof(ShapeRow));
    r->signatures = vector_new(sizeof(Signature));
    r->rules = vector_new(sizeof(Rule));
    r->classes = vector_new(sizeof(RecordedClass));
    r->variants = variants_join(m);
    if (!r->variants || !class_alignment_align(m, r->variants)) {
        recording_free(r);
        error_set(error, WEND_ERROR_INPUT, "a rank's grammar is damaged");
        return NULL;
    }
    put_in_order(m, r);

    TerminalSharing sharing = {.r = r};
    sharing.shapes = map_of_bytes(NULL);
    sharing.signatures = map_new(NULL, NULL, NULL, NULL);
    layout_init(&sharing.layout);
    bool tables = share_tables(&sharing);
    layout_clear(&sharing.layout);
    map_unref(sharing.shapes);
    map_unref(sharing.signatures);
    if (tables)
        sort_terminals(r);
    if (tables && share_rules(r))
        return r;
    recording_free(r);
    error_set(error, WEND_ERROR_INPUT,
              tables ? "a rank's grammar is damaged, or memory is short"
                     : "a rank recorded a call whose words do not fit its function");
    return NULL;
}

void recording_free(Recording *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->shapes->len; i++)
        memory_free(VECTOR_AT(r->shapes, ShapeRow, i).words);
    for (uint32_t i = 0; i < r->rules->len; i++)
        memory_free(VECTOR_AT(r->rules, Rule, i).symbols);
    for (uint32_t i = 0; i < r->classes->len; i++) {
        RecordedClass *k = &VECTOR_AT(r->classes, RecordedClass, i);
        for (uint32_t q = 0; q < k->class->n_sequences; q++) {
            RecordedSequence *s = &k->sequences[q];
            memory_free(s->main.shapes);
            memory_free(s->main.terminals);
            for (uint32_t p = 0; p < s->sequence->poll_tables->len; p++) {
                memory_free(s->polls[p].shapes);
                memory_free(s->polls[p].terminals);
            }
            memory_free(s->polls);
        }
        memory_free(k->sequences);
    }
    CLEAR(r->variants, map_unref);
    vector_unref(r->shapes);
    vector_unref(r->signatures);
    vector_unref(r->rules);
    vector_unref(r->classes);
    memory_free(r);
}
