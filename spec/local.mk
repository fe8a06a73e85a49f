# SPDX-License-Identifier: BSD-3-Clause
# what is built in spec/: the table, the indices and the wrappers that follow from mpi.spec

WEND_GEN = PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(srcdir)/spec/gen.py
WEND_GEN_FILES = spec/gen.py spec/library.py spec/mpispec.py spec/table.py \
	spec/wrapper_onesided.py spec/wrapper_turns.py spec/wrappers.py
EXTRA_DIST += $(WEND_GEN_FILES) spec/mpi.spec

lib/record/functions.gen.c: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(WEND_GEN) table $(srcdir)/spec/mpi.spec -o $@
lib/record/functions.gen.h: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(WEND_GEN) index $(srcdir)/spec/mpi.spec -o $@
BUILT_SOURCES += lib/record/functions.gen.h
CLEANFILES += lib/record/functions.gen.c lib/record/functions.gen.h

# The wrappers, for the MPI library of $(MPICC). They are made again when its mpi.h changes.
# coverage.txt says which functions they cover.
WRAPPERS = src/tracer/wrappers-1.gen.c src/tracer/wrappers-2.gen.c \
	src/tracer/wrappers-3.gen.c src/tracer/wrappers-4.gen.c
$(WRAPPERS): src/tracer/wrappers-%.gen.c: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(WEND_GEN) wrappers $(srcdir)/spec/mpi.spec \
	  --mpicc '$(MPICC)' --part $*/$(words $(WRAPPERS)) -o $@
src/tracer/objects/predefined.gen.c: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(WEND_GEN) predefined $(srcdir)/spec/mpi.spec \
	  --mpicc '$(MPICC)' -o $@
src/tracer/library.gen.h: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(WEND_GEN) library $(srcdir)/spec/mpi.spec --mpicc '$(MPICC)' -o $@
src/tracer/own.gen.h: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(WEND_GEN) own $(srcdir)/spec/mpi.spec --mpicc '$(MPICC)' -o $@
BUILT_SOURCES += src/tracer/library.gen.h src/tracer/own.gen.h
CLEANFILES += src/tracer/library.gen.h src/tracer/own.gen.h
spec/coverage.txt: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) spec && $(WEND_GEN) coverage $(srcdir)/spec/mpi.spec \
	  --mpicc '$(MPICC)' -o $@
check_DATA += spec/coverage.txt
CLEANFILES += $(WRAPPERS) src/tracer/objects/predefined.gen.c spec/coverage.txt

# The functions and macros that the MPI library has, for proxygen. There is a file for each family,
# so builds for several families can be installed side by side.
spec/$(MPI_FAMILY).target: spec/mpi.spec $(WEND_GEN_FILES)
	$(AM_V_GEN)$(MKDIR_P) spec && $(WEND_GEN) target $(srcdir)/spec/mpi.spec --mpicc '$(MPICC)' -o $@
nodist_pkgdata_DATA = spec/$(MPI_FAMILY).target
CLEANFILES += spec/$(MPI_FAMILY).target

.PHONY: coverage
coverage: spec/coverage.txt
	@cat spec/coverage.txt

# The table, for the libraries, and by itself for whoever needs no more of lib.
FUNCTION_SOURCES = lib/record/functions.h lib/record/functions.c
FUNCTION_GENERATED = lib/record/functions.gen.c
noinst_LIBRARIES += lib/libfunctions.a
lib_libfunctions_a_SOURCES = $(FUNCTION_SOURCES)
nodist_lib_libfunctions_a_SOURCES = $(FUNCTION_GENERATED)
