/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h: names of hosts, kept as batch systems write them: node[0-1023], so that a thousand nodes
 * take no more than one. */
#ifndef WEND_HOSTS_H
#define WEND_HOSTS_H

#include <glib.h>

#include "base/buf.h"

typedef struct Hosts Hosts;

Hosts *hosts_new(void);
void hosts_free(Hosts *h);
void hosts_add(Hosts *h, const char *name); /* once or more */
void hosts_include(Hosts *h, const Hosts *other);
void hosts_encode(const Hosts *h, WendBuf *out);
Hosts *hosts_decode(WendCursor *c); /* NULL: damaged; the cursor has failed */
/* The names, sorted, folded where they differ in one number: "login;node[0-3,7]", in ranges
 * "first-last" or "first-last/step"; newly allocated, or NULL if there are none. A ";" in a name is
 * written as "_". */
char *hosts_text(const Hosts *h);
/* How many names such a text stands for. */
guint64 hosts_count(const char *text);

#endif
