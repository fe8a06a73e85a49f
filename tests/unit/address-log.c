/* SPDX-License-Identifier: BSD-3-Clause */
/* address-log: which displacements are differences of addresses in different segments. The tracer's
 * memory files are linked into the test. */
#include <stdio.h>
#include <stdlib.h>

#include "src/tracer/memory/address.h"

static void is(const AddressLog *a, const int64_t *values, int64_t n, int64_t base, int line)
{
    int64_t found = address_log_base(a, (Displacements){values, n, sizeof *values});
    if (found != base) {
        fprintf(stderr, "%s:%d: the base is %llx, not %llx\n", __FILE__, line, (long long)found,
                (long long)base);
        exit(1);
    }
}
#define IS(base, ...)                         \
    is(asked, (const int64_t[]){__VA_ARGS__}, \
       sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (base), __LINE__)

static AddressLog *asked;
static int64_t ask(const char *address)
{
    memory_where(address); /* MPI_Get_address gives the segment its id */
    address_log_add(&asked, (int64_t)address);
    return (int64_t)address;
}

static void fresh(void)
{
    free(asked);
    asked = NULL;
}

int main(void)
{
    char *pa = calloc(1, 1000), *pb = calloc(1, 1000), *pc = calloc(1, 100000),
         *pd = calloc(1, 5000);
    int64_t a = ask(pa), b = ask(pb + 16), c = ask(pc);
    IS(0, 0);
    IS(0, 0, 8, 16); /* nothing like it was asked */
    IS(a, 0, b - a);
    IS(a, 0, b - a, c - a, 8);
    IS(c, a - c, 0, b - c); /* whichever it is, and where it stands */
    IS(b, a - b);
    IS(a, 0, b - a, b - a + 8); /* reckoned on, within a segment that was asked for */
    IS(0, 0, b - a, 1 << 20);   /* leads nowhere */
    IS(0, a, b, c);             /* addresses themselves */
    IS(0, 0, INT64_MAX, INT64_MIN);

    /* members of one block, and the bound of the last, just behind it */
    fresh();
    a = ask(pa);
    ask(pa + 8);
    ask(pa + 1000);
    IS(0, 0, 8, 1000);
    IS(0, 8);

    /* The same distance lies between others too: those that explain more of the row are right, or
     * those asked for later. */
    fresh();
    ask(pb + 80); /* long ago */
    a = ask(pa);
    ask(pa + 8);
    ask(pa + 64);
    b = ask(pb + 16);
    IS(a, 0, 8, b - a);
    IS(a, 0, b - a);

    /* What was freed is no base, and no place to go to. */
    fresh();
    a = ask(pa);
    int64_t gone = ask(pd);
    IS(a, 0, gone - a);
    free(pd);
    IS(0, 0, gone - a);

    /* Nor is what came after it at its place, until that is asked for: small displacements are as
     * long as blocks are apart. */
    fresh();
    char *first = malloc(24), *second = malloc(24);
    a = ask(first);
    b = ask(second);
    IS(a, 0, b - a);
    free(second);
    free(first);
    first = malloc(24);
    second = malloc(24);
    if ((int64_t)first == a && (int64_t)second == b) {
        memory_where(first);
        memory_where(second);
        IS(0, 0, b - a);
        ask(first);
        IS(0, 0, b - a);
        ask(second);
        IS(a, 0, b - a);
    }
    free(first);
    free(second);

    /* The oldest are forgotten, but not what is asked again and again. */
    fresh();
    a = ask(pa);
    for (int i = 0; i < 5000; i++) {
        ask(pc + 16 * i);
        if (i % 100 == 0)
            ask(pa);
    }
    c = (int64_t)pc;
    IS(a, 0, c + 16 * 4999 - a, c + 16 * 4000 - a);
    IS(0, 0, b - a);

    /* 32 bits */
    const int32_t narrow[] = {0, -5};
    if (address_log_displacement((Displacements){narrow, 2, sizeof *narrow}, 1) != -5)
        return 1;
    free(pa);
    free(pb);
    free(pc);
    fresh();
    return 0;
}
