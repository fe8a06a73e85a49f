# SPDX-License-Identifier: BSD-3-Clause
# what is built in tests/

# Preloads for tests and benchmarks: one that yields the processor, one for which memory is short at
# the end of one rank, one that says where a rank is, and one with which ranks have clocks of their
# own.
PRELOADS = tests/support/yield.so tests/support/shortage.so tests/support/elsewhere.so \
	tests/support/other-clock.so
$(PRELOADS): %.so: %.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) -D_GNU_SOURCE $(CPPFLAGS) $(OWN_CFLAGS) $(CFLAGS) \
	  $(LDFLAGS) -shared -o $@ $<
noinst_DATA += $(PRELOADS)
CLEANFILES += $(PRELOADS)
EXTRA_DIST += $(PRELOADS:.so=.c)

# Another tool of MPI's profiling interface: as a library, and as an object for a program.
check_DATA += tests/support/tool.so tests/support/tool.o
tests/support/tool.so tests/support/tool.o: tests/support/tool.c
	$(AM_V_CC)$(MKDIR_P) tests/support && $(MPICC) $(EXAMPLE_CFLAGS) -fPIC \
	  `case $@ in *.so) echo -shared;; *) echo -c;; esac` -o $@ $<
CLEANFILES += tests/support/tool.so tests/support/tool.o
EXTRA_DIST += tests/support/tool.c

# Small programs, each about one hard thing, compiled with the MPI compiler as a user would do it.
TEST_PROGRAM_FILES = \
	tests/programs/across.c \
	tests/programs/arenas.c \
	tests/programs/arguments.c \
	tests/programs/births.c \
	tests/programs/butterfly.c \
	tests/programs/callbacks.c \
	tests/programs/cancelled.c \
	tests/programs/coarse.c \
	tests/programs/completions.c \
	tests/programs/control.c \
	tests/programs/counted.c \
	tests/programs/displacements.c \
	tests/programs/dying.c \
	tests/programs/dynamic.c \
	tests/programs/early.c \
	tests/programs/errors.c \
	tests/programs/exits.c \
	tests/programs/files.c \
	tests/programs/folded.c \
	tests/programs/graph.c \
	tests/programs/hello.c \
	tests/programs/hostile.c \
	tests/programs/interleaved.c \
	tests/programs/invalid.c \
	tests/programs/irregular.c \
	tests/programs/keys.c \
	tests/programs/levels.c \
	tests/programs/mapped.c \
	tests/programs/memory.c \
	tests/programs/nbx.c \
	tests/programs/distgraph.c \
	tests/programs/nulls.c \
	tests/programs/numbered.c \
	tests/programs/pairs.c \
	tests/programs/partners.c \
	tests/programs/processes.c \
	tests/programs/onesided.c \
	tests/programs/race.c \
	tests/programs/race_grid.c \
	tests/programs/race_requests.c \
	tests/programs/requests.c \
	tests/programs/rows.c \
	tests/programs/sentinels.c \
	tests/programs/services.c \
	tests/programs/sessions.c \
	tests/programs/shortage.c \
	tests/programs/shuffled.c \
	tests/programs/spawn.c \
	tests/programs/statuses.c \
	tests/programs/strays.c \
	tests/programs/tagged.c \
	tests/programs/teams.c \
	tests/programs/themselves.c \
	tests/programs/too_long.c \
	tests/programs/threads.c \
	tests/programs/torus.c \
	tests/programs/trips.c \
	tests/programs/twice.c \
	tests/programs/turns.c \
	tests/programs/unlike.c \
	tests/programs/unlucky.c \
	tests/programs/untouched.c \
	tests/programs/values.c \
	tests/programs/wildcards.c
TEST_PROGRAM_BINARIES = $(TEST_PROGRAM_FILES:.c=)
$(TEST_PROGRAM_BINARIES): %: %.c
	$(AM_V_CC)$(MKDIR_P) tests/programs && $(MPICC) $(EXAMPLE_CFLAGS) -o $@ $< -pthread
tests/programs/onesided tests/programs/race tests/programs/race_grid tests/programs/race_requests: \
	tests/programs/race.h
check_DATA += $(TEST_PROGRAM_BINARIES)
CLEANFILES += $(TEST_PROGRAM_BINARIES)
EXTRA_DIST += $(TEST_PROGRAM_FILES) tests/programs/checkpoints.h tests/programs/race.h

# sites.bats, stacks.bats and waits.bats compile these, in several ways.
EXTRA_DIST += tests/programs/sites.c tests/programs/sites-library.c \
	tests/programs/stacks.c tests/programs/stacks-library.c tests/programs/waiting.c

# The helpers of proxies, and in a second program those that some proxies have in place of others.
HELPERS_TEST = tests/programs/proxy-helpers.c src/proxygen/runtime/libruntime.a
tests/programs/proxy-helpers: $(HELPERS_TEST)
	$(AM_V_CC)$(MKDIR_P) tests/programs && $(MPICC) $(EXAMPLE_CFLAGS) -I$(srcdir) -I. \
	  -DHEAP_REACHES_BELOW=0 -o $@ $^ -pthread
tests/programs/proxy-helpers-mapped: $(HELPERS_TEST)
	$(AM_V_CC)$(MKDIR_P) tests/programs && $(MPICC) $(EXAMPLE_CFLAGS) -I$(srcdir) -I. \
	  -DHEAP_REACHES_BELOW=1 -Wl,-z,muldefs -o $@ $< \
	  src/proxygen/runtime/libruntime_a-helpers-mapped.o src/proxygen/runtime/libruntime.a -pthread
check_DATA += tests/programs/proxy-helpers tests/programs/proxy-helpers-mapped
CLEANFILES += tests/programs/proxy-helpers tests/programs/proxy-helpers-mapped
EXTRA_DIST += tests/programs/proxy-helpers.c

# MPI that comes with a module: the program has none.
tests/programs/late: tests/programs/late.c
	$(AM_V_CC)$(MKDIR_P) tests/programs && $(CC) $(EXAMPLE_CFLAGS) -o $@ $< -ldl
tests/programs/late.so: tests/programs/late.c
	$(AM_V_CC)$(MKDIR_P) tests/programs && $(MPICC) $(EXAMPLE_CFLAGS) -DMODULE -shared -fPIC -o $@ $<
check_DATA += tests/programs/late tests/programs/late.so
CLEANFILES += tests/programs/late tests/programs/late.so
EXTRA_DIST += tests/programs/late.c tests/programs/late.py tests/programs/looked_up.py \
	tests/programs/python.py \
	tests/programs/racing.py

# Modules that they make stay out of each other's way.
TEST_PROGRAM_FORTRAN_FILES = tests/programs/f08.f90 tests/programs/fortran.f90
TEST_PROGRAM_FORTRAN = $(TEST_PROGRAM_FORTRAN_FILES:.f90=)
# Open MPI's compiler does not name the library that has the predefined attribute functions.
$(TEST_PROGRAM_FORTRAN): %: %.f90
	$(AM_V_GEN)$(MKDIR_P) $@.mods && $(MPIFORT) -O2 -g -w -J$@.mods -o $@ $< \
	  $(MPIFORT_LDFLAGS) -Wl,--copy-dt-needed-entries
# One source for the three Fortran interfaces. mpif.h has no interfaces for choice buffers, so a
# compiler that compares calls with each other reports errors unless this option allows them.
FORTRAN_MISMATCH = $(shell $(MPIFORT) -fallow-argument-mismatch --version >/dev/null 2>&1 && \
	echo -fallow-argument-mismatch)
SENTINELS = tests/programs/sentinels-1 tests/programs/sentinels-2 tests/programs/sentinels-3
RACING = tests/programs/racing-1 tests/programs/racing-2 tests/programs/racing-3
$(SENTINELS): tests/programs/sentinels.F90 tests/programs/bindings.inc
$(RACING): tests/programs/racing.F90 tests/programs/bindings.inc
$(SENTINELS) $(RACING):
	$(AM_V_GEN)$(MKDIR_P) $@.mods && $(MPIFORT) -O2 -g -w -cpp $(FORTRAN_MISMATCH) \
	  -DBINDING=$(lastword $(subst -, ,$@)) -J$@.mods -o $@ $< \
	  $(MPIFORT_LDFLAGS) -Wl,--copy-dt-needed-entries
if HAVE_MPIFORT
check_DATA += $(TEST_PROGRAM_FORTRAN) $(SENTINELS) $(RACING)
endif
CLEANFILES += $(TEST_PROGRAM_FORTRAN) $(SENTINELS) $(RACING) tests/programs/*.mods/*
EXTRA_DIST += $(TEST_PROGRAM_FORTRAN_FILES) tests/programs/sentinels.F90 tests/programs/racing.F90 \
	tests/programs/bindings.inc

# MPI's C++ bindings, where the library has them.
TEST_PROGRAM_CXX = tests/programs/cxx tests/programs/racing-cxx
tests/programs/cxx: tests/programs/cxx.cxx
tests/programs/racing-cxx: tests/programs/racing.cxx
$(TEST_PROGRAM_CXX):
	$(AM_V_GEN)$(MKDIR_P) tests/programs && $(MPICXX) -std=c++11 -O1 -g -w -o $@ $<
if HAVE_MPICXX
check_DATA += $(TEST_PROGRAM_CXX)
endif
CLEANFILES += $(TEST_PROGRAM_CXX)
EXTRA_DIST += tests/programs/cxx.cxx tests/programs/racing.cxx

# bats files print TAP, in which each of their tests counts by itself. The exit status of bats is
# ignored, because it would count failures twice.
TEST_EXTENSIONS = .bats
BATS_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh \
	--merge --ignore-exit
BATS_LOG_COMPILER = $(BATS)
# Tests that take long for what they add have the tag "long", and some try fewer cases without LONG
# (often and few, in helpers.bash). In a second build, those with the tag "once" add little, because
# the MPI library does not matter much to them. "make check LONG=1" leaves nothing out.
LONG =
SECOND_BUILD =
AM_BATS_LOG_FLAGS = --tap --timing \
	$(if $(LONG),,--filter-tags '!long$(if $(SECOND_BUILD),$(comma)!once)')
comma = ,
# What MPI libraries look for whenever a rank starts: the machine's processors and caches.
tests/topology.xml: Makefile
	$(AM_V_GEN)$(MKDIR_P) tests && rm -f $@ && \
	  { lstopo-no-graphics --of xml $@ 2>/dev/null || rm -f $@; }
noinst_DATA += tests/topology.xml
CLEANFILES += tests/topology.xml

AM_TESTS_ENVIRONMENT = BUILD_DIR='$(abs_top_builddir)'; SOURCE_DIR='$(abs_top_srcdir)'; \
	LONG='$(LONG)'; export BUILD_DIR SOURCE_DIR LONG;

# One of 8 ranks is killed at a random moment, many times. LAUNCH: words before -n.
ROUNDS = 100
.PHONY: check-kills
check-kills: all tests/programs/dying
	$(AM_V_at)mkdir -p tests/kills && cd tests/kills && \
	  $(PYTHON) $(abs_top_srcdir)/tests/ends/kills.py $(ROUNDS) $(abs_top_builddir)/wend \
		$(abs_top_builddir)/tests/programs/dying $(MPIEXEC)
EXTRA_DIST += tests/ends/kills.py

# Loops whose handlers need two completions: 30 recordings of each kind, 6 runs of each proxy.
PAIRS = 30 6 tests first late free waits any
.PHONY: check-pairs
check-pairs: all tests/programs/pairs tests/support/yield.so
	$(AM_V_at)BUILD_DIR=$(abs_top_builddir) $(srcdir)/tests/proxygen/pairs.bash $(PAIRS)

# How much there is in lib and src.
.PHONY: house
house:
	$(AM_V_at)$(PYTHON) $(srcdir)/tests/house/house.py $(srcdir)
EXTRA_DIST += tests/README.md tests/house/house.py
# Programs whose outcomes are left to chance: five recordings of each, with 4 and with 8 ranks, and
# 100 replays of each recording, on busy processors. REPLAYS: options, and programs.
.PHONY: check-replays
check-replays: all tests/support/yield.so
	$(AM_V_at)$(MAKE) check TESTS=
	$(AM_V_at)$(PYTHON) $(srcdir)/tests/replay/replays.py $(abs_top_builddir) $(MPIEXEC) $(REPLAYS)
EXTRA_DIST += tests/replay/replays.py

EXTRA_DIST += tests/decoder/waits.py tests/export/export.py tests/export/perfetto.py \
	tests/export/perfetto-fields.txt tests/export/perfetto-schema.py \
	tests/house/assertions.py tests/house/completion.zsh tests/house/prose.py \
	tests/house/references.py tests/house/structure.py tests/house/structure.limits \
	tests/proxygen/pairs.bash tests/read/format.py tests/read/format-sites.py \
	tests/starting/across.py

# The longest first, since several run at a time.
BATS_TESTS = \
	tests/replay/replay.bats \
	tests/memory/shortage.bats \
	tests/proxygen/programs.bats \
	tests/proxygen/tables.bats \
	tests/sites/sites.bats \
	tests/read/hostile.bats \
	tests/proxygen/completions.bats \
	tests/proxygen/examples.bats \
	tests/recording/onesided.bats \
	tests/export/export.bats \
	tests/recording/values.bats \
	tests/recording/threads.bats \
	tests/starting/launchers.bats \
	tests/ends/dying.bats \
	tests/ends/unlucky.bats \
	tests/house/tree.bats \
	tests/recording/clocks.bats \
	tests/sites/stacks.bats \
	tests/starting/families.bats \
	tests/memory/limits.bats \
	tests/house/commands.bats \
	tests/ends/shards.bats \
	tests/proxygen/changes.bats \
	tests/proxygen/datatypes.bats \
	tests/export/perfetto.bats \
	tests/recording/times.bats \
	tests/proxygen/proxygen.bats \
	tests/read/foreign.bats \
	tests/read/bad-input.bats \
	tests/read/format.bats \
	tests/house/spec.bats \
	tests/recording/fortran.bats \
	tests/starting/trace.bats \
	tests/sites/code-files.bats \
	tests/sites/modules.bats \
	tests/house/structure.bats \
	tests/decoder/waits.bats \
	tests/proxygen/injection.bats \
	tests/recording/requests.bats \
	tests/proxygen/names.bats \
	tests/proxygen/runtime.bats \
	tests/starting/transparency.bats \
	tests/recording/cuda.bats \
	tests/files/force.bats \
	tests/files/writing.bats \
	tests/files/output.bats \
	tests/starting/lookups.bats \
	tests/recording/python.bats \
	tests/starting/spawn.bats \
	tests/starting/hosts.bats \
	tests/memory/cgroups.bats \
	tests/recording/cxx.bats \
	tests/recording/counts.bats \
	tests/house/support.bats
EXTRA_DIST += tests/support/bomb.py tests/support/hosts.bash tests/helpers.bash \
	tests/proxygen/compile.bash $(BATS_TESTS)

# Applications that are not ours; asked for, because it fetches their sources.
EXTRA_DIST += \
	tests/programs-elsewhere/common.bash \
	tests/programs-elsewhere/KNOWN.md \
	tests/programs-elsewhere/adlb.bash \
	tests/programs-elsewhere/amg.bash \
	tests/programs-elsewhere/graph500.bash \
	tests/programs-elsewhere/hdf5.bash \
	tests/programs-elsewhere/hpcc.bash \
	tests/programs-elsewhere/miniamr.bash \
	tests/programs-elsewhere/mpi4py.bash \
	tests/programs-elsewhere/mpich.bash \
	tests/programs-elsewhere/mrbayes.bash \
	tests/programs-elsewhere/p4est.bash \
	tests/programs-elsewhere/pnetcdf.bash \
	tests/programs-elsewhere/quicksilver.bash \
	tests/programs-elsewhere/run.bash \
	tests/programs-elsewhere/snap.bash
# Memory that is short at each allocation of the merge, one after the other; asked for, because it
# takes a quarter of an hour.
.PHONY: check-shortage
check-shortage: all
	$(AM_V_at)$(MAKE) check TESTS=
	$(AM_V_at)SHORTAGE_STRIDE=1 BUILD_DIR=$(abs_top_builddir) \
		bats $(srcdir)/tests/memory/shortage.bats -f allocation

.PHONY: check-elsewhere
check-elsewhere: all
	$(AM_V_at)BUILD_DIR=$(abs_top_builddir) \
	  $(srcdir)/tests/programs-elsewhere/run.bash $(PROGRAMS_ELSEWHERE)
if HAVE_BATS
TESTS += $(BATS_TESTS)
endif
# What the MPI library makes a difference to: for the second of two builds. The others test the
# readers, or what the recorder does with files and memory. "make check" runs them there, too. With
# LONG=1 there are also those to which it seldom makes one.
LIBRARY_UNITS = tests/unit/requests$(EXEEXT) tests/unit/callbacks$(EXEEXT)
LIBRARY_NAMES = replay programs dying hosts sites onesided values threads launchers unlucky \
	families fortran requests transparency python spawn cxx messages runtime \
	$(if $(LONG),examples trace changes counts clocks times waits stacks export perfetto)
LIBRARY_TESTS = $(LIBRARY_UNITS) \
	$(foreach name,$(LIBRARY_NAMES),$(filter %/$(name).bats,$(BATS_TESTS)))
.PHONY: library-programs check-library
library-programs: all $(LIBRARY_UNITS) tests/decoder/script$(EXEEXT)
	$(AM_V_at)$(MAKE) $(check_DATA)
# Automake would build all programs of tests that are not run here.
check-library: library-programs
	$(AM_V_at)$(MAKE) check-TESTS SECOND_BUILD=1 check_PROGRAMS= TESTS='$(LIBRARY_TESTS)'
include tests/cuda/local.mk
include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/load/local.mk
include tests/viewer/local.mk
include tests/decoder/local.mk
include tests/read/local.mk

# The recorder under ThreadSanitizer, and under AddressSanitizer and UndefinedBehaviorSanitizer.
# They are no part of "make check", because they compile the tracer again. Locks are wrapped to
# check that MPI is never called with one held. MPICH's UCX patches system calls in a way that
# ThreadSanitizer does not survive, so that is turned off. So is the search for leaks: the recording
# is never freed.
tsan_files = tests/recording/tsan.c $(filter %.c,$(TRACER_SOURCES) $(HOT_SOURCES))
EXTRA_DIST += tests/recording/tsan.c
.PHONY: check-tsan check-asan
check-tsan: SANITIZERS = -fsanitize=thread
check-asan: SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=undefined
check-tsan check-asan: private DEPENDENCIES =
check-tsan check-asan: all
	$(AM_V_CC)$(MPICC) $(DEFS) $(TRACER_CPPFLAGS) $(CPPFLAGS) $(TRACER_CFLAGS) \
		-Wno-stringop-overflow -g -O1 $(SANITIZERS) \
		-Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock -o $(@:check-%=tests/%) \
		$(addprefix $(srcdir)/,$(filter-out src/tracer/memory/malloc.c,$(tsan_files))) \
		$(srcdir)/lib/record/functions.c lib/record/functions.gen.c $(TRACER_GENERATED) \
		$(FFI_LIBS) -ldl -lpthread
	$(AM_V_at)UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none \
	  TSAN_OPTIONS='halt_on_error=0 exitcode=66' ASAN_OPTIONS=detect_leaks=0 \
	  setarch -R $(@:check-%=tests/%)
CLEANFILES += tests/tsan tests/asan
