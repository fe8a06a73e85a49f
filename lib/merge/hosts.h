/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.h: a set of host names, kept as batch systems write them: node[0-1023] for 1,024 names. */
#ifndef WEND_HOSTS_H
#define WEND_HOSTS_H

#include "base/buf.h"
#include "base/containers.h"

typedef struct Hosts Hosts;

Hosts *hosts_new(void);
void hosts_free(Hosts *h);
void hosts_add(Hosts *h, const char *name); /* once or more */
void hosts_include(Hosts *h, const Hosts *other);
void hosts_encode(const Hosts *h, WendBuf *out);
Hosts *hosts_decode(WendCursor *c); /* NULL: damaged; the cursor has failed */
/* The sorted names, such as "login;node[0-3,7]": names that differ in one number are folded, with
 * ranges "first-last" or "first-last/step". A ";" in a name becomes "_". Returns a newly allocated
 * text, or NULL if there are no names. */
char *hosts_text(const Hosts *h);
/* The number of names in such a text. */
uint64_t hosts_count(const char *text);

#endif
