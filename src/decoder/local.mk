# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/decoder/: the subcommands show and dump of wend, which src/wend/ links
DECODER_SOURCES = \
	src/decoder/communication.c \
	src/decoder/decoder.h \
	src/decoder/dump.c \
	src/decoder/rank-table.c \
	src/decoder/recorded.c \
	src/decoder/matched.c \
	src/decoder/show.c \
	src/decoder/site-table.c \
	src/decoder/sink.c src/decoder/dump.h \
	src/decoder/wait-table.c \
	$(ENDINGS_SOURCES)

# Also what wend merge says, and a fuzzer's (tests/fuzz/).
ENDINGS_SOURCES = src/decoder/show-terminations.c src/decoder/show.h
EXTRA_DIST += src/decoder/README.md
