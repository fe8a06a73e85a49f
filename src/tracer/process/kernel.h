/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h: numbers in the text files of /proc and /sys. Uses system calls alone, without malloc,
 * because it is used when memory is short. */
#ifndef WEND_KERNEL_H
#define WEND_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_TEXT = 8 << 10 };

/* Reads the first KERNEL_TEXT - 1 bytes of the file at PATH as text. Returns false if it cannot be
 * read; the text then has what could be read. */
bool kernel_text(const char *path, char text[KERNEL_TEXT]);

/* The number at the beginning of the file at PATH. OTHERWISE if there is no such file, or no number
 * ("max"). */
uint64_t kernel_number(const char *path, uint64_t otherwise);

/* The number of KEY in a file of lines "KEY 123" or "KEY: 123 kB"; in the latter form KEY ends with
 * the colon. OTHERWISE if it is missing. */
uint64_t kernel_number_of(const char *path, const char *key, uint64_t otherwise);

#endif
