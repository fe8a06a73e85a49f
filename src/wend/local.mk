# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/wend/
MESSAGE_SOURCES = src/wend/message.c src/wend/message.h
WEND_COMMAND_SOURCES = src/wend/command.h src/wend/command.c $(MESSAGE_SOURCES)
# What proxygen shares with the subcommands.
READING_SOURCES = \
	src/wend/options.c src/wend/options.h \
	src/wend/reading.c src/wend/reading.h \
	src/tracer/shared/settings.c src/tracer/shared/settings.h
PLACES_SOURCES = src/wend/places.c src/wend/places.h
PLACES_CPPFLAGS = -DWEND_BINDIR='"$(bindir)"'

# The settings are the tracer's own table and reader, so that both take a variable in the same way; and what makes a program one that cannot be traced.
bin_PROGRAMS += wend
wend_SOURCES = \
	$(WEND_COMMAND_SOURCES) $(READING_SOURCES) $(DECODER_SOURCES) $(PLACES_SOURCES) \
	src/wend/library.c src/wend/library.h \
	src/wend/merge.c \
	src/wend/program.c src/wend/program.h \
	src/wend/trace.c \
	src/wend/wend.c \
	src/tracer/shared/family.h \
	src/tracer/shared/marker.c src/tracer/shared/marker.h \
	src/tracer/shared/symbols.c src/tracer/shared/symbols.h
wend_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/wend $(PLACES_CPPFLAGS) -DWEND_LIBDIR='"$(libdir)"'
wend_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS) $(XXHASH_CFLAGS)
wend_LDADD = src/read/libread.la libwendcore.la $(GLIB_LIBS) $(XXHASH_LIBS) -lm
# Where an installed command finds libwendcore: relative, so that an installed tree can be moved.
MOVABLE_RPATH = -Wl,-rpath,'$$ORIGIN/$(shell $(PYTHON) -c 'import os.path, sys; print(os.path.relpath(*sys.argv[1:]))' $(pkglibdir) $(bindir))'
wend_LDFLAGS = $(MOVABLE_RPATH)
