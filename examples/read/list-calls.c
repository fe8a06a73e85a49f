/* SPDX-License-Identifier: BSD-3-Clause */
/* list-calls.c: every call of every rank, with numbers, constants and handles.
 * Compile with: cc list-calls.c $(pkg-config --cflags --libs wend-read) */
#include <inttypes.h>
#include <stdio.h>

#include <wend/read.h>

static void print_argument(const WendReadCall *call, uint32_t i)
{
    WendReadValue v;
    const WendReadParameter *p = wend_read_parameter(call->function, i);
    if (wend_read_input(call, i, &v) < 0 || p->kind == WEND_READ_KIND_SELF)
        return;
    if (v.type == WEND_READ_NUMBER)
        printf(" %s=%" PRId64, p->name, v.number);
    else if (v.type == WEND_READ_CONSTANT)
        printf(" %s=%s", p->name, v.constant);
    else if (v.type == WEND_READ_HANDLE)
        printf(" %s=#%u", p->name, v.handle.number);
}

static int list_sequence(WendRead *r, uint32_t rank, uint32_t sequence)
{
    WendReadCalls *calls;
    const WendReadCall *call;
    if (wend_read_calls(r, rank, sequence, 0, &calls) < 0)
        return -1;
    while (wend_read_next(calls, &call) == 0 && call != NULL) {
        WendReadTransfer t;
        printf("%u.%u %" PRIu64 " %s", rank, sequence, call->index, call->function->name);
        for (uint32_t i = 0; i < call->function->n_parameters; i++)
            print_argument(call, i);
        if (wend_read_transfer(call, &t) == 0 && t.peer_world >= 0)
            printf(" -> rank %" PRId64, t.peer_world);
        printf("\n");
    }
    wend_read_calls_free(calls);
    return 0;
}

int main(int argc, char **argv)
{
    const WendReadFacts *facts;
    const WendReadRank *rank;
    WendRead *r = wend_read_new();
    int status = wend_read_open(r, argc > 1 ? argv[1] : "trace.dir");
    if (status == 0)
        status = wend_read_facts(r, WEND_READ_JOB, &facts);
    for (uint32_t i = 0; status == 0 && i < facts->n_ranks; i++) {
        status = wend_read_rank(r, i, &rank);
        for (uint32_t s = 0, n = rank->n_sequences; status == 0 && s < n; s++)
            status = list_sequence(r, i, s);
    }
    if (status < 0)
        fprintf(stderr, "%s\n", wend_read_message(r));
    wend_read_free(r);
    return status < 0;
}
