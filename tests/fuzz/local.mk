# SPDX-License-Identifier: BSD-3-Clause
# Fuzzers for the code that reads files, and what files have in memory. NAME.c becomes the fuzzer
# tests/fuzz/fuzz-NAME and the program tests/fuzz/replay-NAME, which fuzz.bats runs on the seeds in
# seeds-NAME. Seeds are small inputs to begin with, and each input that found a fault. "make fuzz"
# runs each fuzzer for FUZZ_SECONDS; FUZZERS names some of them. It needs clang with its sanitizers.
FUZZERS = archive decoder frames order part program proxygen reader side times
FUZZ_CC = clang
FUZZ_SECONDS = 60
# An empty array of GLib is NULL: nothing added to it, or compared at it, is no fault.
FUZZ_FLAGS = -g -O1 -DFUZZING -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-fno-sanitize=pointer-overflow,nonnull-attribute
FUZZ_FILES = tests/fuzz/exercise.c lib/record/functions.c \
	$(filter %.c,$(VALUE_SOURCES) $(READ_SOURCES) $(CORE_SOURCES) $(HOT_SOURCES))
FUZZ_LIMITS = -max_total_time=$(FUZZ_SECONDS) -max_len=16384 -rss_limit_mb=2048 -timeout=60
FUZZ_SHARED = tests/fuzz/exercise.h tests/fuzz/members.h
EXTRA_DIST += tests/fuzz/seeds.bash tests/fuzz/seeds-archive tests/fuzz/seeds-decoder \
	tests/fuzz/seeds-frames tests/fuzz/seeds-part tests/fuzz/seeds-program \
	tests/fuzz/seeds-proxygen tests/fuzz/seeds-side tests/fuzz/seeds-times

# What each has besides.
fuzz_decoder_files = $(filter %.c,$(ENDINGS_SOURCES) $(DIFF_PASSES))
fuzz_frames_files = src/tracer/side-streams/frame-rules.c
fuzz_order_files = $(filter %.c,$(ORDER_SOURCES))
PROGRAM_SOURCES = \
	src/tracer/process/program-file.c \
	src/wend/executable.c src/wend/library.c src/wend/wend.h \
	$(WEND_COMMAND_SOURCES) $(READING_SOURCES)
fuzz_program_files = $(filter %.c,$(PROGRAM_SOURCES))
fuzz_reader_files = tests/read/exercise-read.c
fuzz_proxygen_files = $(filter %.c,$(DIFF_PASSES) $(PROXYGEN_SOURCES))

$(FUZZERS:%=tests/fuzz/fuzz-%): private DEPENDENCIES =
$(FUZZERS:%=tests/fuzz/fuzz-%): tests/fuzz/fuzz-%: tests/fuzz/%.c $(FUZZ_FILES) \
		$(fuzz_proxygen_files) $(FUZZ_SHARED) lib/record/functions.gen.c \
		$(PROXYGEN_GENERATED)
	$(AM_V_CC)$(MKDIR_P) tests/fuzz && $(FUZZ_CC) $(FUZZ_FLAGS) -std=gnu11 $(DEFS) -I. \
	  $(AM_CPPFLAGS) $(GLIB_CFLAGS) $(ARCHIVE_CFLAGS) \
	  $(ZSTD_CFLAGS) $(XXHASH_CFLAGS) -o $@ $< \
	  $(addprefix $(srcdir)/,$(FUZZ_FILES) $(fuzz_$*_files)) \
	  lib/record/functions.gen.c $(PROXYGEN_GENERATED) \
	  $(GLIB_LIBS) $(ARCHIVE_LIBS) $(ZSTD_LIBS) $(XXHASH_LIBS) -lm
CLEANFILES += $(FUZZERS:%=tests/fuzz/fuzz-%)

.PHONY: fuzz
fuzz: $(FUZZERS:%=tests/fuzz/fuzz-%)
	$(AM_V_at)set -e; for i in $(FUZZERS); do $(MKDIR_P) tests/fuzz/corpus-$$i; \
	  seeds=$(srcdir)/tests/fuzz/seeds-$$i; \
	  test -d $$seeds || seeds=$(srcdir)/tests/fuzz/seeds-decoder; \
	  tests/fuzz/fuzz-$$i $(FUZZ_LIMITS) -artifact_prefix=tests/fuzz/ \
	    tests/fuzz/corpus-$$i $$seeds; done

BATS_TESTS += tests/fuzz/fuzz.bats
check_PROGRAMS += tests/fuzz/make-seed tests/fuzz/replay-archive tests/fuzz/replay-decoder \
	tests/fuzz/replay-frames tests/fuzz/replay-order tests/fuzz/replay-part \
	tests/fuzz/replay-program tests/fuzz/replay-proxygen tests/fuzz/replay-reader \
	tests/fuzz/replay-side tests/fuzz/replay-times
tests_fuzz_make_seed_SOURCES = tests/fuzz/make-seed.c tests/fuzz/members.h
tests_fuzz_make_seed_LDADD = lib/libcore.a $(CORE_LIBS)
REPLAY_FILES = tests/fuzz/replay.c tests/fuzz/exercise.c $(FUZZ_SHARED) $(VALUE_SOURCES)
REPLAY_LIBS = src/read/libread.a lib/libcore.a $(XXHASH_LIBS) $(CORE_LIBS)
tests_fuzz_replay_archive_SOURCES = tests/fuzz/archive.c $(REPLAY_FILES)
tests_fuzz_replay_archive_LDADD = $(REPLAY_LIBS)
tests_fuzz_replay_decoder_SOURCES = tests/fuzz/decoder.c $(REPLAY_FILES) $(ENDINGS_SOURCES) \
	$(DIFF_PASSES) $(SITE_SOURCES) $(WEND_COMMAND_SOURCES) $(READING_SOURCES)
tests_fuzz_replay_decoder_LDADD = $(REPLAY_LIBS) $(DW_LIBS)
tests_fuzz_replay_frames_SOURCES = tests/fuzz/frames.c $(REPLAY_FILES) \
	src/tracer/side-streams/frame-rules.c
tests_fuzz_replay_frames_LDADD = $(REPLAY_LIBS)
tests_fuzz_replay_order_SOURCES = tests/fuzz/order.c $(REPLAY_FILES) $(ORDER_SOURCES)
tests_fuzz_replay_order_LDADD = $(REPLAY_LIBS)
tests_fuzz_replay_part_SOURCES = tests/fuzz/part.c $(REPLAY_FILES)
tests_fuzz_replay_part_LDADD = $(REPLAY_LIBS)
tests_fuzz_replay_program_SOURCES = tests/fuzz/program.c $(REPLAY_FILES) $(PROGRAM_SOURCES)
tests_fuzz_replay_program_LDADD = $(REPLAY_LIBS)
nodist_tests_fuzz_replay_proxygen_SOURCES = $(PROXYGEN_GENERATED)
tests_fuzz_replay_proxygen_SOURCES = tests/fuzz/proxygen.c $(REPLAY_FILES) $(DIFF_PASSES) \
	$(PROXYGEN_SOURCES)
tests_fuzz_replay_proxygen_LDADD = $(REPLAY_LIBS)
tests_fuzz_replay_reader_SOURCES = tests/fuzz/reader.c $(REPLAY_FILES) \
	tests/read/exercise-read.c tests/read/exercise-read.h
tests_fuzz_replay_reader_LDADD = $(REPLAY_LIBS)
tests_fuzz_replay_side_SOURCES = tests/fuzz/side.c $(REPLAY_FILES)
tests_fuzz_replay_side_LDADD = $(REPLAY_LIBS)
tests_fuzz_replay_times_SOURCES = tests/fuzz/times.c $(REPLAY_FILES)
tests_fuzz_replay_times_LDADD = $(REPLAY_LIBS)
