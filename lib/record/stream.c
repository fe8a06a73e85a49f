/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c: see stream.h.
 *
 * A run takes four bytes or a few more. In a grammar of runs (grammar.h), runs that repeat in the
 * same order take nothing, but other runs take twenty times the bytes. So a grammar is tried each
 * time that the bytes have doubled, on the runs since then. The trial ends when the grammar takes
 * more than half of their bytes. If it reaches their end, the bytes are dropped and further runs go
 * into the grammar. When the grammar has grown by more than the bytes of the runs that it stands
 * for, it is written down as bytes, and further runs follow it as bytes.
 *
 * Each byte is in one failed trial, and in at most two more when it is dropped, each with at most
 * as many bytes before it: so time is linear. The trials depend only on the entries. So equal
 * streams give equal bytes, however often they have been encoded. */
#include "stream.h"

#include <string.h>

#include "base/base.h"
#include "grammar.h"
#include "intern.h"
#include "words.h"

enum { LEAST = 1 << 14 }; /* bytes to try: a grammar takes a third of it to begin with */

/* After this number of entries that go up in equal steps, an arithmetic run may begin. */
enum { CLIMB = 16 };

/* The parts of WendStream.words: the entry of the last run (the first one of an arithmetic run);
 * the run's count and steps; the last entry of the arithmetic run; an entry, and its steps, that is
 * read back. */
static int64_t *last_entry(const WendStream *s)
{
    return s->words;
}
static int64_t *count_and_steps(const WendStream *s)
{
    return s->words + s->cap;
}
static int64_t *steps(const WendStream *s)
{
    return s->words + s->cap + 1;
}
static int64_t *reached(const WendStream *s)
{
    return s->words + 2 * s->cap + 1;
}
static int64_t *read_entry(const WendStream *s)
{
    return s->words + 3 * s->cap + 1;
}
static int64_t *read_count_and_steps(const WendStream *s)
{
    return s->words + 4 * s->cap + 1;
}
static size_t room_for(size_t cap)
{
    return (5 * cap + 2) * sizeof(int64_t);
}

typedef struct StreamEntry {
    /* its words are the shape; an arithmetic run has slots: count and steps */
    WendSignature signature;
    struct StreamEntry *after; /* the next number */
    uint32_t number;           /* terminal of the grammar */
    size_t bytes;              /* in a run, without the count */
} StreamEntry;

typedef struct stream_repetition {
    WendArena arena;
    WendIntern table;
    StreamEntry *first, *newest;
    WendGrammar *grammar;
    uint64_t plain;      /* bytes of its runs without the grammar */
    uint64_t paid_plain; /* the same, and the memory, when the grammar was last the smaller one */
    size_t paid_memory;
} Repetition;

/* -- repetitions -- */

static void repetition_free(Repetition *r)
{
    grammar_free(r->grammar);
    intern_clear(&r->table);
    arena_clear(&r->arena);
    budget_free(r, sizeof *r);
}

static Repetition *repetition_new(void)
{
    Repetition *r = budget_zeroed(sizeof *r);
    if (r && !(r->grammar = grammar_new())) {
        budget_free(r, sizeof *r);
        return NULL;
    }
    return r;
}

static size_t repetition_memory(const Repetition *r)
{
    return sizeof *r + r->arena.bytes + intern_memory(&r->table) + grammar_memory(r->grammar);
}

static size_t unsigned_bytes(uint64_t v)
{
    return (size_t)(63 - __builtin_clzll(v | 1)) / 7 + 1;
}

static size_t words_bytes(const int64_t *words, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += unsigned_bytes(buf_zigzag(words[i]));
    return bytes;
}

/* STEPS: count and steps of an arithmetic run, n + 1 words; or 0 words. */
static StreamEntry *add_entry(Repetition *r, const int64_t *words, size_t n, const int64_t *steps,
                              size_t n_steps, uint64_t hash)
{
    StreamEntry *e = arena_new(&r->arena, sizeof *e);
    int64_t *copy = arena_copy(&r->arena, words, n * sizeof *words),
            *steps_copy = arena_copy(&r->arena, steps, n_steps * sizeof *steps);
    if (!e || !copy || !steps_copy || r->table.n > INT32_MAX)
        return NULL;
    e->signature =
        (WendSignature){.shape = copy, .n_shape = n, .slots = steps_copy, .n_slots = n_steps};
    e->number = (uint32_t)r->table.n;
    e->bytes =
        unsigned_bytes((uint64_t)n << 1) + words_bytes(words, n) + words_bytes(steps, n_steps);
    if (!intern_add(&r->table, &e->signature, hash))
        return NULL;
    if (r->newest)
        r->newest->after = e;
    else
        r->first = e;
    r->newest = e;
    return e;
}

static bool repetition_add(Repetition *r, const int64_t *words, size_t n, const int64_t *steps,
                           size_t n_steps, uint64_t repeats)
{
    uint64_t hash;
    StreamEntry *e = (StreamEntry *)intern_find(&r->table, words, n, steps, n_steps, &hash);
    if ((!e && !(e = add_entry(r, words, n, steps, n_steps, hash)))
        || !grammar_append(r->grammar, e->number, repeats))
        return false;
    r->plain += unsigned_bytes(repeats) + e->bytes;
    return true;
}

/* -- runs -- */

static void write_entry(WendBuf *out, const int64_t *words, size_t n, const int64_t *steps,
                        size_t n_steps)
{
    buf_unsigned(out, (uint64_t)n << 1 | (n_steps > 0));
    for (size_t i = 0; i < n; i++)
        buf_signed(out, words[i]);
    for (size_t i = 0; i < n_steps; i++)
        if (i == 0)
            buf_unsigned(out, (uint64_t)steps[i]);
        else
            buf_signed(out, steps[i]);
}

/* If the last run is arithmetic, puts its count and steps into place and returns the number of
 * these words; else 0. */
static size_t arithmetic_of(const WendStream *s)
{
    if (s->count < 2)
        return 0;
    *count_and_steps(s) = (int64_t)s->count;
    return s->n + 1;
}

static void write_run(const WendStream *s, WendBuf *out)
{
    buf_unsigned(out, s->repeats);
    write_entry(out, last_entry(s), s->n, count_and_steps(s), arithmetic_of(s));
}

static void write_repetition(const WendStream *s, WendBuf *out)
{
    buf_unsigned(out, 0);
    buf_unsigned(out, s->repetition->table.n);
    for (const StreamEntry *e = s->repetition->first; e; e = e->after)
        write_entry(out, e->signature.shape, e->signature.n_shape, e->signature.slots,
                    e->signature.n_slots);
    grammar_encode(s->repetition->grammar, NULL, out);
}

static bool add_piece(WendStream *s, void (*write)(const WendStream *, WendBuf *))
{
    size_t len = s->runs.len;
    s->runs.resize = budget_resize;
    write(s, &s->runs);
    if (!s->runs.failed)
        return true;
    s->runs.len = len; /* what was recorded before stays readable */
    s->runs.failed = false;
    return false;
}

static void cut(WendBuf *b, size_t len)
{
    uint8_t *data = len > 0 ? budget_resize(b->data, b->cap, len) : NULL;
    if (data)
        *b = (WendBuf){.data = data, .len = len, .cap = len, .resize = b->resize};
    else if (len == 0)
        buf_clear(b);
    else
        b->len = len;
}

/* A repetition of the runs behind the first FROM bytes; NULL if it takes more than half of their
 * bytes. */
static Repetition *repetition_of(WendStream *s, size_t from)
{
    size_t most = (s->runs.len - from) / 2;
    Repetition *r = repetition_new();
    if (!r)
        return NULL;
    for (WendCursor c = cursor_of(s->runs.data + from, s->runs.len - from); c.p < c.end;) {
        uint64_t repeats = cursor_unsigned(&c);
        uint64_t head = cursor_unsigned(&c);
        size_t n = (size_t)(head >> 1), n_steps = head & 1 ? n + 1 : 0;
        int64_t *words = read_entry(s), *steps = read_count_and_steps(s);
        for (size_t i = 0; i < n; i++)
            words[i] = cursor_signed(&c);
        for (size_t i = 0; i < n_steps; i++)
            steps[i] = i == 0 ? (int64_t)cursor_unsigned(&c) : cursor_signed(&c);
        if (!repetition_add(r, words, n, steps, n_steps, repeats) || repetition_memory(r) > most) {
            repetition_free(r);
            return NULL;
        }
    }
    r->paid_plain = r->plain;
    r->paid_memory = repetition_memory(r);
    return r;
}

/* Tries the runs that have not been tried. If they repeat themselves, tries all runs, because the
 * repetition may have begun earlier. Only one trial is in memory at a time. */
static void try_repetition(WendStream *s)
{
    size_t from = s->tried;
    Repetition *r = repetition_of(s, from);
    s->tried = s->runs.len;
    if (!r)
        return;
    if (from > s->settled) {
        repetition_free(r);
        r = repetition_of(s, s->settled);
        if (r)
            from = s->settled;
        else if (!(r = repetition_of(s, from)))
            return;
    }
    s->repetition = r;
    s->settled = s->tried = from;
    cut(&s->runs, from);
}

/* Appends the last run, which is complete, to the runs before it. */
static bool put_down(WendStream *s)
{
    if (!add_piece(s, write_run))
        return false;
    size_t fresh = s->runs.len - s->tried;
    if (fresh >= LEAST && fresh >= s->tried - s->settled)
        try_repetition(s);
    return true;
}

static bool repeat(WendStream *s)
{
    Repetition *r = s->repetition;
    if (!repetition_add(r, last_entry(s), s->n, count_and_steps(s), arithmetic_of(s), s->repeats))
        return false;
    size_t memory = repetition_memory(r), more = memory - r->paid_memory;
    if (more <= r->paid_memory / 2)
        return true;
    if (r->plain - r->paid_plain < more && add_piece(s, write_repetition)) {
        repetition_free(r);
        s->repetition = NULL;
        s->settled = s->tried = s->runs.len;
    } else { /* also if memory is short: to write it down is not tried again at each run */
        r->paid_plain = r->plain;
        r->paid_memory = memory;
    }
    return true;
}

/* -- the stream -- */

static bool is_last(const WendStream *s, const int64_t *words, size_t n)
{
    return s->repeats > 0 && s->n == n && s->count <= 1 && words_equal(last_entry(s), words, n);
}

static bool goes_on(WendStream *s, const int64_t *words, size_t n)
{
    if (s->count == 0 || s->n != n || s->count == INT64_MAX)
        return false;
    int64_t *now = reached(s), *step = steps(s);
    for (size_t i = 0; i < n; i++) {
        int64_t next;
        if (__builtin_add_overflow(now[i], step[i], &next) || next != words[i])
            return false;
    }
    if (n > 0)
        memcpy(now, words, n * sizeof *words);
    s->count++;
    s->entries++;
    return true;
}

/* Counts in CLIMB the last entries, up to the next one, that go up by the same steps. Returns
 * whether an arithmetic run may begin with the next entry. Special words (words.h) have no
 * steps. */
static bool climbs(WendStream *s, const int64_t *words, size_t n)
{
    const int64_t *last = s->count ? reached(s) : last_entry(s);
    int64_t *step = steps(s);
    bool same = s->climb > 0, possible = s->repeats == 1 && s->n == n && n > 0;
    for (size_t i = 0; i < n && possible; i++) {
        int64_t now = 0;
        if (last[i] != words[i])
            possible = !word_is_special(last[i]) && !word_is_special(words[i])
                       && !__builtin_sub_overflow(words[i], last[i], &now) && !word_is_special(now);
        same &= now == step[i];
        step[i] = now;
    }
    s->climb = !possible ? 0 : same ? s->climb + 1 : 1;
    return s->climb >= CLIMB;
}

static bool make_room(WendStream *s, size_t n)
{
    if (s->words && n <= s->cap)
        return true;
    n = n > 0 ? n : 1;
    int64_t *words = budget_resize(NULL, 0, room_for(n));
    if (!words)
        return false;
    /* the last entry of the arithmetic run is not needed any more: the next entry is wider */
    if (s->n > 0) {
        memcpy(words, last_entry(s), s->n * sizeof *words);
        memcpy(words + n, count_and_steps(s), (s->n + 1) * sizeof *words);
    }
    if (s->words)
        budget_free(s->words, room_for(s->cap));
    s->words = words;
    s->cap = n;
    return true;
}

/* Appends an entry that differs from the last. A function of its own, so that stream_add saves
 * no registers. */
static __attribute__((noinline)) bool add_other(WendStream *s, const int64_t *words, size_t n)
{
    if (goes_on(s, words, n))
        return true;
    if (!make_room(s, n))
        return false;
    if (s->repeats > 0 && !(s->repetition ? repeat(s) : put_down(s)))
        return false;
    s->count = !s->flat && climbs(s, words, n);
    if (n > 0)
        memcpy(last_entry(s), words, n * sizeof *words);
    if (s->count)
        memcpy(reached(s), words, n * sizeof *words);
    s->n = n;
    s->repeats = 1;
    s->entries++;
    return true;
}

bool stream_add(WendStream *s, const int64_t *words, size_t n)
{
    if (!is_last(s, words, n))
        return add_other(s, words, n);
    s->entries++;
    s->repeats++;
    s->count = 0;
    return true;
}

bool stream_add_run(WendStream *s, const int64_t *words, size_t n, uint64_t repeats)
{
    if (!stream_add(s, words, n))
        return false;
    s->repeats += repeats - 1;
    s->entries += repeats - 1;
    return true;
}

void stream_undo(WendStream *s)
{
    s->entries--;
    if (s->count > 1)
        s->count--;
    else
        s->repeats--;
}

void stream_put_run(WendBuf *out, const int64_t *words, size_t n, uint64_t repeats)
{
    buf_unsigned(out, repeats);
    write_entry(out, words, n, NULL, 0);
}

void stream_encode(const WendStream *s, WendBuf *out)
{
    WendBuf rest = {.resize = out->resize};
    if (s->repetition)
        write_repetition(s, &rest);
    if (s->repeats > 0)
        write_run(s, &rest);
    out->failed |= rest.failed;
    buf_unsigned(out, s->entries);
    buf_unsigned(out, s->runs.len + rest.len);
    buf_bytes(out, s->runs.data, s->runs.len);
    buf_bytes(out, rest.data, rest.len);
    buf_clear(&rest);
}

size_t stream_memory(const WendStream *s)
{
    return (s->words ? room_for(s->cap) : 0) + s->runs.cap
           + (s->repetition ? repetition_memory(s->repetition) : 0);
}

void stream_clear(WendStream *s)
{
    if (s->words)
        budget_free(s->words, room_for(s->cap));
    buf_clear(&s->runs);
    if (s->repetition)
        repetition_free(s->repetition);
    *s = (WendStream){0};
}
