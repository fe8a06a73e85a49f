/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2.c: the Open Trace Format 2, by its own library: a directory with traces.otf2, the
 * definitions, and a file of events for each thread of each rank. */
#include "config.h"

#include <string.h>

#include "format.h"
#include "lib/base/error.h"
#include "lib/base/file-directory.h"
#include "otf2.h"

typedef struct {
    const Export *e;
    WendFileDirectory *directory;
    OTF2_Archive *archive;
    Otf2Names *names;
    Otf2Rank *rank; /* of the rank whose calls come; NULL: between ranks */
    OTF2_EvtWriter **writers;
    guint n_writers;
    guint64 n_calls;
    OTF2_ErrorCode code; /* the first failure */
} State;

/* What OTF2's library says when it first fails, and why. It would print both itself. */
static char said[512];
static OTF2_ErrorCode reason;

static OTF2_ErrorCode keep_error(void *data, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list arguments)
{
    (void)data, (void)file, (void)line, (void)function;
    if (*said == '\0') {
        g_vsnprintf(said, sizeof said, format, arguments);
        reason = code;
    }
    return code;
}

static OTF2_FlushType flush_always(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_final)
{
    (void)data, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flushing = {flush_always, NULL};

/* Each writer of events has one chunk: where OTF2 gets no second one, it writes the first. With its
 * own allocator it would keep all events of a location in memory, until the writer is closed. */
static void *allocate(void *data, OTF2_FileType type, OTF2_LocationRef location, void **chunks,
                      uint64_t size)
{
    (void)data, (void)location;
    if (!*chunks)
        *chunks = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *all = *chunks;
    void *chunk = type == OTF2_FILETYPE_EVENTS && all->len > 0 ? NULL : g_try_malloc((gsize)size);
    if (chunk != NULL)
        g_ptr_array_add(all, chunk);
    return chunk;
}

static void free_all(void *data, OTF2_FileType type, OTF2_LocationRef location, void **chunks,
                     bool is_final)
{
    (void)data, (void)type, (void)location, (void)is_final;
    if (*chunks != NULL)
        g_ptr_array_unref(*chunks);
    *chunks = NULL;
}

static const OTF2_MemoryCallbacks memory = {allocate, free_all};

/* Whether FILE is one that this format writes. */
static bool is_ours(const char *file)
{
    return g_str_equal(file, "traces.otf2") || g_str_equal(file, "traces.def")
           || (g_str_has_prefix(file, "traces/")
               && (g_str_has_suffix(file, ".evt") || g_str_has_suffix(file, ".def")));
}

static gboolean tried(State *s, OTF2_ErrorCode code)
{
    if (s->code == OTF2_SUCCESS)
        s->code = code;
    return s->code == OTF2_SUCCESS;
}

static void close_writers(State *s)
{
    for (guint i = 0; i < s->n_writers; i++)
        if (s->writers[i] != NULL)
            tried(s, OTF2_Archive_CloseEvtWriter(s->archive, s->writers[i]));
    g_clear_pointer(&s->writers, g_free);
    s->n_writers = 0;
}

static void free_state(State *s)
{
    close_writers(s);
    if (s->archive != NULL)
        OTF2_Archive_Close(s->archive);
    otf2_rank_free(s->rank);
    otf2_names_free(s->names);
    g_free(s);
}

static gboolean fail(const State *s, Error **error)
{
    if (*said != '\0')
        error_set(error, WEND_ERROR_SYSTEM, "%s: cannot write: %s (%s)", s->e->output,
                  OTF2_Error_GetDescription(reason), said);
    else
        error_set(error, WEND_ERROR_SYSTEM, "%s: cannot write: %s", s->e->output,
                  OTF2_Error_GetDescription(s->code));
    return FALSE;
}

static gpointer begin(const Export *e, Error **error)
{
    State *s = g_new0(State, 1);
    s->e = e;
    s->directory =
        file_directory_open(e->output, e->replace ? WEND_FILE_REPLACE : 0, is_ours, error);
    if (!s->directory) {
        g_free(s);
        return NULL;
    }
    OTF2_Error_RegisterCallback(keep_error, NULL);
    s->names = otf2_names_new(e, "export");
    s->archive =
        OTF2_Archive_Open(file_directory_path(s->directory), "traces", OTF2_FILEMODE_WRITE,
                          OTF2_CHUNK_SIZE_EVENTS_DEFAULT, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (s->archive != NULL && tried(s, OTF2_Archive_SetFlushCallbacks(s->archive, &flushing, NULL))
        && tried(s, OTF2_Archive_SetMemoryCallbacks(s->archive, &memory, NULL))
        && tried(s, OTF2_Archive_SetSerialCollectiveCallbacks(s->archive))
        && tried(s, OTF2_Archive_SetCreator(s->archive, "Wend " PACKAGE_VERSION))
        && tried(s, OTF2_Archive_OpenEvtFiles(s->archive)))
        return s;
    fail(s, error);
    file_directory_end(s->directory, FALSE, NULL);
    free_state(s);
    return NULL;
}

static gboolean begin_rank(State *s, guint rank)
{
    const guint64 *first = s->e->first_location;
    s->rank = otf2_rank_new(s->names, rank);
    s->n_writers = (guint)(first[rank + 1] - first[rank]);
    s->writers = g_new0(OTF2_EvtWriter *, s->n_writers);
    for (guint i = 0; i < s->n_writers; i++) {
        s->writers[i] = OTF2_Archive_GetEvtWriter(s->archive, first[rank] + i);
        if (!s->writers[i])
            return tried(s, OTF2_ERROR_MEM_ALLOC_FAILED);
    }
    return TRUE;
}

static gboolean put_call(gpointer state, const ExportPlace *place, const TimedCall *timed)
{
    State *s = state;
    if (!s->rank && !begin_rank(s, place->rank))
        return FALSE;
    if (++s->n_calls % 1024 == 0 && file_directory_interrupted(s->directory))
        return FALSE;
    return tried(
        s, otf2_rank_write_call(s->rank, s->writers[place->sequence], place->location, timed));
}

static gboolean end_rank(gpointer state, guint rank)
{
    State *s = state;
    if (!s->rank && !begin_rank(s, rank)) /* it had no calls, and has empty files */
        return FALSE;
    g_clear_pointer(&s->rank, otf2_rank_free);
    close_writers(s);
    return s->code == OTF2_SUCCESS;
}

/* Each location has a file of definitions of its own; all definitions are in the global one. */
static gboolean write_definitions(State *s)
{
    if (!tried(s, OTF2_Archive_CloseEvtFiles(s->archive))
        || !tried(s, OTF2_Archive_OpenDefFiles(s->archive)))
        return FALSE;
    for (guint64 i = 0; i < s->e->first_location[s->e->n_ranks]; i++) {
        OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(s->archive, i);
        if (!w || !tried(s, OTF2_Archive_CloseDefWriter(s->archive, w)))
            return tried(s, OTF2_ERROR_MEM_ALLOC_FAILED);
    }
    OTF2_GlobalDefWriter *global = NULL;
    if (tried(s, OTF2_Archive_CloseDefFiles(s->archive)))
        global = OTF2_Archive_GetGlobalDefWriter(s->archive);
    if (!global)
        return tried(s, OTF2_ERROR_MEM_ALLOC_FAILED);
    return tried(s, otf2_names_write(s->names, global))
           && tried(s, OTF2_Archive_CloseGlobalDefWriter(s->archive, global));
}

static gboolean end(gpointer state, gboolean keep, Error **error)
{
    State *s = state;
    keep = keep && !file_directory_interrupted(s->directory);
    gboolean good = !keep || (s->code == OTF2_SUCCESS && write_definitions(s));
    close_writers(s);
    OTF2_ErrorCode code = OTF2_Archive_Close(s->archive);
    s->archive = NULL;
    good = !keep || (tried(s, code) && good) || fail(s, error);
    good = file_directory_end(s->directory, keep && good, good ? error : NULL) && good;
    free_state(s);
    return good;
}

const Format format_otf2 = {"otf2", TRUE, TRUE, begin, put_call, NULL, end_rank, end};
