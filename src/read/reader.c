/* SPDX-License-Identifier: BSD-3-Clause */
/* reader.c: readers: opening, closing, wrapping. */
#include "config.h"

#include "read-private.h"
#include "wrap.h"

const char *wend_read_version(void)
{
    return PACKAGE_VERSION;
}

/* -- life -- */

WendRead *wend_read_new(void)
{
    WendRead *r = g_new0(WendRead, 1);
    r->message = g_strdup("");
    return r;
}

static void close_recording(WendRead *r)
{
    read_facts_clear(r);
    read_transfers_clear(r);
    read_totals_clear(r);
    read_percentiles_clear(r);
    read_waits_clear(r);
    read_sites_clear(r);
    read_call_clear(&r->signature);
    read_call_clear(&r->wrapped);
    g_clear_pointer(&r->decoder, decoder_free);
    if (!r->borrowed)
        program_free(r->program);
    r->program = NULL;
    g_clear_pointer(&r->path, g_free);
}

void wend_read_free(WendRead *r)
{
    if (!r)
        return;
    close_recording(r);
    g_free(r->message);
    g_free(r);
}

/* -- opening -- */

int wend_read_set_memory(WendRead *r, uint64_t bytes)
{
    if (!r)
        return WEND_READ_ERROR_USAGE;
    r->memory = bytes;
    return WEND_READ_OK;
}

static int take_program(WendRead *r, const char *path, WendProgram *program, Error *error)
{
    if (!program)
        return read_fail_error(r, error);
    r->program = program;
    r->borrowed = FALSE;
    r->path = g_strdup(path);
    return WEND_READ_OK;
}

/* Opens all of the recording at PATH, or for *WORLD, if that is not NULL, one of its worlds. */
static int open_recording(WendRead *r, const char *path, const uint32_t *world)
{
    Error *error = NULL;
    if (!r)
        return WEND_READ_ERROR_USAGE;
    close_recording(r);
    if (!path)
        return read_fail(r, WEND_READ_ERROR_USAGE, "there is no path: it is NULL");
    WendProgram *program = world ? program_open_world(path, *world, r->memory, &error)
                                 : program_open_within(path, r->memory, &error);
    return take_program(r, path, program, error);
}

int wend_read_open(WendRead *r, const char *path)
{
    return open_recording(r, path, NULL);
}

int wend_read_open_world(WendRead *r, const char *path, uint32_t world)
{
    return open_recording(r, path, &world);
}

/* -- wrapping -- */

WendRead *read_wrap(const WendProgram *program)
{
    WendRead *r = wend_read_new();
    r->program = (WendProgram *)program; /* only members that are made at their first use change */
    r->borrowed = TRUE;
    return r;
}

Matching *read_wrap_matching(WendRead *r, guint flags)
{
    return matching_new(r->program, read_members(r), flags, r->memory);
}

const WendReadCall *read_wrap_call(WendRead *r, const WendWalk *walk, const WendCall *call)
{
    if (!r->wrapped.reader)
        read_call_init(&r->wrapped, r);
    read_call_set(&r->wrapped, walk, call);
    return &r->wrapped.public;
}
