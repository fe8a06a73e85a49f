# SPDX-License-Identifier: BSD-3-Clause
# what is built in lib/
include lib/hot.mk

# What merges and writes: without GLib, since the tracer does it in the process of the application.
MERGE_SOURCES = \
	lib/base/allowance.c lib/base/allowance.h \
	lib/base/coder.c lib/base/coder.h \
	lib/base/containers.c lib/base/containers.h \
	lib/base/error.c lib/base/error.h \
	lib/base/file-write.c lib/base/file-write.h \
	lib/base/identifier.h \
	lib/base/shared-file.c lib/base/shared-file.h \
	lib/base/signals.c lib/base/signals.h \
	lib/base/strings.c lib/base/strings.h \
	lib/record/codec.c lib/record/codec.h \
	lib/record/elastic.c lib/record/elastic.h \
	lib/record/layout.c lib/record/layout.h \
	lib/record/neighbours.h \
	lib/record/outcome-runs.c lib/record/outcome-runs.h \
	lib/record/rules.c lib/record/rules.h \
	lib/record/types.h \
	lib/record/words.h \
	lib/merge/class.c lib/merge/class.h \
	lib/merge/contents.c \
	lib/merge/derive.c lib/merge/derive.h \
	lib/merge/hosts.c lib/merge/hosts.h \
	lib/merge/merge.c lib/merge/merge.h \
	lib/ranks/rankset.c lib/ranks/rankset.h \
	lib/merge/recording.h \
	lib/merge/refine.c lib/merge/refine.h \
	lib/merge/shard.c lib/merge/shard.h \
	lib/merge/shared-sides.c lib/merge/shared-sides.h \
	lib/merge/side-members.c lib/merge/side-members.h \
	lib/ranks/delta-sequence.c lib/ranks/delta-sequence.h \
	lib/ranks/delta-sequence-bytes.c \
	lib/ranks/delta-sequence-patterns.c \
	lib/ranks/delta-sequence-private.h \
	lib/merge/rank-times.c lib/merge/rank-times.h \
	lib/merge/table.c \
	lib/merge/timing.c lib/merge/timing.h \
	lib/merge/timing-rows.c lib/merge/timing-rows.h \
	lib/merge/totals.c lib/merge/totals.h \
	lib/merge/shared-terminals.c \
	lib/merge/tree.h \
	lib/merge/variants.c lib/merge/variants.h \
	lib/ranks/rank-vector.c lib/ranks/rank-vector.h \
	lib/merge/class-alignment.c lib/merge/class-alignment.h \
	lib/archive/container.h \
	lib/archive/container-index.h \
	lib/archive/container-write.c \
	lib/archive/meta-write.c \
	lib/archive/shared-sides-write.c \
	lib/archive/site-coding.c lib/archive/site-coding.h \
	lib/archive/sequence-write.c \
	lib/archive/tables-write.c \
	lib/archive/tables-write.h \
	lib/archive/timing-write.c \
	lib/archive/write.c lib/archive/write.h \
	lib/archive/write-private.h \
	lib/archive/writer.c

# What follows from a recording as a whole.
ANALYSIS_SOURCES = \
	lib/analysis/analysis.h \
	lib/analysis/answers.c lib/analysis/answers.h \
	lib/analysis/call-plan.c lib/analysis/call-plan.h \
	lib/analysis/count.c lib/analysis/count.h \
	lib/analysis/follower.c lib/analysis/follower.h \
	lib/analysis/matching.c lib/analysis/matching.h \
	lib/analysis/matching-calls.c \
	lib/analysis/matching-state.c lib/analysis/matching-state.h \
	lib/analysis/matrix.c lib/analysis/matrix.h \
	lib/analysis/members.c lib/analysis/members.h \
	lib/analysis/precedence.c lib/analysis/precedence.h \
	lib/analysis/summary.c lib/analysis/summary.h \
	lib/analysis/thread-order.c lib/analysis/thread-order.h \
	lib/analysis/traffic.c lib/analysis/traffic.h \
	lib/analysis/transfer.c lib/analysis/transfer.h

# Merging, the archive, the reader: what the commands and the tests link.
CORE_SOURCES = \
	$(MERGE_SOURCES) $(ANALYSIS_SOURCES) \
	lib/base/file-directory.c lib/base/file-directory.h \
	lib/base/file-stream.c lib/base/file-stream.h \
	lib/base/regular.c lib/base/regular.h \
	lib/archive/container-read.c \
	lib/archive/container-store.c \
	lib/archive/container-stream.c \
	lib/read/call-sites.c lib/read/call-sites.h \
	lib/read/classes-read.c \
	lib/read/comm-identity.c lib/read/comm-identity.h \
	lib/read/comm-leaders.c lib/read/comm-leaders.h \
	lib/read/comm-meetings.c lib/read/comm-meetings.h \
	lib/read/comms.c \
	lib/read/cursor.c lib/read/cursor.h \
	lib/read/decode.c lib/read/decode.h \
	lib/read/terminations.c lib/read/terminations.h \
	lib/read/graph-order.c lib/read/graph-order.h \
	lib/read/join.c lib/read/join.h \
	lib/read/member.c \
	lib/read/program.c lib/read/program.h \
	lib/read/program-open.c \
	lib/read/program-private.h \
	lib/read/program-read.c \
	lib/read/rank-times-read.c \
	lib/read/sequence-read.c \
	lib/read/sequence-times.c lib/read/sequence-times.h \
	lib/read/sides.c lib/read/sides.h \
	lib/read/site-symbols.c lib/read/site-symbols.h \
	lib/read/walk.c \
	lib/read/world-starts.c lib/read/world-starts.h \
	lib/read/worlds.c lib/read/worlds.h

noinst_LIBRARIES += lib/libcore.a
lib_libcore_a_SOURCES = $(CORE_SOURCES) $(HOT_SOURCES) $(FUNCTION_SOURCES)
nodist_lib_libcore_a_SOURCES = $(FUNCTION_GENERATED)
CORE_LIBS = $(GLIB_LIBS) $(ARCHIVE_LIBS) $(ZSTD_LIBS) -lm

# libwendmerge: merging and writing for the tracer, which opens it at MPI_Finalize in the process of
# the application: no GLib, no libarchive, memory that is bounded (base/memory.h).
noinst_PROGRAMS += libwendmerge.so
privateexec_DATA += libwendmerge.so
libwendmerge_so_SOURCES = \
	$(MERGE_SOURCES) $(HOT_SOURCES) \
	lib/archive/steps.c lib/archive/steps.h
libwendmerge_so_LDADD = lib/libfunctions.a $(ZSTD_LIBS) -lm
libwendmerge_so_LDFLAGS = -shared -Wl,-soname,$(@F) -Wl,-z,defs \
	-Wl,--version-script=$(srcdir)/lib/libwendmerge.map
EXTRA_libwendmerge_so_DEPENDENCIES = lib/libwendmerge.map
EXTRA_DIST += lib/libwendmerge.map
