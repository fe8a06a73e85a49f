# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/command/: what all commands share, which src/wend/ and src/proxygen/ link
WEND_COMMAND_SOURCES = src/command/command.c src/command/command.h
# What proxygen shares with the subcommands.
READING_SOURCES = \
	src/command/reading.c src/command/reading.h \
	src/tracer/process/settings.c src/tracer/process/settings.h
# Names of call sites. Needs DW_LIBS.
SITE_SOURCES = \
	src/command/debug-file.c src/command/debug-file.h \
	src/command/site-names.c src/command/site-names.h \
	src/command/site-stacks.c
# How commands write calls, also for tests that read everything.
VALUE_SOURCES = \
	src/command/value.c src/command/value.h \
	src/command/text.c src/command/text.h
EXTRA_DIST += src/command/README.md
