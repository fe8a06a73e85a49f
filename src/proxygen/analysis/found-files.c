/* SPDX-License-Identifier: BSD-3-Clause */
/* found-files.c: finds the files that the application named in MPI calls, and their state before
 * these calls.
 *
 * In the proxy's scratch directory a file has the contents that MPI calls gave it. The recording
 * has the size that the application found before each call that names a file (at rank 0 of the
 * communicator). Two kinds of files need more: files that were there before the run, with their
 * size, and files that the application or another program made or removed between two calls. The
 * latter are determined only if one thread alone opens and deletes the file. Otherwise the found
 * size depends on the order of threads. */
#include "src/proxygen/analysis/call-analysis.h"

#include <string.h>

typedef struct {
    guint terminal;
    gint64 found;
    /* after the call the file exists, does not exist, or may do either */
    gboolean made, gone, uncertain;
} Use;

typedef struct {
    ScratchFile file;
    gboolean seen, shared;
    guint rank, sequence; /* that made its uses, as long as it is not shared */
    GArray *uses;         /* of Use */
} NamedFile;

struct Files {
    GHashTable *by_name;
    GPtrArray *order;     /* of NamedFile */
    GHashTable *findings; /* terminal -> FileFinding */
};

/* The effect of a call that names a file, by terminal. */
typedef struct {
    NamedFile *file;
    gboolean opens, creates, forgets;
} Naming;

typedef struct {
    Plan *plan;
    struct Files *files;
    Naming *names;                    /* by terminal; without FILE: it names none */
    guint8 *rule_names;               /* by rule: whether it has such a terminal */
    char *no_such_file, *file_exists; /* error classes, as in outcomes */
} Search;

static void file_free(gpointer data)
{
    NamedFile *file = data;
    g_free(file->file.name);
    g_array_unref(file->uses);
    g_free(file);
}

static void finding_free(gpointer data)
{
    g_array_unref(((FileFinding *)data)->found);
    g_free(data);
}

static NamedFile *file_named(struct Files *files, char *name)
{
    NamedFile *file = g_hash_table_lookup(files->by_name, name);
    if (file) {
        g_free(name);
        return file;
    }
    file = g_new0(NamedFile, 1);
    file->file = (ScratchFile){.number = files->order->len, .name = name, .bytes = FOUND_NONE};
    file->uses = g_array_new(FALSE, FALSE, sizeof(Use));
    g_hash_table_insert(files->by_name, name, file);
    g_ptr_array_add(files->order, file);
    return file;
}

/* -- calls that name files -- */

static gboolean has_bit(const WendParam *param, gint64 word, const char *name)
{
    const WendConstantGroup *group = param->group ? constant_group_by_name(param->group) : NULL;
    int constant = functions_constant_by_name(name);
    for (guint i = 0; group && i < group->n; i++)
        if (group->members[i] == constant)
            return word >> i & 1;
    return FALSE;
}

static void find_names(Search *s)
{
    for (guint t = 0; t < program_n_terminals(s->plan->program); t++) {
        if (s->plan->terminal_ranks[t].n == 0)
            continue;
        CallPattern *c = s->plan->call;
        call_pattern_decode(c, t);
        const Arg *name = call_pattern_arg_named(c, "filename"),
                  *amode = call_pattern_arg_named(c, "amode");
        if (!name || !name->has_in || name->n_in < 0)
            continue;
        s->names[t].file =
            file_named(s->files, call_pattern_words_to_string(name->in, (gsize)name->n_in));
        s->names[t].opens = amode != NULL;
        s->names[t].creates = amode && has_bit(amode->param, amode->in[0].value, "MPI_MODE_CREATE");
        s->names[t].forgets =
            amode && has_bit(amode->param, amode->in[0].value, "MPI_MODE_DELETE_ON_CLOSE");
    }
    /* rules of the recording use only rules before them; bodies of the plan come after them */
    for (guint r = 0; r < s->plan->n_rules; r++) {
        const PlanRule *rule = &s->plan->rules[r];
        for (guint i = 0; i < rule->n && !s->rule_names[r]; i++)
            s->rule_names[r] = rule->symbols[i].is_rule
                                   ? s->rule_names[rule->symbols[i].id]
                                   : s->names[rule->symbols[i].id].file != NULL;
    }
}

/* -- the uses of one sequence of one rank -- */

typedef struct {
    WendOutcomes *outcomes;
    guint64 left;
    const gint64 *words;
    guint n;
} OutcomeStream;

static void row_table_free(gpointer data)
{
    outcomes_free(((OutcomeStream *)data)->outcomes);
    g_free(data);
}

typedef struct {
    Search *search;
    guint rank, sequence;
    GHashTable *streams;
} Walk;

/* The outcome of the next call of a shape; NULL if there is none. */
static const gint64 *next_outcome(Walk *w, guint shape, guint *n)
{
    OutcomeStream *stream = g_hash_table_lookup(w->streams, GUINT_TO_POINTER(shape));
    if (!stream) {
        stream = g_new0(OutcomeStream, 1);
        stream->outcomes = program_outcomes(w->search->plan->program, w->rank, w->sequence, shape);
        g_hash_table_insert(w->streams, GUINT_TO_POINTER(shape), stream);
    }
    if (stream->left == 0
        && (!stream->outcomes
            || !outcomes_next_run(stream->outcomes, &stream->left, &stream->words, &stream->n)))
        return NULL;
    stream->left--;
    *n = stream->n;
    return stream->words;
}

static gint64 found_before(const Search *s, const CallPattern *c, const gint64 *words, guint n)
{
    g_autofree OutcomePart *parts = g_new0(OutcomePart, MAX(c->n_args, 1));
    if (n < 2)
        return FOUND_UNKNOWN;
    if (c->failed) {
        g_autofree char *class = g_strdup_printf("%" G_GINT64_FORMAT, words[1]);
        return g_strcmp0(class, s->no_such_file) == 0  ? FOUND_NONE
               : g_strcmp0(class, s->file_exists) == 0 ? 0
                                                       : FOUND_UNKNOWN;
    }
    for (guint i = 0; i < c->n_args; i++)
        if (c->args[i].param->kind == WEND_KIND_FOUND
            && call_pattern_outcome_decode(c, words, n, parts) && parts[i].n == 1)
            return words[parts[i].first] == WEND_ABSENT ? FOUND_UNKNOWN
                                                        : MAX(words[parts[i].first], FOUND_NONE);
    return FOUND_UNKNOWN;
}

static void use(Walk *w, guint terminal)
{
    Search *s = w->search;
    const Naming *naming = &s->names[terminal];
    NamedFile *file = naming->file;
    CallPattern *c = s->plan->call;
    guint n;
    call_pattern_decode(c, terminal);
    const gint64 *words = next_outcome(w, c->slots->shape, &n);
    gint64 found = words ? found_before(s, c, words, n) : FOUND_UNKNOWN;
    /* A call that creates the file cannot fail because it is missing, but because its directory
     * is. */
    file->file.nowhere |= naming->creates && c->failed && found == FOUND_NONE;
    if (c->args[0].param->kind == WEND_KIND_SELF
        && program_slot(c->program, terminal, 0, w->rank) != 0)
        return; /* rank 0 of the communicator has recorded the size */
    if (!file->seen) {
        file->seen = found != FOUND_UNKNOWN;
        file->file.bytes = MAX(found, FOUND_NONE);
    }
    if (file->uses->len == 0) {
        file->rank = w->rank;
        file->sequence = w->sequence;
    }
    file->shared |= file->rank != w->rank || file->sequence != w->sequence;
    Use one = {terminal, found, .made = naming->opens && !c->failed,
               .gone = !naming->opens && !c->failed, .uncertain = naming->forgets && !c->failed};
    g_array_append_val(file->uses, one);
}

static void walk(Walk *w, guint rule)
{
    const PlanRule *r = &w->search->plan->rules[rule];
    if (!w->search->rule_names[rule])
        return;
    for (guint i = 0; i < r->n; i++) {
        const WendSymbol *symbol = &r->symbols[i];
        if (symbol->is_rule ? !w->search->rule_names[symbol->id]
                            : !w->search->names[symbol->id].file)
            continue;
        for (guint64 e = 0; e < symbol->repeats; e++) {
            if (symbol->is_rule)
                walk(w, symbol->id);
            else
                use(w, symbol->id);
        }
    }
}

/* -- files that MPI calls alone would not have left -- */

static void find_surprises(struct Files *files, const NamedFile *file)
{
    gboolean certain = TRUE, there = file->file.bytes != FOUND_NONE;
    for (guint i = 0; i < file->uses->len; i++) {
        const Use *one = &g_array_index(file->uses, Use, i);
        FileFinding *finding =
            g_hash_table_lookup(files->findings, GUINT_TO_POINTER(one->terminal));
        if (!finding) {
            finding = g_new0(FileFinding, 1);
            *finding = (FileFinding){&file->file, g_array_new(FALSE, FALSE, sizeof(gint64)), FALSE};
            g_hash_table_insert(files->findings, GUINT_TO_POINTER(one->terminal), finding);
        }
        g_array_append_val(finding->found, one->found);
        if (one->found != FOUND_UNKNOWN) {
            finding->unexpected |= certain && there != (one->found != FOUND_NONE);
            there = one->found != FOUND_NONE;
            certain = TRUE;
        }
        if (one->made || one->gone) {
            there = one->made;
            certain = !one->uncertain;
        }
    }
}

static char *class_of_error(const Plan *plan, const char *name)
{
    gsize n = 0;
    g_auto(GStrv) classes = g_key_file_get_keys(program_meta(plan->program), "error", &n, NULL);
    for (gsize i = 0; i < n; i++) {
        g_autofree char *value =
            g_key_file_get_string(program_meta(plan->program), "error", classes[i], NULL);
        if (g_strcmp0(value, name) == 0)
            return g_strdup(classes[i]);
    }
    return NULL;
}

void found_files_find(Plan *plan)
{
    const WendProgram *p = plan->program;
    struct Files *files = plan->files = g_new0(struct Files, 1);
    files->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    files->order = g_ptr_array_new_with_free_func(file_free);
    files->findings = g_hash_table_new_full(NULL, NULL, NULL, finding_free);
    Search s = {.plan = plan,
                .files = files,
                .names = g_new0(Naming, program_n_terminals(p) + 1),
                .rule_names = g_new0(guint8, plan->n_rules + 1)};
    s.no_such_file = class_of_error(plan, "MPI_ERR_NO_SUCH_FILE");
    s.file_exists = class_of_error(plan, "MPI_ERR_FILE_EXISTS");
    find_names(&s);
    for (guint rank = 0; files->order->len && rank < plan->n_ranks; rank++) {
        const WendClass *class = program_class(p, program_class_of(p, rank));
        for (guint q = 0; q < class->n_sequences; q++) {
            Walk w = {&s, rank, q, g_hash_table_new_full(NULL, NULL, NULL, row_table_free)};
            walk(&w, class->sequences[q].rule);
            g_hash_table_destroy(w.streams);
        }
    }
    for (guint i = 0; i < files->order->len; i++) {
        const NamedFile *file = files->order->pdata[i];
        if (!file->shared)
            find_surprises(files, file);
    }
    g_free(s.names);
    g_free(s.rule_names);
    g_free(s.no_such_file);
    g_free(s.file_exists);
}

void found_files_free(struct Files *files)
{
    if (!files)
        return;
    g_hash_table_destroy(files->findings);
    g_hash_table_destroy(files->by_name);
    g_ptr_array_free(files->order, TRUE);
    g_free(files);
}

guint found_files_count(const Plan *plan)
{
    return plan->files->order->len;
}

const ScratchFile *found_files_by_number(const Plan *plan, guint number)
{
    return &((const NamedFile *)plan->files->order->pdata[number])->file;
}

const ScratchFile *found_files_by_name(const Plan *plan, const char *name)
{
    const NamedFile *file = g_hash_table_lookup(plan->files->by_name, name);
    return file ? &file->file : NULL;
}

const FileFinding *found_files_unexpected(const Plan *plan, guint terminal)
{
    const FileFinding *finding =
        g_hash_table_lookup(plan->files->findings, GUINT_TO_POINTER(terminal));
    return finding && finding->unexpected ? finding : NULL;
}
