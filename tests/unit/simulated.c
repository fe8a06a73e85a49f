/* SPDX-License-Identifier: BSD-3-Clause */
/* simulated.c: ranks without MPI. */
#include "config.h"

#include "simulated.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static void call_free(gpointer p)
{
    SimulatedCall *c = p;
    g_array_unref(c->shape);
    g_array_unref(c->slots);
    g_array_unref(c->outcome);
    g_free(c);
}

static void sequence_free(gpointer p)
{
    SimulatedSequence *s = p;
    cst_free(s->calls);
    cst_free(s->polls);
    grammar_free(s->grammar);
    grammar_free(s->polls_grammar);
    g_ptr_array_unref(s->kept);
    g_array_unref(s->pool);
    site_guesses_clear(&s->guesses);
    g_array_unref(s->elements);
    g_hash_table_unref(s->places);
    g_array_unref(s->addresses);
    g_free(s);
}

SimulatedRank *simulated_new(guint rank, guint world, gboolean keep)
{
    SimulatedRank *r = g_new0(SimulatedRank, 1);
    r->rank = rank;
    r->world = world;
    r->keep = keep;
    r->sequences = g_ptr_array_new_with_free_func(sequence_free);
    g_autofree char *host = g_strdup_printf("node%u", rank / 4);
    facts_add(&r->facts, "run.program", "/opt/app/stencil");
    facts_add(&r->facts, "run.arguments", "-n 100");
    facts_add(&r->facts, "run.host", host);
    facts_add(&r->facts, "run.start", "1767225600.25");
    facts_add(&r->facts, "run.elapsed", "1.5");
    facts_add(&r->facts, "mpi.library", "Simulated MPI 1.0");
    facts_add(&r->facts, "mpi.version", "4.0");
    facts_add(&r->facts, "mpi.thread", "MPI_THREAD_SINGLE");
    facts_add(&r->facts, "wend.version", PACKAGE_VERSION);
    facts_add(&r->facts, "datatype.MPI_DOUBLE", "8 0 8 0 8");
    facts_add(&r->facts, "datatype.MPI_INT", "4 0 4 0 4");
    return r;
}

void simulated_free(SimulatedRank *r)
{
    g_ptr_array_unref(r->sequences);
    buf_clear(&r->facts.bytes);
    if (r->noise)
        g_rand_free(r->noise);
    g_free(r);
}

SimulatedSequence *simulated_sequence(SimulatedRank *r, enum sequence_kind kind, gint64 id)
{
    SimulatedSequence *s = g_new0(SimulatedSequence, 1);
    s->kind = kind;
    s->id = id;
    s->calls = cst_new();
    s->polls = cst_new();
    s->grammar = grammar_new();
    s->polls_grammar = grammar_new();
    s->kept = g_ptr_array_new_with_free_func(call_free);
    s->pool = g_array_new(FALSE, TRUE, sizeof(WendPoolKey));
    g_assert_true(site_guesses_init(&s->guesses));
    s->elements = g_array_new(FALSE, FALSE, sizeof(WendSideElement));
    s->places = g_hash_table_new(NULL, NULL);
    s->addresses = g_array_new(FALSE, FALSE, sizeof(guintptr));
    g_ptr_array_add(r->sequences, s);
    return s;
}

/* -- sites -- */

static gint64 *words(GArray *a)
{
    return (gint64 *)(gpointer)a->data;
}

static guint site_number(SimulatedSequence *s, guintptr address)
{
    gpointer known = g_hash_table_lookup(s->places, (gpointer)address);
    if (!known) {
        g_array_append_val(s->addresses, address);
        known = GUINT_TO_POINTER(s->addresses->len);
        g_hash_table_insert(s->places, (gpointer)address, known);
    }
    return GPOINTER_TO_UINT(known) - 1;
}

/* Notes the site of a call that was appended. */
static void note_site(SimulatedRank *r, SimulatedSequence *s, gboolean poll)
{
    const WendFunction *f = function_by_name(s->now->function);
    s->now->site = s->site;
    s->site = 0;
    if (!r->sites || f->flags & WEND_F_PSEUDO)
        return;
    const SimulatedCall *c = s->now;
    WendSiteCall marks =
        site_call(words(c->shape), c->shape->len, words(c->slots), c->slots->len, poll);
    WendSiteGuess *guess = site_guess(&s->guesses, &marks);
    guint site = site_number(s, s->now->site);
    WendSiteElement e;
    bool wrong;
    g_assert_true(site_guess_note(&s->guesses, &marks, guess, site, 0, &wrong, &e));
    if (!wrong)
        return;
    WendSideElement element = {.step = e.step, .code = e.code, .numbers = {site}};
    g_array_append_val(s->elements, element);
}

gboolean simulated_stacks;

guint simulated_stack(guintptr address, guint64 offsets[SIMULATED_FRAMES], gboolean *whole)
{
    guint n = (guint)(address / 3 % (SIMULATED_FRAMES + 1));
    *whole = address / 7 % 3 > 0;
    for (guint i = 0; i < n; i++)
        offsets[i] = 1000 + 100 * i + (address >> (12 - 2 * i) & 3);
    return n;
}

/* The number of a frame that is called from CALLER, in KNOWN. *IS_NEW: it was not there. */
static guint frame_number(GHashTable *known, guint caller, guint64 offset, gboolean *is_new)
{
    char *key = g_strdup_printf("%u %" G_GUINT64_FORMAT, caller, offset);
    gpointer number = g_hash_table_lookup(known, key);
    *is_new = !number;
    if (number) {
        g_free(key);
        return GPOINTER_TO_UINT(number) - 1;
    }
    g_hash_table_insert(known, key, GUINT_TO_POINTER(g_hash_table_size(known) + 1));
    return g_hash_table_size(known) - 1;
}

/* Puts an address of the program, whose name is as if it were made by a linker. */
static void put_place(WendBuf *table, guint64 offset, guint64 *last)
{
    buf_unsigned(table, 1);
    if (*last == 0) {
        buf_string(table, "");
        buf_unsigned(table, 4);
        buf_bytes(table, "\x12\x34\x56\x78", 4);
    }
    buf_signed(table, (gint64)(offset - *last));
    *last = offset;
}

/* Puts the callers of a site: the one that is there, and those that are new. */
static void put_callers(WendBuf *table, GHashTable *known, guintptr address, guint64 *last)
{
    guint64 offsets[SIMULATED_FRAMES];
    gboolean whole, is_new;
    guint n = simulated_stack(address, offsets, &whole), caller = whole ? 0 : 1, first = 0;
    for (; first < n; first++) {
        guint number = frame_number(known, caller, offsets[first], &is_new);
        if (is_new)
            break;
        caller = 2 + number;
    }
    buf_unsigned(table, caller);
    buf_unsigned(table, n - first);
    for (guint i = first; i < n; i++) {
        put_place(table, offsets[i], last);
        if (i > first)
            frame_number(known, g_hash_table_size(known) + 1, offsets[i], &is_new);
    }
}

/* The table of the sites. */
static void put_table(const SimulatedSequence *s, WendBuf *out)
{
    WendBuf table = WEND_BUF_INIT;
    guint64 last = 0;
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < s->addresses->len; i++) {
        guintptr address = g_array_index(s->addresses, guintptr, i);
        if (simulated_stacks)
            put_callers(&table, known, address, &last);
        put_place(&table, address, &last);
    }
    buf_block(out, &table);
    buf_clear(&table);
}

static WendSideKindNumber sites_kind(void)
{
    return simulated_stacks ? WEND_SIDE_STACKS : WEND_SIDE_SITES;
}

static void put_stream(const SimulatedSequence *s, WendBuf *out)
{
    WendBuf rows = WEND_BUF_INIT, row = WEND_BUF_INIT;
    g_autofree WendSideCodec *codec = g_new(WendSideCodec, 1);
    RangeEncoder to;
    side_stream_put_head(out, &(WendSideHead){.kind = s->kind, .id = s->id});
    put_table(s, &rows);
    side_codec_init(codec, side_stream_kind(sites_kind()));
    range_encoder_begin(&to, &row);
    for (guint i = 0; i < s->elements->len; i++)
        side_codec_encode(codec, &to, &g_array_index(s->elements, WendSideElement, i));
    range_encoder_end(&to);
    buf_unsigned(&rows, s->elements->len);
    buf_block(&rows, &row);
    buf_block(out, &rows);
    buf_clear(&row);
    buf_clear(&rows);
}

static void put_sites(const SimulatedRank *r, WendBuf *out)
{
    WendBuf member = WEND_BUF_INIT;
    guint n = 0;
    for (guint i = 0; i < r->sequences->len; i++)
        n += ((const SimulatedSequence *)g_ptr_array_index(r->sequences, i))->elements->len > 0;
    buf_unsigned(out, 1);
    buf_unsigned(out, sites_kind());
    buf_unsigned(&member, n);
    for (guint i = 0; i < r->sequences->len; i++) {
        const SimulatedSequence *s = g_ptr_array_index(r->sequences, i);
        if (s->elements->len > 0)
            put_stream(s, &member);
    }
    buf_block(out, &member);
    buf_clear(&member);
}

GByteArray *simulated_part(SimulatedRank *r)
{
    WendBuf b = WEND_BUF_INIT;
    part_begin(&b, &r->facts, r->rank, r->world, r->sequences->len);
    for (guint i = 0; i < r->sequences->len; i++) {
        const SimulatedSequence *s = g_ptr_array_index(r->sequences, i);
        WendPartSequence p = {.kind = s->kind,
                              .id = s->id,
                              .calls = s->calls,
                              .grammar = s->grammar,
                              .polls_after = s->polls_since,
                              .polls = s->polls,
                              .polls_grammar = s->polls_grammar};
        part_sequence(&b, &p);
    }
    if (r->sites)
        put_sites(r, &b);
    g_assert_false(b.failed);
    GByteArray *part = g_byte_array_new();
    g_byte_array_append(part, b.data, b.len);
    buf_clear(&b);
    return part;
}

gint64 constant(const char *name)
{
    static GHashTable *numbers; /* benchmarks ask often */
    gpointer number;
    if (!numbers) {
        numbers = g_hash_table_new(g_str_hash, g_str_equal);
        for (gsize i = 0; i < mpi_n_constants; i++)
            g_hash_table_insert(numbers, (gpointer)mpi_constants[i], GSIZE_TO_POINTER(i));
    }
    if (!g_hash_table_lookup_extended(numbers, name, NULL, &number))
        g_error("no constant %s", name);
    return WEND_CONST(GPOINTER_TO_SIZE(number));
}

void call(SimulatedSequence *s, const char *function)
{
    const WendFunction *f = function_by_name(function);
    g_assert_nonnull(f);
    s->now = g_new0(SimulatedCall, 1);
    if (s->site == 0)
        s->site = (guintptr)__builtin_return_address(0);
    s->now->function = f->name;
    s->now->shape = g_array_new(FALSE, FALSE, sizeof(gint64));
    s->now->slots = g_array_new(FALSE, FALSE, sizeof(gint64));
    s->now->outcome = g_array_new(FALSE, FALSE, sizeof(gint64));
    shape(s, WEND_SHAPE_HEAD(f - mpi_functions, 0));
    outcome(s, 0);
    outcome(s, 0);
}

void shape(SimulatedSequence *s, gint64 word)
{
    g_array_append_val(s->now->shape, word);
}
void slot(SimulatedSequence *s, gint64 word)
{
    g_array_append_val(s->now->slots, word);
}
void outcome(SimulatedSequence *s, gint64 word)
{
    g_array_append_val(s->now->outcome, word);
}

static void keep(SimulatedRank *r, SimulatedSequence *s)
{
    if (r->keep)
        g_ptr_array_add(s->kept, s->now);
    else
        call_free(s->now);
    s->now = NULL;
}

void end(SimulatedRank *r, SimulatedSequence *s, double seconds)
{
    SimulatedCall *c = s->now;
    words(c->outcome)[0] = s->polls_since;
    s->polls_since = 0;
    WendTerminalEntry *t =
        cst_call(s->calls, words(c->shape), c->shape->len, words(c->slots), c->slots->len);
    g_assert_true(grammar_append(s->grammar, t->number, 1));
    g_assert_true(cst_outcome(s->calls, t->shape, words(c->outcome), c->outcome->len));
    double factor = r->noise ? exp2(g_rand_double_range(r->noise, -1, 3)) : 1;
    stat_add(&t->times->duration, seconds * factor);
    stat_add(&t->times->interval, seconds * 3 * factor);
    note_site(r, s, FALSE);
    keep(r, s);
}

void end_failed(SimulatedRank *r, SimulatedSequence *s, gint64 code)
{
    words(s->now->shape)[0] |= 1;
    words(s->now->outcome)[1] = code;
    end(r, s, 1e-6);
}

void end_poll(SimulatedRank *r, SimulatedSequence *s)
{
    SimulatedCall *c = s->now;
    WendTerminalEntry *t =
        cst_terminal(s->polls, words(c->shape), c->shape->len, words(c->slots), c->slots->len);
    g_assert_true(grammar_append(s->polls_grammar, t->number, 1));
    s->polls_since++;
    note_site(r, s, TRUE);
    c->poll = TRUE;
    g_array_set_size(c->outcome, 0);
    keep(r, s);
}

gint64 end_request(SimulatedRank *r, SimulatedSequence *s)
{
    SimulatedCall *c = s->now;
    WendPoolKey key;
    guint32 number;
    /* self, offset, count, partner, tag */
    g_autofree gint64 *pool = g_memdup2(words(c->slots), c->slots->len * sizeof(gint64));
    g_assert_cmpuint(c->slots->len, ==, 5);
    pool[2] = 0;
    g_assert_true(cst_request(s->calls, words(c->shape), c->shape->len, pool, c->slots->len, true,
                              &key, &number));
    if (number >= s->pool->len)
        g_array_set_size(s->pool, number + 1);
    g_array_index(s->pool, WendPoolKey, number) = key;
    shape(s, WEND_HANDLE(s->id, number));
    end(r, s, 2e-7);
    return WEND_HANDLE(s->id, number);
}

void release(SimulatedSequence *s, gint64 request)
{
    cst_release(s->calls, g_array_index(s->pool, WendPoolKey, word_handle_number(request)));
}

/* -- whole calls -- */

static void message(SimulatedRank *r, SimulatedSequence *s, const char *f, gint64 segment,
                    gint64 offset, gint64 count, gint64 peer, gint64 tag)
{
    call(s, f);
    slot(s, r->rank); /* self */
    shape(s, segment);
    slot(s, offset);
    slot(s, count);
    shape(s, constant("MPI_DOUBLE"));
    slot(s, peer);
    slot(s, tag);
    shape(s, constant("MPI_COMM_WORLD"));
}

void sim_send(SimulatedRank *r, SimulatedSequence *s, gint64 segment, gint64 offset, gint64 count,
              gint64 dest, gint64 tag)
{
    FROM_CALLER(s);
    message(r, s, "MPI_Send", segment, offset, count, dest, tag);
    end(r, s, 1e-6);
}

gint64 sim_isend(SimulatedRank *r, SimulatedSequence *s, gint64 segment, gint64 offset,
                 gint64 count, gint64 dest, gint64 tag)
{
    FROM_CALLER(s);
    message(r, s, "MPI_Isend", segment, offset, count, dest, tag);
    return end_request(r, s);
}

gint64 sim_irecv(SimulatedRank *r, SimulatedSequence *s, gint64 segment, gint64 offset,
                 gint64 count, gint64 source, gint64 tag)
{
    FROM_CALLER(s);
    message(r, s, "MPI_Irecv", segment, offset, count, source, tag);
    return end_request(r, s);
}

static void relative_status(SimulatedRank *r, SimulatedSequence *s, gint64 count, gint64 source,
                            gint64 tag, gint64 got_source, gint64 got_tag, gint64 got_bytes)
{
    outcome(s, got_source - (source == constant("MPI_ANY_SOURCE") ? (gint64)r->rank : source));
    outcome(s, got_tag - (tag == constant("MPI_ANY_TAG") ? 0 : tag));
    outcome(s, count * 8 - got_bytes);
    outcome(s, 0);
}

void sim_recv(SimulatedRank *r, SimulatedSequence *s, gint64 count, gint64 source, gint64 tag,
              gint64 got_source, gint64 got_tag, gint64 got_bytes)
{
    FROM_CALLER(s);
    message(r, s, "MPI_Recv", WEND_SEGMENT(WEND_SEGMENT_STACK, 0), -128, count, source, tag);
    shape(s, 1);
    relative_status(r, s, count, source, tag, got_source, got_tag, got_bytes);
    end(r, s, 3e-6);
}

/* A call that completes some of N requests, up to its outcome. It ignores statuses. */
static void begin_completion(SimulatedSequence *s, const char *function, guint n,
                             const gint64 *requests)
{
    call(s, function);
    slot(s, n);
    shape(s, n);
    for (guint i = 0; i < n; i++)
        shape(s, requests[i]);
    shape(s, WEND_IGNORE);
}

void sim_waitall(SimulatedRank *r, SimulatedSequence *s, guint n, const gint64 *requests)
{
    FROM_CALLER(s);
    begin_completion(s, "MPI_Waitall", n, requests);
    outcome(s, n);
    for (guint i = 0; i < 4 * n; i++)
        outcome(s, 0);
    end(r, s, 4e-6 * (1 + r->rank));
    for (guint i = 0; i < n; i++)
        release(s, requests[i]);
}

void sim_waitany(SimulatedRank *r, SimulatedSequence *s, guint n, const gint64 *requests,
                 guint index)
{
    FROM_CALLER(s);
    begin_completion(s, "MPI_Waitany", n, requests);
    outcome(s, index);
    for (guint i = 0; i < 4; i++)
        outcome(s, 0);
    end(r, s, 4e-6);
    release(s, requests[index]);
}

void sim_test(SimulatedRank *r, SimulatedSequence *s, gint64 request, gboolean done)
{
    FROM_CALLER(s);
    call(s, "MPI_Test");
    shape(s, request);
    shape(s, 0);
    if (!done) {
        end_poll(r, s);
        return;
    }
    outcome(s, 1);
    for (int i = 0; i < 4; i++)
        outcome(s, 0);
    end(r, s, 5e-8);
    release(s, request);
}

void sim_allreduce(SimulatedRank *r, SimulatedSequence *s, gint64 count)
{
    FROM_CALLER(s);
    sim_allreduce_in(r, s, count, 1e-5);
}

void sim_allreduce_in(SimulatedRank *r, SimulatedSequence *s, gint64 count, double seconds)
{
    FROM_CALLER(s);
    call(s, "MPI_Allreduce");
    slot(s, r->rank);
    shape(s, constant("MPI_IN_PLACE"));
    shape(s, WEND_SEGMENT(WEND_SEGMENT_STACK, 0));
    slot(s, -64);
    slot(s, count);
    shape(s, constant("MPI_DOUBLE"));
    shape(s, constant("MPI_SUM"));
    shape(s, constant("MPI_COMM_WORLD"));
    end(r, s, seconds);
}

SimulatedRank *simulated_chance(guint rank, guint world, guint calls, gint64 least, gint32 values,
                                gboolean keep_calls)
{
    SimulatedRank *r = simulated_new(rank, world, keep_calls);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    GRand *dice = g_rand_new_with_seed(rank);
    for (guint i = 0; i < calls; i++)
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0,
                 least + g_rand_int_range(dice, 0, values), constant("MPI_PROC_NULL"), 1);
    g_rand_free(dice);
    return r;
}

SimulatedRank *simulated_stencil(guint rank, guint width, guint height, guint iterations,
                                 gboolean keep_calls)
{
    return simulated_stencil_with(rank, width, height, iterations, keep_calls, FALSE);
}

SimulatedRank *simulated_stencil_with(guint rank, guint width, guint height, guint iterations,
                                      gboolean keep_calls, gboolean sites)
{
    SimulatedRank *r = simulated_new(rank, width * height, keep_calls);
    r->sites = sites;
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    gint64 none = constant("MPI_PROC_NULL"), x = rank % width, y = rank / width,
           grid = WEND_SEGMENT(WEND_SEGMENT_HEAP, 0);
    gint64 peers[] = {x > 0 ? (gint64)rank - 1 : none, x + 1 < width ? (gint64)rank + 1 : none,
                      y > 0 ? (gint64)rank - width : none,
                      y + 1 < height ? (gint64)rank + width : none};
    call(s, "MPI_Init");
    end(r, s, 0.1);
    call(s, "MPI_Comm_rank");
    slot(s, rank);
    shape(s, constant("MPI_COMM_WORLD"));
    const WendFunction *f = function_by_name("MPI_Comm_rank");
    if (f->params[f->n_params - 1].place == WEND_PLACE_OUTCOME)
        outcome(s, rank);
    else
        slot(s, rank);
    end(r, s, 1e-7);
    for (guint i = 0; i < iterations; i++) {
        gint64 requests[8];
        for (int d = 0; d < 4; d++)
            requests[d] = sim_irecv(r, s, grid, 4096 * d, 512, peers[d], 10 + (d ^ 1));
        for (int d = 0; d < 4; d++)
            requests[4 + d] = sim_isend(r, s, grid, 65536 + 4096 * d, 512, peers[d], 10 + d);
        sim_waitall(r, s, 8, requests);
        if (i % 10 == 9)
            sim_allreduce(r, s, 1);
    }
    call(s, "wend_free");
    shape(s, grid);
    end(r, s, 0);
    call(s, "MPI_Finalize");
    end(r, s, 0.2);
    return r;
}

void sim_turn(SimulatedRank *r, SimulatedSequence *s, gint64 thread, gint64 calls, gint64 turns)
{
    call(s, "wend_turn");
    outcome(s, thread);
    outcome(s, calls);
    outcome(s, turns);
    end(r, s, 1e-6);
}
