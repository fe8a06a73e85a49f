/* SPDX-License-Identifier: BSD-3-Clause */
/* worlds.c: finds the worlds of a job in a recording's directory, and joins them to one program:
 * ranks, classes, rules, terminals and shapes of one behind those of the other. */
#include "worlds.h"

#include <string.h>

#include "merge/rank-vector.h"
#include "program-private.h"
#include "record/part.h"

/* -- names -- */

/* Numbers in them by their values. */
static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *worlds_list(const char *directory)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(directory, 0, NULL);
    const char *file;
    while (dir && (file = g_dir_read_name(dir))) {
        gsize prefix = strlen(WORLD_FILE_PREFIX), suffix = strlen(WORLD_FILE_SUFFIX),
              all = strlen(file);
        if (all <= prefix + suffix || !g_str_has_prefix(file, WORLD_FILE_PREFIX)
            || !g_str_has_suffix(file, WORLD_FILE_SUFFIX))
            continue;
        g_ptr_array_add(names, g_strndup(file + prefix, all - prefix - suffix));
    }
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, compare_names);
    return names;
}

/* -- joining -- */

/* Where the parts of one world are in the whole. */
typedef struct {
    guint ranks, shapes, terminals, rules, classes;
} Base;

/* A slot's value may be told by the rank in the world, which moves. */
static void move_slot(WendSlot *s, gboolean by_world_rank, const Base *base)
{
    if (s->form != WEND_SLOT_CONSTANT && by_world_rank)
        s->value = word_sum(s->value, -(gint64)base->ranks);
    s->first_rank += base->ranks;
}

static const WendSymbol *move_symbols(WendProgram *all, const WendRule *r, guint rules,
                                      guint terminals)
{
    WendSymbol *symbols = program_new_block(all, r->n, sizeof(WendSymbol));
    for (guint i = 0; i < r->n; i++) {
        symbols[i] = r->symbols[i];
        symbols[i].id += symbols[i].is_rule ? rules : terminals;
    }
    return symbols;
}

static void join_terminals(WendProgram *all, const WendProgram *p, const Base *base)
{
    for (guint i = 0; i < p->n_terminals; i++) {
        WendTerminal *t = &all->terminals[base->terminals + i];
        *t = p->terminals[i];
        gboolean has_self = (p->shapes[t->shape].function->flags & WEND_F_SELF) != 0;
        t->shape += base->shapes;
        WendSlot *slots = program_new_block(all, t->n_slots, sizeof(WendSlot));
        for (guint k = 0; k < t->n_slots; k++) {
            slots[k] = t->slots[k];
            move_slot(&slots[k], k == 0 || !has_self, base);
        }
        t->slots = slots;
    }
}

static void join_sequence(WendProgram *all, SequenceData *to, const SequenceData *from,
                          const Base *base)
{
    *to = *from;
    to->borrowed = FALSE;
    to->shapes = program_new_block(all, from->n_shapes, sizeof(ShapeOutcomes));
    for (guint i = 0; i < from->n_shapes; i++) {
        ShapeOutcomes *o = &to->shapes[i];
        *o = from->shapes[i];
        o->shape += base->shapes;
        o->by_index = NULL;
        o->contents = program_new_block(all, o->n_contents, sizeof(OutcomeContent));
        for (guint c = 0; c < o->n_contents; c++) {
            o->contents[c] = from->shapes[i].contents[c];
            o->contents[c].columns = NULL;
            if (from->shapes[i].contents[c].columns) {
                o->contents[c].columns =
                    program_new_block(all, o->contents[c].width, sizeof(DeltaSequence *));
                for (guint k = 0; k < o->contents[c].width; k++)
                    o->contents[c].columns[k] = deltas_ref(from->shapes[i].contents[c].columns[k]);
            }
            o->contents[c].ranks = rankset_moved(&o->contents[c].ranks, base->ranks);
        }
    }
    to->terminals = program_new_block(all, from->n_terminals, sizeof(guint32));
    for (guint i = 0; i < from->n_terminals; i++)
        to->terminals[i] = from->terminals[i] + base->terminals;
    to->poll_tables = program_new_block(all, from->n_poll_tables, sizeof(PollTerminals));
    for (guint i = 0; i < from->n_poll_tables; i++) {
        PollTerminals *t = &to->poll_tables[i];
        *t = from->poll_tables[i];
        t->ranks = rankset_moved(&t->ranks, base->ranks);
        t->terminals = program_new_block(all, t->n, sizeof(guint32));
        for (guint k = 0; k < t->n; k++)
            t->terminals[k] = from->poll_tables[i].terminals[k] + base->terminals;
    }
    to->poll_grammars = program_new_block(all, from->n_poll_grammars, sizeof(PollGrammar));
    for (guint i = 0; i < from->n_poll_grammars; i++) {
        PollGrammar *g = &to->poll_grammars[i];
        *g = from->poll_grammars[i];
        /* its symbols are numbers of the poll table */
        g->ranks = rankset_moved(&g->ranks, base->ranks);
    }
}

static void join_classes(WendProgram *all, const WendProgram *p, const Base *base)
{
    for (guint i = 0; i < p->n_classes; i++) {
        const WendClass *from = &p->classes[i];
        WendClass *to = &all->classes[base->classes + i];
        guint *ranks = program_new_block(all, from->n_ranks, sizeof(guint));
        WendSequence *sequences = program_new_block(all, from->n_sequences, sizeof(WendSequence));
        SequenceData *data = program_new_block(all, from->n_sequences, sizeof(SequenceData));
        for (guint r = 0; r < from->n_ranks; r++)
            ranks[r] = from->ranks[r] + base->ranks;
        for (guint q = 0; q < from->n_sequences; q++) {
            sequences[q] = from->sequences[q];
            sequences[q].rule += base->rules;
            join_sequence(all, &data[q], &p->class_data[i].sequences[q], base);
        }
        *to = (WendClass){from->n_ranks, ranks, from->n_sequences, sequences};
        all->class_data[base->classes + i].sequences = data;
    }
    for (guint r = 0; r < p->ranks; r++)
        all->class_of[base->ranks + r] = base->classes + p->class_of[r];
}

static void join_datatypes(WendProgram *all, const WendProgram *p)
{
    GHashTableIter iter;
    gpointer word, facts;
    g_hash_table_iter_init(&iter, p->datatypes);
    while (g_hash_table_iter_next(&iter, &word, &facts))
        g_hash_table_insert(all->datatypes, word, facts);
}

/* What is said of the whole: the first world's meta, with totals and the errors of all. */
static GKeyFile *join_meta(GPtrArray *worlds)
{
    GKeyFile *meta = g_key_file_new();
    const WendProgram *first = worlds->pdata[0];
    g_autofree char *text = g_key_file_to_data(first->meta, NULL, NULL);
    g_key_file_load_from_data(meta, text, -1, G_KEY_FILE_NONE, NULL);
    static const char *const totals[] = {"ranks", "calls", "polls", "frees"};
    for (guint k = 0; k < G_N_ELEMENTS(totals); k++) {
        guint64 sum = 0;
        for (guint i = 0; i < worlds->len; i++)
            sum += g_key_file_get_uint64(((WendProgram *)worlds->pdata[i])->meta, "recording",
                                         totals[k], NULL);
        g_key_file_set_uint64(meta, "recording", totals[k], sum);
    }
    static const char *const united[] = {"error", WEND_UNRECORDED_GROUP};
    for (guint i = 1; i < worlds->len; i++) {
        GKeyFile *other = ((WendProgram *)worlds->pdata[i])->meta;
        for (guint g = 0; g < G_N_ELEMENTS(united); g++) {
            g_auto(GStrv) keys = g_key_file_get_keys(other, united[g], NULL, NULL);
            for (guint k = 0; keys && keys[k]; k++) {
                g_autofree char *value = g_key_file_get_string(other, united[g], keys[k], NULL);
                if (value && !g_key_file_has_key(meta, united[g], keys[k], NULL))
                    g_key_file_set_string(meta, united[g], keys[k], value);
            }
        }
        if (!g_key_file_get_boolean(other, "recording", "complete", NULL))
            g_key_file_set_boolean(meta, "recording", "complete", FALSE);
    }
    return meta;
}

/* Takes WORLDS (of WendProgram *) and NAMES. */
static WendProgram *join(GPtrArray *worlds, GPtrArray *names)
{
    WendProgram *all = program_new(((WendProgram *)worlds->pdata[0])->more_constants);
    Base base = {0}, end = {0};
    for (guint i = 0; i < worlds->len; i++) {
        const WendProgram *p = worlds->pdata[i];
        end.ranks += p->ranks;
        end.shapes += p->n_shapes;
        end.terminals += p->n_terminals;
        end.rules += p->n_rules;
        end.classes += p->n_classes;
    }
    all->n_worlds = worlds->len;
    all->worlds = program_new_block(all, worlds->len, sizeof(WendWorld));
    all->shapes = program_new_block(all, end.shapes, sizeof(WendShape));
    all->terminals = program_new_block(all, end.terminals, sizeof(WendTerminal));
    all->rules = program_new_block(all, end.rules, sizeof(WendRule));
    all->classes = program_new_block(all, end.classes, sizeof(WendClass));
    all->class_data = program_new_block(all, end.classes, sizeof(ClassData));
    all->class_of = program_new_block(all, end.ranks, sizeof(guint));
    for (guint i = 0; i < worlds->len; i++) {
        const WendProgram *p = worlds->pdata[i];
        all->worlds[i] = (WendWorld){
            .name = i ? names->pdata[i - 1] : "", .first = base.ranks, .ranks = p->ranks};
        if (p->n_shapes)
            memcpy(all->shapes + base.shapes, p->shapes, p->n_shapes * sizeof(WendShape));
        join_terminals(all, p, &base);
        for (guint r = 0; r < p->n_rules; r++) {
            all->rules[base.rules + r] = p->rules[r];
            all->rules[base.rules + r].symbols =
                move_symbols(all, &p->rules[r], base.rules, base.terminals);
        }
        join_classes(all, p, &base);
        join_datatypes(all, p);
        base = (Base){base.ranks + p->ranks, base.shapes + p->n_shapes,
                      base.terminals + p->n_terminals, base.rules + p->n_rules,
                      base.classes + p->n_classes};
    }
    all->ranks = end.ranks;
    all->n_shapes = end.shapes;
    all->n_terminals = end.terminals;
    all->n_rules = end.rules;
    all->n_classes = end.classes;
    all->meta = join_meta(worlds);
    all->parts = worlds;
    all->names = names;
    return all;
}

/* -- opening -- */

static WendProgram *open_file(const char *directory, const char *name, GPtrArray *more_constants,
                              Allowance *allowance, GError **error)
{
    g_autofree char *file = g_strconcat(WORLD_FILE_PREFIX, name, WORLD_FILE_SUFFIX, NULL),
                    *path = g_build_filename(directory, file, NULL);
    Container *b = container_open_within(path, allowance, error);
    return b ? program_from_container_with(b, more_constants, error) : NULL;
}

static WendProgram *open_all(const char *path, Allowance *allowance, GError **error)
{
    Container *b = container_open_within(path, allowance, error);
    WendProgram *first = b ? program_from_container(b, error) : NULL;
    if (!first || !g_file_test(path, G_FILE_TEST_IS_DIR))
        return first;
    GPtrArray *names = worlds_list(path),
              *worlds = g_ptr_array_new_with_free_func((GDestroyNotify)wend_program_free);
    guint64 ranks = first->ranks;
    gboolean good = TRUE;
    g_ptr_array_add(worlds, first);
    for (guint i = 0; i < names->len && good; i++) {
        WendProgram *world =
            open_file(path, names->pdata[i], first->more_constants, allowance, error);
        if (world)
            g_ptr_array_add(worlds, world);
        good = world != NULL;
        if (good && (ranks += world->ranks) > RANKSET_MAX) {
            g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: its worlds have too many ranks",
                        path);
            good = FALSE;
        }
    }
    if (good && worlds->len > 1)
        return join(worlds, names);
    if (good)
        g_ptr_array_set_free_func(worlds, NULL);
    g_ptr_array_unref(worlds);
    g_ptr_array_unref(names);
    return good ? first : NULL;
}

static WendProgram *open_one(const char *path, guint number, Allowance *allowance, GError **error)
{
    g_autoptr(GPtrArray) names =
        g_file_test(path, G_FILE_TEST_IS_DIR) ? worlds_list(path) : g_ptr_array_new();
    if (number > names->len) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_USAGE, "%s has no world %u: they are 0 to %u",
                    path, number, names->len);
        return NULL;
    }
    if (number > 0)
        return open_file(path, names->pdata[number - 1], NULL, allowance, error);
    Container *b = container_open_within(path, allowance, error);
    return b ? program_from_container(b, error) : NULL;
}

WendProgram *wend_program_open_within(const char *path, guint64 max_size, GError **error)
{
    g_return_val_if_fail(path, NULL);
    Allowance *allowance = allowance_new(max_size);
    WendProgram *p = open_all(path, allowance, error);
    allowance_unref(allowance);
    return p;
}

WendProgram *wend_program_open(const char *path, GError **error)
{
    return wend_program_open_within(path, 0, error);
}

WendProgram *wend_program_open_world(const char *path, guint number, guint64 max_size,
                                     GError **error)
{
    g_return_val_if_fail(path, NULL);
    Allowance *allowance = allowance_new(max_size);
    WendProgram *p = open_one(path, number, allowance, error);
    allowance_unref(allowance);
    return p;
}
