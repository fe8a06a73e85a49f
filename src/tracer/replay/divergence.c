/* SPDX-License-Identifier: BSD-3-Clause */
/* divergence.c: the line about a divergence. */
#include "divergence.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "lib/record/functions.h"
#include "process/system.h"

static const char *name_of(int function)
{
    return function >= 0 && (size_t)function < mpi_n_functions ? mpi_functions[function].name
                                                               : "an unknown function";
}

typedef struct {
    char text[160];
} Difference;

typedef struct {
    char text[64];
} Text;

/* BYTES: -1, there is none. */
static const char *file_text(Text *text, int64_t bytes)
{
    if (bytes < 0)
        return "no file";
    snprintf(text->text, sizeof text->text, "a file of %" PRId64 " bytes", bytes);
    return text->text;
}

/* How what came out of two calls differs. */
static void outcome_text(Difference *text, const Divergence *d)
{
    const CallOutcome *recorded = &d->out[0], *made = &d->out[1];
    if (made->failed) {
        char error[MPI_MAX_ERROR_STRING];
        int n;
        bool known = made->error > MPI_SUCCESS && made->error <= MPI_ERR_LASTCODE
                     && PMPI_Error_string((int)made->error, error, &n) == MPI_SUCCESS;
        snprintf(text->text, sizeof text->text, "it fails%s%.60s%s, and %s in the recording",
                 known ? " (" : "", known ? error : "", known ? ")" : "",
                 recorded->failed ? "otherwise" : "did not");
        return;
    }
    if (recorded->failed) {
        snprintf(text->text, sizeof text->text, "it succeeds, and failed in the recording");
        return;
    }
    DifferentResult r = outcome_difference(d->made.function, recorded, made);
    WordText words[2];
    Text files[2];
    if (!r.name)
        snprintf(text->text, sizeof text->text, "another outcome");
    else if (r.file && r.numbers)
        snprintf(text->text, sizeof text->text, "it finds %s, and %s in the recording",
                 file_text(&files[1], r.made), file_text(&files[0], r.recorded));
    else if (r.numbers)
        snprintf(text->text, sizeof text->text, "it returns %s=%s, not %s", r.name,
                 word_text(&words[1], r.made), word_text(&words[0], r.recorded));
    else
        snprintf(text->text, sizeof text->text, "it returns another %s%s%s", r.name,
                 r.field ? ": its " : "", r.field ? r.field : "");
}

/* How two calls of one function differ. */
static const char *difference_text(Difference *text, const Divergence *d)
{
    DifferentArgument a = argument_difference(&d->recorded, &d->made, MEMORY_BUT_LAYOUT);
    WordText recorded, made;
    MemoryText places[2];
    if (d->is_poll[0] != d->is_poll[1])
        snprintf(text->text, sizeof text->text, "found %s",
                 d->is_poll[1] ? "nothing" : "something");
    else if (d->outcome)
        outcome_text(text, d);
    else if (!a.name)
        snprintf(text->text, sizeof text->text, "another result");
    else if (a.numbers)
        snprintf(text->text, sizeof text->text, "%s=%s, not %s", a.name, word_text(&made, a.made),
                 word_text(&recorded, a.recorded));
    else if (a.window)
        snprintf(text->text, sizeof text->text, "%s=%s, not %s", a.name,
                 memory_text(&places[1], a.made, a.made_offset),
                 memory_text(&places[0], a.recorded, a.recorded_offset));
    else
        snprintf(text->text, sizeof text->text, "another %s", a.name);
    return text->text;
}

enum { NAME_MAX_SHOWN = 56 };

/* A call with its site: "MPI_Send from exchange (halo.c:42)". */
typedef struct {
    char text[NAME_MAX_SHOWN + sizeof " from " + sizeof(SiteText)];
} PlacedCall;

static const char *placed(PlacedCall *text, const char *call, const SiteText *site)
{
    snprintf(text->text, sizeof text->text, "%.*s%s%s", NAME_MAX_SHOWN, call,
             site->text[0] ? " from " : "", site->text);
    return text->text;
}

/* Where the recording has the call, if that is elsewhere. */
static const char *elsewhere(PlacedCall *text, const Divergence *d)
{
    const char *recorded = d->from[0].text;
    bool other = recorded[0] && strcmp(recorded, d->from[1].text) != 0;
    snprintf(text->text, sizeof text->text, "%s%s", other ? ", which has it from " : "",
             other ? recorded : "");
    return text->text;
}

/* What to do if a rank's first calls differ already. */
static const char *advice(const Divergence *d)
{
    enum { FIRST_CALLS = 10 };
    bool is_first = !d->callback && d->thread == 0 && d->call < FIRST_CALLS;
    return is_first && !d->outcome && d->is_poll[0] == d->is_poll[1]
               ? "; start the program that was recorded, with the same arguments"
               : "";
}

void divergence_say(const Divergence *d)
{
    char place[64];
    PlacedCall recorded, made;
    placed(&recorded, name_of(d->recorded.function), &d->from[0]);
    placed(&made, name_of(d->made.function), &d->from[1]);
    if (d->callback)
        snprintf(place, sizeof place, "callback, call %" PRIu64, d->call);
    else
        snprintf(place, sizeof place, "thread %" PRIu32 ", call %" PRIu64, d->thread, d->call);
    Difference text;
    if (d->ends)
        state_say("rank %" PRIu32 ", %s: the program calls %s, and the recording has no more "
                  "calls%s",
                  d->rank, place, made.text, advice(d));
    else if (d->recorded.function != d->made.function)
        state_say("rank %" PRIu32 ", %s: the recording has %s%s, and the program calls %s%s",
                  d->rank, place, recorded.text, d->is_poll[0] ? " that finds nothing" : "",
                  made.text, advice(d));
    else
        state_say("rank %" PRIu32 ", %s: %s departs from the recording%s: %s%s", d->rank, place,
                  made.text, elsewhere(&recorded, d), difference_text(&text, d), advice(d));
    if (d->other_version)
        state_say(
            "the program has changed since the recording, whose addresses have no names here");
}
