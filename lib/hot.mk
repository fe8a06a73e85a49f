# SPDX-License-Identifier: BSD-3-Clause
# What the tracer uses while the application runs: no GLib. Compiled into libwend.so and into libwendcore. Needs XXHASH_CFLAGS.
HOT_SOURCES = \
	lib/arena.c lib/arena.h \
	lib/budget.c lib/budget.h \
	lib/base/buf.c lib/base/buf.h \
	lib/cst.c lib/cst.h \
	lib/grammar.c lib/grammar.h \
	lib/intern.c lib/intern.h \
	lib/part.c lib/part.h \
	lib/printable.c lib/printable.h \
	lib/progressions.c lib/progressions.h \
	lib/saved.c lib/saved.h \
	lib/stream.c lib/stream.h

# The same by itself, for tests and benchmarks.
noinst_LTLIBRARIES += lib/libwendhot.la
lib_libwendhot_la_SOURCES = $(HOT_SOURCES)
lib_libwendhot_la_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS)
