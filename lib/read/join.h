/* SPDX-License-Identifier: BSD-3-Clause */
/* join.h: several programs as one: the worlds of a job (worlds.c), or the members of an archive
 * with shards (program-open.c). */
#ifndef WEND_JOIN_H
#define WEND_JOIN_H

#include "program-private.h"

#include <glib.h>

/* Joins PARTS (WendProgram *, at least one) to one program. It takes PARTS, and the result goes on
 * using their memory. Classes, rules, terminals and shapes of a part follow those of the parts
 * before it.
 *
 * - ONE_WORLD: all parts have the same ranks, and each rank has a class in at most one part. A rank
 *   without a class has G_MAXUINT in class_of.
 * - Otherwise the ranks of a part, too, follow those of the parts before it, and each rank has a
 *   class.
 *
 * The caller sets worlds, names and meta. Cannot fail. */
WendProgram *join_programs(GPtrArray *parts, gboolean one_world);

#endif
