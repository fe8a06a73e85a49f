/* SPDX-License-Identifier: BSD-3-Clause */
/* order-write.c: makes the order file of a rank: the rules, terminals and shapes that the rank
 * needs, in their order, with its own numbers for the slots, and its outcomes. */
#include "order-write.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/read/sides.h"
#include "lib/read/terminations.h"
#include "lib/record/stream.h"
#include "order-parts.h"

enum { NOT_KEPT = G_MAXUINT32 };

typedef struct {
    const WendProgram *p;
    guint rank;
    Allowance *allowance;
    GArray *words, *shapes, *terminals, *rules, *symbols, *sequences, *streams, *sides;
    GArray *modules, *sites, *site_elements;
    GByteArray *bytes;
    const OrderSites *named;         /* NULL: there are no sites */
    guint32 *site_of, *module_of;    /* the file's number, by that of the sites; NOT_KEPT */
    gboolean nowhere;                /* as in the head */
    guint32 *shape_of, *terminal_of; /* the file's number, by that in the program; NOT_KEPT */
} OrderWriter;

static guint64 put_words(OrderWriter *w, const gint64 *words, guint n)
{
    guint64 first = w->words->len;
    g_array_append_vals(w->words, words, n);
    return first;
}

static gboolean too_large(Error **error)
{
    error_set(error, WEND_ERROR_INPUT, "the recording has too many different calls for a replay");
    return FALSE;
}

/* Sets the error, and returns FALSE: the allowance is used up, there is no memory, or the file
 * would be longer than 4 GB. */
static gboolean fail(const OrderWriter *w, Error **error)
{
    return !allowance_error(w->allowance, "its replay", error) && too_large(error);
}

/* -- signatures -- */

static guint32 keep_shape(OrderWriter *w, guint32 shape)
{
    if (w->shape_of[shape] != NOT_KEPT)
        return w->shape_of[shape];
    const WendShape *s = program_shape(w->p, shape);
    /* Function indices are the archive's; the replayer has those of this build. */
    OrderShape kept = {put_words(w, s->words, s->n_words), s->n_words};
    g_array_index(w->words, gint64, kept.first) = WEND_SHAPE_HEAD(s->function->id, s->failed);
    g_array_append_val(w->shapes, kept);
    return w->shape_of[shape] = w->shapes->len - 1;
}

static guint32 keep_terminal(OrderWriter *w, guint32 terminal)
{
    if (w->terminal_of[terminal] != NOT_KEPT)
        return w->terminal_of[terminal];
    const WendTerminal *t = program_terminal(w->p, terminal);
    OrderTerminal kept = {w->words->len, t->n_slots, keep_shape(w, t->shape)};
    kept.first = w->words->len;
    for (guint i = 0; i < t->n_slots; i++) {
        gint64 value = program_slot(w->p, terminal, i, w->rank);
        g_array_append_val(w->words, value);
    }
    g_array_append_val(w->terminals, kept);
    return w->terminal_of[terminal] = w->terminals->len - 1;
}

/* -- grammars -- */

/* Which rules up to START it needs, as flags that the caller frees. NULL: they take more memory
 * than is allowed. Sequences may share rules, and each has them in the file. */
static guint8 *needed_rules(OrderWriter *w, const WendRule *rules, guint start)
{
    guint8 *needed = g_new0(guint8, start + 1);
    gboolean good = TRUE;
    needed[start] = TRUE;
    for (guint r = start + 1; good && r-- > 0;) {
        for (guint k = 0; needed[r] && k < rules[r].n; k++)
            if (rules[r].symbols[k].is_rule)
                needed[rules[r].symbols[k].id] = TRUE;
        good = !needed[r]
               || (allowance_take(w->allowance, rules[r].n, sizeof(OrderSymbol))
                   && allowance_take(w->allowance, 1, sizeof(OrderRule)));
    }
    if (!good)
        g_clear_pointer(&needed, g_free);
    return needed;
}

/* Keeps those rules up to START that it needs. NAMES gives the terminal for a symbol's number. If
 * it is NULL, that is the terminal. Sets *KEPT to the start's number in the file. */
static gboolean keep_rules(OrderWriter *w, const WendRule *rules, guint start, const guint32 *names,
                           guint32 *kept_start)
{
    g_autofree guint8 *needed = needed_rules(w, rules, start);
    g_autofree guint32 *number = g_new(guint32, start + 1);
    if (!needed)
        return FALSE;
    for (guint r = 0; r <= start; r++) {
        if (!needed[r])
            continue;
        OrderRule kept = {w->symbols->len, 0, 1};
        for (guint k = 0; k < rules[r].n; k++) {
            const WendSymbol *s = &rules[r].symbols[k];
            if (s->repeats == 0 || (s->is_rule && rules[s->id].length == 0))
                continue;
            OrderSymbol symbol = {0, s->is_rule, s->repeats};
            if (s->is_rule) {
                symbol.id = number[s->id];
                guint64 depth = g_array_index(w->rules, OrderRule, symbol.id).depth;
                kept.depth = MAX(kept.depth, depth + 1);
            } else {
                symbol.id = keep_terminal(w, names ? names[s->id] : s->id);
            }
            g_array_append_val(w->symbols, symbol);
        }
        kept.n = w->symbols->len - kept.first;
        g_array_append_val(w->rules, kept);
        number[r] = w->rules->len - 1;
    }
    *kept_start = number[start];
    return TRUE;
}

/* -- outcomes -- */

static gboolean put_stream(OrderWriter *w, WendStream *s, guint64 *first, guint64 *n, Error **error)
{
    WendBuf out = WEND_BUF_INIT;
    stream_encode(s, &out);
    gboolean good = !out.failed && out.len <= G_MAXUINT - w->bytes->len
                    && allowance_take(w->allowance, out.len, 1);
    *first = w->bytes->len;
    *n = out.len;
    if (good)
        g_byte_array_append(w->bytes, out.data, out.len);
    buf_clear(&out);
    return good || fail(w, error);
}

/* The outcomes of SHAPE in SEQUENCE, if there are any. */
static gboolean keep_outcomes(OrderWriter *w, guint sequence, guint32 shape, Error **error)
{
    WendOutcomes *o = program_outcomes(w->p, w->rank, sequence, shape);
    WendStream stream = {.flat = TRUE};
    const gint64 *words;
    guint64 repeats;
    guint n;
    gboolean good = TRUE;
    gsize taken = 0;
    /* a column may stand for any number of entries */
    while (good && o && outcomes_next_run(o, &repeats, &words, &n))
        good = stream_add_run(&stream, words, n, repeats)
               && order_answers_admit(w->allowance, &stream, &taken);
    if (o)
        outcomes_free(o);
    OrderStream kept = {.shape = w->shape_of[shape]};
    gboolean any = stream.entries > 0;
    good = good ? !any || put_stream(w, &stream, &kept.first, &kept.n, error) : fail(w, error);
    stream_clear(&stream);
    allowance_give(w->allowance, taken);
    if (good && any)
        g_array_append_val(w->streams, kept);
    return good;
}

static int by_shape(const void *a, const void *b)
{
    const OrderStream *x = a, *y = b;
    return x->shape < y->shape ? -1 : x->shape > y->shape;
}

/* The shapes of the calls of a rule, ascending, each once. */
static GArray *shapes_of_rule(const WendProgram *p, guint start)
{
    g_autofree guint8 *needed = g_new0(guint8, start + 1);
    g_autofree guint8 *seen = g_new0(guint8, program_n_shapes(p) + 1);
    GArray *shapes = g_array_new(FALSE, FALSE, sizeof(guint32));
    needed[start] = TRUE;
    for (guint r = start + 1; r-- > 0;) {
        const WendRule *rule = program_rule(p, r);
        for (guint k = 0; needed[r] && k < rule->n; k++) {
            const WendSymbol *s = &rule->symbols[k];
            if (s->is_rule) {
                needed[s->id] = TRUE;
                continue;
            }
            guint32 shape = program_terminal(p, s->id)->shape;
            if (!seen[shape] && s->repeats)
                g_array_append_val(shapes, shape);
            seen[shape] |= s->repeats > 0;
        }
    }
    return shapes;
}

/* -- sites -- */

/* Puts N bytes, and sets *FIRST to their place. */
static gboolean put_bytes(OrderWriter *w, const void *data, gsize n, guint64 *first)
{
    *first = w->bytes->len;
    if (n > G_MAXUINT - w->bytes->len || !allowance_take(w->allowance, n, 1))
        return FALSE;
    g_byte_array_append(w->bytes, data, (guint)n);
    return TRUE;
}

static gboolean keep_module(OrderWriter *w, guint module)
{
    if (w->module_of[module] != NOT_KEPT)
        return TRUE;
    const WendSiteModule *m = call_sites_module(w->named->sites, module);
    OrderModule kept = {.n_file = strlen(m->file), .n_id = m->n_id};
    if (!put_bytes(w, m->file, kept.n_file, &kept.file) || !put_bytes(w, m->id, m->n_id, &kept.id))
        return FALSE;
    g_array_append_val(w->modules, kept);
    w->module_of[module] = w->modules->len - 1;
    return TRUE;
}

static gboolean keep_site(OrderWriter *w, guint site)
{
    if (w->site_of[site] != NOT_KEPT)
        return TRUE;
    const WendSite *s = call_site(w->named->sites, site);
    OrderSite kept = {.offset = s->offset, .module = WEND_ORDER_NO_MODULE};
    if (s->module != G_MAXUINT) {
        const char *name = w->named->name(w->named->data, site);
        kept.n_text = strlen(name);
        if (!keep_module(w, s->module) || !put_bytes(w, name, kept.n_text, &kept.text))
            return FALSE;
        kept.module = w->module_of[s->module];
    }
    if (!allowance_take(w->allowance, 1, sizeof kept))
        return FALSE;
    g_array_append_val(w->sites, kept);
    w->site_of[site] = w->sites->len - 1;
    return TRUE;
}

static gboolean keep_site_elements(OrderWriter *w, guint sequence, OrderSequence *kept)
{
    WendSiteWalk *walk = site_walk_new(w->named->sites, w->rank, sequence);
    WendRecordedSite next;
    WendSiteTaken taken;
    gboolean good = TRUE;
    kept->first_site_element = w->site_elements->len;
    while ((taken = site_walk_take(walk, &next)) == WEND_SITE_TAKEN && good) {
        good = keep_site(w, next.site) && allowance_take(w->allowance, 1, sizeof(OrderSiteElement));
        OrderSiteElement e = {next.step, w->site_of[next.site], (guint32)next.code};
        g_array_append_val(w->site_elements, e);
    }
    kept->n_site_elements = w->site_elements->len - kept->first_site_element;
    kept->sites_cut = taken == WEND_SITE_CUT;
    site_walk_free(walk);
    return good;
}

/* The program may come to a site that another rank was at. */
static gboolean keep_other_sites(OrderWriter *w, Error **error)
{
    enum { SITES_MOST = 4096 };
    guint n = w->named ? call_sites_n(w->named->sites) : 0;
    gboolean good = TRUE;
    for (guint i = 0; good && i < n && w->sites->len < SITES_MOST; i++)
        good = keep_site(w, i);
    return good || fail(w, error);
}

/* -- sequences -- */

static gboolean keep_sequence(OrderWriter *w, const WendClass *class, guint sequence,
                              const OrderAnswers *answers, const OrderTurns *turns, Error **error)
{
    const WendSequence *q = &class->sequences[sequence];
    const WendRule *rules = program_rule(w->p, 0);
    OrderSequence kept = {.kind = q->kind,
                          .id = q->id,
                          .polls = WEND_ORDER_NO_RULE,
                          .calls = program_rule(w->p, q->rule)->length,
                          .first_stream = w->streams->len};
    WendPolls polls;
    gboolean good = keep_rules(w, rules, q->rule, NULL, &kept.rule);
    if (good && program_poll_calls(w->p, w->rank, sequence, &polls)) {
        good = keep_rules(w, polls.rules, polls.n_rules - 1, polls.terminals, &kept.polls);
        kept.polls_after = polls.after;
    }
    good = good && (!w->named || keep_site_elements(w, sequence, &kept));
    if (!good)
        return fail(w, error);
    GArray *shapes = shapes_of_rule(w->p, q->rule);
    for (guint i = 0; good && i < shapes->len; i++) {
        guint32 shape = g_array_index(shapes, guint32, i);
        if (w->shape_of[shape] != NOT_KEPT) /* else it is in rules that this rank never reaches */
            good = keep_outcomes(w, sequence, shape, error);
    }
    g_array_unref(shapes);
    kept.n_streams = w->streams->len - kept.first_stream;
    if (kept.n_streams)
        qsort(&g_array_index(w->streams, OrderStream, kept.first_stream), kept.n_streams,
              sizeof(OrderStream), by_shape);
    for (OrderPosted k = 0; good && k < ORDER_POSTED_KINDS; k++) {
        WendStream *answered = order_answers_of(answers, k, sequence);
        if (answered)
            good = put_stream(w, answered, &kept.answers[k], &kept.answers_bytes[k], error);
    }
    WendStream *stream = order_turns_of(turns, sequence);
    if (good && stream)
        good = put_stream(w, stream, &kept.turns, &kept.turns_bytes, error);
    g_array_append_val(w->sequences, kept);
    return good;
}

/* -- side streams -- */

static gboolean keep_sides(OrderWriter *w, Error **error)
{
    for (WendSideKindNumber kind = 0; kind < WEND_SIDE_KINDS; kind++) {
        if (!side_stream_kind(kind)->replayed)
            continue;
        WendSides *sides = sides_open(w->p, w->rank, kind, error);
        if (!sides)
            return FALSE;
        WendSideHead head;
        WendCursor rows;
        while (sides_next(sides, &head, &rows)) {
            OrderSide kept = {.first = w->bytes->len,
                              .n = (guint64)(rows.end - rows.p),
                              .kind = kind,
                              .of = head.kind,
                              .id = head.id,
                              .birth = head.birth};
            if (kept.n > G_MAXUINT - w->bytes->len || !allowance_take(w->allowance, kept.n, 1)) {
                sides_free(sides);
                return fail(w, error);
            }
            g_byte_array_append(w->bytes, rows.p, (guint)kept.n);
            g_array_append_val(w->sides, kept);
        }
        sides_free(sides);
    }
    return TRUE;
}

/* -- what cannot be replayed -- */

/* Whether the shape is of a call that switches recording by an info key. */
static gboolean sets_tracing(const gint64 *shape, guint64 n)
{
    static const char key[] = "WEND_TRACING";
    const guint64 length = sizeof key - 1;
    return n >= 3 + (length + 7) / 8 && shape[2] == (gint64)length
           && g_ascii_strncasecmp((const char *)&shape[3], key, length) == 0;
}

/* The first function in the rank's calls that makes a replay impossible; NULL: none. */
static const char *obstacle(const OrderWriter *w)
{
    GKeyFile *meta = program_meta(w->p);
    g_autofree char *tracing = g_key_file_get_string(meta, "options", "tracing", NULL),
                    *left_out = g_key_file_get_string(meta, "run", "left_out", NULL);
    /* Nothing was left out although recording was, or seems to have been, switched off. */
    gboolean whole = left_out && strcmp(left_out, "0") == 0;
    if (tracing && !whole)
        return "was not recorded as a whole (--off)";
    for (guint i = 0; i < w->terminals->len; i++) {
        const OrderTerminal *t = &g_array_index(w->terminals, OrderTerminal, i);
        const OrderShape *of = &g_array_index(w->shapes, OrderShape, t->shape);
        const gint64 *shape = &g_array_index(w->words, gint64, of->first);
        guint64 function = (guint64)shape[0] >> 1;
        if (whole)
            continue;
        if (function == WEND_FN_MPI_Pcontrol
            && (t->n < 1 || g_array_index(w->words, gint64, t->first) == 0))
            return "was not recorded as a whole (MPI_Pcontrol)";
        if (function == WEND_FN_MPI_Info_set && sets_tracing(shape, of->n))
            return "was not recorded as a whole (MPI_Info_set)";
    }
    return NULL;
}

/* -- the file -- */

static void put_array(GByteArray *out, const GArray *a)
{
    g_byte_array_append(out, (const guint8 *)a->data,
                        a->len * g_array_get_element_size((GArray *)a));
    g_byte_array_set_size(out, (out->len + 7) & ~7u);
}

static gboolean is_of_open_mpi(const WendProgram *p)
{
    g_autofree char *library = g_key_file_get_string(program_meta(p), "mpi", "library", NULL);
    return library && g_str_has_prefix(library, "Open MPI");
}

static gboolean has_threads_by_creator(const WendProgram *p)
{
    return g_key_file_has_key(program_meta(p), "run", "threads", NULL);
}

static gboolean has_values(const WendProgram *p)
{
    g_autofree char *given = g_key_file_get_string(program_meta(p), "options", "values", NULL);
    return given != NULL;
}

/* An error class by its name, in the numbering of the recorded library. 0: it did not occur. */
static gint64 error_class(const WendProgram *p, const char *name)
{
    GKeyFile *meta = program_meta(p);
    g_auto(GStrv) classes = g_key_file_get_keys(meta, "error", NULL, NULL);
    for (guint i = 0; classes && classes[i]; i++) {
        g_autofree char *of_class = g_key_file_get_string(meta, "error", classes[i], NULL);
        if (g_strcmp0(of_class, name) == 0)
            return g_ascii_strtoll(classes[i], NULL, 10);
    }
    return 0;
}

static GBytes *file(const OrderWriter *w, guint64 n_channels, Error **error)
{
    const WendProgram *p = w->p;
    const WendWorld *world = program_world(p, program_world_of(p, w->rank));
    OrderHead head = {.magic = WEND_ORDER_MAGIC,
                      .version = WEND_ORDER_VERSION,
                      .digest = WEND_DIGEST_START,
                      .rank = w->rank - world->first,
                      .size = world->ranks,
                      .ended_early = terminations_any_early(p),
                      .open_mpi = is_of_open_mpi(p),
                      .nowhere = w->nowhere,
                      .values = has_values(p),
                      .threads_by_count = !has_threads_by_creator(p),
                      .truncate = error_class(p, "MPI_ERR_TRUNCATE"),
                      .pending = error_class(p, "MPI_ERR_PENDING"),
                      .n_words = w->words->len,
                      .n_shapes = w->shapes->len,
                      .n_terminals = w->terminals->len,
                      .n_rules = w->rules->len,
                      .n_symbols = w->symbols->len,
                      .n_sequences = w->sequences->len,
                      .n_streams = w->streams->len,
                      .n_sides = w->sides->len,
                      .n_modules = w->modules->len,
                      .n_sites = w->sites->len,
                      .n_site_elements = w->site_elements->len,
                      .n_bytes = w->bytes->len,
                      .n_channels = n_channels};
    const GArray *arrays[] = {w->words,   w->shapes,    w->terminals,    w->rules,
                              w->symbols, w->sequences, w->streams,      w->sides,
                              w->modules, w->sites,     w->site_elements};
    guint64 bytes = sizeof head + 8 + head.n_bytes;
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        bytes += 8 + (guint64)arrays[i]->len * g_array_get_element_size((GArray *)arrays[i]);
    if (bytes > G_MAXUINT || !allowance_take(w->allowance, bytes, 1)) {
        fail(w, error);
        return NULL;
    }
    for (size_t i = 0; i < mpi_n_functions; i++)
        head.digest = function_digest_add(head.digest, &mpi_functions[i]);
    GByteArray *out = g_byte_array_sized_new(bytes);
    g_byte_array_append(out, (const guint8 *)&head, sizeof head);
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        put_array(out, arrays[i]);
    g_byte_array_append(out, w->bytes->data, w->bytes->len);
    return g_byte_array_free_to_bytes(out);
}

static guint32 *none_kept(guint n)
{
    guint32 *numbers = g_new(guint32, n + 1);
    memset(numbers, 0xff, ((gsize)n + 1) * sizeof *numbers); /* NOT_KEPT */
    return numbers;
}

static GArray *array_of(guint size)
{
    return g_array_new(FALSE, TRUE, size);
}

GBytes *order_write(const WendProgram *p, guint rank, guint64 max_size, const OrderSites *sites,
                    gboolean *needs_all, Error **error)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    OrderWriter w = {.p = p,
                     .rank = rank,
                     .allowance = allowance_new(max_size),
                     .words = array_of(sizeof(gint64)),
                     .shapes = array_of(sizeof(OrderShape)),
                     .terminals = array_of(sizeof(OrderTerminal)),
                     .rules = array_of(sizeof(OrderRule)),
                     .symbols = array_of(sizeof(OrderSymbol)),
                     .sequences = array_of(sizeof(OrderSequence)),
                     .streams = array_of(sizeof(OrderStream)),
                     .sides = array_of(sizeof(OrderSide)),
                     .modules = array_of(sizeof(OrderModule)),
                     .sites = array_of(sizeof(OrderSite)),
                     .site_elements = array_of(sizeof(OrderSiteElement)),
                     .bytes = g_byte_array_new(),
                     .named = sites,
                     .site_of = none_kept(sites ? call_sites_n(sites->sites) : 0),
                     .module_of = none_kept(sites ? call_sites_n_modules(sites->sites) : 0),
                     .shape_of = none_kept(program_n_shapes(p)),
                     .terminal_of = none_kept(program_n_terminals(p))};
    allowance_add_archive(w.allowance, program_archive_size(p));
    OrderAnswers *answers = order_answers(p, rank, w.allowance, needs_all);
    OrderTurns *turns = answers ? order_turns(p, rank, w.allowance, answers) : NULL;
    gboolean good = turns || (!(needs_all && *needs_all) && fail(&w, error));
    for (guint q = 0; good && q < class->n_sequences; q++)
        good = keep_sequence(&w, class, q, answers, turns, error);
    good = good && keep_sides(&w, error) && keep_other_sites(&w, error);
    w.nowhere = good && order_answers_none(answers);
    const char *why = good ? obstacle(&w) : NULL;
    if (why) {
        good = FALSE;
        error_set(error, WEND_ERROR_INPUT, "rank %u %s: it cannot be replayed", rank, why);
    }
    GBytes *bytes = good ? file(&w, order_turns_channels(turns), error) : NULL;
    if (turns)
        order_turns_free(turns);
    if (answers)
        order_answers_free(answers);
    GArray *arrays[] = {w.words,   w.shapes, w.terminals, w.rules, w.symbols,      w.sequences,
                        w.streams, w.sides,  w.modules,   w.sites, w.site_elements};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_byte_array_unref(w.bytes);
    g_free(w.site_of);
    g_free(w.module_of);
    g_free(w.shape_of);
    g_free(w.terminal_of);
    allowance_unref(w.allowance);
    return bytes;
}
