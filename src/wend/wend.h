/* SPDX-License-Identifier: BSD-3-Clause */
/* wend.h: the subcommands of this folder (src/command/command.h), for wend.c. */
#ifndef WEND_H
#define WEND_H

int wend_merge_main(int argc, char **argv);
int wend_replay_main(int argc, char **argv);
int wend_trace_main(int argc, char **argv);

#endif
