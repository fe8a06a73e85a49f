# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/read/: libwend-read, the library that reads recordings, and its
# headers
wendincludedir = $(includedir)/wend
wendinclude_HEADERS = include/wend/read.h include/wend/read-sites.h include/wend/read-waits.h

READ_SOURCES = \
	src/read/call-stamps.c src/read/call-stamps.h \
	src/read/duration-sketch.c src/read/duration-sketch.h \
	src/read/read-calls.c \
	src/read/read-errors.c \
	src/read/read-facts.c \
	src/read/read-functions.c \
	src/read/read-messages.c \
	src/read/read-percentiles.c \
	src/read/read-private.h \
	src/read/read-recorded.c \
	src/read/read-times.c \
	src/read/read-site-totals.c \
	src/read/read-sites.c \
	src/read/read-totals.c \
	src/read/read-transfers.c \
	src/read/read-values.c \
	src/read/read-waits.c \
	src/read/reader.c \
	src/read/site-totals.c src/read/site-totals.h \
	src/read/wait-rows.c src/read/wait-rows.h \
	src/read/wrap.h

# By itself for commands and tests, which have the rest from elsewhere.
noinst_LTLIBRARIES += src/read/libread.la
src_read_libread_la_SOURCES = $(READ_SOURCES)
src_read_libread_la_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)

# The version of the library is that of its interface (libtool, "Versioning"): functions and members
# at the ends of structures are added, nothing is taken away.
lib_LTLIBRARIES += libwend-read.la
libwend_read_la_SOURCES =
libwend_read_la_LIBADD = src/read/libread.la lib/libcore.la
libwend_read_la_LDFLAGS = -version-info 0:0:0 -no-undefined -Wl,-z,defs \
	-Wl,--version-script=$(srcdir)/src/read/libwend-read.map
libwend_read_la_DEPENDENCIES = src/read/libread.la lib/libcore.la src/read/libwend-read.map
EXTRA_DIST += src/read/README.md src/read/libwend-read.map

nodist_pkgconfig_DATA += src/read/wend-read.pc
