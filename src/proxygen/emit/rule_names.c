/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_names.c: see rule_names.h. The program is complete when names are given, so that a name can
 * be compared with all that are there. */
#include "rule_names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "c_tokens.h"

#define PREFIX "rule_"
#define PART "_part_"

/* -- tokens -- */

static gboolean is_in_name(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

/* The end of the string or character constant at P. */
static const char *end_of_literal(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote)
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

/* The end of the piece of text at P. *NAME: it is an identifier, or a number. */
static const char *end_of_piece(const char *p, gboolean *name)
{
    *name = is_in_name(*p);
    if (*p == '"' || *p == '\'')
        return end_of_literal(p);
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    p++;
    while (*name && is_in_name(*p))
        p++;
    return p;
}

/* -- which names are free -- */

/* Words of C and its headers that are no functions, and objects of the proxy that only its header
 * comment shows. */
static const char *const taken[] = {
    "alignas",  "alignof",      "and",       "asm",      "assert",   "auto",
    "bool",     "break",        "case",      "catch",    "char",     "class",
    "complex",  "const",        "constexpr", "continue", "default",  "delete",
    "do",       "double",       "else",      "enum",     "environ",  "errno",
    "extern",   "false",        "float",     "for",      "fortran",  "goto",
    "i386",     "if",           "imaginary", "inline",   "int",      "linux",
    "long",     "main",         "major",     "makedev",  "minor",    "namespace",
    "new",      "noreturn",     "not",       "nullptr",  "offsetof", "operator",
    "or",       "private",      "public",    "register", "restrict", "return",
    "setjmp",   "short",        "signed",    "sizeof",   "static",   "static_assert",
    "stderr",   "stdin",        "stdout",    "struct",   "switch",   "template",
    "this",     "thread_local", "true",      "try",      "typedef",  "typeof",
    "union",    "unix",         "unsigned",  "va_arg",   "va_copy",  "va_end",
    "va_start", "void",         "volatile",  "while",    "xor"};

static gboolean is_reserved(const char *name)
{
    static const char *const prefixes[] = {"mpi", "pmpi", "cuda", "wend", PREFIX};
    for (guint i = 0; i < G_N_ELEMENTS(prefixes); i++)
        if (g_ascii_strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(taken); i++)
        if (strcmp(name, taken[i]) == 0)
            return TRUE;
    return *name == '_' || g_str_has_suffix(name, "_t") || strstr(name, PART) != NULL
           || dlsym(RTLD_DEFAULT, name) != NULL;
}

/* A name like WANTED that is not in NAMES, to which it is added. */
static char *free_name(GHashTable *names, const char *wanted)
{
    g_autofree char *base = c_token_function_name(wanted);
    if (is_reserved(base)) {
        char *other = g_strconcat(base, "_calls", NULL);
        g_free(base);
        base = other;
    }
    if (is_reserved(base)) /* it is not the end of the name that is */
        return NULL;
    char *name = g_strdup(base);
    for (guint i = 2; g_hash_table_contains(names, name); i++) {
        g_free(name);
        name = g_strdup_printf("%s_%u", base, i);
    }
    g_hash_table_add(names, g_strdup(name));
    return name;
}

/* -- the texts -- */

GHashTable *rule_names_words(const GPtrArray *texts)
{
    GHashTable *words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) word = g_string_new("");
    gboolean name;
    for (guint i = 0; i < texts->len; i++)
        for (const char *p = ((const GString *)texts->pdata[i])->str, *end; *p; p = end) {
            end = end_of_piece(p, &name);
            if (!name || g_ascii_isdigit(*p))
                continue;
            g_string_truncate(word, 0);
            g_string_append_len(word, p, end - p);
            if (!g_hash_table_contains(words, word->str))
                g_hash_table_add(words, g_strdup(word->str));
        }
    return words;
}

/* The name of the rule function that the N characters at P are, or a part of which; *REST becomes
 * what follows it. NULL: they are none, or it keeps its name. */
static const char *given_name(const GPtrArray *given, const char *p, gsize n, const char **rest)
{
    char *end;
    if (n <= strlen(PREFIX) || memcmp(p, PREFIX, strlen(PREFIX)) != 0
        || !g_ascii_isdigit(p[strlen(PREFIX)]))
        return NULL;
    guint64 number = g_ascii_strtoull(p + strlen(PREFIX), &end, 10);
    gboolean whole = end == p + n, part = !whole && g_str_has_prefix(end, PART);
    *rest = end;
    return number < given->len && (whole || part) ? given->pdata[number] : NULL;
}

static void rename_all(GString *text, const GPtrArray *given)
{
    g_autofree char *old = g_strdup(text->str);
    gboolean name;
    g_string_truncate(text, 0);
    for (const char *p = old, *end; *p; p = end) {
        end = end_of_piece(p, &name);
        const char *rest = p, *other = name ? given_name(given, p, (gsize)(end - p), &rest) : NULL;
        g_string_append(text, other ? other : "");
        g_string_append_len(text, other ? rest : p, (gssize)(end - (other ? rest : p)));
    }
}

void rule_names_give(GPtrArray *texts, GHashTable *words, const GPtrArray *wanted)
{
    g_autoptr(GPtrArray) given = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < wanted->len; i++)
        g_ptr_array_add(given, wanted->pdata[i] ? free_name(words, wanted->pdata[i]) : NULL);
    for (guint i = 0; i < texts->len; i++)
        rename_all(texts->pdata[i], given);
}
