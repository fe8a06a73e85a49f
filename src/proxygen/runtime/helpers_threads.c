/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers_threads.c: see helpers.h. */
#include <string.h>

#include "helpers.h"

#define THREAD_TYPE                                                                       \
    "typedef struct { int number; void *(*run)(void *); size_t stack; _Atomic int runs, " \
    "ended; pthread_t id; } Thread;"

#define EARLY_TYPE                                                             \
    "typedef struct { int number, inits, runs; size_t stack; pthread_t id; } " \
    "EarlyThread;"

#define SHARE_TYPE                                                                                 \
    "typedef struct { long uses, from, until; } Share; /* uses of each life of a shared thing by " \
    "a thread, from that life to before that */"

static const char *const threads_text =
    "/* The threads of this process but the main one. They have the numbers in which they are "
    "created. */\n" THREAD_TYPE "\n"
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
    "static _Thread_local int in_thread;\n"
    "\n"
    "static void *run_thread(void *argument)\n"
    "{\n"
    "    Thread *thread = argument;\n"
    "    in_thread = 1;\n"
    "    void *result = thread->run(NULL);\n"
    "    thread->ended = 1;\n"
    "    return result;\n"
    "}\n"
    "\n"
    "/* For wend trace, if it records this run: which thread is created next. */\n"
    "void wend_proxy_creates(int number) __attribute__((weak));\n"
    "\n"
    "static int create_thread(pthread_t *id, int number, size_t stack, void *(*run)(void *), void "
    "*argument)\n"
    "{\n"
    "    pthread_attr_t attributes;\n"
    "    pthread_attr_init(&attributes);\n"
    "    if (stack)\n"
    "        pthread_attr_setstacksize(&attributes, stack);\n"
    "    if (wend_proxy_creates)\n"
    "        wend_proxy_creates(number);\n"
    "    int runs = pthread_create(id, &attributes, run, argument) == 0;\n"
    "    pthread_attr_destroy(&attributes);\n"
    "    return runs;\n"
    "}\n"
    "\n"
    "/* Those that nobody joined: they have ended when MPI does, or a session of the main thread. "
    "*/\n"
    "@void join_threads(void)\n"
    "{\n"
    "    for (int i = 0; i < n_threads && !in_thread; i++)\n"
    "        while (threads[i].runs && !threads[i].ended)\n"
    "            usleep(20);\n"
    "    for (int i = 0; i < n_threads && !in_thread; i++) {\n"
    "        if (threads[i].runs)\n"
    "            pthread_detach(threads[i].id);\n"
    "        threads[i].runs = 0;\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const start_thread_text =
    "@void start_thread(int number)\n"
    "{\n"
    "    Thread *thread = thread_of_number(number);\n"
    "    if (!thread)\n"
    "        return;\n"
    "    thread->ended = 0;\n"
    "    thread->runs = create_thread(&thread->id, number, thread->stack, run_thread, "
    "thread);\n"
    "}\n"
    "\n";

static const char *const join_thread_text = "@void join_thread(int number)\n"
                                            "{\n"
                                            "    Thread *thread = thread_of_number(number);\n"
                                            "    if (thread && thread->runs)\n"
                                            "        pthread_join(thread->id, NULL);\n"
                                            "    if (thread)\n"
                                            "        thread->runs = 0;\n"
                                            "}\n"
                                            "\n";

static const char *const join_main_text =
    "/* For wend trace: where the application joined the thread with number 0. */\n"
    "void wend_proxy_joins_main(void) __attribute__((weak));\n"
    "@_Atomic int main_ended;\n"
    "\n"
    "@void join_main(void)\n"
    "{\n"
    "    while (!main_ended)\n"
    "        usleep(20);\n"
    "    if (wend_proxy_joins_main)\n"
    "        wend_proxy_joins_main();\n"
    "}\n"
    "\n";

static const char *const early_text =
    "/* Threads that exist before MPI_Init. They wait until MPI runs. One that starts MPI waits "
    "until the main\n"
    " * thread has called it. */\n" EARLY_TYPE "\n"
    "static EarlyThread *early_threads;\n"
    "static int n_early_threads;\n"
    "@_Atomic int early_may_run, early_may_start;\n"
    "static _Atomic int early_met;\n"
    "\n"
    "static void *run_early(void *argument)\n"
    "{\n"
    "    const EarlyThread *own = argument;\n"
    "    while (!early_met || !(own->inits ? early_may_start : early_may_run))\n"
    "        usleep(20);\n"
    "    return run_thread(thread_of_number(own->number));\n"
    "}\n"
    "\n"
    "@void start_early(EarlyThread *early, int n)\n"
    "{\n"
    "    early_threads = early;\n"
    "    n_early_threads = n;\n"
    "    for (; n > 0; n--, early++)\n"
    "        early->runs = create_thread(&early->id, early->number, early->stack, run_early, "
    "early);\n"
    "}\n"
    "\n"
    "@void meet_early(void)\n"
    "{\n"
    "    for (int i = 0; i < n_early_threads; i++) {\n"
    "        Thread *thread = thread_of_number(early_threads[i].number);\n"
    "        thread->id = early_threads[i].id;\n"
    "        thread->runs = early_threads[i].runs;\n"
    "    }\n"
    "    early_met = 1;\n"
    "}\n"
    "\n";

static const char *const empty_thread_text = "@void *thread_without_calls(void *unused_argument)\n"
                                             "{\n"
                                             "    return unused_argument;\n"
                                             "}\n"
                                             "\n";

static const char *const shared_text =
    "/* What several threads use: it is made before others use it, freed after they have, and its "
    "number is another's after that. */\n"
    "static struct { _Atomic long made, used, ended; } shared[%d];\n"
    "@_Thread_local int thread_number, thread_place;\n"
    "@const Share *shares; /* for each shared thing and each thread; all without uses: they differ "
    "from life to life */\n"
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
    "    const Share *own = shares ? &shares[i * n_shares + thread_place] : NULL;\n"
    "    return own && own->uses ? own->from + uses[i]++ / own->uses : -1;\n"
    "}\n"
    "\n"
    "/* Uses that nobody waits for, those by the thread that frees it, do not count. */\n"
    "@void shared_used(int i)\n"
    "{\n"
    "    if (shares && shares[i * n_shares + thread_place].uses)\n"
    "        shared[i].used++;\n"
    "}\n"
    "\n";

static const char *const shared_use_text =
    "@void shared_use(int i)\n"
    "{\n"
    "    long lives = lives_used(i);\n"
    "    AWAIT(shared[i].made > (lives < 0 ? (long)shared[i].ended : lives));\n"
    "}\n"
    "\n";

static const char *const shared_memory_text = "@void shared_use_memory(int i)\n"
                                              "{\n"
                                              "    long lives = lives_used(i);\n"
                                              "    AWAIT(lives < 0 || shared[i].ended >= lives);\n"
                                              "}\n"
                                              "\n";

static const char *const shared_end_text =
    "@void shared_end(int i)\n"
    "{\n"
    "    long due = 0, lives = shared[i].ended + 1;\n"
    "    for (int t = 0; shares && t < n_shares; t++) {\n"
    "        const Share *its = &shares[i * n_shares + t];\n"
    "        if (lives > its->from)\n"
    "            due += its->uses * ((lives < its->until ? lives : its->until) - its->from);\n"
    "    }\n"
    "    AWAIT(shared[i].used >= due);\n"
    "}\n"
    "\n"
    "@void shared_ended(int i) { shared[i].ended++; }\n"
    "\n";

static const char *const shared_request_text =
    "/* A request of another thread; in a call that completes some of several it may have "
    "completed before. */\n"
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

static const char *const shared_done_text =
    "/* Memory goes when these requests, which use it, have been completed by whichever thread "
    "does that. */\n"
    "@void shared_requests_done(int first, int n)\n"
    "{\n"
    "    for (int i = first; i < first + n; i++)\n"
    "        AWAIT(shared[i].ended >= shared[i].made);\n"
    "}\n"
    "\n";

/* The text behind its type, which is among the declarations. */
static const char *without_type(const char *text)
{
    const char *type = strstr(text, "typedef");
    return strchr(type, '\n') + 1;
}

void helpers_threads(Out *o)
{
    Emitter *e = o->e;
    const struct {
        gboolean needed;
        const char *text, *declarations;
    } parts[] = {
        {*e->linkage != '\0', SHARE_TYPE "\n", ""}, /* otherwise it is among the declarations */
        {TRUE, shared_text,
         SHARE_TYPE "\nextern _Thread_local int thread_number, thread_place;\nextern const Share "
                    "*shares;\nextern int n_shares;"},
        {e->needs[HELPER_SHARED_MAKE], shared_make_text,
         "void shared_make(int i);\nvoid shared_made(int i);"},
        {e->needs[HELPER_SHARED_USE] || e->needs[HELPER_SHARED_MEMORY], shared_lives_text,
         "void shared_used(int i);"},
        {e->needs[HELPER_SHARED_USE], shared_use_text, "void shared_use(int i);"},
        {e->needs[HELPER_SHARED_MEMORY], shared_memory_text, "void shared_use_memory(int i);"},
        {e->needs[HELPER_SHARED_END], shared_end_text,
         "void shared_end(int i);\nvoid shared_ended(int i);"},
        {e->needs[HELPER_SHARED_REQUEST], shared_request_text,
         "void shared_request(int i, int maker, int of_several);\nvoid shared_request_used(int i, "
         "MPI_Request now);"},
        {e->needs[HELPER_SHARED_DONE], shared_done_text,
         "void shared_requests_done(int first, int n);"},
    };
    helper_declare(e, o->declarations,
                   THREAD_TYPE
                   "\n"
                   "extern Thread *threads;\nextern int n_threads;\nvoid start_thread(int "
                   "number);\nvoid join_thread(int number);\n"
                   "void join_threads(void);\nvoid *thread_without_calls(void *unused_argument);");
    helper_define(e, o->definitions, *e->linkage ? threads_text : without_type(threads_text));
    if (e->needs[HELPER_START_THREAD])
        helper_define(e, o->definitions, start_thread_text);
    if (e->needs[HELPER_JOIN_THREAD])
        helper_define(e, o->definitions, join_thread_text);
    if (e->needs[HELPER_JOIN_MAIN]) {
        helper_declare(e, o->declarations, "extern _Atomic int main_ended;\nvoid join_main(void);");
        helper_define(e, o->definitions, join_main_text);
    }
    if (e->needs[HELPER_EARLY_THREADS]) {
        helper_declare(e, o->declarations,
                       EARLY_TYPE "\n"
                                  "extern _Atomic int early_may_run, early_may_start;\n"
                                  "void start_early(EarlyThread *early, int n);\n"
                                  "void meet_early(void);");
        helper_define(e, o->definitions, *e->linkage ? early_text : without_type(early_text));
    }
    if (e->needs[HELPER_EMPTY_THREAD])
        helper_define(e, o->definitions, empty_thread_text);
    g_autofree char *n = g_strdup_printf("%u", g_hash_table_size(e->plan->shared));
    for (guint i = 0; g_hash_table_size(e->plan->shared) && i < G_N_ELEMENTS(parts); i++) {
        if (!parts[i].needed)
            continue;
        g_auto(GStrv) around = g_strsplit(parts[i].text, "%d", -1);
        g_autofree char *text = g_strjoinv(n, around);
        helper_declare(e, o->declarations, "%s", parts[i].declarations);
        helper_define(e, o->definitions, text);
    }
}
