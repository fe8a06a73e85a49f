/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.c: fuzzes the reader of call frame information, which runs in the application's process.
 * The input is three numbers of four bytes and what a module has in memory: where its section
 * .eh_frame_hdr is in that, its bytes, and the entry of its table from which on addresses are asked
 * for. Nothing beside this memory can be read, neither below nor above it.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. tests/unit/frame-rules.c damages what real modules
 * have. */
#include "src/tracer/side-streams/frame-rules.h"

#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exercise.h"

enum { HEAD = 12, ENTRIES = 64, STACK = 1 << 20 };

/* -- memory with nothing beside it -- */

typedef struct {
    guint8 *map, *memory;
    gsize page, room; /* MEMORY has ROOM bytes, whole pages; a page before and after has none */
} Fenced;

static Fenced fenced_new(gsize size)
{
    Fenced f = {.page = (gsize)sysconf(_SC_PAGESIZE)};
    f.room = (size + f.page - 1) / f.page * f.page;
    f.map = mmap(NULL, f.room + 2 * f.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    f.memory = f.map + f.page;
    if (f.map == MAP_FAILED || mprotect(f.memory, f.room, PROT_READ | PROT_WRITE) != 0)
        g_error("no memory");
    return f;
}

static void fenced_free(Fenced *f)
{
    munmap(f->map, f->room + 2 * f->page);
}

/* -- rules -- */

static Fenced stack;

/* Whether a rule is one that frame-rules.h describes, and leads no further than it says. */
static void check(const FrameRule *rule)
{
    uintptr_t address, sp = (uintptr_t)stack.memory, high = sp + stack.room;
    Frame f = {sp, sp};
    bool by_register = rule->base == FRAME_OF_STACK_POINTER || rule->base == FRAME_OF_FRAME_POINTER;
    if (rule->base > FRAME_OUTERMOST || rule->saved > 0 || (by_register && rule->offset <= 0))
        g_error("a rule that is none");
    if (frame_up(rule, high, &f, &address)
        && (!by_register || f.stack_pointer <= sp || f.stack_pointer > high))
        g_error("a frame where none can be");
}

static guint32 number(const guint8 *p)
{
    guint32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Asks for rules within the functions of the table, of which FIRST is one. */
static void ask(const guint8 *memory, gsize size, gsize from, gsize n, guint32 first)
{
    enum { TABLE = 12, ENTRY = 8, FUNCTION = 2048 };
    const guint8 *header = memory + from;
    uintptr_t low = (uintptr_t)memory, high = low + size, pcs[] = {0, low, high, UINTPTR_MAX};
    for (gsize i = 0; i < G_N_ELEMENTS(pcs); i++) {
        FrameRule rule = frame_rule(header, n, low, high, pcs[i]);
        check(&rule);
    }
    gsize entries = n < TABLE ? 0 : (n - TABLE) / ENTRY;
    for (gsize i = 0; i < MIN(entries, ENTRIES); i++) {
        gint32 start = (gint32)number(header + TABLE + (first + i) % entries * ENTRY);
        for (gsize at = 0; at <= FUNCTION; at = 2 * at + 1) {
            FrameRule rule = frame_rule(header, n, low, high,
                                        (uintptr_t)header + (uintptr_t)(gintptr)start + at);
            check(&rule);
        }
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    if (size < HEAD)
        return 0;
    gsize from = number(data), n = number(data + 4), first = number(data + 8);
    size -= HEAD;
    from = MIN(from, size);
    n = MIN(n, size - from);
    if (!stack.map)
        stack = fenced_new(STACK);
    Fenced f = fenced_new(size);
    guint8 *places[] = {f.memory, f.memory + f.room - size}; /* next to each of the fences */
    for (gsize i = 0; i < G_N_ELEMENTS(places); i++) {
        memcpy(places[i], data + HEAD, size);
        ask(places[i], size, from, n, (guint32)first);
    }
    fenced_free(&f);
    return 0;
}
