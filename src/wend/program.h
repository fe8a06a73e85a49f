/* program.h: what is known of a program before it runs. */
#ifndef WEND_PROGRAM_FILE_H
#define WEND_PROGRAM_FILE_H

#include <glib.h>

/* The file that exec would run for NAME, by PATH unless it has a slash. NULL: there is none, with the reason. */
char *program_find(const char *name, GError **error);

/* Why nothing can be preloaded into the program in FILE, in words; NULL if it can, or if that is not known (a script). */
const char *program_obstacle(const char *file);

#endif
