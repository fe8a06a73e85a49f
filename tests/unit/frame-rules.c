/* SPDX-License-Identifier: BSD-3-Clause */
/* frame-rules.c: the rules from frames to callers, of the modules of this process and the MPI
 * library. They are those that libdw reads from the files. Where the call frame information is
 * damaged at random, nothing beside it is read (tests/fuzz/frames.c).
 *
 * frame-rules [SEED [ROUNDS]]: other random numbers, and ROUNDS of damage for each module. */
#include "config.h"

#include "src/tracer/side-streams/frame-rules.h"

#include <dlfcn.h>
#include <elf.h>
#include <glib.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/exercise.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#endif

#ifdef __x86_64__

enum { WORD = 8, FRAME_POINTER = 6, STACK_POINTER = 7 }; /* registers in DWARF's numbering */

static GRand *chance;
static guint rounds = 300, functions = 400; /* for each module */

/* -- modules -- */

static guint32 word_at(const guint8 *p)
{
    guint32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && h->p_flags & PF_X) {
            uintptr_t address = info->dlpi_addr + h->p_vaddr;
            g_array_append_val((GArray *)user, address);
            break;
        }
    }
    return 0;
}

/* An address of code in each module. */
static GArray *all_modules(void)
{
    static const char *const mpi[] = {"libmpich.so.12", "libmpi.so.12", "libmpi.so.40"};
    for (gsize i = 0; i < G_N_ELEMENTS(mpi); i++)
        if (dlopen(mpi[i], RTLD_LAZY | RTLD_LOCAL))
            break;
    GArray *modules = g_array_new(FALSE, FALSE, sizeof(uintptr_t));
    dl_iterate_phdr(add_module, modules);
    return modules;
}

static CodeModule module_of(uintptr_t address)
{
    CodeModule m, now;
    unsigned long long unloaded;
    g_assert_true(code_module_of(address, &m, &unloaded));
    if (code_module_now(address, &now))
        g_assert_true(now.frames == m.frames && now.n_frames == m.n_frames
                      && now.frames_low == m.frames_low && now.frames_high == m.frames_high);
    return m;
}

/* The table of .eh_frame_hdr: N pairs of four bytes, relative to the header, a function and its
 * description. */
typedef struct {
    const guint8 *at;
    guint n;
} FunctionTable;

enum { TABLE_HEAD = 12, TABLE_ENTRY = 8 };

static FunctionTable functions_of(const CodeModule *m)
{
    static const guint8 head[] = {1, 0x1b, 0x03, 0x3b}; /* as all linkers make it */
    if (!m->frames || m->n_frames < TABLE_HEAD || memcmp(m->frames, head, sizeof head) != 0)
        return (FunctionTable){NULL, 0};
    return (FunctionTable){m->frames + TABLE_HEAD, word_at(m->frames + 8)};
}

static intptr_t in_table(const FunctionTable *t, guint function, guint which)
{
    return (gint32)word_at(t->at + TABLE_ENTRY * (gsize)function + 4 * (gsize)which);
}

/* This program has gaps between its segments (LDFLAGS in tests/unit/local.mk). */
static void test_readable(gconstpointer user)
{
    enum { PIECE = 1024 };
    const GArray *modules = user;
    for (guint i = 0; i < modules->len; i++) {
        CodeModule m = module_of(g_array_index(modules, uintptr_t, i));
        if (!m.frames)
            continue;
        uintptr_t header = (uintptr_t)m.frames;
        g_assert_true(header >= m.frames_low && header + m.n_frames <= m.frames_high);
        for (uintptr_t at = m.frames_low; at + WORD <= m.frames_high; at += PIECE) {
            uintptr_t word;
            g_assert_true(frame_read(at, &word));
        }
    }
}

/* -- rules that are right -- */

#ifdef HAVE_LIBDW

static bool is_register(const Dwarf_Op *op, guint number, gint64 *offset)
{
    if (op->atom == DW_OP_bregx && op->number == number)
        *offset = (gint64)op->number2;
    else if (op->atom == DW_OP_breg0 + number)
        *offset = (gint64)op->number;
    else
        return false;
    return true;
}

/* How a register is saved: N operations, which are at OPS, maybe in MEMORY. */
typedef struct {
    Dwarf_Op memory[3], *ops;
    size_t n;
} Saved;

static void find_saved(Saved *s, Dwarf_Frame *frame, int number)
{
    g_assert_cmpint(dwarf_frame_register(frame, number, s->memory, &s->ops, &s->n), ==, 0);
}

static bool is_unchanged(const Saved *s)
{
    return s->n == 0 && !s->ops;
}

/* Whether it is at the CFA and *OFFSET bytes. */
static bool is_at_cfa(const Saved *s, gint64 *offset)
{
    *offset = s->n == 2 ? (gint64)s->ops[1].number : 0;
    return s->n > 0 && s->ops[0].atom == DW_OP_call_frame_cfa
           && (s->n == 1 || (s->n == 2 && s->ops[1].atom == DW_OP_plus_uconst));
}

/* Whether it is at the frame pointer and *OFFSET bytes. An expression begins with the CFA, which
 * this one does not use. */
static bool is_by_frame(const Saved *s, gint64 *offset)
{
    return s->n == 2 && s->ops[0].atom == DW_OP_call_frame_cfa
           && is_register(&s->ops[1], FRAME_POINTER, offset);
}

/* The rule that follows from what libdw knows of a frame. */
static FrameRule rule_by(Dwarf_Frame *frame)
{
    FrameRule rule = {FRAME_UNKNOWN, 0, 0};
    gint64 offset, at, saved = 0;
    Dwarf_Op *cfa;
    size_t n;
    Saved address, pointer;
    find_saved(&address, frame, dwarf_frame_info(frame, NULL, NULL, NULL));
    find_saved(&pointer, frame, FRAME_POINTER);
    if (address.n == 0 && address.ops)
        return (FrameRule){FRAME_OUTERMOST, 0, 0};
    if (dwarf_frame_cfa(frame, &cfa, &n) != 0 || !is_at_cfa(&address, &at) || at != -WORD)
        return rule;
    if (n == 2 && is_register(&cfa[0], FRAME_POINTER, &offset) && cfa[1].atom == DW_OP_deref
        && is_by_frame(&pointer, &saved) && saved <= 0)
        return (FrameRule){FRAME_ALIGNED, (gint32)offset, (gint32)saved};
    bool known = is_unchanged(&pointer) || (is_at_cfa(&pointer, &saved) && saved < 0);
    if (!known || n != 1)
        return rule;
    if (is_register(cfa, STACK_POINTER, &offset) && offset > 0)
        rule = (FrameRule){FRAME_OF_STACK_POINTER, (gint32)offset, (gint32)saved};
    else if (is_register(cfa, FRAME_POINTER, &offset) && offset > 0)
        rule = (FrameRule){FRAME_OF_FRAME_POINTER, (gint32)offset, (gint32)saved};
    return rule;
}

static guint n_rules[FRAME_OUTERMOST + 1];

static void compare(const CodeModule *m, Dwarf_CFI *cfi, uintptr_t pc)
{
    Dwarf_Frame *frame = NULL;
    FrameRule right = {FRAME_UNKNOWN, 0, 0};
    if (dwarf_cfi_addrframe(cfi, pc - m->base, &frame) == 0)
        right = rule_by(frame);
    free(frame);
    FrameRule rule = frame_rule(m->frames, m->n_frames, m->frames_low, m->frames_high, pc);
    if (rule.base != right.base || rule.offset != right.offset || rule.saved != right.saved)
        g_error("%s: rule %d %d %d at 0x%zx, and not %d %d %d", m->file, rule.base, rule.offset,
                rule.saved, (gsize)(pc - m->base), right.base, right.offset, right.saved);
    n_rules[rule.base]++;
}

/* Compares rules at places of M's functions: of all, or as many as are asked for. */
static void compare_module(const CodeModule *m, Dwarf_CFI *cfi)
{
    enum { PLACES = 8, LAST = 64 };
    FunctionTable t = functions_of(m);
    guint step = MAX(1, t.n / functions);
    for (guint i = 0; i < t.n; i += step) {
        uintptr_t start = (uintptr_t)m->frames + (uintptr_t)in_table(&t, i, 0);
        uintptr_t next =
            i + 1 < t.n ? (uintptr_t)m->frames + (uintptr_t)in_table(&t, i + 1, 0) : start + LAST;
        compare(m, cfi, start);
        compare(m, cfi, next - 1);
        for (int k = 0; k < PLACES; k++)
            compare(m, cfi, start + g_rand_int(chance) % MAX(1, next - start));
    }
}

static void test_right(gconstpointer user)
{
    static const Dwfl_Callbacks how = {.section_address = dwfl_offline_section_address,
                                       .find_debuginfo = dwfl_standard_find_debuginfo};
    const GArray *modules = user;
    guint compared = 0;
    for (guint i = 0; i < modules->len; i++) {
        CodeModule m = module_of(g_array_index(modules, uintptr_t, i));
        Dwfl *files = dwfl_begin(&how);
        Dwfl_Module *file = dwfl_report_offline(files, "", *m.file ? m.file : "/proc/self/exe", -1);
        Dwarf_Addr bias; /* of libdw's addresses, which the information has not */
        dwfl_report_end(files, NULL, NULL);
        Dwarf_CFI *cfi = file ? dwfl_module_eh_cfi(file, &bias) : NULL;
        if (cfi && functions_of(&m).n > 0) {
            compare_module(&m, cfi);
            compared++;
        }
        dwfl_end(files);
    }
    g_test_message("%u modules: %u unknown, %u of the stack pointer, %u of the frame pointer, "
                   "%u aligned, %u outermost",
                   compared, n_rules[0], n_rules[1], n_rules[2], n_rules[3], n_rules[4]);
    g_assert_cmpuint(compared, >, 1); /* this program, and the C library */
    for (int base = FRAME_OF_STACK_POINTER; base <= FRAME_OUTERMOST; base++)
        g_assert_cmpuint(n_rules[base], >, 0);
}

#endif

/* A function with an aligned frame, of which C libraries have few. */
__attribute__((noinline)) static int aligned(int n)
{
    _Alignas(64) volatile char memory[64] = {0};
    volatile char more[n + 1];
    more[n] = memory[n];
    return more[n];
}

/* -- damage -- */

static guint any(guint below)
{
    return (guint)g_rand_int(chance) % MAX(1, below);
}

/* A place in the N bytes from FRAMES on that matters to rules of functions from FIRST on. */
static gsize place(const CodeModule *m, gsize n, guint first)
{
    enum { NEAR = 1500, ENTRIES = 64 };
    FunctionTable t = functions_of(m);
    gsize at = 0;
    switch (any(8)) {
    case 0:
        at = any(TABLE_HEAD);
        break;
    case 1:
        at = TABLE_HEAD + TABLE_ENTRY * (gsize)first + any(TABLE_ENTRY * ENTRIES);
        break;
    case 2:
        at = m->n_frames + any(64); /* the first common entry */
        break;
    case 3:
        at = any((guint)n);
        break;
    default:
        at = (gsize)in_table(&t, first, 1) + any(NEAR);
    }
    return MIN(at, n - 1);
}

static void damage(guint8 *p)
{
    static const guint8 values[] = {0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x0b, 0x0f, 0x10, 0x40};
    switch (any(3)) {
    case 0:
        *p ^= (guint8)(1 << any(8));
        break;
    case 1:
        *p = values[any(G_N_ELEMENTS(values))];
        break;
    default:
        *p = (guint8)any(256);
    }
}

static void damage_module(const CodeModule *m)
{
    enum { HEAD = 12, MOST = 40 };
    FunctionTable t = functions_of(m);
    gsize size = m->frames_high - (uintptr_t)m->frames;
    g_autofree guint8 *input = g_malloc(HEAD + size);
    for (guint round = 0; t.n > 0 && round < rounds; round++) {
        guint32 head[] = {0, (guint32)m->n_frames, any(t.n)};
        gsize n = size;
        memcpy(input + HEAD, m->frames, size);
        for (guint i = any(MOST); i > 0; i--)
            damage(input + HEAD + place(m, size, head[2]));
        if (any(4) == 0)
            n = place(m, size, head[2]); /* cut there */
        if (any(8) == 0)
            head[1] = any(head[1]);
        memcpy(input, head, sizeof head);
        LLVMFuzzerTestOneInput(input, HEAD + n);
    }
}

static void test_damage(gconstpointer user)
{
    const GArray *modules = user;
    for (guint i = 0; i < modules->len; i++) {
        CodeModule m = module_of(g_array_index(modules, uintptr_t, i));
        damage_module(&m);
    }
}

int main(int argc, char **argv)
{
    const char *more = g_getenv("LONG");
    guint32 seed = 1;
    g_test_init(&argc, &argv, NULL);
    if (more && *more) {
        rounds *= 20;
        functions = G_MAXUINT;
    }
    if (argc > 1)
        seed = (guint32)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        rounds = (guint)strtoul(argv[2], NULL, 10);
    chance = g_rand_new_with_seed(seed);
    aligned(argc);
    GArray *modules = all_modules();
    g_test_add_data_func("/frame-rules/readable", modules, test_readable);
#ifdef HAVE_LIBDW
    g_test_add_data_func("/frame-rules/right", modules, test_right);
#endif
    g_test_add_data_func("/frame-rules/damage", modules, test_damage);
    int status = g_test_run();
    g_array_free(modules, TRUE);
    g_rand_free(chance);
    return status;
}

#else

int main(void)
{
    enum { SKIPPED = 77 };
    return SKIPPED; /* there are no rules */
}

#endif
