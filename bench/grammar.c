/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/grammar: nanoseconds a symbol of the grammar and a call of the signature table, beside
 * plain baselines in the same run.
 *
 * Prints for each input the median of several runs; beside it what it takes to append the same
 * symbols to a plain array, and to enter each pair of neighbours in a plain hash table; and the
 * ratio to the hash table. Process CPU time. Outcomes: nanoseconds for each, what the recorder
 * holds of them, and what they are written down as. */
#include "../lib/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 5 };

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t random_next(uint64_t *state) /* xorshift64* */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, compare);
    return v[RUNS / 2];
}

/* -- inputs -- */

typedef struct {
    uint32_t *v;
    size_t n;
} Input;

static void loop(Input in, size_t body)
{
    for (size_t i = 0; i < in.n; i++)
        in.v[i] = (uint32_t)(i % body);
}

/* for (;;) { before; for (1 to 8 trips) body; after } */
static void trips(Input in, size_t body)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < in.n;) {
        in.v[i++] = (uint32_t)body;
        for (size_t t = 1 + random_next(&state) % 8; t > 0 && i < in.n; t--)
            for (size_t k = 0; k < body && i < in.n; k++)
                in.v[i++] = (uint32_t)k;
        if (i < in.n)
            in.v[i++] = (uint32_t)body + 1;
    }
}

/* An outer loop of an inner loop and a tail: 20 times 4 symbols, then 10 others. */
static void nest(Input in)
{
    for (size_t i = 0; i < in.n; i++) {
        size_t k = i % 90;
        in.v[i] = (uint32_t)(k < 80 ? k % 4 : k);
    }
}

static void noise(Input in, size_t alphabet)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < in.n; i++)
        in.v[i] = (uint32_t)(random_next(&state) >> 33) % (uint32_t)alphabet;
}

/* -- measures: nanoseconds for each symbol -- */

static double measure_array(Input in)
{
    double runs[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_seconds();
        uint32_t *volatile a = NULL;
        size_t cap = 0;
        for (size_t i = 0; i < in.n; i++) {
            if (i == cap) {
                cap = cap ? cap * 2 : 64;
                a = realloc(a, cap * sizeof *a);
                if (!a)
                    abort();
            }
            a[i] = in.v[i];
        }
        runs[r] = (cpu_seconds() - start) / (double)in.n * 1e9;
        free(a);
    }
    return median(runs);
}

/* What any digram index has to do at least: one table of open addressing, pairs as keys, grown as
 * needed. */
static double measure_hash(Input in)
{
    double runs[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_seconds();
        size_t mask = 63, n = 0;
        uint64_t *table = calloc(mask + 1, sizeof *table);
        for (size_t i = 1; table && i < in.n; i++) {
            if (n > mask / 2) {
                uint64_t *bigger = calloc(mask * 2 + 2, sizeof *table);
                if (!bigger)
                    abort();
                for (size_t k = 0; k <= mask; k++)
                    if (table[k]) {
                        size_t at = (table[k] * 0x9e3779b97f4a7c15u >> 32) & (mask * 2 + 1);
                        while (bigger[at])
                            at = (at + 1) & (mask * 2 + 1);
                        bigger[at] = table[k];
                    }
                free(table);
                table = bigger;
                mask = mask * 2 + 1;
            }
            uint64_t key = ((uint64_t)in.v[i - 1] << 32 | in.v[i]) + 1;
            size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & mask;
            while (table[at] && table[at] != key)
                at = (at + 1) & mask;
            n += table[at] == 0;
            table[at] = key;
        }
        runs[r] = (cpu_seconds() - start) / (double)in.n * 1e9;
        free(table);
    }
    return median(runs);
}

static double measure_grammar(Input in, size_t *memory, size_t *bytes)
{
    double runs[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_seconds();
        WendGrammar *g = grammar_new();
        for (size_t i = 0; i < in.n; i++)
            if (!grammar_append(g, in.v[i], 1))
                abort();
        runs[r] = (cpu_seconds() - start) / (double)in.n * 1e9;
        WendBuf b = WEND_BUF_INIT;
        grammar_encode(g, NULL, &b);
        *memory = grammar_memory(g);
        *bytes = b.len;
        buf_clear(&b);
        grammar_free(g);
    }
    return median(runs);
}

static void bench_grammar(const char *name, Input in)
{
    size_t memory, bytes;
    double array = measure_array(in), hash = measure_hash(in),
           grammar = measure_grammar(in, &memory, &bytes);
    printf("%-30s %8.1f %8.1f %8.1f %8.1f %12zu %10zu\n", name, array, hash, grammar,
           grammar / hash, memory, bytes);
}

/* -- the signature table: calls of 10 shape words and 5 slots, in a loop over so many signatures
 * -- */

enum { SHAPE = 10, SLOTS = 5 };

static void bench_cst(const char *name, size_t signatures, bool shuffled)
{
    const size_t calls = 2000000;
    double hit[RUNS], copied[RUNS];
    uint64_t state = 1;
    int64_t shape[SHAPE], slots[SLOTS], *sink = calloc(SHAPE + SLOTS, sizeof *sink);
    uint32_t *order = malloc(calls * sizeof *order);
    if (!sink || !order)
        abort();
    for (size_t i = 0; i < calls; i++)
        order[i] = (uint32_t)((shuffled ? random_next(&state) >> 20 : i) % signatures);
    for (int r = 0; r < RUNS; r++) {
        WendCst *t = cst_new();
        for (int pass = 0; pass < 2; pass++) { /* the first only makes the signatures' words */
            double start = cpu_seconds();
            for (size_t i = 0; i < calls; i++) {
                for (size_t k = 0; k < SHAPE; k++)
                    shape[k] = (int64_t)((order[i] & 31) * SHAPE + k);
                for (size_t k = 0; k < SLOTS; k++)
                    slots[k] = (int64_t)(order[i] / 32 + k);
                if (pass == 0)
                    for (size_t k = 0; k < SHAPE + SLOTS; k++)
                        ((volatile int64_t *)sink)[k] = k < SHAPE ? shape[k] : slots[k - SHAPE];
                else if (!cst_terminal(t, shape, SHAPE, slots, SLOTS))
                    abort();
            }
            (pass ? hit : copied)[r] = (cpu_seconds() - start) / (double)calls * 1e9;
        }
        cst_free(t);
    }
    double c = median(copied), h = median(hit);
    printf("%-30s %8.1f %8.1f %8.1f\n", name, c, h, h / c);
    free(sink);
    free(order);
}

/* -- outcomes: entries of 6 words, of which two tell them apart -- */

enum { OUTCOME = 6 };

static void bench_outcomes(const char *name, Input in)
{
    double runs[RUNS];
    size_t memory = 0, bytes = 0, without = 0;
    for (int r = 0; r < RUNS; r++) {
        WendCst *t = cst_new();
        int64_t words[OUTCOME] = {0};
        if (!t || !cst_terminal(t, words, 1, NULL, 0))
            abort();
        for (int pass = 0; pass < 2; pass++) { /* before: the table by itself */
            WendBuf b = WEND_BUF_INIT;
            double start = cpu_seconds();
            for (size_t i = 0; pass && i < in.n; i++) {
                words[2] = in.v[i] & 15;
                words[3] = in.v[i] >> 4;
                if (!cst_outcome(t, 0, words, OUTCOME))
                    abort();
            }
            runs[r] = (cpu_seconds() - start) / (double)in.n * 1e9;
            cst_encode(t, false, NULL, 0, &b);
            memory = cst_memory(t) - (pass ? without : 0);
            without = memory;
            bytes = b.len;
            buf_clear(&b);
        }
        cst_free(t);
    }
    printf("%-30s %8.1f %12zu %10zu\n", name, median(runs), memory, bytes);
}

/* Turns of eight, but for one in so many that comes too early. */
static void disturbed(Input in, size_t one_in)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < in.n; i++)
        in.v[i] = i % 8;
    for (size_t i = 1; i < in.n; i += 1 + random_next(&state) % (2 * one_in)) {
        uint32_t before = in.v[i - 1];
        in.v[i - 1] = in.v[i];
        in.v[i] = before;
    }
}

static void bench_request(void)
{
    const size_t calls = 2000000;
    double runs[RUNS];
    int64_t shape[SHAPE] = {1}, slots[SLOTS] = {2};
    for (int r = 0; r < RUNS; r++) {
        WendCst *t = cst_new();
        double start = cpu_seconds();
        for (size_t i = 0; i < calls; i++) {
            WendPoolKey key;
            uint32_t number;
            slots[0] = (int64_t)(i & 7);
            if (!cst_request(t, shape, SHAPE, slots, SLOTS, true, &key, &number))
                abort();
            cst_release(t, key);
        }
        runs[r] = (cpu_seconds() - start) / (double)calls * 1e9;
        cst_free(t);
    }
    printf("%-30s %8s %8.1f\n", "request taken and given back", "", median(runs));
}

int main(int argc, char **argv)
{
    Input in = {NULL, argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000};
    in.v = malloc(in.n * sizeof *in.v);
    if (!in.v || in.n < 1)
        return 2;
    printf("%zu symbols, ns each %12s %8s %8s %8s %12s %10s\n", in.n, "array", "hash", "grammar",
           "ratio", "memory", "encoded");
    loop(in, 1), bench_grammar("one symbol", in);
    loop(in, 10), bench_grammar("loop of 10", in);
    loop(in, 200), bench_grammar("loop of 200", in);
    loop(in, 10000), bench_grammar("loop of 10000", in);
    nest(in), bench_grammar("loop in a loop", in);
    trips(in, 10), bench_grammar("1 to 8 trips of 10", in);
    trips(in, 200), bench_grammar("1 to 8 trips of 200", in);
    noise(in, 8), bench_grammar("random of 8", in);
    noise(in, 100), bench_grammar("random of 100", in);
    noise(in, 1000), bench_grammar("random of 1000", in);
    noise(in, 1000000), bench_grammar("random of 1000000", in);
    printf("\n%zu outcomes, ns each %21s %12s %10s\n", in.n, "", "memory", "encoded");
    loop(in, 1), bench_outcomes("one outcome", in);
    loop(in, 4), bench_outcomes("4 in turn", in);
    loop(in, 1000), bench_outcomes("1000 in turn", in);
    nest(in), bench_outcomes("turns in turns", in);
    trips(in, 10), bench_outcomes("1 to 8 turns of 10", in);
    disturbed(in, 1000), bench_outcomes("8 in turn, but for 1 in 1000", in);
    disturbed(in, 100), bench_outcomes("8 in turn, but for 1 in 100", in);
    disturbed(in, 10), bench_outcomes("8 in turn, but for 1 in 10", in);
    noise(in, 2), bench_outcomes("random of 2", in);
    noise(in, 8), bench_outcomes("random of 8", in);
    noise(in, 1000), bench_outcomes("random of 1000", in);
    noise(in, 1000000), bench_outcomes("random of 1000000", in);
    free(in.v);
    printf("\ncalls of 15 words, ns each %12s %8s %8s\n", "copied", "terminal", "ratio");
    bench_cst("one signature", 1, false);
    bench_cst("loop over 10 signatures", 10, false);
    bench_cst("loop over 1000 signatures", 1000, false);
    bench_cst("10 signatures, random order", 10, true);
    bench_cst("1000 signatures, random order", 1000, true);
    bench_request();
    return 0;
}
