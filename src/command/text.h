/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h: reads and writes rank sets, numbers, sizes, times, foreign text and JSON strings
 * for the commands. All functions with OUT append to it. */
#ifndef WEND_TEXT_H
#define WEND_TEXT_H

#include <glib.h>

#include "lib/base/error.h"

/* Parses a set of ranks such as "0,3-7,10-20:2" (first-last:step). Returns N_RANKS flags, which the
 * caller frees. Returns NULL with a usage error if TEXT is malformed or names a rank from N_RANKS
 * on. */
gboolean *text_ranks_parse(const char *text, guint n_ranks, Error **error);
/* Appends N ascending ranks as "0-7, 9, 12-20:2". */
void text_ranks(GString *out, const guint *ranks, guint n);
/* Parses "A-B", "A-", "-B" or "A", both ends included. Returns FALSE with a usage error
 * otherwise. */
gboolean text_span_parse(const char *text, guint64 *first, guint64 *last, Error **error);

void text_count(GString *out, guint64 n);  /* 1,234,567 */
void text_bytes(GString *out, guint64 n);  /* 1,234 B, 12.3 KB, 4.56 MB (powers of 1,000) */
void text_seconds(GString *out, double s); /* 12.3 us */
/* The same with at most three digits, all of them known. S may be off by ERROR seconds, and the
 * last digit by two. Appends a bound such as "<1 us" if no digit is known. */
void text_seconds_known(GString *out, double s, double error);
/* SHARE, of 1, in per cent, with one decimal if it is known. SHARE may be off by ERROR. */
void text_share(GString *out, double share, double error);
void text_decimal(GString *out, gint64 n); /* plain; faster than printf */
/* VALUE for machines: with a point in any locale. FORMAT is one conversion of printf: "%.3g". */
void text_double(GString *out, const char *format, double value);

/* Appends text that Wend did not write, in printable form (printable.h). S ends with a NUL or has N
 * bytes. */
void text_foreign(GString *out, const char *s);
void text_foreign_bytes(GString *out, const char *s, gsize n);
char *text_foreign_new(const char *s); /* newly allocated */
/* Appends N bytes in printable form, in double quotes. A double quote inside becomes \". */
void text_quoted(GString *out, const char *s, gsize n);
/* Appends a JSON string. Characters that text_foreign escapes become \uHHHH. In a string that is
 * not valid UTF-8, each byte is a character. */
void text_json_string(GString *out, const char *s);
void text_json_bytes(GString *out, const char *s, gsize n);
/* Appends "KEY":, or nothing if KEY is NULL, for an element of an array. A comma comes first,
 * except at the start of an object, an array or a line. */
void text_json_key(GString *out, const char *key);
/* Append the key and a value; FORMAT as in text_double. BRACKET is '{' or '['. */
void text_json_open(GString *out, const char *key, char bracket);
void text_json_text(GString *out, const char *key, const char *value);
void text_json_integer(GString *out, const char *key, gint64 n);
void text_json_count(GString *out, const char *key, guint64 n);
void text_json_double(GString *out, const char *key, const char *format, double value);
void text_json_flag(GString *out, const char *key, gboolean set);

/* Makes a field of CSV (RFC 4180) of the text that was appended since START: quotes it if it needs
 * quotes. */
void text_csv_quote(GString *out, gsize start);

/* "rank 5"; in a job with N_WORLDS > 1: "rank 5 (rank 1 of world 1)" */
void text_rank(GString *out, guint rank, guint n_worlds, guint world, guint world_rank);
/* "thread 2", "callback 3"; "callback of the MPI library" if ID < 0 */
void text_sequence(GString *out, gboolean callback, gint64 id);
/* "1,902 MPI calls, 14 unsuccessful polls, 8 frees" (wend(1), "Counts") */
void text_totals(GString *out, guint64 mpi_calls, guint64 polls, guint64 frees);

#endif
