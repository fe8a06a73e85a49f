/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.h: files that Wend keeps open in the application's process. The application may close
 * descriptors that it has not opened (closefrom), and get the number for a file of its own. So each
 * use checks that the number still belongs to that file. C11 and libc alone. */
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

/* Takes FD, and moves it to a number that programs do not expect: above 200, or else above standard
 * input, output and error. Returns false if FD is -1 or cannot be kept; FD is then closed. */
bool kept_take(KeptFile *file, int fd);

/* The number, for one use. -1 if the file is closed. Keeps errno. */
int kept_number(const KeptFile *file);
void kept_close(KeptFile *file);

#endif
