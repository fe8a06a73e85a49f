/* SPDX-License-Identifier: BSD-3-Clause */
/* print-messages.c: which send met which receive, as lines "0:5 -> 1:7 tag 3, 80 bytes": call 5 of
 * rank 0, call 7 of rank 1. What met nothing has no partner.
 *
 *     cc print-messages.c $(pkg-config --cflags --libs wend-read) -o print-messages
 *     ./print-messages trace.dir
 */
#include <inttypes.h>
#include <stdio.h>

#include <wend/read.h>

static void print_place(const WendReadCallPlace *p)
{
    if (p->call == WEND_READ_NO_CALL)
        printf("nothing");
    else
        printf("%" PRIu32 ":%" PRIu64, p->rank, p->call);
}

int main(int argc, char **argv)
{
    WendReadMessages *messages = NULL;
    const WendReadMessage *m = NULL;
    WendRead *r = wend_read_new();
    int status = wend_read_open(r, argc > 1 ? argv[1] : "trace.dir");
    if (status == 0)
        status = wend_read_messages(r, &messages);
    while (status == 0 && (status = wend_read_next_message(messages, &m)) == 0 && m != NULL) {
        print_place(&m->sent);
        printf(" -> ");
        print_place(&m->posted);
        if (m->tag != WEND_READ_UNKNOWN)
            printf(" tag %" PRId64, m->tag);
        if (m->bytes_sent != WEND_READ_UNKNOWN)
            printf(", %" PRId64 " bytes", m->bytes_sent);
        printf("%s\n", m->cancelled ? ", cancelled" : "");
    }
    if (status < 0)
        fprintf(stderr, "%s\n", wend_read_message(r));
    wend_read_messages_free(messages);
    wend_read_free(r);
    return status < 0;
}
