# SPDX-License-Identifier: BSD-3-Clause
# bench/ranks: the merge over simulated ranks.
EXTRA_PROGRAMS += bench/ranks
bench_ranks_SOURCES = bench/ranks.c tests/unit/simulated.c tests/unit/simulated.h
bench_ranks_CFLAGS = $(AM_CFLAGS) -fno-builtin-malloc
bench_ranks_LDADD = lib/libcore.a $(CORE_LIBS)
CLEANFILES += bench/ranks$(EXEEXT)

.PHONY: bench-ranks bench-steps
bench-steps: bench/ranks$(EXEEXT)
	$(AM_V_at)for steps in 100 1000 10000; do \
	  echo "$$steps iterations"; \
	  bench/ranks$(EXEEXT) -m 64 -s $$steps extra-calls trip-counts trips-by-rank mesh chance || \
	    exit 1; \
	done
bench-ranks: bench/ranks$(EXEEXT)
	$(AM_V_at)bench/ranks$(EXEEXT) --sites $(if $(RANKS),-m $(RANKS)) $(STRUCTURES)
