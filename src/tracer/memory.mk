# SPDX-License-Identifier: BSD-3-Clause
# The tracer's part that knows nothing of MPI's calls, so that tests and benchmarks can have it by itself.
MEMORY_SOURCES = \
	src/tracer/asked.c src/tracer/asked.h \
	src/tracer/heap.c src/tracer/heap.h \
	src/tracer/malloc.c \
	src/tracer/memory.h \
	src/tracer/ranges.c src/tracer/ranges.h \
	src/tracer/segments.c

# Callbacks and the rest; libffi makes the closures, with code of its own in libwend.so where it can be had.
CALLBACK_SOURCES = \
	src/tracer/callbacks.c src/tracer/callbacks.h \
	src/tracer/top.c
