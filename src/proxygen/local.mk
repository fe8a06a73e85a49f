# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/proxygen/
bin_PROGRAMS += proxygen
# Also the fuzzer's (tests/fuzz/).
PROXYGEN_SOURCES = \
	src/proxygen/compile.c \
	src/proxygen/plan.h \
	src/proxygen/call.c src/proxygen/call.h \
	src/proxygen/select.c \
	src/proxygen/threads.c src/proxygen/threads.h \
	src/proxygen/extent.c src/proxygen/extent.h \
	src/proxygen/layout.c src/proxygen/layout.h \
	src/proxygen/live.c src/proxygen/live.h \
	src/proxygen/memory.c src/proxygen/memory.h \
	src/proxygen/dynamic.c src/proxygen/dynamic.h \
	src/proxygen/outcomes.c \
	src/proxygen/effects.c src/proxygen/effects.h \
	src/proxygen/conflicts.c src/proxygen/conflicts.h \
	src/proxygen/handlers.c src/proxygen/handlers.h \
	src/proxygen/loops.c \
	src/proxygen/loop_rules.c src/proxygen/loop_rules.h \
	src/proxygen/sources.c src/proxygen/sources.h \
	src/proxygen/precedence.c src/proxygen/precedence.h \
	src/proxygen/wildcards.c \
	src/proxygen/members.c src/proxygen/members.h \
	src/proxygen/turns.c src/proxygen/turns.h \
	src/proxygen/worlds.c src/proxygen/worlds.h src/proxygen/helpers_worlds.c \
	src/proxygen/variables.c src/proxygen/variables.h \
	src/proxygen/positions.c src/proxygen/positions.h \
	src/proxygen/files.c src/proxygen/files.h \
	src/proxygen/graphs.c src/proxygen/graphs.h \
	src/proxygen/callbacks.c src/proxygen/callbacks.h \
	src/proxygen/names.c src/proxygen/names.h \
	src/proxygen/changes.c src/proxygen/changes.h \
	src/proxygen/emit.h \
	src/proxygen/text.c \
	src/proxygen/tokens.c src/proxygen/tokens.h \
	src/proxygen/expression.c \
	src/proxygen/emit_call.c \
	src/proxygen/emit_filled.c \
	src/proxygen/special.c \
	src/proxygen/emit_choice.c \
	src/proxygen/emit_wildcard.c \
	src/proxygen/emit_positions.c \
	src/proxygen/alike.c src/proxygen/alike.h \
	src/proxygen/columns.c src/proxygen/columns.h \
	src/proxygen/streams.c src/proxygen/streams.h \
	src/proxygen/emit_rule.c \
	src/proxygen/emit_tables.c \
	src/proxygen/helpers.c src/proxygen/helpers.h \
	src/proxygen/helpers_cuda.c \
	src/proxygen/helpers_threads.c \
	src/proxygen/helpers_files.c \
	src/proxygen/helpers_messages.c \
	src/proxygen/emit_files.c
proxygen_SOURCES = src/proxygen/main.c src/proxygen/target.c src/proxygen/target.h \
	$(PROXYGEN_SOURCES) $(PLACES_SOURCES) $(MESSAGE_SOURCES) $(READING_SOURCES) \
	lib/allowance.c lib/allowance.h lib/rules.c lib/rules.h
proxygen_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/wend $(PLACES_CPPFLAGS) \
	-DWEND_PKGDATADIR='"$(pkgdatadir)"'
proxygen_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
# The grammar is of the hot path, which libwendcore does not show.
proxygen_LDADD = lib/libwendhot.la libwendcore.la $(GLIB_LIBS)
proxygen_LDFLAGS = $(MOVABLE_RPATH)
