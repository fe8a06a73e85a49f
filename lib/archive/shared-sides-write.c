/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-sides-write.c: writes the side streams that ranks share: the members "sites" and "stacks"
 * (docs/format.md, "Call sites", "Call stacks").
 *
 * The streams of different ranks resemble each other. So all of them go through one coder, one
 * after the other, and their sites are in one table, in the order in which they occur. */
#include <string.h>

#include "merge/shared-sides.h"
#include "site-coding.h"
#include "write-private.h"

/* A file that sites are in. */
typedef struct {
    const uint8_t *file, *id; /* N_FILE and N_ID bytes */
    size_t n_file, n_id;
    int64_t last; /* offset, while a table is read */
} SiteModule;

/* A site, or a frame of a stack. */
typedef struct {
    uint64_t module; /* + 1; 0: unknown */
    int64_t offset;
    uint64_t caller; /* WEND_CALLER_NONE and so on; without stacks always that */
} SharedSite;

/* The table of a stream. */
typedef struct {
    Vector *modules;        /* SiteModule */
    Vector *module_numbers; /* uint64_t, in all modules */
    Vector *sites, *frames; /* Site, whose callers are frames of the table */
    Vector *numbers;        /* uint64_t, by site: its number + 1 in all tables; 0: not known yet */
} SiteTable;

typedef struct {
    Vector *modules; /* SiteModule */
    bool stacks;
    Vector *sites, *frames;             /* Site */
    Map *numbers, *frame_numbers;       /* Bytes of a Site -> its number + 1 */
    Vector *frame_places, *site_places; /* WendStackFrame, by frame and by site */
    Map *place_numbers;                 /* Bytes of a Site without its caller, likewise */
    uint32_t n_places;
    WendBuf bits;
    RangeEncoder encoder;
    RangeCoder to;
    WendSiteCoding *coding;
} Streams;

/* The number + 1 of a module in the table, to which it is added if it is new. */
static uint64_t module_number(Vector *modules, const SiteModule *like)
{
    for (uint32_t i = 0; i < modules->len; i++) {
        const SiteModule *m = &VECTOR_AT(modules, SiteModule, i);
        if (m->n_file == like->n_file && memcmp(m->file, like->file, m->n_file) == 0
            && m->n_id == like->n_id && memcmp(m->id, like->id, m->n_id) == 0)
            return i + 1;
    }
    vector_append_all(modules, like, 1);
    return modules->len;
}

static bool read_module(WendCursor *c, SiteModule *m)
{
    memset(m, 0, sizeof *m);
    m->n_file = cursor_count(c, 1);
    m->file = cursor_bytes(c, m->n_file);
    m->n_id = cursor_count(c, 1);
    m->id = cursor_bytes(c, m->n_id);
    return !c->failed;
}

static void site_table_clear(SiteTable *t)
{
    vector_unref(t->modules);
    vector_unref(t->module_numbers);
    vector_unref(t->sites);
    vector_unref(t->frames);
    vector_unref(t->numbers);
}

/* Reads the module and the offset of a site or a frame. */
static bool read_place(Streams *s, SiteTable *t, WendCursor *c, SharedSite *site)
{
    uint64_t module = cursor_unsigned(c);
    SiteModule m;
    if (module == t->modules->len + UINT64_C(1) && read_module(c, &m)) {
        uint64_t number = module_number(s->modules, &m);
        VECTOR_APPEND(t->modules, m);
        VECTOR_APPEND(t->module_numbers, number);
    }
    if (c->failed || module > t->modules->len)
        return false;
    if (module > 0) {
        SiteModule *of = &VECTOR_AT(t->modules, SiteModule, module - 1);
        of->last = (int64_t)((uint64_t)of->last + (uint64_t)cursor_signed(c));
        site->module = VECTOR_AT(t->module_numbers, uint64_t, module - 1);
        site->offset = of->last;
    }
    return true;
}

/* How many frames there are from CALLER outwards. */
static uint32_t depth_of(const Vector *frames, uint64_t caller)
{
    uint32_t n = 0;
    for (; caller >= WEND_CALLER_FRAME && n <= WEND_CALLERS_MOST; n++)
        caller = VECTOR_AT(frames, SharedSite, caller - WEND_CALLER_FRAME).caller;
    return n;
}

/* Reads the callers of a site. */
static bool read_callers(Streams *s, SiteTable *t, WendCursor *c, SharedSite *site)
{
    site->caller = cursor_unsigned(c);
    size_t n = cursor_count(c, 2);
    if (c->failed || site->caller >= t->frames->len + (uint64_t)WEND_CALLER_FRAME
        || n + depth_of(t->frames, site->caller) > WEND_CALLERS_MOST)
        return false;
    for (; n > 0; n--) {
        SharedSite frame = {.caller = site->caller};
        if (!read_place(s, t, c, &frame) || frame.module == 0)
            return false;
        VECTOR_APPEND(t->frames, frame);
        site->caller = WEND_CALLER_FRAME + (uint64_t)t->frames->len - 1;
    }
    return true;
}

/* Reads the table of a stream. false: it is damaged. */
static bool read_table(Streams *s, WendCursor c, SiteTable *t)
{
    *t = (SiteTable){.modules = vector_new(sizeof(SiteModule)),
                     .module_numbers = vector_new(sizeof(uint64_t)),
                     .sites = vector_new(sizeof(SharedSite)),
                     .frames = vector_new(sizeof(SharedSite)),
                     .numbers = vector_new(sizeof(uint64_t))};
    while (c.p < c.end) {
        SharedSite site = {0};
        if ((s->stacks && !read_callers(s, t, &c, &site)) || !read_place(s, t, &c, &site))
            return false;
        VECTOR_APPEND(t->sites, site);
    }
    vector_resize(t->numbers, t->sites->len);
    return !c.failed;
}

/* The number + 1 of LIKE; 0: there is none. */
static uint64_t number_of(Map *numbers, const SharedSite *like)
{
    return (uintptr_t)map_get_bytes(numbers, like, sizeof *like);
}

static void add(Vector *all, Map *numbers, const SharedSite *site)
{
    vector_append_all(all, site, 1);
    map_put_bytes(numbers, site, sizeof *site, OF_NUMBER((size_t)all->len));
}

/* Finds the frames of the stack SITE in the table of all, and makes its caller one of that. Returns
 * the frames that are not there, the innermost one first; the last one is called from *FROM. */
static Vector *find_callers(const Streams *s, const SiteTable *t, SharedSite *site, uint64_t *from)
{
    Vector *path = vector_new(sizeof(SharedSite));
    uint64_t caller = site->caller, number;
    while (caller >= WEND_CALLER_FRAME) {
        const SharedSite *frame = &VECTOR_AT(t->frames, SharedSite, caller - WEND_CALLER_FRAME);
        vector_append_all(path, frame, 1);
        caller = frame->caller;
    }
    for (; path->len > 0; vector_resize(path, path->len - 1)) {
        SharedSite frame = VECTOR_AT(path, SharedSite, path->len - 1);
        frame.caller = caller;
        if ((number = number_of(s->frame_numbers, &frame)) == 0)
            break;
        caller = WEND_CALLER_FRAME + number - 1;
    }
    site->caller = *from = caller;
    if (path->len > 0)
        site->caller = WEND_CALLER_FRAME + (uint64_t)s->frames->len + path->len - 1;
    return path; /* the innermost one comes first */
}

static WendStackFrames frames_of(const Streams *s)
{
    return (WendStackFrames){(const WendStackFrame *)(void *)s->frame_places->data,
                             s->frame_places->len, s->n_places};
}

/* Codes the place of a frame or a site, and adds it to PLACES. */
static void put_place(Streams *s, SharedSite *site, bool is_site, Vector *places)
{
    WendStackFrames frames = frames_of(s);
    SharedSite alone = {site->module, site->offset, 0};
    uint64_t known = number_of(s->place_numbers, &alone),
             place = known > 0 ? known - 1 : s->n_places;
    WendStackFrame frame = {(uint32_t)site->caller, (uint32_t)place};
    stack_coding_place(&s->coding->stacks, &s->to, &frames, site->caller, is_site, &place);
    VECTOR_APPEND(places, frame);
    if (known > 0)
        return;
    s->n_places++;
    map_put_bytes(s->place_numbers, &alone, sizeof alone, OF_NUMBER((size_t)s->n_places));
    if (is_site)
        site_coding_place(s->coding, &s->to, &site->module, (uint64_t *)&site->offset);
    else
        site_coding_frame(s->coding, &s->to, &site->module, (uint64_t *)&site->offset);
}

/* Codes a new site: its stack, of which the frames of PATH are new, and its place. */
static void put_stack(Streams *s, SharedSite *site, const Vector *path, uint64_t from)
{
    WendStackFrames frames = frames_of(s);
    uint64_t n = path->len;
    stack_coding_callers(&s->coding->stacks, &s->to, &frames, &from, &n);
    for (uint32_t i = path->len; i > 0; i--) {
        SharedSite frame = VECTOR_AT(path, SharedSite, i - 1);
        frame.caller = from;
        add(s->frames, s->frame_numbers, &frame);
        put_place(s, &frame, false, s->frame_places);
        from = WEND_CALLER_FRAME + (uint64_t)s->frames->len - 1;
    }
    put_place(s, site, true, s->site_places);
}

/* Codes an element of a site that is number LOCAL of the table. */
static void put_element(Streams *s, SiteTable *t, const WendSideElement *e, uint64_t local)
{
    uint64_t *number = &VECTOR_AT(t->numbers, uint64_t, local);
    SharedSite site = VECTOR_AT(t->sites, SharedSite, local);
    AUTO(Vector) path = NULL;
    uint64_t from = WEND_CALLER_NONE;
    if (*number == 0) {
        path = find_callers(s, t, &site, &from);
        *number = path->len == 0 ? number_of(s->numbers, &site) : 0;
    }
    bool known = *number != 0;
    if (!known)
        *number = s->sites->len + UINT64_C(1);
    WendSideElement own = {.step = e->step, .code = e->code};
    own.numbers[0] = (int64_t)*number - 1;
    site_coding_element(s->coding, &s->to, &own);
    if (!known) {
        add(s->sites, s->numbers, &site);
        if (s->stacks)
            put_stack(s, &site, path, from);
        else
            site_coding_place(s->coding, &s->to, &site.module, (uint64_t *)&site.offset);
    }
    site = VECTOR_AT(s->sites, SharedSite, *number - 1);
    site_coding_used(s->coding, site.module, (uint64_t)site.offset);
    if (s->stacks)
        stack_coding_used(&s->coding->stacks,
                          &VECTOR_AT(s->site_places, WendStackFrame, *number - 1));
}

/* The number of elements of a stream, and whether it was cut. false: it is damaged. */
static bool count_elements(WendSideReader *r, uint64_t *n, bool *cut)
{
    for (*n = 0; side_reader_next(r);)
        ++*n;
    *cut = r->cut;
    return !r->failed;
}

/* Codes the elements of one stream. false: it is damaged. */
static bool put_elements(Streams *s, WendSideReader *r)
{
    SiteTable table;
    const WendSideElement *e;
    bool good = read_table(s, r->table, &table);
    while (good && (e = side_reader_next(r))) {
        uint64_t local = (uint64_t)e->numbers[0];
        good = local < table.sites->len && s->frames->len < WEND_FRAMES_MOST;
        if (good)
            put_element(s, &table, e, local);
    }
    site_table_clear(&table);
    return good && !r->failed;
}

/* Codes the streams of some ranks. */
static bool put_content(Streams *s, const SharedSide *shared)
{
    WendCursor c = cursor_of(shared->content->data, shared->content->n), rows;
    WendSideHead head;
    WendSideReader *r = NEW(WendSideReader, 1);
    size_t n = cursor_count(&c, WEND_SIDE_STREAM_LEAST);
    bool good = true;
    site_coding_streams(s->coding, &s->to, n);
    for (; n > 0 && good && (good = side_stream_read(&c, &head, &rows)); n--) {
        uint64_t elements;
        bool cut;
        side_reader_open(r, shared->kind, &head, rows);
        good = count_elements(r, &elements, &cut);
        site_coding_head(s->coding, &s->to, &head, &elements, &cut);
        side_reader_open(r, shared->kind, &head, rows);
        good = good && put_elements(s, r);
    }
    memory_free(r);
    return good && !c.failed;
}

static void put_modules(const Streams *s, WendBuf *out)
{
    buf_unsigned(out, s->modules->len);
    for (uint32_t i = 0; i < s->modules->len; i++) {
        const SiteModule *m = &VECTOR_AT(s->modules, SiteModule, i);
        buf_unsigned(out, m->n_file);
        buf_bytes(out, m->file, m->n_file);
        buf_unsigned(out, m->n_id);
        buf_bytes(out, m->id, m->n_id);
    }
}

static int by_lowest_rank(const void *a, const void *b)
{
    const SharedSide *x = *(const SharedSide *const *)a, *y = *(const SharedSide *const *)b;
    uint32_t first = rankset_lowest(&x->ranks), second = rankset_lowest(&y->ranks);
    return first < second ? -1 : first > second;
}

/* The streams of KIND, by the lowest of their ranks. */
static Vector *of_kind(const WendMerge *m, WendSideKindNumber kind)
{
    Vector *all = vector_of_pointers(NULL);
    for (uint32_t i = 0; i < m->shared->len; i++) {
        SharedSide *s = &VECTOR_AT(m->shared, SharedSide, i);
        if (s->kind == kind)
            vector_add(all, s);
    }
    vector_sort(all, by_lowest_rank);
    return all;
}

static void put_ranks(const Vector *all, WendBuf *out)
{
    AUTOFREE RankSet *sets = NEW(RankSet, all->len + 1);
    for (uint32_t i = 0; i < all->len; i++)
        sets[i] = ((const SharedSide *)VECTOR_POINTER(all, i))->ranks;
    buf_unsigned(out, all->len);
    ranksets_encode(sets, all->len, out);
}

static void write_kind(Writer *w, WendSideKindNumber kind)
{
    AUTO(Vector) all = of_kind(w->r->merge, kind);
    if (all->len == 0)
        return;
    Streams s = {.modules = vector_new(sizeof(SiteModule)),
                 .stacks = kind == WEND_SIDE_STACKS,
                 .sites = vector_new(sizeof(SharedSite)),
                 .frames = vector_new(sizeof(SharedSite)),
                 .frame_places = vector_new(sizeof(WendStackFrame)),
                 .site_places = vector_new(sizeof(WendStackFrame)),
                 .numbers = map_of_bytes(NULL),
                 .frame_numbers = map_of_bytes(NULL),
                 .place_numbers = map_of_bytes(NULL),
                 .coding = NEW(WendSiteCoding, 1)};
    bool good = true;
    s.to.encoder = &s.encoder;
    site_coding_init(s.coding);
    range_encoder_begin(&s.encoder, &s.bits);
    for (uint32_t i = 0; i < all->len; i++)
        good = good && put_content(&s, VECTOR_POINTER(all, i));
    range_encoder_end(&s.encoder);
    if (good) { /* nothing depends on it */
        put_modules(&s, &w->out);
        put_ranks(all, &w->out);
        buf_bytes(&w->out, s.bits.data, s.bits.len);
        writer_member(w, side_stream_kind(kind)->name);
    }
    buf_clear(&s.bits);
    map_unref(s.numbers);
    map_unref(s.frame_numbers);
    vector_unref(s.modules);
    vector_unref(s.sites);
    vector_unref(s.frames);
    vector_unref(s.frame_places);
    vector_unref(s.site_places);
    map_unref(s.place_numbers);
    memory_free(s.coding);
}

void write_shared_sides(Writer *w)
{
    for (WendSideKindNumber kind = 0; kind < WEND_SIDE_KINDS; kind++)
        if (side_stream_kind(kind)->shared_most > 0)
            write_kind(w, kind);
}
