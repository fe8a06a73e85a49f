/* SPDX-License-Identifier: BSD-3-Clause */
/* export.h: the interface of this folder: wend export. */
#ifndef WEND_EXPORT_H
#define WEND_EXPORT_H

/* Writes a recording in a format that other tools read. A subcommand (src/command/command.h). */
int export_main(int argc, char **argv);

#endif
