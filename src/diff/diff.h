/* SPDX-License-Identifier: BSD-3-Clause */
/* diff.h: the interface of this folder: a subcommand (src/command/command.h). */
#ifndef WEND_DIFF_H
#define WEND_DIFF_H

int diff_main(int argc, char **argv);

#endif
