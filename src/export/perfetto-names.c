/* SPDX-License-Identifier: BSD-3-Clause */
/* perfetto-names.c: see perfetto-names.h. */
#include "config.h"

#include "perfetto-names.h"

#include <string.h>

#include "src/command/text.h"
#include "src/command/site-names.h"

typedef Perfetto__Protos__EventCategory Category;
typedef Perfetto__Protos__EventName EventName;
typedef Perfetto__Protos__DebugAnnotationName ArgumentName;
typedef Perfetto__Protos__SourceLocation Location;
typedef Perfetto__Protos__InternedString InternedText;

enum { MOST_TEXTS = 4 }; /* texts that are new in one packet */

struct PerfettoNames {
    GHashTable *functions; /* index + 1: those that have been given */
    GHashTable *sites;     /* site + 1 -> number of a location, or 0 */
    GHashTable *texts;     /* text -> its number */
    GStringChunk *strings;
    SiteNames *names;
    guint64 n_locations;
    gboolean begun; /* categories and arguments have been given */
    /* what is new */
    gboolean has_function, has_location;
    EventName function, *function_list[1];
    Location location, *location_list[1];
    InternedText text[MOST_TEXTS], *text_list[MOST_TEXTS];
    guint n_texts;
    Category category[N_CATEGORIES], *category_list[N_CATEGORIES];
    ArgumentName argument[N_ARGUMENTS], *argument_list[N_ARGUMENTS];
    PerfettoData data;
};

static const char *const category_names[] = {
    [CATEGORY_SEND] = "send",
    [CATEGORY_RECEIVE] = "receive",
    [CATEGORY_COLLECTIVE] = "collective",
    [CATEGORY_COMPLETION] = "completion",
    [CATEGORY_OTHER] = "other",
};

static const char *const argument_names[] = {
    [ARGUMENT_CALL] = "call",   [ARGUMENT_COMMUNICATOR] = "communicator",
    [ARGUMENT_PEER] = "peer",   [ARGUMENT_TAG] = "tag",
    [ARGUMENT_BYTES] = "bytes", [ARGUMENT_POLL] = "poll",
    [ARGUMENT_ERROR] = "error", [ARGUMENT_UNFINISHED] = "unfinished",
    [ARGUMENT_SITE] = "site",
};

PerfettoNames *perfetto_names_new(WendRead *r, const char *command)
{
    PerfettoNames *n = g_new0(PerfettoNames, 1);
    n->functions = g_hash_table_new(NULL, NULL);
    n->sites = g_hash_table_new(NULL, NULL);
    n->texts = g_hash_table_new(g_str_hash, g_str_equal);
    n->strings = g_string_chunk_new(1024);
    n->names = site_names_new(r, command);
    return n;
}

void perfetto_names_free(PerfettoNames *n)
{
    if (n == NULL)
        return;
    g_hash_table_destroy(n->functions);
    g_hash_table_destroy(n->sites);
    g_hash_table_destroy(n->texts);
    g_string_chunk_free(n->strings);
    site_names_free(n->names);
    g_free(n);
}

guint64 perfetto_names_function(PerfettoNames *n, const WendReadFunction *f)
{
    guint64 iid = (guint64)f->index + 1;
    if (g_hash_table_add(n->functions, GUINT_TO_POINTER(f->index + 1))) {
        n->function = (EventName)PERFETTO__PROTOS__EVENT_NAME__INIT;
        n->function.has_iid = TRUE;
        n->function.iid = iid;
        n->function.name = (char *)f->name;
        n->has_function = TRUE;
    }
    return iid;
}

static char *printable(PerfettoNames *n, const char *text)
{
    g_autofree char *printed = text_foreign_new(text);
    return g_string_chunk_insert_const(n->strings, printed);
}

guint64 perfetto_names_text(PerfettoNames *n, const char *text)
{
    char *key = printable(n, text);
    guint iid = GPOINTER_TO_UINT(g_hash_table_lookup(n->texts, key));
    if (iid != 0)
        return iid;
    g_return_val_if_fail(n->n_texts < MOST_TEXTS, 0);
    iid = g_hash_table_size(n->texts) + 1;
    g_hash_table_insert(n->texts, key, GUINT_TO_POINTER(iid));
    InternedText *t = &n->text[n->n_texts++];
    *t = (InternedText)PERFETTO__PROTOS__INTERNED_STRING__INIT;
    t->has_iid = t->has_str = TRUE;
    t->iid = iid;
    t->str = (ProtobufCBinaryData){strlen(key), (uint8_t *)key};
    return iid;
}

/* Gives a number to the line of FRAME. */
static guint64 add_location(PerfettoNames *n, const SiteFrame *frame)
{
    n->location = (Location)PERFETTO__PROTOS__SOURCE_LOCATION__INIT;
    n->location.has_iid = TRUE;
    n->location.iid = ++n->n_locations;
    if (frame->function != NULL)
        n->location.function_name = printable(n, frame->function);
    if (frame->file != NULL)
        n->location.file_name = printable(n, frame->file);
    n->location.has_line_number = frame->line > 0;
    n->location.line_number = frame->line;
    n->has_location = TRUE;
    return n->location.iid;
}

guint64 perfetto_names_site(PerfettoNames *n, guint32 site, guint64 *text)
{
    gpointer known;
    *text = 0;
    if (site == WEND_READ_NO_INDEX)
        return 0;
    gboolean seen = g_hash_table_lookup_extended(n->sites, GUINT_TO_POINTER(site), NULL, &known);
    guint64 location = seen ? GPOINTER_TO_UINT(known) : 0;
    if (!seen) {
        const SiteName *name = site_name(n->names, site);
        if (name != NULL && name->n_frames > 0)
            location = add_location(n, &name->frames[0]);
        g_hash_table_insert(n->sites, GUINT_TO_POINTER(site), GUINT_TO_POINTER((guint)location));
    }
    if (location == 0) {
        g_autoptr(GString) address = g_string_new(NULL);
        site_names_text(address, n->names, site);
        *text = perfetto_names_text(n, address->str);
    }
    return location;
}

/* -- what is new -- */

static void add_lists(PerfettoNames *n)
{
    for (guint i = 0; i < N_CATEGORIES; i++) {
        n->category[i] = (Category)PERFETTO__PROTOS__EVENT_CATEGORY__INIT;
        n->category[i].has_iid = TRUE;
        n->category[i].iid = i + 1;
        n->category[i].name = (char *)category_names[i + 1];
        n->category_list[i] = &n->category[i];
    }
    for (guint i = 0; i < N_ARGUMENTS; i++) {
        n->argument[i] = (ArgumentName)PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT;
        n->argument[i].has_iid = TRUE;
        n->argument[i].iid = i + 1;
        n->argument[i].name = (char *)argument_names[i + 1];
        n->argument_list[i] = &n->argument[i];
    }
    n->data.n_event_categories = N_CATEGORIES;
    n->data.event_categories = n->category_list;
    n->data.n_debug_annotation_names = N_ARGUMENTS;
    n->data.debug_annotation_names = n->argument_list;
}

PerfettoData *perfetto_names_take(PerfettoNames *n)
{
    if (n->begun && !n->has_function && !n->has_location && n->n_texts == 0)
        return NULL;
    n->data = (PerfettoData)PERFETTO__PROTOS__INTERNED_DATA__INIT;
    if (!n->begun)
        add_lists(n);
    n->function_list[0] = &n->function;
    n->location_list[0] = &n->location;
    for (guint i = 0; i < n->n_texts; i++)
        n->text_list[i] = &n->text[i];
    n->data.n_event_names = n->has_function;
    n->data.event_names = n->function_list;
    n->data.n_source_locations = n->has_location;
    n->data.source_locations = n->location_list;
    n->data.n_debug_annotation_string_values = n->n_texts;
    n->data.debug_annotation_string_values = n->text_list;
    n->begun = TRUE;
    n->has_function = n->has_location = FALSE;
    n->n_texts = 0;
    return &n->data;
}
