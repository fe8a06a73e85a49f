/* SPDX-License-Identifier: BSD-3-Clause */
/* site-recording.c: see site-recording.h. What is here comes after a wrong guess (sequence.c), or
 * for calls through a layer. All state belongs to one sequence, so no lock is taken. */
#include "site-recording.h"

#include <stddef.h>
#include <string.h>

#include "code-modules.h"
#include "frame-rules.h"
#include "lib/base/budget.h"
#include "process/process.h"
#include "recorder/recorder.h"
#include "shared/shared.h"
#include "side-streams.h"

/* A module that sites are in. */
typedef struct KnownModule {
    struct KnownModule *next;
    uint32_t number; /* in the table of the stream; WEND_SITE_NONE: not there so far */
    uintptr_t last;  /* the offset in the table that was put last */
    uint8_t id[CODE_MODULE_ID];
    size_t n_id;
    char file[];
} KnownModule;

/* What is known of a return address. */
typedef struct {
    uintptr_t address; /* 0: the place is free */
    bool layer;        /* it is in a layer, whose caller RULE finds */
    FrameRule rule;
    uint32_t site;       /* WEND_SITE_NONE: it has no number so far */
    KnownModule *module; /* NULL: it is in none */
    uintptr_t offset;    /* in the module */
} Place;

/* The number of a site. */
typedef struct {
    const KnownModule *module;
    uintptr_t offset;
    uint32_t number; /* + 1; 0: the place is free */
} SiteNumber;

typedef struct SiteAddresses {
    Place *at; /* by address, N of MASK + 1 places */
    size_t mask, n;
    SiteNumber *numbers; /* by module and offset, N_SITES of NUMBERS_MASK + 1 */
    size_t numbers_mask;
    KnownModule *modules;
    uint32_t n_modules, n_sites;
    unsigned long long unloaded; /* modules, when an address was last looked up */
    bool over;                   /* nothing more is recorded */
} SiteAddresses;

/* Addresses of code that is made while the program runs may be new each time. */
enum { PLACES_AT_FIRST = 128, PLACES_MOST = 1 << 16, LAYERS_MOST = 32 };

static size_t hash(uint64_t key, size_t mask)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
}

static Place *find(const SiteAddresses *a, uintptr_t address)
{
    size_t at = hash(address, a->mask);
    while (a->at[at].address != 0 && a->at[at].address != address)
        at = (at + 1) & a->mask;
    return &a->at[at];
}

/* Makes room for another address. False: no memory, or there are too many. */
static bool make_room(SiteAddresses *a)
{
    SiteAddresses larger = *a;
    if (a->at && 2 * (a->n + 1) <= a->mask)
        return true;
    if (a->mask + 1 >= PLACES_MOST)
        return false;
    larger.mask = a->at ? 2 * a->mask + 1 : PLACES_AT_FIRST - 1;
    larger.at = wend_budget_zeroed((larger.mask + 1) * sizeof *a->at);
    if (!larger.at)
        return false;
    for (size_t i = 0; a->at && i <= a->mask; i++)
        if (a->at[i].address != 0)
            *find(&larger, a->at[i].address) = a->at[i];
    wend_budget_free(a->at, a->at ? (a->mask + 1) * sizeof *a->at : 0);
    *a = larger;
    return true;
}

static SiteNumber *find_number(const SiteAddresses *a, const KnownModule *m, uintptr_t offset)
{
    size_t at = hash(offset ^ (uintptr_t)m << 16, a->numbers_mask);
    SiteNumber *n;
    for (; (n = &a->numbers[at])->number != 0; at = (at + 1) & a->numbers_mask)
        if (n->module == m && n->offset == offset)
            break;
    return n;
}

/* The same for another site. */
static bool make_number_room(SiteAddresses *a)
{
    SiteAddresses larger = *a;
    if (a->numbers && 2 * ((size_t)a->n_sites + 1) <= a->numbers_mask)
        return true;
    if (a->n_sites >= WEND_SITES_MOST)
        return false;
    larger.numbers_mask = a->numbers ? 2 * a->numbers_mask + 1 : PLACES_AT_FIRST - 1;
    larger.numbers = wend_budget_zeroed((larger.numbers_mask + 1) * sizeof *a->numbers);
    if (!larger.numbers)
        return false;
    for (size_t i = 0; a->numbers && i <= a->numbers_mask; i++) {
        const SiteNumber *n = &a->numbers[i];
        if (n->number != 0)
            *find_number(&larger, n->module, n->offset) = *n;
    }
    wend_budget_free(a->numbers, a->numbers ? (a->numbers_mask + 1) * sizeof *a->numbers : 0);
    *a = larger;
    return true;
}

/* -- modules -- */

static KnownModule *known_module(SiteAddresses *a, const CodeModule *m)
{
    for (KnownModule *k = a->modules; k; k = k->next)
        if (k->n_id == m->n_id && memcmp(k->id, m->id, m->n_id) == 0
            && strcmp(k->file, m->file) == 0)
            return k;
    size_t n = strlen(m->file) + 1;
    KnownModule *k = wend_budget_zeroed(sizeof *k + n);
    if (!k)
        return NULL;
    memcpy(k->file, m->file, n);
    memcpy(k->id, m->id, m->n_id);
    k->n_id = m->n_id;
    k->next = a->modules;
    k->number = WEND_SITE_NONE;
    return a->modules = k;
}

/* A module has been unloaded, and another one may be where it was. Its sites stay. */
static void forget_addresses(CallSequence *q)
{
    SiteAddresses *a = q->places;
    memset(a->at, 0, (a->mask + 1) * sizeof *a->at);
    a->n = 0;
    for (size_t i = 0; i <= q->sites.mask; i++)
        q->sites.at[i].address = 0;
}

/* -- addresses -- */

/* The place of ADDRESS. NULL: there is no memory, or there are too many. */
static Place *place_of(CallSequence *q, uintptr_t address)
{
    SiteAddresses *a = q->places;
    Place *p = find(a, address);
    if (__builtin_expect(p->address == address, 1))
        return p;
    CodeModule m;
    unsigned long long unloaded;
    bool found = code_module_of(address, &m, &unloaded);
    if (unloaded != a->unloaded)
        forget_addresses(q);
    a->unloaded = unloaded;
    if (!make_room(a))
        return NULL;
    p = find(a, address);
    *p = (Place){.address = address, .site = WEND_SITE_NONE};
    a->n++;
    if (!found)
        return p;
    p->layer = m.layer;
    p->offset = address - m.base;
    p->module = known_module(a, &m);
    if (m.layer) /* the call is just before the address to which it returns */
        p->rule = frame_rule(m.frames, m.n_frames, m.low, m.high, address - 1);
    return p;
}

/* Where C comes from: the first address outside of all layers or, if these cannot be passed, the
 * last one that was found. NULL: not known. */
static Place *origin(const ActiveCall *c)
{
    if (!c->frame || c->return_address == 0)
        return NULL;
    uintptr_t address = c->return_address;
    Frame f = {(uintptr_t)(c->frame + 2), c->frame[0]};
    Place *p = place_of(c->sequence, address);
    for (int i = 0; p && p->layer && i < LAYERS_MOST && frame_up(&p->rule, &f, &address); i++)
        p = place_of(c->sequence, address);
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
        FrameRule rule = frame_rule(m->frames, m->n_frames, m->low, m->high, *address - 1);
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

/* -- numbers -- */

/* Puts a site into the table of the stream (docs/format.md, "Call sites"). */
static void put_site(SiteAddresses *a, WendBuf *table, KnownModule *m, uintptr_t offset)
{
    if (!m) {
        wend_buf_unsigned(table, 0);
        return;
    }
    bool is_new = m->number == WEND_SITE_NONE;
    if (is_new)
        m->number = a->n_modules++;
    wend_buf_unsigned(table, m->number + UINT64_C(1));
    if (is_new) {
        wend_buf_string(table, m->file);
        wend_buf_unsigned(table, m->n_id);
        wend_buf_bytes(table, m->id, m->n_id);
    }
    wend_buf_signed(table, (int64_t)(offset - m->last));
    m->last = offset;
}

/* The number of the site P; of NULL that of all sites that are not known. WEND_SITE_NONE: no
 * memory. */
static uint32_t number_of(SiteAddresses *a, Place *p, WendBuf *table)
{
    if (p && p->site != WEND_SITE_NONE)
        return p->site;
    KnownModule *m = p ? p->module : NULL;
    uintptr_t offset = m ? p->offset : 0;
    if (!make_number_room(a))
        return WEND_SITE_NONE;
    SiteNumber *n = find_number(a, m, offset);
    if (n->number == 0) {
        *n = (SiteNumber){m, offset, ++a->n_sites};
        put_site(a, table, m, offset);
    }
    if (p)
        p->site = n->number - 1;
    return table->failed ? WEND_SITE_NONE : n->number - 1;
}

/* -- the stream -- */

static SiteAddresses none = {.over = true};

/* The stream of Q, which is made at its first call. NULL: there is none, or nothing more is
 * recorded. */
static SideStream *stream_of(CallSequence *q)
{
    if (q->places)
        return q->places->over ? NULL : q->side[WEND_SIDE_SITES];
    SideStream *s = side_stream_of(q, WEND_SIDE_SITES);
    q->places = s && wend_site_guesses_init(&q->sites) ? wend_budget_zeroed(sizeof none) : NULL;
    if (q->places && make_room(q->places)) {
        s->table.resize = wend_budget_resize;
        return s;
    }
    q->places = &none;
    wend_site_guesses_clear(&q->sites);
    return NULL;
}

/* Ends the stream: memory is short. The guesses stay, since terminals have marks of them. */
static void end(CallSequence *q, SideStream *s)
{
    side_end(s);
    q->places->over = true;
    for (size_t i = 0; i <= q->sites.mask; i++)
        q->sites.at[i].address = 0;
}

static void append(SideStream *s, WendSiteElement e, int64_t site)
{
    for (; e.step > WEND_SITE_MOST_CALLS; e.step -= WEND_SITE_MOST_CALLS)
        side_append_after(s, WEND_SITE_MOST_CALLS, WEND_SITE_LONG, 0, &site, sizeof site);
    side_append_after(s, e.step, e.code, 0, &site, sizeof site);
}

static void site_of(ActiveCall *c, bool poll, uint64_t marks[2])
{
    CallSequence *q = c->sequence;
    SideStream *s = stream_of(q);
    marks[0] = 0;
    if (!s)
        return;
    WendSiteCall call =
        wend_site_call(c->shape.w, c->shape.n, c->slots.w, c->slots.n, poll, (uint32_t)c->function);
    WendSiteElement element;
    bool wrong;
    Place *p = origin(c);
    uint32_t site = number_of(q->places, p, &s->table);
    WendSiteGuess *guess = site != WEND_SITE_NONE ? wend_site_guess(&q->sites, &call) : NULL;
    if (!guess
        || !wend_site_note(&q->sites, &call, guess, site, p ? p->address : 0, &wrong, &element)) {
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
 * else changes. WEND_SITE_NONE: there is no memory. */
static uint32_t number_of_unfinished(const SiteAddresses *a, const ActiveCall *c, WendBuf *table)
{
    CodeModule m;
    uintptr_t address;
    bool known = origin_now(c, &m, &address);
    const KnownModule *k = known ? a->modules : NULL;
    for (; k; k = k->next)
        if (k->n_id == m.n_id && memcmp(k->id, m.id, m.n_id) == 0 && strcmp(k->file, m.file) == 0)
            break;
    const SiteNumber *n = k || !known ? find_number(a, k, known ? address - m.base : 0) : NULL;
    if (n && n->number != 0)
        return n->number - 1;
    /* put_site changes what it puts, so it gets copies, with room for the path. */
    union {
        KnownModule module;
        char room[sizeof(KnownModule) + CODE_MODULE_FILE];
    } copy = {.module = {.number = k ? k->number : WEND_SITE_NONE, .last = k ? k->last : 0}};
    SiteAddresses sites = *a;
    if (known) {
        copy.module.n_id = m.n_id;
        memcpy(copy.module.id, m.id, m.n_id);
        memcpy(copy.room + offsetof(KnownModule, file), m.file, strlen(m.file) + 1);
    }
    put_site(&sites, table, known ? &copy.module : NULL, known ? address - m.base : 0);
    return table->failed ? WEND_SITE_NONE : a->n_sites;
}

bool site_of_unfinished(const CallSequence *q, const ActiveCall *c, WendBuf *table, int64_t *site)
{
    const SiteAddresses *a = q->places;
    if (!a || a->over || !a->numbers)
        return false;
    *site = number_of_unfinished(a, c, table);
    return *site != WEND_SITE_NONE;
}

void site_recording_open(void)
{
    if (!settings()->sites)
        return;
    state()->origin_of = origin_of;
    if (!state()->unwritten)
        state()->site_of = site_of;
}
