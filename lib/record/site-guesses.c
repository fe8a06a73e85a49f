/* SPDX-License-Identifier: BSD-3-Clause */
/* site-guesses.c: see site-guesses.h. */
#include "site-guesses.h"

#include "base/budget.h"

enum { PLACES_AT_FIRST = 64 };

bool site_guesses_init(WendSiteGuesses *g)
{
    *g = (WendSiteGuesses){.at = budget_zeroed(PLACES_AT_FIRST * sizeof *g->at),
                           .mask = PLACES_AT_FIRST - 1,
                           .last = WEND_SITE_NONE};
    return g->at != NULL;
}

void site_guesses_clear(WendSiteGuesses *g)
{
    budget_free(g->at, g->at ? (g->mask + 1) * sizeof *g->at : 0);
    g->at = NULL;
}

/* The place of KEY, which is free if there is no such guess. */
static WendSiteGuess *find(const WendSiteGuesses *g, uint64_t key)
{
    size_t at = site_guess_place(g, key);
    while (g->at[at].key != 0 && g->at[at].key != key)
        at = (at + 1) & g->mask;
    return &g->at[at];
}

static bool grow(WendSiteGuesses *g)
{
    WendSiteGuesses larger = *g;
    larger.mask = 2 * g->mask + 1;
    larger.at = budget_zeroed((larger.mask + 1) * sizeof *g->at);
    if (!larger.at)
        return false;
    for (size_t i = 0; i <= g->mask; i++)
        if (g->at[i].key != 0)
            *find(&larger, g->at[i].key) = g->at[i];
    site_guesses_clear(g);
    *g = larger;
    return true;
}

/* Adds a guess for KEY, which has none. */
static WendSiteGuess *add(WendSiteGuesses *g, uint64_t key)
{
    if (2 * (g->n + 1) > g->mask && !grow(g))
        return NULL;
    WendSiteGuess *guess = find(g, key);
    guess->key = key;
    guess->site = WEND_SITE_NONE;
    g->n++;
    return guess;
}

/* The same, if the limit allows it. */
static WendSiteGuess *add_limited(WendSiteGuesses *g, uint64_t key)
{
    WendSiteGuess *guess = add(g, key);
    g->limited += guess != NULL;
    return guess;
}

uint64_t site_guess_mark(uint64_t seed, const int64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seed = site_guess_mix(seed, (uint64_t)words[i]);
    return site_guess_mix(seed, n) | 2;
}

WendSiteCall site_call(const int64_t *shape, size_t n_shape, const int64_t *slots, size_t n_slots,
                       bool poll)
{
    enum { OF_SHAPE, OF_POLL, OF_FUNCTION };
    WendSiteCall call;
    int64_t function = shape[0] >> 1;
    call.function = site_guess_mark(OF_FUNCTION, &function, 1);
    call.shape = site_guess_mark(poll ? OF_POLL : OF_SHAPE, shape, n_shape);
    call.signature = site_guess_mark(call.shape, slots, n_slots);
    return call;
}

WendSiteGuess *site_guess(WendSiteGuesses *g, const WendSiteCall *call)
{
    uint64_t key = site_guess_key(g, call->shape);
    WendSiteGuess *by_shape = find(g, key);
    if (by_shape->key != 0) {
        WendSiteGuess *own =
            by_shape->has_others ? find(g, site_guess_key(g, call->signature)) : by_shape;
        return own->key != 0 ? own : by_shape;
    }
    if (g->limited < WEND_SITE_GUESSES)
        return add_limited(g, key);
    key = site_guess_key(g, call->function);
    WendSiteGuess *by_function = find(g, key);
    return by_function->key != 0 ? by_function : add(g, key);
}

bool site_guess_note(WendSiteGuesses *g, const WendSiteCall *call, WendSiteGuess *guess,
                     uint32_t site, uintptr_t address, bool *wrong, WendSiteElement *e)
{
    bool found = guess->site == WEND_SITE_NONE;
    *wrong = guess->site != site;
    if (*wrong && !found && guess->key == site_guess_key(g, call->shape)
        && g->limited < WEND_SITE_GUESSES) {
        guess->has_others = true;
        if (!(guess = add_limited(g, site_guess_key(g, call->signature))))
            return false;
    }
    *e = (WendSiteElement){found ? WEND_SITE_FOUND : WEND_SITE_CHANGED, found ? 0 : g->guessed};
    g->guessed = *wrong ? 0 : g->guessed + 1;
    guess->address = address;
    g->last = guess->site = site;
    return true;
}

/* -- following -- */

static void take(WendSiteFollower *f)
{
    f->taken = f->take(f->source, &f->next);
}

void site_follower_open(WendSiteFollower *f, WendSiteTake *take_next, void *source)
{
    *f = (WendSiteFollower){.take = take_next, .source = source};
    f->lost = !site_guesses_init(&f->guesses);
    take(f);
}

static bool is_next(const WendSiteFollower *f, WendSiteCode code)
{
    return f->taken == WEND_SITE_TAKEN && f->next.code == code;
}

/* Nothing more is known if the recorder had no memory for what comes now, or the stream is not of
 * these calls. */
static uint32_t lose(WendSiteFollower *f)
{
    f->lost = true;
    return WEND_SITE_NONE;
}

uint32_t site_follower_next(WendSiteFollower *f, const WendSiteCall *call)
{
    WendSiteGuesses *g = &f->guesses;
    while (is_next(f, WEND_SITE_LONG) && g->guessed >= f->next.step) {
        g->guessed -= f->next.step;
        take(f);
    }
    WendSiteGuess *guess = f->lost ? NULL : site_guess(g, call);
    if (!guess || f->taken == WEND_SITE_CUT)
        return lose(f);
    bool found = guess->site == WEND_SITE_NONE;
    bool changed = !found && is_next(f, WEND_SITE_CHANGED) && g->guessed == f->next.step;
    if (found && !is_next(f, WEND_SITE_FOUND))
        return lose(f);
    uint32_t site = found || changed ? f->next.site : guess->site;
    WendSiteElement element;
    bool wrong;
    if (!site_guess_note(g, call, guess, site, 0, &wrong, &element))
        return lose(f);
    if (found || changed) {
        g->guessed = 0; /* also if the element names the site that was guessed */
        take(f);
    }
    return site;
}

uint32_t site_follower_unfinished(WendSiteFollower *f)
{
    if (f->lost || !is_next(f, WEND_SITE_FOUND))
        return WEND_SITE_NONE;
    uint32_t site = f->next.site;
    take(f);
    return site;
}

void site_follower_close(WendSiteFollower *f)
{
    site_guesses_clear(&f->guesses);
}
