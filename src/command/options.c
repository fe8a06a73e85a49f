/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: see options.h. */
#include "config.h"

#include "options.h"

#include <string.h>

static const GOptionEntry *entry_of_letter(const GOptionEntry *entries, char letter)
{
    for (; entries->long_name; entries++)
        if (entries->short_name == letter)
            return entries;
    return NULL;
}

static const GOptionEntry *entry_of_name(const GOptionEntry *entries, const char *name)
{
    for (; entries->long_name; entries++)
        if (strcmp(entries->long_name, name) == 0)
            return entries;
    return NULL;
}

static gboolean takes_argument(const GOptionEntry *e)
{
    return e && e->arg != G_OPTION_ARG_NONE
           && !(e->flags & (G_OPTION_FLAG_NO_ARG | G_OPTION_FLAG_OPTIONAL_ARG));
}

/* Adds WORD, which is "-" and letters, in parts. Returns TRUE if the next word is the argument of
 * its last letter. */
static gboolean add_letters(GPtrArray *all, const GOptionEntry *entries, char *word)
{
    for (char *letter = word + 1; *letter; letter++) {
        if (!takes_argument(entry_of_letter(entries, *letter)))
            continue;
        if (letter[1] == '\0')
            break;
        if (letter > word + 1)
            g_ptr_array_add(all, g_strndup(word, (gsize)(letter - word)));
        g_ptr_array_add(all, g_strdup_printf("-%c", *letter));
        g_ptr_array_add(all, letter + 1);
        return FALSE;
    }
    g_ptr_array_add(all, word);
    return takes_argument(entry_of_letter(entries, word[strlen(word) - 1]));
}

char **options_part(const GOptionEntry *entries, gboolean before, int *argc, char **argv)
{
    GPtrArray *all = g_ptr_array_new();
    gboolean over = FALSE, argument = FALSE;
    for (int i = 0; i < *argc; i++) {
        char *word = argv[i];
        gboolean option = i > 0 && !over && !argument && word[0] == '-' && word[1] != '\0';
        over |= i > 0 && !argument && (strcmp(word, "--") == 0 || (before && !option));
        argument = FALSE;
        if (option && word[1] != '-') {
            argument = add_letters(all, entries, word);
            continue;
        }
        if (option && !over)
            argument = takes_argument(entry_of_name(entries, word + 2));
        g_ptr_array_add(all, word);
    }
    *argc = (int)all->len;
    g_ptr_array_add(all, NULL);
    return (char **)g_ptr_array_free(all, FALSE);
}

void options_end(int *argc, char **argv)
{
    if (*argc < 2 || strcmp(argv[1], "--") != 0)
        return;
    (*argc)--;
    memmove(&argv[1], &argv[2], (size_t)*argc * sizeof *argv); /* the NULL, too */
}
