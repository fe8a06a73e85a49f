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
    const guint8 *file, *id; /* N_FILE and N_ID bytes */
    gsize n_file, n_id;
    gint64 last; /* offset, while a table is read */
} SiteModule;

/* A site, or a frame of a stack. */
typedef struct {
    guint64 module; /* + 1; 0: unknown */
    gint64 offset;
    guint64 caller; /* WEND_CALLER_NONE and so on; without stacks always that */
} SharedSite;

/* The table of a stream. */
typedef struct {
    GArray *modules;        /* SiteModule */
    GArray *module_numbers; /* guint64, in all modules */
    GArray *sites, *frames; /* Site, whose callers are frames of the table */
    GArray *numbers;        /* guint64, by site: its number + 1 in all tables; 0: not known yet */
} SiteTable;

typedef struct {
    GArray *modules; /* SiteModule */
    gboolean stacks;
    GArray *sites, *frames;              /* Site */
    GHashTable *numbers, *frame_numbers; /* GBytes of a Site -> its number + 1 */
    GArray *frame_places, *site_places;  /* WendStackFrame, by frame and by site */
    GHashTable *place_numbers;           /* GBytes of a Site without its caller, likewise */
    guint n_places;
    WendBuf bits;
    RangeEncoder encoder;
    RangeCoder to;
    WendSiteCoding *coding;
} Streams;

/* The number + 1 of a module in the table, to which it is added if it is new. */
static guint64 module_number(GArray *modules, const SiteModule *like)
{
    for (guint i = 0; i < modules->len; i++) {
        const SiteModule *m = &g_array_index(modules, SiteModule, i);
        if (m->n_file == like->n_file && memcmp(m->file, like->file, m->n_file) == 0
            && m->n_id == like->n_id && memcmp(m->id, like->id, m->n_id) == 0)
            return i + 1;
    }
    g_array_append_vals(modules, like, 1);
    return modules->len;
}

static gboolean read_module(WendCursor *c, SiteModule *m)
{
    memset(m, 0, sizeof *m);
    m->n_file = wend_cursor_count(c, 1);
    m->file = wend_cursor_bytes(c, m->n_file);
    m->n_id = wend_cursor_count(c, 1);
    m->id = wend_cursor_bytes(c, m->n_id);
    return !c->failed;
}

static void site_table_clear(SiteTable *t)
{
    g_array_unref(t->modules);
    g_array_unref(t->module_numbers);
    g_array_unref(t->sites);
    g_array_unref(t->frames);
    g_array_unref(t->numbers);
}

/* Reads the module and the offset of a site or a frame. */
static gboolean read_place(Streams *s, SiteTable *t, WendCursor *c, SharedSite *site)
{
    guint64 module = wend_cursor_unsigned(c);
    SiteModule m;
    if (module == t->modules->len + G_GUINT64_CONSTANT(1) && read_module(c, &m)) {
        guint64 number = module_number(s->modules, &m);
        g_array_append_val(t->modules, m);
        g_array_append_val(t->module_numbers, number);
    }
    if (c->failed || module > t->modules->len)
        return FALSE;
    if (module > 0) {
        SiteModule *of = &g_array_index(t->modules, SiteModule, module - 1);
        of->last = (gint64)((guint64)of->last + (guint64)wend_cursor_signed(c));
        site->module = g_array_index(t->module_numbers, guint64, module - 1);
        site->offset = of->last;
    }
    return TRUE;
}

/* How many frames there are from CALLER outwards. */
static guint depth_of(const GArray *frames, guint64 caller)
{
    guint n = 0;
    for (; caller >= WEND_CALLER_FRAME && n <= WEND_CALLERS_MOST; n++)
        caller = g_array_index(frames, SharedSite, caller - WEND_CALLER_FRAME).caller;
    return n;
}

/* Reads the callers of a site. */
static gboolean read_callers(Streams *s, SiteTable *t, WendCursor *c, SharedSite *site)
{
    site->caller = wend_cursor_unsigned(c);
    gsize n = wend_cursor_count(c, 2);
    if (c->failed || site->caller >= t->frames->len + (guint64)WEND_CALLER_FRAME
        || n + depth_of(t->frames, site->caller) > WEND_CALLERS_MOST)
        return FALSE;
    for (; n > 0; n--) {
        SharedSite frame = {.caller = site->caller};
        if (!read_place(s, t, c, &frame) || frame.module == 0)
            return FALSE;
        g_array_append_val(t->frames, frame);
        site->caller = WEND_CALLER_FRAME + (guint64)t->frames->len - 1;
    }
    return TRUE;
}

/* Reads the table of a stream. FALSE: it is damaged. */
static gboolean read_table(Streams *s, WendCursor c, SiteTable *t)
{
    *t = (SiteTable){.modules = g_array_new(FALSE, TRUE, sizeof(SiteModule)),
                     .module_numbers = g_array_new(FALSE, FALSE, sizeof(guint64)),
                     .sites = g_array_new(FALSE, FALSE, sizeof(SharedSite)),
                     .frames = g_array_new(FALSE, FALSE, sizeof(SharedSite)),
                     .numbers = g_array_new(FALSE, TRUE, sizeof(guint64))};
    while (c.p < c.end) {
        SharedSite site = {0};
        if ((s->stacks && !read_callers(s, t, &c, &site)) || !read_place(s, t, &c, &site))
            return FALSE;
        g_array_append_val(t->sites, site);
    }
    g_array_set_size(t->numbers, t->sites->len);
    return !c.failed;
}

/* The number + 1 of LIKE; 0: there is none. */
static guint64 number_of(GHashTable *numbers, const SharedSite *like)
{
    GBytes *key = g_bytes_new(like, sizeof *like);
    gpointer known = g_hash_table_lookup(numbers, key);
    g_bytes_unref(key);
    return GPOINTER_TO_SIZE(known);
}

static void add(GArray *all, GHashTable *numbers, const SharedSite *site)
{
    g_array_append_vals(all, site, 1);
    g_hash_table_insert(numbers, g_bytes_new(site, sizeof *site),
                        GSIZE_TO_POINTER((gsize)all->len));
}

/* Finds the frames of the stack SITE in the table of all, and makes its caller one of that. Returns
 * the frames that are not there, the innermost one first; the last one is called from *FROM. */
static GArray *find_callers(const Streams *s, const SiteTable *t, SharedSite *site, guint64 *from)
{
    GArray *path = g_array_new(FALSE, FALSE, sizeof(SharedSite));
    guint64 caller = site->caller, number;
    while (caller >= WEND_CALLER_FRAME) {
        const SharedSite *frame = &g_array_index(t->frames, SharedSite, caller - WEND_CALLER_FRAME);
        g_array_append_vals(path, frame, 1);
        caller = frame->caller;
    }
    for (; path->len > 0; g_array_set_size(path, path->len - 1)) {
        SharedSite frame = g_array_index(path, SharedSite, path->len - 1);
        frame.caller = caller;
        if ((number = number_of(s->frame_numbers, &frame)) == 0)
            break;
        caller = WEND_CALLER_FRAME + number - 1;
    }
    site->caller = *from = caller;
    if (path->len > 0)
        site->caller = WEND_CALLER_FRAME + (guint64)s->frames->len + path->len - 1;
    return path; /* the innermost one comes first */
}

static WendStackFrames frames_of(const Streams *s)
{
    return (WendStackFrames){(const WendStackFrame *)(gpointer)s->frame_places->data,
                             s->frame_places->len, s->n_places};
}

/* Codes the place of a frame or a site, and adds it to PLACES. */
static void put_place(Streams *s, SharedSite *site, gboolean is_site, GArray *places)
{
    WendStackFrames frames = frames_of(s);
    SharedSite alone = {site->module, site->offset, 0};
    guint64 known = number_of(s->place_numbers, &alone),
            place = known > 0 ? known - 1 : s->n_places;
    WendStackFrame frame = {(guint32)site->caller, (guint32)place};
    wend_stack_coding_place(&s->coding->stacks, &s->to, &frames, site->caller, is_site, &place);
    g_array_append_val(places, frame);
    if (known > 0)
        return;
    s->n_places++;
    g_hash_table_insert(s->place_numbers, g_bytes_new(&alone, sizeof alone),
                        GSIZE_TO_POINTER((gsize)s->n_places));
    if (is_site)
        wend_site_coding_place(s->coding, &s->to, &site->module, (guint64 *)&site->offset);
    else
        wend_site_coding_frame(s->coding, &s->to, &site->module, (guint64 *)&site->offset);
}

/* Codes a new site: its stack, of which the frames of PATH are new, and its place. */
static void put_stack(Streams *s, SharedSite *site, const GArray *path, guint64 from)
{
    WendStackFrames frames = frames_of(s);
    guint64 n = path->len;
    wend_stack_coding_callers(&s->coding->stacks, &s->to, &frames, &from, &n);
    for (guint i = path->len; i > 0; i--) {
        SharedSite frame = g_array_index(path, SharedSite, i - 1);
        frame.caller = from;
        add(s->frames, s->frame_numbers, &frame);
        put_place(s, &frame, FALSE, s->frame_places);
        from = WEND_CALLER_FRAME + (guint64)s->frames->len - 1;
    }
    put_place(s, site, TRUE, s->site_places);
}

/* Codes an element of a site that is number LOCAL of the table. */
static void put_element(Streams *s, SiteTable *t, const WendSideElement *e, guint64 local)
{
    guint64 *number = &g_array_index(t->numbers, guint64, local);
    SharedSite site = g_array_index(t->sites, SharedSite, local);
    g_autoptr(GArray) path = NULL;
    guint64 from = WEND_CALLER_NONE;
    if (*number == 0) {
        path = find_callers(s, t, &site, &from);
        *number = path->len == 0 ? number_of(s->numbers, &site) : 0;
    }
    gboolean known = *number != 0;
    if (!known)
        *number = s->sites->len + G_GUINT64_CONSTANT(1);
    WendSideElement own = {.step = e->step, .code = e->code};
    own.numbers[0] = (gint64)*number - 1;
    wend_site_coding_element(s->coding, &s->to, &own);
    if (!known) {
        add(s->sites, s->numbers, &site);
        if (s->stacks)
            put_stack(s, &site, path, from);
        else
            wend_site_coding_place(s->coding, &s->to, &site.module, (guint64 *)&site.offset);
    }
    site = g_array_index(s->sites, SharedSite, *number - 1);
    wend_site_coding_used(s->coding, site.module, (guint64)site.offset);
    if (s->stacks)
        wend_stack_coding_used(&s->coding->stacks,
                               &g_array_index(s->site_places, WendStackFrame, *number - 1));
}

/* The number of elements of a stream, and whether it was cut. FALSE: it is damaged. */
static gboolean count_elements(WendSideReader *r, guint64 *n, bool *cut)
{
    for (*n = 0; wend_side_reader_next(r);)
        ++*n;
    *cut = r->cut;
    return !r->failed;
}

/* Codes the elements of one stream. FALSE: it is damaged. */
static gboolean put_elements(Streams *s, WendSideReader *r)
{
    SiteTable table;
    const WendSideElement *e;
    gboolean good = read_table(s, r->table, &table);
    while (good && (e = wend_side_reader_next(r))) {
        guint64 local = (guint64)e->numbers[0];
        good = local < table.sites->len && s->frames->len < WEND_FRAMES_MOST;
        if (good)
            put_element(s, &table, e, local);
    }
    site_table_clear(&table);
    return good && !r->failed;
}

/* Codes the streams of some ranks. */
static gboolean put_content(Streams *s, const SharedSide *shared)
{
    gsize bytes;
    const void *data = g_bytes_get_data(shared->content, &bytes);
    WendCursor c = wend_cursor(data, bytes), rows;
    WendSideHead head;
    WendSideReader *r = g_new(WendSideReader, 1);
    gsize n = wend_cursor_count(&c, WEND_SIDE_STREAM_LEAST);
    gboolean good = TRUE;
    wend_site_coding_streams(s->coding, &s->to, n);
    for (; n > 0 && good && (good = wend_side_stream_read(&c, &head, &rows)); n--) {
        guint64 elements;
        bool cut;
        wend_side_reader_open(r, shared->kind, &head, rows);
        good = count_elements(r, &elements, &cut);
        wend_site_coding_head(s->coding, &s->to, &head, &elements, &cut);
        wend_side_reader_open(r, shared->kind, &head, rows);
        good = good && put_elements(s, r);
    }
    g_free(r);
    return good && !c.failed;
}

static void put_modules(const Streams *s, WendBuf *out)
{
    wend_buf_unsigned(out, s->modules->len);
    for (guint i = 0; i < s->modules->len; i++) {
        const SiteModule *m = &g_array_index(s->modules, SiteModule, i);
        wend_buf_unsigned(out, m->n_file);
        wend_buf_bytes(out, m->file, m->n_file);
        wend_buf_unsigned(out, m->n_id);
        wend_buf_bytes(out, m->id, m->n_id);
    }
}

static gint by_lowest_rank(gconstpointer a, gconstpointer b)
{
    const SharedSide *x = *(const SharedSide *const *)a, *y = *(const SharedSide *const *)b;
    guint32 first = rankset_lowest(&x->ranks), second = rankset_lowest(&y->ranks);
    return first < second ? -1 : first > second;
}

/* The streams of KIND, by the lowest of their ranks. */
static GPtrArray *of_kind(const WendMerge *m, WendSideKindNumber kind)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; i < m->shared->len; i++) {
        SharedSide *s = &g_array_index(m->shared, SharedSide, i);
        if (s->kind == kind)
            g_ptr_array_add(all, s);
    }
    g_ptr_array_sort(all, by_lowest_rank);
    return all;
}

static void put_ranks(const GPtrArray *all, WendBuf *out)
{
    g_autofree RankSet *sets = g_new(RankSet, all->len + 1);
    for (guint i = 0; i < all->len; i++)
        sets[i] = ((const SharedSide *)g_ptr_array_index(all, i))->ranks;
    wend_buf_unsigned(out, all->len);
    ranksets_encode(sets, all->len, out);
}

static void write_kind(Writer *w, WendSideKindNumber kind)
{
    g_autoptr(GPtrArray) all = of_kind(w->r->merge, kind);
    if (all->len == 0)
        return;
    Streams s = {.modules = g_array_new(FALSE, FALSE, sizeof(SiteModule)),
                 .stacks = kind == WEND_SIDE_STACKS,
                 .sites = g_array_new(FALSE, FALSE, sizeof(SharedSite)),
                 .frames = g_array_new(FALSE, FALSE, sizeof(SharedSite)),
                 .frame_places = g_array_new(FALSE, FALSE, sizeof(WendStackFrame)),
                 .site_places = g_array_new(FALSE, FALSE, sizeof(WendStackFrame)),
                 .numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                  (GDestroyNotify)g_bytes_unref, NULL),
                 .frame_numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                        (GDestroyNotify)g_bytes_unref, NULL),
                 .place_numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                        (GDestroyNotify)g_bytes_unref, NULL),
                 .coding = g_new(WendSiteCoding, 1)};
    gboolean good = TRUE;
    s.to.encoder = &s.encoder;
    wend_site_coding_init(s.coding);
    range_encoder_begin(&s.encoder, &s.bits);
    for (guint i = 0; i < all->len; i++)
        good = good && put_content(&s, g_ptr_array_index(all, i));
    range_encoder_end(&s.encoder);
    w->failed |= s.bits.failed;
    if (good) { /* nothing depends on it */
        put_modules(&s, &w->out);
        put_ranks(all, &w->out);
        wend_buf_bytes(&w->out, s.bits.data, s.bits.len);
        writer_member(w, wend_side_stream_kind(kind)->name);
    }
    wend_buf_clear(&s.bits);
    g_hash_table_unref(s.numbers);
    g_hash_table_unref(s.frame_numbers);
    g_array_unref(s.modules);
    g_array_unref(s.sites);
    g_array_unref(s.frames);
    g_array_unref(s.frame_places);
    g_array_unref(s.site_places);
    g_hash_table_unref(s.place_numbers);
    g_free(s.coding);
}

void write_shared_sides(Writer *w)
{
    for (WendSideKindNumber kind = 0; kind < WEND_SIDE_KINDS; kind++)
        if (wend_side_stream_kind(kind)->shared_most > 0)
            write_kind(w, kind);
}
