# Fuzzing the readers, of archives and of ranks' parts: make fuzz runs each for a while (FUZZ_SECONDS), starting from the seeds; needs clang with its sanitizers.
FUZZ_CC = clang
FUZZ_SECONDS = 60
FUZZ_FLAGS = -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_FILES = tests/fuzz/exercise.c $(filter %.c,$(VALUE_SOURCES) $(CORE_SOURCES) $(HOT_SOURCES)) lib/functions.c
FUZZ_TARGETS = tests/fuzz/fuzz-archive tests/fuzz/fuzz-part
FUZZ_LIMITS = -max_total_time=$(FUZZ_SECONDS) -max_len=16384 -rss_limit_mb=2048
FUZZ_SEEDS = tests/fuzz/seeds tests/fuzz/seeds-part
EXTRA_DIST += $(FUZZ_SEEDS)

tests/fuzz/fuzz-archive: tests/fuzz/archive.c
tests/fuzz/fuzz-part: tests/fuzz/part.c
$(FUZZ_TARGETS): $(FUZZ_FILES) tests/fuzz/exercise.h lib/functions.gen.c
	$(AM_V_CC)$(MKDIR_P) tests/fuzz && $(FUZZ_CC) $(FUZZ_FLAGS) -std=gnu11 $(DEFS) -I. $(AM_CPPFLAGS) $(GLIB_CFLAGS) $(ARCHIVE_CFLAGS) $(ZSTD_CFLAGS) \
	  $(XXHASH_CFLAGS) -o $@ $(srcdir)/$(@:tests/fuzz/fuzz-%=tests/fuzz/%.c) $(addprefix $(srcdir)/,$(FUZZ_FILES)) lib/functions.gen.c \
	  $(GLIB_LIBS) $(ARCHIVE_LIBS) $(ZSTD_LIBS) -lm
CLEANFILES += $(FUZZ_TARGETS)

.PHONY: fuzz
fuzz: $(FUZZ_TARGETS)
	$(MKDIR_P) tests/fuzz/corpus tests/fuzz/corpus-part
	tests/fuzz/fuzz-archive $(FUZZ_LIMITS) tests/fuzz/corpus $(srcdir)/tests/fuzz/seeds
	tests/fuzz/fuzz-part $(FUZZ_LIMITS) tests/fuzz/corpus-part $(srcdir)/tests/fuzz/seeds-part

check_PROGRAMS += tests/fuzz/make-seed tests/fuzz/replay tests/fuzz/replay-part
tests_fuzz_make_seed_SOURCES = tests/fuzz/make-seed.c
tests_fuzz_make_seed_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_fuzz_make_seed_LDADD = lib/libcore.la
tests_fuzz_replay_SOURCES = tests/fuzz/archive.c tests/fuzz/exercise.c tests/fuzz/exercise.h $(VALUE_SOURCES)
tests_fuzz_replay_CPPFLAGS = $(AM_CPPFLAGS) -DREPLAY
tests_fuzz_replay_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_fuzz_replay_LDADD = lib/libcore.la
tests_fuzz_replay_part_SOURCES = tests/fuzz/part.c tests/fuzz/exercise.c tests/fuzz/exercise.h $(VALUE_SOURCES)
tests_fuzz_replay_part_CPPFLAGS = $(AM_CPPFLAGS) -DREPLAY
tests_fuzz_replay_part_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_fuzz_replay_part_LDADD = lib/libcore.la
