/* SPDX-License-Identifier: BSD-3-Clause */
/* replay-command.c: wend replay: makes the order file of this process's rank, and executes the
 * program. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/analysis/analysis.h"
#include "lib/base/error.h"
#include "lib/base/signals.h"
#include "lib/read/program.h"
#include "src/read/wrap.h"
#include "order-write.h"
#include "src/tracer/replay/stop-place.h"
#include "src/command/command.h"
#include "src/command/reading.h"
#include "src/command/site-names.h"
#include "src/tracer/process/settings.h"
#include "src/tracer/process/launcher.h"
#include "wend.h"

#define COMMAND "replay"

enum { FIRST_PORT = 2345 }; /* gdbserver's usual one */

static char *family, *prefix;

static const GOptionEntry more_options[] = {
    {"exec", 0, 0, G_OPTION_ARG_STRING, &prefix,
     "put COMMAND before the program on the ranks of --debug, or on all; %p is a port, 2345 + "
     "rank, and %r the rank",
     "COMMAND"},
    {"mpi", 0, 0, G_OPTION_ARG_STRING, &family,
     "family of the MPI library: mpich or openmpi (default: that of PROGRAM's library)", "NAME"},
    READING_OPTION,
    G_OPTION_ENTRY_NULL};

static gboolean fail_system(Error **error, const char *what)
{
    error_set(error, WEND_ERROR_SYSTEM, "%s: %s", what, g_strerror(errno));
    return FALSE;
}

/* A file in memory that the program inherits. Its number is high, so that standard files which are
 * closed stay closed, and the program's own files get the numbers that they have without Wend. */
static int memory_file(void)
{
    enum { HIGH = 200 };
    int fd = memfd_create("wend-order", 0), high = fd < 0 ? -1 : fcntl(fd, F_DUPFD, HIGH);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* A limit on the size of files applies. */
static gboolean write_all(int fd, const guint8 *data, gsize n)
{
    SignalHold hold;
    ssize_t written = 1;
    signals_hold(&hold);
    while (n > 0 && written > 0) {
        written = write(fd, data, n);
        n -= (gsize)MAX(written, 0);
        data += MAX(written, 0);
    }
    int saved = errno;
    signals_release(&hold);
    errno = saved;
    return n == 0;
}

/* The rank of this process. -1: no launcher says it. */
static gint64 own_rank(void)
{
    const char *variable = launcher_rank_variable();
    return variable ? g_ascii_strtoll(g_getenv(variable), NULL, 10) : -1;
}

/* -- names of call sites, for the line about a divergence -- */

typedef struct {
    WendCallSites *sites; /* NULL: there are none */
    WendRead *reader;
    SiteNames *names;
    GPtrArray *texts; /* by site; NULL: not asked for yet. "": it has no name */
} OrderNames;

/* Damaged sites count as none. RANK: whose sites are needed beside those that ranks share. -1:
 * those of all. */
static OrderNames order_names_open(const WendProgram *p, gint64 rank)
{
    OrderNames n = {NULL};
    if (settings()->sites)
        n.sites = rank < 0 ? call_sites_open(p, NULL) : call_sites_open_rank(p, (guint)rank, NULL);
    if (!n.sites)
        return n;
    n.reader = read_wrap(p);
    n.names = site_names_new(n.reader, NULL);
    n.texts = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_set_size(n.texts, (gint)call_sites_n(n.sites));
    return n;
}

static void order_names_close(OrderNames *n)
{
    if (!n->sites)
        return;
    g_ptr_array_unref(n->texts);
    site_names_free(n->names);
    wend_read_free(n->reader);
    call_sites_free(n->sites);
}

static char *name_new(OrderNames *n, guint site)
{
    guint n_frames;
    const WendSiteFrame *stored = call_site_frames(n->sites, site, 0, &n_frames);
    if (n_frames > 0) {
        GString *text = g_string_new(NULL);
        SiteFrame frame = {stored->function, stored->file, stored->line};
        site_frame_text(text, &frame);
        return g_string_free(text, FALSE);
    }
    const WendSite *s = call_site(n->sites, site);
    if (s->module == G_MAXUINT)
        return NULL;
    const WendSiteModule *m = call_sites_module(n->sites, s->module);
    WendReadSite address = {.known = TRUE,
                            .file = m->file,
                            .world = m->world,
                            .build_id = m->id,
                            .n_build_id = m->n_id,
                            .offset = s->offset};
    return site_name_address_text(n->names, &address);
}

static const char *name_of_site(gpointer data, guint site)
{
    OrderNames *n = data;
    gpointer *text = &n->texts->pdata[site];
    if (!*text) {
        char *name = name_new(n, site);
        *text = name != NULL ? name : g_strdup("");
    }
    return *text;
}

static GBytes *write_order(const WendProgram *p, guint rank, OrderNames *names, gboolean *needs_all,
                           Error **error)
{
    OrderSites sites = {names->sites, name_of_site, names};
    return order_write(p, rank, reading_limit(), names->sites != NULL ? &sites : NULL, needs_all,
                       error);
}

/* -- order files -- */

/* If P is not WHOLE, it may be without the calls of other ranks. They are read if they are
 * needed. */
static GBytes *order_of(const WendProgram *p, gboolean whole, OrderNames *names, const char *path,
                        gint64 rank, Error **error)
{
    guint ranks = program_world(p, 0)->ranks;
    if (program_n_worlds(p) > 1) {
        error_set(error, WEND_ERROR_INPUT,
                  "%s: a run that started processes (MPI_Comm_spawn) cannot be replayed", path);
        return NULL;
    }
    if (rank < 0 || rank >= ranks) {
        error_set(error, WEND_ERROR_INPUT,
                  "%s: has %u ranks, and this is rank %" G_GINT64_FORMAT
                  ": start as many as were recorded",
                  path, ranks, rank);
        return NULL;
    }
    gboolean needs_all = FALSE;
    GBytes *order = write_order(p, (guint)rank, names, whole ? NULL : &needs_all, error);
    if (needs_all) {
        WendProgram *all = program_open_within(path, reading_limit(), error);
        if (!all)
            return NULL;
        OrderNames of_all = order_names_open(all, rank);
        order = write_order(all, (guint)rank, &of_all, NULL, error);
        order_names_close(&of_all);
        program_free(all);
    }
    if (!order)
        error_prefix(error, "%s: ", path);
    return order;
}

/* Leaves the order file of this process's rank to the program that it becomes. */
static gboolean hand_on(const WendProgram *p, const char *path, gint64 rank, Error **error)
{
    OrderNames names = order_names_open(p, rank);
    GBytes *order = order_of(p, FALSE, &names, path, rank, error);
    order_names_close(&names);
    if (!order)
        return FALSE;
    gsize n;
    const guint8 *data = g_bytes_get_data(order, &n);
    int fd = memory_file();
    gboolean good = fd >= 0 && write_all(fd, data, n);
    if (!good)
        fail_system(error, "the order of the messages");
    g_autofree char *name = g_strdup_printf("/proc/self/fd/%d", fd);
    g_setenv(REPLAY_ORDER, name, TRUE);
    g_bytes_unref(order);
    return good;
}

/* -- the ranks of a launcher that this command starts -- */

static char *folder;    /* of their order files */
static SignalHold hold; /* while the folder is there; not in the program */

static void remove_folder(void)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *file = g_build_filename(folder, name, NULL);
        unlink(file);
    }
    if (dir)
        g_dir_close(dir);
    rmdir(folder);
}

static gboolean hand_on_all(const WendProgram *p, const char *path, Error **error)
{
    signals_hold(&hold);
    GError *problem = NULL;
    folder = g_dir_make_tmp("wend-replay-XXXXXX", &problem);
    OrderNames names = order_names_open(p, -1);
    gboolean good = folder != NULL;
    for (guint rank = 0; good && rank < program_world(p, 0)->ranks; rank++) {
        command_progress("preparing", rank, program_world(p, 0)->ranks);
        if (signals_ending(&hold)) {
            remove_folder();
            signals_release(&hold); /* ends the process */
        }
        GBytes *order = order_of(p, TRUE, &names, path, rank, error);
        g_autofree char *file = g_strdup_printf("%s/%u", folder, rank);
        good = order
               && g_file_set_contents(file, g_bytes_get_data(order, NULL),
                                      (gssize)g_bytes_get_size(order), &problem);
        if (order)
            g_bytes_unref(order);
    }
    command_progress(NULL, 0, 0);
    order_names_close(&names);
    if (problem)
        command_take_error(error, problem);
    if (!good && folder)
        remove_folder();
    if (!good)
        signals_release(&hold);
    g_autofree char *pattern = g_strconcat(folder ? folder : "", "/" REPLAY_ORDER_RANK, NULL);
    g_setenv(REPLAY_ORDER, pattern, TRUE);
    return good;
}

/* Waits for the program, whose order files are then removed, and ends as it has ended. */
static _Noreturn void wait_for_launcher(pid_t launcher)
{
    int status = launch_wait(launcher);
    remove_folder();
    launch_end(status);
}

/* -- the program -- */

/* PREFIX with %p and %r, and then PROGRAM. */
static char **with_prefix(gint64 rank, char **program, Error **error)
{
    GString *command = g_string_new(NULL);
    for (const char *p = prefix; *p; p++) {
        if (p[0] == '%' && (p[1] == 'p' || p[1] == 'r'))
            g_string_append_printf(command, "%" G_GINT64_FORMAT,
                                   *++p == 'p' ? FIRST_PORT + rank : rank);
        else if (p[0] == '%' && p[1] == '%')
            g_string_append_c(command, *++p);
        else
            g_string_append_c(command, *p);
    }
    char **words = NULL;
    gint n = 0;
    GError *wrong = NULL;
    if (g_shell_parse_argv(command->str, &n, &words, &wrong)) {
        guint more = g_strv_length(program);
        words = g_renew(char *, words, (gsize)n + more + 1);
        for (guint i = 0; i <= more; i++)
            words[n + (gint)i] = g_strdup(program[i]);
    } else {
        error_set(error, WEND_ERROR_USAGE, "--exec: %s (see wend replay --help)", wrong->message);
        g_error_free(wrong);
    }
    g_string_free(command, TRUE);
    return words;
}

static gboolean is_chosen(gint64 rank)
{
    bool chosen = true;
    if (settings()->debug && rank >= 0)
        rank_list_has(settings()->debug, (guint32)rank, &chosen);
    return chosen;
}

/* Checks settings that are those of all ranks, before each rank would report the same mistake. */
static gboolean check_settings(const WendProgram *p, Error **error)
{
    StopPlace place;
    bool chosen;
    const char *until = settings()->until, *debug = settings()->debug, *wrong = NULL;
    if (until && !stop_place_read(until, program_ranks(p), &place))
        wrong = STOP_PLACE_WRONG;
    else if (debug && !rank_list_has(debug, 0, &chosen))
        wrong = RANK_LIST_WRONG;
    if (wrong)
        error_set(error, WEND_ERROR_USAGE, "%s (see wend replay --help)", wrong);
    return !wrong;
}

/* Whether the recording was made with --values. */
static gboolean has_values(const WendProgram *p)
{
    bool on = false;
    g_autofree char *given = g_key_file_get_string(program_meta(p), "options", "values", NULL);
    return given && settings_switch(given, &on) && on;
}

static gboolean calls_function(const WendProgram *p, guint id)
{
    for (guint i = 0; i < program_n_shapes(p); i++)
        if (program_shape(p, i)->function->id == id)
            return TRUE;
    return FALSE;
}

/* Whether the call gets what others may have changed in the memory of a target. */
static gboolean has_onesided_result(const WendFunction *f)
{
    switch (f->operation) {
    case WEND_FN_MPI_Get:
    case WEND_FN_MPI_Get_accumulate:
    case WEND_FN_MPI_Fetch_and_op:
    case WEND_FN_MPI_Compare_and_swap:
        return TRUE;
    default:
        return FALSE;
    }
}

static void add_product(guint64 *sum, guint64 a, guint64 b)
{
    guint64 product;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(*sum, product, sum))
        *sum = G_MAXUINT64;
}

/* The calls with one-sided results of all ranks that were read. */
static guint64 count_onesided(const WendProgram *p)
{
    Counts *counts = counts_new(p);
    guint64 calls = 0;
    guint n;
    for (guint k = 0; k < program_n_classes(p); k++) {
        const WendClass *class = program_class(p, k);
        for (guint q = 0; q < class->n_sequences; q++) {
            const guint32 *terminals = counts_of_rule(counts, class->sequences[q].rule, &n);
            for (guint i = 0; i < n; i++) {
                const WendShape *shape = program_shape(p, program_terminal(p, terminals[i])->shape);
                if (!shape->failed && has_onesided_result(shape->function))
                    add_product(&calls, counts_terminal(counts, terminals[i]), class->n_ranks);
            }
        }
    }
    counts_free(counts);
    return calls;
}

/* Says what is not enforced because the recording lacks it. One process says it for all. */
static void say_missing(const WendProgram *p)
{
    if (settings()->quiet || has_values(p))
        return;
    if (calls_function(p, WEND_FN_MPI_Wtime))
        command_say(COMMAND, "MPI_Wtime returns the time of the replay: only wend trace "
                             "--values records the clock and random numbers");
    guint64 calls = count_onesided(p);
    if (calls > 0)
        command_say(COMMAND,
                    "one-sided results of %" G_GUINT64_FORMAT " calls, and the order "
                    "of locks, are not enforced: only wend trace --values records "
                    "them",
                    calls);
}

/* Makes what the ranks need. Those of a launcher that PROGRAM is get it in a folder. A rank reads
 * its own calls alone. */
static gboolean prepare(const char *path, gint64 rank, Error **error)
{
    gboolean alone = rank >= 0 && rank <= G_MAXUINT;
    WendProgram *p = alone ? program_open_rank(path, (guint)rank, reading_limit(), error)
                           : program_open_within(path, reading_limit(), error);
    gboolean good = p != NULL && check_settings(p, error);
    if (good && rank <= 0)
        say_missing(p);
    if (good && rank < 0 && program_ranks(p) > 1)
        good = hand_on_all(p, path, error);
    else if (good)
        good = hand_on(p, path, MAX(rank, 0), error);
    if (p)
        program_free(p);
    return good;
}

/* Whether the new recording would replace the one to follow, which is lost if the program departs
 * from it. */
static gboolean replaces(const char *recording)
{
    GStatBuf from, to;
    const char *output = setting_options_has_output() ? settings()->output : NULL;
    return output && g_stat(recording, &from) == 0 && g_stat(output, &to) == 0
           && from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

int replay_command_main(int argc, char **argv)
{
    Error *error = NULL;
    int status;
    g_autofree GOptionEntry *options = setting_options(SETTING_OPTIONS_REPLAY, more_options);
    if (!command_options_before(
            COMMAND, "RECORDING PROGRAM [ARGUMENT…]",
            "Runs PROGRAM again in the recorded order: mpirun -n 8 wend replay DIR ./app",
            "Exit status: that of PROGRAM; 1 if it departs from the recording.", options, &argc,
            &argv, &status, &error))
        return error ? launch_fail(COMMAND, error) : status;
    if (argc < 2)
        return launch_fail_usage(COMMAND, "no recording given");
    if (!setting_options_has_output())
        g_unsetenv("WEND_OUTPUT"); /* nothing is recorded */
    char **program = launch_program(COMMAND, argv + 2, &status);
    if (!program)
        return status;
    if (replaces(argv[1]))
        return launch_fail_usage(COMMAND, "--output is the recording to replay");
    char *file = launch_find(*program, &error);
    gint64 rank = own_rank();
    char *library = file && (!setting_options_has_output() || setting_options_check_output(&error))
                        ? library_for(file, family, &error)
                        : NULL;
    if (library && prefix && is_chosen(rank) && !(program = with_prefix(rank, program, &error)))
        library = NULL;
    if (!library || !prepare(argv[1], rank, &error))
        return launch_fail(COMMAND, error);
    pid_t launcher = folder ? launch_fork() : 0;
    if (launcher < 0) {
        fail_system(&error, file);
        remove_folder();
    }
    if (launcher > 0)
        wait_for_launcher(launcher);
    if (folder)
        signals_release(&hold);
    return error ? launch_fail(COMMAND, error) : launch(COMMAND, file, library, program);
}
