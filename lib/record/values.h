/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h: what `wend trace --values` records: results of functions that are no communication, and
 * that differ from run to run. The order of the table is part of the format of the archive. */
#ifndef WEND_VALUES_H
#define WEND_VALUES_H

/* X(CODE, "function", numbers; 0: bytes, seconds). Numbers of clocks are in their own units:
 * nanoseconds of clock_gettime (sub is the clock) and timespec_get, microseconds of gettimeofday,
 * seconds of time, ticks of clock and times. */
#define WEND_VALUE_TABLE(X)                               \
    X(WTIME, "MPI_Wtime", 1, true)                        \
    X(CLOCK_GETTIME, "clock_gettime", 1, false)           \
    X(GETTIMEOFDAY, "gettimeofday", 1, false)             \
    X(TIME, "time", 1, false)                             \
    X(CLOCK, "clock", 1, false)                           \
    X(TIMES, "times", 5, false)                           \
    X(TIMESPEC_GET, "timespec_get", 1, false)             \
    X(GETRANDOM, "getrandom", 0, false)                   \
    X(GETENTROPY, "getentropy", 0, false)                 \
    X(RANDOM_DEVICE, "read of a random device", 0, false) \
    X(RANDOM_NUMBER, "std::random_device", 1, false)      \
    X(GETPID, "getpid", 1, false)                         \
    X(GETHOSTNAME, "gethostname", 0, false)               \
    X(UNAME, "uname", 0, false)

typedef enum {
#define X(code, name, numbers, seconds) WEND_VALUE_##code,
    WEND_VALUE_TABLE(X)
#undef X
        WEND_VALUES
} WendValueCode;

#endif
