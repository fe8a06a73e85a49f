# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/wend/
# The settings are the tracer's own table and reader, so that both take a variable in the same way;
# and what makes a program one that cannot be traced.
ORDER_WRITE_SOURCES = \
	src/tracer/replay/order-file.h \
	src/wend/order-answers.c \
	src/wend/order-leftovers.c \
	src/wend/order-parts.h \
	src/wend/order-turns.c \
	src/wend/order-write.c src/wend/order-write.h
# Writing and reading, for tests.
ORDER_SOURCES = $(ORDER_WRITE_SOURCES) src/tracer/replay/order-read.c src/tracer/replay/order-read.h
bin_PROGRAMS += wend
wend_SOURCES = \
	$(WEND_COMMAND_SOURCES) $(READING_SOURCES) $(VALUE_SOURCES) $(SITE_SOURCES) \
	$(DECODER_SOURCES) $(DIFF_SOURCES) $(EXPORT_SOURCES) \
	src/wend/executable.c \
	src/wend/launch.c \
	src/wend/library.c \
	src/wend/merge-command.c \
	src/wend/setting-options.c \
	src/wend/site-store.c \
	$(ORDER_WRITE_SOURCES) \
	src/wend/replay-command.c \
	src/wend/trace.c \
	src/wend/wend.c src/wend/wend.h \
	src/tracer/output/marker.c \
	src/tracer/process/launcher.h \
	src/tracer/process/program-file.c src/tracer/process/program-file.h
nodist_wend_SOURCES = $(EXPORT_GENERATED)
wend_LDADD = src/read/libread.a lib/libcore.a $(CORE_LIBS) $(XXHASH_LIBS) $(OTF2_LIBS) \
	$(PROTOBUF_C_LIBS) $(DW_LIBS) -lm
EXTRA_DIST += src/wend/README.md
