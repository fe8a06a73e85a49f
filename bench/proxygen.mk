# SPDX-License-Identifier: BSD-3-Clause
# bench/proxygen.py: what proxygen takes for large recordings.
EXTRA_PROGRAMS += bench/random
bench_random_SOURCES = bench/random.c tests/unit/simulated.c tests/unit/simulated.h
bench_random_LDADD = lib/libcore.a $(CORE_LIBS)
CLEANFILES += bench/random$(EXEEXT)
EXTRA_DIST += bench/proxygen.py

.PHONY: bench-proxygen
bench-proxygen: all bench/random$(EXEEXT)
	$(AM_V_at)$(PYTHON) $(srcdir)/bench/proxygen.py $(abs_top_builddir) $(MPICC)
