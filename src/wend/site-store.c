/* SPDX-License-Identifier: BSD-3-Clause */
/* site-store.c: see wend.h. */
#include "config.h"

#include "wend.h"

#include <string.h>

#include <glib/gstdio.h>

#include "lib/record/world-files.h"
#include "lib/read/site-symbols.h"
#include "src/command/command.h"
#include "src/command/reading.h"
#include "src/command/site-names.h"
#include "src/read/wrap.h"

/* Adds NAME, which is that of SITE. *N counts those that have one. */
static void add_name(WendSiteSymbols *symbols, const WendReadSite *site, const SiteName *name,
                     guint *n)
{
    if (!name || name->n_frames == 0)
        return;
    g_autofree WendSiteFrame *frames = g_new(WendSiteFrame, name->n_frames);
    for (guint k = 0; k < name->n_frames; k++)
        frames[k] =
            (WendSiteFrame){name->frames[k].function, name->frames[k].file, name->frames[k].line};
    site_symbols_add(symbols, site->file, site->build_id, (guint)site->n_build_id, site->offset,
                     frames, name->n_frames);
    ++*n;
}

/* The names of all sites of R and of the frames of their stacks. *N becomes how many have one. */
static WendSiteSymbols *symbols_of(WendRead *r, const char *command, guint *n)
{
    WendSiteSymbols *symbols = site_symbols_new();
    SiteNames *names = site_names_new(r, command);
    guint32 sites = 0;
    *n = 0;
    if (wend_read_n_sites(r, &sites) < 0)
        sites = 0;
    for (guint32 i = 0; i < sites; i++) {
        const WendReadSite *site;
        const SiteName *name = site_name(names, i);
        if (wend_read_site(r, i, &site) == WEND_READ_OK)
            add_name(symbols, site, name, n);
        for (guint k = 1; wend_read_stack_frame(r, i, k, &site) == WEND_READ_OK; k++)
            add_name(symbols, site, site_name_of_place(names, site), n);
    }
    site_names_free(names);
    return symbols;
}

static guint64 size_of(const char *path)
{
    GStatBuf info;
    return g_stat(path, &info) == 0 ? (guint64)info.st_size : 0;
}

static gboolean store_one(const char *path, const char *command, SiteStoreMode mode, guint64 *bytes,
                          Error **error)
{
    struct WendProgram *p = reading_open(path, -1, error);
    if (!p)
        return FALSE;
    guint n;
    guint64 before = size_of(path);
    gboolean good = TRUE;
    bool stored = false;
    WendRead *r = read_wrap(p);
    /* Nobody has asked for the names that are stored by default. */
    WendSiteSymbols *symbols = symbols_of(r, mode == SITE_STORE_ALL ? command : NULL, &n);
    if (n > 0)
        good = site_symbols_store(symbols, path,
                                  mode == SITE_STORE_ALL ? G_MAXUINT64 : SITE_STORE_BYTES - 1,
                                  &stored, error);
    else if (mode == SITE_STORE_ALL)
        command_say(command, "no names of call sites are known: none are stored");
    if (stored)
        *bytes += size_of(path) - before;
    site_symbols_free(symbols);
    wend_read_free(r);
    program_free(p);
    return good;
}

static gboolean is_archive(const char *name)
{
    return strcmp(name, "trace" WORLD_FILE_SUFFIX) == 0
           || (g_str_has_prefix(name, WORLD_FILE_PREFIX)
               && g_str_has_suffix(name, WORLD_FILE_SUFFIX));
}

gboolean site_store(const char *directory, const char *command, SiteStoreMode mode, guint64 *bytes,
                    Error **error)
{
    *bytes = 0;
    GError *problem = NULL;
    GDir *d = mode != SITE_STORE_NONE ? g_dir_open(directory, 0, &problem) : NULL;
    gboolean good = !problem || command_take_error(error, problem);
    for (const char *name; d != NULL && good && (name = g_dir_read_name(d)) != NULL;) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        if (is_archive(name))
            good = store_one(path, command, mode, bytes, error);
    }
    if (d != NULL)
        g_dir_close(d);
    return good;
}
