/* class.c: one class of ranks: from a part, to and from bytes, two into one. */
#include "class.h"

#include <string.h>

static void poll_table_free(gpointer p)
{
    PollTable *t = p;
    table_clear(&t->table);
    rankset_clear(&t->ranks);
    g_free(t);
}

static void sequence_clear(Sequence *s)
{
    if (s->outcomes)
        for (guint i = 0; i < s->table.n_shapes; i++) contents_clear(&s->outcomes[i]);
    g_free(s->outcomes);
    g_free(s->timing);
    table_clear(&s->table);
    g_clear_pointer(&s->grammar, g_bytes_unref);
    g_clear_pointer(&s->poll_tables, g_ptr_array_unref);
    contents_clear(&s->poll_grammars);
}

void class_free(Class *k)
{
    if (!k) return;
    for (guint i = 0; i < k->n_sequences; i++) sequence_clear(&k->sequences[i]);
    g_free(k->sequences);
    rankset_clear(&k->ranks);
    g_clear_pointer(&k->key, g_bytes_unref);
    g_free(k);
}

static void make_key(Class *k)
{
    WendBuf key = WEND_BUF_INIT;
    for (guint i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        GBytes *blocks[] = {s->table.structure, s->grammar};
        wend_buf_unsigned(&key, s->kind);
        wend_buf_signed(&key, s->id);
        for (guint b = 0; b < G_N_ELEMENTS(blocks); b++) {
            gsize n;
            const void *bytes = g_bytes_get_data(blocks[b], &n);
            wend_buf_unsigned(&key, n);
            wend_buf_bytes(&key, bytes, n);
        }
    }
    k->key = g_bytes_new(key.data, key.len);
    wend_buf_clear(&key);
}

static Class *class_new(gsize n_sequences)
{
    Class *k = g_new0(Class, 1);
    k->n_sequences = n_sequences;
    k->sequences = g_new0(Sequence, MAX(n_sequences, 1));
    for (guint i = 0; i < k->n_sequences; i++) {
        k->sequences[i].poll_tables = g_ptr_array_new_with_free_func(poll_table_free);
        contents_init(&k->sequences[i].poll_grammars);
    }
    return k;
}

static GBytes *read_bytes(WendCursor *c)
{
    WendCursor block = wend_read_block(c);
    return g_bytes_new(block.p, c->failed ? 0 : block.end - block.p);
}

/* -- a part -- */

static TimingSum part_timing(WendCursor *c)
{
    guint64 count = wend_read_unsigned(c);
    if (count == 0) return (TimingSum){0};
    double mean = cursor_double(c), min = cursor_double(c), max = cursor_double(c), m2 = cursor_double(c);
    return timing_from_moments(count, mean, min, max, m2);
}

/* Streams and timing of a table; NULL outcomes: there are to be none (F). */
static gboolean part_rest(WendCursor *c, const Table *t, const RankSet *ranks, Contents **outcomes, TimingSum **timing)
{
    if (outcomes) *outcomes = g_new0(Contents, MAX(t->n_shapes, 1));
    for (guint i = 0; i < t->n_shapes; i++) {
        wend_read_unsigned(c); /* entries: the grammar says as much */
        GBytes *runs = read_bytes(c);
        if (outcomes) {
            contents_init(&(*outcomes)[i]);
            contents_add(&(*outcomes)[i], runs, ranks);
        }
        g_bytes_unref(runs);
    }
    gsize n = wend_read_count(c, 2);
    if (c->failed || (n != 0 && n != t->n_terminals)) return FALSE;
    if (timing) *timing = g_new0(TimingSum, 2 * (gsize)t->n_terminals + 1);
    for (gsize i = 0; i < 2 * n; i++) {
        TimingSum sum = part_timing(c);
        if (timing) (*timing)[i] = sum;
    }
    return !c->failed;
}

static gboolean part_sequence(Sequence *s, WendCursor *c, guint32 rank, const RankSet *ranks)
{
    s->kind = wend_read_unsigned(c);
    s->id = wend_read_signed(c);
    if (!table_from_part(&s->table, c, rank) || !part_rest(c, &s->table, ranks, &s->outcomes, &s->timing)) return FALSE;
    s->grammar = read_bytes(c);
    guint64 polls_after = wend_read_unsigned(c);

    PollTable *polls = g_new0(PollTable, 1);
    g_ptr_array_add(s->poll_tables, polls);
    polls->ranks = rankset_copy(ranks);
    if (!table_from_part(&polls->table, c, rank) || !part_rest(c, &polls->table, ranks, NULL, NULL)) return FALSE;
    GBytes *grammar = read_bytes(c);
    if (polls->table.n_terminals == 0) {
        g_ptr_array_set_size(s->poll_tables, 0);
    } else {
        WendBuf b = WEND_BUF_INIT;
        gsize n;
        const void *bytes = g_bytes_get_data(grammar, &n);
        wend_buf_unsigned(&b, polls_after);
        wend_buf_bytes(&b, bytes, n);
        g_autoptr(GBytes) content = g_bytes_new(b.data, b.len);
        contents_add(&s->poll_grammars, content, ranks);
        wend_buf_clear(&b);
    }
    g_bytes_unref(grammar);
    return !c->failed && s->kind <= WEND_SEQUENCE_CALLBACK;
}

/* Threads by number, then callbacks: the order in which a run started them is not to matter. */
static int by_kind_and_id(const void *a, const void *b)
{
    const Sequence *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

Class *class_from_part(WendCursor *c, guint32 rank)
{
    gsize n = wend_read_count(c, 8);
    Class *k = class_new(n);
    k->ranks = rankset_single(rank);
    for (guint i = 0; i < k->n_sequences; i++)
        if (!part_sequence(&k->sequences[i], c, rank, &k->ranks)) {
            class_free(k);
            return NULL;
        }
    qsort(k->sequences, k->n_sequences, sizeof(Sequence), by_kind_and_id);
    make_key(k);
    return k;
}

/* -- between processes -- */

void class_encode(const Class *k, WendBuf *out)
{
    rankset_encode(&k->ranks, out);
    wend_buf_unsigned(out, k->n_sequences);
    for (guint i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        wend_buf_unsigned(out, s->kind);
        wend_buf_signed(out, s->id);
        table_encode(&s->table, out);
        gsize n;
        const void *grammar = g_bytes_get_data(s->grammar, &n);
        wend_buf_unsigned(out, n);
        wend_buf_bytes(out, grammar, n);
        for (guint t = 0; t < 2 * s->table.n_terminals; t++) timing_encode(&s->timing[t], out);
        for (guint o = 0; o < s->table.n_shapes; o++) contents_encode(&s->outcomes[o], out);
        wend_buf_unsigned(out, s->poll_tables->len);
        for (guint p = 0; p < s->poll_tables->len; p++) {
            const PollTable *polls = g_ptr_array_index(s->poll_tables, p);
            rankset_encode(&polls->ranks, out);
            table_encode(&polls->table, out);
        }
        contents_encode(&s->poll_grammars, out);
    }
}

static gboolean decode_sequence(Sequence *s, WendCursor *c, guint32 ranks, guint32 world)
{
    s->kind = wend_read_unsigned(c);
    s->id = wend_read_signed(c);
    if (s->kind > WEND_SEQUENCE_CALLBACK || !table_decode(&s->table, c, ranks)) return FALSE;
    s->grammar = read_bytes(c);
    s->timing = g_new0(TimingSum, 2 * (gsize)s->table.n_terminals + 1);
    for (guint t = 0; t < 2 * s->table.n_terminals; t++) s->timing[t] = timing_decode(c);
    s->outcomes = g_new0(Contents, MAX(s->table.n_shapes, 1));
    for (guint o = 0; o < s->table.n_shapes; o++)
        if (!contents_decode(&s->outcomes[o], c, world)) return FALSE;
    gsize n = wend_read_count(c, 2);
    for (gsize p = 0; p < n; p++) {
        PollTable *polls = g_new0(PollTable, 1);
        g_ptr_array_add(s->poll_tables, polls);
        if (!rankset_decode(&polls->ranks, c, world) || !table_decode(&polls->table, c, polls->ranks.n)) return FALSE;
    }
    contents_clear(&s->poll_grammars);
    return contents_decode(&s->poll_grammars, c, world);
}

Class *class_decode(WendCursor *c, guint32 world)
{
    RankSet ranks;
    if (!rankset_decode(&ranks, c, world)) return NULL;
    gsize n = wend_read_count(c, 8);
    Class *k = class_new(n);
    k->ranks = ranks;
    for (guint i = 0; i < k->n_sequences; i++)
        if (!decode_sequence(&k->sequences[i], c, ranks.n, world)) {
            class_free(k);
            return NULL;
        }
    if (c->failed || k->ranks.n == 0) {
        class_free(k);
        return NULL;
    }
    make_key(k);
    return k;
}

/* -- two into one -- */

static void merge_polls(Sequence *a, const Sequence *b)
{
    for (guint i = 0; i < b->poll_tables->len; i++) {
        const PollTable *theirs = g_ptr_array_index(b->poll_tables, i);
        PollTable *ours = NULL;
        for (guint j = 0; j < a->poll_tables->len && !ours; j++) {
            PollTable *t = g_ptr_array_index(a->poll_tables, j);
            if (g_bytes_equal(t->table.structure, theirs->table.structure)) ours = t;
        }
        if (ours) {
            table_merge(&ours->table, &ours->ranks, &theirs->table, &theirs->ranks);
            rankset_unite(&ours->ranks, &theirs->ranks);
            continue;
        }
        WendBuf copy = WEND_BUF_INIT;
        table_encode(&theirs->table, &copy);
        WendCursor c = wend_cursor(copy.data, copy.len);
        ours = g_new0(PollTable, 1);
        ours->ranks = rankset_copy(&theirs->ranks);
        table_decode(&ours->table, &c, ours->ranks.n);
        wend_buf_clear(&copy);
        g_ptr_array_add(a->poll_tables, ours);
    }
    contents_merge(&a->poll_grammars, &b->poll_grammars);
}

void class_merge(Class *a, const Class *b)
{
    for (guint i = 0; i < a->n_sequences; i++) {
        Sequence *s = &a->sequences[i];
        const Sequence *t = &b->sequences[i];
        table_merge(&s->table, &a->ranks, &t->table, &b->ranks);
        for (guint k = 0; k < 2 * s->table.n_terminals; k++) timing_add(&s->timing[k], &t->timing[k]);
        for (guint o = 0; o < s->table.n_shapes; o++) contents_merge(&s->outcomes[o], &t->outcomes[o]);
        merge_polls(s, t);
    }
    rankset_unite(&a->ranks, &b->ranks);
}
