/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison-key.c: see comparison-key.h. */
#include "config.h"

#include "comparison-key.h"

#include <string.h>

#include "lib/base/containers.h"
#include "call-text.h"
#include "pins.h"

/* The first byte of a byte string. So calls and requests never have equal strings. */
enum {
    TAG_CALL = 'c',
    TAG_POOL = 'm',
    TAG_REQUEST = 'r',
    TAG_PLAIN_REQUEST = 'p',
    TAG_RECEIVE = 's',
    TAG_WITHOUT_MEMORY = 'w'
};

struct ComparisonKey {
    Map *numbers;    /* bytes -> key - 1 */
    GByteArray *key; /* scratch */
    /* its constants are translated to the numbering of the first recording */
    const WendProgram *second;
    /* gint64: constant i of the second recording in the numbering of the first; NULL: equal
     * tables */
    GArray *constants;
    gint64 request_null; /* in the numbering of the first recording */
    GHashTable *pinned;  /* function -> PinnedCalls: calls that comparison_key_pin changed */
};

/* A persistent receive from any source that got messages of several ranks. The proxy has a request
 * for each of them. */
typedef struct {
    const PinnedStarts *got;
    guint n_started;
    GArray *names; /* guint32: keys of the requests, by source */
} Split;

struct ComparisonKeyRank {
    ComparisonKey *comparison_key;
    const WendProgram *program;
    guint rank;
    WendDecoder *decoder;
    guint32 *terminals;   /* keys; 0: unknown so far */
    GHashTable *requests; /* request word -> key; 0: several signatures have it in common */
    gboolean any_common, named_common; /* some requests are in common; the last call named one */
    /* request word -> key, for requests in common: named by the call that made them last */
    GHashTable *lives;
    /* signature -> GArray of gint64: the last request with number k; 0: none */
    GHashTable *pending;
    GHashTable *names; /* GBytes -> number in the order of first use: names of files and ports */
    const GArray *constants;

    /* the rank of comparison_key_pin; NULL: calls are not changed */
    const ComparisonKeyRank *other;
    GHashTable *received;  /* keys of the receives, without the requests that they make */
    gboolean wildcards;    /* there are receives from any source, */
    gboolean makes_graphs; /* calls of MPI_Dist_graph_create, */
    /* calls of MPI_Dist_graph_create_adjacent on an unknown communicator */
    gboolean unknown_graphs;
    Pins *pins; /* of the current sequence */
    PinnedCall changed;
    const WendCall *now; /* the current call, if it is changed; else NULL */
    GHashTable *splits;  /* request word -> Split */
    GArray *counts_as;   /* see comparison_key_counts_as */
};

static guint constants_count(const WendProgram *p)
{
    guint n = 0;
    while (program_constant_name(p, WEND_CONST(n)) != NULL)
        n++;
    return n;
}

/* Constants that this version of Wend does not know keep their numbers in each recording. */
static GArray *translate_constants(const WendProgram *a, const WendProgram *b)
{
    guint n_a = constants_count(a), n_b = constants_count(b);
    GHashTable *of_a = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < n_a; i++)
        g_hash_table_insert(of_a, (gpointer)program_constant_name(a, WEND_CONST(i)),
                            GUINT_TO_POINTER(i + 1));
    GArray *table = g_array_sized_new(FALSE, FALSE, sizeof(gint64), n_b);
    gboolean same = TRUE;
    for (guint i = 0; i < n_b; i++) {
        gpointer found = g_hash_table_lookup(of_a, program_constant_name(b, WEND_CONST(i)));
        gint64 word = found != NULL ? WEND_CONST(GPOINTER_TO_UINT(found) - 1) : WEND_CONST(n_a + i);
        same = same && word == WEND_CONST(i);
        g_array_append_val(table, word);
    }
    g_hash_table_unref(of_a);
    if (same)
        g_clear_pointer(&table, g_array_unref);
    return table;
}

ComparisonKey *comparison_key_new(const WendProgram *a, const WendProgram *b)
{
    ComparisonKey *comparison_key = g_new0(ComparisonKey, 1);
    comparison_key->numbers = map_of_bytes(NULL);
    comparison_key->key = g_byte_array_new();
    comparison_key->second = b;
    comparison_key->constants = translate_constants(a, b);
    comparison_key->pinned = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    comparison_key->request_null = program_constant_word("MPI_REQUEST_NULL");
    return comparison_key;
}

void comparison_key_free(ComparisonKey *comparison_key)
{
    if (!comparison_key)
        return;
    map_unref(comparison_key->numbers);
    g_hash_table_unref(comparison_key->pinned);
    g_byte_array_unref(comparison_key->key);
    if (comparison_key->constants != NULL)
        g_array_unref(comparison_key->constants);
    g_free(comparison_key);
}

guint32 comparison_key_intern(ComparisonKey *comparison_key, const void *bytes, gsize n)
{
    bool is_new;
    return 1 + map_number(comparison_key->numbers, bytes, n, &is_new);
}

/* -- byte strings -- */

static void put(GByteArray *key, gint64 word)
{
    g_byte_array_append(key, (const guint8 *)&word, sizeof word);
}

static gint64 translated(const ComparisonKeyRank *r, gint64 word)
{
    if (r->constants != NULL && word_is_const(word) && word_const_index(word) < r->constants->len)
        return g_array_index(r->constants, gint64, word_const_index(word));
    return word;
}

typedef struct {
    ComparisonKeyParts parts;
    gboolean unmade;  /* leave out the requests that the call makes */
    gboolean of_pool; /* leave out arguments that do not distinguish pools */
    ComparisonKeyActive active;
    gpointer data;
    gboolean without_memory;
} PutOptions;

/* Whether the parameter describes a started process. Such processes are compared as a world of
 * their own. Their command line does not belong to the communication, as that of the first world
 * does not. */
static gboolean is_told_to_started(const WendParam *param)
{
    static const char *const names[] = {"command", "argv", "array_of_commands", "array_of_argv"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(param->name, names[i]) == 0)
            return param->kind == WEND_KIND_STRING || param->kind == WEND_KIND_STRINGS
                   || param->kind == WEND_KIND_STRINGS2;
    return FALSE;
}

/* Whether the parameter is the name of a file or port. Names belong to the run (a scratch
 * directory, a process id). Only the equality of two names counts, not their text. */
static gboolean is_name_of_run(const WendParam *param)
{
    static const char *const names[] = {"filename", "port_name"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(param->name, names[i]) == 0)
            return param->kind == WEND_KIND_STRING;
    return FALSE;
}

gboolean comparison_key_compares(const WendParam *param)
{
    return !is_told_to_started(param) && !is_name_of_run(param) && strcmp(param->name, "fd") != 0;
}

/* The number of a name. Files and ports have separate numbers. */
static gint64 number_of_name(ComparisonKeyRank *r, const WendParam *param, const gint64 *words,
                             gsize n)
{
    GByteArray *text = g_byte_array_new();
    g_byte_array_append(text, (const guint8 *)param->name, (guint)strlen(param->name) + 1);
    g_byte_array_append(text, (const guint8 *)words, (guint)(n * sizeof *words));
    GBytes *name = g_byte_array_free_to_bytes(text);
    gpointer number = g_hash_table_lookup(r->names, name);
    if (!number) {
        number = GUINT_TO_POINTER(g_hash_table_size(r->names) + 1);
        g_hash_table_insert(r->names, g_bytes_ref(name), number);
    }
    g_bytes_unref(name);
    return GPOINTER_TO_UINT(number);
}

/* Whether word I of the value names a segment. The kind of memory does not belong to the
 * communication: a proxy may have on the heap what the application had on a device. */
static gboolean is_segment_word(WendKind kind, gsize i)
{
    return kind == WEND_KIND_SEGMENT
           || (i % 2 == 0
               && (kind == WEND_KIND_BUF || kind == WEND_KIND_ADDRESS || kind == WEND_KIND_ATTR
                   || kind == WEND_KIND_TARGET));
}

gboolean comparison_key_is_place(const WendCall *call)
{
    guint id = call->function->id;
    return id == WEND_FN_wend_device || id == WEND_FN_wend_managed || id == WEND_FN_wend_pinned;
}

static gboolean is_memory_or_request(WendKind kind)
{
    return kind == WEND_KIND_BUF || kind == WEND_KIND_ADDRESS || kind == WEND_KIND_SEGMENT
           || kind == WEND_KIND_REQUEST;
}

static void put_words(ComparisonKeyRank *r, GByteArray *key, const WendArg *arg, gboolean is_out,
                      const PutOptions *options)
{
    WendKind kind = arg->param->kind;
    gint64 n = is_out ? arg->n_out : arg->n_in;
    const gint64 *words = is_out ? arg->out : arg->in;
    gsize n_words = call_text_words(arg, is_out);
    if (options->without_memory && is_memory_or_request(kind))
        return;
    /* the system chooses the number of a socket */
    if (is_told_to_started(arg->param) || strcmp(arg->param->name, "fd") == 0)
        return;
    if (!is_out && n >= 0 && is_name_of_run(arg->param)) {
        put(key, number_of_name(r, arg->param, words, n_words));
        return;
    }
    put(key, translated(r, n));
    if (kind == WEND_KIND_STRING || kind == WEND_KIND_STRINGS || kind == WEND_KIND_STRINGS2) {
        if (n_words > 0)
            g_byte_array_append(key, (const guint8 *)words, (guint)(n_words * sizeof *words));
        return;
    }
    for (gsize i = 0; i < n_words; i++) {
        gint64 word = translated(r, words[i]);
        if (is_segment_word(kind, i))
            word = word_segment_in_host_memory(word);
        if (kind == WEND_KIND_REQUEST && word_is_handle(word)) {
            if (is_out && options->unmade)
                continue;
            if (options->active != NULL && !is_out && !options->active(options->data, word))
                word = r->comparison_key->request_null;
            else
                word = comparison_key_request(r, word); /* a small number, which no constant has */
        }
        put(key, word);
    }
}

/* Compares pairs of neighbour and weight. */
static int compare_neighbours(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(gint64));
}

/* Puts the neighbours that MPI_Dist_graph_create found, with their weights, in sorted order. The
 * library chooses their order, which differs from run to run. */
static void put_neighbours(ComparisonKeyRank *r, GByteArray *key, const WendCall *call)
{
    static const char *const names[] = {"sources", "destinations"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        guint i = 0;
        while (i < call->n_args && strcmp(call->args[i].param->name, names[k]) != 0)
            i++;
        if (i + 1 >= call->n_args) /* the weights are the next argument */
            continue;
        const WendArg *ranks = &call->args[i], *weights = &call->args[i + 1];
        gint64 n = MAX(ranks->n_out, 0);
        put(key, translated(r, ranks->n_out));
        put(key, translated(r, weights->n_out));
        g_autofree gint64 *pairs = g_new0(gint64, 2 * n + 2);
        for (gint64 j = 0; j < n; j++) {
            pairs[2 * j] = translated(r, ranks->out[j]);
            pairs[2 * j + 1] = j < weights->n_out ? translated(r, weights->out[j]) : 0;
        }
        qsort(pairs, (gsize)n, 2 * sizeof *pairs, compare_neighbours);
        g_byte_array_append(key, (const guint8 *)pairs, (guint)(2 * (gsize)n * sizeof *pairs));
    }
}

static gboolean makes_graph(const WendCall *call)
{
    return call->function->id == WEND_FN_MPI_Dist_graph_create;
}

static void put_call(ComparisonKeyRank *r, GByteArray *key, const WendCall *call, guint8 tag,
                     const PutOptions *options)
{
    g_byte_array_set_size(key, 0);
    g_byte_array_append(key, &tag, 1);
    g_byte_array_append(key, (const guint8 *)call->function->name,
                        (guint)strlen(call->function->name) + 1);
    put(key, call->failed + 2 * call->unfinished);
    gboolean neighbours = call->function->id == WEND_FN_MPI_Dist_graph_neighbors;
    if (neighbours && (options->parts & COMPARISON_KEY_IN) != 0)
        put_neighbours(r, key, call);
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if ((options->parts & COMPARISON_KEY_IN) != 0
            && !(options->of_pool && param_is_amount(call->function, arg->param)))
            put_words(r, key, arg, FALSE, options);
        gboolean outcome =
            arg->param->place == WEND_PLACE_OUTCOME || arg->param->kind == WEND_KIND_STATUS;
        if (!neighbours
            && (options->parts & (outcome ? COMPARISON_KEY_OUTCOMES : COMPARISON_KEY_IN)) != 0)
            put_words(r, key, arg, TRUE, options);
    }
    if ((options->parts & COMPARISON_KEY_OUTCOMES) != 0)
        put(key, call->return_code);
}

guint32 comparison_key_call(ComparisonKeyRank *r, const WendCall *call, ComparisonKeyParts parts,
                            ComparisonKeyActive active, gpointer data)
{
    PutOptions options = {.parts = parts, .active = active, .data = data};
    put_call(r, r->comparison_key->key, call, TAG_CALL, &options);
    return comparison_key_intern(r->comparison_key, r->comparison_key->key->data,
                                 r->comparison_key->key->len);
}

guint32 comparison_key_terminal(ComparisonKeyRank *r, guint32 terminal)
{
    if (r->now != NULL && r->now->terminal == terminal)
        return comparison_key_call(r, r->now, COMPARISON_KEY_IN, NULL, NULL);
    if (r->terminals[terminal] != 0)
        return r->terminals[terminal];
    r->named_common = FALSE;
    guint32 number = comparison_key_call(r, decoder_call(r->decoder, terminal, r->rank),
                                         COMPARISON_KEY_IN, NULL, NULL);
    if (!r->named_common)
        r->terminals[terminal] = number;
    return number;
}

guint32 comparison_key_without_memory(ComparisonKeyRank *r, guint32 terminal)
{
    const PutOptions options = {.parts = COMPARISON_KEY_IN, .without_memory = TRUE};
    put_call(r, r->comparison_key->key, decoder_call(r->decoder, terminal, r->rank),
             TAG_WITHOUT_MEMORY, &options);
    return comparison_key_intern(r->comparison_key, r->comparison_key->key->data,
                                 r->comparison_key->key->len);
}

/* -- requests -- */

typedef struct {
    gint64 word;
    guint32 pool;
} Made;

static gint compare_made(gconstpointer a, gconstpointer b)
{
    const Made *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return x->pool < y->pool ? -1 : x->pool > y->pool;
}

static guint32 name_request(ComparisonKeyRank *r, gint64 word, guint32 pool, guint32 k)
{
    struct {
        guint32 tag, thread, pool, k;
    } name = {TAG_REQUEST, word_handle_tid(word), pool, k};
    return comparison_key_intern(r->comparison_key, &name, sizeof name);
}

/* Assigns keys to requests. A request's number n in its thread stands for (pool, k). Numbers are
 * given by first occurrence, and the k of one pool occur in order. So the sorted numbers of a pool
 * are k = 0, 1, 2, …, except for those that several signatures have in common. */
static void name_requests(ComparisonKeyRank *r, GArray *made)
{
    GHashTable *next = g_hash_table_new(NULL, NULL); /* pool -> k, for the requests of one thread */
    guint32 thread = 0;
    g_array_sort(made, compare_made);
    for (guint i = 0, n; i < made->len; i += n) {
        const Made *m = &g_array_index(made, Made, i);
        guint32 number = 0;
        for (n = 1; i + n < made->len && m[n].word == m->word;)
            n++;
        if (m->pool == m[n - 1].pool) {
            if (i == 0 || word_handle_tid(m->word) != thread)
                g_hash_table_remove_all(next);
            thread = word_handle_tid(m->word);
            gpointer pool = GUINT_TO_POINTER(m->pool);
            guint32 k = GPOINTER_TO_UINT(g_hash_table_lookup(next, pool));
            g_hash_table_insert(next, pool, GUINT_TO_POINTER(k + 1));
            number = name_request(r, m->word, m->pool, k);
        } else {
            r->any_common = TRUE;
        }
        g_hash_table_insert(r->requests, g_memdup2(&m->word, sizeof m->word),
                            GUINT_TO_POINTER(number));
    }
    g_hash_table_unref(next);
}

/* Adds the requests that the call makes, with its signature, to MADE. */
static void add_made(ComparisonKeyRank *r, const WendCall *call, GArray *made)
{
    const PutOptions options = {.parts = COMPARISON_KEY_IN, .unmade = TRUE, .of_pool = TRUE};
    Made m = {0, 0};
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->param->kind != WEND_KIND_REQUEST || arg->param->dir != WEND_DIR_OUT || !arg->out)
            continue;
        for (gint64 e = 0; e < arg->n_out; e++) {
            m.word = arg->out[e];
            if (!word_is_handle(m.word))
                continue;
            if (m.pool == 0) {
                put_call(r, r->comparison_key->key, call, TAG_POOL, &options);
                m.pool = comparison_key_intern(r->comparison_key, r->comparison_key->key->data,
                                               r->comparison_key->key->len);
            }
            g_array_append_val(made, m);
        }
    }
}

static gboolean is_common(const ComparisonKeyRank *r, gint64 request)
{
    gpointer number;
    return r->any_common && g_hash_table_lookup_extended(r->requests, &request, NULL, &number)
           && !number;
}

/* -- calls as a proxy makes them -- */

/* The key of a receive, without the request that it makes. */
static guint32 number_of_receive(ComparisonKeyRank *r, const WendCall *call)
{
    const PutOptions options = {.parts = COMPARISON_KEY_IN, .unmade = TRUE};
    put_call(r, r->comparison_key->key, call, TAG_RECEIVE, &options);
    return comparison_key_intern(r->comparison_key, r->comparison_key->key->data,
                                 r->comparison_key->key->len);
}

static gboolean receives(const ComparisonKeyRank *r, guint32 number)
{
    return g_hash_table_contains(r->received, GUINT_TO_POINTER(number));
}

/* The receive with the source that came. NULL if the call stays as it is. It is changed if the
 * other recording has a receive with that source, and either has no such receive from any source,
 * or this recording has no receive with that source. */
static const WendCall *with_source(ComparisonKeyRank *r, const WendCall *call, gint64 source)
{
    if (source == WEND_ABSENT)
        return NULL;
    const WendCall *named = pinned_call_name_source(&r->changed, call, source);
    guint32 as_named = number_of_receive(r, named);
    gboolean pinned =
        receives(r->other, as_named)
        && (!receives(r->other, number_of_receive(r, call)) || !receives(r, as_named));
    return pinned ? named : NULL;
}

/* Whether the other recording has a receive for each source. */
static gboolean is_split(ComparisonKeyRank *r, const WendCall *call, const PinnedStarts *got)
{
    for (guint i = 0; i < got->sources->len; i++) {
        gint64 source = g_array_index(got->sources, gint64, i);
        gboolean none = source == program_constant_word("MPI_ANY_SOURCE");
        if (none ? !receives(r->other, number_of_receive(r, call)) : !with_source(r, call, source))
            return FALSE;
    }
    return TRUE;
}

static PinnedCalls *count_of(ComparisonKeyRank *r, const WendCall *call)
{
    GHashTable *pinned = r->comparison_key->pinned;
    PinnedCalls *calls = g_hash_table_lookup(pinned, call->function);
    if (!calls)
        g_hash_table_insert(pinned, (gpointer)call->function, calls = g_new0(PinnedCalls, 1));
    return calls;
}

/* The call as a proxy would make it, or NULL if it stays as it is. */
static const WendCall *change_call(ComparisonKeyRank *r, const WendCall *call)
{
    gboolean any = FALSE;
    const WendCall *changed = NULL;
    if (pins_source_argument(call, &any) != NULL && any && r->pins != NULL)
        changed = !pins_starts(r->pins, call->index)
                      ? with_source(r, call, pins_source(r->pins, call->index))
                      : NULL;
    else if (makes_graph(call) && !r->other->makes_graphs)
        changed = pinned_call_adjacent(&r->changed, call, r->other->unknown_graphs);
    if (changed != NULL)
        count_of(r, call)->calls++;
    return changed;
}

static void note_for_pins(ComparisonKeyRank *r, const WendCall *call)
{
    gboolean any = FALSE;
    if (call->failed)
        return;
    if (pins_source_argument(call, &any) != NULL)
        g_hash_table_add(r->received, GUINT_TO_POINTER(number_of_receive(r, call)));
    r->wildcards |= any;
    r->makes_graphs |= makes_graph(call);
    const WendArg *old = call->function->id == WEND_FN_MPI_Dist_graph_create_adjacent
                             ? call_arg(call, "comm_old")
                             : NULL;
    r->unknown_graphs |= old != NULL && old->n_in == 1 && old->in[0] == WEND_UNKNOWN;
}

static void find_for_pins(ComparisonKeyRank *r, Counts *counts)
{
    const WendClass *class = program_class(r->program, program_class_of(r->program, r->rank));
    r->received = g_hash_table_new(NULL, NULL);
    for (guint s = 0; s < class->n_sequences; s++) {
        guint n;
        const guint32 *terminals = counts_of_rule(counts, class->sequences[s].rule, &n);
        for (guint t = 0; t < n; t++)
            note_for_pins(r, decoder_call(r->decoder, terminals[t], r->rank));
    }
}

/* Makes calls be compared as a proxy makes them. Receives that name their source have other pools
 * than receives from any source. So all requests are named by the calls that make them, like
 * requests that several signatures have in common. */
static void pin_to(ComparisonKeyRank *r, const ComparisonKeyRank *other)
{
    GHashTableIter iter;
    g_hash_table_iter_init(&iter, r->requests);
    while (g_hash_table_iter_next(&iter, NULL, NULL))
        g_hash_table_iter_replace(&iter, NULL);
    r->any_common = TRUE;
    r->other = other;
}

void comparison_key_pin(ComparisonKeyRank *a, Counts *counts_a, ComparisonKeyRank *b,
                        Counts *counts_b)
{
    find_for_pins(a, counts_a);
    find_for_pins(b, counts_b);
    if (!a->wildcards && !b->wildcards && a->makes_graphs == b->makes_graphs)
        return;
    pin_to(a, b);
    pin_to(b, a);
}

void comparison_key_begin(ComparisonKeyRank *r, guint sequence)
{
    g_hash_table_remove_all(r->splits);
    g_clear_pointer(&r->pins, pins_free);
    r->now = NULL;
    if (r->other != NULL && r->wildcards)
        r->pins = pins_new(r->program, r->rank, sequence);
}

GHashTable *comparison_key_pinned(const ComparisonKey *comparison_key)
{
    return comparison_key->pinned;
}

static guint32 split_name(const Split *split, guint i)
{
    return g_array_index(split->names, guint32, i);
}

static gboolean has_name(const ComparisonKeyRank *r, gint64 request, guint32 name)
{
    const Split *split = g_hash_table_lookup(r->splits, &request);
    for (guint i = 0; split != NULL && i < split->names->len; i++)
        if (split_name(split, i) == name)
            return TRUE;
    return !split && GPOINTER_TO_UINT(g_hash_table_lookup(r->lives, &request)) == name;
}

static void set_name(ComparisonKeyRank *r, gint64 request, guint32 name)
{
    g_hash_table_insert(r->lives, g_memdup2(&request, sizeof request), GUINT_TO_POINTER(name));
}

/* Names a request that a call has made. */
static guint32 name_made(ComparisonKeyRank *r, const Made *m, const WendWalk *walk)
{
    GArray *pending = g_hash_table_lookup(r->pending, GUINT_TO_POINTER(m->pool));
    if (!pending)
        g_hash_table_insert(r->pending, GUINT_TO_POINTER(m->pool),
                            pending = g_array_new(FALSE, TRUE, sizeof(gint64)));
    WendRequestState state;
    guint32 k = 0;
    while (k < pending->len && g_array_index(pending, gint64, k) != m->word
           && walk_request(walk, g_array_index(pending, gint64, k), &state)
           && has_name(r, g_array_index(pending, gint64, k), name_request(r, m->word, m->pool, k)))
        k++;
    if (k == pending->len)
        g_array_set_size(pending, k + 1);
    g_array_index(pending, gint64, k) = m->word;
    guint32 name = name_request(r, m->word, m->pool, k);
    set_name(r, m->word, name);
    return name;
}

static void name_all_made(ComparisonKeyRank *r, const WendCall *call, const WendWalk *walk)
{
    g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(Made));
    add_made(r, call, made);
    for (guint i = 0; i < made->len; i++) {
        const Made *m = &g_array_index(made, Made, i);
        if (!is_common(r, m->word))
            continue;
        g_hash_table_remove(r->splits, &m->word);
        name_made(r, m, walk);
    }
}

static void split_free(gpointer split)
{
    g_array_unref(((Split *)split)->names);
    g_free(split);
}

static void count_as(ComparisonKeyRank *r, const WendCall *call)
{
    guint32 key = comparison_key_call(r, call, COMPARISON_KEY_IN, NULL, NULL);
    g_array_append_val(r->counts_as, key);
}

/* Makes the call count as a receive for each source, if it got several and the other recording has
 * them. */
static void split_receive(ComparisonKeyRank *r, const WendCall *call, const WendWalk *walk)
{
    const PinnedStarts *got = r->pins != NULL ? pins_starts(r->pins, call->index) : NULL;
    const gint64 *word = call_request_made(call);
    if (!got || !word || !is_common(r, *word) || !is_split(r, call, got))
        return;
    Split *split = g_new0(Split, 1);
    split->got = got;
    split->names = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_hash_table_remove(r->splits, word);
    for (guint i = 0; i < got->sources->len; i++) {
        const WendCall *named =
            pinned_call_name_source(&r->changed, call, g_array_index(got->sources, gint64, i));
        name_all_made(r, named, walk);
        guint32 name = comparison_key_request(r, *word);
        g_array_append_val(split->names, name);
        count_as(r, named);
    }
    set_name(r, *word, split_name(split, 0));
    g_hash_table_insert(r->splits, g_memdup2(word, sizeof *word), split);
    count_of(r, call)->split++;
}

/* Each start of a split receive starts the request of the source that came. */
static void start_splits(ComparisonKeyRank *r, const WendCall *call)
{
    const WendArg *requests = call_arg_of_kind(call, WEND_KIND_REQUEST);
    for (gint64 i = 0; requests != NULL && i < requests->n_in; i++) {
        Split *split = g_hash_table_lookup(r->splits, &requests->in[i]);
        if (split != NULL && split->n_started < split->got->starts->len)
            set_name(
                r, requests->in[i],
                split_name(split, g_array_index(split->got->starts, guint, split->n_started++)));
    }
}

/* Frees the request, and before it all others of a split receive. Their names are free then. */
static void free_request(ComparisonKeyRank *r, const WendCall *call)
{
    const WendArg *request = call_arg_of_kind(call, WEND_KIND_REQUEST);
    if (!request || request->n_in != 1 || !is_common(r, request->in[0]))
        return;
    const gint64 word = request->in[0];
    const Split *split = g_hash_table_lookup(r->splits, &word);
    const guint32 current = comparison_key_request(r, word);
    for (guint i = 0; split != NULL && i < split->names->len; i++) {
        set_name(r, word, split_name(split, i));
        if (split_name(split, i) != current)
            count_as(r, call);
    }
    set_name(r, word, current);
    count_as(r, call);
    g_hash_table_remove(r->splits, &word);
    g_hash_table_remove(r->lives, &word);
}

void comparison_key_next(ComparisonKeyRank *r, const WendCall *call, const WendWalk *walk)
{
    g_array_set_size(r->counts_as, 0);
    r->now = r->other != NULL && !call->failed ? change_call(r, call) : NULL;
    if (r->now != NULL)
        call = r->now;
    if (!r->any_common || call->failed)
        return;
    if (r->other != NULL)
        split_receive(r, call, walk);
    if (r->counts_as->len == 0)
        name_all_made(r, call, walk);
    if (r->other != NULL && walk_starts(walk))
        start_splits(r, call);
    if (r->other != NULL && walk_frees(walk))
        free_request(r, call);
}

const guint32 *comparison_key_counts_as(const ComparisonKeyRank *r, guint *n)
{
    *n = r->counts_as->len;
    return (const guint32 *)(const void *)r->counts_as->data;
}

static void find_requests(ComparisonKeyRank *r, Counts *counts)
{
    const WendClass *class = program_class(r->program, program_class_of(r->program, r->rank));
    GArray *made = g_array_new(FALSE, FALSE, sizeof(Made));
    for (guint s = 0; s < class->n_sequences; s++) {
        guint n;
        const guint32 *terminals = counts_of_rule(counts, class->sequences[s].rule, &n);
        for (guint t = 0; t < n; t++) {
            const WendShape *shape =
                program_shape(r->program, program_terminal(r->program, terminals[t])->shape);
            gboolean makes = FALSE;
            for (guint i = 0; i < shape->function->n_params; i++)
                makes = makes
                        || (shape->function->params[i].kind == WEND_KIND_REQUEST
                            && shape->function->params[i].dir == WEND_DIR_OUT);
            if (!makes)
                continue;
            add_made(r, decoder_call(r->decoder, terminals[t], r->rank), made);
        }
    }
    name_requests(r, made);
    g_array_unref(made);
}

guint32 comparison_key_request(ComparisonKeyRank *r, gint64 request)
{
    guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(r->requests, &request));
    if (number == 0 && is_common(r, request)) {
        r->named_common = TRUE;
        number = GPOINTER_TO_UINT(g_hash_table_lookup(r->lives, &request));
    }
    if (number != 0)
        return number;
    struct {
        gint64 tag, word;
    } name = {TAG_PLAIN_REQUEST, request};
    return comparison_key_intern(r->comparison_key, &name, sizeof name);
}

ComparisonKeyRank *comparison_key_rank_new(ComparisonKey *comparison_key, const WendProgram *p,
                                           guint rank, Counts *counts)
{
    ComparisonKeyRank *r = g_new0(ComparisonKeyRank, 1);
    r->comparison_key = comparison_key;
    r->program = p;
    r->rank = rank;
    r->decoder = decoder_new(p);
    r->terminals = g_new0(guint32, program_n_terminals(p));
    r->requests = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->lives = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->pending = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    r->names =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    r->splits = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, split_free);
    r->counts_as = g_array_new(FALSE, FALSE, sizeof(guint32));
    pinned_call_init(&r->changed);
    r->constants = p == comparison_key->second ? comparison_key->constants : NULL;
    find_requests(r, counts);
    return r;
}

void comparison_key_rank_free(ComparisonKeyRank *r)
{
    if (!r)
        return;
    decoder_free(r->decoder);
    g_free(r->terminals);
    g_hash_table_unref(r->requests);
    g_hash_table_unref(r->lives);
    g_hash_table_unref(r->pending);
    g_hash_table_unref(r->names);
    g_hash_table_unref(r->splits);
    g_array_unref(r->counts_as);
    g_clear_pointer(&r->received, g_hash_table_unref);
    pins_free(r->pins);
    pinned_call_clear(&r->changed);
    g_free(r);
}

gboolean comparison_key_has_common(const ComparisonKeyRank *r)
{
    return r->any_common;
}

ComparisonKey *comparison_key_of_rank(const ComparisonKeyRank *r)
{
    return r->comparison_key;
}
