# SPDX-License-Identifier: BSD-3-Clause
# what is built in src/proxygen/
bin_PROGRAMS += proxygen
# Also the fuzzer's (tests/fuzz/).
PROXYGEN_SOURCES = \
	src/proxygen/model/model.h \
	src/proxygen/model/call-pattern.c src/proxygen/model/call-pattern.h \
	src/proxygen/model/plan.c \
	src/proxygen/model/plan-threads.c \
	src/proxygen/model/select.c \
	src/proxygen/analysis/call-analysis.h src/proxygen/analysis/handlers.h \
	src/proxygen/analysis/conflicts.c \
	src/proxygen/analysis/datatype-layout.c \
	src/proxygen/analysis/dependence.c \
	src/proxygen/analysis/dynamic.c \
	src/proxygen/analysis/extent.c \
	src/proxygen/analysis/found-files.c \
	src/proxygen/analysis/handlers.c \
	src/proxygen/analysis/lifetimes.c \
	src/proxygen/analysis/memory-use.c \
	src/proxygen/plan/passes.h src/proxygen/plan/loops.h src/proxygen/plan/requests.h \
	src/proxygen/plan/alike.c \
	src/proxygen/plan/graphs.c \
	src/proxygen/plan/loop-rules.c \
	src/proxygen/plan/loops.c \
	src/proxygen/plan/message-traffic.c src/proxygen/plan/message-traffic.h \
	src/proxygen/plan/outcomes.c \
	src/proxygen/plan/request-effects.c \
	src/proxygen/plan/request-layout.c \
	src/proxygen/plan/request-lifetimes.c \
	src/proxygen/plan/request-slots.c \
	src/proxygen/plan/send-order.c \
	src/proxygen/plan/variables.c \
	src/proxygen/plan/wildcards.c \
	src/proxygen/emit/c-text.c \
	src/proxygen/emit/c-tokens.c src/proxygen/emit/c-tokens.h \
	src/proxygen/emit/callback-stubs.c \
	src/proxygen/emit/changes.c \
	src/proxygen/emit/row-tables.c \
	src/proxygen/emit/emit.h \
	src/proxygen/emit/emit-call.c \
	src/proxygen/emit/emit-callbacks.c \
	src/proxygen/emit/emit-choice.c \
	src/proxygen/emit/emit-arrays.c \
	src/proxygen/emit/emit-rule.c \
	src/proxygen/emit/emit-special.c \
	src/proxygen/emit/emit-tables.c \
	src/proxygen/emit/expression.c \
	src/proxygen/emit/locals.c \
	src/proxygen/emit/outside-names.c \
	src/proxygen/emit/row-loops.c \
	src/proxygen/emit/statements.c src/proxygen/emit/statements.h \
	src/proxygen/emit/source-lines.c \
	src/proxygen/emit/variable-names.c \
	src/proxygen/emit/emit-sources.c \
	src/proxygen/runtime/helper-table.h \
	src/proxygen/compile.c src/proxygen/compile.h \
	src/proxygen/proxy-helpers.c \
	src/proxygen/proxy-files.c src/proxygen/proxy-files.h \
	src/proxygen/proxy-threads.c
nodist_proxygen_SOURCES = $(PROXYGEN_GENERATED)
proxygen_SOURCES = src/proxygen/main.c \
	$(PROXYGEN_SOURCES) $(WEND_COMMAND_SOURCES) $(READING_SOURCES) \
	$(SITE_SOURCES) $(VALUE_SOURCES)
proxygen_LDADD = src/read/libread.a lib/libcore.a $(CORE_LIBS) $(DW_LIBS)
EXTRA_DIST += \
	src/proxygen/README.md \
	src/proxygen/analysis/README.md \
	src/proxygen/emit/README.md \
	src/proxygen/model/README.md \
	src/proxygen/plan/README.md \
	src/proxygen/runtime/README.md

# The helpers of proxies: C that is compiled and tested here, and copied into proxies as text.
RUNTIME_FILES = src/proxygen/runtime/runtime.h \
	src/proxygen/runtime/helpers-job.c \
	src/proxygen/runtime/helpers-files.c \
	src/proxygen/runtime/helpers-memory.c \
	src/proxygen/runtime/helpers-mapped.c \
	src/proxygen/runtime/helpers-cuda.c \
	src/proxygen/runtime/helpers-messages.c \
	src/proxygen/runtime/helpers-threads.c
EMBED = src/proxygen/runtime/embed.py
src/proxygen/runtime/helper-names.gen.h src/proxygen/runtime/helper-table.gen.c \
src/proxygen/runtime/prototypes.gen.h: $(RUNTIME_FILES) $(EMBED)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(PYTHON) $(srcdir)/$(EMBED) \
	  `echo $@ | sed 's,.*/\(helper-\)*\([a-z]*\)\.gen.*,\2,'` \
	  $(RUNTIME_FILES:%=$(srcdir)/%) -o $@
PROXYGEN_GENERATED = src/proxygen/runtime/helper-table.gen.c
BUILT_SOURCES += src/proxygen/runtime/helper-names.gen.h src/proxygen/runtime/prototypes.gen.h
CLEANFILES += $(PROXYGEN_GENERATED) \
	src/proxygen/runtime/helper-names.gen.h src/proxygen/runtime/prototypes.gen.h
EXTRA_DIST += $(EMBED)

noinst_LIBRARIES += src/proxygen/runtime/libruntime.a
src_proxygen_runtime_libruntime_a_SOURCES = $(RUNTIME_FILES)
src_proxygen_runtime_libruntime_a_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) -I$(srcdir)/tests/cuda
src_proxygen_runtime_libruntime_a_CFLAGS = $(OWN_CFLAGS) -Wmissing-prototypes
