/* SPDX-License-Identifier: BSD-3-Clause */
/* containers.c: see containers.h. */
#include "containers.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* -- sorting -- */

typedef struct {
    CompareBy compare;
    void *user;
    size_t size;
} SortOrder;

/* Copies an element. Most are words or numbers, which take no call of memcpy. */
static inline void copy_element(char *to, const char *from, size_t size)
{
    if (size == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (size == sizeof(uint32_t))
        memcpy(to, from, sizeof(uint32_t));
    else
        memcpy(to, from, size);
}

/* Merge sort of the N elements at DATA; ROOM has the same size. Much of what is sorted is in order
 * already. */
static void sort(char *data, char *room, size_t n, const SortOrder *o)
{
    size_t half = n / 2, left = 0, right = half, at = 0;
    if (n < 2)
        return;
    sort(data, room, half, o);
    sort(data + half * o->size, room, n - half, o);
    if (o->compare(data + (half - 1) * o->size, data + half * o->size, o->user) <= 0)
        return;
    while (left < half && right < n) {
        bool second = o->compare(data + left * o->size, data + right * o->size, o->user) > 0;
        size_t *from = second ? &right : &left;
        copy_element(room + at++ * o->size, data + (*from)++ * o->size, o->size);
    }
    memcpy(room + at * o->size, data + left * o->size, (half - left) * o->size);
    memcpy(data, room, (at + half - left) * o->size);
}

void vector_sort_plain_by(void *data, size_t n, size_t size, CompareBy compare, void *user)
{
    const SortOrder order = {compare, user, size};
    if (n < 2)
        return;
    AUTOFREE char *room = memory_array(NULL, n, size);
    sort(data, room, n, &order);
}

typedef struct {
    Compare compare;
} Plain;

static int compare_plainly(const void *a, const void *b, void *plain)
{
    return ((const Plain *)plain)->compare(a, b);
}

void vector_sort_plain(void *data, size_t n, size_t size, Compare compare)
{
    Plain plain = {compare};
    vector_sort_plain_by(data, n, size, compare_plainly, &plain);
}

void vector_sort(Vector *v, Compare compare)
{
    vector_sort_plain(v->data, v->len, v->size, compare);
}

/* -- vectors -- */

Vector *vector_with_room(size_t size, size_t n)
{
    Vector *v = memory_new(sizeof *v);
    *v = (Vector){.size = (uint32_t)size, .references = 1};
    v->data = memory_array(NULL, n, size);
    v->room = n * size;
    return v;
}

Vector *vector_new(size_t size)
{
    return vector_with_room(size, 0);
}

Vector *vector_of_pointers(Release release)
{
    Vector *v = vector_new(sizeof(void *));
    v->release = release;
    return v;
}

void vector_set_clear(Vector *v, Release clear)
{
    v->clear = clear;
}

Vector *vector_ref(Vector *v)
{
    v->references++;
    return v;
}

static void *element(const Vector *v, size_t i)
{
    return (char *)v->data + i * v->size;
}

/* Calls what is to be called for the elements from FIRST on. */
static void drop(const Vector *v, size_t first)
{
    for (size_t i = first; v->clear && i < v->len; i++)
        v->clear(element(v, i));
    for (size_t i = first; v->release && i < v->len; i++)
        if (VECTOR_POINTER(v, i))
            v->release(VECTOR_POINTER(v, i));
}

void vector_unref(Vector *v)
{
    if (--v->references > 0)
        return;
    drop(v, 0);
    memory_free(v->data);
    memory_free(v);
}

void *vector_steal(Vector *v)
{
    void *data = v->data;
    memory_free(v);
    return data;
}

/* Makes room for N elements more. */
static void reserve(Vector *v, size_t n)
{
    size_t all, bytes;
    if (__builtin_add_overflow(v->len, n, &all) || all > UINT32_MAX
        || __builtin_mul_overflow(all, v->size, &bytes))
        memory_short();
    if (bytes <= v->room)
        return;
    v->room = MAX(bytes, MAX(2 * v->room, 16));
    v->data = memory_array(v->data, v->room, 1);
}

void vector_insert_all(Vector *v, uint32_t at, const void *elements, size_t n)
{
    if (n == 0)
        return;
    reserve(v, n);
    if (at < v->len)
        memmove(element(v, at + n), element(v, at), (v->len - at) * (size_t)v->size);
    memcpy(element(v, at), elements, n * v->size);
    v->len += (uint32_t)n;
}

void vector_append_all(Vector *v, const void *elements, size_t n)
{
    vector_insert_all(v, v->len, elements, n);
}

void vector_add(Vector *v, void *pointer)
{
    VECTOR_APPEND(v, pointer);
}

bool vector_remove(Vector *v, const void *pointer)
{
    uint32_t at = 0;
    while (at < v->len && VECTOR_POINTER(v, at) != pointer)
        at++;
    if (at == v->len)
        return false;
    void *removed = VECTOR_POINTER(v, at);
    v->len--;
    memmove(element(v, at), element(v, at + 1), (v->len - at) * sizeof(void *));
    if (v->release)
        v->release(removed);
    return true;
}

void vector_resize(Vector *v, size_t n)
{
    if (n > v->len) {
        reserve(v, n - v->len);
        memset(element(v, v->len), 0, (n - v->len) * v->size);
    } else if (n < v->len) {
        drop(v, n);
    }
    v->len = (uint32_t)n;
}

/* -- indices in the order of their keys -- */

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void vector_indices(uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
}

/* Sorts the N indices at FROM by the eight bits of their keys from bit SHIFT on, into TO. */
static void pass(const uint32_t *from, uint32_t *to, const uint32_t *keys, uint32_t n,
                 uint32_t shift)
{
    uint32_t start[DIGITS] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        start[keys[from[i]] >> shift & (DIGITS - 1)]++;
    for (uint32_t d = 0; d < DIGITS; d++) {
        uint32_t count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[start[keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

void vector_sort_indices(uint32_t *order, const uint32_t *keys, uint32_t n)
{
    uint32_t largest = 0;
    bool ascends = true;
    for (uint32_t i = 0; i < n; i++) {
        if (keys[order[i]] < largest)
            ascends = false;
        largest = MAX(largest, keys[order[i]]);
    }
    if (ascends)
        return;
    AUTOFREE uint32_t *other = NEW(uint32_t, n);
    uint32_t *from = order, *to = other;
    for (uint32_t shift = 0; shift < 32 && largest >> shift; shift += DIGIT_BITS) {
        pass(from, to, keys, n, shift);
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != order)
        memcpy(order, from, n * sizeof *order);
}

/* -- bytes -- */

Bytes *bytes_new(const void *data, size_t n)
{
    size_t all;
    if (__builtin_add_overflow(n, sizeof(Bytes), &all))
        memory_short();
    Bytes *b = memory_new(all);
    *b = (Bytes){NULL, 1, n, (const uint8_t *)(b + 1)};
    if (n)
        memcpy(b + 1, data, n);
    return b;
}

Bytes *bytes_take(void *data, size_t n)
{
    Bytes *b = NEW(Bytes, 1);
    *b = (Bytes){NULL, 1, n, data};
    return b;
}

Bytes *bytes_part(Bytes *of, size_t at, size_t n)
{
    Bytes *b = memory_new(sizeof *b);
    *b = (Bytes){bytes_ref(of), 1, n, of->data + at};
    return b;
}

Bytes *bytes_ref(Bytes *b)
{
    b->references++;
    return b;
}

void bytes_unref(Bytes *b)
{
    if (!b || --b->references > 0)
        return;
    if (!b->of && b->data != (const uint8_t *)(b + 1))
        memory_free((void *)(uintptr_t)b->data);
    bytes_unref(b->of);
    memory_free(b);
}

uint32_t bytes_hash(const void *bytes)
{
    const Bytes *b = bytes;
    return (uint32_t)XXH3_64bits(b->data, b->n);
}

bool bytes_equal(const void *a, const void *b)
{
    const Bytes *x = a, *y = b;
    return x->n == y->n && memcmp(x->data, y->data, x->n) == 0;
}

/* -- maps -- */

/* The index of a map: hash and entry. So a look-up reads the entry alone that it looks for. */
typedef struct {
    uint32_t hash, entry; /* 1 + entry; 0: an empty slot */
} MapSlot;

/* Entries in the order of insertion, and an index of them by hash: open addressing, at most half
 * full. A removed entry stays, without a key, until all entries are moved. */
typedef struct {
    void *key, *value;
    uint32_t hash;
    bool there;
} MapEntry;

struct Map {
    MapHash hash;
    MapEqual equal;
    Release free_key, free_value;
    MapEntry *entries;
    uint32_t n_entries, n_there; /* with and without removed entries */
    MapSlot *index;
    uint32_t slots; /* a power of two */
};

enum { LEAST_SLOTS = 8 };

static uint32_t hash_address(const void *p)
{
    uint64_t n = (uintptr_t)p;
    return (uint32_t)(n >> 4) ^ (uint32_t)n ^ (uint32_t)(n >> 32);
}

Map *map_new(MapHash hash, MapEqual equal, Release key, Release value)
{
    Map *m = memory_new(sizeof *m);
    *m = (Map){.hash = hash ? hash : hash_address, .equal = equal};
    m->free_key = key;
    m->free_value = value;
    return m;
}

/* Spreads HASH over the slots: hashes of numbers are the numbers, which follow patterns. */
static uint32_t slot_of(const Map *m, uint32_t hash)
{
    return (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (m->slots - 1);
}

static bool is(const Map *m, const MapEntry *e, const void *key)
{
    return e->there && (e->key == key || (m->equal && m->equal(e->key, key)));
}

static MapEntry *find(const Map *m, const void *key, uint32_t hash)
{
    if (m->slots == 0)
        return NULL;
    for (uint32_t at = slot_of(m, hash); m->index[at].entry; at = (at + 1) & (m->slots - 1))
        if (m->index[at].hash == hash && is(m, &m->entries[m->index[at].entry - 1], key))
            return &m->entries[m->index[at].entry - 1];
    return NULL;
}

static void put_index(Map *m, uint32_t entry)
{
    uint32_t at = slot_of(m, m->entries[entry].hash);
    while (m->index[at].entry)
        at = (at + 1) & (m->slots - 1);
    m->index[at] = (MapSlot){m->entries[entry].hash, entry + 1};
}

static uint32_t room(uint32_t slots)
{
    return slots / 2;
}

/* Makes room for one more entry. */
static void make_room(Map *m)
{
    if (m->n_entries < room(m->slots))
        return;
    uint32_t slots = LEAST_SLOTS, kept = 0;
    while (room(slots) < 2 * (uint64_t)m->n_there)
        if (__builtin_mul_overflow(slots, 2U, &slots))
            memory_short();
    if (slots > m->slots)
        m->entries = memory_array(m->entries, room(slots), sizeof *m->entries);
    for (uint32_t i = 0; i < m->n_entries; i++)
        if (m->entries[i].there)
            m->entries[kept++] = m->entries[i];
    memory_free(m->index);
    m->index = NULL;
    m->index = memory_zeroed(slots, sizeof *m->index);
    m->slots = slots;
    m->n_entries = kept;
    for (uint32_t i = 0; i < kept; i++)
        put_index(m, i);
}

static void release(Release destroy, void *p)
{
    if (destroy)
        destroy(p);
}

static bool put(Map *m, void *key, void *value, bool replace)
{
    uint32_t hash = m->hash(key);
    MapEntry *e = find(m, key, hash);
    if (e) {
        MapEntry before = *e;
        e->key = replace ? key : before.key;
        e->value = value;
        release(m->free_key, replace ? before.key : key);
        release(m->free_value, before.value);
        return false;
    }
    make_room(m);
    m->entries[m->n_entries] = (MapEntry){key, value, hash, true};
    put_index(m, m->n_entries++);
    m->n_there++;
    return true;
}

bool map_put(Map *m, void *key, void *value)
{
    return put(m, key, value, false);
}

bool map_replace(Map *m, void *key, void *value)
{
    return put(m, key, value, true);
}

bool map_put_word(Map *m, int64_t word, void *value)
{
    return map_put(m, memory_copy(&word, sizeof word), value);
}

bool map_steal(Map *m, const void *key)
{
    MapEntry *e = find(m, key, m->hash(key));
    if (!e)
        return false;
    e->there = false;
    m->n_there--;
    return true;
}

bool map_remove(Map *m, const void *key)
{
    const MapEntry *e = find(m, key, m->hash(key));
    if (!e)
        return false;
    MapEntry before = *e;
    map_steal(m, key);
    release(m->free_key, before.key);
    release(m->free_value, before.value);
    return true;
}

void map_clear(Map *m)
{
    for (uint32_t i = 0; i < m->n_entries; i++) {
        if (!m->entries[i].there)
            continue;
        release(m->free_key, m->entries[i].key);
        release(m->free_value, m->entries[i].value);
    }
    m->n_entries = m->n_there = 0;
    if (m->index)
        memset(m->index, 0, m->slots * sizeof *m->index);
}

void map_unref(Map *m)
{
    map_clear(m);
    memory_free(m->entries);
    memory_free(m->index);
    memory_free(m);
}

uint32_t map_size(const Map *m)
{
    return m->n_there;
}

void *map_get(const Map *m, const void *key)
{
    const MapEntry *e = find(m, key, m->hash(key));
    return e ? e->value : NULL;
}

bool map_find(const Map *m, const void *key, void **value)
{
    const MapEntry *e = find(m, key, m->hash(key));
    if (e)
        *value = e->value;
    return e != NULL;
}

bool map_has(const Map *m, const void *key)
{
    return find(m, key, m->hash(key)) != NULL;
}

void *map_get_bytes(const Map *m, const void *key, size_t n)
{
    return map_get(m, &(Bytes){NULL, 1, n, key});
}

bool map_find_bytes(const Map *m, const void *key, size_t n, void **value)
{
    return map_find(m, &(Bytes){NULL, 1, n, key}, value);
}

bool map_has_bytes(const Map *m, const void *key, size_t n)
{
    return map_has(m, &(Bytes){NULL, 1, n, key});
}

bool map_put_bytes(Map *m, const void *key, size_t n, void *value)
{
    return map_put(m, bytes_new(key, n), value);
}

uint32_t map_number(Map *m, const void *key, size_t n, bool *is_new)
{
    void *number;
    *is_new = !map_find_bytes(m, key, n, &number);
    if (*is_new)
        map_put_bytes(m, key, n, number = OF_NUMBER(m->n_there));
    return NUMBER_OF(number);
}

void *map_entry(Map *m, const void *key, size_t n, size_t size)
{
    void *entry = map_get_bytes(m, key, n);
    if (!entry)
        map_put_bytes(m, key, n, entry = memory_zeroed(1, size));
    return entry;
}

bool map_next(MapPlace *p)
{
    const Map *m = p->map;
    while (p->at < m->n_entries && !m->entries[p->at].there)
        p->at++;
    if (p->at == m->n_entries)
        return false;
    p->key = m->entries[p->at].key;
    p->value = m->entries[p->at].value;
    p->at++;
    return true;
}

uint32_t map_text_hash(const void *text)
{
    return (uint32_t)XXH3_64bits(text, strlen(text));
}

bool map_text_equal(const void *a, const void *b)
{
    return strcmp(a, b) == 0;
}

/* The slots mix the halves of the hash, which is 32 bits: all keys a << 32 | b with one b must not
 * have one hash (Knuth, The Art of Computer Programming 3, 6.4: Fibonacci hashing). */
uint32_t map_word_hash(const void *word)
{
    uint64_t h = *(const uint64_t *)word * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

bool map_word_equal(const void *a, const void *b)
{
    return *(const int64_t *)a == *(const int64_t *)b;
}

Map *map_of_bytes(Release free_value)
{
    return map_new(bytes_hash, bytes_equal, (Release)bytes_unref, free_value);
}

Map *map_of_words(void)
{
    return map_new(map_word_hash, map_word_equal, memory_free, NULL);
}

Map *map_of_texts(Release free_value)
{
    return map_new(map_text_hash, map_text_equal, NULL, free_value);
}

/* -- pairs -- */

Pairs pairs_new(uint32_t n_a)
{
    return (Pairs){map_of_words(),
                   {vector_new(sizeof(uint32_t)), vector_new(sizeof(uint32_t))},
                   n_a,
                   NEW0(uint32_t, (size_t)n_a + 1)};
}

uint32_t pairs_number(Pairs *p, uint32_t a, uint32_t b)
{
    uint32_t *last = &p->last[a == PAIR_NONE ? p->n_a : a];
    if (*last && VECTOR_AT(p->of[1], uint32_t, *last - 1) == b)
        return *last - 1;
    int64_t pair = (int64_t)((uint64_t)a << 32 | b);
    uint32_t number = NUMBER_OF(map_get(p->numbers, &pair));
    if (!number) {
        VECTOR_APPEND(p->of[0], a);
        VECTOR_APPEND(p->of[1], b);
        number = p->of[0]->len;
        map_put_word(p->numbers, pair, OF_NUMBER(number));
    }
    *last = number;
    return number - 1;
}

void pairs_clear(Pairs *p)
{
    for (int k = 0; k < 2; k++)
        vector_unref(p->of[k]);
    map_unref(p->numbers);
    memory_free(p->last);
}
