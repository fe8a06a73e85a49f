/* SPDX-License-Identifier: BSD-3-Clause */
/* exercise.c: asks a program for everything, within bounds: an archive of a few bytes may stand for
 * 2^60 calls. */
#include "exercise.h"

#include <glib.h>

#include "../../lib/analysis/matching.h"
#include "../../lib/read/program-private.h"
#include "members.h"
#include "src/command/value.h"
#include "src/read/wrap.h"

WendProgram *exercise_open(const guint8 *data, gsize n, Error **error)
{
    Container *b = members_unpack(data, n);
    return b ? program_from_container(b, error) : NULL;
}

enum { RANKS = 4, CALLS = 500, RUNS = 50, ALL_CALLS = 20000 };

/* As text and as JSON. W NULL: without what only a walk knows. */
static void write_call(GString *text, WendRead *r, const WendWalk *w, const WendCall *c)
{
    const WendReadCall *call = read_wrap_call(r, w, c);
    WendReadValue v;
    value_call(text, r, call);
    for (guint a = 0; a < c->n_args; a++) {
        if (value_argument(call, a, &v))
            value_append(text, call, a, &v, VALUE_JSON);
        if (value_result(call, a, &v))
            value_append(text, call, a, &v, VALUE_JSON);
    }
}

static void walk(const WendProgram *p, guint rank, guint sequence, WendWalkFlags flags)
{
    WendRead *r = read_wrap(p);
    g_autoptr(GString) text = g_string_new(NULL);
    WendWalk *w = walk_new(p, rank, sequence, flags);
    const WendCall *c;
    for (int i = 0; w && i < CALLS && (c = walk_next(w)); i++) {
        guint n;
        WendRequestState state;
        const gint64 *completed = walk_completed(w, &n);
        for (guint k = 0; k < n; k++)
            walk_request(w, completed[k], &state);
        write_call(text, r, i % 2 ? w : NULL, c);
        for (guint a = 0; a < c->n_args; a++) {
            g_free(arg_string(&c->args[a], FALSE));
            g_free(arg_string(&c->args[a], TRUE));
            if (c->args[a].param->kind == WEND_KIND_DATATYPE && c->args[a].n_in == 1)
                walk_datatype_size(w, c->args[a].in[0]);
            if (c->args[a].param->kind == WEND_KIND_COMM && c->args[a].n_in == 1)
                walk_comm(w, c->args[a].in[0]);
        }
        g_string_truncate(text, 0);
    }
    walk_free(w);
    wend_read_free(r);
}

/* Whether all ranks together make few calls. */
static gboolean is_short(const WendProgram *p)
{
    guint64 calls = 0;
    for (guint i = 0; i < program_n_classes(p); i++) {
        const WendClass *k = program_class(p, i);
        for (guint q = 0; q < k->n_sequences; q++) {
            guint64 length = program_rule(p, k->sequences[q].rule)->length;
            if (length > ALL_CALLS)
                return FALSE;
            calls += k->n_ranks * (length + 1);
        }
    }
    return calls <= ALL_CALLS;
}

/* All calls in causal order, and the messages. */
static void match(const WendProgram *p)
{
    WendMembers *members = members_new(p);
    Matching *m = matching_new(p, members, MATCHING_WITH_CALLS, 0);
    MessageEvent e;
    while (matching_next(m, &e)) {
        g_assert_true(e.kind != MESSAGE_MATCHED || e.from == (gint64)e.sent.rank);
        for (guint i = 0; i < e.n_sends; i++)
            g_assert_cmpuint(e.sends[i], >, 0);
        for (guint i = 0; i < e.n_receives; i++)
            g_assert_cmpuint(e.receives[i], >, 0);
    }
    matching_free(m);
    members_free(members);
}

void exercise(const WendProgram *p)
{
    if (is_short(p))
        match(p);
    for (guint i = 0; i < program_n_classes(p); i++) {
        const WendClass *k = program_class(p, i);
        for (guint q = 0; q < k->n_sequences && q < 4; q++) {
            WendTiming duration, interval;
            for (guint t = 0; t < program_n_terminals(p); t++)
                program_timing(p, i, q, t, &duration, &interval);
            for (guint r = 0; r < k->n_ranks && r < RANKS; r++) {
                for (guint shape = 0; shape < program_n_shapes(p); shape++) {
                    WendOutcomes *o = program_outcomes(p, k->ranks[r], q, shape);
                    guint64 repeats;
                    const gint64 *words;
                    guint n;
                    for (int run = 0; run < RUNS && outcomes_next_run(o, &repeats, &words, &n);
                         run++)
                        continue;
                    outcomes_free(o);
                }
                program_polls(p, k->ranks[r], q);
                walk(p, k->ranks[r], q, WEND_WALK_MAIN);
                walk(p, k->ranks[r], q, WEND_WALK_POLLS);
            }
        }
    }
    WendDecoder *d = decoder_new(p);
    for (guint t = 0; t < program_n_terminals(p); t++)
        decoder_call(d, t, 0);
    decoder_free(d);
}

/* What GLib complains of is a fault of the caller's. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
    return 0;
}
