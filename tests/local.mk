# what is built in tests/
