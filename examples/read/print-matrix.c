/* SPDX-License-Identifier: BSD-3-Clause */
/* print-matrix.c: who sends how much to whom, as lines "source destination messages bytes".
 *
 *     cc print-matrix.c $(pkg-config --cflags --libs wend-read) -o print-matrix
 *     ./print-matrix trace.dir
 */
#include <inttypes.h>
#include <stdio.h>

#include <wend/read.h>

int main(int argc, char **argv)
{
    const WendReadPair *pairs;
    uint64_t n = 0;
    WendRead *r = wend_read_new();
    int status = wend_read_open(r, argc > 1 ? argv[1] : "trace.dir");
    if (status == 0)
        status = wend_read_matrix(r, WEND_READ_POINT_TO_POINT, &pairs, &n);
    for (uint64_t i = 0; status == 0 && i < n; i++)
        if (pairs[i].destination != WEND_READ_UNKNOWN)
            printf("%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 "\n", pairs[i].source,
                   pairs[i].destination, pairs[i].amount.operations, pairs[i].amount.bytes);
    if (status < 0)
        fprintf(stderr, "%s\n", wend_read_message(r));
    wend_read_free(r);
    return status < 0;
}
