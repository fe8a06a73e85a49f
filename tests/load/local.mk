# SPDX-License-Identifier: BSD-3-Clause
# Memory must not grow with the number of calls. "make soak" makes SOAK_CALLS calls; RANKS and
# THREADS come from the environment. "make check" makes some million.
SOAK_CALLS = 100000000
tests/load/soak: tests/load/soak.c
	$(AM_V_CC)$(MKDIR_P) tests/load && $(MPICC) $(EXAMPLE_CFLAGS) -o $@ $< -pthread
check_DATA += tests/load/soak
CLEANFILES += tests/load/soak
EXTRA_DIST += tests/load/soak.c tests/load/soak.py
BATS_TESTS += tests/load/soak.bats
.PHONY: soak
soak: all tests/load/soak
	$(AM_V_at)cd tests/load && $(PYTHON) $(abs_srcdir)/tests/load/soak.py $(SOAK_CALLS) \
	  $(abs_top_builddir)/wend $(abs_top_builddir)/tests/load/soak $(MPIEXEC)
