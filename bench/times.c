/* SPDX-License-Identifier: BSD-3-Clause */
/* times.c: compares codings of the times of calls: table 8 of the Pilgrim paper.
 *
 * Usage: times [-e PERCENT] RECORDING…
 *
 * Each recording was made with wend trace --times=lossless. Its durations and intervals are coded
 * in each way, rank by rank, in buffers of 1 MB, and decoded. The last line is the coding of
 * `--times=10%` with another context, the rule of the grammar and the position in it, which the
 * recorder does not know yet when it codes. Printed are the compression ratio (a
 * time is a double, 8 bytes, as in the paper) and the PSNR: 20 log10 of the range of the times over
 * the root of the mean squared error. */
#include "config.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../lib/read/cursor.h"
#include "../lib/read/program.h"
#include "../lib/read/sequence-times.h"
#include "times-codings.h"

/* -- the times of a recording -- */

typedef struct {
    GArray *calls;      /* WendTimedCall; the place is that of the recorder: by shape */
    GArray *signatures; /* guint32, for clusters */
    GArray *positions;  /* guint32: where in the rules of the grammar the call is */
} Times;

/* Numbers for positions in rules, in the order in which they come first. */
typedef struct {
    RuleCursor cursor;
    GHashTable *numbers; /* const WendSymbol * -> number */
} Positions;

static void positions_begin(Positions *at, const WendProgram *p, guint rank, guint sequence)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    rule_cursor_init(&at->cursor, program_rule(p, 0), class->sequences[sequence].rule);
    at->numbers = g_hash_table_new(NULL, NULL);
}

static guint positions_next(Positions *at)
{
    guint32 terminal;
    if (!rule_cursor_next(&at->cursor, &terminal))
        return 0;
    const RuleFrame *top = &at->cursor.stack[at->cursor.depth - 1];
    gboolean stays = top->symbol < top->end && top->left < top->symbol->repeats;
    gpointer here = (gpointer)(stays ? top->symbol : top->symbol - 1);
    if (!g_hash_table_contains(at->numbers, here))
        g_hash_table_insert(at->numbers, here,
                            GUINT_TO_POINTER(g_hash_table_size(at->numbers) + 1));
    return GPOINTER_TO_UINT(g_hash_table_lookup(at->numbers, here));
}

static void positions_end(Positions *at)
{
    rule_cursor_clear(&at->cursor);
    g_hash_table_unref(at->numbers);
}

static void add_sequence(GPtrArray *all, const WendProgram *p, guint rank, guint sequence)
{
    WendSequenceTimes *t = sequence_times_new(p, rank, sequence, NULL);
    if (!t)
        return;
    WendWalk *w = walk_new(p, rank, sequence, WEND_WALK_POLLS);
    Times *times = g_new0(Times, 1);
    times->calls = g_array_new(FALSE, FALSE, sizeof(WendTimedCall));
    times->signatures = g_array_new(FALSE, FALSE, sizeof(guint32));
    times->positions = g_array_new(FALSE, FALSE, sizeof(guint32));
    Positions at;
    positions_begin(&at, p, rank, sequence);
    guint32 position = positions_next(&at); /* of the next call; polls come before it */
    WendCallTime time;
    gint64 end = 0;
    const WendCall *call;
    while ((call = walk_next(w)) && sequence_times_next(t, &time)) {
        guint32 signature = 2 * call->terminal + (call->poll != 0);
        guint32 here = 2 * position + (call->poll != 0);
        if (!call->poll)
            position = positions_next(&at);
        WendTimedCall one = {2 * call->shape + (call->poll != 0), time.start - end, time.duration};
        if (time.duration == WEND_DURATION_UNKNOWN)
            continue;
        end = time.start + time.duration;
        if (one.interval < 0)
            one.interval = 0;
        if (times->calls->len == 0)
            one.interval = 0; /* from the start of the process */
        g_array_append_val(times->calls, one);
        g_array_append_val(times->signatures, signature);
        g_array_append_val(times->positions, here);
    }
    positions_end(&at);
    times_tick = sequence_times_head(t)->tick;
    sequence_times_free(t);
    walk_free(w);
    g_ptr_array_add(all, times);
}

static GPtrArray *times_of(const WendProgram *p)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint rank = 0; rank < program_ranks(p); rank++) {
        const WendClass *class = program_class(p, program_class_of(p, rank));
        for (guint i = 0; i < class->n_sequences; i++)
            add_sequence(all, p, rank, i);
    }
    return all;
}

/* -- one coding -- */

typedef struct {
    guint64 n, bytes[2]; /* durations, intervals */
    double least[2], most[2], squares[2];
} Result;

static void compare(Result *r, int which, gint64 value, gint64 decoded)
{
    double v = (double)value, off = (double)decoded - v;
    r->least[which] = r->n == 0 ? v : MIN(r->least[which], v);
    r->most[which] = r->n == 0 ? v : MAX(r->most[which], v);
    r->squares[which] += off * off;
}

static void code_row(Result *r, const WendDurationCoding *coding, gboolean clusters, gpointer to,
                     gpointer from, const WendTimedCall *calls, gsize n)
{
    WendBuf bytes[2] = {WEND_BUF_INIT, WEND_BUF_INIT};
    g_autofree WendTimedCall *decoded = g_new0(WendTimedCall, n);
    for (gsize i = 0; i < n; i++)
        decoded[i].place = calls[i].place;
    if (clusters)
        times_encode_clustered(coding, to, calls, n, &bytes[0], &bytes[1]);
    else
        coding->encode(to, calls, n, &bytes[0], &bytes[1]);
    WendCursor c[2] = {cursor_of(bytes[0].data, bytes[0].len),
                       cursor_of(bytes[1].data, bytes[1].len)};
    bool good = clusters ? times_decode_clustered(coding, from, decoded, n, &c[0], &c[1])
                         : coding->decode(from, decoded, n, &c[0], &c[1]);
    if (!good)
        g_error("%s: cannot be decoded", coding->name);
    for (gsize i = 0; i < n; i++) {
        compare(r, 0, calls[i].duration, decoded[i].duration);
        compare(r, 1, calls[i].interval, decoded[i].interval);
        r->n++;
    }
    for (int i = 0; i < 2; i++) {
        r->bytes[i] += bytes[i].len;
        buf_clear(&bytes[i]);
    }
}

typedef enum { BY_SHAPE, BY_SIGNATURE, BY_POSITION } PlaceOf;

static Result code_all(GPtrArray *all, const WendDurationCoding *coding, PlaceOf place,
                       guint percent)
{
    gboolean clusters = place == BY_SIGNATURE;
    Result r = {0};
    g_autofree gpointer to = g_malloc0(coding->memory), from = g_malloc0(coding->memory);
    for (guint i = 0; i < all->len; i++) {
        const Times *t = all->pdata[i];
        g_autofree WendTimedCall *calls =
            g_memdup2(t->calls->data, t->calls->len * sizeof(WendTimedCall));
        const GArray *places = clusters ? t->signatures : t->positions;
        for (guint k = 0; place != BY_SHAPE && k < t->calls->len; k++)
            calls[k].place = g_array_index(places, guint32, k);
        coding->init(to, percent);
        coding->init(from, percent);
        for (gsize at = 0; at < t->calls->len; at += WEND_DURATION_ROW)
            code_row(&r, coding, clusters, to, from, calls + at,
                     MIN(t->calls->len - at, WEND_DURATION_ROW));
    }
    return r;
}

/* Of I: 0, durations; 1, intervals. */
static double ratio_of(const Result *r, int i)
{
    return 8.0 * (double)r->n / (double)r->bytes[i];
}

static void print_result(const char *name, PlaceOf place, const Result *r)
{
    static const char *const ways[] = {"", "clustered", "by position"};
    printf("%-18s%-12s", name, ways[place]);
    for (int i = 0; i < 2; i++) {
        double mean = r->squares[i] / (double)r->n;
        double psnr = 20 * log10(r->most[i] - r->least[i]) - 10 * log10(mean);
        printf("%9.2f", ratio_of(r, i));
        if (mean > 0)
            printf("%9.2f", psnr);
        else
            printf("%9s", "exact");
    }
    putchar('\n');
}

/* Whether BINS, the coding of `--times=10%`, compresses 1.5 times as well as HIST or better, at no
 * greater mean squared error (no worse PSNR): the aim. Prints a line for each that does not. */
static gboolean reaches(const char *path, const Result *bins, const Result *hist)
{
    static const char *const what[] = {"durations", "intervals"};
    gboolean good = TRUE;
    for (int i = 0; i < 2; i++) {
        if (ratio_of(bins, i) >= 1.5 * ratio_of(hist, i) && bins->squares[i] <= hist->squares[i])
            continue;
        printf("%s: %s: less than 1.5 times the compression of HIST, or a worse PSNR\n", path,
               what[i]);
        good = FALSE;
    }
    return good;
}

static gboolean print_recording(const char *path, guint percent)
{
    Result bins = {0}, hist = {0};
    static const struct {
        const WendDurationCoding *coding;
        PlaceOf place;
    } codings[] = {
#ifdef HAVE_ZFP
        {&times_zfp_tight, BY_SHAPE}, {&times_zfp_tight, BY_SIGNATURE},
        {&times_zfp_loose, BY_SHAPE}, {&times_zfp_loose, BY_SIGNATURE},
#endif
        {&times_sz, BY_SHAPE},        {&times_sz, BY_SIGNATURE},
        {&times_hist8, BY_SHAPE},     {&times_hist8, BY_SIGNATURE},
        {&times_hist3, BY_SHAPE},     {&times_hist3, BY_SIGNATURE},
        {&times_cfg, BY_SHAPE},       {&times_cfg, BY_SIGNATURE},
    };
    Error *error = NULL;
    WendProgram *p = program_open(path, &error);
    if (!p)
        g_error("%s", error->message);
    GPtrArray *all = times_of(p);
    guint64 n = 0;
    for (guint i = 0; i < all->len; i++)
        n += ((Times *)all->pdata[i])->calls->len;
    printf("%s: %u sequences, %" G_GUINT64_FORMAT " calls, error %u %%\n", path, all->len, n,
           percent);
    printf("%30s%18s%18s\n%30s", "", "durations", "intervals", "");
    printf("%9s%9s%9s%9s\n", "ratio", "PSNR", "ratio", "PSNR");
    for (gsize i = 0; n > 0 && i < G_N_ELEMENTS(codings); i++) {
        Result r = code_all(all, codings[i].coding, codings[i].place, percent);
        print_result(codings[i].coding->name, codings[i].place, &r);
        if (codings[i].coding == &times_hist8 && codings[i].place == BY_SHAPE)
            hist = r;
    }
    for (guint i = 0; n > 0 && i < WEND_DURATIONS; i++) {
        const WendDurationCoding *coding = durations_coding(i);
        Result r = code_all(all, coding, BY_SHAPE, percent);
        print_result(coding->name, BY_SHAPE, &r);
        if (i == WEND_DURATIONS_BINS)
            bins = r;
    }
    if (n > 0) {
        const WendDurationCoding *coding = durations_coding(WEND_DURATIONS_BINS);
        Result r = code_all(all, coding, BY_POSITION, percent);
        print_result(coding->name, BY_POSITION, &r);
    }
    gboolean good = n == 0 || reaches(path, &bins, &hist);
    for (guint i = 0; i < all->len; i++) {
        Times *t = all->pdata[i];
        g_array_unref(t->calls);
        g_array_unref(t->signatures);
        g_array_unref(t->positions);
        g_free(t);
    }
    g_ptr_array_unref(all);
    program_free(p);
    return good;
}

int main(int argc, char **argv)
{
    guint percent = 10;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-e") == 0) {
        percent = (guint)g_ascii_strtoull(argv[2], NULL, 10);
        first = 3;
    }
    if (argc <= first || percent < WEND_DURATION_LEAST || percent > WEND_DURATION_MOST) {
        fprintf(stderr,
                "usage: times [-e PERCENT] RECORDING... (of wend trace --times=lossless)\n");
        return 2;
    }
    gboolean good = TRUE;
    for (int i = first; i < argc; i++)
        good &= print_recording(argv[i], percent);
    return good ? 0 : 1;
}
