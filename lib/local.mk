# what is built in lib/
include lib/hot.mk

# libwendcore: merging, the archive, the reader. The tracer opens it with dlopen at finalize, the commands link it.
CORE_SOURCES = \
	lib/words.h lib/merge.h lib/program.h \
	lib/bundle-index.h \
	lib/bundle-read.c lib/bundle-write.c lib/bundle.h \
	lib/class.c lib/class.h \
	lib/classes-read.c \
	lib/codec.c lib/codec.h \
	lib/comms.c \
	lib/contents.c \
	lib/cursor.c lib/cursor.h \
	lib/decode.c lib/decode.h \
	lib/derive.c lib/derive.h \
	lib/elastic.c lib/elastic.h \
	lib/file-write.c lib/file-write.h \
	lib/hosts.c lib/hosts.h \
	lib/identifier.h \
	lib/layout.c lib/layout.h \
	lib/merge.c \
	lib/order.c lib/order.h \
	lib/pieces.c lib/pieces.h \
	lib/program-private.h lib/program-read.c lib/program.c \
	lib/rankset.c lib/rankset.h \
	lib/pairs.c lib/pairs.h \
	lib/refine.c lib/refine.h \
	lib/weave.c lib/weave.h \
	lib/recording.h lib/rules.h \
	lib/requests.c lib/requests.h \
	lib/rules-write.c lib/rules.c \
	lib/sequence-read.c lib/sequence-write.c lib/timing-write.c \
	lib/series-bytes.c lib/series-patterns.c lib/series-private.h lib/series.c lib/series.h \
	lib/table.c \
	lib/totals.c lib/totals.h \
	lib/timing.c lib/timing.h \
	lib/timing-rows.c lib/timing-rows.h \
	lib/unify.c \
	lib/unroll.c lib/unroll.h \
	lib/variants.c lib/variants.h \
	lib/vector.c lib/vector.h \
	lib/walk.c \
	lib/ends.c lib/ends.h \
	lib/worlds.c lib/worlds.h \
	lib/write-private.h lib/write.c

# All of it for tests, which also look inside.
noinst_LTLIBRARIES += lib/libcore.la
lib_libcore_la_SOURCES = $(CORE_SOURCES)
lib_libcore_la_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS) $(ARCHIVE_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
lib_libcore_la_LIBADD = lib/libwendhot.la libwendfunctions.la $(GLIB_LIBS) $(ARCHIVE_LIBS) $(ZSTD_LIBS) -lm

pkglib_LTLIBRARIES += libwendcore.la
libwendcore_la_SOURCES =
libwendcore_la_LIBADD = lib/libcore.la
# What merge.h, program.h, saved.h and functions.h declare.
CORE_NAMES = arg|call|character|constant|decoder|error|file|function|group|merge|n_|outcomes
CORE_MORE_NAMES = printable|program|saved|walk
libwendcore_la_LDFLAGS = -avoid-version \
	-export-symbols-regex '^wend_($(CORE_NAMES)|$(CORE_MORE_NAMES))'
