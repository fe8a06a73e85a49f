# Fuzzing the reader: make fuzz runs it for a while (FUZZ_SECONDS), starting from the seeds; needs clang with its sanitizers.
FUZZ_CC = clang
FUZZ_SECONDS = 60
FUZZ_FLAGS = -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_FILES = tests/fuzz/archive.c tests/fuzz/exercise.c $(filter %.c,$(VALUE_SOURCES) $(CORE_SOURCES) $(HOT_SOURCES)) lib/functions.c
FUZZ_SEEDS = tests/fuzz/seeds
EXTRA_DIST += $(FUZZ_SEEDS)

tests/fuzz/fuzz-archive: $(FUZZ_FILES) tests/fuzz/exercise.h lib/functions.gen.c
	$(AM_V_CC)$(MKDIR_P) tests/fuzz && $(FUZZ_CC) $(FUZZ_FLAGS) -std=gnu11 $(DEFS) -I. $(AM_CPPFLAGS) $(GLIB_CFLAGS) $(ARCHIVE_CFLAGS) $(ZSTD_CFLAGS) \
	  $(XXHASH_CFLAGS) -o $@ $(addprefix $(srcdir)/,$(FUZZ_FILES)) lib/functions.gen.c $(GLIB_LIBS) $(ARCHIVE_LIBS) $(ZSTD_LIBS) -lm
CLEANFILES += tests/fuzz/fuzz-archive

.PHONY: fuzz
fuzz: tests/fuzz/fuzz-archive
	$(MKDIR_P) tests/fuzz/corpus
	tests/fuzz/fuzz-archive -max_total_time=$(FUZZ_SECONDS) -max_len=16384 -rss_limit_mb=2048 tests/fuzz/corpus $(srcdir)/$(FUZZ_SEEDS)

check_PROGRAMS += tests/fuzz/make-seed tests/fuzz/replay
tests_fuzz_make_seed_SOURCES = tests/fuzz/make-seed.c
tests_fuzz_make_seed_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_fuzz_make_seed_LDADD = lib/libcore.la
tests_fuzz_replay_SOURCES = tests/fuzz/archive.c tests/fuzz/exercise.c tests/fuzz/exercise.h $(VALUE_SOURCES)
tests_fuzz_replay_CPPFLAGS = $(AM_CPPFLAGS) -DREPLAY
tests_fuzz_replay_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_fuzz_replay_LDADD = lib/libcore.la
