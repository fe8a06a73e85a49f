/* SPDX-License-Identifier: BSD-3-Clause */
/* find-loops.c: the loops of rank 0, from the grammar alone. Nothing is expanded, so that a loop of
 * a billion iterations takes no longer than one of two.
 *
 *     cc find-loops.c $(pkg-config --cflags --libs wend-read) -o find-loops
 *     ./find-loops trace.dir
 */
#include <inttypes.h>
#include <stdio.h>

#include <wend/read.h>

enum { RANK = 0, DEEPEST = 100 };

static int print_rule(WendRead *r, uint32_t rule, int depth)
{
    const WendReadRule *info;
    const WendReadCall *call;
    WendReadSymbol s;
    int status = wend_read_rule(r, rule, &info);
    for (uint32_t i = 0, n = status == 0 ? info->n_symbols : 0; status == 0 && i < n; i++) {
        int inside = depth;
        if ((status = wend_read_symbol(r, rule, i, &s)) < 0)
            break;
        if (s.repeats > 1)
            printf("%*srepeat %" PRIu64 "\n", 2 * inside++, "", s.repeats);
        if (s.is_rule && depth < DEEPEST) {
            status = print_rule(r, s.number, inside);
        } else if (s.is_rule) {
            printf("%*s...\n", 2 * inside, "");
        } else if ((status = wend_read_signature(r, s.number, RANK, &call)) == 0) {
            printf("%*s%s\n", 2 * inside, "", call->function->name);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    const WendReadSequence *sequence;
    WendRead *r = wend_read_new();
    int status = wend_read_open(r, argc > 1 ? argv[1] : "trace.dir");
    if (status == 0)
        status = wend_read_sequence(r, RANK, 0, &sequence);
    if (status == 0)
        status = print_rule(r, sequence->rule, 0);
    if (status < 0)
        fprintf(stderr, "%s\n", wend_read_message(r));
    wend_read_free(r);
    return status < 0;
}
