/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers.c: the functions and variables that the generated program needs besides the application's
 * calls. Only those that are used are written.
 *
 * In one file all are static; in several files, proxy.h declares the shared ones. Helpers call MPI
 * functions by their PMPI_ names, so that a recording of the proxy has the application's calls
 * only. The exception are calls on requests that the program itself makes (aims). */
#include "helpers.h"

#include <string.h>

#include "src/proxygen/analysis/call_analysis.h"
#include "src/proxygen/emit/emit.h"
#include "src/proxygen/model/model.h"

static void one_array(WendKind kind, guint thread, guint length, gpointer data)
{
    Out *o = data;
    const HandleVariable *of = variable_name_handle_kind(kind);
    g_autofree char *name = variable_name_array(kind, thread);
    helper_declare(o->e, o->declarations, "extern %s %s[%u];", of->ctype, name, length);
    g_string_append_printf(o->definitions, "%s%s %s[%u];\n", o->e->linkage, of->ctype, name,
                           length);
    g_string_append_printf(o->nulls, "    for (int i = 0; i < %u; i++)\n        %s[i] = %s;\n",
                           length, name, of->null);
}

static void variables(Out *o)
{
    g_autoptr(GString) arrays = g_string_new("");
    GString *definitions = o->definitions;
    o->definitions = arrays;
    variables_foreach(o->e->plan, one_array, o);
    o->definitions = definitions;
    if (o->nulls->len == 0)
        return;
    c_text_comment(
        definitions, 0,
        "Handles, by their number in the recording: a new one takes the smallest that is "
        "free, so numbers come again.");
    g_string_append_printf(definitions, "%s\n", arrays->str);
    helper_declare(o->e, o->declarations, "void set_null(void);");
    helper_define(o->e, definitions, "@void set_null(void)\n{\n");
    g_string_append_printf(definitions, "%s}\n\n", o->nulls->str);
}

static void status_variables(Out *o)
{
    Emitter *e = o->e;
    const char *local = e->threads ? "_Thread_local " : "";
    if (e->needs[HELPER_STATUS]) {
        helper_declare(e, o->declarations, "extern %sMPI_Status status;", local);
        g_string_append_printf(o->definitions,
                               "%s%sMPI_Status status; /* of the last call that asked for one */\n",
                               e->linkage, local);
    }
    if (e->needs[HELPER_STATUSES]) {
        helper_declare(e, o->declarations, "extern %sMPI_Status statuses[%" G_GINT64_FORMAT "];",
                       local, e->max_statuses);
        g_string_append_printf(o->definitions, "%s%sMPI_Status statuses[%" G_GINT64_FORMAT "];\n",
                               e->linkage, local, e->max_statuses);
    }
    if (e->needs[HELPER_STATUS] || e->needs[HELPER_STATUSES])
        g_string_append_c(o->definitions, '\n');
}

static gint64 rounded(gint64 bytes, gint64 unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* The bytes of a segment above and below its offset 0. S is NULL for a number without a segment. */
static gint64 bytes_above(const Segment *s)
{
    return s ? MAX(s->high, 1) : 1;
}
static gint64 bytes_below(const Segment *s)
{
    return s ? rounded(-s->low, 64) : 0;
}

static void static_memory(Out *o)
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(o->e->plan, WEND_SEGMENT_STATIC);
    for (guint i = 0; i < segments->len; i++) {
        const Segment *s = g_ptr_array_index(segments, i);
        gint64 id = s->place, below = bytes_below(s);
        if (i == 0)
            c_text_comment(
                o->definitions, 0,
                "Static data. Offset 0 is the first address that MPI saw; some were lower.");
        g_string_append_printf(o->definitions,
                               "static _Alignas(64) char static_data_%" G_GINT64_FORMAT
                               "[%" G_GINT64_FORMAT "];\n",
                               id, rounded(below + s->high, 64));
        helper_declare(o->e, o->declarations, "extern char *const static_%" G_GINT64_FORMAT ";",
                       id);
        g_string_append_printf(o->definitions,
                               "%schar *const static_%" G_GINT64_FORMAT
                               " = static_data_%" G_GINT64_FORMAT,
                               o->e->linkage, id, id);
        g_string_append_printf(o->definitions, below ? " + %" G_GINT64_FORMAT ";\n\n" : ";\n\n",
                               below);
    }
}

/* Tells wend trace, if it records the proxy, which data is of one module of the application. */
static void static_modules(Out *o)
{
    if (!memory_use_has_modules(o->e->plan))
        return;
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(o->e->plan, WEND_SEGMENT_STATIC);
    g_string_append(o->definitions,
                    "/* For wend trace, if it records this run: each is the data of one module of "
                    "the application. */\n"
                    "void wend_proxy_static(const void *data, size_t bytes) "
                    "__attribute__((weak));\n\n"
                    "static void static_modules(void)\n{\n    if (!wend_proxy_static)\n"
                    "        return;\n");
    for (guint i = 0; i < segments->len; i++) {
        gint64 id = ((const Segment *)g_ptr_array_index(segments, i))->place;
        g_string_append_printf(o->definitions,
                               "    wend_proxy_static(static_data_%" G_GINT64_FORMAT
                               ", sizeof static_data_%" G_GINT64_FORMAT ");\n",
                               id, id);
    }
    g_string_append(o->definitions, "}\n\n");
}

static void stack_memory(Out *o)
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(o->e->plan, WEND_SEGMENT_STACK);
    for (guint i = 0; i < segments->len; i++) {
        g_autofree char *name =
            expression_segment(o->e, ((const Segment *)g_ptr_array_index(segments, i))->word);
        helper_declare(o->e, o->declarations, "extern char *%s;", name);
        g_string_append_printf(
            o->definitions,
            "%schar *%s; /* memory on the stack: the function that starts the calls has it */\n\n",
            o->e->linkage, name);
    }
}

/* Writes an array of pointers to MPI's own segments. Its length is the largest id. */
static void made_memory(Out *o, enum wend_segment_kind kind, const char *name, const char *comment)
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(o->e->plan, kind);
    if (segments->len == 0)
        return;
    gint64 n = ((const Segment *)g_ptr_array_index(segments, segments->len - 1))->place + 1;
    helper_declare(o->e, o->declarations, "extern char *%s[%" G_GINT64_FORMAT "];", name, n);
    g_string_append_printf(o->definitions, "%schar *%s[%" G_GINT64_FORMAT "]; /* %s */\n\n",
                           o->e->linkage, name, n, comment);
}

/* Writes a table of sizes by id, for segments that the proxy allocates. */
static gint64 sizes(Out *o, enum wend_segment_kind kind, const char *name,
                    gint64 (*bytes)(const Segment *s))
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(o->e->plan, kind);
    g_autoptr(GString) list = g_string_new("");
    gint64 next = 0;
    for (guint i = 0; i < segments->len; i++)
        for (const Segment *s = g_ptr_array_index(segments, i); next <= s->place; next++)
            g_string_append_printf(list, "%s%" G_GINT64_FORMAT, next ? ", " : "",
                                   bytes(next == s->place ? s : NULL));
    c_text_line(o->definitions, 0, "static const size_t %s[%" G_GINT64_FORMAT "] = {%s};", name,
                next, list->str);
    return next;
}

static const char *const heap_below_text =
    "\n"
    "/* Some datatypes lead from a block to what lay before it, in blocks that MPI was not told "
    "of. So there is memory that far below the block: it is\n"
    " * large enough for malloc to make it a mapping of its own, below which there is room. */\n"
    "static size_t heap_pages_below(int id)\n"
    "{\n"
    "    size_t page = (size_t)sysconf(_SC_PAGESIZE);\n"
    "    return (heap_below[id] + page - 1) / page * page;\n"
    "}\n"
    "\n"
    "static char *heap_low(int id, char *block)\n"
    "{\n"
    "    return block - (uintptr_t)block % (size_t)sysconf(_SC_PAGESIZE) - heap_pages_below(id);\n"
    "}\n"
    "\n"
    "static char *heap_make(int id)\n"
    "{\n"
    "    enum { MAPPING = 64 << 20, TRIES = 16 };\n"
    "    char *tried[TRIES], *block = NULL;\n"
    "    int n = 0;\n"
    "    if (heap_below[id] == 0)\n"
    "        return calloc(1, heap_size[id]);\n"
    "    while (!block && n < TRIES && (tried[n] = calloc(1, heap_size[id] > MAPPING ? "
    "heap_size[id] : MAPPING))) {\n"
    "        char *low = heap_low(id, tried[n]);\n"
    "        void *below = mmap(low, heap_pages_below(id), PROT_READ | PROT_WRITE, MAP_PRIVATE | "
    "MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);\n"
    "        if (below == low)\n"
    "            block = tried[n];\n"
    "        else\n"
    "            n++; /* something else is there */\n"
    "    }\n"
    "    while (n > 0)\n"
    "        free(tried[--n]);\n"
    "    return block;\n"
    "}\n"
    "\n"
    "static void heap_release(int id)\n"
    "{\n"
    "    if (heap_block[id] && heap_below[id] > 0)\n"
    "        munmap(heap_low(id, heap_block[id]), heap_pages_below(id));\n"
    "    free(heap_block[id]);\n"
    "}\n";

static const char *const heap_text =
    "\n"
    "/* The block with this number, allocated when it is first used (or used again after it was "
    "freed). */\n"
    "@char *heap(int id)\n"
    "{\n"
    "    if (!heap_block[id]) {\n"
    "        heap_block[id] = #;\n"
    "        if (!heap_block[id]) {\n"
    "            fprintf(stderr, \"proxy: no memory for %zu bytes\\n\", heap_size[id]);\n"
    "            PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "        }\n"
    "    }\n"
    "    return heap_block[id];\n"
    "}\n"
    "\n";

static const char *const heap_free_text = "@void heap_free(int id)\n"
                                          "{\n"
                                          "    #;\n"
                                          "    heap_block[id] = NULL;\n"
                                          "}\n"
                                          "\n";

static const char *const mapped_text =
    "\n"
    "static size_t mapped_pages(int id)\n"
    "{\n"
    "    size_t page = (size_t)sysconf(_SC_PAGESIZE);\n"
    "    return (mapped_below[id] + mapped_size[id] + page - 1) / page * page;\n"
    "}\n"
    "\n"
    "/* Memory from mmap, with a page on each side that keeps mappings apart. Offset 0 is the "
    "first address that MPI saw; some may be lower. */\n"
    "@char *mapped(int id)\n"
    "{\n"
    "    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = mapped_pages(id);\n"
    "    if (!mapped_block[id]) {\n"
    "        char *made = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, "
    "0);\n"
    "        if (made == MAP_FAILED || mprotect(made + page, bytes, PROT_READ | PROT_WRITE) != 0) "
    "{\n"
    "            fprintf(stderr, \"proxy: cannot map %zu bytes\\n\", bytes);\n"
    "            PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "        }\n"
    "        mapped_block[id] = made + page;\n"
    "    }\n"
    "    return mapped_block[id] + mapped_below[id];\n"
    "}\n"
    "\n"
    "@void mapped_free(int id)\n"
    "{\n"
    "    if (mapped_block[id])\n"
    "        munmap(mapped_block[id], mapped_pages(id));\n"
    "    mapped_block[id] = NULL;\n"
    "}\n"
    "\n";

static void memory(Out *o)
{
    Emitter *e = o->e;
    static_memory(o);
    static_modules(o);
    stack_memory(o);
    made_memory(o, WEND_SEGMENT_MPI, "mpi_memory", "from MPI_Alloc_mem");
    made_memory(o, WEND_SEGMENT_WIN, "window_memory", "of windows that MPI allocated");
    if (e->needs[HELPER_HEAP]) {
        c_text_comment(
            o->definitions, 0,
            "The heap, by the number of the block. Sizes are what the calls need, at least.");
        gboolean below = memory_use_heap_reaches_below(e->plan);
        const char *make = below ? "heap_make(id)" : "calloc(1, heap_size[id])",
                   *release = below ? "heap_release(id)" : "free(heap_block[id])";
        gint64 n = sizes(o, WEND_SEGMENT_HEAP, "heap_size", bytes_above);
        if (below)
            sizes(o, WEND_SEGMENT_HEAP, "heap_below", bytes_below);
        g_string_append_printf(o->definitions, "static char *heap_block[%" G_GINT64_FORMAT "];\n",
                               n);
        helper_declare(
            e, o->declarations,
            "char *heap(int id);\nvoid heap_free(int id);\nextern const int heap_blocks;");
        g_string_append_printf(o->definitions, "%sconst int heap_blocks = %" G_GINT64_FORMAT ";\n",
                               e->linkage, n);
        if (below)
            helper_define(e, o->definitions, heap_below_text);
        helper_define_with(o, heap_text, make);
        if (e->needs[HELPER_CUDA])
            helpers_cuda(o, release);
        else
            helper_define_with(o, heap_free_text, release);
    }
    if (e->needs[HELPER_MAPPED]) {
        gint64 n = sizes(o, WEND_SEGMENT_MAP, "mapped_size", bytes_above);
        sizes(o, WEND_SEGMENT_MAP, "mapped_below", bytes_below);
        g_string_append_printf(o->definitions, "static char *mapped_block[%" G_GINT64_FORMAT "];\n",
                               n);
        helper_declare(
            e, o->declarations,
            "char *mapped(int id);\nvoid mapped_free(int id);\nextern const int mapped_blocks;");
        g_string_append_printf(
            o->definitions, "%sconst int mapped_blocks = %" G_GINT64_FORMAT ";\n", e->linkage, n);
        helper_define(e, o->definitions, mapped_text);
    }
    if (e->needs[HELPER_UNUSED_BUFFER]) {
        helper_declare(e, o->declarations, "extern char unused[];");
        helper_define(
            e, o->definitions,
            "@char unused[8]; /* stands for buffers that MPI does not touch at this rank */\n\n");
    }
    if (e->needs[HELPER_UNKNOWN_BUFFER]) {
        helper_declare(e, o->declarations, "extern char unknown_buffer[];");
        helper_define(e, o->definitions,
                      "/* Stands for addresses that the recording could not place. */\n@char "
                      "unknown_buffer[1 << 20];\n\n");
    }
}

static const char *const rank_in_text = "/* The rank of this process in a communicator. */\n"
                                        "@int rank_in(MPI_Comm which)\n"
                                        "{\n"
                                        "    int it = 0;\n"
                                        "    PMPI_Comm_rank(which, &it);\n"
                                        "    return it;\n"
                                        "}\n"
                                        "\n";

static const char *const hide_text =
    "/* Hides all requests of a list but keep[0] of them, which are at the places keep[1], "
    "keep[2], ... */\n"
    "@void hide_others(int n, MPI_Request *list, MPI_Request *hidden, const int *keep)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        hidden[i] = list[i];\n"
    "        list[i] = MPI_REQUEST_NULL;\n"
    "    }\n"
    "    for (int i = 1; i <= keep[0]; i++) {\n"
    "        list[keep[i]] = hidden[keep[i]];\n"
    "        hidden[keep[i]] = MPI_REQUEST_NULL;\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const hide_completed_text =
    "/* Hides the requests of a list that have completed as often as they should: left[i] is 0. "
    "*/\n"
    "@void hide_completed(int n, MPI_Request *list, MPI_Request *hidden, const long *left)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        hidden[i] = MPI_REQUEST_NULL;\n"
    "        if (left[i] == 0) {\n"
    "            hidden[i] = list[i];\n"
    "            list[i] = MPI_REQUEST_NULL;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const show_text =
    "@void show_others(int n, MPI_Request *list, const MPI_Request *hidden)\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (hidden[i] != MPI_REQUEST_NULL)\n"
    "            list[i] = hidden[i];\n"
    "}\n"
    "\n";

static const char *const active_text = "@int active(int n, const MPI_Request *list)\n"
                                       "{\n"
                                       "    int count = 0;\n"
                                       "    for (int i = 0; i < n; i++)\n"
                                       "        count += list[i] != MPI_REQUEST_NULL;\n"
                                       "    return count;\n"
                                       "}\n"
                                       "\n";

static const char *const gather_text =
    "/* Requests that stand elsewhere in another order: brought together for a call, and back. */\n"
    "@void gather_requests(int n, MPI_Request *const members[], MPI_Request *list)\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        list[i] = members[i] ? *members[i] : MPI_REQUEST_NULL;\n"
    "}\n"
    "\n"
    "@void scatter_requests(int n, const MPI_Request *list, MPI_Request *const members[])\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (members[i])\n"
    "            *members[i] = list[i];\n"
    "}\n"
    "\n";

static const char *const null_requests_text = "/* A list of nothing to wait for. */\n"
                                              "@MPI_Request *null_requests(int n)\n"
                                              "{\n"
                                              "    static MPI_Request *list;\n"
                                              "    static int room;\n"
                                              "    if (n > room) {\n"
                                              "        free(list);\n"
                                              "        list = malloc(sizeof *list * (size_t)n);\n"
                                              "        room = list ? n : 0;\n"
                                              "    }\n"
                                              "    for (int i = 0; i < room; i++)\n"
                                              "        list[i] = MPI_REQUEST_NULL;\n"
                                              "    return list;\n"
                                              "}\n"
                                              "\n";

static const char *const no_file_text =
    "/* A file that is none. Some libraries give MPI_FILE_NULL for a number that is no file's;\n"
    " * there it is memory in which the library does not find a file. */\n"
    "@MPI_File no_file(void)\n"
    "{\n"
    "    static _Alignas(64) char nothing[4096];\n"
    "    MPI_File file = PMPI_File_f2c(-1);\n"
    "    return file == MPI_FILE_NULL ? (MPI_File)(void *)nothing : file;\n"
    "}\n"
    "\n";

static const char *const missing_text =
    "/* Of a call that failed. If the application's program is there, this one stands for it, so\n"
    " * that whatever failed fails again; else one that never is. No other is started. */\n"
    "@char *missing_program(const char *recorded)\n"
    "{\n"
    "    static char none[] = \"/dev/null/none\";\n"
    "    return access(recorded, X_OK) == 0 ? program_path : none;\n"
    "}\n"
    "\n";

void helpers_begin(Emitter *e, GString *out, const char *all)
{
    if (e->needs[HELPER_SCRATCH])
        c_text_line(out, 1, "scratch_begin(%s);", all);
    if (e->needs[HELPER_TURNS])
        c_text_line(out, 1, "send_order_begin();");
    if (e->needs[HELPER_PLACES])
        c_text_line(out, 1, "places_begin(%s);", all);
}

static void begin(Out *o)
{
    helper_declare(o->e, o->declarations, "void proxy_begin(void);");
    helper_define(o->e, o->definitions, "@void proxy_begin(void)\n{\n");
    helpers_begin(o->e, o->definitions, "MPI_COMM_WORLD");
    if (o->e->needs[HELPER_EARLY_THREADS])
        c_text_line(o->definitions, 1, "early_may_run = 1;");
    g_string_append(o->definitions, "}\n\n");
}

void helpers_emit(Emitter *e, GString *declarations, GString *definitions)
{
    Out o = {e, declarations, definitions, g_string_new("")};
    helper_declare(e, declarations, "extern int rank;");
    helper_define(e, definitions,
                  job_worlds_several(e->plan)
                      ? "@int rank; /* in the job: the worlds one after the other */\n\n"
                      : "@int rank; /* in MPI_COMM_WORLD */\n\n");
    if (e->needs[HELPER_SPAWN]) {
        helper_declare(e, declarations, "extern char *program_path;");
        helper_define(
            e, definitions,
            "@char *program_path; /* argv[0]: this program, for processes that it starts */\n\n");
    }
    if (job_worlds_several(e->plan))
        helpers_worlds(&o);
    variables(&o);
    status_variables(&o);
    e->needs[HELPER_UNKNOWN_BUFFER] |= e->needs[HELPER_PLACES];
    memory(&o);
    if (e->threads)
        helpers_threads(&o);
    if (e->needs[HELPER_RANK_IN]) {
        helper_declare(e, declarations, "int rank_in(MPI_Comm which);");
        helper_define(e, definitions, rank_in_text);
    }
    if (e->needs[HELPER_HIDE]) {
        helper_declare(
            e, declarations,
            "void hide_others(int n, MPI_Request *list, MPI_Request *hidden, const int *keep);");
        helper_define(e, definitions, hide_text);
    }
    if (e->needs[HELPER_HIDE_COMPLETED]) {
        helper_declare(e, declarations,
                       "void hide_completed(int n, MPI_Request *list, MPI_Request *hidden, const "
                       "long *left);");
        helper_define(e, definitions, hide_completed_text);
    }
    if (e->needs[HELPER_HIDE] || e->needs[HELPER_HIDE_COMPLETED]) {
        helper_declare(e, declarations,
                       "void show_others(int n, MPI_Request *list, const MPI_Request *hidden);");
        helper_define(e, definitions, show_text);
    }
    if (e->needs[HELPER_ACTIVE]) {
        helper_declare(e, declarations, "int active(int n, const MPI_Request *list);");
        helper_define(e, definitions, active_text);
    }
    if (e->needs[HELPER_GATHER]) {
        helper_declare(
            e, declarations,
            "void gather_requests(int n, MPI_Request *const members[], MPI_Request *list);\n"
            "void scatter_requests(int n, const MPI_Request *list, MPI_Request *const members[]);");
        helper_define(e, definitions, gather_text);
    }
    if (e->needs[HELPER_NULL_REQUESTS]) {
        helper_declare(e, declarations, "MPI_Request *null_requests(int n);");
        helper_define(e, definitions, null_requests_text);
    }
    helpers_messages(&o);
    helpers_files(&o);
    if (job_worlds_several(e->plan))
        helpers_world_starts(&o);
    if (e->needs[HELPER_NO_FILE]) {
        helper_declare(e, declarations, "MPI_File no_file(void);");
        helper_define(e, definitions, no_file_text);
    }
    if (e->needs[HELPER_MISSING]) {
        helper_declare(e, declarations, "char *missing_program(const char *recorded);");
        helper_define(e, definitions, missing_text);
    }
    if (e->needs[HELPER_BEGIN])
        begin(&o);
    g_string_free(o.nulls, TRUE);
}
