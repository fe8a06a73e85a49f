/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.c: see reading.h. */
#include "config.h"

#include "reading.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/allowance.h"
#include "lib/base/error.h"
#include "lib/base/memory.h"
#include "lib/read/program.h"
#include "src/tracer/process/settings.h"
#include "command.h"
#include "text.h"

static guint64 limit;

gboolean reading_max_size(const char *name, const char *value, gpointer unused, GError **error)
{
    long bytes;
    (void)unused;
    if (settings_size(value, &bytes) && bytes > 0) {
        limit = (guint64)bytes;
        return TRUE;
    }
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "%s=%s: not a number of bytes from 1 on, such as 64M", name, value);
    return FALSE;
}

guint64 reading_limit(void)
{
    return limit;
}

WendProgram *reading_open(const char *path, int world, Error **error)
{
    if (world >= 0)
        return program_open_world(path, (guint)world, limit, error);
    return program_open_within(path, limit, error);
}

guint64 reading_room(guint64 bytes)
{
    if (limit > 0)
        return limit;
    return bytes > ALLOWANCE_MOST / ALLOWANCE_FACTOR
               ? ALLOWANCE_MOST
               : MAX(bytes * ALLOWANCE_FACTOR, ALLOWANCE_LEAST);
}

/* GLib's handler of fatal messages: there is no memory, or an assertion failed. */
static void end_command(const char *domain, GLogLevelFlags level, const char *message,
                        gpointer unused)
{
    if (!(level & G_LOG_LEVEL_ERROR)) {
        g_log_default_handler(domain, level, message, unused);
        return;
    }
    if (strstr(message, "failed to allocate"))
        memory_short();
    command_print(g_get_prgname(), "%s", message);
    _exit(WEND_ERROR_SYSTEM);
}

void reading_guard(void)
{
    g_log_set_default_handler(end_command, NULL);
}

/* -- what a recording lacks -- */

/* Whether the program got a message of which the recording has no send. Of some receives from any
 * source (MPI_Isendrecv) the source is not known. */
static gboolean is_unsent(const WendReadMessage *m)
{
    return m->state == WEND_READ_UNSENT && m->completed.call != WEND_READ_NO_CALL && m->source >= 0
           && !m->cancelled && !m->unfinished && !m->outside && !m->uncertain;
}

static guint64 left_out(WendRead *r)
{
    const char *group, *key, *value;
    for (guint i = 0; wend_read_meta(r, WEND_READ_JOB, i, &group, &key, &value) == WEND_READ_OK;
         i++)
        if (key != NULL && g_str_equal(group, "run") && g_str_equal(key, "left_out"))
            return g_ascii_strtoull(value, NULL, 10);
    return 0;
}

/* Whether all ranks came to MPI_Finalize. */
static gboolean is_whole(WendRead *r, const WendReadFacts *facts)
{
    const WendReadRank *rank;
    for (guint i = 0; i < facts->n_ranks; i++)
        if (wend_read_rank(r, i, &rank) < 0 || rank->class_index == WEND_READ_NO_INDEX
            || rank->termination != NULL)
            return FALSE;
    return TRUE;
}

int missing_find(WendRead *r, guint64 most, Missing *missing)
{
    const WendReadFacts *facts;
    const WendReadTotals *totals;
    WendReadMessages *messages;
    const WendReadMessage *m;
    WendReadMessageFacts matched;
    int status = wend_read_facts(r, WEND_READ_JOB, &facts);
    *missing = (Missing){.left_out = left_out(r)};
    if (status == WEND_READ_OK)
        status = wend_read_totals(r, &totals);
    if (status < 0 || totals->mpi_calls > most || !is_whole(r, facts))
        return status;
    status = wend_read_messages(r, &messages);
    if (status < 0)
        return status;
    while ((status = wend_read_next_message(messages, &m)) == WEND_READ_OK && m != NULL)
        missing->unsent += is_unsent(m);
    if (status == WEND_READ_OK && wend_read_message_facts(messages, &matched) == WEND_READ_OK)
        missing->waiting = matched.out_of_order;
    wend_read_messages_free(messages);
    return status;
}

char *missing_text(const Missing *missing)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (missing->unsent > 0) {
        text_count(text, missing->unsent);
        g_string_append(text, missing->unsent == 1 ? " receive has" : " receives have");
        g_string_append(text, " no send");
    } else if (missing->waiting > 0) {
        text_count(text, missing->waiting);
        g_string_append(text, missing->waiting == 1 ? " call waits" : " calls wait");
        g_string_append(text, " for calls that the recording does not have");
    }
    return text->len > 0 ? g_strdup(text->str) : NULL;
}
