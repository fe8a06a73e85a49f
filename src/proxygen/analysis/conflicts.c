/* SPDX-License-Identifier: BSD-3-Clause */
/* conflicts.c: finds completion handlers of a loop that must stay in the recorded order. */
#include "src/proxygen/analysis/handlers.h"

#include <string.h>

/* The handlers of the current loop that use a resource, as sets. A handler whose set shares an
 * entry with the last one runs after it, and after all handlers that ran before that one. So the
 * last one is enough, if there is a single one. */
enum { NOBODY = -1, SEVERAL = -2 };
typedef struct {
    guint loop; /* the loop that the other members refer to */
    gint writer, reader;
    gint64 bytes; /* of USE_SEND; -1: different numbers */
    /* of a request: it was posted after its last completion, so it completes only after that
     * post */
    gboolean posted;
    gboolean alive; /* of memory: it has a number */
} Holder;

struct Conflicts {
    RankDependence *dependence;
    GArray *holders; /* of Holder, by resource */
    guint n;         /* number of entries */
    Map *numbers;    /* numbers of sets with several entries */
    /* of SetRange; of guint: the entries of all sets, one after the other */
    GArray *sets, *entries;
    guint loop; /* number of the loop */
    /* SHARE: entries may post receives for the same messages; SHARED: they have done so */
    gboolean share, shared;
    gboolean *noticed; /* by entry, in this loop: its handler does more than post its own
                             * receive again */
    guint *channel;    /* by entry: resource of the receive that it posted again, + 1 */
};

typedef struct {
    guint first, n;
} SetRange;

static Holder *holder(Conflicts *c, guint resource)
{
    if (resource >= c->holders->len)
        g_array_set_size(c->holders, resource + 1); /* without a user */
    return &g_array_index(c->holders, Holder, resource);
}

static const Resource *resource_at(const Conflicts *c, guint i)
{
    return &g_array_index(c->dependence->resources, Resource, i);
}

/* -- sets -- */

guint conflicts_set(Conflicts *c, const guint *entries, guint n)
{
    bool new;
    if (n == 1)
        return entries[0];
    guint number = map_number(c->numbers, entries, n * sizeof *entries, &new);
    if (new) {
        SetRange range = {c->entries->len, n};
        g_array_append_val(c->sets, range);
        g_array_append_vals(c->entries, entries, n);
    }
    return c->n + number;
}

const guint *conflicts_entries(const Conflicts *c, const guint *set, guint *n)
{
    *n = 1;
    if (*set < c->n)
        return set;
    const SetRange *range = &g_array_index(c->sets, SetRange, *set - c->n);
    *n = range->n;
    return &g_array_index(c->entries, guint, range->first);
}

/* Whether two sets share an entry, or both stand for no set. */
static gboolean sets_meet(const Conflicts *c, gint a, gint b)
{
    if (a < 0 || b < 0 || a == b)
        return a == b;
    guint x = (guint)a, y = (guint)b, n, m;
    const guint *first = conflicts_entries(c, &x, &n), *second = conflicts_entries(c, &y, &m);
    for (guint i = 0, k = 0; i < n && k < m;) {
        if (first[i] == second[k])
            return TRUE;
        if (first[i] < second[k])
            i++;
        else
            k++;
    }
    return FALSE;
}

static gboolean comes_after(const Conflicts *c, gint last, guint set)
{
    return last == NOBODY || sets_meet(c, last, (gint)set);
}

/* -- receives for the same messages -- */

/* Whether the handler may post a receive for messages that another entry also receives. Such
 * receives are matched in the order in which they are posted. So that order matters in general: one
 * entry may have to complete something that the other waits for. It does not matter if the handlers
 * only post the receives again, with equal sizes, and none is active when the loop ends. Then all
 * messages are equivalent, and so are the entries that they complete. */
static gboolean may_share(Conflicts *c, const ResourceUse *use, guint set, gboolean own)
{
    gboolean good = c->share && own && use->kind == USE_POST;
    good = good && holder(c, use->resource)->bytes == use->bytes && !c->noticed[set];
    for (guint i = 0; i < c->n && good; i++)
        good = c->channel[i] != use->resource + 1 || !c->noticed[i];
    return good;
}

static gboolean receive_conflicts(Conflicts *c, const ResourceUse *use, guint set, gboolean own)
{
    const GArray *receives = c->dependence->receives;
    for (guint i = 0; i < receives->len; i++) {
        guint other = g_array_index(receives, guint, i);
        const Holder *h = holder(c, other);
        if (h->loop == c->loop && !sets_meet(c, h->writer, (gint)set)
            && dependence_receives_meet(c->dependence, resource_at(c, use->resource),
                                        resource_at(c, other))
            && !(other == use->resource && may_share(c, use, set, own)))
            return TRUE;
    }
    return FALSE;
}

/* -- uses -- */

static gboolean use_conflicts(Conflicts *c, const ResourceUse *use, guint set)
{
    const Holder *h = holder(c, use->resource);
    if (h->loop != c->loop)
        return FALSE;
    if (!comes_after(c, h->writer, set))
        return TRUE;
    return !comes_after(c, h->reader, set)
           && (use->kind == USE_WRITE || (use->kind == USE_SEND && h->bytes != use->bytes));
}

static void take_use(Conflicts *c, const ResourceUse *use, guint set)
{
    Holder *h = holder(c, use->resource);
    if (h->loop != c->loop) {
        h->loop = c->loop;
        h->writer = h->reader = NOBODY;
        h->posted = FALSE;
    }
    if (use->kind == USE_WRITE || use->kind == USE_POST) {
        gboolean after = comes_after(c, h->writer, set);
        c->shared |= !after;
        h->writer = after ? (gint)set : SEVERAL;
        h->bytes = use->bytes;
        h->posted = FALSE;
        if (use->kind == USE_WRITE)
            h->reader = NOBODY; /* all readers came before */
        return;
    }
    gboolean after = comes_after(c, h->reader, set);
    if (use->kind == USE_SEND)
        h->bytes = h->reader == NOBODY || h->bytes == use->bytes ? use->bytes : -1;
    h->reader = after ? (gint)set : SEVERAL;
}

static ResourceUse completion_of(Conflicts *c, gint64 request)
{
    return (ResourceUse){dependence_request_resource(c->dependence, request), USE_WRITE, 0};
}

gboolean conflicts_of_completion(Conflicts *c, gint64 request, guint entry)
{
    ResourceUse completion = completion_of(c, request);
    const Holder *h = holder(c, completion.resource);
    return !(h->loop == c->loop && h->posted) && use_conflicts(c, &completion, entry);
}

/* The request used its memory up to its completion. */
void conflicts_take_completion(Conflicts *c, gint64 request, guint set)
{
    ResourceUse completion = completion_of(c, request);
    Holder *h = holder(c, completion.resource);
    if (h->loop == c->loop && h->posted)
        h->writer = NOBODY; /* the completion comes after the post, whichever handler posted it */
    take_use(c, &completion, set);
    const GArray *memory = dependence_request_memory(c->dependence, request);
    for (guint i = 0; memory && i < memory->len; i++) {
        ResourceUse use = {g_array_index(memory, guint, i), USE_READ, 0};
        take_use(c, &use, set);
    }
}

static ResourceUse numbering_of_memory(Conflicts *c)
{
    return (ResourceUse){dependence_memory_numbers(c->dependence), USE_WRITE, 0};
}

gboolean conflicts_of_call(Conflicts *c, const HandlerCall *call, guint set)
{
    gboolean posted = FALSE;
    for (guint k = 0; k < call->dependence->uses->len; k++) {
        const ResourceUse *use = &g_array_index(call->dependence->uses, ResourceUse, k);
        gboolean post = use->kind == USE_POST;
        posted |= post;
        if (post ? receive_conflicts(c, use, set, call->own) : use_conflicts(c, use, set))
            return TRUE;
    }
    guint n;
    const guint *entries = conflicts_entries(c, &set, &n);
    gboolean noticed = call->dependence->noticed || (posted && !call->own);
    for (guint i = 0; noticed && i < n; i++)
        if (c->channel[entries[i]] && conflicts_is_shared(c, c->channel[entries[i]] - 1))
            return TRUE;
    ResourceUse numbering = numbering_of_memory(c);
    return call->fresh && use_conflicts(c, &numbering, set);
}

static void note_post(Conflicts *c, const Dependence *dependence)
{
    for (guint i = 0; i < dependence->changes->len; i++) {
        const RequestChange *change = &g_array_index(dependence->changes, RequestChange, i);
        holder(c, dependence_request_resource(c->dependence, change->request))->posted =
            change->active;
    }
}

void conflicts_take_call(Conflicts *c, const HandlerCall *call, guint set)
{
    guint n;
    const guint *entries = conflicts_entries(c, &set, &n);
    for (guint k = 0; k < call->dependence->uses->len; k++) {
        const ResourceUse *use = &g_array_index(call->dependence->uses, ResourceUse, k);
        gboolean post = use->kind == USE_POST;
        take_use(c, use, set);
        if (post && call->own)
            c->channel[set] = use->resource + 1;
        else if (post)
            holder(c, use->resource)->bytes = -1; /* no entry shares it */
        for (guint i = 0; post && i < n; i++)
            c->noticed[entries[i]] |= !call->own;
    }
    for (guint i = 0; i < n; i++)
        c->noticed[entries[i]] |= call->dependence->noticed;
    ResourceUse numbering = numbering_of_memory(c);
    if (call->fresh)
        take_use(c, &numbering, set);
    note_post(c, call->dependence);
}

/* -- other functions -- */

gboolean conflicts_first_use(Conflicts *c, const Dependence *dependence)
{
    gboolean first = FALSE;
    for (guint i = 0; i < dependence->memory->len; i++) {
        Holder *memory = holder(c, g_array_index(dependence->memory, guint, i));
        first |= !memory->alive;
        memory->alive = !dependence->frees;
    }
    return first;
}

gboolean conflicts_any_shared(const Conflicts *c)
{
    return c->shared;
}

gboolean conflicts_is_shared(Conflicts *c, guint receive)
{
    const Holder *h = holder(c, receive);
    return h->loop == c->loop && h->writer == SEVERAL;
}

void conflicts_begin_loop(Conflicts *c, gboolean share)
{
    c->loop++;
    c->share = share;
    c->shared = FALSE;
    memset(c->noticed, 0, c->n * sizeof *c->noticed);
    memset(c->channel, 0, c->n * sizeof *c->channel);
}

void conflicts_begin_array(Conflicts *c, guint n)
{
    c->n = n;
    c->noticed = g_renew(gboolean, c->noticed, n);
    c->channel = g_renew(guint, c->channel, n);
    map_clear(c->numbers);
    g_array_set_size(c->sets, 0);
    g_array_set_size(c->entries, 0);
}

Conflicts *conflicts_new(RankDependence *dependence)
{
    Conflicts *c = g_new0(Conflicts, 1);
    c->dependence = dependence;
    c->holders = g_array_new(FALSE, TRUE, sizeof(Holder));
    c->numbers = map_of_bytes(NULL);
    c->sets = g_array_new(FALSE, FALSE, sizeof(SetRange));
    c->entries = g_array_new(FALSE, FALSE, sizeof(guint));
    return c;
}

void conflicts_free(Conflicts *c)
{
    g_array_unref(c->holders);
    map_unref(c->numbers);
    g_array_unref(c->sets);
    g_array_unref(c->entries);
    g_free(c->noticed);
    g_free(c->channel);
    g_free(c);
}
