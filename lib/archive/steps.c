/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c: see steps.h. */
#include "steps.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/shared-file.h"
#include "merge/merge.h"
#include "write.h"

static WendMerge *merge; /* in the heap; NULL: no part has been read */
static uint64_t most;    /* bytes that the steps may take, for messages */
static char problem[236];
static void *received;
static Vector *own_frame; /* of this rank's shard, in the heap; NULL: it has none */
static SharedFile shared; /* the archive, while other ranks write to it */

/* steps.h includes no header that the tracer lacks, so it repeats these types of the merge. */
_Static_assert(sizeof(WendStepPlace) == sizeof(WendFramePlace), "the same");
_Static_assert(offsetof(WendStepPlace, bytes) == offsetof(WendFramePlace, bytes), "the same");
_Static_assert(offsetof(WendStepPlace, rank) == offsetof(WendFramePlace, rank), "the same");
_Static_assert(offsetof(WendStepPlace, what) == offsetof(WendFramePlace, what), "the same");
_Static_assert((int)WEND_STEP_SHARD == (int)WEND_PLACE_SHARD, "the same");
_Static_assert(sizeof(WendStepKey) == sizeof(SharedFileKey), "the same");

void wend_step_limit(uint64_t bytes, bool (*has_room)(uint64_t bytes))
{
    most = bytes;
    memory_limit(bytes, has_room);
}

const char *wend_step_problem(void)
{
    return problem;
}

uint64_t wend_step_held(void)
{
    return memory_held();
}

void wend_step_end(void)
{
    shared_file_abandon(&shared);
    memory_drop();
    merge = NULL;
    received = NULL;
    own_frame = NULL;
}

static bool short_of_memory(void)
{
    unsigned long long megabytes = most >> 20;
    if (memory_was_refused())
        snprintf(problem, sizeof problem,
                 "merging takes more memory than the %llu MB that there are to spare", megabytes);
    else
        snprintf(problem, sizeof problem, "out of memory while merging");
    return false;
}

typedef struct {
    const void *bytes;
    size_t n;
    uint32_t least;
    uint64_t offset;
    const char *directory, *file;
    WendStepResult *result;
    bool good;
} Step;

/* Calls WORK(S). Returns false if memory was short or the step failed; PROBLEM then has the reason,
 * and the recording is freed. */
static bool step_try(void (*work)(void *step), Step *s)
{
    bool good = memory_try(work, s) ? s->good : short_of_memory();
    if (!good)
        wend_step_end();
    return good;
}

/* Copies the message of ERROR, if there is one, to PROBLEM. Returns whether there is none. */
static bool note(Error *error)
{
    if (error)
        snprintf(problem, sizeof problem, "%s", error->message);
    return !error;
}

static void read_part(void *step)
{
    Step *s = step;
    Error *error = NULL;
    WendMerge *one = merge_from_part(s->bytes, s->n, UINT64_MAX, &error);
    s->good =
        one && write_make_side_frames(one, &error) && (!merge || merge_unite(merge, one, &error));
    if (!merge)
        merge = one;
    note(error);
}

bool wend_step_part(const void *part, size_t n)
{
    return step_try(read_part, &(Step){.bytes = part, .n = n});
}

static void absorb(void *step)
{
    Step *s = step;
    Error *error = NULL;
    s->good = merge_absorb(merge, s->bytes, s->n, &error);
    note(error);
    memory_free(received);
    received = NULL;
}

bool wend_step_absorb(const void *encoded, size_t n)
{
    return merge && step_try(absorb, &(Step){.bytes = encoded, .n = n});
}

static void encode(void *step)
{
    Step *s = step;
    const Vector *bytes = merge_encode(merge);
    s->bytes = bytes->data;
    s->n = bytes->len;
    s->good = true;
}

bool wend_step_encode(const void **encoded, size_t *n)
{
    Step s = {0};
    if (!merge || !step_try(encode, &s))
        return false;
    *encoded = s.bytes;
    *n = s.n;
    return true;
}

void *wend_step_memory(size_t n)
{
    if (!(received = memory_new_or_null(n ? n : 1)))
        short_of_memory();
    return received;
}

static void write_whole(void *step)
{
    const Step *s = step;
    WendArchiveResult written;
    Error *error = NULL;
    uint64_t after = 0;
    Vector *places = NULL;
    ((Step *)step)->good =
        write_has_frames(merge)
            ? write_archive_begin(merge, s->directory, s->file, &shared, &places, &written, &error)
            : write_archive(merge, s->directory, s->file, &written, &error);
    if (!note(error))
        return;
    const char *unrecorded = merge_unrecorded(merge), *kinds = "";
    WendStepResult *r = s->result;
    *r = (WendStepResult){.bytes = written.bytes};
    if (places) {
        r->n_places = places->len;
        r->places = (const WendStepPlace *)(const void *)places->data;
        memcpy(&r->key, &shared.key, sizeof r->key);
    }
    snprintf(r->totals, sizeof r->totals, "%s", totals_text(&written.totals));
    r->stopped = merge_stopped(merge, &after);
    r->stopped_after = after;
    r->cut = merge_cut(merge, &kinds);
    r->left_out = merge_left_out(merge);
    snprintf(r->cut_kinds, sizeof r->cut_kinds, "%s", kinds);
    snprintf(r->unrecorded, sizeof r->unrecorded, "%s", unrecorded ? unrecorded : "");
}

bool wend_step_write(const char *directory, const char *file, WendStepResult *result)
{
    Step s = {.directory = directory, .file = file, .result = result};
    return merge && step_try(write_whole, &s);
}

/* -- shards -- */

static void make_shard(void *step)
{
    Step *s = step;
    Error *error = NULL;
    s->good = write_make_shard(merge, s->least, &own_frame, &error);
    note(error);
}

bool wend_step_shard(uint32_t least)
{
    return merge && (own_frame || step_try(make_shard, &(Step){.least = least}));
}

bool wend_step_frame(const WendStepPlace *place, const void **frame, size_t *n)
{
    const Vector *own = place->what == WEND_STEP_SHARD ? own_frame
                        : merge ? write_side_frame(merge, place->rank, place->what - 1)
                                : NULL;
    if (!own)
        return false;
    *frame = own->data;
    *n = own->len;
    return true;
}

bool wend_step_contribute(const char *directory, const WendStepKey *key, const WendStepPlace *place)
{
    SharedFileKey shared_key;
    const void *frame;
    size_t n;
    memcpy(&shared_key, key, sizeof shared_key);
    shared_key.temporary[sizeof shared_key.temporary - 1] = '\0';
    return wend_step_frame(place, &frame, &n)
           && shared_file_contribute(directory, &shared_key, place->offset, frame, n);
}

static void fill(void *step)
{
    Step *s = step;
    Error *error = NULL;
    s->good = shared_file_write(&shared, s->offset, s->bytes, s->n, &error);
    note(error);
    memory_free(received);
    received = NULL;
}

bool wend_step_fill(const void *frame, size_t n, uint64_t offset)
{
    return merge && step_try(fill, &(Step){.bytes = frame, .n = n, .offset = offset});
}

static void finish(void *step)
{
    Error *error = NULL;
    ((Step *)step)->good = shared_file_end(&shared, &error);
    note(error);
}

bool wend_step_finish(void)
{
    return merge && step_try(finish, &(Step){0});
}
