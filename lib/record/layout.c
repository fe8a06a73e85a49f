/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c: see layout.h. */
#include "layout.h"

#include "progressions.h"

typedef struct {
    const gint64 *shape, *slots;
    guint n_shape, n_slots, at_shape, at_slot;
    Layout *l;
    gint16 param;
    gboolean bad;
    GArray *origins; /* of LayoutOrigin, one for each word, or NULL */
    guint origin;    /* the slot of the word that is pushed next, or LAYOUT_OF_SHAPE */
} Split;             /* slots NULL: they are not known */

void layout_init(Layout *l)
{
    /* sized: data is then never NULL */
    l->args = g_array_sized_new(FALSE, TRUE, sizeof(LayoutArg), 16);
    l->words = g_array_sized_new(FALSE, FALSE, sizeof(gint64), 16);
    l->slot_param = g_array_sized_new(FALSE, FALSE, sizeof(gint16), 16);
    l->outcome = g_array_sized_new(FALSE, FALSE, sizeof(gint16), 16);
}

void layout_clear(Layout *l)
{
    g_array_unref(l->args);
    g_array_unref(l->words);
    g_array_unref(l->slot_param);
    g_array_unref(l->outcome);
}

static gint64 from_shape(Split *s)
{
    if (s->at_shape < s->n_shape)
        return s->shape[s->at_shape++];
    s->bad = TRUE;
    return 0;
}

static gint64 from_slots(Split *s)
{
    g_array_append_val(s->l->slot_param, s->param);
    if (s->at_slot < s->n_slots) {
        gint64 word = s->slots ? s->slots[s->at_slot] : 0;
        s->origin = s->at_slot++;
        return word;
    }
    s->bad = TRUE;
    return 0;
}

static void push(Split *s, gint64 word)
{
    g_array_append_val(s->l->words, word);
    if (s->origins) {
        const LayoutOrigin origin = {s->origin, 0};
        g_array_append_val(s->origins, origin);
    }
    s->origin = LAYOUT_OF_SHAPE;
}

/* Reads a length n. At least n / WORDS_EACH words must be left. A negative length says that there
 * is no array. */
static gint64 length(Split *s, gint64 words_each)
{
    gint64 n = from_shape(s);
    gint64 left = (gint64)(s->n_shape - s->at_shape) + (s->n_slots - s->at_slot);
    if (n > 0 && n / words_each > left)
        s->bad = TRUE;
    return s->bad ? 0 : n;
}

static gint64 string(Split *s)
{
    gint64 n = length(s, 8);
    for (gint64 i = 0; i < n && !s->bad; i += 8)
        push(s, from_shape(s));
    return n;
}

static gint64 strings(Split *s, gboolean of_strings)
{
    gint64 n = length(s, 1);
    for (gint64 i = 0; i < n && !s->bad; i++) {
        guint at = s->l->words->len;
        push(s, 0);
        gint64 each = of_strings ? strings(s, FALSE) : string(s);
        g_array_index(s->l->words, gint64, at) = each;
    }
    return n;
}

static void address(Split *s)
{
    gint64 segment = from_shape(s);
    if (segment != WEND_DISTANCE) {
        push(s, segment);
        push(s, wend_word_segment_has_second(segment) ? from_slots(s) : 0);
        push(s, WEND_PLAIN);
        push(s, 0);
        return;
    }
    gint64 to = from_shape(s), from = from_shape(s);
    push(s, to);
    push(s, from_slots(s));
    push(s, from);
    push(s, from_slots(s));
    if (!wend_word_is_segment(to) || !wend_word_is_segment(from))
        s->bad = TRUE;
}

/* A segment and an offset. A buffer that the call does not touch has none. */
static void place(Split *s)
{
    gint64 segment = from_shape(s);
    guint at = s->l->words->len;
    push(s, segment);
    push(s, wend_word_segment_has_second(segment) ? from_slots(s) : 0);
    gint64 *words = &g_array_index(s->l->words, gint64, at);
    if (!s->origins && words[1] == WEND_ABSENT) {
        words[0] = WEND_ABSENT;
        words[1] = 0;
    }
}

static void element(Split *s, const WendParam *p, gboolean out)
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
        gint64 handle = from_shape(s);
        push(s, handle);
        for (int i = 0; i < 5 && out; i++)
            push(s, wend_word_is_handle(handle) ? from_slots(s) : 0);
        break;
    }
    case WEND_KIND_TARGET:
        push(s, from_slots(s));
        push(s, from_slots(s));
        break;
    default:
        push(s, wend_param_is_in_slots(p) ? from_slots(s) : from_shape(s));
    }
}

/* Repeats the words of the first STRIDE elements for N elements. A word that comes from a slot
 * advances by a step each time. */
static void unfold_symbolic(Split *s, const WendParam *p, gboolean out, gsize first, gint64 n,
                            gint64 stride)
{
    const guint width = layout_element_words(p, out), number = p->kind == WEND_KIND_ADDRESS ? 1 : 0;
    g_array_set_size(s->l->words, (guint)(first + (gsize)n * width));
    g_array_set_size(s->origins, s->l->words->len);
    gint64 *words = &g_array_index(s->l->words, gint64, first);
    LayoutOrigin *origins = &g_array_index(s->origins, LayoutOrigin, first);
    for (gint64 i = stride * width; i < n * width; i++) {
        words[i] = words[i - stride * width];
        origins[i] = origins[i - stride * width];
        origins[i].steps += i % width == number && origins[i].slot != LAYOUT_OF_SHAPE;
    }
}

/* Unfolds a stretch of an array from element AT on: reads the words of its first STRIDE elements,
 * and computes the others. */
static void stretch(Split *s, const WendParam *p, gboolean out, gint64 at, gint64 end,
                    gint64 stride)
{
    const guint width = layout_element_words(p, out), number = p->kind == WEND_KIND_ADDRESS ? 1 : 0;
    gint64 steps[WEND_MOST_STRIDE] = {0}, bends[WEND_MOST_STRIDE] = {0};
    GArray *row = s->l->words;
    const gsize first = row->len;
    for (gint64 k = 0; k < stride && !s->bad; k++) {
        element(s, p, out);
        if (layout_pattern(p, out) == LAYOUT_PATTERN_NUMBERS) {
            steps[k] = from_slots(s);
            bends[k] = from_slots(s);
            s->origin = LAYOUT_OF_SHAPE;
        }
        /* distances cannot be progressions */
        if (p->kind == WEND_KIND_ADDRESS && g_array_index(row, gint64, row->len - 2) != WEND_PLAIN)
            s->bad = TRUE;
    }
    if (!s->bad && s->origins)
        unfold_symbolic(s, p, out, first, end - at, stride);
    if (s->bad || !s->slots)
        return;
    g_array_set_size(row, (guint)(first + (gsize)(end - at) * width));
    gint64 *words = &g_array_index(row, gint64, first);
    for (gint64 i = stride, k = 0; i < end - at; i++) {
        gint64 *from = words + (i - stride) * width, *to = words + i * width;
        for (guint w = 0; w < width; w++)
            to[w] = from[w];
        to[number] = wend_progression_value(from[number], steps[k], 0, 1);
        steps[k] = wend_progression_value(steps[k], bends[k], 0, 1);
        if (++k == stride)
            k = 0;
    }
}

/* Unfolds an array that is progressions. Returns the number of elements. */
static gint64 progressions(Split *s, const WendParam *p, gboolean out)
{
    gint64 n = from_shape(s), stretches = length(s, 1), at = 0;
    if (layout_pattern(p, out) == LAYOUT_NO_PATTERN || n <= 0 || n > WEND_MOST_UNFOLDED)
        s->bad = TRUE;
    for (gint64 i = 0; i < stretches && !s->bad; i++) {
        gint64 end = from_shape(s), stride = from_shape(s);
        if (end <= at || end > n || stride < 1 || stride > WEND_MOST_STRIDE || stride > end - at)
            s->bad = TRUE;
        if (!s->bad)
            stretch(s, p, out, at, end, stride);
        at = end;
    }
    if (at != n)
        s->bad = TRUE;
    return s->bad ? 0 : n;
}

static void value(Split *s, const WendParam *p, gboolean out, gint64 *n, guint32 *first)
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
            for (gint64 i = 0; i < *n && !s->bad; i++)
                element(s, p, out);
    } else {
        *n = 1;
        element(s, p, out);
    }
}

static gboolean split(Layout *l, const WendFunction *f, const gint64 *shape, guint n_shape,
                      const gint64 *slots, guint n_slots, GArray *origins)
{
    Split s = {.shape = shape,
               .slots = slots,
               .n_shape = n_shape,
               .n_slots = n_slots,
               .l = l,
               .origins = origins,
               .origin = LAYOUT_OF_SHAPE};
    g_array_set_size(l->args, 0);
    g_array_set_size(l->args, f->n_params);
    g_array_set_size(l->words, 0);
    g_array_set_size(l->slot_param, 0);
    g_array_set_size(l->outcome, 0);
    gboolean failed = (from_shape(&s) & 1) != 0;
    for (int i = 0; i < f->n_params && !s.bad; i++) {
        LayoutArg *arg = &g_array_index(l->args, LayoutArg, i);
        s.param = i;
        if (wend_param_has_in(&f->params[i]))
            value(&s, &f->params[i], FALSE, &arg->n_in, &arg->in);
    }
    for (int i = 0; i < f->n_params && !s.bad && !failed; i++) {
        LayoutArg *arg = &g_array_index(l->args, LayoutArg, i);
        const WendParam *p = &f->params[i];
        gint16 index = i;
        s.param = i;
        if (!wend_param_has_out(p))
            continue;
        if (p->kind == WEND_KIND_STATUS)
            arg->n_in = from_shape(&s);
        if (wend_param_is_outcome(p))
            g_array_append_val(l->outcome, index);
        else
            value(&s, p, TRUE, &arg->n_out, &arg->out);
    }
    l->nulls = !s.bad && s.at_shape + 1 == n_shape ? (guint64)from_shape(&s) : 0;
    l->unfinished = failed && (l->nulls & WEND_UNFINISHED) != 0;
    if (l->unfinished)
        l->nulls &= ~(guint64)WEND_UNFINISHED;
    if (l->nulls && f->n_params < 64 && l->nulls >> f->n_params)
        return FALSE;
    return !s.bad && s.at_shape == n_shape && s.at_slot == n_slots;
}

gboolean layout_static(Layout *l, const WendFunction *f, const gint64 *shape, guint n_shape,
                       const gint64 *slots, guint n_slots)
{
    static const gint64 none = 0;
    return split(l, f, shape, n_shape, slots ? slots : &none, n_slots, NULL);
}

gboolean layout_fits(Layout *l, const WendFunction *f, const gint64 *shape, guint n_shape,
                     guint n_slots)
{
    return split(l, f, shape, n_shape, NULL, n_slots, NULL);
}

gboolean layout_symbolic(Layout *l, const WendFunction *f, const gint64 *shape, guint n_shape,
                         guint n_slots, GArray *origins)
{
    g_array_set_size(origins, 0);
    return split(l, f, shape, n_shape, NULL, n_slots, origins);
}

/* -- outcomes -- */

gint64 outcome_cursor_word(OutcomeCursor *c)
{
    return c->at < c->n ? c->words[c->at++] : 0;
}

static void move(OutcomeCursor *c, GArray *row)
{
    gint64 word = outcome_cursor_word(c);
    g_array_append_val(row, word);
}

/* Like the function for shapes, but a length that exceeds the entry is cut. */
static gint64 outcome_length(OutcomeCursor *c, gint64 words_each)
{
    gint64 n = outcome_cursor_word(c), left = c->n - c->at;
    return n > 0 && n / words_each > left ? left * words_each : n;
}

static gint64 outcome_string(OutcomeCursor *c, GArray *row)
{
    gint64 n = outcome_length(c, 8);
    for (gint64 i = 0; i < n; i += 8)
        move(c, row);
    return n;
}

static gint64 outcome_strings(OutcomeCursor *c, GArray *row, gboolean of_strings)
{
    gint64 n = outcome_length(c, 1);
    for (gint64 i = 0; i < n; i++) {
        guint at = row->len;
        gint64 each = 0;
        g_array_append_val(row, each);
        each = of_strings ? outcome_strings(c, row, FALSE) : outcome_string(c, row);
        g_array_index(row, gint64, at) = each;
    }
    return n;
}

static void outcome_element(OutcomeCursor *c, const WendParam *p, GArray *row)
{
    gint64 none = 0;
    switch (p->kind) {
    case WEND_KIND_ADDRESS:
    case WEND_KIND_ATTR: {
        gint64 segment = outcome_cursor_word(c), no_distance = WEND_PLAIN;
        g_array_append_val(row, segment);
        if (wend_word_segment_has_second(segment))
            move(c, row);
        else
            g_array_append_val(row, none);
        if (p->kind == WEND_KIND_ATTR)
            break;
        g_array_append_val(row, no_distance);
        g_array_append_val(row, none);
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

gint64 layout_outcome(OutcomeCursor *c, const WendParam *p, GArray *row)
{
    if (p->kind == WEND_KIND_STRING)
        return outcome_string(c, row);
    if (p->kind == WEND_KIND_STRINGS || p->kind == WEND_KIND_STRINGS2)
        return outcome_strings(c, row, p->kind == WEND_KIND_STRINGS2);
    gint64 n = p->array ? outcome_length(c, 1) : 1;
    for (gint64 i = 0; i < n; i++)
        outcome_element(c, p, row);
    return n;
}
