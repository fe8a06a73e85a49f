/* SPDX-License-Identifier: BSD-3-Clause */
/* handlers.c: see handlers.h.
 *
 * If one completion came alone, the calls after it are its handler. If several came together, or
 * others before without calls, the calls are divided by the first of these rules that applies:
 *
 * - 1. Handlers that are known from completions that came alone. The calls must have only one
 *   division into these. Completions with several possible divisions get a common handler.
 * - 2. Posts. Each handler ends when it posts its own request again, and all handlers are alike.
 *   Calls after the last post belong to the last handler.
 * - 3. Posts of several requests. A handler ends when it posts some requests again, which are the
 *   requests that it needed, and all handlers are alike.
 * - 4. One handler for all calls. It needs the completions whose requests it posts again, or all.
 *
 * A common handler makes its calls in the recorded order. Any division would be correct whose parts
 * are independent (loops.c). But a program that waits for two messages should not go on after
 * one. */
#include "src/proxygen/analysis/handlers.h"

#include <stdlib.h>
#include <string.h>

struct Handlers {
    gint64 *requests;
    GHashTable *entry_of; /* request -> entry + 1 */
    GHashTable *bodies;   /* entry and terminals of each known handler, as GBytes */
    GHashTable *patterns; /* the same without the entry: functions */
    guint longest;        /* length of the longest known handler */
    GByteArray *lengths;  /* by length, up to LONGEST: whether a handler is known */
};

static HandlerKind handler_kind(const LoopItem *items, guint n)
{
    guint tests = 0;
    for (guint i = 0; i < n; i++)
        tests += items[i].tests;
    if (n == 0)
        return HANDLER_EMPTY;
    return tests == 0 ? HANDLER_PLAIN : items[0].tests ? HANDLER_TESTED : HANDLER_MIXED;
}

/* -- known handlers -- */

static GHashTable *keys_new(void)
{
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
}

Handlers *handlers_new(const gint64 *requests, guint n)
{
    Handlers *h = g_new0(Handlers, 1);
    h->requests = g_memdup2(requests, n * sizeof *requests);
    h->entry_of = g_hash_table_new(g_int64_hash, g_int64_equal);
    h->bodies = keys_new();
    h->patterns = keys_new();
    h->lengths = g_byte_array_new();
    for (guint i = 0; i < n; i++)
        if (word_is_handle(requests[i]))
            g_hash_table_insert(h->entry_of, &h->requests[i], GUINT_TO_POINTER(i + 1));
    return h;
}

void handlers_free(Handlers *h)
{
    g_free(h->requests);
    g_hash_table_destroy(h->entry_of);
    g_hash_table_destroy(h->bodies);
    g_hash_table_destroy(h->patterns);
    g_byte_array_unref(h->lengths);
    g_free(h);
}

guint handlers_entry(const Handlers *h, gint64 request)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(h->entry_of, &request));
}

guint handlers_n_entries(const Handlers *h)
{
    return g_hash_table_size(h->entry_of);
}

static gboolean has_entry(const guint *entries, guint n, guint entry)
{
    for (guint i = 0; i < n; i++)
        if (entries[i] == entry)
            return TRUE;
    return FALSE;
}

int handlers_posts(const Handlers *h, const Dependence *dependence, const guint *entries, guint n)
{
    int found = 0;
    for (guint i = 0; i < dependence->changes->len; i++) {
        guint of = handlers_entry(h, g_array_index(dependence->changes, RequestChange, i).request);
        if (of > 0)
            found = MAX(found, has_entry(entries, n, of - 1) ? 1 : 2);
    }
    return found;
}

/* The dependences of the terminal, which are known because the walk has passed it. */
static const Dependence *dependence_of(const RankDependence *dependence, const LoopItem *item)
{
    return dependence->calls[item->terminal];
}

/* Keys for N calls as the handler of one entry, and as a handler of any set of entries. */
static GBytes *exact_key(guint entry, const LoopItem *items, guint n)
{
    guint *key = g_new(guint, n + 1);
    key[0] = entry;
    for (guint i = 0; i < n; i++)
        key[1 + i] = items[i].terminal;
    return g_bytes_new_take(key, (n + 1) * sizeof *key);
}

static GBytes *pattern_key(const Handlers *h, const RankDependence *dependence,
                           const guint *entries, guint n_entries, const LoopItem *items, guint n)
{
    guint *key = g_new(guint, n + 1);
    key[0] = G_MAXUINT;
    for (guint i = 0; i < n; i++) {
        const Dependence *e = dependence_of(dependence, &items[i]);
        key[1 + i] = e->function * 4 + (guint)handlers_posts(h, e, entries, n_entries);
    }
    return g_bytes_new_take(key, (n + 1) * sizeof *key);
}

static gboolean knows_length(const Handlers *h, guint n)
{
    return n < h->lengths->len && h->lengths->data[n];
}

static gboolean knows_exactly(const Handlers *h, guint entry, const LoopItem *items, guint n)
{
    if (!knows_length(h, n))
        return FALSE;
    g_autoptr(GBytes) key = exact_key(entry, items, n);
    return g_hash_table_contains(h->bodies, key);
}

static gboolean knows_pattern(const Handlers *h, const RankDependence *dependence,
                              const guint *entries, guint n_entries, const LoopItem *items, guint n)
{
    if (!knows_length(h, n))
        return FALSE;
    g_autoptr(GBytes) key = pattern_key(h, dependence, entries, n_entries, items, n);
    return g_hash_table_contains(h->patterns, key);
}

void handlers_learn(Handlers *h, RankDependence *dependence, guint entry, const LoopItem *items,
                    guint n)
{
    for (guint i = 0; i < n; i++)
        if (handlers_posts(h, dependence_of(dependence, &items[i]), &entry, 1) > 1)
            return; /* not a handler of one entry */
    g_hash_table_add(h->bodies, exact_key(entry, items, n));
    g_hash_table_add(h->patterns, pattern_key(h, dependence, &entry, 1, items, n));
    h->longest = MAX(h->longest, n);
    for (guint8 no = FALSE; h->lengths->len <= n;)
        g_byte_array_append(h->lengths, &no, 1);
    h->lengths->data[n] = TRUE;
}

/* The guess includes the last call that posts one of the handler's requests again. */
guint handlers_guess(const Handlers *h, RankDependence *dependence, const guint *entries,
                     guint n_entries, const LoopItem *items, guint n)
{
    guint least = n;
    for (; least > 0; least--)
        if (handlers_posts(h, dependence_of(dependence, &items[least - 1]), entries, n_entries)
            == 1)
            break;
    for (guint k = MIN(n, h->longest) + 1; n_entries == 1 && k-- > least;)
        if (knows_exactly(h, entries[0], items, k))
            return k;
    for (guint k = MIN(n, h->longest) + 1; k-- > MAX(least, 1);)
        if (knows_pattern(h, dependence, entries, n_entries, items, k))
            return k;
    return least;
}

/* -- 1: known handlers -- */

typedef struct {
    const Handlers *handlers;
    const Completions *c;
    gboolean exactly;
} Division;

static gboolean is_handler_of(const Division *d, guint entry, guint at, guint n)
{
    const Completions *c = d->c;
    const LoopItem *items = c->items + c->first + at;
    return d->exactly ? knows_exactly(d->handlers, c->entries[entry], items, n)
                      : knows_pattern(d->handlers, c->dependence, &c->entries[entry], 1, items, n);
}

static gint compare_numbers(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

/* The positions where the handler of MEMBER may end, ascending, if it begins at one of BEGINS. */
static GArray *ends_of(const Division *d, guint entry, const GArray *begins)
{
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree gboolean *found = g_new0(gboolean, d->c->n + 1);
    for (guint i = 0; i < begins->len; i++) {
        guint at = g_array_index(begins, guint, i);
        for (guint end = at; end <= MIN(d->c->n, at + d->handlers->longest); end++) {
            if (!found[end] && is_handler_of(d, entry, at, end - at)) {
                found[end] = TRUE;
                g_array_append_val(ends, end);
            }
        }
    }
    g_array_sort(ends, compare_numbers);
    return ends;
}

/* Keeps in BEGINS the positions from which the handler of MEMBER reaches one of ENDS. */
static void keep_begins(const Division *d, guint entry, GArray *begins, const GArray *ends)
{
    guint kept = 0;
    for (guint i = 0; i < begins->len; i++) {
        guint at = g_array_index(begins, guint, i);
        gboolean reaches = FALSE;
        for (guint k = 0; k < ends->len && !reaches; k++) {
            guint end = g_array_index(ends, guint, k);
            reaches = end >= at && is_handler_of(d, entry, at, end - at);
        }
        if (reaches)
            g_array_index(begins, guint, kept++) = at;
    }
    g_array_set_size(begins, kept);
}

static const guint *numbers_in(const GArray *numbers)
{
    return (const guint *)(void *)numbers->data;
}

static void add_handler(const Completions *c, GArray *handlers, guint first, guint n,
                        GArray *entries)
{
    g_array_sort(entries, compare_numbers);
    Handler handler = {first, n, conflicts_set(c->conflicts, numbers_in(entries), entries->len)};
    g_array_append_val(handlers, handler);
}

/* Adds the handlers of a division. PLACES[k] has the positions where the handlers of the first k
 * completions may end. */
static void add_divided(const Completions *c, GArray *const *places, GArray *handlers)
{
    for (guint k = 0, end; k < c->n_entries; k = end) {
        for (end = k + 1; places[end]->len > 1;)
            end++;
        guint at = g_array_index(places[k], guint, 0);
        guint n = g_array_index(places[end], guint, 0) - at;
        g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(guint));
        g_array_append_vals(entries, c->entries + k, end - k);
        if (n > 0)
            add_handler(c, handlers, c->first + at, n, entries);
    }
}

static gboolean divide(const Handlers *h, const Completions *c, gboolean exactly, GArray *handlers)
{
    const Division d = {h, c, exactly};
    GArray **places = g_new(GArray *, c->n_entries + 1);
    places[0] = g_array_new(FALSE, FALSE, sizeof(guint));
    guint begin = 0;
    g_array_append_val(places[0], begin);
    for (guint k = 0; k < c->n_entries; k++)
        places[k + 1] = ends_of(&d, k, places[k]);
    GArray *all = places[c->n_entries];
    guint end = all->len > 0 ? g_array_index(all, guint, all->len - 1) : 0;
    gboolean good = end == c->n || (c->last && end > 0);
    if (good) {
        g_array_index(all, guint, 0) = end;
        g_array_set_size(all, 1);
        for (guint k = c->n_entries; k-- > 0;)
            keep_begins(&d, k, places[k], places[k + 1]);
        add_divided(c, places, handlers);
        Handler *last = &g_array_index(handlers, Handler, handlers->len - 1);
        last->n = c->first + c->n - last->first;
    }
    for (guint k = 0; k <= c->n_entries; k++)
        g_array_unref(places[k]);
    g_free(places);
    return good;
}

/* -- 2 and 3: posts -- */

/* The entries whose requests the items post, each once. */
static GArray *posted(const Handlers *h, const Completions *c, guint first, guint n)
{
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = first; i < first + n; i++) {
        const Dependence *e = dependence_of(c->dependence, &c->items[i]);
        for (guint k = 0; k < e->changes->len; k++) {
            guint of = handlers_entry(h, g_array_index(e->changes, RequestChange, k).request);
            if (of == 0 || has_entry(numbers_in(entries), entries->len, of - 1))
                continue;
            of--;
            g_array_append_val(entries, of);
        }
    }
    return entries;
}

/* Keeps the entries whose completion the handler may need. */
static void keep_complete(const Completions *c, GArray *entries, HandlerKind kind)
{
    guint kept = 0;
    for (guint i = 0; i < entries->len; i++) {
        guint entry = g_array_index(entries, guint, i);
        gboolean before = kind == HANDLER_TESTED ? c->idle[entry] : c->near[entry];
        if (before || has_entry(c->entries, c->n_entries, entry))
            g_array_index(entries, guint, kept++) = entry;
    }
    g_array_set_size(entries, kept);
}

static gboolean is_post(const Handlers *h, const Completions *c, guint item)
{
    return handlers_posts(h, dependence_of(c->dependence, &c->items[item]), NULL, 0) > 0;
}

/* The end of the items up to the next post, or up to the last of consecutive posts; 0 if there is
 * no post. */
static guint next_part(const Handlers *h, const Completions *c, guint first, gboolean in_a_row)
{
    guint end = c->first + c->n, n = first;
    while (n < end && !is_post(h, c, n))
        n++;
    if (n == end)
        return 0;
    do
        n++;
    while (in_a_row && n < end && is_post(h, c, n));
    return n - first;
}

static gboolean parts_by_post(const Handlers *h, const Completions *c, gboolean in_a_row,
                              GArray *handlers)
{
    guint before = handlers->len, end = c->first + c->n;
    guint n = next_part(h, c, c->first, in_a_row);
    if (n == 0 || n == c->n)
        return FALSE;
    g_autoptr(GBytes) pattern = NULL;
    g_autofree guint8 *taken = g_new0(guint8, c->n_requests);
    gboolean good = TRUE;
    for (guint at = c->first; good && (n = next_part(h, c, at, in_a_row)) > 0; at += n) {
        g_autoptr(GArray) entries = posted(h, c, at, n);
        guint all = entries->len;
        g_autoptr(GBytes) own = NULL;
        own = pattern_key(h, c->dependence, numbers_in(entries), all, c->items + at, n);
        keep_complete(c, entries, handler_kind(c->items + at, n));
        good = entries->len == all && (in_a_row || all == 1);
        good = good && (!pattern || g_bytes_equal(pattern, own));
        for (guint i = 0; i < entries->len; i++) {
            good = good && !taken[g_array_index(entries, guint, i)];
            taken[g_array_index(entries, guint, i)] = TRUE;
        }
        if (!pattern)
            pattern = g_bytes_ref(own);
        if (good)
            add_handler(c, handlers, at, n, entries);
    }
    if (!good || handlers->len < before + 2) {
        g_array_set_size(handlers, before);
        return FALSE;
    }
    Handler *last = &g_array_index(handlers, Handler, handlers->len - 1);
    last->n = end - last->first;
    return TRUE;
}

/* -- divisions must count as equal in any order -- */

/* Whether handlers of one call that completes several requests are comparable. With tests, all
 * other calls must follow tests. Without tests, handlers come in the order of their completions,
 * whichever entry of a set completes last. */
static gboolean count_apart(const Completions *c, const Handler *handlers, guint n)
{
    guint at = 0;
    HandlerKind all = handler_kind(c->items + handlers[0].first, handlers[0].n);
    for (guint i = 0; i < n; i++) {
        HandlerKind kind = handler_kind(c->items + handlers[i].first, handlers[i].n);
        if (kind == HANDLER_MIXED || kind != all)
            return FALSE;
        if (kind == HANDLER_TESTED)
            continue;
        guint n_entries, last = at;
        const guint *entries = conflicts_entries(c->conflicts, &handlers[i].set, &n_entries);
        for (guint k = 0; k < n_entries; k++) {
            guint entry = 0;
            while (entry < c->n_entries && c->entries[entry] != entries[k])
                entry++;
            if (entry == c->n_entries || entry < at)
                return FALSE;
            last = MAX(last, entry);
        }
        at = last + 1;
    }
    return TRUE;
}

/* Rule 4: adds one handler for all. */
static void add_joint(const Handlers *h, const Completions *c, GArray *handlers)
{
    g_autoptr(GArray) entries = posted(h, c, c->first, c->n);
    keep_complete(c, entries, handler_kind(c->items + c->first, c->n));
    if (entries->len == 0)
        g_array_append_vals(entries, c->entries, c->n_entries);
    add_handler(c, handlers, c->first, c->n, entries);
}

void handlers_distinguish(Handlers *h, const Completions *c, GArray *handlers)
{
    enum { EXACTLY, BY_PATTERNS, BY_POSTS, BY_POSTS_IN_A_ROW, WAYS };
    guint before = handlers->len;
    if (c->n == 0)
        return;
    for (int way = c->n_entries > 1 ? EXACTLY : BY_POSTS_IN_A_ROW; way < WAYS; way++) {
        gboolean found = way < BY_POSTS ? divide(h, c, way == EXACTLY, handlers)
                                        : parts_by_post(h, c, way == BY_POSTS_IN_A_ROW, handlers);
        const Handler *first = &g_array_index(handlers, Handler, before);
        if (found && count_apart(c, first, handlers->len - before))
            return;
        g_array_set_size(handlers, before);
    }
    add_joint(h, c, handlers);
}
