/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c: fuzzes what wend trace reads of a program before it runs it, and the tracer of one
 * that it saw nothing of: an ELF file; or, if the input is none, what the dynamic linker says of
 * its libraries.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */

#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exercise.h"
#include "src/tracer/process/program-file.h"
#include "src/wend/wend.h"

static void read_lines(const guint8 *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        g_free(library_of_line(*line));
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    if (size < 4 || memcmp(data, "\177ELF", 4) != 0) {
        read_lines(data, size);
        return 0;
    }
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        g_error("no file");
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    executable_obstacle(path);
    g_free(executable_linker(path));
    program_file_defines(fd, "MPI_Init");
    close(fd);
    return 0;
}
