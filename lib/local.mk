# SPDX-License-Identifier: BSD-3-Clause
# what is built in lib/
include lib/hot.mk

# What merges and writes. It is compiled twice: into libwendcore with GLib, and into libwendmerge
# with what small/ has in its place.
MERGE_SOURCES = \
	lib/allowance.h \
	lib/bundle-index.h lib/bundle-write.c lib/bundle.h \
	lib/class.c lib/class.h \
	lib/codec.c lib/codec.h \
	lib/base/coder.c lib/base/coder.h \
	lib/contents.c \
	lib/cursor.c lib/cursor.h \
	lib/derive.c lib/derive.h \
	lib/elastic.c lib/elastic.h \
	lib/file-write.c lib/file-write.h \
	lib/hosts.c lib/hosts.h \
	lib/identifier.h \
	lib/layout.c lib/layout.h \
	lib/merge.c lib/merge.h \
	lib/neighbours.h \
	lib/order.c lib/order.h \
	lib/pairs.c lib/pairs.h \
	lib/pieces.c lib/pieces.h \
	lib/rankset.c lib/rankset.h \
	lib/recording.h \
	lib/refine.c lib/refine.h \
	lib/rules-write.c lib/rules.c lib/rules.h \
	lib/sequence-write.c \
	lib/series-bytes.c lib/series-patterns.c lib/series-private.h lib/series.c lib/series.h \
	lib/shortage.h \
	lib/table.c \
	lib/timing-rows.c lib/timing-rows.h lib/timing-write.c lib/timing.c lib/timing.h \
	lib/totals.c lib/totals.h \
	lib/unify.c \
	lib/unroll.c lib/unroll.h \
	lib/variants.c lib/variants.h \
	lib/vector.c lib/vector.h \
	lib/weave.c lib/weave.h \
	lib/words.h \
	lib/write-private.h lib/write.c

# What follows from a recording as a whole.
ANALYSIS_SOURCES = \
	lib/analysis/analysis.h \
	lib/analysis/count.c lib/analysis/count.h \
	lib/analysis/follower.c lib/analysis/follower.h \
	lib/analysis/matrix.c lib/analysis/matrix.h \
	lib/analysis/members.c lib/analysis/members.h \
	lib/analysis/precedence.c lib/analysis/precedence.h \
	lib/analysis/summary.c lib/analysis/summary.h \
	lib/analysis/times.c lib/analysis/times.h \
	lib/analysis/traffic.c lib/analysis/traffic.h \
	lib/analysis/transfer.c lib/analysis/transfer.h
EXTRA_DIST += lib/analysis/README.md lib/base/README.md

# libwendcore: merging, the archive, the reader. The commands link it.
CORE_SOURCES = \
	$(MERGE_SOURCES) \
	lib/program.h \
	lib/allowance.c \
	$(ANALYSIS_SOURCES) \
	lib/bundle-read.c \
	lib/base/byte-table.c lib/base/byte-table.h \
	lib/classes-read.c \
	lib/comms.c \
	lib/decode.c lib/decode.h \
	lib/ends.c lib/ends.h \
	lib/graph-order.c lib/graph-order.h \
	lib/program-private.h lib/program-read.c lib/program.c \
	lib/regular.c lib/regular.h \
	lib/requests.c lib/requests.h \
	lib/sequence-read.c \
	lib/shortage.c \
	lib/walk.c \
	lib/worlds.c lib/worlds.h

# All of it for tests, which also look inside.
noinst_LTLIBRARIES += lib/libcore.la
lib_libcore_la_SOURCES = $(CORE_SOURCES)
lib_libcore_la_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS) $(ARCHIVE_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
lib_libcore_la_LIBADD = lib/libwendhot.la libwendfunctions.la $(GLIB_LIBS) $(ARCHIVE_LIBS) $(ZSTD_LIBS) -lm

pkglib_LTLIBRARIES += libwendcore.la
libwendcore_la_SOURCES =
libwendcore_la_LIBADD = lib/libcore.la
# What analysis.h, base/byte-table.h, merge.h, program.h, regular.h, saved.h and functions.h declare,
# and what commands need of shortage.h.
CORE_NAMES = arg|byte|call|character|constant|decoder|error|file|function|group|members|merge|n_
CORE_MORE_NAMES = outcomes|precedence|printable|program|regular|saved|shortage|walk
# What the headers of lib/analysis/ declare that commands use.
CORE_ANALYSIS_NAMES = counts|follower|matrix|summary|times|traffic|transfer
libwendcore_la_LDFLAGS = -avoid-version -export-symbols-regex \
	'^(wend_($(CORE_NAMES)|$(CORE_MORE_NAMES))|($(CORE_ANALYSIS_NAMES))_)'

# libwendmerge: merging and writing for the tracer, which opens it at MPI_Finalize in the process of
# the application: no GLib, no libarchive, memory that is bounded (small/README.md).
EXTRA_DIST += lib/small/README.md
pkglib_LTLIBRARIES += libwendmerge.la
libwendmerge_la_SOURCES = \
	$(MERGE_SOURCES) $(HOT_SOURCES) \
	lib/small/allowance.c \
	lib/small/arrays.c lib/small/glib.h \
	lib/small/heap.c lib/small/heap.h \
	lib/small/memory.h \
	lib/small/tables.c \
	lib/small/text.c \
	lib/steps.c lib/steps.h
libwendmerge_la_CPPFLAGS = -I$(srcdir)/lib/small $(AM_CPPFLAGS) \
	-include $(srcdir)/lib/small/memory.h
libwendmerge_la_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
libwendmerge_la_LDFLAGS = -avoid-version -shared -Wl,-z,defs -export-symbols-regex '^wend_step_'
libwendmerge_la_LIBADD = libwendfunctions.la $(ZSTD_LIBS) -lm
