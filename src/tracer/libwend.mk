# SPDX-License-Identifier: BSD-3-Clause
# libwend.so. It links only libc, and libgcc_s, which ends a call of Wend's when an exception or the
# cancellation of a thread unwinds the stack. The application brings MPI, and the libraries for
# merging are opened at the end.

# A list for each folder; src/tracer/FOLDER/README.md says what it is for.
PROCESS_SOURCES = \
	src/tracer/process/clock.c src/tracer/process/clock.h \
	src/tracer/process/futex.h \
	src/tracer/process/system.h \
	src/tracer/process/kernel.c \
	src/tracer/process/memory-files.c \
	src/tracer/process/launcher.h \
	src/tracer/process/node.c \
	src/tracer/process/process.h \
	src/tracer/process/program-file.c src/tracer/process/program-file.h \
	src/tracer/process/scratch.c \
	src/tracer/process/settings.c src/tracer/process/settings.h \
	src/tracer/process/own-writes.c \
	src/tracer/process/state.c \
	$(STACK_SOURCES)
INTERPOSE_SOURCES = \
	src/tracer/interpose/interpose.h \
	src/tracer/interpose/lookups.c \
	src/tracer/interpose/module.c \
	src/tracer/interpose/mpi-library.c \
	src/tracer/interpose/tools.c
RECORDER_SOURCES = \
	src/tracer/recorder/call.h src/tracer/recorder/callbacks.h \
	src/tracer/recorder/error-codes.c \
	src/tracer/recorder/hold.c \
	src/tracer/recorder/recorder.c src/tracer/recorder/recorder.h \
	src/tracer/recorder/segment-events.h \
	src/tracer/recorder/sequence.c src/tracer/recorder/sequence.h \
	src/tracer/recorder/stash.c \
	src/tracer/recorder/thread.c \
	src/tracer/recorder/thread-birth.c src/tracer/recorder/thread-birth.h \
	src/tracer/recorder/thread-numbers.c
# These two know nothing of MPI, so that tests and benchmarks can have them by themselves.
STACK_SOURCES = \
	src/tracer/process/mappings.c
MEMORY_SOURCES = \
	src/tracer/memory/address-log.c src/tracer/memory/address-log.h \
	src/tracer/memory/heap-blocks.c src/tracer/memory/heap-blocks.h \
	src/tracer/memory/malloc.c \
	src/tracer/memory/mapped.c src/tracer/memory/mapped.h \
	src/tracer/memory/segments.c src/tracer/memory/segments.h
# and what does.
ADDRESS_SOURCES = \
	src/tracer/memory/address.h \
	src/tracer/memory/attachments.c \
	src/tracer/memory/cuda.c \
	src/tracer/memory/mmap.c
OBJECTS_SOURCES = \
	src/tracer/objects/comm.c \
	src/tracer/objects/datatypes.c \
	src/tracer/objects/handles.c src/tracer/objects/handles.h \
	src/tracer/objects/live-requests.c \
	src/tracer/objects/messages.c \
	src/tracer/objects/objects.h \
	src/tracer/objects/progress.c \
	src/tracer/objects/turns.c src/tracer/objects/turns.h
ENCODE_SOURCES = \
	src/tracer/encode/arguments.c \
	src/tracer/encode/completion.c \
	src/tracer/encode/closures.c src/tracer/encode/closures.h \
	src/tracer/encode/encode.h \
	src/tracer/encode/lengths.c src/tracer/encode/lengths.h \
	src/tracer/encode/array-patterns.c src/tracer/encode/array-patterns.h
OUTPUT_SOURCES = \
	src/tracer/output/marker.c \
	src/tracer/output/output.c src/tracer/output/output.h \
	src/tracer/output/parts.c
FAMILIES_SOURCES = \
	src/tracer/families/families.h \
	src/tracer/families/late-mpi.c \
	src/tracer/families/profiling-names.c \
	src/tracer/families/spawn.c \
	src/tracer/families/mpich.c \
	src/tracer/families/openmpi.c \
	src/tracer/families/unrecorded.c
REPLAY_SOURCES = \
	src/tracer/replay/argument.c \
	src/tracer/replay/channels.c src/tracer/replay/replay-private.h \
	src/tracer/replay/divergence.c src/tracer/replay/divergence.h \
	src/tracer/replay/enforce.c src/tracer/replay/enforce.h \
	src/tracer/replay/other-hosts.c \
	src/tracer/replay/order-file.h \
	src/tracer/replay/outcome-difference.c \
	src/tracer/replay/rank-list.h \
	src/tracer/replay/recorded-sites.c \
	src/tracer/replay/stop-place.h \
	src/tracer/replay/supervise.c \
	src/tracer/replay/order-read.c src/tracer/replay/order-read.h \
	src/tracer/replay/graph.c \
	src/tracer/replay/persistent.c \
	src/tracer/replay/replay.c src/tracer/replay/replay.h
SIDE_SOURCES = \
	src/tracer/side-streams/epochs.c \
	src/tracer/side-streams/onesided.h src/tracer/side-streams/onesided-private.h \
	src/tracer/side-streams/pending-results.c \
	src/tracer/side-streams/window-order.c \
	src/tracer/side-streams/call-stacks.c src/tracer/side-streams/call-stacks.h \
	src/tracer/side-streams/known-addresses.c \
	src/tracer/side-streams/site-recording.c \
	src/tracer/side-streams/code-modules.c \
	src/tracer/side-streams/frame-rules.c src/tracer/side-streams/frame-rules.h \
	src/tracer/side-streams/application-modules.c \
	src/tracer/side-streams/call-times.c \
	src/tracer/side-streams/side-coding.c src/tracer/side-streams/side-private.h \
	src/tracer/side-streams/side-streams.c src/tracer/side-streams/side-streams.h \
	src/tracer/side-streams/value-functions.c \
	src/tracer/side-streams/process-values.c src/tracer/side-streams/process-values.h
LIFECYCLE_SOURCES = \
	src/tracer/lifecycle/participation.c \
	src/tracer/lifecycle/host-clocks.c \
	src/tracer/lifecycle/waiting.c \
	src/tracer/lifecycle/control.c \
	src/tracer/lifecycle/termination.c \
	src/tracer/lifecycle/thread-start.c \
	src/tracer/lifecycle/facts.c \
	src/tracer/lifecycle/finalize.c \
	src/tracer/lifecycle/lifecycle.h \
	src/tracer/lifecycle/limit.c \
	src/tracer/lifecycle/rank-part.c \
	src/tracer/lifecycle/sessions.c \
	src/tracer/lifecycle/top.c \
	src/tracer/lifecycle/watcher.c

# The constructors of these files run in this order: first the references of CUDA's modules are led
# to Wend, then Wend starts (control.c), then it looks at references to PMPI names (late-mpi.c).
TRACER_SOURCES = \
	$(ADDRESS_SOURCES) $(LIFECYCLE_SOURCES) $(FAMILIES_SOURCES) $(PROCESS_SOURCES) \
	$(INTERPOSE_SOURCES) $(RECORDER_SOURCES) $(OBJECTS_SOURCES) $(OUTPUT_SOURCES) $(ENCODE_SOURCES) \
	$(SIDE_SOURCES) $(REPLAY_SOURCES) $(MEMORY_SOURCES)
TRACER_GENERATED = src/tracer/objects/predefined.gen.c $(WRAPPERS)
TRACER_CPPFLAGS = $(AM_CPPFLAGS) -DMPI_FAMILY='"$(MPI_FAMILY)"' -I$(srcdir)/src/tracer \
	-I$(builddir)/src/tracer $(MPI_CPPFLAGS)
# -fexceptions: C++ applications throw from error handlers, through MPI and the tracer.
# initial-exec: a reference to a thread's state is one instruction. It does not allocate, which
# matters inside malloc.
TRACER_CFLAGS = $(OWN_CFLAGS) $(XXHASH_CFLAGS) $(GLIB_CFLAGS) \
	-ftls-model=initial-exec -fexceptions $(FFI_CFLAGS)

noinst_PROGRAMS += libwend.so
libwend_so_SOURCES = $(TRACER_SOURCES)
nodist_libwend_so_SOURCES = $(TRACER_GENERATED)
libwend_so_CPPFLAGS = $(TRACER_CPPFLAGS) -DLIBWEND
libwend_so_CFLAGS = $(TRACER_CFLAGS)
libwend_so_LDFLAGS = -shared -Wl,-soname,libwend-$(MPI_FAMILY).so -Wl,-z,lazy -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/src/tracer/libwend.map
libwend_so_LDADD = lib/libhot.a lib/libfunctions.a $(FFI_LIBS)
EXTRA_libwend_so_DEPENDENCIES = src/tracer/libwend.map
EXTRA_DIST += src/tracer/libwend.map

# There is a library for each family of MPI libraries: libwend-mpich.so and libwend-openmpi.so can
# be installed side by side. An installed libwend.so is a link to the one that was installed last.
libwend-$(MPI_FAMILY).so: libwend.so
	$(AM_V_GEN)ln -f $< $@
sharedexec_DATA += libwend-$(MPI_FAMILY).so
CLEANFILES += libwend-$(MPI_FAMILY).so
install-exec-hook:
	cd "$(DESTDIR)$(libdir)" && ln -sf libwend-$(MPI_FAMILY).so libwend.so && \
	  for name in $(READ_LINKS); do ln -sf libwend-read.so.0.0.0 $$name || exit; done
# Where builds of two families are in one prefix, each removes its own library, and libwend.so then
# leads to the other one.
uninstall-hook:
	cd "$(DESTDIR)$(libdir)" 2>/dev/null || exit 0; \
	rm -f $(READ_LINKS); \
	if test -L libwend.so && test ! -e libwend.so; then \
	  rm -f libwend.so; \
	  for other in libwend-*.so; do test ! -e "$$other" || ln -sf "$$other" libwend.so; done; \
	fi
	for folder in "$(pkglibdir)" "$(pkgdatadir)" "$(wendincludedir)"; do \
	  test ! -d "$(DESTDIR)$$folder" || rmdir "$(DESTDIR)$$folder" 2>/dev/null || :; \
	done

# For pkg-config: wend-mpich.pc, wend-openmpi.pc.
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = src/tracer/wend-$(MPI_FAMILY).pc
src/tracer/wend-$(MPI_FAMILY).pc: src/tracer/wend.pc
	$(AM_V_GEN)cp $< $@
CLEANFILES += src/tracer/wend-$(MPI_FAMILY).pc
