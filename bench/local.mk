# SPDX-License-Identifier: BSD-3-Clause
# What is built in bench/. Benchmarks measure plain and recorded runs on one machine in turns:
# absolute times differ between machines and hours.
include bench/grammar.mk
include bench/malloc.mk
include bench/proxygen.mk
include bench/ranks.mk
include bench/times.mk

EXTRA_DIST += bench/measure.py
RUN_BENCH = PYTHONDONTWRITEBYTECODE=1 $(PYTHON)
BENCH_CFLAGS = -std=gnu11 -O2 -Wall -Wextra -Wno-stringop-overflow
bench/overhead: bench/overhead.c
	$(AM_V_CC)$(MKDIR_P) bench && $(MPICC) $(BENCH_CFLAGS) -o $@ $< -pthread
CLEANFILES += bench/overhead
EXTRA_DIST += bench/overhead.c bench/nas.bash bench/overhead.py bench/size.bash

bench/live-objects: bench/live-objects.c
	$(AM_V_CC)$(MKDIR_P) bench && $(MPICC) $(BENCH_CFLAGS) -o $@ $<
CLEANFILES += bench/live-objects
EXTRA_DIST += bench/live-objects.c

bench/finalize: bench/finalize.c
	$(AM_V_CC)$(MKDIR_P) bench && $(MPICC) $(BENCH_CFLAGS) -rdynamic -o $@ $< -ldl
CLEANFILES += bench/finalize
EXTRA_DIST += bench/finalize.c bench/finalize.py

bench/values: bench/values.c
	$(AM_V_CC)$(MKDIR_P) bench && $(MPICC) $(BENCH_CFLAGS) -o $@ $<
CLEANFILES += bench/values
EXTRA_DIST += bench/values.c bench/values.py

bench/sites-layer: bench/sites-layer.f90
	$(AM_V_GEN)$(MKDIR_P) bench/sites.mods && $(MPIFORT) -O2 -w -Jbench/sites.mods -o $@ $< \
	  $(MPIFORT_LDFLAGS) -Wl,--copy-dt-needed-entries
if HAVE_MPIFORT
BENCH_LAYER = bench/sites-layer
endif
CLEANFILES += bench/sites-layer
EXTRA_DIST += bench/sites-layer.f90 bench/sites.py

bench/stacks: bench/stacks.c
	$(AM_V_CC)$(MKDIR_P) bench && $(MPICC) $(BENCH_CFLAGS) -o $@ $<
CLEANFILES += bench/stacks
EXTRA_DIST += bench/stacks.c

.PHONY: bench-finalize bench-live bench-nas bench-overhead bench-replay bench-sites bench-size \
	bench-threads bench-values
bench-sites: all bench/overhead bench/stacks $(BENCH_LAYER)
	$(AM_V_at)$(RUN_BENCH) $(srcdir)/bench/sites.py $(abs_top_builddir) $(MPIEXEC) $(REPEATS)
bench-values: all bench/values
	$(AM_V_at)$(RUN_BENCH) $(srcdir)/bench/values.py $(abs_top_builddir) $(MPIEXEC) $(REPEATS)
bench-replay: all bench/overhead bench/ranks tests/support/yield.so
	$(AM_V_at)$(MAKE) --no-print-directory examples/stencil2d examples/particles \
	  examples/masterworker examples/polling examples/persistent >/dev/null
	$(AM_V_at)$(RUN_BENCH) $(srcdir)/bench/replay.py $(abs_top_builddir) $(MPIEXEC) $(REPEATS)
EXTRA_DIST += bench/replay.py
bench-threads: all bench/overhead
	$(AM_V_at)$(RUN_BENCH) $(srcdir)/bench/overhead.py --threads $(abs_top_builddir) \
	  $(MPIEXEC) $(REPEATS)
# PROGRAM="RANKS PROGRAM ARGUMENT…" measures that program instead, as a whole.
bench-live: all bench/live-objects tests/support/yield.so
	$(AM_V_at)$(RUN_BENCH) $(srcdir)/bench/live.py $(abs_top_builddir) $(MPIEXEC) $(PROGRAM)
EXTRA_DIST += bench/live.py
bench-overhead: all bench/overhead
	$(AM_V_at)$(RUN_BENCH) $(srcdir)/bench/overhead.py $(abs_top_builddir) $(MPIEXEC) $(REPEATS)
bench-finalize: all bench/finalize tests/support/yield.so
	$(AM_V_at)$(RUN_BENCH) $(srcdir)/bench/finalize.py $(abs_top_builddir) $(MPIEXEC) $(REPEATS)
bench-nas: all tests/support/yield.so
	$(AM_V_at)BUILD_DIR=$(abs_top_builddir) $(srcdir)/bench/nas.bash $(NPB)
bench-size: all examples/stencil2d
	$(AM_V_at)BUILD_DIR=$(abs_top_builddir) $(srcdir)/bench/size.bash
