/* loops.c: loops whose bodies depend on which request completed: "while (…) { MPI_Waitany(…, &index, …); … what belongs to that index … }".
 *
 * The recording has such a loop in the order in which requests happened to complete. Where that order is one of many, the loop comes back: a stretch of
 * calls of one Waitany, Waitsome, Testany or Testsome, and for each entry of its array the calls (the body) that followed its first completion, its second, …
 *
 * Any order is as good as the recorded one, and none can hang, if
 *   - no body waits: its calls are local, start something, or send a message that is eager in any MPI;
 *   - bodies of different entries have nothing to do with each other: no request, no handle and no memory that one of them makes, ends or frees is used by
 *     another, nor memory by the request that another waits for (calls that follow several completions of one call may free what all of these used); they post no receives for the same messages, take part in different collective calls, and messages of two of them from one rank to
 *     another with one tag are equal (whoever takes them);
 *   - an entry completes in the stretch only as often as it did: beyond that it is hidden.
 * For then, whatever completes first, the rank posts in the end what it posted, and each receive and each send has its partner. Take the first event in the
 * recorded order that a proxy could wait for in vain: all that happened before it has happened, so what it waits for is there.
 *
 * A stretch ends before the first call that breaks these rules; what is left without a loop keeps the recorded order (emit_choice.c). Failed polls are nowhere: each loop
 * polls as often as it must. Other calls that the program made while it polled are calls like any others, and belong to the completion before them. */
#include "plan.h"

#include <string.h>

#include "effects.h"
#include "loop_rules.h"

/* Who of the present stretch has to do with a resource: entries of the array. */
enum { NOBODY = -1, SEVERAL = -2 };
typedef struct {
    guint stretch;
    gint writer, reader;
    gint64 bytes;            /* of USE_SEND; -1 different ones */
    gboolean alive;          /* memory: it has a number */
} Holder;

/* A call that completes some of a set. */
typedef struct {
    guint terminal;
    guint n;
    gint64 *members;         /* requests, by entry */
    GHashTable *entry_of;    /* request -> entry + 1 */
    GHashTable *bodies;      /* entry and terminals of a body that is known, as GBytes */
    GHashTable *patterns;    /* the same for any entry: functions */
    guint longest;           /* known body */
} Chooser;

/* Completions that one call reported, and the calls up to the next such call. */
typedef struct { guint first_entry, n_entries, first_item, n_items; guint64 call; } Group;

typedef struct {
    Plan *plan;
    LoopRules *rules;
    GPtrArray *choosers;     /* by terminal; NULL: not one */

    /* of the rank that is looked at */
    guint rank;
    gboolean learning;       /* the first of two walks: only bodies are collected */
    RankEffects *effects;
    GArray *holders;         /* of Holder, by resource */

    /* the calls of one chooser that follow each other with nothing in between that waits */
    const Chooser *chooser;
    GArray *groups, *entries, *items; /* of Group; of guint: entries, terminals */
    GByteArray *fresh;       /* by item: it is the first to use some memory, which gets its number then */
    gboolean *active;        /* by entry, at the place that is looked at */
    guint stretch;           /* number of the stretch */
    gboolean share, shared;  /* entries may post receives for the same messages; they have */
    gboolean *loud;          /* by entry, in this stretch: it does more than to post its own receive again */
    guint *channel;          /* by entry: resource + 1 of the receive that it posted again */
} Finder;

static Holder *holder(const Finder *f, guint resource)
{
    if (resource >= f->holders->len)
        g_array_set_size(f->holders, resource + 1); /* nobody's */
    return &g_array_index(f->holders, Holder, resource);
}

static const Resource *resource_at(const Finder *f, guint i)
{
    return &g_array_index(f->effects->resources, Resource, i);
}

static const Effects *effects_of_item(const Finder *f, guint item)
{
    return f->effects->calls[item];
}

/* -- whether bodies have to do with each other -- */

/* Receives for the same messages are matched in the order in which they are posted, so it matters which of two entries posts first: the one may have to
 * complete for something that the other waits for. Not so if their bodies do nothing but to post them again, with as much room, and none of them is still active
 * when the stretch ends: then one message is as good as another, and which of them it completes is the same to all. */
static gboolean may_share(const Finder *f, const Use *use, gint entry, gboolean own)
{
    gboolean good = f->share && own && use->kind == USE_POST && holder(f, use->resource)->bytes == use->bytes && !f->loud[entry];
    for (guint i = 0; i < f->chooser->n && good; i++)
        good = f->channel[i] != use->resource + 1 || !f->loud[i];
    return good;
}

static gboolean receive_clashes(const Finder *f, const Use *use, gint entry, gboolean own)
{
    const GArray *receives = f->effects->receives;
    for (guint i = 0; i < receives->len; i++) {
        guint other = g_array_index(receives, guint, i);
        const Holder *h = holder(f, other);
        if (h->stretch == f->stretch && h->writer != entry && receives_meet(f->effects, resource_at(f, use->resource), resource_at(f, other)) &&
            !(other == use->resource && may_share(f, use, entry, own)))
            return TRUE;
    }
    return FALSE;
}

static gboolean use_clashes(const Finder *f, const Use *use, gint entry)
{
    const Holder *h = holder(f, use->resource);
    if (h->stretch != f->stretch)
        return FALSE;
    if (h->writer != NOBODY && h->writer != entry)
        return TRUE;
    gboolean others = h->reader != NOBODY && h->reader != entry;
    return others && (use->kind == USE_WRITE || (use->kind == USE_SEND && h->bytes != use->bytes));
}

static void take_use(Finder *f, const Use *use, gint entry)
{
    Holder *h = holder(f, use->resource);
    if (h->stretch != f->stretch) {
        h->stretch = f->stretch;
        h->writer = h->reader = NOBODY;
    }
    if (use->kind == USE_WRITE || use->kind == USE_POST) {
        f->shared |= h->writer != NOBODY && h->writer != entry;
        h->writer = h->writer == NOBODY || h->writer == entry ? entry : SEVERAL;
        h->bytes = use->bytes;
        return;
    }
    if (use->kind == USE_SEND)
        h->bytes = h->reader == NOBODY || h->bytes == use->bytes ? use->bytes : -1;
    h->reader = h->reader == NOBODY || h->reader == entry ? entry : SEVERAL;
}

static Use completion_of(Finder *f, guint entry)
{
    return (Use){request_resource(f->effects, f->chooser->members[entry]), USE_WRITE, 0};
}

/* Until then the request used its memory. */
static void take_completion(Finder *f, guint entry)
{
    Use completion = completion_of(f, entry);
    take_use(f, &completion, (gint)entry);
    const GArray *memory = request_memory(f->effects, f->chooser->members[entry]);
    for (guint i = 0; memory && i < memory->len; i++) {
        Use use = {g_array_index(memory, guint, i), USE_READ, 0};
        take_use(f, &use, (gint)entry);
    }
}

static Use numbering_of_memory(Finder *f)
{
    return (Use){memory_numbers(f->effects), USE_WRITE, 0};
}

/* -- where bodies end -- */

static guint item_at(const Finder *f, guint i)
{
    return g_array_index(f->items, guint, i);
}

/* Does the call post or start the request of that entry, of another one (2), or of none (0)? */
static int posts(const Finder *f, guint item, guint entry)
{
    const Effects *e = effects_of_item(f, item);
    int found = 0;
    for (guint i = 0; i < e->changes->len; i++) {
        guint of = GPOINTER_TO_UINT(g_hash_table_lookup(f->chooser->entry_of, &g_array_index(e->changes, Change, i).request));
        if (of > 0)
            found = MAX(found, of - 1 == entry ? 1 : 2);
    }
    return found;
}

/* N calls as a body of ENTRY, and as one of any entry. */
static GBytes *body_key(const Finder *f, guint entry, guint first, guint n, gboolean pattern)
{
    guint *key = g_new(guint, n + 1);
    key[0] = pattern ? G_MAXUINT : entry;
    for (guint i = 0; i < n; i++)
        key[1 + i] = pattern ? effects_of_item(f, item_at(f, first + i))->function * 4 + (guint)posts(f, item_at(f, first + i), entry) : item_at(f, first + i);
    return g_bytes_new_take(key, (n + 1) * sizeof *key);
}

static gboolean is_known(const Finder *f, guint entry, guint first, guint n, gboolean pattern)
{
    g_autoptr(GBytes) key = body_key(f, entry, first, n, pattern);
    return g_hash_table_contains(pattern ? f->chooser->patterns : f->chooser->bodies, key);
}

static void learn(Finder *f, guint entry, guint first, guint n)
{
    for (guint i = 0; i < n; i++)
        if (posts(f, item_at(f, first + i), entry) > 1)
            return; /* not a body of its own */
    Chooser *c = (Chooser *)f->chooser;
    g_hash_table_add(c->bodies, body_key(f, entry, first, n, FALSE));
    g_hash_table_add(c->patterns, body_key(f, entry, first, n, TRUE));
    c->longest = MAX(c->longest, n);
}

/* How many of the next N calls are the body of ENTRY, as far as that can be guessed; any answer is right. A call that posts the entry again is in it. */
static guint guess_body(const Finder *f, guint entry, guint first, guint n)
{
    guint least = n;
    while (least > 0 && posts(f, item_at(f, first + least - 1), entry) != 1)
        least--;
    for (int pattern = 0; pattern < 2; pattern++)
        for (guint k = MIN(n, f->chooser->longest) + 1; k-- > least;)
            if ((k > 0 || pattern == 0) && is_known(f, entry, first, k, pattern))
                return k;
    return least;
}

/* -- stretches -- */

static void append_items(Finder *f, guint first, guint n)
{
    for (guint i = first; i < first + n; i++)
        loop_rules_append(f->rules, (WendSymbol){FALSE, item_at(f, i), 1});
}

/* Completions of the present stretch, by entry. */
typedef struct { guint first, n; } Share;

static void add_run(GArray *runs, guint body)
{
    LoopRun *last = runs->len ? &g_array_index(runs, LoopRun, runs->len - 1) : NULL;
    LoopRun run = {body, 1};
    if (last && last->body == body)
        last->times++;
    else
        g_array_append_val(runs, run);
}

/* What the call of an item does to the entries. */
static void follow(Finder *f, guint item)
{
    const Effects *e = effects_of_item(f, item);
    for (guint i = 0; i < e->changes->len; i++) {
        const Change *change = &g_array_index(e->changes, Change, i);
        guint entry = GPOINTER_TO_UINT(g_hash_table_lookup(f->chooser->entry_of, &change->request));
        if (entry > 0)
            f->active[entry - 1] = change->active;
    }
}

static void note_stretch(Finder *f, guint64 first, guint64 last)
{
    GHashTable *stretches = f->plan->stretches;
    if (!stretches)
        stretches = f->plan->stretches = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    GArray *own = g_hash_table_lookup(stretches, GUINT_TO_POINTER(f->rank));
    if (!own)
        g_hash_table_insert(stretches, GUINT_TO_POINTER(f->rank), own = g_array_new(FALSE, FALSE, sizeof(Stretch)));
    Stretch stretch = {first, last};
    g_array_append_val(own, stretch);
}

/* The stretch of groups FIRST … LAST, of whose last only the first N items belong to it; PIECES has the body of each completion. */
static void close_stretch(Finder *f, guint first, guint last, guint n, const Share *pieces)
{
    const Group *groups = &g_array_index(f->groups, Group, 0);
    Loop *loop = g_new0(Loop, 1);
    *loop = (Loop){.terminal = f->chooser->terminal, .n = f->chooser->n, .runs = g_new(GArray *, f->chooser->n), .times = g_new0(guint64, f->chooser->n)};
    for (guint e = 0; e < loop->n; e++)
        loop->runs[e] = g_array_new(FALSE, FALSE, sizeof(LoopRun));
    for (guint g = first; g <= last; g++) {
        guint items = g == last ? n : groups[g].n_items;
        if (first == last)
            loop_rules_append(f->rules, (WendSymbol){FALSE, f->chooser->terminal, 1}); /* one call: no loop */
        for (guint k = 0; k < groups[g].n_entries; k++) {
            guint entry = g_array_index(f->entries, guint, groups[g].first_entry + k);
            const Share *piece = &pieces[groups[g].first_entry + k];
            guint end = groups[g].first_item + items, length = MIN(piece->n, end > piece->first ? end - piece->first : 0);
            f->active[entry] = FALSE;
            loop->total++;
            loop->times[entry]++;
            add_run(loop->runs[entry], first == last ? NO_BODY : loop_rules_body(f->rules, &g_array_index(f->items, guint, piece->first), length));
        }
        for (guint i = 0; i < items; i++)
            follow(f, item_at(f, groups[g].first_item + i));
        if (first == last)
            append_items(f, groups[g].first_item, items);
    }
    for (guint e = 0; e < loop->n; e++)
        loop->hides |= f->active[e];
    if (first < last) {
        loop_rules_append(f->rules, (WendSymbol){TRUE, loop_rules_loop(f->rules, loop), 1});
        note_stretch(f, groups[first].call, groups[last].call + n); /* its items follow the last call one by one */
    } else {
        loop_free(loop);
    }
    guint at = groups[last].first_item + n;
    for (guint i = at; i < groups[last].first_item + groups[last].n_items; i++)
        follow(f, item_at(f, i));
    append_items(f, at, groups[last].n_items - n);
}

/* Shares the calls behind a group among its completions. */
static void split_group(Finder *f, const Group *group, Share *pieces)
{
    guint at = group->first_item, left = group->n_items;
    for (guint k = 0; k < group->n_entries; k++) {
        guint entry = g_array_index(f->entries, guint, group->first_entry + k);
        guint n = k + 1 == group->n_entries ? left : guess_body(f, entry, at, left);
        pieces[group->first_entry + k] = (Share){at, n};
        at += n;
        left -= n;
    }
}

/* Can item I be in the body of ENTRY? */
static gboolean item_clashes(Finder *f, guint i, gint entry)
{
    const Effects *e = effects_of_item(f, item_at(f, i));
    gboolean own = posts(f, item_at(f, i), (guint)entry) == 1, posted = FALSE;
    for (guint k = 0; k < e->uses->len; k++) {
        const Use *use = &g_array_index(e->uses, Use, k);
        posted |= use->kind == USE_POST;
        if (use->kind == USE_POST ? receive_clashes(f, use, entry, own) : use_clashes(f, use, entry))
            return TRUE;
    }
    gboolean loud = e->heard || (posted && !own);
    if (loud && f->channel[entry] && holder(f, f->channel[entry] - 1)->writer == SEVERAL)
        return TRUE;
    Use numbering = numbering_of_memory(f);
    return f->fresh->data[i] && use_clashes(f, &numbering, entry);
}

static void take_item(Finder *f, guint i, gint entry)
{
    const Effects *e = effects_of_item(f, item_at(f, i));
    gboolean own = posts(f, item_at(f, i), (guint)entry) == 1;
    f->loud[entry] |= e->heard;
    for (guint k = 0; k < e->uses->len; k++) {
        const Use *use = &g_array_index(e->uses, Use, k);
        take_use(f, use, entry);
        if (use->kind == USE_POST && own)
            f->channel[entry] = use->resource + 1;
        f->loud[entry] |= use->kind == USE_POST && !own;
    }
    Use numbering = numbering_of_memory(f);
    if (f->fresh->data[i])
        take_use(f, &numbering, entry);
}

/* The first item of the group that its stretch cannot have, or NULL; takes those before it. */
static const guint *first_clash(Finder *f, const Group *group, const Share *pieces)
{
    for (guint k = 0; k < group->n_entries; k++) {
        const Share *piece = &pieces[group->first_entry + k];
        gint entry = (gint)g_array_index(f->entries, guint, group->first_entry + k);
        for (guint i = piece->first; i < piece->first + piece->n; i++) {
            if (item_clashes(f, i, entry))
                return &g_array_index(f->items, guint, i);
            take_item(f, i, entry);
        }
    }
    return NULL;
}

static void new_stretch(Finder *f)
{
    f->stretch++;
    f->shared = FALSE;
    memset(f->loud, 0, f->chooser->n * sizeof *f->loud);
    memset(f->channel, 0, f->chooser->n * sizeof *f->channel);
}

/* Are receives that several entries have posted in the stretch, and others for the same messages, all complete at its end? */
static gboolean shared_are_complete(Finder *f, guint first, guint last, guint n)
{
    const Group *groups = &g_array_index(f->groups, Group, 0);
    const GArray *receives = f->effects->receives;
    gboolean *now = f->active, complete = TRUE;
    if (!f->shared)
        return TRUE;
    f->active = g_memdup2(now, f->chooser->n * sizeof *now);
    for (guint g = first; g <= last; g++) {
        for (guint k = 0; k < groups[g].n_entries; k++)
            f->active[g_array_index(f->entries, guint, groups[g].first_entry + k)] = FALSE;
        for (guint i = 0; i < (g == last ? n : groups[g].n_items); i++)
            follow(f, item_at(f, groups[g].first_item + i));
    }
    WendDecoder *decoder = wend_decoder_new(f->plan->program);
    for (guint i = 0; i < f->chooser->n && complete; i++) {
        if (!f->active[i])
            continue;
        for (guint k = 0; k < receives->len && complete; k++) {
            guint other = g_array_index(receives, guint, k);
            const Holder *h = holder(f, other);
            complete = h->stretch != f->stretch || h->writer != SEVERAL || !request_meets(f->effects, decoder, f->chooser->members[i], resource_at(f, other));
        }
    }
    wend_decoder_free(decoder);
    g_free(f->active);
    f->active = now;
    return complete;
}

/* Where the last body of a stretch ends, which has no other completion behind it; END: where it must at the latest. */
static guint last_body(const Finder *f, const Group *group, const Share *pieces, guint end)
{
    for (guint k = 0; k < group->n_entries; k++) {
        const Share *piece = &pieces[group->first_entry + k];
        if (piece->first + piece->n < end || piece->n == 0)
            continue;
        guint entry = g_array_index(f->entries, guint, group->first_entry + k);
        return piece->first + guess_body(f, entry, piece->first, end - piece->first) - group->first_item;
    }
    return end - group->first_item;
}

static void process_groups(Finder *f)
{
    const Group *groups = &g_array_index(f->groups, Group, 0);
    guint n = f->groups->len, first = 0;
    if (f->learning) {
        for (guint g = 0; g + 1 < n; g++)
            if (groups[g].n_entries == 1)
                learn(f, g_array_index(f->entries, guint, groups[g].first_entry), groups[g].first_item, groups[g].n_items);
        return;
    }
    g_autofree Share *pieces = g_new(Share, f->entries->len + 1);
    f->loud = g_new(gboolean, f->chooser->n);
    f->channel = g_new(guint, f->chooser->n);
    f->share = TRUE;
    new_stretch(f);
    for (guint g = 0; g < n; g++) {
        const Group *group = &groups[g];
        gboolean clash = FALSE;
        split_group(f, group, pieces);
        for (guint k = 0; k < group->n_entries; k++) {
            guint entry = g_array_index(f->entries, guint, group->first_entry + k);
            Use use = completion_of(f, entry);
            clash |= use_clashes(f, &use, (gint)entry);
        }
        const guint *bad = NULL;
        for (guint k = 0; k < group->n_entries && !clash; k++)
            take_completion(f, g_array_index(f->entries, guint, group->first_entry + k));
        if (!clash && (bad = first_clash(f, group, pieces)) == NULL && g + 1 < n)
            continue;
        /* The stretch ends before this group, or in it. */
        guint last = clash ? g - 1 : g, end = bad ? (guint)(bad - &g_array_index(f->items, guint, 0)) : group->first_item + group->n_items;
        guint items = clash ? groups[last].n_items : last_body(f, group, pieces, end);
        if (shared_are_complete(f, first, last, items)) {
            close_stretch(f, first, last, items, pieces);
            first = last + 1;
        } else {
            f->share = FALSE;
        }
        new_stretch(f);
        g = first - 1; /* what is not in it is looked at again */
    }
    g_clear_pointer(&f->loud, g_free);
    g_clear_pointer(&f->channel, g_free);
}

/* -- the walk -- */

static void chooser_free(gpointer chooser)
{
    Chooser *c = chooser;
    if (!c)
        return;
    g_free(c->members);
    g_hash_table_destroy(c->entry_of);
    g_hash_table_destroy(c->bodies);
    g_hash_table_destroy(c->patterns);
    g_free(c);
}

/* The terminal as a call by choice, or NULL: a terminal of one class, so that its requests have the same numbers on all ranks. */
static const Chooser *chooser_of(Finder *f, const WendCall *call)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    if (!(call->function->flags & WEND_F_ANY) || call->failed || !requests || requests->n_in < 2)
        return NULL;
    Chooser *c = f->choosers->pdata[call->terminal];
    if (c)
        return c;
    c = g_new0(Chooser, 1);
    c->terminal = call->terminal;
    c->n = (guint)requests->n_in;
    c->members = g_memdup2(requests->in, c->n * sizeof *c->members);
    c->entry_of = g_hash_table_new(g_int64_hash, g_int64_equal);
    c->bodies = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    c->patterns = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (guint i = 0; i < c->n; i++)
        if (wend_is_handle(c->members[i]))
            g_hash_table_insert(c->entry_of, &c->members[i], GUINT_TO_POINTER(i + 1));
    f->choosers->pdata[call->terminal] = c;
    return c;
}

static void end_groups(Finder *f)
{
    if (f->groups->len > 0)
        process_groups(f);
    g_array_set_size(f->groups, 0);
    g_array_set_size(f->entries, 0);
    g_array_set_size(f->items, 0);
    g_byte_array_set_size(f->fresh, 0);
    g_clear_pointer(&f->active, g_free);
    f->chooser = NULL;
}

static void begin_groups(Finder *f, const Chooser *chooser, const WendWalk *walk, const gint64 *completed, guint n)
{
    f->chooser = chooser;
    f->active = g_new0(gboolean, chooser->n);
    for (guint i = 0; i < chooser->n; i++) {
        WendRequestState state;
        f->active[i] = wend_is_handle(chooser->members[i]) && wend_walk_request(walk, chooser->members[i], &state) && state.active;
        for (guint k = 0; k < n; k++)
            f->active[i] |= completed[k] == chooser->members[i]; /* the walk is behind the call */
    }
}

/* A call by choice joins the others, if it completed what is in its array, each once. */
static gboolean add_group(Finder *f, const WendCall *call, const WendWalk *walk)
{
    guint n;
    const gint64 *completed = wend_walk_completed(walk, &n);
    const Chooser *chooser = n > 0 ? chooser_of(f, call) : NULL;
    if (!chooser || g_hash_table_size(chooser->entry_of) < 2)
        return FALSE;
    for (guint i = 0; i < n; i++)
        if (!g_hash_table_contains(chooser->entry_of, &completed[i]))
            return FALSE;
    if (f->chooser != chooser) {
        end_groups(f);
        begin_groups(f, chooser, walk, completed, n);
    }
    Group group = {f->entries->len, n, f->items->len, 0, call->index};
    for (guint i = 0; i < n; i++) {
        guint entry = GPOINTER_TO_UINT(g_hash_table_lookup(chooser->entry_of, &completed[i])) - 1;
        g_array_append_val(f->entries, entry);
    }
    g_array_append_val(f->groups, group);
    return TRUE;
}

static void walk_rank(Finder *f, const PlanThread *thread, guint skip)
{
    WendWalk *walk = wend_walk_new(f->plan->program, f->rank, thread->sequence, WEND_WALK_MAIN);
    const WendCall *call;
    for (guint i = 0; i < f->holders->len; i++)
        holder(f, i)->alive = FALSE;
    while ((call = wend_walk_next(walk)) != NULL) {
        guint8 fresh = 0;
        const Effects *effects = rank_effects_of(f->effects, call);
        for (guint i = 0; i < effects->memory->len; i++) {
            Holder *memory = holder(f, g_array_index(effects->memory, guint, i));
            fresh |= !memory->alive;
            memory->alive = !effects->frees;
        }
        if (call->index < skip || add_group(f, call, walk))
            continue;
        guint terminal = call->terminal;
        if (f->groups->len > 0 && !effects->waits) {
            g_array_append_val(f->items, terminal);
            g_byte_array_append(f->fresh, &fresh, 1);
            g_array_index(f->groups, Group, f->groups->len - 1).n_items++;
            continue;
        }
        end_groups(f);
        if (!f->learning)
            loop_rules_append(f->rules, (WendSymbol){FALSE, terminal, 1});
    }
    end_groups(f);
    wend_walk_free(walk);
}

static void find_in_rank(Finder *f, const PlanThread *thread, guint rank)
{
    /* The calls up to MPI_Init are in main. */
    guint own = wend_program_class(f->plan->program, thread->class_index)->sequences[thread->sequence].rule;
    guint skip = f->plan->prefix && thread->rule != own ? f->plan->prefix->len : 0;
    f->rank = rank;
    f->effects = rank_effects_new(f->plan, rank);
    f->holders = g_array_new(FALSE, TRUE, sizeof(Holder));
    for (f->learning = TRUE;; f->learning = FALSE) {
        walk_rank(f, thread, skip);
        if (!f->learning)
            break;
    }
    loop_rules_end_rank(f->rules, rank);
    for (guint i = 0; i < f->choosers->len; i++)
        if (f->choosers->pdata[i])
            g_clear_pointer(&f->choosers->pdata[i], chooser_free);
    rank_effects_free(f->effects);
    g_array_unref(f->holders);
}

/* -- where there is something to find -- */

/* By rule: has it, or have those below it, a choice that is in the recorded order only? */
static gboolean *find_forced(const Plan *plan)
{
    gboolean *forced = g_new0(gboolean, plan->n_rules + 1);
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->choices);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        forced[((const Choice *)value)->site.rule] |= ((const Choice *)value)->kind == CHOICE_FORCED;
    for (guint o = 0; o < plan->order->len; o++) { /* callees first */
        guint rule = g_array_index(plan->order, guint, o);
        const PlanRule *r = &plan->rules[rule];
        for (guint i = 0; i < r->n && !forced[rule]; i++)
            forced[rule] = r->symbols[i].is_rule && forced[r->symbols[i].id];
    }
    return forced;
}

gboolean plan_loops(Plan *plan, GError **error)
{
    const WendProgram *p = plan->program;
    g_autofree gboolean *forced = find_forced(plan);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(LoopRow));
    guint64 steps = 0;
    for (guint t = 0; t < plan->threads->len; t += 1 + g_array_index(plan->threads, PlanThread, t).n_others) {
        const PlanThread *thread = &g_array_index(plan->threads, PlanThread, t);
        if (thread->n_others > 0 || !forced[thread->rule])
            continue;
        guint64 length = wend_program_rule(p, wend_program_class(p, thread->class_index)->sequences[thread->sequence].rule)->length;
        for (guint r = 0; r < thread->ranks.n && length < STEP_LIMIT - steps; r++) {
            LoopRow row = {t, thread->ranks.ranks[r]};
            if (r == 0 && length * thread->ranks.n >= STEP_LIMIT - steps)
                break; /* all ranks of a thread or none */
            g_array_append_val(rows, row);
            steps += length;
        }
    }
    if (rows->len == 0)
        return TRUE;

    Finder f = {.plan = plan, .rules = loop_rules_new(plan)};
    f.choosers = g_ptr_array_new();
    g_ptr_array_set_size(f.choosers, (gint)wend_program_n_terminals(p) + 1);
    f.groups = g_array_new(FALSE, FALSE, sizeof(Group));
    f.entries = g_array_new(FALSE, FALSE, sizeof(guint));
    f.items = g_array_new(FALSE, FALSE, sizeof(guint));
    f.fresh = g_byte_array_new();
    for (guint i = 0; i < rows->len; i++) {
        const LoopRow *row = &g_array_index(rows, LoopRow, i);
        find_in_rank(&f, &g_array_index(plan->threads, PlanThread, row->thread), row->rank);
    }
    gboolean good = TRUE;
    if (plan->has_loops) {
        loop_rules_replace(f.rules, rows);
        plan_mark(plan);
        good = plan_outcomes(plan, error);
    }
    loop_rules_free(f.rules);
    g_ptr_array_free(f.choosers, TRUE);
    g_array_unref(f.groups);
    g_array_unref(f.entries);
    g_array_unref(f.items);
    g_byte_array_unref(f.fresh);
    return good;
}

