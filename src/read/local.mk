# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/read/: libwend-read, the library that reads recordings, and its
# headers
wendincludedir = $(includedir)/wend
wendinclude_HEADERS = include/wend/read.h include/wend/read-sites.h include/wend/read-waits.h

READ_SOURCES = \
	src/read/duration-sketch.c src/read/duration-sketch.h \
	src/read/read-calls.c \
	src/read/read-errors.c \
	src/read/read-facts.c \
	src/read/read-functions.c \
	src/read/read-messages.c \
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
	src/read/wrap.h

# By itself for commands and tests, which have the rest from elsewhere.
noinst_LIBRARIES += src/read/libread.a
src_read_libread_a_SOURCES = $(READ_SOURCES)

# The version of the library is that of its interface: the first number changes when something is
# taken away or altered, the second when functions, or members at the ends of structures, are added.
noinst_PROGRAMS += libwend-read.so.0.0.0
sharedexec_DATA += libwend-read.so.0.0.0
libwend_read_so_0_0_0_SOURCES = \
	$(READ_SOURCES) $(CORE_SOURCES) $(HOT_SOURCES) $(FUNCTION_SOURCES)
nodist_libwend_read_so_0_0_0_SOURCES = $(FUNCTION_GENERATED)
libwend_read_so_0_0_0_LDADD = $(CORE_LIBS)
libwend_read_so_0_0_0_LDFLAGS = -shared -Wl,-soname,$(@F:.0.0=) -Wl,-z,defs \
	-Wl,--version-script=$(srcdir)/src/read/libwend-read.map
EXTRA_libwend_read_so_0_0_0_DEPENDENCIES = src/read/libwend-read.map
EXTRA_DIST += src/read/README.md src/read/libwend-read.map

# The names under which it is loaded, and linked.
READ_LINKS = libwend-read.so.0 libwend-read.so
$(READ_LINKS): libwend-read.so.0.0.0
	$(AM_V_GEN)ln -sf $< $@
noinst_DATA += $(READ_LINKS)
CLEANFILES += $(READ_LINKS)

nodist_pkgconfig_DATA += src/read/wend-read.pc
