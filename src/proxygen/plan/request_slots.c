/* SPDX-License-Identifier: BSD-3-Clause */
/* request_slots.c: request slots of each rank, if requests do not keep one slot on all ranks at all
 * times.
 *
 * A request's number identifies the calls that may make it, but not the variable of the
 * application. Ranks with other partners have other numbers at the same positions of an array. If
 * partners change, one number is at several positions in turn. Only the arrays that calls use say
 * more about variables: the requests of an array were side by side at that time. So each rank is
 * walked. Slots are assigned to *lifetimes* of requests, from the call that makes a request to the
 * call that ends it:
 *
 * - Lifetimes that were in one array at one time have fixed distances. They form a *group*,
 *   together with all lifetimes that share an array with one of them.
 * - A group gets slots that no other group has at that time; if possible, the slots that its
 *   numbers had before (their *homes*).
 *
 * Then each call writes its request directly to the slot where the call that completes it reads it.
 * To copy requests there would be enough for MPI, but not for a recording of the proxy. MPICH gives
 * many sends one and the same handle, and only the variable distinguishes them.
 *
 * In a loop of loops.c the order of calls is open. A request in it has one lifetime for the whole
 * loop, however often it is made. Numbers that several threads or callbacks name have an unlimited
 * lifetime, because the walk cannot order their calls. Threads whose requests are in one array (one
 * starts requests that another completes) share an array in the proxy. A lifetime that ends has
 * slots there for its thread alone, because the order of two threads is unknown. An array that
 * contradicts others (the application itself copied a handle) is gathered before its calls, as in
 * variables.c. All arrays are gathered if this takes too much memory, or too many numbers in the
 * proxy. */
#include "request_slots.h"

#include <string.h>

enum { NO_PLACE = -1, NO_NUMBER = -1 };
/* LIFETIME_LIMIT bounds the lifetimes of a rank, of 100 bytes each. Moves of all ranks are numbers
 * in the proxy. They are limited, in proportion to the size of the program if that is large. */
enum { LIFETIME_LIMIT = 1 << 22, MOVES_ALWAYS = 1 << 18, MOVES_FOR_SYMBOL = 2 };
/* The number of walks of a rank after which not only requests with conflicting slots are set apart,
 * but all requests in their groups. */
enum { ROUNDS = 8 };
#define FOR_EVER G_MAXUINT64

/* A lifetime of a request. Each lifetime of a group except the first has a fixed distance to
 * another one. */
typedef struct {
    /* NO_NUMBER: an MPI_REQUEST_NULL in an array, with the lifetime of that call */
    gint number;
    guint other;
    gint64 distance;
    guint64 birth, death; /* the calls that make and end it */
    guint64 makes;        /* more than 1 in a loop */
    gint64 low, high;     /* ^first of a group: the slots of its arrays, relative to its own */
    guint64 begin, end;   /* ^and the time of these */
    guint clock;          /* the sequence whose calls these are */
} Lifetime;

/* The last group at a slot: the call after its end, and the sequence of that call. */
typedef struct {
    guint64 until;
    guint clock;
} Taken;

/* The effect of a terminal on requests. */
typedef struct {
    RequestList *list;     /* the array of the call, or NULL */
    GArray *makes, *gives; /* of gint: numbers; GIVES by entry, NO_NUMBER for none */
    gboolean frees;
    gboolean differs; /* the requests that it completes may differ by rank */
} KnownCall;

typedef struct {
    Plan *plan;
    RequestSlots *p;
    KnownCall **known;      /* by terminal; NULL: it has no requests */
    const GPtrArray *lists; /* of ALL_LISTS */
    const RequestLists *all_lists;

    /* for the current rank */
    /* by number: unlimited lifetime; set apart, so that lists with it are gathered */
    gboolean *stays, *apart;
    const GArray *stretches; /* of loops; those before NEXT_STRETCH are over */
    guint next_stretch;
    guint64 begin, end; /* the call that is walked, or the loop that contains it */
    guint clock;        /* its sequence */
    GArray *lifetimes;
    guint *present; /* by number: its current lifetime, + 1 */
    gint64 *home;   /* by number: its home */
    guint round;
    guint64 n_moves, max_moves; /* of all ranks */
    GHashTable *taken;          /* thread -> GArray of Taken, by slot of its array */
} SlotFinder;

/* -- effects of terminals -- */

static gint number_of(const RequestSlots *p, gint64 request)
{
    return wend_is_handle(request) ? GPOINTER_TO_INT(g_hash_table_lookup(p->numbers, &request)) - 1
                                   : NO_NUMBER;
}

static gint add_number(RequestSlots *p, gint64 request)
{
    if (wend_is_handle(request) && number_of(p, request) < 0) {
        g_array_append_val(p->requests, request);
        g_hash_table_insert(p->numbers, g_memdup2(&request, sizeof request),
                            GUINT_TO_POINTER(p->requests->len));
    }
    return number_of(p, request);
}

static KnownCall *classify_call(SlotFinder *f, const CallPattern *c)
{
    KnownCall *k = NULL;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind != WEND_KIND_REQUEST)
            continue;
        if (!k) {
            k = g_new0(KnownCall, 1);
            k->makes = g_array_new(FALSE, FALSE, sizeof(gint));
            k->gives = g_array_new(FALSE, FALSE, sizeof(gint));
            k->differs = (c->function->flags & WEND_F_ANY) || c->failed;
            k->frees = strcmp(c->function->name, "MPI_Request_free") == 0;
        }
        for (guint w = 0; w < arg->n_in_words; w++) {
            gint number = add_number(f->p, arg->in[w].value);
            g_array_append_val(k->gives, number);
        }
        for (guint w = 0; w < arg->n_out_words; w++) {
            gint number = add_number(f->p, arg->out[w].value);
            if (number >= 0)
                g_array_append_val(k->makes, number);
        }
        if (arg->param->array && arg->n_in > 0)
            k->list = request_lists_find(f->all_lists, arg->in, arg->n_in);
    }
    return k;
}

static void known_free(KnownCall *k)
{
    g_array_unref(k->makes);
    g_array_unref(k->gives);
    g_free(k);
}

static guint thread_of(const RequestSlots *p, gint number)
{
    return wend_handle_tid(g_array_index(p->requests, gint64, (guint)number));
}

guint request_slots_array(const RequestSlots *p, guint thread)
{
    for (guint next;
         (next = GPOINTER_TO_UINT(g_hash_table_lookup(p->arrays, GUINT_TO_POINTER(thread)))) != 0;)
        thread = next - 1;
    return thread;
}

/* Joins the arrays of two threads whose requests are in one array of the application. The array is
 * that of the first thread. */
static void share_array(RequestSlots *p, guint a, guint b)
{
    a = request_slots_array(p, a);
    b = request_slots_array(p, b);
    if (a != b)
        g_hash_table_insert(p->arrays, GUINT_TO_POINTER(MAX(a, b)),
                            GUINT_TO_POINTER(MIN(a, b) + 1));
}

/* Whether a list may be consecutive: each request occurs once. Other lists are always gathered.
 * Joins the arrays of its threads. */
static gboolean may_be_consecutive(SlotFinder *f, const RequestList *list)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    gint first = NO_NUMBER;
    for (gint64 i = 0; i < list->n; i++) {
        gint number = number_of(f->p, list->words[i]);
        if (number >= 0 && !g_hash_table_add(seen, GINT_TO_POINTER(number)))
            return FALSE;
    }
    for (gint64 i = 0; i < list->n; i++) {
        gint number = number_of(f->p, list->words[i]);
        if (number < 0)
            continue;
        if (first < 0)
            first = number;
        share_array(f->p, thread_of(f->p, first), thread_of(f->p, number));
    }
    return TRUE;
}

/* -- groups -- */

static Lifetime *lifetime_at(const GArray *lifetimes, guint i)
{
    return &g_array_index(lifetimes, Lifetime, i);
}

/* The first lifetime of the group of lifetime I; *DISTANCE is relative to it. Shortens the path for
 * later calls. */
static guint first_of(const GArray *lifetimes, guint i, gint64 *distance)
{
    guint first = i;
    gint64 all = 0, left;
    for (; lifetime_at(lifetimes, first)->other != first;
         first = lifetime_at(lifetimes, first)->other)
        all += lifetime_at(lifetimes, first)->distance;
    *distance = left = all;
    while (lifetime_at(lifetimes, i)->other != first) {
        Lifetime *lifetime = lifetime_at(lifetimes, i);
        gint64 step = lifetime->distance;
        i = lifetime->other;
        lifetime->other = first;
        lifetime->distance = left;
        left -= step;
    }
    return first;
}

/* Puts B at DISTANCE after A. Returns FALSE if B has another distance already. */
static gboolean join(const GArray *lifetimes, guint a, guint b, gint64 distance)
{
    gint64 to_a, to_b;
    guint x = first_of(lifetimes, a, &to_a), y = first_of(lifetimes, b, &to_b);
    gint64 between = to_a + distance - to_b;
    if (x == y)
        return between == 0;
    Lifetime *first = lifetime_at(lifetimes, x), *second = lifetime_at(lifetimes, y);
    second->other = x;
    second->distance = between;
    first->low = MIN(first->low, second->low + between);
    first->high = MAX(first->high, second->high + between);
    first->begin = MIN(first->begin, second->begin);
    first->end = MAX(first->end, second->end);
    return TRUE;
}

static guint add_lifetime(GArray *lifetimes, gint number, guint clock, guint64 birth, guint64 death)
{
    Lifetime lifetime = {.number = number,
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

static guint present_lifetime(SlotFinder *f, gint number)
{
    /* it existed before the first call that names it: it was made while recording was off, or
     * elsewhere */
    if (!f->present[number])
        f->present[number] = 1 + add_lifetime(f->lifetimes, number, f->clock, 0, FOR_EVER);
    return f->present[number] - 1;
}

static void end_lifetime(SlotFinder *f, gint number)
{
    if (number < 0 || !f->present[number] || f->stays[number])
        return;
    Lifetime *lifetime = lifetime_at(f->lifetimes, f->present[number] - 1);
    lifetime->death = MIN(lifetime->death, f->end);
}

static void begin_lifetime(SlotFinder *f, gint number)
{
    if (f->stays[number]) {
        present_lifetime(f, number);
        return;
    }
    Lifetime *now = f->present[number] ? lifetime_at(f->lifetimes, f->present[number] - 1) : NULL;
    if (now && f->begin < f->end && now->death >= f->begin) {
        now->death = FOR_EVER;
        now->makes++;
        return;
    }
    end_lifetime(f, number);
    f->present[number] = 1 + add_lifetime(f->lifetimes, number, f->clock, f->begin, FOR_EVER);
}

/* Puts the array of a call into consecutive slots. Where it has MPI_REQUEST_NULL, no other request
 * may be at that time. */
static void make_consecutive(SlotFinder *f, const KnownCall *k)
{
    const gint *numbers = (const gint *)(gpointer)k->gives->data;
    guint n = k->gives->len, at = 0;
    gboolean good = TRUE;
    for (guint i = 0; i < n; i++)
        good &= numbers[i] < 0 || !f->apart[numbers[i]];
    while (numbers[at] < 0) /* a list has at least one request */
        at++;
    guint one = present_lifetime(f, numbers[at]);
    for (guint i = 0; i < n && good; i++) {
        guint lifetime = numbers[i] < 0
                             ? add_lifetime(f->lifetimes, NO_NUMBER, f->clock, f->begin, f->end)
                             : present_lifetime(f, numbers[i]);
        good = join(f->lifetimes, one, lifetime, (gint64)i - at);
    }
    if (!good) {
        k->list->direct = FALSE;
        return;
    }
    gint64 distance;
    Lifetime *first = lifetime_at(f->lifetimes, first_of(f->lifetimes, one, &distance));
    first->end = MAX(first->end, f->end);
}

/* Keeps the slots of requests that a call passes singly or gathered. No other request may have the
 * slot of a request that is complete (the array keeps its slot), because the call would take it for
 * its own. */
static void keep_slots(SlotFinder *f, const KnownCall *k)
{
    for (guint i = 0; i < k->gives->len; i++) {
        gint number = g_array_index(k->gives, gint, i);
        if (number < 0)
            continue;
        Lifetime *lifetime = lifetime_at(f->lifetimes, present_lifetime(f, number));
        lifetime->death = MAX(lifetime->death, f->end);
    }
}

static void set_now(SlotFinder *f, guint64 call)
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

/* Returns FALSE if there are too many lifetimes. */
static gboolean walk(SlotFinder *f, guint rank, guint sequence)
{
    WendWalk *walk = wend_walk_new(f->plan->program, rank, sequence, WEND_WALK_MAIN);
    /* only for ranks with a single thread */
    f->stretches =
        f->plan->stretches ? g_hash_table_lookup(f->plan->stretches, GUINT_TO_POINTER(rank)) : NULL;
    f->next_stretch = 0;
    f->clock = sequence;
    for (const WendCall *call;
         f->lifetimes->len < LIFETIME_LIMIT && (call = wend_walk_next(walk)) != NULL;) {
        const KnownCall *k = f->known[call->terminal];
        if (!k)
            continue;
        set_now(f, call->index);
        if (k->list && k->list->direct)
            make_consecutive(f, k);
        if (!k->list || !k->list->direct)
            keep_slots(f, k);
        guint n;
        const gint64 *completed = wend_walk_completed(walk, &n);
        for (guint i = 0; i < n; i++) {
            WendRequestState state;
            if (wend_walk_request(walk, completed[i], &state) && !state.persistent)
                end_lifetime(f, number_of(f->p, completed[i]));
        }
        for (guint i = 0; k->frees && i < k->gives->len; i++)
            end_lifetime(f, g_array_index(k->gives, gint, i));
        for (guint i = 0; i < k->makes->len; i++)
            begin_lifetime(f, g_array_index(k->makes, gint, i));
    }
    wend_walk_free(walk);
    return f->lifetimes->len < LIFETIME_LIMIT;
}

/* -- slots -- */

/* The slots of the array that has the request. */
static GArray *taken_places(SlotFinder *f, gint number)
{
    gpointer array = GUINT_TO_POINTER(request_slots_array(f->p, thread_of(f->p, number)));
    GArray *taken = g_hash_table_lookup(f->taken, array);
    if (!taken) {
        taken = g_array_new(FALSE, TRUE, sizeof(Taken));
        g_hash_table_insert(f->taken, array, taken);
    }
    return taken;
}

/* Finds homes: the slots if each number had only one lifetime, longest lists first. */
static void find_homes(SlotFinder *f, guint rank)
{
    guint n = f->p->requests->len;
    g_autoptr(GArray) lifetimes = g_array_new(FALSE, FALSE, sizeof(Lifetime));
    g_autoptr(GHashTable) own = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < n; i++)
        add_lifetime(lifetimes, (gint)i, 0, 0, FOR_EVER);
    for (guint t = 0; t < wend_program_n_terminals(f->plan->program); t++)
        if (f->known[t] && f->known[t]->list && rank_list_has(f->plan->terminal_ranks[t], rank))
            g_hash_table_add(own, f->known[t]->list);
    for (guint i = 0; i < f->lists->len; i++) {
        const RequestList *list = g_ptr_array_index(f->lists, i);
        gint64 at = -1;
        guint one = 0;
        if (!list->direct || !g_hash_table_contains(own, list))
            continue;
        for (gint64 k = 0; k < list->n; k++) {
            gint number = number_of(f->p, list->words[k]);
            if (number >= 0 && at >= 0)
                join(lifetimes, one, (guint)number, k - at);
            else if (number >= 0)
                at = k, one = (guint)number;
        }
        gint64 distance;
        Lifetime *first = lifetime_at(lifetimes, first_of(lifetimes, one, &distance));
        first->low = MIN(first->low, distance - at);
        first->high = MAX(first->high, distance - at + list->n - 1);
    }
    g_autofree gint64 *start = g_new(gint64, MAX(n, 1)); /* of the row of each first lifetime */
    memset(start, 0xff, n * sizeof *start);
    for (guint i = 0; i < n; i++) {
        f->home[i] = NO_PLACE;
        if (!f->present[i])
            continue;
        gint64 distance;
        guint first = first_of(lifetimes, i, &distance);
        if (start[first] < 0) {
            GArray *taken = taken_places(f, (gint)i);
            start[first] = taken->len;
            g_array_set_size(taken, taken->len
                                        + (guint)(lifetime_at(lifetimes, first)->high
                                                  - lifetime_at(lifetimes, first)->low + 1));
        }
        f->home[i] = start[first] + distance - lifetime_at(lifetimes, first)->low;
    }
}

/* A lifetime as a member of its group. */
typedef struct {
    guint first, lifetime;
    gint64 distance;
} ListMember;

static gint compare_members(gconstpointer a, gconstpointer b, gpointer lifetimes)
{
    const ListMember *x = a, *y = b;
    if (x->first != y->first) {
        guint64 s = lifetime_at(lifetimes, x->first)->begin,
                t = lifetime_at(lifetimes, y->first)->begin;
        return s != t ? (s < t ? -1 : 1) : x->first < y->first ? -1 : 1;
    }
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->lifetime < y->lifetime ? -1 : x->lifetime > y->lifetime; /* by birth */
}

static gint compare_places(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static gboolean is_free(const GArray *taken, const Lifetime *first, gint64 place)
{
    if (place + first->low < 0)
        return FALSE;
    for (gint64 i = place + first->low; i <= place + first->high && i < (gint64)taken->len; i++) {
        const Taken *last = &g_array_index(taken, Taken, i);
        if (last->until > 0 && (last->until > first->begin || last->clock != first->clock))
            return FALSE;
    }
    return TRUE;
}

/* The slot of the first lifetime of a group: the home of most members, else the first free
 * slots. */
static gint64 place_group(SlotFinder *f, const ListMember *members, guint n)
{
    const Lifetime *first = lifetime_at(f->lifetimes, members->first);
    GArray *taken = taken_places(f, first->number);
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < n; i++) {
        gint number = lifetime_at(f->lifetimes, members[i].lifetime)->number;
        gint64 place = number < 0 ? NO_PLACE : f->home[number] - members[i].distance;
        if (number >= 0)
            g_array_append_val(places, place);
    }
    g_array_sort(places, compare_places);
    gint64 best = NO_PLACE;
    guint most = 0;
    for (guint i = 0, end; i < places->len; i = end) {
        gint64 place = g_array_index(places, gint64, i);
        for (end = i; end < places->len && g_array_index(places, gint64, end) == place;)
            end++;
        if (end - i > most && is_free(taken, first, place)) {
            best = place;
            most = end - i;
        }
    }
    if (most == 0)
        for (best = -first->low; !is_free(taken, first, best);)
            best++;
    if (best + first->high >= (gint64)taken->len)
        g_array_set_size(taken, (guint)(best + first->high + 1));
    for (gint64 i = best + first->low; i <= best + first->high; i++)
        g_array_index(taken, Taken, i) =
            (Taken){first->end == FOR_EVER ? FOR_EVER : first->end + 1, first->clock};
    return best;
}

static void note_move(RequestLayout *layout, gint number, guint64 times, gint64 place)
{
    if (!layout->moves[number])
        layout->moves[number] = g_array_new(FALSE, FALSE, sizeof(RequestMove));
    GArray *moves = layout->moves[number];
    RequestMove *last = moves->len ? &g_array_index(moves, RequestMove, moves->len - 1) : NULL;
    RequestMove move = {times, place};
    if (last && last->place == place)
        last->times += times;
    else
        g_array_append_val(moves, move);
}

/* Finds moves that repeat in a loop. Keeps them once, after the moves before the loop. Returns how
 * many repeat; 0: none. */
static guint find_again(GArray *moves)
{
    guint n = moves->len, best = 0, saved = 0;
    /* [p]: length of the common end of the moves and of the moves without the last p (the Z
     * function of the reverse) */
    g_autofree guint *alike = g_new0(guint, n);
    RequestMove *last = &g_array_index(moves, RequestMove, n - 1);
    /* the last move could have been longer if the program had gone on */
    for (guint back = 1; back < n; back++)
        if (last[-(gint64)back].place == last->place) {
            last->times = MAX(last->times, last[-(gint64)back].times);
            break;
        }
    for (guint p = 1, from = 0, to = 0; p < n; p++) {
        guint k = p < to ? MIN(alike[p - from], to - p) : 0;
        while (p + k < n && last[-(gint64)k].times == last[-(gint64)(p + k)].times
               && last[-(gint64)k].place == last[-(gint64)(p + k)].place)
            k++;
        alike[p] = k;
        if (p + k > to)
            from = p, to = p + k;
        if (k > saved)
            best = p, saved = k;
    }
    if (saved > 0)
        g_array_set_size(moves, n - saved);
    return best;
}

static void layout_free(RequestLayout *layout, guint n_numbers)
{
    for (guint i = 0; i < n_numbers; i++)
        if (layout->moves[i])
            g_array_unref(layout->moves[i]);
    g_free(layout->place);
    g_free(layout->moves);
    g_free(layout->again);
    g_free(layout);
}

static void set_apart(SlotFinder *f, gint number)
{
    if (number >= 0)
        f->apart[number] = TRUE;
}

/* Assigns slots to all lifetimes of the rank. Returns NULL if some would share a slot at one time;
 * their numbers are then set apart. */
static RequestLayout *place_lifetimes(SlotFinder *f, guint rank)
{
    guint n = f->lifetimes->len;
    g_autoptr(GArray) members = g_array_sized_new(FALSE, FALSE, sizeof(ListMember), n);
    for (guint i = 0; i < n; i++) {
        ListMember member = {.lifetime = i};
        member.first = first_of(f->lifetimes, i, &member.distance);
        Lifetime *first = lifetime_at(f->lifetimes, member.first);
        first->end = MAX(first->end, lifetime_at(f->lifetimes, i)->death);
        g_array_append_val(members, member);
    }
    g_array_sort_with_data(members, compare_members, f->lifetimes);
    const ListMember *all = (const ListMember *)(gpointer)members->data;
    gboolean good = TRUE;
    for (guint i = 0, end; i < n; i = end) {
        gboolean clash = FALSE;
        for (end = i + 1; end < n && all[end].first == all[i].first; end++) {
            const Lifetime *one = lifetime_at(f->lifetimes, all[end - 1].lifetime),
                           *other = lifetime_at(f->lifetimes, all[end].lifetime);
            if (all[end].distance != all[end - 1].distance
                || (other->clock == one->clock && other->birth > one->death)
                || (one->number < 0 && other->number < 0))
                continue;
            set_apart(f, one->number);
            set_apart(f, other->number);
            clash = TRUE;
        }
        for (guint k = i; clash && f->round >= ROUNDS && k < end; k++)
            set_apart(f, lifetime_at(f->lifetimes, all[k].lifetime)->number);
        good &= !clash;
    }
    if (!good)
        return NULL;
    find_homes(f, rank);
    g_autofree gint64 *places = g_new(gint64, MAX(n, 1));
    for (guint i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].first == all[i].first;)
            end++;
        gint64 place = place_group(f, &all[i], end - i);
        for (guint k = i; k < end; k++)
            places[all[k].lifetime] = place + all[k].distance;
    }
    RequestLayout *layout = g_new0(RequestLayout, 1);
    guint n_numbers = f->p->requests->len;
    layout->place = g_new(gint64, MAX(n_numbers, 1));
    layout->moves = g_new0(GArray *, n_numbers + 1);
    layout->again = g_new0(guint, n_numbers + 1);
    memset(layout->place, 0xff, n_numbers * sizeof *layout->place);
    for (guint i = 0; i < n; i++)
        if (lifetime_at(f->lifetimes, i)->number >= 0)
            note_move(layout, lifetime_at(f->lifetimes, i)->number,
                      lifetime_at(f->lifetimes, i)->makes, places[i]);
    for (guint i = 0; i < n_numbers; i++) {
        if (!layout->moves[i])
            continue;
        layout->place[i] = g_array_index(layout->moves[i], RequestMove, 0).place;
        if (layout->moves[i]->len == 1) {
            g_clear_pointer(&layout->moves[i], g_array_unref);
            continue;
        }
        layout->again[i] = find_again(layout->moves[i]);
        f->n_moves += layout->moves[i]->len;
    }
    return layout;
}

static void note_lengths(SlotFinder *f)
{
    GHashTableIter iter;
    gpointer thread, taken;
    g_hash_table_iter_init(&iter, f->taken);
    while (g_hash_table_iter_next(&iter, &thread, &taken)) {
        guint length = GPOINTER_TO_UINT(g_hash_table_lookup(f->p->lengths, thread));
        g_hash_table_insert(f->p->lengths, thread,
                            GUINT_TO_POINTER(MAX(length, ((GArray *)taken)->len)));
    }
}

/* Returns NULL if it is too much. */
static RequestLayout *lay_out_rank(SlotFinder *f, const WendClass *class, guint rank,
                                   const gboolean *walks)
{
    guint n = f->p->requests->len;
    RequestLayout *layout = NULL;
    memset(f->apart, 0, n * sizeof *f->apart);
    for (f->round = 1; !layout; f->round++) {
        g_array_set_size(f->lifetimes, 0);
        g_hash_table_remove_all(f->taken);
        memset(f->present, 0, n * sizeof *f->present);
        for (guint s = 0; s < class->n_sequences; s++)
            if (walks[s] && !walk(f, rank, s))
                return NULL;
        layout = place_lifetimes(f, rank);
    }
    note_lengths(f);
    return layout;
}

/* -- all ranks -- */

/* The terminals below RULE, each once. */
static GArray *terminals_below(const Plan *plan, guint rule)
{
    GArray *terminals = g_array_new(FALSE, FALSE, sizeof(guint)),
           *open = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL),
                          seen_terminals = g_hash_table_new(NULL, NULL);
    g_array_append_val(open, rule);
    while (open->len > 0) {
        const PlanRule *r = &plan->rules[g_array_index(open, guint, open->len - 1)];
        g_array_set_size(open, open->len - 1);
        for (guint i = 0; i < r->n; i++) {
            guint id = r->symbols[i].id;
            if (g_hash_table_add(r->symbols[i].is_rule ? seen : seen_terminals,
                                 GUINT_TO_POINTER(id)))
                g_array_append_val(r->symbols[i].is_rule ? open : terminals, id);
        }
    }
    g_array_unref(open);
    return terminals;
}

/* Finds the sequences of the class that name requests, and the numbers with an unlimited lifetime.
 * *SAME tells whether completions are equal on all its ranks. */
static gboolean *examine_class(SlotFinder *f, const WendClass *class, gboolean *same)
{
    guint n = f->p->requests->len;
    gboolean *walks = g_new0(gboolean, class->n_sequences + 1);
    /* by number: the last sequence that names it, + 1 */
    g_autofree guint *seen = g_new0(guint, n + 1);
    memset(f->stays, 0, n * sizeof *f->stays);
    *same = TRUE;
    for (guint s = 0; s < class->n_sequences; s++) {
        g_autoptr(GArray) terminals = terminals_below(f->plan, class->sequences[s].rule);
        for (guint t = 0; t < terminals->len; t++) {
            const KnownCall *k = f->known[g_array_index(terminals, guint, t)];
            if (!k)
                continue;
            walks[s] = TRUE;
            *same &= !k->differs;
            for (guint i = 0; i < k->makes->len + k->gives->len; i++) {
                gint number = i < k->makes->len ? g_array_index(k->makes, gint, i)
                                                : g_array_index(k->gives, gint, i - k->makes->len);
                if (number < 0)
                    continue;
                f->stays[number] |= (seen[number] && seen[number] != s + 1)
                                    || class->sequences[s].kind != WEND_SEQUENCE_THREAD;
                seen[number] = s + 1;
            }
        }
    }
    return walks;
}

static guint number_of_layout(RequestSlots *p, GHashTable *known, RequestLayout *layout)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    guint n = p->requests->len;
    g_byte_array_append(bytes, (const guint8 *)layout->place, (guint)(n * sizeof *layout->place));
    g_byte_array_append(bytes, (const guint8 *)layout->again, (guint)(n * sizeof *layout->again));
    for (guint i = 0; i < n; i++) {
        guint len = layout->moves[i] ? layout->moves[i]->len : 0;
        g_byte_array_append(bytes, (const guint8 *)&len, sizeof len);
        if (len)
            g_byte_array_append(bytes, (const guint8 *)layout->moves[i]->data,
                                len * (guint)sizeof(RequestMove));
    }
    g_autoptr(GBytes) key = g_bytes_new(bytes->data, bytes->len);
    gpointer found;
    if (g_hash_table_lookup_extended(known, key, NULL, &found)) {
        layout_free(layout, n);
        return GPOINTER_TO_UINT(found);
    }
    g_ptr_array_add(p->layouts, layout);
    g_hash_table_insert(known, g_steal_pointer(&key), GUINT_TO_POINTER(p->layouts->len - 1));
    return p->layouts->len - 1;
}

/* Whether some request of the terminal has different slots on the ranks that make the call. */
static gboolean varies(const SlotFinder *f, guint terminal)
{
    const KnownCall *k = f->known[terminal];
    for (guint i = 0; k && i < k->makes->len + k->gives->len; i++) {
        gint number = i < k->makes->len ? g_array_index(k->makes, gint, i)
                                        : g_array_index(k->gives, gint, i - k->makes->len);
        if (number >= 0
            && request_slots_place(f->p, g_array_index(f->p->requests, gint64, number),
                                   f->plan->terminal_ranks[terminal])
                   < 0)
            return TRUE;
    }
    return FALSE;
}

/* Whether there are too many calls to walk. In each class with requests one rank is walked, or all
 * ranks if outcomes matter. */
static gboolean is_too_long(SlotFinder *f)
{
    const WendProgram *p = f->plan->program;
    guint64 steps = 0;
    for (guint c = 0; c < wend_program_n_classes(p); c++) {
        const WendClass *class = wend_program_class(p, c);
        gboolean same;
        g_autofree gboolean *walks = examine_class(f, class, &same);
        for (guint s = 0; s < class->n_sequences; s++) {
            guint64 length = wend_program_rule(p, class->sequences[s].rule)->length;
            for (guint r = 0; walks[s] && r < (same ? 1 : class->n_ranks); r++)
                if (length >= STEP_LIMIT - steps)
                    return TRUE;
                else
                    steps += length;
        }
    }
    return FALSE;
}

/* Returns FALSE if it is too much. */
static gboolean lay_out_ranks(SlotFinder *f)
{
    const WendProgram *p = f->plan->program;
    g_autoptr(GHashTable) known =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (guint i = 0; i < f->lists->len; i++) {
        RequestList *list = g_ptr_array_index(f->lists, i);
        list->direct = may_be_consecutive(f, list);
    }
    for (guint c = 0; c < wend_program_n_classes(p); c++) {
        const WendClass *class = wend_program_class(p, c);
        gboolean same;
        g_autofree gboolean *walks = examine_class(f, class, &same);
        for (guint r = 0; r < class->n_ranks; r++) {
            if (r > 0 && same) {
                f->p->layout_of[class->ranks[r]] = f->p->layout_of[class->ranks[0]];
                continue;
            }
            RequestLayout *layout = lay_out_rank(f, class, class->ranks[r], walks);
            if (!layout)
                return FALSE;
            f->p->layout_of[class->ranks[r]] = number_of_layout(f->p, known, layout);
            if (f->n_moves > f->max_moves)
                return FALSE;
        }
    }
    return TRUE;
}

static gint compare_requests(gconstpointer a, gconstpointer b, gpointer requests)
{
    gint64 x = g_array_index((GArray *)requests, gint64, *(const guint *)a),
           y = g_array_index((GArray *)requests, gint64, *(const guint *)b);
    guint s = wend_handle_tid(x), t = wend_handle_tid(y), k = wend_handle_number(x),
          l = wend_handle_number(y);
    return s != t ? (s < t ? -1 : 1) : k != l ? (k < l ? -1 : 1) : 0;
}

/* Assigns indices in "at". Handles of a thread are numbered from 0 with few gaps, so at[3] is
 * mostly request 3. A table up to the largest number could have any size that a recording
 * claims. */
static void index_requests(RequestSlots *p)
{
    guint n = p->requests->len;
    g_autofree guint *order = g_new(guint, n + 1);
    for (guint i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof *order, compare_requests, p->requests);
    p->index = g_new(guint, n + 1);
    for (guint i = 0; i < n; i++) {
        gpointer thread = GUINT_TO_POINTER(thread_of(p, (gint)order[i]));
        p->index[order[i]] = GPOINTER_TO_UINT(g_hash_table_lookup(p->counts, thread));
        g_hash_table_insert(p->counts, thread, GUINT_TO_POINTER(p->index[order[i]] + 1));
    }
}

RequestSlots *request_slots_find(Plan *plan, RequestLists *all_lists)
{
    const GPtrArray *lists = request_lists_in_order(all_lists);
    guint n_terminals = wend_program_n_terminals(plan->program);
    RequestSlots *p = g_new0(RequestSlots, 1);
    SlotFinder f = {
        .plan = plan, .p = p, .lists = lists, .all_lists = all_lists, .max_moves = MOVES_ALWAYS};
    for (guint r = 0; r < wend_program_n_rules(plan->program); r++)
        f.max_moves += (guint64)plan->rules[r].n * MOVES_FOR_SYMBOL;
    p->numbers = g_hash_table_new_full(wend_program_word_hash, g_int64_equal, g_free, NULL);
    p->requests = g_array_new(FALSE, FALSE, sizeof(gint64));
    p->layouts = g_ptr_array_new();
    p->layout_of = g_new0(guint, plan->n_ranks);
    p->counts = g_hash_table_new(NULL, NULL);
    p->arrays = g_hash_table_new(NULL, NULL);
    p->lengths = g_hash_table_new(NULL, NULL);
    f.known = g_new0(KnownCall *, n_terminals + 1);
    for (guint t = 0; t < n_terminals; t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_decode(plan->call, t);
        f.known[t] = classify_call(&f, plan->call);
    }
    index_requests(p);
    guint n = p->requests->len + 1;
    f.stays = g_new0(gboolean, n);
    f.apart = g_new0(gboolean, n);
    f.present = g_new0(guint, n);
    f.home = g_new0(gint64, n);
    f.lifetimes = g_array_new(FALSE, FALSE, sizeof(Lifetime));
    f.taken = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    /* values before, to be restored */
    g_autofree gboolean *direct = g_new(gboolean, lists->len + 1);
    for (guint i = 0; i < lists->len; i++)
        direct[i] = ((const RequestList *)g_ptr_array_index(lists, i))->direct;
    gboolean good = !is_too_long(&f) && lay_out_ranks(&f);
    for (guint i = 0; i < lists->len && !good; i++)
        ((RequestList *)g_ptr_array_index(lists, i))->direct = direct[i];
    for (guint t = 0; t < n_terminals; t++) {
        p->vary |= good && varies(&f, t);
        if (f.known[t])
            known_free(f.known[t]);
    }
    g_free(f.known);
    g_free(f.stays);
    g_free(f.apart);
    g_free(f.present);
    g_free(f.home);
    g_array_unref(f.lifetimes);
    g_hash_table_destroy(f.taken);
    if (!good)
        g_clear_pointer(&p, request_slots_free);
    return p;
}

void request_slots_free(RequestSlots *p)
{
    if (!p)
        return;
    for (guint i = 0; i < p->layouts->len; i++)
        layout_free(g_ptr_array_index(p->layouts, i), p->requests->len);
    g_ptr_array_unref(p->layouts);
    g_hash_table_destroy(p->numbers);
    g_hash_table_destroy(p->lengths);
    g_hash_table_destroy(p->counts);
    g_hash_table_destroy(p->arrays);
    g_free(p->index);
    g_array_unref(p->requests);
    g_free(p->layout_of);
    g_free(p);
}

/* -- results -- */

static const RequestLayout *layout_at(const RequestSlots *p, guint rank)
{
    return g_ptr_array_index(p->layouts, p->layout_of[rank]);
}

gint64 request_slots_place(const RequestSlots *p, gint64 request, RankList ranks)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(p->numbers, &request)) - 1;
    gint64 place = layout_at(p, ranks.ranks[0])->place[number];
    for (guint i = 0; i < ranks.n; i++) {
        const RequestLayout *layout = layout_at(p, ranks.ranks[i]);
        if (layout->place[number] != place || layout->moves[number])
            return NO_PLACE;
    }
    return place;
}

gboolean request_slots_move(const RequestSlots *p, gint64 request, RankList ranks)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(p->numbers, &request)) - 1;
    for (guint i = 0; i < ranks.n; i++)
        if (layout_at(p, ranks.ranks[i])->moves[number])
            return TRUE;
    return FALSE;
}

guint request_slots_index(const RequestSlots *p, gint64 request)
{
    return p->index[number_of(p, request)];
}

guint request_slots_count(const RequestSlots *p, guint thread)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(p->counts, GUINT_TO_POINTER(thread)));
}

guint request_slots_length(const RequestSlots *p, guint thread)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(p->lengths, GUINT_TO_POINTER(thread)));
}
