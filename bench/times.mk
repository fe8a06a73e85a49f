# SPDX-License-Identifier: BSD-3-Clause
# bench/times: codings of the times of calls, those of the Pilgrim paper too. libzfp is optional.
TIMES_CODINGS = bench/times-codings.c bench/times-codings.h
EXTRA_PROGRAMS += bench/times
bench_times_SOURCES = bench/times.c $(TIMES_CODINGS)
bench_times_LDADD = lib/libcore.a $(ZFP_LIBS) $(CORE_LIBS)
CLEANFILES += bench/times$(EXEEXT)
EXTRA_DIST += bench/times.bash

.PHONY: bench-times
bench-times: all bench/times$(EXEEXT) tests/support/yield.so examples/stencil2d examples/particles
	$(AM_V_at)BUILD_DIR=$(abs_top_builddir) $(srcdir)/bench/times.bash $(NPB)
