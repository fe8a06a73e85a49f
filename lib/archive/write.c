/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c: writes a merged recording as the members of the archive (docs/format.md). */
#include "write.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/strings.h"
#include "merge/derive.h"
#include "record/codec.h"
#include "record/outcome-runs.h"
#include "record/record.h"
#include "container.h"
#include "tables-write.h"

/* The archive stores kinds and extents by number (docs/format.md), so new ones must follow
 * these. */
_Static_assert(WEND_KIND_SELF == 0 && WEND_KIND_REQUEST == 18 && WEND_KIND_RANK == 25
                   && WEND_KIND_STATUS == 38 && WEND_KIND_SKIP == 40 && WEND_KIND_FOUND == 41
                   && WEND_KIND_TARGET == 42 && WEND_KIND_NEIGHBOURS == 43,
               "as in archives");
_Static_assert(WEND_DIR_RETURN == 3 && WEND_PLACE_OUTCOME == 2 && WEND_EXTENT_COUNT_OWN_SIZE == 10,
               "as in archives");

/* -- the functions and constants that the recording uses -- */

static bool use_word(void *writer, int64_t word)
{
    Writer *w = writer;
    if (!word_is_const(word))
        return true;
    if (word_const_index(word) >= mpi_n_constants)
        return false;
    w->constant_used[word_const_index(word)] = 1;
    return true;
}

static bool use_outcomes(Writer *w, Bytes *stream)
{
    OutcomeRuns p;
    outcome_runs_init_part(&p, stream->data, stream->n);
    bool good = true;
    while (good && outcome_runs_next(&p))
        for (uint32_t i = 0; good && i < p.words->len; i++)
            good = use_word(w, VECTOR_AT(p.words, int64_t, i));
    good = good && !p.c.failed;
    outcome_runs_clear(&p);
    return good;
}

static bool use_sequence(Writer *w, const RecordedClass *k, const RecordedSequence *recorded)
{
    (void)k;
    const Sequence *s = recorded->sequence;
    if (!use_word(w, s->id))
        return false;
    for (uint32_t o = 0; o < s->table.n_shapes; o++)
        for (uint32_t c = 0; c < s->outcomes[o].items->len; c++)
            if (!use_outcomes(w, ((Content *)VECTOR_POINTER(s->outcomes[o].items, c))->bytes))
                return false;
    return true;
}

/* WHOLE: the member is not a shard. */
static bool use_all(Writer *w, bool whole)
{
    const Recording *r = w->r;
    for (uint32_t i = 0; i < r->shapes->len; i++) {
        const ShapeRow *s = &VECTOR_AT(r->shapes, ShapeRow, i);
        w->function_used[s->words[0] / 2] = 1;
        for (uint32_t k = 1; k < s->n; k++)
            if (!use_word(w, s->words[k]))
                return false;
    }
    for (uint32_t i = 0; i < r->signatures->len; i++) {
        const Signature *s = &VECTOR_AT(r->signatures, Signature, i);
        for (uint32_t k = 0; k < s->n_slots; k++) {
            const RankVector *v = &s->slots[k];
            if (rank_vector_is_constant(v) && !use_word(w, v->value))
                return false;
            if (rank_vector_is_deltas(v) && !delta_sequence_specials(v->deltas, use_word, w))
                return false;
        }
    }
    if (!writer_each_sequence(w, use_sequence))
        return false;
    /* ranks of shards may call others */
    const Vector *timed = r->merge->rank_times->functions;
    for (uint32_t i = 0; whole && i < timed->len; i++)
        w->function_used[VECTOR_AT(timed, FunctionTimes, i).function] = 1;
    for (size_t i = 0; i < mpi_n_functions; i++)
        if (w->function_used[i])
            w->function_number[i] = w->n_functions++;
    for (size_t i = 0; i < mpi_n_constants; i++)
        if (w->constant_used[i])
            w->constant_number[i] = w->n_constants++;
    return true;
}

/* -- members -- */

static void write_functions(Writer *w)
{
    uint32_t digest = WEND_DIGEST_START;
    buf_unsigned(&w->out, w->n_functions);
    for (size_t i = 0; i < mpi_n_functions; i++) {
        if (!w->function_used[i])
            continue;
        codec_put_name(&w->out, mpi_functions[i].name);
        digest = function_digest_add(digest, &mpi_functions[i]);
    }
    digest = htole32(digest);
    buf_bytes(&w->out, &digest, sizeof digest);
}

/* Writes the metadata of a predefined datatype: size, lower bound, extent, true lower bound and
 * true extent. FACTS has them as text, or is NULL. */
static void put_datatype(WendBuf *out, const char *facts)
{
    AUTO(Vector) texts = string_split(facts ? facts : "", ' ');
    int64_t numbers[5];
    if (texts->len != 5) {
        buf_unsigned(out, CONSTANT_ALONE);
        return;
    }
    for (int k = 0; k < 5; k++)
        numbers[k] = strtoll(VECTOR_POINTER(texts, k), NULL, 10);
    bool dense =
        numbers[1] == 0 && numbers[3] == 0 && numbers[2] == numbers[0] && numbers[4] == numbers[0];
    buf_unsigned(out, dense ? CONSTANT_DENSE : CONSTANT_MEASURED);
    for (int k = 0; k < (dense ? 1 : 5); k++)
        buf_signed(out, numbers[k]);
}

static void write_constants(Writer *w)
{
    buf_unsigned(&w->out, w->n_constants);
    for (size_t i = 0; i < mpi_n_constants; i++) {
        if (!w->constant_used[i])
            continue;
        codec_put_name(&w->out, mpi_constants[i]);
        AUTOFREE char *key = string_print("datatype.%s", mpi_constants[i]);
        put_datatype(&w->out, writer_fact(w->r->merge, key));
    }
}

/* Writes a batch of N things: thing by thing or, if N > 1, column by column if that is shorter.
 * Clears both. */
static void put_batch(Writer *w, uint32_t n, WendBuf *each, WendBuf *columns)
{
    if (n > 1)
        buf_unsigned(&w->out, columns->len < each->len);
    writer_shorter(w, each, n > 1 ? columns : NULL);
}

/* Writes the words, except the first, of shapes that have the same first word. */
static void put_shapes(Writer *w, const Batch *batch)
{
    const ShapeRow *const *s = (const ShapeRow *const *)batch->things->data;
    uint32_t n = batch->things->len;
    WendBuf each = WEND_BUF_INIT, columns = WEND_BUF_INIT;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 1; k <= batch->n; k++)
            codec_put_word(&each, s[i]->words[k], w->constant_number);
    for (uint32_t k = 1; k <= batch->n && n > 1; k++) {
        DeltaSequenceBuilder *words = delta_sequence_builder_new();
        for (uint32_t i = 0; i < n; i++)
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
    for (uint32_t i = 0; i < w->r->shapes->len; i++) {
        ShapeRow *s = &VECTOR_AT(w->r->shapes, ShapeRow, i);
        int64_t head = (int64_t)w->function_number[s->words[0] / 2] << 1 | (s->words[0] & 1);
        delta_sequence_builder_add(heads, (DeltaSequenceRun){head, 0, 1});
        delta_sequence_builder_add(n_words, (DeltaSequenceRun){s->n - 1, 0, 1});
        batches_add(&batches, head, s->n - 1, s);
    }
    buf_unsigned(&w->out, w->r->shapes->len);
    delta_sequence_builder_encode(heads, &w->out, NULL);
    delta_sequence_builder_encode(n_words, &w->out, NULL);
    for (uint32_t g = 0; g < batches.all->len; g++)
        put_shapes(w, &VECTOR_AT(batches.all, Batch, g));
    batches_clear(&batches);
}

/* DERIVE: whether slots may be encoded by other slots. DERIVED: the number of words that such slots
 * have. */
typedef struct {
    SlotTables *tables;
    bool derive;
    uint64_t derived;
} SlotEncoder;

/* How a slot is encoded: its form, and a word. The word is the value, the difference to self, the
 * number of the table, or the distance to the slot that it is derived from. */
typedef struct {
    SlotEncoding form;
    int64_t word;
} EncodedSlot;

/* Sets *ENCODED for a slot without a table. false: the slot needs a table. */
static bool encode_plainly(const Writer *w, const Signature *s, uint32_t k, EncodedSlot *encoded)
{
    const RankVector *v = &s->slots[k];
    if (rank_vector_is_deltas(v))
        return false;
    bool has_self = (mpi_functions[VECTOR_AT(w->r->shapes, ShapeRow, s->shape).words[0] / 2].flags
                     & WEND_F_SELF)
                    != 0;
    /* If there is one rank, the slot self is shorter relative to that rank. */
    bool constant =
        rank_vector_is_constant(v) && !(rank_vector_is_relative(v) && k == 0 && has_self);
    *encoded = constant ? (EncodedSlot){ENCODED_AS_CONSTANT, v->value}
                        : (EncodedSlot){ENCODED_AS_SELF, v->delta};
    return true;
}

/* Terminals of one function with equal numbers of slots. There may be as many as calls, so only
 * those with tables have their encoded slots in memory. */
typedef struct {
    const Signature *const *terminals;
    uint32_t n, n_slots;
    EncodedSlot **by_table;
} Encoding;

/* Encodes the slots of terminals with tables. Tables are numbered slot by slot. */
static void encode_tables(Writer *w, SlotEncoder *e, Encoding *t)
{
    AUTOFREE Derived **derived = NEW0(Derived *, t->n + 1);
    t->by_table = NEW0(EncodedSlot *, t->n + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        const Signature *s = t->terminals[i];
        if (!s->ranks)
            continue;
        t->by_table[i] = NEW(EncodedSlot, t->n_slots + 1);
        if (e->derive)
            derived[i] = derive_slots(s->slots, t->n_slots, s->ranks->n);
    }
    for (uint32_t k = 0; k < t->n_slots; k++, slot_tables_next_slot(e->tables))
        for (uint32_t i = 0; i < t->n; i++) {
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
    for (uint32_t i = 0; i < t->n; i++)
        memory_free(derived[i]);
}

static EncodedSlot encoding_of(const Writer *w, const Encoding *t, uint32_t terminal, uint32_t k)
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
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < t->n_slots; k++) {
            EncodedSlot one = encoding_of(w, t, i, k);
            buf_unsigned(out, one.form == ENCODED_AS_TABLE ? ENCODED_AS_TABLE + (uint64_t)one.word
                                                           : one.form);
            if (one.form != ENCODED_AS_TABLE)
                codec_put_word(out, one.word, w->constant_number);
        }
}

/* Writes slot by slot: the forms of all terminals, and their words or tables' numbers. */
static void put_slot_columns(const Writer *w, WendBuf *out, const Encoding *t)
{
    for (uint32_t k = 0; k < t->n_slots; k++) {
        DeltaSequenceBuilder *forms = delta_sequence_builder_new(),
                             *words = delta_sequence_builder_new();
        for (uint32_t i = 0; i < t->n; i++) {
            EncodedSlot one = encoding_of(w, t, i, k);
            delta_sequence_builder_add(forms, (DeltaSequenceRun){one.form, 0, 1});
            delta_sequence_builder_add(words, (DeltaSequenceRun){one.word, 0, 1});
        }
        delta_sequence_builder_encode(forms, out, NULL);
        delta_sequence_builder_encode(words, out, w->constant_number);
    }
}

static void put_terminals(Writer *w, SlotEncoder *e, const Batch *batch)
{
    Encoding t = {.terminals = (const Signature *const *)batch->things->data,
                  .n = batch->things->len,
                  .n_slots = batch->n};
    WendBuf each = WEND_BUF_INIT, columns = WEND_BUF_INIT;
    encode_tables(w, e, &t);
    put_each_terminal(w, &each, &t);
    if (t.n > 1)
        put_slot_columns(w, &columns, &t);
    put_batch(w, t.n, &each, &columns);
    for (uint32_t i = 0; i < t.n; i++)
        memory_free(t.by_table[i]);
    memory_free(t.by_table);
}

/* Writes the slots of all terminals. Terminals of one function with equal numbers of slots are
 * encoded together, whatever their shapes, because their slots are mostly alike. */
static void put_all_slots(Writer *w, SlotEncoder *e)
{
    Batches batches;
    batches_init(&batches);
    DeltaSequenceBuilder *terminals = delta_sequence_builder_new(),
                         *n_slots = delta_sequence_builder_new();
    for (uint32_t shape = 0, i = 0, n; shape < w->r->shapes->len; shape++, i += n) {
        Signature *first = &VECTOR_AT(w->r->signatures, Signature, i);
        for (n = 0; i + n < w->r->signatures->len && first[n].shape == shape;)
            n++;
        delta_sequence_builder_add(terminals, (DeltaSequenceRun){n, 0, 1});
        delta_sequence_builder_add(n_slots, (DeltaSequenceRun){n ? first->n_slots : 0, 0, 1});
        for (uint32_t k = 0; k < n; k++)
            batches_add(&batches, VECTOR_AT(w->r->shapes, ShapeRow, shape).words[0], first->n_slots,
                        &first[k]);
    }
    delta_sequence_builder_encode(terminals, &w->out, NULL);
    delta_sequence_builder_encode(n_slots, &w->out, NULL);
    for (uint32_t g = 0; g < batches.all->len; g++)
        put_terminals(w, e, &VECTOR_AT(batches.all, Batch, g));
    batches_clear(&batches);
}

/* Writes rank sets, tables, and the slots of all terminals. Equal sets and tables are written once:
 * all messages of a halo exchange have the same neighbours and ranks. Returns the number of words
 * of slots that are encoded by other slots. */
static uint64_t put_all_terminals(Writer *w, bool derive)
{
    SlotEncoder e = {.tables = slot_tables_new(w->r->merge->world), .derive = derive};
    WendBuf before = w->out;
    w->out = (WendBuf)WEND_BUF_INIT;
    put_all_slots(w, &e);
    WendBuf terminals = w->out;
    w->out = before;
    slot_tables_write(w, e.tables);
    buf_unsigned(&w->out, w->r->signatures->len);
    buf_bytes(&w->out, terminals.data, terminals.len);
    buf_clear(&terminals);
    return e.derived;
}

/* Writes the part "terminals". The bytes of the part limit the words that a reader accepts for
 * slots encoded by other slots. If there are more words, all slots are encoded by themselves. */
static void write_terminals(Writer *w)
{
    size_t before = w->out.len;
    if (put_all_terminals(w, true) <= TABLES_WORDS_PER_BYTE * (uint64_t)(w->out.len - before))
        return;
    w->out.len = before;
    put_all_terminals(w, false);
}

/* Writes the variant of each rank. */
static void put_variants(Writer *w, const RankSet *ranks, const Variants *v)
{
    AUTOFREE uint32_t *variant_of = NEW(uint32_t, ranks->n);
    DeltaSequenceBuilder *numbers = delta_sequence_builder_new();
    for (uint32_t i = 0; i < v->n; i++) {
        AUTOFREE uint32_t *expanded = rankset_expand(&v->variants[i].ranks);
        for (uint32_t r = 0, index; r < v->variants[i].ranks.n; r++)
            if (rankset_find(ranks, expanded[r], &index))
                variant_of[index] = i;
    }
    for (uint32_t r = 0; r < ranks->n; r++)
        delta_sequence_builder_add(numbers, (DeltaSequenceRun){variant_of[r], 0, 1});
    delta_sequence_builder_encode(numbers, &w->out, NULL);
}

/* Writes the trip counts: for each trip, the counts of all variants. Most counts are equal in all
 * variants, so one delta sequence is shorter than one for each variant. */
static void put_trips(Writer *w, const Variants *v)
{
    buf_unsigned(&w->out, v->n_trips);
    DeltaSequenceBuilder *counts = delta_sequence_builder_new();
    for (uint32_t t = 0; t < v->n_trips; t++)
        for (uint32_t i = 0; i < v->n; i++)
            delta_sequence_builder_add(counts,
                                       (DeltaSequenceRun){(int64_t)v->variants[i].trips[t], 0, 1});
    delta_sequence_builder_encode(counts, &w->out, NULL);
}

static const RecordedClass *class_at(const Writer *w, uint32_t i)
{
    return &VECTOR_AT(w->r->classes, RecordedClass, i);
}

static void put_sets(Writer *w)
{
    uint32_t n = w->r->classes->len;
    AUTOFREE RankSet *sets = NEW(RankSet, n + 1);
    for (uint32_t i = 0; i < n; i++)
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
    for (uint32_t i = 0; i < w->r->classes->len; i++) {
        const RecordedClass *k = class_at(w, i);
        delta_sequence_builder_add(counts, (DeltaSequenceRun){k->class->n_sequences, 0, 1});
        for (uint32_t q = 0; q < k->class->n_sequences; q++) {
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
    uint32_t n = w->r->classes->len;
    buf_unsigned(&w->out, w->r->merge->world);
    buf_unsigned(&w->out, n);
    if (n == 0)
        return;
    put_sets(w);
    DeltaSequenceBuilder *variants = delta_sequence_builder_new();
    for (uint32_t i = 0; i < n; i++)
        delta_sequence_builder_add(
            variants,
            (DeltaSequenceRun){class_at(w, i)->variants ? class_at(w, i)->variants->n : 1, 0, 1});
    delta_sequence_builder_encode(variants, &w->out, NULL);
    for (uint32_t i = 0; i < n; i++)
        if (class_at(w, i)->variants)
            put_variants(w, &class_at(w, i)->class->ranks, class_at(w, i)->variants);
}

static void write_classes(Writer *w)
{
    put_ranks(w);
    put_sequences(w);
    for (uint32_t i = 0; i < w->r->classes->len; i++)
        if (class_at(w, i)->variants)
            put_trips(w, class_at(w, i)->variants);
}

/* Writes the member NAME. WHOLE: it is "program", which has what concerns the ranks of shards, too.
 * false: a rank's outcomes or polls are damaged. */
static bool write_program(Writer *w, const char *name, bool whole)
{
    if (!use_all(w, whole))
        return false;
    write_functions(w);
    write_constants(w);
    write_shapes(w);
    write_terminals(w);
    write_rules(w);
    write_classes(w);
    if (!write_outcomes(w) || !write_polls(w) || !write_timing(w))
        return false;
    if (whole)
        write_rank_times(w);
    writer_member(w, name);
    return true;
}

/* When the run started, in seconds since the epoch; 0: unknown. */
static int64_t start_of(const WendMerge *m)
{
    const char *start = writer_fact(m, "run.start");
    return start ? strtoll(start, NULL, 10) : 0;
}

static Writer writer_new(const Recording *r)
{
    Writer w = {
        .r = r, .out = WEND_BUF_INIT, .container = container_writer_new(start_of(r->merge))};
    w.function_used = NEW0(uint8_t, mpi_n_functions + 1);
    w.constant_used = NEW0(uint8_t, mpi_n_constants + 1);
    w.function_number = NEW0(uint32_t, mpi_n_functions + 1);
    w.constant_number = NEW0(uint32_t, mpi_n_constants + 1);
    w.calls = NEW0(uint64_t, r->signatures->len + 1);
    w.called = vector_new(sizeof(uint32_t));
    w.shape_calls = NEW0(uint64_t, r->shapes->len + 1);
    w.rule_times = NEW0(uint64_t, r->rules->len + 1);
    w.rules = vector_new(sizeof(uint32_t));
    w.local = NEW(uint32_t, r->signatures->len + 1);

    return w;
}

static void writer_clear(Writer *w)
{
    buf_clear(&w->out);
    memory_free(w->function_used);
    memory_free(w->constant_used);
    memory_free(w->function_number);
    memory_free(w->constant_number);
    memory_free(w->calls);
    vector_unref(w->called);
    memory_free(w->shape_calls);
    memory_free(w->rule_times);
    vector_unref(w->rules);
    memory_free(w->local);
}

/* Frees the container, sets the error, and returns false. */
static bool writer_damaged(Writer *w, Error **error)
{
    container_writer_free(w->container);
    error_set(error, WEND_ERROR_INPUT, "a rank's outcomes or polls are damaged");
    return false;
}

static char *side_name(const SideMember *m)
{
    return string_print("%s.%u", side_stream_kind(m->kind)->name, m->rank);
}

/* Writes the side streams of a rank, unless its frame is made already. */
static void write_side(Writer *w, const SideMember *m)
{
    if (!m->content)
        return;
    AUTOFREE char *name = side_name(m);
    container_add(w->container, name, m->content->data, m->content->n);
}

/* Writes the members that no other process makes, and adds the totals of the shards to
 * w->totals. */
static bool write_members(Writer *w, Error **error)
{
    bool good = write_program(w, "program", true);
    for (uint32_t i = 0; i < w->r->merge->shards->len; i++) {
        const Shard *s = &VECTOR_AT(w->r->merge->shards, Shard, i);
        w->totals.mpi_calls += s->totals.mpi_calls;
        w->totals.polls += s->totals.polls;
        w->totals.frees += s->totals.frees;
    }
    if (good)
        write_meta(w); /* last, because it has the totals */
    for (uint32_t i = 0; good && i < w->r->merge->sides->len; i++)
        write_side(w, &VECTOR_AT(w->r->merge->sides, SideMember, i));
    if (good)
        write_shared_sides(w);
    return good || writer_damaged(w, error);
}

static WendArchiveResult result_of(const Writer *w)
{
    WendArchiveResult result = {.totals = w->totals, .classes = w->r->classes->len};
    for (uint32_t i = 0; i < w->r->merge->shards->len; i++)
        result.classes += (uint32_t)VECTOR_AT(w->r->merge->shards, Shard, i).classes;
    return result;
}

/* As write_archive. */
static bool write_recording(const Recording *r, const char *dir, const char *file,
                            WendArchiveResult *result, Error **error)
{
    Writer w = writer_new(r);
    bool good = write_members(&w, error);
    if (good && result)
        *result = result_of(&w);
    good = good
           && container_finish(w.container, dir, file ? file : CONTAINER_FILE,
                               result ? &result->bytes : NULL, error);
    writer_clear(&w);
    return good;
}

static char *shard_name(uint32_t rank)
{
    return string_print(SHARD_MEMBER "%u", rank);
}

/* As write_archive_begin. On failure *PLACES is NULL. */
static bool begin_recording(const Recording *r, const char *dir, const char *file,
                            SharedFile *file_out, Vector **places, WendArchiveResult *result,
                            Error **error)
{
    Writer w = writer_new(r);
    *places = vector_new(sizeof(WendFramePlace));
    for (uint32_t i = 0; i < r->merge->shards->len; i++) {
        const Shard *s = &VECTOR_AT(r->merge->shards, Shard, i);
        AUTOFREE char *name = shard_name(s->first);
        uint64_t offset = container_add_room(w.container, name, s->member, s->frame);
        WendFramePlace place = {offset, s->frame, s->first, WEND_PLACE_SHARD};
        VECTOR_APPEND(*places, place);
    }
    for (uint32_t i = 0; i < r->merge->sides->len; i++) {
        const SideMember *m = &VECTOR_AT(r->merge->sides, SideMember, i);
        if (m->frame == 0)
            continue;
        AUTOFREE char *name = side_name(m);
        uint64_t offset = container_add_room(w.container, name, m->member, m->frame);
        WendFramePlace place = {offset, m->frame, m->rank, 1 + m->kind};
        VECTOR_APPEND(*places, place);
    }
    bool good = write_members(&w, error);
    if (good)
        *result = result_of(&w);
    good = good
           && container_begin(w.container, dir, file ? file : CONTAINER_FILE, file_out,
                              &result->bytes, error);
    if (!good)
        CLEAR(*places, vector_unref);
    writer_clear(&w);
    return good;
}

/* Encodes R as a shard and returns its compressed frame, which the caller unrefs. The caller has
 * set the first rank of SHARD; the function sets the rest. Returns NULL and sets the error on
 * failure. */
static Vector *encode_shard(const Recording *r, Shard *shard, Error **error)
{
    Writer w = writer_new(r);
    AUTOFREE char *name = shard_name(shard->first);
    bool good = write_program(&w, name, false);
    Vector *frame = NULL;
    shard->classes = r->classes->len;
    shard->totals = w.totals;
    shard->member = w.member_bytes;
    if (good)
        frame = container_take_frame(w.container, error);
    else
        writer_damaged(&w, error);
    if (frame)
        shard->frame = frame->len;
    writer_clear(&w);
    return frame;
}

bool write_has_frames(const WendMerge *m)
{
    bool has = m->shards->len > 0;
    for (uint32_t i = 0; !has && i < m->sides->len; i++)
        has = VECTOR_AT(m->sides, SideMember, i).frame > 0;
    return has;
}

bool write_make_side_frames(WendMerge *m, Error **error)
{
    for (uint32_t i = 0; i < m->sides->len; i++) {
        SideMember *side = &VECTOR_AT(m->sides, SideMember, i);
        if (!side->content)
            continue;
        AUTOFREE char *name = side_name(side);
        ContainerWriter *w = container_writer_new(start_of(m));
        container_add_coded(w, name, side->content->data, side->content->n);
        side->in_frame = container_take_frame(w, error);
        if (!side->in_frame)
            return false;
        side->frame = side->in_frame->len;
        bytes_unref(side->content);
        side->content = NULL;
    }
    return true;
}

const Vector *write_side_frame(const WendMerge *m, uint32_t rank, uint32_t kind)
{
    for (uint32_t i = 0; i < m->sides->len; i++) {
        const SideMember *side = &VECTOR_AT(m->sides, SideMember, i);
        if (side->rank == rank && side->kind == kind)
            return side->in_frame;
    }
    return NULL;
}

static uint32_t lowest_rank(const WendMerge *m)
{
    uint32_t lowest = UINT32_MAX;
    for (uint32_t i = 0; i < m->classes->len; i++) {
        const Class *k = VECTOR_POINTER(m->classes, i);
        lowest = MIN(lowest, rankset_lowest(&k->ranks));
    }
    return lowest;
}

bool write_make_shard(WendMerge *m, uint32_t least, Vector **frame, Error **error)
{
    *frame = NULL;
    if (!shard_is_due(m, least))
        return true;
    Shard shard = {.first = lowest_rank(m)};
    Recording *r = recording_share_terminals(m, error);
    *frame = r ? encode_shard(r, &shard, error) : NULL;
    recording_free(r);
    if (*frame)
        shard_replaces(m, &shard);
    return *frame != NULL;
}

bool write_archive_begin(WendMerge *m, const char *dir, const char *file, SharedFile *file_out,
                         Vector **places, WendArchiveResult *result, Error **error)
{
    Recording *r = recording_share_terminals(m, error);
    bool good = r && begin_recording(r, dir, file, file_out, places, result, error);
    recording_free(r);
    return good;
}

bool write_archive(WendMerge *m, const char *dir, const char *file, WendArchiveResult *result,
                   Error **error)
{
    Recording *r = recording_share_terminals(m, error);
    bool good = r && write_recording(r, dir, file, result, error);
    recording_free(r);
    return good;
}
