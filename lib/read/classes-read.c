/* SPDX-License-Identifier: BSD-3-Clause */
/* classes-read.c: reads the part "classes": the ranks, the sequences and the variants of each
 * class. */
#include <string.h>

#include "program-private.h"
#include "record/codec.h"

/* -- variants: each variant of a class becomes a class of its own; rules with trip counts become
 * rules of each variant, with its counts -- */

typedef struct {
    guint n;     /* variants; 1: no trip counts */
    guint32 *of; /* by rank of the class: its variant; NULL: there is one variant */
    guint n_trips;
    guint64 *trips; /* by variant, then by trip */
} Trips;

/* A class of the archive. */
typedef struct {
    RankSet ranks;
    Trips trips;
} EncodedClass;

/* The classes and rules that the program will have. A rule is open if it, or a rule that it uses,
 * has a trip count. */
typedef struct {
    Member *m;
    GArray *classes, *data; /* WendClass, ClassData */
    /* WendRule: those of the archive, then those that are made of open rules */
    GArray *rules;
    /* by rule of the archive: whether it is open */
    guint8 *open;
    guint32 *made; /* scratch, by rule of the archive: the rule that was made of it */
    Map *known;    /* symbols of a made rule -> its number */
    guint64 left;  /* symbols that made rules may still have */
} Reader;

static void find_open(Reader *o)
{
    const WendProgram *p = o->m->p;
    o->open = g_new0(guint8, p->n_rules + 1);
    for (guint i = 0; i < p->n_rules; i++)
        for (guint k = 0; k < p->rules[i].n && !o->open[i]; k++) {
            const WendSymbol *y = &p->rules[i].symbols[k];
            o->open[i] = y->repeats & RULE_TRIP || (y->is_rule && o->open[y->id]);
        }
}

/* The memory of a made rule in KNOWN, and of a class of the archive while it is read. */
enum { MADE_MORE = 96, CLASS_MORE = 2 * sizeof(EncodedClass) + 2 * sizeof(RankSet) + 96 };

/* Reads the variant of each of the N_RANKS ranks of a class that has N > 1 variants. */
static gboolean read_variants(Member *m, guint n_ranks, guint64 n, Trips *t)
{
    if (m->c.failed || n < 2 || n > n_ranks)
        return member_bad(m, "a class has more variants than ranks");
    AUTO(DeltaSequence) of = delta_sequence_decode(&m->c, n_ranks, NULL, 0);
    if (!member_admits(m, n_ranks, sizeof(guint32)))
        return FALSE;
    t->n = (guint)n;
    t->of = g_new(guint32, n_ranks);
    for (guint r = 0, next = 0; r < n_ranks; r++) {
        gint64 variant = of ? delta_sequence_at(of, r) : -1;
        if (variant < 0 || variant > next || variant >= (gint64)n)
            return member_bad(m, "a rank is of a variant that is not there");
        next += variant == next;
        if (r == n_ranks - 1 && next != n)
            return member_bad(m, "a variant has no ranks");
        t->of[r] = (guint32)variant;
    }
    return TRUE;
}

static gboolean read_trips(Member *m, Trips *t)
{
    guint64 n_trips = cursor_unsigned(&m->c), most = program_most((gsize)(m->c.end - m->c.p)),
            all = n_trips * t->n;
    if (m->c.failed || n_trips > most || all > most)
        return member_bad(m, "has more trip counts than it can hold");
    if (!member_admits(m, all, sizeof(guint64)))
        return FALSE;
    t->n_trips = (guint)n_trips;
    t->trips = g_new(guint64, all + 1);
    AUTO(DeltaSequence) counts = all ? delta_sequence_decode(&m->c, all, NULL, 0) : NULL;
    for (guint64 i = 0; i < all; i++) {
        gint64 count = counts ? delta_sequence_at(counts, i) : -1;
        if (count < 0)
            return member_bad(m, "a trip count makes no sense");
        t->trips[i % t->n * t->n_trips + i / t->n] = (guint64)count;
    }
    return TRUE;
}

static void encoded_class_clear(EncodedClass *k)
{
    rankset_clear(&k->ranks);
    g_free(k->trips.of);
    g_free(k->trips.trips);
}

/* The open rules that START uses, directly or not, and START itself if it is open. Ascending. */
static GArray *open_below(const Reader *o, guint start)
{
    const WendProgram *p = o->m->p;
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint));
    if (!o->open[start])
        return found;
    g_autofree guint8 *wanted = g_new0(guint8, start + 1);
    wanted[start] = 1;
    for (guint i = start + 1; i-- > 0;)
        for (guint k = 0; wanted[i] && k < p->rules[i].n; k++)
            if (p->rules[i].symbols[k].is_rule)
                wanted[p->rules[i].symbols[k].id] |= o->open[p->rules[i].symbols[k].id];
    for (guint i = 0; i <= start; i++)
        if (wanted[i])
            g_array_append_val(found, i);
    return found;
}

/* In Reader.made: a rule that stands for no calls, because all its symbols occur 0 times. */
#define RULE_NOTHING G_MAXUINT32

/* The symbols of rule FROM with the trip counts TRIPS, without those that occur 0 times. */
static gboolean close_symbols(const Reader *o, const WendRule *from, const guint64 *trips,
                              guint n_trips, WendSymbol *symbols, guint *n)
{
    *n = 0;
    for (guint k = 0; k < from->n; k++) {
        WendSymbol y = from->symbols[k];
        if (y.repeats & RULE_TRIP) {
            if (y.repeats - RULE_TRIP >= n_trips)
                return member_bad(o->m, "a loop has no trip count");
            y.repeats = trips[y.repeats - RULE_TRIP];
        }
        if (y.is_rule && o->open[y.id])
            y.id = o->made[y.id];
        if (y.repeats > 0 && !(y.is_rule && y.id == RULE_NOTHING))
            symbols[(*n)++] = y;
    }
    return TRUE;
}

/* Makes a rule of each of the OPEN rules, of which *START is the last, with the trip counts TRIPS.
 * Equal rules are made once. A rule that would be empty, or one other rule, is not made. */
static gboolean close_rules(Reader *o, const GArray *open, const guint64 *trips, guint n_trips,
                            guint *start)
{
    WendProgram *p = o->m->p;
    for (guint i = 0; i < open->len; i++) {
        const WendRule *from = &p->rules[g_array_index(open, guint, i)];
        if (from->n > o->left)
            return member_bad(o->m, "its variants have more rules than it can hold");
        if (!member_admits(o->m, from->n, sizeof(WendSymbol)) || !member_admits(o->m, 1, MADE_MORE))
            return FALSE;
        o->left -= from->n;
        guint n, *made = &o->made[g_array_index(open, guint, i)];
        g_autofree WendSymbol *symbols = g_new(WendSymbol, from->n + 1);
        if (!close_symbols(o, from, trips, n_trips, symbols, &n))
            return FALSE;
        *made =
            n == 1 && symbols[0].is_rule && symbols[0].repeats == 1 ? symbols[0].id : RULE_NOTHING;
        *start = *made;
        if (*made != RULE_NOTHING || (n == 0 && i + 1 < open->len))
            continue;
        void *known;
        bool is_known = map_find_bytes(o->known, symbols, n * sizeof *symbols, &known);
        *start = *made = is_known ? NUMBER_OF(known) : o->rules->len;
        if (is_known)
            continue;
        const WendRule rule = {.n = n, .symbols = symbols};
        g_array_append_val(o->rules, rule);
        map_put_bytes(o->known, symbols, n * sizeof *symbols, OF_NUMBER(*start));
        g_ptr_array_add(p->blocks, g_steal_pointer(&symbols));
        if (!member_measure_rule(o->m, (WendRule *)(gpointer)o->rules->data, *start))
            return FALSE;
    }
    return TRUE;
}

static gpointer block_of(Member *m, const GArray *array, gsize size, guint more)
{
    gpointer block = member_block(m, (guint64)array->len + more, size);
    if (block && array->len)
        memcpy(block, array->data, array->len * size);
    return block;
}

/* Gives classes and rules to the program. The open rules of the archive remain, with symbols that
 * any reader of rules can take. */
static gboolean hand_over(Reader *o)
{
    WendProgram *p = o->m->p;
    for (guint i = 0; i < p->n_rules; i++)
        for (guint k = 0; k < p->rules[i].n; k++) {
            WendSymbol *y = (WendSymbol *)&p->rules[i].symbols[k];
            if (y->repeats & RULE_TRIP)
                y->repeats = 1;
        }
    WendRule *rules =
        o->rules->len > p->n_rules ? block_of(o->m, o->rules, sizeof(WendRule), 0) : p->rules;
    /* one more, for program_complete */
    WendClass *classes = block_of(o->m, o->classes, sizeof(WendClass), 1);
    ClassData *data = block_of(o->m, o->data, sizeof(ClassData), 1);
    if (!rules || !classes || !data)
        return FALSE;
    p->rules = rules;
    p->n_rules = o->rules->len;
    p->classes = classes;
    p->class_data = data;
    p->n_classes = o->classes->len;
    return TRUE;
}

/* -- classes -- */

gboolean program_complete(WendProgram *p, gboolean as_recorded, Allowance *allowance)
{
    guint n = 0;
    for (guint r = 0; r < p->ranks; r++)
        n += p->class_of[r] == G_MAXUINT;
    if (n == 0)
        return TRUE;
    if ((as_recorded && g_key_file_get_boolean(p->meta, "recording", "complete", NULL))
        || !allowance_take(allowance, n, sizeof(guint)))
        return FALSE;
    guint *ranks = program_new_block(p, n, sizeof(guint));
    WendSequence *none = program_new_block(p, 0, sizeof(WendSequence));
    n = 0;
    for (guint r = 0; r < p->ranks; r++)
        if (p->class_of[r] == G_MAXUINT) {
            p->class_of[r] = p->n_classes;
            ranks[n++] = r;
        }
    p->classes[p->n_classes++] = (WendClass){.n_ranks = n, .ranks = ranks, .sequences = none};
    return TRUE;
}

/* A sequence as the archive has it. */
typedef struct {
    guint64 kind;
    gint64 id;
    guint64 rule;
} EncodedSequence;

/* Adds one class for each variant, with room for its ranks. */
static gboolean add_variants(Reader *o, const RankSet *ranks, const Trips *t,
                             const EncodedSequence *sequences, gsize n_sequences)
{
    Member *m = o->m;
    gsize n_orders = 0;
    while (n_orders < n_sequences
           && sequences[n_sequences - 1 - n_orders].kind >= WEND_SEQUENCE_RECEIVES)
        n_orders++;
    g_autofree guint32 *sizes = g_new0(guint32, t->n);
    sizes[0] = t->of ? 0 : ranks->n;
    for (guint32 r = 0; t->of && r < ranks->n; r++)
        sizes[t->of[r]]++;
    for (guint v = 0; v < t->n; v++) {
        WendClass k = {.ranks = member_block(m, sizes[v], sizeof(guint)),
                       .n_sequences = n_sequences - n_orders,
                       .n_orders = n_orders};
        if (k.ranks)
            k.sequences = member_block(m, n_sequences, sizeof(WendSequence));
        ClassData d = {.n_variants = v == 0 ? t->n : 0};
        if (k.sequences)
            d.sequences = member_block(m, n_sequences, sizeof(SequenceData));
        if (!d.sequences)
            return FALSE;
        g_array_append_val(o->classes, k);
        g_array_append_val(o->data, d);
    }
    return TRUE;
}

/* Adds the classes of one class of the archive. */
static gboolean add_classes(Reader *o, const RankSet *ranks, const Trips *t,
                            const EncodedSequence *sequences, gsize n_sequences)
{
    Member *m = o->m;
    WendProgram *p = m->p;
    guint first = o->classes->len;
    if (!add_variants(o, ranks, t, sequences, n_sequences))
        return FALSE;
    g_autofree guint32 *expanded = rankset_expand(ranks);
    for (guint32 r = 0; r < ranks->n; r++) {
        WendClass *k = &g_array_index(o->classes, WendClass, first + (t->of ? t->of[r] : 0));
        if (p->class_of[expanded[r]] != G_MAXUINT)
            return member_bad(m, "a rank is in two classes");
        p->class_of[expanded[r]] = first + (t->of ? t->of[r] : 0);
        ((guint *)k->ranks)[k->n_ranks++] = expanded[r];
    }
    for (gsize q = 0; q < n_sequences; q++) {
        const EncodedSequence *told = &sequences[q];
        if (told->kind >= WEND_SEQUENCE_KINDS || told->rule >= p->n_rules)
            return member_bad(m, "a sequence starts with a rule that is not there");
        if (q > 0 && sequences[q - 1].kind > told->kind)
            return member_bad(m, "sequences of a class are in the wrong order");
        g_autoptr(GArray) open = open_below(o, (guint)told->rule);
        for (guint v = 0; v < t->n; v++) {
            WendSequence *s =
                (WendSequence *)&g_array_index(o->classes, WendClass, first + v).sequences[q];
            *s = (WendSequence){told->kind, told->id, (guint)told->rule};
            if (!close_rules(o, open, t->trips ? t->trips + (gsize)v * t->n_trips : NULL,
                             t->n_trips, &s->rule))
                return FALSE;
        }
    }
    return TRUE;
}

/* Reads the trip counts of a class with N sequences, and adds its classes. */
static gboolean read_class(Reader *o, EncodedClass *k, gsize n, const EncodedSequence *sequences)
{
    Member *m = o->m;
    Trips *trips = &k->trips;
    if (trips->n > 1 && !read_trips(m, trips))
        return FALSE;
    if ((guint64)o->classes->len + trips->n > m->p->ranks)
        return member_bad(m, "has more classes than ranks");
    if ((guint64)trips->n * n > program_most((gsize)(m->c.end - m->c.p)))
        return member_bad(m, "has more sequences than it can hold");
    return (!m->c.failed || member_bad(m, "truncated"))
           && add_classes(o, &k->ranks, trips, sequences, n);
}

/* Delta sequences may claim many sequences in few bytes. The parts that follow have a byte or two
 * for each sequence that has calls, which limits the number. */
enum { CLASSES_PER_BYTE = 64 };

static guint64 classes_most(const Member *m)
{
    return CLASSES_PER_BYTE * (guint64)(m->c.end - m->c.p);
}

/* The sequences of all classes. N and FIRST: the number of sequences of each class, and its first
 * one. */
typedef struct {
    guint64 *n;
    gsize *first;
    EncodedSequence *sequences;
} EncodedClasses;

static gboolean read_encoded(Member *m, gsize n, EncodedClasses *told)
{
    AUTO(DeltaSequence) counts = delta_sequence_decode(&m->c, n, NULL, 0);
    guint64 most = classes_most(m), all = 0;
    told->n = g_new(guint64, n + 1);
    told->first = g_new(gsize, n + 1);
    for (gsize i = 0; i < n; i++) {
        told->first[i] = (gsize)all;
        /* A negative number becomes a large one. */
        told->n[i] = counts ? (guint64)delta_sequence_at(counts, i) : G_MAXUINT64;
        if (told->n[i] > most || (all += told->n[i]) > most)
            return member_bad(m, "has more sequences than it can hold");
    }
    if (!member_admits(m, all, sizeof(EncodedSequence)))
        return FALSE;
    told->sequences = g_new(EncodedSequence, all + 1);
    if (all == 0)
        return TRUE;
    const WendProgram *p = m->p;
    AUTO(DeltaSequence) kinds = delta_sequence_decode(&m->c, all, p->constants, p->n_constants);
    AUTO(DeltaSequence)
    ids = kinds ? delta_sequence_decode(&m->c, all, p->constants, p->n_constants) : NULL;
    AUTO(DeltaSequence)
    rules = ids ? delta_sequence_decode(&m->c, all, p->constants, p->n_constants) : NULL;
    if (!rules)
        return member_bad(m, "truncated");
    for (gsize i = 0; i < all; i++)
        told->sequences[i] =
            (EncodedSequence){(guint64)delta_sequence_at(kinds, i), delta_sequence_at(ids, i),
                              (guint64)delta_sequence_at(rules, i)};
    return TRUE;
}

static gboolean read_columns(Reader *o, GArray *classes)
{
    EncodedClasses told = {0};
    gboolean good = classes->len == 0 || read_encoded(o->m, classes->len, &told);
    for (guint i = 0; i < classes->len && good; i++) {
        EncodedClass *k = &g_array_index(classes, EncodedClass, i);
        const EncodedSequence *sequences = told.sequences + told.first[i];
        good = read_class(o, k, (gsize)told.n[i], sequences);
    }
    g_free(told.n);
    g_free(told.first);
    g_free(told.sequences);
    return good;
}

/* Reads the numbers of ranks and of classes. */
static gboolean read_counts(Member *m, gsize *n_classes)
{
    WendProgram *p = m->p;
    guint64 world = cursor_unsigned(&m->c);
    if (m->c.failed || world == 0 || world > RANKSET_MAX)
        return member_bad(m, "the number of ranks makes no sense");
    if (p->class_of && world != p->ranks)
        return member_bad(m, "another member of the archive has another number of ranks");
    p->ranks = (guint)world;
    if (!p->class_of) {
        p->class_of = member_block(m, world, sizeof(guint));
        if (!p->class_of)
            return FALSE;
        memset(p->class_of, 0xff, world * sizeof(guint));
    }
    *n_classes = (gsize)cursor_unsigned(&m->c);
    return (!m->c.failed && *n_classes <= world && *n_classes <= classes_most(m))
           || member_bad(m, "has more classes than ranks, or than it can hold");
}

/* Reads the rank sets of all classes to CLASSES (EncodedClass), which is empty. */
static gboolean read_sets(Member *m, GArray *classes)
{
    WendProgram *p = m->p;
    gsize n = 0;
    if (!read_counts(m, &n))
        return FALSE;
    if (!member_admits(m, n, CLASS_MORE))
        return FALSE;
    g_array_set_size(classes, (guint)n);
    g_autofree RankSet *sets = g_new0(RankSet, n + 1);
    gboolean good = n == 0 || ranksets_decode(sets, (guint)n, &m->c, p->ranks);
    for (guint i = 0; i < n; i++)
        g_array_index(classes, EncodedClass, i) = (EncodedClass){.ranks = sets[i], .trips.n = 1};
    return good || member_bad(m, "a class has a rank that is not there");
}

/* Reads the rank sets of all classes, and the variant of each rank. */
static gboolean read_ranks(Member *m, GArray *classes)
{
    if (!read_sets(m, classes))
        return FALSE;
    guint n = classes->len;
    AUTO(DeltaSequence) variants = n ? delta_sequence_decode(&m->c, n, NULL, 0) : NULL;
    for (guint i = 0; i < n; i++) {
        EncodedClass *k = &g_array_index(classes, EncodedClass, i);
        gint64 n_variants = variants ? delta_sequence_at(variants, i) : -1;
        /* A negative number becomes a large one. */
        if (n_variants != 1 && !read_variants(m, k->ranks.n, (guint64)n_variants, &k->trips))
            return FALSE;
    }
    return TRUE;
}

gboolean read_classes(Member *m)
{
    WendProgram *p = m->p;
    g_autoptr(GArray) classes = g_array_new(FALSE, TRUE, sizeof(EncodedClass));
    g_array_set_clear_func(classes, (GDestroyNotify)encoded_class_clear);
    Reader o = {.m = m,
                .classes = g_array_new(FALSE, FALSE, sizeof(WendClass)),
                .data = g_array_new(FALSE, FALSE, sizeof(ClassData)),
                .rules = g_array_new(FALSE, FALSE, sizeof(WendRule)),
                .made = g_new0(guint32, p->n_rules + 1),
                .known = map_of_bytes(NULL),
                .left = program_most((gsize)(m->c.end - m->c.p))};
    g_array_append_vals(o.rules, p->rules, p->n_rules);
    find_open(&o);
    gboolean good = read_ranks(m, classes) && read_columns(&o, classes);
    good = good && hand_over(&o);
    g_array_unref(o.classes);
    g_array_unref(o.data);
    g_array_unref(o.rules);
    map_unref(o.known);
    g_free(o.open);
    g_free(o.made);
    if (good && !p->is_partial && !program_complete(p, TRUE, m->c.allowance))
        return member_bad(m, "a rank is in no class");
    return good;
}
