/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2-names.c: see otf2.h. */
#include "config.h"

#include "otf2.h"

#include "base/containers.h"
#include "src/command/text.h"
#include "src/command/site-names.h"

typedef struct {
    OTF2_RegionRef number;
    const WendReadFunction *function;
    guint32 site; /* as which others may count; WEND_READ_NO_INDEX: not known */
    Act *act;
} CallRegion;

typedef struct {
    OTF2_CommRef comm;
    guint k;
} NamedWindow;

typedef struct {
    OTF2_CommRef comm;
    OTF2_StringRef name;
} File;

struct Otf2Names {
    const Export *e;
    GHashTable *strings; /* text -> number + 1; owned */
    GPtrArray *texts;    /* by number, of the table's */
    SiteNames *sites;
    GHashTable *regions;  /* by function and site, of CallRegion; owned */
    GPtrArray *by_region; /* the same, by number */
    GArray *windows, *files;
    GHashTable *window_numbers, *file_numbers; /* key (owned) -> number + 1 */
    GHashTable *comm_names;                    /* OTF2_CommRef -> number of a string */
    guint *worlds;                             /* of each rank */
    guint *first_ranks;                        /* of each world, and the number of ranks */
    guint64 *events;                           /* of each location */
    guint64 last;                              /* time */
    OTF2_GlobalDefWriter *writer;              /* NULL: nothing is written yet */
    OTF2_ErrorCode failure;                    /* of a string */
};

/* A string must be written before what uses it. */
static void write_string(Otf2Names *n, guint number)
{
    OTF2_ErrorCode code =
        OTF2_GlobalDefWriter_WriteString(n->writer, number, n->texts->pdata[number]);
    if (n->failure == OTF2_SUCCESS)
        n->failure = code;
}

static OTF2_StringRef string_of(Otf2Names *n, const char *text)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(n->strings, text));
    if (number > 0)
        return number - 1;
    char *copy = g_strdup(text);
    g_ptr_array_add(n->texts, copy);
    g_hash_table_insert(n->strings, copy, GUINT_TO_POINTER(n->texts->len));
    if (n->writer != NULL)
        write_string(n, n->texts->len - 1);
    return n->texts->len - 1;
}

/* Text that Wend did not write, without characters that a terminal obeys. */
static OTF2_StringRef foreign_string_of(Otf2Names *n, const char *text)
{
    g_autofree char *printable = text_foreign_new(text);
    return string_of(n, printable);
}

static guint hash_region(gconstpointer region)
{
    const CallRegion *r = region;
    return g_direct_hash(r->function) ^ r->site * 0x9e3779b9u;
}

static gboolean equal_regions(gconstpointer a, gconstpointer b)
{
    const CallRegion *x = a, *y = b;
    return x->function == y->function && x->site == y->site;
}

static void free_region(gpointer region)
{
    CallRegion *r = region;
    g_free(r->act);
    g_free(r);
}

Otf2Names *otf2_names_new(const Export *e, const char *command)
{
    const WendReadRank *rank;
    const WendReadWorld *world;
    Otf2Names *n = g_new0(Otf2Names, 1);
    n->e = e;
    n->strings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    n->texts = g_ptr_array_new();
    string_of(n, "");
    n->regions = g_hash_table_new_full(hash_region, equal_regions, NULL, free_region);
    n->sites = site_names_new(e->reader, command);
    n->by_region = g_ptr_array_new();
    n->windows = g_array_new(FALSE, FALSE, sizeof(NamedWindow));
    n->files = g_array_new(FALSE, FALSE, sizeof(File));
    n->window_numbers = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    n->file_numbers = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    n->comm_names = g_hash_table_new(NULL, NULL);
    n->worlds = g_new0(guint, e->n_ranks);
    n->first_ranks = g_new0(guint, e->n_worlds + 1);
    n->events = g_new0(guint64, e->first_location[e->n_ranks] + 1);
    for (guint i = 0; i < e->n_ranks; i++)
        if (wend_read_rank(e->reader, i, &rank) == WEND_READ_OK && rank->world < e->n_worlds)
            n->worlds[i] = rank->world;
    for (guint i = 0; i < e->n_worlds; i++)
        if (wend_read_world(e->reader, i, &world) == WEND_READ_OK)
            n->first_ranks[i] = world->first_rank;
    n->first_ranks[e->n_worlds] = e->n_ranks;
    return n;
}

void otf2_names_free(Otf2Names *n)
{
    if (!n)
        return;
    g_hash_table_destroy(n->strings);
    g_ptr_array_unref(n->texts);
    g_hash_table_destroy(n->regions);
    site_names_free(n->sites);
    g_ptr_array_unref(n->by_region);
    g_array_unref(n->windows);
    g_array_unref(n->files);
    g_hash_table_destroy(n->window_numbers);
    g_hash_table_destroy(n->file_numbers);
    g_hash_table_destroy(n->comm_names);
    g_free(n->worlds);
    g_free(n->first_ranks);
    g_free(n->events);
    g_free(n);
}

/* The site as which SITE counts. */
static guint32 site_group(const Otf2Names *n, guint32 site)
{
    return !n->e->counts_as || site == WEND_READ_NO_INDEX ? site : n->e->counts_as[site];
}

OTF2_RegionRef otf2_names_region(Otf2Names *n, const WendReadCall *call, const Act **act)
{
    const CallRegion like = {.function = call->function, .site = site_group(n, call->site)};
    CallRegion *r = g_hash_table_lookup(n->regions, &like);
    if (!r) {
        r = g_memdup2(&like, sizeof like);
        r->number = g_hash_table_size(n->regions);
        r->act = roles_act_new(r->function);
        g_hash_table_add(n->regions, r);
        g_ptr_array_add(n->by_region, r);
    }
    *act = r->act;
    return r->number;
}

/* MPI_COMM_WORLD of each world, MPI_COMM_SELF, and the others by their numbers from 1 on. */
OTF2_CommRef otf2_names_comm(Otf2Names *n, guint rank, guint32 comm)
{
    if (comm == WEND_READ_COMM_WORLD)
        return n->worlds[rank];
    if (comm == WEND_READ_COMM_SELF)
        return n->e->n_worlds;
    return comm == WEND_READ_NO_INDEX ? OTF2_UNDEFINED_COMM : n->e->n_worlds + comm;
}

void otf2_names_name_comm(Otf2Names *n, guint rank, guint32 comm, const char *name)
{
    gpointer number = GUINT_TO_POINTER(otf2_names_comm(n, rank, comm));
    g_hash_table_insert(n->comm_names, number, GUINT_TO_POINTER(foreign_string_of(n, name)));
}

/* The number of (COMM, K) in TABLE; *IS_NEW: it is the next one. */
static guint number_of(GHashTable *table, OTF2_CommRef comm, guint k, gboolean *is_new)
{
    gint64 key = (gint64)((guint64)comm << 32 | k);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(table, &key));
    *is_new = number == 0;
    if (number > 0)
        return number - 1;
    number = g_hash_table_size(table);
    g_hash_table_insert(table, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(number + 1));
    return number;
}

OTF2_RmaWinRef otf2_names_window(Otf2Names *n, OTF2_CommRef comm, guint k)
{
    gboolean is_new;
    guint number = number_of(n->window_numbers, comm, k, &is_new);
    NamedWindow w = {comm, k};
    if (is_new)
        g_array_append_val(n->windows, w);
    return number;
}

OTF2_IoHandleRef otf2_names_file(Otf2Names *n, OTF2_CommRef comm, const char *name)
{
    gboolean is_new;
    File f = {comm, foreign_string_of(n, name)};
    guint number = number_of(n->file_numbers, comm, f.name, &is_new);
    if (is_new)
        g_array_append_val(n->files, f);
    return number;
}

void otf2_names_count(Otf2Names *n, guint64 location, guint64 time)
{
    n->events[location]++;
    n->last = MAX(n->last, time);
}

/* -- writing -- */

static OTF2_ErrorCode write_run(Otf2Names *n, OTF2_GlobalDefWriter *w)
{
    const WendReadFacts *facts;
    if (wend_read_facts(n->e->reader, WEND_READ_JOB, &facts) < 0)
        return OTF2_ERROR_INVALID_DATA;
    guint64 started =
        facts->start > 0 ? (guint64)facts->start * 1000000000u : OTF2_UNDEFINED_TIMESTAMP;
    OTF2_StringRef hosts = foreign_string_of(n, facts->hosts != NULL ? facts->hosts : "host");
    OTF2_StringRef machine = string_of(n, "machine");
    OTF2_TRY(OTF2_GlobalDefWriter_WriteClockProperties(w, 1000000000u, 0, n->last + 1, started));
    OTF2_TRY(OTF2_GlobalDefWriter_WriteParadigm(w, OTF2_PARADIGM_MPI, string_of(n, "MPI"),
                                                OTF2_PARADIGM_CLASS_PROCESS));
    OTF2_TRY(OTF2_GlobalDefWriter_WriteIoParadigm(
        w, 0, string_of(n, "MPI-IO"), string_of(n, "MPI I/O"), OTF2_IO_PARADIGM_CLASS_PARALLEL,
        OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL));
    return OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, hosts, machine,
                                                    OTF2_UNDEFINED_SYSTEM_TREE_NODE);
}

static OTF2_ErrorCode write_regions(Otf2Names *n, OTF2_GlobalDefWriter *w)
{
    for (guint i = 0; i < n->by_region->len; i++) {
        const CallRegion *r = n->by_region->pdata[i];
        const SiteName *site = site_name(n->sites, r->site);
        const SiteFrame *frame = site != NULL && site->n_frames > 0 ? &site->frames[0] : NULL;
        guint line = frame != NULL ? frame->line : 0;
        g_autoptr(GString) from = g_string_new(NULL);
        if (site != NULL)
            site_names_text(g_string_append(from, "from "), n->sites, r->site);
        OTF2_StringRef name = string_of(n, r->function->name), file = string_of(n, "");
        if (frame != NULL && frame->file != NULL)
            file = foreign_string_of(n, frame->file);
        OTF2_TRY(OTF2_GlobalDefWriter_WriteRegion(w, r->number, name, name, string_of(n, from->str),
                                                  r->act->region, OTF2_PARADIGM_MPI,
                                                  OTF2_REGION_FLAG_NONE, file, line, line));
    }
    return OTF2_SUCCESS;
}

static OTF2_StringRef sequence_name(Otf2Names *n, const WendReadSequence *s)
{
    g_autofree char *name = s->callback ? g_strdup_printf("callback %" G_GINT64_FORMAT, s->id)
                                        : g_strdup_printf("thread %" G_GINT64_FORMAT, s->id);
    return string_of(n, name);
}

static OTF2_ErrorCode write_locations(Otf2Names *n, OTF2_GlobalDefWriter *w)
{
    const Export *e = n->e;
    const WendReadSequence *s;
    for (guint rank = 0; rank < e->n_ranks; rank++) {
        g_autofree char *name = g_strdup_printf("rank %u", rank);
        OTF2_TRY(OTF2_GlobalDefWriter_WriteLocationGroup(w, rank, string_of(n, name),
                                                         OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                         OTF2_UNDEFINED_LOCATION_GROUP));
        for (guint64 at = e->first_location[rank]; at < e->first_location[rank + 1]; at++) {
            guint sequence = (guint)(at - e->first_location[rank]);
            OTF2_StringRef text = wend_read_sequence(e->reader, rank, sequence, &s) < 0
                                      ? string_of(n, "thread 0")
                                      : sequence_name(n, s);
            OTF2_TRY(OTF2_GlobalDefWriter_WriteLocation(w, at, text, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                        n->events[at], rank));
        }
    }
    return OTF2_SUCCESS;
}

static OTF2_ErrorCode write_group(Otf2Names *n, OTF2_GlobalDefWriter *w, OTF2_GroupRef group,
                                  const char *name, OTF2_GroupType type, const GArray *members)
{
    return OTF2_GlobalDefWriter_WriteGroup(w, group, string_of(n, name), type, OTF2_PARADIGM_MPI,
                                           OTF2_GROUP_FLAG_NONE, members->len,
                                           (const uint64_t *)members->data);
}

/* Communicator number NUMBER: its groups and itself. Groups are numbered on from *GROUP. The common
 * communicator of two groups is the MPI_COMM_WORLD that all are in, if there is one. */
static OTF2_ErrorCode write_comm(Otf2Names *n, OTF2_GlobalDefWriter *w, guint number,
                                 OTF2_GroupRef *group)
{
    const WendReadCommunicator *c;
    OTF2_CommRef ref = n->e->n_worlds + number, common = OTF2_UNDEFINED_COMM;
    gpointer named;
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autofree char *plain = g_strdup_printf("comm#%u", number);
    if (wend_read_communicator(n->e->reader, number, &c) < 0)
        return OTF2_SUCCESS; /* nobody uses it */
    OTF2_StringRef name =
        g_hash_table_lookup_extended(n->comm_names, GUINT_TO_POINTER(ref), NULL, &named)
            ? GPOINTER_TO_UINT(named)
            : string_of(n, plain);
    const struct {
        const gint64 *ranks;
        guint n;
    } groups[] = {{c->members, c->n_members}, {c->remote, c->n_remote}};
    guint n_sides = c->n_remote > 0 ? 2 : 1;
    for (guint i = 0; i < n_sides; i++) {
        g_array_set_size(members, 0);
        for (guint k = 0; k < groups[i].n; k++) {
            gint64 rank = groups[i].ranks[k];
            guint64 member =
                rank >= 0 && rank < n->e->n_ranks ? (guint64)rank : OTF2_UNDEFINED_UINT64;
            g_array_append_val(members, member);
        }
        OTF2_TRY(write_group(n, w, *group + i, plain, OTF2_GROUP_TYPE_COMM_GROUP, members));
    }
    OTF2_GroupRef first = *group;
    *group += n_sides;
    if (n_sides == 1)
        return OTF2_GlobalDefWriter_WriteComm(w, ref, name, first, OTF2_UNDEFINED_COMM,
                                              OTF2_COMM_FLAG_NONE);
    return OTF2_GlobalDefWriter_WriteInterComm(w, ref, name, first, first + 1, common,
                                               OTF2_COMM_FLAG_NONE);
}

/* Members of groups are indices of the first group, which has the first thread of each rank. */
static OTF2_ErrorCode write_comms(Otf2Names *n, OTF2_GlobalDefWriter *w)
{
    const Export *e = n->e;
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(guint64));
    OTF2_GroupRef group = 0;
    uint32_t n_comms;
    g_array_append_vals(members, e->first_location, e->n_ranks);
    OTF2_TRY(write_group(n, w, group++, "MPI", OTF2_GROUP_TYPE_COMM_LOCATIONS, members));
    for (guint world = 0; world < e->n_worlds; world++) {
        g_autofree char *name = world == 0 ? g_strdup("MPI_COMM_WORLD")
                                           : g_strdup_printf("MPI_COMM_WORLD of world %u", world);
        g_array_set_size(members, 0);
        for (guint64 rank = n->first_ranks[world]; rank < n->first_ranks[world + 1]; rank++)
            g_array_append_val(members, rank);
        OTF2_TRY(write_group(n, w, group, name, OTF2_GROUP_TYPE_COMM_GROUP, members));
        OTF2_TRY(OTF2_GlobalDefWriter_WriteComm(w, world, string_of(n, name), group++,
                                                OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
    g_array_set_size(members, 0);
    OTF2_TRY(write_group(n, w, group, "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, members));
    OTF2_TRY(OTF2_GlobalDefWriter_WriteComm(w, e->n_worlds, string_of(n, "MPI_COMM_SELF"), group++,
                                            OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    if (wend_read_n_communicators(e->reader, &n_comms) < 0)
        return OTF2_ERROR_INVALID_DATA;
    for (guint i = 1; i <= n_comms; i++)
        OTF2_TRY(write_comm(n, w, i, &group));
    return OTF2_SUCCESS;
}

static OTF2_ErrorCode write_objects(Otf2Names *n, OTF2_GlobalDefWriter *w)
{
    for (guint i = 0; i < n->windows->len; i++) {
        g_autofree char *name = g_strdup_printf("window %u", i);
        OTF2_TRY(OTF2_GlobalDefWriter_WriteRmaWin(w, i, string_of(n, name),
                                                  g_array_index(n->windows, NamedWindow, i).comm,
                                                  OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    }
    for (guint i = 0; i < n->files->len; i++) {
        const File *f = &g_array_index(n->files, File, i);
        OTF2_TRY(OTF2_GlobalDefWriter_WriteIoRegularFile(w, i, f->name, 0));
        OTF2_TRY(OTF2_GlobalDefWriter_WriteIoHandle(w, i, f->name, i, 0, OTF2_IO_HANDLE_FLAG_NONE,
                                                    f->comm, OTF2_UNDEFINED_IO_HANDLE));
    }
    return OTF2_SUCCESS;
}

OTF2_ErrorCode otf2_names_write(Otf2Names *n, OTF2_GlobalDefWriter *w)
{
    n->writer = w;
    for (guint i = 0; i < n->texts->len; i++)
        write_string(n, i);
    OTF2_TRY(write_run(n, w));
    OTF2_TRY(write_regions(n, w));
    OTF2_TRY(write_locations(n, w));
    OTF2_TRY(write_comms(n, w));
    OTF2_TRY(write_objects(n, w));
    return n->failure;
}
