# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/command/: what all commands share, which src/wend/ and src/proxygen/ link
MESSAGE_SOURCES = src/command/message.c src/command/message.h
WEND_COMMAND_SOURCES = src/command/command.h src/command/command.c $(MESSAGE_SOURCES)
# What proxygen shares with the subcommands.
READING_SOURCES = \
	src/command/missing.c src/command/missing.h \
	src/command/options.c src/command/options.h \
	src/command/reading.c src/command/reading.h \
	src/tracer/shared/settings.c src/tracer/shared/settings.h
PLACES_SOURCES = src/command/places.c src/command/places.h
# Names of call sites. Needs DW_LIBS.
SITE_SOURCES = \
	src/command/debug-file.c src/command/debug-file.h \
	src/command/site-matching.c \
	src/command/site-names.c src/command/site-names.h \
	src/command/site-stacks.c src/command/site-stacks.h
# How commands write calls, also for tests that read everything.
VALUE_SOURCES = \
	src/command/value.c src/command/value.h \
	src/command/text.c src/command/text.h
EXTRA_DIST += src/command/README.md
