# what is built in src/decoder/
