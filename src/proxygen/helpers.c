/* helpers.c: the functions and variables that the generated program needs beside the application's calls, only those that are used.
 *
 * In one file everything is static; in several, what is shared is declared in proxy.h. Nothing here calls an MPI function by its MPI_ name, so
 * that a recording of the proxy has the application's calls only; but for those on requests that the program itself uses (aims). */
#include "emit.h"

#include <string.h>

#include "files.h"
#include "memory.h"
#include "names.h"
#include "variables.h"

/* A definition, and for programs of several files its declaration. @ stands for "static " or nothing. */
static void define(Emitter *e, GString *out, const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "@", -1);
    g_autofree char *joined = g_strjoinv(e->linkage, parts);
    g_string_append(out, joined);
}

static void declare(Emitter *e, GString *out, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void declare(Emitter *e, GString *out, const char *format, ...)
{
    if (*e->linkage)
        return; /* one file: the definitions come first */
    va_list arguments;
    va_start(arguments, format);
    g_string_append_vprintf(out, format, arguments);
    va_end(arguments);
    g_string_append_c(out, '\n');
}

typedef struct { Emitter *e; GString *declarations, *definitions; GString *nulls; } Out;

static void one_array(const char *ctype, const char *name, guint length, const char *null, gpointer data)
{
    Out *o = data;
    if (length == 0)
        return;
    declare(o->e, o->declarations, "extern %s %s[%u];", ctype, name, length);
    g_string_append_printf(o->definitions, "%s%s %s[%u];\n", o->e->linkage, ctype, name, length);
    if (strcmp(ctype, "MPI_Request") == 0)
        g_string_append_printf(o->nulls, "    for (int i = 0; i < %u; i++)\n        %s[i] = %s;\n", length, name, null);
    else
        g_string_append_printf(o->nulls, "    for (int i = 0; i < %u; i++)\n        %s[i] = %s;\n", length, name, null);
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
    write_comment(definitions, 0, "Handles, by their number in the recording: a new one takes the smallest that is free, so numbers come again.");
    g_string_append_printf(definitions, "%s\n", arrays->str);
    declare(o->e, o->declarations, "void set_null(void);");
    define(o->e, definitions, "@void set_null(void)\n{\n");
    g_string_append_printf(definitions, "%s}\n\n", o->nulls->str);
}

static void status_variables(Out *o)
{
    Emitter *e = o->e;
    const char *local = e->threads ? "_Thread_local " : "";
    if (e->needs[HELPER_STATUS]) {
        declare(e, o->declarations, "extern %sMPI_Status status;", local);
        g_string_append_printf(o->definitions, "%s%sMPI_Status status; /* of the last call that asked for one */\n", e->linkage, local);
    }
    if (e->needs[HELPER_STATUSES]) {
        declare(e, o->declarations, "extern %sMPI_Status statuses[%" G_GINT64_FORMAT "];", local, e->max_statuses);
        g_string_append_printf(o->definitions, "%s%sMPI_Status statuses[%" G_GINT64_FORMAT "];\n", e->linkage, local, e->max_statuses);
    }
    if (e->needs[HELPER_STATUS] || e->needs[HELPER_STATUSES])
        g_string_append_c(o->definitions, '\n');
}

static gint64 rounded(gint64 bytes, gint64 unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static void static_memory(Out *o)
{
    g_autoptr(GPtrArray) segments = plan_segments_of_kind(o->e->plan, WEND_SEGMENT_STATIC);
    for (guint i = 0; i < segments->len; i++) {
        const Segment *s = g_ptr_array_index(segments, i);
        gint64 id = s->place, below = rounded(-s->low, 64);
        if (i == 0)
            write_comment(o->definitions, 0, "Static data. Offset 0 is the first address that MPI saw; some were lower.");
        g_string_append_printf(o->definitions, "static _Alignas(64) char static_data_%" G_GINT64_FORMAT "[%" G_GINT64_FORMAT "];\n", id,
                               rounded(below + s->high, 64));
        declare(o->e, o->declarations, "extern char *const static_%" G_GINT64_FORMAT ";", id);
        g_string_append_printf(o->definitions, "%schar *const static_%" G_GINT64_FORMAT " = static_data_%" G_GINT64_FORMAT, o->e->linkage, id, id);
        g_string_append_printf(o->definitions, below ? " + %" G_GINT64_FORMAT ";\n\n" : ";\n\n", below);
    }
}

static void stack_memory(Out *o)
{
    g_autoptr(GPtrArray) segments = plan_segments_of_kind(o->e->plan, WEND_SEGMENT_STACK);
    for (guint i = 0; i < segments->len; i++) {
        g_autofree char *name = expression_segment(o->e, ((const Segment *)g_ptr_array_index(segments, i))->word);
        declare(o->e, o->declarations, "extern char *%s;", name);
        g_string_append_printf(o->definitions, "%schar *%s; /* memory on the stack: the function that starts the calls has it */\n\n", o->e->linkage,
                               name);
    }
}

/* A list of pointers of MPI's own segments, as long as the largest id asks for. */
static void made_memory(Out *o, enum wend_segment_kind kind, const char *name, const char *comment)
{
    g_autoptr(GPtrArray) segments = plan_segments_of_kind(o->e->plan, kind);
    if (segments->len == 0)
        return;
    gint64 n = ((const Segment *)g_ptr_array_index(segments, segments->len - 1))->place + 1;
    declare(o->e, o->declarations, "extern char *%s[%" G_GINT64_FORMAT "];", name, n);
    g_string_append_printf(o->definitions, "%schar *%s[%" G_GINT64_FORMAT "]; /* %s */\n\n", o->e->linkage, name, n, comment);
}

/* Sizes by id, for the segments that the proxy allocates itself. */
static gint64 sizes(Out *o, enum wend_segment_kind kind, const char *name)
{
    g_autoptr(GPtrArray) segments = plan_segments_of_kind(o->e->plan, kind);
    g_autoptr(GString) list = g_string_new("");
    gint64 next = 0;
    for (guint i = 0; i < segments->len; i++) {
        const Segment *s = g_ptr_array_index(segments, i);
        for (; next < s->place; next++)
            g_string_append(list, next ? ", 1" : "1");
        g_string_append_printf(list, "%s%" G_GINT64_FORMAT, next ? ", " : "", MAX(s->high, 1));
        next++;
    }
    write_line(o->definitions, 0, "static const size_t %s_size[%" G_GINT64_FORMAT "] = {%s};", name, next, list->str);
    return next;
}

static const char *const heap_text =
    "\n"
    "/* The block with this number, allocated when it is first used (or used again after it was freed). */\n"
    "@char *heap(int id)\n"
    "{\n"
    "    if (!heap_block[id]) {\n"
    "        heap_block[id] = calloc(1, heap_size[id]);\n"
    "        if (!heap_block[id]) {\n"
    "            fprintf(stderr, \"proxy: no memory for %zu bytes\\n\", heap_size[id]);\n"
    "            PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "        }\n"
    "    }\n"
    "    return heap_block[id];\n"
    "}\n"
    "\n"
    "@void heap_free(int id)\n"
    "{\n"
    "    free(heap_block[id]);\n"
    "    heap_block[id] = NULL;\n"
    "}\n"
    "\n";

static const char *const mapped_text =
    "\n"
    "/* Memory from mmap, with a page on each side that keeps mappings apart. */\n"
    "@char *mapped(int id)\n"
    "{\n"
    "    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (mapped_size[id] + page - 1) / page * page;\n"
    "    if (!mapped_block[id]) {\n"
    "        char *made = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
    "        if (made == MAP_FAILED || mprotect(made + page, bytes, PROT_READ | PROT_WRITE) != 0) {\n"
    "            fprintf(stderr, \"proxy: cannot map %zu bytes\\n\", bytes);\n"
    "            PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "        }\n"
    "        mapped_block[id] = made + page;\n"
    "    }\n"
    "    return mapped_block[id];\n"
    "}\n"
    "\n"
    "@void mapped_free(int id)\n"
    "{\n"
    "    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (mapped_size[id] + page - 1) / page * page;\n"
    "    if (mapped_block[id])\n"
    "        munmap(mapped_block[id], bytes);\n"
    "    mapped_block[id] = NULL;\n"
    "}\n"
    "\n";

static void memory(Out *o)
{
    Emitter *e = o->e;
    static_memory(o);
    stack_memory(o);
    made_memory(o, WEND_SEGMENT_MPI, "mpi_memory", "from MPI_Alloc_mem");
    made_memory(o, WEND_SEGMENT_WIN, "window_memory", "of windows that MPI allocated");
    if (e->needs[HELPER_HEAP]) {
        write_comment(o->definitions, 0, "The heap, by the number of the block. Sizes are what the calls need, at least.");
        gint64 n = sizes(o, WEND_SEGMENT_HEAP, "heap");
        g_string_append_printf(o->definitions, "static char *heap_block[%" G_GINT64_FORMAT "];\n", n);
        declare(e, o->declarations, "char *heap(int id);\nvoid heap_free(int id);\nextern const int heap_blocks;");
        g_string_append_printf(o->definitions, "%sconst int heap_blocks = %" G_GINT64_FORMAT ";\n", e->linkage, n);
        define(e, o->definitions, heap_text);
    }
    if (e->needs[HELPER_MAPPED]) {
        gint64 n = sizes(o, WEND_SEGMENT_MAP, "mapped");
        g_string_append_printf(o->definitions, "static char *mapped_block[%" G_GINT64_FORMAT "];\n", n);
        declare(e, o->declarations, "char *mapped(int id);\nvoid mapped_free(int id);\nextern const int mapped_blocks;");
        g_string_append_printf(o->definitions, "%sconst int mapped_blocks = %" G_GINT64_FORMAT ";\n", e->linkage, n);
        define(e, o->definitions, mapped_text);
    }
    if (e->needs[HELPER_UNUSED_BUFFER]) {
        declare(e, o->declarations, "extern char unused[];");
        define(e, o->definitions, "@char unused[8]; /* stands for buffers that are not significant at this rank */\n\n");
    }
    if (e->needs[HELPER_UNKNOWN_BUFFER]) {
        declare(e, o->declarations, "extern char unknown_buffer[];");
        define(e, o->definitions, "/* Stands for addresses that the recording could not place. */\n@char unknown_buffer[1 << 20];\n\n");
    }
}

static const char *const threads_text =
    "/* The threads of this process but the main one. They have the numbers in which they are created. */\n"
    "typedef struct { int number; void *(*run)(void *); size_t stack; int runs; pthread_t id; } Thread;\n"
    "@Thread *threads;\n"
    "@int n_threads;\n"
    "\n"
    "static Thread *thread_of_number(int number)\n"
    "{\n"
    "    for (int i = 0; i < n_threads; i++)\n"
    "        if (threads[i].number == number)\n"
    "            return &threads[i];\n"
    "    return NULL;\n"
    "}\n"
    "\n"
    "@void start_thread(int number)\n"
    "{\n"
    "    Thread *thread = thread_of_number(number);\n"
    "    pthread_attr_t attributes;\n"
    "    if (!thread)\n"
    "        return;\n"
    "    pthread_attr_init(&attributes);\n"
    "    if (thread->stack)\n"
    "        pthread_attr_setstacksize(&attributes, thread->stack);\n"
    "    thread->runs = pthread_create(&thread->id, &attributes, thread->run, NULL) == 0;\n"
    "    pthread_attr_destroy(&attributes);\n"
    "}\n"
    "\n"
    "/* Those whose end is not in the recording: they have ended when MPI does. */\n"
    "@void join_threads(void)\n"
    "{\n"
    "    for (int i = 0; i < n_threads; i++) {\n"
    "        if (threads[i].runs)\n"
    "            pthread_join(threads[i].id, NULL);\n"
    "        threads[i].runs = 0;\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const join_thread_text =
    "@void join_thread(int number)\n"
    "{\n"
    "    Thread *thread = thread_of_number(number);\n"
    "    if (thread && thread->runs)\n"
    "        pthread_join(thread->id, NULL);\n"
    "    if (thread)\n"
    "        thread->runs = 0;\n"
    "}\n"
    "\n";

static const char *const empty_thread_text =
    "@void *thread_without_calls(void *unused_argument)\n"
    "{\n"
    "    return unused_argument;\n"
    "}\n"
    "\n";

static const char *const shared_text =
    "/* What several threads use: it is made before others use it, freed after they have, and its number is another's after that. */\n"
    "static struct { _Atomic long made, used, ended; } shared[%d];\n"
    "@_Thread_local int thread_number, thread_place;\n"
    "@const long *shares; /* for each shared thing: uses of each of its lives by each thread, and by all; 0: they differ */\n"
    "@int n_shares;\n"
    "\n"
    "#define AWAIT(condition) while (!(condition)) usleep(20)\n"
    "\n";

static const char *const shared_make_text =
    "@void shared_make(int i) { AWAIT(shared[i].made == shared[i].ended); }\n"
    "@void shared_made(int i) { shared[i].made++; }\n"
    "\n";

static const char *const shared_lives_text =
    "/* Uses before this one were of so many lives of it; -1: nobody knows. */\n"
    "static long lives_used(int i)\n"
    "{\n"
    "    static _Thread_local long uses[%d];\n"
    "    long share = shares ? shares[i * n_shares + thread_place] : 0;\n"
    "    return share ? uses[i]++ / share : -1;\n"
    "}\n"
    "\n"
    "@void shared_used(int i) { shared[i].used++; }\n"
    "\n";

static const char *const shared_use_text =
    "@void shared_use(int i)\n"
    "{\n"
    "    long lives = lives_used(i);\n"
    "    AWAIT(shared[i].made > (lives < 0 ? (long)shared[i].ended : lives));\n"
    "}\n"
    "\n";

static const char *const shared_memory_text =
    "@void shared_use_memory(int i)\n"
    "{\n"
    "    long lives = lives_used(i);\n"
    "    AWAIT(lives < 0 || shared[i].ended >= lives);\n"
    "}\n"
    "\n";

static const char *const shared_end_text =
    "@void shared_end(int i)\n"
    "{\n"
    "    long share = shares ? shares[i * n_shares + n_shares - 1] : 0;\n"
    "    AWAIT(shared[i].used >= share * (shared[i].ended + 1));\n"
    "}\n"
    "\n"
    "@void shared_ended(int i) { shared[i].ended++; }\n"
    "\n";

static const char *const shared_request_text =
    "/* A request of another thread; in a call that completes some of several it may have completed before. */\n"
    "@void shared_request(int i, int maker, int of_several)\n"
    "{\n"
    "    if (thread_number != maker)\n"
    "        AWAIT(shared[i].made > (of_several ? 0 : (long)shared[i].ended));\n"
    "}\n"
    "\n"
    "@void shared_request_used(int i, MPI_Request now)\n"
    "{\n"
    "    if (now == MPI_REQUEST_NULL && shared[i].ended < shared[i].made)\n"
    "        shared[i].ended++;\n"
    "}\n"
    "\n";

static void threads(Out *o)
{
    Emitter *e = o->e;
    const struct { gboolean needed; const char *text, *declarations; } parts[] = {
        {TRUE, shared_text, "extern _Thread_local int thread_number, thread_place;\nextern const long *shares;\nextern int n_shares;"},
        {e->needs[HELPER_SHARED_MAKE], shared_make_text, "void shared_make(int i);\nvoid shared_made(int i);"},
        {e->needs[HELPER_SHARED_USE] || e->needs[HELPER_SHARED_MEMORY], shared_lives_text, "void shared_used(int i);"},
        {e->needs[HELPER_SHARED_USE], shared_use_text, "void shared_use(int i);"},
        {e->needs[HELPER_SHARED_MEMORY], shared_memory_text, "void shared_use_memory(int i);"},
        {e->needs[HELPER_SHARED_END], shared_end_text, "void shared_end(int i);\nvoid shared_ended(int i);"},
        {e->needs[HELPER_SHARED_REQUEST], shared_request_text,
         "void shared_request(int i, int maker, int of_several);\nvoid shared_request_used(int i, MPI_Request now);"},
    };
    declare(e, o->declarations, "typedef struct { int number; void *(*run)(void *); size_t stack; int runs; pthread_t id; } Thread;\n"
                                "extern Thread *threads;\nextern int n_threads;\nvoid start_thread(int number);\nvoid join_thread(int number);\n"
                                "void join_threads(void);\nvoid *thread_without_calls(void *unused_argument);");
    define(e, o->definitions, *e->linkage ? threads_text : strstr(threads_text, "@Thread")); /* the type is among the declarations */
    if (e->needs[HELPER_JOIN_THREAD])
        define(e, o->definitions, join_thread_text);
    if (e->needs[HELPER_EMPTY_THREAD])
        define(e, o->definitions, empty_thread_text);
    g_autofree char *n = g_strdup_printf("%u", g_hash_table_size(e->plan->shared));
    for (guint i = 0; g_hash_table_size(e->plan->shared) && i < G_N_ELEMENTS(parts); i++) {
        if (!parts[i].needed)
            continue;
        g_auto(GStrv) around = g_strsplit(parts[i].text, "%d", -1);
        g_autofree char *text = g_strjoinv(n, around);
        declare(e, o->declarations, "%s", parts[i].declarations);
        define(e, o->definitions, text);
    }
}

static const char *const rank_in_text =
    "/* The rank of this process in a communicator. */\n"
    "@int rank_in(MPI_Comm which)\n"
    "{\n"
    "    int it = 0;\n"
    "    PMPI_Comm_rank(which, &it);\n"
    "    return it;\n"
    "}\n"
    "\n";

static const char *const hide_text =
    "/* Hides all requests of a list but keep[0] of them, which are at the places keep[1], keep[2], ... */\n"
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
    "/* Hides the requests of a list that have completed as often as they should: left[i] is 0. */\n"
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

static const char *const active_text =
    "@int active(int n, const MPI_Request *list)\n"
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

static const char *const null_requests_text =
    "/* A list of nothing to wait for. */\n"
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

static const char *const scratch_file_text =
    "static char scratch_dir[4096];\n"
    "\n"
    "@char *scratch_file(int number)\n"
    "{\n"
    "    static char name[sizeof scratch_dir + 64];\n"
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
    "        fprintf(stderr, \"proxy: cannot make %s of %lld bytes: %s\\n\", scratch_file(number), bytes, strerror(errno));\n"
    "        PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "    }\n"
    "    close(file);\n"
    "}\n"
    "\n";

static const char *const scratch_found_text =
    "/* The next call found so many bytes under that name (-1: no file), and no MPI call had left it so: something else had made or removed the file. */\n"
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
    "        snprintf(scratch_dir, sizeof scratch_dir - 64, \"%s/wend-proxy-XXXXXX\", dir ? dir : tmp ? tmp : \"/tmp\");\n"
    "        if (!mkdtemp(scratch_dir)) {\n"
    "            fprintf(stderr, \"proxy: cannot make a scratch directory %s: %s\\n\", scratch_dir, strerror(errno));\n"
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
    "    DIR *dir = rank == 0 ? opendir(scratch_dir) : NULL;\n"
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

static const char *const port_tell_text =
    "/* Who opened a port writes its name where the others find it. */\n"
    "@void port_tell(int number)\n"
    "{\n"
    "    char name[sizeof scratch_dir + 64], whole[sizeof scratch_dir + 64];\n"
    "    snprintf(name, sizeof name, \"%s/port-%d.part\", scratch_dir, number);\n"
    "    snprintf(whole, sizeof whole, \"%s/port-%d\", scratch_dir, number);\n"
    "    FILE *out = fopen(name, \"w\");\n"
    "    if (out) {\n"
    "        fputs(port[number], out);\n"
    "        fclose(out);\n"
    "        rename(name, whole);\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const port_wait_text =
    "@char *port_wait(int number)\n"
    "{\n"
    "    char name[sizeof scratch_dir + 64];\n"
    "    snprintf(name, sizeof name, \"%s/port-%d\", scratch_dir, number);\n"
    "    for (;;) {\n"
    "        FILE *in = fopen(name, \"r\");\n"
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

static const char *const launcher_text =
    "/* The rank of this process before MPI_Init, as the launcher says. */\n"
    "@int rank_of_launcher(void)\n"
    "{\n"
    "    static const char *const names[] = {\"PMI_RANK\", \"PMIX_RANK\", \"OMPI_COMM_WORLD_RANK\", \"SLURM_PROCID\", \"MV2_COMM_WORLD_RANK\"};\n"
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
    guint n = files_count(e->plan);
    g_autoptr(GString) inputs = g_string_new("");
    write_comment(o->definitions, 0, "Files: all of them are in a directory of this run, removed at the end. $WEND_PROXY_DIR says where it is made.");
    if (n > 0)
        g_string_append_printf(o->definitions, "static const char *const scratch_names[%u] = {\n", n);
    for (guint i = 0; i < n; i++) {
        const ScratchFile *file = files_by_number(e->plan, i);
        g_auto(GStrv) parts = g_strsplit(file->name, "*/", -1);
        g_autofree char *safe = g_strjoinv("*|", parts);
        g_string_append_printf(o->definitions, "    \"%sfile-%u\", /* %s */\n", file->nowhere ? "nowhere/" : "", i, safe);
        if (file->bytes >= 0)
            g_string_append_printf(inputs, "        scratch_make(%u, %" G_GINT64_FORMAT ");\n", i, file->bytes);
    }
    if (n > 0)
        g_string_append(o->definitions, "};\n");
    define(e, o->definitions, n > 0 ? scratch_file_text : "static char scratch_dir[4096];\n\n");
    if (inputs->len || e->needs[HELPER_SCRATCH_FOUND])
        define(e, o->definitions, scratch_make_text);
    if (e->needs[HELPER_SCRATCH_FOUND])
        define(e, o->definitions, scratch_found_text);
    define(e, o->definitions, scratch_begin_text);
    if (inputs->len)
        g_string_append_printf(o->definitions, "    if (rank == 0) { /* files that were there before the application ran */\n%s    }\n"
                                               "    PMPI_Barrier(all);\n", inputs->str);
    g_string_append(o->definitions, "}\n\n");
    define(e, o->definitions, scratch_end_text);
    declare(e, o->declarations, "void scratch_begin(MPI_Comm all);\nchar *scratch_file(int number);\nvoid scratch_end(void);");
    if (e->needs[HELPER_SCRATCH_FOUND])
        declare(e, o->declarations, "void scratch_found(MPI_Comm which, int number, long long bytes);");
}

void begin_helpers(Emitter *e, GString *out, const char *all)
{
    if (e->needs[HELPER_SCRATCH])
        write_line(out, 1, "scratch_begin(%s);", all);
    if (e->needs[HELPER_TURNS])
        write_line(out, 1, "turns_begin();");
    if (e->needs[HELPER_PLACES])
        write_line(out, 1, "places_begin(%s);", all);
}

static void begin(Out *o)
{
    declare(o->e, o->declarations, "void proxy_begin(void);");
    define(o->e, o->definitions, "@void proxy_begin(void)\n{\n");
    begin_helpers(o->e, o->definitions, "MPI_COMM_WORLD");
    g_string_append(o->definitions, "}\n\n");
}

static const char *const turns_text =
    "/* Rank %d received from any source, and from some by name, in an order that mattered: so each process sends to it when it is its\n"
    " * turn in the recorded order. */\n"
    "static MPI_Comm turns;\n"
    "\n"
    "@void turns_begin(void)\n"
    "{\n"
    "    PMPI_Comm_dup(MPI_COMM_WORLD, &turns);\n"
    "}\n"
    "\n"
    "@void give_turn(int to)\n"
    "{\n"
    "    if (to >= 0)\n"
    "        PMPI_Send(NULL, 0, MPI_BYTE, to, 0, turns);\n"
    "}\n"
    "\n"
    "@void wait_for_turn(int to)\n"
    "{\n"
    "    if (to == %d)\n"
    "        PMPI_Recv(NULL, 0, MPI_BYTE, to, 0, turns, MPI_STATUS_IGNORE);\n"
    "}\n"
    "\n";

static const char *const aims_text =
    "/* A persistent receive from any source that is pinned has a request for each source that came, of which each start takes the one whose turn it\n"
    " * is. */\n"
    "typedef struct Aim Aim;\n"
    "struct Aim {\n"
    "    Aim *next;\n"
    "    MPI_Request current;   /* the program has it */\n"
    "    const int *sources;    /* of the starts to come; -1000 ends them */\n"
    "    int n;\n"
    "    struct { int source; MPI_Request request; } made[];\n"
    "};\n"
    "static Aim *aims;\n"
    "\n"
    "static inline Aim **aim_of(MPI_Request request)\n"
    "{\n"
    "    Aim **aim = &aims;\n"
    "    while (*aim != NULL && (*aim)->current != request)\n"
    "        aim = &(*aim)->next;\n"
    "    return aim;\n"
    "}\n"
    "\n"
    "static int aim_at(const Aim *aim, int source)\n"
    "{\n"
    "    int i = 0;\n"
    "    while (i < aim->n && aim->made[i].source != source)\n"
    "        i++;\n"
    "    return i;\n"
    "}\n"
    "\n"
    "static inline void aim_next(MPI_Request *request)\n"
    "{\n"
    "    Aim *aim = *aim_of(*request);\n"
    "    if (aim != NULL && *aim->sources != -1000)\n"
    "        *request = aim->current = aim->made[aim_at(aim, *aim->sources++)].request;\n"
    "}\n"
    "\n";

/* $: int, #: nothing; or MPI_Count and _c. */
static const char *const aim_init_text =
    "@int recv_init#_aimed(void *buf, $ count, MPI_Datatype datatype, const int *sources, int tag, MPI_Comm comm, MPI_Request *request)\n"
    "{\n"
    "    static const int never_started[] = {MPI_ANY_SOURCE, -1000};\n"
    "    int n = 0;\n"
    "    if (*sources == -1000)\n"
    "        sources = never_started;\n"
    "    while (sources[n] != -1000)\n"
    "        n++;\n"
    "    Aim *aim = malloc(sizeof *aim + (size_t)n * sizeof aim->made[0]);\n"
    "    if (aim == NULL) {\n"
    "        fputs(\"proxy: out of memory\\n\", stderr);\n"
    "        PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "    }\n"
    "    aim->n = 0;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (aim_at(aim, sources[i]) == aim->n) {\n"
    "            MPI_Recv_init#(buf, count, datatype, sources[i], tag, comm, &aim->made[aim->n].request);\n"
    "            aim->made[aim->n++].source = sources[i];\n"
    "        }\n"
    "    aim->sources = sources;\n"
    "    aim->next = aims;\n"
    "    aims = aim;\n"
    "    *request = aim->current = aim->made[0].request;\n"
    "    return MPI_SUCCESS;\n"
    "}\n"
    "\n";

static const char *const aim_start_text =
    "@int start_aimed(MPI_Request *request)\n"
    "{\n"
    "    aim_next(request);\n"
    "    return MPI_Start(request);\n"
    "}\n"
    "\n";

static const char *const aim_startall_text =
    "@int startall_aimed(int n, MPI_Request *requests)\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        aim_next(&requests[i]);\n"
    "    return MPI_Startall(n, requests);\n"
    "}\n"
    "\n";

static const char *const aim_free_text =
    "@int request_free_aimed(MPI_Request *request)\n"
    "{\n"
    "    Aim **place = aim_of(*request), *aim = *place;\n"
    "    for (int i = 0; aim != NULL && i < aim->n; i++)\n"
    "        if (aim->made[i].request != aim->current)\n"
    "            MPI_Request_free(&aim->made[i].request);\n"
    "    if (aim != NULL) {\n"
    "        *place = aim->next;\n"
    "        free(aim);\n"
    "    }\n"
    "    return MPI_Request_free(request);\n"
    "}\n"
    "\n";

static void aim_init(Out *o, const char *suffix, const char *count)
{
    g_autoptr(GString) text = g_string_new(aim_init_text);
    g_string_replace(text, "#", suffix, 0);
    g_string_replace(text, "$", count, 0);
    declare(o->e, o->declarations, "int recv_init%s_aimed(void *buf, %s count, MPI_Datatype datatype, const int *sources, int tag, MPI_Comm comm, MPI_Request *request);",
            suffix, count);
    define(o->e, o->definitions, text->str);
}

static void aims(Out *o)
{
    Emitter *e = o->e;
    if (e->needs[HELPER_AIM_INIT] || e->needs[HELPER_AIM_INIT_C])
        define(e, o->definitions, aims_text);
    if (e->needs[HELPER_AIM_INIT])
        aim_init(o, "", "int");
    if (e->needs[HELPER_AIM_INIT_C])
        aim_init(o, "_c", "MPI_Count");
    if (e->needs[HELPER_AIM_START]) {
        declare(e, o->declarations, "int start_aimed(MPI_Request *request);");
        define(e, o->definitions, aim_start_text);
    }
    if (e->needs[HELPER_AIM_STARTALL]) {
        declare(e, o->declarations, "int startall_aimed(int n, MPI_Request *requests);");
        define(e, o->definitions, aim_startall_text);
    }
    if (e->needs[HELPER_AIM_FREE]) {
        declare(e, o->declarations, "int request_free_aimed(MPI_Request *request);");
        define(e, o->definitions, aim_free_text);
    }
}

static const char *const places_text =
    "/* Memory in dynamic windows, which others name by its address: each process says here where it has which block. Block 0 is what was no\n"
    " * attached memory when it was accessed. */\n"
    "static MPI_Win places;\n"
    "static MPI_Comm places_comm; /* kept as long as the window: MPICH 4.0.2 crashes where it is freed before */\n"
    "\n"
    "@void place_known(int block, void *base)\n"
    "{\n"
    "    MPI_Aint address = (MPI_Aint)base;\n"
    "    PMPI_Accumulate(&address, 1, MPI_AINT, rank, block, 1, MPI_AINT, MPI_REPLACE, places);\n"
    "    PMPI_Win_flush(rank, places);\n"
    "}\n"
    "\n"
    "@void places_begin(MPI_Comm all)\n"
    "{\n"
    "    MPI_Aint *mine;\n"
    "    PMPI_Comm_dup(all, &places_comm);\n"
    "    PMPI_Win_allocate(%d * sizeof *mine, sizeof *mine, MPI_INFO_NULL, places_comm, &mine, &places);\n"
    "    PMPI_Win_lock_all(MPI_MODE_NOCHECK, places);\n"
    "    memset(mine, 0, %d * sizeof *mine);\n"
    "    PMPI_Win_sync(places);\n"
    "    PMPI_Barrier(places_comm);\n"
    "    place_known(0, unknown_buffer);\n"
    "}\n"
    "\n"
    "@void places_end(void)\n"
    "{\n"
    "    PMPI_Win_unlock_all(places);\n"
    "    PMPI_Win_free(&places);\n"
    "    PMPI_Comm_free(&places_comm);\n"
    "}\n"
    "\n"
    "/* The address of a block of that process; if it has not attached it yet, it is about to. */\n"
    "@MPI_Aint place(int process, int block, MPI_Aint offset)\n"
    "{\n"
    "    MPI_Aint base = 0;\n"
    "    for (;;) {\n"
    "        PMPI_Fetch_and_op(NULL, &base, MPI_AINT, process, block, MPI_NO_OP, places);\n"
    "        PMPI_Win_flush(process, places);\n"
    "        if (base != 0)\n"
    "            return base + offset;\n"
    "        sched_yield();\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const place_in_text =
    "/* The same of a process by its rank in a window; block -1: a displacement as other windows have them. */\n"
    "@MPI_Aint place_in(MPI_Win window, int target, int block, MPI_Aint offset)\n"
    "{\n"
    "    MPI_Group members, all;\n"
    "    int process;\n"
    "    if (block < 0)\n"
    "        return offset;\n"
    "    PMPI_Win_get_group(window, &members);\n"
    "    PMPI_Comm_group(MPI_COMM_WORLD, &all);\n"
    "    PMPI_Group_translate_ranks(members, 1, &target, all, &process);\n"
    "    PMPI_Group_free(&members);\n"
    "    PMPI_Group_free(&all);\n"
    "    return place(process, block, offset);\n"
    "}\n"
    "\n";

static const char *const await_places_text =
    "/* Before a lock: waits for what is known to be attached by then. With the lock held the other process might be kept from it. */\n"
    "@void await_places(MPI_Win window, int target)\n"
    "{\n"
    "    static int locks, next;\n"
    "    const int *list = awaited[rank];\n"
    "    locks++;\n"
    "    for (; list[next] == locks; next += 2)\n"
    "        place_in(window, target, list[next + 1], 0);\n"
    "}\n"
    "\n";

/* For each rank pairs of a lock's number and a block, ended by 0. */
static void await_places(Out *o)
{
    const GPtrArray *awaited = o->e->plan->awaited;
    g_autoptr(GString) lists = g_string_new("");
    for (guint r = 0; r < awaited->len; r++) {
        const GArray *list = g_ptr_array_index(awaited, r);
        g_autoptr(GString) pairs = g_string_new("");
        for (guint i = 0; i < list->len; i++)
            g_string_append_printf(pairs, "%d, %d, ", (int)(g_array_index(list, gint64, i) >> 32), (int)g_array_index(list, gint64, i));
        write_line(o->definitions, 0, "static const int awaited_by_%u[] = {%s0};", r, pairs->str);
        g_string_append_printf(lists, "%sawaited_by_%u", r ? ", " : "", r);
    }
    write_line(o->definitions, 0, "static const int *const awaited[] = {%s};", lists->str);
    g_string_append_c(o->definitions, '\n');
    declare(o->e, o->declarations, "void await_places(MPI_Win window, int target);");
    define(o->e, o->definitions, await_places_text);
}

void helpers_emit(Emitter *e, GString *declarations, GString *definitions)
{
    Out o = {e, declarations, definitions, g_string_new("")};
    declare(e, declarations, "extern int rank;");
    define(e, definitions, "@int rank; /* in MPI_COMM_WORLD */\n\n");
    if (e->needs[HELPER_SPAWN]) {
        declare(e, declarations, "extern char *program_path;");
        define(e, definitions, "@char *program_path; /* argv[0]: this program, for processes that it starts */\n\n");
    }
    variables(&o);
    status_variables(&o);
    e->needs[HELPER_UNKNOWN_BUFFER] |= e->needs[HELPER_PLACES];
    memory(&o);
    if (e->threads)
        threads(&o);
    if (e->needs[HELPER_RANK_IN]) {
        declare(e, declarations, "int rank_in(MPI_Comm which);");
        define(e, definitions, rank_in_text);
    }
    if (e->needs[HELPER_HIDE]) {
        declare(e, declarations, "void hide_others(int n, MPI_Request *list, MPI_Request *hidden, const int *keep);");
        define(e, definitions, hide_text);
    }
    if (e->needs[HELPER_HIDE_COMPLETED]) {
        declare(e, declarations, "void hide_completed(int n, MPI_Request *list, MPI_Request *hidden, const long *left);");
        define(e, definitions, hide_completed_text);
    }
    if (e->needs[HELPER_HIDE] || e->needs[HELPER_HIDE_COMPLETED]) {
        declare(e, declarations, "void show_others(int n, MPI_Request *list, const MPI_Request *hidden);");
        define(e, definitions, show_text);
    }
    if (e->needs[HELPER_ACTIVE]) {
        declare(e, declarations, "int active(int n, const MPI_Request *list);");
        define(e, definitions, active_text);
    }
    if (e->needs[HELPER_GATHER]) {
        declare(e, declarations, "void gather_requests(int n, MPI_Request *const members[], MPI_Request *list);\n"
                                 "void scatter_requests(int n, const MPI_Request *list, MPI_Request *const members[]);");
        define(e, definitions, gather_text);
    }
    if (e->needs[HELPER_NULL_REQUESTS]) {
        declare(e, declarations, "MPI_Request *null_requests(int n);");
        define(e, definitions, null_requests_text);
    }
    if (e->needs[HELPER_TURNS]) {
        g_auto(GStrv) around = g_strsplit(turns_text, "%d", -1);
        g_autofree char *hub = g_strdup_printf("%d", e->plan->hub), *text = g_strjoinv(hub, around);
        declare(e, declarations, "void turns_begin(void);\nvoid give_turn(int to);\nvoid wait_for_turn(int to);");
        define(e, definitions, text);
    }
    aims(&o);
    if (e->needs[HELPER_PLACES]) {
        g_auto(GStrv) around = g_strsplit(places_text, "%d", -1);
        g_autofree char *n = g_strdup_printf("%u", e->plan->blocks->len + 1), *text = g_strjoinv(n, around);
        declare(e, declarations, "void places_begin(MPI_Comm all);\nvoid places_end(void);\nvoid place_known(int block, void *base);\n"
                                 "MPI_Aint place(int process, int block, MPI_Aint offset);");
        define(e, definitions, text);
    }
    if (e->needs[HELPER_PLACE_IN]) {
        declare(e, declarations, "MPI_Aint place_in(MPI_Win window, int target, int block, MPI_Aint offset);");
        define(e, definitions, place_in_text);
    }
    if (e->needs[HELPER_AWAIT_PLACES])
        await_places(&o);
    if (e->needs[HELPER_SCRATCH])
        scratch(&o);
    if (e->needs[HELPER_BEGIN])
        begin(&o);
    if (e->needs[HELPER_PORTS]) {
        guint n = MAX(1, g_hash_table_size(e->ports));
        declare(e, declarations, "extern char port[%u][MPI_MAX_PORT_NAME + 1];", n);
        g_string_append_printf(definitions, "%schar port[%u][MPI_MAX_PORT_NAME + 1];\n\n", e->linkage, n);
    }
    if (e->needs[HELPER_PORT_TELL]) {
        declare(e, declarations, "void port_tell(int number);");
        define(e, definitions, port_tell_text);
    }
    if (e->needs[HELPER_PORT_WAIT]) {
        declare(e, declarations, "char *port_wait(int number);");
        define(e, definitions, port_wait_text);
    }
    if (e->needs[HELPER_RANK_OF_LAUNCHER]) {
        declare(e, declarations, "int rank_of_launcher(void);");
        define(e, definitions, launcher_text);
    }
    g_string_free(o.nulls, TRUE);
}
