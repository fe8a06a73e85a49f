# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/diff/: the subcommand diff of wend, which src/wend/ links
DIFF_SOURCES = \
	src/diff/diff.c src/diff/diff.h \
	src/diff/site-differences.c src/diff/site-differences.h \
	$(DIFF_PASSES)

# What it finds out about two recordings.
DIFF_PASSES = \
	src/diff/completion-handlers.c \
	src/diff/call-text.c src/diff/call-text.h \
	src/diff/explain.c src/diff/explain.h \
	src/diff/explained.c src/diff/explained.h \
	src/diff/findings.c src/diff/findings.h \
	src/diff/hashed.c src/diff/hashed.h \
	src/diff/comparison-key.c src/diff/comparison-key.h \
	src/diff/items.c src/diff/items.h \
	src/diff/pins.c src/diff/pins.h \
	src/diff/same.c src/diff/same.h \
	src/diff/stat.c src/diff/stat.h \
	src/diff/window.c
EXTRA_DIST += src/diff/README.md
