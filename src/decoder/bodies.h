/* bodies.h: which calls a program made upon which completion, when it saw several at once.
 *
 * On each side a window is a row of groups of completions, and behind each group the calls made upon its members, in order. A completion
 * is in one group of each side, and its calls must be the same on both: that tells where the calls of one end and those of the next begin. */
#ifndef WEND_DECODER_BODIES_H
#define WEND_DECODER_BODIES_H

#include <glib.h>

#include "items.h"

/* A row of items that a side looks ahead at. */
typedef struct { Items *items; gsize start, n; } Row;

Item row_item(const Row *row, gsize i);
gsize row_common(const Row *a, const Row *b);          /* how many items they begin with in common */
gboolean row_equal(const Row *a, const Row *b);

/* A group: keys name its completions (0 … n_keys - 1). What is solved is taken off it. */
typedef struct {
    guint *keys;
    guint n;
    Row row;
    gboolean open;       /* the last of its side: the row goes on with the rest of the program */
    Row rest;            /* open: what should have followed, and did not */
} Group;

typedef struct Bodies Bodies;

/* GROUPS has those of the first side, then those of the second; it and the keys belong to the caller and are changed. Each side has
 * each key once, and its last group is open. */
Bodies *bodies_new(Group *groups, guint n_first, guint n_second, guint n_keys);
void bodies_free(Bodies *b);
/* TRUE: there are bodies that fit all closed groups and the beginnings of the open rows; then the open groups hold what is left: keys whose bodies
 * neither side tells, and rests. ACCEPT says whether these will do; bodies are sought until it does. FALSE: none were found. */
gboolean bodies_solve(Bodies *b, gboolean (*accept)(gpointer data), gpointer data);
/* Where the rows of the two sides part, if there was no solution: FALSE if that cannot be said. */
gboolean bodies_conflict(const Bodies *b, Item *first, Item *second);

gboolean group_same_keys(const Group *a, const Group *b);

#endif
