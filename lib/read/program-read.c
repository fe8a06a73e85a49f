/* SPDX-License-Identifier: BSD-3-Clause */
/* program-read.c: reads the member "meta" and the parts that describe calls: functions, constants,
 * shapes, terminals, rules. */
#include <string.h>

#include "base/identifier.h"
#include "base/containers.h"
#include "record/codec.h"
#include "record/layout.h"
#include "record/part.h"
#include "record/rules.h"
#include "program-private.h"

/* The memory of things beyond their structs: of a shape or a terminal (in its batch), of a table
 * (its delta sequence), of a constant or a word of a derived table. META_MEMORY is that of a byte
 * of meta. */
enum { SHAPE_MORE = 96, TERMINAL_MORE = 32, TABLE_MORE = 96, WORD_MORE = 64, META_MEMORY = 64 };

/* PREFIX and the string S. NULL: it is damaged. */
static char *prefixed(Member *m, WendCursor s, const char *prefix)
{
    gsize n = s.end - s.p, before = strlen(prefix);
    if (m->c.failed)
        return NULL;
    if (!g_utf8_validate((const char *)s.p, n, NULL)) {
        member_bad(m, "a name is not text");
        return NULL;
    }
    char *text = member_block(m, before + n, 1);
    if (!text)
        return NULL;
    memcpy(text, prefix, before);
    memcpy(text + before, s.p, n);
    return text;
}

/* A name in an archive must be an identifier, because proxygen may write it to a program. */
static gboolean is_name(Member *m, const char *text)
{
    return identifier_is(text, strlen(text)) || member_bad(m, "a name is not an identifier");
}

/* The name of a function or constant. */
static char *member_name(Member *m)
{
    WendCursor s = cursor_block(&m->c);
    gboolean whole = s.p < s.end && *s.p == '.';
    s.p += whole;
    char *name = prefixed(m, s, whole ? "" : CODEC_NAME_PREFIX);
    return name && is_name(m, name) ? name : NULL;
}

/* -- meta -- */

/* Checks the names in meta: the classes of errors by number, and the functions that were not
 * recorded. */
static gboolean read_meta_names(Member *m)
{
    static const char error[] = "error";
    const char *const groups[] = {error, WEND_UNRECORDED_GROUP};
    for (guint g = 0; g < G_N_ELEMENTS(groups); g++) {
        g_auto(GStrv) keys = g_key_file_get_keys(m->p->meta, groups[g], NULL, NULL);
        for (char **key = keys; key && *key; key++) {
            g_autofree char *value = g_key_file_get_string(m->p->meta, groups[g], *key, NULL);
            const char *name = groups[g] == error ? value : *key;
            if (!is_name(m, name ? name : ""))
                return FALSE;
        }
    }
    return TRUE;
}

gboolean program_read_meta(WendProgram *p, Error **error)
{
    Member m;
    if (!member_open(&m, p, "meta", error))
        return FALSE;
    if (!member_admits(&m, (guint64)(m.c.end - m.c.p), META_MEMORY))
        return FALSE;
    p->meta = g_key_file_new();
    g_autoptr(GError) problem = NULL;
    if (m.c.p == m.c.end
        || !g_key_file_load_from_data(p->meta, (const char *)m.c.p, m.c.end - m.c.p,
                                      G_KEY_FILE_NONE, &problem))
        return member_bad(&m, problem ? problem->message : "is empty");
    gint format = g_key_file_get_integer(p->meta, "recording", "format", &problem);
    if (problem)
        return member_bad(&m, "does not say which format this is");
    if (format != ARCHIVE_FORMAT) {
        error_set(error, WEND_ERROR_INPUT,
                  "%s: member meta: is in format %d; this version of Wend reads format %d",
                  container_name(p->container), format, ARCHIVE_FORMAT);
        return FALSE;
    }
    if (!g_key_file_has_key(p->meta, "recording", "complete", NULL))
        g_key_file_set_boolean(p->meta, "recording", "complete", TRUE);
    return read_meta_names(&m);
}

/* -- functions and constants -- */

static gboolean read_functions(Member *m)
{
    WendProgram *p = m->p;
    gsize n = cursor_count(&m->c, 1);
    p->functions = member_block(m, n, sizeof(WendFunction));
    if (!p->functions)
        return FALSE;
    p->n_functions = (guint)n;
    guint32 digest = WEND_DIGEST_START;
    for (gsize i = 0; i < n; i++) {
        const char *name = member_name(m);
        const WendFunction *known = name ? function_by_name(name) : NULL;
        if (!known)
            return member_bad(m, "has a function that this version of Wend does not know");
        p->functions[i] = *known;
        digest = function_digest_add(digest, known);
    }
    const guint8 *told = cursor_bytes(&m->c, sizeof digest);
    if (!told)
        return member_bad(m, "truncated");
    digest = GUINT32_TO_LE(digest);
    return memcmp(told, &digest, sizeof digest) == 0
           || member_bad(m,
                         "what its functions take is not what this version of Wend knows of them");
}

static gint64 know_constant(WendProgram *p, const char *name)
{
    int index = functions_constant_by_name(name);
    if (index >= 0)
        return WEND_CONST(index);
    /* there are few, and some may come from another world of the job */
    for (guint i = 0; i < p->more_constants->len; i++)
        if (strcmp(p->more_constants->pdata[i], name) == 0)
            return WEND_CONST(mpi_n_constants + i);
    g_ptr_array_add(p->more_constants, g_strdup(name));
    return WEND_CONST(mpi_n_constants + p->more_constants->len - 1);
}

static gboolean read_constants(Member *m)
{
    WendProgram *p = m->p;
    gsize n = cursor_count(&m->c, 2);
    if (mpi_n_constants + n >= (guint64)(WEND_SPECIAL_BASE - WEND_CONST(0)))
        return member_bad(m, "has too many constants");
    p->constants = member_block(m, n, sizeof(gint64) + WORD_MORE);
    if (!p->constants)
        return FALSE;
    p->n_constants = n;
    for (gsize i = 0; i < n; i++) {
        const char *name = member_name(m);
        guint64 facts = cursor_unsigned(&m->c);
        if (m->c.failed || !name || facts > CONSTANT_DENSE)
            return member_bad(m, "a constant makes no sense");
        p->constants[i] = know_constant(p, name);
        if (facts == CONSTANT_ALONE)
            continue;
        gint64 *datatype = member_block(m, 5, sizeof(gint64));
        if (!datatype)
            return FALSE;
        for (int k = 0; k < (facts == CONSTANT_DENSE ? 1 : 5); k++)
            datatype[k] = cursor_signed(&m->c);
        if (datatype[0] < 0)
            return member_bad(m, "a datatype has a negative size");
        if (facts == CONSTANT_DENSE)
            datatype[2] = datatype[4] = datatype[0];
        g_hash_table_replace(p->datatypes, &p->constants[i], datatype);
    }
    return TRUE;
}

/* -- shapes and terminals -- */

/* Sets the first word of a shape, which has MORE other words that are read later. */
static gboolean take_shape(Member *m, WendShape *s, guint64 head, guint64 more, gint64 *words)
{
    if (m->c.failed || head >> 1 >= m->p->n_functions || more > G_MAXINT32)
        return member_bad(m, "a shape is of a function that is not there");
    s->function = &m->p->functions[head >> 1];
    s->failed = head & 1;
    s->n_words = (guint)more + 1;
    s->words = words;
    words[0] = WEND_SHAPE_HEAD(head >> 1, head & 1);
    return TRUE;
}

/* Reads the other words of the shapes of a batch, shape by shape or word by word. */
static gboolean read_shape_words(Member *m, const Batch *batch)
{
    const WendProgram *p = m->p;
    gint64 *const *words = (gint64 *const *)batch->things->data;
    guint n = batch->things->len;
    gboolean by_word = batch_by_column(batch, &m->c);
    for (guint i = 0; i < n && !by_word; i++)
        for (guint k = 1; k <= batch->n && !m->c.failed; k++)
            words[i][k] = member_word(m);
    for (guint k = 1; k <= batch->n && by_word && !m->c.failed; k++) {
        AUTO(DeltaSequence) column = delta_sequence_decode(&m->c, n, p->constants, p->n_constants);
        for (guint i = 0; column && i < n; i++)
            words[i][k] = delta_sequence_at(column, i);
    }
    return !m->c.failed || member_bad(m, "truncated");
}

static gboolean read_shape_batches(Member *m)
{
    WendProgram *p = m->p;
    AUTO(DeltaSequence) heads = delta_sequence_decode(&m->c, p->n_shapes, NULL, 0);
    AUTO(DeltaSequence) n_words = heads ? delta_sequence_decode(&m->c, p->n_shapes, NULL, 0) : NULL;
    guint64 left = program_most((gsize)(m->c.end - m->c.p)), all = p->n_shapes;
    if (!n_words)
        return member_bad(m, "truncated");
    for (guint i = 0; i < p->n_shapes; i++) {
        gint64 more = delta_sequence_at(n_words, i);
        if (more < 0 || (guint64)more > left)
            return member_bad(m, "has more words than it can hold");
        left -= (guint64)more;
        all += (guint64)more;
    }
    gint64 *words = member_block(m, all, sizeof(gint64));
    if (!words)
        return FALSE;
    Batches batches;
    batches_init(&batches);
    gboolean good = TRUE;
    for (guint i = 0; i < p->n_shapes && good; i++) {
        guint64 head = (guint64)delta_sequence_at(heads, i),
                more = (guint64)delta_sequence_at(n_words, i);
        good = take_shape(m, &p->shapes[i], head, more, words);
        batches_add(&batches, (gint64)head, (guint)more, words);
        words += more + 1;
    }
    for (guint g = 0; g < batches.all->len && good; g++)
        good = read_shape_words(m, &g_array_index(batches.all, Batch, g));
    batches_clear(&batches);
    return good;
}

static gboolean read_shapes(Member *m)
{
    WendProgram *p = m->p;
    guint64 n = cursor_unsigned(&m->c);
    if (m->c.failed || n > program_most((gsize)(m->c.end - m->c.p)))
        return member_bad(m, "has more shapes than it can hold");
    p->shapes = member_block(m, n, sizeof(WendShape));
    if (!p->shapes || !member_admits(m, n, SHAPE_MORE))
        return FALSE;
    p->n_shapes = (guint)n;
    return p->n_shapes == 0 || read_shape_batches(m);
}

/* -- tables of values -- */

static gboolean read_tables(Member *m)
{
    WendProgram *p = m->p;
    gsize n_sets = cursor_count(&m->c, 2);
    g_autoptr(GArray) sets = g_array_new(FALSE, TRUE, sizeof(RankSet));
    g_array_set_clear_func(sets, (GDestroyNotify)rankset_clear);
    if (!member_admits(m, n_sets, sizeof(RankSet)))
        return FALSE;
    g_array_set_size(sets, (guint)n_sets);
    for (guint i = 0; i < n_sets; i++)
        /* ranks of a world of any size */
        if (!rankset_decode(&g_array_index(sets, RankSet, i), &m->c, RANKSET_MAX))
            return member_bad(m, "values of a rank that is not there");
    guint64 n = cursor_unsigned(&m->c);
    if (m->c.failed || n > TABLES_WORDS_PER_BYTE * (guint64)(m->c.end - m->c.p))
        return member_bad(m, "has more tables than it can hold");
    p->tables = member_block(m, n, sizeof(WendSlotTable));
    if (!p->tables || !member_admits(m, n, TABLE_MORE))
        return FALSE;
    p->n_tables = (guint)n;
    for (guint64 i = 0, many; i < n; i += many) {
        guint64 form = cursor_unsigned(&m->c), set = form >> TABLE_SET_BITS;
        gboolean several = (form & TABLE_TOGETHER) != 0;
        many = several ? cursor_unsigned(&m->c) : 1;
        if (m->c.failed || set >= n_sets)
            return member_bad(m, "values of ranks that are not listed");
        const RankSet *ranks = &g_array_index(sets, RankSet, set);
        if (many == 0 || many > n - i
            || (several
                && (ranks->n > TABLES_TOGETHER
                    || many * ranks->n > TABLES_WORDS_PER_BYTE * (guint64)(m->c.end - m->c.p))))
            return member_bad(m, "tables of values make no sense");
        AUTO(DeltaSequence)
        all = delta_sequence_decode(&m->c, many * ranks->n, p->constants, p->n_constants);
        if (!all)
            return member_bad(m, "a table of values is damaged");
        for (guint64 k = 0; k < many; k++)
            p->tables[i + k] =
                (WendSlotTable){rankset_copy(ranks), form & 1,
                                many == 1 ? delta_sequence_ref(all)
                                          : delta_sequence_part(all, k * ranks->n, ranks->n)};
    }
    return TRUE;
}

/* -- slots that are derived from others of their terminal -- */

static const RankSet *ranks_of(const WendSlot *slots, guint n)
{
    for (guint k = 0; k < n; k++)
        if (slots[k].form == WEND_SLOT_TABLE)
            return &slots[k].table->ranks;
    return NULL;
}

static gboolean may_encode(const WendSlot *s, const RankSet *ranks)
{
    return s->form == WEND_SLOT_CONSTANT
           || (s->form == WEND_SLOT_TABLE && !s->table->of_self
               && rankset_equal(&s->table->ranks, ranks));
}

/* The value of slot S on the rank at INDEX. If it is special, returns 0 and lets the cursor
 * fail. */
static gint64 number_at(Member *m, const WendSlot *s, guint32 index)
{
    gint64 word =
        s->form == WEND_SLOT_TABLE ? delta_sequence_at(s->table->deltas, index) : s->value;
    if (!word_is_special(word))
        return word;
    m->c.failed = true;
    return 0;
}

/* Derives slot K of a terminal from the slot WORD before it. ACROSS: how many of the slots just
 * before it are ENCODED_AS_ACROSS, too. */
static gboolean derive_slot(Member *m, WendSlot *slots, guint k, SlotEncoding form, gint64 word,
                            guint across)
{
    static const char bad[] = "a slot does not follow from the other slots, as it should";
    if (word < 1 || word > k)
        return member_bad(m, bad);
    const WendSlot *from = &slots[k - word];
    const RankSet *ranks =
        form == ENCODED_AS_SUM ? ranks_of(&slots[k - 1], 1) : ranks_of(from, (guint)word);
    if (form == ENCODED_AS_SUM && !ranks)
        ranks = ranks_of(from, 1);
    if (!ranks || ranks->n == 0)
        return member_bad(m, bad);
    guint32 n = ranks->n, row = across % n;
    m->p->derived += n;
    if (m->p->derived > TABLES_WORDS_PER_BYTE * (guint64)(m->c.end - m->start))
        return member_bad(m, "slots follow from other slots that have too many words");
    if (form == ENCODED_AS_ACROSS) {
        if (row > k - word || (gint64)n > word)
            return member_bad(m, bad);
        from -= row;
        for (guint32 r = 0; r < n; r++)
            if (!may_encode(&from[r], ranks))
                return member_bad(m, bad);
    } else if (!may_encode(from, ranks) || !may_encode(&slots[k - 1], ranks))
        return member_bad(m, bad);
    WendSlotTable *table = member_block(m, 1, sizeof *table);
    if (!table || !member_admits(m, n, WORD_MORE))
        return FALSE;
    DeltaSequenceBuilder *b = delta_sequence_builder_new();
    for (guint32 r = 0; r < n; r++) {
        gint64 sum =
            form == ENCODED_AS_ACROSS
                ? number_at(m, &from[r], row)
                : rank_vector_word_sum(number_at(m, from, r), number_at(m, &slots[k - 1], r));
        if (word_is_special(sum))
            m->c.failed = true;
        delta_sequence_builder_add(b, (DeltaSequenceRun){sum, 0, 1});
    }
    *table = (WendSlotTable){rankset_copy(ranks), FALSE, delta_sequence_builder_end(b)};
    g_ptr_array_add(m->p->derived_tables, table);
    slots[k] = (WendSlot){.form = WEND_SLOT_TABLE, .table = table};
    return !m->c.failed || member_bad(m, bad);
}

/* Makes slot K of a terminal. *ACROSS: how many of the slots just before it are
 * ENCODED_AS_ACROSS. */
static gboolean make_slot(Member *m, WendSlot *slots, guint k, guint64 form, gint64 word,
                          guint *across)
{
    const WendProgram *p = m->p;
    if (form == ENCODED_AS_CONSTANT || form == ENCODED_AS_SELF)
        slots[k] = (WendSlot){.form = form == ENCODED_AS_SELF ? WEND_SLOT_SELF : WEND_SLOT_CONSTANT,
                              .value = word};
    else if (form == ENCODED_AS_TABLE && word >= 0 && word < p->n_tables)
        slots[k] = (WendSlot){.form = WEND_SLOT_TABLE, .table = &p->tables[word]};
    else if (form == ENCODED_AS_SUM || form == ENCODED_AS_ACROSS) {
        if (!derive_slot(m, slots, k, (SlotEncoding)form, word, *across))
            return FALSE;
    } else
        return member_bad(m, "a slot has a form that is not there");
    *across = form == ENCODED_AS_ACROSS ? *across + 1 : 0;
    return TRUE;
}

/* Reads the slots of MANY terminals with N_SLOTS each, slot by slot if BY_SLOT, else terminal by
 * terminal. */
static gboolean read_slots(Member *m, WendTerminal *const *terminals, guint many, guint n_slots,
                           gboolean by_slot)
{
    const WendProgram *p = m->p;
    /* each takes at least a byte */
    if (n_slots > (gsize)(m->c.end - m->c.p))
        return member_bad(m, "truncated");
    WendSlot *slots = member_block(m, (guint64)many * n_slots, sizeof(WendSlot));
    if (!slots)
        return FALSE;
    g_autofree guint *across = g_new0(guint, many);
    for (guint i = 0; i < many; i++) {
        terminals[i]->n_slots = n_slots;
        terminals[i]->slots = slots + (gsize)i * n_slots;
    }
    for (guint i = 0; i < many && !by_slot; i++)
        for (guint k = 0; k < n_slots; k++) {
            guint64 form = cursor_unsigned(&m->c);
            gint64 word =
                form < ENCODED_AS_TABLE ? member_word(m) : (gint64)(form - ENCODED_AS_TABLE);
            if (!make_slot(m, slots + (gsize)i * n_slots, k, MIN(form, (guint64)ENCODED_AS_TABLE),
                           word, &across[i]))
                return FALSE;
        }
    for (guint k = 0; k < n_slots && by_slot; k++) {
        AUTO(DeltaSequence) forms = delta_sequence_decode(&m->c, many, NULL, 0);
        AUTO(DeltaSequence)
        words = forms ? delta_sequence_decode(&m->c, many, p->constants, p->n_constants) : NULL;
        if (!words)
            return member_bad(m, "a column of slots is damaged");
        for (guint i = 0; i < many; i++)
            if (!make_slot(m, slots + (gsize)i * n_slots, k, (guint64)delta_sequence_at(forms, i),
                           delta_sequence_at(words, i), &across[i]))
                return FALSE;
    }
    return !m->c.failed || member_bad(m, "truncated");
}

static const char terminal_bad[] = "a terminal makes no sense";

/* Takes the slots of MANY terminals with N_SLOTS each from *LEFT. FALSE: fewer are left. */
static gboolean take_slots(guint64 *left, guint64 many, guint64 n_slots)
{
    if (n_slots > *left || many * n_slots > *left)
        return FALSE;
    *left -= many * n_slots;
    return TRUE;
}

/* Reads how many terminals each shape has, and how many slots these have. Then reads the slots, in
 * batches of terminals with one function and equal numbers of slots. */
static gboolean read_terminal_batches(Member *m, guint64 left)
{
    WendProgram *p = m->p;
    if (p->n_shapes == 0)
        return p->n_terminals == 0 || member_bad(m, terminal_bad);
    AUTO(DeltaSequence) terminals = delta_sequence_decode(&m->c, p->n_shapes, NULL, 0);
    AUTO(DeltaSequence)
    n_slots = terminals ? delta_sequence_decode(&m->c, p->n_shapes, NULL, 0) : NULL;
    guint at = 0;
    if (!n_slots)
        return member_bad(m, terminal_bad);
    Batches batches;
    batches_init(&batches);
    gboolean good = TRUE;
    for (guint shape = 0; shape < p->n_shapes && good; shape++) {
        gint64 n = delta_sequence_at(terminals, shape), slots = delta_sequence_at(n_slots, shape);
        good = n >= 0 && n <= p->n_terminals - at && slots >= 0
               && take_slots(&left, (guint64)n, (guint64)slots);
        for (; good && n > 0; n--, at++) {
            p->terminals[at] = (WendTerminal){.shape = shape, .n_slots = (guint)slots};
            batches_add(&batches, p->shapes[shape].words[0], (guint)slots, &p->terminals[at]);
        }
    }
    if (!good || at < p->n_terminals)
        good = member_bad(m, terminal_bad);
    for (guint g = 0; g < batches.all->len && good; g++) {
        const Batch *batch = &g_array_index(batches.all, Batch, g);
        gboolean by_slot = batch_by_column(batch, &m->c);
        good = read_slots(m, (WendTerminal *const *)batch->things->data, batch->things->len,
                          batch->n, by_slot);
    }
    batches_clear(&batches);
    return good;
}

static gboolean read_terminals(Member *m)
{
    WendProgram *p = m->p;
    if (!read_tables(m))
        return FALSE;
    guint64 n = cursor_unsigned(&m->c), most = program_most((gsize)(m->c.end - m->c.p));
    if (m->c.failed || n > most)
        return member_bad(m, "has more terminals than it can hold");
    p->terminals = member_block(m, n, sizeof(WendTerminal));
    if (!p->terminals || !member_admits(m, n, TERMINAL_MORE))
        return FALSE;
    p->n_terminals = (guint)n;
    if (!read_terminal_batches(m, most))
        return FALSE;
    Layout layout;
    layout_init(&layout);
    gboolean good = TRUE;
    for (guint i = 0; i < n && good; i++) {
        const WendTerminal *t = &p->terminals[i];
        const WendShape *s = &p->shapes[t->shape];
        if (i > 0 && t->shape == t[-1].shape && t->n_slots == t[-1].n_slots)
            continue;
        if (!layout_fits(&layout, s->function, s->words, s->n_words, t->n_slots))
            good = member_bad(m, "a terminal's words do not fit its function's parameters");
    }
    layout_clear(&layout);
    return good;
}

/* -- rules -- */

/* Reads the numbers of N symbols of one kind to IDS, at the indices PLACES. Each is encoded as its
 * distance below NEXT, the smallest number that has not occurred. */
static void read_numbers(Member *m, const guint32 *places, guint n, guint32 next, guint32 *ids)
{
    AUTO(DeltaSequence) told = delta_sequence_decode(&m->c, n, NULL, 0);
    for (guint i = 0; told && i < n; i++) {
        gint64 below = delta_sequence_at(told, i);
        if (below > next || below < (gint64)next - G_MAXINT32)
            m->c.failed = true;
        if (m->c.failed)
            return;
        ids[places[i]] = (guint32)(next - below);
        next = MAX(next, ids[places[i]] + 1);
    }
}

/* Reads a rule of N symbols by the kinds of its symbols (0 a rule, else 1 + shape): the sequence of
 * kinds, the numbers of each kind, and the repetition counts in the order of kinds and numbers.
 * NEXT has, for each kind, the number after all that earlier rules have. */
static void read_by_kind(Member *m, WendSymbol *symbols, guint n, const guint32 *next)
{
    const WendProgram *p = m->p;
    AUTO(DeltaSequence) kinds = delta_sequence_decode(&m->c, n, NULL, 0);
    g_autofree guint32 *kind = g_new0(guint32, n), *ids = g_new0(guint32, n),
                       *places = g_new(guint32, n);
    for (guint k = 0; kinds && k < n; k++) {
        gint64 told = delta_sequence_at(kinds, k);
        if (told < 0 || told > p->n_shapes)
            m->c.failed = true;
        else
            kind[k] = (guint32)told;
    }
    vector_indices(places, n);
    vector_sort_indices(places, kind, n);
    for (guint k = 0, same; k < n && !m->c.failed; k += same) {
        for (same = 1; k + same < n && kind[places[k + same]] == kind[places[k]];)
            same++;
        read_numbers(m, &places[k], same, next[kind[places[k]]], ids);
        vector_sort_indices(&places[k], ids, same);
    }
    for (guint k = 0; k < n; k++)
        symbols[k] = (WendSymbol){.is_rule = kind[k] == 0, .id = ids[k]};
    AUTO(DeltaSequence) repeats = m->c.failed ? NULL : delta_sequence_decode(&m->c, n, NULL, 0);
    for (guint k = 0; repeats && k < n; k++) {
        gint64 count = delta_sequence_at(repeats, k);
        symbols[places[k]].repeats = count < 0 ? RULE_TRIP + (guint64)(-1 - count) : (guint64)count;
    }
}

/* The state after some rules. NEXT: by kind, the number after all that these rules have. LAST: the
 * last terminal that was read. */
typedef struct {
    guint32 *next, last;
} SoFar;

static guint64 read_repeats(Member *m)
{
    guint64 repeats = cursor_unsigned(&m->c);
    return repeats ? repeats : RULE_TRIP + cursor_unsigned(&m->c) % RULE_TRIP;
}

/* Reads a symbol of rule I. *LAST is the last terminal that was read. */
static WendSymbol read_symbol(Member *m, guint i, guint32 *last)
{
    guint64 said = cursor_unsigned(&m->c), number = said >> SYMBOL_BITS,
            repeats = said & SYMBOL_REPEATED ? read_repeats(m) : 1;
    gboolean is_rule = (said & SYMBOL_IS_RULE) != 0;
    gint64 id = is_rule ? (gint64)i - 1 - (gint64)number : (gint64)*last + 1 + buf_unzigzag(number);
    if (number > G_MAXINT32 || id < 0 || id > G_MAXINT32) {
        m->c.failed = true;
        id = 0;
    }
    if (!is_rule)
        *last = (guint32)id;
    return (WendSymbol){is_rule, (guint32)id, repeats};
}

/* Reads the symbols of rule I, one by one or, after a 0, by kind. Takes their number from *LEFT.
 * Returns NULL and sets the error if the rule is damaged. */
static WendSymbol *read_symbols(Member *m, guint i, const SoFar *so_far, guint64 *left)
{
    WendRule *rule = &m->p->rules[i];
    guint32 last = so_far->last;
    guint64 n = cursor_unsigned(&m->c);
    gboolean by_kind = n == 0;
    if (by_kind)
        n = cursor_unsigned(&m->c);
    if (m->c.failed || n > *left || (!by_kind && n > (gsize)(m->c.end - m->c.p))) {
        member_bad(m, "a rule is longer than it can be");
        return NULL;
    }
    *left -= n;
    WendSymbol *symbols = member_block(m, n, sizeof(WendSymbol));
    if (!symbols)
        return NULL;
    *rule = (WendRule){.n = (guint)n, .symbols = symbols};
    if (by_kind && n > 0)
        read_by_kind(m, symbols, (guint)n, so_far->next);
    for (guint k = 0; k < n && !by_kind && !m->c.failed; k++)
        symbols[k] = read_symbol(m, i, &last);
    if (!m->c.failed)
        return symbols;
    member_bad(m, "a rule makes no sense");
    return NULL;
}

static gboolean read_rules(Member *m)
{
    WendProgram *p = m->p;
    gsize n = cursor_count(&m->c, 1);
    p->rules = member_block(m, n, sizeof(WendRule));
    if (!p->rules)
        return FALSE;
    p->n_rules = n;
    guint64 left = program_most((gsize)(m->c.end - m->c.p));
    g_autofree guint32 *next = g_new0(guint32, p->n_shapes + 1);
    SoFar so_far = {next, 0};
    for (guint t = p->n_terminals; t-- > 0;)
        next[1 + p->terminals[t].shape] = t;
    for (guint i = 0; i < n; i++) {
        const WendSymbol *symbols = read_symbols(m, i, &so_far, &left);
        if (!symbols || !member_measure_rule(m, p->rules, i))
            return FALSE;
        for (guint k = 0; k < p->rules[i].n; k++) {
            guint32 *after = &next[symbols[k].is_rule ? 0 : 1 + p->terminals[symbols[k].id].shape];
            *after = MAX(*after, symbols[k].id + 1);
            if (!symbols[k].is_rule)
                so_far.last = symbols[k].id;
        }
    }
    return TRUE;
}

gboolean program_read(WendProgram *p, const char *member, Error **error)
{
    Member m;
    return member_open(&m, p, member, error) && member_part(&m, "functions") && read_functions(&m)
           && member_part(&m, "constants") && read_constants(&m) && member_part(&m, "shapes")
           && read_shapes(&m) && member_part(&m, "terminals") && read_terminals(&m)
           && member_part(&m, "rules") && read_rules(&m) && member_part(&m, "classes")
           && read_classes(&m) && read_sequences(&m) && member_part(&m, "times of ranks")
           && read_rank_times(&m) && member_close(&m);
}
