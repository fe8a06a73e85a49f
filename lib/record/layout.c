/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c: see layout.h. */
#include "layout.h"

#include "progressions.h"

typedef struct {
    const int64_t *shape, *slots;
    uint32_t n_shape, n_slots, at_shape, at_slot;
    Layout *l;
    int16_t param;
    bool bad;
    Vector *origins; /* of LayoutOrigin, one for each word, or NULL */
    uint32_t origin; /* the slot of the word that is pushed next, or LAYOUT_OF_SHAPE */
} Split;             /* slots NULL: they are not known */

void layout_init(Layout *l)
{
    /* sized: data is then never NULL */
    l->args = vector_with_room(sizeof(LayoutArg), 16);
    l->words = vector_with_room(sizeof(int64_t), 16);
    l->slot_param = vector_with_room(sizeof(int16_t), 16);
    l->outcome = vector_with_room(sizeof(int16_t), 16);
}

void layout_clear(Layout *l)
{
    vector_unref(l->args);
    vector_unref(l->words);
    vector_unref(l->slot_param);
    vector_unref(l->outcome);
}

static int64_t from_shape(Split *s)
{
    if (s->at_shape < s->n_shape)
        return s->shape[s->at_shape++];
    s->bad = true;
    return 0;
}

static int64_t from_slots(Split *s)
{
    VECTOR_APPEND(s->l->slot_param, s->param);
    if (s->at_slot < s->n_slots) {
        int64_t word = s->slots ? s->slots[s->at_slot] : 0;
        s->origin = s->at_slot++;
        return word;
    }
    s->bad = true;
    return 0;
}

static void push(Split *s, int64_t word)
{
    VECTOR_APPEND(s->l->words, word);
    if (s->origins) {
        const LayoutOrigin origin = {s->origin, 0};
        VECTOR_APPEND(s->origins, origin);
    }
    s->origin = LAYOUT_OF_SHAPE;
}

/* Reads a length n. At least n / WORDS_EACH words must be left. A negative length says that there
 * is no array. */
static int64_t length(Split *s, int64_t words_each)
{
    int64_t n = from_shape(s);
    int64_t left = (int64_t)(s->n_shape - s->at_shape) + (s->n_slots - s->at_slot);
    if (n > 0 && n / words_each > left)
        s->bad = true;
    return s->bad ? 0 : n;
}

static int64_t string(Split *s)
{
    int64_t n = length(s, 8);
    for (int64_t i = 0; i < n && !s->bad; i += 8)
        push(s, from_shape(s));
    return n;
}

static int64_t strings(Split *s, bool of_strings)
{
    int64_t n = length(s, 1);
    for (int64_t i = 0; i < n && !s->bad; i++) {
        uint32_t at = s->l->words->len;
        push(s, 0);
        int64_t each = of_strings ? strings(s, false) : string(s);
        VECTOR_AT(s->l->words, int64_t, at) = each;
    }
    return n;
}

static void address(Split *s)
{
    int64_t segment = from_shape(s);
    if (segment != WEND_DISTANCE) {
        push(s, segment);
        push(s, word_segment_has_second(segment) ? from_slots(s) : 0);
        push(s, WEND_PLAIN);
        push(s, 0);
        return;
    }
    int64_t to = from_shape(s), from = from_shape(s);
    push(s, to);
    push(s, from_slots(s));
    push(s, from);
    push(s, from_slots(s));
    if (!word_is_segment(to) || !word_is_segment(from))
        s->bad = true;
}

/* A segment and an offset. A buffer that the call does not touch has none. */
static void place(Split *s)
{
    int64_t segment = from_shape(s);
    uint32_t at = s->l->words->len;
    push(s, segment);
    push(s, word_segment_has_second(segment) ? from_slots(s) : 0);
    int64_t *words = &VECTOR_AT(s->l->words, int64_t, at);
    if (!s->origins && words[1] == WEND_ABSENT) {
        words[0] = WEND_ABSENT;
        words[1] = 0;
    }
}

static void element(Split *s, const WendParam *p, bool out)
{
    switch (p->kind) {
    case WEND_KIND_ADDRESS:
        address(s);
        break;
    case WEND_KIND_BUF:
    case WEND_KIND_ATTR:
        place(s);
        break;
    case WEND_KIND_COMM:
    case WEND_KIND_DATATYPE: {
        int64_t handle = from_shape(s);
        push(s, handle);
        for (int i = 0; i < 5 && out; i++)
            push(s, word_is_handle(handle) ? from_slots(s) : 0);
        break;
    }
    case WEND_KIND_TARGET:
        push(s, from_slots(s));
        push(s, from_slots(s));
        break;
    default:
        push(s, param_is_in_slots(p) ? from_slots(s) : from_shape(s));
    }
}

/* Repeats the words of the first STRIDE elements for N elements. A word that comes from a slot
 * advances by a step each time. */
static void unfold_symbolic(Split *s, const WendParam *p, bool out, size_t first, int64_t n,
                            int64_t stride)
{
    const uint32_t width = layout_element_words(p, out),
                   number = p->kind == WEND_KIND_ADDRESS ? 1 : 0;
    vector_resize(s->l->words, (uint32_t)(first + (size_t)n * width));
    vector_resize(s->origins, s->l->words->len);
    int64_t *words = &VECTOR_AT(s->l->words, int64_t, first);
    LayoutOrigin *origins = &VECTOR_AT(s->origins, LayoutOrigin, first);
    for (int64_t i = stride * width; i < n * width; i++) {
        words[i] = words[i - stride * width];
        origins[i] = origins[i - stride * width];
        origins[i].steps += i % width == number && origins[i].slot != LAYOUT_OF_SHAPE;
    }
}

/* Unfolds a stretch of an array from element AT on: reads the words of its first STRIDE elements,
 * and computes the others. */
static void stretch(Split *s, const WendParam *p, bool out, int64_t at, int64_t end, int64_t stride)
{
    const uint32_t width = layout_element_words(p, out),
                   number = p->kind == WEND_KIND_ADDRESS ? 1 : 0;
    int64_t steps[WEND_MOST_STRIDE] = {0}, bends[WEND_MOST_STRIDE] = {0};
    Vector *row = s->l->words;
    const size_t first = row->len;
    for (int64_t k = 0; k < stride && !s->bad; k++) {
        element(s, p, out);
        if (layout_pattern(p, out) == LAYOUT_PATTERN_NUMBERS) {
            steps[k] = from_slots(s);
            bends[k] = from_slots(s);
            s->origin = LAYOUT_OF_SHAPE;
        }
        /* distances cannot be progressions */
        if (p->kind == WEND_KIND_ADDRESS && VECTOR_AT(row, int64_t, row->len - 2) != WEND_PLAIN)
            s->bad = true;
    }
    if (!s->bad && s->origins)
        unfold_symbolic(s, p, out, first, end - at, stride);
    if (s->bad || !s->slots)
        return;
    vector_resize(row, (uint32_t)(first + (size_t)(end - at) * width));
    int64_t *words = &VECTOR_AT(row, int64_t, first);
    for (int64_t i = stride, k = 0; i < end - at; i++) {
        int64_t *from = words + (i - stride) * width, *to = words + i * width;
        for (uint32_t w = 0; w < width; w++)
            to[w] = from[w];
        to[number] = progression_value(from[number], steps[k], 0, 1);
        steps[k] = progression_value(steps[k], bends[k], 0, 1);
        if (++k == stride)
            k = 0;
    }
}

/* Unfolds an array that is progressions. Returns the number of elements. */
static int64_t progressions(Split *s, const WendParam *p, bool out)
{
    int64_t n = from_shape(s), stretches = length(s, 1), at = 0;
    if (layout_pattern(p, out) == LAYOUT_NO_PATTERN || n <= 0 || n > WEND_MOST_UNFOLDED)
        s->bad = true;
    for (int64_t i = 0; i < stretches && !s->bad; i++) {
        int64_t end = from_shape(s), stride = from_shape(s);
        if (end <= at || end > n || stride < 1 || stride > WEND_MOST_STRIDE || stride > end - at)
            s->bad = true;
        if (!s->bad)
            stretch(s, p, out, at, end, stride);
        at = end;
    }
    if (at != n)
        s->bad = true;
    return s->bad ? 0 : n;
}

static void value(Split *s, const WendParam *p, bool out, int64_t *n, uint32_t *first)
{
    *first = s->l->words->len;
    if (p->kind == WEND_KIND_STRING) {
        *n = string(s);
    } else if (p->kind == WEND_KIND_STRINGS || p->kind == WEND_KIND_STRINGS2) {
        *n = strings(s, p->kind == WEND_KIND_STRINGS2);
    } else if (p->array) {
        *n = length(s, 1);
        if (*n == WEND_PROGRESSIONS)
            *n = progressions(s, p, out);
        else
            for (int64_t i = 0; i < *n && !s->bad; i++)
                element(s, p, out);
    } else {
        *n = 1;
        element(s, p, out);
    }
}

static bool split(Layout *l, const WendFunction *f, const int64_t *shape, uint32_t n_shape,
                  const int64_t *slots, uint32_t n_slots, Vector *origins)
{
    Split s = {.shape = shape,
               .slots = slots,
               .n_shape = n_shape,
               .n_slots = n_slots,
               .l = l,
               .origins = origins,
               .origin = LAYOUT_OF_SHAPE};
    vector_resize(l->args, 0);
    vector_resize(l->args, f->n_params);
    vector_resize(l->words, 0);
    vector_resize(l->slot_param, 0);
    vector_resize(l->outcome, 0);
    bool failed = (from_shape(&s) & 1) != 0;
    for (int i = 0; i < f->n_params && !s.bad; i++) {
        LayoutArg *arg = &VECTOR_AT(l->args, LayoutArg, i);
        s.param = i;
        if (param_has_in(&f->params[i]))
            value(&s, &f->params[i], false, &arg->n_in, &arg->in);
    }
    for (int i = 0; i < f->n_params && !s.bad && !failed; i++) {
        LayoutArg *arg = &VECTOR_AT(l->args, LayoutArg, i);
        const WendParam *p = &f->params[i];
        int16_t index = i;
        s.param = i;
        if (!param_has_out(p))
            continue;
        if (p->kind == WEND_KIND_STATUS)
            arg->n_in = from_shape(&s);
        if (param_is_outcome(p))
            VECTOR_APPEND(l->outcome, index);
        else
            value(&s, p, true, &arg->n_out, &arg->out);
    }
    l->nulls = !s.bad && s.at_shape + 1 == n_shape ? (uint64_t)from_shape(&s) : 0;
    l->unfinished = failed && (l->nulls & WEND_UNFINISHED) != 0;
    if (l->unfinished)
        l->nulls &= ~(uint64_t)WEND_UNFINISHED;
    if (l->nulls && f->n_params < 64 && l->nulls >> f->n_params)
        return false;
    return !s.bad && s.at_shape == n_shape && s.at_slot == n_slots;
}

bool layout_static(Layout *l, const WendFunction *f, const int64_t *shape, uint32_t n_shape,
                   const int64_t *slots, uint32_t n_slots)
{
    static const int64_t none = 0;
    return split(l, f, shape, n_shape, slots ? slots : &none, n_slots, NULL);
}

bool layout_fits(Layout *l, const WendFunction *f, const int64_t *shape, uint32_t n_shape,
                 uint32_t n_slots)
{
    return split(l, f, shape, n_shape, NULL, n_slots, NULL);
}

bool layout_symbolic(Layout *l, const WendFunction *f, const int64_t *shape, uint32_t n_shape,
                     uint32_t n_slots, Vector *origins)
{
    vector_resize(origins, 0);
    return split(l, f, shape, n_shape, NULL, n_slots, origins);
}

/* -- outcomes -- */

int64_t outcome_cursor_word(OutcomeCursor *c)
{
    return c->at < c->n ? c->words[c->at++] : 0;
}

static void move(OutcomeCursor *c, Vector *row)
{
    int64_t word = outcome_cursor_word(c);
    VECTOR_APPEND(row, word);
}

/* Like the function for shapes, but a length that exceeds the entry is cut. */
static int64_t outcome_length(OutcomeCursor *c, int64_t words_each)
{
    int64_t n = outcome_cursor_word(c), left = c->n - c->at;
    return n > 0 && n / words_each > left ? left * words_each : n;
}

static int64_t outcome_string(OutcomeCursor *c, Vector *row)
{
    int64_t n = outcome_length(c, 8);
    for (int64_t i = 0; i < n; i += 8)
        move(c, row);
    return n;
}

static int64_t outcome_strings(OutcomeCursor *c, Vector *row, bool of_strings)
{
    int64_t n = outcome_length(c, 1);
    for (int64_t i = 0; i < n; i++) {
        uint32_t at = row->len;
        int64_t each = 0;
        VECTOR_APPEND(row, each);
        each = of_strings ? outcome_strings(c, row, false) : outcome_string(c, row);
        VECTOR_AT(row, int64_t, at) = each;
    }
    return n;
}

static void outcome_element(OutcomeCursor *c, const WendParam *p, Vector *row)
{
    int64_t none = 0;
    switch (p->kind) {
    case WEND_KIND_ADDRESS:
    case WEND_KIND_ATTR: {
        int64_t segment = outcome_cursor_word(c), no_distance = WEND_PLAIN;
        VECTOR_APPEND(row, segment);
        if (word_segment_has_second(segment))
            move(c, row);
        else
            VECTOR_APPEND(row, none);
        if (p->kind == WEND_KIND_ATTR)
            break;
        VECTOR_APPEND(row, no_distance);
        VECTOR_APPEND(row, none);
        break;
    }
    case WEND_KIND_STATUS:
        for (int i = 0; i < 4; i++)
            move(c, row);
        break;
    default:
        move(c, row);
    }
}

int64_t layout_outcome(OutcomeCursor *c, const WendParam *p, Vector *row)
{
    if (p->kind == WEND_KIND_STRING)
        return outcome_string(c, row);
    if (p->kind == WEND_KIND_STRINGS || p->kind == WEND_KIND_STRINGS2)
        return outcome_strings(c, row, p->kind == WEND_KIND_STRINGS2);
    int64_t n = p->array ? outcome_length(c, 1) : 1;
    for (int64_t i = 0; i < n; i++)
        outcome_element(c, p, row);
    return n;
}
