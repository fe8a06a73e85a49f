# libwend.so. It links libc and nothing else: MPI is the application's, what merging needs is opened at the end.

TRACER_SOURCES = \
	src/tracer/attached.c src/tracer/attached.h \
	src/tracer/attendance.c src/tracer/attendance.h \
	src/tracer/call.c src/tracer/call.h \
	src/tracer/clock.c \
	src/tracer/comm.c src/tracer/comm.h \
	src/tracer/cuda.c \
	src/tracer/control.c src/tracer/control.h \
	src/tracer/ending.c src/tracer/ending.h \
	src/tracer/errhandlers.c src/tracer/errhandlers.h \
	src/tracer/exec.c src/tracer/exec.h \
	src/tracer/facts.c \
	src/tracer/family.h \
	src/tracer/fatal.c \
	src/tracer/finalize.c \
	src/tracer/fold.c src/tracer/fold.h \
	src/tracer/fortran.c src/tracer/fortran.h src/tracer/fortran_mpich.c src/tracer/fortran_openmpi.c \
	src/tracer/handles.c src/tracer/handles.h \
	src/tracer/kept.c src/tracer/kept.h \
	src/tracer/late.c src/tracer/late.h \
	src/tracer/launcher.h \
	src/tracer/limit.c \
	src/tracer/marker.c src/tracer/marker.h \
	src/tracer/module.c src/tracer/module.h \
	src/tracer/output.c src/tracer/output.h \
	src/tracer/part.c \
	src/tracer/parts.c src/tracer/parts.h \
	src/tracer/requests.c src/tracer/requests.h \
	src/tracer/runtime.h \
	src/tracer/scratch.c src/tracer/scratch.h \
	src/tracer/sessions.c \
	src/tracer/settings.c src/tracer/settings.h \
	src/tracer/shield.c src/tracer/shield.h \
	src/tracer/spawn.c src/tracer/spawn.h src/tracer/spawn_mpich.c src/tracer/spawn_openmpi.c \
	src/tracer/state.h \
	src/tracer/stranger.c src/tracer/stranger.h \
	src/tracer/symbols.c src/tracer/symbols.h \
	src/tracer/threads.c src/tracer/threads.h \
	src/tracer/tools.c src/tracer/tools.h \
	src/tracer/unrecorded.c src/tracer/unrecorded.h \
	src/tracer/watcher.c src/tracer/watcher.h
TRACER_CPPFLAGS = $(AM_CPPFLAGS) -DMPI_FAMILY='"$(MPI_FAMILY)"' -I$(srcdir)/src/tracer -I$(builddir)/src/tracer $(MPI_CPPFLAGS)
# -fexceptions: C++ applications throw from error handlers, through MPI and through here.
# initial-exec: a reference to a thread's state is one instruction, and allocates nothing, which matters inside malloc.
TRACER_CFLAGS = $(AM_CFLAGS) $(XXHASH_CFLAGS) $(GLIB_CFLAGS) -ftls-model=initial-exec -fexceptions $(FFI_CFLAGS)

lib_LTLIBRARIES += libwend.la
libwend_la_SOURCES = $(TRACER_SOURCES) $(WRAPPER_SOURCES) $(MEMORY_SOURCES) $(CALLBACK_SOURCES) $(HOT_SOURCES)
nodist_libwend_la_SOURCES = lib/functions.gen.c src/tracer/wrappers.gen.c
libwend_la_CPPFLAGS = $(TRACER_CPPFLAGS)
libwend_la_CFLAGS = $(TRACER_CFLAGS)
# One for each family of MPI libraries, libwend-mpich.so and libwend-openmpi.so, side by side; libwend.so leads to the one that was installed last.
libwend_la_LDFLAGS = -avoid-version -release $(MPI_FAMILY) -shared -Wl,-z,lazy -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/src/tracer/libwend.map
libwend_la_LIBADD = $(FFI_LIBS)
libwend_la_DEPENDENCIES = src/tracer/libwend.map
EXTRA_DIST += src/tracer/libwend.map

# Libtool removes what its file libwend.la names: where builds of two families are in one prefix,
# that is the library of the last. So the file is not kept, and each build removes its own library.
# libwend.so then leads to the other one, or is gone.
install-exec-hook:
	rm -f "$(DESTDIR)$(libdir)/libwend.la"
uninstall-hook:
	cd "$(DESTDIR)$(libdir)" 2>/dev/null || exit 0; \
	rm -f libwend-$(MPI_FAMILY).so; \
	if test -L libwend.so && test ! -e libwend.so; then \
	  rm -f libwend.so; \
	  for other in libwend-*.so; do \
	    case $$other in libwend-read.so) continue;; esac; \
	    test ! -e "$$other" || ln -sf "$$other" libwend.so; \
	  done; \
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
