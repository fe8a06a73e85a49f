/* stream.c: see stream.h.
 *
 * A run takes four bytes or a few more. A grammar of runs (grammar.h) takes nothing for those that come again in the same order, but twenty times the bytes where they do not. So it is tried:
 * when the bytes have doubled, on those that have come since, as long as it takes less than half of them. If it comes to their end, runs go on in the grammar
 * and the bytes are dropped. When the grammar has grown by more than the bytes that it stands for would have, it is written down, as bytes, and runs follow as before.
 *
 * Bytes are tried once in vain, and at most twice more when they are dropped, with no more than as many before them: time is linear. What is tried and when depends on the entries alone, so
 * equal streams are equal bytes, however often they have been encoded. */
#include "stream.h"

#include <string.h>

#include "arena.h"
#include "budget.h"
#include "grammar.h"
#include "intern.h"

enum { LEAST = 1 << 14 }; /* bytes to try: a grammar takes a third of it to begin with */

typedef struct Entry {
    WendSignature signature; /* its words are the shape */
    struct Entry *after;     /* the next number */
    uint32_t number;         /* terminal of the grammar */
    size_t bytes;            /* in a run, but for the count */
} Entry;

typedef struct wend_stream_repetition {
    WendArena arena;
    WendIntern table;
    Entry *first, *newest;
    WendGrammar *grammar;
    uint64_t plain;          /* what the runs in it take as bytes */
    uint64_t paid_plain;     /* that, and the memory, when it was last seen to pay */
    size_t paid_memory;
} Repetition;

/* -- repetitions -- */

static void repetition_free(Repetition *r)
{
    wend_grammar_free(r->grammar);
    wend_intern_clear(&r->table);
    wend_arena_clear(&r->arena);
    wend_budget_free(r, sizeof *r);
}

static Repetition *repetition_new(void)
{
    Repetition *r = wend_budget_zeroed(sizeof *r);
    if (r && !(r->grammar = wend_grammar_new())) {
        wend_budget_free(r, sizeof *r);
        return NULL;
    }
    return r;
}

static size_t repetition_memory(const Repetition *r)
{
    return sizeof *r + r->arena.bytes + wend_intern_memory(&r->table) + wend_grammar_memory(r->grammar);
}

static size_t unsigned_bytes(uint64_t v)
{
    return (size_t)(63 - __builtin_clzll(v | 1)) / 7 + 1;
}

static Entry *add_entry(Repetition *r, const int64_t *words, size_t n, uint64_t hash)
{
    Entry *e = wend_arena_new(&r->arena, sizeof *e);
    int64_t *copy = wend_arena_copy(&r->arena, words, n * sizeof *words);
    if (!e || !copy || r->table.n > INT32_MAX)
        return NULL;
    e->signature.shape = copy;
    e->signature.n_shape = n;
    e->number = (uint32_t)r->table.n;
    e->bytes = unsigned_bytes(n);
    for (size_t i = 0; i < n; i++)
        e->bytes += unsigned_bytes((uint64_t)words[i] << 1 ^ (words[i] < 0 ? UINT64_MAX : 0));
    if (!wend_intern_add(&r->table, &e->signature, hash))
        return NULL;
    if (r->newest)
        r->newest->after = e;
    else
        r->first = e;
    r->newest = e;
    return e;
}

static bool repetition_add(Repetition *r, const int64_t *words, size_t n, uint64_t repeats)
{
    uint64_t hash;
    Entry *e = (Entry *)wend_intern_find(&r->table, words, n, NULL, 0, &hash);
    if ((!e && !(e = add_entry(r, words, n, hash))) || !wend_grammar_append(r->grammar, e->number, repeats))
        return false;
    r->plain += unsigned_bytes(repeats) + e->bytes;
    return true;
}

/* -- pieces -- */

static void write_entry(WendBuf *out, const int64_t *words, size_t n)
{
    wend_buf_unsigned(out, n);
    for (size_t i = 0; i < n; i++)
        wend_buf_signed(out, words[i]);
}

static void write_run(const WendStream *s, WendBuf *out)
{
    wend_buf_unsigned(out, s->repeats);
    write_entry(out, s->last, s->n);
}

static void write_repetition(const WendStream *s, WendBuf *out)
{
    wend_buf_unsigned(out, 0);
    wend_buf_unsigned(out, s->repetition->table.n);
    for (const Entry *e = s->repetition->first; e; e = e->after)
        write_entry(out, e->signature.shape, e->signature.n_shape);
    wend_grammar_encode(s->repetition->grammar, NULL, out);
}

static bool add_piece(WendStream *s, void (*write)(const WendStream *, WendBuf *))
{
    size_t len = s->pieces.len;
    s->pieces.resize = wend_budget_resize;
    write(s, &s->pieces);
    if (!s->pieces.failed)
        return true;
    s->pieces.len = len; /* what was recorded before stays readable */
    s->pieces.failed = false;
    return false;
}

static void cut(WendBuf *b, size_t len)
{
    uint8_t *data = len > 0 ? wend_budget_resize(b->data, b->cap, len) : NULL;
    if (data)
        *b = (WendBuf){.data = data, .len = len, .cap = len, .resize = b->resize};
    else if (len == 0)
        wend_buf_clear(b);
    else
        b->len = len;
}

/* What the runs behind the first FROM bytes are as a repetition; NULL: that takes more than half of theirs. Words of the last run, which is among them, are lost. */
static Repetition *repetition_of(WendStream *s, size_t from)
{
    size_t most = (s->pieces.len - from) / 2;
    Repetition *r = repetition_new();
    if (!r)
        return NULL;
    for (WendCursor c = wend_cursor(s->pieces.data + from, s->pieces.len - from); c.p < c.end;) {
        uint64_t repeats = wend_read_unsigned(&c);
        size_t n = wend_read_count(&c, 1);
        for (size_t i = 0; i < n; i++)
            s->last[i] = wend_read_signed(&c);
        if (!repetition_add(r, s->last, n, repeats) || repetition_memory(r) > most) {
            repetition_free(r);
            return NULL;
        }
    }
    r->paid_plain = r->plain;
    r->paid_memory = repetition_memory(r);
    return r;
}

/* Tries the runs that have not been tried, and if they repeat themselves all: what they repeat may have begun before. One at a time, for the memory. */
static void try_repetition(WendStream *s)
{
    size_t from = s->tried;
    Repetition *r = repetition_of(s, from);
    s->tried = s->pieces.len;
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
    cut(&s->pieces, from);
}

/* The last run, which is over, to what is before it. */
static bool put_down(WendStream *s)
{
    if (!add_piece(s, write_run))
        return false;
    size_t fresh = s->pieces.len - s->tried;
    if (fresh >= LEAST && fresh >= s->tried - s->settled)
        try_repetition(s);
    return true;
}

static bool repeat(WendStream *s)
{
    Repetition *r = s->repetition;
    if (!repetition_add(r, s->last, s->n, s->repeats))
        return false;
    size_t memory = repetition_memory(r), more = memory - r->paid_memory;
    if (more <= r->paid_memory / 2)
        return true;
    if (r->plain - r->paid_plain < more && add_piece(s, write_repetition)) {
        repetition_free(r);
        s->repetition = NULL;
        s->settled = s->tried = s->pieces.len;
    } else { /* short of memory it is kept as it is: to try each time would take time */
        r->paid_plain = r->plain;
        r->paid_memory = memory;
    }
    return true;
}

/* -- the stream -- */

static bool is_last(const WendStream *s, const int64_t *words, size_t n)
{
    if (s->repeats == 0 || s->n != n)
        return false;
    int64_t differ = 0;
    for (size_t i = 0; i < n; i++)
        differ |= s->last[i] ^ words[i];
    return differ == 0;
}

bool wend_stream_add(WendStream *s, const int64_t *words, size_t n)
{
    if (is_last(s, words, n)) {
        s->entries++;
        s->repeats++;
        return true;
    }
    if (s->cap < n) {
        int64_t *last = wend_budget_resize(s->last, s->cap * sizeof *last, n * sizeof *last);
        if (!last)
            return false;
        s->last = last;
        s->cap = n;
    }
    if (s->repeats > 0 && !(s->repetition ? repeat(s) : put_down(s)))
        return false;
    if (n > 0)
        memcpy(s->last, words, n * sizeof *words);
    s->n = n;
    s->repeats = 1;
    s->entries++;
    return true;
}

void wend_stream_undo(WendStream *s)
{
    s->entries--;
    s->repeats--;
}

void wend_stream_encode(const WendStream *s, WendBuf *out)
{
    WendBuf rest = {.resize = out->resize};
    if (s->repetition)
        write_repetition(s, &rest);
    if (s->repeats > 0)
        write_run(s, &rest);
    out->failed |= rest.failed;
    wend_buf_unsigned(out, s->entries);
    wend_buf_unsigned(out, s->pieces.len + rest.len);
    wend_buf_bytes(out, s->pieces.data, s->pieces.len);
    wend_buf_bytes(out, rest.data, rest.len);
    wend_buf_clear(&rest);
}

size_t wend_stream_memory(const WendStream *s)
{
    return s->cap * sizeof *s->last + s->pieces.cap + (s->repetition ? repetition_memory(s->repetition) : 0);
}

void wend_stream_clear(WendStream *s)
{
    wend_budget_free(s->last, s->cap * sizeof *s->last);
    wend_buf_clear(&s->pieces);
    if (s->repetition)
        repetition_free(s->repetition);
    *s = (WendStream){0};
}
