/* SPDX-License-Identifier: BSD-3-Clause */
/* pending-results.c: results of one-sided operations, from the call to the synchronization.
 *
 * A result is recorded as its packed bytes: up to 8 as a number, more as data in pieces. */
#include <limits.h>
#include <string.h>

#include "lib/base/budget.h"
#include "memory/segments.h"
#include "objects/objects.h"
#include "onesided-private.h"
#include "own.gen.h"

enum { NUMBER_BYTES = 8, PACK_BYTES = 64 << 10 };

/* -- pending -- */

static PendingList *list_of(OneSidedWindow *w, uint32_t thread, bool make)
{
    PendingList **at = &w->pending, *l;
    while (*at && (*at)->thread < thread)
        at = &(*at)->next;
    if ((*at && (*at)->thread == thread) || !make)
        return *at && (*at)->thread == thread ? *at : NULL;
    if ((l = budget_zeroed(sizeof *l))) {
        l->thread = thread;
        l->next = *at;
        *at = l;
    }
    return l;
}

/* Whether elements of TYPE lie one after the other without gaps, and where the processor can read
 * them. */
static bool is_dense(const void *at, MPI_Datatype type, MPI_Count size)
{
    MPI_Count lb, extent, true_lb, true_extent;
    int64_t segment = memory_known(at).segment;
    return PMPI_Type_get_extent_x(type, &lb, &extent) == MPI_SUCCESS
           && PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent) == MPI_SUCCESS && lb == 0
           && true_lb == 0 && extent == size && true_extent == size
           && !(word_is_segment(segment) && segment_kind(segment) == WEND_SEGMENT_CUDA);
}

/* A copy of TYPE without its attributes. */
static bool copy_type(MPI_Datatype type, MPI_Datatype *copy)
{
    return PMPI_Type_contiguous(1, type, copy) == MPI_SUCCESS
           && PMPI_Type_commit(copy) == MPI_SUCCESS;
}

void onesided_result_free(PendingResult *p)
{
    if (p->type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&p->type);
    budget_free(p, sizeof *p);
}

PendingResult *onesided_result_new(int target, void *at, MPI_Count count, MPI_Datatype type)
{
    MPI_Count size;
    if (!at || count <= 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0
        || size > INT_MAX || count > INT64_MAX / size)
        return NULL;
    PendingResult *p = budget_zeroed(sizeof *p);
    if (!p)
        return NULL;
    *p = (PendingResult){.at = at,
                         .bytes = count * size,
                         .count = count,
                         .type = MPI_DATATYPE_NULL,
                         .target = target};
    if (!is_dense(at, type, size) && !copy_type(type, &p->type)) {
        budget_free(p, sizeof *p);
        return NULL;
    }
    return p;
}

void onesided_result_put_aside(OneSidedWindow *w, PendingResult *p)
{
    pthread_mutex_lock(&w->lock);
    PendingList *l = list_of(w, this_thread->number, true);
    if (l) {
        if (l->last)
            l->last->next = p;
        else
            l->first = p;
        l->last = p;
        l->n++;
    }
    pthread_mutex_unlock(&w->lock);
    if (!l)
        onesided_result_free(p);
}

size_t onesided_results_pending(OneSidedWindow *w)
{
    pthread_mutex_lock(&w->lock);
    const PendingList *l = list_of(w, this_thread->number, false);
    size_t n = l ? l->n : 0;
    pthread_mutex_unlock(&w->lock);
    return n;
}

int onesided_results_oldest(OneSidedWindow *w)
{
    pthread_mutex_lock(&w->lock);
    const PendingList *l = list_of(w, this_thread->number, false);
    int target = l && l->first ? l->first->target : MPI_PROC_NULL;
    pthread_mutex_unlock(&w->lock);
    return target;
}

/* Appends those of TARGET in L to the row that ends at *LAST. */
static PendingResult **take_from(PendingList *l, int target, PendingResult **last)
{
    PendingResult **at = &l->first, *p;
    l->last = NULL;
    while ((p = *at)) {
        if (target == ONESIDED_ALL || p->target == target) {
            *at = p->next;
            l->n--;
            p->next = NULL;
            *last = p;
            last = &p->next;
        } else {
            l->last = p;
            at = &p->next;
        }
    }
    return last;
}

void onesided_results_drop(OneSidedWindow *w)
{
    for (PendingList *l = w->pending, *next; l; l = next) {
        next = l->next;
        for (PendingResult *p = l->first, *after; p; p = after) {
            after = p->next;
            onesided_result_free(p);
        }
        budget_free(l, sizeof *l);
    }
    w->pending = NULL;
}

/* -- recording and replacing -- */

static void note_number(SideStream *s, uint8_t *bytes, unsigned n)
{
    uint64_t word = 0;
    memcpy(&word, bytes, n);
    const unsigned above = 64 - 8 * n;
    int64_t number = (int64_t)(word << above) >> above;
    const WendSideElement *e =
        onesided_replaying ? side_stream_due(s, WEND_RESULT_NUMBER, n) : NULL;
    if (e) {
        number = e->numbers[0];
        memcpy(bytes, &number, n); /* the low bytes come first (x86-64) */
        s->due = NULL;
    }
    if (onesided_recording)
        side_stream_append(s, WEND_RESULT_NUMBER, n, &number, sizeof number);
}

static void note_data(SideStream *s, uint8_t *bytes, size_t n)
{
    for (size_t at = 0; at < n; at += WEND_SIDE_BYTES) {
        size_t some = n - at < WEND_SIDE_BYTES ? n - at : WEND_SIDE_BYTES;
        const WendSideElement *e =
            onesided_replaying ? side_stream_due(s, WEND_RESULT_DATA, 0) : NULL;
        if (e) {
            memcpy(bytes + at, e->bytes, e->n_bytes < some ? e->n_bytes : some);
            s->due = NULL;
        }
        if (onesided_recording)
            side_stream_append(s, WEND_RESULT_DATA, 0, bytes + at, some);
    }
}

static void note_bytes(SideStream *s, uint8_t *bytes, size_t n)
{
    if (n <= NUMBER_BYTES)
        note_number(s, bytes, (unsigned)n);
    else
        note_data(s, bytes, n);
}

/* Packs some elements at a time. */
static void note_packed(SideStream *s, const PendingResult *p)
{
    MPI_Count lb, extent, size = p->bytes / p->count, at_once = PACK_BYTES / size;
    at_once = at_once < 1 ? 1 : at_once < p->count ? at_once : p->count;
    size_t room = (size_t)(at_once * size);
    uint8_t *scratch = budget_resize(NULL, 0, room);
    if (!scratch || PMPI_Type_get_extent_x(p->type, &lb, &extent) != MPI_SUCCESS) {
        budget_free(scratch, scratch ? room : 0);
        return;
    }
    for (MPI_Count i = 0; i < p->count; i += at_once) {
        int n = (int)(p->count - i < at_once ? p->count - i : at_once), end = 0, from = 0;
        char *at = (char *)((uintptr_t)p->at + (uintptr_t)(i * extent));
        if (PMPI_Pack(at, n, p->type, scratch, (int)room, &end, MPI_COMM_SELF) != MPI_SUCCESS)
            break;
        note_bytes(s, scratch, (size_t)end);
        if (onesided_replaying)
            PMPI_Unpack(scratch, end, &from, at, n, p->type, MPI_COMM_SELF);
    }
    budget_free(scratch, room);
}

void onesided_results_note(PendingResult *first)
{
    SideStream *s = first ? onesided_stream(WEND_SIDE_RESULTS) : NULL;
    for (PendingResult *p = first, *next; p; p = next) {
        next = p->next;
        if (s && p->type != MPI_DATATYPE_NULL)
            note_packed(s, p);
        else if (s)
            note_bytes(s, p->at, (size_t)p->bytes);
        onesided_result_free(p);
    }
    if (s)
        side_stream_leave(s);
}

void onesided_results_take(OneSidedWindow *w, int target, bool own)
{
    PendingResult *first = NULL, **last = &first;
    pthread_mutex_lock(&w->lock);
    for (PendingList *l = w->pending; l; l = l->next)
        if (!own || l->thread == this_thread->number)
            last = take_from(l, target, last);
    pthread_mutex_unlock(&w->lock);
    onesided_results_note(first);
}
