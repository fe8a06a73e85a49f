/* SPDX-License-Identifier: BSD-3-Clause */
/* read-functions.c: the functions that Wend knows, as wend/read.h describes them.
 *
 * The table is made once for all readers, and never changes. */
#include "config.h"

#include <pthread.h>
#include <string.h>

#include "lib/record/functions.h"
#include "read-private.h"

typedef struct {
    WendReadFunction public;
    WendReadParameter *parameters;
} Function;

static Function *functions;
static GHashTable *by_name; /* name -> Function */

WendReadKind read_kind_of(WendKind kind)
{
    static const WendReadKind kinds[WEND_KINDS] = {
#define X(kind, public) [WEND_KIND_##kind] = WEND_READ_KIND_##public,
        WEND_KIND_TABLE(X)
#undef X
    };
    return kinds[kind];
}

static uint32_t flags_of(const WendFunction *f)
{
    static const struct {
        uint32_t inside, public;
    } flags[] = {{WEND_F_SEND, WEND_READ_SENDS},
                 {WEND_F_RECV, WEND_READ_RECEIVES},
                 {WEND_F_COLLECTIVE, WEND_READ_COLLECTIVE},
                 {WEND_F_COMPLETES, WEND_READ_COMPLETES},
                 {WEND_F_POLL, WEND_READ_POLLS},
                 {WEND_F_ANY, WEND_READ_CHOOSES},
                 {WEND_F_PERSISTENT, WEND_READ_PERSISTENT},
                 {WEND_F_QUERY, WEND_READ_LOCAL},
                 {WEND_F_PSEUDO, WEND_READ_NOTE},
                 {WEND_F_MATCHED, WEND_READ_TAKES},
                 {WEND_F_LIFETIME, WEND_READ_LIFETIME}};
    uint32_t all = 0;
    for (guint i = 0; i < G_N_ELEMENTS(flags); i++)
        if ((f->flags & flags[i].inside) != 0)
            all |= flags[i].public;
    return all;
}

static void set_parameter(WendReadParameter *to, const WendParam *p)
{
    static const WendReadDirection directions[] = {[WEND_DIR_IN] = WEND_READ_IN,
                                                   [WEND_DIR_OUT] = WEND_READ_OUT,
                                                   [WEND_DIR_INOUT] = WEND_READ_INOUT,
                                                   [WEND_DIR_RETURN] = WEND_READ_RETURN};
    gboolean object =
        read_is_handle(p->kind) || p->kind == WEND_KIND_REQUEST || p->kind == WEND_KIND_BUF;
    *to = (WendReadParameter){
        .name = p->name,
        .kind = read_kind_of(p->kind),
        .direction = directions[p->dir],
        .array = p->array || p->kind == WEND_KIND_STRINGS || p->kind == WEND_KIND_STRINGS2,
        .named = object && p->dir == WEND_DIR_OUT && p->place != WEND_PLACE_OUTCOME};
}

static void make_functions(void)
{
    Function *all = g_new0(Function, mpi_n_functions);
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < mpi_n_functions; i++) {
        const WendFunction *f = &mpi_functions[i];
        all[i].public = (WendReadFunction){f->name, i, flags_of(f), f->n_params};
        all[i].parameters = g_new0(WendReadParameter, f->n_params + 1);
        for (guint k = 0; k < f->n_params; k++)
            set_parameter(&all[i].parameters[k], &f->params[k]);
        g_hash_table_insert(names, (gpointer)f->name, &all[i]);
    }
    functions = all;
    by_name = names;
}

static void need_functions(void)
{
    /* ThreadSanitizer does not see the synchronization of GLib's */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_functions);
}

const WendReadFunction *read_function_of(const WendFunction *f)
{
    need_functions();
    /* opening refuses functions that the table lacks */
    return g_hash_table_lookup(by_name, f->name);
}

int wend_read_function(WendRead *r, uint32_t index, const WendReadFunction **f)
{
    if (!r || !f)
        return read_fail(r, WEND_READ_ERROR_USAGE, "there is no place for the result: it is NULL");
    need_functions();
    if (index >= mpi_n_functions)
        return read_fail(r, WEND_READ_ERROR_NONE, "Wend knows no more than %zu functions",
                         mpi_n_functions);
    *f = &functions[index].public;
    return WEND_READ_OK;
}

int wend_read_function_named(WendRead *r, const char *name, const WendReadFunction **f)
{
    if (!r || !name || !f)
        return read_fail(r, WEND_READ_ERROR_USAGE, "a name or a place for the result is NULL");
    need_functions();
    const Function *found = g_hash_table_lookup(by_name, name);
    if (!found)
        return read_fail(r, WEND_READ_ERROR_NONE, "there is no function '%s'", name);
    *f = &found->public;
    return WEND_READ_OK;
}

const WendReadParameter *wend_read_parameter(const WendReadFunction *f, uint32_t index)
{
    return f != NULL && index < f->n_parameters ? &((const Function *)f)->parameters[index] : NULL;
}

uint32_t wend_read_parameter_named(const WendReadFunction *f, const char *name)
{
    for (uint32_t i = 0; f != NULL && name != NULL && i < f->n_parameters; i++)
        if (strcmp(((const Function *)f)->parameters[i].name, name) == 0)
            return i;
    return WEND_READ_NO_INDEX;
}
