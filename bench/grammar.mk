# SPDX-License-Identifier: BSD-3-Clause
# bench/grammar: the hot path of lib/ by itself.
EXTRA_PROGRAMS += bench/grammar
bench_grammar_SOURCES = bench/grammar.c
bench_grammar_LDADD = lib/libhot.a
CLEANFILES += bench/grammar$(EXEEXT)

.PHONY: bench-grammar
bench-grammar: bench/grammar$(EXEEXT)
	$(AM_V_at)bench/grammar$(EXEEXT)
