/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.h: files that Wend keeps open in the application's process while that runs. It may close
 * what it has not opened (closefrom), and get the number for a file of its own: so each use asks
 * whether the number is still that file's. C11 and libc alone. */
#ifndef WEND_KEPT_H
#define WEND_KEPT_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    int number;
    dev_t device;
    ino_t inode;
} KeptFile;
#define KEPT_NONE    \
    {                \
        .number = -1 \
    }

/* Takes FD, and moves it to where programs do not count on numbers: above 200, else above those
 * of standard input, output and error. False: FD is -1, or cannot be kept; it is closed then. */
bool kept_take(KeptFile *file, int fd);

/* For one use; -1: it is not there any more. Leaves errno as it is. */
int kept_number(const KeptFile *file);
void kept_close(KeptFile *file);

#endif
