/* SPDX-License-Identifier: BSD-3-Clause */
/* dump-text.c: what "wend dump" prints, from wend/read.h alone: so the interface is enough for it,
 * and both say the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "wend/read.h"

static void print_value(const WendReadValue *v, bool walked);

static void print_handle(const WendReadHandle *h, bool walked)
{
    static const char *const names[] = {[WEND_READ_KIND_COMMUNICATOR] = "comm",
                                        [WEND_READ_KIND_GROUP] = "group",
                                        [WEND_READ_KIND_DATATYPE] = "type",
                                        [WEND_READ_KIND_OP] = "op",
                                        [WEND_READ_KIND_ERRHANDLER] = "errhandler",
                                        [WEND_READ_KIND_INFO] = "info",
                                        [WEND_READ_KIND_FILE] = "file",
                                        [WEND_READ_KIND_WINDOW] = "win",
                                        [WEND_READ_KIND_MESSAGE] = "message",
                                        [WEND_READ_KIND_SESSION] = "session",
                                        [WEND_READ_KIND_KEYVAL] = "keyval",
                                        [WEND_READ_KIND_REQUEST] = "req",
                                        [WEND_READ_KIND_FUNCTION] = "function",
                                        [WEND_READ_KIND_NEIGHBOURS] = NULL};
    if (h->communicator != WEND_READ_NO_INDEX) {
        printf("comm#%u", h->communicator);
        return;
    }
    printf("%s%s#", names[h->kind] ? names[h->kind] : "handle",
           h->kind == WEND_READ_KIND_COMMUNICATOR && walked ? "?" : "");
    if (h->thread != 0)
        printf("%u.", h->thread);
    printf("%u", h->number);
}

static void print_address(const WendReadAddress *a)
{
    static const char *const memory[] = {"heap", "stack", "static", "mpi", "win", "map", "cuda"};
    if (a->remote >= 0)
        printf("%d:", a->remote);
    printf("%s#", memory[a->memory]);
    if (a->thread != 0)
        printf("%u.", a->thread);
    printf("%u", a->number);
    if (a->offset != 0)
        printf("%+" PRId64, a->offset);
}

static void print_number(int64_t n, const char *name)
{
    if (name != NULL)
        printf("%s", name);
    else if (n == WEND_READ_UNKNOWN || n == WEND_READ_ABSENT)
        printf("%s", n == WEND_READ_UNKNOWN ? "unknown" : "-");
    else
        printf("%" PRId64, n);
}

static void print_status(const WendReadStatus *s)
{
    printf("{source=");
    print_number(s->source, s->source_name);
    printf(", tag=");
    print_number(s->tag, s->tag_name);
    printf(", bytes=");
    print_number(s->bytes, NULL);
    printf("%s", s->cancelled ? ", cancelled" : "");
    if (s->error != 0)
        printf(", error=%" PRId64, s->error);
    printf("}");
}

static void print_list(const WendReadValue *list, bool walked, const char *const *names)
{
    WendReadValue v;
    printf("%c", names != NULL ? '{' : '[');
    for (uint64_t i = 0; i < list->length; i++) {
        if (wend_read_element(list, i, &v) < 0)
            abort();
        printf("%s", i > 0 ? ", " : "");
        if (names != NULL)
            printf("%s=", names[i]);
        print_value(&v, walked);
    }
    printf("%c", names != NULL ? '}' : ']');
}

/* Strings of the recordings at hand are printable, but for quotes and backslashes. */
static void print_string(const WendReadString *s)
{
    putchar('"');
    for (size_t i = 0; i < s->length; i++)
        printf(s->bytes[i] == '"' || s->bytes[i] == '\\' ? "\\%c" : "%c", s->bytes[i]);
    putchar('"');
}

static void print_value(const WendReadValue *v, bool walked)
{
    switch (v->type) {
    case WEND_READ_NOT_SIGNIFICANT:
        printf("-");
        break;
    case WEND_READ_NOT_KNOWN:
        printf("unknown");
        break;
    case WEND_READ_NULL:
        printf("NULL");
        break;
    case WEND_READ_NUMBER:
        printf("%" PRId64, v->number);
        break;
    case WEND_READ_LOGICAL:
        printf("%s", v->number ? "true" : "false");
        break;
    case WEND_READ_CONSTANT:
        printf("%s", v->constant);
        break;
    case WEND_READ_HANDLE:
        print_handle(&v->handle, walked);
        break;
    case WEND_READ_PLACE:
        print_address(&v->place.to);
        break;
    case WEND_READ_DISTANCE:
        print_address(&v->place.to);
        printf(" - ");
        print_address(&v->place.from);
        break;
    case WEND_READ_STATUS:
        print_status(&v->status);
        break;
    case WEND_READ_STRING:
        print_string(&v->string);
        break;
    case WEND_READ_LIST:
        print_list(v, walked, NULL);
        break;
    default:
        break;
    }
}

typedef int Side(const WendReadCall *, uint32_t, WendReadValue *);

static bool print_side(const WendReadCall *call, Side *side, const char *before)
{
    static const char *const neighbours[] = {"sources", "destinations", "sourceweights",
                                             "destweights"};
    for (uint32_t i = 0; i < call->function->n_parameters; i++) {
        const WendReadParameter *p = wend_read_parameter(call->function, i);
        WendReadValue v;
        if (side(call, i, &v) < 0)
            abort();
        if (v.type == WEND_READ_NOTHING || p->kind == WEND_READ_KIND_SELF)
            continue;
        printf("%s%s=", before, p->name);
        before = ", ";
        if (p->kind == WEND_READ_KIND_NEIGHBOURS && v.type == WEND_READ_LIST)
            print_list(&v, true, neighbours);
        else
            print_value(&v, true);
    }
    return true;
}

static void print_call(WendRead *r, const WendReadCall *call)
{
    if (call->poll)
        printf("%9s  ", "-");
    else
        printf("%9" PRIu64 "  ", call->index);
    printf("%s(", call->function->name);
    print_side(call, wend_read_input, "");
    printf(") -> ");
    if (call->unfinished)
        printf("unfinished");
    else if (wend_read_error_name(r, call->return_code) != NULL)
        printf("%s", wend_read_error_name(r, call->return_code));
    else
        printf("error %" PRId64, call->return_code);
    print_side(call, wend_read_output, ", ");
    printf("\n");
}

static void print_sequence(WendRead *r, uint32_t rank, uint32_t index)
{
    const WendReadFacts *facts;
    const WendReadRank *info;
    const WendReadSequence *s;
    const WendReadCall *call;
    WendReadCalls *calls;
    if (wend_read_facts(r, WEND_READ_JOB, &facts) < 0 || wend_read_rank(r, rank, &info) < 0
        || wend_read_sequence(r, rank, index, &s) < 0)
        abort();
    printf("# rank %u", rank);
    if (facts->n_worlds > 1)
        printf(" (rank %u of world %u)", info->world_rank, info->world);
    if (s->callback && s->id < 0)
        printf(", callback of the MPI library\n");
    else
        printf(", %s %" PRId64 "\n", s->callback ? "callback" : "thread", s->id);
    if (wend_read_calls(r, rank, index, WEND_READ_WITH_POLLS, &calls) < 0)
        abort();
    while (wend_read_next(calls, &call) == 0 && call != NULL)
        print_call(r, call);
    wend_read_calls_free(calls);
}

int main(int argc, char **argv)
{
    const WendReadFacts *facts;
    const WendReadRank *rank;
    WendRead *r = wend_read_new();
    if (wend_read_open(r, argc > 1 ? argv[1] : "trace.dir") < 0
        || wend_read_facts(r, WEND_READ_JOB, &facts) < 0) {
        fprintf(stderr, "%s\n", wend_read_message(r));
        return 1;
    }
    for (uint32_t i = 0; i < facts->n_ranks && wend_read_rank(r, i, &rank) == 0; i++)
        for (uint32_t s = 0, n = rank->n_sequences; s < n; s++)
            print_sequence(r, i, s);
    wend_read_free(r);
    return 0;
}
