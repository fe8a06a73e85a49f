/* SPDX-License-Identifier: BSD-3-Clause */
/* read-values.c: the words of an argument as typed values.
 *
 * A list has in `internal` the call, its words, the parameter, and the form of its elements. So
 * elements are decoded only when they are read. */
#include "config.h"

#include <string.h>

#include "lib/ranks/rankset.h"
#include "lib/record/layout.h"
#include "lib/record/neighbours.h"
#include "read-private.h"

typedef enum {
    LIST_WORDS,     /* elements of an input parameter */
    LIST_WORDS_OUT, /* elements of an output parameter */
    LIST_STRINGS,   /* strings, each after its length word */
    LIST_STRING_LISTS,
    LIST_NEIGHBOURS, /* words of neighbours.h; the value has their length */
    LIST_NUMBERS
} ListForm;

enum { IN_CALL, IN_WORDS, IN_PARAMETER, IN_FORM }; /* indices in `internal` */

/* -- simple values -- */

static void set_constant(WendReadValue *v, const char *name)
{
    v->type = WEND_READ_CONSTANT;
    v->constant = name;
}

static void set_number(WendReadValue *v, gint64 number)
{
    v->type = WEND_READ_NUMBER;
    v->number = number;
}

/* Sets V to a special word or constant, which any kind may have. */
static gboolean set_special(const ReadCall *c, WendReadValue *v, gint64 word)
{
    if (!word_is_special(word))
        return FALSE;
    const char *name = program_constant_name(c->reader->program, word);
    if (name != NULL)
        set_constant(v, name);
    else if (word == WEND_ABSENT)
        v->type = WEND_READ_NOT_SIGNIFICANT;
    else if (word == WEND_UNKNOWN)
        v->type = WEND_READ_NOT_KNOWN;
    else if (word == WEND_IGNORE)
        set_constant(v, "ignored");
    else
        return FALSE;
    return TRUE;
}

static void set_address(WendReadAddress *a, gint64 word, gint64 offset)
{
    static const WendReadMemory kinds[WEND_SEGMENT_KINDS] = {
        [WEND_SEGMENT_HEAP] = WEND_READ_HEAP,         [WEND_SEGMENT_STACK] = WEND_READ_STACK,
        [WEND_SEGMENT_STATIC] = WEND_READ_STATIC,     [WEND_SEGMENT_MPI] = WEND_READ_MPI_MEMORY,
        [WEND_SEGMENT_WIN] = WEND_READ_WINDOW_MEMORY, [WEND_SEGMENT_MAP] = WEND_READ_MAPPING,
        [WEND_SEGMENT_REMOTE] = WEND_READ_MAPPING, /* of another process: no recorder writes it */
        [WEND_SEGMENT_CUDA] = WEND_READ_CUDA};
    a->remote = -1;
    if (segment_kind(word) == WEND_SEGMENT_REMOTE) {
        a->remote = (int32_t)word_remote_rank(offset);
        word = word_segment_id(word);
        offset = word_remote_offset(offset);
    }
    a->memory = kinds[segment_kind(word)];
    a->thread = a->memory == WEND_READ_STACK ? 0 : word_segment_thread(word);
    a->number = word_segment_number(word);
    a->offset = offset;
}

static void set_place(const ReadCall *c, WendReadValue *v, WendKind kind, const gint64 *words)
{
    gboolean one_word = kind == WEND_KIND_SEGMENT;
    if (kind == WEND_KIND_ADDRESS && word_is_segment(words[2])) {
        v->type = WEND_READ_DISTANCE;
        set_address(&v->place.to, words[0], words[1]);
        set_address(&v->place.from, words[2], words[3]);
    } else if (words[0] == WEND_PLAIN && !one_word) {
        set_number(v, words[1]);
    } else if (word_is_segment(words[0])) {
        v->type = WEND_READ_PLACE;
        set_address(&v->place.to, words[0], one_word ? 0 : words[1]);
    } else if (!set_special(c, v, words[0])) {
        set_number(v, words[0]);
    }
}

static int64_t public_number(gint64 word, const char **name, const ReadCall *c)
{
    *name = program_constant_name(c->reader->program, word);
    return word;
}

static void set_status(const ReadCall *c, WendReadValue *v, const gint64 *words)
{
    v->type = WEND_READ_STATUS;
    v->status.source = public_number(words[0], &v->status.source_name, c);
    v->status.tag = public_number(words[1], &v->status.tag_name, c);
    v->status.bytes = words[2];
    v->status.cancelled = (words[3] & 1) != 0;
    v->status.error = words[3] >> 1;
}

static void set_handle(const ReadCall *c, WendReadValue *v, WendKind kind, const gint64 *words,
                       gboolean is_out)
{
    gboolean has_facts = is_out && (kind == WEND_KIND_COMM || kind == WEND_KIND_DATATYPE);
    v->type = WEND_READ_HANDLE;
    v->handle.kind = read_kind_of(kind);
    v->handle.thread = word_handle_tid(words[0]);
    v->handle.number = word_handle_number(words[0]);
    v->handle.communicator = WEND_READ_NO_INDEX;
    if (kind == WEND_KIND_COMM && c->walk != NULL)
        v->handle.communicator = walk_comm(c->walk, words[0]);
    for (guint i = 0; i < G_N_ELEMENTS(v->handle.facts); i++)
        v->handle.facts[i] = has_facts ? words[1 + i] : WEND_READ_UNKNOWN;
}

static gboolean is_object(WendKind kind)
{
    return read_is_handle(kind) || kind == WEND_KIND_REQUEST || kind == WEND_KIND_FUNC;
}

static void set_element(const ReadCall *c, WendReadValue *v, WendKind kind, const gint64 *words,
                        gboolean is_out)
{
    switch (kind) {
    case WEND_KIND_STATUS:
        set_status(c, v, words);
        return;
    case WEND_KIND_BUF:
    case WEND_KIND_ADDRESS:
    case WEND_KIND_ATTR:
    case WEND_KIND_TARGET:
    case WEND_KIND_SEGMENT:
        set_place(c, v, kind, words);
        return;
    default:
        break;
    }
    if (set_special(c, v, words[0]))
        return;
    if (kind == WEND_KIND_FUNC && words[0] == WEND_NULL_FUNCTION) {
        v->type = WEND_READ_NULL;
    } else if (kind == WEND_KIND_LOGICAL) {
        v->type = WEND_READ_LOGICAL;
        v->number = words[0] != 0;
    } else if (is_object(kind) && word_is_handle(words[0])) {
        set_handle(c, v, kind, words, is_out);
    } else {
        set_number(v, words[0]);
    }
}

/* -- strings and lists -- */

/* A string of BYTES bytes, packed into words. */
static void set_string(ReadCall *c, WendReadValue *v, const gint64 *words, gint64 bytes)
{
    char *text = g_malloc((gsize)bytes + 1);
    for (gint64 i = 0; i < bytes; i++)
        text[i] = (char)((guint64)words[i / 8] >> (8 * (i % 8)));
    text[bytes] = '\0';
    c->has_strings = TRUE;
    v->type = WEND_READ_STRING;
    v->string.length = (size_t)bytes;
    v->string.bytes = g_string_chunk_insert_len(c->strings, text, (gssize)bytes + 1);
    g_free(text);
}

static void set_list(ReadCall *c, WendReadValue *v, ListForm form, const WendParam *param,
                     const gint64 *words, gint64 n)
{
    v->type = WEND_READ_LIST;
    v->length = (uint64_t)n;
    v->internal[IN_CALL] = c;
    v->internal[IN_WORDS] = words;
    v->internal[IN_PARAMETER] = param;
    v->internal[IN_FORM] = GUINT_TO_POINTER(form);
}

/* Sets V for a length word that is no length. */
static void set_no_length(const ReadCall *c, WendReadValue *v, WendKind kind, gint64 n)
{
    if (n == -1)
        v->type = WEND_READ_NULL;
    else if (n == WEND_IGNORE && kind == WEND_KIND_STATUS)
        set_constant(v, "MPI_STATUSES_IGNORE");
    else if (n == WEND_IGNORE && kind == WEND_KIND_ERRCODE)
        set_constant(v, "MPI_ERRCODES_IGNORE");
    else if (!set_special(c, v, n))
        set_number(v, n);
}

/* A string with its length word or, if DEPTH > 0, a list of strings. */
static void set_counted(ReadCall *c, WendReadValue *v, const gint64 *words, guint depth)
{
    if (words[0] < 0)
        set_no_length(c, v, WEND_KIND_STRING, words[0]);
    else if (depth == 0)
        set_string(c, v, words + 1, words[0]);
    else
        set_list(c, v, LIST_STRINGS, NULL, words + 1, words[0]);
}

/* The number of words of such a value. */
static gsize counted_words(const gint64 *words, guint depth)
{
    gsize used = 1;
    if (words[0] > 0 && depth == 0)
        used += (gsize)(words[0] + 7) / 8;
    for (gint64 i = 0; depth > 0 && i < words[0]; i++)
        used += counted_words(words + used, depth - 1);
    return used;
}

/* Element INDEX of a list of strings. Elements are fast to read in ascending order. */
static const gint64 *counted_at(ReadCall *c, const gint64 *list, guint64 index, guint depth)
{
    if (c->list != list || index < c->index) {
        c->list = c->at = list;
        c->index = 0;
    }
    for (; c->index < index; c->index++)
        c->at += counted_words(c->at, depth);
    return c->at;
}

static void set_neighbours(ReadCall *c, WendReadValue *v, const WendParam *param,
                           const gint64 *words, gint64 n)
{
    Neighbours graph;
    v->type = WEND_READ_NOT_KNOWN;
    if (!neighbours_read(words, n, &graph))
        return;
    set_list(c, v, LIST_NEIGHBOURS, param, words, n);
    v->length = graph.weighted ? 4 : 2;
}

static void set_neighbour_list(ReadCall *c, WendReadValue *v, const gint64 *words, guint64 index)
{
    /* the head has the numbers; set_neighbours has checked them */
    gint64 n = WEND_NEIGHBOURS_HEAD + (words[1] + words[2]) * (words[0] == 1 ? 2 : 1);
    Neighbours graph;
    neighbours_read(words, n, &graph);
    set_list(c, v, LIST_NUMBERS, NULL, (index < 2 ? graph.ranks : graph.weights)[index % 2],
             graph.n[index % 2]);
}

static void set_value(ReadCall *c, WendReadValue *v, const WendParam *param, gint64 n,
                      const gint64 *words, gboolean is_out)
{
    WendKind kind = param->kind;
    gboolean strings =
        kind == WEND_KIND_STRING || kind == WEND_KIND_STRINGS || kind == WEND_KIND_STRINGS2;
    if (!param->array && !strings)
        set_element(c, v, kind, words, is_out);
    else if (n < 0)
        set_no_length(c, v, kind, n);
    else if (kind == WEND_KIND_STRING && !param->array)
        set_string(c, v, words, n);
    else if (kind == WEND_KIND_NEIGHBOURS)
        set_neighbours(c, v, param, words, n);
    else if (strings)
        set_list(c, v, kind == WEND_KIND_STRINGS2 ? LIST_STRING_LISTS : LIST_STRINGS, param, words,
                 n);
    else
        set_list(c, v, is_out ? LIST_WORDS_OUT : LIST_WORDS, param, words, n);
}

int wend_read_element(const WendReadValue *list, uint64_t index, WendReadValue *element)
{
    if (!list || !element || list->type != WEND_READ_LIST)
        return WEND_READ_ERROR_USAGE;
    ReadCall *c = (ReadCall *)list->internal[IN_CALL];
    const gint64 *words = list->internal[IN_WORDS];
    const WendParam *param = list->internal[IN_PARAMETER];
    ListForm form = GPOINTER_TO_UINT(list->internal[IN_FORM]);
    if (index >= list->length)
        return read_fail(c->reader, WEND_READ_ERROR_USAGE,
                         "there is no element %" G_GUINT64_FORMAT ": there are %" G_GUINT64_FORMAT,
                         index, list->length);
    WendReadValue v; /* ELEMENT may point to LIST */
    v.type = WEND_READ_NOTHING;
    switch (form) {
    case LIST_STRINGS:
        set_counted(c, &v, counted_at(c, words, index, 0), 0);
        break;
    case LIST_STRING_LISTS:
        set_counted(c, &v, counted_at(c, words, index, 1), 1);
        break;
    case LIST_NEIGHBOURS:
        set_neighbour_list(c, &v, words, index);
        break;
    case LIST_NUMBERS:
        if (!set_special(c, &v, words[index]))
            set_number(&v, words[index]);
        break;
    default: {
        gboolean is_out = form == LIST_WORDS_OUT;
        set_element(c, &v, param->kind, words + index * layout_element_words(param, is_out),
                    is_out);
    }
    }
    *element = v;
    return WEND_READ_OK;
}

/* -- arguments -- */

static int check_parameter(const WendReadCall *call, uint32_t parameter, const void *value)
{
    const ReadCall *c = (const ReadCall *)call;
    if (!call || !value)
        return WEND_READ_ERROR_USAGE;
    if (parameter < c->call->n_args)
        return WEND_READ_OK;
    return read_check_index(c->reader, value, "parameter", parameter, c->call->n_args);
}

/* The input side of a status argument: ignored, or an array without elements. */
static void set_status_input(ReadCall *c, WendReadValue *v, const WendArg *arg)
{
    if (arg->param->dir != WEND_DIR_OUT || arg->n_in > 0)
        return; /* given, or read by the call: it has no words */
    if (!arg->param->array)
        set_constant(v, "MPI_STATUS_IGNORE");
    else if (arg->n_in == 0)
        set_list(c, v, LIST_WORDS, arg->param, NULL, 0);
    else
        set_no_length(c, v, WEND_KIND_STATUS, arg->n_in);
}

int wend_read_input(const WendReadCall *call, uint32_t parameter, WendReadValue *value)
{
    int status = check_parameter(call, parameter, value);
    if (status < 0)
        return status;
    ReadCall *c = (ReadCall *)call;
    const WendArg *arg = &c->call->args[parameter];
    const WendParam *param = arg->param;
    value->type = WEND_READ_NOTHING;
    if (param->kind == WEND_KIND_STATUS) {
        set_status_input(c, value, arg);
    } else if (c->parameters[parameter].named) {
        if (arg->n_out != 0)
            set_value(c, value, param, arg->n_out, arg->out, TRUE);
    } else if (param->kind != WEND_KIND_SKIP
               && (param->dir == WEND_DIR_IN || param->dir == WEND_DIR_INOUT)
               && (arg->n_in != 0 || param->array || param->kind == WEND_KIND_STRING)) {
        set_value(c, value, param, arg->n_in, arg->in, FALSE);
    }
    return WEND_READ_OK;
}

static gboolean has_output(const ReadCall *c, const WendArg *arg, guint parameter)
{
    const WendParam *param = arg->param;
    if (param->kind == WEND_KIND_SELF || param->kind == WEND_KIND_SKIP || param->dir == WEND_DIR_IN
        || c->parameters[parameter].named)
        return FALSE;
    if (param->kind == WEND_KIND_FOUND) /* most ranks do not record it */
        return arg->out != NULL && arg->n_out == 1 && arg->out[0] != WEND_ABSENT;
    return arg->n_out != 0 && (arg->out != NULL || arg->n_out < 0);
}

int wend_read_output(const WendReadCall *call, uint32_t parameter, WendReadValue *value)
{
    int status = check_parameter(call, parameter, value);
    if (status < 0)
        return status;
    ReadCall *c = (ReadCall *)call;
    const WendArg *arg = &c->call->args[parameter];
    value->type = WEND_READ_NOTHING;
    if (has_output(c, arg, parameter))
        set_value(c, value, arg->param, arg->n_out, arg->out, TRUE);
    return WEND_READ_OK;
}

/* -- facts that only a walk has -- */

static gint64 word_of_handle(const WendReadValue *value)
{
    if (value->type == WEND_READ_CONSTANT)
        return program_constant_word(value->constant);
    return value->type == WEND_READ_HANDLE ? WEND_HANDLE(value->handle.thread, value->handle.number)
                                           : WEND_UNKNOWN;
}

int wend_read_datatype_size(const WendReadCall *call, const WendReadValue *datatype, int64_t *bytes)
{
    const ReadCall *c = (const ReadCall *)call;
    gint64 facts[5];
    if (!call || !datatype || !bytes)
        return WEND_READ_ERROR_USAGE;
    gint64 word = word_of_handle(datatype), size = -1;
    if (c->walk != NULL)
        size = walk_datatype_size(c->walk, word);
    else if (program_datatype(c->reader->program, word, facts))
        size = facts[0];
    if (size < 0)
        return read_fail(c->reader, WEND_READ_ERROR_NONE, "the size of the datatype is not known");
    *bytes = size;
    return WEND_READ_OK;
}

int wend_read_completed(const WendReadCall *call, WendReadValue *list)
{
    static const WendParam request = {.name = "request", .kind = WEND_KIND_REQUEST, .array = true};
    ReadCall *c = (ReadCall *)call;
    guint n = 0;
    if (!call || !list)
        return WEND_READ_ERROR_USAGE;
    const gint64 *words = c->walk != NULL ? walk_completed(c->walk, &n) : NULL;
    WendReadValue v = {0};
    set_list(c, &v, LIST_WORDS, &request, words, n);
    *list = v;
    return WEND_READ_OK;
}

int wend_read_request(const WendReadCall *call, const WendReadValue *request,
                      WendReadRequest *state)
{
    const ReadCall *c = (const ReadCall *)call;
    WendRequestState inside;
    if (!call || !request || !state)
        return WEND_READ_ERROR_USAGE;
    gint64 word = word_of_handle(request);
    if (!c->walk || !word_is_handle(word) || !walk_request(c->walk, word, &inside))
        return read_fail(c->reader, WEND_READ_ERROR_NONE, "nothing is known of the request");
    *state = (WendReadRequest){inside.active, inside.persistent,
                               inside.terminal < program_n_terminals(c->reader->program)
                                   ? inside.terminal
                                   : WEND_READ_NO_INDEX};
    return WEND_READ_OK;
}
