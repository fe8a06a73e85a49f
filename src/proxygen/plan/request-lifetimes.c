/* SPDX-License-Identifier: BSD-3-Clause */
/* request-lifetimes.c: the lifetimes of the requests of one rank, and the groups that they form. */
#include "src/proxygen/plan/requests.h"

#include <string.h>

/* Bounds the lifetimes of a rank, of 100 bytes each. */
enum { LIFETIME_LIMIT = 1 << 22 };

/* -- groups -- */

RequestLifetime *request_lifetimes_at(const GArray *lifetimes, guint i)
{
    return &g_array_index(lifetimes, RequestLifetime, i);
}

guint request_lifetimes_first(const GArray *lifetimes, guint i, gint64 *distance)
{
    guint first = i;
    gint64 all = 0, left;
    for (; request_lifetimes_at(lifetimes, first)->other != first;
         first = request_lifetimes_at(lifetimes, first)->other)
        all += request_lifetimes_at(lifetimes, first)->distance;
    *distance = left = all;
    while (request_lifetimes_at(lifetimes, i)->other != first) {
        RequestLifetime *lifetime = request_lifetimes_at(lifetimes, i);
        gint64 step = lifetime->distance;
        i = lifetime->other;
        lifetime->other = first;
        lifetime->distance = left;
        left -= step;
    }
    return first;
}

gboolean request_lifetimes_join(const GArray *lifetimes, guint a, guint b, gint64 distance)
{
    gint64 to_a, to_b;
    guint x = request_lifetimes_first(lifetimes, a, &to_a),
          y = request_lifetimes_first(lifetimes, b, &to_b);
    gint64 between = to_a + distance - to_b;
    if (x == y)
        return between == 0;
    RequestLifetime *first = request_lifetimes_at(lifetimes, x),
                    *second = request_lifetimes_at(lifetimes, y);
    second->other = x;
    second->distance = between;
    first->low = MIN(first->low, second->low + between);
    first->high = MAX(first->high, second->high + between);
    first->begin = MIN(first->begin, second->begin);
    first->end = MAX(first->end, second->end);
    return TRUE;
}

guint request_lifetimes_add(GArray *lifetimes, gint number, guint clock, guint64 birth,
                            guint64 death)
{
    RequestLifetime lifetime = {.number = number,
                                .other = lifetimes->len,
                                .birth = birth,
                                .death = death,
                                .makes = 1,
                                .begin = birth,
                                .end = birth,
                                .clock = clock};
    g_array_append_val(lifetimes, lifetime);
    return lifetimes->len - 1;
}

/* -- the walk -- */

typedef struct {
    const RequestEffects *effects;
    const RequestUse *use;
    const gboolean *apart;
    GArray *lifetimes;
    guint *present;
    const GArray *stretches; /* of loops; those before NEXT_STRETCH are over */
    guint next_stretch;
    guint64 begin, end; /* the call that is walked, or the loop that contains it */
    guint clock;        /* its sequence */
} Finder;

static guint present_lifetime(Finder *f, gint number)
{
    /* it existed before the first call that names it: it was made while recording was off, or
     * elsewhere */
    if (!f->present[number])
        f->present[number] =
            1 + request_lifetimes_add(f->lifetimes, number, f->clock, 0, LIFETIME_FOR_EVER);
    return f->present[number] - 1;
}

static void end_lifetime(Finder *f, gint number)
{
    if (number < 0 || !f->present[number] || f->use->stays[number])
        return;
    RequestLifetime *lifetime = request_lifetimes_at(f->lifetimes, f->present[number] - 1);
    lifetime->death = MIN(lifetime->death, f->end);
}

static void begin_lifetime(Finder *f, gint number)
{
    if (f->use->stays[number]) {
        present_lifetime(f, number);
        return;
    }
    RequestLifetime *now =
        f->present[number] ? request_lifetimes_at(f->lifetimes, f->present[number] - 1) : NULL;
    if (now && f->begin < f->end && now->death >= f->begin) {
        now->death = LIFETIME_FOR_EVER;
        now->makes++;
        return;
    }
    end_lifetime(f, number);
    f->present[number] =
        1 + request_lifetimes_add(f->lifetimes, number, f->clock, f->begin, LIFETIME_FOR_EVER);
}

/* Puts the array of a call into consecutive slots. Where it has MPI_REQUEST_NULL, no other request
 * may be at that time. */
static void make_consecutive(Finder *f, const RequestEffect *effect)
{
    const gint *numbers = (const gint *)(gpointer)effect->gives->data;
    guint n = effect->gives->len, at = 0;
    gboolean good = TRUE;
    for (guint i = 0; i < n; i++)
        good &= numbers[i] < 0 || !f->apart[numbers[i]];
    while (numbers[at] < 0) /* a list has at least one request */
        at++;
    guint one = present_lifetime(f, numbers[at]);
    for (guint i = 0; i < n && good; i++) {
        guint lifetime = numbers[i] < 0 ? request_lifetimes_add(f->lifetimes, NO_REQUEST_NUMBER,
                                                                f->clock, f->begin, f->end)
                                        : present_lifetime(f, numbers[i]);
        good = request_lifetimes_join(f->lifetimes, one, lifetime, (gint64)i - at);
    }
    if (!good) {
        effect->list->direct = FALSE;
        return;
    }
    gint64 distance;
    RequestLifetime *first =
        request_lifetimes_at(f->lifetimes, request_lifetimes_first(f->lifetimes, one, &distance));
    first->end = MAX(first->end, f->end);
}

/* Keeps the slots of requests that a call passes singly or gathered. No other request may have the
 * slot of a request that is complete (the array keeps its slot), because the call would take it for
 * its own. */
static void keep_slots(Finder *f, const RequestEffect *effect)
{
    for (guint i = 0; i < effect->gives->len; i++) {
        gint number = g_array_index(effect->gives, gint, i);
        if (number < 0)
            continue;
        RequestLifetime *lifetime = request_lifetimes_at(f->lifetimes, present_lifetime(f, number));
        lifetime->death = MAX(lifetime->death, f->end);
    }
}

static void set_now(Finder *f, guint64 call)
{
    f->begin = f->end = call + 1;
    for (; f->stretches && f->next_stretch < f->stretches->len; f->next_stretch++) {
        const CallStretch *s = &g_array_index(f->stretches, CallStretch, f->next_stretch);
        if (call < s->first)
            break;
        if (call <= s->last) {
            f->begin = s->first + 1;
            f->end = s->last + 1;
            break;
        }
    }
}

/* Takes the effect of the last call of the walk. */
static void take_effect(Finder *f, WendWalk *walk, const RequestEffect *effect)
{
    if (effect->list && effect->list->direct)
        make_consecutive(f, effect);
    if (!effect->list || !effect->list->direct)
        keep_slots(f, effect);
    guint n;
    const gint64 *completed = walk_completed(walk, &n);
    for (guint i = 0; i < n; i++) {
        WendRequestState state;
        if (walk_request(walk, completed[i], &state) && !state.persistent)
            end_lifetime(f, request_numbers_find(f->effects->numbers, completed[i]));
    }
    for (guint i = 0; effect->frees && i < effect->gives->len; i++)
        end_lifetime(f, g_array_index(effect->gives, gint, i));
    for (guint i = 0; i < effect->makes->len; i++)
        begin_lifetime(f, g_array_index(effect->makes, gint, i));
}

/* Returns FALSE if there are too many lifetimes. */
static gboolean walk_sequence(Finder *f, guint rank, guint sequence)
{
    const Plan *plan = f->effects->plan;
    WendWalk *walk = walk_new(plan->program, rank, sequence, WEND_WALK_MAIN);
    /* only for ranks with a single thread */
    f->stretches =
        plan->stretches ? g_hash_table_lookup(plan->stretches, GUINT_TO_POINTER(rank)) : NULL;
    f->next_stretch = 0;
    f->clock = sequence;
    for (const WendCall *call;
         f->lifetimes->len < LIFETIME_LIMIT && (call = walk_next(walk)) != NULL;) {
        const RequestEffect *effect = f->effects->of[call->terminal];
        if (!effect)
            continue;
        set_now(f, call->index);
        take_effect(f, walk, effect);
    }
    walk_free(walk);
    return f->lifetimes->len < LIFETIME_LIMIT;
}

GArray *request_lifetimes_find(const RequestEffects *effects, const RequestUse *use, guint rank,
                               const gboolean *apart, guint *present)
{
    g_autoptr(GArray) lifetimes = g_array_new(FALSE, FALSE, sizeof(RequestLifetime));
    Finder f = {
        .effects = effects, .use = use, .apart = apart, .lifetimes = lifetimes, .present = present};
    memset(present, 0, request_numbers_count(effects->numbers) * sizeof *present);
    for (guint s = 0; s < use->class->n_sequences; s++)
        if (use->walks[s] && !walk_sequence(&f, rank, s))
            return NULL;
    return g_steal_pointer(&lifetimes);
}
