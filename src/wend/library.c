/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c: see wend.h. The dynamic linker knows the libraries of a program: "ld.so --list
 * PROGRAM" follows all its rules and runs no code of the program. */
#include "config.h"

#include "wend.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "src/command/command.h"
#include "src/tracer/process/launcher.h"
#include "src/tracer/process/program-file.h"

#define DEFAULT "libwend.so"

/* -- the place of libwend -- */

/* The file NAME beside an uninstalled build, or where it was installed. NULL if there is none. */
static char *find(const char *name)
{
    static const char *const uninstalled[] = {".", NULL};
    char **places = command_places(WEND_LIBDIR, uninstalled), *found = NULL;
    for (char **place = places; *place && !found; place++) {
        char *path = g_build_filename(*place, name, NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            found = g_canonicalize_filename(path, NULL);
        g_free(path);
    }
    g_strfreev(places);
    return found;
}

/* -- the MPI library of a program -- */

typedef enum { NO_MPI = -1, UNKNOWN_MPI = -2 } NoFamily;

/* The index of the family of the library in FILE, or NoFamily. */
static int family_of(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC), family = NO_MPI;
    if (fd < 0)
        return NO_MPI;
    for (int i = 0; family < 0 && i < N_FAMILIES; i++)
        if (program_file_defines(fd, families[i].mark))
            family = i;
    if (family < 0 && program_file_has_mpi(fd))
        family = UNKNOWN_MPI;
    close(fd);
    return family;
}

/* The linker's list of libraries, in lines. */
static char *libraries_of(const char *program)
{
    char *linker = executable_linker(program), *lines = NULL;
    if (!linker)
        return NULL;
    /* the linker would search for a bare name */
    char *path = g_canonicalize_filename(program, NULL);
    char *arguments[] = {linker, (char *)"--list", path, NULL};
    char **environment = g_environ_unsetenv(g_get_environ(), "LD_PRELOAD");
    if (!g_spawn_sync(NULL, arguments, environment, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &lines,
                      NULL, NULL, NULL))
        lines = NULL;
    g_strfreev(environment);
    g_free(path);
    g_free(linker);
    return lines;
}

char *library_of_line(const char *line)
{
    const char *file = strstr(line, "=> "), *end = file ? strrchr(file, '(') : NULL;
    if (!end || !strstr(line, "mpi"))
        return NULL;
    file += strlen("=> ");
    return g_strstrip(g_strndup(file, (gsize)(end - file)));
}

/* The index of the family that PROGRAM is linked with, or NoFamily. *MPI becomes the library's
 * file. */
static int family_of_program(const char *program, char **mpi)
{
    char *text = libraries_of(program), **lines = g_strsplit(text ? text : "", "\n", -1);
    int family = NO_MPI;
    for (char **line = lines; *line && family < 0; line++) {
        char *path = library_of_line(*line);
        if (!path)
            continue;
        int here = family_of(path);
        if (here != NO_MPI) {
            family = here;
            g_free(*mpi);
            *mpi = g_steal_pointer(&path);
        }
        g_free(path);
    }
    g_strfreev(lines);
    g_free(text);
    return family;
}

/* The family of a launcher: PROGRAM, or the launcher of this process. */
static int family_of_launcher(const char *program)
{
    char *path = realpath(program, NULL), *file = g_path_get_basename(path ? path : program);
    int family = NO_MPI;
    for (int i = 0; i < N_FAMILIES; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(families[i].launchers); k++)
            if (strcmp(file, families[i].launchers[k]) == 0)
                family = i;
    free(path);
    g_free(file);
    if (family != NO_MPI)
        return family;
    const char *name = launcher_family();
    for (int i = 0; name && i < N_FAMILIES; i++)
        if (strcmp(name, families[i].name) == 0)
            return i;
    return NO_MPI;
}

/* -- the recorder for a program -- */

static char *name_of(const char *family)
{
    return g_strdup_printf("libwend-%s.so", family);
}

static char *checked(char *library, Error **error)
{
    if (library && strpbrk(library, ": ")) {
        error_set(
            error, WEND_ERROR_SYSTEM,
            "%s: the loader cannot preload a path with a space or a colon: install Wend elsewhere",
            library);
        g_clear_pointer(&library, g_free);
    }
    return library;
}

static char *library_named(const char *family, Error **error)
{
    char *name = name_of(family), *library = find(name);
    if (!library)
        error_set(error, WEND_ERROR_USAGE, "there is no %s in %s, where Wend was installed", name,
                  WEND_LIBDIR);
    g_free(name);
    return checked(library, error);
}

char *library_for(const char *program, const char *family, Error **error)
{
    if (family)
        return library_named(family, error);
    char *mpi = NULL, *library = NULL;
    int of_program = family_of_program(program, &mpi);
    if (of_program == UNKNOWN_MPI) {
        /* a build for a library of unknown family is the only one */
        library = find("libwend-mpi.so");
        if (!library)
            error_set(error, WEND_ERROR_INPUT,
                      "%s: is linked with an MPI library that Wend was not built for: %s", program,
                      mpi);
    } else if (of_program >= 0) {
        char *name = name_of(families[of_program].name);
        library = find(name);
        if (!library)
            error_set(error, WEND_ERROR_INPUT,
                      "%s: is linked with %s (%s), and there is no %s: build Wend with that "
                      "library's MPICC as well",
                      program, families[of_program].title, mpi, name);
        g_free(name);
    } else {
        int of_launcher = family_of_launcher(program);
        char *name = of_launcher >= 0 ? name_of(families[of_launcher].name) : NULL;
        library = name ? find(name) : NULL;
        g_free(name);
        if (!library)
            library = find(DEFAULT);
        if (!library)
            error_set(error, WEND_ERROR_SYSTEM,
                      "there is no " DEFAULT " in %s, where Wend was installed", WEND_LIBDIR);
    }
    g_free(mpi);
    return checked(library, error);
}
