/* SPDX-License-Identifier: BSD-3-Clause */
/* lifetimes.c: resolves handles to objects.
 *
 * A *name* is a kind and the number of a handle. A *site* is a place in a terminal that makes an
 * object. A name with one site needs no walk. The other names have a *state*: their current
 * definition. A rule reads the state of some names and writes that of others. Its effect is kept
 * for each state that it reads. */
#include "src/proxygen/analysis/call-analysis.h"

#include <string.h>

enum { UNKNOWN = 0 }; /* definition 0: any of the sites of the name */
/* Definitions of absolute datatypes contain those of their parts. No program nests them deeper. */
enum { DEPTH_LIMIT = 64, RECURSION_LIMIT = 4000 };
/* The maximum number of steps for each symbol of the grammar. Mostly, an effect is found for one to
 * three states. */
enum { STEPS_FOR_A_SYMBOL = 50, STEPS_AT_LEAST = 10000000 };

typedef struct {
    guint terminal, slot;
    gboolean absolute;
} Making;
typedef struct {
    guint name;
    gboolean writes;
    guint slot;        /* writes: slot of the facts */
    guint alias;       /* writes: a duplicate of this name, + 1; 0: none */
    gboolean absolute; /* writes: a datatype that depends on its parts */
} Reference;

typedef struct {
    Definition d;
    guint depth;
} KnownState;

typedef struct {
    guint rule, n_in;
    guint *in, *out; /* definitions of the names that the rule reads and writes */
    guint loop;      /* the last loop that used it */
    guint64 at;      /* the iteration of that loop */
} Effect;

struct Lifetimes {
    Plan *plan;
    GHashTable *names; /* kind << 56 | handle -> name + 1 */
    GPtrArray *sites;  /* by name: GArray of Making */
    /* by name: GArray of definitions, one for each site; NULL: not made yet */
    GPtrArray *unions;
    /* by name: the definition, if there is one site; 0: not made yet */
    GArray *fixed;
    guint8 *followed; /* by name: whether it has a state */
    /* by name: whether its definition is being made (against cycles in hostile recordings) */
    guint8 *making;
    GArray *references; /* of Reference, by terminal */
    guint *first;       /* by terminal: its first reference; there are n_terminals + 1 of them */

    GPtrArray *known;     /* definition -> KnownState */
    GHashTable *interned; /* KnownState -> itself */
    guint *scratch;       /* room for the inputs of one definition */

    /* for the walk */
    guint *state; /* by name */
    guint *owner; /* by name: the only sequence that makes it in the class, + 1 */
    guint sequence;
    GArray **reads, **writes; /* by rule: names; NULL: the rule does not use states */
    GHashTable *dependence;   /* Effect -> itself */
    Map *seen;                /* calls of this class with their definitions */
    guint64 steps, limit;
    guint loops, depth;
    gboolean lost; /* too many states: all are unknown */
    RankList class_ranks;

    /* for the call that is visited */
    /* definitions of those of its references that read followed names, in order; NULL: none */
    const guint *bound;
    guint terminal;

    LifetimesFunction function;
    gpointer data;
};

/* -- names and sites -- */

static gint64 key_of(WendKind kind, gint64 handle)
{
    return (gint64)kind << 56 | handle;
}

static guint name_of(Lifetimes *live, WendKind kind, gint64 handle)
{
    gint64 key = key_of(kind, handle);
    gpointer found = g_hash_table_lookup(live->names, &key);
    if (!found) {
        found = GUINT_TO_POINTER(live->sites->len + 1);
        g_hash_table_insert(live->names, g_memdup2(&key, sizeof key), found);
        g_ptr_array_add(live->sites, g_array_new(FALSE, FALSE, sizeof(Making)));
    }
    return GPOINTER_TO_UINT(found) - 1;
}

static gboolean is_followed_kind(WendKind kind)
{
    return kind == WEND_KIND_DATATYPE || kind == WEND_KIND_COMM;
}

gint64 lifetimes_fact(const Lifetimes *live, const Definition *d, guint fact, guint rank)
{
    return program_slot(live->plan->program, d->terminal, d->slot + fact, rank);
}

static gboolean is_absolute(const Lifetimes *live, guint terminal, guint slot)
{
    const WendSlot *lb = &program_terminal(live->plan->program, terminal)->slots[slot + 1];
    if (lb->form == WEND_SLOT_CONSTANT)
        return lb->value == WEND_ABSENT;
    RankList ranks = live->plan->terminal_ranks[terminal];
    for (guint r = 0; r < ranks.n; r++)
        if (program_slot(live->plan->program, terminal, slot + 1, ranks.ranks[r]) == WEND_ABSENT)
            return TRUE;
    return FALSE;
}

static void note_outputs(Lifetimes *live, const CallPattern *c, const Arg *arg, guint alias)
{
    gint64 n = arg->param->array ? arg->n_out : arg->n_out_words / 6;
    for (gint64 i = 0; i < n; i++) {
        const Word *words = &arg->out[6 * i];
        if (!word_is_handle(words[0].value) || !words[1].by_slot)
            continue;
        gboolean absolute =
            arg->param->kind == WEND_KIND_DATATYPE && is_absolute(live, c->terminal, words[1].slot);
        Reference r = {name_of(live, arg->param->kind, words[0].value), TRUE, words[1].slot, alias,
                       absolute};
        Making site = {c->terminal, r.slot, absolute};
        g_array_append_val(live->references, r);
        g_array_append_val((GArray *)live->sites->pdata[r.name], site);
    }
}

static void note_references(Lifetimes *live, const CallPattern *c)
{
    guint alias = 0;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        gint64 n = arg->param->array ? arg->n_in : arg->n_in_words;
        if (!is_followed_kind(arg->param->kind) || !arg->has_in)
            continue;
        for (gint64 k = 0; k < n; k++) {
            if (!word_is_handle(arg->in[k].value))
                continue;
            Reference r = {name_of(live, arg->param->kind, arg->in[k].value), FALSE, 0, 0, FALSE};
            g_array_append_val(live->references, r);
            /* A duplicate has all properties of its parent, even the topology. */
            if (c->function->makes == WEND_MAKES_DUP)
                alias = r.name + 1;
        }
    }
    for (guint i = 0; i < c->n_args; i++)
        if (is_followed_kind(c->args[i].param->kind) && c->args[i].has_out)
            note_outputs(live, c, &c->args[i], alias);
}

static const Reference *references_of(const Lifetimes *live, guint terminal, guint *n)
{
    *n = live->first[terminal + 1] - live->first[terminal];
    return *n ? &g_array_index(live->references, Reference, live->first[terminal]) : NULL;
}

/* Marks names with several sites, and names that are made of these. Returns whether there are
 * any. */
static gboolean find_followed(Lifetimes *live)
{
    gboolean any = FALSE, more = TRUE;
    for (guint i = 0; i < live->sites->len; i++)
        any |= live->followed[i] = ((GArray *)live->sites->pdata[i])->len > 1;
    while (any && more) {
        more = FALSE;
        for (guint t = 0; t < program_n_terminals(live->plan->program); t++) {
            guint n;
            const Reference *refs = references_of(live, t, &n);
            gboolean reads = FALSE;
            for (guint i = 0; i < n; i++) {
                if (!refs[i].writes)
                    reads |= live->followed[refs[i].name];
                else if (reads && !live->followed[refs[i].name]
                         && (refs[i].absolute || refs[i].alias))
                    more = live->followed[refs[i].name] = TRUE;
            }
        }
    }
    return any;
}

/* -- definitions -- */

static guint known_hash(gconstpointer known)
{
    const Definition *d = &((const KnownState *)known)->d;
    guint h = d->terminal * 2654435761u + d->slot;
    for (guint i = 0; i < d->n_inputs; i++)
        h = h * 31 + d->inputs[i];
    return h;
}

static gboolean known_equal(gconstpointer a, gconstpointer b)
{
    const Definition *d = &((const KnownState *)a)->d, *e = &((const KnownState *)b)->d;
    return d->terminal == e->terminal && d->slot == e->slot && d->n_inputs == e->n_inputs
           && (d->n_inputs == 0
               || memcmp(d->inputs, e->inputs, d->n_inputs * sizeof *d->inputs) == 0);
}

static void known_free(gpointer known)
{
    if (known)
        g_free((gpointer)((KnownState *)known)->d.inputs);
    g_free(known);
}

/* The number of a definition. The values of the table are numbers, which are indices of the
 * array. */
static guint intern(Lifetimes *live, Definition d)
{
    KnownState key = {d, 0};
    gpointer found = g_hash_table_lookup(live->interned, &key);
    if (found)
        return GPOINTER_TO_UINT(found);
    for (guint i = 0; i < d.n_inputs; i++)
        if (d.inputs[i] != UNKNOWN)
            key.depth = MAX(key.depth, ((KnownState *)live->known->pdata[d.inputs[i]])->depth + 1);
    if (key.depth > DEPTH_LIMIT)
        return UNKNOWN;
    KnownState *made = g_memdup2(&key, sizeof key);
    made->d.inputs = d.n_inputs ? g_memdup2(d.inputs, d.n_inputs * sizeof *d.inputs) : NULL;
    guint number = live->known->len;
    g_ptr_array_add(live->known, made);
    g_hash_table_insert(live->interned, made, GUINT_TO_POINTER(number));
    return number;
}

const Definition *lifetimes_definition(const Lifetimes *live, guint definition)
{
    return &((const KnownState *)live->known->pdata[definition])->d;
}

static guint current(Lifetimes *live, guint name);

/* The definition that reference R of TERMINAL makes from the current definitions of its names. */
static guint make(Lifetimes *live, guint terminal, const Reference *r)
{
    Definition d = {.terminal = terminal, .slot = r->slot, .absolute = r->absolute};
    if (r->alias) {
        guint parent = current(live, r->alias - 1);
        if (parent != UNKNOWN)
            return parent;
    }
    g_autofree guint *inputs = NULL;
    if (d.absolute) {
        guint n;
        const Reference *refs = references_of(live, terminal, &n);
        inputs = g_new(guint, n);
        for (guint i = 0; i < n && !refs[i].writes; i++)
            inputs[d.n_inputs++] = current(live, refs[i].name);
        d.inputs = inputs;
    }
    return intern(live, d);
}

/* The definition of a name with one site. */
static guint fixed(Lifetimes *live, guint name)
{
    guint *made = &g_array_index(live->fixed, guint, name);
    const GArray *sites = live->sites->pdata[name];
    if (*made != UNKNOWN || live->making[name] || sites->len == 0)
        return *made;
    const Making *site = &g_array_index(sites, Making, 0);
    guint n, it = UNKNOWN;
    const Reference *refs = references_of(live, site->terminal, &n);
    live->making[name] = TRUE;
    for (guint i = 0; i < n; i++)
        if (refs[i].writes && refs[i].name == name)
            it = make(live, site->terminal, &refs[i]);
    live->making[name] = FALSE;
    g_array_index(live->fixed, guint, name) = it;
    return it;
}

static guint current(Lifetimes *live, guint name)
{
    return live->followed[name] ? live->state[name] : fixed(live, name);
}

/* All definitions that a name ever had, made of any objects. */
static const GArray *union_of(Lifetimes *live, guint name)
{
    if (!live->unions->pdata[name]) {
        const GArray *sites = live->sites->pdata[name];
        GArray *all = g_array_new(FALSE, FALSE, sizeof(guint));
        for (guint i = 0; i < sites->len; i++) {
            const Making *site = &g_array_index(sites, Making, i);
            guint n = 0;
            const Reference *refs = references_of(live, site->terminal, &n);
            Definition d = {
                .terminal = site->terminal, .slot = site->slot, .absolute = site->absolute};
            while (d.absolute && d.n_inputs < n && !refs[d.n_inputs].writes)
                d.n_inputs++;
            g_autofree guint *inputs = g_new0(guint, d.n_inputs + 1); /* all UNKNOWN */
            d.inputs = inputs;
            guint it = intern(live, d);
            g_array_append_val(all, it);
        }
        live->unions->pdata[name] = all;
    }
    return live->unions->pdata[name];
}

guint lifetimes_definitions(Lifetimes *live, WendKind kind, gint64 handle, guint rank,
                            const guint **definitions)
{
    gint64 key = key_of(kind, handle);
    gpointer found = word_is_handle(handle) ? g_hash_table_lookup(live->names, &key) : NULL;
    if (!found)
        return 0;
    guint name = GPOINTER_TO_UINT(found) - 1, n, at = 0;
    static const guint none = UNKNOWN;
    const guint *it = &none;
    if (!live->followed[name]) {
        fixed(live, name);
        it = &g_array_index(live->fixed, guint, name);
    } else if (live->bound) {
        const Reference *refs = references_of(live, live->terminal, &n);
        guint i = 0; /* the first reference to it; arrays of datatypes have few different names */
        for (; i < n && !refs[i].writes && refs[i].name != name; i++)
            at += live->followed[refs[i].name];
        if (i < n && !refs[i].writes)
            it = &live->bound[at];
    }
    if (*it != UNKNOWN) {
        *definitions = it;
        return 1;
    }
    const GArray *all = union_of(live, name);
    guint *here = live->scratch = g_renew(guint, live->scratch, all->len + 1);
    n = 0;
    for (guint i = 0; i < all->len; i++)
        if (rank_list_has(
                live->plan->terminal_ranks[lifetimes_definition(live, g_array_index(all, guint, i))
                                               ->terminal],
                rank))
            here[n++] = g_array_index(all, guint, i);
    *definitions = here;
    return n;
}

static gboolean definition_varies(const Lifetimes *live, guint definition, WendKind kind)
{
    if (definition == UNKNOWN)
        return TRUE;
    const Definition *d = lifetimes_definition(live, definition);
    const WendTerminal *t = program_terminal(live->plan->program, d->terminal);
    for (guint i = 0; i < 5; i++)
        if (t->slots[d->slot + i].form != WEND_SLOT_CONSTANT
            && (kind == WEND_KIND_DATATYPE || i == 0 || i == 3))
            return TRUE;
    if (d->absolute)
        return TRUE; /* its addresses may differ; this is not examined further */
    const WendFunction *f = program_shape(live->plan->program, t->shape)->function;
    /* In a graph each rank has neighbours of its own. */
    return kind == WEND_KIND_COMM && f->makes == WEND_MAKES_TOPOLOGY
           && f->id != WEND_FN_MPI_Cart_create;
}

gboolean lifetimes_varies(Lifetimes *live, const CallPattern *c)
{
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        for (guint k = 0; is_followed_kind(arg->param->kind) && arg->has_in && k < arg->n_in_words;
             k++) {
            const guint *definitions;
            if (!word_is_handle(arg->in[k].value))
                continue;
            guint n = lifetimes_definitions(live, arg->param->kind, arg->in[k].value,
                                            live->plan->terminal_ranks[c->terminal].ranks[0],
                                            &definitions);
            if (n != 1 || definition_varies(live, *definitions, arg->param->kind))
                return TRUE;
        }
    }
    return FALSE;
}

/* -- names that rules read and write -- */

static void add_once(GArray **list, guint *mark, guint name, guint stamp)
{
    if (mark[name] == stamp)
        return;
    mark[name] = stamp;
    if (!*list)
        *list = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_append_val(*list, name);
}

static void summarize_rules(Lifetimes *live)
{
    const WendProgram *p = live->plan->program;
    g_autofree guint *read = g_new0(guint, live->sites->len + 1),
                     *written = g_new0(guint, live->sites->len + 1);
    /* rules use only rules before them */
    for (guint rule = 0; rule < program_n_rules(p); rule++) {
        const WendRule *r = program_rule(p, rule);
        guint stamp = rule + 1;
        for (guint i = 0; i < r->n; i++) {
            guint id = r->symbols[i].id, n = 0;
            if (r->symbols[i].is_rule) {
                for (guint k = 0; live->reads[id] && k < live->reads[id]->len; k++)
                    if (written[g_array_index(live->reads[id], guint, k)] != stamp)
                        add_once(&live->reads[rule], read, g_array_index(live->reads[id], guint, k),
                                 stamp);
                for (guint k = 0; live->writes[id] && k < live->writes[id]->len; k++)
                    add_once(&live->writes[rule], written,
                             g_array_index(live->writes[id], guint, k), stamp);
                continue;
            }
            const Reference *refs = references_of(live, id, &n);
            for (guint k = 0; k < n; k++) {
                if (!live->followed[refs[k].name])
                    continue;
                if (refs[k].writes)
                    add_once(&live->writes[rule], written, refs[k].name, stamp);
                else if (written[refs[k].name] != stamp)
                    add_once(&live->reads[rule], read, refs[k].name, stamp);
            }
        }
    }
}

/* -- the walk -- */

static guint effect_hash(gconstpointer effect)
{
    const Effect *e = effect;
    guint h = e->rule * 2654435761u;
    for (guint i = 0; i < e->n_in; i++)
        h = h * 31 + e->in[i];
    return h;
}

static gboolean effect_equal(gconstpointer a, gconstpointer b)
{
    const Effect *e = a, *f = b;
    return e->rule == f->rule && memcmp(e->in, f->in, e->n_in * sizeof *e->in) == 0;
}

static void effect_free(gpointer effect)
{
    g_free(((Effect *)effect)->in);
    g_free(((Effect *)effect)->out);
    g_free(effect);
}

static guint *state_of(const Lifetimes *live, const GArray *names)
{
    guint *state = g_new(guint, (names ? names->len : 0) + 1);
    for (guint i = 0; names && i < names->len; i++)
        state[i] = live->state[g_array_index(names, guint, i)];
    return state;
}

static void visit(Lifetimes *live, guint terminal, const guint *bound, RankList ranks)
{
    if (ranks.n == 0)
        return;
    live->terminal = terminal;
    live->bound = bound;
    call_pattern_decode(live->plan->call, terminal);
    live->function(live->plan->call, ranks, live->data);
    live->bound = NULL;
}

static void walk_terminal(Lifetimes *live, guint terminal)
{
    guint n, n_bound = 0;
    const Reference *refs = references_of(live, terminal, &n);
    if (n == 0)
        return;
    g_autofree guint *bound = g_new(guint, n + 1); /* the terminal, and definitions */
    guint i = 0;
    for (; i < n && !refs[i].writes; i++)
        if (live->followed[refs[i].name])
            bound[++n_bound] = live->state[refs[i].name];
    bound[0] = terminal;
    if (n_bound > 0 && map_put_bytes(live->seen, bound, (n_bound + 1) * sizeof *bound, NULL))
        visit(live, terminal, bound + 1, live->class_ranks);
    for (; i < n; i++)
        if (live->followed[refs[i].name] && live->owner[refs[i].name] == live->sequence + 1)
            live->state[refs[i].name] = make(live, terminal, &refs[i]);
}

static Effect *walk_rule(Lifetimes *live, guint rule);

/* Walks a rule N times. The states of a loop repeat after some iterations, and no later iteration
 * has a new effect. */
static void walk_loop(Lifetimes *live, guint rule, guint64 n)
{
    guint loop = ++live->loops;
    gboolean watching = TRUE;
    for (guint64 k = 0; k < n && !live->lost; k++) {
        Effect *e = walk_rule(live, rule);
        if (!e)
            return;
        if (watching && e->loop == loop) {
            n = k + 1 + (n - k - 1) % (k - e->at);
            watching = FALSE;
        }
        e->loop = loop;
        e->at = k;
    }
}

static Effect *walk_rule(Lifetimes *live, guint rule)
{
    const WendRule *r = program_rule(live->plan->program, rule);
    const GArray *writes = live->writes[rule];
    const GArray *reads = live->reads[rule];
    Effect key = {.rule = rule, .n_in = reads ? reads->len : 0, .in = state_of(live, reads)},
           *known = g_hash_table_lookup(live->dependence, &key);
    live->lost |= live->steps++ > live->limit || live->depth > RECURSION_LIMIT;
    if (known || live->lost) {
        g_free(key.in);
        for (guint i = 0; known && writes && i < writes->len; i++)
            if (live->owner[g_array_index(writes, guint, i)] == live->sequence + 1)
                live->state[g_array_index(writes, guint, i)] = known->out[i];
        return known;
    }
    live->depth++;
    for (guint i = 0; i < r->n && !live->lost; i++) {
        const WendSymbol *s = &r->symbols[i];
        live->steps++;
        if (!s->is_rule) {
            /* it does not read what it makes, so two repetitions are enough */
            for (guint64 k = 0; k < MIN(s->repeats, 2); k++)
                walk_terminal(live, s->id);
        } else if (live->reads[s->id] || live->writes[s->id]) {
            walk_loop(live, s->id, s->repeats);
        }
    }
    live->depth--;
    key.out = state_of(live, writes);
    known = g_memdup2(&key, sizeof key);
    g_hash_table_add(live->dependence, known);
    return known;
}

static void walk_class(Lifetimes *live, const WendClass *class)
{
    enum { SHARED = G_MAXUINT };
    live->class_ranks = (RankList){class->n_ranks, class->ranks};
    memset(live->owner, 0, live->sites->len * sizeof *live->owner);
    for (guint s = 0; s < class->n_sequences; s++) {
        const GArray *writes = live->writes[class->sequences[s].rule];
        for (guint i = 0; writes && i < writes->len; i++) {
            guint *owner = &live->owner[g_array_index(writes, guint, i)];
            *owner = *owner == 0 ? s + 1 : SHARED;
        }
    }
    map_clear(live->seen);
    for (live->sequence = 0; live->sequence < class->n_sequences && !live->lost; live->sequence++) {
        memset(live->state, 0, live->sites->len * sizeof *live->state);
        g_hash_table_remove_all(live->dependence);
        walk_rule(live, class->sequences[live->sequence].rule);
    }
}

void lifetimes_foreach_call(Lifetimes *live, LifetimesFunction function, gpointer data)
{
    const WendProgram *p = live->plan->program;
    guint64 symbols = 0;
    gboolean any = FALSE;
    live->function = function;
    live->data = data;
    /* calls that need no walk */
    for (guint t = 0; t < program_n_terminals(p); t++) {
        guint n;
        gboolean follows = FALSE;
        const Reference *refs = references_of(live, t, &n);
        for (guint i = 0; i < n && !refs[i].writes; i++)
            follows |= live->followed[refs[i].name];
        any |= follows;
        if (!follows)
            visit(live, t, NULL, live->plan->terminal_ranks[t]);
    }
    if (!any)
        return;
    guint n_rules = program_n_rules(p);
    live->reads = g_new0(GArray *, n_rules + 1);
    live->writes = g_new0(GArray *, n_rules + 1);
    live->dependence = g_hash_table_new_full(effect_hash, effect_equal, effect_free, NULL);
    live->seen = map_of_bytes(NULL);
    live->owner = g_new0(guint, live->sites->len + 1);
    summarize_rules(live);
    for (guint r = 0; r < n_rules; r++)
        symbols += program_rule(p, r)->n;
    for (guint c = 0; c < program_n_classes(p) && !live->lost; c++) {
        live->steps = 0;
        live->limit = STEPS_AT_LEAST + STEPS_FOR_A_SYMBOL * symbols;
        walk_class(live, program_class(p, c));
    }
    for (guint t = 0; live->lost && t < program_n_terminals(p); t++)
        visit(live, t, NULL, live->plan->terminal_ranks[t]);
    memset(live->state, 0, live->sites->len * sizeof *live->state);
    g_hash_table_destroy(live->dependence);
    map_unref(live->seen);
    g_clear_pointer(&live->owner, g_free);
    for (guint r = 0; r < n_rules; r++) {
        g_clear_pointer(&live->reads[r], g_array_unref);
        g_clear_pointer(&live->writes[r], g_array_unref);
    }
    g_clear_pointer(&live->reads, g_free);
    g_clear_pointer(&live->writes, g_free);
}

Lifetimes *lifetimes_new(Plan *plan)
{
    Lifetimes *live = g_new0(Lifetimes, 1);
    guint n_terminals = program_n_terminals(plan->program);
    live->plan = plan;
    live->names = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    live->sites = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    live->references = g_array_new(FALSE, FALSE, sizeof(Reference));
    live->first = g_new0(guint, n_terminals + 2);
    for (guint t = 0; t < n_terminals; t++) {
        live->first[t] = live->references->len;
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_pattern_decode(plan->call, t);
        note_references(live, plan->call);
    }
    live->first[n_terminals] = live->references->len;
    guint n = live->sites->len;
    live->unions = g_ptr_array_new();
    g_ptr_array_set_size(live->unions, (gint)n);
    live->fixed = g_array_new(FALSE, TRUE, sizeof(guint));
    g_array_set_size(live->fixed, n);
    live->followed = g_new0(guint8, n + 1);
    live->making = g_new0(guint8, n + 1);
    live->state = g_new0(guint, n + 1);
    live->known = g_ptr_array_new_with_free_func(known_free);
    g_ptr_array_add(live->known, NULL);
    live->interned = g_hash_table_new(known_hash, known_equal);
    find_followed(live);
    return live;
}

void lifetimes_free(Lifetimes *live)
{
    if (!live)
        return;
    for (guint i = 0; i < live->unions->len; i++)
        if (live->unions->pdata[i])
            g_array_unref(live->unions->pdata[i]);
    g_ptr_array_free(live->unions, TRUE);
    g_hash_table_destroy(live->names);
    g_hash_table_destroy(live->interned);
    g_ptr_array_free(live->sites, TRUE);
    g_ptr_array_free(live->known, TRUE);
    g_array_free(live->references, TRUE);
    g_array_free(live->fixed, TRUE);
    g_free(live->first);
    g_free(live->followed);
    g_free(live->making);
    g_free(live->state);
    g_free(live->scratch);
    g_free(live);
}
