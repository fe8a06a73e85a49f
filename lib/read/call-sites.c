/* SPDX-License-Identifier: BSD-3-Clause */
/* call-sites.c: reads the sites of a recording: the member that ranks share, and those that ranks
 * have for themselves. A walk makes the guesses that the recorder made, and takes from the stream
 * where they were wrong. */
#include "call-sites.h"

#include <string.h>

#include "archive/container.h"
#include "archive/site-coding.h"
#include "ranks/rankset.h"
#include "program.h"
#include "record/record.h"

/* An element of a stream (site-guesses.h). */
typedef struct {
    guint64 step;
    guint32 site, code;
} Element;

/* The sites of one sequence of some ranks. */
typedef struct {
    WendSideHead head;
    guint64 n;        /* elements */
    gboolean cut;     /* the recorder had no memory for more */
    GArray *elements; /* Element; NULL: they are in ROWS */
    WendSideKindNumber kind;
    gboolean own; /* a rank has the stream for itself: its rows, and its numbers of sites */
    WendCursor rows;
    GArray *local; /* guint, by number in the stream; the sites own it */
} Stream;

/* The streams of a rank: N from FIRST on. */
typedef struct {
    guint first, n;
} RankSites;

struct WendCallSites {
    const WendProgram *program;
    GArray *modules; /* WendSiteModule */
    GArray *sites;   /* WendSite */
    Map *numbers;    /* WendSite -> its number */
    GArray *frames;  /* WendSite */
    Map *frame_numbers;
    GArray *streams;    /* Stream */
    GArray *ranks;      /* RankSites, by rank of the job */
    GPtrArray *members; /* Bytes that others point into */
    GPtrArray *locals;  /* the tables of the streams */
    GStringChunk *texts;
    WendSiteSymbols *symbols;
};

static void site_stream_clear(gpointer stream)
{
    Stream *s = stream;
    g_clear_pointer(&s->elements, g_array_unref);
}

/* -- one archive -- */

/* What is being read. */
typedef struct {
    WendCallSites *s;
    Container *container;
    WendCursor c;
    guint world, first; /* of the archive, and its rank 0 */
    guint ranks;        /* in the world */
    WendSideKindNumber kind;
} Archive;

static gboolean damaged(const Archive *a, const char *member, Error **error)
{
    if (!allowance_error(a->c.allowance, container_name(a->container), error))
        error_set(error, WEND_ERROR_INPUT, "%s: member %s: truncated or damaged",
                  container_name(a->container), member);
    return FALSE;
}

/* Opens a member, whose bytes stay as long as the sites. */
static gboolean open_member(Archive *a, const char *name, Error **error)
{
    Bytes *bytes = container_member(a->container, name, error);
    if (!bytes)
        return FALSE;
    g_ptr_array_add(a->s->members, bytes);
    a->c = cursor_of(bytes->data, bytes->n);
    a->c.allowance = container_allowance(a->container);
    return TRUE;
}

/* The number of a module, which is added if it is new. */
static guint module_number(WendCallSites *s, const WendSiteModule *like)
{
    for (guint i = 0; i < s->modules->len; i++) {
        const WendSiteModule *m = &g_array_index(s->modules, WendSiteModule, i);
        gboolean program = *like->file == '\0' && m->world != like->world;
        if (!program && strcmp(m->file, like->file) == 0 && m->n_id == like->n_id
            && memcmp(m->id, like->id, m->n_id) == 0)
            return i;
    }
    g_array_append_vals(s->modules, like, 1);
    return s->modules->len - 1;
}

static gboolean read_module(Archive *a, guint *number)
{
    WendCursor *c = &a->c;
    gsize n = cursor_count(c, 1);
    const guint8 *file = cursor_bytes(c, n);
    WendSiteModule m = {.world = a->world};
    m.n_id = (guint)cursor_count(c, 1);
    m.id = cursor_bytes(c, m.n_id);
    if (c->failed || !allowance_take(c->allowance, n + 1 + sizeof m, 1))
        return FALSE;
    m.file = g_string_chunk_insert_len(a->s->texts, (const char *)file, (gssize)n);
    *number = module_number(a->s, &m);
    return TRUE;
}

/* The number of a site or a frame, which is added if it is new. */
static guint number_of(GArray *all, Map *numbers, const WendSite *like)
{
    bool is_new;
    const guint64 key[] = {(guint64)like->module << 32 | like->caller, like->offset};
    guint number = map_number(numbers, key, sizeof key, &is_new);
    if (is_new)
        g_array_append_vals(all, like, 1);
    return number;
}

static guint site_number(WendCallSites *s, const WendSite *like)
{
    return number_of(s->sites, s->numbers, like);
}

static guint frame_number(WendCallSites *s, const WendSite *like)
{
    return number_of(s->frames, s->frame_numbers, like);
}

enum { SITE_MEMORY = 128, NUMBERS_MOST = 1 << 24 };

/* -- the member that ranks share -- */

/* A place as the member has it. */
typedef struct {
    guint64 module, offset; /* module + 1; 0: not known */
} Place;

/* The streams of that member, while they are read. */
typedef struct {
    Archive *a;
    GArray *modules; /* guint: their numbers in all archives */
    GArray *numbers; /* guint: the same of the sites */
    GArray *places;  /* Place */
    /* With stacks, as the member has them: WendStackFrame by frame and by site, and Place by
     * place. */
    GArray *frame_places, *site_places, *known;
    GArray *frames; /* guint: the numbers of the frames in all archives */
    WendSiteCoding *coding;
    RangeDecoder decoder;
    RangeCoder from;
} SharedStreams;

static gboolean read_modules(Archive *a, GArray *modules)
{
    for (gsize n = cursor_count(&a->c, 2); n > 0; n--) {
        guint number;
        if (!read_module(a, &number))
            return FALSE;
        g_array_append_val(modules, number);
    }
    return !a->c.failed;
}

/* Notes that RANKS have the streams from FIRST to the last one. */
static gboolean note_ranks(Archive *a, const RankSet *ranks, guint first)
{
    g_autofree guint32 *each = rankset_expand(ranks);
    for (guint i = 0; i < ranks->n; i++) {
        RankSites *of = &g_array_index(a->s->ranks, RankSites, a->first + each[i]);
        if (of->n > 0)
            return FALSE;
        *of = (RankSites){first, a->s->streams->len - first};
    }
    return TRUE;
}

/* The caller CALLER of a member, whose frames are FRAMES, as a caller in all archives. */
static guint caller_of(const GArray *frames, guint64 caller)
{
    if (caller >= WEND_CALLER_FRAME)
        return g_array_index(frames, guint, caller - WEND_CALLER_FRAME);
    return caller == WEND_CALLER_NONE ? WEND_CALLER_OUTERMOST : WEND_CALLER_CUT;
}

/* How many frames of FRAMES (WendStackFrame) there are from CALLER outwards. */
static guint depth_of(const GArray *frames, guint64 caller)
{
    guint n = 0;
    for (; caller >= WEND_CALLER_FRAME && n <= WEND_CALLERS_MOST; n++)
        caller = g_array_index(frames, WendStackFrame, caller - WEND_CALLER_FRAME).caller;
    return n;
}

static WendStackFrames frames_of(const SharedStreams *s)
{
    return (WendStackFrames){(const WendStackFrame *)(gpointer)s->frame_places->data,
                             s->frame_places->len, s->known->len};
}

/* Reads the place of a frame or a site, and adds it to PLACES. */
static gboolean read_known(SharedStreams *s, guint64 caller, gboolean is_site, GArray *places,
                           Place *at)
{
    WendStackFrames frames = frames_of(s);
    guint64 place = 0;
    if (!stack_coding_place(&s->coding->stacks, &s->from, &frames, caller, is_site, &place))
        return FALSE;
    if (place < s->known->len) {
        *at = g_array_index(s->known, Place, place);
    } else {
        *at = (Place){0};
        if (is_site)
            site_coding_place(s->coding, &s->from, &at->module, &at->offset);
        else
            site_coding_frame(s->coding, &s->from, &at->module, &at->offset);
        g_array_append_vals(s->known, at, 1);
    }
    WendStackFrame frame = {(guint32)caller, (guint32)place};
    g_array_append_val(places, frame);
    return at->module <= s->modules->len && (is_site || at->module > 0) && !s->a->c.failed;
}

/* Reads a site that has a stack. Sets *CALLER to its caller in all archives. */
static gboolean read_stack(SharedStreams *s, Place *at, guint *caller)
{
    WendStackFrames frames = frames_of(s);
    guint64 of = 0, n = 0;
    if (!stack_coding_callers(&s->coding->stacks, &s->from, &frames, &of, &n)
        || n + depth_of(s->frame_places, of) > WEND_CALLERS_MOST
        || s->frames->len + n > WEND_FRAMES_MOST
        || !allowance_take(s->a->c.allowance, n + 1, SITE_MEMORY))
        return FALSE;
    for (; n > 0; n--) {
        if (!read_known(s, of, FALSE, s->frame_places, at))
            return FALSE;
        WendSite frame = {g_array_index(s->modules, guint, at->module - 1), at->offset,
                          caller_of(s->frames, of)};
        guint number = frame_number(s->a->s, &frame);
        of = WEND_CALLER_FRAME + (guint64)s->frames->len;
        g_array_append_val(s->frames, number);
    }
    *caller = caller_of(s->frames, of);
    return read_known(s, of, TRUE, s->site_places, at);
}

/* Reads what a site is that occurs first. */
static gboolean read_place(SharedStreams *s)
{
    Place place = {0};
    WendSite site = {G_MAXUINT, 0, WEND_CALLER_NOT_RECORDED};
    gboolean good = TRUE;
    if (s->a->kind == WEND_SIDE_STACKS)
        good = read_stack(s, &place, &site.caller);
    else
        site_coding_place(s->coding, &s->from, &place.module, &place.offset);
    if (!good || place.module > s->modules->len || s->places->len >= NUMBERS_MOST
        || !allowance_take(s->a->c.allowance, 1, SITE_MEMORY))
        return FALSE;
    if (place.module > 0) {
        site.module = g_array_index(s->modules, guint, place.module - 1);
        site.offset = place.offset;
    }
    guint number = site_number(s->a->s, &site);
    g_array_append_val(s->places, place);
    g_array_append_val(s->numbers, number);
    return TRUE;
}

static gboolean read_element(SharedStreams *s, GArray *elements)
{
    WendSideElement e;
    if (!site_coding_element(s->coding, &s->from, &e) || s->a->c.failed)
        return FALSE;
    guint64 site = (guint64)e.numbers[0];
    if (site > s->numbers->len || (site == s->numbers->len && !read_place(s)))
        return FALSE;
    const Place *place = &g_array_index(s->places, Place, site);
    site_coding_used(s->coding, place->module, place->offset);
    if (s->a->kind == WEND_SIDE_STACKS)
        stack_coding_used(&s->coding->stacks, &g_array_index(s->site_places, WendStackFrame, site));
    Element one = {e.step, g_array_index(s->numbers, guint, site), e.code};
    g_array_append_val(elements, one);
    return TRUE;
}

static gboolean read_stream(SharedStreams *s)
{
    Stream stream = {.kind = s->a->kind};
    bool cut = false;
    site_coding_head(s->coding, &s->from, &stream.head, &stream.n, &cut);
    stream.cut = cut;
    if (stream.n > G_MAXUINT / 2
        || !allowance_take(s->a->c.allowance, stream.n + 1, sizeof(Element) + sizeof(Stream)))
        return FALSE;
    stream.elements = g_array_sized_new(FALSE, FALSE, sizeof(Element), (guint)stream.n);
    g_array_append_val(s->a->s->streams, stream);
    gboolean good = TRUE;
    for (guint64 i = 0; good && i < stream.n; i++)
        good = read_element(s, stream.elements);
    return good;
}

static gboolean read_content(SharedStreams *s, const RankSet *ranks)
{
    guint first = s->a->s->streams->len;
    guint64 n = site_coding_streams(s->coding, &s->from, 0);
    gboolean good = n > 0;
    for (; good && n > 0; n--)
        good = read_stream(s);
    return good && note_ranks(s->a, ranks, first);
}

static gboolean read_contents(SharedStreams *s)
{
    WendCursor *c = &s->a->c;
    gsize n = read_modules(s->a, s->modules) ? cursor_count(c, 1) : 0;
    if (c->failed || n == 0 || !allowance_take(c->allowance, n, sizeof(RankSet)))
        return FALSE;
    g_autofree RankSet *sets = g_new0(RankSet, n + 1);
    gboolean good = ranksets_decode(sets, (guint)n, c, s->a->ranks);
    site_coding_init(s->coding);
    range_decoder_begin(&s->decoder, c);
    for (gsize i = 0; good && i < n; i++)
        good = read_content(s, &sets[i]);
    for (gsize i = 0; i < n; i++)
        rankset_clear(&sets[i]);
    range_decoder_end(&s->decoder);
    return good && !c->failed && c->p == c->end;
}

static gboolean read_shared(Archive *a, Error **error)
{
    const char *name = side_stream_kind(a->kind)->name;
    if (!container_has(a->container, name))
        return TRUE;
    if (!open_member(a, name, error))
        return FALSE;
    SharedStreams s = {.a = a,
                       .modules = g_array_new(FALSE, FALSE, sizeof(guint)),
                       .numbers = g_array_new(FALSE, FALSE, sizeof(guint)),
                       .places = g_array_new(FALSE, FALSE, sizeof(Place)),
                       .frame_places = g_array_new(FALSE, FALSE, sizeof(WendStackFrame)),
                       .site_places = g_array_new(FALSE, FALSE, sizeof(WendStackFrame)),
                       .known = g_array_new(FALSE, FALSE, sizeof(Place)),
                       .frames = g_array_new(FALSE, FALSE, sizeof(guint)),
                       .coding = g_new(WendSiteCoding, 1)};
    s.from.decoder = &s.decoder;
    gboolean good = read_contents(&s);
    g_array_unref(s.modules);
    g_array_unref(s.numbers);
    g_array_unref(s.places);
    g_array_unref(s.frame_places);
    g_array_unref(s.site_places);
    g_array_unref(s.known);
    g_array_unref(s.frames);
    g_free(s.coding);
    return good || damaged(a, name, error);
}

/* -- the members of single ranks -- */

/* The table of such a stream, while it is read. */
typedef struct {
    Archive *a;
    WendCursor c;
    GArray *modules; /* guint: their numbers in all archives */
    GArray *last;    /* gint64: by module, the offset that came last */
    GArray *frames;  /* guint: their numbers in all archives */
    GArray *callers; /* WendStackFrame, whose places mean nothing */
} OwnTable;

/* Reads a module and an offset. Of a place that is not known the module stays as it is. */
static gboolean read_own_place(OwnTable *t, WendSite *site)
{
    WendCursor *c = &t->c;
    guint64 module = cursor_unsigned(c);
    guint number = 0;
    if (module == t->modules->len + G_GUINT64_CONSTANT(1)) {
        Archive of = *t->a;
        of.c = *c;
        gboolean read = read_module(&of, &number);
        *c = of.c;
        if (!read)
            return FALSE;
        g_array_append_val(t->modules, number);
        g_array_set_size(t->last, t->modules->len);
    }
    if (c->failed || module > t->modules->len || !allowance_take(c->allowance, 1, SITE_MEMORY))
        return FALSE;
    if (module == 0)
        return TRUE;
    gint64 *offset = &g_array_index(t->last, gint64, module - 1);
    *offset = (gint64)((guint64)*offset + (guint64)cursor_signed(c));
    site->module = g_array_index(t->modules, guint, module - 1);
    site->offset = (guint64)*offset;
    return TRUE;
}

static gboolean read_own_callers(OwnTable *t, WendSite *site)
{
    guint64 caller = cursor_unsigned(&t->c);
    gsize n = cursor_count(&t->c, 2);
    if (t->c.failed || caller >= t->frames->len + (guint64)WEND_CALLER_FRAME
        || n + depth_of(t->callers, caller) > WEND_CALLERS_MOST
        || t->frames->len + n > WEND_FRAMES_MOST)
        return FALSE;
    for (; n > 0; n--) {
        WendSite frame = {G_MAXUINT, 0, caller_of(t->frames, caller)};
        WendStackFrame of = {(guint32)caller, 0};
        if (!read_own_place(t, &frame) || frame.module == G_MAXUINT)
            return FALSE;
        guint number = frame_number(t->a->s, &frame);
        caller = WEND_CALLER_FRAME + (guint64)t->frames->len;
        g_array_append_val(t->frames, number);
        g_array_append_val(t->callers, of);
    }
    site->caller = caller_of(t->frames, caller);
    return TRUE;
}

/* Reads the table of a stream into S->local. */
static gboolean read_own_table(Archive *a, Stream *s, WendCursor table)
{
    OwnTable t = {.a = a,
                  .c = table,
                  .modules = g_array_new(FALSE, FALSE, sizeof(guint)),
                  .last = g_array_new(FALSE, TRUE, sizeof(gint64)),
                  .frames = g_array_new(FALSE, FALSE, sizeof(guint)),
                  .callers = g_array_new(FALSE, FALSE, sizeof(WendStackFrame))};
    t.c.allowance = a->c.allowance;
    gboolean good = TRUE;
    while (good && t.c.p < t.c.end && !t.c.failed) {
        WendSite site = {G_MAXUINT, 0, WEND_CALLER_NOT_RECORDED};
        good = s->local->len < NUMBERS_MOST
               && (s->kind != WEND_SIDE_STACKS || read_own_callers(&t, &site))
               && read_own_place(&t, &site);
        guint number = good ? site_number(a->s, &site) : 0;
        g_array_append_val(s->local, number);
    }
    g_array_unref(t.modules);
    g_array_unref(t.last);
    g_array_unref(t.frames);
    g_array_unref(t.callers);
    return good && !t.c.failed;
}

static gboolean read_own(Archive *a, guint rank, Error **error)
{
    g_autofree char *name = g_strdup_printf("%s.%u", side_stream_kind(a->kind)->name, rank);
    RankSites *of = &g_array_index(a->s->ranks, RankSites, a->first + rank);
    if (!container_has(a->container, name))
        return TRUE;
    if (!open_member(a, name, error))
        return FALSE;
    of->first = a->s->streams->len;
    gsize n = cursor_count(&a->c, WEND_SIDE_STREAM_LEAST);
    gboolean good = !a->c.failed && of->n == 0 && allowance_take(a->c.allowance, n, sizeof(Stream));
    for (; good && n > 0; n--) {
        Stream s = {.own = TRUE, .kind = a->kind};
        good = side_stream_read(&a->c, &s.head, &s.rows);
        s.local = g_array_new(FALSE, FALSE, sizeof(guint));
        g_ptr_array_add(a->s->locals, s.local);
        WendCursor rows = s.rows, table = cursor_block(&rows);
        good = good && !rows.failed && read_own_table(a, &s, table);
        g_array_append_val(a->s->streams, s);
    }
    of->n = a->s->streams->len - of->first;
    return (good && a->c.p == a->c.end) || damaged(a, name, error);
}

/* -- all archives -- */

/* The names that the archive has. */
static gboolean read_names(Archive *a, Error **error)
{
    const char *name = WEND_SITE_SYMBOLS;
    if (!container_has(a->container, name))
        return TRUE;
    if (!open_member(a, name, error))
        return FALSE;
    return site_symbols_read(a->s->symbols, a->c.p, (gsize)(a->c.end - a->c.p), a->c.allowance)
           || damaged(a, name, error);
}

/* ONLY: the rank of the job that is needed; G_MAXUINT: all. */
static gboolean read_archive(WendCallSites *s, guint world, guint only, Error **error)
{
    const WendWorld *of = program_world(s->program, world);
    guint rank_there = of->first, ranks = of->ranks;
    Archive a = {.s = s,
                 .container = program_container(s->program, &rank_there),
                 .world = world,
                 .first = of->first,
                 .ranks = ranks};
    if (!a.container)
        return TRUE;
    static const WendSideKindNumber kinds[] = {WEND_SIDE_SITES, WEND_SIDE_STACKS};
    gboolean good = TRUE;
    for (guint i = 0; good && i < G_N_ELEMENTS(kinds); i++) {
        a.kind = kinds[i];
        good = read_shared(&a, error);
        for (guint rank = 0; good && rank < ranks; rank++)
            if (only == G_MAXUINT || only == of->first + rank)
                good = read_own(&a, rank, error);
    }
    good = good && read_names(&a, error);
    return good;
}

WendCallSites *call_sites_open_rank(const WendProgram *p, guint rank, Error **error)
{
    WendCallSites *s = g_new0(WendCallSites, 1);
    s->program = p;
    s->modules = g_array_new(FALSE, FALSE, sizeof(WendSiteModule));
    s->sites = g_array_new(FALSE, FALSE, sizeof(WendSite));
    s->numbers = map_of_bytes(NULL);
    s->frames = g_array_new(FALSE, FALSE, sizeof(WendSite));
    s->frame_numbers = map_of_bytes(NULL);
    s->streams = g_array_new(FALSE, FALSE, sizeof(Stream));
    g_array_set_clear_func(s->streams, site_stream_clear);
    s->ranks = g_array_new(FALSE, TRUE, sizeof(RankSites));
    g_array_set_size(s->ranks, program_ranks(p));
    s->members = g_ptr_array_new_with_free_func((GDestroyNotify)bytes_unref);
    s->locals = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    s->texts = g_string_chunk_new(256);
    s->symbols = site_symbols_new();
    gboolean good = TRUE;
    for (guint world = 0; good && world < program_n_worlds(p); world++)
        good = read_archive(s, world, rank, error);
    if (good)
        return s;
    call_sites_free(s);
    return NULL;
}

WendCallSites *call_sites_open(const WendProgram *p, Error **error)
{
    return call_sites_open_rank(p, G_MAXUINT, error);
}

void call_sites_free(WendCallSites *s)
{
    if (!s)
        return;
    g_array_unref(s->modules);
    g_array_unref(s->sites);
    map_unref(s->numbers);
    g_array_unref(s->frames);
    map_unref(s->frame_numbers);
    g_array_unref(s->streams);
    g_array_unref(s->ranks);
    g_ptr_array_unref(s->members);
    g_ptr_array_unref(s->locals);
    g_string_chunk_free(s->texts);
    site_symbols_free(s->symbols);
    g_free(s);
}

guint call_sites_n(const WendCallSites *s)
{
    return s->sites->len;
}

const WendSite *call_site(const WendCallSites *s, guint site)
{
    return &g_array_index(s->sites, WendSite, site);
}

guint call_sites_n_frames(const WendCallSites *s)
{
    return s->frames->len;
}

const WendSite *call_sites_frame(const WendCallSites *s, guint frame)
{
    return &g_array_index(s->frames, WendSite, frame);
}

const WendSiteSymbols *call_sites_symbols(const WendCallSites *s)
{
    return s->symbols;
}

/* NULL: there is none. */
static const WendSite *caller_at(const WendCallSites *s, guint site, guint depth)
{
    const WendSite *at = call_site(s, site);
    for (; at && depth > 0; depth--)
        at = WEND_CALLER_IS_FRAME(at->caller) ? call_sites_frame(s, at->caller) : NULL;
    return at;
}

gboolean call_site_has_caller(const WendCallSites *s, guint site, guint depth)
{
    return caller_at(s, site, depth) != NULL;
}

const WendSiteFrame *call_site_frames(const WendCallSites *s, guint site, guint depth, guint *n)
{
    const WendSite *at = caller_at(s, site, depth);
    *n = 0;
    if (!at || at->module == G_MAXUINT)
        return NULL;
    const WendSiteModule *m = call_sites_module(s, at->module);
    return site_symbols_of(s->symbols, m->file, m->id, m->n_id, at->offset, n);
}

guint call_sites_n_modules(const WendCallSites *s)
{
    return s->modules->len;
}

const WendSiteModule *call_sites_module(const WendCallSites *s, guint module)
{
    return &g_array_index(s->modules, WendSiteModule, module);
}

/* -- along with a walk -- */

struct WendSiteWalk {
    const WendCallSites *sites;
    const Stream *stream; /* NULL: there is none */
    guint rank, sequence;
    guint number;        /* of the stream; G_MAXUINT: the rank has it for itself */
    WendSiteCall *marks; /* by terminal, of calls and of polls; of a signature of 0: unknown */
    WendSiteFollower follower;
    guint64 at;             /* elements read, of a shared stream */
    WendSideReader *reader; /* of a stream that a rank has for itself */
};

WendSiteTaken site_walk_take(WendSiteWalk *w, WendRecordedSite *next)
{
    const Stream *s = w->stream;
    const WendSideElement *e;
    if (!s)
        return WEND_SITE_END;
    if (s->elements && w->at < s->elements->len) {
        const Element *one = &g_array_index(s->elements, Element, w->at++);
        *next = (WendRecordedSite){(WendSiteCode)one->code, one->step, one->site};
        return WEND_SITE_TAKEN;
    }
    if (s->elements)
        return s->cut ? WEND_SITE_CUT : WEND_SITE_END;
    if ((e = side_reader_next(w->reader)) && (guint64)e->numbers[0] < s->local->len) {
        *next = (WendRecordedSite){(WendSiteCode)e->code, e->step,
                                   g_array_index(s->local, guint, e->numbers[0])};
        return WEND_SITE_TAKEN;
    }
    return w->reader->cut || w->reader->failed ? WEND_SITE_CUT : WEND_SITE_END;
}

static WendSiteTaken take(void *walk, WendRecordedSite *next)
{
    return site_walk_take(walk, next);
}

static gboolean is_of(const Stream *s, const WendSequence *q)
{
    return s->head.kind == q->kind && s->head.id == q->id;
}

WendSiteWalk *site_walk_new(const WendCallSites *s, guint rank, guint sequence)
{
    const WendClass *k = program_class(s->program, program_class_of(s->program, rank));
    const RankSites *of = &g_array_index(s->ranks, RankSites, rank);
    WendSiteWalk *w = g_new0(WendSiteWalk, 1);
    w->sites = s;
    w->rank = rank;
    w->sequence = sequence;
    w->number = G_MAXUINT;
    for (guint i = of->first; i < of->first + of->n && sequence < k->n_sequences; i++) {
        const Stream *stream = &g_array_index(s->streams, Stream, i);
        if (!is_of(stream, &k->sequences[sequence]))
            continue;
        w->stream = stream;
        w->number = stream->own ? G_MAXUINT : i;
    }
    if (!w->stream) {
        w->follower.lost = true;
        return w;
    }
    w->marks = g_new0(WendSiteCall, 2 * (gsize)program_n_terminals(s->program) + 1);
    if (w->stream->own) {
        w->reader = g_new(WendSideReader, 1);
        side_reader_open(w->reader, w->stream->kind, &w->stream->head, w->stream->rows);
    }
    return w;
}

/* The marks of all calls of TERMINAL. */
static WendSiteCall marks_of(WendSiteWalk *w, guint32 terminal, gboolean poll)
{
    const WendProgram *p = w->sites->program;
    WendSiteCall *known = &w->marks[2 * (gsize)terminal + poll];
    if (known->signature != 0)
        return *known;
    const WendTerminal *t = program_terminal(p, terminal);
    const WendShape *s = program_shape(p, t->shape);
    g_autofree gint64 *slots = g_new(gint64, t->n_slots + 1);
    for (guint i = 0; i < t->n_slots; i++)
        slots[i] = program_slot(p, terminal, i, w->rank);
    return *known = site_call(s->words, s->n_words, slots, t->n_slots, poll);
}

guint site_walk_next(WendSiteWalk *w, const WendCall *call)
{
    if (w->follower.lost || call->function->flags & WEND_F_PSEUDO)
        return G_MAXUINT;
    if (!w->follower.take)
        site_follower_open(&w->follower, take, w);
    if (call->unfinished)
        return site_follower_unfinished(&w->follower);
    WendSiteCall marks = marks_of(w, call->terminal, call->poll);
    return site_follower_next(&w->follower, &marks);
}

/* It is the last element, since nothing follows, and has no guess. */
guint call_site_unfinished(const WendCallSites *s, guint rank, guint sequence)
{
    WendSiteWalk *w = site_walk_new(s, rank, sequence);
    WendRecordedSite next = {WEND_SITE_LONG, 0, 0};
    while (site_walk_take(w, &next) == WEND_SITE_TAKEN)
        continue;
    site_walk_free(w);
    return next.code == WEND_SITE_FOUND ? next.site : G_MAXUINT;
}

gboolean site_walk_key(WendSiteWalk *w, const guint32 *terminals, guint n, GString *key)
{
    if (w->number == G_MAXUINT || program_polls(w->sites->program, w->rank, w->sequence) > 0)
        return FALSE;
    g_string_append_printf(key, "%u:", w->number);
    g_autoptr(GHashTable) first = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; i < n; i++) {
        marks_of(w, terminals[i], FALSE);
        guint64 *signature = &w->marks[2 * (gsize)terminals[i]].signature;
        gpointer same = g_hash_table_lookup(first, signature);
        if (same)
            g_string_append_printf(key, "%u=%u,", i, GPOINTER_TO_UINT(same) - 1);
        else
            g_hash_table_insert(first, signature, GUINT_TO_POINTER(i + 1));
    }
    return TRUE;
}

void site_walk_free(WendSiteWalk *w)
{
    if (!w)
        return;
    site_follower_close(&w->follower);
    g_free(w->marks);
    g_free(w->reader);
    g_free(w);
}
