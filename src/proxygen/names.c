/* names.c: files become files of the scratch directory, ports are passed on through it, spawned processes are left to themselves. */
#include "names.h"

#include <string.h>

typedef struct { guint number; gboolean created, opened, exclusive; } FileUse;

static FileUse *file_use(Emitter *e, const Arg *arg)
{
    char *name = words_to_string(arg->in, (gsize)arg->n_in);
    FileUse *use = g_hash_table_lookup(e->file_names, name);
    if (use) {
        g_free(name);
        return use;
    }
    use = g_new0(FileUse, 1);
    use->number = e->file_order->len;
    g_hash_table_insert(e->file_names, name, use);
    g_ptr_array_add(e->file_order, name);
    return use;
}

/* The text of a string that the first outcome of a call has. */
static char *outcome_string(Emitter *e, const Call *c, guint index)
{
    const Plan *plan = e->plan;
    RankSet ranks = plan->terminal_ranks[c->terminal];
    char *text = NULL;
    for (guint r = 0; r < ranks.n && !text; r++) {
        const WendClass *class = wend_program_class(plan->program, wend_program_class_of(plan->program, ranks.ranks[r]));
        for (guint s = 0; s < class->n_sequences && !text; s++) {
            WendOutcomes *o = wend_program_outcomes(plan->program, ranks.ranks[r], s, c->slots->shape);
            guint64 repeats;
            const gint64 *words;
            guint n;
            g_autofree OutcomePart *parts = g_new0(OutcomePart, MAX(c->n_args, 1));
            if (o && wend_outcomes_next_run(o, &repeats, &words, &n) && outcome_decode(c, words, n, parts) && parts[index].n > 0 &&
                words[parts[index].first] >= 0) {
                gint64 bytes = words[parts[index].first];
                text = g_malloc0((gsize)bytes + 1);
                for (gint64 i = 0; i < bytes; i++)
                    text[i] = (char)((guint64)words[parts[index].first + 1 + i / 8] >> (8 * (i % 8)));
            }
            wend_outcomes_free(o);
        }
    }
    return text;
}

static guint port_number(Emitter *e, const char *name)
{
    gpointer found;
    if (!g_hash_table_lookup_extended(e->ports, name, NULL, &found)) {
        found = GUINT_TO_POINTER(g_hash_table_size(e->ports));
        g_hash_table_insert(e->ports, g_strdup(name), found);
    }
    return GPOINTER_TO_UINT(found);
}

static void find_in_call(Emitter *e, const Call *c)
{
    const char *function = c->function->name;
    const Arg *file = call_arg_named(c, "filename");
    if (file && file->has_in && file->n_in >= 0 && !c->failed) {
        FileUse *use = file_use(e, file);
        const Arg *amode = call_arg_named(c, "amode");
        if (strcmp(function, "MPI_File_open") == 0 && amode) {
            g_autofree char *modes = expression_bits(e, amode->param->group, amode->in[0].value);
            gboolean creates = strstr(modes, "MPI_MODE_CREATE") != NULL;
            use->created |= creates;
            use->opened |= !creates;
            use->exclusive |= strstr(modes, "MPI_MODE_EXCL") != NULL;
        } else {
            use->opened |= !use->created;
        }
    }
    /* Communicators that lead to processes that the recording knows nothing of, and those made from them. */
    gboolean away = g_str_has_prefix(function, "MPI_Comm_spawn");
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind == WEND_KIND_COMM && arg->has_in && !arg->param->array)
            away |= g_hash_table_contains(e->away, &arg->in[0].value);
    }
    if (!away)
        return;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind == WEND_KIND_COMM && arg->has_out && arg->n_out > 0 && wend_is_handle(arg->out[0].value))
            g_hash_table_add(e->away, g_memdup2(&arg->out[0].value, sizeof(gint64)));
    }
}

void names_find(Emitter *e)
{
    e->file_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    e->file_order = g_ptr_array_new();
    e->ports = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    e->away = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint t = 0; t < wend_program_n_terminals(e->plan->program); t++) {
        if (e->plan->terminal_ranks[t].n == 0)
            continue;
        call_decode(e->call, t);
        find_in_call(e, e->call);
    }
}

char *names_file(Emitter *e, const Call *c, const Arg *arg)
{
    (void)c;
    e->needs[HELPER_SCRATCH] = TRUE;
    return g_strdup_printf("scratch_file(%u)", file_use(e, arg)->number);
}

gboolean names_file_is_input(Emitter *e, guint number)
{
    const FileUse *use = g_hash_table_lookup(e->file_names, g_ptr_array_index(e->file_order, number));
    return use->opened && !use->exclusive && !use->created;
}

char *names_port(Emitter *e, const Call *c, guint index)
{
    const Arg *arg = &c->args[index];
    e->needs[HELPER_PORTS] = e->needs[HELPER_SCRATCH] = TRUE;
    if (arg->has_in) {
        if (arg->n_in < 0)
            return g_strdup("NULL");
        g_autofree char *name = words_to_string(arg->in, (gsize)arg->n_in);
        guint number = port_number(e, name);
        return strcmp(c->function->name, "MPI_Comm_connect") == 0 ? g_strdup_printf("port_wait(%u)", number)
                                                                  : g_strdup_printf("port[%u]", number);
    }
    g_autofree char *name = outcome_string(e, c, index);
    guint number = port_number(e, name ? name : "");
    if (strcmp(c->function->name, "MPI_Open_port") == 0)
        g_ptr_array_add(e->after, g_strdup_printf("port_tell(%u);", number));
    return g_strdup_printf("port[%u]", number);
}

const char *names_left_out(Emitter *e, const Call *c)
{
    if (g_str_has_prefix(c->function->name, "MPI_Comm_spawn"))
        return NULL;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind == WEND_KIND_COMM && arg->has_in && !arg->param->array && arg->n_in_words &&
            g_hash_table_contains(e->away, &arg->in[0].value))
            return "it is about processes that the application started, and these have recordings of their own.";
    }
    return NULL;
}
