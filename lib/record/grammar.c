/* SPDX-License-Identifier: BSD-3-Clause */
/* grammar.c: see grammar.h.
 *
 * Everything is a Node of one array, reached by index: symbols, and one guard for each rule. A
 * rule's body is a ring through its guard, the places where it is used are another ring. Digrams (a
 * symbol and the next, with repeats) are found through an open hash table of the left nodes. A
 * change to the grammar leaves work on a stack: "look at this node's digram", "look at this rule".
 * When the stack is empty all properties hold again. Operations do not call each other, so there is
 * no recursion, and none finds the grammar half changed.
 *
 * Cost: with s symbols and r rules, each operation (new rule, use of a rule, inlining, joining of
 * twins) lowers 3s - r, and an append raises it by 3; so there are at most 3 operations for each
 * append.
 *
 * Two cases have no code here: that a body shrinks to one symbol, and that a rule's body comes to
 * equal a digram elsewhere. They do not occur in any string of 22 symbols of 2 or of 14 of 3, nor
 * in a million random strings. If they did, the grammar would be larger, but right.
 *
 * There are two ways to append without a change to the grammar: see "The front" below. A grammar
 * that defers has a third for the terminals that neither takes. A call of an irregular program
 * comes when the application has used the caches, and each change would read a dozen lines of
 * memory again, the code among them. So DEFERRED terminals are appended together. */
#include "grammar.h"

#include <string.h>

#include "base/budget.h"

#define RULE 0x80000000u  /* id of a symbol: a terminal, or RULE | index of the rule's guard */
#define GUARD 0xffffffffu /* id of a guard */
#define DEAD 0xfffffffeu  /* id of a node in the free list */
#define MAX_NODES 0x7ffffff0u
#define GUESSES 128
#define DEFERRED 64
#define FIRST_NODES 32u
#define FIRST_DIGRAMS 64u
#define START 0 /* guard of the start rule; as a link: none */

typedef struct {
    uint32_t id;
    uint32_t prev, next;         /* in the body; guard: last and first symbol */
    uint32_t use_prev, use_next; /* symbol of a rule: ring of its uses; guard: the ring's head */
    /* guard: uses that closing the cursor will still add; they keep the rule */
    uint32_t pins;
    uint64_t exp; /* guard: first terminal of the rule's expansion */
} GrammarNode;

typedef struct {
    uint32_t node; /* START: empty */
    uint32_t hash;
} DigramEntry;

/* The cursor's position at one level: a symbol in a rule's body, and how many of its repetitions
 * are left, the present one included. */
typedef struct {
    uint32_t node;
    uint64_t left;
} GrammarFrame;

typedef struct {
    uint32_t id;
    uint32_t node; /* reserved for it, so that appending cannot fail */
    uint64_t exp;
} Symbol;

typedef struct {
    uint32_t rule; /* START: none */
    /* full passes minus failed ones: so guesses cost no more than the walks before them */
    uint64_t credit;
} Guess;

struct WendGrammar {
    /* The front. */
    /* the terminal that continues the open cursor or run; GUARD: none is open */
    uint32_t leaf;
    bool walking; /* the cursor is open, else a run is */
    uint8_t n_deferred, most_deferred;
    /* how often leaf may still come: of the cursor's leaf, or UINT64_MAX minus the run's length */
    uint64_t left;
    uint32_t rule;        /* the guard of the rule that the cursor walks */
    uint64_t passes;      /* the cursor's full passes, not yet in the grammar */
    GrammarFrame *frames; /* the cursor's stack; the last frame is the leaf, its count is in left */
    size_t n_frames, cap_frames;
    Symbol *partial; /* scratch: what the cursor has seen, as symbols */
    size_t n_partial, cap_partial;
    Guess guesses[GUESSES]; /* by first terminal: rules that the cursor has walked in a loop */

    /* The grammar. */
    GrammarNode *nodes;
    uint32_t n_nodes, cap_nodes, free_nodes; /* free_nodes: a list through next */
    DigramEntry *digrams;
    uint32_t n_digrams, mask;
    uint32_t *work;
    size_t n_work, cap_work;
    uint64_t length;
    WendResize resize;   /* where its memory comes from */
    uint32_t deferred[]; /* terminals that were appended and are not in the grammar yet */
};

/* -- memory -- */

static bool grow(const WendGrammar *g, void **array, size_t *cap, size_t size)
{
    size_t n = *cap ? *cap * 2 : 16;
    void *p = n > SIZE_MAX / 2 / size ? NULL : buf_resize(g->resize, *array, *cap * size, n * size);
    if (!p)
        return false;
    *array = p;
    *cap = n;
    return true;
}

/* Makes sure that COUNT calls of new_node succeed. */
static bool reserve_nodes(WendGrammar *g, size_t n)
{
    uint64_t cap = g->cap_nodes;
    if ((n == 1 && g->free_nodes != START) || n <= cap - g->n_nodes)
        return true;
    while (cap - g->n_nodes < n)
        cap *= 2;
    GrammarNode *nodes =
        cap <= MAX_NODES
            ? buf_resize(g->resize, g->nodes, g->cap_nodes * sizeof *nodes, cap * sizeof *nodes)
            : NULL;
    if (!nodes)
        return false;
    g->nodes = nodes;
    g->cap_nodes = (uint32_t)cap;
    return true;
}

static uint32_t new_node(WendGrammar *g)
{
    uint32_t n = g->free_nodes;
    if (n != START)
        g->free_nodes = g->nodes[n].next;
    else
        n = g->n_nodes++;
    return n;
}

static void free_node(WendGrammar *g, uint32_t n)
{
    g->nodes[n].id = DEAD;
    g->nodes[n].next = g->free_nodes;
    g->free_nodes = n;
}

/* If memory is short here, for a rule or for the table of digrams, the grammar becomes larger, but
 * stays right. */
static void push(WendGrammar *g, uint32_t node)
{
    if (g->n_work < g->cap_work || grow(g, (void **)&g->work, &g->cap_work, sizeof *g->work))
        g->work[g->n_work++] = node;
}

static size_t bytes_of(uint8_t most_deferred)
{
    return sizeof(WendGrammar) + most_deferred * sizeof(uint32_t);
}

static WendGrammar *grammar_make(uint8_t most_deferred)
{
    WendGrammar *g = budget_zeroed(bytes_of(most_deferred));
    if (!g)
        return NULL;
    g->most_deferred = most_deferred;
    g->resize = budget_resize;
    g->leaf = GUARD;
    g->nodes = budget_resize(NULL, 0, FIRST_NODES * sizeof *g->nodes);
    g->digrams = g->nodes ? budget_zeroed(FIRST_DIGRAMS * sizeof *g->digrams) : NULL;
    if (!g->digrams) {
        budget_free(g->nodes, g->nodes ? FIRST_NODES * sizeof *g->nodes : 0);
        budget_free(g, bytes_of(most_deferred));
        return NULL;
    }
    g->cap_nodes = FIRST_NODES;
    g->mask = FIRST_DIGRAMS - 1;
    g->nodes[START] = (GrammarNode){.id = GUARD};
    g->n_nodes = 1;
    return g;
}

WendGrammar *grammar_new(void)
{
    return grammar_make(0);
}

WendGrammar *grammar_new_deferring(void)
{
    return grammar_make(DEFERRED);
}

void grammar_free(WendGrammar *g)
{
    if (!g)
        return;
    WendResize resize = g->resize;
    buf_resize(resize, g->frames, g->cap_frames * sizeof *g->frames, 0);
    buf_resize(resize, g->partial, g->cap_partial * sizeof *g->partial, 0);
    buf_resize(resize, g->nodes, g->cap_nodes * sizeof *g->nodes, 0);
    buf_resize(resize, g->digrams, ((size_t)g->mask + 1) * sizeof *g->digrams, 0);
    buf_resize(resize, g->work, g->cap_work * sizeof *g->work, 0);
    buf_resize(resize, g, bytes_of(g->most_deferred), 0);
}

uint64_t grammar_length(const WendGrammar *g)
{
    return g->length;
}

size_t grammar_memory(const WendGrammar *g)
{
    return bytes_of(g->most_deferred) + g->cap_nodes * sizeof *g->nodes
           + ((size_t)g->mask + 1) * sizeof *g->digrams + g->cap_work * sizeof *g->work
           + g->cap_frames * sizeof *g->frames + g->cap_partial * sizeof *g->partial;
}

/* -- digrams -- */

static uint32_t hash_digram(const GrammarNode *a, const GrammarNode *b)
{
    uint64_t x = ((uint64_t)a->id << 32 | b->id) ^ 0x9e3779b97f4a7c15u;
    uint64_t y = (a->exp * 0xd6e8feb86659fd93u + b->exp) ^ 0xe7037ed1a0b428dbu;
    unsigned __int128 p = (unsigned __int128)x * y;
    uint64_t h = (uint64_t)p ^ (uint64_t)(p >> 64);
    return (uint32_t)(h ^ h >> 32);
}

/* The node whose digram equals that of a and b, or START. */
static uint32_t find_digram(const WendGrammar *g, const GrammarNode *a, const GrammarNode *b,
                            uint32_t hash)
{
    for (uint32_t i = hash & g->mask; g->digrams[i].node != START; i = (i + 1) & g->mask) {
        if (g->digrams[i].hash != hash)
            continue;
        const GrammarNode *m = &g->nodes[g->digrams[i].node], *n = &g->nodes[m->next];
        if (m->id == a->id && n->id == b->id && m->exp == a->exp && n->exp == b->exp)
            return g->digrams[i].node;
    }
    return START;
}

static void put_digram(DigramEntry *digrams, uint32_t mask, DigramEntry e)
{
    uint32_t i = e.hash & mask;
    while (digrams[i].node != START)
        i = (i + 1) & mask;
    digrams[i] = e;
}

static void *zeroed(WendResize resize, size_t bytes)
{
    if (resize == budget_resize) /* calloc's pages may be untouched */
        return budget_zeroed(bytes);
    void *p = buf_resize(resize, NULL, 0, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

static void add_digram(WendGrammar *g, uint32_t a, uint32_t hash)
{
    if (g->n_digrams > g->mask / 2) {
        uint32_t mask = g->mask * 2 + 1;
        size_t bytes = ((size_t)mask + 1) * sizeof(DigramEntry);
        DigramEntry *digrams = zeroed(g->resize, bytes);
        if (!digrams && g->n_digrams >= g->mask - g->mask / 8)
            return; /* the table must keep empty entries */
        if (digrams) {
            for (size_t i = 0; i <= g->mask; i++)
                if (g->digrams[i].node != START)
                    put_digram(digrams, mask, g->digrams[i]);
            buf_resize(g->resize, g->digrams, ((size_t)g->mask + 1) * sizeof *g->digrams, 0);
            g->digrams = digrams;
            g->mask = mask;
        }
    }
    put_digram(g->digrams, g->mask, (DigramEntry){a, hash});
    g->n_digrams++;
}

/* To be called before a symbol or its successor changes. */
static void remove_digram(WendGrammar *g, uint32_t a)
{
    const GrammarNode *x = &g->nodes[a], *y = &g->nodes[x->next];
    if (x->id == GUARD || y->id == GUARD)
        return;
    uint32_t mask = g->mask, i = hash_digram(x, y) & mask;
    while (g->digrams[i].node != a) {
        if (g->digrams[i].node == START)
            return; /* not in the table yet: it is still on the stack */
        i = (i + 1) & mask;
    }
    /* Moves displaced entries into the hole, so that there are no tombstones. */
    for (uint32_t j = (i + 1) & mask; g->digrams[j].node != START; j = (j + 1) & mask) {
        uint32_t home = g->digrams[j].hash & mask;
        if (((j - home) & mask) >= ((j - i) & mask)) {
            g->digrams[i] = g->digrams[j];
            i = j;
        }
    }
    g->digrams[i].node = START;
    g->n_digrams--;
}

/* -- uses of rules -- */

static void add_use(WendGrammar *g, uint32_t n)
{
    GrammarNode *x = &g->nodes[n];
    if (!(x->id & RULE))
        return;
    uint32_t guard = x->id & ~RULE;
    x->use_prev = guard;
    x->use_next = g->nodes[guard].use_next;
    g->nodes[x->use_next].use_prev = n;
    g->nodes[guard].use_next = n;
}

/* Removes a use of a rule. If only one is left, puts the rule on the stack. */
static void drop_use(WendGrammar *g, uint32_t n)
{
    const GrammarNode *x = &g->nodes[n];
    if (!(x->id & RULE))
        return;
    g->nodes[x->use_prev].use_next = x->use_next;
    g->nodes[x->use_next].use_prev = x->use_prev;
    if (g->nodes[x->id & ~RULE].use_next == g->nodes[x->id & ~RULE].use_prev)
        push(g, x->id & ~RULE);
}

/* -- the operations -- */

static void link_nodes(WendGrammar *g, uint32_t a, uint32_t b)
{
    g->nodes[a].next = b;
    g->nodes[b].prev = a;
}

/* a and its successor are the body of a rule */
static bool is_whole_rule(const WendGrammar *g, uint32_t a)
{
    uint32_t guard = g->nodes[a].prev;
    return guard != START && g->nodes[guard].id == GUARD
           && g->nodes[g->nodes[a].next].next == guard;
}

/* Replaces a and its successor by one use of a rule. Returns the removed successor, which the
 * caller uses or frees. */
static uint32_t replace_digram(WendGrammar *g, uint32_t a, uint32_t guard)
{
    uint32_t b = g->nodes[a].next, prev = g->nodes[a].prev;
    remove_digram(g, prev);
    remove_digram(g, a);
    remove_digram(g, b);
    drop_use(g, a);
    drop_use(g, b);
    link_nodes(g, a, g->nodes[b].next);
    g->nodes[a].id = RULE | guard;
    g->nodes[a].exp = 1;
    add_use(g, a);
    push(g, a);
    push(g, prev);
    return b;
}

/* a's digram equals m's, which is in the table. */
static void match(WendGrammar *g, uint32_t a, uint32_t m)
{
    if (is_whole_rule(g, m)) {
        free_node(g, replace_digram(g, a, g->nodes[m].prev));
        return;
    }
    if (!reserve_nodes(g, 1))
        return;
    /* A new rule: m and its successor n become its body, and keep their entry in the table. Node b,
     * left over from a's digram, becomes the use in their old place. */
    uint32_t guard = new_node(g);
    GrammarNode *rule = &g->nodes[guard];
    *rule = (GrammarNode){.id = GUARD, .use_prev = guard, .use_next = guard};
    rule->exp = g->nodes[m].id & RULE ? g->nodes[g->nodes[m].id & ~RULE].exp : g->nodes[m].id;
    uint32_t b = replace_digram(g, a, guard);
    uint32_t n = g->nodes[m].next, prev = g->nodes[m].prev;
    remove_digram(g, prev);
    remove_digram(g, n);
    g->nodes[b].id = RULE | guard;
    g->nodes[b].exp = 1;
    link_nodes(g, b, g->nodes[n].next);
    link_nodes(g, prev, b);
    add_use(g, b);
    link_nodes(g, guard, m);
    link_nodes(g, n, guard);
    push(g, b);
    push(g, prev);
}

/* B^i B^j is B^(i+j). */
static void join_twins(WendGrammar *g, uint32_t a)
{
    uint32_t b = g->nodes[a].next, prev = g->nodes[a].prev;
    remove_digram(g, prev);
    remove_digram(g, b);
    g->nodes[a].exp += g->nodes[b].exp;
    drop_use(g, b);
    link_nodes(g, a, g->nodes[b].next);
    free_node(g, b);
    push(g, a);
    push(g, prev);
}

/* A rule with one use and no repetition count: its body takes the place of the use. */
static void inline_rule(WendGrammar *g, uint32_t guard)
{
    uint32_t use = g->nodes[guard].use_next, prev = g->nodes[use].prev, next = g->nodes[use].next;
    uint32_t first = g->nodes[guard].next, last = g->nodes[guard].prev;
    remove_digram(g, prev);
    remove_digram(g, use);
    link_nodes(g, prev, first);
    link_nodes(g, last, next);
    free_node(g, use);
    free_node(g, guard);
    push(g, last);
    push(g, prev);
}

/* Processes the stack until all properties hold. */
static void settle(WendGrammar *g)
{
    while (g->n_work > 0) {
        uint32_t a = g->work[--g->n_work];
        const GrammarNode *x = &g->nodes[a];
        if (x->id == GUARD) {
            if (a != START && x->pins == 0 && x->use_next == x->use_prev
                && g->nodes[x->use_next].exp == 1)
                inline_rule(g, a);
            continue;
        }
        if (x->id == DEAD)
            continue;
        const GrammarNode *y = &g->nodes[x->next];
        if (y->id == GUARD)
            continue;
        if (x->id == y->id) {
            join_twins(g, a);
            continue;
        }
        uint32_t hash = hash_digram(x, y), m = find_digram(g, x, y, hash);
        if (m == START) {
            add_digram(g, a, hash);
        } else if (m != a) {
            match(g, a, m);
        }
    }
}

/* Appends a symbol to the start rule, as the new node n. */
static void append_symbol(WendGrammar *g, uint32_t n, uint32_t id, uint64_t exp)
{
    uint32_t last = g->nodes[START].prev;
    g->nodes[n].id = id;
    g->nodes[n].exp = exp;
    link_nodes(g, last, n);
    link_nodes(g, n, START);
    add_use(g, n);
    push(g, last);
    settle(g);
}

/* -- The front --
 *
 * A run of one terminal is counted, and appended as one symbol when another terminal comes.
 *
 * If the start rule ends in a use of rule R and the next terminal is R's first, the cursor opens:
 * it walks R's expansion and only compares. Full passes are counted. The first terminal that
 * differs closes the cursor. Then R is appended with the number of full passes, and the partial
 * pass with R's symbols, as whole repetitions of whole rules. So a partial pass costs at most its
 * number of symbols. A rule's expansion never changes, and the grammar does not change while the
 * cursor is open.
 *
 * For the first pass of a loop that is entered again the cursor opens on a guess: the rule that
 * begins with this terminal and was last walked more than once in a row. */

static void open_run(WendGrammar *g, uint32_t terminal, uint64_t times)
{
    g->leaf = terminal;
    g->left = UINT64_MAX - times;
}

static bool close_run(WendGrammar *g)
{
    if (!reserve_nodes(g, 1))
        return false;
    append_symbol(g, new_node(g), g->leaf, UINT64_MAX - g->left);
    g->leaf = GUARD;
    return true;
}

/* Puts the cursor before the first terminal of X, the node of the innermost frame. */
static inline void stand_on(WendGrammar *g, const GrammarNode *x)
{
    g->leaf = x->id;
    g->left = x->exp;
}

/* Goes down from a symbol to the first terminal of its expansion. If memory is short, the leaf
 * stays GUARD: no terminal fits, so the cursor will be closed. */
static void descend(WendGrammar *g, uint32_t node)
{
    for (;;) {
        const GrammarNode *x = &g->nodes[node];
        if (g->n_frames == g->cap_frames
            && !grow(g, (void **)&g->frames, &g->cap_frames, sizeof *g->frames)) {
            g->leaf = GUARD;
            return;
        }
        g->frames[g->n_frames++] = (GrammarFrame){node, x->exp};
        if (!(x->id & RULE)) {
            stand_on(g, x);
            return;
        }
        node = g->nodes[x->id & ~RULE].next;
    }
}

/* Goes from a leaf without repetitions left to the next one. */
static void advance(WendGrammar *g)
{
    for (size_t i = g->n_frames - 1;; i--) {
        uint32_t next = g->nodes[g->frames[i].node].next;
        const GrammarNode *x = &g->nodes[next];
        if (!(x->id & RULE)) { /* a terminal in the same body: most steps */
            g->frames[i] = (GrammarFrame){next, x->exp};
            g->n_frames = i + 1;
            stand_on(g, x);
            return;
        }
        if (x->id != GUARD) {
            g->n_frames = i;
            descend(g, next);
            return;
        }
        uint32_t first = x->next; /* the end of the body */
        if (i == 0) {
            g->passes++;
            g->n_frames = 0;
            descend(g, first);
            return;
        }
        if (--g->frames[i - 1].left > 0) {
            g->n_frames = i;
            descend(g, first);
            return;
        }
    }
}

static bool begins_with(const WendGrammar *g, uint32_t guard, uint32_t terminal)
{
    return guard != START && g->nodes[guard].id == GUARD && g->nodes[guard].exp == terminal;
}

/* Opens the cursor on a rule that begins with the terminal: the last symbol of the start rule, or a
 * guess. */
static bool open_cursor(WendGrammar *g, uint32_t terminal)
{
    const GrammarNode *last = &g->nodes[g->nodes[START].prev];
    uint32_t rule = last->id != GUARD && (last->id & RULE) ? last->id & ~RULE : START;
    if (!begins_with(g, rule, terminal)) {
        rule = g->guesses[terminal % GUESSES].rule;
        if (!begins_with(g, rule, terminal))
            return false;
    }
    g->rule = rule;
    g->passes = 0;
    g->n_frames = 0;
    descend(g, g->nodes[rule].next);
    g->walking = g->leaf != GUARD;
    return g->walking;
}

static bool add_partial(WendGrammar *g, uint32_t id, uint64_t exp)
{
    if (g->n_partial == g->cap_partial
        && !grow(g, (void **)&g->partial, &g->cap_partial, sizeof *g->partial))
        return false;
    g->partial[g->n_partial++] = (Symbol){id, START, exp};
    return true;
}

/* Lists the symbols that the cursor has passed. */
static bool list_partial(WendGrammar *g)
{
    g->n_partial = 0;
    if (g->passes > 0 && !add_partial(g, RULE | g->rule, g->passes))
        return false;
    if (g->leaf != GUARD)
        g->frames[g->n_frames - 1].left = g->left;
    uint32_t guard = g->rule;
    for (size_t i = 0; i < g->n_frames; i++) {
        const GrammarNode *x = &g->nodes[guard];
        while ((x = &g->nodes[x->next]) != &g->nodes[g->frames[i].node])
            if (!add_partial(g, x->id, x->exp))
                return false;
        if (x->exp > g->frames[i].left && !add_partial(g, x->id, x->exp - g->frames[i].left))
            return false;
        guard = x->id & ~RULE;
    }
    return true;
}

/* Appends the symbols that the cursor has passed to the grammar; a last terminal becomes an open
 * run. False: no memory, and the cursor is unchanged. */
static bool close_cursor(WendGrammar *g)
{
    if (!list_partial(g) || !reserve_nodes(g, g->n_partial))
        return false;
    Symbol run = {GUARD, START, 0};
    if (g->n_partial > 0 && !(g->partial[g->n_partial - 1].id & RULE))
        run = g->partial[--g->n_partial];
    for (size_t i = 0; i < g->n_partial; i++) {
        Symbol *p = &g->partial[i];
        p->node = new_node(g);
        if (p->id & RULE)
            g->nodes[p->id & ~RULE].pins++;
    }
    Guess *guess = &g->guesses[g->nodes[g->rule].exp % GUESSES];
    if (g->passes > 1)
        *guess = (Guess){g->rule, g->passes + (guess->rule == g->rule ? guess->credit : 0)};
    else if (g->passes == 0 && guess->rule == g->rule && --guess->credit == 0)
        guess->rule = START;
    for (size_t i = 0; i < g->n_partial; i++) {
        const Symbol *p = &g->partial[i];
        if (p->id & RULE) {
            g->nodes[p->id & ~RULE].pins--;
            push(g, p->id & ~RULE);
        }
        append_symbol(g, p->node, p->id, p->exp);
    }
    g->walking = false;
    g->leaf = GUARD;
    if (run.id != GUARD)
        open_run(g, run.id, run.exp);
    return true;
}

static bool append_slowly(WendGrammar *g, uint32_t terminal, uint64_t times)
{
    while (times > 0) {
        if (terminal == g->leaf) {
            uint64_t n = times < g->left ? times : g->left;
            times -= n;
            g->length += n;
            g->left -= n;
            if (g->left == 0) /* never in a run */
                advance(g);
        } else if (g->walking) {
            if (!close_cursor(g))
                return false;
        } else if (g->leaf != GUARD) {
            if (!close_run(g))
                return false;
        } else if (!open_cursor(g, terminal)) {
            open_run(g, terminal, 0);
        }
    }
    return true;
}

/* Asks for the memory that the digrams of what is deferred are looked up in: the entries of all,
 * and then the nodes of those that are there. */
static void fetch_deferred(const WendGrammar *g)
{
    uint32_t at[DEFERRED];
    for (size_t i = 1; i < g->n_deferred; i++) {
        GrammarNode a = {.id = g->deferred[i - 1], .exp = 1}, b = {.id = g->deferred[i], .exp = 1};
        at[i] = hash_digram(&a, &b) & g->mask;
        __builtin_prefetch(&g->digrams[at[i]]);
    }
    for (size_t i = 1; i < g->n_deferred; i++)
        __builtin_prefetch(&g->nodes[g->digrams[at[i]].node], 1);
}

/* Appends what is deferred. False: no memory, and the rest of it stays deferred. */
static bool append_deferred(WendGrammar *g)
{
    uint8_t n = g->n_deferred, i = 0;
    g->n_deferred = 0;
    g->length -= n;
    while (i < n && append_slowly(g, g->deferred[i], 1))
        i++;
    g->n_deferred = n - i;
    g->length += n - i;
    memmove(g->deferred, g->deferred + i, g->n_deferred * sizeof *g->deferred);
    return i == n;
}

static bool append_later(WendGrammar *g, uint32_t terminal)
{
    if (g->n_deferred == g->most_deferred) {
        fetch_deferred(g);
        if (!append_deferred(g))
            return false;
    }
    g->deferred[g->n_deferred++] = terminal;
    g->length++;
    return true;
}

bool grammar_append(WendGrammar *g, uint32_t terminal, uint64_t times)
{
    if (times >= UINT64_MAX - g->length)
        return false;
    if (terminal == g->leaf && g->n_deferred == 0) {
        if (times < g->left) {
            g->left -= times;
            g->length += times;
            return true;
        }
        if (times == g->left) {
            g->length += times;
            advance(g);
            return true;
        }
    }
    if (times == 1 && g->most_deferred > 0)
        return append_later(g, terminal);
    return append_deferred(g) && append_slowly(g, terminal, times);
}

/* -- encoding -- */

static void *copy(WendResize resize, const void *data, size_t n, size_t size)
{
    void *p = buf_resize(resize, NULL, 0, (n > 0 ? n : 1) * size);
    return p && n > 0 ? memcpy(p, data, n * size) : p;
}

/* Appends to G, a copy of ORIGINAL, what that defers and the tail. */
static bool append_tail(WendGrammar *g, const WendGrammar *original, const WendTail *tail)
{
    for (size_t i = 0; i < original->n_deferred; i++)
        if (!grammar_append(g, original->deferred[i], 1))
            return false;

    for (size_t i = 0; tail && i < tail->n; i++)
        if (!grammar_append(g, tail->first + (uint32_t)i, tail->times[i]))
            return false;
    return true;
}

/* Appends the open cursor or run to the grammar. */
static bool close_all(WendGrammar *g)
{
    return (!g->walking || close_cursor(g)) && (g->leaf == GUARD || close_run(g));
}

/* A copy with nothing open, in memory of RESIZE's. */
static WendGrammar *closed_copy(const WendGrammar *g, const WendTail *tail, WendResize resize)
{
    WendGrammar *c = copy(resize, g, 1, sizeof *g);
    if (!c)
        return NULL;
    c->resize = resize;
    c->length -= c->n_deferred;
    c->n_deferred = c->most_deferred = 0;
    c->partial = NULL;
    c->cap_partial = 0;
    c->work = NULL;
    c->cap_work = 0;
    c->frames = copy(resize, g->frames, g->n_frames, sizeof *g->frames);
    c->cap_frames = g->n_frames > 0 ? g->n_frames : 1;
    c->nodes = copy(resize, g->nodes, g->n_nodes, sizeof *g->nodes);
    c->cap_nodes = g->n_nodes;
    c->digrams = copy(resize, g->digrams, (size_t)g->mask + 1, sizeof *g->digrams);
    if (!c->frames || !c->nodes || !c->digrams || !append_tail(c, g, tail) || !close_all(c)) {
        grammar_free(c);
        return NULL;
    }
    return c;
}

/* Numbers the rules (in pins) by first use, and puts their guards in order on the stack of work.
 * Returns their count, 0 without memory. */
static size_t number_rules(WendGrammar *g)
{
    size_t n_path = 0, cap_path = 0;
    uint32_t *path = NULL; /* the next symbol at each level of the reading */
    uint32_t rule = START;
    g->n_work = 0;
    for (;;) {
        if ((n_path == cap_path && !grow(g, (void **)&path, &cap_path, sizeof *path))
            || (g->n_work == g->cap_work
                && !grow(g, (void **)&g->work, &g->cap_work, sizeof *g->work))) {
            buf_resize(g->resize, path, cap_path * sizeof *path, 0);
            return 0;
        }
        g->nodes[rule].pins = (uint32_t)g->n_work;
        g->work[g->n_work++] = rule;
        path[n_path++] = g->nodes[rule].next;
        for (rule = START; rule == START;) {
            const GrammarNode *x = &g->nodes[path[n_path - 1]];
            if (x->id == GUARD) {
                if (--n_path == 0) {
                    buf_resize(g->resize, path, cap_path * sizeof *path, 0);
                    return g->n_work;
                }
                continue;
            }
            path[n_path - 1] = x->next;
            if ((x->id & RULE) && g->nodes[x->id & ~RULE].pins == 0)
                rule = x->id & ~RULE;
        }
    }
}

/* Writes a grammar with nothing open, which is not usable afterwards. */
static void write_rules(WendGrammar *g, WendBuf *out)
{
    size_t n = number_rules(g);
    out->failed |= n == 0;
    if (n == 0)
        return;
    buf_unsigned(out, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t symbols = 0;
        for (uint32_t s = g->nodes[g->work[i]].next; g->nodes[s].id != GUARD; s = g->nodes[s].next)
            symbols++;
        buf_unsigned(out, symbols);
        for (uint32_t s = g->nodes[g->work[i]].next; g->nodes[s].id != GUARD;
             s = g->nodes[s].next) {
            const GrammarNode *x = &g->nodes[s];
            buf_unsigned(out, x->id & RULE ? (uint64_t)g->nodes[x->id & ~RULE].pins << 1 | 1
                                           : (uint64_t)x->id << 1);
            buf_unsigned(out, x->exp);
        }
    }
}

void grammar_encode(const WendGrammar *g, const WendTail *tail, WendBuf *out)
{
    WendGrammar *c = closed_copy(g, tail, out->resize);
    if (c)
        write_rules(c, out);
    else
        out->failed = true;
    grammar_free(c);
}

void grammar_end(WendGrammar *g, WendBuf *out)
{
    if (append_deferred(g) && close_all(g))
        write_rules(g, out);
    else
        out->failed = true;
    grammar_free(g);
}
