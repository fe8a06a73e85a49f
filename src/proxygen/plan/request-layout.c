/* SPDX-License-Identifier: BSD-3-Clause */
/* request-layout.c: the slots of the requests of one rank. */
#include "src/proxygen/plan/requests.h"

#include <string.h>

enum { NO_PLACE = -1 };
/* The number of walks of a rank after which not only requests with conflicting slots are set apart,
 * but all requests in their groups. */
enum { ROUNDS = 8 };

/* The last group at a slot: the call after its end, and the sequence of that call. */
typedef struct {
    guint64 until;
    guint clock;
} Taken;

typedef struct {
    const RequestEffects *effects;
    guint rank, round;
    guint *present;    /* by number: 0 if the rank does not name it */
    gboolean *apart;   /* by number: lists with it are gathered */
    gint64 *home;      /* by number: its home */
    GHashTable *taken; /* thread -> GArray of Taken, by slot of its array */
} Finder;

/* The slots of the array that has the request. */
static GArray *taken_places(Finder *f, guint number)
{
    const RequestNumbers *numbers = f->effects->numbers;
    gpointer array =
        GUINT_TO_POINTER(request_numbers_array(numbers, request_numbers_thread(numbers, number)));
    GArray *taken = g_hash_table_lookup(f->taken, array);
    if (!taken) {
        taken = g_array_new(FALSE, TRUE, sizeof(Taken));
        g_hash_table_insert(f->taken, array, taken);
    }
    return taken;
}

/* -- homes -- */

/* Joins the requests of LIST as if each had one lifetime, whose index is its number. */
static void join_list(const Finder *f, const GArray *lifetimes, const RequestList *list)
{
    gint64 at = -1;
    guint one = 0;
    for (gint64 k = 0; k < list->n; k++) {
        gint number = request_numbers_find(f->effects->numbers, list->words[k]);
        if (number >= 0 && at >= 0)
            request_lifetimes_join(lifetimes, one, (guint)number, k - at);
        else if (number >= 0)
            at = k, one = (guint)number;
    }
    gint64 distance;
    RequestLifetime *first =
        request_lifetimes_at(lifetimes, request_lifetimes_first(lifetimes, one, &distance));
    first->low = MIN(first->low, distance - at);
    first->high = MAX(first->high, distance - at + list->n - 1);
}

/* The groups if each number had only one lifetime, whose index it is. Longest lists first. */
static GArray *groups_of_numbers(const Finder *f)
{
    const RequestEffects *effects = f->effects;
    const GPtrArray *lists = request_lists_in_order(effects->lists);
    GArray *lifetimes = g_array_new(FALSE, FALSE, sizeof(RequestLifetime));
    g_autoptr(GHashTable) own = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < request_numbers_count(effects->numbers); i++)
        request_lifetimes_add(lifetimes, (gint)i, 0, 0, LIFETIME_FOR_EVER);
    for (guint t = 0; t < program_n_terminals(effects->plan->program); t++)
        if (effects->of[t] && effects->of[t]->list
            && rank_list_has(effects->plan->terminal_ranks[t], f->rank))
            g_hash_table_add(own, effects->of[t]->list);
    for (guint i = 0; i < lists->len; i++) {
        const RequestList *list = g_ptr_array_index(lists, i);
        if (list->direct && g_hash_table_contains(own, list))
            join_list(f, lifetimes, list);
    }
    return lifetimes;
}

static void find_homes(Finder *f)
{
    guint n = request_numbers_count(f->effects->numbers);
    g_autoptr(GArray) lifetimes = groups_of_numbers(f);
    g_autofree gint64 *start = g_new(gint64, MAX(n, 1)); /* of the row of each first lifetime */
    memset(start, 0xff, n * sizeof *start);
    for (guint i = 0; i < n; i++) {
        f->home[i] = NO_PLACE;
        if (!f->present[i])
            continue;
        gint64 distance;
        guint first = request_lifetimes_first(lifetimes, i, &distance);
        const RequestLifetime *group = request_lifetimes_at(lifetimes, first);
        if (start[first] < 0) {
            GArray *taken = taken_places(f, i);
            start[first] = taken->len;
            g_array_set_size(taken, taken->len + (guint)(group->high - group->low + 1));
        }
        f->home[i] = start[first] + distance - group->low;
    }
}

/* -- slots of groups -- */

/* A lifetime as an entry of its group. */
typedef struct {
    guint first, lifetime;
    gint64 distance;
} Entry;

static gint compare_entries(gconstpointer a, gconstpointer b, gpointer lifetimes)
{
    const Entry *x = a, *y = b;
    if (x->first != y->first) {
        guint64 s = request_lifetimes_at(lifetimes, x->first)->begin,
                t = request_lifetimes_at(lifetimes, y->first)->begin;
        return s != t ? (s < t ? -1 : 1) : x->first < y->first ? -1 : 1;
    }
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->lifetime < y->lifetime ? -1 : x->lifetime > y->lifetime; /* by birth */
}

/* All lifetimes as entries, group by group. The end of a group becomes that of its last entry. */
static GArray *entries_by_group(GArray *lifetimes)
{
    GArray *entries = g_array_sized_new(FALSE, FALSE, sizeof(Entry), lifetimes->len);
    for (guint i = 0; i < lifetimes->len; i++) {
        Entry entry = {.lifetime = i};
        entry.first = request_lifetimes_first(lifetimes, i, &entry.distance);
        RequestLifetime *first = request_lifetimes_at(lifetimes, entry.first);
        first->end = MAX(first->end, request_lifetimes_at(lifetimes, i)->death);
        g_array_append_val(entries, entry);
    }
    g_array_sort_with_data(entries, compare_entries, lifetimes);
    return entries;
}

/* The entry after the group of entry I. */
static guint group_end(const GArray *entries, guint i)
{
    guint first = g_array_index(entries, Entry, i).first;
    while (i < entries->len && g_array_index(entries, Entry, i).first == first)
        i++;
    return i;
}

static void set_apart(Finder *f, gint number)
{
    if (number >= 0)
        f->apart[number] = TRUE;
}

/* Returns FALSE if entries of one group would share a slot at one time. Their numbers are then set
 * apart. */
static gboolean slots_are_unique(Finder *f, const GArray *lifetimes, const GArray *entries)
{
    const Entry *all = (const Entry *)(gconstpointer)entries->data;
    gboolean good = TRUE;
    for (guint i = 0, end; i < entries->len; i = end) {
        gboolean clash = FALSE;
        end = group_end(entries, i);
        for (guint k = i + 1; k < end; k++) {
            const RequestLifetime *one = request_lifetimes_at(lifetimes, all[k - 1].lifetime),
                                  *other = request_lifetimes_at(lifetimes, all[k].lifetime);
            if (all[k].distance != all[k - 1].distance
                || (other->clock == one->clock && other->birth > one->death)
                || (one->number < 0 && other->number < 0))
                continue;
            set_apart(f, one->number);
            set_apart(f, other->number);
            clash = TRUE;
        }
        for (guint k = i; clash && f->round >= ROUNDS && k < end; k++)
            set_apart(f, request_lifetimes_at(lifetimes, all[k].lifetime)->number);
        good &= !clash;
    }
    return good;
}

static gint compare_places(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static gboolean is_free(const GArray *taken, const RequestLifetime *first, gint64 place)
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

/* The slot of the first lifetime of a group: the home of most entries, else the first free
 * slots. */
static gint64 place_group(Finder *f, const GArray *lifetimes, const Entry *entries, guint n)
{
    const RequestLifetime *first = request_lifetimes_at(lifetimes, entries->first);
    GArray *taken = taken_places(f, (guint)first->number);
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < n; i++) {
        gint number = request_lifetimes_at(lifetimes, entries[i].lifetime)->number;
        gint64 place = number < 0 ? NO_PLACE : f->home[number] - entries[i].distance;
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
        g_array_index(taken, Taken, i) = (Taken){
            first->end == LIFETIME_FOR_EVER ? LIFETIME_FOR_EVER : first->end + 1, first->clock};
    return best;
}

/* -- moves -- */

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

/* The layout, from the slot of each lifetime. */
static RequestLayout *layout_new(const GArray *lifetimes, const gint64 *places, guint n)
{
    RequestLayout *layout = g_new(RequestLayout, 1);
    *layout = (RequestLayout){.place = g_new(gint64, MAX(n, 1)),
                              .moves = g_new0(GArray *, n + 1),
                              .again = g_new0(guint, n + 1)};
    memset(layout->place, 0xff, n * sizeof *layout->place);
    for (guint i = 0; i < lifetimes->len; i++) {
        const RequestLifetime *lifetime = request_lifetimes_at(lifetimes, i);
        if (lifetime->number >= 0)
            note_move(layout, lifetime->number, lifetime->makes, places[i]);
    }
    for (guint i = 0; i < n; i++) {
        if (!layout->moves[i])
            continue;
        layout->place[i] = g_array_index(layout->moves[i], RequestMove, 0).place;
        if (layout->moves[i]->len == 1)
            g_clear_pointer(&layout->moves[i], g_array_unref);
        else
            layout->again[i] = find_again(layout->moves[i]);
    }
    return layout;
}

void request_layout_free(RequestLayout *layout, guint n)
{
    for (guint i = 0; i < n; i++)
        if (layout->moves[i])
            g_array_unref(layout->moves[i]);
    g_free(layout->place);
    g_free(layout->moves);
    g_free(layout->again);
    g_free(layout);
}

guint64 request_layout_moves(const RequestLayout *layout, guint n)
{
    guint64 moves = 0;
    for (guint i = 0; i < n; i++)
        if (layout->moves[i])
            moves += layout->moves[i]->len;
    return moves;
}

/* -- the rank -- */

/* Assigns slots to all lifetimes of the rank. Returns NULL if some would share a slot at one time;
 * their numbers are then set apart. */
static RequestLayout *place_lifetimes(Finder *f, GArray *lifetimes)
{
    g_autoptr(GArray) entries = entries_by_group(lifetimes);
    if (!slots_are_unique(f, lifetimes, entries))
        return NULL;
    find_homes(f);
    const Entry *all = (const Entry *)(gconstpointer)entries->data;
    g_autofree gint64 *places = g_new(gint64, MAX(entries->len, 1));
    for (guint i = 0, end; i < entries->len; i = end) {
        end = group_end(entries, i);
        gint64 place = place_group(f, lifetimes, &all[i], end - i);
        for (guint k = i; k < end; k++)
            places[all[k].lifetime] = place + all[k].distance;
    }
    return layout_new(lifetimes, places, request_numbers_count(f->effects->numbers));
}

static void note_lengths(GHashTable *lengths, GHashTable *all_taken)
{
    GHashTableIter iter;
    gpointer thread, taken;
    g_hash_table_iter_init(&iter, all_taken);
    while (g_hash_table_iter_next(&iter, &thread, &taken)) {
        guint length = GPOINTER_TO_UINT(g_hash_table_lookup(lengths, thread));
        g_hash_table_insert(lengths, thread, GUINT_TO_POINTER(MAX(length, ((GArray *)taken)->len)));
    }
}

RequestLayout *request_layout_find(const RequestEffects *effects, const RequestUse *use, guint rank,
                                   GHashTable *lengths)
{
    guint n = request_numbers_count(effects->numbers);
    g_autofree guint *present = g_new(guint, n + 1);
    g_autofree gboolean *apart = g_new0(gboolean, n + 1);
    g_autofree gint64 *home = g_new(gint64, n + 1);
    g_autoptr(GHashTable) taken =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    Finder f = {.effects = effects,
                .rank = rank,
                .present = present,
                .apart = apart,
                .home = home,
                .taken = taken};
    RequestLayout *layout = NULL;
    for (f.round = 1; !layout; f.round++) {
        g_autoptr(GArray) lifetimes = request_lifetimes_find(effects, use, rank, apart, present);
        if (!lifetimes)
            return NULL;
        layout = place_lifetimes(&f, lifetimes);
    }
    note_lengths(lengths, taken);
    return layout;
}
