/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h: a table of all settings of the tracer. `wend trace` makes its options and its help
 * from it. Each setting is an environment variable, so LD_PRELOAD and -lwend have the same
 * settings. C11 and nothing else. */
#ifndef WEND_SETTINGS_H
#define WEND_SETTINGS_H

#include <stdbool.h>

/* X(field, "VARIABLE", TYPE, default, "option", short option or 0, "ARGUMENT" or NULL, "help").
 * STRING: a path or name, NULL if not given. NUMBER: an integer from 0 on, in digits. PERCENT: a
 * number up to 100. SIZE: a number of bytes, also with K, M, G or T, in steps of 1024. SWITCH: ON
 * or OFF, also 1 or 0, yes or no, true or false. An option without an argument sets the variable to
 * the opposite of the default. */
/* clang-format off */
#define WEND_SETTINGS(X) \
    X(output, "WEND_OUTPUT", STRING, NULL, "output", 'o', "DIR", "write the recording to DIR " \
        "(default: wend-PROGRAM-JOB-TIME)") \
    X(force, "WEND_FORCE", SWITCH, false, "force", 'f', NULL, "replace an existing recording") \
    X(quiet, "WEND_QUIET", SWITCH, false, "quiet", 'q', NULL, "print nothing at the end unless " \
        "something went wrong") \
    X(tracing, "WEND_TRACING", SWITCH, true, "off", 0, NULL, "start with recording off, until " \
        "MPI_Pcontrol(1) or MPI_Info_set(info, \"WEND_TRACING\", \"ON\")") \
    X(values, "WEND_VALUES", SWITCH, false, "values", 0, NULL, "also record what the program " \
        "gets from the clock, as random numbers, process ids and host names, and by one-sided " \
        "communication, so that a replay returns it") \
    X(times, "WEND_TIMES", STRING, NULL, "times", 0, "CODING", "also record when each call " \
        "begins and how long it takes: lossless, or with a relative error, as 10%") \
    X(sites, "WEND_SITES", SWITCH, true, "no-sites", 0, NULL, "do not record where in the " \
        "program each call comes from") \
    X(stacks, "WEND_STACKS", NUMBER, 0, "stacks", 0, "DEPTH", "also record through which " \
        "functions the program came there: the call stack, DEPTH frames at most (default: 64)") \
    X(wait, "WEND_WAIT", NUMBER, 600, "wait", 0, "SECONDS", "wait this long at the end for " \
        "ranks that do not come (default: 600)") \
    X(checkpoint, "WEND_CHECKPOINT", NUMBER, 30, "checkpoint", 0, "SECONDS", "save the " \
        "recording this often, for runs that are killed (default: 30; 0: only when a rank ends " \
        "early)") \
    X(disk, "WEND_DISK", PERCENT, 5, "disk", 0, "PERCENT", "let the checkpoint files take " \
        "this share of the free disk (default: 5)") \
    X(shard_ranks, "WEND_SHARD_RANKS", NUMBER, 64, "shard-ranks", 0, "RANKS", "let so many " \
        "ranks that have next to nothing in common write their own member of the archive; an " \
        "eighth as many do if their calls are many (default: 64)") \
    X(max_memory, "WEND_MAX_MEMORY", SIZE, -1, "max-memory", 0, "BYTES", "limit each " \
        "process's recording, also 64M or 2G; recording stops there (default: 1/16 of the " \
        "machine's memory for all its ranks; 0: no limit)") \
    X(noise, "WEND_NOISE", NUMBER, 0, "noise", 0, "SEED", "delay sends and receives at random, " \
        "so that races show; SEED is a number that gives the same delays again")

/* Those of a replay. */
#define REPLAY_SETTINGS(X) \
    X(on_divergence, "WEND_ON_DIVERGENCE", STRING, "stop", "on-divergence", 0, "WHAT", "where " \
        "the program departs from the recording: stop (the default), free (go on without the " \
        "recording) or warn (go on as long as functions agree)") \
    X(then, "WEND_THEN", STRING, "stop", "then", 0, "WHAT", "at the end of the recording of a " \
        "run that died: stop (the default) or free (go on without the recording)") \
    X(until, "WEND_UNTIL", STRING, NULL, "until", 0, "RANK:CALL", "stop all ranks of the host " \
        "when RANK is about to make that call (RANK:THREAD.CALL: in that thread)") \
    X(debug, "WEND_DEBUG", STRING, NULL, "debug", 0, "RANKS", "let these ranks (0,3-5, all) " \
        "wait for a debugger before their first call of MPI") \
    X(patience, "WEND_PATIENCE", NUMBER, 60, "patience", 0, "SECONDS", "end the replay when no " \
        "rank has made progress for so long (default: 60; 0: never)")
/* clang-format on */

/* The order file of a replay (src/tracer/replay/order-file.h): wend replay sets it. */
#define REPLAY_ORDER "WEND_ORDER"
/* In its value: the rank, as the launcher says it. */
#define REPLAY_ORDER_RANK "%r"

typedef struct {
#define WEND_SETTING_STRING const char *
#define WEND_SETTING_NUMBER long
#define WEND_SETTING_PERCENT long
#define WEND_SETTING_SIZE long
#define WEND_SETTING_SWITCH bool
#define X(field, variable, type, default_value, option, letter, argument, doc) \
    WEND_SETTING_##type field;
    WEND_SETTINGS(X)
    REPLAY_SETTINGS(X)
#undef X
#undef WEND_SETTING_STRING
#undef WEND_SETTING_NUMBER
#undef WEND_SETTING_SIZE
#undef WEND_SETTING_SWITCH
} WendSettings;

/* Tracer only (settings.c). */
const WendSettings *settings(void); /* read from the environment at the first use */
/* the first value that is not valid, as a message; NULL if all are valid */
const char *settings_problem(void);
/* Calls GIVEN for each setting in the environment, with its name in lower case without WEND_, and
 * its value. */
void settings_given(void (*given)(void *user, const char *name, const char *value), void *user);
bool settings_switch(const char *value, bool *on); /* false: neither ON nor OFF */
/* Reads a SIZE. Returns false if it is not a number of bytes, or above LONG_MAX. */
bool settings_size(const char *value, long *bytes);

#endif
