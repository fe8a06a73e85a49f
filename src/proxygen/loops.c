/* loops.c: loops whose bodies depend on which request completed: "while (…) { MPI_Waitany(…, &index, …); … what belongs to that index … }".
 *
 * The recording has such a loop in the order in which requests happened to complete. Where that order is one of many, the loop comes back: a stretch of
 * calls of one Waitany, Waitsome, Testany or Testsome, and for each entry of its array the calls (the body) that followed its first completion, its second, …
 *
 * Any order is as good as the recorded one, and none can hang, if
 *   - no body waits: its calls are local, start something, or send a message that is eager in any MPI;
 *   - bodies of different entries have nothing to do with each other: no request, no handle and no memory that one of them makes, ends or frees is used by
 *     another; they post no receives for the same messages, take part in different collective calls, and messages of two of them from one rank to
 *     another with one tag are equal (whoever takes them);
 *   - an entry completes in the stretch only as often as it did: beyond that it is hidden.
 * For then, whatever completes first, the rank posts in the end what it posted, and each receive and each send has its partner. Take the first event in the
 * recorded order that a proxy could wait for in vain: all that happened before it has happened, so what it waits for is there.
 *
 * A stretch ends before the first call that breaks these rules; what is left without a loop keeps the recorded order (emit_choice.c). Failed polls are nowhere: each loop
 * polls as often as it must. Other calls that the program made while it polled are calls like any others, and belong to the completion before them. */
#include "plan.h"

#include <string.h>

#include "buf.h"
#include "extent.h"
#include "grammar.h"
#include "rules.h"

/* Bodies up to this length stand in the loop itself. */
enum { INLINE_BODY = 8 };

/* -- what a call has to do with others -- */

typedef enum {
    USE_READ, USE_WRITE,
    USE_SEND,                /* of a message: commutes with others of as many bytes */
    USE_POST                 /* of a receive: see may_share */
} UseKind;
typedef struct { guint resource; UseKind kind; gint64 bytes; } Use;
typedef struct { gint64 request; gboolean active; } Change;  /* of a request: a receive is posted, a send started */
typedef struct {
    gboolean waits;          /* or what it does is not known to be safe: not in a body */
    gboolean heard;          /* by others: it sends, or takes part in a collective call */
    guint function;          /* a number for its function */
    GArray *uses, *changes;  /* of Use, of Change */
    GArray *memory;          /* of guint: the segments it uses */
    gboolean frees;          /* them */
} Effects;

/* Who of the present stretch has to do with a resource: entries of the array. */
enum { NOBODY = -1, SEVERAL = -2 };
typedef struct {
    guint stretch;
    gint writer, reader;
    gint64 bytes;            /* of USE_SEND; -1 different ones */
    gboolean alive;          /* memory: it has a number */
    gboolean is_receive;     /* messages that receives are posted for: */
    gint64 comm, source, tag;
} Resource;

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
typedef struct { guint first_entry, n_entries, first_item, n_items; } Group;

typedef struct {
    Plan *plan;
    gint64 any_source, any_tag, proc_null;
    GPtrArray *choosers;     /* by terminal; NULL: not one */

    /* of the rank that is looked at */
    guint rank;
    gboolean learning;       /* the first of two walks: only bodies are collected */
    Effects **effects;       /* by terminal */
    GHashTable *makers;      /* request -> terminal that makes it */
    GHashTable *numbers;     /* of resources, by bytes */
    GArray *resources;       /* of Resource */
    GArray *receives;        /* of guint: resources that are receives */

    /* the calls of one chooser that follow each other with nothing in between that waits */
    const Chooser *chooser;
    GArray *groups, *entries, *items; /* of Group; of guint: entries, terminals */
    GByteArray *fresh;       /* by item: it is the first to use some memory, which gets its number then */
    gboolean *active;        /* by entry, at the place that is looked at */
    guint stretch;           /* number of the stretch */
    gboolean share, shared;  /* entries may post receives for the same messages; they have */
    gboolean *loud;          /* by entry, in this stretch: it does more than to post its own receive again */
    guint *channel;          /* by entry: resource + 1 of the receive that it posted again */

    /* of all ranks */
    WendGrammar *grammar;
    GArray *symbols;         /* of WendSymbol: what the grammar's terminals are */
    GHashTable *symbol_numbers;
    GHashTable *rules_by_content; /* bodies and loops: bytes -> rule */
} Finder;

static guint intern(GHashTable *numbers, const void *bytes, gsize n, gboolean *new)
{
    GBytes *key = g_bytes_new(bytes, n);
    gpointer found;
    *new = !g_hash_table_lookup_extended(numbers, key, NULL, &found);
    if (*new)
        g_hash_table_insert(numbers, key, found = GUINT_TO_POINTER(g_hash_table_size(numbers)));
    else
        g_bytes_unref(key);
    return GPOINTER_TO_UINT(found);
}

static guint resource(Finder *f, char kind, gint64 a, gint64 b, gint64 c)
{
    const gint64 key[] = {kind, a, b, c};
    gboolean new;
    guint number = intern(f->numbers, key, sizeof key, &new);
    if (new) {
        Resource r = {.is_receive = kind == 'r', .comm = a, .source = b, .tag = c};
        g_array_append_val(f->resources, r);
        if (r.is_receive)
            g_array_append_val(f->receives, number);
    }
    return number;
}

static void add_use(Effects *e, guint resource, UseKind kind, gint64 bytes)
{
    Use use = {resource, kind, bytes};
    g_array_append_val(e->uses, use);
}

static const WendArg *named_arg(const WendCall *call, const char *name)
{
    for (guint i = 0; i < call->n_args; i++)
        if (strcmp(call->args[i].param->name, name) == 0)
            return &call->args[i];
    return NULL;
}

static const WendArg *arg_of_kind(const WendCall *call, WendKind kind, WendDir dir)
{
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == kind && call->args[i].param->dir == dir)
            return &call->args[i];
    return NULL;
}

static gint64 value_of(const WendArg *arg)
{
    return arg && arg->n_in > 0 ? arg->in[0] : WEND_ABSENT;
}

/* The function's name without the suffix of large counts. */
static gboolean is_called(const WendCall *call, const char *name)
{
    gsize n = strlen(name);
    return strncmp(call->function->name, name, n) == 0 && (call->function->name[n] == '\0' || strcmp(call->function->name + n, "_c") == 0);
}

static gboolean is_one_of(const WendCall *call, const char *const *names)
{
    for (; *names; names++)
        if (is_called(call, *names))
            return TRUE;
    return FALSE;
}

/* Bytes of the buffer that a call gives. */
static gint64 bytes_of(const Finder *f, const WendCall *call)
{
    const WendArg *buf = named_arg(call, "buf");
    if (!buf || buf->param->count < 0 || buf->param->type < 0)
        return G_MAXINT64;
    return extent_data_size(f->plan->extents, value_of(&call->args[buf->param->type]), value_of(&call->args[buf->param->count]), f->rank);
}

static const char *const standard_sends[] = {"MPI_Isend", "MPI_Ibsend", "MPI_Send", "MPI_Bsend", "MPI_Send_init", "MPI_Bsend_init", NULL};

/* A message that leaves at once, whether it is received or not. */
static gboolean is_eager(const Finder *f, const WendCall *call)
{
    return is_one_of(call, standard_sends) && bytes_of(f, call) <= EAGER_BYTES;
}

/* The messages that a call sends or wants, when it is started. */
static void use_channel(Finder *f, Effects *e, const WendCall *call)
{
    gint64 comm = value_of(named_arg(call, "comm")), tag = value_of(named_arg(call, "tag"));
    const WendArg *dest = named_arg(call, "dest"), *source = named_arg(call, "source");
    if (dest && value_of(dest) != f->proc_null)
        add_use(e, resource(f, 's', comm, value_of(dest), tag), is_eager(f, call) ? USE_SEND : USE_WRITE, bytes_of(f, call));
    if (source && value_of(source) != f->proc_null)
        add_use(e, resource(f, 'r', comm, value_of(source), tag), USE_POST, bytes_of(f, call));
    e->heard |= dest != NULL;
}

static const WendCall *maker_of(Finder *f, WendDecoder *decoder, gint64 request)
{
    gpointer terminal;
    return g_hash_table_lookup_extended(f->makers, &request, NULL, &terminal) ? wend_decoder_call(decoder, GPOINTER_TO_UINT(terminal), f->rank) : NULL;
}

/* May the call be in a body? Notes what it does to messages. */
static gboolean goes_on(Finder *f, Effects *e, const WendCall *call)
{
    static const char *const local[] = {"MPI_Type_", "MPI_Pack", "MPI_Unpack", "MPI_Info_", "MPI_Status_", "MPI_Get_address", NULL};
    static const char *const starting[] = {"MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irecv", NULL};
    static const char *const making[] = {"MPI_Send_init", "MPI_Bsend_init", "MPI_Ssend_init", "MPI_Recv_init", NULL};
    const char *name = call->function->name;
    guint32 flags = call->function->flags;
    const WendArg *requests = arg_of_kind(call, WEND_KIND_REQUEST, WEND_DIR_INOUT);
    if (call->failed)
        return FALSE;
    if ((flags & WEND_F_QUERY) || is_one_of(call, making) || strcmp(name, "wend_free") == 0)
        return TRUE;
    if (flags & WEND_F_PSEUDO)
        return FALSE;
    if (is_one_of(call, starting) || is_called(call, "MPI_Send") || is_called(call, "MPI_Bsend")) {
        use_channel(f, e, call);
        return arg_of_kind(call, WEND_KIND_REQUEST, WEND_DIR_OUT) || is_eager(f, call);
    }
    if (is_called(call, "MPI_Start") || is_called(call, "MPI_Startall") || ((flags & WEND_F_COMPLETES) && !(flags & WEND_F_ANY))) {
        gboolean starts = g_str_has_prefix(name, "MPI_Start"), good = requests != NULL;
        WendDecoder *decoder = wend_decoder_new(f->plan->program);
        for (gint64 i = 0; good && i < requests->n_in; i++) {
            const WendCall *maker = wend_is_handle(requests->in[i]) ? maker_of(f, decoder, requests->in[i]) : NULL;
            if (!maker)
                good = !wend_is_handle(requests->in[i]) && !starts;
            else if (starts && is_one_of(maker, making))
                use_channel(f, e, maker);
            else
                good = !starts && is_eager(f, maker); /* the end of what has left at once */
        }
        wend_decoder_free(decoder);
        return good;
    }
    if ((flags & WEND_F_COLLECTIVE) && !(flags & (WEND_F_CREATES_COMM | WEND_F_PERSISTENT)) && arg_of_kind(call, WEND_KIND_REQUEST, WEND_DIR_OUT) &&
        named_arg(call, "comm")) {
        add_use(e, resource(f, 'c', value_of(named_arg(call, "comm")), 0, 0), USE_WRITE, 0);
        e->heard = TRUE;
        return TRUE;
    }
    for (guint i = 0; local[i]; i++)
        if (g_str_has_prefix(name, local[i]))
            return TRUE;
    return FALSE;
}

static gboolean is_address(WendKind kind)
{
    return kind == WEND_KIND_BUF || kind == WEND_KIND_ADDRESS || kind == WEND_KIND_ATTR;
}

static void use_words(Finder *f, Effects *e, const WendArg *arg, gboolean is_out)
{
    WendKind kind = arg->param->kind;
    const gint64 *words = is_out ? arg->out : arg->in;
    gint64 n = is_out ? arg->n_out : arg->n_in;
    gboolean wide = is_out && (kind == WEND_KIND_COMM || kind == WEND_KIND_DATATYPE);
    gboolean pair = is_address(kind);
    gboolean writes = is_out || arg->param->dir == WEND_DIR_INOUT || kind == WEND_KIND_REQUEST;
    for (gint64 i = 0; words && i < n; i++) {
        gint64 word = words[i * (wide ? 6 : kind == WEND_KIND_ADDRESS ? 4 : pair ? 2 : 1)];
        if ((kind_is_handle(kind) || kind == WEND_KIND_REQUEST) && wend_is_handle(word)) {
            add_use(e, resource(f, 'h', kind, word, 0), writes ? USE_WRITE : USE_READ, 0);
            if (writes && kind != WEND_KIND_REQUEST)
                add_use(e, resource(f, 'k', kind, 0, 0), USE_WRITE, 0); /* what is made next gets the smallest free number */
        } else if ((pair && wend_is_segment(word)) || kind == WEND_KIND_SEGMENT) {
            guint segment = resource(f, 'm', word, 0, 0);
            add_use(e, segment, kind == WEND_KIND_SEGMENT ? USE_WRITE : USE_READ, 0);
            g_array_append_val(e->memory, segment);
            if (kind == WEND_KIND_SEGMENT)
                add_use(e, resource(f, 'a', 0, 0, 0), USE_WRITE, 0);
            e->frees |= kind == WEND_KIND_SEGMENT;
        }
    }
}

/* Requests of one signature are numbered in the order in which they are made. */
static void use_signature(Finder *f, Effects *e, const WendCall *call)
{
    g_autoptr(GByteArray) name = g_byte_array_new();
    g_byte_array_append(name, (const guint8 *)call->function->name, (guint)strlen(call->function->name) + 1);
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        WendKind kind = arg->param->kind;
        gsize width = kind == WEND_KIND_ADDRESS ? 4 : is_address(kind) ? 2 : kind == WEND_KIND_REQUEST || kind == WEND_KIND_STRING || kind == WEND_KIND_STRINGS ? 0 : 1;
        if (arg->n_in > 0 && arg->in)
            g_byte_array_append(name, (const guint8 *)arg->in, (guint)((gsize)arg->n_in * width * sizeof *arg->in));
    }
    gboolean new;
    guint number = intern(f->numbers, name->data, name->len, &new);
    if (new) {
        Resource r = {0};
        g_array_append_val(f->resources, r);
    }
    add_use(e, number, USE_WRITE, 0);
}

static void effects_free(gpointer effects)
{
    if (effects) {
        g_array_unref(((Effects *)effects)->uses);
        g_array_unref(((Effects *)effects)->changes);
        g_array_unref(((Effects *)effects)->memory);
        g_free(effects);
    }
}

static const Effects *effects_of(Finder *f, const WendCall *call)
{
    Effects *e = f->effects[call->terminal];
    if (e)
        return e;
    e = f->effects[call->terminal] = g_new0(Effects, 1);
    e->uses = g_array_new(FALSE, FALSE, sizeof(Use));
    e->changes = g_array_new(FALSE, FALSE, sizeof(Change));
    e->memory = g_array_new(FALSE, FALSE, sizeof(guint));
    e->function = GPOINTER_TO_UINT(call->function);
    e->waits = !goes_on(f, e, call);
    gboolean starts = g_str_has_prefix(call->function->name, "MPI_Start");
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        use_words(f, e, arg, FALSE);
        use_words(f, e, arg, TRUE);
        if (arg->param->kind != WEND_KIND_REQUEST)
            continue;
        gboolean makes = arg->param->dir == WEND_DIR_OUT;
        if (makes)
            use_signature(f, e, call);
        for (gint64 k = 0; k < (makes ? arg->n_out : arg->n_in); k++) {
            Change change = {makes ? arg->out[k] : arg->in[k], starts || (makes && !(call->function->flags & WEND_F_PERSISTENT))};
            if (wend_is_handle(change.request))
                g_array_append_val(e->changes, change);
        }
    }
    return e;
}

/* Which call makes which request: a number belongs to one signature. */
static void find_makers(Finder *f)
{
    WendDecoder *decoder = wend_decoder_new(f->plan->program);
    for (guint t = 0; t < wend_program_n_terminals(f->plan->program); t++) {
        if (!rank_set_has(f->plan->terminal_ranks[t], f->rank))
            continue;
        const WendCall *call = wend_decoder_call(decoder, t, f->rank);
        const WendArg *made = call->failed ? NULL : arg_of_kind(call, WEND_KIND_REQUEST, WEND_DIR_OUT);
        for (gint64 i = 0; made && i < made->n_out; i++)
            if (wend_is_handle(made->out[i]))
                g_hash_table_insert(f->makers, g_memdup2(&made->out[i], sizeof(gint64)), GUINT_TO_POINTER(t));
    }
    wend_decoder_free(decoder);
}

/* -- whether bodies have to do with each other -- */

static gboolean receives_meet(const Finder *f, const Resource *a, const Resource *b)
{
    return a->comm == b->comm && (a->source == b->source || a->source == f->any_source || b->source == f->any_source) &&
           (a->tag == b->tag || a->tag == f->any_tag || b->tag == f->any_tag);
}

/* Receives for the same messages are matched in the order in which they are posted, so it matters which of two entries posts first: the one may have to
 * complete for something that the other waits for. Not so if their bodies do nothing but to post them again, with as much room, and none of them is still active
 * when the stretch ends: then one message is as good as another, and which of them it completes is the same to all. */
static gboolean may_share(const Finder *f, const Resource *r, guint number, const Use *use, gint entry, gboolean own)
{
    gboolean good = f->share && own && use->kind == USE_POST && r->bytes == use->bytes && !f->loud[entry];
    for (guint i = 0; i < f->chooser->n && good; i++)
        good = f->channel[i] != number + 1 || !f->loud[i];
    return good;
}

static gboolean receive_clashes(const Finder *f, const Use *use, gint entry, gboolean own)
{
    const Resource *r = &g_array_index(f->resources, Resource, use->resource);
    for (guint i = 0; i < f->receives->len; i++) {
        guint number = g_array_index(f->receives, guint, i);
        const Resource *other = &g_array_index(f->resources, Resource, number);
        if (other->stretch == f->stretch && other->writer != entry && receives_meet(f, r, other) &&
            !(other == r && may_share(f, r, number, use, entry, own)))
            return TRUE;
    }
    return FALSE;
}

static gboolean use_clashes(const Finder *f, const Use *use, gint entry)
{
    const Resource *r = &g_array_index(f->resources, Resource, use->resource);
    if (r->stretch != f->stretch)
        return FALSE;
    if (r->writer != NOBODY && r->writer != entry)
        return TRUE;
    gboolean others = r->reader != NOBODY && r->reader != entry;
    return others && (use->kind == USE_WRITE || (use->kind == USE_SEND && r->bytes != use->bytes));
}

static void take_use(Finder *f, const Use *use, gint entry)
{
    Resource *r = &g_array_index(f->resources, Resource, use->resource);
    if (r->stretch != f->stretch) {
        r->stretch = f->stretch;
        r->writer = r->reader = NOBODY;
    }
    if (use->kind == USE_WRITE || use->kind == USE_POST) {
        f->shared |= r->writer != NOBODY && r->writer != entry;
        r->writer = r->writer == NOBODY || r->writer == entry ? entry : SEVERAL;
        r->bytes = use->bytes;
        return;
    }
    if (use->kind == USE_SEND)
        r->bytes = r->reader == NOBODY || r->bytes == use->bytes ? use->bytes : -1;
    r->reader = r->reader == NOBODY || r->reader == entry ? entry : SEVERAL;
}

static Use completion_of(Finder *f, guint entry)
{
    return (Use){resource(f, 'h', WEND_KIND_REQUEST, f->chooser->members[entry], 0), USE_WRITE, 0};
}

static Use numbering_of_memory(Finder *f)
{
    return (Use){resource(f, 'a', 0, 0, 0), USE_WRITE, 0};
}

/* -- where bodies end -- */

static guint item_at(const Finder *f, guint i)
{
    return g_array_index(f->items, guint, i);
}

/* Does the call post or start the request of that entry, of another one (2), or of none (0)? */
static int posts(const Finder *f, guint item, guint entry)
{
    const Effects *e = f->effects[item];
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
        key[1 + i] = pattern ? f->effects[item_at(f, first + i)]->function * 4 + (guint)posts(f, item_at(f, first + i), entry) : item_at(f, first + i);
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

/* How many of the next N calls are the body of ENTRY, as far as that can be guessed; any answer is right. */
static guint guess_body(const Finder *f, guint entry, guint first, guint n)
{
    guint longest = MIN(n, f->chooser->longest);
    for (int pattern = 0; pattern < 2; pattern++)
        for (guint k = longest + 1; k-- > 0;)
            if ((k > 0 || pattern == 0) && is_known(f, entry, first, k, pattern))
                return k;
    for (guint k = 0; k < n; k++) {
        int what = posts(f, item_at(f, first + k), entry);
        if (what > 0)
            return what == 1 ? k + 1 : 0;
    }
    return 0;
}

/* -- what is found -- */

static void append(Finder *f, WendSymbol symbol)
{
    gint64 key = (gint64)symbol.is_rule << 32 | symbol.id;
    gboolean new;
    guint number = intern(f->symbol_numbers, &key, sizeof key, &new);
    guint64 times = symbol.exponent;
    symbol.exponent = 1;
    if (new)
        g_array_append_val(f->symbols, symbol);
    if (!f->grammar || !wend_grammar_append(f->grammar, number, times))
        g_error("out of memory"); /* as GLib does */
}

static void append_items(Finder *f, guint first, guint n)
{
    for (guint i = first; i < first + n; i++)
        append(f, (WendSymbol){FALSE, item_at(f, i), 1});
}

static void add_symbol(GArray *symbols, WendSymbol symbol)
{
    WendSymbol *last = symbols->len ? &g_array_index(symbols, WendSymbol, symbols->len - 1) : NULL;
    if (last && last->is_rule == symbol.is_rule && last->id == symbol.id)
        last->exponent += symbol.exponent;
    else
        g_array_append_val(symbols, symbol);
}

/* The rule that is a body. */
static guint body_rule(Finder *f, guint first, guint n)
{
    if (n == 0)
        return NO_BODY;
    gboolean new;
    guint key = intern(f->rules_by_content, &g_array_index(f->items, guint, first), n * sizeof(guint), &new);
    if (!new)
        return key;
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    for (guint i = 0; i < n; i++)
        add_symbol(symbols, (WendSymbol){FALSE, item_at(f, first + i), 1});
    guint rule = plan_add_body(f->plan, symbols);
    f->plan->rules[rule].inlined = f->plan->rules[rule].n <= INLINE_BODY;
    g_hash_table_insert(f->rules_by_content, g_bytes_new(&g_array_index(f->items, guint, first), n * sizeof(guint)), GUINT_TO_POINTER(rule));
    return rule;
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

void loop_free(Loop *loop)
{
    if (!loop)
        return;
    for (guint e = 0; e < loop->n; e++)
        g_array_unref(loop->runs[e]);
    g_free(loop->runs);
    g_free(loop->times);
    g_free(loop);
}

/* The rule that is a loop; takes it. */
static guint loop_rule(Finder *f, Loop *loop)
{
    g_autoptr(GArray) key = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint64 head[] = {G_MAXUINT64, loop->terminal, loop->hides};
    g_array_append_vals(key, head, G_N_ELEMENTS(head));
    for (guint e = 0; e < loop->n; e++) {
        guint64 n = loop->runs[e]->len;
        g_array_append_val(key, n);
        for (guint i = 0; i < n; i++) {
            const LoopRun *run = &g_array_index(loop->runs[e], LoopRun, i);
            guint64 words[] = {run->body, run->times};
            g_array_append_vals(key, words, 2);
        }
    }
    gboolean new;
    guint known = intern(f->rules_by_content, key->data, key->len * sizeof(guint64), &new);
    if (!new) {
        loop_free(loop);
        return known;
    }
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    add_symbol(symbols, (WendSymbol){FALSE, loop->terminal, (guint64)loop->total});
    for (guint e = 0; e < loop->n; e++)
        for (guint i = 0; i < loop->runs[e]->len; i++) {
            const LoopRun *run = &g_array_index(loop->runs[e], LoopRun, i);
            if (run->body != NO_BODY)
                add_symbol(symbols, (WendSymbol){TRUE, run->body, run->times});
        }
    guint rule = plan_add_body(f->plan, symbols);
    f->plan->rules[rule].loop = loop;
    f->plan->has_loops = TRUE;
    g_hash_table_insert(f->rules_by_content, g_bytes_new(key->data, key->len * sizeof(guint64)), GUINT_TO_POINTER(rule));
    return rule;
}

/* -- stretches -- */

/* What the call of an item does to the entries. */
static void follow(Finder *f, guint item)
{
    const Effects *e = f->effects[item];
    for (guint i = 0; i < e->changes->len; i++) {
        const Change *change = &g_array_index(e->changes, Change, i);
        guint entry = GPOINTER_TO_UINT(g_hash_table_lookup(f->chooser->entry_of, &change->request));
        if (entry > 0)
            f->active[entry - 1] = change->active;
    }
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
            append(f, (WendSymbol){FALSE, f->chooser->terminal, 1}); /* one call: no loop */
        for (guint k = 0; k < groups[g].n_entries; k++) {
            guint entry = g_array_index(f->entries, guint, groups[g].first_entry + k);
            const Share *piece = &pieces[groups[g].first_entry + k];
            guint end = groups[g].first_item + items, length = MIN(piece->n, end > piece->first ? end - piece->first : 0);
            f->active[entry] = FALSE;
            loop->total++;
            loop->times[entry]++;
            add_run(loop->runs[entry], first == last ? NO_BODY : body_rule(f, piece->first, length));
        }
        for (guint i = 0; i < items; i++)
            follow(f, item_at(f, groups[g].first_item + i));
        if (first == last)
            append_items(f, groups[g].first_item, items);
    }
    for (guint e = 0; e < loop->n; e++)
        loop->hides |= f->active[e];
    if (first < last)
        append(f, (WendSymbol){TRUE, loop_rule(f, loop), 1});
    else
        loop_free(loop);
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
    const Effects *e = f->effects[item_at(f, i)];
    gboolean own = posts(f, item_at(f, i), (guint)entry) == 1, posted = FALSE;
    for (guint k = 0; k < e->uses->len; k++) {
        const Use *use = &g_array_index(e->uses, Use, k);
        posted |= use->kind == USE_POST;
        if (use->kind == USE_POST ? receive_clashes(f, use, entry, own) : use_clashes(f, use, entry))
            return TRUE;
    }
    gboolean loud = e->heard || (posted && !own);
    if (loud && f->channel[entry] && g_array_index(f->resources, Resource, f->channel[entry] - 1).writer == SEVERAL)
        return TRUE;
    Use numbering = numbering_of_memory(f);
    return f->fresh->data[i] && use_clashes(f, &numbering, entry);
}

static void take_item(Finder *f, guint i, gint entry)
{
    const Effects *e = f->effects[item_at(f, i)];
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
        const WendCall *maker = f->active[i] ? maker_of(f, decoder, f->chooser->members[i]) : NULL;
        const WendArg *source = maker ? named_arg(maker, "source") : NULL;
        if (!source)
            continue;
        const Resource own = {.comm = value_of(named_arg(maker, "comm")), .source = value_of(source), .tag = value_of(named_arg(maker, "tag"))};
        for (guint k = 0; k < f->receives->len && complete; k++) {
            const Resource *r = &g_array_index(f->resources, Resource, g_array_index(f->receives, guint, k));
            complete = r->stretch != f->stretch || r->writer != SEVERAL || !receives_meet(f, r, &own);
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
        for (guint k = 0; k < group->n_entries && !clash; k++) {
            guint entry = g_array_index(f->entries, guint, group->first_entry + k);
            Use use = completion_of(f, entry);
            take_use(f, &use, (gint)entry);
        }
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
    const WendArg *requests = arg_of_kind(call, WEND_KIND_REQUEST, WEND_DIR_INOUT);
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
    Group group = {f->entries->len, n, f->items->len, 0};
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
    for (guint i = 0; i < f->resources->len; i++)
        g_array_index(f->resources, Resource, i).alive = FALSE;
    while ((call = wend_walk_next(walk)) != NULL) {
        guint8 fresh = 0;
        const Effects *effects = effects_of(f, call);
        for (guint i = 0; i < effects->memory->len; i++) {
            Resource *memory = &g_array_index(f->resources, Resource, g_array_index(effects->memory, guint, i));
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
            append(f, (WendSymbol){FALSE, terminal, 1});
    }
    end_groups(f);
    wend_walk_free(walk);
}

static void find_in_rank(Finder *f, const PlanThread *thread, guint rank)
{
    guint n_terminals = wend_program_n_terminals(f->plan->program);
    /* The calls up to MPI_Init are in main. */
    guint own = wend_program_class(f->plan->program, thread->class_index)->sequences[thread->sequence].rule;
    guint skip = f->plan->prefix && thread->rule != own ? f->plan->prefix->len : 0;
    f->rank = rank;
    f->effects = g_new0(Effects *, n_terminals + 1);
    f->makers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    f->numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    f->resources = g_array_new(FALSE, TRUE, sizeof(Resource));
    f->receives = g_array_new(FALSE, FALSE, sizeof(guint));
    find_makers(f);
    for (f->learning = TRUE;; f->learning = FALSE) {
        walk_rank(f, thread, skip);
        if (!f->learning)
            break;
    }
    append(f, (WendSymbol){TRUE, G_MAXUINT32 - rank, 1}); /* the end of this rank's row */
    for (guint i = 0; i < n_terminals; i++)
        effects_free(f->effects[i]);
    for (guint i = 0; i < f->choosers->len; i++)
        if (f->choosers->pdata[i])
            g_clear_pointer(&f->choosers->pdata[i], chooser_free);
    g_free(f->effects);
    g_hash_table_destroy(f->makers);
    g_hash_table_destroy(f->numbers);
    g_array_unref(f->resources);
    g_array_unref(f->receives);
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

/* -- rules again -- */

static WendSymbol plan_symbol(const Finder *f, WendSymbol symbol, guint first_rule)
{
    WendSymbol result = {TRUE, first_rule + symbol.id - 1, symbol.exponent}; /* rule 0 of a grammar is its start */
    if (!symbol.is_rule) {
        result = g_array_index(f->symbols, WendSymbol, symbol.id);
        result.exponent = symbol.exponent;
    }
    return result;
}

static GArray *plan_symbols(const Finder *f, const Rule *rule, guint first, guint end, guint first_rule)
{
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    for (guint i = first; i < end; i++) {
        WendSymbol symbol = plan_symbol(f, rule->symbols[i], first_rule);
        g_array_append_val(symbols, symbol);
    }
    return symbols;
}

typedef struct { guint thread, rank; } Row;

/* Puts threads with the rows of the grammar in place of those that have been walked; equal rows are one. */
static void replace_threads(Finder *f, const GArray *rows, const RuleRow *grammar)
{
    Plan *plan = f->plan;
    guint first_rule = plan->n_rules;
    for (guint i = 1; i < grammar->n_rules; i++)
        plan_add_body(plan, plan_symbols(f, &grammar->rules[i], 0, grammar->rules[i].n, first_rule));
    GArray *threads = g_array_new(FALSE, FALSE, sizeof(PlanThread));
    const Rule *start = &grammar->rules[0];
    guint at = 0, row = 0;
    for (guint t = 0; t < plan->threads->len; t++) {
        const PlanThread *old = &g_array_index(plan->threads, PlanThread, t);
        if (row == rows->len || g_array_index(rows, Row, row).thread != t) {
            g_array_append_val(threads, *old);
            continue;
        }
        g_autoptr(GHashTable) known = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL); /* row -> its place in ranks */
        g_autoptr(GPtrArray) ranks = g_ptr_array_new();
        guint before = threads->len;
        for (; row < rows->len && g_array_index(rows, Row, row).thread == t; row++) {
            guint end = at, rank = g_array_index(rows, Row, row).rank;
            for (WendSymbol s; s = plan_symbol(f, start->symbols[end], first_rule), !(s.is_rule && s.id == G_MAXUINT32 - rank); end++)
                ;
            gboolean new;
            guint number = intern(known, &start->symbols[at], (end - at) * sizeof *start->symbols, &new);
            if (new) {
                PlanThread thread = *old;
                thread.rule = plan_add_body(plan, plan_symbols(f, start, at, end, first_rule));
                g_array_append_val(threads, thread);
                g_ptr_array_add(ranks, g_array_new(FALSE, FALSE, sizeof(guint)));
            }
            g_array_append_val((GArray *)ranks->pdata[number], rank);
            at = end + 1;
        }
        for (guint i = 0; i < ranks->len; i++) {
            GArray *of = ranks->pdata[i];
            guint n = of->len;
            g_ptr_array_add(plan->owned, of->data);
            g_array_index(threads, PlanThread, before + i).ranks = (RankSet){n, (const guint *)(void *)g_array_free(of, FALSE)};
        }
    }
    g_array_free(plan->threads, TRUE);
    plan->threads = threads;
}

gboolean plan_loops(Plan *plan, GError **error)
{
    const WendProgram *p = plan->program;
    g_autofree gboolean *forced = find_forced(plan);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
    guint64 steps = 0;
    for (guint t = 0; t < plan->threads->len; t += 1 + g_array_index(plan->threads, PlanThread, t).n_others) {
        const PlanThread *thread = &g_array_index(plan->threads, PlanThread, t);
        if (thread->n_others > 0 || !forced[thread->rule])
            continue;
        guint64 length = wend_program_rule(p, wend_program_class(p, thread->class_index)->sequences[thread->sequence].rule)->length;
        for (guint r = 0; r < thread->ranks.n && length < STEP_LIMIT - steps; r++) {
            Row row = {t, thread->ranks.ranks[r]};
            if (r == 0 && length * thread->ranks.n >= STEP_LIMIT - steps)
                break; /* all ranks of a thread or none */
            g_array_append_val(rows, row);
            steps += length;
        }
    }
    if (rows->len == 0)
        return TRUE;

    Finder f = {.plan = plan, .any_source = WEND_ABSENT, .any_tag = WEND_ABSENT, .proc_null = WEND_ABSENT};
    const char *name;
    for (guint i = 0; (name = wend_constant_name(p, WEND_CONST(i))) != NULL; i++) {
        if (strcmp(name, "MPI_ANY_SOURCE") == 0)
            f.any_source = WEND_CONST(i);
        else if (strcmp(name, "MPI_ANY_TAG") == 0)
            f.any_tag = WEND_CONST(i);
        else if (strcmp(name, "MPI_PROC_NULL") == 0)
            f.proc_null = WEND_CONST(i);
    }
    f.choosers = g_ptr_array_new();
    g_ptr_array_set_size(f.choosers, (gint)wend_program_n_terminals(p) + 1);
    f.groups = g_array_new(FALSE, FALSE, sizeof(Group));
    f.entries = g_array_new(FALSE, FALSE, sizeof(guint));
    f.items = g_array_new(FALSE, FALSE, sizeof(guint));
    f.fresh = g_byte_array_new();
    f.grammar = wend_grammar_new();
    f.symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    f.symbol_numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    f.rules_by_content = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        find_in_rank(&f, &g_array_index(plan->threads, PlanThread, row->thread), row->rank);
    }
    gboolean good = TRUE;
    if (plan->has_loops) {
        WendBuf encoded = WEND_BUF_INIT;
        wend_grammar_encode(f.grammar, &encoded);
        WendCursor cursor = wend_cursor(encoded.data, encoded.len);
        RuleRow grammar;
        if (encoded.failed || !rules_read(&grammar, &cursor, f.symbols->len))
            g_error("out of memory"); /* as GLib does */
        replace_threads(&f, rows, &grammar);
        rules_clear(&grammar);
        wend_buf_clear(&encoded);
        plan_mark(plan);
        good = plan_outcomes(plan, error);
    }
    wend_grammar_free(f.grammar);
    g_ptr_array_free(f.choosers, TRUE);
    g_array_unref(f.groups);
    g_array_unref(f.entries);
    g_array_unref(f.items);
    g_byte_array_unref(f.fresh);
    g_array_unref(f.symbols);
    g_hash_table_destroy(f.symbol_numbers);
    g_hash_table_destroy(f.rules_by_content);
    return good;
}
