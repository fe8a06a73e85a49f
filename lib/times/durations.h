/* SPDX-License-Identifier: BSD-3-Clause */
/* durations.h: codings for the times of calls: how long each took, and how long after the call
 * before it began (docs/side-streams.md, "Times of calls").
 *
 * A coding turns a row of calls into two rows of bytes, one of durations and one of intervals.
 * Encoder and decoder learn alike from each call, so a row can be decoded only after all rows
 * before it. Both know the place of each call, a small number that is equal for calls which look
 * alike; it costs no bytes.
 *
 * This header is the interface of the folder. No GLib: the recorder uses it. It has one more,
 * clock-points.h, with which the recorder brings the clocks of several hosts together. */
#ifndef WEND_DURATIONS_H
#define WEND_DURATIONS_H

#include "base/buf.h"

/* The duration of a call that is not known: MPI_Finalize's, and those of pseudo-calls. */
#define WEND_DURATION_UNKNOWN INT64_MIN

/* Places are below 2^24. */
enum { WEND_DURATION_PLACE_BITS = 24 };

/* Times are in ticks of the recorder's clock. */
typedef struct {
    uint32_t place;
    int64_t interval; /* from the end of the call before to the start of this one */
    int64_t duration;
} WendTimedCall;

enum {
    WEND_DURATION_ROW = 1 << 16, /* most calls of a row */
    /* the least and the greatest relative error, in percent; that of a coding without one is 0 */
    WEND_DURATION_LEAST = 1,
    WEND_DURATION_MOST = 50
};

/* A coding. LEARNED is MEMORY bytes that the caller provides, aligned as by malloc. They have no
 * pointers to memory of their own, so they can be copied. */
typedef struct {
    const char *name;
    bool lossy; /* it has a relative error */
    size_t memory;
    void (*init)(void *learned, unsigned percent);
    /* Appends the durations and the intervals of the N calls at CALLS, at most WEND_DURATION_ROW. A
     * buffer has failed if memory is short. */
    void (*encode)(void *learned, const WendTimedCall *calls, size_t n, WendBuf *durations,
                   WendBuf *intervals);
    /* Sets the durations and the intervals of N calls, whose places are set. False, and a cursor
     * has failed: the bytes are damaged. */
    bool (*decode)(void *learned, WendTimedCall *calls, size_t n, WendCursor *durations,
                   WendCursor *intervals);
} WendDurationCoding;

/* The codings by number, as archives have them. */
typedef enum { WEND_DURATIONS_LOSSLESS, WEND_DURATIONS_BINS, WEND_DURATIONS } WendDurationsNumber;
/* NULL: there is no such coding. */
const WendDurationCoding *durations_coding(uint64_t number);

/* A coding, and its error. */
typedef struct {
    WendDurationsNumber coding;
    unsigned percent; /* 0: it has none */
} WendDurationsForm;
/* Reads "lossless", "bins", "bins:10%" or "10%". False: the text is none of these, or the error is
 * out of its bounds. */
bool durations_parse(const char *text, WendDurationsForm *form);

/* What brings the clock of a rank to that of rank 0 of its world, which is on another host. */
typedef struct {
    unsigned measured; /* how often it was measured, up to twice; 0: not, and the rest is 0 */
    int64_t shift;     /* nanoseconds to add to the origin */
    double drift;      /* how much longer a tick is, relatively; 0 if it was measured once */
    uint64_t error;    /* nanoseconds by which the clocks may differ where they were measured */
} WendClockCorrection;

/* What comes before the rows of a recording. */
typedef struct {
    WendDurationsForm form;
    double tick; /* its length in seconds */
    int64_t
        origin; /* nanoseconds from the epoch to the time from which the first interval counts */
    WendClockCorrection clock;
} WendDurationsHead;
void durations_put_head(WendBuf *out, const WendDurationsHead *head);
/* Reads the head, which goes to the end of C. False, and the cursor has failed: the bytes are
 * damaged. */
bool durations_read_head(WendCursor *c, WendDurationsHead *head);
/* Applies the correction to tick and origin. It is made for a head that was read, which it cannot
 * spoil. */
void durations_correct(WendDurationsHead *head);

/* The row as a recording has it: a block of durations and one of intervals. False: memory is
 * short, or the bytes are damaged. SCRATCH holds two buffers, which the caller clears. */
bool durations_put_row(const WendDurationCoding *coding, void *learned, const WendTimedCall *calls,
                       size_t n, WendBuf scratch[2], WendBuf *out);
bool durations_read_row(const WendDurationCoding *coding, void *learned, WendTimedCall *calls,
                        size_t n, WendCursor *c);

#endif
