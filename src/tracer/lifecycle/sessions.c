/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions.c: MPI_Session_init and MPI_Session_finalize, if the library has sessions. A program
 * without MPI_Init begins and ends with them. */
#include "lifecycle.h"

#ifdef HAVE_MPI_Session_init

#include <unistd.h>

#include "encode/encode.h"
#include "families/families.h"
#include "lib/record/functions.h"
#include "objects/objects.h"
#include "own.gen.h"
#include "process/process.h"
#include "side-streams/side-streams.h"

#define SESSION_TAG "org.wend.merge"
#define WORLD_PSET "mpi://WORLD"

/* The group of all processes. The session and its error handler are the application's, so the
 * handler is set aside for this call. */
static bool world_of(MPI_Session session, MPI_Group *world)
{
    MPI_Errhandler before;
    if (PMPI_Session_get_errhandler(session, &before) != MPI_SUCCESS)
        return false;
    PMPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    bool known = PMPI_Group_from_session_pset(session, WORLD_PSET, world) == MPI_SUCCESS;
    PMPI_Session_set_errhandler(session, before);
    PMPI_Errhandler_free(&before);
    return known;
}

static void session_open(MPI_Session session)
{
    State *s = state();
    MPI_Group world;
    clock_calibrate();
    s->started = true;
    s->process = getpid();
    state_note_user();
    atomic_store(&s->multiple, true);
    state_order_threads();
    datatypes_open();
    call_times_after_start();
    if (s->world_group_known)
        return;
    facts_open();
    if (!world_of(session, &world))
        return;
    s->world_group = world;
    s->world_group_known = true;
    PMPI_Group_rank(world, &s->world_rank);
    PMPI_Group_size(world, &s->world_size);
    s->thread_level = MPI_THREAD_MULTIPLE;
    control_open();
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    if (control_called_by_mpi())
        return WEND_NEXT(MPI_Session_init)(info, errhandler, session);
    tools_start();
    ActiveCall *c = call_begin(WEND_FN_MPI_Session_init);
    if (c) {
        call_put_shape(c, handle_word(HANDLE_INFO, (uintptr_t)info));
        call_put_shape(c, handle_word(HANDLE_ERRHANDLER, (uintptr_t)errhandler));
        call_start(c);
    }
    int rc = WEND_NEXT(MPI_Session_init)(info, errhandler, session);
    if (c)
        call_stop(c, rc);
    if (rc == MPI_SUCCESS) {
        state()->sessions++;
        session_open(*session);
    }
    if (c) {
        if (call_ok(c))
            call_put_shape(c, handle_made(c, HANDLE_SESSION, (uintptr_t)*session));
        call_end(c);
    }
    control_watch();
    return rc;
}

/* Merges before the last session of a program without MPI_Init ends. All processes of the world
 * come here equally often: MPI itself shuts down with its last session, and that is collective. A
 * session of Wend's own keeps MPI running for the merge. */
static void sessions_merge(void)
{
    MPI_Session session;
    MPI_Group world;
    MPI_Comm comm;
    NodeRanks node;
    /* The next calls are collective, and no call of MPI can check before whether all ranks take
     * part. */
    if (participation_of_node(&node) && node.first_without >= 0) {
        control_say_absent();
        control_abandon();
        return;
    }
    if (PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
        termination_keep(state()->world_rank, "MPI gives no session for the merge");
        return;
    }
    if (PMPI_Group_from_session_pset(session, WORLD_PSET, &world) == MPI_SUCCESS) {
        int rc = PMPI_Comm_create_from_group(world, SESSION_TAG, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                             &comm);
        if (rc != MPI_SUCCESS) {
            termination_keep(state()->world_rank, "MPI gives no communicator for the merge");
        } else {
            if (control_merge(comm))
                control_finish();
            mpich_ucx_finalize();
        }
        PMPI_Group_free(&world);
    }
    PMPI_Session_finalize(&session);
}

int MPI_Session_finalize(MPI_Session *session)
{
    State *s = state();
    if (control_called_by_mpi())
        return WEND_NEXT(MPI_Session_finalize)(session);
    MPI_Session before = session ? *session : MPI_SESSION_NULL;
    ActiveCall *c = call_begin(WEND_FN_MPI_Session_finalize);
    bool last =
        s->sessions == 1 && !s->world && !s->world_initialized && before != MPI_SESSION_NULL;
    if (c) {
        call_put_shape(c, handle_word(HANDLE_SESSION, (uintptr_t)before));
        call_start(c);
    }
    if (last) {
        /* The call is recorded before it is made: afterwards there is no MPI to merge with. */
        if (c) {
            call_stop_untimed(c);
            call_end(c);
            c->thread->inside = true;
        }
        handle_freed(c, HANDLE_SESSION, (uintptr_t)before);
        WriteSignals blocked;
        watcher_quiet();
        write_signals_block(&blocked);
        sessions_merge();
        write_signals_restore(&blocked);
        if (s->world_group_known) {
            PMPI_Group_free(&s->world_group);
            s->world_group_known = false;
        }
        s->sessions--;
        int rc = WEND_NEXT(MPI_Session_finalize)(session);
        mpich_ucx_finalized();
        if (c)
            c->thread->inside = false;
        return rc;
    }
    int rc = WEND_NEXT(MPI_Session_finalize)(session);
    if (rc == MPI_SUCCESS && s->sessions > 0)
        s->sessions--;
    if (c) {
        call_stop(c, rc);
        if (call_ok(c))
            handle_freed(c, HANDLE_SESSION, (uintptr_t)before);
        call_end(c);
    }
    return rc;
}

#endif
