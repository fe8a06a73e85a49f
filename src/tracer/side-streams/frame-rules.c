/* SPDX-License-Identifier: BSD-3-Clause */
/* frame-rules.c: see frame-rules.h. The format is in the Linux Standard Base, "Exception Frames",
 * and in DWARF 5, section 6.4. */
#include "frame-rules.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/lower-bound.h"

enum { WORD = sizeof(uintptr_t) };

#ifdef __x86_64__

enum { FRAME_POINTER = 6, STACK_POINTER = 7 }; /* registers in DWARF's numbering */

/* Reads within [p, end); FAILED after a read that does not fit. */
typedef struct {
    const uint8_t *p, *end;
    bool failed;
} Input;

static uint64_t fixed(Input *in, size_t n)
{
    uint64_t v = 0;
    if (in->failed || (size_t)(in->end - in->p) < n) {
        in->failed = true;
        return 0;
    }
    memcpy(&v, in->p, n);
    in->p += n;
    return v;
}

static uint64_t uleb(Input *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; !in->failed; shift += 7) {
        uint8_t byte = (uint8_t)fixed(in, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    return 0;
}

static int64_t sleb(Input *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; !in->failed;) {
        uint8_t byte = (uint8_t)fixed(in, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            return (int64_t)(shift < 64 && (byte & 0x40) ? v | UINT64_MAX << shift : v);
    }
    return 0;
}

static void skip(Input *in, uint64_t n)
{
    if (in->failed || (uint64_t)(in->end - in->p) < n)
        in->failed = true;
    else
        in->p += n;
}

enum { ENCODED_PC = 0x10, ENCODED_DATA = 0x30, ENCODED_NOT = 0xff };

/* An encoded pointer. DATA: what those relative to data count from. */
static uintptr_t pointer(Input *in, uint8_t encoding, uintptr_t data)
{
    uintptr_t from = (uintptr_t)in->p;
    uint64_t v = 0;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        v = fixed(in, 8);
        break;
    case 0x01:
        v = uleb(in);
        break;
    case 0x02:
        v = fixed(in, 2);
        break;
    case 0x03:
        v = fixed(in, 4);
        break;
    case 0x09:
        v = (uint64_t)sleb(in);
        break;
    case 0x0a:
        v = (uint64_t)(int64_t)(int16_t)fixed(in, 2);
        break;
    case 0x0b:
        v = (uint64_t)(int64_t)(int32_t)fixed(in, 4);
        break;
    default:
        in->failed = true;
    }
    switch (encoding & 0x70) {
    case 0:
        return v;
    case ENCODED_PC:
        return v + from;
    case ENCODED_DATA:
        return v + data;
    default:
        in->failed = true;
        return 0;
    }
}

/* -- where the description of a function is -- */

/* What the entries of a module say of a function. */
typedef struct {
    uint64_t code_unit;
    int64_t data_unit;
    uint8_t encoding; /* of pointers */
    bool augmented;   /* entries have augmentation data */
    uint64_t return_column;
    Input first, then; /* instructions: common ones, and those of the function */
    uintptr_t start, bytes;
} Description;

/* The entry at AT: its contents without the length. */
static Input entry(const uint8_t *at, uintptr_t low, uintptr_t high)
{
    Input in = {at, (const uint8_t *)high, (uintptr_t)at < low || (uintptr_t)at >= high};
    uint64_t n = fixed(&in, 4);
    if (n == 0 || n >= 0xfffffff0 || n > (uint64_t)(in.end - in.p))
        in.failed = true; /* the end of the section, or 64-bit DWARF */
    else
        in.end = in.p + n;
    return in;
}

/* Reads a common information entry (CIE). */
static bool read_common(Input in, Description *d)
{
    if (fixed(&in, 4) != 0)
        return false;
    uint8_t version = (uint8_t)fixed(&in, 1);
    const char *augmentation = (const char *)in.p;
    size_t n = in.failed ? 0 : strnlen(augmentation, (size_t)(in.end - in.p));
    skip(&in, n + 1);
    if ((version != 1 && version != 3) || (n > 0 && augmentation[0] != 'z'))
        return false;
    d->code_unit = uleb(&in);
    d->data_unit = sleb(&in);
    d->return_column = version == 1 ? fixed(&in, 1) : uleb(&in);
    d->encoding = 0;
    d->augmented = n > 0;
    if (d->augmented) {
        uint64_t bytes = uleb(&in);
        Input data = in;
        skip(&in, bytes);
        if (in.failed)
            return false;
        data.end = in.p;
        for (size_t i = 1; i < n; i++) {
            if (augmentation[i] == 'R') {
                d->encoding = (uint8_t)fixed(&data, 1);
            } else if (augmentation[i] == 'P') {
                uint8_t how = (uint8_t)fixed(&data, 1);
                pointer(&data, how & 0x7f, 0);
            } else if (augmentation[i] == 'L') {
                fixed(&data, 1);
            } else if (augmentation[i] != 'S') {
                break;
            }
        }
        if (data.failed)
            return false;
    }
    d->first = in;
    return !in.failed;
}

static bool read_description(const uint8_t *at, uintptr_t low, uintptr_t high, Description *d)
{
    Input in = entry(at, low, high);
    const uint8_t *from = in.p;
    uint64_t back = fixed(&in, 4);
    if (in.failed || back == 0 || back > (uint64_t)(from - (const uint8_t *)low))
        return false;
    Input common = entry(from - back, low, high);
    if (common.failed || !read_common(common, d))
        return false;
    d->start = pointer(&in, d->encoding, 0);
    d->bytes = pointer(&in, d->encoding & 0x0f, 0);
    if (d->augmented)
        skip(&in, uleb(&in));
    d->then = in;
    return !in.failed;
}

enum { TABLE = ENCODED_DATA | 0x0b };

/* Number I of the table that begins at IN. */
static uint64_t table_at(const Input *in, size_t i, const uint8_t *header)
{
    Input at = {in->p + 4 * i, in->end, false};
    return pointer(&at, TABLE, (uintptr_t)header);
}

/* Finds the description for PC by the sorted table of .eh_frame_hdr. */
static bool find(const uint8_t *header, size_t n, uintptr_t low, uintptr_t high, uintptr_t pc,
                 Description *d)
{
    Input in = {header, header + n, false};
    uint8_t version = (uint8_t)fixed(&in, 1), frames = (uint8_t)fixed(&in, 1);
    uint8_t counted = (uint8_t)fixed(&in, 1), table = (uint8_t)fixed(&in, 1);
    if (in.failed || version != 1 || counted == ENCODED_NOT || table != TABLE)
        return false;
    pointer(&in, frames, (uintptr_t)header);
    uint64_t count = pointer(&in, counted, (uintptr_t)header);
    if (in.failed || count == 0 || count > (uint64_t)(in.end - in.p) / 8)
        return false;
    /* the last one that starts at PC or before; rows have a start and where the description is */
    size_t last = LAST_WHERE(i, count, table_at(&in, 2 * i, header) <= pc);
    return read_description((const uint8_t *)table_at(&in, 2 * last + 1, header), low, high, d)
           && pc >= d->start && pc - d->start < d->bytes;
}

/* -- the rule -- */

typedef struct {
    uint64_t base; /* register; or none that is known */
    int64_t offset, saved;
    bool is_saved, lost; /* LOST: how the frame pointer is saved has no rule */
    bool by_frame;       /* it is saved at the frame pointer, and not at the CFA */
    bool returns;        /* the return address is just below the CFA */
    bool outermost;      /* there is no return address */
} Row;
enum { KEPT_ROWS = 8, NO_BASE = -1, STORED_BASE = -2 };

typedef struct {
    const Description *d;
    uintptr_t at, pc;
    Row row, initial, kept[KEPT_ROWS];
    unsigned n_kept;
} Run;

/* In bytes; of damaged ones modulo 2^64. */
static int64_t in_bytes(const Run *r, int64_t units)
{
    return (int64_t)((uint64_t)units * (uint64_t)r->d->data_unit);
}

static void save(Run *r, uint64_t which, int64_t offset)
{
    const int64_t bytes = in_bytes(r, offset);
    if (which == r->d->return_column) {
        r->row.returns = bytes == -WORD;
        r->row.outermost = false;
    }
    if (which != FRAME_POINTER)
        return;
    r->row.is_saved = true;
    r->row.lost = r->row.by_frame = false;
    r->row.saved = bytes;
}

static void restore(Run *r, uint64_t which)
{
    if (which == r->d->return_column) {
        r->row.returns = r->initial.returns;
        r->row.outermost = r->initial.outermost;
    }
    if (which != FRAME_POINTER)
        return;
    r->row.is_saved = r->initial.is_saved;
    r->row.saved = r->initial.saved;
    r->row.lost = r->initial.lost;
    r->row.by_frame = r->initial.by_frame;
}

static void lose(Run *r, uint64_t which)
{
    if (which == FRAME_POINTER)
        r->row.lost = true;
    if (which == r->d->return_column)
        r->row.returns = r->row.outermost = false;
}

/* Whether the expression IN, of N bytes, is the frame pointer and *OFFSET bytes and, if STORED,
 * what is in memory there. A function that aligns its frame has no others. */
static bool of_frame_pointer(Input in, uint64_t n, bool stored, int64_t *offset)
{
    enum { BREG_FRAME_POINTER = 0x70 + FRAME_POINTER, DEREF = 0x06 };
    if ((uint64_t)(in.end - in.p) < n)
        return false;
    in.end = in.p + n;
    if (fixed(&in, 1) != BREG_FRAME_POINTER)
        return false;
    *offset = sleb(&in);
    return (!stored || fixed(&in, 1) == DEREF) && !in.failed && in.p == in.end;
}

/* The expression by which the CFA is found. */
static void base_by_expression(Run *r, Input *in)
{
    uint64_t n = uleb(in);
    bool known = of_frame_pointer(*in, n, true, &r->row.offset);
    r->row.base = (uint64_t)(known ? STORED_BASE : NO_BASE);
    skip(in, n);
}

/* The expression by which it is found where register WHICH is saved. */
static void save_by_expression(Run *r, Input *in, uint64_t which)
{
    uint64_t n = uleb(in);
    int64_t offset;
    if (which == FRAME_POINTER && of_frame_pointer(*in, n, false, &offset)) {
        r->row.is_saved = r->row.by_frame = true;
        r->row.lost = false;
        r->row.saved = offset;
    } else {
        lose(r, which);
    }
    skip(in, n);
}

/* Runs an operation that says where the canonical frame address is. Returns false if OP is none. */
static bool step_base(Run *r, Input *in, uint8_t op)
{
    switch (op) {
    case 0x0c: /* def_cfa */
        r->row.base = uleb(in);
        r->row.offset = (int64_t)uleb(in);
        return true;
    case 0x12: /* def_cfa_sf */
        r->row.base = uleb(in);
        r->row.offset = in_bytes(r, sleb(in));
        return true;
    case 0x0d: /* def_cfa_register */
        r->row.base = uleb(in);
        return true;
    case 0x0e: /* def_cfa_offset */
        r->row.offset = (int64_t)uleb(in);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        r->row.offset = in_bytes(r, sleb(in));
        return true;
    case 0x0f: /* def_cfa_expression */
        base_by_expression(r, in);
        return true;
    default:
        return false;
    }
}

/* One instruction of those that have no operand in the operation. False: it is not known. */
static bool step(Run *r, Input *in, uint8_t op)
{
    uint64_t which;
    switch (op) {
    case 0x00: /* nop */
        return true;
    case 0x01: /* set_loc */
        r->at = pointer(in, r->d->encoding, 0);
        return true;
    case 0x02: /* advance_loc1, 2, 4 */
        r->at += fixed(in, 1) * r->d->code_unit;
        return true;
    case 0x03:
        r->at += fixed(in, 2) * r->d->code_unit;
        return true;
    case 0x04:
        r->at += fixed(in, 4) * r->d->code_unit;
        return true;
    case 0x05: /* offset_extended */
        which = uleb(in);
        save(r, which, (int64_t)uleb(in));
        return true;
    case 0x11: /* offset_extended_sf */
        which = uleb(in);
        save(r, which, sleb(in));
        return true;
    case 0x06: /* restore_extended */
        restore(r, uleb(in));
        return true;
    case 0x07: /* undefined */
        which = uleb(in);
        lose(r, which);
        r->row.outermost |= which == r->d->return_column;
        return true;
    case 0x08: /* same_value */
        which = uleb(in);
        lose(r, which);
        if (which == FRAME_POINTER)
            r->row.is_saved = r->row.lost = r->row.by_frame = false;
        return true;
    case 0x09: /* register */
    case 0x14: /* val_offset */
        lose(r, uleb(in));
        uleb(in);
        return true;
    case 0x15: /* val_offset_sf */
        lose(r, uleb(in));
        sleb(in);
        return true;
    case 0x0a: /* remember_state */
        if (r->n_kept == KEPT_ROWS)
            return false;
        r->kept[r->n_kept++] = r->row;
        return true;
    case 0x0b: /* restore_state */
        if (r->n_kept == 0)
            return false;
        r->row = r->kept[--r->n_kept];
        return true;
    case 0x10: /* expression */
        save_by_expression(r, in, uleb(in));
        return true;
    case 0x16: /* val_expression */
        lose(r, uleb(in));
        skip(in, uleb(in));
        return true;
    case 0x2e: /* GNU_args_size */
        uleb(in);
        return true;
    default:
        return step_base(r, in, op);
    }
}

/* Goes through the instructions IN as far as those that hold at PC. */
static bool run(Run *r, Input in)
{
    while (in.p < in.end && !in.failed) {
        Row before = r->row;
        uint8_t op = (uint8_t)fixed(&in, 1), low = op & 0x3f;
        if (op >> 6 == 1)
            r->at += low * r->d->code_unit;
        else if (op >> 6 == 2)
            save(r, low, (int64_t)uleb(&in));
        else if (op >> 6 == 3)
            restore(r, low);
        else if (!step(r, &in, op))
            return false;
        if (r->at > r->pc) {
            r->row = before;
            return true;
        }
    }
    return !in.failed;
}

static FrameRule rule_of(const Row *row)
{
    enum { MOST = 1 << 30 }; /* bytes of a frame */
    const FrameRule unknown = {FRAME_UNKNOWN, 0, 0}, outermost = {FRAME_OUTERMOST, 0, 0};
    const bool aligned = row->base == (uint64_t)STORED_BASE;
    const int64_t offset = row->offset, saved = row->is_saved ? row->saved : 0;
    if (row->outermost)
        return outermost;
    if (!row->returns || row->lost || row->by_frame != aligned || offset > MOST || offset < -MOST
        || saved < -MOST || saved > 0 || saved % WORD != 0)
        return unknown;
    if (aligned)
        return (FrameRule){FRAME_ALIGNED, (int32_t)offset, (int32_t)saved};
    if (offset <= 0 || (row->is_saved && saved == 0)
        || (row->base != STACK_POINTER && row->base != FRAME_POINTER))
        return unknown;
    return (FrameRule){row->base == STACK_POINTER ? FRAME_OF_STACK_POINTER : FRAME_OF_FRAME_POINTER,
                       (int32_t)offset, (int32_t)saved};
}

FrameRule frame_rule(const uint8_t *header, size_t n, uintptr_t low, uintptr_t high, uintptr_t pc)
{
    const FrameRule unknown = {FRAME_UNKNOWN, 0, 0};
    Description d;
    if (!header || !find(header, n, low, high, pc, &d))
        return unknown;
    Run r = {.d = &d, .at = d.start, .pc = pc, .row.base = (uint64_t)NO_BASE};
    if (!run(&r, d.first))
        return unknown;
    r.initial = r.row;
    return run(&r, d.then) ? rule_of(&r.row) : unknown;
}

#else

FrameRule frame_rule(const uint8_t *header, size_t n, uintptr_t low, uintptr_t high, uintptr_t pc)
{
    (void)header, (void)n, (void)low, (void)high, (void)pc;
    return (FrameRule){FRAME_UNKNOWN, 0, 0};
}

#endif

/* The CFA of the frame F, up to HIGH. 0: there is no rule, or it leads to where no frame can be. */
static inline uintptr_t cfa_of(const FrameRule *rule, uintptr_t high, const Frame *f)
{
    if (rule->base != FRAME_OF_STACK_POINTER && rule->base != FRAME_OF_FRAME_POINTER)
        return 0;
    uintptr_t from = rule->base == FRAME_OF_STACK_POINTER ? f->stack_pointer : f->frame_pointer;
    uintptr_t cfa = from + (uintptr_t)(intptr_t)rule->offset;
    uintptr_t saved = 0 - (uintptr_t)(intptr_t)rule->saved;
    bool good = cfa % WORD == 0 && cfa > f->stack_pointer && cfa <= high
                && cfa - f->stack_pointer >= WORD && saved <= cfa - f->stack_pointer;
    return good ? cfa : 0;
}

bool frame_up(const FrameRule *rule, uintptr_t high, Frame *f, uintptr_t *address)
{
    uintptr_t cfa = cfa_of(rule, high, f);
    if (cfa == 0)
        return false;
    *address = *(const uintptr_t *)(cfa - sizeof *address);
    if (rule->saved != 0)
        f->frame_pointer = *(const uintptr_t *)(cfa + (uintptr_t)(intptr_t)rule->saved);
    f->stack_pointer = cfa;
    return true;
}

bool frame_read(uintptr_t from, uintptr_t *word)
{
    struct iovec here = {word, sizeof *word}, there = {(void *)from, sizeof *word};
    return syscall(SYS_process_vm_readv, syscall(SYS_getpid), &here, 1UL, &there, 1UL, 0UL)
           == (long)sizeof *word;
}

bool frame_up_of_other(const FrameRule *rule, Frame *f, uintptr_t *address)
{
    uintptr_t cfa = cfa_of(rule, UINTPTR_MAX, f);
    if (cfa == 0 || !frame_read(cfa - sizeof *address, address)
        || (rule->saved != 0
            && !frame_read(cfa + (uintptr_t)(intptr_t)rule->saved, &f->frame_pointer)))
        return false;
    f->stack_pointer = cfa;
    return true;
}
