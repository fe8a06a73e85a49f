# SPDX-License-Identifier: BSD-3-Clause
# what is tested in tests/read/: libwend-read, as a program of its own uses it
check_PROGRAMS += tests/read/dump-text tests/read/interface
tests_read_dump_text_SOURCES = tests/read/dump-text.c
tests_read_dump_text_CPPFLAGS = -I$(srcdir)/include $(DEPENDENCIES)
tests_read_dump_text_LDFLAGS = $(BUILD_RPATH)
tests_read_dump_text_LDADD = libwend-read.so
tests_read_interface_SOURCES = tests/read/interface.c tests/read/exercise-read.c \
	tests/read/exercise-read.h
tests_read_interface_CPPFLAGS = -I$(srcdir)/include $(DEPENDENCIES)
tests_read_interface_LDFLAGS = $(BUILD_RPATH)
tests_read_interface_LDADD = libwend-read.so -lpthread

BATS_TESTS += tests/read/read.bats
EXTRA_DIST += tests/read/read.bats

# The library and its test under ThreadSanitizer, compiled as one program. GLib is not compiled with
# it: its slices, in which memory goes from thread to thread unseen, are switched off.
READ_TSAN_C = $(filter %.c,$(CORE_SOURCES) $(HOT_SOURCES) $(READ_SOURCES)) lib/record/functions.c \
	tests/read/interface.c tests/read/exercise-read.c
READ_TSAN_FILES = $(addprefix $(srcdir)/,$(READ_TSAN_C)) lib/record/functions.gen.c
tests/read/interface-tsan: private DEPENDENCIES =
tests/read/interface-tsan: $(READ_TSAN_FILES)
	$(AM_V_CC)$(MKDIR_P) tests/read && $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) \
		-g -O1 -fsanitize=thread -o $@ $(READ_TSAN_FILES) $(CORE_LIBS) $(XXHASH_LIBS) -lpthread
CLEANFILES += tests/read/interface-tsan
EXTRA_DIST += tests/read/tsan.supp
.PHONY: check-read-tsan
check-read-tsan: tests/read/interface-tsan
	$(AM_V_at)G_SLICE=always-malloc \
	TSAN_OPTIONS='halt_on_error=1 exitcode=66 suppressions=$(srcdir)/tests/read/tsan.supp' \
		setarch -R tests/read/interface-tsan threads $(srcdir)/tests/decoder/golden.dir
