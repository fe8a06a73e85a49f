/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-state.c: see matching-state.h. */
#include "config.h"

#include "matching-state.h"

#include <string.h>

/* Channels of threads that are remembered: of all ranks, and of each at least. */
enum { CHANNELS_ALL = 1 << 16, CHANNELS_LEAST = 256 };
enum { STRAND_MEMORY = sizeof(Strand) + 4096 };               /* with a walk that has not begun */
enum { GATHERINGS_LEAST = 65536, GATHERINGS_PER_COUNT = 16 }; /* at a time */
/* Bytes of the blocks of the heap and of the tables around one block. */
enum { AROUND = 64 };

/* -- blocks and keys -- */

/* A block of zeros. NULL: memory is used up. */
static gpointer pool_take(Matching *m, BlockPool *pool)
{
    if (!allowance_take(m->allowance, 1, pool->size + AROUND)) {
        m->full = TRUE;
        return NULL;
    }
    gpointer block = pool->spare;
    if (!block)
        return g_malloc0(pool->size);
    memcpy(&pool->spare, block, sizeof pool->spare);
    return memset(block, 0, pool->size);
}

static void pool_give(Matching *m, BlockPool *pool, gpointer block)
{
    memcpy(block, &pool->spare, sizeof pool->spare);
    pool->spare = block;
    allowance_give(m->allowance, pool->size + AROUND);
}

static void pool_clear(BlockPool *pool)
{
    for (gpointer block = pool->spare, next; block; block = next) {
        memcpy(&next, block, sizeof next);
        g_free(block);
    }
}

guint channel_key_hash(gconstpointer key)
{
    const ChannelKey *k = key;
    guint h = k->from;
    const guint words[] = {k->to, k->comm, k->subchannel, (guint)k->tag,
                           (guint)((guint64)k->tag >> 32)};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        h = (h ^ h >> 15) * 2246822519u + words[i];
    return h ^ h >> 13;
}

gboolean channel_key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(ChannelKey)) == 0;
}

typedef struct {
    ChannelKey key;
    guint64 n;
} Count;

guint64 matching_state_count(Matching *m, const ChannelKey *key)
{
    Count *count = g_hash_table_lookup(m->counts, key);
    if (!count) {
        if (!allowance_take(m->allowance, 1, sizeof *count + AROUND)) {
            m->full = TRUE;
            return 0;
        }
        count = g_new0(Count, 1);
        count->key = *key;
        g_hash_table_add(m->counts, count);
        m->most_gatherings += key->subchannel == COUNT_ARRIVALS ? GATHERINGS_PER_COUNT : 0;
    }
    return ++count->n;
}

/* -- the queues of strands -- */

static guint bucket_of(const Strand *s)
{
    return s->outstanding == 0 ? 0 : 64 - (guint)__builtin_clzll(s->outstanding);
}

Strand *strand_take(Matching *m)
{
    for (guint i = 0; i < STRAND_BUCKETS; i++) {
        GList *link = g_queue_pop_head_link(&m->ready[i]);
        if (!link)
            continue;
        Strand *s = link->data;
        s->state = STRAND_RUNNING;
        s->bucket = bucket_of(s);
        return s;
    }
    return NULL;
}

void strand_ready(Matching *m, Strand *s)
{
    s->state = STRAND_READY;
    g_queue_push_tail_link(&m->ready[bucket_of(s)], &s->link);
}

void strand_wait(Matching *m, Strand *s, WaitKind kind)
{
    s->state = kind == WAIT_LOOSE ? STRAND_LOOSE : STRAND_DATA;
    g_queue_push_tail_link(kind == WAIT_LOOSE ? &m->loose : &m->data, &s->link);
}

void strand_wake(Matching *m, guint index)
{
    Strand *s = &m->strands[index];
    if ((s->state != STRAND_LOOSE && s->state != STRAND_DATA) || s->starts_later)
        return;
    g_queue_unlink(s->state == STRAND_LOOSE ? &m->loose : &m->data, &s->link);
    strand_ready(m, s);
}

void strand_wake_all(Matching *m, GArray *waiters)
{
    for (guint i = 0; waiters && i < waiters->len; i++)
        strand_wake(m, g_array_index(waiters, guint, i));
    if (waiters)
        g_array_set_size(waiters, 0);
}

gboolean strand_gives_way(const Strand *s)
{
    return bucket_of(s) > s->bucket;
}

/* -- the requests and probed messages of a rank -- */

RequestEntry *request_entry_add(Matching *m, GHashTable **table, gint64 word, EntryKind kind,
                                guint strand)
{
    RequestEntry *entry = pool_take(m, &m->entry_pool);
    if (!entry)
        return NULL;
    if (!*table)
        *table = g_hash_table_new(map_word_hash, g_int64_equal);
    entry->word = word;
    entry->kind = kind;
    entry->strand = strand;
    entry->previous = entry;
    RequestEntry *first = g_hash_table_lookup(*table, &word);
    if (first) {
        entry->previous = first->previous;
        first->previous->next = entry;
        first->previous = entry;
    } else {
        g_hash_table_insert(*table, &entry->word, entry);
    }
    return entry;
}

RequestEntry *request_entry_take(GHashTable *table, gint64 word, guint strand)
{
    RequestEntry *first = table ? g_hash_table_lookup(table, &word) : NULL;
    if (!first)
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
    g_hash_table_replace(table, &first->next->word, first->next);
    return first;
}

void request_entry_free(Matching *m, RequestEntry *entry)
{
    pool_give(m, &m->entry_pool, entry);
}

/* -- channels -- */

Channel *channel_find(const Matching *m, const ChannelKey *key)
{
    return g_hash_table_lookup(m->channels, key);
}

Channel *channel_at(Matching *m, const ChannelKey *key)
{
    Channel *c = channel_find(m, key);
    if (c || !(c = pool_take(m, &m->channel_pool)))
        return c;
    c->key = *key;
    g_hash_table_add(m->channels, c);
    return c;
}

void channel_tidy(Matching *m, Channel *c)
{
    if (c->sends || c->receives || (c->probes && c->probes->len > 0))
        return;
    g_hash_table_steal(m->channels, &c->key);
    g_clear_pointer(&c->probes, g_array_unref);
    pool_give(m, &m->channel_pool, c);
}

Receive *channel_send(Matching *m, const ChannelKey *key, const Sent *sent)
{
    Channel *c = channel_at(m, key);
    if (!c)
        return NULL;
    Receive *r = c->receives;
    if (r) {
        c->receives = r->next;
        r->sent = *sent;
        r->paired = TRUE;
        r->in_channel = FALSE;
        channel_tidy(m, c);
        return r;
    }
    Sent *kept = pool_take(m, &m->sent_pool);
    if (!kept)
        return NULL;
    *kept = *sent;
    *(c->sends ? &c->last_send->next : &c->sends) = kept;
    c->last_send = kept;
    m->in_flight++;
    m->most_in_flight = MAX(m->most_in_flight, m->in_flight);
    strand_wake_all(m, c->probes);
    return NULL;
}

gboolean channel_receive(Matching *m, Receive *r)
{
    Channel *c = channel_at(m, &r->channel);
    if (!c)
        return FALSE;
    Sent *sent = c->sends;
    if (!sent) {
        r->next = NULL;
        *(c->receives ? &c->last_receive->next : &c->receives) = r;
        c->last_receive = r;
        r->in_channel = TRUE;
        r->refs++;
        return FALSE;
    }
    c->sends = sent->next;
    r->sent = *sent;
    r->paired = TRUE;
    pool_give(m, &m->sent_pool, sent);
    m->in_flight--;
    channel_tidy(m, c);
    return TRUE;
}

void channel_withdraw(Matching *m, Receive *r)
{
    Channel *c = r->in_channel ? channel_find(m, &r->channel) : NULL;
    if (!c)
        return;
    Receive **at = &c->receives, *before = NULL;
    while (*at != r) {
        before = *at;
        at = &before->next;
    }
    *at = r->next;
    if (c->last_receive == r)
        c->last_receive = before;
    r->in_channel = FALSE;
    channel_tidy(m, c);
    receive_unref(m, r);
}

static void channel_free(gpointer channel)
{
    Channel *c = channel;
    for (Sent *sent = c->sends, *next; sent; sent = next) {
        next = sent->next;
        g_free(sent);
    }
    for (Receive *r = c->receives, *next; r; r = next) {
        next = r->next;
        if (--r->refs == 0)
            g_free(r);
    }
    g_clear_pointer(&c->probes, g_array_unref);
    g_free(c);
}

Receive *receive_new(Matching *m)
{
    Receive *r = pool_take(m, &m->receive_pool);
    if (!r)
        return NULL;
    r->refs = 1;
    r->bytes = WEND_UNKNOWN;
    r->completed.call = MESSAGE_NO_CALL;
    return r;
}

void receive_unref(Matching *m, Receive *r)
{
    if (--r->refs == 0)
        pool_give(m, &m->receive_pool, r);
}

/* -- gatherings -- */

gboolean gathering_complete(const Gathering *gathering)
{
    return gathering->come >= gathering->members;
}

void gathering_unref(Gathering *gathering)
{
    if (--gathering->refs > 0)
        return;
    g_array_unref(gathering->waiters);
    g_free(gathering);
}

/* The gathering KEY, made if there is none. NULL: there are too many. */
static Gathering *gathering_at(Matching *m, const ChannelKey *key, guint64 members)
{
    Gathering *g = g_hash_table_lookup(m->gatherings, key);
    if (g || g_hash_table_size(m->gatherings) >= m->most_gatherings)
        return g;
    g = g_new(Gathering, 1);
    *g = (Gathering){.key = *key,
                     .refs = 1,
                     .members = members,
                     .waiters = g_array_new(FALSE, FALSE, sizeof(guint)),
                     .last = MESSAGE_NO_PLACE,
                     .root_place = MESSAGE_NO_PLACE};
    g_hash_table_add(m->gatherings, g);
    return g;
}

Gathering *gathering_come(Matching *m, const MessagePlace *place, guint comm, GatheringOver over,
                          gboolean root)
{
    guint rank = place->rank;
    if (comm == WEND_COMM_UNKNOWN || comm == WEND_COMM_SELF)
        return NULL;
    guint64 members = members_recorded(m->members, comm, rank);
    ChannelKey key = {comm, over, rank, COUNT_ARRIVALS, 0};
    guint64 number = members > 1 ? matching_state_count(m, &key) : 0;
    if (number == 0)
        return NULL;
    /* the MPI_COMM_WORLD of each world is another one */
    key.from += GATHERING_OVERS * members_home(m->members, comm, rank);
    key.to = 0;
    key.tag = (gint64)number;
    Gathering *g = gathering_at(m, &key, members);
    if (!g)
        return NULL;
    g->come++;
    g->root |= root;
    if (root)
        g->root_place = *place;
    if (!isnan(place->start) && !(place->start < g->last.start))
        g->last = *place;
    g->refs++;
    if (gathering_complete(g))
        g_hash_table_remove(m->gatherings, &g->key);
    return g;
}

/* -- begin and end -- */

/* Whether a call of CLASS starts the thread ID. */
static gboolean is_started(const WendProgram *p, const WendClass *class, gint64 id)
{
    WendDecoder *decoder = decoder_new(p);
    guint n = program_n_rules(p);
    g_autofree guint8 *needed = g_new0(guint8, n + 1);
    gboolean found = FALSE;
    for (guint q = 0; q < class->n_sequences; q++)
        needed[class->sequences[q].rule] = TRUE;
    for (guint r = n; !found && r-- > 0;) {
        const WendRule *rule = program_rule(p, r);
        for (guint k = 0; needed[r] && !found && k < rule->n; k++) {
            const WendSymbol *symbol = &rule->symbols[k];
            if (symbol->is_rule) {
                needed[symbol->id] = TRUE;
                continue;
            }
            const WendTerminal *t = program_terminal(p, symbol->id);
            if (program_shape(p, t->shape)->function->id != WEND_FN_wend_start)
                continue;
            const WendCall *call = decoder_call(decoder, symbol->id, class->ranks[0]);
            const WendArg *thread = call_arg(call, "thread");
            found = thread && thread->n_in > 0 && thread->in[0] == id;
        }
    }
    decoder_free(decoder);
    return found;
}

static void init_class(Matching *m, guint class_index)
{
    const WendClass *class = program_class(m->program, class_index);
    g_autofree gboolean *later = g_new0(gboolean, class->n_sequences + 1);
    for (guint q = 1; q < class->n_sequences; q++)
        later[q] = class->sequences[q].kind == WEND_SEQUENCE_THREAD
                   && is_started(m->program, class, class->sequences[q].id);
    for (guint r = 0; r < class->n_ranks; r++)
        for (guint q = 0; q < class->n_sequences; q++)
            m->strands[m->ranks[class->ranks[r]].first + q].starts_later = later[q];
}

static const WendClass *class_of(const WendProgram *p, guint rank)
{
    return program_class(p, program_class_of(p, rank));
}

static void init_rank(Matching *m, guint number, guint first, guint channels)
{
    RankStrands *rank = &m->ranks[number];
    const WendClass *class = class_of(m->program, number);
    rank->rank = number;
    rank->first = first;
    rank->n = rank->live = class->n_sequences;
    if (rank->n > 1)
        rank->threads = thread_order_new(rank->n, channels);
    for (guint q = 0; q < rank->n; q++) {
        Strand *s = &m->strands[first + q];
        s->index = first + q;
        s->sequence = q;
        s->thread = class->sequences[q].kind == WEND_SEQUENCE_THREAD
                        ? (guint) class->sequences[q].id
                        : G_MAXUINT;
        s->rank = rank;
        s->link.data = s;
    }
}

/* Takes the memory of N strands of all ranks. *CHANNELS: how many the threads of a rank remember.
 * FALSE: memory is used up. */
static gboolean admit_strands(Matching *m, guint64 *n, guint *channels)
{
    const WendProgram *p = m->program;
    guint n_ranks = program_ranks(p), threaded = 0;
    *n = 0;
    for (guint r = 0; r < n_ranks; r++) {
        *n += class_of(p, r)->n_sequences;
        threaded += class_of(p, r)->n_sequences > 1;
    }
    *channels = MAX(CHANNELS_ALL / MAX(threaded, 1), CHANNELS_LEAST);
    if (*n >= G_MAXINT32 || !allowance_take(m->allowance, n_ranks, sizeof(RankStrands))
        || !allowance_take(m->allowance, *n, STRAND_MEMORY))
        return FALSE;
    gboolean good = TRUE;
    for (guint r = 0; good && r < n_ranks; r++) {
        guint sequences = class_of(p, r)->n_sequences;
        good = sequences <= 1
               || allowance_take(m->allowance, 1, thread_order_memory(sequences, *channels));
    }
    return good;
}

static void begin_strands(Matching *m)
{
    guint64 n;
    guint channels, first = 0;
    if (!admit_strands(m, &n, &channels)) {
        m->full = TRUE;
        return;
    }
    m->n_ranks = program_ranks(m->program);
    m->n_strands = (guint)n;
    m->ranks = g_new0(RankStrands, m->n_ranks + 1);
    m->strands = g_new0(Strand, n + 1);
    for (guint r = 0; r < m->n_ranks; r++) {
        init_rank(m, r, first, channels);
        first += m->ranks[r].n;
    }
    for (guint i = 0; i < program_n_classes(m->program); i++)
        init_class(m, i);
    for (guint i = 0; i < m->n_strands; i++)
        if (m->strands[i].starts_later)
            strand_wait(m, &m->strands[i], WAIT_DATA);
        else
            strand_ready(m, &m->strands[i]);
}

static void unref_gathering(gpointer gathering)
{
    gathering_unref(gathering);
}

void matching_state_begin(Matching *m)
{
    m->channel_pool.size = sizeof(Channel);
    m->sent_pool.size = sizeof(Sent);
    m->receive_pool.size = sizeof(Receive);
    m->entry_pool.size = sizeof(RequestEntry);
    m->channels = g_hash_table_new_full(channel_key_hash, channel_key_equal, channel_free, NULL);
    m->counts = g_hash_table_new_full(channel_key_hash, channel_key_equal, g_free, NULL);
    m->gatherings =
        g_hash_table_new_full(channel_key_hash, channel_key_equal, unref_gathering, NULL);
    m->most_gatherings = GATHERINGS_LEAST;
    begin_strands(m);
}

static void end_rank(RankStrands *rank)
{
    GHashTable *tables[] = {rank->requests, rank->messages, rank->notes,
                            rank->windows,  rank->files,    rank->comms};
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
        g_clear_pointer(&tables[i], g_hash_table_unref);
    answers_free(rank->answers);
    recorded_turns_free(rank->turns);
    thread_order_free(rank->threads);
    g_clear_pointer(&rank->word_waiters, g_array_unref);
}

void matching_state_end(Matching *m)
{
    for (guint i = 0; i < m->n_strands; i++) {
        walk_free(m->strands[i].walk);
        g_clear_pointer(&m->strands[i].needs, g_array_unref);
        g_clear_pointer(&m->strands[i].sends, g_array_unref);
    }
    for (guint r = 0; r < m->n_ranks; r++)
        end_rank(&m->ranks[r]);
    g_free(m->ranks);
    g_free(m->strands);
    g_hash_table_unref(m->channels);
    g_hash_table_unref(m->counts);
    g_hash_table_unref(m->gatherings);
    BlockPool *pools[] = {&m->channel_pool, &m->sent_pool, &m->receive_pool, &m->entry_pool};
    for (guint i = 0; i < G_N_ELEMENTS(pools); i++)
        pool_clear(pools[i]);
}
