# What the tracer uses while the application runs: no GLib. Compiled into libwend.so and into libwendcore.
HOT_SOURCES = lib/buf.c lib/buf.h
