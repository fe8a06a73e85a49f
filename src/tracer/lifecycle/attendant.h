/* SPDX-License-Identifier: BSD-3-Clause */
/* attendant.h: the process of wend trace that stays as the parent of this one
 * (src/wend/attend.h), if the launcher is one that kills all ranks at once when another rank ends.
 *
 * Hydra kills the process group of the process that it has started, the attendant. While the
 * recorder has something to save, this process has a process group of its own. Its watcher sees
 * the end of the attendant, saves the part, and ends the process, too. */
#ifndef WEND_ATTENDANT_H
#define WEND_ATTENDANT_H

#include <stdbool.h>

/* application: leaves the process group of the attendant, if that is the parent */
void attendant_leave_group(void);
/* application: joins it again. The process ends at once if the attendant has ended */
void attendant_join_group(void);
void attendant_in_child(void);
/* A descriptor that may be readable once the attendant has ended. -1: there is none. */
int attendant_file(void);
bool attendant_has_ended(void); /* if not, there is no descriptor any more */
/* Kills this process and its children, as the launcher would have. */
void attendant_follow(void);

#endif
