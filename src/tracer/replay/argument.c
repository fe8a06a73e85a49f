/* SPDX-License-Identifier: BSD-3-Clause */
/* argument.c: goes through the words of a call's arguments. lib/record/layout.c does so where there
 * is GLib, and decodes them; functions.h says for both which word is where. */
#include "divergence.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/record/record.h"

typedef struct {
    const CallWords *call;
    size_t shape, slot; /* how far it has come */
} Place;

static int64_t from_shape(Place *p)
{
    size_t at = p->shape++;
    return at < p->call->n_shape ? p->call->shape[at] : 0;
}

static void element(Place *p, const WendParam *of)
{
    int64_t first;
    switch (of->kind) {
    case WEND_KIND_ADDRESS:
        first = from_shape(p);
        if (first == WEND_DISTANCE) {
            p->shape += 2;
            p->slot += 2;
        } else {
            p->slot += word_segment_has_second(first);
        }
        break;
    case WEND_KIND_BUF:
    case WEND_KIND_ATTR:
        p->slot += word_segment_has_second(from_shape(p));
        break;
    case WEND_KIND_TARGET:
        p->slot += 2;
        break;
    case WEND_KIND_STATUS:
    case WEND_KIND_SKIP:
    case WEND_KIND_NEIGHBOURS:
        break;
    default:
        *(param_is_in_slots(of) ? &p->slot : &p->shape) += 1;
    }
}

/* False: what follows cannot be told from it. */
static bool parameter(Place *p, const WendParam *of)
{
    if (of->kind == WEND_KIND_STRING) {
        int64_t n = from_shape(p);
        p->shape += n > 0 ? ((size_t)n + 7) / 8 : 0;
        return true;
    }
    if (of->kind == WEND_KIND_STRINGS || of->kind == WEND_KIND_STRINGS2)
        return false;
    if (!of->array) {
        element(p, of);
        return true;
    }
    int64_t n = from_shape(p);
    if (n == WEND_PROGRESSIONS)
        return false;
    for (int64_t i = 0; i < n && p->shape <= p->call->n_shape && p->slot <= p->call->n_slots; i++)
        element(p, of);
    return true;
}

static bool is_memory(WendKind kind)
{
    return kind == WEND_KIND_BUF || kind == WEND_KIND_ADDRESS || kind == WEND_KIND_ATTR;
}

/* Whether the words of a parameter, between two places of each call, are the same. */
static bool same_row(const int64_t *a, size_t n_a, size_t from_a, size_t to_a, const int64_t *b,
                     size_t n_b, size_t from_b, size_t to_b)
{
    if (to_a - from_a != to_b - from_b || to_a > n_a || to_b > n_b)
        return false;
    for (size_t i = 0; i < to_a - from_a; i++)
        if (a[from_a + i] != b[from_b + i])
            return false;
    return true;
}

static bool same_words(const Place *from_a, const Place *to_a, const Place *from_b,
                       const Place *to_b)
{
    const CallWords *a = to_a->call, *b = to_b->call;
    return same_row(a->shape, a->n_shape, from_a->shape, to_a->shape, b->shape, b->n_shape,
                    from_b->shape, to_b->shape)
           && same_row(a->slots, a->n_slots, from_a->slot, to_a->slot, b->slots, b->n_slots,
                       from_b->slot, to_b->slot);
}

/* Whether two offsets may be of one place in a block that starts at other addresses: the program
 * aligns what it uses, to at most ALIGNED_MOST, and blocks and frames to STARTS. */
static bool is_near(int64_t a, int64_t b)
{
    enum { ALIGNED_MOST = 64, STARTS = 16 };
    uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    return apart < ALIGNED_MOST && apart % STARTS == 0;
}

/* Both are mappings. What lies in which is up to an allocator that Wend does not know. */
static bool both_mapped(int64_t a, int64_t b)
{
    return word_is_segment(a) && segment_kind(a) == WEND_SEGMENT_MAP && word_is_segment(b)
           && segment_kind(b) == WEND_SEGMENT_MAP;
}

/* Whether a buffer, between two places, is one that the call does not touch. */
static bool is_untouched(const Place *from, const Place *to)
{
    const CallWords *c = to->call;
    return to->slot == from->slot + 1 && to->slot <= c->n_slots
           && c->slots[from->slot] == WEND_ABSENT;
}

/* Goes on by one element of kind OF in both calls. */
static bool same_element(Place *a, Place *b, const WendParam *of)
{
    const Place from_a = *a, from_b = *b;
    element(a, of);
    element(b, of);
    if (same_words(&from_a, a, &from_b, b))
        return true;
    if (of->kind == WEND_KIND_BUF && is_untouched(&from_a, a) && is_untouched(&from_b, b))
        return true;
    const CallWords *x = a->call, *y = b->call;
    if (!is_memory(of->kind) || a->slot > x->n_slots || b->slot > y->n_slots
        || a->slot - from_a.slot != b->slot - from_b.slot)
        return false;
    if (a->shape == from_a.shape + 1 && b->shape == from_b.shape + 1 && a->shape <= x->n_shape
        && b->shape <= y->n_shape && both_mapped(x->shape[from_a.shape], y->shape[from_b.shape]))
        return true;
    if (!same_row(x->shape, x->n_shape, from_a.shape, a->shape, y->shape, y->n_shape, from_b.shape,
                  b->shape))
        return false;
    /* a place, or two and their distance */
    size_t n = a->shape - from_a.shape, offsets = a->slot - from_a.slot;
    bool aligned = true;
    for (size_t i = n > 1; i < n; i++) {
        int64_t word = x->shape[from_a.shape + i];
        if (!word_is_segment(word))
            return false;
        aligned &=
            segment_kind(word) == WEND_SEGMENT_HEAP || segment_kind(word) == WEND_SEGMENT_STACK;
    }
    for (size_t i = 0; aligned && i < offsets; i++)
        aligned = is_near(x->slots[from_a.slot + i], y->slots[from_b.slot + i]);
    return aligned;
}

/* Goes on by one parameter of memory in both calls. */
static bool same_memory(Place *a, Place *b, const WendParam *of)
{
    int64_t n = 1;
    if (of->array) {
        n = from_shape(a);
        if (from_shape(b) != n || n == WEND_PROGRESSIONS)
            return false;
    }
    for (int64_t i = 0; i < n && a->shape <= a->call->n_shape; i++)
        if (!same_element(a, b, of))
            return false;
    return true;
}

/* What is behind the inputs of a call is one address (MPI_Get_address). */
static bool same_address(const WendFunction *f, Place *a, Place *b)
{
    const WendParam *address = NULL;
    for (int i = 0; i < f->n_params; i++)
        if (f->params[i].kind == WEND_KIND_ADDRESS && f->params[i].dir == WEND_DIR_OUT)
            address = &f->params[i];
    return address && a->shape < a->call->n_shape && b->shape < b->call->n_shape
           && same_element(a, b, address) && a->shape == a->call->n_shape
           && b->shape == b->call->n_shape;
}

bool argument_same_but_layout(const CallWords *recorded, const CallWords *made, bool whole)
{
    if (recorded->function < 0 || (size_t)recorded->function >= mpi_n_functions)
        return false;
    const WendFunction *f = &mpi_functions[recorded->function];
    Place a = {recorded, 1, 0}, b = {made, 1, 0};
    bool known = true;
    for (int i = 0; known && i < f->n_params; i++) {
        const WendParam *of = &f->params[i];
        const Place from_a = a, from_b = b;
        if (!param_has_in(of))
            continue;
        if (is_memory(of->kind)) {
            if (!same_memory(&a, &b, of))
                return false;
            continue;
        }
        known = parameter(&a, of) && parameter(&b, of);
        if (known && !same_words(&from_a, &a, &from_b, &b))
            return false;
        if (!known) {
            a = from_a;
            b = from_b;
        }
    }
    if (known && !whole)
        return true;
    const Place ends[2] = {{recorded, recorded->n_shape, recorded->n_slots},
                           {made, made->n_shape, made->n_slots}};
    return same_words(&a, &ends[0], &b, &ends[1]) || same_address(f, &a, &b);
}

bool argument_same_outcome(int function, const int64_t *recorded, const int64_t *made, size_t n)
{
    const WendFunction *f = &mpi_functions[function];
    bool has_address = false;
    for (int i = 0; i < f->n_params; i++)
        has_address |= is_memory(f->params[i].kind) && f->params[i].place == WEND_PLACE_OUTCOME;
    for (size_t i = 0; i < n; i++) {
        if (has_address && both_mapped(recorded[i], made[i]))
            i++; /* its offset */
        else if (recorded[i] != made[i])
            return false;
    }
    return true;
}

/* The word of a parameter between two places, if it is one number, or one of MPI's constants. */
static bool single_word(const Place *from, const Place *to, const WendParam *of, int64_t *word)
{
    const CallWords *c = to->call;
    bool in_slots =
             kind_is_number(of->kind) && to->slot == from->slot + 1 && to->slot <= c->n_slots,
         in_shape =
             of->kind == WEND_KIND_ENUM && to->shape == from->shape + 1 && to->shape <= c->n_shape;
    *word = in_slots ? c->slots[from->slot] : in_shape ? c->shape[from->shape] : 0;
    return in_slots || in_shape;
}

static bool is_window(int64_t word)
{
    return word_is_segment(word) && segment_kind(word) == WEND_SEGMENT_WIN;
}

/* The difference in the parameter of memory that begins at these places. */
static DifferentArgument memory_difference(const WendParam *of, const Place *a, const Place *b)
{
    const CallWords *x = a->call, *y = b->call;
    DifferentArgument d = {.name = of->name};
    if (of->array || of->kind != WEND_KIND_BUF || a->shape >= x->n_shape || b->shape >= y->n_shape)
        return d;
    d.recorded = x->shape[a->shape];
    d.made = y->shape[b->shape];
    d.window = is_window(d.recorded) || is_window(d.made);
    d.recorded_offset = a->slot < x->n_slots ? x->slots[a->slot] : 0;
    d.made_offset = b->slot < y->n_slots ? y->slots[b->slot] : 0;
    return d;
}

DifferentArgument argument_difference(const CallWords *recorded, const CallWords *made,
                                      MemoryComparison memory)
{
    DifferentArgument none = {.name = NULL};
    if (recorded->function < 0 || (size_t)recorded->function >= mpi_n_functions)
        return none;
    const WendFunction *f = &mpi_functions[recorded->function];
    Place a = {recorded, 1, 0}, b = {made, 1, 0};
    for (int i = 0; i < f->n_params; i++) {
        const WendParam *of = &f->params[i];
        const Place from_a = a, from_b = b;
        if (!param_has_in(of))
            continue;
        if (memory == MEMORY_BUT_LAYOUT && is_memory(of->kind)) {
            if (same_memory(&a, &b, of))
                continue;
            return memory_difference(of, &from_a, &from_b);
        }
        bool known = parameter(&a, of) && parameter(&b, of);
        if ((known && same_words(&from_a, &a, &from_b, &b))
            || (memory == MEMORY_NOT_COMPARED && is_memory(of->kind)))
            continue;
        if (!known && recorded->n_shape == made->n_shape && recorded->n_slots == made->n_slots) {
            /* all that is left is one stretch */
            const Place ends[2] = {{recorded, recorded->n_shape, recorded->n_slots},
                                   {made, made->n_shape, made->n_slots}};
            if (same_words(&from_a, &ends[0], &from_b, &ends[1]))
                return none;
        }
        int64_t words[2];
        bool number = known && !of->array && single_word(&from_a, &a, of, &words[0])
                      && single_word(&from_b, &b, of, &words[1]);
        return (DifferentArgument){.name = of->name ? of->name : "rank",
                                   .numbers = number,
                                   .recorded = number ? words[0] : 0,
                                   .made = number ? words[1] : 0};
    }
    return none;
}

/* -- text -- */

const char *memory_text(MemoryText *m, int64_t word, int64_t offset)
{
    static const char *const kinds[] = {
        [WEND_SEGMENT_HEAP] = "heap",         [WEND_SEGMENT_STACK] = "stack",
        [WEND_SEGMENT_STATIC] = "static",     [WEND_SEGMENT_MPI] = "mpi",
        [WEND_SEGMENT_WIN] = "memory of win", [WEND_SEGMENT_MAP] = "map",
        [WEND_SEGMENT_REMOTE] = "remote",     [WEND_SEGMENT_CUDA] = "cuda"};
    WordText constant;
    char behind[24] = "";
    if (offset != 0)
        snprintf(behind, sizeof behind, "%+" PRId64, offset);
    if (word_is_segment(word))
        snprintf(m->text, sizeof m->text, "%s#%" PRIu32 "%s", kinds[segment_kind(word)],
                 word_segment_number(word), behind);
    else
        snprintf(m->text, sizeof m->text, "%.60s", word_text(&constant, word));
    return m->text;
}

const char *word_text(WordText *w, int64_t word)
{
    if (word_is_const(word) && word_const_index(word) < mpi_n_constants)
        return mpi_constants[word_const_index(word)];
    if (word_is_special(word))
        return "nothing";
    snprintf(w->text, sizeof w->text, "%" PRId64, word);
    return w->text;
}

static void append(CallText *t, size_t *n, const char *text)
{
    int more = *n < sizeof t->text ? snprintf(t->text + *n, sizeof t->text - *n, "%s", text) : 0;
    *n += more > 0 ? (size_t)more : 0;
}

const char *call_text(CallText *t, const CallWords *call)
{
    if (call->function < 0 || (size_t)call->function >= mpi_n_functions)
        return "an unknown function";
    const WendFunction *f = &mpi_functions[call->function];
    Place p = {call, 1, 0};
    size_t n = 0;
    const char *before = "(";
    append(t, &n, f->name);
    for (int i = 0; i < f->n_params; i++) {
        const WendParam *of = &f->params[i];
        size_t slot = p.slot;
        if (!param_has_in(of))
            continue;
        if (!parameter(&p, of))
            break;
        if (of->array || p.slot != slot + 1 || p.slot > call->n_slots
            || (of->kind != WEND_KIND_RANK && of->kind != WEND_KIND_TAG))
            continue;
        WordText word;
        append(t, &n, before);
        append(t, &n, of->name);
        append(t, &n, "=");
        append(t, &n, word_text(&word, call->slots[slot]));
        before = ", ";
    }
    if (before[0] == ',')
        append(t, &n, ")");
    return t->text;
}
