# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/decoder/: the subcommands show and dump of wend, which src/wend/ links
DECODER_SOURCES = \
	src/decoder/communication.c src/decoder/communication.h \
	src/decoder/decoder.h \
	src/decoder/dump.c \
	src/decoder/rank-table.c src/decoder/rank-table.h \
	src/decoder/recorded.c src/decoder/recorded.h \
	src/decoder/matched.c src/decoder/matched.h \
	src/decoder/show.c \
	src/decoder/site-table.c src/decoder/site-table.h \
	src/decoder/sink.c src/decoder/sink.h \
	src/decoder/wait-table.c src/decoder/wait-table.h \
	$(ENDINGS_SOURCES)

# Also what wend merge says, and a fuzzer's (tests/fuzz/).
ENDINGS_SOURCES = src/decoder/show-terminations.c src/decoder/show-terminations.h
EXTRA_DIST += src/decoder/README.md
