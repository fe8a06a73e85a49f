/* SPDX-License-Identifier: BSD-3-Clause */
/* script.c: makes a recording out of a script, so that tests can say in a few lines what a run did.
 *
 *     script SCRIPT DIRECTORY
 *
 * A script is lines; "#" begins a comment.
 *
 *     ranks 4                     processes of MPI_COMM_WORLD
 *     fact run.program=./app      a fact of part.h
 *     rank 0-2                    what follows is done by these ranks, behind what they did before
 *                                 ("rank *": by all)
 *     thread 1                    … in this thread (0 after each "rank")
 *     repeat 100 … end            nests
 *     MPI_Send count=3 dest=self+1 tag=7 -> rc=0
 *     MPI_Irecv source=1 request=a
 *     MPI_Waitany array_of_requests=a,b done=b -> index=1
 *     ? MPI_Test request=a        an unsuccessful poll
 *
 * Parameters that are not given are 0, MPI_COMM_WORLD, MPI_INT, heap#0, MPI_REQUEST_NULL, empty;
 * outcomes are 0. Requests are named by variables: "done" says which the call completes. A variable
 * keeps naming its request when that is inactive. Behind "->" are outcomes. It does what the tracer
 * does (docs/recording.md, "Calls as words") with the tracer's own table and grammar. */
#include "config.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/archive/write.h"
#include "lib/merge/merge.h"
#include "lib/record/record.h"

typedef struct {
    gint64 word;
    WendPoolKey key;
    gboolean live;
} Request;

typedef struct {
    gint64 thread;
    WendCst *calls, *polls;
    WendGrammar *grammar, *polls_grammar;
    guint64 polls_before;
} Sequence;

typedef struct {
    guint rank;
    GPtrArray *sequences;
    GHashTable *requests; /* name -> Request */
} Rank;

static guint n_ranks = 1;
static Rank *ranks;
static WendFacts facts;
static guint line_number;
static const char *script_name;

static void G_GNUC_NORETURN G_GNUC_PRINTF(1, 2) fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%u: ", script_name, line_number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

static Sequence *sequence_of(Rank *r, gint64 thread)
{
    for (guint i = 0; i < r->sequences->len; i++)
        if (((Sequence *)r->sequences->pdata[i])->thread == thread)
            return r->sequences->pdata[i];
    Sequence *s = g_new0(Sequence, 1);
    *s = (Sequence){thread, cst_new(), cst_new(), grammar_new(), grammar_new(), 0};
    g_ptr_array_add(r->sequences, s);
    return s;
}

/* -- values -- */

static gint64 constant(const char *name)
{
    for (gsize i = 0; i < mpi_n_constants; i++)
        if (strcmp(mpi_constants[i], name) == 0)
            return WEND_CONST(i);
    fail("no constant %s", name);
}

static gint64 segment(const char *text, gint64 *offset)
{
    static const char *const kinds[] = {"heap#", "stack#", "static#", "mpi#", "win#", "map#"};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (g_str_has_prefix(text, kinds[i])) {
            char *end;
            gint64 id = g_ascii_strtoll(text + strlen(kinds[i]), &end, 10);
            *offset = g_ascii_strtoll(end, NULL, 10);
            return WEND_SEGMENT(i, id);
        }
    }
    return constant(text);
}

/* A number, self+N, a constant, or KIND#N of a handle. */
static gint64 value(const char *text, guint rank, gint64 thread)
{
    const char *hash = strchr(text, '#');
    if (hash != NULL)
        return WEND_HANDLE(thread, g_ascii_strtoll(hash + 1, NULL, 10));
    if (g_str_has_prefix(text, "self"))
        return (gint64)rank + g_ascii_strtoll(text + 4, NULL, 10);
    if (g_ascii_isdigit(*text) || *text == '-')
        return g_ascii_strtoll(text, NULL, 10);
    if (strcmp(text, "absent") == 0)
        return WEND_ABSENT;
    return constant(text);
}

static const char *default_value(const WendParam *p)
{
    switch (p->kind) {
    case WEND_KIND_COMM:
        return "MPI_COMM_WORLD";
    case WEND_KIND_DATATYPE:
        return "MPI_INT";
    case WEND_KIND_OP:
        return "MPI_SUM";
    case WEND_KIND_INFO:
        return "MPI_INFO_NULL";
    case WEND_KIND_BUF:
        return "heap#0";
    default:
        return "0";
    }
}

static void put(GArray *row, gint64 word)
{
    g_array_append_val(row, word);
}

static void put_string(GArray *row, const char *s)
{
    gsize n = strlen(s);
    put(row, (gint64)n);
    for (gsize i = 0; i < n; i += 8) {
        guint64 word = 0;
        for (gsize b = 0; b < 8 && i + b < n; b++)
            word |= (guint64)(guchar)s[i + b] << (8 * b);
        put(row, (gint64)word);
    }
}

/* -- calls -- */

typedef struct {
    Rank *rank;
    Sequence *sequence;
    const WendFunction *function;
    gboolean poll;
    gint64 rc;
    GHashTable *given; /* name -> text, both sides of the arrow */
    GArray *shape, *slots, *outcome;
    char *made; /* name of the request that the call makes */
} Call;

static const char *given(const Call *c, const char *name)
{
    return g_hash_table_lookup(c->given, name);
}

static gint64 request_word(const Call *c, const char *name)
{
    if (g_str_has_prefix(name, "MPI_") || strcmp(name, "0") == 0)
        return constant("MPI_REQUEST_NULL");
    const Request *r = g_hash_table_lookup(c->rank->requests, name);
    if (!r)
        fail("no request %s", name);
    return r->word;
}

static GArray *row_of(Call *c, WendPlace place)
{
    return place == WEND_PLACE_SHAPE ? c->shape : place == WEND_PLACE_SLOT ? c->slots : c->outcome;
}

static void put_element(Call *c, const WendParam *p, const char *text, WendPlace place)
{
    guint rank = c->rank->rank;
    gint64 offset = 0, word;
    switch (p->kind) {
    case WEND_KIND_REQUEST:
        put(c->shape, request_word(c, text));
        break;
    case WEND_KIND_BUF:
        word = segment(text, &offset);
        put(c->shape, word);
        if (word_is_segment(word))
            put(c->slots, offset);
        break;
    case WEND_KIND_SEGMENT:
        put(c->shape, segment(text, &offset));
        break;
    case WEND_KIND_ADDRESS:
        /* heap#3+64 or, the distance of two places, heap#3+64~heap#2 */
        if (strchr(text, '#') != NULL) {
            gint64 from_offset;
            const char *from = strchr(text, '~');
            word = segment(text, &offset);
            if (from != NULL)
                put(c->shape, WEND_DISTANCE);
            put(c->shape, word);
            put(c->slots, offset);
            if (from != NULL) {
                put(c->shape, segment(from + 1, &from_offset));
                put(c->slots, from_offset);
            }
            break;
        }
        /* fall through */
    case WEND_KIND_ATTR:
        put(place == WEND_PLACE_OUTCOME ? c->outcome : c->shape, WEND_PLAIN);
        put(place == WEND_PLACE_OUTCOME ? c->outcome : c->slots,
            value(text, rank, c->sequence->thread));
        break;
    case WEND_KIND_TARGET:
        put(c->slots, WEND_PLAIN);
        put(c->slots, value(text, rank, c->sequence->thread));
        break;
    default:
        put(row_of(c, place), value(text, rank, c->sequence->thread));
    }
}

/* Handles that are made bring five facts: "type#0/8" is a datatype of 8 bytes, "comm#0/2/1/0" a
 * communicator of 2, own rank 1, leader 0; "comm#0/2/1/0/3/-1" an intercommunicator to 3 processes
 * of another world. */
static void put_facts(Call *c, const WendParam *p, const char *text)
{
    char **parts = g_strsplit(text, "/", -1);
    guint n = g_strv_length(parts);
    for (guint i = 0; i < 5; i++)
        put(c->slots, i + 1 < n                             ? value(parts[i + 1], c->rank->rank, 0)
                      : p->kind == WEND_KIND_COMM && i >= 3 ? -1
                                                            : 0);
    g_strfreev(parts);
}

static void put_array(Call *c, const WendParam *p, const char *text, gboolean is_out)
{
    char **elements = text != NULL && *text != '\0' ? g_strsplit(text, ",", -1) : g_new0(char *, 1);
    WendPlace place =
        p->dir == WEND_DIR_IN && p->place == WEND_PLACE_OUTCOME ? WEND_PLACE_SHAPE : p->place;
    put(is_out && place == WEND_PLACE_OUTCOME ? c->outcome : c->shape, g_strv_length(elements));
    for (guint i = 0; elements[i] != NULL; i++)
        put_element(c, p, elements[i], place);
    g_strfreev(elements);
}

static void put_in(Call *c, const WendParam *p)
{
    const char *text = given(c, p->name);
    switch (p->kind) {
    case WEND_KIND_SELF:
        put(c->slots, c->rank->rank);
        return;
    case WEND_KIND_SKIP:
        return;
    case WEND_KIND_STATUS:
        return;
    default:
        break;
    }
    if (p->dir == WEND_DIR_OUT || p->dir == WEND_DIR_RETURN)
        return;
    if (text != NULL && strcmp(text, "absent") == 0 && (p->kind == WEND_KIND_STRING || p->array))
        put(c->shape, WEND_ABSENT);
    else if (p->kind == WEND_KIND_STRING)
        put_string(c->shape, text != NULL ? text : "");
    else if (p->array)
        put_array(c, p, text, FALSE);
    else
        put_element(c, p, text != NULL ? text : default_value(p),
                    p->place == WEND_PLACE_OUTCOME ? WEND_PLACE_SLOT : p->place);
}

static void put_statuses(Call *c, const char *text, gint64 n)
{
    char **words = text != NULL ? g_strsplit(text, ",", -1) : g_new0(char *, 1);
    guint n_words = g_strv_length(words);
    for (guint i = 0; i < 4 * n; i++)
        put(c->outcome, i < n_words ? g_ascii_strtoll(words[i], NULL, 10) : 0);
    g_strfreev(words);
}

static guint n_done(const Call *c)
{
    const char *done = given(c, "done");
    char **names = g_strsplit(done != NULL ? done : "", ",", -1);
    guint n = g_strv_length(names);
    g_strfreev(names);
    return n;
}

static void put_out(Call *c, const WendParam *p)
{
    const char *text = given(c, p->name);
    if (p->kind == WEND_KIND_STATUS) {
        gint64 n = p->array ? (strstr(p->length, "outcount") != NULL ? (gint64)n_done(c)
                                                                     : (gint64)n_done(c))
                            : 1;
        put(c->shape, p->array ? WEND_IGNORE : 1);
        if (c->poll)
            return;
        if (p->array)
            put(c->outcome, n);
        put_statuses(c, text, n);
        return;
    }
    if (p->kind == WEND_KIND_SKIP || p->dir == WEND_DIR_IN
        || (p->dir == WEND_DIR_INOUT && p->kind <= WEND_KIND_BUF))
        return;
    if (c->poll && p->place == WEND_PLACE_OUTCOME)
        return;
    if (p->kind == WEND_KIND_REQUEST) {
        c->made = g_strdup(text != NULL ? text : "_");
    } else if (p->kind == WEND_KIND_STRING) {
        put_string(c->outcome, text != NULL ? text : "");
    } else if (p->array) {
        put_array(c, p, text, TRUE);
    } else {
        put_element(c, p, text != NULL ? text : default_value(p), p->place);
        if ((p->kind == WEND_KIND_COMM || p->kind == WEND_KIND_DATATYPE)
            && strchr(text != NULL ? text : "", '#') != NULL)
            put_facts(c, p, text);
    }
}

static void complete(Call *c)
{
    const char *done = given(c, "done");
    char **names = g_strsplit(done != NULL ? done : "", ",", -1);
    for (char **name = names; *name != NULL; name++) {
        Request *r = g_hash_table_lookup(c->rank->requests, *name);
        if (!r || !r->live)
            fail("%s completes nothing", *name);
        if (!given(c, "persistent"))
            cst_release(c->sequence->calls, r->key);
        r->live = given(c, "persistent") != NULL;
    }
    g_strfreev(names);
}

static const gint64 *words(const GArray *row)
{
    return (const gint64 *)(const void *)row->data;
}

static void record(Call *c)
{
    gint64 head = WEND_SHAPE_HEAD(c->function - mpi_functions, c->rc != 0);
    put(c->shape, head);
    put(c->outcome, (gint64)c->sequence->polls_before);
    put(c->outcome, c->rc);
    for (guint i = 0; i < c->function->n_params; i++)
        put_in(c, &c->function->params[i]);
    for (guint i = 0; i < c->function->n_params && c->rc == 0; i++)
        put_out(c, &c->function->params[i]);
    WendCst *table = c->poll ? c->sequence->polls : c->sequence->calls;
    if (c->made != NULL) {
        Request *r = g_new0(Request, 1);
        guint32 number;
        cst_request(table, words(c->shape), c->shape->len, words(c->slots), c->slots->len, true,
                    &r->key, &number);
        r->word = WEND_HANDLE(c->sequence->thread, number);
        r->live = TRUE;
        put(c->shape, r->word);
        g_hash_table_insert(c->rank->requests, c->made, r);
    }
    WendTerminalEntry *t =
        cst_terminal(table, words(c->shape), c->shape->len, words(c->slots), c->slots->len);
    grammar_append(c->poll ? c->sequence->polls_grammar : c->sequence->grammar, t->number, 1);
    if (c->poll) {
        c->sequence->polls_before++;
        return;
    }
    cst_outcome(table, t->shape, words(c->outcome), c->outcome->len);
    stat_add(&t->times->duration, 1e-6 * (double)(1 + t->number));
    stat_add(&t->times->interval, 1e-5);
    c->sequence->polls_before = 0;
    complete(c);
}

static void run_call(Rank *rank, gint64 thread, char **fields)
{
    Call c = {.rank = rank, .sequence = sequence_of(rank, thread)};
    c.poll = strcmp(*fields, "?") == 0;
    fields += c.poll;
    for (gsize i = 0; i < mpi_n_functions; i++)
        if (strcmp(mpi_functions[i].name, *fields) == 0)
            c.function = &mpi_functions[i];
    if (!c.function)
        fail("no function %s", *fields);
    c.given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    while (*++fields != NULL) {
        char *equals = strchr(*fields, '=');
        if (equals != NULL)
            g_hash_table_insert(c.given, g_strndup(*fields, (gsize)(equals - *fields)),
                                g_strdup(equals + 1));
        else if (strcmp(*fields, "->") != 0)
            fail("what is %s?", *fields);
    }
    c.rc = given(&c, "rc") != NULL ? g_ascii_strtoll(given(&c, "rc"), NULL, 10) : 0;
    c.shape = g_array_new(FALSE, FALSE, sizeof(gint64));
    c.slots = g_array_new(FALSE, FALSE, sizeof(gint64));
    c.outcome = g_array_new(FALSE, FALSE, sizeof(gint64));
    record(&c);
    g_array_unref(c.shape);
    g_array_unref(c.slots);
    g_array_unref(c.outcome);
    g_hash_table_unref(c.given);
}

/* -- scripts -- */

typedef struct {
    gboolean *chosen;
    gint64 thread;
} Place;

static void choose(Place *place, const char *text)
{
    memset(place->chosen, 0, n_ranks * sizeof(gboolean));
    char **parts = g_strsplit(text, ",", -1);
    for (char **part = parts; *part != NULL; part++) {
        guint first = 0, last = n_ranks - 1;
        if (strcmp(*part, "*") != 0 && sscanf(*part, "%u-%u", &first, &last) == 1)
            last = first;
        for (guint r = first; r <= last && r < n_ranks; r++)
            place->chosen[r] = TRUE;
    }
    g_strfreev(parts);
    place->thread = 0;
}

static void ensure_ranks(Place *place)
{
    if (ranks != NULL)
        return;
    ranks = g_new0(Rank, n_ranks);
    place->chosen = g_new0(gboolean, n_ranks);
    for (guint i = 0; i < n_ranks; i++) {
        ranks[i] = (Rank){i, g_ptr_array_new(),
                          g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
        place->chosen[i] = TRUE;
    }
}

/* Runs lines from FIRST up to END or the "end" of its repeat; gives the line behind. */
static guint run_lines(char **lines, guint first, Place *place, gboolean nested)
{
    for (guint i = first; lines[i] != NULL; i++) {
        line_number = i + 1;
        char *comment = strstr(lines[i], "# ");
        char *text =
            comment != NULL ? g_strndup(lines[i], (gsize)(comment - lines[i])) : g_strdup(lines[i]);
        char **all = g_strsplit_set(g_strstrip(text), " \t", -1);
        g_free(text);
        GPtrArray *fields = g_ptr_array_new();
        for (char **f = all; *f != NULL; f++)
            if (**f != '\0')
                g_ptr_array_add(fields, *f);
        g_ptr_array_add(fields, NULL);
        char **words = (char **)fields->pdata;
        gboolean done = FALSE;
        if (!words[0] || strcmp(words[0], "#") == 0) {
        } else if (strcmp(words[0], "ranks") == 0) {
            n_ranks = (guint)atoi(words[1]);
        } else if (strcmp(words[0], "fact") == 0) {
            char *equals = strchr(words[1], '=');
            *equals = '\0';
            facts_add(&facts, words[1], equals + 1);
        } else if (strcmp(words[0], "rank") == 0) {
            ensure_ranks(place);
            choose(place, words[1]);
        } else if (strcmp(words[0], "thread") == 0) {
            place->thread = atoi(words[1]);
        } else if (strcmp(words[0], "repeat") == 0) {
            guint end = i + 1;
            for (int n = atoi(words[1]); n > 0; n--)
                end = run_lines(lines, i + 1, place, TRUE);
            i = end;
        } else if (strcmp(words[0], "end") == 0) {
            done = TRUE;
        } else {
            ensure_ranks(place);
            for (guint r = 0; r < n_ranks; r++)
                if (place->chosen[r])
                    run_call(&ranks[r], place->thread, words);
        }
        g_ptr_array_unref(fields);
        g_strfreev(all);
        if (done)
            return i;
    }
    if (nested)
        fail("no end of the repeat");
    return 0;
}

static WendMerge *merge(void)
{
    WendMerge *merged = NULL;
    Error *error = NULL;
    for (guint r = 0; r < n_ranks; r++) {
        WendBuf part = WEND_BUF_INIT;
        part_begin(&part, &facts, r, n_ranks, ranks[r].sequences->len);
        for (guint i = 0; i < ranks[r].sequences->len; i++) {
            Sequence *s = ranks[r].sequences->pdata[i];
            WendPartSequence row = {.kind = WEND_SEQUENCE_THREAD,
                                    .id = s->thread,
                                    .calls = s->calls,
                                    .grammar = s->grammar,
                                    .polls_after = s->polls_before,
                                    .polls = s->polls,
                                    .polls_grammar = s->polls_grammar};
            part_sequence(&part, &row);
        }
        WendMerge *one = merge_from_part(part.data, part.len, G_MAXUINT64, &error);
        if (!one)
            fail("%s", error->message);
        buf_clear(&part);
        if (!merged) {
            merged = one;
            continue;
        }
        if (!merge_unite(merged, one, &error))
            fail("%s", error->message);
    }
    return merged;
}

int main(int argc, char **argv)
{
    char *text;
    Error *error = NULL;
    if (argc != 3) {
        fputs("usage: script SCRIPT DIRECTORY\n", stderr);
        return 2;
    }
    script_name = argv[1];
    if (!g_file_get_contents(strcmp(argv[1], "-") == 0 ? "/dev/stdin" : argv[1], &text, NULL, NULL))
        fail("%s: cannot read it", argv[1]);
    facts_add(&facts, "datatype.MPI_INT", "4 0 4 0 4");
    facts_add(&facts, "datatype.MPI_DOUBLE", "8 0 8 0 8");
    char **lines = g_strsplit(text, "\n", -1);
    Place place = {NULL, 0};
    run_lines(lines, 0, &place, FALSE);
    ensure_ranks(&place);

    WendArchiveResult result;
    g_mkdir_with_parents(argv[2], 0777);
    if (!write_archive(merge(), argv[2], NULL, &result, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return 4;
    }
    return 0;
}
