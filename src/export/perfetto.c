/* SPDX-License-Identifier: BSD-3-Clause */
/* perfetto.c: track events, as Perfetto's timeline and its trace processor read them. Each rank is
 * a process, each of its threads and callbacks a thread, each call a slice. A message is a flow
 * from the slice that sends it to the slice in which its receive completes.
 *
 * A flow is attached to the beginning of the one and to the end of the other. Perfetto drops a flow
 * that would end before it begins. */
#include "config.h"

#include "format.h"
#include "lib/base/file-stream.h"
#include "perfetto-names.h"
#include "src/command/text.h"

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
    PerfettoNames *names;
    GByteArray *out;
    GArray *tags; /* guint by function: its parameter of that name, + 1; 0: not looked for yet */
    gboolean begun;
} PerfettoState;

/* The arguments of a slice. */
typedef struct {
    Argument all[N_ARGUMENTS], *list[N_ARGUMENTS];
    guint n;
} Arguments;

/* -- packets -- */

static gboolean flush(PerfettoState *s, gsize at_least)
{
    if (s->out->len < at_least)
        return TRUE;
    gboolean good = wend_file_stream_write(s->file, s->out->data, s->out->len);
    g_byte_array_set_size(s->out, 0);
    return good;
}

static void put_packet(PerfettoState *s, Packet *packet)
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

static void put_track(PerfettoState *s, Track *track, guint64 uuid)
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

static void put_thread(PerfettoState *s, guint rank, guint index, const WendReadSequence *info)
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

static void put_process(PerfettoState *s, guint rank, const WendReadRank *info)
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
    PerfettoState *s = state;
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
static void put_tracks(PerfettoState *s)
{
    Track root = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    root.has_process_ordering = root.has_thread_ordering = TRUE;
    root.process_ordering =
        PERFETTO__PROTOS__TRACK_DESCRIPTOR__PROCESS_ORDERING__PROCESS_ORDERING_EXPLICIT;
    root.thread_ordering =
        PERFETTO__PROTOS__TRACK_DESCRIPTOR__THREAD_ORDERING__THREAD_ORDERING_EXPLICIT;
    put_track(s, &root, 0);
    for (guint rank = 0; rank < s->e->n_ranks; rank++)
        if ((s->e->ranks == NULL || s->e->ranks[rank]) && (!put_rank(s, rank) || !flush(s, PIECE)))
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

static gint64 tag_of(PerfettoState *s, const WendReadCall *call)
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

static void add_outcome(PerfettoState *s, Arguments *a, const WendReadCall *call)
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

static void add_arguments(PerfettoState *s, Arguments *a, const WendReadCall *call)
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

static void put_event(PerfettoState *s, TrackEvent *event, guint64 location, guint64 time)
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
    PerfettoState *s = state;
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

static gpointer begin(const Export *e, GError **error)
{
    WendFileStream *file =
        wend_file_stream_open(e->output, e->replace ? WEND_FILE_REPLACE : 0, error);
    if (file == NULL)
        return NULL;
    PerfettoState *s = g_new0(PerfettoState, 1);
    s->e = e;
    s->file = file;
    s->names = perfetto_names_new(e->reader, "export");
    s->out = g_byte_array_sized_new(2 * PIECE);
    s->tags = g_array_new(FALSE, TRUE, sizeof(guint));
    put_tracks(s);
    return s;
}

static gboolean end(gpointer state, gboolean keep, GError **error)
{
    PerfettoState *s = state;
    if (keep)
        flush(s, 1);
    gboolean good = wend_file_stream_end(s->file, keep, error);
    perfetto_names_free(s->names);
    g_byte_array_unref(s->out);
    g_array_unref(s->tags);
    g_free(s);
    return good;
}

const Format format_perfetto = {"perfetto", TRUE, FALSE, begin, NULL, put_call, NULL, end};
