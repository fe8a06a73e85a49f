/* SPDX-License-Identifier: BSD-3-Clause */
/* glib.h: the part of GLib that merging and writing use, for the process of an application. Names
 * and meanings are GLib's; memory comes from the heap (heap.h). So nothing aborts, and no second
 * GLib meets the application's. Files of lib/ are compiled with this header or with GLib's own. It
 * has only what these files use. */
#ifndef WEND_SMALL_GLIB_H
#define WEND_SMALL_GLIB_H

#include <endian.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "lib/small/heap.h"

/* -- types -- */

typedef int gboolean, gint;
typedef unsigned guint;
typedef char gchar;
typedef unsigned char guchar, guint8;
typedef short gint16;
typedef unsigned short guint16;
typedef int32_t gint32;
typedef uint32_t guint32, GQuark;
typedef int64_t gint64;
typedef uint64_t guint64;
typedef size_t gsize;
typedef ssize_t gssize;
typedef double gdouble;
typedef void *gpointer;
typedef const void *gconstpointer;

#define FALSE 0
#define TRUE 1
#define G_MAXINT INT_MAX
#define G_MAXUINT UINT_MAX
#define G_MAXINT16 INT16_MAX
#define G_MAXUINT16 UINT16_MAX
#define G_MAXINT32 INT32_MAX
#define G_MAXUINT32 UINT32_MAX
#define G_MININT64 INT64_MIN
#define G_MAXINT64 INT64_MAX
#define G_MAXUINT64 UINT64_MAX
#define G_MAXSIZE SIZE_MAX
#define G_GUINT64_FORMAT PRIu64
#define G_GINT64_MODIFIER "l"
_Static_assert(sizeof(long) == sizeof(int64_t), "the modifier is for these");
#define g_snprintf snprintf
#define G_MAXDOUBLE DBL_MAX
#define G_GINT64_CONSTANT(n) INT64_C(n)
#define G_GUINT64_CONSTANT(n) UINT64_C(n)

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ABS(a) ((a) < 0 ? -(a) : (a))
#define CLAMP(x, low, high) ((x) > (high) ? (high) : (x) < (low) ? (low) : (x))
#define G_N_ELEMENTS(a) (sizeof(a) / sizeof *(a))
#define G_STATIC_ASSERT(what) _Static_assert(what, #what)
#define G_UNLIKELY(what) __builtin_expect(!!(what), 0)
#define G_LIKELY(what) __builtin_expect(!!(what), 1)
#define G_GNUC_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define GPOINTER_TO_UINT(p) ((guint)(uintptr_t)(p))
#define GUINT_TO_POINTER(n) ((gpointer)(uintptr_t)(n))
#define GPOINTER_TO_SIZE(p) ((gsize)(p))
#define GSIZE_TO_POINTER(n) ((gpointer)(gsize)(n))
#define GUINT32_TO_LE(n) htole32(n)
#define GUINT64_TO_LE(n) htole64(n)
#define GUINT64_FROM_LE(n) le64toh(n)
#define g_return_val_if_fail(what, otherwise) \
    do {                                      \
        if (!(what))                          \
            return otherwise;                 \
    } while (0)

typedef void (*GDestroyNotify)(gpointer);
typedef gint (*GCompareFunc)(gconstpointer, gconstpointer);
typedef gint (*GCompareDataFunc)(gconstpointer, gconstpointer, gpointer);
typedef guint (*GHashFunc)(gconstpointer);
typedef gboolean (*GEqualFunc)(gconstpointer, gconstpointer);

/* -- memory -- */

#define g_malloc heap_new
#define g_malloc0(n) heap_zeroed(n, 1)
#define g_free heap_free
gpointer small_array(gsize n, gsize size);
#define g_new(type, n) ((type *)small_array(n, sizeof(type)))
#define g_malloc0_n(n, size) heap_zeroed(n, size)
#define g_new0(type, n) ((type *)heap_zeroed(n, sizeof(type)))
gpointer small_resize(gpointer p, gsize n, gsize size);
#define g_renew(type, p, n) ((type *)small_resize(p, n, sizeof(type)))
gpointer g_memdup2(gconstpointer p, gsize n); /* NULL if P is NULL or N is 0 */

#define g_clear_pointer(pp, destroy)             \
    do {                                         \
        __typeof__(*(pp)) small_cleared = *(pp); \
        *(pp) = NULL;                            \
        if (small_cleared)                       \
            (destroy)(small_cleared);            \
    } while (0)
static inline gpointer small_steal(gpointer pp)
{
    gpointer *at = pp, p = *at;
    *at = NULL;
    return p;
}
#define g_steal_pointer(pp) ((__typeof__(*(pp)))small_steal(pp))

static inline void small_free_at(void *at)
{
    heap_free(*(void **)at);
}
#define g_autofree __attribute__((cleanup(small_free_at)))
#define G_DEFINE_AUTOPTR_CLEANUP_FUNC(type, release)                           \
    typedef type *small_auto_##type;                                           \
    __attribute__((unused)) static inline void small_release_##type(type **at) \
    {                                                                          \
        if (*at)                                                               \
            release(*at);                                                      \
    }
#define g_autoptr(type) __attribute__((cleanup(small_release_##type))) small_auto_##type
#define g_auto(type) __attribute__((cleanup(small_release_##type))) type

/* A block of N bytes with a reference count, which is not atomic. */
gpointer small_counted(gsize n);
gpointer g_rc_box_acquire(gpointer p);
void g_rc_box_release_full(gpointer p, GDestroyNotify clear);
#define g_rc_box_new0(type) ((type *)small_counted(sizeof(type)))

/* -- arrays -- */

typedef struct {
    char *data;
    guint len;
} GArray;
GArray *g_array_new(gboolean terminated, gboolean zeroed, guint size);
GArray *g_array_sized_new(gboolean terminated, gboolean zeroed, guint size, guint room);
GArray *g_array_ref(GArray *a);
void g_array_unref(GArray *a);
char *g_array_free(GArray *a, gboolean data); /* DATA FALSE: the caller gets the data */
void g_array_set_clear_func(GArray *a, GDestroyNotify clear);
GArray *g_array_append_vals(GArray *a, gconstpointer data, guint n);
GArray *g_array_insert_vals(GArray *a, guint at, gconstpointer data, guint n);
GArray *g_array_set_size(GArray *a, guint n);
void g_array_sort(GArray *a, GCompareFunc compare);
void g_array_sort_with_data(GArray *a, GCompareDataFunc compare, gpointer user);
#define g_array_append_val(a, v) g_array_append_vals(a, &(v), 1)
#define g_array_insert_val(a, at, v) g_array_insert_vals(a, at, &(v), 1)
#define g_array_index(a, type, i) (((type *)(void *)(a)->data)[i])
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GArray, g_array_unref)

typedef struct {
    guint8 *data;
    guint len;
} GByteArray;
GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_sized_new(guint room);
GByteArray *g_byte_array_append(GByteArray *a, const guint8 *data, guint n);
GByteArray *g_byte_array_set_size(GByteArray *a, guint n);
void g_byte_array_unref(GByteArray *a);

typedef struct {
    gpointer *pdata;
    guint len;
} GPtrArray;
GPtrArray *g_ptr_array_new(void);
GPtrArray *g_ptr_array_new_with_free_func(GDestroyNotify release);
void g_ptr_array_unref(GPtrArray *a);
void g_ptr_array_add(GPtrArray *a, gpointer p);
void g_ptr_array_insert(GPtrArray *a, gint at, gpointer p);
gboolean g_ptr_array_remove(GPtrArray *a, gpointer p);
void g_ptr_array_set_size(GPtrArray *a, gint n);
gpointer *g_ptr_array_steal(GPtrArray *a, gsize *n);
void g_ptr_array_sort(GPtrArray *a, GCompareFunc compare);
#define g_ptr_array_index(a, i) ((a)->pdata[i])
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GPtrArray, g_ptr_array_unref)

/* Stable. */
void g_qsort_with_data(gconstpointer data, gint n, gsize size, GCompareDataFunc compare,
                       gpointer user);
void small_sort(void *data, size_t n, size_t size, int (*compare)(const void *, const void *));
#define qsort small_sort /* libc's takes memory by malloc */

typedef struct GBytes GBytes;
GBytes *g_bytes_new(gconstpointer data, gsize n);
GBytes *g_bytes_new_from_bytes(GBytes *b, gsize at, gsize n);
GBytes *g_bytes_ref(GBytes *b);
void g_bytes_unref(GBytes *b);
gconstpointer g_bytes_get_data(GBytes *b, gsize *n); /* NULL if there are no bytes */
gsize g_bytes_get_size(GBytes *b);
guint g_bytes_hash(gconstpointer b);
gboolean g_bytes_equal(gconstpointer a, gconstpointer b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GBytes, g_bytes_unref)

/* -- tables -- */

typedef struct GHashTable GHashTable;
typedef struct {
    GHashTable *table;
    guint at;
} GHashTableIter;
GHashTable *g_hash_table_new(GHashFunc hash, GEqualFunc equal);
GHashTable *g_hash_table_new_full(GHashFunc hash, GEqualFunc equal, GDestroyNotify key,
                                  GDestroyNotify value);
void g_hash_table_unref(GHashTable *t);
void g_hash_table_destroy(GHashTable *t);
guint g_hash_table_size(GHashTable *t);
gpointer g_hash_table_lookup(GHashTable *t, gconstpointer key);
gboolean g_hash_table_lookup_extended(GHashTable *t, gconstpointer key, gpointer *stored,
                                      gpointer *value);
gboolean g_hash_table_contains(GHashTable *t, gconstpointer key);
/* Both return whether the key is new. If it is not, INSERT keeps the table's key and frees KEY;
 * REPLACE keeps KEY and frees the table's. */
gboolean g_hash_table_insert(GHashTable *t, gpointer key, gpointer value);
gboolean g_hash_table_replace(GHashTable *t, gpointer key, gpointer value);
gboolean g_hash_table_add(GHashTable *t, gpointer key);
gboolean g_hash_table_remove(GHashTable *t, gconstpointer key);
gboolean g_hash_table_steal(GHashTable *t, gconstpointer key);
void g_hash_table_remove_all(GHashTable *t);
/* Iterates in the order of insertion, unless entries were removed. */
void g_hash_table_iter_init(GHashTableIter *i, GHashTable *t);
gboolean g_hash_table_iter_next(GHashTableIter *i, gpointer *key, gpointer *value);
guint g_str_hash(gconstpointer s);
gboolean g_str_equal(gconstpointer a, gconstpointer b);
guint g_int64_hash(gconstpointer n);
gboolean g_int64_equal(gconstpointer a, gconstpointer b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GHashTable, g_hash_table_unref)

typedef struct GList {
    gpointer data;
    struct GList *next, *prev;
} GList;
GList *g_hash_table_get_keys(GHashTable *t);
GList *g_list_sort(GList *l, GCompareFunc compare);
void g_list_free(GList *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GList, g_list_free)

/* -- text -- */

char *g_strdup(const char *s);
char *g_strndup(const char *s, gsize n);
char *g_strconcat(const char *first, ...) __attribute__((sentinel));
char *g_strdup_printf(const char *format, ...) G_GNUC_PRINTF(1, 2);
char *g_build_filename(const char *a, const char *b,
                       gpointer end); /* two parts only; END is NULL */
char *g_path_get_dirname(const char *path);
char *g_path_get_basename(const char *path);
char *g_strdelimit(char *s, const char *which, char by);
char *g_strstrip(char *s);
gboolean g_str_has_prefix(const char *s, const char *prefix);
const char *g_strerror(int number);
typedef char **GStrv;
char **g_strsplit(const char *s, const char *by, gint most);
guint g_strv_length(char **all);
void g_strfreev(char **all);
static inline void small_release_GStrv(GStrv *at)
{
    g_strfreev(*at);
}
char *g_utf8_make_valid(const char *s, gssize n);
/* Both use the C locale, whatever the application's is. */
double g_ascii_strtod(const char *s, char **end);
gint64 g_ascii_strtoll(const char *s, char **end, guint base);
guint64 g_ascii_strtoull(const char *s, char **end, guint base);
static inline gboolean g_ascii_isdigit(char c)
{
    return c >= '0' && c <= '9';
}
static inline gboolean g_ascii_iscntrl(char c)
{
    return (c >= 0 && c < ' ') || c == 127;
}

typedef struct {
    char *str;
    gsize len, room;
} GString;
GString *g_string_new(const char *s);
char *g_string_free(GString *s, gboolean text); /* TEXT FALSE: the caller gets the text */
GString *g_string_append(GString *s, const char *text);
GString *g_string_append_len(GString *s, const char *text, gssize n);
GString *g_string_append_c(GString *s, char c);
void g_string_append_printf(GString *s, const char *format, ...) G_GNUC_PRINTF(2, 3);

typedef struct {
    GQuark domain;
    gint code;
    char *message;
} GError;
void g_set_error(GError **at, GQuark domain, gint code, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
void g_propagate_error(GError **at, GError *e);
void g_error_free(GError *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GError, g_error_free)
/* All quarks are 1: errors have one domain here, and nobody asks for its name. */
#define G_DEFINE_QUARK(name, function) \
    GQuark function##_quark(void)      \
    {                                  \
        return 1;                      \
    }

/* A key file for writing: groups of lines "key=value". */
typedef struct GKeyFile GKeyFile;
GKeyFile *g_key_file_new(void);
void g_key_file_unref(GKeyFile *f);
void g_key_file_set_value(GKeyFile *f, const char *group, const char *key, const char *value);
/* VALUE is escaped. */
void g_key_file_set_string(GKeyFile *f, const char *group, const char *key, const char *value);
void g_key_file_set_integer(GKeyFile *f, const char *group, const char *key, gint value);
void g_key_file_set_uint64(GKeyFile *f, const char *group, const char *key, guint64 value);
void g_key_file_set_boolean(GKeyFile *f, const char *group, const char *key, gboolean value);
char *g_key_file_to_data(GKeyFile *f, gsize *n, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GKeyFile, g_key_file_unref)

#endif
