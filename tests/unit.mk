# Unit tests: plain C programs over the library, a stanza for each.
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
UNIT_TESTS =

UNIT_TESTS += tests/unit/cst
tests_unit_cst_SOURCES = tests/unit/cst.c
tests_unit_cst_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_unit_cst_LDADD = lib/libwendhot.la $(GLIB_LIBS) -lm

UNIT_TESTS += tests/unit/grammar
tests_unit_grammar_SOURCES = tests/unit/grammar.c
tests_unit_grammar_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_unit_grammar_LDADD = lib/libwendhot.la $(GLIB_LIBS)

UNIT_TESTS += tests/unit/memory
tests_unit_memory_SOURCES = tests/unit/memory.c $(MEMORY_SOURCES)
tests_unit_memory_LDADD = -lpthread

UNIT_TESTS += tests/unit/requests
tests_unit_requests_SOURCES = tests/unit/requests.c src/tracer/call.c src/tracer/clock.c src/tracer/handles.c src/tracer/requests.c
tests_unit_requests_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/tracer -I$(builddir)/src/tracer $(MPI_CPPFLAGS)
tests_unit_requests_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_unit_requests_LDADD = lib/libwendhot.la $(GLIB_LIBS) -lpthread

UNIT_TESTS += tests/unit/shortage
tests_unit_shortage_SOURCES = tests/unit/shortage.c
tests_unit_shortage_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_unit_shortage_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_shortage_LDADD = lib/libwendhot.la $(GLIB_LIBS)

UNIT_TESTS += tests/unit/varint
tests_unit_varint_SOURCES = tests/unit/varint.c
tests_unit_varint_CFLAGS = $(AM_CFLAGS) $(GLIB_CFLAGS)
tests_unit_varint_LDADD = lib/libwendhot.la $(GLIB_LIBS)
