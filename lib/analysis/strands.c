/* SPDX-License-Identifier: BSD-3-Clause */
/* strands.c: see strands.h. */
#include "config.h"

#include "strands.h"

#include <string.h>

enum { BUCKETS = 65, LOOK_AT = 1000 };
/* Channels of threads that are remembered: of all ranks, and of each at least. */
enum { CHANNELS_ALL = 1 << 16, CHANNELS_LEAST = 256 };
enum { ENTRY_MEMORY = sizeof(RequestEntry) + 80 };
enum { STRAND_MEMORY = sizeof(Strand) + 4096 }; /* with a walk that has not begun */

struct Strands {
    guint n_ranks, n;
    RankStrands *ranks;
    Strand *strands;
    GQueue ready[BUCKETS], loose, data;
    Allowance *allowance;
};

/* -- queues -- */

static guint bucket_of(const Strand *strand)
{
    return strand->outstanding == 0 ? 0 : 64 - (guint)__builtin_clzll(strand->outstanding);
}

Strand *strands_take(Strands *s)
{
    for (guint i = 0; i < BUCKETS; i++) {
        GList *link = g_queue_pop_head_link(&s->ready[i]);
        if (link == NULL)
            continue;
        Strand *strand = link->data;
        strand->state = STRAND_RUNNING;
        strand->bucket = bucket_of(strand);
        return strand;
    }
    return NULL;
}

void strands_ready(Strands *s, Strand *strand)
{
    strand->state = STRAND_READY;
    g_queue_push_tail_link(&s->ready[bucket_of(strand)], &strand->link);
}

void strands_wait(Strands *s, Strand *strand, WaitKind kind)
{
    strand->state = kind == WAIT_LOOSE ? STRAND_LOOSE : STRAND_DATA;
    g_queue_push_tail_link(kind == WAIT_LOOSE ? &s->loose : &s->data, &strand->link);
}

void strands_wake(Strands *s, guint index)
{
    Strand *strand = &s->strands[index];
    if ((strand->state != STRAND_LOOSE && strand->state != STRAND_DATA) || strand->starts_later)
        return;
    g_queue_unlink(strand->state == STRAND_LOOSE ? &s->loose : &s->data, &strand->link);
    strands_ready(s, strand);
}

gboolean strands_gives_way(const Strand *strand)
{
    return bucket_of(strand) > strand->bucket;
}

Strand *strands_waiting(const Strands *s, WaitKind kind)
{
    const GQueue *queue = kind == WAIT_LOOSE ? &s->loose : &s->data;
    return queue->head != NULL ? queue->head->data : NULL;
}

Strand *strands_find_waiting(const Strands *s,
                             gboolean (*test)(gpointer data, const Strand *strand), gpointer data)
{
    guint looked = 0;
    for (GList *i = s->data.head; i != NULL && looked < LOOK_AT; i = i->next, looked++)
        if (test(data, i->data))
            return i->data;
    return NULL;
}

/* -- begin and end -- */

RankStrands *strands_rank(Strands *s, guint rank)
{
    return &s->ranks[rank];
}

Strand *strands_at(Strands *s, guint index)
{
    return &s->strands[index];
}

guint strands_n(const Strands *s)
{
    return s->n;
}

/* Whether a call of CLASS starts the thread ID. */
static gboolean is_started(const WendProgram *p, const WendClass *class, gint64 id)
{
    WendDecoder *decoder = wend_decoder_new(p);
    guint n = wend_program_n_rules(p);
    g_autofree guint8 *needed = g_new0(guint8, n + 1);
    gboolean found = FALSE;
    for (guint q = 0; q < class->n_sequences; q++)
        needed[class->sequences[q].rule] = TRUE;
    for (guint r = n; !found && r-- > 0;) {
        const WendRule *rule = wend_program_rule(p, r);
        for (guint k = 0; needed[r] && !found && k < rule->n; k++) {
            const WendSymbol *symbol = &rule->symbols[k];
            if (symbol->is_rule) {
                needed[symbol->id] = TRUE;
                continue;
            }
            const WendTerminal *t = wend_program_terminal(p, symbol->id);
            if (wend_program_shape(p, t->shape)->function->id != WEND_FN_wend_start)
                continue;
            const WendCall *call = wend_decoder_call(decoder, symbol->id, class->ranks[0]);
            const WendArg *thread = wend_call_arg(call, "thread");
            found = thread != NULL && thread->n_in > 0 && thread->in[0] == id;
        }
    }
    wend_decoder_free(decoder);
    return found;
}

static void init_class(Strands *s, const WendProgram *p, guint class_index)
{
    const WendClass *class = wend_program_class(p, class_index);
    if (class->n_sequences == 0)
        return;
    g_autofree gboolean *later = g_new0(gboolean, class->n_sequences);
    for (guint q = 1; q < class->n_sequences; q++)
        later[q] = class->sequences[q].kind == WEND_SEQUENCE_THREAD
                   && is_started(p, class, class->sequences[q].id);
    for (guint r = 0; r < class->n_ranks; r++) {
        RankStrands *rank = &s->ranks[class->ranks[r]];
        for (guint q = 0; q < class->n_sequences; q++)
            s->strands[rank->first + q].starts_later = later[q];
    }
}

static void init_rank(Strands *s, const WendProgram *p, guint number, guint *first, guint channels)
{
    RankStrands *rank = &s->ranks[number];
    rank->rank = number;
    rank->first = *first;
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, number));
    rank->n = rank->live = class->n_sequences;
    *first += rank->n;
    if (rank->n > 1)
        rank->threads = thread_order_new(rank->n, channels);
    for (guint q = 0; q < rank->n; q++) {
        Strand *strand = &s->strands[rank->first + q];
        strand->index = rank->first + q;
        strand->sequence = q;
        strand->thread = class->sequences[q].kind == WEND_SEQUENCE_THREAD
                             ? (guint) class->sequences[q].id
                             : G_MAXUINT;
        strand->rank = rank;
        strand->link.data = strand;
    }
}

static guint sequences_of(const WendProgram *p, guint rank)
{
    return wend_program_class(p, wend_program_class_of(p, rank))->n_sequences;
}

Strands *strands_new(const WendProgram *p, Allowance *a)
{
    guint n_ranks = wend_program_ranks(p), first = 0, threaded = 0;
    guint64 n = 0;
    for (guint r = 0; r < n_ranks; r++) {
        guint sequences = sequences_of(p, r);
        n += sequences;
        threaded += sequences > 1;
    }
    guint channels = MAX(CHANNELS_ALL / MAX(threaded, 1), CHANNELS_LEAST);
    if (n >= G_MAXINT32 || !allowance_take(a, n_ranks, sizeof(RankStrands))
        || !allowance_take(a, n, STRAND_MEMORY))
        return NULL;
    for (guint r = 0; r < n_ranks; r++)
        if (sequences_of(p, r) > 1
            && !allowance_take(a, 1, thread_order_memory(sequences_of(p, r), channels)))
            return NULL;
    Strands *s = g_new0(Strands, 1);
    s->allowance = a;
    s->n_ranks = n_ranks;
    s->n = (guint)n;
    s->ranks = g_new0(RankStrands, n_ranks + 1);
    s->strands = g_new0(Strand, n + 1);
    for (guint r = 0; r < n_ranks; r++)
        init_rank(s, p, r, &first, channels);
    for (guint i = 0; i < wend_program_n_classes(p); i++)
        init_class(s, p, i);
    for (guint i = 0; i < s->n; i++)
        if (s->strands[i].starts_later)
            strands_wait(s, &s->strands[i], WAIT_DATA);
        else
            strands_ready(s, &s->strands[i]);
    return s;
}

void strands_free(Strands *s)
{
    if (s == NULL)
        return;
    for (guint i = 0; i < s->n; i++) {
        wend_walk_free(s->strands[i].walk);
        g_clear_pointer(&s->strands[i].needs, g_array_unref);
        g_clear_pointer(&s->strands[i].sends, g_array_unref);
    }
    for (guint r = 0; r < s->n_ranks; r++) {
        RankStrands *rank = &s->ranks[r];
        GHashTable *tables[] = {rank->requests, rank->messages, rank->notes,
                                rank->windows,  rank->files,    rank->comms};
        for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
            g_clear_pointer(&tables[i], g_hash_table_unref);
        answers_free(rank->answers);
        recorded_turns_free(rank->turns);
        thread_order_free(rank->threads);
        g_clear_pointer(&rank->word_waiters, g_array_unref);
    }
    g_free(s->ranks);
    g_free(s->strands);
    g_free(s);
}

/* -- requests and probed messages of a rank -- */

RequestEntry *request_entry_add(Strands *s, GHashTable **table, gint64 word, EntryKind kind,
                                guint strand)
{
    if (*table == NULL)
        *table = g_hash_table_new_full(wend_word_hash, g_int64_equal, g_free, NULL);
    if (!allowance_take(s->allowance, 1, ENTRY_MEMORY))
        return NULL;
    RequestEntry *entry = g_new0(RequestEntry, 1);
    entry->kind = kind;
    entry->strand = strand;
    RequestEntry *first = g_hash_table_lookup(*table, &word);
    if (first == NULL) {
        entry->previous = entry;
        g_hash_table_replace(*table, g_memdup2(&word, sizeof word), entry);
        return entry;
    }
    entry->previous = first->previous;
    first->previous->next = entry;
    first->previous = entry;
    return entry;
}

RequestEntry *request_entry_take(GHashTable *table, gint64 word, guint strand)
{
    RequestEntry *first = table != NULL ? g_hash_table_lookup(table, &word) : NULL;
    if (first == NULL)
        return NULL;
    RequestEntry *last = first->previous;
    if (first == last) {
        g_hash_table_remove(table, &word);
        return first;
    }
    if (last->strand == strand) {
        last->previous->next = NULL;
        first->previous = last->previous;
        return last;
    }
    first->next->previous = last;
    g_hash_table_replace(table, g_memdup2(&word, sizeof word), first->next);
    return first;
}

void request_entry_free(Strands *s, RequestEntry *entry)
{
    g_free(entry);
    allowance_give(s->allowance, ENTRY_MEMORY);
}

void request_entries_drain(Strands *s, GHashTable *table,
                           void (*visit)(gpointer data, RequestEntry *entry), gpointer data)
{
    GHashTableIter i;
    gpointer value;
    if (table == NULL)
        return;
    g_hash_table_iter_init(&i, table);
    while (g_hash_table_iter_next(&i, NULL, &value))
        for (RequestEntry *entry = value, *next; entry != NULL; entry = next) {
            next = entry->next;
            visit(data, entry);
            request_entry_free(s, entry);
        }
    g_hash_table_remove_all(table);
}
