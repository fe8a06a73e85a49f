/* SPDX-License-Identifier: BSD-3-Clause */
/* decoder.h: the interface of this folder: two subcommands (src/command/command.h), and what
 * wend merge shows, too. */
#ifndef WEND_DECODER_H
#define WEND_DECODER_H

#include "show.h"

int show_main(int argc, char **argv);
int dump_main(int argc, char **argv);

#endif
