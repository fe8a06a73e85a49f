/* settings.c: the environment's WEND_ variables, by the table of settings.h. */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static WendSettings values;
static char problem[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

bool settings_switch(const char *value, bool *on)
{
    static const char *const words[2][5] = {{"off", "0", "no", "false", ""}, {"on", "1", "yes", "true", "y"}};
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
        snprintf(problem, sizeof problem, "%s=%.100s: neither ON nor OFF; taken as %s", variable, value, otherwise ? "ON" : "OFF");
    return on;
}

static long read_number(const char *variable, long otherwise)
{
    const char *value = getenv(variable);
    char *end;
    if (!value || !*value)
        return otherwise;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (*end || n < 0 || errno) {
        snprintf(problem, sizeof problem, "%s=%.100s: not a number from 0 on; taken as %ld", variable, value, otherwise);
        return otherwise;
    }
    return n;
}

static long read_size(const char *variable, long otherwise)
{
    static const char units[] = "KMGT";
    const char *value = getenv(variable), *unit;
    char *end;
    if (!value || !*value)
        return otherwise;
    errno = 0;
    long n = strtol(value, &end, 10), size;
    int shift = *end && (unit = strchr(units, toupper((unsigned char)*end))) ? 10 * (int)(unit - units + 1) : 0;
    const char *rest = end + (shift > 0);
    if (end == value || *rest || n < 0 || errno || __builtin_mul_overflow(n, 1L << shift, &size)) {
        snprintf(problem, sizeof problem, "%s=%.100s: not a number of bytes, such as 64M; taken as the default", variable, value);
        return otherwise;
    }
    return size;
}

static void read_all(void)
{
#define READ_STRING read_string
#define READ_NUMBER read_number
#define READ_SIZE read_size
#define READ_SWITCH read_switch
#define X(field, variable, type, default_value, option, letter, argument, doc) values.field = READ_##type(variable, default_value);
    WEND_SETTINGS(X)
#undef X
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
    if ((value = getenv(variable)) && *value) \
        given(user, #field, value);
    WEND_SETTINGS(X)
#undef X
}
