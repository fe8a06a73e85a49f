/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: the proxygen command. */
#include <config.h>

#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <string.h>

#include "compile.h"
#include "lib/base/error.h"
#include "lib/base/file-write.h"
#include "lib/base/memory.h"
#include "lib/record/functions.h"
#include "lib/record/part.h"
#include "src/command/command.h"
#include "src/command/reading.h"
#include "src/command/site-names.h"
#include "src/proxygen/model/model.h"
#include "src/read/wrap.h"

/* -- the target -- */

/* The MPI libraries that a proxy may be compiled with, if Wend was built for them. For each family
 * a build makes a file from mpi.h (LIBRARY.target: name, functions, constants). */

#define SUFFIX ".target"
#define GROUP "library"

/* The files of all families, by family. If a family has files in several folders, the first one
 * counts. */
static GHashTable *target_files(void)
{
    static const char *const uninstalled[] = {"spec", NULL};
    char **places = command_places(WEND_PKGDATADIR, uninstalled);
    GHashTable *files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (char **place = places; *place; place++) {
        GDir *folder = g_dir_open(*place, 0, NULL);
        const char *name;
        while (folder && (name = g_dir_read_name(folder))) {
            if (!g_str_has_suffix(name, SUFFIX))
                continue;
            char *family = g_strndup(name, strlen(name) - strlen(SUFFIX));
            if (!g_hash_table_contains(files, family))
                g_hash_table_insert(files, g_strdup(family), g_build_filename(*place, name, NULL));
            g_free(family);
        }
        if (folder)
            g_dir_close(folder);
    }
    g_strfreev(places);
    return files;
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean is_mpi(const char *name)
{
    return function_by_name(name) || functions_constant_by_name(name) >= 0;
}

/* The names of NAMES that the library in FILE lacks, as a phrase. NULL if it lacks none, or on an
 * error. */
static char *lacking(const char *file, GHashTable *names, Error **error)
{
    g_autoptr(GKeyFile) target = g_key_file_new();
    g_autofree char *title = NULL;
    GError *problem = NULL;
    g_auto(GStrv) has = NULL;
    if (!g_key_file_load_from_file(target, file, G_KEY_FILE_NONE, &problem)
        || !(title = g_key_file_get_string(target, GROUP, "name", &problem))
        || !(has = g_key_file_get_string_list(target, GROUP, "has", NULL, &problem))) {
        command_take_error(error, problem);
        return NULL;
    }
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
    for (char **name = has; *name; name++)
        g_hash_table_add(set, *name);
    g_autoptr(GPtrArray) missing = g_ptr_array_new();
    GHashTableIter i;
    gpointer name;
    g_hash_table_iter_init(&i, names);
    while (g_hash_table_iter_next(&i, &name, NULL))
        if (is_mpi(name) && !g_hash_table_contains(set, name))
            g_ptr_array_add(missing, name);
    if (missing->len == 0)
        return NULL;
    g_ptr_array_sort(missing, by_name);
    GString *text = g_string_new(title);
    for (guint k = 0; k < missing->len; k++)
        g_string_append_printf(text, "%s%s",
                               k == 0                 ? " lacks "
                               : k + 1 < missing->len ? ", "
                                                      : " and ",
                               (char *)missing->pdata[k]);
    return g_string_free(text, FALSE);
}

/* Returns the names in NAMES (a set of identifiers of MPI) that the library of FAMILY ("mpich")
 * lacks, as a phrase: "Open MPI 4.1.4 lacks MPI_Pready and MPI_Parrived". The caller frees it. If
 * FAMILY is NULL, it is about the first library that lacks a name, of all that Wend was built for.
 * Returns NULL if nothing is lacking, and NULL with an error if there is no such family. */
static char *target_lacks(const char *family, GHashTable *names, Error **error)
{
    g_autoptr(GHashTable) files = target_files();
    if (family) {
        const char *file = g_hash_table_lookup(files, family);
        if (file)
            return lacking(file, names, error);
        g_autofree char **known = (char **)g_hash_table_get_keys_as_array(files, NULL);
        g_autofree char *list = g_strjoinv(" ", known);
        error_set(error, WEND_ERROR_USAGE, "there is no MPI library %s in this installation: %s",
                  family, *list ? list : "none");
        return NULL;
    }
    g_autoptr(GList) all = g_list_sort(g_hash_table_get_values(files), (GCompareFunc)strcmp);
    char *text = NULL;
    for (const GList *l = all; l && !text; l = l->next)
        text = lacking(l->data, names, NULL);
    return text;
}

#define COMMAND "proxygen"

enum { LACKING = 1 }; /* exit status */

static int fail(Error *error)
{
    int code = (int)error->code;
    command_print(COMMAND, "%s", error->message);
    error_free(error);
    return code;
}

/* Prints the names that the target library lacks, in one line. Returns LACKING if the user named
 * the library. */
static int check_target(const Options *options, GHashTable *names)
{
    Error *error = NULL;
    g_autofree char *lacks = target_lacks(options->target, names, &error);
    if (error)
        return fail(error);
    if (lacks)
        command_print(COMMAND, "%s: %s", options->output, lacks);
    return lacks && options->target ? LACKING : 0;
}

/* Prints the functions whose calls the recording lacks. The proxy may do without them, or may wait
 * for their effects. */
static void say_unrecorded(const Options *options, const WendProgram *program)
{
    g_auto(GStrv) names =
        g_key_file_get_keys(program_meta(program), WEND_UNRECORDED_GROUP, NULL, NULL);
    g_autofree char *list = names ? g_strjoinv(", ", names) : NULL;
    if (list)
        command_print(COMMAND,
                      "%s: the application's calls of %s are not in the recording (see wend show)",
                      options->output, list);
}

/* Whether a proxy would get all messages that it waits for. Else sets ERROR. */
static gboolean check_missing(const Options *options, const WendProgram *program, Error **error)
{
    WendRead *reader = read_wrap(program);
    Missing missing;
    int status = missing_find(reader, G_MAXUINT64, &missing);
    g_autofree char *text = status == WEND_READ_OK ? missing_text(&missing) : NULL;
    if (status < 0)
        error_set(error, WEND_ERROR_INPUT, "%s", wend_read_message(reader));
    else if (text)
        error_set(error, WEND_ERROR_INPUT,
                  "%s: %s (see wend show --messages): a proxy would wait for calls that are not "
                  "recorded",
                  options->recording, text);
    else if (missing.left_out > 0 && !options->quiet)
        command_print(COMMAND,
                      "%s: leaves out %" G_GUINT64_FORMAT " call%s that the application made while "
                      "recording was off",
                      options->output, missing.left_out, missing.left_out == 1 ? "" : "s");
    wend_read_free(reader);
    return status == WEND_READ_OK && !text;
}

static gboolean check_output(const Options *options, Error **error)
{
    if (!options->directory)
        return file_check(options->output, options->force ? WEND_FILE_REPLACE : 0, error);
    if (options->force || !g_file_test(options->output, G_FILE_TEST_EXISTS))
        return TRUE;
    error_set(error, WEND_ERROR_INPUT, "%s: exists: --force overwrites its files", options->output);
    return FALSE;
}

/* -- names of call sites -- */

typedef struct {
    WendRead *reader;
    SiteNames *names;
    GArray *frames; /* WendSiteFrame, of the site that was asked for last */
} ProxySites;

static const WendSiteFrame *frames_of(gpointer data, guint site, guint depth, guint *n)
{
    ProxySites *s = data;
    const WendReadSite *caller;
    *n = 0;
    if (depth > 0 && wend_read_stack_frame(s->reader, site, depth, &caller) < 0)
        return NULL;
    const SiteName *name =
        depth > 0 ? site_name_of_place(s->names, caller) : site_name(s->names, site);
    g_array_set_size(s->frames, 0);
    for (guint i = 0; name && i < name->n_frames; i++) {
        const SiteFrame *f = &name->frames[i];
        const WendSiteFrame frame = {f->function, f->file, f->line};
        g_array_append_val(s->frames, frame);
    }
    *n = s->frames->len;
    return (const WendSiteFrame *)(gpointer)s->frames->data;
}

static gboolean compile_with_names(const WendProgram *program, const Options *options,
                                   GHashTable *names, GPtrArray **changes, Error **error)
{
    Options with_names = *options;
    ProxySites sites = {.reader = read_wrap(program),
                        .frames = g_array_new(FALSE, FALSE, sizeof(WendSiteFrame))};
    sites.names = site_names_new(sites.reader, NULL);
    with_names.site_frames = frames_of;
    with_names.site_data = &sites;
    gboolean good = compile_program(program, &with_names, names, changes, error);
    g_array_unref(sites.frames);
    site_names_free(sites.names);
    wend_read_free(sites.reader);
    return good;
}

/* -- all -- */

static int compile(const Options *options)
{
    Error *error = NULL;
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    /* with an empty set of names, this checks that the library is known */
    if (options->target && check_target(options, names) != 0)
        return WEND_ERROR_USAGE;
    if (!check_output(options, &error)) /* fails early, before the compilation */
        return fail(error);
    WendProgram *program = plan_worlds_open(options->recording, reading_limit(), &error);
    g_autoptr(GPtrArray) changes = NULL;
    gboolean good = program && check_missing(options, program, &error)
                    && compile_with_names(program, options, names, &changes, &error);
    if (good)
        say_unrecorded(options, program);
    for (guint i = 0; good && !options->quiet && i < changes->len; i++)
        command_print(COMMAND, "%s: %s", options->output, (const char *)changes->pdata[i]);
    program_free(program);
    return good ? check_target(options, names) : fail(error);
}

static void end_short_of_memory(void)
{
    command_print(COMMAND, "out of memory");
    _exit(WEND_ERROR_SYSTEM);
}

int main(int argc, char **argv)
{
    Options options = {0};
    g_autofree char *output = NULL;
    gboolean help = FALSE, version = FALSE;
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write the proxy to PATH; a name that ends in / (or a directory) gets several files and a "
         "Makefile",
         "PATH"},
        {"pin", 0, 0, G_OPTION_ARG_NONE, &options.pin,
         "Receive from the recorded source where the application received from any", NULL},
        {"cuda", 0, 0, G_OPTION_ARG_NONE, &options.cuda,
         "Use memory of CUDA where the application did, on the same devices", NULL},
        {"force", 'f', 0, G_OPTION_ARG_NONE, &options.force, "Overwrite an existing output", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet,
         "Do not print which calls the proxy pins, reorders or leaves out", NULL},
        {"target", 't', 0, G_OPTION_ARG_STRING, (char **)&options.target,
         "Check against this MPI library (mpich, openmpi): exit status 1 if it lacks calls of the "
         "proxy",
         "NAME"},
        {"no-symbols", 0, 0, G_OPTION_ARG_NONE, &options.no_symbols,
         "Write no names of the application's functions and source files", NULL},
        READING_OPTION,
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Print this help and exit", NULL},
        {"version", 'V', 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    signal(SIGXFSZ, SIG_IGN); /* the write fails instead, and a message says why */
    memory_ends(end_short_of_memory);
    g_set_prgname(COMMAND); /* the synopsis begins with the program's name */
    reading_guard();
    argv = command_part_options(entries, FALSE, &argc, argv);
    g_autoptr(GOptionContext) context = g_option_context_new("RECORDING -o FILE.c | DIRECTORY/");
    g_option_context_set_summary(context, "Compile a recording to a C program that makes the "
                                          "same MPI calls as the application.");
    g_option_context_add_main_entries(context, entries, NULL);
    /* GLib's own --help does not detect that the output cannot be written. */
    g_option_context_set_help_enabled(context, FALSE);
    GError *error = NULL;
    command_ignore_pipe();
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        command_print(COMMAND, "%s (see proxygen --help)", error->message);
        g_error_free(error);
        return WEND_ERROR_USAGE;
    }
    if (help || version) {
        g_autofree char *text = help ? g_option_context_get_help(context, FALSE, NULL)
                                     : g_strdup("proxygen (" PACKAGE_STRING ")\n");
        command_write(text, strlen(text));
        return command_close_output(COMMAND, 0);
    }
    command_end_options(&argc, argv);
    if (argc != 2 || !output || !*output) {
        command_print(COMMAND, "%s (see proxygen --help)",
                      argc < 2   ? "no recording given"
                      : argc > 2 ? "more than one recording given"
                                 : "no output given (-o)");
        return WEND_ERROR_USAGE;
    }
    options.recording = argv[1];
    options.output = output;
    options.directory = g_str_has_suffix(output, "/") || g_file_test(output, G_FILE_TEST_IS_DIR);
    return compile(&options);
}
