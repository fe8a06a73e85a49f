/* SPDX-License-Identifier: BSD-3-Clause */
/* output-check.c: see output-check.h. */
#include "output-check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/file-write.h"
#include "src/tracer/output/output.h"
#include "src/tracer/shared/shared.h"

/* Whether all processes of the job come to the same decision. Processes that wait for each other in
 * MPI_Init must all run the program, or none. On one host each process decides by the state before
 * the first of them was started. Several hosts may see different folders, and the parent of a
 * process that MPI_Comm_spawn starts waits for it. In these cases the program runs, and rank 0 of
 * the recorder prints that it is not recorded. */
static gboolean all_see_the_same(void)
{
    long size = launcher_size();
    return size <= launcher_local_size() && !g_getenv("PMI_SPAWNED") && !g_getenv("WEND_WORLD");
}

/* The first missing folder of PATH. *PARENT becomes the folder that it would be in. */
static char *first_missing(const char *path, char **parent)
{
    char *missing = g_strdup(path);
    for (;;) {
        *parent = g_path_get_dirname(missing);
        if (g_file_test(*parent, G_FILE_TEST_EXISTS) || strcmp(*parent, missing) == 0)
            return missing;
        g_free(missing);
        missing = *parent;
    }
}

/* Tests whether a folder can be made at PATH, where there is none. Returns 0 or an errno. File
 * systems refuse for other reasons than permissions, so a process without a launcher makes the
 * first missing folder, and removes it. Processes of a job would see each other's folders. */
static int try_making(const char *path)
{
    g_autofree char *parent = NULL, *missing = first_missing(path, &parent);
    if (faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS) != 0)
        return errno;
    if (launcher_rank_variable())
        return 0;
    if (mkdir(missing, 0777) == 0)
        rmdir(missing); /* fails if another process has used it by now */
    else if (errno != EEXIST)
        return errno;
    return 0;
}

static gboolean refuse(GError **error, int code, const char *path, const char *why)
{
    g_set_error(error, WEND_ERROR, code, "%s: %s", path, why);
    return FALSE;
}

/* Refuses a folder with other files than those of a recording. */
static gboolean check_contents(const char *path, GError **error)
{
    int why;
    char *foreign = marker_foreign(path, &why);
    if (foreign)
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: " MARKER_REFUSAL, path, foreign);
    else if (why)
        refuse(error, wend_error_of_output(why), path, g_strerror(why));
    gboolean good = !foreign && !why;
    free(foreign);
    return good;
}

static gboolean check_place(const char *path, GError **error)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        int why = errno == ENOENT ? try_making(path) : errno;
        return why == 0 || refuse(error, wend_error_of_output(why), path, g_strerror(why));
    }
    if (stat(path, &info) != 0 && errno != ENOENT)
        return refuse(error, wend_error_of_output(errno), path, g_strerror(errno));
    if (!S_ISDIR(info.st_mode)) /* or is a dangling symbolic link */
        return refuse(error, WEND_ERROR_INPUT, path, "exists and is not a directory");
    g_autofree char *archive = g_build_filename(path, "trace.tar.zst", NULL);
    if (g_file_test(archive, G_FILE_TEST_EXISTS) && !settings()->force)
        return refuse(error, WEND_ERROR_INPUT, path,
                      "has a recording: give another name, or --force to replace it");
    if (!check_contents(path, error))
        return FALSE;
    if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0)
        return refuse(error, wend_error_of_output(errno), path, g_strerror(errno));
    return TRUE;
}

gboolean output_check(GError **error)
{
    if (!all_see_the_same())
        return TRUE;
    if (settings()->output)
        return check_place(settings()->output, error);
    g_autofree char *here = g_get_current_dir();
    g_autofree char *name = g_build_filename(here, OUTPUT_PREFIX "new", NULL);
    return check_place(name, error);
}
