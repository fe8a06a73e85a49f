/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy-files.c: writes the generated program as one file, or as several files with a Makefile. */
#include "src/proxygen/proxy-files.h"

#include <string.h>

#include "lib/base/file-write.h"
#include "lib/read/terminations.h"
#include "lib/record/checkpoint-file.h"
#include "src/proxygen/analysis/call-analysis.h"
#include "src/proxygen/plan/passes.h"

/* Measured on such code with gcc 12 -O2: 5 to 9 s and 150 to 320 MB for each MB of text, more if
 * functions are small. Several files compile in parallel (make -j). If there is more code than
 * CODE_LIMIT, it becomes tables (emit-tables.c). */
enum { FILE_BYTES = 1 << 19, CODE_LIMIT = 4 << 20 };
/* More rule text than this is compiled without optimization: 1.5 s for each MB. */
enum { QUICK_BYTES = 1 << 18 };

typedef struct {
    char *name;
    GString *text;
} ProgramFile;

static void file_free(gpointer file)
{
    g_free(((ProgramFile *)file)->name);
    g_string_free(((ProgramFile *)file)->text, TRUE);
    g_free(file);
}

static GString *add_file(GPtrArray *files, const char *name)
{
    ProgramFile *file = g_new(ProgramFile, 1);
    *file = (ProgramFile){g_strdup(name), g_string_new("")};
    g_ptr_array_add(files, file);
    return file->text;
}

/* -- facts of the recording, for the header comment -- */

static char *meta(const Plan *plan, const char *group, const char *key)
{
    char *value = g_key_file_get_string(program_meta(plan->program), group, key, NULL);
    if (value)
        g_strstrip(value);
    if (value && !*value)
        g_clear_pointer(&value, g_free);
    return value;
}

static void header_line(GString *out, const char *label, const char *value)
{
    if (!value)
        return;
    g_autofree char *text = c_token_comment(value);
    g_string_append_printf(out, " *   %-12s%s\n", label, text);
}

static void emit_header(Emitter *e, GString *out, const char *build)
{
    const Plan *plan = e->plan;
    guint first = program_world(plan->program, 0)->ranks;
    g_autofree char *program = meta(plan, "run", "program"),
                    *arguments = meta(plan, "run", "arguments"),
                    *library = meta(plan, "mpi", "library");
    g_autofree char *start = meta(plan, "run", "start"), *date = NULL,
                    *base = g_path_get_basename(program ? program : "application");
    if (start) {
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(g_ascii_strtoll(start, NULL, 10));
        date = time ? g_date_time_format(time, "%Y-%m-%d %H:%M UTC") : NULL;
    }
    g_autofree char *command =
        g_strdup_printf("%s%s%s", base, arguments ? " " : "", arguments ? arguments : "");
    g_autofree char *worlds =
        g_strdup_printf("%u: it starts itself for the others, %u ranks in all",
                        program_n_worlds(plan->program), plan->n_ranks);
    g_autofree char *ranks = g_strdup_printf("%u, no more and no fewer", first);
    g_string_append(
        out,
        "/* A proxy application, made by Wend's proxygen: it communicates as the recorded run did, "
        "and computes nothing.\n *\n"
        " * Wend's licence does not extend to this program: it belongs to whoever had it made. "
        "The\n"
        " * helper functions in it come from Wend and may be used under the terms of 0BSD, which\n"
        " * asks for nothing. Names and strings are those of the recorded application.\n *\n");
    header_line(out, "recorded:", command);
    header_line(out, "on:", date);
    header_line(out, "MPI:", library);
    header_line(out, "ranks:", ranks);
    if (plan_worlds_several(plan))
        header_line(out, "worlds:", worlds);
    if (strchr(out->str, '%'))
        header_line(out, "", "(a percent sign and two digits: a byte by its number, as in a URL)");
    g_string_append_printf(out, " *\n%s *\n", build);
    g_string_append_printf(out,
                           " *   mpirun -n %u ./proxy\n *\n"
                           " * Exit status: 0; 2 when started with another number of ranks; 4 when "
                           "memory or the scratch directory fails.\n"
                           " * Each rule_ function is a sequence of calls that came more than "
                           "once; a loop is a sequence that was repeated. */\n",
                           first);
}

/* Switches optimization off. A long list of calls has nothing to optimize, and gcc takes many times
 * as long. */
static void emit_unoptimized(GString *out)
{
    g_string_append(
        out, "/* Calls and little else: to optimize them would only take longer to compile. */\n"
             "#if defined __GNUC__ && !defined __clang__\n"
             "#pragma GCC optimize (0)\n"
             "#endif\n\n");
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void emit_includes(Emitter *e, GString *out)
{
    g_string_append(out, "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE /* mkdtemp, mmap */\n#endif\n");
    static const char *const always[] = {"mpi", "stdint", "stdio", "stdlib", "string", "unistd"};
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < G_N_ELEMENTS(always); i++)
        g_ptr_array_add(lines, g_strdup_printf("#include <%s.h>", always[i]));
    proxy_helpers_includes(e, lines);
    if (proxy_threads_any_large(e))
        g_ptr_array_add(lines, g_strdup("#include <sys/resource.h>"));
    g_ptr_array_sort(lines, compare_lines);
    for (guint i = 0; i < lines->len; i++)
        if (i == 0 || strcmp(lines->pdata[i], lines->pdata[i - 1]) != 0)
            g_string_append_printf(out, "%s\n", (const char *)lines->pdata[i]);
    g_string_append_c(out, '\n');
    g_string_append(out, "/* gcc takes addresses that are none (MPICH's MPI_STATUSES_IGNORE, Open "
                         "MPI's MPI_UNWEIGHTED) for arrays that are too small. */\n"
                         "#if defined __GNUC__ && !defined __clang__\n"
                         "#pragma GCC diagnostic ignored \"-Wstringop-overflow\"\n"
                         "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\" /* what the "
                         "application called may be of MPI 1 */\n"
                         "#if __GNUC__ > 10\n"
                         "#pragma GCC diagnostic ignored \"-Wstringop-overread\"\n"
                         "#endif\n"
                         "#endif\n\n");
}

/* -- main -- */

/* Writes MPI_Abort for ranks that ended in it, because it is not in their sequences. The recording
 * lacks its communicator: libraries end the whole job. */
static void emit_aborts(Emitter *e, Statements *out)
{
    const Plan *plan = e->plan;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree const char **how = terminations_of(plan->program, names);
    for (guint r = 0; r < plan->n_ranks; r++) {
        if (!how[r] || !g_str_has_prefix(how[r], WEND_ENDED_ABORT))
            continue;
        Statements *one = statements_new();
        statements_add(one, "MPI_Abort(MPI_COMM_WORLD, %d);",
                       (int)g_ascii_strtoll(how[r] + strlen(WEND_ENDED_ABORT), NULL, 10));
        if (plan->n_ranks > 1)
            statements_under(out, one, "if (rank == %u)", r);
        else
            statements_move(out, one);
    }
}

/* Writes a main function that starts the program again if the main thread's stack is too small. The
 * limit can only be changed before the start of a program. */
static void emit_large_main(GString *out, gint64 limit)
{
    Statements *body = statements_new();
    statements_add(body, "const rlim_t wanted = %" G_GINT64_FORMAT ";", limit);
    statements_add(body, "struct rlimit limit;");
    statements_add(body, "%s", "");
    statements_comment(body, "RLIM_INFINITY is the largest number.");
    Statements *small = statements_block(
        body, "if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < wanted)");
    statements_add(small, "limit.rlim_cur = wanted;");
    statements_add_under(small,
                         "if (limit.rlim_max >= wanted && setrlimit(RLIMIT_STACK, &limit) == 0)",
                         "execv(\"/proc/self/exe\", argv);");
    statements_add(small,
                   "fprintf(stderr, \"proxy: needs a stack of %" G_GINT64_FORMAT
                   " bytes: raise its limit (ulimit -s)\\n\");",
                   limit);
    statements_add(small, "return 4;");
    statements_add(body, "return run(argc, argv);");
    c_text_comment(
        out, 0,
        "The application had much memory on its stack: with a smaller limit this program "
        "starts itself again.");
    statements_print_function(out, body, NULL, "int main(int argc, char **argv)");
}

/* Writes the calls that all ranks make before they know their number. */
static void emit_prefix(Emitter *e, Statements *out)
{
    for (guint i = 0; e->plan->prefix && i < e->plan->prefix->len; i++) {
        guint terminal = g_array_index(e->plan->prefix, guint, i), before = statements_count(out);
        emit_call(e, out, terminal);
        statements_note_call(out, before, terminal);
    }
}

/* Writes how a rank knows its number before MPI_Init. LIMIT is the number of ranks, as C. */
static void emit_launcher_rank(Emitter *e, Statements *out, const char *limit)
{
    const char *rank = plan_worlds_several(e->plan) ? "world_rank" : "rank";
    guint first = program_world(e->plan->program, 0)->ranks;
    e->needs[HELPER_rank_of_launcher] = TRUE;
    statements_comment(out, "Ranks differ in what they do before MPI_Init.");
    statements_add(out, "%s = rank_of_launcher();", rank);
    Statements *others = statements_block(out, "if (%s >= %s)", rank, limit);
    statements_add(others,
                   "fprintf(stderr, \"proxy: recorded with %u ranks: use mpirun -n %u\\n\");",
                   first, first);
    statements_add(others, "return 2;");
}

/* What a proxy does once MPI runs: it learns its rank, and ends if the ranks are not as many as
 * LIMIT, an expression. */
static void emit_rank(Emitter *e, Statements *out, const char *limit)
{
    gboolean several = plan_worlds_several(e->plan);
    guint first = program_world(e->plan->program, 0)->ranks;
    locals_variable(e, "int", "size", 0);
    statements_add(out, "PMPI_Comm_rank(MPI_COMM_WORLD, &%s);", several ? "world_rank" : "rank");
    statements_add(out, "PMPI_Comm_size(MPI_COMM_WORLD, &size);");
    if (several)
        statements_add(out, "rank = world_first[world] + world_rank;");
    if (e->needs[HELPER_program_path] && !several) {
        locals_variable(e, "MPI_Comm", "parent_processes", 0);
        statements_comment(out, "A process that the proxy itself started: what it did is in a "
                                "recording of its own.");
        statements_add(out, "PMPI_Comm_get_parent(&parent_processes);");
        Statements *child = statements_block(out, "if (parent_processes != MPI_COMM_NULL)");
        statements_add(child, "PMPI_Finalize();");
        statements_add(child, "return 0;");
    }
    Statements *others = statements_block(out, "if (size != %s)", limit);
    g_autofree char *message = g_strdup_printf(
        "fprintf(stderr, \"proxy: recorded with %u ranks and started with %%d: use mpirun -n "
        "%u\\n\", size);",
        first, first);
    statements_add_under(others, "if (rank == 0)", message);
    statements_add(others, "PMPI_Finalize();");
    statements_add(others, "return 2;");
}

/* A session of the proxy's own, for an application that never calls MPI_Init. */
static void emit_own_session(Emitter *e, Statements *out)
{
    locals_variable(e, "MPI_Session", "own_session", 0);
    locals_variable(e, "MPI_Group", "own_group", 0);
    locals_variable(e, "MPI_Comm", "own_comm", 0);
    statements_comment(out, "The application never calls MPI_Init.");
    statements_add(out, "PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own_session);");
    statements_add(out, "PMPI_Group_from_session_pset(own_session, \"mpi://WORLD\", &own_group);");
    statements_add(out, "PMPI_Comm_create_from_group(own_group, \"proxy\", MPI_INFO_NULL, "
                        "MPI_ERRORS_ARE_FATAL, &own_comm);");
    statements_add(out, "PMPI_Group_free(&own_group);");
    proxy_helpers_begin(e, out, "own_comm");
}

static void emit_end(Emitter *e, Statements *out, gboolean own_session)
{
    if (own_session) {
        statements_add(out, "PMPI_Barrier(own_comm);");
        statements_add(out, "PMPI_Comm_free(&own_comm);");
    }
    proxy_helpers_end(e, out);
    if (own_session)
        statements_add(out, "PMPI_Session_finalize(&own_session);");
}

/* What main does for the application, once it has its variables. */
static void emit_main_calls(Emitter *e, Statements *out)
{
    const Plan *plan = e->plan;
    gboolean several = plan_worlds_several(plan);
    g_autofree char *limit = several
                                 ? g_strdup("world_ranks[world]")
                                 : g_strdup_printf("%u", program_world(plan->program, 0)->ranks);
    if (proxy_threads_by_launcher(e))
        emit_launcher_rank(e, out, limit);
    proxy_threads_emit_early(e, out);
    emit_prefix(e, out);
    if (plan->prefix) {
        emit_rank(e, out, limit);
    } else {
        emit_launcher_rank(e, out, limit);
        if (several)
            statements_add(out, "rank = world_first[world] + world_rank;");
    }
    if (variables_request_slots(plan) && variables_request_slots(plan)->vary)
        statements_add(out, "place_requests();");
    gboolean own_session = !plan->prefix && !e->begins
                           && (e->needs[HELPER_scratch_begin] || e->needs[HELPER_places_begin]);
    if (own_session)
        emit_own_session(e, out);
    else if (plan->prefix)
        proxy_helpers_begin(e, out, "MPI_COMM_WORLD");
    statements_add(out, "%s", "");
    proxy_threads_emit_starts(e, out);
    emit_aborts(e, out);
    statements_add(out, "%s", "");
    emit_end(e, out, own_session);
    statements_add(out, "return 0;");
}

/* What main does before. ARGUMENTS: it has arguments. */
static void emit_main_begin(Emitter *e, Statements *out, gboolean arguments)
{
    gboolean several = plan_worlds_several(e->plan);
    statements_add_under(out, "if (wend_proxy_begins)", "wend_proxy_begins();");
    if (memory_use_has_modules(e->plan))
        statements_add(out, "static_modules();");
    if (e->needs[HELPER_program_path])
        statements_add(out, "program_path = argc > 0 ? argv[0] : NULL;");
    if (several) {
        statements_add(out, "world_begin(argc, argv);");
    } else if (arguments && !e->needs[HELPER_program_path]) {
        statements_add(out, "(void)argc;");
        statements_add(out, "(void)argv;");
    }
    if (e->handles)
        statements_add(out, "set_null();");
}

static void emit_main(Emitter *e, GString *out)
{
    gint64 large = proxy_threads_stack_limit(e, 0);
    gboolean several = plan_worlds_several(e->plan);
    Statements *all = statements_new(), *calls = statements_new();
    e->needs[HELPER_WORLDS] = e->needs[HELPER_world_begin] = several;
    e->needs[HELPER_next_world] = e->needs[HELPER_world_arguments] = several;
    locals_begin(e);
    emit_main_calls(e, calls);
    g_string_append(out, e->definitions->str);
    g_string_set_size(e->definitions, 0);
    proxy_threads_emit(e, out);
    gboolean arguments = large || several || e->needs[HELPER_program_path];
    proxy_threads_emit_stack(e, all, 0);
    locals_end(e, all);
    emit_main_begin(e, all, arguments);
    statements_move(all, calls);
    c_text_comment(
        out, 0, "For wend trace, if it records this run: calls by PMPI names are the proxy's own.");
    g_string_append(out, "void wend_proxy_begins(void) __attribute__((weak));\n\n");
    statements_print_function(out, all, e->lines, "%s(%s)",
                              large ? "static __attribute__((noinline)) int run" : "int main",
                              arguments ? "int argc, char **argv" : "void");
    if (large)
        emit_large_main(out, large);
    g_string_truncate(out, out->len - 1); /* no empty line at the end of the file */
}

static void new_file_scope(Emitter *e)
{
    g_hash_table_remove_all(e->tables);
    g_string_set_size(e->definitions, 0);
}

/* Writes the rules that are code, as one text for each file. Returns FALSE if a compiler would take
 * too long. */
static gboolean emit_code(Emitter *e, GString *prototypes, GPtrArray *texts)
{
    Plan *plan = e->plan;
    GString *part = NULL;
    gsize bytes = 0;
    for (guint i = 0; i < plan->order->len; i++) {
        guint rule = g_array_index(plan->order, guint, i), parts = emit_rule_parts(e, rule);
        if (emit_tables_hold(e, rule) || plan->rules[rule].inlined
            || alike_leader(e->alike, rule) != rule)
            continue;
        g_autofree char *name = emit_rule_name(e, rule);
        for (guint p = 0; p < parts; p++) {
            if (!part || part->len > FILE_BYTES) {
                bytes += part ? part->len : 0;
                if (bytes > CODE_LIMIT && !e->lists)
                    return FALSE;
                g_ptr_array_add(texts, part = g_string_new(""));
                if (!*e->linkage)
                    new_file_scope(e);
            }
            emit_rule_part(e, part, rule, p);
            if (p + 1 < parts)
                g_string_append_printf(prototypes, "%svoid %s_part_%u(void);\n", e->linkage, name,
                                       p + 1);
        }
        g_string_append_printf(prototypes, "%svoid %s(void);\n", e->linkage, name);
    }
    return TRUE;
}

static void text_free(gpointer text)
{
    g_string_free(text, TRUE);
}

typedef struct {
    GString *prototypes, *main_text, *helpers, *declarations;
    GPtrArray *rules;  /* of GString: code */
    GPtrArray *tables; /* of GString: data */
} Texts;

/* All texts of the program. Declarations are separate if there are several files. */
static Texts emit_texts(Emitter *e)
{
    Plan *plan = e->plan;
    Texts t = {g_string_new(""),
               g_string_new(""),
               g_string_new(""),
               g_string_new(""),
               g_ptr_array_new_with_free_func(text_free),
               g_ptr_array_new_with_free_func(text_free)};
    gboolean small = !emit_tables_wanted(plan) && emit_code(e, t.prototypes, t.rules);
    if (!small) {
        /* once more, with tables */
        g_ptr_array_set_size(t.rules, 0);
        g_string_set_size(t.prototypes, 0);
        for (guint i = 0; i < plan->n_rules; i++)
            plan->rules[i].name = 0;
        e->n_names = 0;
        g_clear_pointer(&e->alike, alike_free);
        if (e->streams)
            row_loops_undo(e, e->streams);
        new_file_scope(e);
        emit_tables_begin(e);
        emit_code(e, t.prototypes, t.rules);
    }
    if (!*e->linkage)
        new_file_scope(e);
    emit_main(e, t.main_text);
    if (e->lists)
        emit_tables_emit(e, t.prototypes, t.tables);
    g_autoptr(GString) callbacks = g_string_new("");
    new_file_scope(e);
    emit_request_slots(e, t.declarations, callbacks);
    emit_callbacks(e, t.declarations, callbacks);
    emit_wildcard_sources(e, t.declarations, callbacks);
    emit_graphs(e, t.declarations, callbacks);
    if (e->streams)
        row_loops_emit(e, e->streams, t.declarations, callbacks);
    outside_names_emit(e, t.declarations, callbacks);
    proxy_helpers_emit(e, t.declarations, t.helpers);
    g_string_append(t.helpers, callbacks->str);
    return t;
}

static void texts_clear(Texts *t)
{
    g_string_free(t->prototypes, TRUE);
    g_string_free(t->main_text, TRUE);
    g_string_free(t->helpers, TRUE);
    g_string_free(t->declarations, TRUE);
    g_ptr_array_unref(t->rules);
    g_ptr_array_unref(t->tables);
}

static gsize bytes_of(const GPtrArray *texts)
{
    gsize bytes = 0;
    for (guint i = 0; i < texts->len; i++)
        bytes += ((const GString *)texts->pdata[i])->len;
    return bytes;
}

static void emit_one_file(Emitter *e, GPtrArray *files)
{
    e->linkage = "static ";
    Texts t = emit_texts(e);
    GString *out = add_file(files, "");
    emit_header(
        e, out,
        e->needs[HELPER_cuda_block]
            ? " *   mpicc -O2 -I$CUDA_HOME/include proxy.c -o proxy -L$CUDA_HOME/lib64 -lcudart\n"
            : " *   mpicc -O2 proxy.c -o proxy\n");
    emit_includes(e, out);
    if (bytes_of(t.rules) > QUICK_BYTES || e->lists)
        emit_unoptimized(out);
    g_string_append(out, t.helpers->str);
    if (e->lists)
        g_string_append_printf(out, "%s\n", t.prototypes->str);
    /* in the order of writing, because a table of one text may be used in the next */
    for (guint i = 0; i < t.tables->len; i++)
        g_string_append(out, ((const GString *)t.tables->pdata[i])->str);
    for (guint i = 0; i < t.rules->len; i++)
        g_string_append(out, ((const GString *)t.rules->pdata[i])->str);
    g_string_append(out, t.main_text->str);
    texts_clear(&t);
}

static void add_sources(GPtrArray *files, const GPtrArray *texts, const char *name,
                        GString *objects)
{
    for (guint i = 0; i < texts->len; i++) {
        g_autofree char *file = g_strdup_printf("%s_%u.c", name, i + 1);
        g_string_append_printf(add_file(files, file), "#include \"proxy.h\"\n\n%s",
                               ((const GString *)texts->pdata[i])->str);
        g_string_append_printf(objects, " %s_%u.o", name, i + 1);
    }
}

static void emit_several_files(Emitter *e, GPtrArray *files)
{
    e->linkage = "";
    Texts t = emit_texts(e);
    g_autoptr(GString) objects = g_string_new("main.o support.o");
    GString *header = add_file(files, "proxy.h");
    emit_header(e, header, " *   make\n");
    g_string_append(header, "#ifndef PROXY_H\n#define PROXY_H\n\n");
    emit_includes(e, header);
    if (bytes_of(t.rules) > FILE_BYTES || e->lists)
        emit_unoptimized(header);
    g_string_append_printf(header, "%s\n%s\n#endif\n", t.declarations->str, t.prototypes->str);
    g_string_append_printf(add_file(files, "support.c"), "#include \"proxy.h\"\n\n%s",
                           t.helpers->str);
    g_string_append_printf(add_file(files, "main.c"), "#include \"proxy.h\"\n\n%s",
                           t.main_text->str);
    add_sources(files, t.rules, "rules", objects);
    add_sources(files, t.tables, "tables", objects);
    g_string_append_printf(
        add_file(files, "Makefile"),
        "# Made by Wend's proxygen: builds ./proxy, to run with mpirun -n %u.\n"
        "CC = mpicc\nCFLAGS = -std=c11 -O2%s\nOBJECTS = %s\n%s\n"
        "proxy: $(OBJECTS)\n\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) $(LDLIBS)\n\n$(OBJECTS): "
        "proxy.h\n\n"
        "clean:\n\trm -f proxy $(OBJECTS)\n\n.PHONY: clean\n",
        program_world(e->plan->program, 0)->ranks, e->threads ? " -pthread" : "", objects->str,
        e->needs[HELPER_cuda_block]
            ? "CUDA_HOME = /usr/local/cuda\nCPPFLAGS = -I$(CUDA_HOME)/include\nLDFLAGS = "
              "-L$(CUDA_HOME)/lib64\nLDLIBS = -lcudart\n"
            : "");
    texts_clear(&t);
}

/* -- writing -- */

static gboolean write_directory(const Options *options, GPtrArray *files, WendFileFlags flags,
                                Error **error)
{
    g_autofree WendFile *rows = g_new(WendFile, files->len);
    for (guint i = 0; i < files->len; i++) {
        const ProgramFile *file = g_ptr_array_index(files, i);
        rows[i] = (WendFile){file->name, file->text->str, file->text->len};
    }
    return file_write_directory(options->output, rows, files->len, flags, error);
}

static gboolean write_files(const Options *options, GPtrArray *files, Error **error)
{
    WendFileFlags flags = options->force ? WEND_FILE_REPLACE : 0;
    const GString *first = ((ProgramFile *)g_ptr_array_index(files, 0))->text;
    return options->directory ? write_directory(options, files, flags, error)
                              : file_write(options->output, first->str, first->len, flags, error);
}

static void note_variable(WendKind kind, guint thread, guint length, gpointer data)
{
    (void)kind, (void)thread;
    ((Emitter *)data)->handles |= length > 0;
}

/* Gives the rules their names, and adds those of MPI to NAMES. */
static void name_all(Emitter *e, GPtrArray *files, GHashTable *names)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    for (guint i = 0; i < files->len; i++)
        g_ptr_array_add(texts, ((ProgramFile *)g_ptr_array_index(files, i))->text);
    g_autoptr(GHashTable) words = source_lines_words(texts);
    GHashTableIter iter;
    gpointer word;
    g_hash_table_iter_init(&iter, words);
    while (g_hash_table_iter_next(&iter, &word, NULL)) {
        /* a library with MPI_ functions has PMPI_ functions, too */
        const char *name = *(const char *)word == 'P' ? (const char *)word + 1 : word;
        if (g_str_has_prefix(name, C_NAME_PREFIX) && name[strlen(C_NAME_PREFIX)])
            g_hash_table_add(names, g_strdup(name));
    }
    source_lines_name(e->lines, texts, words);
}

gboolean proxy_files_write(Plan *plan, GHashTable *names, Error **error)
{
    const Options *options = plan->options;
    Emitter e = {
        .plan = plan, .call = call_pattern_new(plan->program), .definitions = g_string_new("")};
    e.tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    e.max_statuses = 1;
    e.pinned = g_hash_table_new(NULL, NULL);
    e.graphs = g_hash_table_new(NULL, NULL);
    e.lines = source_lines_new(plan);
    outside_names_find(&e);
    variables_foreach(plan, note_variable, &e);
    for (guint i = 0; i < plan->threads->len; i++)
        e.threads |= g_array_index(plan->threads, PlanThread, i).n_started > 0;
    gdouble tables = emit_tables_wanted(plan) ? emit_tables_text(plan) : G_MAXDOUBLE;
    e.streams = row_loops_new(&e);
    if (e.streams && (emit_tables_wanted(plan) || row_loops_text(e.streams) > tables))
        row_loops_undo(&e, e.streams);
    e.alike = emit_tables_wanted(plan) ? NULL : alike_new(plan);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(file_free);
    if (options->directory)
        emit_several_files(&e, files);
    else
        emit_one_file(&e, files);
    name_all(&e, files, names);
    gboolean good = write_files(options, files, error);
    emit_tables_free(&e);
    alike_free(e.alike);
    row_loops_free(e.streams);
    source_lines_free(e.lines);
    call_pattern_free(e.call);
    g_string_free(e.definitions, TRUE);
    g_hash_table_destroy(e.tables);
    g_hash_table_destroy(e.pinned);
    g_hash_table_destroy(e.graphs);
    g_hash_table_destroy(e.findings);
    g_hash_table_destroy(e.ports);
    g_ptr_array_unref(e.ports_in_order);
    g_hash_table_destroy(e.ports_given);
    g_hash_table_destroy(e.ports_listed);
    g_hash_table_destroy(e.away);
    return good;
}
