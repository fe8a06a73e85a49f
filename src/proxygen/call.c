/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c: splits the words of a terminal into arguments. */
#include "call.h"

#include <string.h>

#include "../../lib/layout.h"
#include "progressions.h"

gboolean kind_is_handle(WendKind kind)
{
    switch (kind) {
    case WEND_KIND_COMM: case WEND_KIND_GROUP: case WEND_KIND_DATATYPE: case WEND_KIND_OP: case WEND_KIND_ERRHANDLER:
    case WEND_KIND_INFO: case WEND_KIND_FILE: case WEND_KIND_WIN: case WEND_KIND_MESSAGE: case WEND_KIND_SESSION:
    case WEND_KIND_KEYVAL: case WEND_KIND_TENUM: case WEND_KIND_CVAR: case WEND_KIND_PVAR: case WEND_KIND_PVARSESSION:
    case WEND_KIND_EVENTREG: case WEND_KIND_EVENT:
        return TRUE;
    default:
        return FALSE;
    }
}

gboolean param_by_pointer(const Call *c, const WendParam *param)
{
    if (param->array || param->dir == WEND_DIR_RETURN || param->kind == WEND_KIND_STRING)
        return FALSE;
    switch (param->kind) {
    case WEND_KIND_STATUS:
        return TRUE;
    case WEND_KIND_BUF: case WEND_KIND_ATTR:
        return param->dir == WEND_DIR_OUT; /* else the value is a pointer itself */
    case WEND_KIND_REQUEST:
        /* The standard's direction is in, the C argument is a pointer. */
        if (strcmp(c->function->name, "MPI_Cancel") == 0)
            return TRUE;
        break;
    default:
        break;
    }
    return param->dir != WEND_DIR_IN;
}

/* Two cursors over the words of a terminal, and where the result goes. */
typedef struct {
    Call *call;
    guint shape, slot;
} Split;

static Word shape_word(Split *s)
{
    gint64 value = s->shape < s->call->shape->n_words ? s->call->shape->words[s->shape++] : WEND_ABSENT;
    return (Word){.value = value};
}

static Word slot_word(Split *s)
{
    if (s->slot >= s->call->slots->n_slots)
        return (Word){.value = WEND_ABSENT};
    return (Word){.by_slot = TRUE, .slot = s->slot++};
}

static Word placed_word(Split *s, WendPlace place)
{
    return place == WEND_PLACE_SHAPE ? shape_word(s) : slot_word(s);
}

static void push(Split *s, Word w)
{
    g_array_append_val(s->call->words, w);
}

static void push_string(Split *s, gboolean with_length)
{
    Word length = shape_word(s);
    if (with_length)
        push(s, length);
    for (gint64 i = 0; i < length.value; i += 8)
        push(s, shape_word(s));
}

static void push_strings(Split *s)
{
    Word length = shape_word(s);
    push(s, length);
    for (gint64 i = 0; i < length.value; i++)
        push_string(s, TRUE);
}

/* The memory of CUDA is among the blocks of the heap: wend_device and its like say which it is (special.c). */
static Word segment_word(Split *s)
{
    Word w = shape_word(s);
    w.value = wend_segment_in_host_memory(w.value);
    return w;
}

/* One element of an array, or a scalar, of a kind that is neither a string nor a status. */
static void push_element(Split *s, const WendParam *param, WendPlace place, gboolean out)
{
    Word first;
    switch (param->kind) {
    case WEND_KIND_ADDRESS:
        first = segment_word(s);
        if (first.value == WEND_DISTANCE) {
            Word to = segment_word(s), from = segment_word(s);
            push(s, to);
            push(s, slot_word(s));
            push(s, from);
            push(s, slot_word(s));
            return;
        }
        push(s, first);
        push(s, wend_is_segment(first.value) || first.value == WEND_PLAIN ? slot_word(s) : (Word){.value = 0});
        push(s, (Word){.value = WEND_PLAIN});
        push(s, (Word){.value = 0});
        return;
    case WEND_KIND_BUF: case WEND_KIND_ATTR:
        push(s, first = segment_word(s));
        push(s, wend_is_segment(first.value) || first.value == WEND_PLAIN ? slot_word(s) : (Word){.value = 0});
        return;
    case WEND_KIND_COMM: case WEND_KIND_DATATYPE:
        push(s, first = shape_word(s));
        for (int i = 0; out && i < 5; i++)
            push(s, wend_is_handle(first.value) ? slot_word(s) : (Word){.value = 0});
        return;
    case WEND_KIND_SEGMENT:
        push(s, segment_word(s));
        return;
    case WEND_KIND_REQUEST: case WEND_KIND_FUNC:
        push(s, shape_word(s));
        return;
    case WEND_KIND_TARGET:
        push(s, slot_word(s));
        push(s, slot_word(s));
        return;
    case WEND_KIND_SELF:
        push(s, slot_word(s));
        return;
    default:
        push(s, kind_is_handle(param->kind) ? shape_word(s) : placed_word(s, place));
    }
}

/* The elements of an array that is progressions (lib/layout.c); gives how many. */
static gint64 push_progressions(Split *s, const WendParam *param, WendPlace place, gboolean out)
{
    const guint width = layout_element_words(param, out), number = param->kind == WEND_KIND_ADDRESS ? 1 : 0;
    const gboolean numbers = layout_folding(param, out) == LAYOUT_FOLDED_NUMBERS;
    gint64 n = shape_word(s).value, stretches = shape_word(s).value, at = 0;
    for (gint64 i = 0; i < stretches; i++) {
        gint64 end = shape_word(s).value, stride = shape_word(s).value;
        GArray *row = s->call->words;
        gsize first = row->len;
        for (gint64 k = 0; k < stride; k++) {
            push_element(s, param, place, out);
            s->slot += numbers ? 2 : 0;
        }
        g_array_set_size(row, (guint)(first + (gsize)(end - at) * width));
        Word *words = &g_array_index(row, Word, first);
        for (Word *to = words + stride * width, *from = words; to < words + (end - at) * width; to += width, from += width) {
            for (guint w = 0; w < width; w++)
                to[w] = from[w];
            to[number].value += to[number].by_slot;
        }
        at = end;
    }
    return n;
}

/* The words of one direction of a parameter: first is where they begin in call->words. Gives the length. */
static gint64 split_words(Split *s, const WendParam *param, WendPlace place, gboolean out)
{
    gint64 n = 1;
    switch (param->kind) {
    case WEND_KIND_STRING:
        n = s->shape < s->call->shape->n_words ? s->call->shape->words[s->shape] : WEND_ABSENT;
        push_string(s, FALSE);
        return n;
    case WEND_KIND_STRINGS:
        n = shape_word(s).value;
        for (gint64 i = 0; i < n; i++)
            push_string(s, TRUE);
        return n;
    case WEND_KIND_STRINGS2:
        n = shape_word(s).value;
        for (gint64 i = 0; i < n; i++)
            push_strings(s);
        return n;
    default:
        if (param->array)
            n = shape_word(s).value;
        if (param->array && n == WEND_PROGRESSIONS)
            return push_progressions(s, param, place, out);
        for (gint64 i = 0; i < n; i++)
            push_element(s, param, place, out);
        return n;
    }
}

/* inout values keep their in words in the shape or in a slot, whatever the place of the outputs. */
static WendPlace place_in(const WendParam *param)
{
    if (param->dir != WEND_DIR_INOUT)
        return param->place;
    switch (param->kind) {
    case WEND_KIND_LOGICAL: case WEND_KIND_ENUM: case WEND_KIND_BITS: case WEND_KIND_STRING:
        return WEND_PLACE_SHAPE;
    default:
        return WEND_PLACE_SLOT;
    }
}

static gboolean has_in_words(const WendParam *param)
{
    return param->kind == WEND_KIND_SELF ||
           (param->kind != WEND_KIND_SKIP && param->kind != WEND_KIND_STATUS &&
            (param->dir == WEND_DIR_IN || param->dir == WEND_DIR_INOUT));
}

/* Out words, anywhere. */
static gboolean has_out_words(const WendParam *param)
{
    if (param->dir == WEND_DIR_IN || param->kind == WEND_KIND_SKIP || param->kind == WEND_KIND_SELF)
        return FALSE;
    if (param->dir == WEND_DIR_INOUT && (kind_is_handle(param->kind) || param->kind == WEND_KIND_REQUEST ||
                                         param->kind == WEND_KIND_BUF || param->kind == WEND_KIND_STATUS))
        return FALSE;
    return TRUE;
}

Call *call_new(const WendProgram *p)
{
    Call *c = g_new0(Call, 1);
    c->program = p;
    c->words = g_array_new(FALSE, FALSE, sizeof(Word));
    return c;
}

void call_free(Call *c)
{
    if (!c)
        return;
    g_array_free(c->words, TRUE);
    g_free(c->args);
    g_free(c);
}

void call_decode(Call *c, guint terminal)
{
    if (c->shape && c->terminal == terminal)
        return;
    c->terminal = terminal;
    c->slots = wend_program_terminal(c->program, terminal);
    c->shape = wend_program_shape(c->program, c->slots->shape);
    c->function = c->shape->function;
    c->failed = c->shape->failed;
    c->n_args = c->function->n_params;
    c->args = g_renew(Arg, c->args, MAX(c->n_args, 1));
    memset(c->args, 0, sizeof *c->args * c->n_args);
    g_array_set_size(c->words, 0);

    /* Offsets first: the array of words moves while it grows. */
    guint *first = g_newa(guint, 2 * c->n_args + 1);
    Split s = {.call = c, .shape = 1};
    for (guint i = 0; i < c->n_args; i++) {
        Arg *arg = &c->args[i];
        arg->param = &c->function->params[i];
        first[i] = c->words->len;
        if (!has_in_words(arg->param))
            continue;
        arg->has_in = TRUE;
        arg->n_in = split_words(&s, arg->param, place_in(arg->param), FALSE);
        arg->n_in_words = c->words->len - first[i];
        arg->slots_end = s.slot;
    }
    for (guint i = 0; i < c->n_args && !c->failed; i++) {
        Arg *arg = &c->args[i];
        first[c->n_args + i] = c->words->len;
        if (!has_out_words(arg->param))
            continue;
        if (arg->param->kind == WEND_KIND_STATUS) {
            push(&s, shape_word(&s));
            arg->n_out = g_array_index(c->words, Word, c->words->len - 1).value;
        } else if (arg->param->place == WEND_PLACE_OUTCOME) {
            continue;
        } else {
            arg->n_out = split_words(&s, arg->param, arg->param->place, TRUE);
        }
        arg->has_out = TRUE;
        arg->n_out_words = c->words->len - first[c->n_args + i];
    }
    guint64 nulls = s.shape < c->shape->n_words ? (guint64)shape_word(&s).value : 0;
    for (guint i = 0; i < c->n_args; i++) {
        c->args[i].null = i < 64 && nulls >> i & 1;
        c->args[i].in = &g_array_index(c->words, Word, first[i]);
        c->args[i].out = c->failed ? NULL : &g_array_index(c->words, Word, first[c->n_args + i]);
    }
}

gboolean call_is_place(const WendFunction *function)
{
    return strcmp(function->name, "wend_device") == 0 || strcmp(function->name, "wend_managed") == 0 || strcmp(function->name, "wend_pinned") == 0;
}

gint64 call_value(const Call *c, Word w, guint rank)
{
    if (!w.by_slot)
        return w.value;
    gint64 first = wend_program_slot(c->program, c->terminal, w.slot, rank);
    if (w.value == 0)
        return first;
    return wend_progression_value(first, wend_program_slot(c->program, c->terminal, w.slot + 1, rank), wend_program_slot(c->program, c->terminal, w.slot + 2, rank), (guint64)w.value);
}

gboolean word_is_constant(const Call *c, Word w, gint64 *value)
{
    if (!w.by_slot) {
        *value = w.value;
        return TRUE;
    }
    const WendSlot *slot = &c->slots->slots[w.slot];
    *value = slot->value;
    if (w.value == 0 || slot->form != WEND_SLOT_CONSTANT)
        return slot->form == WEND_SLOT_CONSTANT;
    *value = wend_progression_value(slot->value, slot[1].value, slot[2].value, (guint64)w.value);
    return slot[1].form == WEND_SLOT_CONSTANT && slot[2].form == WEND_SLOT_CONSTANT;
}

const Arg *call_arg_of_kind(const Call *c, WendKind kind)
{
    for (guint i = 0; i < c->n_args; i++)
        if (c->args[i].param->kind == kind)
            return &c->args[i];
    return NULL;
}

const Arg *call_arg_named(const Call *c, const char *name)
{
    for (guint i = 0; i < c->n_args; i++)
        if (g_strcmp0(c->args[i].param->name, name) == 0)
            return &c->args[i];
    return NULL;
}

gint64 call_number(const Call *c, const Arg *arg, guint rank, gint64 fallback)
{
    if (!arg || !arg->has_in || arg->param->array || arg->n_in_words == 0)
        return fallback;
    gboolean address = arg->param->kind == WEND_KIND_ADDRESS;
    if (address && arg->in[0].value != WEND_PLAIN)
        return fallback;
    gint64 value = call_value(c, arg->in[address ? 1 : arg->n_in_words - 1], rank);
    return wend_is_special(value) ? fallback : value;
}

gboolean call_failed_on(const Call *c, const Arg *arg)
{
    for (guint i = 0; c->failed && i < arg->n_in_words; i++)
        if (arg->in[i].value == WEND_UNKNOWN)
            return TRUE;
    return FALSE;
}

char *words_to_string(const Word *words, gsize bytes)
{
    char *text = g_malloc0(bytes + 8);
    for (gsize i = 0; i < bytes; i++)
        text[i] = (char)((guint64)words[i / 8].value >> (8 * (i % 8)));
    return text;
}

gboolean string_cursor_length(StringCursor *s, gint64 *length)
{
    if (s->left == 0)
        return FALSE;
    *length = s->next->value;
    s->next++;
    s->left--;
    return TRUE;
}

gboolean string_cursor_string(StringCursor *s, char **text)
{
    gint64 bytes;
    if (!string_cursor_length(s, &bytes))
        return FALSE;
    if (bytes < 0) {
        *text = NULL;
        return TRUE;
    }
    guint words = (guint)((bytes + 7) / 8);
    g_return_val_if_fail(words <= s->left, FALSE);
    *text = words_to_string(s->next, (gsize)bytes);
    s->next += words;
    s->left -= words;
    return TRUE;
}

/* Words of one value of KIND in an outcome entry at words[*at]; FALSE when they do not fit. */
static gboolean skip_outcome_element(WendKind kind, const gint64 *words, guint n, guint *at)
{
    guint size = 1;
    if (*at >= n)
        return FALSE;
    switch (kind) {
    case WEND_KIND_STRING:
        if (words[*at] > 0)
            size += (guint)((MIN(words[*at], (gint64)n * 8) + 7) / 8);
        break;
    case WEND_KIND_BUF: case WEND_KIND_ADDRESS: case WEND_KIND_ATTR:
        size += wend_is_segment(words[*at]) || words[*at] == WEND_PLAIN;
        break;
    case WEND_KIND_STATUS:
        size = 4;
        break;
    case WEND_KIND_COMM: case WEND_KIND_DATATYPE:
        size += wend_is_handle(words[*at]) ? 5 : 0;
        break;
    default:
        break;
    }
    if (size > n - *at)
        return FALSE;
    *at += size;
    return TRUE;
}

gboolean outcome_decode(const Call *c, const gint64 *words, guint n, OutcomePart *parts)
{
    guint at = 2; /* polls, return code */
    memset(parts, 0, sizeof *parts * c->n_args);
    if (c->failed)
        return TRUE;
    for (guint i = 0; i < c->n_args; i++) {
        const WendParam *param = c->args[i].param;
        if (!has_out_words(param) || (param->place != WEND_PLACE_OUTCOME && param->kind != WEND_KIND_STATUS))
            continue;
        parts[i].length = 1;
        if (param->array) {
            if (at >= n)
                return FALSE;
            parts[i].length = words[at++];
        }
        parts[i].first = at;
        for (gint64 k = 0; k < parts[i].length; k++)
            if (!skip_outcome_element(param->kind, words, n, &at))
                return FALSE;
        parts[i].n = at - parts[i].first;
    }
    return TRUE;
}
