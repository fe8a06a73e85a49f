/* SPDX-License-Identifier: BSD-3-Clause */
/* perfetto.c: track events, as Perfetto's timeline and its trace processor read them. Each rank is
 * a process, each of its threads and callbacks a thread, each call a slice. A message is a flow
 * from the slice that sends it to the slice in which its receive completes.
 *
 * A flow is attached to the beginning of the one and to the end of the other. Perfetto drops a flow
 * that would end before it begins. */
#include "config.h"

#include "format.h"
#include <glib.h>
#include "lib/base/file-stream.h"
#include "src/command/text.h"
#include <string.h>

#include "src/command/site-names.h"
#include "src/export/track-event.gen.h"
#include "wend/read.h"

/* -- names -- */

/* The texts of a Perfetto trace by number (iid). A number is given when its text is first used; the
 * packet that uses it says what it stands for. */

typedef Perfetto__Protos__InternedData Data;

/* Categories of slices. */
enum {
    CATEGORY_SEND = 1,
    CATEGORY_RECEIVE,
    CATEGORY_COLLECTIVE,
    CATEGORY_COMPLETION,
    CATEGORY_OTHER,
    N_CATEGORIES = CATEGORY_OTHER
};

/* Names of arguments. */
enum {
    ARGUMENT_CALL = 1,
    ARGUMENT_COMMUNICATOR,
    ARGUMENT_PEER,
    ARGUMENT_TAG,
    ARGUMENT_BYTES,
    ARGUMENT_POLL,
    ARGUMENT_ERROR,
    ARGUMENT_UNFINISHED,
    ARGUMENT_SITE,
    N_ARGUMENTS = ARGUMENT_SITE
};

typedef Perfetto__Protos__EventCategory Category;
typedef Perfetto__Protos__EventName EventName;
typedef Perfetto__Protos__DebugAnnotationName ArgumentName;
typedef Perfetto__Protos__SourceLocation Location;
typedef Perfetto__Protos__InternedString InternedText;

enum { MOST_TEXTS = 4 }; /* texts that are new in one packet */

typedef struct Names {
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
    Data data;
} Names;

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

/* COMMAND says which programs have no names of sites (site-names.h). The caller frees the result
 * before R. */
static Names *perfetto_names_new(WendRead *r, const char *command)
{
    Names *n = g_new0(Names, 1);
    n->functions = g_hash_table_new(NULL, NULL);
    n->sites = g_hash_table_new(NULL, NULL);
    n->texts = g_hash_table_new(g_str_hash, g_str_equal);
    n->strings = g_string_chunk_new(1024);
    n->names = site_names_new(r, command);
    return n;
}

/* N may be NULL */
static void perfetto_names_free(Names *n)
{
    if (!n)
        return;
    g_hash_table_destroy(n->functions);
    g_hash_table_destroy(n->sites);
    g_hash_table_destroy(n->texts);
    g_string_chunk_free(n->strings);
    site_names_free(n->names);
    g_free(n);
}

static guint64 perfetto_names_function(Names *n, const WendReadFunction *f)
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

static char *printable(Names *n, const char *text)
{
    g_autofree char *printed = text_foreign_new(text);
    return g_string_chunk_insert_const(n->strings, printed);
}

/* foreign text becomes printable */
static guint64 perfetto_names_text(Names *n, const char *text)
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
static guint64 add_location(Names *n, const SiteFrame *frame)
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

/* The function and line of SITE. 0: not known; then *TEXT is the number of a text of the address.
 * Both are 0 if SITE is not known. */
static guint64 perfetto_names_site(Names *n, guint32 site, guint64 *text)
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

static void add_lists(Names *n)
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

/* What the numbers stand for that were first given since this was last asked. At first, categories
 * and arguments. Valid until N is used again. NULL: nothing is new. */
static Data *perfetto_names_take(Names *n)
{
    if (n->begun && !n->has_function && !n->has_location && n->n_texts == 0)
        return NULL;
    n->data = (Data)PERFETTO__PROTOS__INTERNED_DATA__INIT;
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

typedef Perfetto__Protos__Trace Trace;
typedef Perfetto__Protos__TracePacket Packet;
typedef Perfetto__Protos__TrackDescriptor Track;
typedef Perfetto__Protos__TrackEvent TrackEvent;
typedef Perfetto__Protos__DebugAnnotation Argument;

#define ARGUMENT_INIT PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT

enum { PIECE = 1 << 16, SEQUENCE = 1 /* of packets: any number */ };

typedef struct {
    const Export *e;
    WendFileStream *file;
    Names *names;
    GByteArray *out;
    GArray *tags; /* guint by function: its parameter of that name, + 1; 0: not looked for yet */
    gboolean begun;
} State;

/* The arguments of a slice. */
typedef struct {
    Argument all[N_ARGUMENTS], *list[N_ARGUMENTS];
    guint n;
} Arguments;

/* -- packets -- */

static gboolean flush(State *s, gsize at_least)
{
    if (s->out->len < at_least)
        return TRUE;
    gboolean good = file_stream_write(s->file, s->out->data, s->out->len);
    g_byte_array_set_size(s->out, 0);
    return good;
}

static void put_packet(State *s, Packet *packet)
{
    Trace trace = PERFETTO__PROTOS__TRACE__INIT; /* with one packet; traces may be joined */
    packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = TRUE;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->sequence_flags =
        PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
    packet->interned_data = perfetto_names_take(s->names);
    if (!s->begun)
        packet->sequence_flags =
            PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
    s->begun = TRUE;
    trace.n_packet = 1;
    trace.packet = &packet;
    guint at = s->out->len;
    g_byte_array_set_size(s->out, at + (guint)perfetto__protos__trace__get_packed_size(&trace));
    perfetto__protos__trace__pack(&trace, s->out->data + at);
}

static void put_track(State *s, Track *track, guint64 uuid)
{
    Packet packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    track->has_uuid = TRUE;
    track->uuid = uuid;
    packet.track_descriptor = track;
    put_packet(s, &packet);
}

/* -- tracks -- */

static guint64 thread_track(guint64 location)
{
    return location + 1;
}

static guint64 process_track(const Export *e, guint rank)
{
    return thread_track(e->first_location[e->n_ranks]) + rank;
}

/* Numbers of processes and threads, as of Linux: a process has that of its first thread, and 0 is
 * the kernel's. */
static gint32 thread_number(guint64 location)
{
    return (gint32)(location + 1);
}

static void put_thread(State *s, guint rank, guint index, const WendReadSequence *info)
{
    guint64 first = s->e->first_location[rank];
    Track track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__ThreadDescriptor thread = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
    g_autoptr(GString) name = g_string_new(NULL);
    text_sequence(name, info->callback, info->id);
    thread.has_pid = thread.has_tid = TRUE;
    thread.pid = thread_number(first);
    thread.tid = thread_number(first + index);
    thread.thread_name = name->str;
    track.thread = &thread;
    track.has_sibling_order_rank = TRUE;
    track.sibling_order_rank = (gint32)index;
    put_track(s, &track, thread_track(first + index));
}

static void put_process(State *s, guint rank, const WendReadRank *info)
{
    const WendReadFacts *facts;
    Track track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__ProcessDescriptor process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
    g_autoptr(GString) name = g_string_new(NULL);
    g_autofree char *program = NULL;
    text_rank(name, rank, s->e->n_worlds, info->world, info->world_rank);
    process.has_pid = TRUE;
    process.pid = thread_number(s->e->first_location[rank]);
    process.process_name = name->str;
    if (wend_read_facts(s->e->reader, info->world, &facts) == WEND_READ_OK
        && facts->program != NULL) {
        program = text_foreign_new(facts->program);
        process.n_cmdline = 1;
        process.cmdline = &program;
    }
    track.process = &process;
    track.has_sibling_order_rank = TRUE;
    track.sibling_order_rank = (gint32)rank;
    put_track(s, &track, process_track(s->e, rank));
}

/* Returns FALSE if the reader failed. */
static gboolean put_rank(gpointer state, guint rank)
{
    State *s = state;
    const WendReadRank *info;
    const WendReadSequence *sequence;
    if (wend_read_rank(s->e->reader, rank, &info) < 0)
        return FALSE;
    guint n = info->n_sequences;
    if (n > 0)
        put_process(s, rank, info);
    for (guint i = 0; i < n; i++) {
        if (wend_read_sequence(s->e->reader, rank, i, &sequence) < 0)
            return FALSE;
        put_thread(s, rank, i, sequence);
    }
    return TRUE;
}

/* The ranks, in their order. */
static void put_tracks(State *s)
{
    Track root = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    root.has_process_ordering = root.has_thread_ordering = TRUE;
    root.process_ordering =
        PERFETTO__PROTOS__TRACK_DESCRIPTOR__PROCESS_ORDERING__PROCESS_ORDERING_EXPLICIT;
    root.thread_ordering =
        PERFETTO__PROTOS__TRACK_DESCRIPTOR__THREAD_ORDERING__THREAD_ORDERING_EXPLICIT;
    put_track(s, &root, 0);
    for (guint rank = 0; rank < s->e->n_ranks; rank++)
        if ((!s->e->ranks || s->e->ranks[rank]) && (!put_rank(s, rank) || !flush(s, PIECE)))
            return; /* the end says why */
}

/* -- slices -- */

static Argument *add_argument(Arguments *a, guint name)
{
    Argument *argument = &a->all[a->n];
    a->list[a->n++] = argument;
    *argument = (Argument)ARGUMENT_INIT;
    argument->has_name_iid = TRUE;
    argument->name_iid = name;
    return argument;
}

static void add_number(Arguments *a, guint name, gint64 value)
{
    if (value == WEND_READ_ABSENT || value == WEND_READ_UNKNOWN)
        return;
    Argument *argument = add_argument(a, name);
    argument->has_int_value = TRUE;
    argument->int_value = value;
}

static void add_true(Arguments *a, guint name)
{
    Argument *argument = add_argument(a, name);
    argument->has_bool_value = TRUE;
    argument->bool_value = TRUE;
}

static void add_text(Arguments *a, guint name, guint64 iid)
{
    Argument *argument = add_argument(a, name);
    argument->has_string_value_iid = TRUE;
    argument->string_value_iid = iid;
}

static gint64 tag_of(State *s, const WendReadCall *call)
{
    const WendReadFunction *f = call->function;
    WendReadValue value;
    if (s->tags->len <= f->index)
        g_array_set_size(s->tags, f->index + 1);
    guint *known = &g_array_index(s->tags, guint, f->index);
    if (*known == 0) {
        guint parameter = wend_read_parameter_named(f, "tag");
        if (parameter == WEND_READ_NO_INDEX)
            parameter = wend_read_parameter_named(f, "sendtag");
        *known = parameter == WEND_READ_NO_INDEX ? G_MAXUINT : parameter + 1;
    }
    if (*known == G_MAXUINT || wend_read_input(call, *known - 1, &value) < 0
        || value.type != WEND_READ_NUMBER)
        return WEND_READ_ABSENT;
    return value.number;
}

static void add_outcome(State *s, Arguments *a, const WendReadCall *call)
{
    if (call->poll)
        add_true(a, ARGUMENT_POLL);
    if (call->unfinished) {
        add_true(a, ARGUMENT_UNFINISHED);
    } else if (call->failed) {
        const char *name = wend_read_error_name(s->e->reader, call->return_code);
        g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, call->return_code);
        add_text(a, ARGUMENT_ERROR, perfetto_names_text(s->names, name != NULL ? name : number));
    }
}

static void add_arguments(State *s, Arguments *a, const WendReadCall *call)
{
    WendReadTransfer t;
    if (!call->poll)
        add_number(a, ARGUMENT_CALL, (gint64)call->index);
    if (wend_read_transfer(call, &t) < 0)
        t = (WendReadTransfer){WEND_READ_NO_INDEX, 0, 0, 0, WEND_READ_ABSENT, WEND_READ_ABSENT};
    if (t.communicator != WEND_READ_NO_INDEX)
        add_number(a, ARGUMENT_COMMUNICATOR, t.communicator);
    add_number(a, ARGUMENT_PEER, t.peer_world);
    add_number(a, ARGUMENT_TAG, tag_of(s, call));
    add_number(a, ARGUMENT_BYTES, t.bytes);
    add_outcome(s, a, call);
}

/* Sets the categories of F, and returns how many they are. */
static guint categories_of(const WendReadFunction *f, guint64 categories[N_CATEGORIES])
{
    static const struct {
        guint flag, category;
    } all[] = {{WEND_READ_SENDS, CATEGORY_SEND},
               {WEND_READ_RECEIVES, CATEGORY_RECEIVE},
               {WEND_READ_COLLECTIVE, CATEGORY_COLLECTIVE},
               {WEND_READ_COMPLETES, CATEGORY_COMPLETION}};
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        if (f->flags & all[i].flag)
            categories[n++] = all[i].category;
    if (n == 0)
        categories[n++] = CATEGORY_OTHER;
    return n;
}

static void put_event(State *s, TrackEvent *event, guint64 location, guint64 time)
{
    Packet packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    packet.has_timestamp = event->has_type = event->has_track_uuid = TRUE;
    packet.timestamp = time;
    packet.track_event = event;
    event->track_uuid = thread_track(location);
    put_packet(s, &packet);
}

static gboolean put_call(gpointer state, const ExportPlace *place, const TimedCall *timed,
                         const CallMessages *messages)
{
    State *s = state;
    const WendReadCall *call = timed->call;
    TrackEvent begin = PERFETTO__PROTOS__TRACK_EVENT__INIT, end = begin;
    Arguments arguments = {.n = 0};
    guint64 categories[N_CATEGORIES], address;
    add_arguments(s, &arguments, call);
    begin.source_location_iid = perfetto_names_site(s->names, call->site, &address);
    begin.has_source_location_iid = begin.source_location_iid != 0;
    if (address != 0)
        add_text(&arguments, ARGUMENT_SITE, address);
    begin.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
    begin.has_name_iid = TRUE;
    begin.name_iid = perfetto_names_function(s->names, call->function);
    begin.n_category_iids = categories_of(call->function, categories);
    begin.category_iids = categories;
    begin.n_debug_annotations = arguments.n;
    begin.debug_annotations = arguments.list;
    begin.n_flow_ids = messages->n_sends;
    begin.flow_ids = (guint64 *)messages->sends;
    put_event(s, &begin, place->location, timed->start);
    end.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
    end.n_terminating_flow_ids = messages->n_receives;
    end.terminating_flow_ids = (guint64 *)messages->receives;
    put_event(s, &end, place->location, timed->end);
    return flush(s, PIECE);
}

/* -- the file -- */

static gpointer begin(const Export *e, Error **error)
{
    WendFileStream *file = file_stream_open(e->output, e->replace ? WEND_FILE_REPLACE : 0, error);
    if (!file)
        return NULL;
    State *s = g_new0(State, 1);
    s->e = e;
    s->file = file;
    s->names = perfetto_names_new(e->reader, "export");
    s->out = g_byte_array_sized_new(2 * PIECE);
    s->tags = g_array_new(FALSE, TRUE, sizeof(guint));
    put_tracks(s);
    return s;
}

static gboolean end(gpointer state, gboolean keep, Error **error)
{
    State *s = state;
    if (keep)
        flush(s, 1);
    gboolean good = file_stream_end(s->file, keep, error);
    perfetto_names_free(s->names);
    g_byte_array_unref(s->out);
    g_array_unref(s->tags);
    g_free(s);
    return good;
}

const Format format_perfetto = {"perfetto", TRUE, FALSE, begin, NULL, put_call, NULL, end};
