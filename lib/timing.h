/* timing.h: statistics that are the same whatever the order in which they are merged.
 *
 * Sums are held as fixed-point integers, so adding is exact and associative (floating-point merging as in Chan, Golub and LeVeque 1979
 * depends on the order in its last bits, and equal recordings would not be equal bytes). */
#ifndef WEND_TIMING_H
#define WEND_TIMING_H

#include <glib.h>

#include "buf.h"
#include "program.h"

typedef struct {
    guint64 count;
    __int128 sum;           /* of seconds, in 2^-60 s: 2^66 s fit */
    unsigned __int128 sum2; /* of squares, in 2^-84 s²: 2^44 s² fit */
    double min, max;        /* seconds; of no use when count is 0 */
} TimingSum;

TimingSum timing_from_moments(guint64 count, double mean, double min, double max, double m2); /* m2: sum of (x - mean)² */
/* Terminals of one shape in a sequence that have times of their own. Where there are more, most are called once, and what times say of them is noise: they share one row. */
enum { TIMING_APART = 32 };
/* N terminals with their shapes, equal ones next to each other, have ROWS of times: before, each one or some together; after, all of a shape together if they are more than
 * TIMING_APART, and rows numbered by first use. Returns how many rows there are. */
guint timing_rows(const guint32 *shapes, guint32 *rows, guint n);
/* Rows that sequences share, in groups, which are functions (before format 8, shapes): which of all, numbered by first use, are of one. LIKELY, of a group or of a terminal: 1 + the row of all
 * that it had last, 0: none yet. */
typedef struct { GArray **of_group; guint32 *likely_of_group, *likely_of_terminal; guint n_groups; guint32 n; } SharedRows;
void shared_rows_init(SharedRows *r, guint n_groups, guint n_terminals);
void shared_rows_clear(SharedRows *r);
guint32 shared_rows_count(const SharedRows *r, guint group);
guint32 shared_rows_at(const SharedRows *r, guint group, guint32 i); /* the number among all of the group's Ith */
guint32 shared_rows_add(SharedRows *r, guint group);                 /* a new one: its number among all */
/* 1 + the row that a terminal may well have: its own of another sequence, else the one that its group had last; 0: none. */
guint32 shared_rows_likely(const SharedRows *r, guint group, guint32 terminal);
/* The row (one of the group's) that a terminal has: how that is told, which is the likely one, a new one, or how many of the group there are from it on. And back; a new one is added. FALSE: there is no
 * such row. After either, it is the likely one. */
enum { ROW_LIKELY, ROW_NEW };
gint64 shared_rows_tell(SharedRows *r, guint group, guint32 terminal, guint32 row);
gboolean shared_rows_read(SharedRows *r, guint group, guint32 terminal, gint64 told, guint32 *row);
void timing_add(TimingSum *a, const TimingSum *b);
/* Whether A and B may well be times of the same: their means (Welch 1947) and their deviations are no further apart than three standard errors, or than is worth a row.
 * Of one call alone the deviation is taken from the other, and of two such is an eighth of their mean. */
gboolean timing_alike(const TimingSum *a, const TimingSum *b);
WendTiming timing_result(const TimingSum *t);

void timing_encode(const TimingSum *t, WendBuf *out);
TimingSum timing_decode(WendCursor *c);

/* What the archive has of the times of COUNT > 0 calls, rounded as far as they are known. Extremes, which are one call each, and the standard deviation have 4 significant bits, or 5 from
 * 1,000 calls on; the mean has that, and as many more, up to 10, as its standard error supports (of one call: 7). n bits are at most 2^-n of the time off.
 * [0] says the mean in 4 or 5 bits, [1] and [2] how far below and above it minimum and maximum are, [3], which may be negative, the standard deviation, [4] the further bits of the mean;
 * of one call, [0] and [4] alone count. Any numbers can be turned back. */
enum { TIMING_NUMBERS = 5 };
void timing_to_numbers(const WendTiming *t, gint64 numbers[TIMING_NUMBERS]);
void timing_from_numbers(WendTiming *t, const gint64 numbers[TIMING_NUMBERS]); /* t->count is set */
/* By the numbers before, how many bits [4] has: if none, it is not told. T, of which the count is set, becomes what they say. */
guint timing_finer(WendTiming *t, const gint64 numbers[TIMING_NUMBERS]);
static inline gboolean timing_has(guint64 count, guint number, guint finer) { return count > (number > 0 && number < 4) && (number < 4 || finer > 0); }
/* As before format 8: the mean in 7 bits, the rest in 5; without [4]. */
void timing_from_numbers_before(WendTiming *t, const gint64 numbers[TIMING_NUMBERS]);

/* A time as a small integer, quarters of a nanosecond to so many significant bits (2 to 32): monotone. And the middle of what has a code. */
guint32 timing_code(double seconds, guint bits);
double timing_seconds(guint32 code, guint bits);

void buf_double(WendBuf *b, double v);   /* 64-bit IEEE, little-endian */
double cursor_double(WendCursor *c);

#endif
