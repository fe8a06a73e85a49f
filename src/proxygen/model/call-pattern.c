/* SPDX-License-Identifier: BSD-3-Clause */
/* call-pattern.c: see call-pattern.h. lib/record/layout.c assigns words to arguments. */
#include "call-pattern.h"

#include <string.h>

#include "lib/record/progressions.h"
#include "lib/record/layout.h"

gboolean call_pattern_param_by_pointer(const CallPattern *c, const WendParam *param)
{
    if (param->array || param->dir == WEND_DIR_RETURN || param->kind == WEND_KIND_STRING)
        return FALSE;
    switch (param->kind) {
    case WEND_KIND_STATUS:
        return TRUE;
    case WEND_KIND_BUF:
    case WEND_KIND_ATTR:
        return param->dir == WEND_DIR_OUT; /* for other directions the value is itself a pointer */
    case WEND_KIND_REQUEST:
        /* The standard's direction is in, but the C argument is a pointer. */
        if (c->function->id == WEND_FN_MPI_Cancel)
            return TRUE;
        break;
    default:
        break;
    }
    return param->dir != WEND_DIR_IN;
}

CallPattern *call_pattern_new(const WendProgram *p)
{
    CallPattern *c = g_new0(CallPattern, 1);
    c->program = p;
    c->decoder = decoder_new(p);
    c->words = g_array_new(FALSE, FALSE, sizeof(Word));
    return c;
}

void call_pattern_free(CallPattern *c)
{
    if (!c)
        return;
    decoder_free(c->decoder);
    g_array_free(c->words, TRUE);
    g_free(c->args);
    g_free(c);
}

/* Makes memory of CUDA a block of the heap. wend_device and similar notes say which blocks are
 * CUDA's (emit-special.c). */
static void move_to_host(const WendParam *param, gboolean out, Word *words, guint n)
{
    const guint width = layout_element_words(param, out);
    if (param->kind != WEND_KIND_ADDRESS && param->kind != WEND_KIND_BUF
        && param->kind != WEND_KIND_ATTR && param->kind != WEND_KIND_SEGMENT)
        return;
    for (guint i = 0; i < n; i++)
        if (!words[i].by_slot && i % width % 2 == 0)
            words[i].value = word_segment_in_host_memory(words[i].value);
}

/* Copies all words. The segments of an address are the first and the third word, of other kinds the
 * first. */
static void take_words(CallPattern *c, const Layout *layout, const LayoutOrigin *origins)
{
    g_array_set_size(c->words, layout->words->len + c->n_args);
    Word *words = (Word *)(gpointer)c->words->data;
    for (guint i = 0; i < layout->words->len; i++) {
        gboolean by_slot = origins[i].slot != LAYOUT_OF_SHAPE;
        words[i] =
            (Word){.value = by_slot ? origins[i].steps : g_array_index(layout->words, gint64, i),
                   .slot = by_slot ? origins[i].slot : 0,
                   .by_slot = by_slot};
    }
    /* After them comes one word for each argument, which a status uses. */
    for (guint i = 0; i < c->n_args; i++)
        words[layout->words->len + i] =
            (Word){.value = g_array_index(layout->args, LayoutArg, i).n_in};
}

static gboolean is_outcome(const Layout *layout, guint param)
{
    for (guint i = 0; i < layout->outcome->len; i++)
        if ((guint)g_array_index(layout->outcome, gint16, i) == param)
            return TRUE;
    return FALSE;
}

/* Assigns the words of outputs, from the last argument on. END is the number of all words. Returns
 * where outputs begin. */
static guint take_outputs(CallPattern *c, const Layout *layout, guint end)
{
    Word *words = (Word *)(gpointer)c->words->data;
    for (guint i = c->n_args; i-- > 0 && !c->failed;) {
        const LayoutArg *a = &g_array_index(layout->args, LayoutArg, i);
        Arg *arg = &c->args[i];
        gboolean status = arg->param->kind == WEND_KIND_STATUS;
        arg->out = &words[layout->words->len + i];
        if (!param_has_out(arg->param) || (is_outcome(layout, i) && !status))
            continue;
        arg->has_out = TRUE;
        arg->n_out = status ? a->n_in : a->n_out;
        arg->n_out_words = status ? 1 : end - a->out;
        if (status)
            continue;
        arg->out = &words[a->out];
        end = a->out;
        move_to_host(arg->param, TRUE, &words[a->out], arg->n_out_words);
    }
    return end;
}

/* A buffer that no rank touches has no segment. */
static void leave_untouched(const CallPattern *c, const WendParam *param, Word *words, guint n)
{
    gint64 offset;
    for (guint i = 0; param->kind == WEND_KIND_BUF && i + 1 < n; i += 2)
        if (call_pattern_word_is_constant(c, words[i + 1], &offset) && offset == WEND_ABSENT) {
            words[i] = (Word){.value = WEND_ABSENT};
            words[i + 1] = (Word){.value = 0};
        }
}

static void take_inputs(CallPattern *c, const Layout *layout, guint end)
{
    Word *words = (Word *)(gpointer)c->words->data;
    for (guint i = c->n_args; i-- > 0;) {
        const LayoutArg *a = &g_array_index(layout->args, LayoutArg, i);
        Arg *arg = &c->args[i];
        arg->in = &words[a->in];
        if (!param_has_in(arg->param))
            continue;
        arg->has_in = TRUE;
        arg->n_in = a->n_in;
        arg->n_in_words = end - a->in;
        end = a->in;
        move_to_host(arg->param, FALSE, &words[a->in], arg->n_in_words);
        leave_untouched(c, arg->param, &words[a->in], arg->n_in_words);
    }
}

void call_pattern_decode(CallPattern *c, guint terminal)
{
    if (c->shape && c->terminal == terminal)
        return;
    const LayoutOrigin *origins;
    c->terminal = terminal;
    c->slots = program_terminal(c->program, terminal);
    c->shape = program_shape(c->program, c->slots->shape);
    c->function = c->shape->function;
    c->failed = c->shape->failed;
    c->n_args = c->function->n_params;
    c->layout = decoder_layout(c->decoder, terminal, &origins);
    c->args = g_renew(Arg, c->args, MAX(c->n_args, 1));
    memset(c->args, 0, sizeof *c->args * c->n_args);
    for (guint i = 0; i < c->n_args; i++) {
        c->args[i].param = &c->function->params[i];
        c->args[i].null = i < 64 && c->layout->nulls >> i & 1;
    }
    take_words(c, c->layout, origins);
    take_inputs(c, c->layout, take_outputs(c, c->layout, c->layout->words->len));
}

const Arg *call_pattern_arg_of_slot(const CallPattern *c, guint slot)
{
    const Arg *arg = slot < c->layout->slot_param->len
                         ? &c->args[g_array_index(c->layout->slot_param, gint16, slot)]
                         : NULL;
    return arg && arg->has_in ? arg : NULL;
}

gboolean call_pattern_is_place(const WendFunction *function)
{
    return function->id == WEND_FN_wend_device || function->id == WEND_FN_wend_managed
           || function->id == WEND_FN_wend_pinned;
}

gint64 call_pattern_value(const CallPattern *c, Word w, guint rank)
{
    if (!w.by_slot)
        return w.value;
    gint64 first = program_slot(c->program, c->terminal, w.slot, rank);
    if (w.value == 0)
        return first;
    return progression_value(first, program_slot(c->program, c->terminal, w.slot + 1, rank),
                             program_slot(c->program, c->terminal, w.slot + 2, rank),
                             (guint64)w.value);
}

gboolean call_pattern_word_is_constant(const CallPattern *c, Word w, gint64 *value)
{
    if (!w.by_slot) {
        *value = w.value;
        return TRUE;
    }
    const WendSlot *slot = &c->slots->slots[w.slot];
    *value = slot->value;
    if (w.value == 0 || slot->form != WEND_SLOT_CONSTANT)
        return slot->form == WEND_SLOT_CONSTANT;
    *value = progression_value(slot->value, slot[1].value, slot[2].value, (guint64)w.value);
    return slot[1].form == WEND_SLOT_CONSTANT && slot[2].form == WEND_SLOT_CONSTANT;
}

const Arg *call_pattern_arg_of_kind(const CallPattern *c, WendKind kind)
{
    for (guint i = 0; i < c->n_args; i++)
        if (c->args[i].param->kind == kind)
            return &c->args[i];
    return NULL;
}

const Arg *call_pattern_arg_named(const CallPattern *c, const char *name)
{
    for (guint i = 0; i < c->n_args; i++)
        if (g_strcmp0(c->args[i].param->name, name) == 0)
            return &c->args[i];
    return NULL;
}

gint64 call_pattern_number(const CallPattern *c, const Arg *arg, guint rank, gint64 fallback)
{
    if (!arg || !arg->has_in || arg->param->array || arg->n_in_words == 0)
        return fallback;
    gboolean address = arg->param->kind == WEND_KIND_ADDRESS;
    if (address && arg->in[0].value != WEND_PLAIN)
        return fallback;
    gint64 value = call_pattern_value(c, arg->in[address ? 1 : arg->n_in_words - 1], rank);
    return word_is_special(value) ? fallback : value;
}

gboolean call_pattern_failed_on(const CallPattern *c, const Arg *arg)
{
    for (guint i = 0; c->failed && i < arg->n_in_words; i++)
        if (arg->in[i].value == WEND_UNKNOWN)
            return TRUE;
    return FALSE;
}

char *call_pattern_words_to_string(const Word *words, gsize bytes)
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
    *text = call_pattern_words_to_string(s->next, (gsize)bytes);
    s->next += words;
    s->left -= words;
    return TRUE;
}

/* Moves *AT past one value of KIND in an outcome entry. Returns FALSE if the entry is too short. */
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
    case WEND_KIND_BUF:
    case WEND_KIND_ADDRESS:
    case WEND_KIND_ATTR:
        size += word_is_segment(words[*at]) || words[*at] == WEND_PLAIN;
        break;
    case WEND_KIND_STATUS:
        size = 4;
        break;
    case WEND_KIND_COMM:
    case WEND_KIND_DATATYPE:
        size += word_is_handle(words[*at]) ? 5 : 0;
        break;
    default:
        break;
    }
    if (size > n - *at)
        return FALSE;
    *at += size;
    return TRUE;
}

gboolean call_pattern_outcome_decode(const CallPattern *c, const gint64 *words, guint n,
                                     OutcomePart *parts)
{
    guint at = 2; /* after polls and return code */
    memset(parts, 0, sizeof *parts * c->n_args);
    for (guint i = 0; i < c->layout->outcome->len; i++) {
        const guint index = (guint)g_array_index(c->layout->outcome, gint16, i);
        const WendParam *param = c->args[index].param;
        OutcomePart *part = &parts[index];
        part->length = 1;
        if (param->array) {
            if (at >= n)
                return FALSE;
            part->length = words[at++];
        }
        part->first = at;
        for (gint64 k = 0; k < part->length; k++)
            if (!skip_outcome_element(param->kind, words, n, &at))
                return FALSE;
        part->n = at - part->first;
    }
    return TRUE;
}
