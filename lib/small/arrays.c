/* SPDX-License-Identifier: BSD-3-Clause */
/* arrays.c: memory, arrays and bytes. See glib.h. */
#include "glib.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/shortage.h"

/* -- memory -- */

gpointer small_array(gsize n, gsize size)
{
    gsize bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        wend_shortage();
    return bytes ? heap_new(bytes) : NULL;
}

gpointer small_resize(gpointer p, gsize n, gsize size)
{
    gsize bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        wend_shortage();
    return heap_resize(p, bytes);
}

gpointer g_memdup2(gconstpointer p, gsize n)
{
    return p && n ? memcpy(heap_new(n), p, n) : NULL;
}

typedef union {
    gsize references;
    long double aligned;
} Counted;

gpointer small_counted(gsize n)
{
    Counted *c = heap_zeroed(1, sizeof *c + n);
    c->references = 1;
    return c + 1;
}

gpointer g_rc_box_acquire(gpointer p)
{
    ((Counted *)p - 1)->references++;
    return p;
}

void g_rc_box_release_full(gpointer p, GDestroyNotify clear)
{
    Counted *c = (Counted *)p - 1;
    if (--c->references > 0)
        return;
    clear(p);
    heap_free(c);
}

/* -- sorting -- */

typedef struct {
    GCompareDataFunc compare;
    gpointer user;
    gsize size;
} SortOrder;

/* Copies an element. Most are words or numbers, which take no call of memcpy. */
static inline void copy_element(char *to, const char *from, gsize size)
{
    if (size == sizeof(guint64))
        memcpy(to, from, sizeof(guint64));
    else if (size == sizeof(guint32))
        memcpy(to, from, sizeof(guint32));
    else
        memcpy(to, from, size);
}

/* Merge sort of the N elements at DATA; ROOM has the same size. Much of what is sorted is in order
 * already. */
static void sort(char *data, char *room, gsize n, const SortOrder *o)
{
    gsize half = n / 2, left = 0, right = half, at = 0;
    if (n < 2)
        return;
    sort(data, room, half, o);
    sort(data + half * o->size, room, n - half, o);
    if (o->compare(data + (half - 1) * o->size, data + half * o->size, o->user) <= 0)
        return;
    while (left < half && right < n) {
        gboolean second = o->compare(data + left * o->size, data + right * o->size, o->user) > 0;
        gsize *from = second ? &right : &left;
        copy_element(room + at++ * o->size, data + (*from)++ * o->size, o->size);
    }
    memcpy(room + at * o->size, data + left * o->size, (half - left) * o->size);
    memcpy(data, room, (at + half - left) * o->size);
}

void g_qsort_with_data(gconstpointer data, gint n, gsize size, GCompareDataFunc compare,
                       gpointer user)
{
    const SortOrder order = {compare, user, size};
    if (n < 2)
        return;
    g_autofree char *room = small_array((gsize)n, size);
    sort((char *)(uintptr_t)data, room, (gsize)n, &order);
}

typedef struct {
    GCompareFunc compare;
} Plain;

static gint compare_plainly(gconstpointer a, gconstpointer b, gpointer plain)
{
    return ((const Plain *)plain)->compare(a, b);
}

void small_sort(void *data, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    Plain plain = {compare};
    const SortOrder order = {compare_plainly, &plain, size};
    if (n < 2)
        return;
    g_autofree char *room = small_array(n, size);
    sort(data, room, n, &order);
}

/* -- arrays -- */

/* All kinds of arrays. glib.h declares the first two members. */
typedef struct {
    char *data;
    guint len;
    guint size, references; /* SIZE: of an element, in bytes */
    gsize room;             /* bytes */
    gboolean zeroed;
    /* called with the address of an element, or with the element of an array of pointers */
    GDestroyNotify clear;
} Array;

static Array *array_new(guint size, gboolean zeroed, GDestroyNotify clear, guint room)
{
    Array *a = heap_zeroed(1, sizeof *a);
    *a = (Array){.size = size, .references = 1, .zeroed = zeroed, .clear = clear};
    if (room) {
        a->data = small_array(room, size);
        a->room = heap_usable(a->data);
    }
    return a;
}

/* Room for N elements more. */
static void array_reserve(Array *a, guint n)
{
    guint all;
    gsize bytes;
    if (__builtin_add_overflow(a->len, n, &all)
        || __builtin_mul_overflow((gsize)all, a->size, &bytes))
        wend_shortage();
    if (bytes <= a->room)
        return;
    a->data = heap_resize(a->data, MAX(bytes, MAX(2 * a->room, 16)));
    a->room = heap_usable(a->data);
}

static void array_insert(Array *a, guint at, gconstpointer data, guint n)
{
    if (n == 0)
        return;
    array_reserve(a, n);
    char *place = a->data + (gsize)at * a->size;
    if (at < a->len)
        memmove(place + (gsize)n * a->size, place, (gsize)(a->len - at) * a->size);
    memcpy(place, data, (gsize)n * a->size);
    a->len += n;
}

static void array_resize(Array *a, guint n)
{
    if (n > a->len) {
        array_reserve(a, n - a->len);
        if (a->zeroed)
            memset(a->data + (gsize)a->len * a->size, 0, (gsize)(n - a->len) * a->size);
    }
    for (guint i = n; a->clear && i < a->len; i++)
        a->clear(a->data + (gsize)i * a->size);
    a->len = n;
}

static char *array_free(Array *a, gboolean data)
{
    char *kept = data ? NULL : a->data;
    if (data) {
        array_resize(a, 0);
        heap_free(a->data);
    }
    heap_free(a);
    return kept;
}

GArray *g_array_sized_new(gboolean terminated, gboolean zeroed, guint size, guint room)
{
    (void)terminated; /* always FALSE in the files that are compiled with this */
    return (GArray *)array_new(size, zeroed, NULL, room);
}

GArray *g_array_new(gboolean terminated, gboolean zeroed, guint size)
{
    return g_array_sized_new(terminated, zeroed, size, 0);
}

GArray *g_array_ref(GArray *a)
{
    ((Array *)a)->references++;
    return a;
}

void g_array_unref(GArray *a)
{
    if (--((Array *)a)->references == 0)
        array_free((Array *)a, TRUE);
}

char *g_array_free(GArray *a, gboolean data)
{
    return array_free((Array *)a, data);
}

void g_array_set_clear_func(GArray *a, GDestroyNotify clear)
{
    ((Array *)a)->clear = clear;
}

GArray *g_array_append_vals(GArray *a, gconstpointer data, guint n)
{
    array_insert((Array *)a, a->len, data, n);
    return a;
}

GArray *g_array_insert_vals(GArray *a, guint at, gconstpointer data, guint n)
{
    array_insert((Array *)a, at, data, n);
    return a;
}

GArray *g_array_set_size(GArray *a, guint n)
{
    array_resize((Array *)a, n);
    return a;
}

void g_array_sort_with_data(GArray *a, GCompareDataFunc compare, gpointer user)
{
    const SortOrder order = {compare, user, ((Array *)a)->size};
    g_autofree char *room = small_array(a->len, order.size);
    sort(a->data, room, a->len, &order);
}

void g_array_sort(GArray *a, GCompareFunc compare)
{
    Plain plain = {compare};
    g_array_sort_with_data(a, compare_plainly, &plain);
}

/* -- of bytes -- */

GByteArray *g_byte_array_sized_new(guint room)
{
    return (GByteArray *)array_new(1, FALSE, NULL, room);
}

GByteArray *g_byte_array_new(void)
{
    return g_byte_array_sized_new(0);
}

GByteArray *g_byte_array_append(GByteArray *a, const guint8 *data, guint n)
{
    array_insert((Array *)a, a->len, data, n);
    return a;
}

GByteArray *g_byte_array_set_size(GByteArray *a, guint n)
{
    array_resize((Array *)a, n);
    return a;
}

void g_byte_array_unref(GByteArray *a)
{
    array_free((Array *)a, TRUE);
}

/* -- of pointers -- */

typedef struct {
    Array a;
    GDestroyNotify release;
} Pointers;
_Static_assert(offsetof(Pointers, a) == 0, "a kind of array");
_Static_assert(offsetof(Array, data) == offsetof(GPtrArray, pdata)
                   && offsetof(Array, len) == offsetof(GPtrArray, len),
               "as glib.h has them");
_Static_assert(offsetof(Array, data) == offsetof(GArray, data)
                   && offsetof(Array, len) == offsetof(GArray, len),
               "as glib.h has them");

GPtrArray *g_ptr_array_new_with_free_func(GDestroyNotify release)
{
    Pointers *p = heap_zeroed(1, sizeof *p);
    p->a = (Array){.size = sizeof(gpointer), .references = 1, .zeroed = TRUE};
    p->release = release;
    return (GPtrArray *)p;
}

GPtrArray *g_ptr_array_new(void)
{
    return g_ptr_array_new_with_free_func(NULL);
}

void g_ptr_array_set_size(GPtrArray *a, gint n)
{
    const Pointers *p = (const Pointers *)a;
    for (guint i = (guint)n; p->release && i < a->len; i++)
        if (a->pdata[i])
            p->release(a->pdata[i]);
    array_resize((Array *)a, (guint)n);
}

void g_ptr_array_unref(GPtrArray *a)
{
    g_ptr_array_set_size(a, 0);
    array_free((Array *)a, TRUE);
}

void g_ptr_array_add(GPtrArray *a, gpointer p)
{
    array_insert((Array *)a, a->len, &p, 1);
}

void g_ptr_array_insert(GPtrArray *a, gint at, gpointer p)
{
    array_insert((Array *)a, at < 0 ? a->len : (guint)at, &p, 1);
}

gboolean g_ptr_array_remove(GPtrArray *a, gpointer p)
{
    const Pointers *all = (const Pointers *)a;
    guint at = 0;
    while (at < a->len && a->pdata[at] != p)
        at++;
    if (at == a->len)
        return FALSE;
    memmove(a->pdata + at, a->pdata + at + 1, (a->len - at - 1) * sizeof *a->pdata);
    a->len--;
    if (all->release)
        all->release(p);
    return TRUE;
}

gpointer *g_ptr_array_steal(GPtrArray *a, gsize *n)
{
    gpointer *all = a->pdata;
    if (n)
        *n = a->len;
    a->pdata = NULL;
    a->len = 0;
    ((Array *)a)->room = 0;
    return all;
}

void g_ptr_array_sort(GPtrArray *a, GCompareFunc compare)
{
    g_array_sort((GArray *)a, compare);
}

/* -- bytes that do not change -- */

struct GBytes {
    GBytes *of;
    guint references;
    gsize n;
    const guint8 *data;
    guint8 own[];
};

GBytes *g_bytes_new(gconstpointer data, gsize n)
{
    GBytes *b = n > G_MAXSIZE - sizeof *b ? NULL : heap_new(sizeof *b + n);
    if (!b)
        wend_shortage();
    *b = (GBytes){NULL, 1, n, b->own};
    if (n)
        memcpy(b->own, data, n);
    return b;
}

GBytes *g_bytes_new_from_bytes(GBytes *of, gsize at, gsize n)
{
    GBytes *b = heap_new(sizeof *b);
    *b = (GBytes){g_bytes_ref(of), 1, n, of->data + at};
    return b;
}

GBytes *g_bytes_ref(GBytes *b)
{
    b->references++;
    return b;
}

void g_bytes_unref(GBytes *b)
{
    if (!b || --b->references > 0)
        return;
    g_bytes_unref(b->of);
    heap_free(b);
}

gconstpointer g_bytes_get_data(GBytes *b, gsize *n)
{
    if (n)
        *n = b->n;
    return b->n ? b->data : NULL;
}

gsize g_bytes_get_size(GBytes *b)
{
    return b->n;
}

guint g_bytes_hash(gconstpointer bytes)
{
    const GBytes *b = bytes;
    return (guint)XXH3_64bits(b->data, b->n);
}

gboolean g_bytes_equal(gconstpointer a, gconstpointer b)
{
    const GBytes *x = a, *y = b;
    return x->n == y->n && memcmp(x->data, y->data, x->n) == 0;
}
