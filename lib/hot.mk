# SPDX-License-Identifier: BSD-3-Clause
# What the tracer uses while the application runs, without GLib.
HOT_SOURCES = \
	lib/base/base.h \
	lib/base/arena.c lib/base/arena.h \
	lib/base/budget.c lib/base/budget.h \
	lib/base/buf.c lib/base/buf.h \
	lib/base/lower-bound.h \
	lib/base/memory.c lib/base/memory.h \
	lib/base/printable.c lib/base/printable.h \
	lib/base/range-coder.c lib/base/range-coder.h \
	lib/times/clock-points.c lib/times/clock-points.h \
	lib/times/duration-bins.c \
	lib/times/duration-codings.h \
	lib/times/duration-model.c lib/times/duration-model.h \
	lib/times/duration-lossless.c \
	lib/times/durations.c lib/times/durations.h \
	lib/record/cst.c lib/record/cst.h \
	lib/record/grammar.c lib/record/grammar.h \
	lib/record/intern.c lib/record/intern.h \
	lib/record/part.c lib/record/part.h \
	lib/record/progressions.c lib/record/progressions.h \
	lib/record/checkpoint-file.c lib/record/checkpoint-file.h \
	lib/record/side-codec.c lib/record/side-codec.h \
	lib/record/side-stream.c lib/record/side-stream.h \
	lib/record/site-guesses.c lib/record/site-guesses.h \
	lib/record/values.h \
	lib/record/results.h \
	lib/record/stream.c lib/record/stream.h \
	lib/record/record.h \
	lib/record/world-files.h

# The same by itself, for the tracer, tests and benchmarks.
noinst_LIBRARIES += lib/libhot.a
lib_libhot_a_SOURCES = $(HOT_SOURCES)
