/* SPDX-License-Identifier: BSD-3-Clause */
/* program-file.c: see program-file.h. */
#include "program-file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool program_file_is(const char *file)
{
    struct stat info;
    return access(file, X_OK) == 0 && stat(file, &info) == 0 && S_ISREG(info.st_mode);
}

bool program_file_find(const char *folders, const char *name, char file[PATH_MAX])
{
    if (!folders)
        folders = "/bin:/usr/bin"; /* the default of execvp */
    for (size_t n, m = strlen(name);; folders += n + 1) {
        n = strcspn(folders, ":");
        if (n + m + sizeof "./" <= PATH_MAX) {
            /* an empty name is the current folder */
            char *end = n ? mempcpy(file, folders, n) : mempcpy(file, ".", 1);
            *end = '/';
            memcpy(end + 1, name, m + 1);
            if (program_file_is(file))
                return true;
        }
        if (!folders[n])
            return false;
    }
}
