/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers_messages.c: see helpers.h. */
#include "helpers.h"

static const char *const send_order_text =
    "/* Rank %d received from any source, and from some by name, in an order that mattered: so "
    "each process sends to it when it is its\n"
    " * turn in the recorded order. */\n"
    "static MPI_Comm turns;\n"
    "\n"
    "@void send_order_begin(void)\n"
    "{\n"
    "    PMPI_Comm_dup(MPI_COMM_WORLD, &turns);\n"
    "}\n"
    "\n"
    "@void give_turn(int to)\n"
    "{\n"
    "    if (to >= 0)\n"
    "        PMPI_Send(NULL, 0, MPI_BYTE, to, 0, turns);\n"
    "}\n"
    "\n"
    "@void wait_for_turn(int to)\n"
    "{\n"
    "    if (to == %d)\n"
    "        PMPI_Recv(NULL, 0, MPI_BYTE, to, 0, turns, MPI_STATUS_IGNORE);\n"
    "}\n"
    "\n";

static const char *const aims_text =
    "/* A persistent receive from any source that is pinned has a request for each source that "
    "came, of which each start takes the one whose turn it\n"
    " * is. */\n"
    "typedef struct Aim Aim;\n"
    "struct Aim {\n"
    "    Aim *next;\n"
    "    MPI_Request current;   /* the program has it */\n"
    "    const int *sources;    /* of the starts to come; -1000 ends them */\n"
    "    int n;\n"
    "    struct { int source; MPI_Request request; } made[];\n"
    "};\n"
    "static Aim *aims;\n"
    "\n"
    "static inline Aim **aim_of(MPI_Request request)\n"
    "{\n"
    "    Aim **aim = &aims;\n"
    "    while (*aim != NULL && (*aim)->current != request)\n"
    "        aim = &(*aim)->next;\n"
    "    return aim;\n"
    "}\n"
    "\n"
    "static int aim_at(const Aim *aim, int source)\n"
    "{\n"
    "    int i = 0;\n"
    "    while (i < aim->n && aim->made[i].source != source)\n"
    "        i++;\n"
    "    return i;\n"
    "}\n"
    "\n"
    "static inline void aim_next(MPI_Request *request)\n"
    "{\n"
    "    Aim *aim = *aim_of(*request);\n"
    "    if (aim != NULL && *aim->sources != -1000)\n"
    "        *request = aim->current = aim->made[aim_at(aim, *aim->sources++)].request;\n"
    "}\n"
    "\n";

/* $ stands for int and # for nothing, or $ for MPI_Count and # for _c. */
static const char *const aim_init_text =
    "@int recv_init#_aimed(void *buf, $ count, MPI_Datatype datatype, const int *sources, int tag, "
    "MPI_Comm comm, MPI_Request *request)\n"
    "{\n"
    "    static const int never_started[] = {MPI_ANY_SOURCE, -1000};\n"
    "    int n = 0;\n"
    "    if (*sources == -1000)\n"
    "        sources = never_started;\n"
    "    while (sources[n] != -1000)\n"
    "        n++;\n"
    "    Aim *aim = malloc(sizeof *aim + (size_t)n * sizeof aim->made[0]);\n"
    "    if (aim == NULL) {\n"
    "        fputs(\"proxy: out of memory\\n\", stderr);\n"
    "        PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "    }\n"
    "    aim->n = 0;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (aim_at(aim, sources[i]) == aim->n) {\n"
    "            MPI_Recv_init#(buf, count, datatype, sources[i], tag, comm, "
    "&aim->made[aim->n].request);\n"
    "            aim->made[aim->n++].source = sources[i];\n"
    "        }\n"
    "    aim->sources = sources;\n"
    "    aim->next = aims;\n"
    "    aims = aim;\n"
    "    *request = aim->current = aim->made[0].request;\n"
    "    return MPI_SUCCESS;\n"
    "}\n"
    "\n";

static const char *const aim_start_text = "@int start_aimed(MPI_Request *request)\n"
                                          "{\n"
                                          "    aim_next(request);\n"
                                          "    return MPI_Start(request);\n"
                                          "}\n"
                                          "\n";

static const char *const aim_startall_text = "@int startall_aimed(int n, MPI_Request *requests)\n"
                                             "{\n"
                                             "    for (int i = 0; i < n; i++)\n"
                                             "        aim_next(&requests[i]);\n"
                                             "    return MPI_Startall(n, requests);\n"
                                             "}\n"
                                             "\n";

static const char *const aim_free_text = "@int request_free_aimed(MPI_Request *request)\n"
                                         "{\n"
                                         "    Aim **place = aim_of(*request), *aim = *place;\n"
                                         "    for (int i = 0; aim != NULL && i < aim->n; i++)\n"
                                         "        if (aim->made[i].request != aim->current)\n"
                                         "            MPI_Request_free(&aim->made[i].request);\n"
                                         "    if (aim != NULL) {\n"
                                         "        *place = aim->next;\n"
                                         "        free(aim);\n"
                                         "    }\n"
                                         "    return MPI_Request_free(request);\n"
                                         "}\n"
                                         "\n";

static void aim_init(Out *o, const char *suffix, const char *count)
{
    g_autoptr(GString) text = g_string_new(aim_init_text);
    g_string_replace(text, "#", suffix, 0);
    g_string_replace(text, "$", count, 0);
    helper_declare(o->e, o->declarations,
                   "int recv_init%s_aimed(void *buf, %s count, MPI_Datatype datatype, const int "
                   "*sources, int tag, MPI_Comm comm, MPI_Request *request);",
                   suffix, count);
    helper_define(o->e, o->definitions, text->str);
}

static void aims(Out *o)
{
    Emitter *e = o->e;
    if (e->needs[HELPER_AIM_INIT] || e->needs[HELPER_AIM_INIT_C])
        helper_define(e, o->definitions, aims_text);
    if (e->needs[HELPER_AIM_INIT])
        aim_init(o, "", "int");
    if (e->needs[HELPER_AIM_INIT_C])
        aim_init(o, "_c", "MPI_Count");
    if (e->needs[HELPER_AIM_START]) {
        helper_declare(e, o->declarations, "int start_aimed(MPI_Request *request);");
        helper_define(e, o->definitions, aim_start_text);
    }
    if (e->needs[HELPER_AIM_STARTALL]) {
        helper_declare(e, o->declarations, "int startall_aimed(int n, MPI_Request *requests);");
        helper_define(e, o->definitions, aim_startall_text);
    }
    if (e->needs[HELPER_AIM_FREE]) {
        helper_declare(e, o->declarations, "int request_free_aimed(MPI_Request *request);");
        helper_define(e, o->definitions, aim_free_text);
    }
}

static const char *const places_text =
    "/* Memory in dynamic windows, which others name by its address: each process says here where "
    "it has which block. Block 0 is what was no\n"
    " * attached memory when it was accessed. */\n"
    "static MPI_Win places;\n"
    "static MPI_Comm places_comm; /* kept as long as the window: MPICH 4.0.2 crashes where it is "
    "freed before */\n"
    "\n"
    "@void place_known(int block, void *base)\n"
    "{\n"
    "    MPI_Aint address = (MPI_Aint)base;\n"
    "    PMPI_Accumulate(&address, 1, MPI_AINT, world_rank, block, 1, MPI_AINT, MPI_REPLACE, "
    "places);\n"
    "    PMPI_Win_flush(world_rank, places);\n"
    "}\n"
    "\n"
    "@void places_begin(MPI_Comm all)\n"
    "{\n"
    "    MPI_Aint *mine; /* an even number: MPICH 4.0.2 replaces what is 8 bytes before it in "
    "memory that is not aligned to 16 */\n"
    "    PMPI_Comm_dup(all, &places_comm);\n"
    "    PMPI_Win_allocate(%d * sizeof *mine, sizeof *mine, MPI_INFO_NULL, places_comm, &mine, "
    "&places);\n"
    "    PMPI_Win_lock_all(MPI_MODE_NOCHECK, places);\n"
    "    memset(mine, 0, %d * sizeof *mine);\n"
    "    PMPI_Win_sync(places);\n"
    "    PMPI_Barrier(places_comm);\n"
    "    place_known(0, unknown_buffer);\n"
    "}\n"
    "\n"
    "@void places_end(void)\n"
    "{\n"
    "    PMPI_Win_unlock_all(places);\n"
    "    PMPI_Win_free(&places);\n"
    "    PMPI_Comm_free(&places_comm);\n"
    "}\n"
    "\n"
    "/* The address of a block of that process; if it has not attached it yet, it is about to. */\n"
    "@MPI_Aint place(int process, int block, MPI_Aint offset)\n"
    "{\n"
    "    MPI_Aint base = 0;\n"
    "    int flag;\n"
    "    for (;;) {\n"
    "        PMPI_Fetch_and_op(NULL, &base, MPI_AINT, process, block, MPI_NO_OP, places);\n"
    "        PMPI_Win_flush(process, places);\n"
    "        if (base != 0)\n"
    "            return base + offset;\n"
    "        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, places_comm, &flag, MPI_STATUS_IGNORE); /* "
    "Open MPI reads shared memory without looking who needs this process */\n"
    "        sched_yield();\n"
    "    }\n"
    "}\n"
    "\n";

static const char *const place_in_text =
    "/* The same of a process by its rank in a window; block -1: a displacement as other windows "
    "have them. */\n"
    "@MPI_Aint place_in(MPI_Win window, int target, int block, MPI_Aint offset)\n"
    "{\n"
    "    MPI_Group members, all;\n"
    "    int process;\n"
    "    if (block < 0)\n"
    "        return offset;\n"
    "    PMPI_Win_get_group(window, &members);\n"
    "    PMPI_Comm_group(MPI_COMM_WORLD, &all);\n"
    "    PMPI_Group_translate_ranks(members, 1, &target, all, &process);\n"
    "    PMPI_Group_free(&members);\n"
    "    PMPI_Group_free(&all);\n"
    "    return place(process, block, offset);\n"
    "}\n"
    "\n";

static const char *const await_places_text =
    "/* Before a lock: waits for what is known to be attached by then. With the lock held the "
    "other process might be kept from it. */\n"
    "@void await_places(MPI_Win window, int target)\n"
    "{\n"
    "    static int locks, next;\n"
    "    const int *list = awaited[rank];\n"
    "    locks++;\n"
    "    for (; list[next] == locks; next += 2)\n"
    "        place_in(window, target, list[next + 1], 0);\n"
    "}\n"
    "\n";

/* Writes for each rank pairs of a lock's number and a block, ended by 0. */
static void await_places(Out *o)
{
    const GPtrArray *awaited = o->e->plan->awaited;
    g_autoptr(GString) lists = g_string_new("");
    for (guint r = 0; r < awaited->len; r++) {
        const GArray *list = g_ptr_array_index(awaited, r);
        g_autoptr(GString) pairs = g_string_new("");
        for (guint i = 0; i < list->len; i++)
            g_string_append_printf(pairs, "%d, %d, ", (int)(g_array_index(list, gint64, i) >> 32),
                                   (int)g_array_index(list, gint64, i));
        c_text_line(o->definitions, 0, "static const int awaited_by_%u[] = {%s0};", r, pairs->str);
        g_string_append_printf(lists, "%sawaited_by_%u", r ? ", " : "", r);
    }
    c_text_line(o->definitions, 0, "static const int *const awaited[] = {%s};", lists->str);
    g_string_append_c(o->definitions, '\n');
    helper_declare(o->e, o->declarations, "void await_places(MPI_Win window, int target);");
    helper_define(o->e, o->definitions, await_places_text);
}

static const char *const graph_text =
    "/* A graph whose neighbours stand in the recorded order. That of MPI_Dist_graph_create is "
    "the\n"
    " * library's, and the blocks that are sent go by it. */\n"
    "@int graph_create(MPI_Comm old, const int *neighbours, MPI_Info info, MPI_Comm *graph)\n"
    "{\n"
    "    int weighted = neighbours[1], in = neighbours[2], out = neighbours[3], status;\n"
    "    const int *sources = neighbours + 4, *destinations = sources + in;\n"
    "    const int *from = destinations + out, *to = from + in;\n"
    "    MPI_Comm ordered = old;\n"
    "#"
    "    if (!weighted)\n"
    "        from = to = MPI_UNWEIGHTED;\n"
    "    if (weighted && in == 0)\n"
    "        from = MPI_WEIGHTS_EMPTY;\n"
    "    if (weighted && out == 0)\n"
    "        to = MPI_WEIGHTS_EMPTY;\n"
    "    status = MPI_Dist_graph_create_adjacent(ordered, in, sources, from, out, destinations, "
    "to,\n"
    "                                            info, 0, graph);\n"
    "    if (ordered != old)\n"
    "        PMPI_Comm_free(&ordered);\n"
    "    return status;\n"
    "}\n"
    "\n";

static void graphs(Out *o)
{
    static const char *const reordered =
        "    PMPI_Comm_split(old, 0, neighbours[0], &ordered); /* ranks in it were others */\n";
    helper_declare(o->e, o->declarations,
                   "int graph_create(MPI_Comm old, const int *neighbours, MPI_Info info,\n"
                   "                 MPI_Comm *graph);");
    helper_define_with(o, graph_text, o->e->plan->graphs_reordered ? reordered : "");
}

void helpers_messages(Out *o)
{
    Emitter *e = o->e;
    if (e->needs[HELPER_TURNS]) {
        g_auto(GStrv) around = g_strsplit(send_order_text, "%d", -1);
        g_autofree char *hub = g_strdup_printf("%d", e->plan->hub), *text = g_strjoinv(hub, around);
        helper_declare(
            e, o->declarations,
            "void send_order_begin(void);\nvoid give_turn(int to);\nvoid wait_for_turn(int to);");
        helper_define(e, o->definitions, text);
    }
    aims(o);
    if (e->needs[HELPER_GRAPH])
        graphs(o);
    if (e->needs[HELPER_PLACES]) {
        g_auto(GStrv) around = g_strsplit(places_text, "%d", -1);
        g_autofree char *n = g_strdup_printf("%u", (e->plan->blocks->len + 2) / 2 * 2),
                        *text = g_strjoinv(n, around);
        helper_declare(e, o->declarations,
                       "void places_begin(MPI_Comm all);\nvoid places_end(void);\nvoid "
                       "place_known(int block, void *base);\n"
                       "MPI_Aint place(int process, int block, MPI_Aint offset);");
        helper_define(e, o->definitions, text);
    }
    if (e->needs[HELPER_PLACE_IN]) {
        helper_declare(
            e, o->declarations,
            "MPI_Aint place_in(MPI_Win window, int target, int block, MPI_Aint offset);");
        helper_define(e, o->definitions, place_in_text);
    }
    if (e->needs[HELPER_AWAIT_PLACES])
        await_places(o);
}
