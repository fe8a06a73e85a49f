# SPDX-License-Identifier: BSD-3-Clause
# What is built in examples/: applications for tests, and for people to try Wend on. They do not
# depend on Wend, and are compiled with the MPI compiler, as a user would do it.

EXAMPLES_C_FILES = \
	examples/amr.c \
	examples/collectives.c \
	examples/datatypes.c \
	examples/fileio.c \
	examples/intercomm.c \
	examples/masterworker.c \
	examples/particles.c \
	examples/persistent.c \
	examples/polling.c \
	examples/ring.c \
	examples/rma.c \
	examples/rowcol.c \
	examples/stencil2d.c \
	examples/stencil3d.c
EXAMPLES_C = $(EXAMPLES_C_FILES:.c=)
if HAVE_MPIFORT
EXAMPLES_FORTRAN = examples/stencil
else
EXAMPLES_FORTRAN =
endif

# gcc 12 takes constants like MPI_STATUSES_IGNORE (MPICH) and MPI_UNWEIGHTED (Open MPI) for the
# addresses of arrays that are too small.
EXAMPLE_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Wno-stringop-overflow -Wno-stringop-overread

$(EXAMPLES_C): %: %.c examples/example.h
	$(AM_V_CC)$(MKDIR_P) examples && $(MPICC) $(EXAMPLE_CFLAGS) -o $@ $< -lm
# -w: without interfaces for choice buffers, a compiler warns of each pair of calls with different
# types. There are no other warnings.
examples/stencil: examples/stencil.f90
	$(AM_V_GEN)$(MKDIR_P) examples && $(MPIFORT) -O2 -g -w -o $@ $< $(MPIFORT_LDFLAGS)

check_DATA += $(EXAMPLES_C) $(EXAMPLES_FORTRAN)
CLEANFILES += $(EXAMPLES_C) examples/stencil
EXTRA_DIST += $(EXAMPLES_C_FILES) examples/example.h examples/stencil.f90 examples/README.md

.PHONY: examples
examples: $(EXAMPLES_C) $(EXAMPLES_FORTRAN)

# Programs over libwend-read: compiled as a user would do it, but for where header and library are.
EXAMPLES_READ_FILES = \
	examples/read/find-loops.c \
	examples/read/list-calls.c \
	examples/read/print-matrix.c \
	examples/read/print-messages.c
EXAMPLES_READ = $(EXAMPLES_READ_FILES:.c=)
$(EXAMPLES_READ): %: %.c $(wendinclude_HEADERS) libwend-read.so
	$(AM_V_CC)$(MKDIR_P) examples/read && $(CC) -std=c11 -pedantic -O1 -g -Wall -Wextra -Werror \
		-I$(srcdir)/include -o $@ $< -L. -lwend-read $(BUILD_RPATH)
check_DATA += $(EXAMPLES_READ)
CLEANFILES += $(EXAMPLES_READ)
EXTRA_DIST += $(EXAMPLES_READ_FILES)
