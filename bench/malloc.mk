# SPDX-License-Identifier: BSD-3-Clause
# bench/malloc: what the tracer adds to malloc and free, and a lookup.
EXTRA_PROGRAMS += bench/malloc
bench_malloc_SOURCES = bench/malloc.c tests/support/memory-alone.c \
	$(STACK_SOURCES) $(MEMORY_SOURCES)
bench_malloc_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer
bench_malloc_CFLAGS = $(AM_CFLAGS) -O2 -fno-builtin
bench_malloc_LDADD = lib/libhot.a -lpthread
CLEANFILES += bench/malloc$(EXEEXT)

.PHONY: bench-malloc
bench-malloc: bench/malloc$(EXEEXT)
	$(AM_V_at)bench/malloc$(EXEEXT)

# Ten million live blocks: 20 GB of memory, and some minutes.
.PHONY: bench-malloc-large
bench-malloc-large: bench/malloc$(EXEEXT)
	$(AM_V_at)bench/malloc$(EXEEXT) 3000000 10000000 5
