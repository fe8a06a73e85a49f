/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c: reads the WEND_ variables of the environment, by the table of settings.h. */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/times/durations.h"

static WendSettings values;
static char problem[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

bool settings_switch(const char *value, bool *on)
{
    static const char *const words[2][5] = {{"off", "0", "no", "false", ""},
                                            {"on", "1", "yes", "true", "y"}};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 5; j++) {
            if (strcasecmp(value, words[i][j]) == 0) {
                *on = i;
                return true;
            }
        }
    }
    return false;
}

static const char *read_string(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? value : otherwise;
}

static bool read_switch(const char *variable, bool otherwise)
{
    const char *value = getenv(variable);
    bool on = otherwise;
    if (value && *value && !settings_switch(value, &on))
        snprintf(problem, sizeof problem, "%s=%.100s: neither ON nor OFF", variable, value);
    return on;
}

/* Reads digits. *END becomes the rest of the text. */
static bool read_digits(const char *value, long *n, const char **end)
{
    char *behind;
    if (!isdigit((unsigned char)*value))
        return false;
    errno = 0;
    *n = strtol(value, &behind, 10);
    *end = behind;
    return errno == 0;
}

static long read_up_to(const char *variable, long otherwise, long most, const char *what)
{
    const char *value = getenv(variable), *end;
    long n;
    if (!value || !*value)
        return otherwise;
    if (read_digits(value, &n, &end) && *end == '\0' && n <= most)
        return n;
    snprintf(problem, sizeof problem, "%s=%.100s: not %s", variable, value, what);
    return otherwise;
}

/* Numbers are seconds or ranks. More than NUMBER_MOST means the same, and milliseconds and
 * nanoseconds of that fit. */
enum { NUMBER_MOST = 1000000000 };

static long read_number(const char *variable, long otherwise)
{
    long n = read_up_to(variable, otherwise, LONG_MAX, "a number from 0 on");
    return n < NUMBER_MOST ? n : NUMBER_MOST;
}

static long read_percent(const char *variable, long otherwise)
{
    return read_up_to(variable, otherwise, 100, "a number from 0 to 100");
}

bool settings_size(const char *value, long *bytes)
{
    static const char units[] = "KMGT";
    const char *end, *unit;
    long n;
    if (!read_digits(value, &n, &end))
        return false;
    unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    return end[unit != NULL] == '\0' && !__builtin_mul_overflow(n, 1L << shift, bytes);
}

static long read_size(const char *variable, long otherwise)
{
    const char *value = getenv(variable);
    long n;
    if (!value || !*value)
        return otherwise;
    if (settings_size(value, &n))
        return n;
    snprintf(problem, sizeof problem, "%s=%.100s: not a number of bytes, such as 64M", variable,
             value);
    return otherwise;
}

static void read_all(void)
{
#define READ_STRING read_string
#define READ_NUMBER read_number
#define READ_PERCENT read_percent
#define READ_SIZE read_size
#define READ_SWITCH read_switch
#define X(field, variable, type, default_value, option, letter, argument, doc) \
    values.field = READ_##type(variable, default_value);
    WEND_SETTINGS(X)
    REPLAY_SETTINGS(X)
#undef X
    WendDurationsForm times;
    if (values.times && !durations_parse(values.times, &times)) {
        snprintf(problem, sizeof problem,
                 "WEND_TIMES=%.100s: neither lossless nor an error from %d%% to %d%%", values.times,
                 WEND_DURATION_LEAST, WEND_DURATION_MOST);
        values.times = NULL;
    }
    if (values.stacks > 0 && !values.sites)
        snprintf(problem, sizeof problem, "WEND_STACKS=%ld: needs call sites: WEND_SITES is OFF",
                 values.stacks);
    if (strcmp(values.on_divergence, "stop") != 0 && strcmp(values.on_divergence, "free") != 0
        && strcmp(values.on_divergence, "warn") != 0)
        snprintf(problem, sizeof problem, "WEND_ON_DIVERGENCE=%.100s: not stop, free or warn",
                 values.on_divergence);
    if (strcmp(values.then, "stop") != 0 && strcmp(values.then, "free") != 0)
        snprintf(problem, sizeof problem, "WEND_THEN=%.100s: not stop or free", values.then);
}

const WendSettings *settings(void)
{
    pthread_once(&once, read_all);
    return &values;
}

const char *settings_problem(void)
{
    settings();
    return *problem ? problem : NULL;
}

void settings_given(void (*given)(void *user, const char *name, const char *value), void *user)
{
    const char *value;
#define X(field, variable, type, default_value, option, letter, argument, doc) \
    if ((value = getenv(variable)) && *value)                                  \
        given(user, #field, value);
    WEND_SETTINGS(X)
#undef X
}
