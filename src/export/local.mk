# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/export/: the subcommand export of wend, which src/wend/ links
EXPORT_SOURCES = \
	src/export/csv.c \
	src/export/export.c src/export/export.h \
	src/export/format.h \
	src/export/timeline.c src/export/timeline.h
OTF2_SOURCES = \
	src/export/amounts.c src/export/amounts.h \
	src/export/otf2.c \
	src/export/otf2-events.c src/export/otf2-events.h \
	src/export/otf2-names.c src/export/otf2-names.h \
	src/export/roles.c src/export/roles.h
if HAVE_OTF2
EXPORT_SOURCES += $(OTF2_SOURCES)
endif
EXTRA_DIST += src/export/README.md
