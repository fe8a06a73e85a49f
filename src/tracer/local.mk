# what is built in src/tracer/
include src/tracer/memory.mk
include src/tracer/libwend.mk
