/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.c: see recorded.h. */
#include "recorded.h"

#include "../../lib/archive/container.h"

#include <glib/gstdio.h>

/* -- merging -- */

static WendMerge *part_of(SimulatedRank *r)
{
    Error *error = NULL;
    GByteArray *part = simulated_part(r);
    WendMerge *m = merge_from_part(part->data, part->len, G_MAXUINT64, &error);
    g_assert_null(error);
    g_byte_array_unref(part);
    return m;
}

WendMerge *merged(GPtrArray *ranks, GRand *rand)
{
    Error *error = NULL;
    g_autoptr(GPtrArray) merges = g_ptr_array_new();
    for (guint i = 0; i < ranks->len; i++)
        g_ptr_array_add(merges, part_of(g_ptr_array_index(ranks, i)));
    while (merges->len > 1) {
        guint a = rand ? g_rand_int_range(rand, 0, merges->len) : 0,
              b = rand ? g_rand_int_range(rand, 0, merges->len) : 1;
        if (a == b)
            continue;
        WendMerge *other = g_ptr_array_index(merges, b);
        Vector *bytes = merge_encode(other);
        g_assert_true(merge_absorb(g_ptr_array_index(merges, a), bytes->data, bytes->len, &error));
        g_assert_null(error);
        vector_unref(bytes);
        merge_free(other);
        g_ptr_array_remove_index(merges, b);
    }
    return g_ptr_array_index(merges, 0);
}

char *recorded_folder(void)
{
    char *dir = g_dir_make_tmp("wend-test-XXXXXX", NULL); /* mkdtemp's pattern */
    g_assert_nonnull(dir);
    return dir;
}

char *record(GPtrArray *ranks, GRand *rand, WendArchiveResult *result)
{
    Error *error = NULL;
    WendMerge *m = merged(ranks, rand);
    char *dir = recorded_folder();
    g_assert_true(write_archive(m, dir, NULL, result, &error));
    g_assert_null(error);
    merge_free(m);
    return dir;
}

char *recorded_bytes(const char *dir, gsize *n)
{
    g_autofree char *file = g_build_filename(dir, CONTAINER_FILE, NULL);
    char *bytes;
    g_assert_true(g_file_get_contents(file, &bytes, n, NULL));
    return bytes;
}

void discard(char *dir)
{
    g_autofree char *file = g_build_filename(dir, CONTAINER_FILE, NULL);
    g_unlink(file);
    g_assert_cmpint(g_rmdir(dir), ==, 0); /* nothing else is there */
    g_free(dir);
}

/* -- reading, from the rules up: no walk -- */

static void expand(const WendProgram *p, guint rule, GArray *out)
{
    const WendRule *r = program_rule(p, rule);
    for (guint k = 0; k < r->n; k++)
        for (guint64 e = 0; e < r->symbols[k].repeats; e++) {
            guint32 id = r->symbols[k].id;
            if (r->symbols[k].is_rule)
                expand(p, id, out);
            else
                g_array_append_val(out, id);
        }
}

static void same_words(const gint64 *a, guint n, const GArray *b, guint from)
{
    g_assert_cmpuint(n, ==, b->len);
    for (guint i = from; i < n; i++)
        g_assert_cmpint(a[i], ==, g_array_index(b, gint64, i));
}

static void check_words(const WendProgram *p, SimulatedRank *r, guint q, const SimulatedSequence *s)
{
    const WendClass *k = program_class(p, program_class_of(p, r->rank));
    g_autoptr(GArray) terminals = g_array_new(FALSE, FALSE, sizeof(guint32));
    expand(p, k->sequences[q].rule, terminals);
    g_assert_cmpuint(terminals->len, ==, program_rule(p, k->sequences[q].rule)->length);
    typedef struct {
        WendOutcomes *o;
        guint64 left;
        const gint64 *words;
        guint n;
    } Stream;
    g_autofree Stream *streams = g_new0(Stream, program_n_shapes(p));
    guint at = 0;
    for (guint i = 0; i < s->kept->len; i++) {
        const SimulatedCall *c = g_ptr_array_index(s->kept, i);
        if (c->poll)
            continue;
        g_assert_cmpuint(at, <, terminals->len);
        guint32 terminal = g_array_index(terminals, guint32, at++);
        const WendTerminal *t = program_terminal(p, terminal);
        const WendShape *shape = program_shape(p, t->shape);
        g_assert_cmpstr(shape->function->name, ==, c->function);
        g_assert_cmpint(shape->failed, ==, g_array_index(c->shape, gint64, 0) & 1);
        same_words(shape->words, shape->n_words, c->shape, 1);
        g_assert_cmpuint(t->n_slots, ==, c->slots->len);
        for (guint j = 0; j < t->n_slots; j++)
            g_assert_cmpint(program_slot(p, terminal, j, r->rank), ==,
                            g_array_index(c->slots, gint64, j));
        Stream *stream = &streams[t->shape];
        if (!stream->o)
            stream->o = program_outcomes(p, r->rank, q, t->shape);
        if (stream->left == 0)
            g_assert_true(outcomes_next_run(stream->o, &stream->left, &stream->words, &stream->n));
        stream->left--;
        same_words(stream->words, stream->n, c->outcome, 0);
    }
    g_assert_cmpuint(at, ==, terminals->len);
    for (guint i = 0; i < program_n_shapes(p); i++) {
        if (!streams[i].o)
            continue;
        g_assert_cmpuint(streams[i].left, ==, 0);
        g_assert_false(
            outcomes_next_run(streams[i].o, &streams[i].left, &streams[i].words, &streams[i].n));
        outcomes_free(streams[i].o);
    }
}

/* -- reading with a walk -- */

static void check_walk(const WendProgram *p, SimulatedRank *r, guint q, const SimulatedSequence *s,
                       WendWalkFlags flags)
{
    WendWalk *w = walk_new(p, r->rank, q, flags);
    g_assert_nonnull(w);
    guint64 index = 0, polls = 0;
    const WendCall *c = NULL;
    for (guint i = 0; i < s->kept->len; i++) {
        const SimulatedCall *kept = g_ptr_array_index(s->kept, i);
        if (kept->poll) {
            polls++;
            if (flags == WEND_WALK_MAIN)
                continue;
        }
        c = walk_next(w);
        g_assert_nonnull(c);
        g_assert_cmpstr(c->function->name, ==, kept->function);
        g_assert_cmpint(c->poll, ==, kept->poll);
        g_assert_cmpuint(c->index, ==, index++);
        const WendTerminal *t = program_terminal(p, c->terminal);
        for (guint j = 0; j < t->n_slots; j++)
            g_assert_cmpint(program_slot(p, c->terminal, j, r->rank), ==,
                            g_array_index(kept->slots, gint64, j));
        same_words(program_shape(p, c->shape)->words, program_shape(p, c->shape)->n_words,
                   kept->shape, 1);
        if (c->poll)
            continue;
        g_assert_cmpuint(c->polls_before, ==, polls);
        g_assert_cmpint(c->return_code, ==, g_array_index(kept->outcome, gint64, 1));
        polls = 0;
    }
    g_assert_null(walk_next(w));
    g_assert_null(walk_next(w));
    walk_free(w);
}

void check(const char *dir, GPtrArray *ranks)
{
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    for (guint i = 0; i < ranks->len; i++) {
        SimulatedRank *r = g_ptr_array_index(ranks, i);
        const WendClass *k = program_class(p, program_class_of(p, r->rank));
        g_assert_cmpuint(k->n_sequences, ==, r->sequences->len);
        for (guint q = 0; q < k->n_sequences; q++) {
            const SimulatedSequence *s = NULL; /* by kind and id: they come sorted */
            for (guint j = 0; j < r->sequences->len; j++) {
                const SimulatedSequence *other = g_ptr_array_index(r->sequences, j);
                if (other->kind == k->sequences[q].kind && other->id == k->sequences[q].id)
                    s = other;
            }
            g_assert_nonnull(s);
            guint64 polls = 0;
            for (guint j = 0; j < s->kept->len; j++)
                polls += ((SimulatedCall *)g_ptr_array_index(s->kept, j))->poll;
            g_assert_cmpuint(program_polls(p, r->rank, q), ==, polls);
            check_words(p, r, q, s);
            check_walk(p, r, q, s, WEND_WALK_MAIN);
            check_walk(p, r, q, s, WEND_WALK_POLLS);
        }
    }
    program_free(p);
}

void check_times(const char *dir)
{
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    GKeyFile *meta = program_meta(p);
    guint64 counted = 0, calls = g_key_file_get_uint64(meta, "recording", "calls", NULL)
                                 + g_key_file_get_uint64(meta, "recording", "frees", NULL);
    for (guint i = 0; i < program_n_classes(p); i++)
        for (guint k = 0; k < program_class(p, i)->n_sequences * program_n_terminals(p); k++) {
            WendTiming duration, interval;
            program_timing(p, i, k / program_n_terminals(p), k % program_n_terminals(p), &duration,
                           &interval);
            counted += duration.count;
            g_assert_cmpuint(duration.count, ==, interval.count);
            if (duration.count)
                g_assert_true(duration.min > 0 && duration.min <= duration.mean * 1.001
                              && duration.mean <= duration.max * 1.001);
        }
    g_assert_cmpuint(counted, ==, calls);
    program_free(p);
}

WendArchiveResult in_any_order(GPtrArray *ranks, GRand *rand)
{
    WendArchiveResult result;
    char *dir = record(ranks, NULL, &result), *other = record(ranks, rand, NULL);
    check(dir, ranks);
    check_times(dir);
    gsize n, m;
    g_autofree char *a = recorded_bytes(dir, &n), *b = recorded_bytes(other, &m);
    g_assert_cmpmem(a, n, b, m);
    discard(dir);
    discard(other);
    return result;
}

gsize one_class(GPtrArray *ranks, GRand *rand)
{
    WendArchiveResult result = in_any_order(ranks, rand);
    g_assert_cmpuint(result.classes, ==, 1);
    return result.bytes;
}
