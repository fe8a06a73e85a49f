/* SPDX-License-Identifier: BSD-3-Clause */
/* join.h: several programs as one: the worlds of a job (worlds.c), or the members of an archive
 * with shards (shards.c). */
#ifndef WEND_JOIN_H
#define WEND_JOIN_H

#include "program-private.h"

/* Makes one program of PARTS (WendProgram *, at least one), which it takes and whose memory it goes
 * on using. Classes, rules, terminals and shapes of a part come behind those of the parts before.
 * ONE_WORLD: all parts have the same ranks, each rank has a class in one of them at most, and a
 * rank without a class has G_MAXUINT in class_of. Else the ranks of a part, too, come behind those
 * of the parts before, and each has a class. Worlds, names and meta are left to the caller. Cannot
 * fail. */
WendProgram *programs_join(GPtrArray *parts, gboolean one_world);

#endif
