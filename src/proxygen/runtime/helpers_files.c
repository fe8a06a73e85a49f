/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers_files.c: see helpers.h. */
#include "helpers.h"
#include "src/proxygen/analysis/call_analysis.h"
#include "src/proxygen/emit/emit.h"
#include "src/proxygen/model/model.h"

static const char *const scratch_file_text =
    "static char scratch_dir[4096];\n"
    "\n"
    "@char *scratch_file(int number)\n"
    "{\n"
    "    static #char name[sizeof scratch_dir + 64];\n"
    "    snprintf(name, sizeof name, \"%s/%s\", scratch_dir, scratch_names[number]);\n"
    "    return name;\n"
    "}\n"
    "\n";

static const char *const scratch_make_text =
    "/* Makes a file, of so many bytes at least, which are all zero. */\n"
    "static void scratch_make(int number, long long bytes)\n"
    "{\n"
    "    int file = open(scratch_file(number), O_WRONLY | O_CREAT, 0666);\n"
    "    if (file < 0 || (lseek(file, 0, SEEK_END) < bytes && ftruncate(file, bytes) != 0)) {\n"
    "        fprintf(stderr, \"proxy: cannot make %s of %lld bytes: %s\\n\", scratch_file(number), "
    "bytes, strerror(errno));\n"
    "        PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "    }\n"
    "    close(file);\n"
    "}\n"
    "\n";

static const char *const scratch_found_text =
    "/* The next call found so many bytes under that name (-1: no file), and no MPI call had left "
    "it so: something else had made or removed the file. */\n"
    "@void scratch_found(MPI_Comm which, int number, long long bytes)\n"
    "{\n"
    "    int self = 0;\n"
    "    PMPI_Comm_rank(which, &self);\n"
    "    if (self == 0 && bytes == -1)\n"
    "        unlink(scratch_file(number));\n"
    "    if (self == 0 && bytes >= 0)\n"
    "        scratch_make(number, bytes);\n"
    "    PMPI_Barrier(which);\n"
    "}\n"
    "\n";

static const char *const scratch_begin_text =
    "@void scratch_begin(MPI_Comm all)\n"
    "{\n"
    "    if (rank == 0) {\n"
    "        const char *dir = getenv(\"WEND_PROXY_DIR\"), *tmp = getenv(\"TMPDIR\");\n"
    "        snprintf(scratch_dir, sizeof scratch_dir - 64, \"%s/wend-proxy-XXXXXX\", dir ? dir : "
    "tmp ? tmp : \"/tmp\");\n"
    "        if (!mkdtemp(scratch_dir)) {\n"
    "            fprintf(stderr, \"proxy: cannot make a scratch directory %s: %s\\n\", "
    "scratch_dir, strerror(errno));\n"
    "            scratch_dir[0] = '\\0';\n"
    "        }\n"
    "    }\n"
    "    PMPI_Bcast(scratch_dir, sizeof scratch_dir, MPI_CHAR, 0, all);\n"
    "    if (!*scratch_dir) { /* not MPI_Abort: launchers may lose what was said just before */\n"
    "        int started;\n"
    "        if (PMPI_Initialized(&started) == MPI_SUCCESS && started)\n"
    "            PMPI_Finalize();\n"
    "        exit(4);\n"
    "    }\n";

static const char *const scratch_end_text =
    "/* After all ranks have done their calls. */\n"
    "@void scratch_end(void)\n"
    "{\n"
    "    DIR *dir = %s ? opendir(scratch_dir) : NULL;\n"
    "    char name[sizeof scratch_dir + 258];\n"
    "    if (!dir)\n"
    "        return;\n"
    "    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {\n"
    "        snprintf(name, sizeof name, \"%s/%s\", scratch_dir, entry->d_name);\n"
    "        unlink(name);\n"
    "    }\n"
    "    closedir(dir);\n"
    "    rmdir(scratch_dir);\n"
    "}\n"
    "\n";

static const char *const port_path_text =
    "/* In the scratch directory for the processes of this job; in $WEND_PROXY_DIR for those of "
    "other jobs, if it says so. */\n"
    "static void port_path(char *path, size_t room, int number, int of_others)\n"
    "{\n"
    "    const char *shared = getenv(\"WEND_PROXY_DIR\");\n"
    "    *path = '\\0';\n"
    "    if (!of_others)\n"
    "        snprintf(path, room, \"%s/port-%d\", scratch_dir, number);\n"
    "    else if (shared != NULL)\n"
    "        snprintf(path, room, \"%s/wend-port-%s\", shared, port_keys[number]);\n"
    "}\n"
    "\n";

static const char *const port_tell_text =
    "static void ports_forget(void)\n"
    "{\n"
    "    char path[sizeof scratch_dir + 64];\n"
    "    for (int i = 0; i < (int)(sizeof port_told / sizeof *port_told); i++)\n"
    "        if (port_told[i]) {\n"
    "            port_path(path, sizeof path, i, 1);\n"
    "            unlink(path);\n"
    "        }\n"
    "}\n"
    "\n"
    "/* Who got a port writes its name where the others find it; who opened it, where other jobs "
    "do. */\n"
    "@void port_tell(int number, int opened)\n"
    "{\n"
    "    for (int of_others = 0; of_others <= opened; of_others++) {\n"
    "        char whole[sizeof scratch_dir + 64], path[sizeof whole + 32];\n"
    "        port_path(whole, sizeof whole, number, of_others);\n"
    "        snprintf(path, sizeof path, \"%s.%ld\", whole, (long)getpid());\n"
    "        FILE *out = *whole ? fopen(path, \"w\") : NULL;\n"
    "        if (out == NULL)\n"
    "            continue;\n"
    "        fputs(port[number], out);\n"
    "        fclose(out);\n"
    "        rename(path, whole);\n"
    "        if (of_others && !port_told[number]) {\n"
    "            port_told[number] = 1;\n"
    "            atexit(ports_forget);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const port_wait_text =
    "@char *port_wait(int number)\n"
    "{\n"
    "    char path[sizeof scratch_dir + 64];\n"
    "    port_path(path, sizeof path, number, !port_here[number]);\n"
    "    if (!*path) {\n"
    "        fputs(\"proxy: another job opened the port that this one connects to: run the proxies "
    "of both with one WEND_PROXY_DIR\\n\", stderr);\n"
    "        PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "    }\n"
    "    for (;;) {\n"
    "        FILE *in = fopen(path, \"r\");\n"
    "        if (in) {\n"
    "            char *line = fgets(port[number], sizeof port[number], in);\n"
    "            fclose(in);\n"
    "            if (line)\n"
    "                return line;\n"
    "        }\n"
    "        usleep(1000);\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const join_text =
    "/* A socket to another process, each time a new one. Its name is in none of the host's "
    "directories. */\n"
    "@int join_socket;\n"
    "\n"
    "@int join_with(int partner)\n"
    "{\n"
    "    static int times[%d];\n"
    "    struct sockaddr_un address = {.sun_family = AF_UNIX};\n"
    "    const char *slash = strrchr(scratch_dir, '/');\n"
    "    int low = partner < rank ? partner : rank, high = partner < rank ? rank : partner;\n"
    "    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, \"%.48s-%d-%d-%d\", slash ? "
    "slash : scratch_dir, low, high, times[partner]++);\n"
    "    join_socket = socket(AF_UNIX, SOCK_STREAM, 0);\n"
    "    if (rank == low) {\n"
    "        int listening = join_socket;\n"
    "        if (bind(listening, (struct sockaddr *)&address, sizeof address) == 0 && "
    "listen(listening, 1) == 0)\n"
    "            join_socket = accept(listening, NULL, NULL);\n"
    "        close(listening);\n"
    "    } else {\n"
    "        while (connect(join_socket, (struct sockaddr *)&address, sizeof address) != 0)\n"
    "            usleep(1000);\n"
    "    }\n"
    "    return join_socket;\n"
    "}\n"
    "\n";

static const char *const launcher_text =
    "/* The rank of this process before MPI_Init, as the launcher says. */\n"
    "@int rank_of_launcher(void)\n"
    "{\n"
    "    static const char *const names[] = {\"PMI_RANK\", \"PMIX_RANK\", "
    "\"OMPI_COMM_WORLD_RANK\", \"SLURM_PROCID\", \"MV2_COMM_WORLD_RANK\"};\n"
    "    for (size_t i = 0; i < sizeof names / sizeof *names; i++)\n"
    "        if (getenv(names[i]))\n"
    "            return atoi(getenv(names[i]));\n"
    "    fprintf(stderr, \"proxy: the launcher does not say which rank this process is\\n\");\n"
    "    exit(2);\n"
    "}\n"
    "\n";

static void scratch(Out *o)
{
    Emitter *e = o->e;
    guint n = found_files_count(e->plan);
    g_autoptr(GString) inputs = g_string_new("");
    c_text_comment(o->definitions, 0,
                   "Files: all of them are in a directory of this run, removed at the end. "
                   "$WEND_PROXY_DIR says where it is made.");
    if (n > 0)
        g_string_append_printf(o->definitions, "static const char *const scratch_names[%u] = {\n",
                               n);
    for (guint i = 0; i < n; i++) {
        const ScratchFile *file = found_files_by_number(e->plan, i);
        g_autofree char *recorded = c_token_comment(file->name);
        g_string_append_printf(o->definitions, "    \"%sfile-%u\", /* %s */\n",
                               file->nowhere ? "nowhere/" : "", i, recorded);
        if (file->bytes >= 0)
            g_string_append_printf(inputs, "        scratch_make(%u, %" G_GINT64_FORMAT ");\n", i,
                                   file->bytes);
    }
    if (n > 0)
        g_string_append(o->definitions, "};\n");
    helper_define_with(o, n > 0 ? scratch_file_text : "static char scratch_dir[4096];\n\n",
                       e->threads ? "_Thread_local " : "");
    if (inputs->len || e->needs[HELPER_SCRATCH_FOUND])
        helper_define(e, o->definitions, scratch_make_text);
    if (e->needs[HELPER_SCRATCH_FOUND])
        helper_define(e, o->definitions, scratch_found_text);
    if (job_worlds_several(e->plan))
        helpers_world_notes(o);
    helper_define(e, o->definitions, scratch_begin_text);
    if (job_worlds_several(e->plan))
        g_string_append(o->definitions, "    if (rank == 0)\n        world_note(0, 1);\n");
    if (inputs->len)
        g_string_append_printf(
            o->definitions,
            "    if (rank == 0) { /* files that were there before the application ran */\n%s    }\n"
            "    PMPI_Barrier(all);\n",
            inputs->str);
    g_string_append(o->definitions, "}\n\n");
    g_auto(GStrv) around = g_strsplit(scratch_end_text, "%s ?", 2);
    g_autofree char *end = g_strjoinv(
        job_worlds_several(e->plan) ? "world_rank == 0 && world_is_last() ?" : "rank == 0 ?",
        around);
    helper_define(e, o->definitions, end);
    helper_declare(e, o->declarations,
                   "void scratch_begin(MPI_Comm all);\nchar *scratch_file(int number);\nvoid "
                   "scratch_end(void);");
    if (e->needs[HELPER_SCRATCH_FOUND])
        helper_declare(e, o->declarations,
                       "void scratch_found(MPI_Comm which, int number, long long bytes);");
}

static void ports(Out *o)
{
    Emitter *e = o->e;
    guint n = MAX(1, g_hash_table_size(e->ports));
    g_autoptr(GString) keys = g_string_new(""), here = g_string_new("");
    for (guint i = 0; i < n; i++) {
        const PortName *name = outside_names_of_port(e, i);
        g_string_append_printf(keys, "%s\"%s\"", i ? ", " : "", name ? name->key : "");
        g_string_append_printf(here, "%s%d", i ? ", " : "", name && name->here);
    }
    helper_declare(e, o->declarations, "extern char port[%u][MPI_MAX_PORT_NAME + 1];", n);
    g_string_append_printf(o->definitions, "%schar port[%u][MPI_MAX_PORT_NAME + 1];\n", e->linkage,
                           n);
    g_string_append_printf(o->definitions,
                           "static const char *const port_keys[%u] = {%s}; /* by which proxies of "
                           "other jobs know them */\n",
                           n, keys->str);
    if (e->needs[HELPER_PORT_WAIT])
        g_string_append_printf(
            o->definitions,
            "static const char port_here[%u] = {%s}; /* was it from a call of this job? */\n", n,
            here->str);
    if (e->needs[HELPER_PORT_TELL])
        g_string_append_printf(o->definitions, "static char port_told[%u]; /* to other jobs */\n",
                               n);
    g_string_append_c(o->definitions, '\n');
    helper_define(e, o->definitions, port_path_text);
    if (e->needs[HELPER_PORT_TELL]) {
        helper_declare(e, o->declarations, "void port_tell(int number, int opened);");
        helper_define(e, o->definitions, port_tell_text);
    }
    if (e->needs[HELPER_PORT_WAIT]) {
        helper_declare(e, o->declarations, "char *port_wait(int number);");
        helper_define(e, o->definitions, port_wait_text);
    }
}

void helpers_files(Out *o)
{
    Emitter *e = o->e;
    if (e->needs[HELPER_SCRATCH])
        scratch(o);
    if (e->needs[HELPER_PORTS])
        ports(o);
    if (e->needs[HELPER_JOIN_SOCKET]) {
        g_auto(GStrv) around = g_strsplit(join_text, "%d]", 2);
        g_autofree char *size = g_strdup_printf("%u]", e->plan->n_ranks),
                        *text = g_strjoinv(size, around);
        helper_declare(e, o->declarations, "extern int join_socket;\nint join_with(int partner);");
        helper_define(e, o->definitions, text);
    }
    if (e->needs[HELPER_RANK_OF_LAUNCHER]) {
        helper_declare(e, o->declarations, "int rank_of_launcher(void);");
        helper_define(e, o->definitions, launcher_text);
    }
}
