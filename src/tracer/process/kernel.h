/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h: numbers in the text files of /proc and /sys. By system calls alone, without malloc:
 * they are asked for when there is nothing left. */
#ifndef WEND_KERNEL_H
#define WEND_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_TEXT = 8 << 10 };

/* The first KERNEL_TEXT - 1 bytes of the file at PATH, as a text. False: it cannot be read; the
 * text is empty, or what could be read. */
bool kernel_text(const char *path, char text[KERNEL_TEXT]);

/* The number that the file at PATH begins with. OTHERWISE: there is no such file, or it begins with
 * no number ("max"). */
uint64_t kernel_number(const char *path, uint64_t otherwise);

/* The number that KEY has in a file of lines "KEY 123" or "KEY: 123 kB", where KEY ends with the
 * colon. OTHERWISE: it is not there. */
uint64_t kernel_number_of(const char *path, const char *key, uint64_t otherwise);

#endif
