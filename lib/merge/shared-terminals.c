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
    GHashTable *shapes;     /* words (GBytes) -> number + 1 */
    GHashTable *signatures; /* hash (signature_key) -> number + 1, of the first that has it */
    guint n_tables;         /* tables that remain; the signatures of the last one are not entered */
    Layout layout;
} TerminalSharing;

static guint32 share_shape(TerminalSharing *sharing, const ShapeRow *shape)
{
    g_autoptr(GBytes) key = g_bytes_new(shape->words, shape->n * sizeof(gint64));
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(sharing->shapes, key));
    if (number)
        return number - 1;
    ShapeRow copy = {shape->n, g_memdup2(shape->words, shape->n * sizeof(gint64))};
    g_array_append_val(sharing->r->shapes, copy);
    g_hash_table_insert(sharing->shapes, g_steal_pointer(&key),
                        GUINT_TO_POINTER(sharing->r->shapes->len));
    return sharing->r->shapes->len - 1;
}

/* -- terminals -- */

enum { PREFER_SELF_FIRST = 1, PREFER_SELF_RANKS = 2, PREFERENCES = 4 };

static gboolean is_open(const RankVector *v)
{
    return rank_vector_is_constant(v) && rank_vector_is_relative(v);
}

/* A hash by which a signature is found. A class of one rank fits both a constant and self + k. For
 * slot 0 (self) and for parameters that are ranks both are tried; for all others the constant is
 * likely. Two signatures with one hash (1 in 2^64) do not become one, but one of them is not
 * found. */
static gpointer signature_key(guint32 shape, const RankVector *slots, guint n, const RankSet *ranks,
                              const gboolean *is_rank, int preference)
{
    WendBuf b = WEND_BUF_INIT;
    gboolean deltas = FALSE;
    wend_buf_unsigned(&b, shape);
    for (guint i = 0; i < n; i++) {
        RankVector v = slots[i];
        gboolean self = i == 0 ? (preference & PREFER_SELF_FIRST) != 0
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
    guint64 hash = XXH3_64bits(b.data, b.len);
    wend_buf_clear(&b);
    return GSIZE_TO_POINTER((gsize)hash);
}

static gboolean fits(const Signature *s, guint32 shape, const RankVector *slots, guint n,
                     const RankSet *ranks)
{
    gboolean deltas = FALSE;
    if (s->shape != shape || s->n_slots != n)
        return FALSE;
    for (guint i = 0; i < s->n_slots; i++) {
        gboolean is_deltas = rank_vector_is_deltas(&slots[i]);
        deltas |= is_deltas;
        if (!rank_vector_joins(&s->slots[i], &slots[i])
            && !(is_deltas && rank_vector_equal(&s->slots[i], &slots[i])))
            return FALSE;
    }
    return !deltas || rankset_equal(s->ranks, ranks);
}

/* Adds a strided terminal, which no other class shares. */
static gboolean share_strided(TerminalSharing *sharing, guint32 shape, RankVector *slots, guint n,
                              const Strided *strided, guint32 *number)
{
    const ShapeRow *row = &g_array_index(sharing->r->shapes, ShapeRow, shape);
    if (!layout_fits(&sharing->layout, &wend_functions[row->words[0] / 2], row->words, row->n, n))
        return FALSE;
    const Signature s = {.shape = shape, .n_slots = n, .slots = slots, .strided = strided};
    g_array_append_val(sharing->r->signatures, s);
    *number = sharing->r->signatures->len - 1;
    return TRUE;
}

static gboolean share_terminal(TerminalSharing *sharing, guint32 shape, RankVector *slots, guint n,
                               const RankSet *ranks, guint32 *number)
{
    const ShapeRow *row = &g_array_index(sharing->r->shapes, ShapeRow, shape);
    const WendFunction *f = &wend_functions[row->words[0] / 2];
    g_autofree gboolean *is_rank = g_new0(gboolean, n + 1);
    if (!layout_fits(&sharing->layout, f, row->words, row->n, n))
        return FALSE;
    gboolean open = FALSE, deltas = FALSE;
    for (guint i = 0; i < n; i++) {
        is_rank[i] =
            f->params[g_array_index(sharing->layout.slot_param, gint16, i)].kind == WEND_KIND_RANK;
        open |= is_open(&slots[i]);
        deltas |= rank_vector_is_deltas(&slots[i]);
    }
    gpointer keys[PREFERENCES];
    int n_keys = open ? PREFERENCES : 1;
    Signature *found = NULL;
    for (int k = 0; k < n_keys; k++)
        keys[k] = signature_key(shape, slots, n, ranks, is_rank, PREFERENCES - 1 - k);
    for (int k = 0; k < n_keys && !found; k++) {
        guint known = GPOINTER_TO_UINT(g_hash_table_lookup(sharing->signatures, keys[k]));
        if (!known)
            continue;
        Signature *s = &g_array_index(sharing->r->signatures, Signature, known - 1);
        if (fits(s, shape, slots, n, ranks)) {
            found = s;
            *number = known - 1;
        }
    }
    if (found) {
        for (guint i = 0; i < n; i++)
            rank_vector_join(&found->slots[i], &slots[i]);
    } else {
        Signature s = {
            .shape = shape, .n_slots = n, .slots = slots, .ranks = deltas ? ranks : NULL};
        g_array_append_val(sharing->r->signatures, s);
        *number = sharing->r->signatures->len - 1;
    }
    for (int k = 0; k < n_keys && !found && sharing->n_tables > 0; k++)
        if (!g_hash_table_contains(sharing->signatures, keys[k]))
            g_hash_table_insert(sharing->signatures, keys[k], GUINT_TO_POINTER(*number + 1));
    return TRUE;
}

static gboolean share_table(TerminalSharing *sharing, const Table *t, const RankSet *ranks,
                            TableMap *map)
{
    ShapeRow *shapes = table_shapes(t);
    map->shapes = g_new(guint32, t->n_shapes + 1);
    map->terminals = g_new0(guint32, t->n_terminals + 1);
    for (guint i = 0; i < t->n_shapes; i++)
        map->shapes[i] = share_shape(sharing, &shapes[i]);
    table_shapes_free(shapes, t->n_shapes);
    sharing->n_tables--;
    for (guint i = 0; i < t->n_terminals; i++) {
        const Strided *strided = table_strided(t, i);
        guint32 shape = map->shapes[t->terminal_shape[i]], *number = &map->terminals[i];
        RankVector *slots = &t->slots[t->first_slot[i]];
        guint n = t->first_slot[i + 1] - t->first_slot[i];
        if (!(strided ? share_strided(sharing, shape, slots, n, strided, number)
                      : share_terminal(sharing, shape, slots, n, t->ranks ? &t->ranks[i] : ranks,
                                       number)))
            return FALSE;
    }
    return TRUE;
}

/* -- rules -- */

/* The state of sharing rules. Symbols of a grammar are numbered: first the terminals, then the
 * bodies, then their ends. */
typedef struct {
    /* Rule over terminals and bodies: the shared rules and the start of each sequence */
    GArray *bodies;
    GHashTable *by_content; /* GBytes -> number + 1 */
    GArray *starts;         /* guint32: number of the body of each sequence's start */
    /* WendSymbol over terminals and bodies: the symbols of all bodies that have a trip count */
    GArray *trips;
    GHashTable *unrolled; /* number of an unrolled body + 1 -> UnrolledRule */
} RuleSharing;

static guint32 share_body(RuleSharing *s, const Rule *rule, const guint32 *terminals,
                          const guint32 *body_of, gboolean start)
{
    WendSymbol *symbols = g_new(WendSymbol, rule->n + 1);
    WendBuf b = WEND_BUF_INIT;
    for (guint i = 0; i < rule->n; i++) {
        symbols[i] = rule->symbols[i];
        symbols[i].id = symbols[i].is_rule ? body_of[symbols[i].id] : terminals[symbols[i].id];
        wend_buf_unsigned(&b, (guint64)symbols[i].id << 1 | (symbols[i].is_rule ? 1 : 0));
        wend_buf_unsigned(&b, symbols[i].repeats);
    }
    g_autoptr(GBytes) key = g_bytes_new(b.data, b.len);
    wend_buf_clear(&b);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(s->by_content, key));
    if (known) {
        g_free(symbols);
        if (start)
            g_array_append_vals(s->starts, (guint32[]){known - 1}, 1);
        return known - 1;
    }
    Rule body = {rule->n, symbols};
    g_array_append_val(s->bodies, body);
    guint32 number = s->bodies->len - 1;
    g_hash_table_insert(s->by_content, g_steal_pointer(&key), GUINT_TO_POINTER(number + 1));
    if (start)
        g_array_append_val(s->starts, number);
    return number;
}

/* Adds an unrolled body, which is not shared. */
static guint32 add_unrolled(RuleSharing *s, const RecordedSequence *sequence, guint32 rule)
{
    const Unrolling *u = sequence->unrolling;
    Rule body = unrolling_summary(u, rule);
    for (guint i = 0; i < body.n; i++)
        body.symbols[i].id = body.symbols[i].is_rule ? u->number[body.symbols[i].id]
                                                     : sequence->main.terminals[body.symbols[i].id];
    g_array_append_val(s->bodies, body);
    UnrolledRule *one = g_new(UnrolledRule, 1);
    *one = (UnrolledRule){sequence, rule};
    g_hash_table_insert(s->unrolled, GUINT_TO_POINTER(s->bodies->len), one);
    return s->bodies->len - 1;
}

static gboolean share_unrolled(RuleSharing *s, const RecordedSequence *sequence)
{
    const Unrolling *u = sequence->unrolling;
    guint n;
    g_autofree guint32 *order = rules_bottom_up(&u->row, &n);
    for (guint i = 0; order && i < n; i++) {
        guint32 rule = order[i];
        if (u->kind[rule] == UNROLLED_INLINE)
            continue;
        u->number[rule] =
            u->kind[rule] == UNROLLED_WHOLE
                ? add_unrolled(s, sequence, rule)
                : share_body(s, &u->row.rules[rule], sequence->main.terminals, u->number, FALSE);
        if (rule == 0)
            g_array_append_val(s->starts, u->number[rule]);
    }
    return order != NULL;
}

/* *TRIP_OF (or NULL) is as in Variants, and is moved behind the symbols of this grammar. */
static gboolean share_grammar(RuleSharing *s, GBytes *grammar, const guint32 *terminals,
                              guint32 n_terminals, const guint32 **trip_of)
{
    RuleRow row;
    if (!rules_from(&row, grammar, n_terminals))
        return FALSE;
    for (guint i = 0; *trip_of && i < row.n_rules; i++)
        for (guint k = 0; k < row.rules[i].n; k++, ++*trip_of)
            if (**trip_of)
                row.rules[i].symbols[k].repeats = RULE_TRIP + **trip_of - 1;
    guint n;
    guint32 *order = rules_bottom_up(&row, &n);
    guint32 *body_of = g_new0(guint32, row.n_rules);
    for (guint i = 0; order && i < n; i++)
        body_of[order[i]] = share_body(s, &row.rules[order[i]], terminals, body_of, order[i] == 0);
    gboolean whole = order != NULL;
    g_free(order);
    g_free(body_of);
    rules_clear(&row);
    return whole;
}

/* Applies Sequitur to all bodies and fills the row of rules. Rule 0 has the bodies one after the
 * other, each ended by a terminal from FIRST_END on. A symbol with a trip count becomes a terminal
 * of its own, behind the ends, so that it is not changed. */
static gboolean compress_bodies(RuleSharing *s, guint32 n_terminals, guint32 first_end,
                                RuleRow *row)
{
    WendGrammar *g = wend_grammar_new();
    gboolean good = g != NULL;
    for (guint i = 0; i < s->bodies->len && good; i++) {
        const Rule *body = &g_array_index(s->bodies, Rule, i);
        /* An unrolled body has its symbols in no order. */
        gboolean unrolled = g_hash_table_contains(s->unrolled, GUINT_TO_POINTER(i + 1));
        for (guint k = 0; !unrolled && k < body->n && good; k++) {
            const WendSymbol *y = &body->symbols[k];
            if (y->repeats & RULE_TRIP) {
                guint64 terminal = (guint64)first_end + s->bodies->len + s->trips->len;
                good = terminal < G_MAXINT32 && wend_grammar_append(g, (guint32)terminal, 1);
                g_array_append_val(s->trips, *y);
            } else {
                good = wend_grammar_append(g, y->is_rule ? n_terminals + y->id : y->id, y->repeats);
            }
        }
        good = good && wend_grammar_append(g, first_end + i, 1);
    }
    WendBuf b = WEND_BUF_INIT;
    if (good)
        wend_grammar_end(g, &b);
    else
        wend_grammar_free(g);
    WendCursor c = wend_cursor(b.data, b.len);
    good = good && !b.failed
           && rules_read(row, &c, first_end + s->bodies->len + s->trips->len, RULES_PLAIN);
    wend_buf_clear(&b);
    return good;
}

/* The nodes of which the rules of the recording are made. Node n < N_BODIES is body n. Node
 * N_BODIES + q is rule q of Sequitur. */
typedef struct {
    guint32 n_terminals, n_bodies;
    const GArray *trips; /* RuleSharing.trips */
    Rule *nodes;
    guint32 n_nodes;
} Nodes;

static WendSymbol node_symbol(const Nodes *n, WendSymbol s)
{
    if (s.is_rule)
        s.id += n->n_bodies;
    else if (s.id >= n->n_terminals + 2 * n->n_bodies)
        s = g_array_index(n->trips, WendSymbol, s.id - n->n_terminals - 2 * n->n_bodies);
    else if (s.id >= n->n_terminals) {
        s.is_rule = TRUE;
        s.id -= n->n_terminals;
    }
    return s;
}

static gboolean cut_bodies(Nodes *n, const RuleSharing *s, const RuleRow *row, guint32 first_end)
{
    n->n_nodes = n->n_bodies + row->n_rules;
    n->nodes = g_new0(Rule, n->n_nodes);
    const Rule *all = &row->rules[0];
    guint at = 0;
    for (guint32 body = 0; body < n->n_bodies; body++) {
        guint end = at;
        while (end < all->n
               && (all->symbols[end].is_rule || all->symbols[end].id < first_end
                   || all->symbols[end].id >= first_end + n->n_bodies))
            end++;
        if (end == all->n || all->symbols[end].id != first_end + body)
            return FALSE;
        n->nodes[body] = (Rule){end - at, g_new(WendSymbol, end - at + 1)};
        for (guint k = at; k < end; k++)
            n->nodes[body].symbols[k - at] = node_symbol(n, all->symbols[k]);
        at = end + 1;
        if (!g_hash_table_contains(s->unrolled, GUINT_TO_POINTER(body + 1)))
            continue;
        const Rule *unrolled = &g_array_index(s->bodies, Rule, body);
        g_free(n->nodes[body].symbols);
        n->nodes[body] =
            (Rule){unrolled->n, g_memdup2(unrolled->symbols, unrolled->n * sizeof(WendSymbol))};
    }
    for (guint q = 1; q < row->n_rules; q++) {
        Rule *node = &n->nodes[n->n_bodies + q];
        *node = (Rule){row->rules[q].n, g_new(WendSymbol, row->rules[q].n + 1)};
        for (guint k = 0; k < node->n; k++)
            node->symbols[k] = node_symbol(n, row->rules[q].symbols[k]);
    }
    return TRUE;
}

/* If a body became one use of another rule, returns that rule. */
static guint32 behind(const Nodes *n, guint32 node)
{
    for (guint32 steps = 0; steps < n->n_nodes; steps++) {
        const Rule *rule = &n->nodes[node];
        if (rule->n != 1 || !rule->symbols[0].is_rule || rule->symbols[0].repeats != 1)
            break;
        node = rule->symbols[0].id;
    }
    return node;
}

/* Appends START and the nodes that it uses, directly or not, to ORDER, each after the nodes that it
 * uses. PLACED nodes are left out. */
static void append_below(const Nodes *n, guint32 start, guint8 *placed, GArray *order)
{
    typedef struct {
        guint32 node;
        guint at;
    } Frame;
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(Frame));
    Frame next = {start, 0};
    if (!placed[start])
        g_array_append_val(stack, next);
    while (stack->len) {
        Frame *top = &g_array_index(stack, Frame, stack->len - 1);
        const Rule *rule = &n->nodes[top->node];
        for (; top->at < rule->n; top->at++) {
            if (!rule->symbols[top->at].is_rule)
                continue;
            next.node = behind(n, rule->symbols[top->at].id);
            if (!placed[next.node])
                break;
        }
        if (top->at < rule->n) {
            g_array_append_val(stack, next);
            continue;
        }
        g_array_append_val(order, top->node);
        placed[top->node] = 1;
        g_array_set_size(stack, stack->len - 1);
    }
}

/* All nodes that STARTS need (guint32), each after the nodes that it uses. */
static GArray *nodes_bottom_up(const Nodes *n, const guint32 *starts, guint n_starts)
{
    g_autofree guint8 *placed = g_new0(guint8, n->n_nodes + 1);
    GArray *order = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < n_starts; i++)
        append_below(n, starts[i], placed, order);
    return order;
}

/* By node: how deep its rules are nested. The caller frees the result. */
static guint32 *node_heights(const Nodes *n, const guint32 *starts, guint n_starts)
{
    guint32 *height = g_new0(guint32, n->n_nodes + 1);
    g_autoptr(GArray) order = nodes_bottom_up(n, starts, n_starts);
    for (guint i = 0; i < order->len; i++) {
        guint32 node = g_array_index(order, guint32, i), most = 0;
        for (guint k = 0; k < n->nodes[node].n; k++)
            if (n->nodes[node].symbols[k].is_rule)
                most = MAX(most, height[behind(n, n->nodes[node].symbols[k].id)]);
        height[node] = most + 1;
    }
    return height;
}

static gint by_height(gconstpointer a, gconstpointer b, gpointer data)
{
    const guint32 *height = data, x = height[*(const guint32 *)a], y = height[*(const guint32 *)b];
    return x < y ? -1 : x > y;
}

/* Renumbers the rules of an unrolled grammar from bodies to rules of the recording. */
static void number_unrolled(Recording *r, const Nodes *n, const guint32 *number)
{
    for (guint i = 0; i < r->classes->len; i++) {
        const RecordedClass *k = &g_array_index(r->classes, RecordedClass, i);
        for (guint q = 0; q < k->class->n_sequences; q++) {
            Unrolling *u = k->sequences[q].unrolling;
            for (guint rule = 0; u && rule < u->row.n_rules; rule++)
                if (u->kind[rule] != UNROLLED_INLINE)
                    u->number[rule] = number[behind(n, u->number[rule])];
        }
    }
}

/* Makes the rules of the recording. Rules of less depth come first: if a program communicates along
 * a tree, each level adds to the level before, and the writer encodes the difference. STARTS: by
 * sequence, its node, which becomes its rule. */
static void emit_rules(Recording *r, const Nodes *n, const RuleSharing *s, guint32 *starts,
                       guint n_starts)
{
    g_autofree guint32 *height = node_heights(n, starts, n_starts),
                       *number = g_new0(guint32, n->n_nodes + 1);
    g_autofree guint32 *sorted = g_memdup2(starts, n_starts * sizeof *starts);
    g_qsort_with_data(sorted, (gint)n_starts, sizeof *sorted, by_height, height); /* stable */
    g_autoptr(GArray) order = nodes_bottom_up(n, sorted, n_starts);
    for (guint i = 0; i < order->len; i++) {
        guint32 node = g_array_index(order, guint32, i);
        const Rule *rule = &n->nodes[node];
        Rule out = {rule->n, g_memdup2(rule->symbols, rule->n * sizeof(WendSymbol))};
        for (guint k = 0; k < out.n; k++)
            if (out.symbols[k].is_rule)
                out.symbols[k].id = number[behind(n, out.symbols[k].id)];
        number[node] = r->rules->len;
        g_array_append_val(r->rules, out);
        gpointer key = GUINT_TO_POINTER(node + 1),
                 unrolled = node < n->n_bodies ? g_hash_table_lookup(s->unrolled, key) : NULL;
        if (!unrolled)
            continue;
        g_hash_table_steal(s->unrolled, key);
        g_hash_table_insert(r->unrolled, GUINT_TO_POINTER(number[node]), unrolled);
    }
    for (guint i = 0; i < n_starts; i++)
        starts[i] = number[starts[i]];
    number_unrolled(r, n, number);
}

static gboolean share_rules(Recording *r)
{
    RuleSharing s = {
        g_array_new(FALSE, FALSE, sizeof(Rule)),
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL),
        g_array_new(FALSE, FALSE, sizeof(guint32)), g_array_new(FALSE, FALSE, sizeof(WendSymbol)),
        g_hash_table_new_full(NULL, NULL, NULL, g_free)};
    gboolean good = TRUE;
    for (guint i = 0; i < r->classes->len && good; i++) {
        RecordedClass *k = &g_array_index(r->classes, RecordedClass, i);
        const guint32 *trip_of = k->variants ? k->variants->trip_of : NULL;
        for (guint q = 0; q < k->class->n_sequences && good; q++)
            good = k->sequences[q].unrolling
                       ? share_unrolled(&s, &k->sequences[q])
                       : share_grammar(&s, k->sequences[q].sequence->grammar,
                                       k->sequences[q].main.terminals,
                                       k->sequences[q].sequence->table.n_terminals, &trip_of);
    }
    Nodes n = {.n_terminals = r->signatures->len, .n_bodies = s.bodies->len, .trips = s.trips};
    guint32 first_end = n.n_terminals + n.n_bodies;
    RuleRow row = {0};
    /* the limit of a grammar's terminals */
    good = good && (guint64)n.n_terminals + 2 * (guint64)n.n_bodies < G_MAXINT32;
    good = good && compress_bodies(&s, n.n_terminals, first_end, &row)
           && cut_bodies(&n, &s, &row, first_end);
    if (good) {
        guint32 *starts = (guint32 *)(gpointer)s.starts->data;
        guint at = 0;
        for (guint i = 0; i < s.starts->len; i++)
            starts[i] = behind(&n, starts[i]);
        emit_rules(r, &n, &s, starts, s.starts->len);
        for (guint i = 0; i < r->classes->len; i++) {
            RecordedClass *k = &g_array_index(r->classes, RecordedClass, i);
            for (guint q = 0; q < k->class->n_sequences; q++)
                k->sequences[q].rule = starts[at++];
        }
    }
    for (guint32 i = 0; n.nodes && i < n.n_nodes; i++)
        g_free(n.nodes[i].symbols);
    g_free(n.nodes);
    rules_clear(&row);
    for (guint i = 0; i < s.bodies->len; i++)
        g_free(g_array_index(s.bodies, Rule, i).symbols);
    g_array_unref(s.bodies);
    g_array_unref(s.starts);
    g_array_unref(s.trips);
    g_hash_table_unref(s.by_content);
    g_hash_table_unref(s.unrolled);
    return good;
}

/* -- the whole -- */

static gint by_lowest(gconstpointer a, gconstpointer b)
{
    guint32 x = rankset_lowest(&((const RecordedClass *)a)->class->ranks),
            y = rankset_lowest(&((const RecordedClass *)b)->class->ranks);
    return x < y ? -1 : x > y;
}

static gint by_size(gconstpointer a, gconstpointer b)
{
    guint32 x = (*(RecordedClass *const *)a)->class->ranks.n,
            y = (*(RecordedClass *const *)b)->class->ranks.n;
    return x != y ? (x < y ? 1 : -1)
                  : by_lowest(*(RecordedClass *const *)a, *(RecordedClass *const *)b);
}

static gint polls_by_lowest(gconstpointer a, gconstpointer b)
{
    guint32 x = rankset_lowest(&(*(PollTable *const *)a)->ranks),
            y = rankset_lowest(&(*(PollTable *const *)b)->ranks);
    return x < y ? -1 : x > y;
}

static void free_unrollings(const RecordedClass *k)
{
    for (guint q = 0; q < k->class->n_sequences; q++)
        g_clear_pointer(&k->sequences[q].unrolling, unrolling_free);
}

/* Unrolls the classes. If one cannot be unrolled, its strided terminals are replaced. */
static gboolean unroll(const RecordedClass *k, Class *class)
{
    gboolean good = TRUE;
    for (guint q = 0; good && q < class->n_sequences; q++) {
        const Sequence *s = &class->sequences[q];
        if (!s->table.strided)
            continue;
        k->sequences[q].unrolling = unrolling_new(s);
        good = k->sequences[q].unrolling != NULL;
    }
    if (good)
        return TRUE;
    free_unrollings(k);
    return class_spread(class);
}

static gboolean put_in_order(WendMerge *m, Recording *r)
{
    gboolean good = TRUE;
    for (guint i = 0; i < m->classes->len; i++) {
        Class *class = g_ptr_array_index(m->classes, i);
        RecordedClass k = {.class = class,
                           .variants = g_hash_table_lookup(r->variants, class),
                           .sequences = g_new0(RecordedSequence, class->n_sequences + 1)};
        good = unroll(&k, class) && good;
        for (guint q = 0; q < k.class->n_sequences; q++) {
            Sequence *s = &k.class->sequences[q];
            k.sequences[q].sequence = s;
            g_ptr_array_sort(s->poll_tables, polls_by_lowest);
            k.sequences[q].polls = g_new0(TableMap, s->poll_tables->len + 1);
            contents_sort(&s->poll_grammars);
            for (guint o = 0; o < s->table.n_shapes; o++)
                contents_sort(&s->outcomes[o]);
        }
        g_array_append_val(r->classes, k);
    }
    g_array_sort(r->classes, by_lowest);
    return good;
}

/* Large classes come first: their expressions are certain, and those of single ranks follow
 * them. */
static gboolean share_tables(TerminalSharing *sharing)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    for (guint i = 0; i < sharing->r->classes->len; i++)
        g_ptr_array_add(order, &g_array_index(sharing->r->classes, RecordedClass, i));
    g_ptr_array_sort(order, by_size);
    for (guint i = 0; i < order->len; i++) {
        const Class *k = ((const RecordedClass *)g_ptr_array_index(order, i))->class;
        for (guint q = 0; q < k->n_sequences; q++)
            sharing->n_tables += 1 + k->sequences[q].poll_tables->len;
    }
    for (int polls = 0; polls < 2; polls++)
        for (guint i = 0; i < order->len; i++) {
            RecordedClass *k = g_ptr_array_index(order, i);
            for (guint q = 0; q < k->class->n_sequences; q++) {
                RecordedSequence *s = &k->sequences[q];
                if (!polls
                    && !share_table(sharing, &s->sequence->table, &k->class->ranks, &s->main))
                    return FALSE;
                for (guint p = 0; polls && p < s->sequence->poll_tables->len; p++) {
                    const PollTable *t = g_ptr_array_index(s->sequence->poll_tables, p);
                    if (!share_table(sharing, &t->table, &t->ranks, &s->polls[p]))
                        return FALSE;
                }
            }
        }
    return TRUE;
}

/* Orders terminals by shape, so that their slots can be encoded column by column (write.c). */
static void sort_terminals(Recording *r)
{
    guint n = r->signatures->len;
    g_autofree guint32 *first = g_new0(guint32, r->shapes->len + 1),
                       *number = g_new(guint32, n + 1);
    for (guint i = 0; i < n; i++)
        first[g_array_index(r->signatures, Signature, i).shape + 1]++;
    for (guint s = 0; s < r->shapes->len; s++)
        first[s + 1] += first[s];
    for (guint i = 0; i < n; i++)
        number[i] = first[g_array_index(r->signatures, Signature, i).shape]++;
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(Signature));
    g_array_set_size(sorted, n);
    for (guint i = 0; i < n; i++)
        g_array_index(sorted, Signature, number[i]) = g_array_index(r->signatures, Signature, i);
    g_array_unref(r->signatures);
    r->signatures = sorted;
    for (guint i = 0; i < r->classes->len; i++) {
        RecordedClass *k = &g_array_index(r->classes, RecordedClass, i);
        for (guint q = 0; q < k->class->n_sequences; q++) {
            RecordedSequence *s = &k->sequences[q];
            for (guint t = 0; t < s->sequence->table.n_terminals; t++)
                s->main.terminals[t] = number[s->main.terminals[t]];
            for (guint p = 0; p < s->sequence->poll_tables->len; p++) {
                const PollTable *polls = g_ptr_array_index(s->sequence->poll_tables, p);
                for (guint t = 0; t < polls->table.n_terminals; t++)
                    s->polls[p].terminals[t] = number[s->polls[p].terminals[t]];
            }
        }
    }
}

/* FALSE: there are too many. */
static gboolean number_terminals(Recording *r)
{
    guint64 n = 0;
    r->numbers = g_new(guint32, r->signatures->len + 1);
    for (guint i = 0; i < r->signatures->len && n < G_MAXINT32; i++) {
        r->numbers[i] = (guint32)n;
        n += signature_count(&g_array_index(r->signatures, Signature, i));
    }
    r->numbers[r->signatures->len] = (guint32)n;
    return n < G_MAXINT32;
}

Recording *recording_share_terminals(WendMerge *m, GError **error)
{
    Recording *r = g_new0(Recording, 1);
    r->merge = m;
    r->shapes = g_array_new(FALSE, FALSE, sizeof(ShapeRow));
    r->signatures = g_array_new(FALSE, FALSE, sizeof(Signature));
    r->rules = g_array_new(FALSE, FALSE, sizeof(Rule));
    r->classes = g_array_new(FALSE, FALSE, sizeof(RecordedClass));
    r->unrolled = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    r->variants = variants_join(m);
    if (!r->variants || !class_alignment_align(m, r->variants) || !put_in_order(m, r)) {
        recording_free(r);
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "a rank's grammar is damaged");
        return NULL;
    }

    TerminalSharing sharing = {.r = r};
    sharing.shapes =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    sharing.signatures = g_hash_table_new(NULL, NULL);
    layout_init(&sharing.layout);
    gboolean tables = share_tables(&sharing);
    layout_clear(&sharing.layout);
    g_hash_table_unref(sharing.shapes);
    g_hash_table_unref(sharing.signatures);
    if (tables)
        sort_terminals(r);
    if (tables && number_terminals(r) && share_rules(r))
        return r;
    recording_free(r);
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT,
                tables ? "a rank's grammar is damaged, or memory is short"
                       : "a rank recorded a call whose words do not fit its function");
    return NULL;
}

void recording_free(Recording *r)
{
    if (!r)
        return;
    for (guint i = 0; i < r->shapes->len; i++)
        g_free(g_array_index(r->shapes, ShapeRow, i).words);
    for (guint i = 0; i < r->rules->len; i++)
        g_free(g_array_index(r->rules, Rule, i).symbols);
    for (guint i = 0; i < r->classes->len; i++) {
        RecordedClass *k = &g_array_index(r->classes, RecordedClass, i);
        free_unrollings(k);
        for (guint q = 0; q < k->class->n_sequences; q++) {
            RecordedSequence *s = &k->sequences[q];
            g_free(s->main.shapes);
            g_free(s->main.terminals);
            for (guint p = 0; p < s->sequence->poll_tables->len; p++) {
                g_free(s->polls[p].shapes);
                g_free(s->polls[p].terminals);
            }
            g_free(s->polls);
        }
        g_free(k->sequences);
    }
    g_clear_pointer(&r->variants, g_hash_table_unref);
    g_hash_table_unref(r->unrolled);
    g_free(r->numbers);
    g_array_unref(r->shapes);
    g_array_unref(r->signatures);
    g_array_unref(r->rules);
    g_array_unref(r->classes);
    g_free(r);
}
