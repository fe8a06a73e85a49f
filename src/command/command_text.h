/* SPDX-License-Identifier: BSD-3-Clause */
/* command_text.h: how commands read and write rank sets, numbers, sizes, times, foreign text
 * and JSON strings. */
#ifndef WEND_COMMAND_TEXT_H
#define WEND_COMMAND_TEXT_H

#include <glib.h>

/* "0,3-7,10-20:2" (first-last:step) of ranks 0 … N_RANKS-1. A row of N_RANKS flags, which the
 * caller frees; NULL and a usage error otherwise. */
gboolean *text_ranks_parse(const char *text, guint n_ranks, GError **error);
/* The other way: ascending ranks as "0-7, 9, 12-20:2". */
void text_ranks(GString *out, const guint *ranks, guint n);
/* "A-B", "A-", "-B" or "A", both ends included. */
gboolean text_span_parse(const char *text, guint64 *first, guint64 *last, GError **error);

void text_count(GString *out, guint64 n);  /* 1,234,567 */
void text_bytes(GString *out, guint64 n);  /* 1,234 B, 12.3 KB, 4.56 MB (powers of 1,000) */
void text_seconds(GString *out, double s); /* 12.3 us */
/* Likewise, with at most three digits, and no more than are known: the last one is off by two at
 * most if S may be off by ERROR, in seconds.
 * "<1 us" if none is. */
void text_seconds_known(GString *out, double s, double error);
/* A share of 1 in per cent, with a digit behind the point if it is known. */
void text_share(GString *out, double share, double error);
void text_decimal(GString *out, gint64 n); /* plain; faster than printf */

/* Text that Wend did not write, as it may be printed (printable.h). The second: N bytes. */
void text_foreign(GString *out, const char *s);
void text_foreign_bytes(GString *out, const char *s, gsize n);
char *text_foreign_new(const char *s); /* the same, newly allocated */
/* The same in double quotes; one in it is \". */
void text_quoted(GString *out, const char *s, gsize n);
/* A JSON string; what text_foreign escapes is \uHHHH. Of one that is no UTF-8, each byte is a
 * character. */
void text_json_string(GString *out, const char *s);
void text_json_bytes(GString *out, const char *s, gsize n);

/* "rank 5"; of a job with N_WORLDS > 1 "rank 5 (rank 1 of world 1)". */
void text_rank(GString *out, guint rank, guint n_worlds, guint world, guint world_rank);
/* "thread 2", "callback 3"; "callback of the MPI library" where ID < 0 */
void text_sequence(GString *out, gboolean callback, gint64 id);
/* "1,902 MPI calls, 14 unsuccessful polls, 8 frees" (wend(1), "Counts") */
void text_totals(GString *out, guint64 mpi_calls, guint64 polls, guint64 frees);

#endif
