# what is built in examples/
