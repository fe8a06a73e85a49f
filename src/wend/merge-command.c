/* SPDX-License-Identifier: BSD-3-Clause */
/* merge-command.c: wend merge: makes the archive from the parts of a run that ended early
 * (lib/record/checkpoint-file.h). */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/archive/write.h"
#include "lib/base/file-write.h"
#include "lib/base/regular.h"
#include "lib/merge/merge.h"
#include "lib/read/program.h"
#include "lib/read/worlds.h"
#include "lib/record/checkpoint-file.h"
#include "src/command/command.h"
#include "src/command/text.h"
#include "src/command/reading.h"
#include "src/decoder/decoder.h"
#include "src/read/wrap.h"
#include "src/tracer/output/output.h"
#include "wend.h"

#define COMMAND "merge"
#define FEW_ENDINGS 16

/* -- one rank -- */

typedef struct {
    guint rank;
    char *files[2]; /* NULL: the file is missing */
} Saved;

static void saved_free(gpointer p)
{
    Saved *s = p;
    g_free(s->files[0]);
    g_free(s->files[1]);
    g_free(s);
}

typedef enum { PART_GOOD, PART_DAMAGED, PART_FOREIGN } PartState;

/* The header and the part in FILE, which must be a regular file. Returns NULL if the file is
 * damaged, or, with an error, if memory is short. */
static char *part_load(const char *file, gsize *n, Error **error)
{
    WendCheckpointHeader h;
    guint64 size;
    int fd = regular_open(file, &size, NULL, NULL);
    char *bytes = NULL;
    if (fd < 0)
        return NULL;
    /* after the part there may be free space, or the rest of an older part */
    gboolean good = regular_read(fd, 0, &h, sizeof h)
                    && memcmp(h.magic, WEND_CHECKPOINT_MAGIC, sizeof h.magic) == 0
                    && h.bytes <= size - sizeof h;
    if (good) {
        *n = sizeof h + h.bytes;
        bytes = g_try_malloc(*n);
        if (!bytes)
            error_set(error, WEND_ERROR_SYSTEM, "%s: not enough memory to read it", file);
        else if (!regular_read(fd, 0, bytes, *n))
            g_clear_pointer(&bytes, g_free);
    }
    close(fd);
    return bytes;
}

/* An unreadable file counts as damaged. */
static PartState part_check(const char *bytes, gsize n, WendCheckpointHeader *h)
{
    if (!bytes || !checkpoint_file_is_whole(bytes, n, h))
        return PART_DAMAGED;
    return h->build == checkpoint_file_build() ? PART_GOOD : PART_FOREIGN;
}

/* Reads the newer whole file of a rank. Returns NULL if none is whole, with the reason in *STATE,
 * or on an error. */
static WendMerge *part_read(const Saved *s, PartState *state, Error **error)
{
    g_autofree char *best = NULL;
    WendCheckpointHeader of_best = {0};
    *state = PART_DAMAGED;
    for (int i = 0; i < 2; i++) {
        gsize n = 0;
        WendCheckpointHeader h;
        Error *why = NULL;
        g_autofree char *bytes = s->files[i] ? part_load(s->files[i], &n, &why) : NULL;
        if (why) {
            error_give(error, why);
            return NULL;
        }
        PartState here = part_check(bytes, n, &h);
        if (here != PART_DAMAGED)
            *state = here;
        if (here != PART_GOOD || (best && h.number < of_best.number))
            continue;
        g_free(best);
        best = g_steal_pointer(&bytes);
        of_best = h;
    }
    if (!best)
        return NULL;
    Error *why = NULL;
    const guint8 *part = (const guint8 *)best + sizeof of_best;
    WendMerge *m = merge_from_part(part, of_best.bytes, reading_room(of_best.bytes), &why);
    *state = m ? PART_GOOD : PART_DAMAGED;
    error_prefix(&why, "rank %u (--max-size=SIZE allows more): ", s->rank);
    if (why && why->code == WEND_ERROR_SYSTEM)
        error_give(error, why);
    else
        error_clear(&why);
    return m;
}

/* -- one world -- */

static int by_rank(gconstpointer a, gconstpointer b)
{
    const Saved *x = *(Saved *const *)a, *y = *(Saved *const *)b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static GPtrArray *list_saved(const char *folder, Error **error)
{
    static const char *const slots[] = WEND_CHECKPOINT_SLOTS;
    GError *problem = NULL;
    GDir *d = g_dir_open(folder, 0, &problem);
    if (!d) {
        command_take_error(error, problem);
        return NULL;
    }
    GPtrArray *all = g_ptr_array_new_with_free_func(saved_free);
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    for (const char *name; (name = g_dir_read_name(d));) {
        char *end;
        if (!g_str_has_prefix(name, WEND_CHECKPOINT_PREFIX))
            continue;
        guint64 rank = g_ascii_strtoull(name + strlen(WEND_CHECKPOINT_PREFIX), &end, 10);
        int slot = strcmp(end, slots[0]) == 0 ? 0 : strcmp(end, slots[1]) == 0 ? 1 : -1;
        if (slot < 0 || rank > G_MAXINT)
            continue;
        Saved *s = g_hash_table_lookup(known, GUINT_TO_POINTER((guint)rank));
        if (!s) {
            s = g_new0(Saved, 1);
            s->rank = (guint)rank;
            g_hash_table_insert(known, GUINT_TO_POINTER(s->rank), s);
            g_ptr_array_add(all, s);
        }
        g_free(s->files[slot]);
        s->files[slot] = g_build_filename(folder, name, NULL);
    }
    g_dir_close(d);
    g_ptr_array_sort(all, by_rank);
    return all;
}

static gboolean absorb(WendMerge **all, WendMerge *one, Error **error)
{
    if (!*all) {
        *all = one;
        return TRUE;
    }
    return merge_unite(*all, one, error);
}

/* Merges the parts in FOLDER. Returns NULL on failure; *EMPTY is set if no rank saved anything. */
static WendMerge *merge_folder(const char *folder, gboolean *empty, Error **error)
{
    g_autoptr(GPtrArray) saved = list_saved(folder, error);
    WendMerge *all = NULL;
    gboolean foreign = FALSE;
    if (!saved)
        return NULL;
    for (guint i = 0; i < saved->len; i++) {
        const Saved *s = g_ptr_array_index(saved, i);
        PartState state;
        command_progress("merging", i, saved->len);
        Error *why = NULL;
        WendMerge *one = part_read(s, &state, &why);
        if (why) {
            merge_free(all);
            error_give(error, why);
            return NULL;
        }
        foreign |= state == PART_FOREIGN;
        if (one && !absorb(&all, one, error)) {
            merge_free(all);
            return NULL;
        }
        if (!one && state == PART_DAMAGED) {
            command_say(COMMAND, "rank %u: its parts are damaged: it is left out", s->rank);
        }
    }
    if (!all && foreign)
        error_set(error, WEND_ERROR_INPUT,
                  "%s: was saved by another version of Wend: use wend merge of that version",
                  folder);
    else if (!all)
        error_set(error, WEND_ERROR_INPUT, "%s: no rank saved anything", folder);
    *empty = !all && !foreign;
    return all;
}

/* -- the recording -- */

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *list_folders(const char *directory, Error **error)
{
    GStatBuf info;
    int number = g_stat(directory, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
    if (number != 0) {
        error_set(error, error_of_input(number), "%s: %s", directory, g_strerror(number));
        return NULL;
    }
    GError *problem = NULL;
    GDir *d = g_dir_open(directory, 0, &problem);
    if (!d) {
        command_take_error(error, problem);
        return NULL;
    }
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(d));)
        if (strcmp(name, WEND_CHECKPOINT_FOLDER) == 0
            || (g_str_has_prefix(name, WORLD_FILE_PREFIX)
                && g_str_has_suffix(name, WEND_CHECKPOINT_SUFFIX)))
            g_ptr_array_add(folders, g_strdup(name));
    g_dir_close(d);
    g_ptr_array_sort(folders, by_name);
    if (folders->len > 0)
        return folders;
    g_ptr_array_unref(folders);
    error_set(error, WEND_ERROR_INPUT, "%s: has no parts of a run that ended early", directory);
    return NULL;
}

static gint64 changed_at(const char *path)
{
    GStatBuf info;
    return g_stat(path, &info) == 0
               ? info.st_mtim.tv_sec * G_GINT64_CONSTANT(1000000000) + info.st_mtim.tv_nsec
               : 0;
}

/* Whether a rank has saved its part since the archive was written: while the run went on, somebody
 * may have merged what there was. The command that the run has printed then needs no --force. */
static gboolean is_older(const char *archive, const char *folder)
{
    gint64 written = changed_at(archive);
    GDir *d = written > 0 ? g_dir_open(folder, 0, NULL) : NULL;
    gboolean older = FALSE;
    for (const char *name; d && !older && (name = g_dir_read_name(d));) {
        g_autofree char *part = g_build_filename(folder, name, NULL);
        older = g_str_has_prefix(name, WEND_CHECKPOINT_PREFIX) && changed_at(part) > written;
    }
    if (d)
        g_dir_close(d);
    return older;
}

static gboolean merge_one(const char *directory, const char *name, gboolean force,
                          WendArchiveResult *sum, gboolean *empty, Error **error)
{
    g_autofree char *folder = g_build_filename(directory, name, NULL);
    g_autofree char *world = g_strndup(name, strlen(name) - strlen(WEND_CHECKPOINT_SUFFIX)),
                    *file = g_strconcat(world, WORLD_FILE_SUFFIX, NULL);
    g_autofree char *path = g_build_filename(directory, file, NULL);
    WendArchiveResult result;
    force = force || is_older(path, folder);
    if (!file_check(path, (force ? WEND_FILE_REPLACE : 0) | WEND_FILE_REGULAR, error))
        return FALSE;
    WendMerge *m = merge_folder(folder, empty, error);
    if (!m)
        return FALSE;
    /* if this fails, wend trace --force later leaves the archive alone */
    marker_add(directory, file);
    gboolean good = write_archive(m, directory, file, &result, error);
    merge_free(m);
    if (good) {
        sum->totals.mpi_calls += result.totals.mpi_calls;
        sum->totals.polls += result.totals.polls;
        sum->totals.frees += result.totals.frees;
        sum->bytes += result.bytes;
    }
    return good;
}

static void remove_folder(const char *directory, const char *name)
{
    g_autofree char *folder = g_build_filename(directory, name, NULL);
    marker_remove_parts(folder);
}

static void report(const char *directory, const WendProgram *p, const WendArchiveResult *sum)
{
    GString *out = g_string_new(NULL);
    g_autofree char *totals = totals_text(&sum->totals);
    g_string_append_printf(out, "%s of %u %s in ", totals, program_ranks(p),
                           program_ranks(p) == 1 ? "rank" : "ranks");
    text_count(out, sum->bytes);
    g_string_append(out, " bytes: ");
    text_foreign(out, directory);
    g_string_append_c(out, '\n');
    WendRead *r = read_wrap(p);
    show_terminations(out, r, COMMAND, FEW_ENDINGS, FALSE);
    wend_read_free(r);
    command_write(out->str, out->len);
    g_string_free(out, TRUE);
}

/* Makes the archive of each world of which some rank saved a part. Other worlds are removed from
 * FOLDERS. */
static gboolean merge_worlds(const char *directory, GPtrArray *folders, gboolean force,
                             WendArchiveResult *sum, Error **error)
{
    AUTO(Error) nothing = NULL;
    for (guint i = 0; i < folders->len;) {
        AUTO(Error) why = NULL;
        gboolean empty = FALSE;
        if (merge_one(directory, folders->pdata[i], force, sum, &empty, &why)) {
            i++;
            continue;
        }
        if (!empty) {
            error_give(error, g_steal_pointer(&why));
            return FALSE;
        }
        g_ptr_array_remove_index(folders, i);
        if (folders->len > 0)
            command_say(COMMAND, "%s: it is left out", why->message);
        error_clear(&nothing);
        nothing = g_steal_pointer(&why);
    }
    if (folders->len > 0)
        return TRUE;
    error_give(error, g_steal_pointer(&nothing));
    return FALSE;
}

/* Whether there is something to merge, or nothing at all. */
static gboolean has_parts(const char *directory)
{
    g_autofree char *first = g_build_filename(directory, "trace" WORLD_FILE_SUFFIX, NULL);
    g_autoptr(GPtrArray) folders = list_folders(directory, NULL);
    return folders != NULL || !g_file_test(first, G_FILE_TEST_EXISTS);
}

/* A recording that is whole only gets names. */
static gboolean name_whole(const char *directory, Error **error)
{
    guint64 bytes;
    if (!site_store(directory, COMMAND, SITE_STORE_ALL, &bytes, error))
        return FALSE;
    GString *out = g_string_new("names of call sites in ");
    text_count(out, bytes);
    g_string_append(out, " bytes: ");
    text_foreign(out, directory);
    g_string_append_c(out, '\n');
    command_write(out->str, out->len);
    g_string_free(out, TRUE);
    return TRUE;
}

static gboolean merge_all(const char *directory, gboolean force, gboolean remove,
                          SiteStoreMode names, Error **error)
{
    g_autoptr(GPtrArray) folders = list_folders(directory, error);
    WendArchiveResult sum = {0};
    if (!folders || !merge_worlds(directory, folders, force, &sum, error))
        return FALSE;
    g_autofree char *first = g_build_filename(directory, "trace" WORLD_FILE_SUFFIX, NULL);
    if (!g_file_test(first, G_FILE_TEST_EXISTS)) {
        error_set(error, WEND_ERROR_INPUT,
                  "%s: the world that started the others saved nothing: read the archives of the "
                  "others, %s...%s, one by one",
                  directory, WORLD_FILE_PREFIX, WORLD_FILE_SUFFIX);
        return FALSE;
    }
    guint64 bytes = 0;
    if (!site_store(directory, COMMAND, names, &bytes, error))
        return FALSE;
    sum.bytes += bytes;
    WendProgram *p = reading_open(directory, -1, error);
    if (!p)
        return FALSE;
    report(directory, p, &sum);
    program_free(p);
    for (guint i = 0; remove && i < folders->len; i++)
        remove_folder(directory, folders->pdata[i]);
    return TRUE;
}

int merge_command_main(int argc, char **argv)
{
    gboolean force = FALSE, remove = FALSE, all_names = FALSE, no_names = FALSE;
    const GOptionEntry entries[] = {
        {"force", 'f', 0, G_OPTION_ARG_NONE, &force, "Replace an existing archive", NULL},
        {"remove", 'r', 0, G_OPTION_ARG_NONE, &remove,
         "Remove the parts when the archive is written", NULL},
        {"symbols", 0, 0, G_OPTION_ARG_NONE, &all_names,
         "Store the names of call sites in the archive (default: if they take less than 2 KB), "
         "also "
         "in one that is whole",
         NULL},
        {"no-symbols", 0, 0, G_OPTION_ARG_NONE, &no_names, "Store no names of call sites", NULL},
        READING_OPTION,
        G_OPTION_ENTRY_NULL};
    int status;
    Error *error = NULL;
    if (!command_options(
            COMMAND, "DIR",
            "Make the recording of a run that ended early from the parts that its ranks saved.",
            NULL, entries, &argc, &argv, &status))
        return status;
    if (argc != 2)
        return command_usage(COMMAND,
                             argc < 2 ? "no directory given" : "more than one directory given");
    if (all_names && no_names)
        return command_usage(COMMAND, "--symbols and --no-symbols exclude each other");
    SiteStoreMode names = all_names  ? SITE_STORE_ALL
                          : no_names ? SITE_STORE_NONE
                                     : SITE_STORE_SMALL;
    gboolean good = all_names && !has_parts(argv[1])
                        ? name_whole(argv[1], &error)
                        : merge_all(argv[1], force, remove, names, &error);
    if (!good)
        return command_fail(COMMAND, error);
    return command_finish(COMMAND, WEND_EXIT_OK);
}
