/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c: the state itself, messages to the user, and the end of recording after a failure. */
#include "process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/base/base.h"
#include "system.h"

State process_state = {
    .world_rank = -1,
    .world_size = -1,
    /* until MPI_Init returns another level: any thread may make calls before */
    .multiple = true,
    .threads_lock = PTHREAD_MUTEX_INITIALIZER,
    .handles_lock = PTHREAD_MUTEX_INITIALIZER,
    .requests_lock = PTHREAD_MUTEX_INITIALIZER,
};

void state_order_threads(void)
{
    State *s = &process_state;
    atomic_store(&s->ordered,
                 s->turns_replayed || (atomic_load(&s->multiple) && atomic_load(&s->threaded)));
}

/* Room for a text of N bytes or more: SOME, or memory that free_room() frees. If memory is short,
 * *SIZE is less. */
static char *make_room(char *some, size_t *size, size_t n)
{
    char *longer = n > *size ? budget_zeroed(n) : NULL;
    if (longer)
        *size = n;
    return longer ? longer : some;
}

static void free_room(char *room, const char *some, size_t size)
{
    if (room != some)
        budget_free(room, size);
}

/* Prints a line of N bytes, which are foreign text: names, and messages of other libraries. */
static void print_line(const char *message, size_t n)
{
    char some[1024];
    bool utf8 = printable_utf8();
    size_t size = sizeof some,
           needed = sizeof "wend: \n" + printable_text(some, sizeof some, message, n, utf8);
    char *line = make_room(some, &size, needed);
    size_t before = (size_t)snprintf(line, size, "wend: ");
    printable_text(line + before, size - before - 1, message, n, utf8);
    size_t length = strlen(line);
    line[length] = '\n';
    /* One write, so that lines of several ranks do not mix. It does not use stdio, whose state
     * belongs to the application: a failed write would be repeated at exit, and an application may
     * check stderr for errors. */
    process_print_line(&(struct iovec){line, length + 1}, 1);
    free_room(line, some, size);
}

void state_say(const char *format, ...)
{
    int saved = errno;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0) {
        char some[1024];
        size_t size = sizeof some;
        char *message = make_room(some, &size, (size_t)n + 1);
        va_start(args, format);
        vsnprintf(message, size, format, args);
        va_end(args);
        print_line(message, strlen(message));
        free_room(message, some, size);
    }
    errno = saved;
}

void state_note_user(void)
{
    state()->user.uid = geteuid();
    state()->user.gid = getegid();
    state()->user.dumpable = prctl(PR_GET_DUMPABLE);
}

bool state_is_other_user(void)
{
    const State *s = state();
    return s->user.uid != geteuid() || s->user.gid != getegid()
           || s->user.dumpable != prctl(PR_GET_DUMPABLE);
}

void state_break(const char *why)
{
    State *s = state();
    const char *none = NULL;
    atomic_compare_exchange_strong(&s->broken_why, &none, why);
    atomic_store(&s->broken, true);
    atomic_store(&s->active, false);
    void (*at_break)(void) = atomic_load(&s->at_break);
    if (at_break)
        at_break();
}
