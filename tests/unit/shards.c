/* SPDX-License-Identifier: BSD-3-Clause */
/* shards.c: ranks that have nothing in common, merged along the tree as an application's processes
 * do it: each process knows of the others what they send. */
#include "../../lib/archive/container.h"
#include "../../lib/archive/steps.h"
#include "../../lib/base/shared-file.h"
#include "../../lib/merge/tree.h"
#include "recorded.h"

#include <glib.h>
#include <string.h>

/* -- memory that is short -- */

static guint64 asked, refused_from = G_MAXUINT64;

static bool has_room(uint64_t bytes)
{
    (void)bytes;
    return ++asked < refused_from;
}

static void be_short(guint64 from)
{
    asked = 0;
    refused_from = from;
    wend_step_limit(G_MAXUINT64, has_room);
}

/* -- what they are of -- */

static GPtrArray *rows_of(guint n, SimulatedRank *(*rank_of)(guint rank, guint n))
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < n; rank++)
        g_ptr_array_add(ranks, rank_of(rank, n));
    return ranks;
}

/* Other calls in another order on each rank, in so many steps. */
static SimulatedRank *irregular_in_steps(guint rank, guint n, guint steps)
{
    SimulatedRank *r = simulated_new(rank, n, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    GRand *dice = g_rand_new_with_seed(rank);
    for (guint i = 0; i < steps; i++) {
        gint64 peer = g_rand_int_range(dice, 0, (gint32)n), count = g_rand_int_range(dice, 1, 5000);
        if (g_rand_boolean(dice))
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, count, peer, i % 7);
        else
            sim_recv(r, s, count, peer, i % 7, peer, i % 7, 8 * count);
        if (g_rand_boolean(dice))
            sim_allreduce(r, s, 1);
    }
    g_rand_free(dice);
    return r;
}

static SimulatedRank *irregular_rank(guint rank, guint n)
{
    return irregular_in_steps(rank, n, 60 + rank);
}

/* As many terminals as make a shard of an eighth of the ranks. */
static SimulatedRank *large_irregular_rank(guint rank, guint n)
{
    return irregular_in_steps(rank, n, 1200 + rank);
}

static SimulatedRank *half_irregular_rank(guint rank, guint n)
{
    return rank < n / 2 ? irregular_rank(rank, n) : simulated_chance(rank, n, 50, 7, 1, TRUE);
}

static SimulatedRank *stencil_rank(guint rank, guint n)
{
    return simulated_stencil(rank, n / 2, 2, 50, TRUE);
}

/* Loops of which each rank has another trip count: one class in the end. */
static SimulatedRank *trips_rank(guint rank, guint n)
{
    SimulatedRank *r = simulated_new(rank, n, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    for (guint i = 0; i < 20 + rank; i++)
        for (gint64 k = 0; k < 20; k++)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1 + k, 0, k);
    return r;
}

/* -- a merge -- */

typedef struct {
    GPtrArray *parts;
    guint least;
    GPtrArray *frames; /* Bytes by rank; NULL: it has no shard */
} Job;

static Bytes *bytes_of(const void *bytes, size_t n)
{
    return bytes_new(bytes, n);
}

/* RANK makes its own part, takes what those in ENCODED have, from the nearest on, and makes a shard
 * in the step where the tracer does. */
static gboolean merge_own(const Job *j, guint rank, const GPtrArray *encoded)
{
    const GByteArray *part = g_ptr_array_index(j->parts, rank);
    gboolean good = wend_step_part(part->data, part->len);
    for (guint i = 0; good && i <= encoded->len; i++) {
        if (tree_may_shard(rank, 1u << i, j->parts->len, j->least))
            good = wend_step_shard(j->least);
        if (!good || i == encoded->len)
            break;
        const Bytes *bytes = g_ptr_array_index(encoded, i);
        void *received = wend_step_memory(bytes->n);
        if (received)
            memcpy(received, bytes->data, bytes->n);
        good = received && wend_step_absorb(received, bytes->n);
    }
    return good;
}

static Bytes *encode_subtree(Job *j, guint rank);

/* What RANK receives; NULL: a step failed. */
static GPtrArray *receive(Job *j, guint rank)
{
    GPtrArray *encoded = g_ptr_array_new_with_free_func((GDestroyNotify)bytes_unref);
    for (guint step = 1; !(rank & step) && rank + step < j->parts->len; step *= 2) {
        Bytes *other = encode_subtree(j, rank + step);
        if (!other) {
            g_ptr_array_unref(encoded);
            return NULL;
        }
        g_ptr_array_add(encoded, other);
    }
    return encoded;
}

static Bytes *encode_subtree(Job *j, guint rank)
{
    g_autoptr(GPtrArray) encoded = receive(j, rank);
    const void *bytes;
    size_t n;
    Bytes *own = NULL;
    if (encoded && merge_own(j, rank, encoded) && wend_step_encode(&bytes, &n)) {
        own = bytes_of(bytes, n);
        if (wend_step_frame(&(WendStepPlace){.what = WEND_STEP_SHARD}, &bytes, &n))
            g_ptr_array_index(j->frames, rank) = bytes_of(bytes, n);
    }
    wend_step_end();
    g_assert_cmpuint(wend_step_held(), ==, 0);
    return own;
}

static void unref_bytes(gpointer bytes)
{
    if (bytes)
        bytes_unref(bytes);
}

static void job_init(Job *j, const GPtrArray *ranks, guint least)
{
    *j = (Job){g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref), least,
               g_ptr_array_new_with_free_func(unref_bytes)};
    for (guint i = 0; i < ranks->len; i++)
        g_ptr_array_add(j->parts, simulated_part(g_ptr_array_index(ranks, i)));
    g_ptr_array_set_size(j->frames, (gint)ranks->len);
}

static void job_clear(Job *j)
{
    g_ptr_array_unref(j->parts);
    g_ptr_array_unref(j->frames);
}

/* The archive in DIR, as far as rank 0 writes it. */
static gboolean begin_archive(Job *j, const char *dir, WendStepResult *result)
{
    g_autoptr(GPtrArray) encoded = receive(j, 0);
    return encoded && merge_own(j, 0, encoded) && wend_step_write(dir, NULL, result);
}

/* Every second shard is written by its own rank, the others by rank 0. */
static gboolean write_shards(const Job *j, const char *dir, const WendStepResult *result)
{
    gboolean good = TRUE;
    for (guint i = 0; good && i < result->n_places; i++) {
        const WendStepPlace *place = &result->places[i];
        gsize n;
        const void *frame;
        SharedFileKey key;
        memcpy(&key, &result->key, sizeof key);
        if (place->rank == 0)
            g_assert_true(wend_step_frame(place, &frame, &n));
        else {
            const Bytes *own = g_ptr_array_index(j->frames, place->rank);
            frame = own->data;
            n = own->n;
        }
        g_assert_cmpuint(n, ==, place->bytes);
        good = i % 2 && place->rank > 0 ? shared_file_contribute(dir, &key, place->offset, frame, n)
                                        : wend_step_fill(frame, n, place->offset);
    }
    return good;
}

/* Merges RANKS in DIR; how many shards there are. */
static guint merge(GPtrArray *ranks, guint least, const char *dir)
{
    Job j;
    WendStepResult result;
    be_short(G_MAXUINT64);
    job_init(&j, ranks, least);
    g_assert_true(begin_archive(&j, dir, &result));
    guint n = result.n_places;
    if (n > 0) {
        g_assert_true(write_shards(&j, dir, &result));
        g_assert_true(wend_step_finish());
    }
    wend_step_end();
    job_clear(&j);
    gsize bytes;
    g_free(recorded_bytes(dir, &bytes));
    g_assert_cmpuint(bytes, ==, result.bytes);
    return n;
}

/* -- tests -- */

static const struct {
    SimulatedRank *(*rank_of)(guint rank, guint n);
    guint ranks, least, shards;
} cases[] = {
    {irregular_rank, 8, 2, 4}, /* of ranks 0, 2, 4 and 6, and no class at rank 0 */
    {irregular_rank, 8, 4, 2},
    {irregular_rank, 8, 8, 0},
    {irregular_rank, 7, 2, 3}, /* rank 0 has rank 6 */
    {irregular_rank, 13, 4, 3},
    {large_irregular_rank, 8, 16, 4},
    {large_irregular_rank, 7, 16, 3}, /* rank 4 waits for rank 6 */
    {large_irregular_rank, 3, 8, 3},
    {half_irregular_rank, 16, 2, 4}, /* the others are one class at rank 0 */
    {stencil_rank, 8, 2, 0},
    {trips_rank, 8, 2, 0},
};

static void test_round_trip(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) ranks = rows_of(cases[i].ranks, cases[i].rank_of);
        char *dir = recorded_folder();
        g_test_message("case %u", i);
        g_assert_cmpuint(merge(ranks, cases[i].least, dir), ==, cases[i].shards);
        check(dir, ranks);
        if (cases[i].rank_of != stencil_rank) /* some of its calls take no time */
            check_times(dir);
        discard(dir);
    }
}

/* Without shards the archive is, byte by byte, what it is without the tree. */
static void test_no_shards(void)
{
    g_autoptr(GPtrArray) ranks = rows_of(8, stencil_rank);
    char *dir = recorded_folder(), *other = record(ranks, NULL, NULL);
    merge(ranks, 2, dir);
    gsize n, m;
    g_autofree char *a = recorded_bytes(dir, &n), *b = recorded_bytes(other, &m);
    g_assert_cmpmem(a, n, b, m);
    discard(dir);
    discard(other);
}

/* What RANK has when it gives, by the merge with GLib. FRAMES: GByteArray, of ranks with shards. */
static WendMerge *merge_with_glib(const GPtrArray *parts, guint rank, guint least,
                                  GHashTable *frames)
{
    const GByteArray *part = g_ptr_array_index(parts, rank);
    WendMerge *m = merge_from_part(part->data, part->len, G_MAXUINT64, NULL);
    Vector *frame = NULL;
    for (guint step = 1;; step *= 2) {
        if (!frame && tree_may_shard(rank, step, parts->len, least))
            g_assert_true(write_make_shard(m, least, &frame, NULL));
        if (rank & step || rank + step >= parts->len)
            break;
        WendMerge *other = merge_with_glib(parts, rank + step, least, frames);
        AUTO(Vector) bytes = merge_encode(other);
        merge_free(other);
        g_assert_true(merge_absorb(m, bytes->data, bytes->len, NULL));
    }
    if (frame)
        g_hash_table_insert(frames, GUINT_TO_POINTER(rank), frame);
    return m;
}

static void record_with_glib(const GPtrArray *parts, guint least, const char *dir)
{
    g_autoptr(GHashTable) frames =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)vector_unref);
    AUTO(Vector) places = NULL;
    SharedFile file;
    WendArchiveResult result;
    WendMerge *m = merge_with_glib(parts, 0, least, frames);
    g_assert_true(write_has_frames(m));
    g_assert_true(write_archive_begin(m, dir, NULL, &file, &places, &result, NULL));
    for (guint i = 0; i < places->len; i++) {
        const WendFramePlace *place = &VECTOR_AT(places, WendFramePlace, i);
        const Vector *frame = g_hash_table_lookup(frames, GUINT_TO_POINTER(place->rank));
        g_assert_true(shared_file_write(&file, place->offset, frame->data, frame->len, NULL));
    }
    g_assert_true(shared_file_end(&file, NULL));
    merge_free(m);
}

/* Both builds of the merge write the same. */
static void test_same_bytes(void)
{
    g_autoptr(GPtrArray) ranks = rows_of(13, irregular_rank);
    char *dir = recorded_folder(), *other = recorded_folder();
    Job j;
    job_init(&j, ranks, 2);
    g_assert_cmpuint(merge(ranks, 2, dir), >, 2);
    record_with_glib(j.parts, 2, other);
    job_clear(&j);
    gsize n, m;
    g_autofree char *a = recorded_bytes(dir, &n), *b = recorded_bytes(other, &m);
    g_assert_cmpmem(a, n, b, m);
    discard(dir);
    discard(other);
}

/* A shard that never comes: no archive, and nothing left. */
static void test_given_up(void)
{
    g_autoptr(GPtrArray) ranks = rows_of(4, irregular_rank);
    char *dir = recorded_folder();
    Job j;
    WendStepResult result;
    be_short(G_MAXUINT64);
    job_init(&j, ranks, 2);
    g_assert_true(begin_archive(&j, dir, &result));
    g_assert_cmpuint(result.n_places, ==, 2);
    wend_step_end();
    g_assert_false(wend_step_finish());
    job_clear(&j);
    discard(dir); /* it is empty */
}

/* Wherever memory ends, a step fails, and nothing is left. */
static void test_short(void)
{
    g_autoptr(GPtrArray) ranks = rows_of(4, irregular_rank);
    guint failed = 0;
    gboolean good = FALSE;
    for (guint64 at = 1; !good; at++) {
        char *dir = recorded_folder();
        Job j;
        WendStepResult result;
        be_short(G_MAXUINT64);
        job_init(&j, ranks, 2);
        be_short(at);
        good =
            begin_archive(&j, dir, &result) && write_shards(&j, dir, &result) && wend_step_finish();
        wend_step_end();
        g_assert_cmpuint(wend_step_held(), ==, 0);
        failed += !good;
        job_clear(&j);
        discard(dir);
    }
    g_assert_cmpuint(failed, >, 4);
}

/* -- archives that were made to harm -- */

/* An archive of three shards. "program" has no class, since all ranks are in shards. */
static const char *const names[] = {"program", "program.0", "program.2", "program.4"};
enum { MEMBERS = G_N_ELEMENTS(names) };

static Bytes *member_of(const char *dir, const char *name)
{
    Container *b = container_open(dir, NULL);
    Bytes *bytes = container_member(b, name, NULL);
    g_assert_nonnull(bytes);
    container_free(b);
    return bytes;
}

/* Writes the members of these names and, with SHARDS as the list of shards, META. The message with
 * which the archive is refused; NULL: it is not. g_free. */
static char *refusal(const char *dir, Bytes *meta, const char *shards, Bytes *const *members)
{
    Error *error = NULL;
    g_autoptr(GKeyFile) keys = g_key_file_new();
    g_key_file_load_from_data(keys, (const char *)meta->data, meta->n, 0, NULL);
    g_key_file_set_value(keys, "recording", "shards", shards);
    gsize length;
    g_autofree char *text = g_key_file_to_data(keys, &length, NULL);
    ContainerWriter *w = container_writer_new(0);
    for (guint i = 0; i < MEMBERS; i++)
        container_add(w, names[i], members[i]->data, members[i]->n);
    container_add(w, "meta", text, length);
    g_assert_true(container_finish(w, dir, CONTAINER_FILE, NULL, NULL));
    WendProgram *p = program_open(dir, &error);
    g_assert_true((!p) == (error != NULL));
    char *message = error ? g_strdup(error->message) : NULL;
    if (error) {
        g_assert_true(error && error->code == WEND_ERROR_INPUT);
        g_assert_null(strchr(message, '\n'));
    }
    error_clear(&error);
    program_free(p);
    return message;
}

static void test_hostile(void)
{
    g_autoptr(GPtrArray) ranks = rows_of(6, irregular_rank), more = rows_of(8, irregular_rank);
    char *dir = recorded_folder(), *other = recorded_folder();
    g_assert_cmpuint(merge(ranks, 2, dir), ==, 3);
    g_assert_cmpuint(merge(more, 2, other), ==, 4);
    AUTO(Bytes)
    meta = member_of(dir, "meta"), program = member_of(dir, "program"),
    zero = member_of(dir, "program.0"), two = member_of(dir, "program.2"),
    four = member_of(dir, "program.4"), of_eight = member_of(other, "program.4");
    Bytes *const right[] = {program, zero, two, four}, *const twice[] = {program, zero, two, two},
                 *const empty[] = {program, zero, two, program},
                 *const exchanged[] = {program, zero, four, two},
                 *const larger[] = {program, zero, two, of_eight};
    static const char bad_list[] = "their first ranks are no ascending numbers",
                      twice_bad[] = "a rank is in two classes", *no_such = "has no member program.";
    const struct {
        const char *shards;
        Bytes *const *members;
        const char *problem;
    } all[] = {
        {"0;2;4", right, NULL},
        {"0;2;4;", right, NULL},
        {"0;2", right, "a rank is in none of them"},
        {"2;4", right, "a rank is in none of them"},
        {"0;4;2", right, bad_list},
        {"0;2;2;4", right, bad_list},
        {"0;0;2;4", right, bad_list},
        {"-2;4", right, bad_list},
        {"-1;0;2;4", right, bad_list},
        {"", right, bad_list},
        {";", right, bad_list},
        {"two", right, bad_list},
        {"0;2;4;16777216", right, bad_list},
        {"0;2;4;99999999999999999999", right, bad_list},
        {"0;2;3;4", right, no_such},
        {"0;2;4;5", right, no_such},
        {"0;2;4", twice, twice_bad},
        {"0;2;4", empty, "rank 4 is not the first of program.4"},
        {"0;2;4", exchanged, "rank 2 is not the first of program.2"},
        {"0;2;4", larger, "another member of the archive has another number of ranks"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
        g_autofree char *message = refusal(dir, meta, all[i].shards, all[i].members);
        g_test_message("shards %s: %s", all[i].shards, message ? message : "read");
        g_assert_true(all[i].problem ? message && strstr(message, all[i].problem) : !message);
    }
    discard(dir);
    discard(other);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/shards/round-trip", test_round_trip);
    g_test_add_func("/shards/no-shards", test_no_shards);
    g_test_add_func("/shards/same-bytes", test_same_bytes);
    g_test_add_func("/shards/given-up", test_given_up);
    g_test_add_func("/shards/short", test_short);
    g_test_add_func("/shards/hostile", test_hostile);
    return g_test_run();
}
