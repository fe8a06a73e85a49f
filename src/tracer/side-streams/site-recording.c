/* SPDX-License-Identifier: BSD-3-Clause */
/* site-recording.c: see side-streams.h. What is here comes after a wrong guess (sequence.c), for
 * calls through a layer, and with stacks for each call. All state belongs to one sequence, so no
 * lock is taken. */
#include "side-streams.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "call-stacks.h"
#include "lib/base/budget.h"
#include "lib/base/buf.h"
#include "lib/record/site-guesses.h"
#include "process/process.h"
#include "recorder/recorder.h"
#include "process/settings.h"
#include "side-private.h"

/* -- numbers of sites -- */

/* The sites of a sequence and the frames of their stacks, by number, and the table of them that
 * goes before the stream (docs/format.md, "Call sites"). */

/* From where a function was called: nowhere, since it is the outermost of the stack; not known; or
 * frame N, which is SITE_CALLER_FRAME + N. */
enum { SITE_CALLER_NONE, SITE_CALLER_UNKNOWN, SITE_CALLER_FRAME };

/* Something in a function that was called from there. */
typedef struct {
    KnownModule *module; /* NULL: not known */
    uintptr_t offset;    /* in the module */
    uint32_t caller;
    uint32_t number; /* + 1; 0: the place is free */
} Number;

/* Numbers by what they are: N of MASK + 1 places. */
typedef struct {
    Number *at;
    size_t mask;
    uint32_t n;
} Numbers;

enum { NUMBERS_AT_FIRST = 128 };

/* The place of LIKE, which is free if it has no number. */
static Number *find(const Numbers *s, const Number *like)
{
    uint64_t key = like->offset ^ (uint64_t)(uintptr_t)like->module << 16;
    key = site_guess_mix(key, like->caller);
    for (size_t at = (size_t)(key >> 16) & s->mask;; at = (at + 1) & s->mask) {
        Number *n = &s->at[at];
        if (n->number == 0
            || (n->module == like->module && n->offset == like->offset
                && n->caller == like->caller))
            return n;
    }
}

static bool make_room(Numbers *s)
{
    Numbers larger = *s;
    if (s->at && 2 * ((size_t)s->n + 1) <= s->mask)
        return true;
    if (s->n >= WEND_SITES_MOST)
        return false;
    larger.mask = s->at ? 2 * s->mask + 1 : NUMBERS_AT_FIRST - 1;
    larger.at = side_stream_memory((larger.mask + 1) * sizeof *s->at);
    if (!larger.at)
        return false;
    for (size_t i = 0; s->at && i <= s->mask; i++)
        if (s->at[i].number != 0)
            *find(&larger, &s->at[i]) = s->at[i];
    if (s->at)
        side_resize(s->at, (s->mask + 1) * sizeof *s->at, 0);
    *s = larger;
    return true;
}

/* The number of LIKE. WEND_SITE_NONE: there is none so far. */
static uint32_t site_number_find(const Numbers *s, const Number *like)
{
    const Number *n = s->at ? find(s, like) : NULL;
    return n && n->number != 0 ? n->number - 1 : WEND_SITE_NONE;
}

/* Gives LIKE, which has none, the next number. Memory is the kernel's, of which side streams take
 * half of the recorder's at most. WEND_SITE_NONE: there is no more. */
static uint32_t site_number_new(Numbers *s, const Number *like)
{
    if (!make_room(s))
        return WEND_SITE_NONE;
    Number *n = find(s, like);
    *n = *like;
    n->number = ++s->n;
    return n->number - 1;
}

/* Puts an address into the table: the module and the offset. N_MODULES are in the table so far. */
static void site_number_put_address(WendBuf *table, uint32_t *n_modules, KnownModule *m,
                                    uintptr_t offset)
{
    if (!m) {
        buf_unsigned(table, 0);
        return;
    }
    bool is_new = m->number == WEND_SITE_NONE;
    if (is_new)
        m->number = (*n_modules)++;
    buf_unsigned(table, m->number + UINT64_C(1));
    if (is_new) {
        buf_string(table, m->file);
        buf_unsigned(table, m->n_id);
        buf_bytes(table, m->id, m->n_id);
    }
    buf_signed(table, (int64_t)(offset - m->last));
    m->last = offset;
}

typedef struct SiteAddresses {
    KnownAddresses known;
    Numbers sites, frames;
    uint32_t n_modules; /* in the table of the stream */
    CallStack *stack;   /* NULL: stacks are not recorded */
    bool over;          /* nothing more is recorded */
} SiteAddresses;

enum { LAYERS_MOST = 32, STACK_MOST = 4096 /* frames of a stack */ };

/* A module has been unloaded, and another one may be where it was. Its sites stay. */
static void forget_addresses(CallSequence *q)
{
    for (size_t i = 0; i <= q->sites.mask; i++)
        q->sites.at[i].address = 0;
}

/* Forgets what is known of addresses if a module has been unloaded since. */
static void forget_unloaded(CallSequence *q)
{
    SiteAddresses *a = q->addresses;
    unsigned long long unloaded = state_unloaded();
    if (__builtin_expect(q->unloaded == unloaded, 1))
        return;
    q->unloaded = unloaded;
    forget_addresses(q);
    known_addresses_forget(&a->known);
    if (a->stack)
        call_stack_forget(a->stack);
}

/* -- without stacks -- */

/* What is known of ADDRESS. NULL: there is no memory, or there are too many. */
static KnownAddress *look_up(CallSequence *q, uintptr_t address)
{
    bool unloaded = false;
    KnownAddress *p = known_address(&q->addresses->known, address, &unloaded);
    if (unloaded)
        forget_addresses(q);
    return p;
}

/* Coroutines and handlers of signals run elsewhere than on the thread's stack. */
static bool go_up(const FrameRule *rule, Frame *f, uintptr_t *address)
{
    const ThreadStack *s = thread_stack_down_to(f->stack_pointer);
    return f->stack_pointer >= s->low && f->stack_pointer < s->high
               ? frame_up(rule, s->high, f, address)
               : frame_up_of_other(rule, f, address);
}

/* Where C comes from: the first address outside of all layers or, if these cannot be passed, the
 * last one that was found. NULL: not known. */
static KnownAddress *origin(const ActiveCall *c)
{
    if (!c->frame || c->return_address == 0)
        return NULL;
    uintptr_t address = c->return_address;
    Frame f = {(uintptr_t)(c->frame + 2), c->frame[0]};
    KnownAddress *p = look_up(c->sequence, address);
    for (int i = 0; p && p->layer && i < LAYERS_MOST && go_up(&p->rule, &f, &address); i++)
        p = look_up(c->sequence, address);
    return p;
}

/* The same without what Q knows, in a process that may be anywhere: no lock is taken, and no memory
 * is trusted. *ADDRESS becomes the address, which is in *M. */
static bool origin_now(const ActiveCall *c, CodeModule *m, uintptr_t *address)
{
    Frame f = {(uintptr_t)(c->frame + 2), 0};
    CodeModule next;
    *address = c->return_address;
    if (!c->frame || *address == 0 || !code_module_now(*address, m))
        return false;
    bool up = m->layer && frame_read((uintptr_t)c->frame, &f.frame_pointer);
    for (int i = 0; up && m->layer && i < LAYERS_MOST; i++) {
        FrameRule rule =
            frame_rule(m->frames, m->n_frames, m->frames_low, m->frames_high, *address - 1);
        uintptr_t above;
        up = frame_up_of_other(&rule, &f, &above) && code_module_now(above, &next);
        if (!up)
            break;
        *address = above;
        *m = next;
    }
    return true;
}

static bool origin_of(const ActiveCall *c, CallOrigin *o)
{
    CodeModule m;
    uintptr_t address;
    if (!origin_now(c, &m, &address))
        return false;
    *o = (CallOrigin){.n_id = m.n_id, .offset = address - m.base};
    memcpy(o->file, m.file, sizeof o->file);
    memcpy(o->id, m.id, m.n_id);
    return true;
}

/* The number of the site P; of NULL that of all sites that are not known. WEND_SITE_NONE: no
 * memory. */
static uint32_t number_of(SiteAddresses *a, KnownAddress *p, WendBuf *table)
{
    if (p && p->site != WEND_SITE_NONE)
        return p->site;
    Number site = {.module = p ? p->module : NULL};
    site.offset = site.module ? p->offset : 0;
    uint32_t number = site_number_find(&a->sites, &site);
    if (number == WEND_SITE_NONE) {
        number = site_number_new(&a->sites, &site);
        if (number == WEND_SITE_NONE)
            return number;
        site_number_put_address(table, &a->n_modules, site.module, site.offset);
    }
    if (p)
        p->site = number;
    return table->failed ? WEND_SITE_NONE : number;
}

/* -- with stacks -- */

/* Puts a site and its callers into the table (docs/format.md, "Call stacks"): the frames that are
 * new, of which the outermost has the caller FROM, and the site. */
static void put_stack(SiteAddresses *a, WendBuf *table, const Number *site, uint32_t from,
                      uint32_t outermost)
{
    const CallStack *s = a->stack;
    uint32_t n = 0;
    for (uint32_t i = s->site + 1; i < outermost; i++)
        n += !s->frames[i].skipped;
    buf_unsigned(table, from);
    buf_unsigned(table, n);
    for (uint32_t i = outermost; i-- > s->site + 1;)
        if (!s->frames[i].skipped)
            site_number_put_address(table, &a->n_modules, s->frames[i].module, s->frames[i].offset);
    site_number_put_address(table, &a->n_modules, site->module, site->offset);
}

static Number number_at(const StackFrame *f, uint32_t caller)
{
    return (Number){.module = f->module, .offset = f->module ? f->offset : 0, .caller = caller};
}

/* Gives the frames of the stack from OUTERMOST inwards numbers, the first of which has the caller
 * CALLER. Returns the caller of the site; WEND_SITE_NONE: no memory. */
static uint32_t number_frames(SiteAddresses *a, uint32_t caller, uint32_t outermost)
{
    CallStack *s = a->stack;
    for (uint32_t i = outermost; i-- > s->site + 1;) {
        StackFrame *f = &s->frames[i];
        if (!f->skipped) {
            Number frame = number_at(f, caller);
            uint32_t number = site_number_new(&a->frames, &frame);
            if (number == WEND_SITE_NONE)
                return number;
            caller = SITE_CALLER_FRAME + number;
        }
        f->caller = caller;
    }
    return caller;
}

/* The number of the stack, whose frames before KEPT have none yet. */
static uint32_t number_of_stack(SiteAddresses *a, WendBuf *table)
{
    CallStack *s = a->stack;
    uint32_t i = s->kept, number = WEND_SITE_NONE;
    uint32_t caller = s->kept < s->n ? s->frames[s->kept].caller
                      : s->whole     ? SITE_CALLER_NONE
                                     : SITE_CALLER_UNKNOWN;
    for (; i > s->site + 1; i--) {
        StackFrame *f = &s->frames[i - 1];
        Number frame = number_at(f, caller);
        if (!f->skipped && (number = site_number_find(&a->frames, &frame)) == WEND_SITE_NONE)
            break;
        if (!f->skipped)
            caller = SITE_CALLER_FRAME + number;
        f->caller = caller;
    }
    uint32_t from = caller;
    caller = number_frames(a, caller, i);
    if (caller == WEND_SITE_NONE)
        return caller;
    Number site = number_at(&s->frames[s->site], caller);
    number = site_number_find(&a->sites, &site);
    if (number != WEND_SITE_NONE)
        return number;
    number = site_number_new(&a->sites, &site);
    if (number != WEND_SITE_NONE)
        put_stack(a, table, &site, from, i);
    return table->failed ? WEND_SITE_NONE : number;
}

/* A site of which nothing is known. */
static uint32_t number_of_nothing(SiteAddresses *a, WendBuf *table)
{
    Number site = {.caller = SITE_CALLER_UNKNOWN};
    uint32_t number = site_number_find(&a->sites, &site);
    if (number != WEND_SITE_NONE)
        return number;
    number = site_number_new(&a->sites, &site);
    buf_unsigned(table, SITE_CALLER_UNKNOWN);
    buf_unsigned(table, 0);
    buf_unsigned(table, 0);
    return table->failed ? WEND_SITE_NONE : number;
}

/* Finds the stack of C and gives it a number, which stays in the stack. WEND_SITE_NONE: no
 * memory. */
static uint32_t find_stack(ActiveCall *c)
{
    SiteAddresses *a = c->sequence->addresses;
    CallStack *s = a->stack;
    WendBuf *table = &c->sequence->side[WEND_SIDE_STACKS]->table;
    if (!c->frame || c->return_address == 0) {
        call_stack_forget(s);
        s->number = number_of_nothing(a, table);
    } else if (call_stack_walk(s, &a->known, c->return_address, c->frame)) {
        s->number = number_of_stack(a, table);
    } else {
        s->number = WEND_SITE_NONE;
    }
    if (s->number == WEND_SITE_NONE)
        call_stack_forget(s);
    return s->number;
}

/* See State. */
static uintptr_t stack_of(ActiveCall *c)
{
    const SiteAddresses *a = c->sequence->addresses;
    if (!a || a->over)
        return 0;
    forget_unloaded(c->sequence);
    if (__builtin_expect(call_stack_is(a->stack, c->return_address, c->frame), 1))
        return a->stack->number + UINT64_C(1);
    return find_stack(c) + UINT64_C(1);
}

/* -- the stream -- */

static SiteAddresses none = {.over = true};
static WendSideKindNumber kind = WEND_SIDE_SITES;

static SiteAddresses *addresses_new(void)
{
    SiteAddresses *a = budget_zeroed(sizeof *a);
    bool stacks = kind == WEND_SIDE_STACKS;
    long depth = settings()->stacks < STACK_MOST ? settings()->stacks : STACK_MOST;
    if (!a || !known_addresses_init(&a->known, stacks))
        return NULL;
    if (stacks && !(a->stack = call_stack_new((uint32_t)depth)))
        return NULL;
    return a;
}

/* The stream of Q, which is made at its first call. NULL: there is none, or nothing more is
 * recorded. */
static SideStream *stream_of(CallSequence *q)
{
    if (q->addresses)
        return q->addresses->over ? NULL : q->side[kind];
    SideStream *s = side_stream_of(q, kind);
    q->addresses = s && site_guesses_init(&q->sites) ? addresses_new() : NULL;
    if (q->addresses) {
        s->table.resize = side_resize; /* its pointer is in memory that leak checkers do not read */
        return s;
    }
    q->addresses = &none;
    site_guesses_clear(&q->sites);
    return NULL;
}

/* Ends the stream: memory is short. The guesses stay, since terminals have marks of them. */
static void end(CallSequence *q, SideStream *s)
{
    side_stream_end(s);
    q->addresses->over = true;
    forget_addresses(q);
}

static void append(SideStream *s, WendSiteElement e, int64_t site)
{
    for (; e.step > WEND_SITE_MOST_CALLS; e.step -= WEND_SITE_MOST_CALLS)
        side_stream_append_after(s, WEND_SITE_MOST_CALLS, WEND_SITE_LONG, 0, &site, sizeof site);
    side_stream_append_after(s, e.step, e.code, 0, &site, sizeof site);
}

/* The number of C's site, and what identifies it (State). WEND_SITE_NONE: no memory. */
static uint32_t find_site(ActiveCall *c, WendBuf *table, uintptr_t *address)
{
    SiteAddresses *a = c->sequence->addresses;
    if (a->stack) {
        *address = stack_of(c);
        return a->stack->number;
    }
    KnownAddress *p = origin(c);
    *address = p ? p->address : 0;
    return number_of(a, p, table);
}

static void site_of(ActiveCall *c, bool poll, uint64_t marks[2])
{
    CallSequence *q = c->sequence;
    SideStream *s = stream_of(q);
    marks[0] = 0;
    if (!s)
        return;
    forget_unloaded(q);
    WendSiteCall call = site_call(c->shape.w, c->shape.n, c->slots.w, c->slots.n, poll);
    WendSiteElement element;
    bool wrong;
    uintptr_t address;
    uint32_t site = find_site(c, &s->table, &address);
    WendSiteGuess *guess = site != WEND_SITE_NONE ? site_guess(&q->sites, &call) : NULL;
    if (!guess || !site_guess_note(&q->sites, &call, guess, site, address, &wrong, &element)) {
        end(q, s);
        return;
    }
    if (wrong)
        append(s, element, site);
    marks[0] = call.shape;
    marks[1] = call.signature;
}

/* -- calls that have not returned -- */

/* The number of the site of C. It is put into TABLE if the stream does not have it so far; nothing
 * else changes. Its callers are not looked up. WEND_SITE_NONE: there is no memory. */
static uint32_t number_of_unfinished(const SiteAddresses *a, const ActiveCall *c, WendBuf *table)
{
    CodeModule m;
    uintptr_t address;
    bool known = origin_now(c, &m, &address);
    KnownModule *k = known ? a->known.modules : NULL;
    for (; k; k = k->next)
        if (k->n_id == m.n_id && memcmp(k->id, m.id, m.n_id) == 0 && strcmp(k->file, m.file) == 0)
            break;
    Number like = {.module = k,
                   .offset = known ? address - m.base : 0,
                   .caller = a->stack ? SITE_CALLER_UNKNOWN : SITE_CALLER_NONE};
    uint32_t number = k || !known ? site_number_find(&a->sites, &like) : WEND_SITE_NONE;
    if (number != WEND_SITE_NONE)
        return number;
    /* site_number_put_address changes the module, so it gets a copy, with room for the path. */
    union {
        KnownModule module;
        char room[sizeof(KnownModule) + CODE_MODULE_FILE];
    } copy = {.module = {.number = k ? k->number : WEND_SITE_NONE, .last = k ? k->last : 0}};
    uint32_t n_modules = a->n_modules;
    if (known) {
        copy.module.n_id = m.n_id;
        memcpy(copy.module.id, m.id, m.n_id);
        memcpy(copy.room + offsetof(KnownModule, file), m.file, strlen(m.file) + 1);
    }
    if (a->stack) {
        buf_unsigned(table, SITE_CALLER_UNKNOWN);
        buf_unsigned(table, 0);
    }
    site_number_put_address(table, &n_modules, known ? &copy.module : NULL, like.offset);
    return table->failed ? WEND_SITE_NONE : a->sites.n;
}

static bool site_of_unfinished(const CallSequence *q, const ActiveCall *c, WendBuf *table,
                               int64_t *site)
{
    const SiteAddresses *a = q->addresses;
    if (!a || a->over)
        return false;
    *site = number_of_unfinished(a, c, table);
    return *site != WEND_SITE_NONE;
}

void site_recording_open(void)
{
    if (!settings()->sites)
        return;
    state()->origin_of = origin_of;
    if (state()->unwritten)
        return;
    state()->site_of = site_of;
    side_unfinished_site = site_of_unfinished;
    if (settings()->stacks > 0) {
        kind = WEND_SIDE_STACKS;
        state()->stack_of = stack_of;
    }
}
