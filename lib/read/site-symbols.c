/* SPDX-License-Identifier: BSD-3-Clause */
/* site-symbols.c: see site-symbols.h. */
#include "site-symbols.h"

#include <string.h>

#include "archive/container.h"
#include "record/record.h"

/* Longer texts, as templates make them, are cut. */
enum { TEXT_MOST = 1000, FRAMES_MOST = 64, MODULES_MOST = 4096 };

/* A file of code. */
typedef struct {
    char *file;
    guint8 *id;
    guint n_id;
    GHashTable *addresses; /* guint64 -> Frames */
} Module;

typedef struct {
    guint64 offset;
    guint n;
    WendSiteFrame frames[];
} Frames;

struct WendSiteSymbols {
    GPtrArray *modules;
    GStringChunk *texts;
};

static void module_free(gpointer module)
{
    Module *m = module;
    g_hash_table_unref(m->addresses);
    g_free(m->file);
    g_free(m->id);
    g_free(m);
}

WendSiteSymbols *site_symbols_new(void)
{
    WendSiteSymbols *s = g_new0(WendSiteSymbols, 1);
    s->modules = g_ptr_array_new_with_free_func(module_free);
    s->texts = g_string_chunk_new(256);
    return s;
}

void site_symbols_free(WendSiteSymbols *s)
{
    if (!s)
        return;
    g_ptr_array_unref(s->modules);
    g_string_chunk_free(s->texts);
    g_free(s);
}

static Module *find_module(const WendSiteSymbols *s, const char *file, const guint8 *id, guint n_id)
{
    for (guint i = 0; i < s->modules->len; i++) {
        Module *m = s->modules->pdata[i];
        if (m->n_id == n_id && memcmp(m->id, id, n_id) == 0 && strcmp(m->file, file) == 0)
            return m;
    }
    return NULL;
}

static Module *module_of(WendSiteSymbols *s, const char *file, const guint8 *id, guint n_id)
{
    Module *m = find_module(s, file, id, n_id);
    if (m)
        return m;
    m = g_new0(Module, 1);
    m->file = g_strdup(file);
    m->id = g_memdup2(id, n_id);
    m->n_id = n_id;
    m->addresses = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    g_ptr_array_add(s->modules, m);
    return m;
}

static const char *text_of(WendSiteSymbols *s, const char *text)
{
    if (!text)
        return NULL;
    const char *end;
    gsize n = strnlen(text, TEXT_MOST);
    g_utf8_validate(text, (gssize)n, &end);
    /* A character that was cut in two is left out; other bytes stay what they are. */
    if (n == TEXT_MOST && text + n - end < 4)
        n = (gsize)(end - text);
    g_autofree char *cut = g_strndup(text, n);
    return g_string_chunk_insert_const(s->texts, cut);
}

static void add_frames(WendSiteSymbols *s, Module *m, guint64 offset, const WendSiteFrame *frames,
                       guint n)
{
    if (g_hash_table_contains(m->addresses, &offset))
        return;
    Frames *f = g_malloc0(sizeof *f + n * sizeof *frames);
    f->offset = offset;
    f->n = n;
    for (guint i = 0; i < n; i++)
        f->frames[i] = (WendSiteFrame){text_of(s, frames[i].function), text_of(s, frames[i].file),
                                       frames[i].line};
    g_hash_table_insert(m->addresses, &f->offset, f);
}

void site_symbols_add(WendSiteSymbols *s, const char *file, const guint8 *id, guint n_id,
                      guint64 offset, const WendSiteFrame *frames, guint n)
{
    if (n > 0)
        add_frames(s, module_of(s, file, id, n_id), offset, frames, MIN(n, FRAMES_MOST));
}

const WendSiteFrame *site_symbols_of(const WendSiteSymbols *s, const char *file, const guint8 *id,
                                     guint n_id, guint64 offset, guint *n)
{
    const Module *m = find_module(s, file, id, n_id);
    const Frames *f = m ? g_hash_table_lookup(m->addresses, &offset) : NULL;
    *n = f ? f->n : 0;
    return f ? f->frames : NULL;
}

/* -- reading -- */

typedef struct {
    WendSiteSymbols *s;
    WendCursor c;
    GPtrArray *texts; /* which the symbols own */
} Reading;

static gboolean read_texts(Reading *r)
{
    for (gsize n = cursor_count(&r->c, 1); n > 0 && !r->c.failed; n--) {
        WendCursor text = cursor_block(&r->c);
        gsize bytes = (gsize)(text.end - text.p);
        if (r->c.failed || bytes > TEXT_MOST
            || !allowance_take(r->c.allowance, bytes + sizeof(gpointer) + 1, 2))
            return FALSE;
        g_autofree char *copy = g_strndup((const char *)text.p, bytes);
        g_ptr_array_add(r->texts, g_string_chunk_insert_const(r->s->texts, copy));
    }
    return !r->c.failed;
}

static gboolean read_text(Reading *r, const char **text)
{
    guint64 number = cursor_unsigned(&r->c);
    if (r->c.failed || number > r->texts->len)
        return FALSE;
    *text = number > 0 ? r->texts->pdata[number - 1] : NULL;
    return TRUE;
}

static gboolean read_address(Reading *r, Module *m, guint64 *offset)
{
    WendSiteFrame frames[FRAMES_MOST];
    *offset += cursor_unsigned(&r->c);
    gsize n = cursor_count(&r->c, 3);
    if (r->c.failed || n == 0 || n > FRAMES_MOST
        || !allowance_take(r->c.allowance, n + 4, sizeof *frames))
        return FALSE;
    for (gsize i = 0; i < n; i++) {
        if (!read_text(r, &frames[i].function) || !read_text(r, &frames[i].file))
            return FALSE;
        guint64 line = cursor_unsigned(&r->c);
        frames[i].line = line <= G_MAXINT ? (guint)line : 0;
    }
    add_frames(r->s, m, *offset, frames, (guint)n);
    return !r->c.failed;
}

static gboolean read_module(Reading *r)
{
    WendCursor file = cursor_block(&r->c), id = cursor_block(&r->c);
    gsize n_file = (gsize)(file.end - file.p), n_id = (gsize)(id.end - id.p);
    if (r->c.failed || !allowance_take(r->c.allowance, n_file + n_id + sizeof(Module), 2))
        return FALSE;
    g_autofree char *path = g_strndup((const char *)file.p, n_file);
    Module *m = module_of(r->s, path, id.p, (guint)n_id);
    guint64 offset = 0;
    for (gsize n = cursor_count(&r->c, 5); n > 0; n--)
        if (!read_address(r, m, &offset))
            return FALSE;
    return !r->c.failed;
}

gboolean site_symbols_read(WendSiteSymbols *s, const guint8 *member, gsize n, Allowance *allowance)
{
    Reading r = {s, cursor_of(member, n), g_ptr_array_new()};
    r.c.allowance = allowance;
    gboolean good = read_texts(&r);
    gsize modules = good ? cursor_count(&r.c, 3) : 0;
    good = good && modules <= MODULES_MOST;
    for (; good && modules > 0; modules--)
        good = read_module(&r);
    g_ptr_array_unref(r.texts);
    return good && !r.c.failed && r.c.p == r.c.end;
}

/* -- writing -- */

typedef struct {
    GHashTable *numbers; /* text -> its number + 1 */
    guint n;
    WendBuf texts, modules;
} Writing;

static void put_text(Writing *w, const char *text)
{
    guint number = text ? GPOINTER_TO_UINT(g_hash_table_lookup(w->numbers, text)) : 0;
    if (text && number == 0) {
        number = ++w->n;
        g_hash_table_insert(w->numbers, (gpointer)text, GUINT_TO_POINTER(number));
        buf_string(&w->texts, text);
    }
    buf_unsigned(&w->modules, number);
}

static gint by_offset(gconstpointer a, gconstpointer b)
{
    guint64 x = (*(Frames *const *)a)->offset, y = (*(Frames *const *)b)->offset;
    return (x > y) - (x < y);
}

static void put_module(Writing *w, const Module *m)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    guint64 last = 0;
    GHashTableIter iter;
    gpointer one;
    g_hash_table_iter_init(&iter, m->addresses);
    while (g_hash_table_iter_next(&iter, NULL, &one))
        g_ptr_array_add(all, one);
    g_ptr_array_sort(all, by_offset);
    buf_string(&w->modules, m->file);
    buf_unsigned(&w->modules, m->n_id);
    buf_bytes(&w->modules, m->id, m->n_id);
    buf_unsigned(&w->modules, all->len);
    for (guint i = 0; i < all->len; i++) {
        const Frames *f = all->pdata[i];
        buf_unsigned(&w->modules, f->offset - last);
        buf_unsigned(&w->modules, f->n);
        for (guint k = 0; k < f->n; k++) {
            put_text(w, f->frames[k].function);
            put_text(w, f->frames[k].file);
            buf_unsigned(&w->modules, f->frames[k].line);
        }
        last = f->offset;
    }
}

gboolean site_symbols_store(const WendSiteSymbols *s, const char *path, guint64 most, bool *stored,
                            Error **error)
{
    Writing w = {.numbers = g_hash_table_new(g_str_hash, g_str_equal)};
    WendBuf member = WEND_BUF_INIT;
    for (guint i = 0; i < s->modules->len; i++)
        put_module(&w, s->modules->pdata[i]);
    buf_unsigned(&member, w.n);
    buf_bytes(&member, w.texts.data, w.texts.len);
    buf_unsigned(&member, s->modules->len);
    buf_bytes(&member, w.modules.data, w.modules.len);
    gboolean good = !w.texts.failed && !w.modules.failed && !member.failed;
    if (good)
        good =
            container_store(path, WEND_SITE_SYMBOLS, member.data, member.len, most, stored, error);
    else
        error_set(error, WEND_ERROR_SYSTEM, "%s: not enough memory for names", path);
    g_hash_table_unref(w.numbers);
    buf_clear(&w.texts);
    buf_clear(&w.modules);
    buf_clear(&member);
    return good;
}
