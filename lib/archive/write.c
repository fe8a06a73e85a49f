/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c: writes a merged recording as the members of the archive (docs/format.md). */
#include "write.h"

#include <string.h>

#include "base/pairs.h"
#include "container.h"
#include "merge/derive.h"
#include "record/codec.h"
#include "record/record.h"
#include "record/outcome-runs.h"
#include "tables-write.h"

/* The archive stores kinds and extents by number (docs/format.md), so new ones must follow
 * these. */
G_STATIC_ASSERT(WEND_KIND_SELF == 0 && WEND_KIND_REQUEST == 18 && WEND_KIND_RANK == 25
                && WEND_KIND_STATUS == 38 && WEND_KIND_SKIP == 40 && WEND_KIND_FOUND == 41
                && WEND_KIND_TARGET == 42 && WEND_KIND_NEIGHBOURS == 43);
G_STATIC_ASSERT(WEND_DIR_RETURN == 3 && WEND_PLACE_OUTCOME == 2
                && WEND_EXTENT_COUNT_OWN_SIZE == 10);

/* -- the functions and constants that the recording uses -- */

static gboolean use_word(gpointer writer, gint64 word)
{
    Writer *w = writer;
    if (!wend_word_is_const(word))
        return TRUE;
    if (wend_word_const_index(word) >= wend_n_constants)
        return FALSE;
    w->constant_used[wend_word_const_index(word)] = 1;
    return TRUE;
}

static gboolean use_outcomes(Writer *w, GBytes *stream)
{
    OutcomeRuns p;
    outcome_runs_init_part(&p, g_bytes_get_data(stream, NULL), g_bytes_get_size(stream));
    gboolean good = TRUE;
    while (good && outcome_runs_next(&p))
        for (guint i = 0; good && i < p.words->len; i++)
            good = use_word(w, g_array_index(p.words, gint64, i));
    good = good && !p.c.failed;
    outcome_runs_clear(&p);
    return good;
}

static gboolean use_sequence(Writer *w, const RecordedClass *k, const RecordedSequence *recorded)
{
    (void)k;
    const Sequence *s = recorded->sequence;
    if (!use_word(w, s->id))
        return FALSE;
    for (guint o = 0; o < s->table.n_shapes; o++)
        for (guint c = 0; c < s->outcomes[o].items->len; c++)
            if (!use_outcomes(w, ((Content *)g_ptr_array_index(s->outcomes[o].items, c))->bytes))
                return FALSE;
    return TRUE;
}

/* WHOLE: the member is not a shard. */
static gboolean use_all(Writer *w, gboolean whole)
{
    const Recording *r = w->r;
    for (guint i = 0; i < r->shapes->len; i++) {
        const ShapeRow *s = &g_array_index(r->shapes, ShapeRow, i);
        w->function_used[s->words[0] / 2] = 1;
        for (guint k = 1; k < s->n; k++)
            if (!use_word(w, s->words[k]))
                return FALSE;
    }
    for (guint i = 0; i < r->signatures->len; i++) {
        const Signature *s = &g_array_index(r->signatures, Signature, i);
        for (guint k = 0; k < s->n_slots; k++) {
            const RankVector *v = &s->slots[k];
            if (rank_vector_is_constant(v) && !use_word(w, v->value))
                return FALSE;
            if (rank_vector_is_deltas(v) && !delta_sequence_specials(v->deltas, use_word, w))
                return FALSE;
        }
    }
    if (!writer_each_sequence(w, use_sequence))
        return FALSE;
    /* ranks of shards may call others */
    const GArray *timed = r->merge->rank_times->functions;
    for (guint i = 0; whole && i < timed->len; i++)
        w->function_used[g_array_index(timed, FunctionTimes, i).function] = 1;
    for (gsize i = 0; i < wend_n_functions; i++)
        if (w->function_used[i])
            w->function_number[i] = w->n_functions++;
    for (gsize i = 0; i < wend_n_constants; i++)
        if (w->constant_used[i])
            w->constant_number[i] = w->n_constants++;
    return TRUE;
}

/* -- members -- */

static void write_functions(Writer *w)
{
    guint32 digest = WEND_DIGEST_START;
    wend_buf_unsigned(&w->out, w->n_functions);
    for (gsize i = 0; i < wend_n_functions; i++) {
        if (!w->function_used[i])
            continue;
        codec_put_name(&w->out, wend_functions[i].name);
        digest = wend_function_digest_add(digest, &wend_functions[i]);
    }
    digest = GUINT32_TO_LE(digest);
    wend_buf_bytes(&w->out, &digest, sizeof digest);
}

/* Writes the metadata of a predefined datatype: size, lower bound, extent, true lower bound and
 * true extent. FACTS has them as text, or is NULL. */
static void put_datatype(WendBuf *out, const char *facts)
{
    g_auto(GStrv) texts = g_strsplit(facts ? facts : "", " ", -1);
    gint64 numbers[5];
    if (g_strv_length(texts) != 5) {
        wend_buf_unsigned(out, CONSTANT_ALONE);
        return;
    }
    for (int k = 0; k < 5; k++)
        numbers[k] = g_ascii_strtoll(texts[k], NULL, 10);
    gboolean dense =
        numbers[1] == 0 && numbers[3] == 0 && numbers[2] == numbers[0] && numbers[4] == numbers[0];
    wend_buf_unsigned(out, dense ? CONSTANT_DENSE : CONSTANT_MEASURED);
    for (int k = 0; k < (dense ? 1 : 5); k++)
        wend_buf_signed(out, numbers[k]);
}

static void write_constants(Writer *w)
{
    wend_buf_unsigned(&w->out, w->n_constants);
    for (gsize i = 0; i < wend_n_constants; i++) {
        if (!w->constant_used[i])
            continue;
        codec_put_name(&w->out, wend_constants[i]);
        g_autofree char *key = g_strconcat("datatype.", wend_constants[i], NULL);
        put_datatype(&w->out, writer_fact(w->r->merge, key));
    }
}

/* Writes a batch of N things: thing by thing or, if N > 1, column by column if that is shorter.
 * Clears both. */
static void put_batch(Writer *w, guint n, WendBuf *each, WendBuf *columns)
{
    if (n > 1)
        wend_buf_unsigned(&w->out, columns->len < each->len);
    writer_shorter(w, each, n > 1 ? columns : NULL);
}

/* Writes the words, except the first, of shapes that have the same first word. */
static void put_shapes(Writer *w, const Batch *batch)
{
    const ShapeRow *const *s = (const ShapeRow *const *)batch->things->pdata;
    guint n = batch->things->len;
    WendBuf each = WEND_BUF_INIT, columns = WEND_BUF_INIT;
    for (guint i = 0; i < n; i++)
        for (guint k = 1; k <= batch->n; k++)
            codec_put_word(&each, s[i]->words[k], w->constant_number);
    for (guint k = 1; k <= batch->n && n > 1; k++) {
        DeltaSequenceBuilder *words = delta_sequence_builder_new();
        for (guint i = 0; i < n; i++)
            delta_sequence_builder_add(words, (DeltaSequenceRun){s[i]->words[k], 0, 1});
        delta_sequence_builder_encode(words, &columns, w->constant_number);
    }
    put_batch(w, n, &each, &columns);
}

static void write_shapes(Writer *w)
{
    Batches batches;
    batches_init(&batches);
    DeltaSequenceBuilder *heads = delta_sequence_builder_new(),
                         *n_words = delta_sequence_builder_new();
    for (guint i = 0; i < w->r->shapes->len; i++) {
        ShapeRow *s = &g_array_index(w->r->shapes, ShapeRow, i);
        gint64 head = (gint64)w->function_number[s->words[0] / 2] << 1 | (s->words[0] & 1);
        delta_sequence_builder_add(heads, (DeltaSequenceRun){head, 0, 1});
        delta_sequence_builder_add(n_words, (DeltaSequenceRun){s->n - 1, 0, 1});
        batches_add(&batches, head, s->n - 1, s);
    }
    wend_buf_unsigned(&w->out, w->r->shapes->len);
    delta_sequence_builder_encode(heads, &w->out, NULL);
    delta_sequence_builder_encode(n_words, &w->out, NULL);
    for (guint g = 0; g < batches.all->len; g++)
        put_shapes(w, &g_array_index(batches.all, Batch, g));
    batches_clear(&batches);
}

/* DERIVE: whether slots may be encoded by other slots. DERIVED: the number of words that such slots
 * have. */
typedef struct {
    SlotTables *tables;
    gboolean derive;
    guint64 derived;
} SlotEncoder;

/* How a slot is encoded: its form, and a word. The word is the value, the difference to self, the
 * number of the table, or the distance to the slot that it is derived from. */
typedef struct {
    SlotEncoding form;
    gint64 word;
} EncodedSlot;

/* Sets *ENCODED for a slot without a table. FALSE: the slot needs a table. */
static gboolean encode_plainly(const Writer *w, const Signature *s, guint k, EncodedSlot *encoded)
{
    const RankVector *v = &s->slots[k];
    if (rank_vector_is_deltas(v))
        return FALSE;
    gboolean has_self =
        (wend_functions[g_array_index(w->r->shapes, ShapeRow, s->shape).words[0] / 2].flags
         & WEND_F_SELF)
        != 0;
    /* If there is one rank, the slot self is shorter relative to that rank. */
    gboolean constant =
        rank_vector_is_constant(v) && !(rank_vector_is_relative(v) && k == 0 && has_self);
    *encoded = constant ? (EncodedSlot){ENCODED_AS_CONSTANT, v->value}
                        : (EncodedSlot){ENCODED_AS_SELF, v->delta};
    return TRUE;
}

/* Terminals of one function with equal numbers of slots. There may be as many as calls, so only
 * those with tables have their encoded slots in memory. */
typedef struct {
    const Signature *const *terminals;
    guint n, n_slots;
    EncodedSlot **by_table;
    gboolean strided; /* some terminal is */
} Encoding;

/* Encodes the slots of terminals with tables. Tables are numbered slot by slot. */
static void encode_tables(Writer *w, SlotEncoder *e, Encoding *t)
{
    g_autofree Derived **derived = g_new0(Derived *, t->n + 1);
    t->by_table = g_new0(EncodedSlot *, t->n + 1);
    for (guint i = 0; i < t->n; i++) {
        const Signature *s = t->terminals[i];
        if (!s->ranks)
            continue;
        t->by_table[i] = g_new(EncodedSlot, t->n_slots + 1);
        if (e->derive)
            derived[i] = derive_slots(s->slots, t->n_slots, s->ranks->n);
    }
    for (guint k = 0; k < t->n_slots; k++, slot_tables_next_slot(e->tables))
        for (guint i = 0; i < t->n; i++) {
            if (!t->by_table[i])
                continue;
            const Signature *s = t->terminals[i];
            EncodedSlot *encoded = &t->by_table[i][k];
            if (derived[i] && derived[i][k].kind) {
                e->derived += s->ranks->n;
                *encoded = (EncodedSlot){derived[i][k].kind == DERIVED_SUM ? ENCODED_AS_SUM
                                                                           : ENCODED_AS_ACROSS,
                                         derived[i][k].back};
            } else if (!encode_plainly(w, s, k, encoded)) {
                *encoded = (EncodedSlot){
                    ENCODED_AS_TABLE, slot_tables_number(w, e->tables, s, k, derived[i] != NULL)};
            }
        }
    for (guint i = 0; i < t->n; i++)
        g_free(derived[i]);
}

static EncodedSlot encoding_of(const Writer *w, const Encoding *t, guint terminal, guint k)
{
    EncodedSlot one = {ENCODED_AS_CONSTANT, 0};
    if (t->by_table[terminal])
        return t->by_table[terminal][k];
    encode_plainly(w, t->terminals[terminal], k, &one);
    return one;
}

/* Writes the slots of one terminal after the other. */
static void put_each_terminal(const Writer *w, WendBuf *out, const Encoding *t)
{
    for (guint i = 0; i < t->n; i++)
        for (guint k = 0; k < t->n_slots; k++) {
            EncodedSlot one = encoding_of(w, t, i, k);
            wend_buf_unsigned(out, one.form == ENCODED_AS_TABLE
                                       ? ENCODED_AS_TABLE + (guint64)one.word
                                       : one.form);
            if (one.form != ENCODED_AS_TABLE)
                codec_put_word(out, one.word, w->constant_number);
        }
}

/* Writes slot by slot: the forms of all terminals, and their words or tables' numbers. */
static void put_slot_columns(const Writer *w, WendBuf *out, const Encoding *t)
{
    for (guint k = 0; k < t->n_slots; k++) {
        DeltaSequenceBuilder *forms = delta_sequence_builder_new(),
                             *words = delta_sequence_builder_new();
        for (guint i = 0; i < t->n; i++) {
            EncodedSlot one = encoding_of(w, t, i, k);
            const Strided *strided = t->terminals[i]->strided;
            guint32 count = signature_count(t->terminals[i]);
            delta_sequence_builder_add(forms, (DeltaSequenceRun){one.form, 0, count});
            delta_sequence_builder_add(
                words, (DeltaSequenceRun){one.word, strided ? strided->steps[k] : 0, count});
        }
        delta_sequence_builder_encode(forms, out, NULL);
        delta_sequence_builder_encode(words, out, w->constant_number);
    }
}

static void put_terminals(Writer *w, SlotEncoder *e, const Batch *batch)
{
    Encoding t = {.terminals = (const Signature *const *)batch->things->pdata,
                  .n = batch->things->len,
                  .n_slots = batch->n};
    WendBuf each = WEND_BUF_INIT, columns = WEND_BUF_INIT;
    guint32 n = 0; /* terminals that T stands for */
    for (guint i = 0; i < t.n; i++) {
        n += signature_count(t.terminals[i]);
        t.strided |= t.terminals[i]->strided != NULL;
    }
    t.strided &= n > 1;
    encode_tables(w, e, &t);
    if (!t.strided)
        put_each_terminal(w, &each, &t);
    if (n > 1)
        put_slot_columns(w, &columns, &t);
    if (t.strided) {
        wend_buf_unsigned(&w->out, 1);
        writer_shorter(w, &columns, NULL);
    } else {
        put_batch(w, n, &each, &columns);
    }
    for (guint i = 0; i < t.n; i++)
        g_free(t.by_table[i]);
    g_free(t.by_table);
}

/* Writes the slots of all terminals. Terminals of one function with equal numbers of slots are
 * encoded together, whatever their shapes, because their slots are mostly alike. */
static void put_all_slots(Writer *w, SlotEncoder *e)
{
    Batches batches;
    batches_init(&batches);
    DeltaSequenceBuilder *terminals = delta_sequence_builder_new(),
                         *n_slots = delta_sequence_builder_new();
    for (guint shape = 0, i = 0, n; shape < w->r->shapes->len; shape++, i += n) {
        Signature *first = &g_array_index(w->r->signatures, Signature, i);
        for (n = 0; i + n < w->r->signatures->len && first[n].shape == shape;)
            n++;
        delta_sequence_builder_add(
            terminals, (DeltaSequenceRun){w->r->numbers[i + n] - w->r->numbers[i], 0, 1});
        delta_sequence_builder_add(n_slots, (DeltaSequenceRun){n ? first->n_slots : 0, 0, 1});
        for (guint k = 0; k < n; k++)
            batches_add(&batches, g_array_index(w->r->shapes, ShapeRow, shape).words[0],
                        first->n_slots, &first[k]);
    }
    delta_sequence_builder_encode(terminals, &w->out, NULL);
    delta_sequence_builder_encode(n_slots, &w->out, NULL);
    for (guint g = 0; g < batches.all->len; g++)
        put_terminals(w, e, &g_array_index(batches.all, Batch, g));
    batches_clear(&batches);
}

/* Writes rank sets, tables, and the slots of all terminals. Equal sets and tables are written once:
 * all messages of a halo exchange have the same neighbours and ranks. Returns the number of words
 * of slots that are encoded by other slots. */
static guint64 put_all_terminals(Writer *w, gboolean derive)
{
    SlotEncoder e = {.tables = slot_tables_new(w->r->merge->world), .derive = derive};
    WendBuf before = w->out;
    w->out = (WendBuf)WEND_BUF_INIT;
    put_all_slots(w, &e);
    WendBuf terminals = w->out;
    w->out = before;
    slot_tables_write(w, e.tables);
    wend_buf_unsigned(&w->out, w->r->numbers[w->r->signatures->len]);
    wend_buf_bytes(&w->out, terminals.data, terminals.len);
    w->failed |= terminals.failed;
    wend_buf_clear(&terminals);
    return e.derived;
}

/* Writes the part "terminals". The bytes of the part limit the words that a reader accepts for
 * slots encoded by other slots. If there are more words, all slots are encoded by themselves. */
static void write_terminals(Writer *w)
{
    gsize before = w->out.len;
    if (put_all_terminals(w, TRUE) <= TABLES_WORDS_PER_BYTE * (guint64)(w->out.len - before))
        return;
    w->out.len = before;
    put_all_terminals(w, FALSE);
}

/* Writes the variant of each rank. */
static void put_variants(Writer *w, const RankSet *ranks, const Variants *v)
{
    g_autofree guint32 *variant_of = g_new(guint32, ranks->n);
    DeltaSequenceBuilder *numbers = delta_sequence_builder_new();
    for (guint i = 0; i < v->n; i++) {
        g_autofree guint32 *expanded = rankset_expand(&v->variants[i].ranks);
        for (guint32 r = 0, index; r < v->variants[i].ranks.n; r++)
            if (rankset_find(ranks, expanded[r], &index))
                variant_of[index] = i;
    }
    for (guint32 r = 0; r < ranks->n; r++)
        delta_sequence_builder_add(numbers, (DeltaSequenceRun){variant_of[r], 0, 1});
    delta_sequence_builder_encode(numbers, &w->out, NULL);
}

/* Writes the trip counts: for each trip, the counts of all variants. Most counts are equal in all
 * variants, so one delta sequence is shorter than one for each variant. */
static void put_trips(Writer *w, const Variants *v)
{
    wend_buf_unsigned(&w->out, v->n_trips);
    DeltaSequenceBuilder *counts = delta_sequence_builder_new();
    for (guint t = 0; t < v->n_trips; t++)
        for (guint i = 0; i < v->n; i++)
            delta_sequence_builder_add(counts,
                                       (DeltaSequenceRun){(gint64)v->variants[i].trips[t], 0, 1});
    delta_sequence_builder_encode(counts, &w->out, NULL);
}

static const RecordedClass *class_at(const Writer *w, guint i)
{
    return &g_array_index(w->r->classes, RecordedClass, i);
}

static void put_sets(Writer *w)
{
    guint n = w->r->classes->len;
    g_autofree RankSet *sets = g_new(RankSet, n + 1);
    for (guint i = 0; i < n; i++)
        sets[i] = class_at(w, i)->class->ranks;
    ranksets_encode(sets, n, &w->out);
}

/* Writes the number of sequences of each class, and then the kinds, the ids and the rules of all
 * sequences. */
static void put_sequences(Writer *w)
{
    DeltaSequenceBuilder *counts = delta_sequence_builder_new(),
                         *kinds = delta_sequence_builder_new(), *ids = delta_sequence_builder_new(),
                         *rules = delta_sequence_builder_new();
    for (guint i = 0; i < w->r->classes->len; i++) {
        const RecordedClass *k = class_at(w, i);
        delta_sequence_builder_add(counts, (DeltaSequenceRun){k->class->n_sequences, 0, 1});
        for (guint q = 0; q < k->class->n_sequences; q++) {
            const RecordedSequence *s = &k->sequences[q];
            delta_sequence_builder_add(kinds, (DeltaSequenceRun){s->sequence->kind, 0, 1});
            delta_sequence_builder_add(ids, (DeltaSequenceRun){s->sequence->id, 0, 1});
            delta_sequence_builder_add(rules, (DeltaSequenceRun){s->rule, 0, 1});
        }
    }
    delta_sequence_builder_encode(counts, &w->out, NULL);
    delta_sequence_builder_encode(kinds, &w->out, w->constant_number);
    delta_sequence_builder_encode(ids, &w->out, w->constant_number);
    delta_sequence_builder_encode(rules, &w->out, w->constant_number);
}

/* Writes the class of each rank, and its variant in the class. */
static void put_ranks(Writer *w)
{
    guint n = w->r->classes->len;
    wend_buf_unsigned(&w->out, w->r->merge->world);
    wend_buf_unsigned(&w->out, n);
    if (n == 0)
        return;
    put_sets(w);
    DeltaSequenceBuilder *variants = delta_sequence_builder_new();
    for (guint i = 0; i < n; i++)
        delta_sequence_builder_add(
            variants,
            (DeltaSequenceRun){class_at(w, i)->variants ? class_at(w, i)->variants->n : 1, 0, 1});
    delta_sequence_builder_encode(variants, &w->out, NULL);
    for (guint i = 0; i < n; i++)
        if (class_at(w, i)->variants)
            put_variants(w, &class_at(w, i)->class->ranks, class_at(w, i)->variants);
}

static void write_classes(Writer *w)
{
    put_ranks(w);
    put_sequences(w);
    for (guint i = 0; i < w->r->classes->len; i++)
        if (class_at(w, i)->variants)
            put_trips(w, class_at(w, i)->variants);
}

/* Writes the member NAME. WHOLE: it is "program", which has what concerns the ranks of shards, too.
 * FALSE: a rank's outcomes or polls are damaged. */
static gboolean write_program(Writer *w, const char *name, gboolean whole)
{
    if (!use_all(w, whole))
        return FALSE;
    write_functions(w);
    write_constants(w);
    write_shapes(w);
    write_terminals(w);
    write_rules(w);
    write_classes(w);
    if (!write_outcomes(w) || !write_polls(w) || !write_timing(w))
        return FALSE;
    if (whole)
        write_rank_times(w);
    writer_member(w, name);
    return TRUE;
}

/* When the run started, in seconds since the epoch; 0: unknown. */
static gint64 start_of(const WendMerge *m)
{
    const char *start = writer_fact(m, "run.start");
    return start ? g_ascii_strtoll(start, NULL, 10) : 0;
}

static Writer writer_new(const Recording *r)
{
    Writer w = {
        .r = r, .out = WEND_BUF_INIT, .container = container_writer_new(start_of(r->merge))};
    w.function_used = g_new0(guint8, wend_n_functions + 1);
    w.constant_used = g_new0(guint8, wend_n_constants + 1);
    w.function_number = g_new0(guint32, wend_n_functions + 1);
    w.constant_number = g_new0(guint32, wend_n_constants + 1);
    w.calls = g_new0(guint64, r->signatures->len + 1);
    w.called = g_array_new(FALSE, FALSE, sizeof(guint32));
    w.shape_calls = g_new0(guint64, r->shapes->len + 1);
    w.rule_times = g_new0(guint64, r->rules->len + 1);
    w.rules = g_array_new(FALSE, FALSE, sizeof(guint32));
    w.local = g_new(guint32, r->signatures->len + 1);

    return w;
}

static void writer_clear(Writer *w)
{
    wend_buf_clear(&w->out);
    g_free(w->function_used);
    g_free(w->constant_used);
    g_free(w->function_number);
    g_free(w->constant_number);
    g_free(w->calls);
    g_array_unref(w->called);
    g_free(w->shape_calls);
    g_free(w->rule_times);
    g_array_unref(w->rules);
    g_free(w->local);
}

/* Frees the container, sets the error, and returns FALSE. DAMAGED: a rank's outcomes or polls are
 * damaged; else memory was short. */
static gboolean writer_fail(Writer *w, gboolean damaged, GError **error)
{
    container_writer_free(w->container);
    g_set_error(error, WEND_ERROR, damaged ? WEND_ERROR_INPUT : WEND_ERROR_SYSTEM,
                damaged ? "a rank's outcomes or polls are damaged" : "out of memory");
    return FALSE;
}

static char *side_name(const SideMember *m)
{
    return g_strdup_printf("%s.%u", wend_side_stream_kind(m->kind)->name, m->rank);
}

/* Writes the side streams of a rank, unless its frame is made already. */
static void write_side(Writer *w, const SideMember *m)
{
    if (!m->content)
        return;
    gsize n;
    const void *data = g_bytes_get_data(m->content, &n);
    g_autofree char *name = side_name(m);
    container_add(w->container, name, data, n);
}

/* Writes the members that no other process makes, and adds the totals of the shards to
 * w->totals. */
static gboolean write_members(Writer *w, GError **error)
{
    gboolean good = write_program(w, "program", TRUE);
    for (guint i = 0; i < w->r->merge->shards->len; i++) {
        const Shard *s = &g_array_index(w->r->merge->shards, Shard, i);
        w->totals.mpi_calls += s->totals.mpi_calls;
        w->totals.polls += s->totals.polls;
        w->totals.frees += s->totals.frees;
    }
    if (good)
        write_meta(w); /* last, because it has the totals */
    for (guint i = 0; good && i < w->r->merge->sides->len; i++)
        write_side(w, &g_array_index(w->r->merge->sides, SideMember, i));
    if (good)
        write_shared_sides(w);
    return (good && !w->failed) || writer_fail(w, !good, error);
}

static WendArchiveResult result_of(const Writer *w)
{
    WendArchiveResult result = {.totals = w->totals, .classes = w->r->classes->len};
    for (guint i = 0; i < w->r->merge->shards->len; i++)
        result.classes += (guint)g_array_index(w->r->merge->shards, Shard, i).classes;
    return result;
}

/* As wend_archive_write. */
static gboolean write_recording(const Recording *r, const char *dir, const char *file,
                                WendArchiveResult *result, GError **error)
{
    Writer w = writer_new(r);
    gboolean good = write_members(&w, error);
    if (good && result)
        *result = result_of(&w);
    good = good
           && container_finish(w.container, dir, file ? file : CONTAINER_FILE,
                               result ? &result->bytes : NULL, error);
    writer_clear(&w);
    return good;
}

static char *shard_name(guint32 rank)
{
    return g_strdup_printf(SHARD_MEMBER "%u", rank);
}

/* As wend_archive_begin. On failure *PLACES is NULL. */
static gboolean begin_recording(const Recording *r, const char *dir, const char *file,
                                SharedFile *file_out, GArray **places, WendArchiveResult *result,
                                GError **error)
{
    Writer w = writer_new(r);
    *places = g_array_new(FALSE, FALSE, sizeof(WendFramePlace));
    for (guint i = 0; i < r->merge->shards->len; i++) {
        const Shard *s = &g_array_index(r->merge->shards, Shard, i);
        g_autofree char *name = shard_name(s->first);
        guint64 offset = container_add_room(w.container, name, s->member, s->frame);
        WendFramePlace place = {offset, s->frame, s->first, WEND_PLACE_SHARD};
        g_array_append_val(*places, place);
    }
    for (guint i = 0; i < r->merge->sides->len; i++) {
        const SideMember *m = &g_array_index(r->merge->sides, SideMember, i);
        if (m->frame == 0)
            continue;
        g_autofree char *name = side_name(m);
        guint64 offset = container_add_room(w.container, name, m->member, m->frame);
        WendFramePlace place = {offset, m->frame, m->rank, 1 + m->kind};
        g_array_append_val(*places, place);
    }
    gboolean good = write_members(&w, error);
    if (good)
        *result = result_of(&w);
    good = good
           && container_begin(w.container, dir, file ? file : CONTAINER_FILE, file_out,
                              &result->bytes, error);
    if (!good)
        g_clear_pointer(places, g_array_unref);
    writer_clear(&w);
    return good;
}

/* Encodes R as a shard and returns its compressed frame, which the caller unrefs. The caller has
 * set the first rank of SHARD; the function sets the rest. Returns NULL and sets the error on
 * failure. */
static GByteArray *encode_shard(const Recording *r, Shard *shard, GError **error)
{
    Writer w = writer_new(r);
    g_autofree char *name = shard_name(shard->first);
    gboolean good = write_program(&w, name, FALSE);
    GByteArray *frame = NULL;
    shard->classes = r->classes->len;
    shard->totals = w.totals;
    shard->member = w.member_bytes;
    if (good && !w.failed)
        frame = container_take_frame(w.container, error);
    else
        writer_fail(&w, !good, error);
    if (frame)
        shard->frame = frame->len;
    writer_clear(&w);
    return frame;
}

gboolean wend_archive_has_frames(const WendMerge *m)
{
    gboolean has = m->shards->len > 0;
    for (guint i = 0; !has && i < m->sides->len; i++)
        has = g_array_index(m->sides, SideMember, i).frame > 0;
    return has;
}

gboolean wend_archive_make_side_frames(WendMerge *m, GError **error)
{
    for (guint i = 0; i < m->sides->len; i++) {
        SideMember *side = &g_array_index(m->sides, SideMember, i);
        if (!side->content)
            continue;
        gsize n;
        const void *data = g_bytes_get_data(side->content, &n);
        g_autofree char *name = side_name(side);
        ContainerWriter *w = container_writer_new(start_of(m));
        container_add_coded(w, name, data, n);
        side->in_frame = container_take_frame(w, error);
        if (!side->in_frame)
            return FALSE;
        side->frame = side->in_frame->len;
        g_bytes_unref(side->content);
        side->content = NULL;
    }
    return TRUE;
}

const GByteArray *wend_archive_side_frame(const WendMerge *m, guint32 rank, guint32 kind)
{
    for (guint i = 0; i < m->sides->len; i++) {
        const SideMember *side = &g_array_index(m->sides, SideMember, i);
        if (side->rank == rank && side->kind == kind)
            return side->in_frame;
    }
    return NULL;
}

static guint32 lowest_rank(const WendMerge *m)
{
    guint32 lowest = G_MAXUINT32;
    for (guint i = 0; i < m->classes->len; i++) {
        const Class *k = g_ptr_array_index(m->classes, i);
        lowest = MIN(lowest, rankset_lowest(&k->ranks));
    }
    return lowest;
}

gboolean wend_archive_make_shard(WendMerge *m, guint32 least, GByteArray **frame, GError **error)
{
    *frame = NULL;
    if (!shard_is_due(m, least))
        return TRUE;
    Shard shard = {.first = lowest_rank(m)};
    Recording *r = recording_share_terminals(m, error);
    *frame = r ? encode_shard(r, &shard, error) : NULL;
    recording_free(r);
    if (*frame)
        shard_replaces(m, &shard);
    return *frame != NULL;
}

gboolean wend_archive_begin(WendMerge *m, const char *dir, const char *file, SharedFile *file_out,
                            GArray **places, WendArchiveResult *result, GError **error)
{
    Recording *r = recording_share_terminals(m, error);
    gboolean good = r && begin_recording(r, dir, file, file_out, places, result, error);
    recording_free(r);
    return good;
}

gboolean wend_archive_write(WendMerge *m, const char *dir, const char *file,
                            WendArchiveResult *result, GError **error)
{
    Recording *r = recording_share_terminals(m, error);
    gboolean good = r && write_recording(r, dir, file, result, error);
    recording_free(r);
    return good;
}
