# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/decoder/: the subcommands show, dump and diff of wend, which src/wend/ links
DECODER_SOURCES = \
	src/decoder/communication.c src/decoder/communication.h \
	src/decoder/diff.c \
	src/decoder/dump.c \
	src/decoder/lines.c src/decoder/lines.h \
	src/decoder/show.c \
	src/decoder/sink.c src/decoder/sink.h \
	$(DECODER_PASSES) $(VALUE_SOURCES)

# What the commands find out about a recording.
DECODER_PASSES = \
	src/decoder/bodies.c src/decoder/bodies.h \
	src/decoder/expected.c src/decoder/expected.h \
	src/decoder/endings.c src/decoder/endings.h \
	src/decoder/findings.c src/decoder/findings.h \
	src/decoder/explained.c src/decoder/explained.h \
	src/decoder/explain.c src/decoder/explain.h \
	src/decoder/hashed.c src/decoder/hashed.h src/decoder/polynomial.h \
	src/decoder/identity.c src/decoder/identity.h \
	src/decoder/items.c src/decoder/items.h \
	src/decoder/pins.c src/decoder/pins.h \
	src/decoder/same.c src/decoder/same.h \
	src/decoder/stat.c src/decoder/stat.h \
	src/decoder/tokens.c src/decoder/tokens.h \
	src/decoder/window.c src/decoder/window.h

# How the decoder writes calls, for tests that read everything.
VALUE_SOURCES = src/decoder/value.c src/decoder/value.h src/decoder/text.c src/decoder/text.h
