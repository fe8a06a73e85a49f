# The tracer's part that knows nothing of MPI's calls, so that tests and benchmarks can have it by itself.
MEMORY_SOURCES = \
	src/tracer/memory/asked.c src/tracer/memory/asked.h \
	src/tracer/memory/heap-blocks.c src/tracer/memory/heap-blocks.h \
	src/tracer/memory/malloc.c \
	src/tracer/memory/segments.h \
	src/tracer/memory/ranges.c src/tracer/memory/ranges.h \
	src/tracer/memory/segments.c

# Callbacks and the rest; libffi makes the closures, with code of its own in libwend.so where it can be had.
CALLBACK_SOURCES = \
	src/tracer/encode/closures.c src/tracer/encode/closures.h \
	src/tracer/lifecycle/top.c
