# what is built in src/tracer/
