/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c: see matrix.h. */
#include "config.h"

#include "matrix.h"

#include "base/allowance.h"
#include "follower.h"

enum { PAIR_MEMORY = 128 }; /* bytes of a pair and of its entry in the hash table */

/* Takes TIMES equal transfers of RANK. FALSE ends the pass. */
typedef gboolean (*Take)(gpointer data, guint rank, const Transfer *t, guint64 times);

typedef struct {
    Transfer transfer;
    guint64 times;
} FoundTransfer;

/* A pass over all transfers of certain kinds (a bit for each TrafficKind). */
typedef struct {
    const WendProgram *program;
    const WendMembers *members;
    guint kinds;
    Take take;
    gpointer data;
    gboolean going;
    TrafficScan *scan;
    guint rank, sequence; /* the current ones */
    guint64 times;        /* the calls of the current signature */
    GArray *found;        /* Found, of the current sequence */
    /* whether the current call is of these kinds; whether its handles are ambiguous or unknown */
    gboolean wanted, unclear;
} Pass;

static gboolean is_wanted(const Pass *pass, TrafficKind kind)
{
    return (pass->kinds >> kind & 1) != 0;
}

/* -- by signatures -- */

static guint comm_of_call(Pass *pass, const WendCall *call)
{
    gboolean ambiguous = FALSE;
    gint64 word = transfer_object(call, WEND_KIND_COMM);
    gint64 window = word == WEND_ABSENT ? transfer_object(call, WEND_KIND_WIN) : WEND_ABSENT;
    if (window != WEND_ABSENT)
        word = traffic_scan_window(pass->scan, window, &ambiguous);
    guint comm = members_number(pass->members, pass->rank, pass->sequence, word, 0);
    pass->unclear |= ambiguous || (comm == WEND_COMM_UNKNOWN && word_is_handle(word));
    return comm;
}

static void visit_signature(gpointer data, const WendCall *call, TrafficKind kind, guint64 bytes)
{
    Pass *pass = data;
    FoundTransfer found = {.transfer = {.bytes = bytes}, .times = pass->times};
    if (!is_wanted(pass, kind))
        return;
    pass->wanted = TRUE;
    /* The call is valid until the scan gives another one. */
    follower_place(pass->members, pass->rank, call, comm_of_call(pass, call), &found.transfer);
    found.transfer.kind = kind;
    g_array_append_val(pass->found, found);
}

/* Finds the transfers of the current sequence by its signatures. FALSE: the signatures do not
 * determine them. */
static gboolean find_by_signatures(Pass *pass, Counts *counts, guint rule)
{
    guint n;
    const guint32 *terminals = counts_of_rule(counts, rule, &n);
    g_array_set_size(pass->found, 0);
    for (guint i = 0; i < n; i++) {
        pass->times = counts_terminal(counts, terminals[i]);
        pass->wanted = pass->unclear = FALSE;
        gboolean clear =
            traffic_scan_call(pass->scan, terminals[i], pass->rank, visit_signature, pass);
        if (pass->wanted && (!clear || pass->unclear))
            return FALSE;
    }
    return TRUE;
}

static void take_found(Pass *pass)
{
    for (guint i = 0; i < pass->found->len && pass->going; i++) {
        const FoundTransfer *f = &g_array_index(pass->found, FoundTransfer, i);
        pass->going = pass->take(pass->data, pass->rank, &f->transfer, f->times);
    }
}

/* -- by calls -- */

static void take_followed(gpointer data, const Transfer *t)
{
    Pass *pass = data;
    if (is_wanted(pass, t->kind) && pass->going)
        pass->going = pass->take(pass->data, pass->rank, t, 1);
}

static void walk_sequence(Pass *pass)
{
    WendWalk *walk = walk_new(pass->program, pass->rank, pass->sequence, WEND_WALK_MAIN);
    Follower *follower = follower_new(pass->program, pass->members, pass->rank);
    const WendCall *call;
    while (pass->going && (call = walk_next(walk)) != NULL) {
        follower_next(follower, walk, call);
        follower_each(follower, take_followed, pass);
    }
    follower_free(follower);
    walk_free(walk);
}

/* -- all -- */

static void pass_class(Pass *pass, Counts *counts, guint index)
{
    const WendClass *class = program_class(pass->program, index);
    pass->scan = traffic_scan_new(pass->program, counts, index);
    for (guint q = 0; q < class->n_sequences && pass->going; q++) {
        pass->sequence = q;
        for (guint r = 0; r < class->n_ranks && pass->going; r++) {
            pass->rank = class->ranks[r];
            if (find_by_signatures(pass, counts, class->sequences[q].rule))
                take_found(pass);
            else
                walk_sequence(pass);
        }
    }
    traffic_scan_free(pass->scan);
}

static void pass_all(const WendProgram *p, const WendMembers *m, guint kinds, Take take,
                     gpointer data)
{
    Counts *counts = counts_new(p);
    Pass pass = {.program = p,
                 .members = m,
                 .kinds = kinds,
                 .take = take,
                 .data = data,
                 .going = TRUE,
                 .found = g_array_new(FALSE, FALSE, sizeof(FoundTransfer))};
    for (guint i = 0; i < program_n_classes(p) && pass.going; i++)
        if (program_class(p, i)->n_sequences > 0)
            pass_class(&pass, counts, i);
    g_array_unref(pass.found);
    counts_free(counts);
}

/* -- pairs -- */

typedef struct {
    Allowance *allowance;
    GArray *pairs;
    Map *index; /* Ends -> index + 1 */
} MatrixPairs;

typedef struct {
    gint64 source, destination;
} Ends;

static gboolean take_pair(gpointer data, guint rank, const Transfer *t, guint64 times)
{
    MatrixPairs *pairs = data;
    gint64 other = t->process >= 0 ? t->process : WEND_UNKNOWN;
    Ends ends = {t->inward ? other : rank, t->inward ? rank : other};
    void *at = map_get_bytes(pairs->index, &ends, sizeof ends);
    if (!at) {
        MatrixPair pair = {ends.source, ends.destination, {0}};
        if (!allowance_take(pairs->allowance, 1, PAIR_MEMORY))
            return FALSE;
        g_array_append_val(pairs->pairs, pair);
        map_put_bytes(pairs->index, &ends, sizeof ends, at = OF_NUMBER(pairs->pairs->len));
    }
    traffic_add(&g_array_index(pairs->pairs, MatrixPair, NUMBER_OF(at) - 1).amount, t->bytes,
                times);
    return TRUE;
}

/* Unknown ends come last. */
static gint compare_ends(gint64 a, gint64 b)
{
    guint64 x = (guint64)a, y = (guint64)b;
    return x < y ? -1 : x > y;
}

static gint compare_pairs(gconstpointer a, gconstpointer b)
{
    const MatrixPair *p = a, *q = b;
    gint order = compare_ends(p->source, q->source);
    return order != 0 ? order : compare_ends(p->destination, q->destination);
}

GArray *matrix_pairs(const WendProgram *p, const WendMembers *m, guint kinds, guint64 max_size,
                     const char *name, Error **error)
{
    MatrixPairs pairs = {allowance_new(max_size), g_array_new(FALSE, FALSE, sizeof(MatrixPair)),
                         map_of_bytes(NULL)};
    allowance_add_archive(pairs.allowance, program_archive_size(p));
    pass_all(p, m, kinds, take_pair, &pairs);
    map_unref(pairs.index);
    if (allowance_error(pairs.allowance, name, error))
        g_clear_pointer(&pairs.pairs, g_array_unref);
    else
        g_array_sort(pairs.pairs, compare_pairs);
    allowance_unref(pairs.allowance);
    return pairs.pairs;
}

/* -- sizes -- */

typedef struct {
    Traffic *sizes;
    guint64 unsized;
} Sizes;

static gboolean take_size(gpointer data, guint rank, const Transfer *t, guint64 times)
{
    Sizes *sizes = data;
    (void)rank;
    if (t->bytes == TRANSFER_UNSIZED)
        sizes->unsized += times;
    else
        traffic_add(&sizes->sizes[t->bytes == 0 ? 0 : 64 - __builtin_clzll(t->bytes)], t->bytes,
                    times);
    return TRUE;
}

guint64 matrix_sizes(const WendProgram *p, const WendMembers *m, guint kinds,
                     Traffic sizes[MATRIX_SIZES])
{
    Sizes all = {sizes, 0};
    pass_all(p, m, kinds, take_size, &all);
    return all.unsized;
}
