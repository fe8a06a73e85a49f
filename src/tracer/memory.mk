# Memory and callbacks: the tracer's part that knows nothing of MPI's calls, so that tests and benchmarks can have it by itself.
MEMORY_SOURCES = \
	src/tracer/heap.c src/tracer/heap.h \
	src/tracer/malloc.c \
	src/tracer/memory.h \
	src/tracer/ranges.c src/tracer/ranges.h \
	src/tracer/segments.c
