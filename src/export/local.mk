# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/export/: the subcommand export of wend, which src/wend/ links
EXPORT_SOURCES = \
	src/export/csv.c \
	src/export/export.c src/export/export.h \
	src/export/format.h \
	src/export/timeline.c
OTF2_SOURCES = \
	src/export/otf2.c \
	src/export/otf2-events.c \
	src/export/otf2-names.c \
	src/export/roles.c src/export/otf2.h
if HAVE_OTF2
EXPORT_SOURCES += $(OTF2_SOURCES)
endif

# The messages of Perfetto's format, by the compiler of Protocol Buffers.
EXPORT_GENERATED =
if HAVE_PROTOBUF_C
EXPORT_SOURCES += src/export/perfetto.c
EXPORT_GENERATED += src/export/track-event.gen.c src/export/track-event.gen.h
BUILT_SOURCES += src/export/track-event.gen.h
endif
src/export/track-event.gen.c: src/export/track-event.proto
	$(AM_V_GEN)$(MKDIR_P) $(@D)/made && \
	  $(PROTOC_C) -I$(srcdir)/src/export --c_out=$(@D)/made track-event.proto && \
	  for suffix in h c; do \
	    sed 's/track-event\.pb-c\.h/track-event.gen.h/' $(@D)/made/track-event.pb-c.$$suffix \
	      >$(@D)/track-event.gen.$$suffix || exit; \
	  done && rm -rf $(@D)/made
src/export/track-event.gen.h: src/export/track-event.gen.c
	@test -f $@ || { rm -f src/export/track-event.gen.c && $(MAKE) src/export/track-event.gen.c; }
CLEANFILES += src/export/track-event.gen.c src/export/track-event.gen.h
EXTRA_DIST += src/export/README.md src/export/track-event.proto
