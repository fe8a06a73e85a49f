/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c: the calls that begin, end and switch the recording: MPI_Init and its variants,
 * MPI_Abort, MPI_Pcontrol, MPI_Info_set.
 *
 * Recording begins with the first MPI call, whichever it is. It ends with MPI_Finalize, or with the
 * last MPI_Session_finalize of a program that only has sessions (sessions.c). Until then the ranks
 * send each other no messages, except in MPI_Init if there are several hosts whose clocks are to be
 * compared, or where a replay runs (own_communicator_open). The merge has a communicator of its
 * own, which is made once all ranks are known to run under Wend (lifecycle.h). */
#include "lifecycle.h"

#include <ctype.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>

#include "encode/encode.h"
#include "families/families.h"
#include "lib/record/functions.h"
#include "interpose/interpose.h"
#include "objects/objects.h"
#include "side-streams/onesided.h"
#include "output/output.h"
#include "own.gen.h"
#include "process/process.h"
#include "recorder/recorder.h"
#include "replay/replay.h"
#include "process/settings.h"
#include "process/launcher.h"
#include "side-streams/process-values.h"
#include "side-streams/side-streams.h"

/* -- a communicator of Wend's own -- */

/* It exists while MPI_Init runs. A rank knows whether there are several hosts from its launcher's
 * environment alone, so nothing is sent on one host. */

/* The number of seconds that MPI_Init waits for ranks that do not come. */
enum { PATIENCE = 20 };

/* Makes a communicator of all ranks of MPI_COMM_WORLD, in which errors are returned. All ranks
 * under Wend call it, right after MPI_Init. Returns MPI_COMM_NULL, on all ranks alike, if the
 * launcher does not say that there are several hosts, or if not all ranks come here within 20
 * seconds. The caller frees the result before the application goes on, so that the application gets
 * the same communicators as without it. */
static MPI_Comm own_communicator_open(void)
{
    const State *s = state();
    MPI_Comm comm = MPI_COMM_NULL;
    long local = launcher_local_size();
    if (local <= 0 || local >= s->world_size
        || !participation_prove(limit_has_addresses(), PATIENCE))
        return MPI_COMM_NULL;
    /* Copies no attributes, unlike MPI_Comm_dup. Nobody has made a communicator yet, so MPI has
     * some left. */
    if (PMPI_Comm_create(MPI_COMM_WORLD, s->world_group, &comm) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/* -- the process -- */

/* A child of a process that has MPI is no MPI process: it shares the parent's connections, and must
 * not use them. A child of a process without MPI (a launcher that forks first) may become one. */
static void in_forked_child(void)
{
    State *s = state();
    process_values_in_child();
    onesided_stop();
    if (!s->started)
        return;
    s->forked = true;
    watcher_in_child();
    atomic_store(&s->active, false);
}

/* Ends the job at a replay's end before its time. */
static void stop_job(int status)
{
    State *s = state();
    if (s->started && !s->finished && !s->refused && !s->unwritten)
        termination_abort(status);
    s->finished = true;
    atomic_store(&s->active, false);
    termination_let_be_read(500); /* a replay has the time */
    if (s->world)
        PMPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

__attribute__((constructor)) static void load(void)
{
    State *s = state();
    s->thread_new = thread_start;
    thread_numbers_open();
    spawn_load();
    clock_open();
    pthread_atfork(NULL, NULL, in_forked_child);
    s->other_wend = tools_other_wend();
    s->other_family = !s->other_wend && late_mpi_is_foreign();
    if (s->other_wend || s->other_family)
        return;
    tools_open();
    if (mpi_library_symbol(MPI_LIBRARY_MARK))
        unrecorded_open();
    module_own_file();
    replay_open(stop_job);
    process_values_open();
    onesided_open();
    call_times_open();
    site_recording_open();
    atomic_store(&s->recording, settings()->tracing);
    atomic_store(&s->active, true);
}

static bool watch_due; /* control_open has opened the recording; control_watch comes next */

void control_watch(void)
{
    WriteSignals blocked;
    if (!watch_due)
        return;
    watch_due = false;
    write_signals_block(&blocked);
    watcher_open();
    if (termination_open())
        termination_watch_fatal();
    write_signals_restore(&blocked);
}

void control_abandon(void)
{
    parts_remove();
    output_abandon();
}

void control_finish(void)
{
    state()->finished = true;
    process_values_close();
    onesided_stop();
    watcher_close();
    side_stream_close();
}

bool control_called_by_mpi(void)
{
    late_mpi_open();
    return state()->forked || state()->other_wend || state()->other_family
           || (this_thread && this_thread->inside);
}

/* -- the beginning -- */

/* Rank 0 makes the directory. Returns false if there will be no recording. */
static bool open_output(void)
{
    State *s = state();
    char *problem;
    if (output_directory())
        return true;
    if (output_open(s->spawned, &problem))
        return true;
    state_say("%s; recording is off", problem ? problem : "out of memory");
    free(problem);
    return false;
}

static void say_problems(void)
{
    if (settings_problem())
        state_say("%s; the default is used", settings_problem());
}

static void stop_for_good(void)
{
    State *s = state();
    s->refused = true;
    atomic_store(&s->active, false);
}

void control_open(void)
{
    WriteSignals blocked;
    if (state()->unwritten) {
        top_started();
        limit_open();
        return;
    }
    write_signals_block(&blocked);
    top_started();
    if (!limit_has_addresses()) {
        /* Recording would stop at once. Of several ranks in this state only rank 0 may print. */
        if (state()->world_rank == 0)
            state_say("fewer than %d MB of addresses are left (RLIMIT_AS); recording is off",
                      LIMIT_ADDRESSES_MB);
        stop_for_good();
    } else if (state()->world_rank == 0) {
        say_problems();
        /* The other ranks learn it at the merge. */
        if (!open_output())
            stop_for_good();
    }
    limit_open();
    watch_due = !state()->refused;
    write_signals_restore(&blocked);
}

static void watch_self(void);

/* What the hosts have to tell each other at the start. */
static void meet_hosts(void)
{
    MPI_Comm own = MPI_COMM_NULL;
    if (call_times_on() || replay_runs())
        own = own_communicator_open();
    if (own != MPI_COMM_NULL && call_times_on())
        host_clocks_compare(own, false);
    replay_world(own);
    if (own != MPI_COMM_NULL)
        PMPI_Comm_free(&own);
}

/* Opens the world after MPI_Init. */
static void world_open(void)
{
    State *s = state();
    MPI_Comm parent = MPI_COMM_NULL;
    clock_calibrate();
    s->started = s->world_initialized = s->world = true;
    s->process = getpid();
    state_note_user();
    /* The error handlers are MPI's own, since none can be set before. They are not changed, because
     * MPICH would change those of copies of MPI_COMM_WORLD, too. None of these calls can fail. */
    PMPI_Query_thread(&s->thread_level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &s->world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &s->world_size);
    if (!s->world_group_known)
        PMPI_Comm_group(MPI_COMM_WORLD, &s->world_group);
    s->world_group_known = true;
    PMPI_Comm_get_parent(&parent);
    s->spawned = parent != MPI_COMM_NULL;
    if (s->sessions == 0)
        atomic_store(&s->multiple, s->thread_level == MPI_THREAD_MULTIPLE);
    state_order_threads();
    watch_self();
    facts_open();
    comm_open_world();
    datatypes_open();
    meet_hosts();
    process_values_after_start();
    onesided_start();
    call_times_after_start();

    control_open();
}

int MPI_Init(int *argc, char ***argv)
{
    if (control_called_by_mpi())
        return WEND_NEXT(MPI_Init)(argc, argv);
    tools_start();
    process_values_before_start();
    ActiveCall *c = call_begin(WEND_FN_MPI_Init);
    if (c)
        call_start(c);
    int rc = WEND_NEXT(MPI_Init)(argc, argv);
    if (c)
        call_stop(c, rc);
    if (rc == MPI_SUCCESS)
        world_open();
    if (c)
        call_end(c);
    control_watch();
    return rc;
}

static int64_t thread_level_word(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE:
        return WEND_CONST(WEND_CONSTANT_MPI_THREAD_SINGLE);
    case MPI_THREAD_FUNNELED:
        return WEND_CONST(WEND_CONSTANT_MPI_THREAD_FUNNELED);
    case MPI_THREAD_SERIALIZED:
        return WEND_CONST(WEND_CONSTANT_MPI_THREAD_SERIALIZED);
    case MPI_THREAD_MULTIPLE:
        return WEND_CONST(WEND_CONSTANT_MPI_THREAD_MULTIPLE);
    default:
        return level;
    }
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (control_called_by_mpi())
        return WEND_NEXT(MPI_Init_thread)(argc, argv, required, provided);
    tools_start();
    process_values_before_start();
    ActiveCall *c = call_begin(WEND_FN_MPI_Init_thread);
    if (c) {
        call_put_shape(c, thread_level_word(required));
        call_start(c);
    }
    int rc = WEND_NEXT(MPI_Init_thread)(argc, argv, required, provided);
    if (c) {
        call_stop(c, rc);
        if (call_ok(c))
            call_put_shape(c, provided ? thread_level_word(*provided) : WEND_ABSENT);
    }
    if (rc == MPI_SUCCESS)
        world_open();
    if (c)
        call_end(c);
    control_watch();
    return rc;
}

/* -- the end -- */

/* Whether the ranks may be on several hosts. A launcher that is not known does not say it. */
static bool may_have_hosts(void)
{
    long size = state()->world_size;
    return size > 1 && launcher_local_size() != size;
}

static const char silent[] = "MPI does not communicate any more";

bool control_merge(MPI_Comm comm)
{
    enum { NO_RECORDING, NO_PART, PART };
    const State *s = state();
    uint64_t n = rank_part_terminals();
    int terminals = n < INT_MAX ? (int)n : INT_MAX;
    /* what each rank has, whether its clock is to be compared, and its terminals: the least
     * counts */
    int own = !s->refused ? PART : s->world_rank == 0 ? NO_RECORDING : NO_PART;
    int least[4] = {own, call_times_on() && may_have_hosts(), terminals, -terminals};
    waiting_set_limit(WAITING_SECONDS);
    if (!waiting_reduce(least, 4, MPI_INT, MPI_MIN, comm))
        least[0] = NO_PART;
    if (least[0] == PART && least[1])
        host_clocks_compare(comm, true);
    if (least[0] == PART)
        finalize_merge(comm, least[2], -least[3]);
    if (!waiting_failed())
        PMPI_Comm_free(&comm);
    if (least[0] == NO_PART && own == PART)
        termination_keep(s->world_rank,
                         waiting_failed() ? silent : "a rank had too few addresses to be recorded");
    return least[0] == PART;
}

/* Rank 0 prints it, or if that rank runs without Wend, the first rank of its node that runs under
 * Wend. */
void control_say_absent(void)
{
    NodeRanks node;
    if (participation_of_node(&node) && node.first_with == state()->world_rank
        && (node.first_with == 0 || node.first_without == 0))
        state_say("rank %d runs without wend trace: nothing was recorded", node.first_without);
}

/* Makes the merge's communicator, on all ranks or on none. If one rank alone failed, the others
 * would wait in the merge. So the ranks first find out whether all can communicate, with an
 * operation that can be given up. MPI maps memory for the communicator, and a rank without memory
 * may leave the others in MPI_Comm_create. So each rank first says whether it has enough. */
static bool make_comm(MPI_Comm *comm, const char **why)
{
    *comm = MPI_COMM_NULL;
    *why = "a rank does not answer, or has too little memory for the merge";
    if (!participation_agree(limit_has_addresses()))
        return false;
    *why = "MPI gives no communicator for the merge";
    /* Copies no attributes, unlike MPI_Comm_dup. */
    int rc = PMPI_Comm_create(MPI_COMM_WORLD, state()->world_group, comm);
    bool made = rc == MPI_SUCCESS && *comm != MPI_COMM_NULL;
    if (participation_agree(made))
        return true;
    if (made)
        PMPI_Comm_free(comm);
    return false;
}

static void world_merge(void)
{
    State *s = state();
    MPI_Comm comm;
    const char *why;
    if (make_comm(&comm, &why))
        control_merge(comm);
    else if (!s->refused)
        termination_keep(s->world_rank, why);
}

static void world_end(void)
{
    State *s = state();
    switch (participation_wait(s->world_size, (double)settings()->wait)) {
    case PARTICIPATION_ALL:
        world_merge();
        mpich_ucx_finalize();
        break;
    case PARTICIPATION_PARTIAL:
        if (s->refused)
            break; /* a line has said so already */
        control_abandon();
        control_say_absent();
        break;
    case PARTICIPATION_NO_PROGRESS:
        if (!s->refused)
            termination_keep(s->world_rank, silent);
        break;
    case PARTICIPATION_UNKNOWN:
        if (s->refused)
            break;
        char why[128];
        snprintf(why, sizeof why, "not all ranks came to their end under wend trace within %ld s",
                 settings()->wait);
        termination_keep(s->world_rank, why);
        break;
    }
}

/* Closes the world: MPI still runs, and the application has made its last call. */
static void world_close(void)
{
    State *s = state();
    WriteSignals blocked;
    Errhandlers handlers;
    atomic_store(&s->active, false);
    process_values_close();
    onesided_stop();
    watcher_quiet();
    write_signals_block(&blocked);
    errhandlers_suspend(&handlers);
    replay_close();
    progress_close();
    /* A replay that is not recorded has nothing to merge. */
    if (!s->unwritten || may_have_hosts())
        world_end();
    control_finish();
    if (s->world_group_known) {
        PMPI_Group_free(&s->world_group);
        s->world_group_known = false;
    }
    errhandlers_restore(&handlers);
    write_signals_restore(&blocked);
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the newest first. The application's
 * functions for this may call MPI. Wend's attribute is the oldest, so this function comes after
 * them. */
static int self_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    if (!state()->world && !state()->finished)
        world_close();
    return MPI_SUCCESS;
}

static void watch_self(void)
{
    State *s = state();
    s->watching =
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, self_deleted, &s->self_keyval, NULL)
            == MPI_SUCCESS
        && PMPI_Comm_set_attr(MPI_COMM_SELF, s->self_keyval, NULL) == MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    State *s = state();
    if (control_called_by_mpi() || !s->world)
        return WEND_NEXT(MPI_Finalize)();
    /* The call is recorded before it is made: afterwards there is no MPI to merge with. */
    ActiveCall *c = call_begin(WEND_FN_MPI_Finalize);
    if (c) {
        call_start(c);
        call_stop_untimed(c);
        call_end(c);
    }
    if (this_thread)
        this_thread->inside = true;
    s->world = false;
    /* An open session keeps MPI, and its attributes, for an unknown time. */
    if (!s->watching || s->sessions > 0)
        world_close();
    int rc = WEND_NEXT(MPI_Finalize)(), gone = 0;
    if (!s->finished) {
        /* A function of the application failed, and the library stopped there. The other ranks wait
         * for this one. */
        if (PMPI_Finalized(&gone) == MPI_SUCCESS && !gone)
            world_close();
        else if (!s->refused)
            state_say("rank %d: MPI ended before the merge: nothing was recorded", s->world_rank);
        control_finish();
    }
    mpich_ucx_finalized();
    if (this_thread)
        this_thread->inside = false;
    return rc;
}

int MPI_Abort(MPI_Comm comm, int errorcode)
{
    State *s = state();
    if (s->started && !s->finished && !s->refused && !control_called_by_mpi()) {
        if (!termination_abort(errorcode)) {
            if (s->world_rank == 0)
                control_abandon(); /* no rank has saved its part */
            state_say("rank %d called MPI_Abort: nothing was recorded", s->world_rank);
        }
        s->finished = true;
        atomic_store(&s->active, false);
    }
    return WEND_NEXT(MPI_Abort)(comm, errorcode);
}

/* -- on and off -- */

/* Further arguments of MPI_Pcontrol, whose number and types nobody knows: all that a call may have
 * in registers, and the first words on the stack. If they are passed as they are here, each is
 * where it was. Without such arguments they are whatever is there. */
#if defined __x86_64__
enum { WORD_REGISTERS = 5, REAL_REGISTERS = 8 };
#elif defined __aarch64__
enum { WORD_REGISTERS = 7, REAL_REGISTERS = 8 };
#else /* numbers with a point are passed in the registers of others */
enum { WORD_REGISTERS = 7, REAL_REGISTERS = 0 };
#endif
enum { WORDS = WORD_REGISTERS + 6 };

typedef struct {
    uintptr_t words[WORDS];
    double reals[8];
} FurtherArguments;

/* The words on the stack may be the caller's variables. */
static __attribute__((no_sanitize("address"))) void take_further(FurtherArguments *f, va_list list)
{
    int i = 0;
    for (; i < WORD_REGISTERS; i++)
        f->words[i] = va_arg(list, uintptr_t);
    for (int k = 0; k < REAL_REGISTERS; k++)
        f->reals[k] = va_arg(list, double);
    for (; i < WORDS; i++)
        f->words[i] = va_arg(list, uintptr_t);
}

static int pass_on(int level, const FurtherArguments *f)
{
    const uintptr_t *w = f->words;
#if defined __x86_64__
    const double *d = f->reals;
    return WEND_NEXT(MPI_Pcontrol)(level, w[0], w[1], w[2], w[3], w[4], d[0], d[1], d[2], d[3],
                                   d[4], d[5], d[6], d[7], w[5], w[6], w[7], w[8], w[9], w[10]);
#elif defined __aarch64__
    const double *d = f->reals;
    return WEND_NEXT(MPI_Pcontrol)(level, w[0], w[1], w[2], w[3], w[4], w[5], w[6], d[0], d[1],
                                   d[2], d[3], d[4], d[5], d[6], d[7], w[7], w[8], w[9], w[10],
                                   w[11], w[12]);
#else
    return WEND_NEXT(MPI_Pcontrol)(level, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8],
                                   w[9], w[10], w[11], w[12]);
#endif
}

/* Whether ADDRESS, which may be anything, is that of the name of an event or a command. */
static bool is_name(uintptr_t address)
{
    enum { LONGEST = 255 };
    unsigned char text[LONGEST + 1];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), here = page - address % page;
    if (here > sizeof text)
        here = sizeof text;
    struct iovec to = {text, sizeof text},
                 from[2] = {{(void *)address, here},
                            {(void *)(address + here), sizeof text - here}};
    ssize_t n = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1UL, from,
                        here < sizeof text ? 2UL : 1UL, 0UL);
    ssize_t i = 0;
    while (i < n && text[i] >= ' ' && text[i] != 0x7f)
        i++;
    return i > 1 && i < n && text[i] == '\0' && (isalnum(text[0]) || text[0] == '_');
}

/* Level 0 is "off", unless it says what it is about: a tool's event, or a command to a tool. */
int MPI_Pcontrol(const int level, ...)
{
    State *s = state();
    ActiveCall *c;
    FurtherArguments further;
    va_list list;
    va_start(list, level);
    take_further(&further, list);
    va_end(list);
    bool named = level == 0 && s->started && is_name(further.words[0]);
    /* The call that switches is recorded, so that a proxy switches, too. */
    if (level >= 1)
        atomic_store(&s->recording, true);
    if ((c = call_begin(WEND_FN_MPI_Pcontrol))) {
        call_put_slot(c, level);
        c->nulls = named ? INT64_C(1) << 1 : 0; /* of the further arguments */
        call_start(c);
        int rc = pass_on(level, &further);
        call_stop(c, rc);
        call_end(c);
        if (level == 0)
            atomic_store(&s->was_off, true);
        if (level == 0 && !named)
            atomic_store(&s->recording, false);
        return rc;
    }
    return pass_on(level, &further);
}

/* In some locales "I" is no large "i". */
static bool is_tracing_key(const char *key)
{
    return strcasecmp_l(key, "WEND_TRACING", newlocale(LC_ALL_MASK, "C", (locale_t)0)) == 0;
}

int MPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    State *s = state();
    bool on, switches = key && value && is_tracing_key(key) && settings_switch(value, &on);
    if (switches && on)
        atomic_store(&s->recording, true);
    ActiveCall *c = call_begin(WEND_FN_MPI_Info_set);
    if (!c)
        return WEND_NEXT(MPI_Info_set)(info, key, value);
    call_put_shape(c, handle_word(HANDLE_INFO, (uintptr_t)info));
    encode_string(&c->shape, key);
    encode_string(&c->shape, value);
    call_start(c);
    int rc = WEND_NEXT(MPI_Info_set)(info, key, value);
    call_stop(c, rc);
    call_end(c);
    if (switches && !on) {
        atomic_store(&s->was_off, true);
        atomic_store(&s->recording, false);
    }
    return rc;
}
