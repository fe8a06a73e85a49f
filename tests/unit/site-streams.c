/* SPDX-License-Identifier: BSD-3-Clause */
/* site-streams.c: the sites of simulated ranks, from the part into the archive and back. Each call
 * comes from where it was made, ranks that run the same code cost nothing more, and sites change
 * nothing of the calls. */
#include "config.h"

#include <glib.h>
#include <string.h>

#include "../../lib/archive/container.h"
#include "../../lib/read/call-sites.h"
#include "../../lib/read/program-private.h"
#include "recorded.h"

/* -- what ranks do -- */

typedef SimulatedRank *Structure(guint rank, guint world, gboolean sites);

/* A grid whose width is its height. */
static SimulatedRank *square_stencil(guint rank, guint world, gboolean sites, guint iterations)
{
    guint width = 1;
    while (width * width < world)
        width++;
    return simulated_stencil_with(rank, width, width, iterations, TRUE, sites);
}

static SimulatedRank *stencil(guint rank, guint world, gboolean sites)
{
    return square_stencil(rank, world, sites, 20);
}

static SimulatedRank *long_stencil(guint rank, guint world, gboolean sites)
{
    return square_stencil(rank, world, sites, 2000);
}

/* Rank 0 hands out work by chance: each worker has another number of calls from the same lines. */
static SimulatedRank *farm(guint rank, guint world, gboolean sites)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    GRand *dice = g_rand_new_with_seed(rank + 7);
    guint tasks = rank == 0 ? 100 : (guint)g_rand_int_range(dice, 3, 60);
    r->sites = sites;
    for (guint i = 0; i < tasks; i++) {
        sim_recv(r, s, 1, constant("MPI_ANY_SOURCE"), 1, 0, 1, 8);
        sim_send(r, s, 0, 0, 1, 0, 2);
    }
    sim_send(r, s, 0, 0, 1, 0, 2); /* from another line */
    sim_allreduce(r, s, 1);
    sim_allreduce(r, s, 2);
    g_rand_free(dice);
    return r;
}

/* Which of two lines makes a call is left to chance, and polls come in between. */
static SimulatedRank *choices(guint rank, guint world, gboolean sites, guint n)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    GRand *dice = g_rand_new_with_seed(rank);
    r->sites = sites;
    for (guint i = 0; i < n; i++) {
        gint64 request = sim_irecv(r, s, 0, 0, 1, 0, 0);
        while (g_rand_int_range(dice, 0, 3) > 0)
            sim_test(r, s, request, FALSE);
        sim_test(r, s, request, TRUE);
        if (g_rand_int_range(dice, 0, 2) > 0) {
            sim_send(r, s, 0, 0, 1, 0, 1);
            __asm__ volatile(""); /* else a compiler would make one call of both */
        } else {
            sim_send(r, s, 0, 0, 1, 0, 1);
        }
    }
    g_rand_free(dice);
    return r;
}

static SimulatedRank *chance(guint rank, guint world, gboolean sites)
{
    return choices(rank, world, sites, 2000);
}

static SimulatedRank *more_chance(guint rank, guint world, gboolean sites)
{
    return choices(rank, world, sites, rank == 1 ? 150000 : 10);
}

/* Each call has a shape of its own, so there are more than there are guesses by shape. */
static SimulatedRank *shapes(guint rank, guint world, gboolean sites)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    r->sites = sites;
    for (guint i = 0; i < WEND_SITE_GUESSES + 500; i++) {
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, i), 0, 1, 0, 1);
        if (i % 3 == 1)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, i), 0, 1, 0, 1);
    }
    return r;
}

/* Several threads and a callback; one thread makes no call. */
static SimulatedRank *threads(guint rank, guint world, gboolean sites)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    r->sites = sites;
    for (guint t = 0; t < 4; t++) {
        SimulatedSequence *s =
            simulated_sequence(r, t == 3 ? WEND_SEQUENCE_CALLBACK : WEND_SEQUENCE_THREAD, t);
        for (guint i = 0; i < 10 * t; i++) {
            sim_send(r, s, 0, 0, 1, 0, 1);
            if (t == 2)
                sim_allreduce(r, s, 1);
        }
    }
    return r;
}

/* -- recording and reading -- */

static GPtrArray *ranks_of(Structure *structure, guint world, gboolean sites)
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint i = 0; i < world; i++)
        g_ptr_array_add(ranks, structure(i, world, sites));
    return ranks;
}

/* The bytes of the member MEMBER; 0: there is none. */
static gsize member_bytes(const char *dir, const char *member)
{
    Error *error = NULL;
    Container *b = container_open(dir, &error);
    g_assert_null(error);
    gsize n = 0;
    if (container_has(b, member)) {
        AUTO(Bytes) bytes = container_member(b, member, &error);
        g_assert_null(error);
        n = bytes->n;
    }
    container_free(b);
    return n;
}

static SimulatedSequence *sequence_like(const SimulatedRank *r, const WendSequence *q)
{
    for (guint i = 0; i < r->sequences->len; i++) {
        SimulatedSequence *s = g_ptr_array_index(r->sequences, i);
        if (s->kind == q->kind && s->id == q->id)
            return s;
    }
    g_assert_not_reached();
}

static void check_stack(const WendCallSites *sites, guint site, guintptr address)
{
    guint64 offsets[SIMULATED_FRAMES];
    gboolean whole;
    guint n = simulated_stack(address, offsets, &whole), caller = call_site(sites, site)->caller;
    if (!simulated_stacks) {
        g_assert_cmpuint(caller, ==, WEND_CALLER_NOT_RECORDED);
        return;
    }
    for (; n > 0; n--) {
        g_assert_cmpuint(caller, <, call_sites_n_frames(sites));
        const WendSite *frame = call_sites_frame(sites, caller);
        g_assert_cmpuint(frame->offset, ==, offsets[n - 1]);
        caller = frame->caller;
    }
    g_assert_cmpuint(caller, ==, whole ? WEND_CALLER_OUTERMOST : WEND_CALLER_CUT);
}

static void check_sequence(const WendProgram *p, const WendCallSites *sites, const SimulatedRank *r,
                           guint sequence)
{
    const WendClass *k = program_class(p, program_class_of(p, r->rank));
    const SimulatedSequence *s = sequence_like(r, &k->sequences[sequence]);
    WendWalk *walk = walk_new(p, r->rank, sequence, WEND_WALK_POLLS);
    WendSiteWalk *site_walk = site_walk_new(sites, r->rank, sequence);
    const WendCall *call;
    guint i = 0;
    for (; (call = walk_next(walk)); i++) {
        const SimulatedCall *made = g_ptr_array_index(s->kept, i);
        guint site = site_walk_next(site_walk, call);
        g_assert_cmpstr(call->function->name, ==, made->function);
        if (call->function->flags & WEND_F_PSEUDO || !r->sites) {
            g_assert_cmpuint(site, ==, G_MAXUINT);
            continue;
        }
        g_assert_cmpuint(site, <, call_sites_n(sites));
        g_assert_cmpuint(call_site(sites, site)->offset, ==, made->site);
        check_stack(sites, site, made->site);
    }
    g_assert_cmpuint(i, ==, s->kept->len);
    site_walk_free(site_walk);
    walk_free(walk);
}

static void check_sites(const char *dir, GPtrArray *ranks)
{
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    WendCallSites *sites = call_sites_open(p, &error);
    g_assert_null(error);
    for (guint i = 0; i < ranks->len; i++) {
        const WendClass *k = program_class(p, program_class_of(p, i));
        for (guint q = 0; q < k->n_sequences; q++)
            check_sequence(p, sites, g_ptr_array_index(ranks, i), q);
    }
    call_sites_free(sites);
    program_free(p);
}

/* The size of the member with the sites, which are read back. The calls are as without sites. */
static gsize recorded(Structure *structure, guint world, const char *member)
{
    g_autoptr(GPtrArray) with = ranks_of(structure, world, TRUE),
                         without = ranks_of(structure, world, FALSE);
    char *dir = record(with, NULL, NULL), *plain = record(without, NULL, NULL);
    check(dir, with);
    check_sites(dir, with);
    check_sites(plain, without);
    g_assert_cmpuint(member_bytes(dir, "program"), ==, member_bytes(plain, "program"));
    g_assert_cmpuint(member_bytes(plain, "sites"), ==, 0);
    gsize n = member_bytes(dir, member);
    g_assert_cmpuint(n, >, 0);
    g_assert_cmpuint(member_bytes(dir, simulated_stacks ? "sites" : "stacks"), ==, 0);
    discard(dir);
    discard(plain);
    return n;
}

static void constant_in_ranks(Structure *structure, guint least, const guint *worlds, guint n)
{
    gsize first = recorded(structure, worlds[0], "sites");
    g_test_message("%u ranks: %zu bytes of sites", worlds[0], first);
    g_assert_cmpuint(first, >, least);
    for (guint i = 1; i < n; i++) {
        gsize bytes = recorded(structure, worlds[i], "sites");
        g_test_message("%u ranks: %zu bytes of sites", worlds[i], bytes);
        g_assert_cmpuint(bytes, <=, first + 4);
    }
}

static void test_stencil(void)
{
    const guint worlds[] = {16, 64, 256};
    constant_in_ranks(stencil, 20, worlds, G_N_ELEMENTS(worlds));
}

static void test_farm(void)
{
    const guint worlds[] = {16, 64, 256};
    constant_in_ranks(farm, 15, worlds, G_N_ELEMENTS(worlds));
}

static void test_threads(void)
{
    const guint worlds[] = {4, 32};
    constant_in_ranks(threads, 15, worlds, G_N_ELEMENTS(worlds));
}

/* The site of each call follows from its place in the grammar, so its stream is empty, whatever the
 * number of iterations. */
static void test_iterations(void)
{
    g_assert_cmpuint(recorded(long_stencil, 9, "sites"), ==, recorded(stencil, 9, "sites"));
    simulated_stacks = TRUE;
    g_assert_cmpuint(recorded(long_stencil, 9, "stacks"), ==, recorded(stencil, 9, "stacks"));
    simulated_stacks = FALSE;
}

/* A bit of chance for each call cannot take much less than a bit. */
static void test_chance(void)
{
    gsize n = recorded(chance, 3, "sites");
    g_test_message("3 ranks, 6,000 choices by chance: %zu bytes of sites", n);
    g_assert_cmpuint(n, >, 700);
    g_assert_cmpuint(n, <, 2000);
}

/* A rank with many elements has a member for itself. */
static void test_own(void)
{
    g_assert_cmpuint(recorded(more_chance, 3, "sites.1"), >, 150000 / 8 * 9 / 10);
}

static void test_shapes(void)
{
    recorded(shapes, 2, "sites");
}

/* In whatever order ranks are merged, the archive is the same. */
static void test_order(void)
{
    g_autoptr(GPtrArray) ranks = ranks_of(stencil, 25, TRUE);
    GRand *rand = g_rand_new_with_seed(5);
    gsize n, n_again;
    char *dir = record(ranks, NULL, NULL);
    g_autofree char *bytes = recorded_bytes(dir, &n);
    for (int i = 0; i < 5; i++) {
        char *again = record(ranks, rand, NULL);
        g_autofree char *bytes_again = recorded_bytes(again, &n_again);
        g_assert_cmpmem(bytes, n, bytes_again, n_again);
        discard(again);
    }
    discard(dir);
    g_rand_free(rand);
}

/* -- many irregular calls -- */

/* A rank of which each call is drawn by chance: its site, and with that its function, and its
 * words. */
typedef struct {
    GRand *dice;
    guint jumps; /* one call of so many comes from any site, others from the next one */
    guint site;
} Irregular;

typedef struct {
    const WendFunction *function;
    gboolean poll;
    guintptr site;
    gint64 segment, number;
} IrregularCall;

enum { IRREGULAR_SITES = 3000, IRREGULAR_SEGMENTS = 500, IRREGULAR_NUMBERS = 1000 };

/* Functions whose arguments are single numbers, buffers, types, operations and communicators. */
static gboolean is_plain(const WendFunction *f)
{
    for (guint i = 0; i < f->n_params; i++) {
        const WendParam *p = &f->params[i];
        gboolean plain = p->kind == WEND_KIND_SELF || p->kind == WEND_KIND_COMM
                         || p->kind == WEND_KIND_DATATYPE || p->kind == WEND_KIND_OP
                         || p->kind == WEND_KIND_BUF || p->kind == WEND_KIND_COUNT
                         || p->kind == WEND_KIND_RANK || p->kind == WEND_KIND_TAG;
        if (!plain || p->array || p->place == WEND_PLACE_OUTCOME
            || (p->dir != WEND_DIR_IN && p->kind != WEND_KIND_BUF))
            return FALSE;
    }
    return f->n_params > 0 && !(f->flags & WEND_F_PSEUDO);
}

static GPtrArray *plain_functions(void)
{
    static GPtrArray *plain;
    if (!plain) {
        plain = g_ptr_array_new();
        for (gsize i = 0; i < mpi_n_functions; i++)
            if (is_plain(&mpi_functions[i]))
                g_ptr_array_add(plain, (gpointer)&mpi_functions[i]);
    }
    return plain;
}

/* Ranks 2 by 2 draw the same. Those of one pair seldom leave the order of the sites, so they share
 * their streams; the others have streams of their own. */
static Irregular irregular(guint rank)
{
    return (Irregular){g_rand_new_with_seed(rank / 2), rank / 2 % 2 == 0 ? 1000 : 2, 0};
}

static IrregularCall irregular_next(Irregular *of)
{
    const GPtrArray *plain = plain_functions();
    gboolean jumps = g_rand_int_range(of->dice, 0, (gint32)of->jumps) == 0;
    of->site = jumps ? (guint)g_rand_int_range(of->dice, 0, IRREGULAR_SITES)
                     : (of->site + 1) % IRREGULAR_SITES;
    gboolean poll = of->site % 11 == 3;
    return (IrregularCall){
        poll ? function_by_name("MPI_Iprobe") : g_ptr_array_index(plain, of->site * 7 % plain->len),
        poll, 4096 + 5 * (guintptr)of->site, g_rand_int_range(of->dice, 0, IRREGULAR_SEGMENTS),
        g_rand_int_range(of->dice, 0, IRREGULAR_NUMBERS)};
}

static void irregular_words(SimulatedRank *r, SimulatedSequence *s, const IrregularCall *c)
{
    static const char *const constants[WEND_KINDS] = {[WEND_KIND_COMM] = "MPI_COMM_WORLD",
                                                      [WEND_KIND_DATATYPE] = "MPI_DOUBLE",
                                                      [WEND_KIND_OP] = "MPI_SUM"};
    for (guint i = 0; i < c->function->n_params; i++) {
        const WendParam *p = &c->function->params[i];
        if (p->kind == WEND_KIND_SELF)
            slot(s, r->rank);
        else if (constants[p->kind])
            shape(s, constant(constants[p->kind]));
        else if (p->kind == WEND_KIND_BUF)
            shape(s, WEND_SEGMENT(WEND_SEGMENT_HEAP, c->segment));
        else if (p->kind == WEND_KIND_STATUS)
            shape(s, 0);
        else if (p->place == WEND_PLACE_SLOT)
            slot(s, c->number);
        if (p->kind == WEND_KIND_BUF)
            slot(s, 8 * c->number);
    }
}

static SimulatedRank *irregular_rank(guint rank, guint world, guint calls)
{
    SimulatedRank *r = simulated_new(rank, world, FALSE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    Irregular of = irregular(rank);
    r->sites = TRUE;
    for (guint i = 0; i < calls; i++) {
        IrregularCall c = irregular_next(&of);
        s->site = c.site;
        call(s, c.function->name);
        irregular_words(r, s, &c);
        if (c.poll)
            end_poll(r, s);
        else
            end(r, s, 1e-6);
    }
    g_rand_free(of.dice);
    return r;
}

static void check_irregular(const WendProgram *p, const WendCallSites *sites, guint rank,
                            guint calls)
{
    WendWalk *walk = walk_new(p, rank, 0, WEND_WALK_POLLS);
    WendSiteWalk *site_walk = site_walk_new(sites, rank, 0);
    Irregular of = irregular(rank);
    for (guint i = 0; i < calls; i++) {
        const WendCall *call = walk_next(walk);
        IrregularCall made = irregular_next(&of);
        g_assert_cmpstr(call->function->name, ==, made.function->name);
        g_assert_cmpint(call->poll, ==, made.poll);
        guint site = site_walk_next(site_walk, call);
        g_assert_cmpuint(site, <, call_sites_n(sites));
        g_assert_cmpuint(call_site(sites, site)->offset, ==, made.site);
        check_stack(sites, site, made.site);
    }
    g_assert_null(walk_next(walk));
    g_rand_free(of.dice);
    site_walk_free(site_walk);
    walk_free(walk);
}

/* Each of WORLD ranks makes CALLS calls. They are merged in any order. */
static void irregular_calls(guint world, guint calls)
{
    Error *error = NULL;
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    GRand *order = g_rand_new_with_seed(3);
    g_assert_cmpuint(plain_functions()->len, >, 20);
    for (guint i = 0; i < world; i++)
        g_ptr_array_add(ranks, irregular_rank(i, world, calls));
    char *dir = record(ranks, order, NULL);
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    WendCallSites *sites = call_sites_open(p, &error);
    g_assert_null(error);
    for (guint i = 0; i < world; i++)
        check_irregular(p, sites, i, calls);
    call_sites_free(sites);
    program_free(p);
    g_rand_free(order);
    discard(dir);
}

/* The reader has other numbers of functions and sites than each recorder had, and the guesses are
 * used up early. */
static void test_irregular(void)
{
    irregular_calls(4, 250000);
    simulated_stacks = TRUE;
    irregular_calls(4, 25000);
    simulated_stacks = FALSE;
}

/* -- damage -- */

static Bytes *member_of(const char *dir, const char *name)
{
    Error *error = NULL;
    Container *b = container_open(dir, &error);
    g_assert_null(error);
    Bytes *bytes = container_member(b, name, &error);
    g_assert_null(error);
    container_free(b);
    return bytes;
}

/* Some bytes of MEMBER are others, or it ends early. */
static Bytes *damaged(Bytes *member, GRand *dice)
{
    gsize n = member->n;
    guint8 *bytes = g_memdup2(member->data, n);
    for (int i = g_rand_int_range(dice, 0, 4); i >= 0; i--)
        bytes[g_rand_int_range(dice, 0, (gint32)n)] = (guint8)g_rand_int(dice);
    if (g_rand_int_range(dice, 0, 4) == 0)
        n = (gsize)g_rand_int_range(dice, 0, (gint32)n);
    return bytes_take(bytes, n);
}

/* Goes through all sites of P. Returns FALSE if they are refused, with a line that says so. */
static gboolean read_all(const WendProgram *p)
{
    AUTO(Error) error = NULL;
    WendCallSites *sites = call_sites_open(p, &error);
    if (!sites) {
        g_assert_true(error && error->code == WEND_ERROR_INPUT);
        return FALSE;
    }
    for (guint rank = 0; rank < program_ranks(p); rank++) {
        WendWalk *walk = walk_new(p, rank, 0, WEND_WALK_POLLS);
        WendSiteWalk *site_walk = site_walk_new(sites, rank, 0);
        const WendCall *call;
        while ((call = walk_next(walk))) {
            guint site = site_walk_next(site_walk, call);
            g_assert_true(site == G_MAXUINT || site < call_sites_n(sites));
        }
        site_walk_free(site_walk);
        walk_free(walk);
    }
    call_sites_free(sites);
    return TRUE;
}

/* The recording with another member NAME: its calls stay readable, whatever becomes of the
 * sites. */
static gboolean read_with(const char *dir, const char *name, Bytes *member)
{
    Error *error = NULL;
    Map *members = map_new(map_text_hash, map_text_equal, memory_free, (Release)bytes_unref);
    map_put(members, g_strdup("meta"), member_of(dir, "meta"));
    map_put(members, g_strdup("program"), member_of(dir, "program"));
    map_put(members, g_strdup(name), member);
    WendProgram *p = program_from_container(container_from_members(members, "damaged"), &error);
    g_assert_null(error);
    gboolean read = read_all(p);
    program_free(p);
    return read;
}

static void damage(Structure *structure, guint world, const char *name, guint times)
{
    g_autoptr(GPtrArray) ranks = ranks_of(structure, world, TRUE);
    char *dir = record(ranks, NULL, NULL);
    AUTO(Bytes) member = member_of(dir, name);
    GRand *dice = g_rand_new_with_seed(17);
    guint refused = 0;
    g_assert_true(read_with(dir, name, bytes_ref(member)));
    for (guint i = 0; i < times; i++)
        refused += !read_with(dir, name, damaged(member, dice));
    g_test_message("%u of %u damaged members were refused", refused, times);
    g_assert_cmpuint(refused, >, times / 4);
    g_rand_free(dice);
    discard(dir);
}

static void test_damage(void)
{
    damage(stencil, 9, "sites", 3000);
    damage(threads, 3, "sites", 1000);
}

/* Rows are not decoded before a walk comes there, so less is refused when they are opened. */
static SimulatedRank *large(guint rank, guint world, gboolean sites)
{
    return choices(rank, world, sites, 120000);
}

static void test_own_damage(void)
{
    g_autoptr(GPtrArray) ranks = ranks_of(large, 1, TRUE);
    char *dir = record(ranks, NULL, NULL);
    AUTO(Bytes) member = member_of(dir, "sites.0");
    GRand *dice = g_rand_new_with_seed(18);
    for (guint i = 0; i < 20; i++)
        read_with(dir, "sites.0", damaged(member, dice));
    g_rand_free(dice);
    discard(dir);
}

/* -- with call stacks -- */

/* More elements than ranks have that share their streams. */
static SimulatedRank *much_chance(guint rank, guint world, gboolean sites)
{
    return choices(rank, world, sites, rank == 0 ? 550000 : 10);
}

static void test_stacks(void)
{
    const guint worlds[] = {16, 64, 256};
    simulated_stacks = TRUE;
    gsize first = 0;
    for (guint i = 0; i < G_N_ELEMENTS(worlds); i++) {
        gsize bytes = recorded(stencil, worlds[i], "stacks");
        g_test_message("%u ranks: %zu bytes of stacks", worlds[i], bytes);
        g_assert_cmpuint(bytes, <=, i == 0 ? 1000 : first + 4);
        first = i == 0 ? bytes : first;
    }
    recorded(farm, 9, "stacks");
    recorded(threads, 5, "stacks");
    recorded(shapes, 2, "stacks");
    recorded(much_chance, 2, "stacks.0");
    simulated_stacks = FALSE;
}

static void test_stacks_damage(void)
{
    simulated_stacks = TRUE;
    damage(stencil, 9, "stacks", 3000);
    damage(threads, 3, "stacks", 1000);
    g_autoptr(GPtrArray) ranks = ranks_of(much_chance, 1, TRUE);
    char *dir = record(ranks, NULL, NULL);
    AUTO(Bytes) member = member_of(dir, "stacks.0");
    GRand *dice = g_rand_new_with_seed(19);
    for (guint i = 0; i < 10; i++)
        read_with(dir, "stacks.0", damaged(member, dice));
    g_rand_free(dice);
    discard(dir);
    simulated_stacks = FALSE;
}

/* -- names -- */

/* The names that test_names gives a site. Some have one function only. */
static guint frames_of(guint site, WendSiteFrame *frames)
{
    static const char *const functions[] = {"exchange", "inner", NULL, "a \"*/ \033[1m name"};
    frames[0] = (WendSiteFrame){functions[site % 4], "/src/halo.c", 10 + site};
    frames[1] = (WendSiteFrame){"main", site % 3 == 0 ? NULL : "main.c", site};
    return 1 + site % 2;
}

static void check_frames(const WendCallSites *sites)
{
    for (guint i = 0; i < call_sites_n(sites); i++) {
        WendSiteFrame expected[2];
        guint n, n_expected = frames_of(i, expected);
        const WendSiteFrame *frames = call_site_frames(sites, i, 0, &n);
        g_assert_cmpuint(n, ==, n_expected);
        for (guint k = 0; k < n; k++) {
            g_assert_cmpstr(frames[k].function, ==, expected[k].function);
            g_assert_cmpstr(frames[k].file, ==, expected[k].file);
            g_assert_cmpuint(frames[k].line, ==, expected[k].line);
        }
    }
}

static WendSiteSymbols *symbols_of(const WendCallSites *sites)
{
    WendSiteSymbols *symbols = site_symbols_new();
    for (guint i = 0; i < call_sites_n(sites); i++) {
        const WendSite *s = call_site(sites, i);
        const WendSiteModule *m = call_sites_module(sites, s->module);
        WendSiteFrame frames[2];
        guint n = frames_of(i, frames);
        site_symbols_add(symbols, m->file, m->id, m->n_id, s->offset, frames, n);
    }
    return symbols;
}

/* Names of all sites are stored and read; those that are too large are not stored. */
static void store_names(const char *dir)
{
    Error *error = NULL;
    gsize before, after;
    bool stored;
    g_autofree char *path = g_build_filename(dir, CONTAINER_FILE, NULL);
    g_autofree char *bytes = recorded_bytes(dir, &before);
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    WendCallSites *sites = call_sites_open(p, &error);
    g_assert_null(error);
    g_assert_cmpuint(call_sites_n(sites), >, 2);
    WendSiteSymbols *symbols = symbols_of(sites);
    g_assert_true(site_symbols_store(symbols, path, 10, &stored, &error));
    g_assert_false(stored);
    g_autofree char *unchanged = recorded_bytes(dir, &after);
    g_assert_cmpmem(bytes, before, unchanged, after);
    g_assert_true(site_symbols_store(symbols, path, G_MAXUINT64, &stored, &error));
    g_assert_null(error);
    g_assert_true(stored);
    site_symbols_free(symbols);
    call_sites_free(sites);
    program_free(p);
}

static void check_names(const char *dir)
{
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    WendCallSites *sites = call_sites_open(p, &error);
    g_assert_null(error);
    check_frames(sites);
    g_assert_true(read_all(p));
    call_sites_free(sites);
    program_free(p);
}

static void names_of(Structure *structure, guint world, guint times)
{
    g_autoptr(GPtrArray) ranks = ranks_of(structure, world, TRUE);
    char *dir = record(ranks, NULL, NULL);
    GRand *dice = g_rand_new_with_seed(19);
    store_names(dir);
    check_names(dir);
    AUTO(Bytes) member = member_of(dir, WEND_SITE_SYMBOLS);
    g_assert_true(read_with(dir, WEND_SITE_SYMBOLS, bytes_ref(member)));
    guint refused = 0;
    for (guint i = 0; i < times; i++)
        refused += !read_with(dir, WEND_SITE_SYMBOLS, damaged(member, dice));
    g_test_message("%u of %u damaged members were refused", refused, times);
    g_assert_cmpuint(refused, >, times / 4);
    g_rand_free(dice);
    discard(dir);
}

static void test_names(void)
{
    names_of(stencil, 9, 3000);
    names_of(large, 2, 10); /* several frames */
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sites/stencil", test_stencil);
    g_test_add_func("/sites/farm", test_farm);
    g_test_add_func("/sites/iterations", test_iterations);
    g_test_add_func("/sites/threads", test_threads);
    g_test_add_func("/sites/chance", test_chance);
    g_test_add_func("/sites/own", test_own);
    g_test_add_func("/sites/shapes", test_shapes);
    g_test_add_func("/sites/irregular", test_irregular);
    g_test_add_func("/sites/order", test_order);
    g_test_add_func("/sites/damage", test_damage);
    g_test_add_func("/sites/own damage", test_own_damage);
    g_test_add_func("/sites/stacks", test_stacks);
    g_test_add_func("/sites/stacks damage", test_stacks_damage);
    g_test_add_func("/sites/names", test_names);
    return g_test_run();
}
