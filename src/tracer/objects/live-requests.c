/* SPDX-License-Identifier: BSD-3-Clause */
/* live-requests.c: finds the request that a variable of the application holds.
 *
 * A library may return one handle value many times (MPICH's pre-completed request), so a value
 * alone identifies nothing. A live request is found by the variable that holds it, if the variable
 * still has its value. Otherwise the application has copied the handle, and the request is found by
 * value: first the oldest whose variable was overwritten, then the oldest of the others. From then
 * on it is in the new variable. In a replay, requests of one value are told apart by what was
 * recorded, as the values may be others. Each step is O(1), however many share a value. Programs
 * that never copy a handle never look up a value. Until one does, there is no table of values, only
 * two lists of live requests from which it is made.
 *
 * A record keeps one number of one sequence for ever, so no pointer to one dangles. It is LIVE from
 * its creation to its completion. Then it is NULLED as long as the application may pass the
 * variable that a Test or Waitany has set to null, else IDLE. */
#include "objects.h"

#include <string.h>

#include "lib/base/budget.h"
#include "own.gen.h"
#include "recorder/recorder.h"

typedef struct LiveRequestList {
    RequestRecord *head, *tail;
} LiveRequestList;

/* The live requests with one value. */
typedef struct Value {
    MPI_Request value;
    /* those whose variable was overwritten, and those whose variable still holds them */
    LiveRequestList orphans, bound;
    struct Value *next; /* in its chain, or in the list of unused ones */
} Value;

/* What each look-up reads comes first. */
struct RequestRecord {
    MPI_Request *variable;        /* the variable that holds it; NULL: an orphan */
    RequestRecord *next_variable; /* in the chain of the table of variables */
    int64_t word;
    /* the lookup that found it last: no call finds a request twice */
    uint64_t stamp;
    MPI_Request handle;
    enum { IDLE, LIVE, NULLED } state;
    bool active; /* persistent: started and not completed */
    bool start_recorded;
    CallSequence *maker;
    WendPoolKey key;
    /* its value; NULL: there is no table of values so far */
    Value *value;
    RequestRecord *previous, *next; /* in a list of the value, or in the lists of all */
    uint64_t number_made;           /* number of the maker's requests up to this one */
    RequestRecord *next_deferred;
    struct RequestMetadata facts;
    struct CommEntry *comm; /* a communicator that becomes known when the request completes */
    /* the call that made it while recording was off; NULL: its maker is recorded */
    Stash *stash;
};

static struct {
    RequestRecord **variables; /* chains, by address */
    size_t n_variables, in_variables;
    LiveRequestList orphans, bound; /* all of them, as long as there is no table of values */
    Value **values;                 /* chains, by value */
    size_t n_values, in_values;     /* n_values is 0 if there is none so far */
    Value *free_values;
    uint64_t stamp;
} table;

static size_t hash_pointer(uintptr_t p, size_t n)
{
    return (size_t)((p * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (n - 1);
}

/* -- by variable -- */

/* Variables that are side by side have entries side by side: arrays of requests are gone through in
 * order. Pages are spread, so that no stride fills a few chains. */
static size_t variable_hash(const MPI_Request *variable, size_t n)
{
    enum { PAGE = 12, UNIT = 2 };
    uintptr_t address = (uintptr_t)variable;
    return (hash_pointer(address >> PAGE, (size_t)UINT32_MAX + 1)
            + (address >> UNIT & ((1 << (PAGE - UNIT)) - 1)))
           & (n - 1);
}

static RequestRecord **variable_slot(const MPI_Request *variable)
{
    RequestRecord **p = &table.variables[variable_hash(variable, table.n_variables)];
    while (*p && (*p)->variable != variable)
        p = &(*p)->next_variable;
    return p;
}

static RequestRecord *variable_find(const MPI_Request *variable)
{
    return table.n_variables ? *variable_slot(variable) : NULL;
}

static bool variables_grow(void)
{
    size_t n = table.n_variables ? 2 * table.n_variables : 256;
    RequestRecord **grown = budget_zeroed(n * sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < table.n_variables; i++) {
        for (RequestRecord *r = table.variables[i], *next; r; r = next) {
            next = r->next_variable;
            RequestRecord **p = &grown[variable_hash(r->variable, n)];
            r->next_variable = *p;
            *p = r;
        }
    }
    budget_free(table.variables, table.n_variables * sizeof *table.variables);
    table.variables = grown;
    table.n_variables = n;
    return true;
}

static void variable_remove(RequestRecord *r)
{
    if (!r->variable)
        return;
    RequestRecord **p = variable_slot(r->variable);
    *p = r->next_variable;
    r->variable = NULL;
    table.in_variables--;
}

/* -- by value -- */

static void list_add(LiveRequestList *l, RequestRecord *r)
{
    r->next = NULL;
    r->previous = l->tail;
    *(l->tail ? &l->tail->next : &l->head) = r;
    l->tail = r;
}

static void list_remove(LiveRequestList *l, RequestRecord *r)
{
    *(r->previous ? &r->previous->next : &l->head) = r->next;
    *(r->next ? &r->next->previous : &l->tail) = r->previous;
}

static LiveRequestList *list_of(RequestRecord *r)
{
    if (r->value)
        return r->variable ? &r->value->bound : &r->value->orphans;
    return r->variable ? &table.bound : &table.orphans;
}

static Value **value_slot(MPI_Request value)
{
    Value **p = &table.values[hash_pointer((uintptr_t)value, table.n_values)];
    while (*p && (*p)->value != value)
        p = &(*p)->next;
    return p;
}

static bool values_grow(void)
{
    size_t n = table.n_values ? 2 * table.n_values : 256;
    Value **grown = budget_zeroed(n * sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = 0; i < table.n_values; i++) {
        for (Value *v = table.values[i], *next; v; v = next) {
            next = v->next;
            Value **p = &grown[hash_pointer((uintptr_t)v->value, n)];
            v->next = *p;
            *p = v;
        }
    }
    budget_free(table.values, table.n_values * sizeof *table.values);
    table.values = grown;
    table.n_values = n;
    return true;
}

static Value *value_get(MPI_Request value)
{
    if (table.in_values >= table.n_values && !values_grow())
        return NULL;
    Value **p = value_slot(value);
    if (*p)
        return *p;
    Value *v = table.free_values;
    if (v)
        table.free_values = v->next;
    else if (!(v = budget_zeroed(sizeof *v)))
        return NULL;
    *v = (Value){.value = value};
    *p = v;
    table.in_values++;
    return v;
}

/* Moves a whole list, in order, to the lists of the values. */
static bool values_take(LiveRequestList *l)
{
    for (RequestRecord *r; (r = l->head);) {
        Value *v = value_get(r->handle);
        if (!v)
            return false;
        list_remove(l, r);
        r->value = v;
        list_add(list_of(r), r);
    }
    return true;
}

/* Makes the table of values, which is maintained from then on. If memory is short, it lacks some
 * requests, and recording stops. */
static bool values_open(void)
{
    if (table.n_values
        || (values_grow() && values_take(&table.orphans) && values_take(&table.bound)))
        return true;
    state_break("out of memory");
    return false;
}

/* Removes R from its list, and its value if that was the last request with it. */
static void value_remove(RequestRecord *r)
{
    Value *v = r->value;
    list_remove(list_of(r), r);
    r->value = NULL;
    if (!v || v->orphans.head || v->bound.head)
        return;
    *value_slot(v->value) = v->next;
    table.in_values--;
    v->next = table.free_values;
    table.free_values = v;
}

/* Unbinds R from its variable: a handle was written over it, or the request was found elsewhere. */
static void unbind(RequestRecord *r)
{
    if (r->state == LIVE) {
        list_remove(list_of(r), r);
        variable_remove(r);
        list_add(list_of(r), r);
    } else {
        variable_remove(r);
        r->state = IDLE;
    }
}

/* Binds R, which has no variable and is in no list, to VARIABLE. The record that was there is
 * unbound. Returns false, without a change, if memory is short. */
static bool hold(RequestRecord *r, MPI_Request *variable)
{
    if (table.in_variables >= table.n_variables && !variables_grow())
        return false;
    RequestRecord **p = variable_slot(variable);
    if (*p) {
        unbind(*p);
        p = variable_slot(variable);
    }
    r->variable = variable;
    r->next_variable = *p;
    *p = r;
    table.in_variables++;
    return true;
}

/* The same for a live orphan. */
static bool bind(RequestRecord *r, MPI_Request *variable)
{
    list_remove(list_of(r), r);
    bool held = hold(r, variable);
    list_add(list_of(r), r);
    return held;
}

/* Takes the oldest request of a list that this lookup has not returned already. Those that it has
 * go to the end. */
static RequestRecord *list_take(LiveRequestList *l)
{
    RequestRecord *first_moved = NULL;
    for (;;) {
        RequestRecord *r = l->head;
        if (!r || r == first_moved)
            return NULL;
        if (r->stamp != table.stamp)
            return r;
        if (!first_moved)
            first_moved = r;
        list_remove(l, r);
        list_add(l, r);
    }
}

/* -- look-up -- */

static RequestRecord *find_by_value(MPI_Request value)
{
    Value *v = values_open() ? *value_slot(value) : NULL;
    if (!v)
        return NULL;
    RequestRecord *r = list_take(&v->orphans);
    return r ? r : list_take(&v->bound);
}

static int64_t null_request_word(void)
{
    return handle_word(HANDLE_REQUEST, (uintptr_t)MPI_REQUEST_NULL);
}

static bool rebind(RequestRecord *r, MPI_Request *variable)
{
    if (r->variable == variable)
        return true;
    if (r->variable)
        unbind(r);
    return bind(r, variable);
}

/* The request of the calling thread with this word, in whatever state. */
static RequestRecord *own_request(const ActiveCall *c, int64_t word)
{
    const CallSequence *q = c->sequence;
    uint32_t number = word_is_handle(word) ? word_handle_number(word) : UINT32_MAX;
    RequestRecord *r = number < q->n_requests ? q->requests[number] : NULL;
    return r && r->word == word ? r : NULL;
}

/* In a replay: whether VARIABLE may hold what it held in the recorded run, RECORDED. Then *FOUND is
 * the request, or NULL if it is not live. */
static bool resolve_as_recorded(const ActiveCall *c, MPI_Request *variable, int64_t recorded,
                                RequestRecord **found)
{
    RequestRecord *r = own_request(c, recorded);
    *found = NULL;
    if (*variable == MPI_REQUEST_NULL)
        return recorded == null_request_word() || (r && r->state != LIVE);
    if (!r || r->state != LIVE || r->handle != *variable || r->stamp == table.stamp)
        return false;
    if (!rebind(r, variable))
        state_break("out of memory");
    *found = r;
    return true;
}

static RequestRecord *resolve(MPI_Request *variable, int64_t *word)
{
    MPI_Request value = *variable;
    RequestRecord *r = variable_find(variable);
    if (value == MPI_REQUEST_NULL) {
        *word = r && r->state == NULLED ? r->word : null_request_word();
        return NULL;
    }
    if (!(r && r->state == LIVE && r->handle == value && r->stamp != table.stamp)) {
        r = find_by_value(value);
        if (!r) {
            *word = WEND_UNKNOWN;
            return NULL;
        }
        if (!rebind(r, variable))
            state_break("out of memory");
    }
    r->stamp = table.stamp;
    *word = r->word;
    return r;
}

static bool reserve(ActiveCall *c, size_t n)
{
    if (n <= c->cap_requests)
        return true;
    size_t cap = c->cap_requests ? c->cap_requests : 16;
    while (cap < n)
        cap *= 2;
    RequestRecord **grown =
        budget_resize(c->requests, c->cap_requests * sizeof *grown, cap * sizeof *grown);
    if (!grown) {
        state_break("out of memory");
        return false;
    }
    c->requests = grown;
    c->cap_requests = cap;
    return true;
}

void live_requests_encode(ActiveCall *c, int n, MPI_Request *variables, bool array)
{
    if (array)
        call_put_shape(c, variables ? n : -1);
    if (n < 0 || !variables || !reserve(c, (size_t)n))
        return;
    const ReplayHooks *replay = state()->replay;
    size_t n_recorded = 0;
    const int64_t *recorded =
        replay && replay->recorded_shape ? replay->recorded_shape(c, &n_recorded) : NULL;
    n_recorded = recorded ? n_recorded : 0;
    bool locked = state_lock(&state()->requests_lock);
    table.stamp++;
    for (int i = 0; i < n; i++) {
        int64_t word = c->shape.n < n_recorded ? recorded[c->shape.n] : WEND_UNKNOWN;
        if (c->shape.n < n_recorded
            && resolve_as_recorded(c, &variables[i], word, &c->requests[i])) {
            if (c->requests[i])
                c->requests[i]->stamp = table.stamp;
        } else {
            c->requests[i] = resolve(&variables[i], &word);
        }
        call_put_shape(c, word);
    }
    c->n_requests = (size_t)n;
    state_unlock(&state()->requests_lock, locked);
}

void live_request_encode_value(ActiveCall *c, MPI_Request value)
{
    if (!reserve(c, 1))
        return;
    bool locked = state_lock(&state()->requests_lock);
    table.stamp++;
    RequestRecord *r = value == MPI_REQUEST_NULL ? NULL : find_by_value(value);
    c->requests[0] = r;
    c->n_requests = 1;
    call_put_shape(c, r ? r->word : value == MPI_REQUEST_NULL ? null_request_word() : WEND_UNKNOWN);
    state_unlock(&state()->requests_lock, locked);
}

/* -- lifetimes -- */

/* Frees numbers that other threads gave back. The caller holds the locks of the sequence and of the
 * table. */
static void take_deferred(CallSequence *q)
{
    for (RequestRecord **p = &q->deferred; *p;) {
        RequestRecord *r = *p;
        if (q->requests_made - r->number_made < WEND_LAG && !q->callback) {
            p = &r->next_deferred;
            continue;
        }
        *p = r->next_deferred;
        cst_release(q->main, r->key);
    }
}

static RequestRecord *record_of(CallSequence *q, uint32_t number)
{
    if (number >= q->n_requests) {
        size_t n = q->n_requests ? q->n_requests : 16;
        while (n <= number)
            n *= 2;
        RequestRecord **grown =
            budget_resize(q->requests, q->n_requests * sizeof *grown, n * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + q->n_requests, 0, (n - q->n_requests) * sizeof *grown);
        q->requests = grown;
        q->n_requests = n;
    }
    if (!q->requests[number])
        q->requests[number] = budget_zeroed(sizeof **q->requests);
    return q->requests[number];
}

/* Puts a word that is no value in place of the words of W whose bits are in WHICH, and the words
 * into KEPT. */
static void leave_out(int64_t *w, uint64_t which, int64_t kept[64])
{
    for (; which; which &= which - 1) {
        int i = __builtin_ctzll(which);
        kept[i] = w[i];
        w[i] = WEND_ABSENT;
    }
}

static void put_back(int64_t *w, uint64_t which, const int64_t kept[64])
{
    for (; which; which &= which - 1) {
        int i = __builtin_ctzll(which);
        w[i] = kept[i];
    }
}

/* Takes a request number, like cst_request, with two differences.
 *
 * Sizes do not determine the pool. If they vary from message to message, each call would have a
 * request of another number, and so another shape. Tags do, until there are many: messages of
 * different kinds have different tags, and outcomes that are equal each time for a shape cost only
 * a count.
 *
 * Buffers determine the pool, but not those of a call that leaves one untouched. It shares the
 * newest pool of calls that are equal but for their buffers, so that messages which are empty at
 * times make no further shapes. */
static bool take_number(ActiveCall *c, bool persistent, WendPoolKey *key, uint32_t *number)
{
    int64_t sizes[64], segments[64], offsets[64];
    const CallSequence *q = c->sequence;
    WendCst *t = q->main;
    Words *shape = &c->shape, *slots = &c->slots;
    /* MPI_Start knows the started operation by the number alone */
    uint64_t left_out = persistent ? 0 : c->amounts;
    leave_out(slots->w, left_out, sizes);
    bool taken =
        !c->untouched
        && cst_request(t, shape->w, shape->n, slots->w, slots->n, !persistent, key, number);
    bool first = taken && key->k == 0 && (*number >= q->n_requests || !q->requests[*number]);
    if (c->untouched || (first && !persistent)) {
        leave_out(shape->w, c->segments, segments);
        leave_out(slots->w, c->offsets, offsets);
        if (first)
            cst_share_pool(t, shape->w, shape->n, slots->w, slots->n, *key);
        else
            taken =
                cst_request(t, shape->w, shape->n, slots->w, slots->n, !persistent, key, number);
        put_back(slots->w, c->offsets, offsets);
        put_back(shape->w, c->segments, segments);
    }
    put_back(slots->w, left_out, sizes);
    return taken;
}

/* Takes a number for the request in *VARIABLE that call C made. C's signature is complete except
 * for it, and C's sequence is locked. Returns the request's word. */
static int64_t request_made(ActiveCall *c, MPI_Request *variable,
                            const struct RequestMetadata *facts)
{
    CallSequence *q = c->sequence;
    WendPoolKey key;
    uint32_t number;
    struct CommEntry *comm = c->later;
    c->later = NULL;
    if (*variable == MPI_REQUEST_NULL) {
        /* A library may return a null request if there is nothing to do: the operation is
         * complete. */
        if (comm)
            comm_arrived(comm);
        return null_request_word();
    }
    bool locked = state_lock(&state()->requests_lock);
    q->requests_made++;
    take_deferred(q);
    RequestRecord *r = NULL;
    if (take_number(c, facts->persistent, &key, &number))
        r = record_of(q, number);
    Value *v = r && table.n_values ? value_get(*variable) : NULL;
    int64_t word = WEND_UNKNOWN;
    bool found_room = r && (v || !table.n_values);
    if (found_room) {
        if (r->variable) /* a nulled variable was bound to this number, which is used again */
            unbind(r);
        r->maker = q;
        r->key = key;
        r->number_made = q->requests_made;
        r->word = word = WEND_HANDLE(q->tid, number);
        r->state = LIVE;
        r->stamp = 0;
        r->active = !facts->persistent;
        r->facts = *facts;
        r->comm = comm;
        c->stash_at = &r->stash;
        if (facts->persistent)
            c->kept = true;
        r->handle = *variable;
        r->value = v;
        found_room = hold(r, variable);
        list_add(list_of(r), r);
    }
    state_unlock(&state()->requests_lock, locked);
    if (!found_room)
        state_break("out of memory");
    return word;
}

const struct RequestMetadata *request_metadata(const RequestRecord *r)
{
    return r ? &r->facts : NULL;
}

void live_request_end_call(ActiveCall *c, MPI_Request *variable,
                           const struct RequestMetadata *facts)
{
    call_end_enter(c);
    if (call_ok(c))
        call_put_shape(c, request_made(c, variable, facts));
    call_end_leave(c);
}

/* Ends R: the operation is complete, and the handle is freed. NULLED: VARIABLE stays bound. */
static void end(ActiveCall *c, RequestRecord *r, MPI_Request *variable, bool nulled)
{
    value_remove(r);
    r->state = IDLE;
    if (r->variable && (!nulled || r->variable != variable))
        variable_remove(r);
    if (nulled && (r->variable || hold(r, variable)))
        r->state = NULLED;
    if (!r->stash) {
        c->kept = true; /* a recording that has its beginning must have its end */
    } else if (atomic_load_explicit(&state()->recording, memory_order_relaxed)) {
        /* a recording that has its end must have its beginning, and its maker has recorded no call
         * since */
        stash_let_go(r->stash);
    } else {
        stash_remove(r->maker, r->stash);
    }
    if (r->maker == c->sequence && !r->maker->callback) {
        cst_release(r->maker->main, r->key);
    } else {
        r->next_deferred = r->maker->deferred;
        r->maker->deferred = r;
    }
}

void request_event(ActiveCall *c, size_t i, MPI_Request *variable, RequestEvent event,
                   bool by_choice)
{
    RequestRecord *r = i < c->n_requests ? c->requests[i] : NULL;
    if (!r)
        return;
    struct CommEntry *arrived = NULL;
    bool locked = state_lock(&state()->requests_lock);
    if (r->state == LIVE) {
        switch (event) {
        case REQUEST_STARTED:
            r->active = true;
            r->start_recorded = atomic_load_explicit(&state()->recording, memory_order_relaxed);
            break;
        case REQUEST_COMPLETED:
            arrived = r->comm;
            r->comm = NULL;
            if (r->facts.persistent) {
                r->active = false;
                c->kept |= r->start_recorded;
            } else {
                end(c, r, variable, by_choice && variable && *variable == MPI_REQUEST_NULL);
            }
            break;
        case REQUEST_FREED:
            end(c, r, variable, false);
            break;
        }
    }
    state_unlock(&state()->requests_lock, locked);
    if (arrived)
        comm_arrived(arrived);
}

/* -- statuses -- */

/* The fields of MPICH's common ABI, or of Open MPI's, are read directly, because this runs for
 * every receive. */
#if defined MPICH_VERSION
static int64_t status_bytes(const MPI_Status *s)
{
    return (int64_t)((uint64_t)((unsigned)s->count_hi_and_cancelled >> 1) << 32
                     | (unsigned)s->count_lo);
}
static bool status_cancelled(const MPI_Status *s)
{
    return s->count_hi_and_cancelled & 1;
}
#elif defined OPEN_MPI
static int64_t status_bytes(const MPI_Status *s)
{
    return (int64_t)s->_ucount;
}
static bool status_cancelled(const MPI_Status *s)
{
    return s->_cancelled;
}
#else
static int64_t status_bytes(const MPI_Status *s)
{
    MPI_Count n;
    return PMPI_Get_elements_x(s, MPI_BYTE, &n) == MPI_SUCCESS && n != MPI_UNDEFINED ? (int64_t)n
                                                                                     : 0;
}
static bool status_cancelled(const MPI_Status *s)
{
    int flag;
    return PMPI_Test_cancelled(s, &flag) == MPI_SUCCESS && flag;
}
#endif

/* MPI_ERROR of a status is defined only in a call that returns MPI_ERR_IN_STATUS. */
static int64_t status_flags(const ActiveCall *c, const MPI_Status *s)
{
    int64_t flags = status_cancelled(s);
    if (c->rc == MPI_ERR_IN_STATUS && s->MPI_ERROR != MPI_SUCCESS)
        flags += 2 * (int64_t)error_code_note(s->MPI_ERROR);
    return flags;
}

static void put_status(ActiveCall *c, int64_t source, int64_t tag, int64_t bytes, int64_t flags)
{
    int64_t *words = words_room(&c->outcome, STATUS_WORDS);
    if (!words)
        return;
    words[STATUS_SOURCE] = source;
    words[STATUS_TAG] = tag;
    words[STATUS_BYTES] = bytes;
    words[STATUS_FLAGS] = flags;
}

/* How many bytes a status counts of a message that was too long is left to the library: MPICH has
 * what another request counted there. A replay gives the application the recorded number. The
 * receive has room for BYTES. */
static void replay_truncated_bytes(const ActiveCall *c, MPI_Status *s, int64_t bytes)
{
    int error = c->rc == MPI_ERR_IN_STATUS ? s->MPI_ERROR : c->rc, class;
    size_t at = c->outcome.n + STATUS_BYTES;
    if (error == MPI_SUCCESS || PMPI_Error_class(error, &class) != MPI_SUCCESS
        || class != MPI_ERR_TRUNCATE || at >= c->recorded->n_outcome)
        return;
    int64_t recorded;
    if (!__builtin_sub_overflow(bytes, c->recorded->outcome[at], &recorded) && recorded >= 0
        && recorded != status_bytes(s))
        PMPI_Status_set_elements_x(s, MPI_BYTE, recorded);
}

static void put_received(ActiveCall *c, MPI_Status *s, int self, int source, int tag, int64_t bytes,
                         int64_t flags)
{
    if (__builtin_expect(c->recorded != NULL, 0) && s && c->rc != MPI_SUCCESS)
        replay_truncated_bytes(c, s, bytes);
    if (!s || source == MPI_PROC_NULL || (flags & 1))
        put_status(c, 0, 0, 0, flags);
    else
        put_status(c, (int64_t)s->MPI_SOURCE - (source == MPI_ANY_SOURCE ? self : source),
                   (int64_t)s->MPI_TAG - (tag == MPI_ANY_TAG ? 0 : tag), bytes - status_bytes(s),
                   flags);
}

/* Puts the status of a blocking receive or a probe. Only requests can be cancelled, and MPICH
 * leaves that bit of a status undefined. */
void objects_encode_status(ActiveCall *c, MPI_Status *s, int self, int source, int tag,
                           int64_t bytes)
{
    put_received(c, s, self, source, tag, bytes, s ? status_flags(c, s) & ~(int64_t)1 : 0);
}

/* Puts what is certain of a status that the library leaves undefined but for the error: what the
 * receive names. */
static void put_undefined(ActiveCall *c, const struct RequestMetadata *m, int64_t flags)
{
    put_status(c, m->source == MPI_ANY_SOURCE ? WEND_UNKNOWN : 0,
               m->tag == MPI_ANY_TAG ? WEND_UNKNOWN : 0, WEND_UNKNOWN, flags);
}

/* MPICH does not set the status of MPI_Isendrecv and MPI_Isendrecv_replace with two partners, which
 * are schedules there, as collectives are (up to 4.3 at least). It has the words that the library's
 * request before it left. */
static bool is_status_undefined(const struct RequestMetadata *m)
{
#ifdef MPICH_VERSION
    return m->sends_too;
#else
    (void)m;
    return false;
#endif
}

void live_request_encode_status(ActiveCall *c, long i, MPI_Status *s)
{
    const RequestRecord *r = i >= 0 && (size_t)i < c->n_requests ? c->requests[i] : NULL;
    if (!s || !r || !r->active) {
        put_status(c, 0, 0, 0, 0);
        return;
    }
    /* a library leaves all but the error as it was */
    if (c->rc == MPI_ERR_IN_STATUS && s->MPI_ERROR == MPI_ERR_PENDING) {
        put_status(c, 0, 0, 0, 2 * (int64_t)error_code_note(MPI_ERR_PENDING));
        return;
    }
    /* otherwise readers cannot tell which call of its pool made it */
    bool own = r->maker == c->sequence;
    switch (r->facts.type) {
    case REQUEST_RECV:
        if (is_status_undefined(&r->facts)) {
            put_undefined(c, &r->facts, status_flags(c, s));
            break;
        }
        put_received(c, s, r->facts.self, r->facts.source, r->facts.tag, own ? r->facts.bytes : 0,
                     status_flags(c, s));
        break;
    case REQUEST_IO:
        put_status(c, 0, 0, (own ? r->facts.bytes : 0) - status_bytes(s), status_flags(c, s));
        break;
    case REQUEST_GENERALIZED:
        put_status(c, s->MPI_SOURCE, s->MPI_TAG, -status_bytes(s), status_flags(c, s));
        break;
    default:
        put_status(c, 0, 0, 0, status_flags(c, s));
    }
}
