/* program-read.c: the members that say what calls there are: meta, functions, constants, shapes, terminals, rules, classes. */
#include <string.h>

#include "codec.h"
#include "layout.h"
#include "program-private.h"

/* -- members -- */

gboolean member_open(Member *m, WendProgram *p, const char *name, GError **error)
{
    *m = (Member){.p = p, .member = name, .error = error};
    GBytes *bytes = bundle_member(p->bundle, name, error);
    if (!bytes) return FALSE;
    g_ptr_array_add(p->members, bytes);
    gsize n;
    m->start = g_bytes_get_data(bytes, &n);
    m->c = wend_cursor(m->start, n);
    return TRUE;
}

gboolean member_bad(Member *m, const char *what)
{
    if (m->error && *m->error) return FALSE;
    g_set_error(m->error, WEND_ERROR, WEND_ERROR_INPUT, "%s: member %s: %s (at byte %" G_GSIZE_FORMAT ")", bundle_name(m->p->bundle), m->member,
                m->c.failed ? "truncated or damaged" : what, (gsize)(m->c.p - m->start));
    return FALSE;
}

gboolean member_close(Member *m)
{
    if (m->c.failed) return member_bad(m, "truncated or damaged");
    if (m->c.p != m->c.end) return member_bad(m, "has more than it should");
    return TRUE;
}

gint64 member_word(Member *m)
{
    return codec_word(&m->c, m->p->constants, m->p->n_constants);
}

static char *member_string(Member *m)
{
    WendCursor s = wend_read_block(&m->c);
    if (m->c.failed) return NULL;
    gsize n = s.end - s.p;
    if (!g_utf8_validate((const char *)s.p, n, NULL)) {
        member_bad(m, "a name is not text");
        return NULL;
    }
    char *text = program_new_block(m->p, n, 1);
    memcpy(text, s.p, n);
    return text;
}

/* -- meta -- */

static gboolean read_meta(WendProgram *p, GError **error)
{
    Member m;
    if (!member_open(&m, p, "meta", error)) return FALSE;
    p->meta = g_key_file_new();
    g_autoptr(GError) problem = NULL;
    if (m.c.p == m.c.end || !g_key_file_load_from_data(p->meta, (const char *)m.c.p, m.c.end - m.c.p, G_KEY_FILE_NONE, &problem))
        return member_bad(&m, problem ? problem->message : "is empty");
    int format = g_key_file_get_integer(p->meta, "recording", "format", &problem);
    if (problem) return member_bad(&m, "does not say which format this is");
    if (format != ARCHIVE_FORMAT) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: member meta: is in format %d; this version of Wend reads format %d",
                    bundle_name(p->bundle), format, ARCHIVE_FORMAT);
        return FALSE;
    }
    return TRUE;
}

/* -- functions and constants -- */

static gboolean param_index(gint64 i, guint n)
{
    return i >= -1 && i < (gint64)n;
}

static gboolean read_param(Member *m, WendParam *out)
{
    out->name = member_string(m);
    guint64 kind = wend_read_unsigned(&m->c), bits = wend_read_unsigned(&m->c), extent = wend_read_unsigned(&m->c);
    gint64 index[5];
    for (int i = 0; i < 5; i++) {
        index[i] = wend_read_signed(&m->c);
        if (!param_index(index[i], G_MAXINT16)) return member_bad(m, "a parameter refers to one that is not there");
    }
    const char *texts[3];
    for (int i = 0; i < 3; i++) {
        texts[i] = member_string(m);
        if (!texts[i]) return member_bad(m, "truncated");
        if (!*texts[i]) texts[i] = NULL;
    }
    if (m->c.failed || kind >= WEND_KINDS || extent > WEND_EXTENT_COUNT_OWN_SIZE || bits >= 32 || (bits >> 2 & 3) > WEND_PLACE_OUTCOME)
        return member_bad(m, "a parameter is of a kind that this version of Wend does not know");
    out->kind = kind;
    out->dir = bits & 3;
    out->place = bits >> 2 & 3;
    out->array = bits >> 4 & 1;
    out->extent = extent;
    out->count = index[0];
    out->type = index[1];
    out->displs = index[2];
    out->source = index[3];
    out->tag = index[4];
    out->ctype = texts[0] ? texts[0] : "";
    out->group = texts[1];
    out->length = texts[2];
    return out->name != NULL;
}

static gboolean read_function(Member *m, WendFunction *f, const WendParam *params, gsize n_params)
{
    f->name = member_string(m);
    guint64 flags = wend_read_unsigned(&m->c);
    gsize n = wend_read_count(&m->c, 1);
    if (m->c.failed || !f->name || flags > G_MAXUINT32 || n > G_MAXINT16) return member_bad(m, "a function makes no sense");
    f->flags = flags;
    f->n_params = n;
    WendParam *own = program_new_block(m->p, n, sizeof(WendParam));
    f->params = own;
    for (gsize k = 0; k < n; k++) {
        guint64 number = wend_read_unsigned(&m->c);
        if (m->c.failed || number >= n_params) return member_bad(m, "a function has a parameter that is not there");
        own[k] = params[number];
        const WendParam *p = &own[k];
        if (!param_index(p->count, n) || !param_index(p->type, n) || !param_index(p->displs, n) || !param_index(p->source, n) || !param_index(p->tag, n))
            return member_bad(m, "a parameter refers to one that is not there");
    }
    if ((f->flags & WEND_F_SELF) && (n == 0 || own[0].kind != WEND_KIND_SELF)) return member_bad(m, "a function has no parameter self");
    return TRUE;
}

static gboolean read_functions(WendProgram *p, GError **error)
{
    Member m;
    if (!member_open(&m, p, "functions", error)) return FALSE;
    gsize n_params = wend_read_count(&m.c, 12);
    g_autofree WendParam *params = g_new0(WendParam, n_params + 1);
    for (gsize i = 0; i < n_params; i++)
        if (!read_param(&m, &params[i])) return member_bad(&m, "truncated");
    gsize n = wend_read_count(&m.c, 3);
    p->functions = program_new_block(p, n, sizeof(WendFunction));
    p->n_functions = n;
    for (gsize i = 0; i < n; i++)
        if (!read_function(&m, &p->functions[i], params, n_params)) return FALSE;
    return member_close(&m);
}

static gint64 know_constant(WendProgram *p, const char *name)
{
    int index = wend_constant_by_name(name);
    if (index >= 0) return WEND_CONST(index);
    for (guint i = 0; i < p->more_constants->len; i++) /* few, and those of another world of this job */
        if (strcmp(p->more_constants->pdata[i], name) == 0) return WEND_CONST(wend_n_constants + i);
    g_ptr_array_add(p->more_constants, g_strdup(name));
    return WEND_CONST(wend_n_constants + p->more_constants->len - 1);
}

static gboolean read_constants(WendProgram *p, GError **error)
{
    Member m;
    if (!member_open(&m, p, "constants", error)) return FALSE;
    gsize n = wend_read_count(&m.c, 3);
    if (wend_n_constants + n >= (guint64)(WEND_SPECIAL_BASE - WEND_CONST(0))) return member_bad(&m, "has too many constants");
    p->constants = program_new_block(p, n, sizeof(gint64));
    p->n_constants = n;
    for (gsize i = 0; i < n; i++) {
        const char *name = member_string(&m), *group = member_string(&m);
        guint64 facts = wend_read_unsigned(&m.c);
        if (m.c.failed || !name || !group || facts > 1) return member_bad(&m, "a constant makes no sense");
        p->constants[i] = know_constant(p, name);
        if (!facts) continue;
        gint64 *datatype = program_new_block(p, 5, sizeof(gint64));
        for (int k = 0; k < 5; k++) datatype[k] = wend_read_signed(&m.c);
        if (datatype[0] < 0) return member_bad(&m, "a datatype has a negative size");
        g_hash_table_replace(p->datatypes, &p->constants[i], datatype);
    }
    return member_close(&m);
}

/* -- shapes and terminals -- */

static gboolean read_shapes(WendProgram *p, GError **error)
{
    Member m;
    if (!member_open(&m, p, "shapes", error)) return FALSE;
    gsize n = wend_read_count(&m.c, 2);
    p->shapes = program_new_block(p, n, sizeof(WendShape));
    p->n_shapes = n;
    /* every word takes a byte at least, so one block of the member's size holds them all */
    gint64 *words = program_new_block(p, (gsize)(m.c.end - m.c.p) + n, sizeof(gint64));
    for (gsize i = 0; i < n; i++) {
        WendShape *s = &p->shapes[i];
        gsize more = wend_read_count(&m.c, 1);
        guint64 head = wend_read_unsigned(&m.c);
        if (m.c.failed || head >> 1 >= p->n_functions || more > G_MAXINT32) return member_bad(&m, "a shape is of a function that is not there");
        s->function = &p->functions[head >> 1];
        s->failed = head & 1;
        s->n_words = more + 1;
        s->words = words;
        *words++ = WEND_SHAPE_HEAD(head >> 1, head & 1);
        for (gsize k = 0; k < more; k++) *words++ = member_word(&m);
        if (m.c.failed) return member_bad(&m, "truncated");
    }
    return member_close(&m);
}

static gboolean read_tables(Member *m)
{
    WendProgram *p = m->p;
    gsize n_sets = wend_read_count(&m->c, 3);
    g_autoptr(GArray) sets = g_array_new(FALSE, TRUE, sizeof(RankSet));
    g_array_set_clear_func(sets, (GDestroyNotify)rankset_clear);
    g_array_set_size(sets, (guint)n_sets);
    for (guint i = 0; i < n_sets; i++)
        if (!rankset_decode(&g_array_index(sets, RankSet, i), &m->c, RANKSET_MAX)) return member_bad(m, "values of a rank that is not there");
    gsize n = wend_read_count(&m->c, 3);
    p->tables = program_new_block(p, n, sizeof(WendSlotTable));
    p->n_tables = (guint)n;
    for (gsize i = 0; i < n; i++) {
        guint64 form = wend_read_unsigned(&m->c);
        if (m->c.failed || form >> 1 >= n_sets) return member_bad(m, "values of ranks that are not listed");
        WendSlotTable *t = &p->tables[i];
        t->ranks = rankset_copy(&g_array_index(sets, RankSet, form >> 1));
        t->of_self = form & 1;
        t->series = series_decode(&m->c, t->ranks.n, p->constants, p->n_constants);
        if (!t->series) return member_bad(m, "a table of values is damaged");
    }
    return TRUE;
}

static gboolean read_terminals(WendProgram *p, GError **error)
{
    Member m;
    if (!member_open(&m, p, "terminals", error) || !read_tables(&m)) return FALSE;
    gsize n = wend_read_count(&m.c, 2);
    p->terminals = program_new_block(p, n, sizeof(WendTerminal));
    p->n_terminals = n;
    WendCursor rest = m.c; /* once over it to count: a slot is much larger than the byte that it can take in the file */
    gsize n_all = 0;
    for (gsize i = 0; i < n && !rest.failed; i++) {
        wend_read_unsigned(&rest);
        gsize n_slots = wend_read_count(&rest, 1);
        n_all += n_slots;
        for (gsize k = 0; k < n_slots && !rest.failed; k++)
            if (wend_read_unsigned(&rest) < WEND_SLOT_TABLE) codec_word(&rest, p->constants, p->n_constants);
    }
    if (rest.failed) return member_bad(&m, "truncated or damaged");
    WendSlot *slots = program_new_block(p, n_all, sizeof(WendSlot));
    Layout layout;
    layout_init(&layout);
    gboolean good = TRUE;
    for (gsize i = 0; i < n && good; i++) {
        WendTerminal *t = &p->terminals[i];
        guint64 shape = wend_read_unsigned(&m.c);
        gsize n_slots = wend_read_count(&m.c, 1);
        if (m.c.failed || shape >= p->n_shapes || n_slots > G_MAXINT32) {
            good = member_bad(&m, "a terminal is of a shape that is not there");
            break;
        }
        t->shape = shape;
        t->n_slots = n_slots;
        t->slots = slots;
        for (gsize k = 0; k < n_slots && good; k++) {
            guint64 form = wend_read_unsigned(&m.c);
            if (form >= WEND_SLOT_TABLE && form - WEND_SLOT_TABLE < p->n_tables) *slots = (WendSlot){.form = WEND_SLOT_TABLE, .table = &p->tables[form - WEND_SLOT_TABLE]};
            else if (form < WEND_SLOT_TABLE) *slots = (WendSlot){.form = form, .value = member_word(&m)};
            else good = member_bad(&m, "a slot has a form that is not there");
            slots++;
        }
        if (m.c.failed) good = member_bad(&m, "truncated");
        const WendShape *s = &p->shapes[t->shape];
        g_autofree gint64 *zeros = g_new0(gint64, n_slots + 1);
        if (good && !layout_static(&layout, s->function, s->words, s->n_words, zeros, n_slots))
            good = member_bad(&m, "a terminal's words do not fit its function's parameters");
    }
    layout_clear(&layout);
    return good && member_close(&m);
}

/* -- rules and classes -- */

static gboolean read_rules(WendProgram *p, GError **error)
{
    Member m;
    if (!member_open(&m, p, "rules", error)) return FALSE;
    gsize n = wend_read_count(&m.c, 1);
    p->rules = program_new_block(p, n, sizeof(WendRule));
    p->n_rules = n;
    WendSymbol *symbols = program_new_block(p, (m.c.end - m.c.p) / 2, sizeof(WendSymbol));
    for (gsize i = 0; i < n; i++) {
        gsize n_symbols = wend_read_count(&m.c, 2);
        guint64 length = 0;
        p->rules[i] = (WendRule){.n = n_symbols, .symbols = symbols};
        for (gsize k = 0; k < n_symbols; k++, symbols++) {
            guint64 id = wend_read_unsigned(&m.c), all;
            *symbols = (WendSymbol){id & 1, id >> 1, wend_read_unsigned(&m.c)};
            if (m.c.failed || id >> 1 >= (symbols->is_rule ? i : p->n_terminals) || symbols->exponent == 0)
                return member_bad(&m, "a rule uses one that does not come before it, or a terminal that is not there");
            if (__builtin_mul_overflow(symbols->is_rule ? p->rules[symbols->id].length : 1, symbols->exponent, &all) ||
                __builtin_add_overflow(length, all, &length) || length > G_MAXINT64 / 2)
                return member_bad(&m, "a rule stands for more calls than can be counted");
        }
        p->rules[i].length = length;
    }
    return member_close(&m);
}

static gboolean read_class_ranks(Member *m, WendClass *k)
{
    RankSet ranks;
    if (!rankset_decode(&ranks, &m->c, m->p->ranks)) return member_bad(m, "a class has a rank that is not there");
    guint32 *expanded = rankset_expand(&ranks);
    g_ptr_array_add(m->p->blocks, expanded);
    k->ranks = expanded;
    k->n_ranks = ranks.n;
    rankset_clear(&ranks);
    return k->n_ranks > 0 || member_bad(m, "a class has no ranks");
}

/* Ranks of which nothing was recorded become a class without sequences, so that every rank has one. */
static gboolean complete_classes(Member *m)
{
    WendProgram *p = m->p;
    g_autoptr(GArray) missing = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint r = 0; r < p->ranks; r++)
        if (p->class_of[r] == G_MAXUINT) {
            p->class_of[r] = p->n_classes;
            g_array_append_val(missing, r);
        }
    if (missing->len == 0) return TRUE;
    if (g_key_file_get_boolean(p->meta, "recording", "complete", NULL)) return member_bad(m, "a rank is in no class");
    guint *ranks = program_new_block(p, missing->len, sizeof(guint));
    memcpy(ranks, missing->data, missing->len * sizeof(guint));
    p->classes[p->n_classes++] = (WendClass){.n_ranks = missing->len, .ranks = ranks, .sequences = program_new_block(p, 0, sizeof(WendSequence))};
    return TRUE;
}

static gboolean read_classes(WendProgram *p, GError **error)
{
    Member m;
    if (!member_open(&m, p, "classes", error)) return FALSE;
    guint64 world = wend_read_unsigned(&m.c);
    if (m.c.failed || world == 0 || world > RANKSET_MAX) return member_bad(&m, "the number of ranks makes no sense");
    p->ranks = world;
    p->class_of = program_new_block(p, world, sizeof(guint));
    memset(p->class_of, 0xff, world * sizeof(guint));
    gsize n = wend_read_count(&m.c, 4);
    if (n > world) return member_bad(&m, "has more classes than ranks");
    p->classes = program_new_block(p, n + 1, sizeof(WendClass)); /* one more: complete_classes */
    p->class_data = program_new_block(p, n + 1, sizeof(ClassData));
    for (gsize i = 0; i < n; i++) {
        WendClass *k = &p->classes[i];
        if (!read_class_ranks(&m, k)) return FALSE;
        for (guint r = 0; r < k->n_ranks; r++) {
            if (p->class_of[k->ranks[r]] != G_MAXUINT) return member_bad(&m, "a rank is in two classes");
            p->class_of[k->ranks[r]] = i;
        }
        gsize n_sequences = wend_read_count(&m.c, 3);
        WendSequence *sequences = program_new_block(p, n_sequences, sizeof(WendSequence));
        k->sequences = sequences;
        k->n_sequences = n_sequences;
        p->class_data[i].sequences = program_new_block(p, n_sequences, sizeof(SequenceData));
        p->n_classes = i + 1;
        for (gsize q = 0; q < n_sequences; q++) {
            guint64 kind = wend_read_unsigned(&m.c);
            sequences[q].id = member_word(&m);
            guint64 rule = wend_read_unsigned(&m.c);
            if (m.c.failed || kind > WEND_SEQUENCE_CALLBACK || rule >= p->n_rules) return member_bad(&m, "a sequence starts with a rule that is not there");
            sequences[q].kind = kind;
            sequences[q].rule = rule;
        }
    }
    return complete_classes(&m) && member_close(&m);
}

gboolean program_read(WendProgram *p, GError **error)
{
    return read_meta(p, error) && read_functions(p, error) && read_constants(p, error) && read_shapes(p, error) && read_terminals(p, error) &&
           read_rules(p, error) && read_classes(p, error) && read_sequences(p, error);
}
