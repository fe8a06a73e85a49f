/* SPDX-License-Identifier: BSD-3-Clause */
/* datatype-layout.c: layouts of datatypes.
 *
 * For most datatypes the recorded size, bounds and true bounds are enough. A datatype of absolute
 * addresses has other bounds in each run. Its layout follows from the calls that made it and its
 * parts. */
#include "src/proxygen/analysis/call-analysis.h"

#include <string.h>

enum { HUGE_BITS = 56, DEPTH_LIMIT = 80, CACHED_PIECES = 1 << 20 };
static const gint64 huge = (gint64)1 << HUGE_BITS;

gint64 datatype_layout_sum(gint64 a, gint64 b)
{
    return CLAMP(CLAMP(a, -huge, huge) + CLAMP(b, -huge, huge), -huge, huge);
}

gint64 datatype_layout_product(gint64 a, gint64 b)
{
    gint64 product;
    if (__builtin_mul_overflow(CLAMP(a, -huge, huge), CLAMP(b, -huge, huge), &product))
        return (a < 0) == (b < 0) ? huge : -huge;
    return CLAMP(product, -huge, huge);
}

struct DatatypeLayouts {
    Plan *plan;
    Lifetimes *live;
    CallPattern *call; /* of the constructor that is examined */
    GHashTable *cache; /* definition << 32 | rank -> DatatypeLayout, of datatypes with addresses */
    guint cached;      /* number of pieces in the cache */
    guint depth;
};

/* -- pieces -- */

static void add_piece(GArray *pieces, gint64 segment, gint64 low, gint64 high)
{
    /* neighbouring pieces mostly follow each other */
    for (guint i = pieces->len; i-- > 0 && pieces->len - i <= 8;) {
        BytePiece *p = &g_array_index(pieces, BytePiece, i);
        if (p->segment != segment)
            continue;
        p->low = MIN(p->low, low);
        p->high = MAX(p->high, high);
        return;
    }
    BytePiece piece = {segment, low, high};
    g_array_append_val(pieces, piece);
}

static int compare_pieces(gconstpointer a, gconstpointer b)
{
    gint64 x = ((const BytePiece *)a)->segment, y = ((const BytePiece *)b)->segment;
    return x < y ? -1 : x > y;
}

/* Joins all pieces of a segment to one. */
static void join_pieces(GArray *pieces)
{
    guint n = 0;
    g_array_sort(pieces, compare_pieces);
    for (guint i = 0; i < pieces->len; i++) {
        BytePiece piece = g_array_index(pieces, BytePiece, i),
                  *last = n ? &g_array_index(pieces, BytePiece, n - 1) : NULL;
        if (last && last->segment == piece.segment)
            *last =
                (BytePiece){piece.segment, MIN(last->low, piece.low), MAX(last->high, piece.high)};
        else
            g_array_index(pieces, BytePiece, n++) = piece;
    }
    g_array_set_size(pieces, n);
}

void datatype_layout_place(const DatatypeLayout *layout, gint64 segment, gint64 at, gint64 count,
                           GArray *pieces)
{
    if (count <= 0)
        return;
    gint64 last = datatype_layout_product(count - 1, layout->extent);
    for (guint i = 0; i < layout->pieces->len; i++) {
        const BytePiece *p = &g_array_index(layout->pieces, BytePiece, i);
        /* Two addresses cannot be added: the datatype's address holds. */
        gint64 shift = p->segment != EXTENT_RELATIVE && segment != EXTENT_RELATIVE ? 0 : at;
        add_piece(pieces, p->segment == EXTENT_RELATIVE ? segment : p->segment,
                  datatype_layout_sum(p->low, datatype_layout_sum(shift, MIN(0, last))),
                  datatype_layout_sum(p->high, datatype_layout_sum(shift, MAX(0, last))));
    }
}

/* -- constructors -- */

/* COUNT elements of a datatype, at an offset in bytes and in extents of the datatype. */
typedef struct {
    gint64 type; /* word */
    guint input; /* for a handle: its number among the datatypes of the call */
    gint64 segment, at, at_elements, count;
} Placement;

typedef struct {
    GArray *placements;
    gboolean resized;
    gint64 segment, lb, extent;
} Recipe;

static void add_placement(Recipe *recipe, gint64 type, guint input, gint64 segment, gint64 at,
                          gint64 at_elements, gint64 count)
{
    Placement p = {type, input, segment, at, at_elements, count};
    if (count > 0)
        g_array_append_val(recipe->placements, p);
}

static gint64 element(const CallPattern *c, const Arg *arg, gint64 i, guint rank, gint64 fallback)
{
    if (!arg || !arg->has_in)
        return fallback;
    if (!arg->param->array)
        return call_pattern_number(c, arg, rank, fallback);
    return i < arg->n_in ? call_pattern_value(c, arg->in[i], rank) : fallback;
}

/* Reads element I, an address or the target of a distance. A distance counts from the address that
 * it was made for. Returns FALSE if the address is unknown. */
static gboolean address(const CallPattern *c, const Arg *arg, gint64 i, guint rank, gint64 *segment,
                        gint64 *at)
{
    gint64 word = arg->in[4 * i].value;
    *segment = word_is_segment(word) ? word : EXTENT_RELATIVE;
    *at = call_pattern_value(c, arg->in[4 * i + 1], rank);
    return word_is_segment(word) || word == WEND_PLAIN;
}

/* Reads lists of blocks: indexed, hindexed, struct and similar constructors. */
static void read_blocks(const CallPattern *c, const Arg *displacements, guint rank, Recipe *recipe)
{
    const Arg *lengths = call_pattern_arg_named(c, "array_of_blocklengths"),
              *types = call_pattern_arg_named(c, "array_of_types");
    if (!lengths)
        lengths = call_pattern_arg_named(c, "blocklength");
    if (!types)
        types = call_pattern_arg_of_kind(c, WEND_KIND_DATATYPE);
    guint input = 0;
    for (gint64 i = 0; i < displacements->n_in; i++) {
        gint64 type = types->in[types->param->array ? MIN(i, types->n_in - 1) : 0].value,
               count = element(c, lengths, i, rank, 1);
        if (displacements->param->kind == WEND_KIND_ADDRESS) {
            gint64 segment, at;
            if (address(c, displacements, i, rank, &segment, &at))
                add_placement(recipe, type, input, segment, at, 0, count);
        } else {
            add_placement(recipe, type, input, EXTENT_RELATIVE, 0,
                          call_pattern_value(c, displacements->in[i], rank), count);
        }
        input += types->param->array && word_is_handle(type);
    }
}

/* The number of elements of a whole array, of which the type selects a part. */
static gint64 product_of(const CallPattern *c, const Arg *sizes, guint rank)
{
    gint64 product = 1;
    for (gint64 i = 0; sizes && i < sizes->n_in; i++)
        product = datatype_layout_product(product, call_pattern_value(c, sizes->in[i], rank));
    return product;
}

static void read_constructor(const CallPattern *c, guint rank, Recipe *recipe)
{
    guint operation = c->function->operation;
    const Arg *old = call_pattern_arg_of_kind(c, WEND_KIND_DATATYPE),
              *displacements = call_pattern_arg_named(c, "array_of_displacements");
    if (!old || !old->has_in || (old->param->array ? old->n_in : 1) < 1)
        return;
    gint64 type = old->in[0].value,
           count = element(c, call_pattern_arg_named(c, "count"), 0, rank, 1);
    if (displacements && displacements->has_in) {
        read_blocks(c, displacements, rank, recipe);
    } else if (operation == WEND_FN_MPI_Type_vector
               || operation == WEND_FN_MPI_Type_create_hvector) {
        gint64 block = element(c, call_pattern_arg_named(c, "blocklength"), 0, rank, 1),
               stride = element(c, call_pattern_arg_named(c, "stride"), 0, rank, 0);
        gint64 last = count > 0 ? datatype_layout_product(count - 1, stride) : 0;
        gboolean bytes = operation == WEND_FN_MPI_Type_create_hvector;
        add_placement(recipe, type, 0, EXTENT_RELATIVE, 0, 0, count > 0 ? block : 0);
        const Arg *distance = bytes ? call_pattern_arg_named(c, "stride") : NULL;
        if (distance && distance->has_in && distance->param->kind == WEND_KIND_ADDRESS
            && word_is_segment(distance->in[0].value))
            add_placement(recipe, type, 0, distance->in[0].value,
                          call_pattern_value(c, distance->in[1], rank), 0, count > 1 ? block : 0);
        else
            add_placement(recipe, type, 0, EXTENT_RELATIVE, bytes ? last : 0, bytes ? 0 : last,
                          count > 0 ? block : 0);
    } else if (operation == WEND_FN_MPI_Type_create_resized) {
        const Arg *lb = call_pattern_arg_named(c, "lb"),
                  *extent = call_pattern_arg_named(c, "extent");
        gint64 segment;
        add_placement(recipe, type, 0, EXTENT_RELATIVE, 0, 0, 1);
        recipe->resized = address(c, lb, 0, rank, &recipe->segment, &recipe->lb)
                          && address(c, extent, 0, rank, &segment, &recipe->extent)
                          && segment == EXTENT_RELATIVE;
    } else if (call_pattern_arg_named(c, "array_of_sizes")) {
        add_placement(recipe, type, 0, EXTENT_RELATIVE, 0, 0,
                      product_of(c, call_pattern_arg_named(c, "array_of_sizes"), rank));
    } else if (call_pattern_arg_named(c, "array_of_gsizes")) {
        add_placement(recipe, type, 0, EXTENT_RELATIVE, 0, 0,
                      product_of(c, call_pattern_arg_named(c, "array_of_gsizes"), rank));
    } else {
        /* MPI_Type_contiguous, MPI_Type_dup, and MPI_Type_get_contents, which gives a part of the
         * datatype. */
        add_placement(recipe, type, 0, EXTENT_RELATIVE, 0, 0, count);
    }
}

/* -- layouts -- */

static void datatype_layout_clear(DatatypeLayout *layout)
{
    if (layout->pieces)
        g_array_unref(layout->pieces);
}

static void layout_free(gpointer layout)
{
    datatype_layout_clear(layout);
    g_free(layout);
}

static DatatypeLayout layout_of_facts(gint64 lb, gint64 extent, gint64 true_lb, gint64 true_extent)
{
    DatatypeLayout layout = {lb, extent, EXTENT_RELATIVE,
                             g_array_new(FALSE, FALSE, sizeof(BytePiece))};
    BytePiece piece = {EXTENT_RELATIVE, true_lb, datatype_layout_sum(true_lb, true_extent)};
    if (true_extent > 0)
        g_array_append_val(layout.pieces, piece);
    return layout;
}

static void layout_of_definition(DatatypeLayouts *l, guint definition, guint rank,
                                 DatatypeLayoutFunction function, gpointer data);

typedef struct {
    DatatypeLayout *made;
    const Placement *placement;
    gint64 ub, alignment;
    gboolean first, unrelated;
} Building;

static void build(const DatatypeLayout *part, gpointer data)
{
    Building *b = data;
    const Placement *p = b->placement;
    gint64 at = datatype_layout_sum(p->at, datatype_layout_product(p->at_elements, part->extent)),
           last = datatype_layout_product(p->count - 1, part->extent);
    gint64 lb = datatype_layout_sum(part->lb, datatype_layout_sum(at, MIN(0, last))),
           ub = datatype_layout_sum(datatype_layout_sum(part->lb, part->extent),
                                    datatype_layout_sum(at, MAX(0, last)));
    gint64 segment = p->segment != EXTENT_RELATIVE ? p->segment : part->segment;
    datatype_layout_place(part, p->segment, at, p->count, b->made->pieces);
    b->unrelated |= !b->first && segment != b->made->segment;
    b->made->segment = segment;
    b->made->lb = b->first ? lb : MIN(b->made->lb, lb);
    b->ub = b->first ? ub : MAX(b->ub, ub);
    b->first = FALSE;
    /* the extent is a multiple of the alignment */
    b->alignment = MAX(b->alignment, MIN(16, part->extent & -part->extent));
}

static DatatypeLayout layout_of_recipe(DatatypeLayouts *l, const Definition *d,
                                       const Recipe *recipe, guint rank)
{
    DatatypeLayout made = {0, 0, EXTENT_RELATIVE, g_array_new(FALSE, FALSE, sizeof(BytePiece))};
    Building b = {.made = &made, .first = TRUE, .alignment = 1};
    for (guint i = 0; i < recipe->placements->len; i++) {
        const Placement *p = b.placement = &g_array_index(recipe->placements, Placement, i);
        if (word_is_handle(p->type) && p->input < d->n_inputs && d->inputs[p->input] != 0)
            layout_of_definition(l, d->inputs[p->input], rank, build, &b);
        else
            datatype_layout_foreach(l, p->type, rank, build, &b);
    }
    join_pieces(made.pieces);
    gint64 extent = datatype_layout_sum(b.ub, -made.lb);
    made.extent = b.unrelated ? 0 : (extent + b.alignment - 1) / b.alignment * b.alignment;
    if (recipe->resized) {
        made.segment = recipe->segment;
        made.lb = recipe->lb;
        made.extent = recipe->extent;
    }
    return made;
}

/* The layout of a datatype with absolute addresses. */
static void layout_of_addresses(DatatypeLayouts *l, guint definition, guint rank,
                                DatatypeLayoutFunction function, gpointer data)
{
    gint64 key = (gint64)definition << 32 | rank;
    DatatypeLayout *known = g_hash_table_lookup(l->cache, &key);
    if (known) {
        function(known, data);
        return;
    }
    if (l->depth == DEPTH_LIMIT)
        return;
    const Definition *d = lifetimes_definition(l->live, definition);
    Recipe recipe = {.placements = g_array_new(FALSE, FALSE, sizeof(Placement))};
    call_pattern_decode(l->call, d->terminal);
    read_constructor(l->call, rank, &recipe);
    l->depth++;
    DatatypeLayout made = layout_of_recipe(l, d, &recipe, rank);
    l->depth--;
    g_array_unref(recipe.placements);
    function(&made, data);
    if (l->depth == 0 && l->cached > CACHED_PIECES) { /* no layout of the cache is in use */
        g_hash_table_remove_all(l->cache);
        l->cached = 0;
    }
    l->cached += made.pieces->len + 1;
    g_hash_table_insert(l->cache, g_memdup2(&key, sizeof key), g_memdup2(&made, sizeof made));
}

static void layout_of_definition(DatatypeLayouts *l, guint definition, guint rank,
                                 DatatypeLayoutFunction function, gpointer data)
{
    const Definition *d = lifetimes_definition(l->live, definition);
    gint64 lb = lifetimes_fact(l->live, d, 1, rank);
    if (lb == WEND_ABSENT && d->absolute) {
        layout_of_addresses(l, definition, rank, function, data);
        return;
    }
    if (word_is_special(lb))
        return; /* another rank's */
    DatatypeLayout layout =
        layout_of_facts(lb, lifetimes_fact(l->live, d, 2, rank),
                        lifetimes_fact(l->live, d, 3, rank), lifetimes_fact(l->live, d, 4, rank));
    function(&layout, data);
    datatype_layout_clear(&layout);
}

void datatype_layout_foreach(DatatypeLayouts *l, gint64 datatype, guint rank,
                             DatatypeLayoutFunction function, gpointer data)
{
    if (word_is_handle(datatype)) {
        const guint *definitions;
        guint n = lifetimes_definitions(l->live, WEND_KIND_DATATYPE, datatype, rank, &definitions);
        g_autofree guint *mine = g_memdup2(definitions, n * sizeof *definitions);
        for (guint i = 0; i < n; i++)
            layout_of_definition(l, mine[i], rank, function, data);
        return;
    }
    gint64 facts[5] = {0};
    if (!program_datatype(l->plan->program, datatype, facts)) {
        if (!word_is_const(datatype))
            return;
        /* not in the archive: no predefined type is larger than a complex long double */
        facts[2] = facts[4] = 32;
    }
    DatatypeLayout layout = layout_of_facts(facts[1], facts[2], facts[3], facts[4]);
    function(&layout, data);
    datatype_layout_clear(&layout);
}

DatatypeLayouts *datatype_layouts_new(Plan *plan, Lifetimes *live)
{
    DatatypeLayouts *l = g_new0(DatatypeLayouts, 1);
    l->plan = plan;
    l->live = live;
    l->call = call_pattern_new(plan->program);
    l->cache = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, layout_free);
    return l;
}

void datatype_layouts_free(DatatypeLayouts *l)
{
    if (!l)
        return;
    call_pattern_free(l->call);
    g_hash_table_destroy(l->cache);
    g_free(l);
}
