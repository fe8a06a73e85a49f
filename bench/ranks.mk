# bench/ranks: the merge over simulated ranks.
EXTRA_PROGRAMS += bench/ranks
bench_ranks_SOURCES = bench/ranks.c tests/unit/simulated.c tests/unit/simulated.h
bench_ranks_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS) -fno-builtin-malloc
bench_ranks_LDADD = lib/libcore.la -lm
CLEANFILES += bench/ranks$(EXEEXT)

.PHONY: bench-ranks
bench-ranks: bench/ranks$(EXEEXT)
	$(AM_V_at)bench/ranks$(EXEEXT) $(if $(RANKS),-m $(RANKS)) $(STRUCTURES)
