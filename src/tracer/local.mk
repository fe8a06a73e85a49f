# what is built in src/tracer/
include src/tracer/libwend.mk
