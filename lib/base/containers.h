/* SPDX-License-Identifier: BSD-3-Clause */
/* containers.h: vectors, bytes that do not change, and maps, in the memory of memory.h. */
#ifndef WEND_CONTAINERS_H
#define WEND_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP(x, low, high) ((x) > (high) ? (high) : (x) < (low) ? (low) : (x))
#endif
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
/* Numbers in place of pointers, as values and keys. */
#define NUMBER_OF(p) ((uint32_t)(uintptr_t)(p))
#define OF_NUMBER(n) ((void *)(uintptr_t)(n))

typedef void (*Release)(void *p);
/* Below 0, 0, above 0: A comes before B, is equal, comes after it. */
typedef int (*Compare)(const void *a, const void *b);
typedef int (*CompareBy)(const void *a, const void *b, void *user);

/* -- vectors -- */

/* LEN elements of one size. VECTOR_AT(v, type, i) is element I, an lvalue. */
typedef struct {
    void *data; /* NULL if there never was an element */
    uint32_t len;
    uint32_t size, references; /* SIZE: of an element, in bytes */
    size_t room;               /* bytes */
    Release clear, release;
} Vector;
#define VECTOR_AT(v, type, i) (((type *)(v)->data)[i])
#define VECTOR_POINTER(v, i) VECTOR_AT(v, void *, i)

Vector *vector_new(size_t size);
Vector *vector_with_room(size_t size, size_t n); /* for N elements */
/* Of pointers. RELEASE, if not NULL, is called for each that is dropped and is not NULL. */
Vector *vector_of_pointers(Release release);
/* CLEAR is called with the address of each element that is dropped. */
void vector_set_clear(Vector *v, Release clear);
Vector *vector_ref(Vector *v);
void vector_unref(Vector *v);
/* Frees V alone. The caller has the elements. */
void *vector_steal(Vector *v);

void vector_append_all(Vector *v, const void *elements, size_t n);
void vector_insert_all(Vector *v, uint32_t at, const void *elements, size_t n);
/* ELEMENT is an lvalue. */
#define VECTOR_APPEND(v, element) vector_append_all(v, &(element), 1)
#define VECTOR_INSERT(v, at, element) vector_insert_all(v, at, &(element), 1)
void vector_add(Vector *v, void *pointer);
bool vector_remove(Vector *v, const void *pointer); /* the first one; whether it was there */
void vector_resize(Vector *v, size_t n);            /* new elements are zeros */

/* Sorts are stable. */
void vector_sort(Vector *v, Compare compare);
void vector_sort_plain(void *data, size_t n, size_t size, Compare compare);
void vector_sort_plain_by(void *data, size_t n, size_t size, CompareBy compare, void *user);

/* Sets ORDER to 0, 1, …, N - 1. */
void vector_indices(uint32_t *order, uint32_t n);

/* Sorts ORDER, N indices into KEYS, by ascending keys; the sort is stable. A radix sort, the lowest
 * eight bits first (Knuth, The Art of Computer Programming 3, 5.2.5). It takes as many passes as
 * the largest key has bytes, and none if ORDER is sorted. */
void vector_sort_indices(uint32_t *order, const uint32_t *keys, uint32_t n);

AUTO_DEFINE(Vector, vector_unref)

/* -- bytes -- */

/* N bytes at DATA, which do not change, with a count of references. */
typedef struct Bytes {
    struct Bytes *of; /* whose bytes they are; NULL: their own */
    uint32_t references;
    size_t n;
    const uint8_t *data;
} Bytes;
Bytes *bytes_new(const void *data, size_t n);
Bytes *bytes_take(void *data, size_t n);           /* DATA is theirs, from memory.h */
Bytes *bytes_part(Bytes *of, size_t at, size_t n); /* N bytes of OF from AT on */
Bytes *bytes_ref(Bytes *b);
void bytes_unref(Bytes *b); /* B may be NULL */
uint32_t bytes_hash(const void *bytes);
bool bytes_equal(const void *a, const void *b);
AUTO_DEFINE(Bytes, bytes_unref)

/* -- maps -- */

typedef struct Map Map;
typedef uint32_t (*MapHash)(const void *key);
typedef bool (*MapEqual)(const void *a, const void *b);
/* HASH NULL: keys are equal if their addresses are. Then EQUAL may be NULL. FREE_KEY and FREE_VALUE
 * may be NULL. */
Map *map_new(MapHash hash, MapEqual equal, Release free_key, Release free_value);
/* Keys are Bytes or words (int64_t), which the map takes and frees, or texts, which it does not
 * free. */
Map *map_of_bytes(Release free_value);
Map *map_of_words(void);
Map *map_of_texts(Release free_value);
void map_unref(Map *m);
uint32_t map_size(const Map *m);
void *map_get(const Map *m, const void *key); /* NULL if there is none */
/* Whether KEY is there; then *VALUE is its value. */
bool map_find(const Map *m, const void *key, void **value);
bool map_has(const Map *m, const void *key);
/* Both return whether the key is new. If it is not, MAP_PUT keeps the map's key and frees KEY;
 * MAP_REPLACE keeps KEY and frees the map's. */
bool map_put(Map *m, void *key, void *value);
bool map_replace(Map *m, void *key, void *value);
/* For a map_of_words: a copy of WORD is the key. */
bool map_put_word(Map *m, int64_t word, void *value);
/* For a map_of_bytes: the key is the N bytes at KEY, such as a struct without padding. Of a new key
 * MAP_PUT_BYTES keeps a copy. */
void *map_get_bytes(const Map *m, const void *key, size_t n);
bool map_find_bytes(const Map *m, const void *key, size_t n, void **value);
bool map_has_bytes(const Map *m, const void *key, size_t n);
bool map_put_bytes(Map *m, const void *key, size_t n, void *value);
/* The number of KEY, for a map that numbers its keys from 0 by first occurrence. A key without one
 * gets the next one, and *IS_NEW is true. */
uint32_t map_number(Map *m, const void *key, size_t n, bool *is_new);
/* The value of KEY, valid as long as the map. A new one is SIZE zero bytes, which the map's
 * FREE_VALUE frees: memory_free, or a function that calls it last. */
void *map_entry(Map *m, const void *key, size_t n, size_t size);
bool map_remove(Map *m, const void *key); /* frees key and value */
bool map_steal(Map *m, const void *key);  /* does not */
void map_clear(Map *m);

/* Visits entries in the order of insertion, unless entries were removed:
 * for (MapPlace p = {.map = m}; map_next(&p);) uses p.key and p.value. */
typedef struct {
    const Map *map;
    uint32_t at;
    void *key, *value;
} MapPlace;
bool map_next(MapPlace *p);
static inline const void *map_key_bytes(const MapPlace *p)
{
    return ((const Bytes *)p->key)->data;
}
AUTO_DEFINE(Map, map_unref)

uint32_t map_text_hash(const void *text);
bool map_text_equal(const void *a, const void *b);
/* Of int64_t, also of two numbers in one word. */
uint32_t map_word_hash(const void *word);
bool map_word_equal(const void *a, const void *b);

/* -- numbers for pairs of terminals, one of each of two sequences, by first occurrence -- */

/* Sequences with more calls than this are not paired: a walk over two sequences takes about 50 ns
 * a call in each step of the merge. */
enum { PAIRS_LENGTH_MAX = 1 << 22 };

#define PAIR_NONE UINT32_MAX /* in place of a terminal: only the other sequence makes the call */

typedef struct {
    Map *numbers;  /* a << 32 | b -> number + 1 */
    Vector *of[2]; /* uint32_t, the terminal of a and that of b, by number */
    /* by terminal of a, with PAIR_NONE as number n_a: 1 + its last pair, or 0 */
    uint32_t n_a, *last;
} Pairs;

Pairs pairs_new(uint32_t n_a); /* N_A: the number of terminals of a */
uint32_t pairs_number(Pairs *p, uint32_t a, uint32_t b);
static inline uint32_t pairs_count(const Pairs *p)
{
    return p->of[0]->len;
}
void pairs_clear(Pairs *p);

#endif
