/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-sides-write.c: writes the side streams that ranks share: the member "sites"
 * (docs/format.md, "Call sites").
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

typedef struct {
    guint64 module; /* + 1; 0: unknown */
    gint64 offset;
} Site;

typedef struct {
    GArray *modules;     /* SiteModule */
    GArray *sites;       /* Site */
    GHashTable *numbers; /* GBytes of a Site -> its number + 1 */
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
    m->n_file = wend_read_count(c, 1);
    m->file = wend_read_bytes(c, m->n_file);
    m->n_id = wend_read_count(c, 1);
    m->id = wend_read_bytes(c, m->n_id);
    return !c->failed;
}

/* Reads the table of a stream. Returns its sites, in the order of their numbers there; NULL: it is
 * damaged. The caller unrefs the result. */
static GArray *read_table(Streams *s, WendCursor c)
{
    g_autoptr(GArray) modules = g_array_new(FALSE, TRUE, sizeof(SiteModule));
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint64)); /* in all modules */
    g_autoptr(GArray) sites = g_array_new(FALSE, FALSE, sizeof(Site));
    while (c.p < c.end) {
        Site site = {0};
        guint64 module = wend_read_unsigned(&c);
        SiteModule m;
        if (module == modules->len + G_GUINT64_CONSTANT(1) && read_module(&c, &m)) {
            guint64 number = module_number(s->modules, &m);
            g_array_append_val(modules, m);
            g_array_append_val(numbers, number);
        }
        if (c.failed || module > modules->len)
            return NULL;
        if (module > 0) {
            SiteModule *of = &g_array_index(modules, SiteModule, module - 1);
            of->last += wend_read_signed(&c);
            site.module = g_array_index(numbers, guint64, module - 1);
            site.offset = of->last;
        }
        g_array_append_val(sites, site);
    }
    return c.failed ? NULL : g_array_ref(sites);
}

/* The number of a site in the table, to which it is added if it is new. */
static guint64 site_number(Streams *s, const Site *site)
{
    GBytes *key = g_bytes_new(site, sizeof *site);
    gpointer known = g_hash_table_lookup(s->numbers, key);
    if (known) {
        g_bytes_unref(key);
        return GPOINTER_TO_SIZE(known) - 1;
    }
    g_array_append_vals(s->sites, site, 1);
    g_hash_table_insert(s->numbers, key, GSIZE_TO_POINTER((gsize)s->sites->len));
    return s->sites->len - 1;
}

/* The number of elements of a stream, and whether it was cut. FALSE: it is damaged. */
static gboolean count_elements(WendSideReader *r, guint64 *n, bool *cut)
{
    for (*n = 0; wend_side_next(r);)
        ++*n;
    *cut = r->cut;
    return !r->failed;
}

/* Codes the elements of one stream. FALSE: it is damaged. */
static gboolean put_elements(Streams *s, WendSideReader *r)
{
    g_autoptr(GArray) sites = read_table(s, r->table);
    const WendSideElement *e;
    while (sites && (e = wend_side_next(r))) {
        WendSideElement own = {.step = e->step, .code = e->code};
        guint64 local = (guint64)e->numbers[0], known = s->sites->len;
        if (local >= sites->len)
            return FALSE;
        Site site = g_array_index(sites, Site, local);
        own.numbers[0] = (gint64)site_number(s, &site);
        wend_site_code_element(s->coding, &s->to, &own);
        if ((guint64)own.numbers[0] == known)
            wend_site_code_place(s->coding, &s->to, &site.module, (guint64 *)&site.offset);
        else
            wend_site_coding_used(s->coding, site.module, (guint64)site.offset);
    }
    return sites && !r->failed;
}

/* Codes the streams of some ranks. */
static gboolean put_content(Streams *s, const SharedSide *shared)
{
    gsize bytes;
    const void *data = g_bytes_get_data(shared->content, &bytes);
    WendCursor c = wend_cursor(data, bytes), rows;
    WendSideHead head;
    WendSideReader *r = g_new(WendSideReader, 1);
    gsize n = wend_read_count(&c, WEND_SIDE_STREAM_LEAST);
    gboolean good = TRUE;
    wend_site_code_streams(s->coding, &s->to, n);
    for (; n > 0 && good && (good = wend_side_read(&c, &head, &rows)); n--) {
        guint64 elements;
        bool cut;
        wend_side_open(r, shared->kind, &head, rows);
        good = count_elements(r, &elements, &cut);
        wend_site_code_head(s->coding, &s->to, &head, &elements, &cut);
        wend_side_open(r, shared->kind, &head, rows);
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
                 .sites = g_array_new(FALSE, FALSE, sizeof(Site)),
                 .numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
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
        writer_member(w, wend_side_kind(kind)->name);
    }
    wend_buf_clear(&s.bits);
    g_hash_table_unref(s.numbers);
    g_array_unref(s.modules);
    g_array_unref(s.sites);
    g_free(s.coding);
}

void write_shared_sides(Writer *w)
{
    for (WendSideKindNumber kind = 0; kind < WEND_SIDE_KINDS; kind++)
        if (wend_side_kind(kind)->shared)
            write_kind(w, kind);
}
