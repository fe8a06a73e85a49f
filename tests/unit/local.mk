# SPDX-License-Identifier: BSD-3-Clause
# Unit tests: plain C programs over the library, a stanza for each.
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
UNIT_TESTS =

UNIT_TESTS += tests/unit/cst
tests_unit_cst_SOURCES = tests/unit/cst.c tests/unit/part-table.c tests/unit/part-table.h
tests_unit_cst_LDADD = lib/libhot.a $(GLIB_LIBS) -lm

UNIT_TESTS += tests/unit/functions
tests_unit_functions_SOURCES = tests/unit/functions.c
tests_unit_functions_LDADD = lib/libfunctions.a $(GLIB_LIBS)

UNIT_TESTS += tests/unit/grammar
tests_unit_grammar_SOURCES = tests/unit/grammar.c
tests_unit_grammar_LDADD = lib/libhot.a $(GLIB_LIBS)

UNIT_TESTS += tests/unit/callbacks
tests_unit_callbacks_SOURCES = tests/unit/callbacks.c src/tracer/encode/closures.c
tests_unit_callbacks_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer -I$(builddir)/src/tracer \
	$(MPI_CPPFLAGS)
tests_unit_callbacks_CFLAGS = $(AM_CFLAGS) $(FFI_CFLAGS) -fexceptions
tests_unit_callbacks_LDADD = $(FFI_LIBS) -lpthread

UNIT_TESTS += tests/unit/address-log
tests_unit_address_log_SOURCES = tests/unit/address-log.c tests/support/memory-alone.c \
	$(STACK_SOURCES) $(MEMORY_SOURCES)
tests_unit_address_log_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer
tests_unit_address_log_LDADD = lib/libhot.a -lpthread

# This one has gaps between its segments.
UNIT_TESTS += tests/unit/frame-rules
tests_unit_frame_rules_SOURCES = tests/unit/frame-rules.c tests/fuzz/frames.c \
	tests/fuzz/exercise.h \
	src/tracer/side-streams/code-modules.c \
	src/tracer/side-streams/frame-rules.c src/tracer/side-streams/frame-rules.h
tests_unit_frame_rules_LDFLAGS = -Wl,-z,max-page-size=0x200000
tests_unit_frame_rules_LDADD = $(GLIB_LIBS) $(DW_LIBS) -ldl

UNIT_TESTS += tests/unit/memory
tests_unit_memory_SOURCES = tests/unit/memory.c \
	$(STACK_SOURCES) $(MEMORY_SOURCES)
tests_unit_memory_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer
tests_unit_memory_LDADD = lib/libhot.a -lpthread

UNIT_TESTS += tests/unit/printable
tests_unit_printable_SOURCES = tests/unit/printable.c
tests_unit_printable_LDADD = lib/libhot.a $(GLIB_LIBS)

UNIT_TESTS += tests/unit/file-write
tests_unit_file_write_SOURCES = tests/unit/file-write.c
tests_unit_file_write_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/container-stream
tests_unit_container_stream_SOURCES = tests/unit/container-stream.c
tests_unit_container_stream_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/durations
tests_unit_durations_SOURCES = tests/unit/durations.c $(TIMES_CODINGS)
tests_unit_durations_LDADD = lib/libcore.a $(ZFP_LIBS) $(CORE_LIBS)

UNIT_TESTS += tests/unit/duration-sketch
tests_unit_duration_sketch_SOURCES = tests/unit/duration-sketch.c \
	src/read/duration-sketch.c src/read/duration-sketch.h
tests_unit_duration_sketch_LDADD = $(GLIB_LIBS) -lm

UNIT_TESTS += tests/unit/requests
tests_unit_requests_SOURCES = tests/unit/requests.c src/tracer/recorder/recorder.c \
	src/tracer/process/clock.c \
	src/tracer/objects/handles.c src/tracer/recorder/hold.c \
	src/tracer/objects/live-requests.c src/tracer/recorder/sequence.c \
	src/tracer/process/own-writes.c src/tracer/recorder/stash.c src/tracer/process/state.c \
	src/tracer/recorder/thread.c src/tracer/lifecycle/thread-start.c \
	src/tracer/recorder/thread-birth.c src/tracer/recorder/thread-numbers.c
tests_unit_requests_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer -I$(builddir)/src/tracer \
	$(MPI_CPPFLAGS)
tests_unit_requests_LDADD = lib/libhot.a lib/libfunctions.a $(GLIB_LIBS) -lpthread

UNIT_TESTS += tests/unit/own-writes
tests_unit_own_writes_SOURCES = tests/unit/own-writes.c src/tracer/process/own-writes.c
tests_unit_own_writes_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer
tests_unit_own_writes_LDADD = $(GLIB_LIBS) -lpthread

UNIT_TESTS += tests/unit/memory-files
tests_unit_memory_files_SOURCES = tests/unit/memory-files.c src/tracer/process/memory-files.c
tests_unit_memory_files_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer
tests_unit_memory_files_LDADD = $(GLIB_LIBS)

UNIT_TESTS += tests/unit/cgroup
tests_unit_cgroup_SOURCES = tests/unit/cgroup.c \
	src/tracer/process/kernel.c
tests_unit_cgroup_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer
tests_unit_cgroup_LDADD = $(GLIB_LIBS)

UNIT_TESTS += tests/unit/shortage
tests_unit_shortage_SOURCES = tests/unit/shortage.c tests/unit/part-table.c tests/unit/part-table.h
tests_unit_shortage_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_shortage_LDADD = lib/libhot.a $(GLIB_LIBS)

UNIT_TESTS += tests/unit/side-codec
tests_unit_side_codec_SOURCES = tests/unit/side-codec.c
tests_unit_side_codec_LDADD = lib/libhot.a $(GLIB_LIBS)

UNIT_TESTS += tests/unit/thread-birth
tests_unit_thread_birth_SOURCES = tests/unit/thread-birth.c \
	src/tracer/recorder/thread-birth.c src/tracer/recorder/thread-birth.h
tests_unit_thread_birth_LDADD = $(GLIB_LIBS)

UNIT_TESTS += tests/unit/varint
tests_unit_varint_SOURCES = tests/unit/varint.c
tests_unit_varint_LDADD = lib/libhot.a $(GLIB_LIBS)

RECORDED_SOURCES = tests/unit/recorded.c tests/unit/recorded.h tests/unit/simulated.c \
	tests/unit/simulated.h

# A recording without MPI, to try readers on.
check_PROGRAMS += tests/unit/make-recording
tests_unit_make_recording_SOURCES = tests/unit/make-recording.c $(RECORDED_SOURCES)
tests_unit_make_recording_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/round-trip
tests_unit_round_trip_SOURCES = tests/unit/round-trip.c tests/unit/random-ranks.c \
	tests/unit/random-ranks.h $(RECORDED_SOURCES) $(VALUE_SOURCES)
tests_unit_round_trip_LDADD = src/read/libread.a lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/messages
tests_unit_messages_SOURCES = tests/unit/messages.c $(RECORDED_SOURCES)
tests_unit_messages_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/order
tests_unit_order_SOURCES = tests/unit/order.c tests/unit/random-ranks.c \
	tests/unit/random-ranks.h $(RECORDED_SOURCES) $(ORDER_SOURCES)
tests_unit_order_LDADD = lib/libcore.a $(CORE_LIBS)
UNIT_TESTS += tests/unit/containers
tests_unit_containers_SOURCES = tests/unit/containers.c
tests_unit_containers_LDADD = lib/libcore.a $(CORE_LIBS)
UNIT_TESTS += tests/unit/shared-file
tests_unit_shared_file_SOURCES = tests/unit/shared-file.c
tests_unit_shared_file_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/site-streams
tests_unit_site_streams_SOURCES = tests/unit/site-streams.c $(RECORDED_SOURCES)
tests_unit_site_streams_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/rank-times
tests_unit_rank_times_SOURCES = tests/unit/rank-times.c $(RECORDED_SOURCES)
tests_unit_rank_times_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/shards
tests_unit_shards_SOURCES = tests/unit/shards.c $(RECORDED_SOURCES)
tests_unit_shards_LDFLAGS = $(BUILD_RPATH)
tests_unit_shards_LDADD = libwendmerge.so lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/steps
tests_unit_steps_SOURCES = tests/unit/steps.c $(RECORDED_SOURCES)
tests_unit_steps_LDFLAGS = $(BUILD_RPATH)
tests_unit_steps_LDADD = libwendmerge.so lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/common
tests_unit_common_SOURCES = tests/unit/common.c $(RECORDED_SOURCES)
tests_unit_common_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/class-alignment
tests_unit_class_alignment_SOURCES = tests/unit/class-alignment.c $(RECORDED_SOURCES)
tests_unit_class_alignment_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/elastic
tests_unit_elastic_SOURCES = tests/unit/elastic.c $(RECORDED_SOURCES)
tests_unit_elastic_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/damage
tests_unit_damage_SOURCES = tests/unit/damage.c $(RECORDED_SOURCES) tests/fuzz/exercise.c \
	tests/fuzz/exercise.h $(VALUE_SOURCES)
tests_unit_damage_LDADD = src/read/libread.a lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/codecs
tests_unit_codecs_SOURCES = tests/unit/codecs.c tests/unit/delta-sequence-of.h
tests_unit_codecs_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/rank-vector
tests_unit_rank_vector_SOURCES = tests/unit/rank-vector.c tests/unit/delta-sequence-of.h
tests_unit_rank_vector_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/delta-sequence
tests_unit_delta_sequence_SOURCES = tests/unit/delta-sequence.c tests/unit/delta-sequence-of.h
tests_unit_delta_sequence_LDADD = lib/libcore.a $(CORE_LIBS)

UNIT_TESTS += tests/unit/tokens
tests_unit_tokens_SOURCES = tests/unit/tokens.c src/proxygen/emit/c-tokens.c \
	src/proxygen/emit/c-tokens.h
tests_unit_tokens_LDADD = $(GLIB_LIBS)

UNIT_TESTS += tests/unit/members
tests_unit_members_SOURCES = tests/unit/members.c $(RECORDED_SOURCES)
tests_unit_members_LDADD = lib/libcore.a $(CORE_LIBS)

# The unit tests alone, which start no MPI job (debian/rules).
.PHONY: check-unit
check-unit: $(UNIT_TESTS)
	$(AM_V_at)set -e; for test in $(UNIT_TESTS); do $$test >$$test.out; done
CLEANFILES += $(UNIT_TESTS:=.out)
