/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy-helpers.c: copies helpers into the generated program (runtime/), and writes what differs
 * from proxy to proxy: the variables of handles, memory, sizes and tables.
 *
 * In one file all are static; in several files, proxy.h declares the shared ones. */
#include "src/proxygen/proxy-files.h"

#include <string.h>

#include "src/proxygen/analysis/call-analysis.h"
#include "src/proxygen/runtime/helper-table.h"

/* The parts of the text: a header for programs of several files, and the file of the helpers. */
typedef struct {
    Emitter *e;
    GString *declarations, *definitions;
    gboolean written[HELPERS];
} Out;

/* Appends a declaration, in programs of several files only. */
static void declare(Out *o, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void declare(Out *o, const char *format, ...)
{
    if (*o->e->linkage)
        return; /* a single file has the definitions first */
    va_list arguments;
    va_start(arguments, format);
    g_string_append_vprintf(o->declarations, format, arguments);
    va_end(arguments);
    g_string_append_c(o->declarations, '\n');
}

/* Writes a constant, for all files. */
static void constant(Out *o, const char *name, gint64 value)
{
    c_text_line(*o->e->linkage ? o->definitions : o->declarations, 0,
                "enum { %s = %" G_GINT64_FORMAT " };", name, value);
}

/* -- variables -- */

typedef struct {
    Out *o;
    GString *nulls; /* sets handles to their null */
} Handles;

static void one_array(WendKind kind, guint thread, guint length, gpointer data)
{
    Handles *h = data;
    const HandleVariable *of = variable_name_handle_kind(kind);
    g_autofree char *name = variable_name_array(kind, thread);
    declare(h->o, "extern %s %s[%u];", of->ctype, name, length);
    g_string_append_printf(h->o->definitions, "%s%s %s[%u];\n", h->o->e->linkage, of->ctype, name,
                           length);
    g_string_append_printf(h->nulls, "    for (int i = 0; i < %u; i++)\n        %s[i] = %s;\n",
                           length, name, of->null);
}

static void handles(Out *o)
{
    g_autoptr(GString) nulls = g_string_new("");
    Handles h = {o, nulls};
    c_text_comment(
        o->definitions, 0,
        "Handles, by their number in the recording: a new one takes the smallest that is "
        "free, so numbers come again.");
    variables_foreach(o->e->plan, one_array, &h);
    declare(o, "void set_null(void);");
    g_string_append_printf(o->definitions, "\n%svoid set_null(void)\n{\n%s}\n\n", o->e->linkage,
                           nulls->str);
}

static void rank(Out *o)
{
    declare(o, "extern int rank;");
    g_string_append_printf(o->definitions, "%sint rank; /* in %s */\n\n", o->e->linkage,
                           plan_worlds_several(o->e->plan)
                               ? "the job: the worlds one after the other"
                               : "MPI_COMM_WORLD");
}

static void status(Out *o)
{
    const char *local = o->e->threads ? "_Thread_local " : "";
    declare(o, "extern %sMPI_Status status;", local);
    g_string_append_printf(o->definitions,
                           "%s%sMPI_Status status; /* of the last call that asked for one */\n\n",
                           o->e->linkage, local);
}

static void statuses(Out *o)
{
    const char *local = o->e->threads ? "_Thread_local " : "";
    declare(o, "extern %sMPI_Status statuses[%" G_GINT64_FORMAT "];", local, o->e->max_statuses);
    g_string_append_printf(o->definitions, "%s%sMPI_Status statuses[%" G_GINT64_FORMAT "];\n\n",
                           o->e->linkage, local, o->e->max_statuses);
}

/* -- memory -- */

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
        declare(o, "extern char *const static_%" G_GINT64_FORMAT ";", id);
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
        declare(o, "extern char *%s;", name);
        g_string_append_printf(
            o->definitions,
            "%schar *%s; /* memory on the stack: the function that starts the calls has it */\n\n",
            o->e->linkage, name);
    }
}

/* The largest id of a kind of segments, and 1. */
static gint64 places_of(const Out *o, enum segment_kind kind)
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(o->e->plan, kind);
    return segments->len == 0
               ? 0
               : ((const Segment *)g_ptr_array_index(segments, segments->len - 1))->place + 1;
}

/* Writes an array of pointers to MPI's own segments. */
static void made_memory(Out *o, enum segment_kind kind, const char *name, const char *comment)
{
    gint64 n = places_of(o, kind);
    if (n == 0)
        return;
    declare(o, "extern char *%s[%" G_GINT64_FORMAT "];", name, n);
    g_string_append_printf(o->definitions, "%schar *%s[%" G_GINT64_FORMAT "]; /* %s */\n\n",
                           o->e->linkage, name, n, comment);
}

/* Writes a table of sizes by id, for segments that the proxy allocates. */
static void sizes(Out *o, enum segment_kind kind, const char *name, const char *length,
                  gint64 (*bytes)(const Segment *s))
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(o->e->plan, kind);
    g_autoptr(GString) list = g_string_new("");
    gint64 next = 0;
    for (guint i = 0; i < segments->len; i++)
        for (const Segment *s = g_ptr_array_index(segments, i); next <= s->place; next++)
            g_string_append_printf(list, "%s%" G_GINT64_FORMAT, next ? ", " : "",
                                   bytes(next == s->place ? s : NULL));
    c_text_line(o->definitions, 0, "static const size_t %s[%s] = {%s};", name, length, list->str);
}

static void heap_blocks(Out *o)
{
    constant(o, "HEAP_BLOCKS", places_of(o, WEND_SEGMENT_HEAP));
}

static void heap_size(Out *o)
{
    g_string_append(o->definitions, "/* What the calls need of each block, at least. */\n");
    sizes(o, WEND_SEGMENT_HEAP, "heap_size", "HEAP_BLOCKS", bytes_above);
    g_string_append_c(o->definitions, '\n');
}

static void heap_below(Out *o)
{
    sizes(o, WEND_SEGMENT_HEAP, "heap_below", "HEAP_BLOCKS", bytes_below);
    g_string_append_c(o->definitions, '\n');
}

static void mappings(Out *o)
{
    constant(o, "MAPPINGS", places_of(o, WEND_SEGMENT_MAP));
}

static void mapped_size(Out *o)
{
    sizes(o, WEND_SEGMENT_MAP, "mapped_size", "MAPPINGS", bytes_above);
    sizes(o, WEND_SEGMENT_MAP, "mapped_below", "MAPPINGS", bytes_below);
    g_string_append_c(o->definitions, '\n');
}

/* -- the job -- */

static void ranks(Out *o)
{
    constant(o, "RANKS", o->e->plan->n_ranks);
}

static void worlds(Out *o)
{
    const WendProgram *p = o->e->plan->program;
    const char *linkage = o->e->linkage;
    g_autoptr(GString) of_ranks = g_string_new(""), first = g_string_new(""),
                       list = g_string_new("");
    g_autoptr(GArray) starts = plan_worlds_starts(p);
    for (guint i = 0; i < program_n_worlds(p); i++) {
        g_string_append_printf(of_ranks, "%s%u", i ? ", " : "", program_world(p, i)->ranks);
        g_string_append_printf(first, "%s%u", i ? ", " : "", program_world(p, i)->first);
    }
    for (guint i = 0; i < starts->len; i++) {
        const WorldStart *s = &g_array_index(starts, WorldStart, i);
        g_string_append_printf(list, "%s{%u, %u}", i ? ", " : "", s->rank, s->world);
    }
    constant(o, "WORLDS", program_n_worlds(p));
    constant(o, "WORLD_STARTS", starts->len);
    declare(o, "extern const int world_ranks[WORLDS], world_first[WORLDS];");
    c_text_comment(
        o->definitions, 0,
        "The worlds of the job: each has an MPI_COMM_WORLD with so many ranks, the first "
        "of which has that number in the job.");
    c_text_line(o->definitions, 0, "%sconst int world_ranks[WORLDS] = {%s};", linkage,
                of_ranks->str);
    c_text_line(o->definitions, 0, "%sconst int world_first[WORLDS] = {%s};", linkage, first->str);
    c_text_comment(o->definitions, 0, "Who starts which, in the order of its calls.");
    c_text_line(o->definitions, 0, "static const int world_starts[WORLD_STARTS][2] = {%s};\n",
                list->str);
}

/* -- files and ports -- */

static void scratch_files(Out *o)
{
    const Plan *plan = o->e->plan;
    guint n = found_files_count(plan);
    constant(o, "SCRATCH_FILES", n);
    g_string_append(o->definitions, "static const InitialFile scratch_files[SCRATCH_FILES] = {\n");
    for (guint i = 0; i < n; i++) {
        const ScratchFile *file = found_files_by_number(plan, i);
        g_autofree char *recorded = c_token_comment(file->name);
        g_string_append_printf(o->definitions,
                               "    {\"%sfile-%u\", %" G_GINT64_FORMAT "}, /* %s */\n",
                               file->nowhere ? "nowhere/" : "", i, file->bytes, recorded);
    }
    g_string_append(o->definitions, "};\n\n");
}

/* Whether a file was there before the application ran. */
static gboolean has_initial_files(const Plan *plan)
{
    for (guint i = 0; i < found_files_count(plan); i++)
        if (found_files_by_number(plan, i)->bytes >= 0)
            return TRUE;
    return FALSE;
}

static guint n_ports(const Out *o)
{
    return MAX(1, g_hash_table_size(o->e->ports));
}

static void port_names(Out *o)
{
    constant(o, "PORT_NAMES", n_ports(o));
}

static void known_ports(Out *o)
{
    g_autoptr(GString) list = g_string_new("");
    for (guint i = 0; i < n_ports(o); i++) {
        const PortName *name = outside_names_of_port(o->e, i);
        g_string_append_printf(list, "%s{\"%s\", %d}", i ? ", " : "", name ? name->key : "",
                               name && name->here);
    }
    c_text_line(o->definitions, 0, "static const KnownPort known_ports[PORT_NAMES] = {%s};\n",
                list->str);
}

/* -- messages and threads -- */

static void receiver(Out *o)
{
    constant(o, "RECEIVER", o->e->plan->master);
}

static void graphs_reordered(Out *o)
{
    constant(o, "GRAPHS_REORDERED", o->e->plan->graphs_reordered);
}

static void attached_blocks(Out *o)
{
    constant(o, "ATTACHED_BLOCKS", (o->e->plan->blocks->len + 2) / 2 * 2);
}

/* Writes for each rank pairs of a lock's number and a block, ended by 0. */
static void awaited(Out *o)
{
    const GPtrArray *lists = o->e->plan->awaited;
    g_autoptr(GString) names = g_string_new("");
    for (guint r = 0; r < lists->len; r++) {
        const GArray *list = g_ptr_array_index(lists, r);
        g_autoptr(GString) pairs = g_string_new("");
        for (guint i = 0; i < list->len; i++)
            g_string_append_printf(pairs, "%d, %d, ", (int)(g_array_index(list, gint64, i) >> 32),
                                   (int)g_array_index(list, gint64, i));
        c_text_line(o->definitions, 0, "static const int awaited_by_%u[] = {%s0};", r, pairs->str);
        g_string_append_printf(names, "%sawaited_by_%u", r ? ", " : "", r);
    }
    c_text_line(o->definitions, 0, "static const int *const awaited[] = {%s};\n", names->str);
}

static void shared(Out *o)
{
    constant(o, "SHARED", g_hash_table_size(o->e->plan->shared));
}

/* -- the program -- */

/* Writes what differs from proxy to proxy. */
static void (*const writers[HELPERS])(Out *o) = {
    [HELPER_rank] = rank,
    [HELPER_RANKS] = ranks,
    [HELPER_status] = status,
    [HELPER_statuses] = statuses,
    [HELPER_WORLDS] = worlds,
    [HELPER_HEAP_BLOCKS] = heap_blocks,
    [HELPER_heap_size] = heap_size,
    [HELPER_heap_below] = heap_below,
    [HELPER_MAPPINGS] = mappings,
    [HELPER_mapped_size] = mapped_size,
    [HELPER_SCRATCH_FILES] = scratch_files,
    [HELPER_PORT_NAMES] = port_names,
    [HELPER_known_ports] = known_ports,
    [HELPER_RECEIVER] = receiver,
    [HELPER_GRAPHS_REORDERED] = graphs_reordered,
    [HELPER_ATTACHED_BLOCKS] = attached_blocks,
    [HELPER_awaited] = awaited,
    [HELPER_SHARED] = shared,
};

/* The definition of this proxy, where there are several of one name. */
static Helper chosen(const Out *o, Helper helper)
{
    gboolean below = memory_use_heap_reaches_below(o->e->plan);
    return helper == HELPER_heap_make && below      ? HELPER_mapped_heap_make
           : helper == HELPER_heap_release && below ? HELPER_mapped_heap_release
           : helper == HELPER_heap_free && o->e->needs[HELPER_cuda_block] ? HELPER_cuda_heap_free
                                                                          : helper;
}

/* Writes a helper after all that it uses. */
static void write_helper(Out *o, Helper helper)
{
    helper = chosen(o, helper);
    const HelperText *text = &helper_texts[helper];
    if (o->written[helper])
        return;
    o->written[helper] = o->e->needs[helper] = TRUE;
    for (const Helper *use = text->uses; use && *use; use++)
        write_helper(o, *use);
    if (writers[helper]) {
        writers[helper](o);
    } else if (*o->e->linkage) {
        g_string_append_printf(o->definitions, "%s\n", text->alone);
    } else {
        g_string_append(o->declarations, text->declarations);
        g_string_append_printf(o->definitions, "%s%s", text->definitions,
                               *text->definitions ? "\n" : "");
    }
}

/* Writes what fits the begin of a program. */
static void write_data(Out *o)
{
    write_helper(o, HELPER_rank);
    if (o->e->handles)
        handles(o);
    static_memory(o);
    static_modules(o);
    stack_memory(o);
    made_memory(o, WEND_SEGMENT_MPI, "mpi_memory", "from MPI_Alloc_mem");
    made_memory(o, WEND_SEGMENT_WIN, "window_memory", "of windows that MPI allocated");
}

void proxy_helpers_emit(Emitter *e, GString *declarations, GString *definitions)
{
    Out o = {.e = e, .declarations = declarations, .definitions = definitions};
    Statements *begin = e->begins ? statements_new() : NULL;
    if (e->begins)
        proxy_helpers_begin(e, begin, "MPI_COMM_WORLD");
    write_data(&o);
    for (Helper helper = HELPER_NONE + 1; helper < HELPERS; helper++)
        if (e->needs[helper])
            write_helper(&o, helper);
    if (!e->begins)
        return;
    declare(&o, "void proxy_begin(void);");
    if (e->needs[HELPER_early_may_run])
        statements_add(begin, "early_may_run = 1;");
    statements_print_function(definitions, begin, NULL, "%svoid proxy_begin(void)", e->linkage);
}

void proxy_helpers_includes(const Emitter *e, GPtrArray *lines)
{
    for (Helper helper = HELPER_NONE; helper < HELPERS; helper++) {
        g_auto(GStrv) its = g_strsplit(
            e->needs[helper] && helper_texts[helper].includes ? helper_texts[helper].includes : "",
            "\n", -1);
        for (guint i = 0; its[i]; i++)
            g_ptr_array_add(lines, g_strdup(its[i]));
    }
}

static void call(Emitter *e, Statements *out, Helper helper, const char *arguments)
{
    e->needs[helper] = TRUE;
    statements_add(out, "%s(%s);", helper_texts[helper].name, arguments);
}

void proxy_helpers_begin(Emitter *e, Statements *out, const char *all)
{
    if (e->needs[HELPER_scratch_begin]) {
        call(e, out, HELPER_scratch_begin, all);
        if (plan_worlds_several(e->plan))
            statements_add_under(out, "if (rank == 0)", "world_note(0, 1);");
        if (has_initial_files(e->plan))
            call(e, out, HELPER_scratch_fill, all);
    }
    if (e->needs[HELPER_send_order_begin])
        call(e, out, HELPER_send_order_begin, "");
    if (e->needs[HELPER_places_begin])
        call(e, out, HELPER_places_begin, all);
}

void proxy_helpers_end(Emitter *e, Statements *out)
{
    if (e->needs[HELPER_scratch_begin]) {
        gboolean several = plan_worlds_several(e->plan);
        statements_add_under(out,
                             several ? "if (world_rank == 0 && world_is_last())" : "if (rank == 0)",
                             "scratch_end();");
        e->needs[HELPER_scratch_end] = TRUE;
        e->needs[HELPER_world_is_last] = several;
    }
    if (e->needs[HELPER_heap] || e->needs[HELPER_cuda_block]) {
        statements_add_under(out, "for (int i = 0; i < HEAP_BLOCKS; i++)", "heap_free(i);");
        e->needs[HELPER_heap_free] = TRUE;
    }
    if (e->needs[HELPER_mapped]) {
        statements_add_under(out, "for (int i = 0; i < MAPPINGS; i++)", "mapped_free(i);");
        e->needs[HELPER_mapped_free] = TRUE;
    }
}
