/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers_worlds.c: see helpers.h. A proxy of several worlds starts itself again. Arguments tell
 * the new processes which world they are. */
#include "helpers.h"
#include "src/proxygen/model/model.h"

static const char *const note_text =
    "/* In the scratch directory there is a file for each world that runs, or is about to: the "
    "last one removes it all. */\n"
    "static void world_note(int number, int running)\n"
    "{\n"
    "    char name[sizeof scratch_dir + 64];\n"
    "    snprintf(name, sizeof name, \"%s/world-%d\", scratch_dir, number);\n"
    "    if (running)\n"
    "        close(open(name, O_WRONLY | O_CREAT, 0666));\n"
    "    else\n"
    "        unlink(name);\n"
    "}\n"
    "\n"
    "static int world_is_last(void)\n"
    "{\n"
    "    char name[sizeof scratch_dir + 64];\n"
    "    world_note(world, 0);\n"
    "    for (int i = 0; i < (int)(sizeof world_ranks / sizeof *world_ranks); i++) {\n"
    "        snprintf(name, sizeof name, \"%s/world-%d\", scratch_dir, i);\n"
    "        if (access(name, F_OK) == 0)\n"
    "            return 0;\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "\n";

static const char *const next_text =
    "/* The arguments of what the next MPI_Comm_spawn starts; of a call that failed: of no world. "
    "*/\n"
    "@void next_world(int succeeds)\n"
    "{\n"
    "    static int started;\n"
    "    int skip = started, number = -1;\n"
    "    for (int i = 0; succeeds && i < (int)(sizeof world_starts / sizeof *world_starts); i++)\n"
    "        if (world_starts[i][0] == rank && skip-- == 0)\n"
    "            number = world_starts[i][1];\n"
    "    started += succeeds;\n"
    "    snprintf(world_number, sizeof world_number, \"%d\", number);\n";

static const char *const begin_text =
    "}\n"
    "\n"
    "@void world_begin(int argc, char **argv)\n"
    "{\n"
    "    if (argc != 4 || strcmp(argv[1], \"world\") != 0)\n"
    "        return;\n"
    "    world = atoi(argv[2]);\n"
    "    if (world < 0 || world >= (int)(sizeof world_ranks / sizeof *world_ranks)) { /* started "
    "by a call that had failed */\n"
    "        PMPI_Init(NULL, NULL);\n"
    "        PMPI_Finalize();\n"
    "        exit(0);\n"
    "    }\n";

void helpers_worlds(Out *o)
{
    const WendProgram *p = o->e->plan->program;
    g_autoptr(GString) ranks = g_string_new(""), first = g_string_new(""), list = g_string_new("");
    g_autoptr(GArray) starts = job_worlds_starts(p);
    for (guint i = 0; i < wend_program_n_worlds(p); i++) {
        g_string_append_printf(ranks, "%s%u", i ? ", " : "", wend_program_world(p, i)->ranks);
        g_string_append_printf(first, "%s%u", i ? ", " : "", wend_program_world(p, i)->first);
    }
    for (guint i = 0; i < starts->len; i++) {
        const WorldStart *s = &g_array_index(starts, WorldStart, i);
        g_string_append_printf(list, "%s{%u, %u}", i ? ", " : "", s->rank, s->world);
    }
    guint n = wend_program_n_worlds(p);
    helper_declare(
        o->e, o->declarations,
        "extern int world, world_rank;\nextern const int world_ranks[%u], world_first[%u];", n, n);
    c_text_comment(
        o->definitions, 0,
        "The worlds of the job: each has an MPI_COMM_WORLD with so many ranks, the first "
        "of which has that number in the job.");
    g_string_append_printf(
        o->definitions,
        "%sint world; /* this process's */\n%sint world_rank; /* in MPI_COMM_WORLD */\n",
        o->e->linkage, o->e->linkage);
    c_text_line(o->definitions, 0, "%sconst int world_ranks[%u] = {%s};", o->e->linkage, n,
                ranks->str);
    c_text_line(o->definitions, 0, "%sconst int world_first[%u] = {%s};", o->e->linkage, n,
                first->str);
    c_text_comment(o->definitions, 0, "Who starts which, in the order of its calls.");
    c_text_line(o->definitions, 0, "static const int world_starts[%u][2] = {%s};", starts->len,
                list->str);
    g_string_append_c(o->definitions, '\n');
}

void helpers_world_starts(Out *o)
{
    Emitter *e = o->e;
    gboolean scratch = e->needs[HELPER_SCRATCH];
    helper_declare(e, o->declarations,
                   "extern char *world_arguments[];\nvoid next_world(int succeeds);\nvoid "
                   "world_begin(int argc, char **argv);");
    g_string_append(o->definitions, "static char world_number[16];\n");
    g_string_append_printf(o->definitions,
                           "%schar *world_arguments[] = {\"world\", world_number, %s, NULL};\n\n",
                           e->linkage, scratch ? "scratch_dir" : "\"\"");
    helper_define(e, o->definitions, next_text);
    if (scratch)
        g_string_append(o->definitions, "    if (number >= 0)\n        world_note(number, 1);\n");
    helper_define(e, o->definitions, begin_text);
    if (scratch)
        g_string_append(o->definitions,
                        "    snprintf(scratch_dir, sizeof scratch_dir, \"%s\", argv[3]);\n");
    g_string_append(o->definitions, "}\n\n");
}

void helpers_world_notes(Out *o)
{
    helper_define(o->e, o->definitions, note_text);
}
