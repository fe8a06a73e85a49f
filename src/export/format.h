/* SPDX-License-Identifier: BSD-3-Clause */
/* format.h: what each format of wend export does with the calls. */
#ifndef WEND_EXPORT_FORMAT_H
#define WEND_EXPORT_FORMAT_H

#include <glib.h>

#include "timeline.h"
#include "wend/read.h"

/* A thread, or a callback, of a rank: a location of OTF2, a track of Perfetto. */
typedef struct {
    guint rank, sequence;
    guint64 location; /* its number; those of a rank follow one another, and rank follows rank */
    gboolean callback;
    gint64 id; /* as in a WendReadSequence */
} ExportPlace;

/* What is exported. */
typedef struct {
    WendRead *reader;
    const char *recording; /* its path */
    const char *output;    /* the path of the file or directory */
    gboolean replace;      /* --force */
    const gboolean *ranks; /* NULL: all */
    guint n_ranks, n_worlds;
    const guint64 *first_location; /* of each rank, and the number of all locations */
    const guint32 *counts_as;      /* by site: the site as which it counts; NULL: as itself */
} Export;

/* The messages of a call, by numbers from 1. A message has the same number in the call that sends
 * it and in the call in which its receive completes. */
typedef struct {
    const guint64 *sends, *receives;
    guint n_sends, n_receives;
} CallMessages;

typedef struct {
    const char *name;
    gboolean sites;  /* it uses the sites of calls */
    gboolean groups; /* what it writes of a site is for all sites that count as it */
    /* Begins, and returns the STATE that the other functions get; its type is the format's own.
     * Returns NULL with the error on failure. */
    gpointer (*begin)(const Export *e, GError **error);
    /* Each call of a rank, by its start; ranks follow one another. Returns FALSE if the output
     * cannot be written; END says why. */
    gboolean (*call)(gpointer state, const ExportPlace *place, const TimedCall *timed);
    /* Instead of CALL and RANK: each call of all ranks in causal order, with its messages. */
    gboolean (*causal_call)(gpointer state, const ExportPlace *place, const TimedCall *timed,
                            const CallMessages *messages);
    /* The calls of RANK are over; it has none if it was not chosen. NULL: nothing is to be done. */
    gboolean (*rank)(gpointer state, guint rank);
    /* Ends and frees STATE. With KEEP the output gets its name, without it is removed. */
    gboolean (*end)(gpointer state, gboolean keep, GError **error);
} Format;

extern const Format format_csv, format_csv_calls, format_otf2, format_perfetto;

#endif
