/* SPDX-License-Identifier: BSD-3-Clause */
/* site-names.c: see site-names.h. */
#include "config.h"

#include "site-names.h"

#include <string.h>

#include "command.h"
#include "text.h"
#include "debug-file.h"

/* A file that sites are in. */
typedef struct {
    char *path;       /* NULL: not known */
    char *name;       /* its base name */
    DebugFile *debug; /* NULL: there are no names */
    gboolean lacking; /* it was said that call sites in it have no names or lines */
} Module;

/* What a name is of. */
typedef struct {
    const char *file; /* as the reader has it, one for each file */
    guint64 offset;
    uint32_t world;
} Place;

struct SiteNames {
    WendRead *reader;
    const char *command;
    GHashTable *modules; /* file, world and build-id, as text -> Module */
    GPtrArray *names;    /* SiteName by site; NULL: not asked for yet */
    GHashTable *places;  /* Place -> SiteName */
    GStringChunk *texts;
    GPtrArray *frames; /* SiteFrame arrays */
};

static void module_free(gpointer module)
{
    Module *m = module;
    debug_file_close(m->debug);
    g_free(m->path);
    g_free(m->name);
    g_free(m);
}

static void name_free(gpointer name)
{
    g_free(name);
}

static guint place_hash(gconstpointer place)
{
    const Place *p = place;
    return g_str_hash(p->file) ^ (guint)(p->offset * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 32);
}

static gboolean place_equal(gconstpointer a, gconstpointer b)
{
    const Place *x = a, *y = b;
    return x->offset == y->offset && x->world == y->world && strcmp(x->file, y->file) == 0;
}

SiteNames *site_names_new(WendRead *r, const char *command)
{
    uint32_t n_sites = 0;
    SiteNames *n = g_new0(SiteNames, 1);
    n->reader = r;
    n->command = command;
    n->modules = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, module_free);
    n->names = g_ptr_array_new_with_free_func(name_free);
    n->places = g_hash_table_new_full(place_hash, place_equal, g_free, name_free);
    n->texts = g_string_chunk_new(1024);
    n->frames = g_ptr_array_new_with_free_func(g_free);
    if (wend_read_n_sites(r, &n_sites) == WEND_READ_OK)
        g_ptr_array_set_size(n->names, (gint)n_sites);
    return n;
}

void site_names_free(SiteNames *n)
{
    if (!n)
        return;
    g_hash_table_unref(n->modules);
    g_ptr_array_unref(n->names);
    g_hash_table_unref(n->places);
    g_ptr_array_unref(n->frames);
    g_string_chunk_free(n->texts);
    g_free(n);
}

/* -- modules -- */

/* The path of the file of SITE. NULL: it is not known. */
static char *path_of(const SiteNames *n, const WendReadSite *site)
{
    const WendReadFacts *facts;
    if (*site->file != '\0')
        return g_strdup(site->file);
    if (wend_read_facts(n->reader, site->world, &facts) < 0)
        return NULL;
    return g_strdup(facts->program);
}

/* Says LINE, and takes it. A line is said once: both recordings of a comparison, or several worlds,
 * may have one program. */
static void say_once(const char *command, char *line)
{
    static GHashTable *said;
    if (!said)
        said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!g_hash_table_contains(said, line))
        command_say(command, "%s", line);
    g_hash_table_add(said, line);
}

/* Whether the file at PATH came with the system. Nobody who reads a line about it compiled it. */
static gboolean is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/lib", "/usr/bin/", "/usr/libexec/", "/lib",
                                          "/bin/"};
    for (guint i = 0; path != NULL && i < G_N_ELEMENTS(folders); i++)
        if (g_str_has_prefix(path, folders[i]))
            return TRUE;
    return FALSE;
}

static void say_problem(const SiteNames *n, const char *path, DebugFileProblem problem)
{
    static const char *const texts[] = {
        [DEBUG_FILE_CHANGED] = "has changed since the recording: addresses in it have no names",
        [DEBUG_FILE_MISSING] = "cannot be read: addresses in it have no names",
        [DEBUG_FILE_UNSUPPORTED] = "this wend was built without libdw: addresses have no names",
        [DEBUG_FILE_NO_LINES] = "has no line numbers for call sites in it",
        [DEBUG_FILE_NO_NAMES] = "has no symbols for call sites in it",
    };
    static const char *const advice[] = {
        [DEBUG_FILE_NO_LINES] = ": compile it with -g, or install its .debug file",
        [DEBUG_FILE_NO_NAMES] = ": compile it with -g and do not strip it, or install its .debug "
                                "file",
    };
    if (!n->command || problem == DEBUG_FILE_GOOD)
        return;
    g_autofree char *printed = text_foreign_new(path != NULL ? path : "the program");
    gboolean is_own = problem < G_N_ELEMENTS(advice) && !is_of_system(path);
    say_once(n->command, problem == DEBUG_FILE_UNSUPPORTED
                             ? g_strdup(texts[problem])
                             : g_strconcat(printed, " ", texts[problem],
                                           is_own ? advice[problem] : NULL, NULL));
}

static char *base_name_of(const SiteNames *n, const WendReadSite *site)
{
    g_autofree char *path = path_of(n, site);
    return path != NULL ? g_path_get_basename(path) : g_strdup("program");
}

static Module *module_of(SiteNames *n, const WendReadSite *site)
{
    g_autoptr(GString) key = g_string_new(site->file);
    g_string_append_printf(key, "\n%u\n", site->world);
    for (gsize i = 0; i < site->n_build_id; i++)
        g_string_append_printf(key, "%02x", site->build_id[i]);
    Module *m = g_hash_table_lookup(n->modules, key->str);
    if (m != NULL)
        return m;
    DebugFileProblem problem;
    m = g_new0(Module, 1);
    m->path = path_of(n, site);
    m->name = base_name_of(n, site);
    m->debug = debug_file_open(m->path, site->build_id, site->n_build_id, &problem);
    say_problem(n, m->path, problem);
    g_hash_table_insert(n->modules, g_strdup(key->str), m);
    return m;
}

/* -- names -- */

typedef struct {
    SiteNames *names;
    GArray *frames; /* SiteFrame */
} NamedFrames;

static void add_frame(gpointer data, const char *function, const char *file, guint line)
{
    NamedFrames *f = data;
    SiteFrame frame = {.line = line};
    if (function != NULL)
        frame.function = g_string_chunk_insert_const(f->names->texts, function);
    if (file != NULL)
        frame.file = g_string_chunk_insert_const(f->names->texts, file);
    g_array_append_val(f->frames, frame);
}

/* Gives the names of SITE that the recording has. */
static void give_stored(SiteNames *n, const WendReadSite *site, NamedFrames *frames)
{
    const WendReadSiteFrame *f;
    for (guint i = 0; wend_read_site_frame(n->reader, site, i, &f) == WEND_READ_OK; i++)
        add_frame(frames, f->function, f->file, f->line);
}

/* STORED: the recording may have the name. *PROBLEM: what its file lacks for this address. */
static SiteName *name_new(SiteNames *n, const WendReadSite *site, gboolean stored,
                          DebugFileProblem *problem)
{
    SiteName *name = g_new0(SiteName, 1);
    *problem = DEBUG_FILE_GOOD;
    if (!site->known)
        return name;
    NamedFrames frames = {n, g_array_new(FALSE, FALSE, sizeof(SiteFrame))};
    if (stored)
        give_stored(n, site, &frames);
    if (frames.frames->len > 0) {
        g_autofree char *module = base_name_of(n, site);
        name->module = g_string_chunk_insert_const(n->texts, module);
    } else {
        Module *m = module_of(n, site);
        *problem = debug_file_frames(m->debug, site->offset - 1, add_frame, &frames);
        name->module = m->name;
    }
    name->offset = site->offset;
    name->n_frames = frames.frames->len;
    name->frames = (const SiteFrame *)(gpointer)g_array_free(frames.frames, FALSE);
    g_ptr_array_add(n->frames, (gpointer)name->frames);
    return name;
}

void site_names_say_unknown(const SiteNames *n)
{
    if (n->command != NULL)
        say_once(n->command, g_strdup("some calls have unknown sites: their code is in no file, as "
                                      "a JIT's is, or the recorder's memory was short"));
}

/* The name of a call site. Says what its file lacks, once for each file. Of other frames of a stack
 * it is not said: they may lie in libraries of the system, which have no lines. */
static SiteName *site_name_new(SiteNames *n, const WendReadSite *site)
{
    DebugFileProblem problem;
    SiteName *name = name_new(n, site, TRUE, &problem);
    if (!site->known)
        site_names_say_unknown(n);
    Module *m = problem != DEBUG_FILE_GOOD ? module_of(n, site) : NULL;
    if (m != NULL && !m->lacking) {
        m->lacking = TRUE;
        say_problem(n, m->path, problem);
    }
    return name;
}

const SiteName *site_name(SiteNames *n, uint32_t site)
{
    const WendReadSite *inside;
    if (site >= n->names->len)
        return NULL;
    if (!n->names->pdata[site] && wend_read_site(n->reader, site, &inside) == WEND_READ_OK)
        n->names->pdata[site] = site_name_new(n, inside);
    const SiteName *name = n->names->pdata[site];
    return name != NULL && name->module != NULL ? name : NULL;
}

const SiteName *site_name_of_place(SiteNames *n, const WendReadSite *place)
{
    if (!place->known)
        return NULL;
    DebugFileProblem problem;
    Place like = {place->file, place->offset, place->world};
    SiteName *name = g_hash_table_lookup(n->places, &like);
    if (!name) {
        name = name_new(n, place, TRUE, &problem);
        g_hash_table_insert(n->places, g_memdup2(&like, sizeof like), name);
    }
    return name;
}

WendRead *site_names_reader(const SiteNames *n)
{
    return n->reader;
}

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

void site_frame_text(GString *out, const SiteFrame *frame)
{
    text_foreign(out, frame->function != NULL ? frame->function : "?");
    if (!frame->file)
        return;
    g_string_append(out, " (");
    text_foreign(out, base_of(frame->file));
    if (frame->line > 0)
        g_string_append_printf(out, ":%u", frame->line);
    g_string_append_c(out, ')');
}

char *site_name_address_text(SiteNames *n, const WendReadSite *address)
{
    DebugFileProblem problem;
    g_autofree SiteName *name = name_new(n, address, FALSE, &problem);
    if (name->n_frames == 0)
        return NULL;
    GString *text = g_string_new(NULL);
    site_frame_text(text, &name->frames[0]);
    return g_string_free(text, FALSE);
}

void site_name_text(GString *out, const SiteName *name)
{
    if (!name) {
        g_string_append(out, "unknown");
    } else if (name->n_frames > 0) {
        site_frame_text(out, &name->frames[0]);
    } else {
        text_foreign(out, name->module);
        g_string_append_printf(out, " + 0x%" G_GINT64_MODIFIER "x", name->offset);
    }
}

void site_names_text(GString *out, SiteNames *n, uint32_t site)
{
    site_name_text(out, site_name(n, site));
}

static void csv_text(GString *out, const char *text)
{
    gsize start = out->len;
    if (text != NULL)
        text_foreign(out, text);
    text_csv_quote(out, start);
}

void site_names_csv(GString *out, SiteNames *n, uint32_t site)
{
    const SiteName *name = site_name(n, site);
    const SiteFrame unknown = {0};
    const SiteFrame *frame = name != NULL && name->n_frames > 0 ? &name->frames[0] : &unknown;
    csv_text(out, frame->function);
    g_string_append_c(out, ',');
    csv_text(out, frame->file);
    g_string_append_c(out, ',');
    if (frame->line > 0)
        g_string_append_printf(out, "%u", frame->line);
    g_string_append_c(out, ',');
    csv_text(out, name != NULL ? name->module : NULL);
    g_string_append_c(out, ',');
    if (name != NULL)
        g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", name->offset);
}

static void json_frame(GString *out, const SiteFrame *f)
{
    text_json_open(out, NULL, '{');
    if (f->function)
        text_json_text(out, "function", f->function);
    else
        g_string_append(out, "\"function\":null");
    if (f->file)
        text_json_text(out, "file", f->file);
    if (f->line > 0)
        text_json_count(out, "line", f->line);
    g_string_append_c(out, '}');
}

void site_name_json(GString *out, const SiteName *name)
{
    g_string_append_c(out, '{');
    text_json_text(out, "module", name->module);
    text_json_count(out, "offset", name->offset);
    text_json_open(out, "frames", '[');
    for (guint i = 0; i < name->n_frames; i++)
        json_frame(out, &name->frames[i]);
    g_string_append_c(out, ']');
}

void site_names_json(GString *out, SiteNames *n, uint32_t site)
{
    const SiteName *name = site_name(n, site);
    if (!name) {
        g_string_append(out, "null");
        return;
    }
    site_name_json(out, name);
    g_string_append_c(out, '}');
}
